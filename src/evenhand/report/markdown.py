"""Markdown that shows text as text: what comes from data makes no link, no element, no emphasis and no table cell."""

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from evenhand.errors import printable
from evenhand.report.numbers import Cell, NumberTable
from evenhand.report.page import Page
from evenhand.report.worst import LineRow, LineTexts

_ANYWHERE = re.compile(r"([\\`*\[\]<>|~$])")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_AT_START = re.compile(r"^(\s*)([#=]|[-+](?=[-+\s]|$)|\d+[.)](?=\s|$))")
_AUTOLINK = re.compile(r"(?i)(:)(?=//)|(?<=\bwww)(\.)")


def markdown_text(text: str) -> str:
    """Text as it may stand in a paragraph or a table cell.

    Control and direction characters become escapes, so a line break is two characters and a cell stays one cell.
    """
    said = _ANYWHERE.sub(r"\\\1", printable(text).replace("&", "&amp;"))
    said = _UNDERSCORE.sub(r"\\_", said)
    said = _AUTOLINK.sub(lambda found: f"\\{found.group()}", said)
    return _AT_START.sub(_escape_start, said)


def _escape_start(found: re.Match[str]) -> str:
    space, mark = found.groups()
    return f"{space}\\{mark}" if len(mark) == 1 else f"{space}{mark[:-1]}\\{mark[-1]}"


def finalize(value: object) -> object:
    """Every value a Markdown template prints goes through here; only what is marked safe passes as it is."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else markdown_text(value)


def pipe_table(headers: Sequence[str], rows: Iterable[Sequence[object]], align: str = "") -> Markup:
    """A pipe table, a line for each row.

    Args:
        headers: of the columns.
        rows: cells; strings are escaped, what is marked safe is not.
        align: l or r for each column; the last letter stands for the rest, l where there is none.
    """
    sides = (align or "l").ljust(len(headers), (align or "l")[-1])
    lines = [headers, ["---:" if side == "r" else "---" for side in sides[: len(headers)]]]
    shown = [f"| {' | '.join(map(str, map(finalize, headers)))} |", f"|{'|'.join(lines[1])}|"]
    shown += [f"| {' | '.join(str(finalize(cell)) for cell in row)} |" for row in rows]
    return Markup("\n".join(shown))  # noqa: S704  every cell went through finalize


def number_table(found: NumberTable, level: str) -> Markup:
    """Estimates as a pipe table: value, ends and events, or values with their intervals side by side."""
    if len(found.columns) > 1:
        rows = [[row.name, *(_pair(cell) for cell in row.cells)] for row in found.rows]
        return pipe_table([found.stub, *found.columns], rows, "lr")
    headers = [found.stub, "value", f"{level} from", "to", "events", "note"]
    single = [(row.name, row.cells[0], row.events) for row in found.rows]
    rows = [[name, cell.value, cell.low, cell.high, events, cell.note] for name, cell, events in single if cell]
    return pipe_table(headers, rows, "lrrrrl")


def _pair(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if not cell.is_ok:
        return f"{cell.value}: {cell.note}"
    if cell.range:
        return f"{cell.value} ({cell.range})"
    return f"{cell.value} (no interval: {cell.note})" if cell.note else cell.value


def decision_rows(page: Page) -> list[list[str]]:
    """The decision table's cells."""
    return [
        [row.question, row.quantity, row.answer or f"not from these data; collect {row.collect}", row.not_this]
        for row in page.decisions
    ]


def line_table(lines: Sequence[LineRow]) -> Markup:
    """The worst lines."""
    rows = [[line.name, line.errors, _pair(line.rate), line.accepts, line.rejects] for line in lines]
    headers = ["line", "errors", "rate", "false accepts", "false rejects"]
    if any(line.holm for line in lines):
        headers += ["rate shrunk", "Holm p"]
        rows = [[*row, line.shrunken, line.holm] for row, line in zip(rows, lines, strict=True)]
    return pipe_table(headers, rows, "lr")


def text_table(groups: Sequence[LineTexts]) -> Markup:
    """Responses the judge differs on, one row each whatever their texts hold."""
    rows = [
        [group.line, group.criterion_text, one.response, one.reference, one.judge, one.text]
        for group in groups
        for one in group.texts
    ]
    return pipe_table(["line", "criterion", "response", "reference", "judge", "text"], rows)


def checklist_table(page: Page) -> Markup:
    """The checklist."""
    return pipe_table(
        ["item", "status", "where"], [[item["item"], item["status"], item["where"]] for item in page.checklist]
    )
