"""The risk–coverage curve as a drawing: what share of verdicts is wrong among those the judge is surest of."""

from collections.abc import Sequence

from evenhand.report.drawings import WIDTH, nice_ticks
from evenhand.report.svg import Circle, Drawing, Label, Line, Mark
from evenhand.report.tables import axis_text, count_text, percent_text

Point = tuple[float, float, float, int]
"""Confidence at and above which verdicts are kept, share kept, share wrong among them, verdicts kept."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 446.0, 34.0, 236.0
_MOST_DOTS = 30


def risk_coverage(name: str, points: Sequence[Point]) -> Drawing:
    """A step from each threshold to the next; the line across is the error rate of all verdicts.

    Args:
        name: of letters and hyphens.
        points: the surest first; the last one keeps all.
    """
    overall = points[-1][2]
    most = max(risk for _, _, risk, _ in points)
    ticks = nice_ticks(0.0, max(most, 0.01), 5)

    def at(coverage: float, risk: float) -> tuple[float, float]:
        return _LEFT + coverage * (_RIGHT - _LEFT), _BOTTOM - risk / ticks[-1] * (_BOTTOM - _TOP)

    marks: list[Mark] = []
    for tick in ticks:
        _, y = at(0, tick)
        marks += [Line(_LEFT, y, _RIGHT, y, "grid"), Label(_LEFT - 6, y + 4, axis_text(tick, percent=True), "end")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, _ = at(tick, 0)
        marks += [
            Line(x, _BOTTOM, x, _BOTTOM + 4, "axis"),
            Label(x, _BOTTOM + 17, axis_text(tick, percent=True), "middle"),
        ]
    _, across = at(0, overall)
    marks.append(Line(_LEFT, across, _RIGHT, across, "diagonal"))
    before = None
    for _, coverage, risk, _ in points:
        here = at(coverage, risk)
        if before is not None:
            marks.append(Line(*before, *here, "interval"))
        before = here
    for confidence, coverage, risk, kept in points if len(points) <= _MOST_DOTS else ():
        said = f"confidence {confidence:.6g} and above: {count_text(kept)} verdicts, {percent_text(coverage)} of all, {percent_text(risk)} wrong"
        marks.append(Circle(*at(coverage, risk), 3.5, "point", said))
    marks += [
        Label(_LEFT, 20, "share of wrong verdicts among those kept", role="ink"),
        Label(_RIGHT, across - 6, f"all verdicts: {percent_text(overall)} wrong", "end", "ink halo"),
        Label((_LEFT + _RIGHT) / 2, _BOTTOM + 36, "share of verdicts kept, the surest first", "middle"),
    ]
    return Drawing(
        name,
        "Risk against coverage",
        f"The share of wrong verdicts among those the judge is surest of, from {percent_text(points[0][2])} on the surest "
        f"{percent_text(points[0][1])} to {percent_text(overall)} on all. A confidence that tells right from wrong makes the curve rise "
        "to the right. The table below holds the numbers.",
        WIDTH,
        _BOTTOM + 44,
        tuple(marks),
    )
