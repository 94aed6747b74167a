"""Markdown and HTML reports of a saved audit."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from evenhand.errors import printable
from evenhand.report import tables
from evenhand.report.sentences import judge_sources
from evenhand.report.terminal import ledger
from evenhand.results import Audit, Estimate

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~])")


@dataclass(frozen=True, slots=True)
class Row:
    """An estimate as it is printed."""

    id: str
    name: str
    value: str
    interval: str
    events: str
    describes: str
    estimand: str
    note: str
    method: str
    used: str


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading."""

    title: str
    rows: Sequence[Row]


def row(estimate: Estimate) -> Row:
    """Round and name one estimate."""
    return Row(
        id=printable(estimate.id),
        name=tables.display_name(estimate),
        value=tables.value_text(estimate),
        interval=tables.interval_text(estimate),
        events=tables.events_text(estimate),
        describes=estimate.describes,
        estimand=printable(estimate.estimand),
        note=printable(estimate.reason),
        method=tables.method_text(estimate),
        used=f"{estimate.n_used:,} used, {estimate.n_excluded:,} excluded, {estimate.n_clusters:,} clusters",
    )


def sections(audit: Audit) -> list[Section]:
    """Main numbers of each judge, then its criteria."""
    found = []
    for judge in judge_sources(audit):
        mine = [estimate for estimate in audit if estimate.source == judge]
        who = "the judge" if judge == "judge" else printable(judge)
        main = [row(e) for e in mine if not tables.is_quiet(e) and not e.statistic.startswith("n_")]
        counts = [row(e) for e in mine if e.statistic.startswith("n_")]
        detail = [row(e) for e in mine if "criterion" in e.params]
        found += [Section(f"Numbers about {who}", main), Section(f"What was counted for {who}", counts)]
        if detail:
            found.append(Section(f"By criterion, {who}", detail))
    return found


def markdown_text(text: str) -> str:
    """Text from data as it may stand in a Markdown table cell."""
    return _MARKDOWN.sub(r"\\\1", printable(text)).replace("&", "&amp;").replace("<", "&lt;")


def _environment(*, autoescape: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader("evenhand.report"),
        autoescape=autoescape,  # noqa: S701  Markdown has its own escape, the filter md
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = markdown_text
    environment.filters["printable"] = printable
    return environment


def _context(audit: Audit) -> dict[str, object]:
    return {
        "audit": audit,
        "sections": sections(audit),
        "ledger": ledger(audit),
        "confusions": {name: table for name, table in audit.tables.items() if name.startswith("levels/")},
        "worst": {name: table.records()[:10] for name, table in audit.tables.items() if name.startswith("lines/")},
        "level": f"{100 * audit.declarations.confidence_level:g} %",
    }


def to_markdown(audit: Audit) -> str:
    """The report as Markdown."""
    return _environment(autoescape=False).get_template("report.md.jinja").render(_context(audit))


def to_html(audit: Audit) -> str:
    """The report as one self-contained HTML page."""
    return _environment(autoescape=True).get_template("report.html.jinja").render(_context(audit))
