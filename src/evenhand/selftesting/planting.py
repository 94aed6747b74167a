"""A planted defect, the share of worlds in which an audit's own rule calls it, and the smallest size that is caught."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.stats.arrays import Array
from evenhand.stats.binomial import wilson
from evenhand.stats.intervals import METHODS, Interval, Sample
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import Scale

CAUGHT = 0.8
"""Share of worlds from which on a defect counts as caught."""
_STEPS = 7
Verdict = Literal["caught", "borderline", "missed", "fine", "too often"]
World = Callable[[np.random.Generator, float], bool]


@dataclass(frozen=True, slots=True)
class Defect:
    """What is planted, and who should say so.

    Attributes:
        name: in words.
        id: the estimate that shows it.
        rule: when the audit says so.
        unit: of its size, in words; empty where it has none.
        sizes: planted.
        world: draws one world at a size and tells whether the rule calls it.
        false_rate: where nothing is planted, the share that may be called all the same; None for a defect.
    """

    name: str
    id: str
    rule: str
    unit: str
    sizes: tuple[float, ...]
    world: World
    false_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Planted:
    """One size of one defect.

    Attributes:
        defect: what.
        size: how much.
        called: worlds in which the rule said so.
        worlds: in all.
        low, high: 95 % Wilson interval of the share.
        verdict: caught (.80 or more), borderline (the interval reaches .80) or missed; for a control fine, or too often.
        smallest: smallest size that is caught; None where none up to the largest planted one is, or it has no size.
    """

    defect: Defect
    size: float
    called: int
    worlds: int
    low: float
    high: float
    verdict: Verdict
    smallest: float | None

    @property
    def share(self) -> float:
        """Of worlds in which the rule said so."""
        return self.called / self.worlds


def plant(defects: Sequence[Defect], worlds: int, seed: int, step: Callable[[int], None]) -> list[Planted]:
    """Try every size of every defect.

    Args:
        defects: what is planted.
        worlds: of each size, 20 or more.
        seed: of every draw; a defect's worlds differ in size alone.
        step: told of worlds done.
    """
    found = []
    for number, defect in enumerate(defects):
        smallest: float | None = None

        def called(size: float, defect: Defect = defect, number: int = number) -> int:
            hits = sum(defect.world(np.random.default_rng([seed, number, at]), size) for at in range(worlds))
            step(worlds)
            return int(hits)

        counts = [called(size) for size in defect.sizes]
        if defect.false_rate is None and len(defect.sizes) > 1 and counts[-1] >= CAUGHT * worlds:
            smallest = _smallest(called, worlds, defect.sizes[-1])
        for size, hits in zip(defect.sizes, counts, strict=True):
            low, high = wilson(hits, worlds, 0.95)
            found.append(Planted(defect, size, hits, worlds, low, high, _verdict(defect, hits, worlds), smallest))
    return found


def n_worlds(defects: Sequence[Defect], worlds: int) -> int:
    """The most worlds that planting takes."""
    return worlds * sum(len(one.sizes) + (_STEPS if len(one.sizes) > 1 else 0) for one in defects)


def _smallest(called: Callable[[float], int], worlds: int, largest: float) -> float:
    low, high = 0.0, largest
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if called(middle) >= CAUGHT * worlds:
            high = middle
        else:
            low = middle
    return high


def _verdict(defect: Defect, called: int, worlds: int) -> Verdict:
    low, high = wilson(called, worlds, 0.95)
    if defect.false_rate is not None:
        return "too often" if low > defect.false_rate else "fine"
    return "caught" if called >= CAUGHT * worlds else "borderline" if high >= CAUGHT else "missed"


@dataclass(frozen=True)
class Rule:
    """How the audit makes its intervals: the same method, level and resamples."""

    method: str
    level: float
    n_resamples: int
    seed: int
    names: tuple[str, ...]

    def interval(
        self,
        cells: Array,
        measure: Callable[[Array], Array],
        scale: Scale,
        *,
        sizes: Array | None = None,
        is_rate: bool = False,
        chance: Callable[[Array], Array] | None = None,
    ) -> Interval:
        """The interval that ``assess`` would give of (U, *cells) sums."""
        sizes = cells.reshape(len(cells), -1).sum(axis=1) if sizes is None else sizes
        active = sizes > 0
        held = cells[active]
        ceiling = 1 - float(chance(held.sum(axis=0))) if chance is not None else None
        sample = Sample(
            tallies=held,
            measure=measure,
            sizes=sizes[active],
            scale=scale,
            names=tuple(np.array(self.names, dtype=object)[active]),
            weights=lambda n: draw_weights(self.seed, self.n_resamples, n),
            events=held[:, 0] if is_rate else None,
            ceiling=ceiling,
        )
        if not np.isfinite(sample.value):
            return Interval(None, None, "none", "undefined")
        return METHODS[self.method](sample, self.level)


def lies_above(interval: Interval, value: float) -> bool:
    """Whether the whole interval lies above a value."""
    return interval.low is not None and interval.low > value


def excludes(interval: Interval, value: float) -> bool:
    """Whether a value lies outside the interval."""
    return interval.low is not None and interval.high is not None and not interval.low <= value <= interval.high
