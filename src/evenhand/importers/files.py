"""Files of rows: CSV and its relatives, JSON, JSON lines, Parquet, Arrow and Feather, spreadsheets.

Delimited and JSON files are read with every column as text, so that "007" stays "007"; nothing is guessed beyond
the delimiter, and a row that does not fit its header stops the read with its line.
"""

import codecs
import hashlib
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, Literal

import duckdb

from evenhand.errors import RequestError, SourceError, did_you_mean, printable, quoted
from evenhand.importers.delimited import DelimitedText
from evenhand.output import is_path
from evenhand.verdicts.engine import Engine, quote, without_folders
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec

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
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
"""File name endings and the format each is read as."""
SPEC_KEY = "evenhand.spec"
"""Under which a converted Parquet file holds the spec that reads it again."""
_GLOB = re.compile(r"[*?\[]")
_OFFICE = (".xls", ".xlsb", ".ods", ".numbers")
_IN_MEMORY = 64 * 2**20
"""Bytes of a text file up to which its rows stand in memory; beyond, on disk and by column while the engine is open."""


def read_file(
    engine: Engine, path: Path, *, format_: str | None = None, encoding: str | None = None, sheet: str | None = None
) -> Source:
    """Open one file as a source.

    Args:
        engine: where the relation is made.
        path: the file.
        format_: csv, jsonl, json, parquet, arrow or xlsx; by the file's ending when None.
        encoding: of delimited text, as Python calls it; UTF-8, or UTF-16 with its mark, when None.
        sheet: of a spreadsheet.

    Raises:
        SourceError: missing, empty, not of its format, or without any data row.
    """
    shown = printable(path.name)
    _must_be_file(path, shown)
    kind = format_ or FORMATS.get(path.suffix.casefold())
    if kind is None or kind not in FORMATS.values():
        raise SourceError(_unknown_ending(path, shown) if kind is None else _unknown_format(kind))
    digest, first_row = sha256(path), 2 if kind == "csv" else 1
    unusable: dict[str, str] = {}
    try:
        if kind == "xlsx":
            from evenhand.importers.spreadsheet import read_sheet  # what few files need is loaded for them alone

            relation, columns, first_row, unusable = read_sheet(engine, path, sheet)
        else:
            relation, columns = _READERS[kind](engine, path, encoding)
        empty = not engine.rows(f"SELECT 1 FROM {relation} LIMIT 1")
    except duckdb.Error as problem:
        raise SourceError(_located(shown, kind, problem)) from None
    if empty:
        raise SourceError(f"{shown}: no data rows, only {quoted(columns) if columns else 'an empty list'}")
    return Source(path.name, relation, columns, digest, first_row=first_row, unusable=unusable)


def _unknown_ending(path: Path, shown: str) -> str:
    if path.suffix.casefold() in _OFFICE:
        return f"{shown}: of spreadsheets .xlsx is read; save it as that, or the sheet as CSV (UTF-8)"
    return (
        f'{shown}: the ending "{printable(path.suffix)}" is not one of {", ".join(FORMATS)}; '
        "say what it is with --format csv|jsonl|json|parquet|arrow|xlsx"
    )


def _unknown_format(kind: str) -> str:
    known = dict.fromkeys(FORMATS.values())
    return f'--format "{printable(kind)}" is not one of {", ".join(known)}' + did_you_mean(kind, list(known))


def _must_be_file(path: Path, shown: str) -> None:
    if not is_path(path):
        raise SourceError(f"{printable(str(path))}: the name holds NUL or is not UTF-8; rename the file")
    try:
        mode, size = path.stat().st_mode, path.stat().st_size
    except (OSError, ValueError) as problem:
        raise SourceError(_absent(path, problem)) from None
    if stat.S_ISDIR(mode):
        raise SourceError(f"{shown}: a folder; name the file inside it")
    if not stat.S_ISREG(mode):
        raise SourceError(f"{shown}: a pipe or device; save it to a file first, it is read more than once")
    if size == 0:
        raise SourceError(f"{shown}: the file is empty (0 bytes)")


def _absent(path: Path, problem: Exception) -> str:
    shown = printable(str(path))
    if not isinstance(problem, FileNotFoundError):
        return f"{shown}: cannot be read ({getattr(problem, 'strerror', None) or problem})"
    if re.fullmatch(r"[0-9.]+", path.name):
        return f"{shown}: no such file; several values of an option take commas: --cut 4,5"
    try:
        beside = [other.name for other in path.parent.iterdir()]
    except OSError:
        return f"{shown}: no such file, nor its folder"
    return f"{shown}: no such file" + did_you_mean(path.name, beside)


def sha256(path: Path) -> str:
    """Of a file's bytes, in hexadecimal.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        raise SourceError(f"{printable(path.name)}: cannot be read ({problem.strerror})") from None


def _place(path: Path) -> str:
    """The path as the engine takes it literally, its wildcard characters bracketed."""
    return _GLOB.sub(lambda found: f"[{found.group()}]", str(path.absolute()))


def _located(shown: str, kind: str, problem: Exception) -> str:
    said = without_folders(" ".join(str(problem).split()))
    if kind == "csv" and (found := _CSV_ERROR.search(said)):
        line, expected, counted = found["line"], found["expected"], found["found"]
        if expected:
            said = counted if int(counted) < int(expected) else f"more than {expected}"
            return (
                f"{shown} line {line}: {said} values under {expected} column names; mend the line, "
                "or put quotes round a value that holds the delimiter"
            )
        if "unterminated quote" in said or "quote" in said.partition("Possible fixes")[0].casefold():
            return (
                f'{shown} line {line}: a quote is opened and not closed, or text follows a closing one; write " as ""'
            )
    said = re.sub(r"Possible (fixes|solution).*", "", said, flags=re.IGNORECASE)
    return f"{shown}: cannot be read as {kind}: {printable(said)[:300].strip()}"


_CSV_ERROR = re.compile(
    r"CSV Error on Line: (?P<line>\d+)(?:.*?Expected Number of Columns: (?P<expected>\d+) Found: (?P<found>\d+))?"
)


def _csv(engine: Engine, path: Path, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    text = DelimitedText(path, encoding)
    if text.is_utf8:
        try:
            return _parsed(engine, path, text), text.columns
        except duckdb.InvalidInputException as problem:
            text.must_be_valid()
            if "state machine" not in str(problem):
                raise
    with text.rewritten() as plain:
        return _parsed(engine, plain, text), text.columns


def _parsed(engine: Engine, path: Path, text: DelimitedText) -> str:
    read = engine.connection.read_csv(
        _place(path),
        auto_detect=False,
        header=True,
        columns=dict.fromkeys(text.columns, "VARCHAR"),
        delimiter=text.delimiter,
        quotechar='"',
        escapechar='"',
        strict_mode=True,
        hive_partitioning=False,
    )
    return _kept(engine, read, path)


def _json(engine: Engine, path: Path, form: Literal["auto", "newline_delimited"]) -> tuple[str, tuple[str, ...]]:
    _must_be_whole(path)
    found = engine.connection.read_json(_place(path), format=form, sample_size=-1, maximum_depth=1)
    columns = tuple(found.columns)
    if columns == ("json",):
        raise SourceError(
            f"{printable(path.name)}: not a list of objects with named fields, so there are no columns to read; "
            'write [{"id": ..., "judge": ...}, ...] or one such object a line (.jsonl)'
        )
    read = engine.connection.read_json(_place(path), format=form, columns=dict.fromkeys(columns, "VARCHAR"))
    return _kept(engine, read, path), columns


def _must_be_whole(path: Path) -> None:
    """Refuse a list that is not closed, which the engine would read to its last whole member."""
    with path.open("rb") as stream:
        start = stream.read(64).removeprefix(codecs.BOM_UTF8).lstrip()
        stream.seek(max(0, path.stat().st_size - 64))
        end = stream.read().rstrip()
    if start.startswith(b"[") and not end.endswith(b"]"):
        raise SourceError(
            f"{printable(path.name)}: the list is not closed: the file is cut off; fetch or export it again"
        )


def _parquet(engine: Engine, path: Path, _encoding: str | None) -> tuple[str, tuple[str, ...]]:
    read = engine.connection.read_parquet(_place(path), hive_partitioning=False)
    view, name = engine.name("parquet"), engine.name("rows")
    read.create_view(view)
    kinds = zip(read.columns, map(str, read.types), strict=True)
    columns = ", ".join(_number_as_text(name) if kind in ("FLOAT", "DOUBLE") else quote(name) for name, kind in kinds)
    engine.run(f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM {view}")
    return name, tuple(read.columns)


def spec_in(engine: Engine, path: Path) -> Spec | None:
    """The spec that a Parquet file carries, if it is a converted one.

    Raises:
        SourceError: it carries one that cannot be read.
    """
    if FORMATS.get(path.suffix.casefold()) != "parquet" or not path.is_file():
        return None
    try:
        found = engine.rows(
            f"SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = '{SPEC_KEY}'", [_place(path)]
        )
    except duckdb.Error:
        return None
    try:
        return Spec.of(**tomllib.loads(found[0][0])) if found else None
    except (tomllib.TOMLDecodeError, RequestError) as problem:
        raise SourceError(
            f"{printable(path.name)}: the spec it carries cannot be read: {printable(str(problem))[:200]}"
        ) from None


def _number_as_text(column: str) -> str:
    """A column of floating numbers as a frame would give it: whole ones without a point, NaN as nothing."""
    name = quote(column)
    whole = f"isfinite({name}) AND {name} = trunc({name}) AND abs({name}) < 9007199254740992"
    return (
        f"CASE WHEN isnan({name}) THEN NULL WHEN {whole} THEN CAST(CAST({name} AS BIGINT) AS VARCHAR) "
        f"ELSE CAST({name} AS VARCHAR) END AS {name}"
    )


def _arrow(engine: Engine, path: Path, _encoding: str | None) -> tuple[str, tuple[str, ...]]:
    from evenhand.importers import frames  # what few files need is loaded for them alone

    return frames.held(engine, frames.read_arrow_file(path), printable(path.name))


def _kept(engine: Engine, read: Any, path: Path) -> str:
    """Text files are parsed once: their rows stand in a table of the engine, those of a large one beside it on disk."""
    view, name = engine.name("text"), engine.name("rows")
    read.create_view(view)
    if path.stat().st_size <= _IN_MEMORY:
        engine.run(f"CREATE TEMP TABLE {quote(name)} AS SELECT * FROM {quote(view)}")
        return name
    engine.run(f"CREATE TEMP VIEW {quote(name)} AS {engine.on_disk(f'SELECT * FROM {quote(view)}')}")
    return name


_READERS = {
    "csv": _csv,
    "jsonl": lambda engine, path, _encoding: _json(engine, path, "newline_delimited"),
    "json": lambda engine, path, _encoding: _json(engine, path, "auto"),
    "parquet": _parquet,
    "arrow": _arrow,
}
