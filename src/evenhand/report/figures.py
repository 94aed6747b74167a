"""The drawings of one audit, each with the table of its numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.errors import printable
from evenhand.report import drawings
from evenhand.report.confidence_drawing import risk_coverage
from evenhand.report.drawings import ForestRow, Joint, Panel
from evenhand.report.lookups import main_cut
from evenhand.report.svg import Drawing
from evenhand.report.tables import NAMES, PERCENT, count_text, ends_text, percent_text, value_text
from evenhand.report.worst import line_errors, number
from evenhand.results import Audit, Estimate

_PANELS = {
    "Errors": ("false_accept_rate", "false_reject_rate", "error_rate"),
    "Same label, same decision": ("observed_agreement", "accuracy"),
    "Coefficients": ("cohen_kappa", "phi", "quadratic_weighted_kappa"),
}
_SHORT = {"phi": "φ", "observed_agreement": "same label", "cohen_kappa": "Cohen's κ"}
_MOST_ROWS, _MOST_JUDGES = 40, 12


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, and its numbers as a table."""

    drawing: Drawing
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


def figures(audit: Audit, judge: str, key: str) -> tuple[Figure, ...]:
    """The drawings of one judge.

    Args:
        audit: what is drawn.
        judge: a source of a judge.
        key: letters that make ids of the page its own.
    """
    return tuple(_figures(audit, judge, key))


def _figures(audit: Audit, judge: str, key: str) -> Iterator[Figure]:
    panels = main_panels(audit, judge)
    if panels:
        yield _forest(f"{key}-forest", panels)
    joint = _joint(audit, judge)
    n_criteria = audit.data.n_criteria
    if joint and n_criteria > 1:
        yield Figure(
            drawings.totals(f"{key}-totals", joint, n_criteria),
            ("total", "reference", "judge"),
            tuple(_total_rows(joint, n_criteria)),
        )
        pairs = tuple((f"{r}", f"{j}", count_text(n)) for r, j, n in joint)
        yield Figure(
            drawings.joint_totals(f"{key}-joint", joint, n_criteria),
            ("reference total", "judge total", "responses"),
            pairs[:200],
            max(len(pairs) - 200, 0),
        )
    lines = line_errors(audit, judge)
    if len(lines) > 1:
        what = "line" if audit.declarations.criteria == "per-cluster" else "criterion"
        wrong = [line for line in lines if line.errors]
        rows = tuple((line.name, str(line.errors), str(line.accepts), str(line.rejects)) for line in wrong[:60])
        yield Figure(
            drawings.errors_by_line(f"{key}-lines", lines, what=what),
            (what, "errors", "false accepts", "false rejects"),
            rows,
            len(wrong) - len(rows),
        )
    yield from _risk_coverage(audit, judge, key)


def _risk_coverage(audit: Audit, judge: str, key: str) -> Iterator[Figure]:
    """The risk–coverage curve, where the judge said how sure it was."""
    table = audit.tables.get(f"risk_coverage/{judge}")
    if table is None or len(table.rows) < 2:
        return
    points = [(float(c or 0), float(share or 0), float(risk or 0), number(n)) for c, share, risk, n, _ in table.rows]
    rows = tuple((f"{c:.6g}", percent_text(share), percent_text(risk), count_text(n)) for c, share, risk, n in points)
    headers = ("confidence at least", "share kept", "share wrong", "verdicts")
    yield Figure(risk_coverage(f"{key}-risk", points), headers, rows[:_MOST_ROWS], max(len(rows) - _MOST_ROWS, 0))


def _joint(audit: Audit, judge: str) -> Joint:
    table = audit.tables.get(f"totals/{judge}")
    return [(number(r), number(j), number(n)) for r, j, n in table.rows] if table is not None else []


def _total_rows(joint: Joint, n_criteria: int) -> Iterator[tuple[str, ...]]:
    for total in range(n_criteria + 1):
        reference = sum(n for r, _, n in joint if r == total)
        judge = sum(n for _, j, n in joint if j == total)
        yield f"{total}", count_text(reference), count_text(judge)


def comparison(audit: Audit, judges: Sequence[str]) -> Figure | None:
    """Several judges on the same axes, a panel for each number."""
    panels, cut = [], main_cut(audit)
    for name in (name for names in _PANELS.values() for name in names):
        if len(judges) < 2 or (name == "accuracy" and cut is None):
            continue
        params = {"cut": f"{cut:g}"} if name == "accuracy" else {}
        chosen = [e for judge in judges[:_MOST_JUDGES] for e in audit.of(name, judge) if e.params == params]
        rows = tuple(_forest_row(one, printable(one.source)) for one in chosen)
        if rows:
            panels.append(Panel(_name(chosen[0]), rows, percent=name in PERCENT))
    return _forest("all-forest", panels, "Judges side by side") if panels else None


def main_panels(audit: Audit, judge: str) -> tuple[Panel, ...]:
    """Shares of errors, shares of agreement, and coefficients of one judge: each on an axis of its own."""
    found = []
    for title, names in _PANELS.items():
        chosen = [e for name in names for e in audit.of(name, judge) if not e.params.keys() - {"cut"}]
        rows = tuple(_forest_row(one, _name(one)) for one in chosen[:_MOST_ROWS])
        if rows:
            found.append(Panel(title, rows, percent=names[0] in PERCENT))
    return tuple(found)


def _name(estimate: Estimate) -> str:
    name = _SHORT.get(estimate.statistic) or NAMES.get(estimate.statistic, estimate.statistic)
    return f"{name} at {printable(estimate.params['cut'])}" if "cut" in estimate.params else name


def _forest_row(estimate: Estimate, label: str) -> ForestRow:
    low, high = estimate.ci_low, estimate.ci_high
    return ForestRow(label, estimate.estimate, low, high, value_text(estimate), ends_text(estimate))


def _forest(name: str, panels: Sequence[Panel], title: str = "Main numbers with their intervals") -> Figure:
    rows = tuple((row.label, row.text, *row.ends) for panel in panels for row in panel.rows)
    return Figure(drawings.forest(name, panels, title), ("number", "value", "from", "to"), rows)
