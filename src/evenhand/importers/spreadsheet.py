"""Spreadsheets: one sheet as text, the way its user sees it; what the spreadsheet made of a mark is told, not read."""

import datetime
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from python_calamine import CalamineError, CalamineWorkbook

from evenhand.errors import SourceError, did_you_mean, printable, quoted
from evenhand.importers.safe_zip import SafeZip
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.sources import distinct_columns

MOST_CELLS = 20_000_000
"""Cells of a sheet's filled rectangle beyond which it is not opened: it is held in memory."""
_DATES = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)
_BOOK = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b[^>]*>")
_SHEET = re.compile(rb'<(?:\w+:)?sheet\b[^>]*\b\w+:id="([^"]*)"')
_CELL = re.compile(rb"<(?:\w+:)?c\b[^>]*>")
_ATTRIBUTE = re.compile(rb'\b(\w+)="([^"]*)"')
_PLACE = re.compile(rb'\br="([A-Z]{0,3})([0-9]{1,7})"')
_SHOWN = 4
_Rows = list[list[Any]]


class Sheet(NamedTuple):
    """A sheet as a relation.

    Attributes:
        relation: of text columns.
        columns: their names.
        first_row: number of the first data row, as the spreadsheet counts.
        unusable: column → why no verdict and no id can be read from it.
    """

    relation: str
    columns: tuple[str, ...]
    first_row: int
    unusable: dict[str, str]


def read_sheet(engine: Engine, path: Path, sheet: str | None = None) -> Sheet:
    """Read one sheet of a workbook as columns of text.

    Args:
        engine: where the relation is made.
        path: .xlsx or .xlsm.
        sheet: its name; where several hold data it must be said.

    Raises:
        SourceError: no workbook, no such sheet, or no header.
    """
    shown = printable(path.name)
    failed = _failed_cells(path, shown)
    try:
        with CalamineWorkbook.from_path(path) as book:
            name, rows = _chosen(book, sheet, shown)
            place = book.sheet_names.index(name)
    except (CalamineError, OSError, ValueError) as problem:
        said = printable(" ".join(str(problem).split()))[:200]
        raise SourceError(f"{shown}: cannot be read as a spreadsheet: {said}") from None
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":  # how the library says that it met a file it did not expect
            raise
        raise SourceError(f"{shown}: cannot be read as a spreadsheet: it is damaged; save it again") from None
    return _held(engine, rows, shown, failed[place] if place < len(failed) else set[str]().union(*failed))


def _failed_cells(path: Path, shown: str) -> list[set[str]]:
    """Cells whose formula found no value, for each sheet in order; the reader of cells shows them as blank.

    Raises:
        SourceError: an archive beyond a limit or damaged, or a sheet whose filled rectangle would not fit in memory.
    """
    failed: dict[str, set[str]] = {}
    try:
        with SafeZip(path) as archive:
            members = {name: archive.read(name) for name in archive.members if name in _BOOK}
            for name in archive.members:
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    failed[name] = _failed_on(archive.read(name), shown)
    except SourceError as problem:
        said = str(problem).removeprefix(f"{shown}: ")
        raise SourceError(f"{shown}: cannot be read as a spreadsheet without a password: {said}") from None
    related = {}
    for found in _RELATION.findall(members.get(_BOOK[1], b"")):
        parts = dict(_ATTRIBUTE.findall(found))
        related[parts.get(b"Id", b"")] = (
            parts.get(b"Target", b"").decode("utf-8", "replace").lstrip("/").removeprefix("xl/")
        )
    order = [f"xl/{related.get(identity, '')}" for identity in _SHEET.findall(members.get(_BOOK[0], b""))]
    return [failed.get(name, set()) for name in order]


def _failed_on(data: bytes, shown: str) -> set[str]:
    columns, height = set[bytes](), 0
    for found in _PLACE.finditer(data):
        columns.add(found[1])
        height = max(height, int(found[2]))
    width = max(map(_number, columns), default=0)
    if width * height > MOST_CELLS:
        raise SourceError(
            f"{shown}: a sheet of {height:,} rows and {width:,} columns, beyond {MOST_CELLS:,} cells; take stray cells at its "
            "edge out, or save it as CSV (UTF-8)"
        )
    cells = (dict(_ATTRIBUTE.findall(cell)) for cell in _CELL.findall(data) if b't="e"' in cell)
    return {cell.get(b"r", b"").decode() for cell in cells}


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _chosen(book: CalamineWorkbook, wanted: str | None, shown: str) -> tuple[str, _Rows]:
    names = book.sheet_names
    if wanted is not None and wanted not in names:
        raise SourceError(
            f'{shown}: no sheet "{printable(wanted)}" (--sheet)'
            + (did_you_mean(wanted, names) or f"; sheets are {quoted(names, 20)}")
        )
    read = {name: _rows(book, name) for name in ([wanted] if wanted is not None else names)}
    filled = {name: rows for name, rows in read.items() if any(not _is_blank(row) for row in rows)}
    if len(filled) > 1:
        raise SourceError(
            f"{shown}: {len(filled)} sheets hold data: {quoted(filled, 20)}; choose one with --sheet NAME"
        )
    if not filled:
        raise SourceError(f"{shown}: no cell is filled" + (f' on sheet "{printable(wanted)}"' if wanted else ""))
    return next(iter(filled.items()))


def _rows(book: CalamineWorkbook, name: str) -> _Rows:
    return book.get_sheet_by_name(name).to_python(skip_empty_area=False)


def _is_blank(row: Sequence[Any]) -> bool:
    return all(cell is None or cell == "" for cell in row)


def _held(engine: Engine, rows: _Rows, shown: str, failed: AbstractSet[str]) -> Sheet:
    start = next(number for number, row in enumerate(rows) if not _is_blank(row))
    body = rows[start + 1 :]
    while body and _is_blank(body[-1]):
        body.pop()
    names = [text(cell).strip() for cell in rows[start]]
    used = [place for place, name in enumerate(names) if name or any(text(row[place]) for row in body)]
    columns = distinct_columns([names[place] or f"unnamed_{place + 1}" for place in used], shown)
    arrays = {}
    for place, column in zip(used, columns, strict=True):
        arrays[column] = np.empty(len(body), dtype=object)
        arrays[column][:] = [text(row[place]) for row in body]
    first_row = start + 2
    odd = {
        column: cells
        for place, column in zip(used, columns, strict=True)
        if (
            cells := [
                _cell(place, first_row + n)
                for n, row in enumerate(body)
                if isinstance(row[place], _DATES) or (failed and _cell(place, first_row + n) in failed)
            ]
        )
    }
    name = engine.name("sheet")
    engine.connection.register(name, arrays)
    return Sheet(name, columns, first_row, dict.fromkeys(odd, _refusal(shown, odd)) if odd else {})


def text(cell: Any) -> str:
    """A cell as its user sees it: whole numbers without a point, booleans as words, text as it stands."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else str(cell)


def _cell(place: int, row: int) -> str:
    """A cell as a spreadsheet names it.

    >>> _cell(27, 3)
    'AB3'
    """
    letters, place = "", place + 1
    while place:
        place, letter = divmod(place - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row}"


def _refusal(shown: str, odd: dict[str, list[str]]) -> str:
    said = "; ".join(
        f"{', '.join(cells[:_SHOWN])}{f' and {len(cells) - _SHOWN:,} more' if len(cells) > _SHOWN else ''} "
        f'in "{printable(column)}"'
        for column, cells in list(odd.items())[:8]
    )
    return (
        f"{shown}: cells hold dates or failed formulas, not verdicts or ids: {said}. A spreadsheet turns 3/12 into a date when "
        "it is typed: type the cells again as text, or save the sheet as CSV and mend it there"
    )
