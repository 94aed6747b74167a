"""``evenhand selftest`` on the command line: a bank from a folder or from files, progress, and the words for stdout."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from evenhand.auditing import run_audit
from evenhand.cli.simulating import progress, table, wrapped
from evenhand.cli.watching import printable_lines
from evenhand.errors import RequestError, printable, quoted
from evenhand.output import Kind, check_place
from evenhand.saving import tally_columns
from evenhand.selftesting.testing import document, plan, rows, run_plan, sentences, sheet
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec
from evenhand.watching.pages import to_json, write_sheet
from evenhand.watching.saved import SavedTallies, load_saved

KIND = Kind("selftest", ("selftest.json", "report.md", "report.html"), "selftest.json", "evenhand.selftest")
_SHOWN = ("planted", "size", "share", "from", "to", "verdict", "smallest")


def run_selftest(
    sources: Sequence[str],
    spec: Spec,
    options: Mapping[str, Any],
    labels: Path | None,
    judge: str | None,
    worlds: int,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Plant, print and perhaps write.

    Raises:
        EvenhandError: the request or the data cannot carry it.
    """
    if out is not None:
        check_place(out, [Path(one) for one in sources], kind=KIND)
    saved = _bank(sources, spec, options, labels)
    made = plan(saved, _judge(saved, judge), spec.seed)
    with progress("worlds", made.size(worlds)) as step:
        found = run_plan(made, worlds, spec.seed, step)
    if as_json:
        click.echo(to_json(document(found)), nl=False)
    else:
        click.echo(printable(f"{found.place}: {worlds} worlds of each size, seed {found.seed}"))
        for sentence in sentences(found):
            click.echo(wrapped(printable(sentence)))
        click.echo("\n" + printable_lines(table(_SHOWN, [row[: len(_SHOWN)] for row in rows(found)])))
        shown = dict.fromkeys(
            (one.defect.name, one.defect.id, one.defect.rule, one.defect.unit) for one in found.planted
        )
        click.echo("")
        for name, identity, rule, unit in shown:
            click.echo(wrapped(printable(f"{name}: {identity}, {rule}" + (f"; size: {unit}" if unit else ""))))
        for left in found.left_out:
            click.echo(wrapped(printable(f"not planted: {left}")))
    if out is not None:
        write_sheet(document(found), sheet(found), out, KIND)


def _bank(sources: Sequence[str], spec: Spec, options: Mapping[str, Any], labels: Path | None) -> SavedTallies:
    """The folder of an audit, or files read as an audit would."""
    first = Path(sources[0])
    if len(sources) == 1 and ((first / "audit.json").is_file() or first.name == "audit.json"):
        extra = [f"--{name.replace('_', '-')}" for name in options if name != "seed"] + (["--labels"] if labels else [])
        if extra:
            raise RequestError(
                f"{printable(str(first))} is an audit that was read already: leave {', '.join(extra)} out, or name the files"
            )
        return load_saved(first)
    with Engine() as engine:
        session = run_audit(engine, sources, spec, labels)
        columns = tally_columns(session)
    units = tuple(map(str, columns.pop("unit")))
    return SavedTallies(printable(", ".join(sources)), session.audit, units, columns)


def _judge(saved: SavedTallies, judge: str | None) -> str:
    if not saved.sources:
        raise RequestError("selftest found no verdict of a judge")
    if judge is None:
        return saved.sources[0]
    if judge not in saved.sources:
        raise RequestError(f'--of "{printable(judge)}": no such judge; there are {quoted(saved.sources)}')
    return judge
