"""The drawings of a report: pure functions from the numbers of an audit to a description of marks."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.report.svg import Circle, Drawing, Label, Line, Mark, Rect
from evenhand.report.tables import axis_text, count_text, percent_text

WIDTH = 460.0
_LEFT, _RIGHT, _TOP = 40.0, 452.0, 40.0
_MOST_BINS, _MOST_BARS, _MOST_NAMED, _MOST_NUMBERED, _NARROW = 41, 60, 16, 14, 11.0
Joint = Sequence[tuple[int, int, int]]
"""Reference total, judge total, responses."""


@dataclass(frozen=True, slots=True)
class LineErrors:
    """A checklist line's errors of each kind."""

    name: str
    accepts: int
    rejects: int

    @property
    def errors(self) -> int:
        """Of both kinds."""
        return self.accepts + self.rejects


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A number on an axis; value is None where it is undefined, the ends where there is no interval."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    text: str
    ends: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows that share an axis."""

    title: str
    rows: tuple[ForestRow, ...]
    percent: bool


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers that cover low to high, at most about ``most`` steps apart evenly."""
    span = high - low if high - low > 1e-9 * max(abs(low), abs(high), 1.0) else 1.0
    raw = span / max(most - 1, 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(at * step, 12) for at in range(first, max(last, first + 1) + 1)]


def shortened(text: str, length: int) -> str:
    """A name as far as it fits."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _plural(number: int, word: str) -> str:
    many = "criteria" if word == "criterion" else f"{word}s"
    return f"{count_text(number)} {word if number == 1 else many}"


def _legend(entries: Sequence[tuple[str, str]]) -> Iterator[Mark]:
    x = _LEFT
    for role, words in entries:
        yield Rect(x, 12, 11, 11, role)
        yield Label(x + 17, 22, words, role="ink")
        x += 34 + 6.6 * len(words)


def _count_axis(top: float, bottom: float, highest: int, words: str) -> tuple[float, list[Mark]]:
    """Units a count, and the grid of a vertical axis of counts."""
    ticks = [tick for tick in nice_ticks(0, max(highest, 1), 5) if tick == int(tick)]
    unit = (bottom - top) / max(ticks[-1], highest, 1)
    marks: list[Mark] = []
    for tick in ticks:
        y = bottom - tick * unit
        marks += [Line(_LEFT, y, _RIGHT, y, "grid"), Label(_LEFT - 6, y + 4, count_text(tick), "end")]
    return unit, [*marks, Label(_RIGHT, 22, words, "end")]


def totals(name: str, joint: Joint, n_criteria: int) -> Drawing:
    """Distribution of totals: judge beside reference, over the same responses."""
    width = math.ceil((n_criteria + 1) / _MOST_BINS)
    n_bins = math.ceil((n_criteria + 1) / width)
    counts = {side: [0] * n_bins for side in ("reference", "judge")}
    for reference, judge, n in joint:
        counts["reference"][reference // width] += n
        counts["judge"][judge // width] += n
    bottom = 236.0
    unit, marks = _count_axis(_TOP, bottom, max(map(max, counts.values())), "responses")
    slot = (_RIGHT - _LEFT) / n_bins
    bar = slot * 0.4
    every = math.ceil(n_bins / 21)
    for at in range(n_bins):
        x = _LEFT + at * slot
        last = min(at * width + width - 1, n_criteria)
        said = f"{at * width}" if width == 1 else f"{at * width}–{last}"
        for side, shift in (("reference", 0.1), ("judge", 0.5)):
            n = counts[side][at]
            place = (x + shift * slot, bottom - n * unit, bar, n * unit)
            marks.append(Rect(*place, side, f"total {said}, {side}: {_plural(n, 'response')}"))
        if at % every == 0:
            marks.append(Label(x + slot / 2, bottom + 17, said if width == 1 else f"{at * width}", "middle"))
    marks += [*_legend([("reference", "reference"), ("judge", "judge")])]
    marks.append(Label((_LEFT + _RIGHT) / 2, bottom + 36, "criteria met", "middle"))
    n_all = sum(n for _, _, n in joint)
    return Drawing(
        name,
        "Distribution of totals, judge and reference",
        f"Bars of how many of {count_text(n_all)} responses reach each total of 0 to {n_criteria} criteria: hollow for "
        "the reference, filled for the judge. The table below holds the numbers.",
        WIDTH,
        bottom + 44,
        tuple(marks),
    )


def errors_by_line(name: str, lines: Sequence[LineErrors], n_worst: int = 5, what: str = "line") -> Drawing:
    """Errors of each line, the most first, with the share that the worst hold; lines in the order given."""
    total = sum(line.errors for line in lines)
    shown = [line for line in lines if line.errors][:_MOST_BARS]
    bottom = 204.0
    unit, marks = _count_axis(_TOP + 26, bottom, max((line.errors for line in shown), default=1), "errors")
    slot = min((_RIGHT - _LEFT) / max(len(shown), 1), 30.0)
    for at, line in enumerate(shown):
        x, rest = _LEFT + at * slot + slot * 0.12, "" if at < n_worst else " rest"
        said = f"{what} {line.name}: {_plural(line.accepts, 'false accept')}, {_plural(line.rejects, 'false reject')}"
        accepts, rejects = line.accepts * unit, line.rejects * unit
        if line.accepts:
            marks.append(Rect(x, bottom - accepts, slot * 0.76, accepts, f"accept{rest}", said))
        if line.rejects:
            marks.append(Rect(x, bottom - accepts - rejects, slot * 0.76, rejects, f"reject{rest}", said))
        if slot >= _NARROW and (len(shown) <= _MOST_NAMED or at < n_worst):
            middle = x + slot * 0.38
            marks.append(
                Label(middle + 4, bottom + 8, shortened(line.name, 10), "end", "soft", -60 if slot > 15 else -90)
            )
    marks += _worst_bracket(shown[:n_worst], total, slot, what)
    without = len(lines) - sum(1 for line in lines if line.errors)
    unseen = sum(1 for line in lines if line.errors) - len(shown)
    tail = [f"{_plural(unseen, what)} with fewer"] if unseen else []
    tail += [f"{_plural(without, what)} without an error"] if without else []
    if tail:
        marks.append(Label(_RIGHT, bottom + 17, " · ".join(tail), "end"))
    if shown and slot < _NARROW:
        names = ", ".join(shortened(line.name, 10) for line in shown[:n_worst])
        marks.append(Label(_LEFT, bottom + 34, f"the {min(n_worst, len(shown))}: {names}"))
    marks += _legend([("accept", "false accepts"), ("reject", "false rejects")])
    worst = sum(line.errors for line in shown[:n_worst])
    return Drawing(
        name,
        f"Errors by {what}, the most first",
        f"One bar for each {what} with an error. The {len(shown[:n_worst])} with the most hold {count_text(worst)} of "
        f"{_plural(total, 'error')}. Filled: false accepts; hollow: false rejects. The table of worst lines holds the numbers.",
        WIDTH,
        bottom + 62,
        tuple(marks),
    )


def _worst_bracket(worst: Sequence[LineErrors], total: int, slot: float, what: str) -> list[Mark]:
    if not total:
        return [Label(_LEFT + 8, _TOP + 16, "no errors")]
    held = sum(line.errors for line in worst)
    y, end = _TOP + 16, _LEFT + len(worst) * slot
    words = (
        f"{_plural(len(worst), what)}: {count_text(held)} of {count_text(total)} errors, {percent_text(held / total)}"
    )
    return [
        Line(_LEFT + 2, y, end - 2, y, "axis"),
        Line(_LEFT + 2, y, _LEFT + 2, y + 5, "axis"),
        Line(end - 2, y, end - 2, y + 5, "axis"),
        Label(_LEFT + 2, y - 6, words, role="ink"),
    ]


def joint_totals(name: str, joint: Joint, n_criteria: int) -> Drawing:
    """Judge total against reference total: a bubble a pair, area in proportion to responses, and the diagonal."""
    side, left, top = 330.0, 62.0, 12.0
    cell = side / (n_criteria + 1)
    bottom, most = top + side, max((n for _, _, n in joint), default=1)
    marks: list[Mark] = [Line(left, bottom, left + side, top, "diagonal")]
    every = math.ceil((n_criteria + 1) / 13)
    for at in range(0, n_criteria + 1, every):
        centre = (at + 0.5) * cell
        marks += [
            Line(left + centre, top, left + centre, bottom, "grid"),
            Line(left, bottom - centre, left + side, bottom - centre, "grid"),
            Label(left + centre, bottom + 16, f"{at}", "middle"),
            Label(left - 8, bottom - centre + 4, f"{at}", "end"),
        ]
    for reference, judge, n in joint:
        x, y = left + (reference + 0.5) * cell, bottom - (judge + 0.5) * cell
        said = f"reference {reference}, judge {judge}: {_plural(n, 'response')}"
        r = max(0.48 * cell * math.sqrt(n / most), 1.2)
        marks.append(Circle(x, y, r, "bubble", said))
        if n_criteria <= _MOST_NUMBERED:
            inside = r >= 3.2 * len(count_text(n)) + 2.5
            place = (x, y + 3.6) if inside else (x + r + 1.5, y - r + 1)
            marks.append(Label(*place, count_text(n), "middle" if inside else "start", "small"))
    higher = sum(n for r, j, n in joint if j > r)
    lower = sum(n for r, j, n in joint if j < r)
    equal = sum(n for r, j, n in joint if j == r)
    marks += [
        Label(left + 6, top + 16, f"judge higher: {count_text(higher)}", role="ink halo"),
        Label(left + side - 6, bottom - 22, f"judge lower: {count_text(lower)}", "end", "ink halo"),
        Label(left + side - 6, bottom - 6, f"equal: {count_text(equal)}", "end", "ink halo"),
        Label(left + side / 2, bottom + 34, "reference total", "middle"),
        Label(24, top + side / 2, "judge total", "middle", "soft", -90),
    ]
    return Drawing(
        name,
        "Judge total against reference total",
        f"A bubble for each pair of totals, its area the number of responses; the line is equality. The judge's total is higher "
        f"on {count_text(higher)}, equal on {count_text(equal)} and lower on {count_text(lower)} responses.",
        WIDTH,
        bottom + 42,
        tuple(marks),
    )


def forest(name: str, panels: Sequence[Panel], title: str = "Main numbers with their intervals") -> Drawing:
    """Values and intervals, one row each, panels one under another with an axis of their own."""
    marks: list[Mark] = []
    y = 8.0
    for panel in panels:
        y, drawn = _panel(panel, y)
        marks += drawn
    said = "; ".join(f"{row.label} {row.text}" for panel in panels for row in panel.rows)
    return Drawing(name, title, f"Points with interval bars: {shortened(said, 900)}.", WIDTH, max(y, 1.0), tuple(marks))


def _panel(panel: Panel, top: float) -> tuple[float, list[Mark]]:
    left, right, height = 152.0, 392.0, 22.0
    ends = [end for row in panel.rows for end in (row.value, row.low, row.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    ticks = nice_ticks(max(low, 0.0) if low > 0.5 else min(low, 0.0), high if high < 0.5 or high > 1 else 1.0)
    scale = (right - left) / (ticks[-1] - ticks[0])

    def at(number: float) -> float:
        return left + (min(max(number, ticks[0]), ticks[-1]) - ticks[0]) * scale

    first, bottom = top + 26, top + 26 + height * len(panel.rows)
    marks: list[Mark] = [Label(0, top + 14, panel.title, role="ink strong")]
    for tick in ticks if ends else ():
        marks.append(Line(at(tick), first - 4, at(tick), bottom, "grid"))
        marks.append(Label(at(tick), bottom + 16, axis_text(tick, percent=panel.percent), "middle"))
    for position, row in enumerate(panel.rows):
        y = first + height * (position + 0.5) - 2
        marks += [
            Label(0, y + 4, shortened(row.label, 24), role="ink"),
            Label(WIDTH - 2, y + 4, row.text, "end", "ink"),
        ]
        if row.low is not None and row.high is not None:
            start, end = at(row.low), at(row.high)
            marks += [Line(start, y, end, y, "interval")]
            marks += [Line(x, y - 4, x, y + 4, "interval") for x in (start, end)]
        if row.value is not None:
            role = "point" if row.low is not None else "point-alone"
            marks.append(Circle(at(row.value), y, 4, role, f"{row.label}: {row.text}"))
    return bottom + 34, marks
