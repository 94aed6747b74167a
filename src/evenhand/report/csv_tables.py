"""The CSV tables beside a report: every number at full precision, text that a spreadsheet will not run.

A spreadsheet takes a cell for a formula when it begins with ``=``, ``+``, ``-`` or ``@`` (or their full-width forms), or
with a tab, a line feed or a carriage return before one of them. Such a text cell is written with an apostrophe before it,
the spreadsheet's own sign for text; a text that begins with an apostrophe gets a second one. Taking one apostrophe off
every text cell that begins with one gives the same text back: ``plain_text`` does it for a cell, ``read_table`` for a file.
Numbers are never touched: ``-0.5`` stays a number.
"""

import csv
import io
from collections.abc import Iterator, Sequence

from evenhand.report.lookups import judge_sources
from evenhand.results import Audit, Cell, Table

_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
_STEMS = {"lines": "worst_lines", "levels": "confusion"}
ESTIMATE_COLUMNS = (
    "id",
    "statistic",
    "source",
    "estimate",
    "std_error",
    "ci_low",
    "ci_high",
    "interval_method",
    "status",
    "reason",
    "unit",
    "events",
    "trials",
    "n_used",
    "n_excluded",
    "n_clusters",
    "design_effect",
    "describes",
    "estimand",
)
"""Fields of an estimate that make one row of a table."""


def csv_files(audit: Audit) -> Iterator[tuple[str, str]]:
    """File name and text of each table; with several judges each file names its judge."""
    rows = [[getattr(estimate, column) for column in ESTIMATE_COLUMNS] for estimate in audit.estimates]
    yield "estimates.csv", _text(ESTIMATE_COLUMNS, rows)
    for name, table in audit.tables.items():
        kind, _, source = name.partition("/")
        yield f"{_STEMS.get(kind, kind)}{_suffix(audit, source)}.csv", _text(table.columns, table.rows)


def safe_text(text: str) -> str:
    """Text as a cell that no spreadsheet runs."""
    return f"'{text}" if text.startswith(_RISKY) else text


def plain_text(cell: str) -> str:
    """The text a cell was written from: the inverse of ``safe_text``."""
    return cell.removeprefix("'")


def read_table(text: str) -> Table:
    """A table as its CSV file holds it, every cell as the text it was written from; an empty cell is empty text."""
    columns, *rows = csv.reader(io.StringIO(text, newline=""))
    return Table(columns=tuple(columns), rows=tuple(tuple(plain_text(cell) for cell in row) for row in rows))


def _suffix(audit: Audit, source: str) -> str:
    judges = judge_sources(audit)
    if len(judges) < 2:
        return ""
    kept = "".join(character if character.isalnum() or character in "._-" else "_" for character in source)[:60]
    place = judges.index(source) + 1 if source in judges else 0
    return f"-{place}-{kept}"


def _text(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows([[_cell(cell) for cell in row] for row in rows])
    return stream.getvalue()


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return safe_text(cell)
    return "" if cell is None else cell
