"""Judges in the terminal: one judge's numbers a line each, or a line for each of several judges."""

import textwrap
from collections.abc import Iterator, Sequence

from evenhand.errors import printable
from evenhand.report.arms_words import arm_sentences
from evenhand.report.contrasts import few_events, in_words
from evenhand.report.further import further_sentences
from evenhand.report.groups import group_sentences
from evenhand.report.lookups import MOST_JUDGES, cut_words, find, ok, reference_of
from evenhand.report.scorer import scorer_sentences
from evenhand.report.sentences import label_shares
from evenhand.report.tables import events_text, interval_text, missing_text, value_text
from evenhand.report.worst import concentration
from evenhand.results import Audit, Estimate

WIDTH = 118
_NAME, _NOTE = 34, 69
_MOST_SHARES = 4
"""Labels whose shares fit on a line."""
_MOST_ROWS = 14
"""Judges that fit on a screen with the rest."""
_MOST_REASONS = 4
_MARKS = (
    ("bias", "bias, judge minus reference"),
    ("mae", "mean absolute error"),
    ("quadratic_weighted_kappa", "quadratic-weighted κ"),
    ("pearson_r", "r, ranking alone"),
    ("spread_ratio", "spread, judge over reference"),
)
_COLUMNS = {
    "binary": {
        "observed_agreement": "agreement",
        "cohen_kappa": "κ",
        "false_accept_rate": "false accepts",
        "false_reject_rate": "false rejects",
    },
    "nominal": {"observed_agreement": "agreement", "cohen_kappa": "κ"},
    "pairwise": {"observed_agreement": "agreement", "cohen_kappa": "κ", "win_rate": "win rate", "tie_rate": "ties"},
    "ordinal": {
        "bias": "bias",
        "mae": "mean absolute error",
        "quadratic_weighted_kappa": "quadratic-weighted κ",
        "pearson_r": "r",
    },
    "continuous": {"bias": "bias", "mae": "mean absolute error", "pearson_r": "r", "spread_ratio": "spread ratio"},
}
_ALONE = {
    "judge_positive_rate": "positive rate",
    "win_rate": "win rate",
    "mean_total": "mean",
    "selective_coverage": "scored",
    "tie_rate": "ties",
}


_Row = tuple[str, Estimate | None, str]
"""Label, number, and what is said after it."""


def rows_of_judge(audit: Audit, judge: str) -> Iterator[str]:
    """The main numbers of a judge, a line each; a reason that several share is given once."""
    seen: set[str] = set()
    for label, estimate, after in _rows(audit, judge):
        if estimate is not None:
            yield from _lines(label, estimate, after, seen, few_events(audit, estimate))
    yield from (f"  {said}" for said in in_words(audit, judge))
    yield from (f"  {said}" for said in group_sentences(audit, judge))
    yield from (f"  {said}" for said in arm_sentences(audit, judge))
    yield from (f"  {said}" for said in scorer_sentences(audit, judge))
    yield from (f"  {said}" for said in further_sentences(audit, judge))
    if words := concentration(audit, judge, "checklist lines"):
        with_errors = find(audit, "lines_with_errors", judge)
        any_ = f"; {with_errors.events:,.0f} lines have any" if with_errors and with_errors.events else ""
        yield f"  {words}{any_}"
    if len(audit.declarations.levels) <= _MOST_SHARES and (shares := label_shares(audit, judge)):
        yield f"  labels used   {shares}"


def _lines(label: str, estimate: Estimate, after: str, seen: set[str], few: str) -> Iterator[str]:
    """Label, value, interval, and notes: what comes after, why something is missing, and few events."""
    has_few = bool(interval_text(estimate)) and estimate.reason.startswith("few events")
    reason = missing_text(estimate)
    why = "no interval, as above" if reason in seen and estimate.status == "ok" else reason
    seen |= {reason} if reason else set()
    notes = [after, why, few if has_few else ""]
    first, *others = textwrap.wrap("  ".join(note for note in notes if note), WIDTH - _NOTE) or [""]
    start = f"  {label[:_NAME]:<{_NAME}}{value_text(estimate):>9}   {interval_text(estimate):<18}"
    yield f"{start:<{_NOTE}}{first}".rstrip()
    yield from (" " * _NOTE + line for line in others)


def _rows(audit: Audit, judge: str) -> Iterator[_Row]:
    scale, labels = audit.declarations.scale, audit.declarations.levels
    if scale == "binary":
        yield from _directions(audit, judge)
    yield "agrees with the reference", find(audit, "observed_agreement", judge), ""
    yield "κ, agreement beyond chance", find(audit, "cohen_kappa", judge), ""
    yield "φ (= r, ρ, τ_b, MCC)", find(audit, "phi", judge), ""
    if scale in ("ordinal", "continuous"):
        yield from ((label, find(audit, name, judge), "") for name, label in _MARKS)
    if scale == "pairwise":
        yield from _wins(audit, judge)
    if audit.data.n_criteria > 1:
        yield "leniency, criteria a response", find(audit, "leniency", judge), ""
    yield from _gates(audit, judge)
    if not audit.data.has_reference and labels:
        yield f"says {printable(labels[-1])}", find(audit, "judge_positive_rate", judge), ""
    if not audit.data.has_reference and scale in ("ordinal", "continuous"):
        yield "mean mark", find(audit, "mean_total", judge), ""


def _directions(audit: Audit, judge: str) -> Iterator[_Row]:
    negative, positive = (printable(level) for level in audit.declarations.levels)
    for name, label in (
        ("false_accept_rate", f"false accepts: {negative} called {positive}"),
        ("false_reject_rate", f"false rejects: {positive} called {negative}"),
    ):
        found = find(audit, name, judge)
        yield label, found, events_text(found) if found else ""


def _wins(audit: Audit, judge: str) -> Iterator[_Row]:
    null = ok(audit, "win_rate", reference_of(judge))
    after = f"{value_text(null)} on the reference's verdicts" if null is not None else ""
    yield f"win rate of {printable(audit.declarations.levels[-1])}", find(audit, "win_rate", judge), after
    yield "ties", find(audit, "tie_rate", judge), ""
    yield "same verdict in both orders", find(audit, "order_consistency", judge), ""
    yield "wins of what is shown first", find(audit, "first_position_share", judge), ""


def _gates(audit: Audit, judge: str) -> Iterator[_Row]:
    for cut in audit.declarations.cuts:
        counted = find(audit, "accuracy", judge, cut=cut, unscored="error")
        after = f"{value_text(counted)} with unscored as errors" if counted and audit.data.rows_excluded else ""
        yield f"pass at {cut_words(audit, cut)} matches", find(audit, "accuracy", judge, cut=cut), after


def judge_table(audit: Audit, judges: Sequence[str]) -> Iterator[str]:
    """Several judges, a row each, and why numbers are missing."""
    known = _COLUMNS.get(audit.declarations.scale, {}) if audit.data.has_reference else _ALONE
    columns = {name: said for name, said in known.items() if any(find(audit, name, judge) for judge in judges)}
    shown = judges[:_MOST_ROWS]
    if not columns:
        yield from (f"  {printable(judge)}: {label_shares(audit, judge)}" for judge in shown)
        return
    wide = min(max(len(printable(judge)) for judge in shown), 22)
    yield f"  {'':<{wide}}" + "".join(f"  {said:<21}" for said in columns.values()).rstrip()
    missing: dict[str, None] = {}
    for judge in shown:
        found = {name: find(audit, name, judge) for name in columns}
        name = printable(judge)
        short = name if len(name) <= wide else f"{name[: wide - 1]}…"
        yield (f"  {short:<{wide}}" + "".join(f"  {_cell(one):<21}" for one in found.values())).rstrip()
        missing |= {
            f"{name}, {columns[key]}: {missing_text(one)}": None
            for key, one in found.items()
            if one and missing_text(one)
        }
    if len(judges) > len(shown):
        yield f"  and {len(judges) - len(shown)} more: evenhand show"
    for judge in judges[:MOST_JUDGES]:
        yield from (f"  {printable(judge)} {said}" for said in in_words(audit, judge))
    yield from (f"  {said}" for said in list(missing)[:_MOST_REASONS])
    if len(missing) > _MOST_REASONS:
        yield f"  and {len(missing) - _MOST_REASONS} more numbers without an interval: evenhand show"


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    ends = interval_text(estimate).replace(" – ", "–")
    bracketed = ends if ends.startswith("[") or not ends else f"[{ends.removesuffix(' %')}]"
    return f"{value_text(estimate)} {bracketed}".rstrip()
