"""A gap between two groups as the reference's reliability would have it: curve, interval band, break-even, the raters' own agreement."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.drawings import nice_ticks
from evenhand.report.svg import Circle, Drawing, Label, Line, Mark, Rect
from evenhand.report.tables import axis_text, plain_number

WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 460.0, 46.0, 440.0, 44.0, 246.0
FIRST, LAST = 0.3, 1.0
_TICKS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class At:
    """The gap at a reliability, with the ends of its interval where it has one."""

    reliability: float
    gap: float
    low: float | None
    high: float | None


def reliability_curve(
    name: str, title: str, points: Sequence[At], break_even: float | None, raters: tuple[float, float] | None
) -> Drawing:
    """The curve of a gap.

    Args:
        name: of letters and hyphens, unique on a page.
        title: which gap.
        points: from the lowest reliability to 1.
        break_even: reliability at which nothing is left of the gap.
        raters: lowest and highest reliability that the raters' agreement allows.
    """
    ends = [end for point in points for end in (point.gap, point.low, point.high) if end is not None]
    ticks = nice_ticks(min([*ends, 0.0]), max([*ends, 0.0]))

    def at(x: float, y: float) -> tuple[float, float]:
        share = (min(max(x, FIRST), LAST) - FIRST) / (LAST - FIRST)
        return _LEFT + share * (_RIGHT - _LEFT), _BOTTOM - (y - ticks[0]) / (ticks[-1] - ticks[0]) * (_BOTTOM - _TOP)

    marks: list[Mark] = []
    if raters is not None and raters[1] > FIRST:
        (left, _), (right, _) = at(raters[0], 0), at(raters[1], 0)
        said = f"reliability by the raters' agreement: {plain_number(raters[0])} to {plain_number(raters[1])}"
        marks += [
            Rect(left, _TOP, max(right - left, 1.0), _BOTTOM - _TOP, "bubble", said),
            Label(min((left + right) / 2, _RIGHT - 60), _TOP - 6, "raters' agreement", "middle", "ink"),
        ]
    for tick in ticks:
        (_, y) = at(FIRST, tick)
        role = "axis" if tick == 0 else "grid"
        marks += [Line(_LEFT, y, _RIGHT, y, role), Label(_LEFT - 6, y + 4, axis_text(tick, percent=False), "end")]
    marks += [Label(at(tick, 0)[0], _BOTTOM + 17, axis_text(tick, percent=False), "middle") for tick in _TICKS]
    for one, other in itertools.pairwise(points):
        marks.append(Line(*at(one.reliability, one.gap), *at(other.reliability, other.gap), "interval"))
        for low, high in ((one.low, other.low), (one.high, other.high)):
            if low is not None and high is not None:
                marks.append(Line(*at(one.reliability, low), *at(other.reliability, high), "interval rest"))
    for point in points:
        said = f"reliability {axis_text(point.reliability, percent=False)}: {plain_number(point.gap)}"
        marks.append(Circle(*at(point.reliability, point.gap), 3.4, "point", said))
    if break_even is not None and FIRST <= break_even <= LAST:
        x, y = at(break_even, 0)
        marks += [
            Line(x, _TOP, x, _BOTTOM, "diagonal"),
            Circle(x, y, 4, "point-alone", f"nothing is left of the gap at {plain_number(break_even)}"),
            Label(x + 5, _BOTTOM - 6, f"break-even {plain_number(break_even)}", role="ink halo"),
        ]
    marks += [
        Label((_LEFT + _RIGHT) / 2, _BOTTOM + 36, "reliability of the reference within groups", "middle"),
        Label(_LEFT - 30, 18, "gap at equal true score, in marks", role="ink"),
    ]
    last = points[-1]
    said = f" It is 0 at {plain_number(break_even)}." if break_even is not None else ""
    return Drawing(
        name,
        title,
        f"The gap is {plain_number(last.gap)} if the reference is without error and {plain_number(points[0].gap)} at a reliability of "
        f"{axis_text(points[0].reliability, percent=False)}, raters' errors being independent of the group.{said} The outer lines are the ends "
        "of its interval. The table below holds the numbers.",
        WIDTH,
        _BOTTOM + 44,
        tuple(marks),
    )
