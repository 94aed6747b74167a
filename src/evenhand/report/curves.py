"""Drawings of numbers that depend on a setting: one curve a series, with bars of their spread, on a pair of axes."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.report.drawings import nice_ticks
from evenhand.report.svg import Circle, Drawing, Label, Line, Mark, Rect
from evenhand.report.tables import axis_text, plain_number

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 472.0, 46.0, 352.0, 34.0, 246.0
_LEAST_GAP = 13.0
_ROLES = ("point", "point-alone", "bubble", "square")
"""Signs of curves in turn; a square is filled as a point is."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a curve passes, and half the length of its bar (0: none)."""

    x: float
    y: float
    bar: float = 0.0


@dataclass(frozen=True, slots=True)
class Curve:
    """Points from left to right under a name."""

    name: str
    points: tuple[Point, ...]


def curves(name: str, title: str, description: str, drawn: Sequence[Curve], *, x_words: str, y_words: str) -> Drawing:
    """Curves on shared axes, each named at its right end, of several beside its sign.

    Args:
        name: of letters and hyphens, unique on a page.
        title: one line.
        description: what it shows, in a sentence or two.
        drawn: at least one curve; undefined points are left out beforehand.
        x_words: what runs to the right.
        y_words: what runs upwards.
    """
    points = [point for curve in drawn for point in curve.points]
    columns = sorted({point.x for point in points})
    ends = [end for point in points for end in (point.y - point.bar, point.y + point.bar)]
    ticks = nice_ticks(min([*ends, 0.0]), max([*ends, 0.0]))
    unit = (_BOTTOM - _TOP) / (ticks[-1] - ticks[0])
    span = columns[-1] - columns[0] or 1.0

    def across(x: float) -> float:
        return _LEFT + 12 + (x - columns[0]) / span * (_RIGHT - _LEFT - 24)

    def up(y: float) -> float:
        return _BOTTOM - (y - ticks[0]) * unit

    marks: list[Mark] = []
    for tick in ticks:
        marks += [
            Line(_LEFT, up(tick), _RIGHT, up(tick), "grid"),
            Label(_LEFT - 6, up(tick) + 4, axis_text(tick, percent=False), "end"),
        ]
    marks += [Label(across(x), _BOTTOM + 17, axis_text(x, percent=False), "middle") for x in columns]
    marks += [Label((_LEFT + _RIGHT) / 2, _BOTTOM + 36, x_words, "middle"), Label(_LEFT - 30, 18, y_words, role="ink")]
    for place, curve in enumerate(drawn):
        shift = (place - (len(drawn) - 1) / 2) * 3
        placed = [(across(point.x) + shift, point) for point in curve.points]
        for (x1, one), (x2, other) in itertools.pairwise(placed):
            marks.append(Line(x1, up(one.y), x2, up(other.y), "curve"))
        for x, point in placed:
            if point.bar:
                marks.append(Line(x, up(point.y - point.bar), x, up(point.y + point.bar), "interval rest"))
            said = f"{curve.name}, {x_words} {axis_text(point.x, percent=False)}: {plain_number(point.y)}"
            marks.append(_sign(x, up(point.y), place, said))
    marks += _names([(curve.name, up(curve.points[-1].y), place) for place, curve in enumerate(drawn) if curve.points])
    return Drawing(name, title, description, _WIDTH, _BOTTOM + 44, tuple(marks))


def _sign(x: float, y: float, place: int, said: str = "") -> Mark:
    role = _ROLES[place % len(_ROLES)]
    return Rect(x - 3.2, y - 3.2, 6.4, 6.4, "point", said) if role == "square" else Circle(x, y, 3.4, role, said)


def _names(ends: Sequence[tuple[str, float, int]]) -> Iterator[Mark]:
    """Names at the right ends, moved down where they would overlap, all of them up where they would run out below."""
    placed: list[tuple[str, float, int]] = []
    for name, y, place in sorted(ends, key=lambda end: end[1]):
        least = placed[-1][1] + _LEAST_GAP if placed else _TOP
        placed.append((name, max(y, least), place))
    over = max(placed[-1][1] - _BOTTOM, 0.0) if placed else 0.0
    several = len(placed) > 1
    for name, y, place in placed:
        if several:
            yield _sign(_RIGHT + 12, y - over, place)
        yield Label(_RIGHT + (20 if several else 8), y - over + 4, name, role="ink")
