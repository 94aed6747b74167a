"""``evenhand report``: render a saved audit again."""

from pathlib import Path

import click


@click.command("report", short_help="Render a saved audit again, as HTML or Markdown.")
@click.argument("place", metavar="DIR|AUDIT.json", type=click.Path(path_type=Path))
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="report.html or report.md; by default both, beside the audit.",
)
def command(place: Path, to: Path | None) -> None:
    """Write the report of a saved audit from its audit.json alone."""
    from evenhand.api import write_report
    from evenhand.errors import printable
    from evenhand.results import Audit

    audit = Audit.load(place)
    folder = place if place.is_dir() else place.parent
    for path in [to] if to else [folder / "report.html", folder / "report.md"]:
        click.echo(printable(str(write_report(audit, path))))
