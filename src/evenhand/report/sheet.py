"""A short page beside an audit's report: sentences, tables and drawings, as Markdown and as one self-contained HTML file."""

from dataclasses import dataclass

from evenhand.report.markdown import pipe_table
from evenhand.report.render import inline_parts, page_environment, text_environment
from evenhand.report.svg import Drawing


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table whose cells are words already.

    Attributes:
        title: its caption.
        note: under the caption.
        columns: heads; the first column names the row.
        rows: one cell a column.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page.

    Attributes:
        schema: stands near the top of every copy.
        kicker, title: what kind of page it is, and of what.
        said: what can be said, first.
        notes: what a reader has to know.
        tables, drawings: in order.
    """

    schema: str
    kicker: str
    title: str
    said: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[SheetTable, ...]
    drawings: tuple[Drawing, ...] = ()


def sheet_html(sheet: Sheet) -> str:
    """The page as HTML that asks for nothing outside itself."""
    style, style_hash = inline_parts("report.css")
    template = page_environment().get_template("sheet.html.jinja")
    return "<!doctype html>\n" + template.render(sheet=sheet, style=style, style_hash=style_hash)


def sheet_markdown(sheet: Sheet) -> str:
    """The page as Markdown; drawings are named, their numbers stand in the tables."""
    template = text_environment().get_template("sheet.md.jinja")
    return template.render(sheet=sheet, pipes=pipe_table)
