"""``evenhand demo``: a real audit within a minute."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evenhand.verdicts.spec import Spec


_AUDITED, _JUDGED = Path("evenhand-demo"), Path("evenhand-demo-run")
_RUN, _REPORT, _VERDICTS = "run", "report", "verdicts.parquet"


@click.command("demo", short_help="Audit the example bank that comes along; a report within a minute.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help=f"Folder for the report.  [default: {_AUDITED}, or with --run {_JUDGED}]",
)
@click.option("--run", "judges", is_flag=True, help="Have a small language model judge here and now, and audit that.")
@click.option("--open", "open_report", is_flag=True, help="Open the report in a browser.")
def command(out: Path | None, judges: bool, open_report: bool) -> None:
    """Audit one language model that judged 210 short answers against ten-line checklists.

    The 0/1 matrix is Zhu (2026)'s published bank, CC BY 4.0; 30 of its responses have no parsed verdict. A second audit,
    under texts, shows answers beside verdicts: a bank of Evenhand's own and a simulated judge with known error rates.

    With --run nothing is simulated: SmolLM2-135M-Instruct judges two dozen checklist lines in three wordings, twice each,
    on this machine and without a key (about two minutes on two processors; pip install 'evenhand[judge]'). The folder then
    holds plan.toml and bank.csv to copy, the run, and its report.
    """
    report = _judged(out or _JUDGED) if judges else _audited(out or _AUDITED)
    click.echo(f"The report: {report}")
    if open_report:
        click.launch(str(report))


def _audited(out: Path) -> Path:
    """The audit of the bank that comes along."""
    from importlib.resources import as_file, files

    from evenhand.cli.running import run_to_folder

    with as_file(files("evenhand.data") / "zhu_bank.csv") as bank:
        click.echo(run_to_folder([str(bank)], _spec("cluster_id"), None, out))
    _audit_texts(out / "texts")
    click.echo(f"\nAnswers side by side with a simulated judge's verdicts: {out.resolve() / 'texts' / 'report.html'}")
    return out.resolve() / "report.html"


def _judged(out: Path) -> Path:
    """The audit of a judge that is run for it; what an earlier demo there has asked is kept."""
    from evenhand.cli.making import Asked, make
    from evenhand.cli.running import run_to_folder
    from evenhand.design.calls import load_design
    from evenhand.design.examples import PLAN
    from evenhand.run.embedded import check_installed, model_file
    from evenhand.verdicts.spec import Spec

    check_installed()
    _check_judged(out)
    model_file()
    _write_plan(out)
    design = load_design(out / PLAN)
    click.echo(
        f"{design.n_calls:,} calls to {design.plan.judge[0].model} on this machine; Ctrl-C keeps what is answered",
        err=True,
    )
    code = make(design, Asked(out / _RUN))
    if code:
        raise click.exceptions.Exit(code)
    click.echo(run_to_folder([str(out / _RUN / _VERDICTS)], Spec(), None, out / _REPORT))
    click.echo(f"\nThe plan, to copy and change: {out.resolve() / PLAN}")
    return out.resolve() / _REPORT / "report.html"


def _bank_and_plan() -> dict[str, str]:
    """The files that a judged demo writes, by name."""
    import csv
    import io
    from importlib.resources import files

    from evenhand.design.examples import BANK, PLAN
    from evenhand.simulate.demo import bank_to_judge_rows

    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows(bank_to_judge_rows())
    plan = (files("evenhand.data") / "plans" / "embedded.toml").read_text(encoding="utf-8")
    return {BANK: stream.getvalue(), PLAN: plan}


def _check_judged(out: Path) -> None:
    """Refuse a place that holds anything else, or a plan that was written on."""
    from evenhand.errors import OutputError, printable, quoted

    shown = printable(str(out))
    if out.exists() and not out.is_dir():
        raise OutputError(f"{shown}: exists and is not a folder; choose another --out")
    held = sorted(entry.name for entry in out.iterdir()) if out.is_dir() else []
    ours = _bank_and_plan()
    foreign = [name for name in held if name not in (*ours, _RUN, _REPORT)]
    if foreign:
        raise OutputError(
            f"{shown}: the folder holds files that no such demo wrote ({quoted(foreign, 4)}); choose another --out"
        )
    changed = [name for name in ours if name in held and (out / name).read_bytes() != ours[name].encode()]
    if changed:
        raise OutputError(
            f"{shown}: {changed[0]} was changed since the demo wrote it; evenhand run {printable(str(out / 'plan.toml'))} --out DIR runs "
            "what you made of it, and another --out takes the demo"
        )


def _write_plan(out: Path) -> None:
    from evenhand.output import write_text

    for name, text in _bank_and_plan().items():
        write_text(out / name, text)


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
