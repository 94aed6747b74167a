"""How narrow a plan without a contrast can be: half-widths of agreement in worlds like its draw, by the default interval."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import quantiles

import numpy as np

from evenhand.design.calls import Design
from evenhand.design.floor import LEVEL, MORE_WORLDS, POWER, WORLDS, Size
from evenhand.design.worlds import Assumptions, Shape, assumptions_of, draw_worlds, shape_of
from evenhand.stats.agreement import cohen_chance, cohen_kappa
from evenhand.stats.arrays import Array, Measure, ratio
from evenhand.stats.binomial import wilson
from evenhand.stats.intervals import Sample, default
from evenhand.stats.marks import bias, lin_ccc
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS, LOGIT

_BLOCK = 200
_MOST_ROWS = 60_000
_TRIES = 10


@dataclass(frozen=True, slots=True)
class Width:
    """Half-widths of one statistic's 95 % interval.

    Attributes:
        statistic: as in ids.
        halves: of the worlds that have an interval.
        withheld: worlds without one.
        narrow: worlds whose half-width is at most the target; 0 without one.
    """

    statistic: str
    halves: tuple[float, ...] = field(repr=False)
    withheld: int
    narrow: int

    @property
    def worlds(self) -> int:
        """All of them."""
        return len(self.halves) + self.withheld

    @property
    def middle(self) -> float:
        """Median half-width; infinite where no world has an interval."""
        return float(np.median(self.halves)) if self.halves else float("inf")

    @property
    def in_most(self) -> float:
        """Half-width that four worlds in five do not pass."""
        return quantiles(self.halves, n=5)[-1] if len(self.halves) > 1 else float("inf")

    @property
    def ends(self) -> tuple[float, float]:
        """95 % Wilson limits of the share of narrow worlds."""
        return wilson(self.narrow, self.worlds, LEVEL)


@dataclass(frozen=True, slots=True)
class Precision:
    """What a draw pins down; verdicts as in ``Floor``, on the first statistic."""

    unit: str
    n_units: int
    verdict: str
    reason: str
    target: float | None
    widths: tuple[Width, ...]
    would_do: Size | None
    assumptions: tuple[str, ...]


def precision_of(design: Design, *, worlds: int = WORLDS, seed: int = 0) -> Precision | None:
    """Half-widths of a plan that is read for agreement; None for another one.

    Args:
        design: the plan with its draw.
        worlds: the first ones; undecided, up to ten times as many are drawn.
        seed: of the worlds.
    """
    plan = design.plan
    if plan.primary != "agreement":
        return None
    shape = shape_of(design)
    assumed = assumptions_of(plan.floor, plan.scale, is_contrast=False, known_truth=True)
    target = plan.floor.half_width
    widths = _widths(shape, assumed, target, worlds, seed)
    total = worlds
    while target and widths[0].ends[0] < POWER <= widths[0].ends[1] and total < MORE_WORLDS * worlds:
        widths = _widths(shape, assumed, target, total := total + worlds, seed)
    verdict, reason = _verdict(widths[0], target)
    would_do = _would_do(shape, assumed, widths[0], target, worlds, seed) if target and verdict == "refused" else None
    words = assumed.words(plan.unit, is_contrast=False)
    return Precision(plan.unit, shape.n_units, verdict, reason, target, widths, would_do, words)


def _verdict(first: Width, target: float | None) -> tuple[str, str]:
    said = (
        f"half-width of {first.statistic} at most {target:g} in {100 * first.narrow / first.worlds:.1f} % of worlds"
        if target
        else ""
    )
    if not first.halves:
        return "refused", "no world has an interval: the units are too few"
    if not target:
        return "open", "the plan names no half-width that is narrow enough ([floor] half_width)"
    low, high = first.ends
    if high < POWER:
        return "refused", f"unanswerable at this size: {said}"
    return ("pass", "") if low >= POWER else ("borderline", f"{said}: too near 80 %")


def _widths(shape: Shape, assumed: Assumptions, target: float | None, worlds: int, seed: int) -> tuple[Width, ...]:
    halves: dict[str, list[float]] = {}
    for first in range(0, worlds, _BLOCK):
        block = draw_worlds(shape, assumed, (seed, first), min(_BLOCK, worlds - first))
        for verdicts in block.verdicts():
            for name, sample in _samples(shape, assumed, np.asarray(verdicts, dtype=np.float64)):
                found = default(sample, LEVEL)
                listed = halves.setdefault(name, [])
                if found.low is not None and found.high is not None:
                    listed.append((found.high - found.low) / 2)
    return tuple(
        Width(name, tuple(found), worlds - len(found), sum(one <= target for one in found) if target else 0)
        for name, found in halves.items()
    )


def _samples(shape: Shape, assumed: Assumptions, verdicts: Array) -> Iterator[tuple[str, Sample]]:
    """The statistics of one world as an audit makes them: accuracy and kappa of labels, bias and weighted kappa of marks."""
    if assumed.are_marks:
        t, m = shape.truth - assumed.low, verdicts
        columns = np.stack([np.ones(len(t)), t, m, t * t, m * m, t * m, np.abs(m - t)], axis=1)
        sums = np.add.reduceat(columns, shape.starts, axis=0)
        yield "bias", _sample(sums, bias, shape)
        yield "quadratic_weighted_kappa", _sample(sums, lin_ccc, shape, scale_is_of_kappa=True)
        return
    code = (2 * (shape.truth > 0.5) + (verdicts > 0.5)).astype(np.int64)
    tables = np.add.reduceat(np.eye(4)[code], shape.starts, axis=0).reshape(-1, 2, 2)
    right = tables[:, 0, 0] + tables[:, 1, 1]
    events = np.stack([right, shape.sizes - right], axis=1)
    yield "observed_agreement", _sample(events, _share, shape, events=events[:, 0])
    ceiling = 1 - float(cohen_chance(tables.sum(axis=0)))
    yield "cohen_kappa", _sample(tables, cohen_kappa, shape, scale_is_of_kappa=True, ceiling=ceiling)


def _share(cells: Array) -> Array:
    return ratio(cells[..., 0], cells.sum(axis=-1))


def _sample(
    tallies: Array,
    measure: Measure,
    shape: Shape,
    *,
    scale_is_of_kappa: bool = False,
    ceiling: float | None = None,
    events: Array | None = None,
) -> Sample:
    scale = LOG_ONE_MINUS if scale_is_of_kappa else LOGIT if events is not None else IDENTITY
    return Sample(
        tallies=tallies,
        measure=measure,
        sizes=shape.sizes.astype(np.float64),
        scale=scale,
        names=("",) * len(tallies),
        weights=lambda n_units: draw_weights(0, 100, n_units),
        events=events,
        ceiling=ceiling,
    )


def _would_do(shape: Shape, assumed: Assumptions, first: Width, target: float, worlds: int, seed: int) -> Size | None:
    factor = (first.in_most / target) ** 2
    for _ in range(_TRIES):
        if not factor * len(shape.truth) <= _MOST_ROWS:
            return None
        larger = shape.enlarged(max(factor, 1.0))
        if _widths(larger, assumed, target, worlds, seed)[0].ends[0] >= POWER:
            return Size(larger.n_responses, larger.n_units)
        factor *= 1.1
    return None
