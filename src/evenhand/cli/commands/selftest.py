"""``evenhand selftest``: known defects planted in a bank of the user's own shape."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.options import given, spec_options


@click.command("selftest", short_help="Plant known defects in your own bank: which would an audit of this size catch?")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...|AUDIT_DIR")
@click.option("--worlds", type=int, default=200, show_default=True, metavar="N", help="Simulated banks of each size.")
@click.option(
    "--of", "whose", metavar="JUDGE", help="Of several judges, whose verdicts are imitated; the first by default."
)
@click.option(
    "--labels", type=click.Path(path_type=Path), metavar="FILE", help="Reference labels in a file of their own."
)
@click.option(
    "--spec", type=click.Path(path_type=Path), metavar="FILE.toml", help="A saved mapping; options override it."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for selftest.json and a report.")
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON document.")
@spec_options
def command(
    sources: tuple[str, ...],
    worlds: int,
    whose: str | None,
    labels: Path | None,
    spec: Path | None,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Plant known defects among your own clusters, criteria and reference labels, and audit each world as yours is audited.

    For every defect: the share of worlds in which the audit's own rule says so, and the smallest size that is caught in
    .80 of them. Controls plant nothing: what they show is how often a defect is called that is not there. Exit code 0
    whatever is found; 2 where the data cannot carry it.

    \b
      evenhand selftest out
      evenhand selftest bank.csv --cluster question --worlds 500 --out selftest
    """
    from evenhand.api import complete_spec
    from evenhand.cli.selftesting import run_selftest

    chosen = given(options)
    run_selftest(sources, complete_spec(spec, chosen), chosen, labels, whose, worlds, out, as_json=as_json)
