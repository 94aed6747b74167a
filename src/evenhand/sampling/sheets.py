"""Sheets to fill, as CSV and XLSX: codes, texts the user named, a column a criterion, and nothing that gives the judge away."""

import csv
import datetime
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.report.csv_tables import safe_text
from evenhand.sampling.form import CANNOT_ASSESS, CODE, COMMENT, NOT_ASKED, Form

LONGEST = 32_000
"""Characters of a cell's text that are kept: a spreadsheet takes 32,767."""
CUT = " … (cut off here)"
_LIST = 255
"""Characters that a spreadsheet takes for a list of choices."""
_WIDE, _NARROW = 60, 16
_EPOCH = datetime.datetime(2000, 1, 1)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A rater's sheet as texts.

    Attributes:
        columns: headings.
        rows: cells; empty where the rater fills.
        fills: positions of the columns to fill with labels.
        form: what may stand there.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    fills: tuple[int, ...]
    form: Form


def sheet(
    form: Form,
    codes: Sequence[str],
    texts: Mapping[str, Sequence[str]],
    of_criteria: Mapping[str, Sequence[str]],
    asked: Sequence[frozenset[str]],
    order: Sequence[int],
) -> Sheet:
    """One rater's sheet.

    Args:
        form: criteria and labels.
        codes: (n,) of the drawn responses.
        texts: heading → (n,) texts of the responses.
        of_criteria: criterion → (n,) texts of that line, as far as there are any.
        asked: (n,) criteria that each response has.
        order: positions of the rater's responses, in the order of the sheet.
    """
    columns, parts = [CODE, *texts], [codes, *texts.values()]
    fills = []
    for criterion in form.criteria:
        if criterion in of_criteria:
            columns.append(f"line {criterion}")
            parts.append(of_criteria[criterion])
        fills.append(len(columns))
        columns.append(form.heading(criterion))
        parts.append(["" if criterion in has else NOT_ASKED for has in asked])
    columns.append(COMMENT)
    parts.append([""] * len(codes))
    rows = tuple(tuple(_kept(part[place]) for part in parts) for place in order)
    return Sheet(tuple(columns), rows, tuple(fills), form)


def _kept(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - len(CUT)] + CUT


def to_csv(one: Sheet) -> str:
    """The sheet as CSV whose cells no spreadsheet runs, with the mark by which it is known as UTF-8."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow([safe_text(name) for name in one.columns])
    writer.writerows([[safe_text(cell) for cell in row] for row in one.rows])
    return "\ufeff" + stream.getvalue()


def can_write_xlsx() -> bool:
    """Whether the library for it is installed."""
    try:
        import xlsxwriter  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def write_xlsx(one: Sheet, path: Path) -> None:
    """The sheet as a workbook: every cell text, the labels' cells with their choices; the same bytes for the same sheet."""
    from xlsxwriter import Workbook

    book = Workbook(str(path), {"strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False})
    book.set_properties({"created": _EPOCH})
    page = book.add_worksheet("labels")
    shown = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
    filled = book.add_format(
        {"text_wrap": True, "valign": "top", "num_format": "@", "bg_color": "#FFF8DC", "border": 1}
    )
    head = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "num_format": "@"})
    for place, name in enumerate(one.columns):
        is_text = place not in one.fills and name != CODE
        page.set_column(place, place, _WIDE if is_text else _NARROW)
        page.write_string(0, place, name, head)
    for number, row in enumerate(one.rows, 1):
        for place, cell in enumerate(row):
            style = filled if place in one.fills or place == len(row) - 1 else shown
            if cell:
                page.write_string(number, place, cell, style)
            else:
                page.write_blank(number, place, None, style)
    for place in one.fills:
        page.data_validation(1, place, len(one.rows), place, _choices(one.form))
    page.freeze_panes(1, 1)
    book.close()


def _choices(form: Form) -> dict[str, Any]:
    """What a spreadsheet offers and says at a label's cell; it warns of another entry and refuses none."""
    said = form.allowed if len(form.allowed) <= _LIST else f"{form.allowed[: _LIST - 2]} …"
    words = {"input_title": "Label", "input_message": said, "error_type": "warning", "error_message": said}
    listed = [*form.levels, CANNOT_ASSESS]
    if form.levels and len(",".join(listed)) <= _LIST and not any("," in level for level in listed):
        return {"validate": "list", "source": listed, **words}
    return {"validate": "any", **words}


def instructions(form: Form, n_rows: Sequence[int]) -> str:
    """What goes to the raters with their sheets."""
    named = f"{len(form.criteria)} label columns" if len(form.criteria) > 1 else "the label column"
    return (
        "How to fill these sheets\n\n"
        f"Each row is one response, known by its code. Fill {named}: {form.allowed}.\n"
        f'Write {CANNOT_ASSESS} where a row cannot be decided from what it shows; leave a cell that says "{NOT_ASKED}" as it is.\n'
        "Do not change the codes or the headings, and take no row out. Rows may be sorted; the comment column is yours.\n"
        f"Each rater has one sheet ({', '.join(f'rater_{number}: {count:,} rows' for number, count in enumerate(n_rows, 1))}) and fills "
        "it alone: do not compare before both are done. CSV and XLSX hold the same rows; fill one of them.\n"
    )
