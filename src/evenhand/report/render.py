"""Markdown and HTML reports of a saved audit."""

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from evenhand.errors import printable
from evenhand.report import markdown
from evenhand.report.page import page
from evenhand.report.svg import Drawing, svg
from evenhand.results import SCHEMA, Audit

REPORT_MARK = f"evenhand report of {SCHEMA}"
"""Stands near the top of every report; a file without it is not ours to replace."""


def to_markdown(audit: Audit) -> str:
    """The report as Markdown."""
    said = page(audit)
    return f"<!-- {REPORT_MARK} -->\n" + (
        _markdown_environment()
        .get_template("report.md.jinja")
        .render(
            page=said,
            table=markdown.pipe_table,
            number_table=markdown.number_table,
            line_table=markdown.line_table,
            text_table=markdown.text_table,
            decisions=markdown.decision_rows(said),
            checklist=markdown.checklist_table(said),
            drawn=said.figures,
        )
    )


def to_html(audit: Audit) -> str:
    """The report as one self-contained HTML page that asks for nothing outside itself."""
    style, script = _asset("report.css"), _asset("report.js")
    return f"<!doctype html>\n<!-- {REPORT_MARK} -->\n" + (
        _html_environment()
        .get_template("report.html.jinja")
        .render(page=page(audit), style=style, script=script, style_hash=_hash(style), script_hash=_hash(script))
    )


def to_frame(audit: Audit, height: str = "42rem") -> str:
    """The page inside a frame of its own, so that a notebook's style and the page's leave each other alone."""
    frame = '<iframe title="evenhand audit" sandbox="allow-scripts" width="100%" height="{}" srcdoc="{}"></iframe>'
    return Markup(frame).format(height, str(to_html(audit)))  # noqa: S704  both values are escaped by format


def page_environment() -> Environment:
    """The environment of every HTML page: each printed text is escaped."""
    return _html_environment()


def text_environment() -> Environment:
    """The environment of every Markdown page: each printed text is escaped for it."""
    return _markdown_environment()


def inline_parts(name: str) -> tuple[Markup, Markup]:
    """A style or script that stands in a page, and the hash by which its policy allows it."""
    text = _asset(name)
    return text, _hash(text)


@cache
def _html_environment() -> Environment:
    environment = _environment(_shown, autoescape=True)
    environment.filters |= {
        "decimal": decimal,
        "options": options,
        "paragraphs": paragraphs,
        "svg": _inline_svg,
        "typeset": typeset,
    }
    return environment


@cache
def _markdown_environment() -> Environment:
    return _environment(markdown.finalize, autoescape=False)


def _environment(every_value: Callable[[object], object], *, autoescape: bool) -> Environment:
    return Environment(
        loader=PackageLoader("evenhand.report"),
        finalize=every_value,
        autoescape=autoescape,  # noqa: S701  in Markdown every value goes through its own escape, markdown.finalize
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: object) -> object:
    """Control and direction characters of any printed text become escapes; autoescape follows."""
    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return printable(value)


def decimal(number: str) -> Markup:
    """A printed number in two parts, so that a column of them aligns on the point; minus as a minus sign."""
    whole, point, rest = printable(number).replace("-", "−").partition(".")
    if not point and whole.endswith(" %"):
        whole, rest = whole[:-2], " %"
    return Markup('<span class="w">{}</span><span class="f">{}</span>').format(whole, f"{point}{rest}")


def typeset(text: str) -> str:
    """A sentence of our own with numbers: no break before a percent sign or within a range, minus as a minus sign."""
    joined = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", printable(text))
    joined = re.sub(r"(?<=\d) – (?=\d)", "\N{NO-BREAK SPACE}– ", joined)
    return re.sub(r"(?<![\w.-])-(?=\d)", "−", joined)


def options(text: str) -> Markup:
    """A sentence of our own with options of the command, each kept on one line."""
    parts = re.split(r"(--[a-z-]+(?: [A-Z]+)?)", printable(text))
    return Markup("").join(
        Markup('<code class="option">{}</code>').format(part) if at % 2 else escape(part)
        for at, part in enumerate(parts)
    )


def paragraphs(text: str) -> Markup:
    """Text from data with its own line breaks, everything else in it as text."""
    return Markup("<br>").join(escape(printable(line)) for line in text.splitlines())


def _inline_svg(drawing: Drawing) -> Markup:
    return Markup(svg(drawing))  # noqa: S704  svg() escapes every text it is given


@cache
def _asset(name: str) -> Markup:
    return Markup(files("evenhand.report").joinpath("templates", name).read_text(encoding="utf-8"))  # noqa: S704


def _hash(text: str) -> Markup:
    """The source expression by which a policy allows exactly this text."""
    return Markup("'sha256-{}'").format(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())
