"""The summary an audit prints: what can be said, what describes something else, and what cannot be said."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from evenhand.errors import printable
from evenhand.report.further import families
from evenhand.report.gaps import cannot_say, no_statement
from evenhand.report.judge_rows import WIDTH, judge_table, rows_of_judge
from evenhand.report.lookups import MOST_JUDGES, judge_sources, leading_kr20, reference_of
from evenhand.report.reporting_lines import bank_line, borrowed_line
from evenhand.report.tables import interval_phrase, plural, value_text
from evenhand.results import Audit

_HEAD = 48


def summary(audit: Audit, out: Path | None = None) -> str:
    """At most a screen of plain text."""
    lines = [*_head(audit), "", *_about_judges(audit), "", *_not_about_judge(audit), *_cannot(audit)]
    lines += [f"{'note':<8}{printable(warning)}" for warning in audit.warnings]
    met = sum(item["status"] == "met" for item in audit.checklist)
    asked = sum(item["status"] != "not applicable" for item in audit.checklist)
    lines.append(f"checklist {met} of {asked} met")
    text = _wrapped(lines)
    if out is not None:
        report, numbers = printable(str(out / "report.html")), printable(str(out / "audit.json"))
        text += f"\nreport {report} · all numbers {numbers}"
    return text


def _wrapped(lines: list[str]) -> str:
    """Lines of at most the width; what goes on stands under the text it belongs to."""
    found: list[str] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        label = line[:8].rstrip()
        under = (
            8
            if line[:1].strip() and " " not in label and len(label) < 8 and line[len(label) : 8].isspace()
            else indent + 2
        )
        found += textwrap.wrap(line, WIDTH, subsequent_indent=" " * under, break_on_hyphens=False) or [""]
    return "\n".join(found)


def _head(audit: Audit) -> Iterator[str]:
    data, said = audit.data, audit.declarations
    names = " + ".join(printable(source.name) for source in data.sources)
    reading = ", ".join(f"{printable(role)} {printable(column)}" for role, column in said.reading.items())
    size = f"{plural(data.n_responses, 'response')} × {plural(data.n_criteria, 'criterion', 'criteria')}"
    yield f"read    {names}: {size}, {plural(data.n_clusters, 'cluster')}"
    yield f"        {reading}"
    yield f"scale   {printable(said.scale_reading)}"
    yield f"rows    {ledger(audit)}"


def ledger(audit: Audit) -> str:
    """Rows read = rows used + rows excluded, by reason."""
    data = audit.data
    parts = "".join(f" + {count:,} {printable(reason)}" for reason, count in data.rows_excluded.items())
    return f"{data.rows_read:,} verdicts = {data.rows_used:,} used{parts}"


def _about_judges(audit: Audit) -> Iterator[str]:
    if not audit.data.has_reference:
        yield from (no_statement(audit), "")
    judges = judge_sources(audit)
    if len(judges) > 1:
        title = "What you can say about these" if audit.data.has_reference else "What was said by these"
        yield f"{f'{title} {len(judges)} judges':<{_HEAD}}{interval_phrase(audit)}"
        yield from judge_table(audit, judges)
        return
    of = "this judge" if judges[0] == "judge" else printable(judges[0])
    title = f"What you can say about {of}" if audit.data.has_reference else f"What {of} said"
    yield f"{title:<{_HEAD}}{interval_phrase(audit, judges[0])}"
    yield from rows_of_judge(audit, judges[0])


def _cannot(audit: Audit) -> Iterator[str]:
    found = cannot_say(audit)
    if found:
        yield "What you cannot say, and what would let you"
    for question, collect in found:
        yield f"  {question}"
        yield f"    → {collect}"


def _not_about_judge(audit: Audit) -> Iterator[str]:
    """What describes the bank or the checklist, beside its value on reference labels."""
    judges = judge_sources(audit)
    if len(judges) == 1:
        borrowed = borrowed_line(audit, judges[0])
        lines = [bank_line(audit, judges[0]), borrowed] if borrowed else []
    else:
        lines = [said for judge in judges[:MOST_JUDGES] if (said := _kr20(audit, judge))]
        lines += [f"and {len(judges) - MOST_JUDGES} more"] if lines and len(judges) > MOST_JUDGES else []
    if not lines:
        return
    yield "What these data describe that is not the judge"
    yield from (f"  {printable(line)}" for line in lines)
    yield ""


def _kr20(audit: Audit, judge: str) -> str:
    mine, null = leading_kr20(audit, judge), leading_kr20(audit, reference_of(judge))
    if mine is None:
        return ""
    form = "KR-20, both variances with 1/n," if mine.params else "KR-20"
    beside = f"{value_text(null)} on reference labels" if null is not None else "no value on reference labels"
    return f"{printable(judge)}: {form} {value_text(mine)} on its verdicts, {beside}"


def explanation(audit: Audit, spec_toml: str) -> str:
    """How the files are read, what the reading supports, and what it lacks."""
    lines = [
        *_head(audit),
        "",
        "This reading supports",
        *(f"  {line}" for line in _supports(audit)),
        "",
        *_cannot(audit),
    ]
    lines += [f"{'note':<8}{printable(warning)}" for warning in audit.warnings]
    spec = ["", "As a spec (--write-spec FILE, replayed with --spec FILE)"]
    spec += [f"  {printable(line)}" for line in spec_toml.splitlines()]
    return "\n".join([_wrapped(lines), *spec])


def _supports(audit: Audit) -> Iterator[str]:
    data = audit.data
    yield "counts of verdicts by status, with every row accounted for"
    if data.has_reference:
        yield from _agreement(audit)
    yield from families(audit)


def _agreement(audit: Audit) -> Iterator[str]:
    said, data = audit.declarations, audit.data
    yield "agreement with the reference: " + {
        "binary": "κ, observed agreement, φ, error rates in both directions",
        "ordinal": "κ, observed agreement, bias, mean absolute error, quadratic-weighted κ, r",
        "continuous": "bias, mean absolute error, r",
        "pairwise": "κ, observed agreement, win rates",
    }.get(said.scale, "κ, observed agreement")
    if data.n_criteria > 1:
        yield "the same by criterion" + (" and by checklist line" if said.criteria == "per-cluster" else "")
    if said.scale in ("ordinal", "continuous") or (said.scale == "binary" and data.n_criteria > 1):
        yield "gate accuracy at a cut" + ("" if said.cuts else ": name one with --cut")
