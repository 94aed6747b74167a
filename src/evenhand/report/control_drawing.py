"""A control chart as a drawing: values over audits, the limits of each, and the moving average."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.drawings import WIDTH, nice_ticks
from evenhand.report.svg import Circle, Drawing, Label, Line, Mark
from evenhand.report.tables import axis_text, plain_number

_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 440.0, 24.0, 220.0
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class ControlPoint:
    """One audit on a chart; limits and average are None where there are none."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    average: float | None = None


def control_chart(
    name: str, title: str, description: str, points: Sequence[ControlPoint], centre: float | None
) -> Drawing:
    """Values in time order, the newest last and filled.

    Args:
        name: of letters and hyphens, unique on a page.
        title: one line.
        description: what it shows.
        points: two or more.
        centre: of the earlier audits, where there are limits.
    """
    numbers = [
        one for point in points for one in (point.value, point.low, point.high, point.average) if one is not None
    ]
    ticks = nice_ticks(min(numbers), max(numbers))
    unit = (_BOTTOM - _TOP) / (ticks[-1] - ticks[0])
    step = (_RIGHT - _LEFT - 24) / max(len(points) - 1, 1)

    def up(value: float) -> float:
        return _BOTTOM - (value - ticks[0]) * unit

    def across(at: int) -> float:
        return _LEFT + 12 + at * step

    marks: list[Mark] = []
    for tick in ticks:
        text = axis_text(tick, percent=False)
        marks += [Line(_LEFT, up(tick), _RIGHT, up(tick), "grid"), Label(_LEFT - 6, up(tick) + 4, text, "end")]
    if centre is not None:
        marks.append(Line(_LEFT, up(centre), _RIGHT, up(centre), "axis"))
    for at, point in enumerate(points):
        for end in (point.low, point.high):
            if end is not None:
                half = min(step, 40) / 2
                marks.append(Line(across(at) - half, up(end), across(at) + half, up(end), "interval"))
    averaged = [(across(at), up(one.average)) for at, one in enumerate(points) if one.average is not None]
    marks += [Line(x1, y1, x2, y2, "diagonal") for (x1, y1), (x2, y2) in itertools.pairwise(averaged)]
    for at, point in enumerate(points):
        role = "point" if at == len(points) - 1 else "point-alone"
        marks.append(Circle(across(at), up(point.value), 4, role, f"{point.name}: {plain_number(point.value)}"))
        if len(points) <= _MOST_NAMED or at in (0, len(points) - 1):
            anchor = "start" if at == 0 else "end" if at == len(points) - 1 else "middle"
            marks.append(Label(across(at), _BOTTOM + 17, str(at + 1), anchor))
    marks.append(Label((_LEFT + _RIGHT) / 2, _BOTTOM + 34, "audit, in time order", "middle"))
    return Drawing(name, title, description, WIDTH, _BOTTOM + 42, tuple(marks))
