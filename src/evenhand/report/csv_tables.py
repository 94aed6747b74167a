"""The CSV tables beside a report: every number at full precision, text that a spreadsheet will not run.

A text cell that begins with a character a spreadsheet takes for a formula (= + - @, tab, carriage return) is written
with an apostrophe before it, the spreadsheet's own sign for text; a cell that begins with an apostrophe gets a second
one, so that taking one apostrophe off every text cell that has one gives the same text back.
"""

import csv
import io
from collections.abc import Iterator, Sequence

from evenhand.results import Audit, Cell

_RISKY = ("=", "+", "-", "@", "\t", "\r", "'")


def csv_files(audit: Audit) -> Iterator[tuple[str, str]]:
    """File name and text of each table."""
    columns = (
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
    yield "estimates.csv", _text(columns, [[getattr(estimate, column) for column in columns] for estimate in audit])
    for name, table in audit.tables.items():
        kind, _, source = name.partition("/")
        stem = {"lines": "worst_lines", "levels": "confusion"}.get(kind, kind)
        yield f"{stem}{_suffix(audit, source)}.csv", _text(table.columns, table.rows)


def _suffix(audit: Audit, source: str) -> str:
    if len(audit.data.judges) == 1:
        return ""
    kept = "".join(character if character.isalnum() or character in "._-" else "_" for character in source)[:60]
    return f"-{[*dict.fromkeys(e.source for e in audit)].index(source) + 1}-{kept}"


def _text(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows([[_cell(cell) for cell in row] for row in rows])
    return stream.getvalue()


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, str) and cell.startswith(_RISKY):
        return f"'{cell}"
    return "" if cell is None else cell
