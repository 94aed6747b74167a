"""``evenhand demo``: a real audit within a minute."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evenhand.verdicts.spec import Spec


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

    The 0/1 matrix is Zhu (2026)'s published bank, CC BY 4.0; 30 of its responses have no parsed verdict. A second audit,
    under texts, shows answers beside verdicts: a bank of Evenhand's own and a simulated judge with known error rates.
    """
    from importlib.resources import as_file, files

    from evenhand.cli.running import run_to_folder

    with as_file(files("evenhand.data") / "zhu_bank.csv") as bank:
        click.echo(run_to_folder([str(bank)], _spec("cluster_id"), None, out))
    _audit_texts(out / "texts")
    report = out.resolve() / "report.html"
    click.echo(f"\nAnswers side by side with a simulated judge's verdicts: {out.resolve() / 'texts' / 'report.html'}")
    click.echo(f"The report: {report}")
    if open_report:
        click.launch(str(report))


def _spec(cluster: str, **more: object) -> "Spec":
    from evenhand.verdicts.spec import Spec

    roles = {
        "response": "response_id",
        "cluster": cluster,
        "reference": "gold_{criterion}",
        "judge": "judge_{criterion}",
    }
    return Spec.of(**roles, criteria="per-cluster", blank="unparsed", cut=(4, 5, 6, 7), **more)


def _audit_texts(out: Path) -> None:
    """Audit the bank that has texts; its rows are written aside first, as any user's file would be."""
    import csv
    import tempfile

    from evenhand.cli.running import run_to_folder
    from evenhand.simulate.demo import text_bank_rows

    with tempfile.TemporaryDirectory() as aside:
        path = Path(aside) / "text_bank.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(text_bank_rows())
        run_to_folder(
            [str(path)], _spec("question_id", text=("answer", "claim_{criterion}"), texts="errors"), None, out
        )
