"""The summary an audit prints: what can be said, what describes something else, and what cannot be said."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from evenhand.errors import printable
from evenhand.report.reporting_lines import bank_line, reporting_lines
from evenhand.report.sentences import NO_STATEMENT, cannot_say, judge_sources, label_shares
from evenhand.report.tables import events_text, interval_text, plural, value_text
from evenhand.results import Audit, Estimate

_WIDTH = 34
_MOST_SHARES = 4
"""Labels whose shares fit on a line."""


def summary(audit: Audit, out: Path | None = None) -> str:
    """At most a screen of plain text."""
    lines = [*_head(audit), ""]
    for judge in judge_sources(audit)[:4]:
        lines += [*_about_judge(audit, judge), ""]
    others = len(judge_sources(audit)) - 4
    if others > 0:
        lines += [f"  and {others} more judges: evenhand show", ""]
    lines += [*_not_about_judge(audit), *_cannot(audit)]
    for warning in audit.warnings:
        lines += [*_wrapped("note", warning)]
    met = sum(item["status"] == "met" for item in audit.checklist)
    asked = sum(item["status"] != "not applicable" for item in audit.checklist)
    lines.append(f"checklist {met} of {asked} met")
    if out is not None:
        lines.append(f"report {printable(str(out / 'report.html'))} · all numbers {printable(str(out / 'audit.json'))}")
    return "\n".join(lines)


def _wrapped(label: str, text: str) -> Iterator[str]:
    for position, line in enumerate(textwrap.wrap(printable(text), 110)):
        yield f"{label if position == 0 else '':<8}{line}"


def _head(audit: Audit) -> Iterator[str]:
    data, said = audit.data, audit.declarations
    names = " + ".join(printable(source.name) for source in data.sources)
    reading = ", ".join(f"{role} {column}" for role, column in said.reading.items())
    size = f"{plural(data.n_responses, 'response')} × {plural(data.n_criteria, 'criterion', 'criteria')}"
    yield f"read    {names}: {size}, {plural(data.n_clusters, 'cluster')}"
    yield f"        {reading}"
    yield f"scale   {printable(said.scale_reading)}"
    yield from (f"rows    {line}" for line in [ledger(audit)])


def ledger(audit: Audit) -> str:
    """Rows read = rows used + rows excluded, by reason."""
    data = audit.data
    parts = "".join(f" + {count:,} {printable(reason)}" for reason, count in data.rows_excluded.items())
    return f"{data.rows_read:,} verdicts = {data.rows_used:,} used{parts}"


def _row(label: str, estimate: Estimate | None, after: str = "") -> Iterator[str]:
    if estimate is None:
        return
    value = value_text(estimate)
    ends = interval_text(estimate)
    note = after or (estimate.reason if estimate.status != "ok" or not ends else "")
    if estimate.interval_method == "korn_graubard" and estimate.status == "ok":
        note = f"{note}  (few events)" if note else "(few events)"
    yield f"  {label:<{_WIDTH}}{value:>9}   {ends:<18}   {printable(note)}".rstrip()


def _about_judge(audit: Audit, judge: str) -> Iterator[str]:
    if not audit.data.has_reference:
        yield from textwrap.wrap(NO_STATEMENT, 118)
    level = f"{100 * audit.declarations.confidence_level:g} %"
    n_clusters = audit.get(f"n_clusters/{_in_id(judge)}")
    of = "this judge" if judge == "judge" else printable(judge)
    count = f", G = {n_clusters.estimate:.0f}" if n_clusters and n_clusters.estimate else ""
    yield f"{'What you can say about ' + of:<{_WIDTH + 14}}{level} cluster interval{count}"
    yield from rows_of_judge(audit, judge)


def _in_id(source: str) -> str:
    from evenhand.ids import encode

    return encode(source)


def rows_of_judge(audit: Audit, judge: str) -> Iterator[str]:
    """The main numbers of a judge, a line each."""
    source = _in_id(judge)
    levels = audit.declarations.levels
    negative, positive = printable(levels[0]), printable(levels[-1])
    false_accept, false_reject = audit.get(f"false_accept_rate/{source}"), audit.get(f"false_reject_rate/{source}")
    yield from _row(
        f"false accepts: {negative} called {positive}"[:_WIDTH],
        false_accept,
        events_text(false_accept) if false_accept else "",
    )
    yield from _row(
        f"false rejects: {positive} called {negative}"[:_WIDTH],
        false_reject,
        events_text(false_reject) if false_reject else "",
    )
    yield from _row("agrees with the reference", audit.get(f"observed_agreement/{source}"))
    yield from _row("κ, agreement beyond chance", audit.get(f"cohen_kappa/{source}"))
    yield from _row("φ (= r, ρ, τ_b, MCC)", audit.get(f"phi/{source}"))
    if audit.declarations.scale == "ordinal":
        yield from _row("bias, judge minus reference", audit.get(f"bias/{source}"))
        yield from _row("mean absolute error", audit.get(f"mae/{source}"))
        yield from _row("quadratic-weighted κ", audit.get(f"quadratic_weighted_kappa/{source}"))
        yield from _row("r, ranking alone", audit.get(f"pearson_r/{source}"))
        yield from _row("spread, judge over reference", audit.get(f"spread_ratio/{source}"))
    if audit.data.n_criteria > 1:
        yield from _row("leniency, criteria a response", audit.get(f"leniency/{source}"))
    for cut in audit.declarations.cuts:
        counted = audit.get(f"accuracy[cut={cut:g},unscored=error]/{source}")
        after = f"{value_text(counted)} when unscored count as errors" if counted and audit.data.rows_excluded else ""
        yield from _row(
            f"pass at {cut:g} of {audit.data.n_criteria} matches", audit.get(f"accuracy[cut={cut:g}]/{source}"), after
        )
    if not audit.data.has_reference:
        yield from _row("says " + positive[: _WIDTH - 5], audit.get(f"judge_positive_rate/{source}"))
    yield from _lines_row(audit, source)
    if len(audit.declarations.levels) <= _MOST_SHARES and (shares := label_shares(audit, judge)):
        yield f"  labels used   {shares}"


def _lines_row(audit: Audit, source: str) -> Iterator[str]:
    worst, with_errors = audit.get(f"errors_in_worst_lines[lines=5]/{source}"), audit.get(f"lines_with_errors/{source}")
    if (
        worst is None
        or with_errors is None
        or not worst.trials
        or with_errors.trials is None
        or with_errors.trials <= 5
    ):
        return
    yield (
        f"  {worst.events:,.0f} of its {worst.trials:,.0f} errors sit on 5 of {with_errors.trials:,.0f} checklist lines; "
        f"{with_errors.events:,.0f} lines have any"
    )


def _cannot(audit: Audit) -> Iterator[str]:
    found = cannot_say(audit)
    if found:
        yield "What you cannot say, and what would let you"
    for question, collect in found:
        yield f"  {question}"
        yield f"    → {collect}"


def _not_about_judge(audit: Audit) -> Iterator[str]:
    """What describes the bank or the checklist, beside its value on reference labels."""
    judge = judge_sources(audit)[0]
    bank = bank_line(audit, judge)
    borrowed = [text for title, text in reporting_lines(audit) if title == "Borrowed coefficients"]
    if not borrowed:
        return
    yield "What these data describe that is not the judge"
    for text in (bank, *borrowed):
        yield from (f"  {line}" for line in textwrap.wrap(printable(text), 110))
    yield ""


def explanation(audit: Audit, spec_toml: str) -> str:
    """How the files are read, what the reading supports, and what it lacks."""
    supports = ["counts of verdicts by status, with every row accounted for"]
    if audit.data.has_reference:
        supports.append(
            "agreement with the reference: κ, observed agreement"
            + (", φ, error rates in both directions" if audit.declarations.scale == "binary" else "")
        )
        if audit.data.n_criteria > 1:
            supports.append(
                "the same by criterion"
                + (" and by checklist line" if audit.declarations.criteria == "per-cluster" else "")
            )
        if audit.declarations.scale == "binary":
            supports.append("gate accuracy at a cut" + ("" if audit.declarations.cuts else ": name one with --cut"))
    lines = [*_head(audit), "", "This reading supports"]
    lines += [f"  {line}" for line in supports]
    lines += ["", *_cannot(audit)]
    for warning in audit.warnings:
        lines += [*_wrapped("note", warning)]
    return "\n".join(
        [
            *lines,
            "",
            "As a spec (--write-spec FILE, replayed with --spec FILE)",
            *(f"  {line}" for line in printable_lines(spec_toml)),
        ]
    )


def printable_lines(text: str) -> list[str]:
    """Lines of a text, each safe for a terminal."""
    return [printable(line) for line in text.splitlines()]
