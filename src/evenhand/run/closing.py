"""Closing a run: the ledger as Parquet, held against the SQLite file before that goes, and the verdicts an audit reads."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evenhand.design.request import PlannedCall
from evenhand.errors import LedgerError, printable
from evenhand.importers.files import SPEC_KEY
from evenhand.output import new_file
from evenhand.run.ledger import COLUMNS, Attempt, Ledger, attempt_of
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.spec import Spec

_TYPES = {
    **dict.fromkeys(
        ("number", "place", "http_status", "prompt_tokens", "cached_tokens", "completion_tokens"), "BIGINT"
    ),
    **dict.fromkeys(("cost", "seconds", "confidence"), "DOUBLE"),
}
_OF_REPLY = ("value", "status", "reason", "raw_value", "explanation", "confidence", "served_model", "finish_reason")
_FINGERPRINTS = ("call", "request", "plan")


def read_attempts(path: Path) -> Iterator[Attempt]:
    """Attempts of a closed ledger, each held against its digest.

    Raises:
        LedgerError: a row is not what was written, or the file is no ledger.
    """
    listed = ", ".join(map(quote, (*COLUMNS, "digest")))
    with Engine() as engine:
        known = {row[0] for row in engine.rows("SELECT name FROM parquet_schema(?)", [str(path)])}
        if not {*COLUMNS, "digest"} <= known:
            raise LedgerError(f"{printable(path.name)}: no closed ledger of this version")
        cursor = engine.connection.execute(
            f"SELECT {listed} FROM read_parquet(?) ORDER BY place, key, number", [str(path)]
        )
        while rows := cursor.fetchmany(2_000):
            for row in rows:
                attempt = attempt_of(dict(zip(COLUMNS, row[:-1], strict=True)))
                if attempt.digest != row[-1]:
                    raise LedgerError(
                        f"{printable(path.name)}: attempt {attempt.number} of call {attempt.key[:12]} is damaged"
                    )
                yield attempt


def close_ledger(ledger: Ledger, path: Path) -> None:
    """Write the ledger as Parquet, read it again, and remove the SQLite file only where both are equal.

    Raises:
        LedgerError: they differ; both files stay.
    """
    _write_rows((_flat(attempt) for attempt in ledger.attempts()), path, [*COLUMNS, "digest"], {})
    written = [attempt.digest for attempt in ledger.attempts()]
    if written != [attempt.digest for attempt in read_attempts(path)]:
        raise LedgerError(f"{printable(path.name)}: does not read back as it was written; {ledger.path.name} is kept")
    ledger.close()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{ledger.path}{suffix}").unlink(missing_ok=True)


def verdict_rows(calls: Iterable[PlannedCall], attempts: Iterable[Attempt], plan: str) -> Iterator[dict[str, object]]:
    """One row a planned call, in the plan's order: its verdict, or why there is none.

    A call whose attempts all failed is an ``error`` with the failure as its reason; one never attempted is ``missing``.
    """
    last = {attempt.key: attempt for attempt in attempts}
    for call in calls:
        found = last.get(call.key)
        row: dict[str, object] = {**call.labels, **dict.fromkeys(_OF_REPLY)}
        if found is None:
            row |= {"status": "missing", "reason": "not called"}
        elif found.outcome == "failed":
            row |= {"status": "error", "reason": found.failure}
        else:
            row |= {name: getattr(found, name) or None for name in _OF_REPLY}
            if found.served_model and found.served_model != found.model:
                row["model"] = found.served_model
        yield {**row, "call": call.key, "request": call.request.fingerprint, "plan": plan}


def write_verdicts(rows: Iterable[Mapping[str, object]], path: Path, spec: Spec) -> None:
    """Write verdicts as Parquet with the spec that reads them; the columns are those of the rows, in order of first sight."""
    held = list(rows)
    columns = list(dict.fromkeys(name for row in held for name in row))
    _write_rows(held, path, columns, {SPEC_KEY: spec.to_toml()})


def _flat(attempt: Attempt) -> dict[str, object]:
    row = {name: getattr(attempt, name) for name in COLUMNS}
    row |= {name: json.dumps(dict(row[name]), sort_keys=True, ensure_ascii=False) for name in ("labels", "extra")}
    return {**row, "digest": attempt.digest}


def _write_rows(
    rows: Iterable[Mapping[str, object]], path: Path, columns: list[str], metadata: Mapping[str, str]
) -> None:
    """Rows as Parquet, through a file of JSON lines: text stays text, and nothing is held twice in memory."""
    said = ", ".join("{}: '{}'".format(quote(name), text.replace("'", "''")) for name, text in metadata.items())
    options = "FORMAT parquet, COMPRESSION zstd" + (f", KV_METADATA {{{said}}}" if said else "")
    kinds = ", ".join("{}: '{}'".format(quote(name), _TYPES.get(name, "VARCHAR")) for name in columns)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".closing-") as aside, Engine() as engine:
        lines = Path(aside) / "rows.jsonl"
        with lines.open("w", encoding="utf-8") as stream:
            for row in rows:
                stream.write(json.dumps(dict(row), ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        listed = ", ".join(map(quote, columns))
        with new_file(path) as draft:
            place = str(draft.absolute()).replace("'", "''")
            source = str(lines).replace("'", "''")
            engine.run(
                f"COPY (SELECT {listed} FROM read_json('{source}', format = 'newline_delimited', columns = {{{kinds}}}, "
                f"maximum_object_size = 1000000000)) TO '{place}' ({options})"
            )
