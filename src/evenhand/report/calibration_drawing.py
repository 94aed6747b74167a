"""The reliability diagram as a drawing: what the reference says where the judge says this."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.report.drawings import WIDTH, nice_ticks
from evenhand.report.svg import Circle, Drawing, Label, Line, Mark
from evenhand.report.tables import axis_text, count_text, plain_number

_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 332.0, 34.0, 304.0
_LARGEST = 9.0


@dataclass(frozen=True, slots=True)
class Spot:
    """Verdicts of about one value, and what fits make of it.

    Attributes:
        said: mean of what the judge said.
        seen: mean of what the reference says there.
        n: verdicts.
        line, step: the fitted line and the isotonic step; None without one.
    """

    said: float
    seen: float
    n: int
    line: float | None = None
    step: float | None = None


@dataclass(frozen=True, slots=True)
class Axes:
    """What the axes are: their words, and whether they are shares, from 0 to 1 and shown in percent."""

    said: str
    seen: str
    percent: bool = False


def reliability(name: str, title: str, description: str, spots: Sequence[Spot], axes: Axes) -> Drawing:
    """A bubble for each value, its area by its verdicts; on the dashed line both sides say the same.

    Args:
        name: of letters and hyphens.
        title: one line.
        description: what it shows, in a sentence or two.
        spots: from the lowest to the highest value; at least one.
        axes: what runs to the right and upwards.
    """
    values = [number for spot in spots for number in (spot.said, spot.seen)] + ([0.0, 1.0] if axes.percent else [])
    ticks = nice_ticks(min(values), max(values))
    unit = (_RIGHT - _LEFT) / (ticks[-1] - ticks[0])

    def at(said: float, seen: float) -> tuple[float, float]:
        """Where a point lies; a fit that leaves the axes runs along their edge."""
        return _LEFT + (said - ticks[0]) * unit, _BOTTOM - (min(max(seen, ticks[0]), ticks[-1]) - ticks[0]) * unit

    marks: list[Mark] = []
    for tick in ticks:
        x, y = at(tick, tick)
        text = axis_text(tick, percent=axes.percent)
        marks += [Line(_LEFT, y, _RIGHT, y, "grid"), Label(_LEFT - 6, y + 4, text, "end")]
        marks += [Line(x, _BOTTOM, x, _BOTTOM + 4, "axis"), Label(x, _BOTTOM + 17, text, "middle")]
    marks.append(Line(*at(ticks[0], ticks[0]), *at(ticks[-1], ticks[-1]), "diagonal"))
    marks += _path([at(spot.said, spot.step) for spot in spots if spot.step is not None], "interval rest")
    marks += _path([at(spot.said, spot.line) for spot in spots if spot.line is not None], "interval")
    most = max(spot.n for spot in spots)
    for spot in sorted(spots, key=lambda one: -one.n):
        said, seen = (_text(number, axes) for number in (spot.said, spot.seen))
        words = f"{axes.said} {said}: {axes.seen} {seen} over {count_text(spot.n)} verdicts"
        marks.append(Circle(*at(spot.said, spot.seen), max(2.0, _LARGEST * math.sqrt(spot.n / most)), "bubble", words))
    marks += [
        Label(_LEFT, 20, axes.seen, role="ink"),
        Label((_LEFT + _RIGHT) / 2, _BOTTOM + 36, axes.said, "middle"),
        *_key(has_line=any(spot.line is not None for spot in spots), has_step=any(spot.step is not None for spot in spots)),
    ]  # fmt: skip
    return Drawing(name, title, description, WIDTH, _BOTTOM + 44, tuple(marks))


def _path(points: Sequence[tuple[float, float]], role: str) -> Iterator[Mark]:
    for here, there in itertools.pairwise(points):
        yield Line(*here, *there, role)


def _text(number: float, axes: Axes) -> str:
    return axis_text(round(number, 4), percent=True) if axes.percent else plain_number(number)


def _key(*, has_line: bool, has_step: bool) -> Iterator[Mark]:
    entries = [("diagonal", "both the same")]
    entries += [("interval", "fitted line")] if has_line else []
    entries += [("interval rest", "isotonic step")] if has_step else []
    for place, (role, words) in enumerate(entries):
        y = _TOP + 12 + 18 * place
        yield Line(_RIGHT + 10, y, _RIGHT + 34, y, role)
        yield Label(_RIGHT + 40, y + 4, words)
