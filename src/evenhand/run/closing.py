"""Closing a run: the ledger as Parquet, held against the SQLite file before that goes, and the verdicts an audit reads."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import duckdb

from evenhand.design.request import PlannedCall
from evenhand.errors import LedgerError, OutputError, printable
from evenhand.importers.files import SPEC_KEY
from evenhand.output import new_file
from evenhand.run.ledger import COLUMNS, Attempt, Ledger, attempt_of
from evenhand.verdicts.engine import Engine, quote, without_folders
from evenhand.verdicts.spec import Spec

_TYPES = {
    **dict.fromkeys(
        ("number", "place", "http_status", "prompt_tokens", "cached_tokens", "completion_tokens"), "BIGINT"
    ),
    **dict.fromkeys(("cost", "seconds", "confidence"), "DOUBLE"),
}
_OF_REPLY = ("value", "status", "reason", "raw_value", "explanation", "confidence", "served_model", "finish_reason")
NOT_CALLED, IN_BATCH = "not called", "in a batch"
"""Why a call without an attempt has no verdict: it was not made, or a batch file waits for its results."""
_BUFFER = 2**18
"""Least bytes of the engine's reading buffer, which grows with the longest line."""
_ROW_GROUP = 2_048
"""Rows of a Parquet file that are held at a time while it is written."""
_ROWS = 500
"""Rows that are held as Python objects at a time."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the calls of a plan.

    Attributes:
        calls: rows of the table.
        unanswered: those whose attempts all failed, and those never attempted.
        waiting: of these, calls that wait for the results of a batch.
    """

    calls: int
    unanswered: int
    waiting: int


def read_attempts(path: Path) -> Iterator[Attempt]:
    """Attempts of a closed ledger, in the order of the file, each held against its digest.

    Raises:
        LedgerError: a row is not what was written, or the file is no ledger.
    """
    listed = ", ".join(map(quote, (*COLUMNS, "digest")))
    with Engine() as engine, _readable(path):
        engine.run("SET threads = 1")
        known = {row[0] for row in engine.rows("SELECT name FROM parquet_schema(?)", [str(path)])}
        if not {*COLUMNS, "digest"} <= known:
            raise LedgerError(f"{printable(path.name)}: no closed ledger of this version")
        cursor = engine.connection.execute(f"SELECT {listed}, row_number() OVER () FROM read_parquet(?)", [str(path)])
        while rows := cursor.fetchmany(_ROWS):
            for row in rows:
                attempt = attempt_of(row[:-1])
                if attempt is None:
                    raise LedgerError(
                        f"{printable(path.name)}: row {row[-1]} is damaged; restore a copy, or move the file away to start over"
                    )
                yield attempt


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as problem:
        said = printable(without_folders(str(problem)).splitlines()[0])[:200]
        raise LedgerError(
            f"{printable(path.name)}: damaged ({said}); restore a copy, or move the file away to start over"
        ) from None


def close_ledger(ledger: Ledger, path: Path) -> None:
    """Write the ledger as Parquet, read it again, and remove the SQLite file only where both are equal.

    Raises:
        LedgerError: they differ; both files stay.
        OutputError: the file cannot be written; the SQLite file stays.
    """
    _write_rows((_flat(attempt) for attempt in ledger.attempts()), path, {}, [*COLUMNS, "digest"])
    if not all(one == other for one, other in zip_longest(ledger.attempts(), read_attempts(path))):
        raise LedgerError(f"{printable(path.name)}: does not read back as it was written; {ledger.path.name} is kept")
    ledger.close()
    for suffix in ("-wal", "-shm", ""):  # an empty journal goes first: without its file it would be another one's
        Path(f"{ledger.path}{suffix}").unlink(missing_ok=True)


def verdict_rows(
    calls: Iterable[PlannedCall], ledger: Ledger, plan: str, batched: frozenset[str] = frozenset()
) -> Iterator[dict[str, object]]:
    """One row a planned call, in the plan's order: its verdict, or why there is none.

    A call whose attempts all failed is an ``error`` with the failure as its reason; one never attempted is ``missing``. The model
    of a row is the one that served it; rows without a reply have that of their judge's other calls where it is always the same,
    so that an outage makes no condition of its own.

    Args:
        plan: its hash.
        batched: judges whose calls wait in a batch file where they were not made.
    """
    served = ledger.served()
    for call in calls:
        attempts = list(ledger.of_call(call.key))
        row: dict[str, object] = {**call.labels, **dict.fromkeys(_OF_REPLY)}
        models = served.get(call.request.model, frozenset())
        model = next(iter(models)) if len(models) == 1 else ""
        if (found := next((one for one in attempts if one.outcome == "replied"), None)) is not None:
            row |= {name: getattr(found, name) or None for name in _OF_REPLY}
            model = found.served_model
        elif attempts:
            row |= {"status": "error", "reason": attempts[-1].failure}
        else:
            waits = call.labels.get("rater_id") in batched
            row |= {"status": "missing", "reason": IN_BATCH if waits else NOT_CALLED}
        if model and model != call.request.model:
            row["model"] = model
        yield {**row, "call": call.key, "request": call.request.fingerprint, "plan": plan}


def write_verdicts(rows: Iterable[Mapping[str, object]], path: Path, spec: Spec) -> Written:
    """Write verdicts as Parquet with the spec that reads them; the columns are those of the rows, in order of first sight.

    Raises:
        OutputError: the file cannot be written.
    """
    calls = unanswered = waiting = 0

    def counted() -> Iterator[Mapping[str, object]]:
        nonlocal calls, unanswered, waiting
        for row in rows:
            calls += 1
            missing = row["reason"] if row["status"] == "missing" else None
            unanswered += row["status"] == "error" or missing in (NOT_CALLED, IN_BATCH)
            waiting += missing == IN_BATCH
            yield row

    _write_rows(counted(), path, {SPEC_KEY: spec.to_toml()})
    return Written(calls, unanswered, waiting)


def _flat(attempt: Attempt) -> dict[str, object]:
    row = {name: getattr(attempt, name) for name in COLUMNS}
    row |= {name: json.dumps(dict(row[name]), sort_keys=True, ensure_ascii=False) for name in ("labels", "extra")}
    return {**row, "digest": attempt.digest}


def _write_rows(
    rows: Iterable[Mapping[str, object]], path: Path, metadata: Mapping[str, str], columns: Iterable[str] = ()
) -> None:
    """Rows as Parquet, through a delimited file, which is read in less memory than JSON: text stays text, and nothing is held twice.

    Raises:
        OutputError: there is no room, or the place cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=drafts_of(path)) as aside:
            lines = Path(aside) / "rows.csv"
            names, longest = dict.fromkeys(columns), 0
            with lines.open("wb") as stream:
                for row in rows:
                    names |= dict.fromkeys(row)
                    line = _line(row.get(name) for name in names)
                    longest = max(longest, len(line))
                    stream.write(line)
            with new_file(path) as draft:
                _copy(lines, draft, tuple(names), metadata, longest)
                with draft.open("rb") as stored:
                    os.fsync(stored.fileno())
    except OSError as problem:
        raise _unwritable(path, problem.strerror or type(problem).__name__) from None
    except duckdb.Error as problem:
        raise _unwritable(path, without_folders(str(problem)).splitlines()[0]) from None


def _line(values: Iterable[object]) -> bytes:
    """Values as a line, every text within quotes, so that a blank text is none that is missing."""
    cells = ('"' + value.replace('"', '""') + '"' if isinstance(value, str) else _bare(value) for value in values)
    return (",".join(cells) + "\n").encode()


def _bare(value: object) -> str:
    return "" if value is None else repr(value)


def _unwritable(path: Path, why: str) -> OutputError:
    return OutputError(
        f"{printable(path.name)}: cannot be written ({printable(why)[:200]}); what was answered is kept in the ledger: make room, and "
        "run the same line again"
    )


def drafts_of(path: Path) -> str:
    """How the name of a draft of this file begins."""
    return f".{path.name[:40]}-"


def _copy(lines: Path, path: Path, columns: tuple[str, ...], metadata: Mapping[str, str], longest: int) -> None:
    """Delimited lines as Parquet; ``longest`` is the most bytes that one has, and a short line lacks its last columns."""
    said = ", ".join("{}: '{}'".format(quote(name), text.replace("'", "''")) for name, text in metadata.items())
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROW_GROUP}" + (
        f", KV_METADATA {{{said}}}" if said else ""
    )
    kinds = ", ".join("{}: '{}'".format(quote(name), _TYPES.get(name, "VARCHAR")) for name in columns)
    place, source = (str(one.absolute()).replace("'", "''") for one in (path, lines))
    form = (
        "header = false, auto_detect = false, delim = ',', quote = '\"', escape = '\"', new_line = '\\n', nullstr = '', "
        f"allow_quoted_nulls = false, null_padding = true, parallel = false, columns = {{{kinds}}}, "
        f"max_line_size = {longest + 1}, buffer_size = {max(2 * longest, _BUFFER)}"
    )
    engine = Engine()
    try:
        engine.run("SET threads = 1")  # each would hold buffers of its own
        engine.run(
            f"COPY (SELECT {', '.join(map(quote, columns))} FROM read_csv('{source}', {form})) TO '{place}' ({options})"
        )
    finally:
        engine.close()
