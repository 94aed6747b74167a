"""Running an audit from the command line: progress on stderr, the summary for stdout."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from evenhand.api import run_facts
from evenhand.auditing import run_audit
from evenhand.converting import check_target, convert, explain_row, must_be_whole, write
from evenhand.errors import EvenhandError, RequestError, printable
from evenhand.output import check_file, check_place, write_text
from evenhand.report.terminal import explanation, ledger, summary
from evenhand.saving import save
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec

_PATIENCE = 2.0
"""Seconds after which a user is told what is going on."""


class _Steps:
    """Names the step at work once an audit takes longer than a moment."""

    def __init__(self) -> None:
        self.started, self.shown = time.monotonic(), False

    def __call__(self, words: str) -> None:
        waited = time.monotonic() - self.started
        if waited > _PATIENCE:
            click.echo(f"{waited:5.1f} s  {printable(words)} ...", err=True)
            self.shown = True


def run_to_folder(
    sources: Sequence[str],
    spec: Spec,
    labels: Path | None,
    out: Path,
    *,
    write_spec: Path | None = None,
    strict: bool = False,
) -> str:
    """Audit files into a folder and return the summary.

    Raises:
        EvenhandError: the request or the data cannot carry it; nothing is written then.
    """
    paths = [Path(source) for source in sources] + ([labels] if labels else [])
    check_place(out, paths)
    if write_spec is not None:
        check_file(write_spec, _is_spec, paths)
    started = time.time()
    with Engine() as engine:
        session = run_audit(engine, sources, spec, labels, _Steps())
        excluded = session.audit.data.rows_excluded
        if strict and excluded:
            raise RequestError(
                f"--strict: {ledger(session.audit)}. Mend the excluded verdicts, or leave --strict out; nothing was written"
            )
        save(session, out, run_facts(session, paths, started), paths)
    if write_spec is not None:
        write_text(write_spec, session.saved_spec().to_toml())
    return summary(session.audit, out)


def _is_spec(path: Path) -> bool:
    try:
        Spec.load(path)
    except EvenhandError:
        return False
    return True


def explain_sources(sources: Sequence[str], spec: Spec, labels: Path | None) -> str:
    """How files are read, what that supports and what it lacks; nothing is written."""
    with Engine() as engine:
        session = run_audit(engine, sources, spec, labels, _Steps())
    return explanation(session.audit, session.saved_spec().to_toml())


def convert_to_file(sources: Sequence[str], spec: Spec, labels: Path | None, to: Path, *, strict: bool = False) -> str:
    """Convert files into one and return the account of rows.

    Raises:
        EvenhandError: the request or the data cannot carry it; nothing is written then.
    """
    paths = [Path(source) for source in sources] + ([labels] if labels else [])
    check_target(to, paths)
    with Engine() as engine:
        made = convert(engine, sources, spec, labels)
        if strict:
            must_be_whole(made)
        write(made, to)
        lines = [f"rows    {line}" for line in made.ledger()]
        lines += [f"note    {printable(note)}" for note in made.notes]
        count = made.n_verdicts
    return "\n".join([*lines, f"wrote   {printable(str(to))}: {count:,} verdicts"])


def explain_source_row(sources: Sequence[str], spec: Spec, labels: Path | None, row: int) -> str:
    """What became of one row of the files; nothing is written."""
    with Engine() as engine:
        return explain_row(convert(engine, sources, spec, labels), row)
