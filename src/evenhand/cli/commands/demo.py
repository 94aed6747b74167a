"""``evenhand demo``: a real audit within a minute."""

from pathlib import Path

import click


@click.command("demo", short_help="Audit the example bank that comes along; a report within a minute.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("evenhand-demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the report.",
)
@click.option("--open", "open_report", is_flag=True, help="Open the report in a browser.")
def command(out: Path, open_report: bool) -> None:
    """Audit one language model that judged 210 short answers against ten-line checklists.

    The 0/1 matrix is Zhu (2026)'s published bank, CC BY 4.0; 30 of its responses have no parsed verdict.
    """
    from importlib.resources import as_file, files

    from evenhand.cli.running import run_to_folder
    from evenhand.verdicts.spec import Spec

    spec = Spec(
        response=("response_id",),
        cluster="cluster_id",
        reference="gold_{criterion}",
        judge=("judge_{criterion}",),
        criteria="per-cluster",
        blank="unparsed",
        cut=(4, 5, 6, 7),
    )
    with as_file(files("evenhand.data") / "zhu_bank.csv") as bank:
        click.echo(run_to_folder([str(bank)], spec, None, out))
    report = out.resolve() / "report.html"
    click.echo(f"\nThe report: {report}")
    if open_report:
        click.launch(str(report))
