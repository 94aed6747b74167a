"""Files of rows: CSV and its relatives, JSON, JSON lines, Parquet, Arrow and Feather.

Delimited and JSON files are read with every column as text, so that "007" stays "007"; nothing is guessed beyond
the delimiter, and a row that does not fit its header stops the read with its line.
"""

import csv
import hashlib
import re
from pathlib import Path
from typing import Any, Literal

import duckdb

from evenhand.errors import SourceError, did_you_mean, printable, quoted
from evenhand.importers import frames
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.sources import Source

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
"""File name endings and the format each is read as."""
_DELIMITERS = ",;\t|"
_ENCODINGS = {"utf-8": "utf-8", "utf8": "utf-8", "latin-1": "latin-1", "utf-16": "utf-16"}
_GLOB = re.compile(r"[*?\[]")


def read_file(engine: Engine, path: Path, *, format_: str | None = None, encoding: str | None = None) -> Source:
    """Open one file as a source.

    Args:
        engine: where the relation is made.
        path: the file.
        format_: csv, jsonl, json, parquet or arrow; by the file's ending when None.
        encoding: of delimited text: utf-8 (default), utf-16 or latin-1.

    Raises:
        SourceError: missing, empty, not of its format, or without any data row.
    """
    shown = printable(path.name)
    _must_be_file(path, shown)
    kind = format_ or FORMATS.get(path.suffix.casefold())
    if kind is None:
        raise SourceError(
            f'{shown}: the ending "{printable(path.suffix)}" is not one of {", ".join(FORMATS)}; '
            "say what it is with --format csv|jsonl|json|parquet|arrow"
        )
    digest = _sha256(path)
    try:
        relation, columns = _READERS[kind](engine, path, encoding)
        empty = not engine.rows(f"SELECT 1 FROM {relation} LIMIT 1")
    except (duckdb.Error, UnicodeError) as problem:
        raise SourceError(_located(shown, kind, problem)) from None
    if empty:
        raise SourceError(f"{shown}: no data rows, only {quoted(columns) if columns else 'an empty list'}")
    return Source(path.name, relation, columns, digest, first_row=2 if kind == "csv" else 1)


def _must_be_file(path: Path, shown: str) -> None:
    if path.is_dir():
        raise SourceError(f"{shown}: a folder; name the file inside it")
    if not path.exists():
        try:
            beside = [other.name for other in path.parent.iterdir()]
        except OSError:
            beside = []
        raise SourceError(f"{printable(str(path))}: no such file" + did_you_mean(path.name, beside))
    if path.stat().st_size == 0:
        raise SourceError(f"{shown}: the file is empty (0 bytes)")


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        raise SourceError(f"{printable(path.name)}: cannot be read ({problem.strerror})") from None


def _place(path: Path) -> str:
    """The path as the engine takes it literally, its wildcard characters bracketed."""
    return _GLOB.sub(lambda found: f"[{found.group()}]", str(path.absolute()))


def _located(shown: str, kind: str, problem: Exception) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    said = printable(" · ".join(lines[:3]))[:300]
    hint = "; save it as UTF-8, or name its --encoding" if "unicode" in str(problem).casefold() else ""
    return f"{shown}: cannot be read as {kind}: {said}{hint}"


def _csv(engine: Engine, path: Path, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    known = _ENCODINGS.get((encoding or "utf-8").casefold())
    if known is None:
        raise SourceError(
            f'{printable(path.name)}: encoding "{printable(encoding or "")}" is not one of utf-8, utf-16, latin-1'
        )
    with path.open(encoding="utf-8-sig" if known == "utf-8" else known, newline="") as stream:
        first = stream.readline()
        delimiter = "\t" if path.suffix.casefold() in (".tsv", ".tab") else max(_DELIMITERS, key=first.count)
        stream.seek(0)
        header = next(csv.reader(stream, delimiter=delimiter), [])
    columns = _column_names(header, printable(path.name))
    read = engine.connection.read_csv(
        _place(path),
        auto_detect=False,
        header=True,
        columns=dict.fromkeys(columns, "VARCHAR"),
        delimiter=delimiter,
        quotechar='"',
        escapechar='"',
        strict_mode=True,
        encoding=known,
    )
    return _kept(engine, read), columns


def _column_names(header: list[str], shown: str) -> tuple[str, ...]:
    if not any(name.strip() for name in header):
        raise SourceError(f"{shown}: the first line holds no column names")
    names = [name.strip() or f"unnamed_{position}" for position, name in enumerate(header, start=1)]
    folded = [name.casefold() for name in names]
    twice = sorted({name for name in names if folded.count(name.casefold()) > 1})
    if twice:
        raise SourceError(
            f"{shown}: column names stand twice: {quoted(twice)} (upper and lower case count as one); rename one of each"
        )
    return tuple(names)


def _json(engine: Engine, path: Path, form: Literal["auto", "newline_delimited"]) -> tuple[str, tuple[str, ...]]:
    found = engine.connection.read_json(_place(path), format=form, sample_size=-1)
    columns = tuple(found.columns)
    if columns == ("json",):
        raise SourceError(f"{printable(path.name)}: not a list of objects, so there are no columns to read")
    read = engine.connection.read_json(_place(path), format=form, columns=dict.fromkeys(columns, "VARCHAR"))
    return _kept(engine, read), columns


def _parquet(engine: Engine, path: Path, _encoding: str | None) -> tuple[str, tuple[str, ...]]:
    read = engine.connection.read_parquet(_place(path))
    name = engine.name("parquet")
    read.create_view(name)
    return name, tuple(read.columns)


def _arrow(engine: Engine, path: Path, _encoding: str | None) -> tuple[str, tuple[str, ...]]:
    return frames.held(engine, frames.read_arrow_file(path))


def _kept(engine: Engine, read: Any) -> str:
    """Text files are parsed once: their rows stand in a table of the engine."""
    view, name = engine.name("text"), engine.name("rows")
    read.create_view(view)
    engine.run(f"CREATE TEMP TABLE {quote(name)} AS SELECT * FROM {quote(view)}")
    return name


_READERS = {
    "csv": _csv,
    "jsonl": lambda engine, path, _encoding: _json(engine, path, "newline_delimited"),
    "json": lambda engine, path, _encoding: _json(engine, path, "auto"),
    "parquet": _parquet,
    "arrow": _arrow,
}
