"""Marks calibrated without the work they are applied to: each unit's marks by a map fitted on the others, refitted in every replicate.

A replicate is a (..., U) vector of weights: how often each unit stands in it. Nothing here adds up over units, since the map
depends on the replicate and on the unit left out; what does add up is what a map is fitted on, so that a replicate costs one
pass over the pairs of marks. Copies of a unit leave the fit together.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group
from evenhand.stats.marks import mark_sums

Method = Literal["linear", "least_squares", "isotonic"]
METHODS: tuple[Method, ...] = ("linear", "least_squares", "isotonic")
_NEGLIGIBLE = 1e-13
"""A spread below this share of the sum of squares is rounding: the marks are constant."""
_HALF_WAY = 1e-9
"""How far below half way a mark still counts as half way: the last bit of a sum decides nothing."""
_AT_ONCE = 200_000
"""Numbers held at a time for each array of a pass."""


@dataclass(frozen=True)
class Pairs:
    """Marks beside reference marks.

    Attributes:
        reference, judge: (n,) marks.
        unit: (n,) unit of resampling.
        n_units: U.
        count: (n,) how much each pair weighs.
    """

    reference: Array
    judge: Array
    unit: Counts
    n_units: int
    count: Array

    @classmethod
    def of(cls, reference: Array, judge: Array, unit: Counts, n_units: int, count: Array) -> "Pairs":
        """Pairs of which each different one of a unit stands once, with all that its copies weigh."""
        code = unit
        for marks in (reference, judge):
            different, at = np.unique(marks, return_inverse=True)
            _, code = np.unique(code * len(different) + at, return_inverse=True)
        _, first = np.unique(code, return_index=True)
        return cls(reference[first], judge[first], unit[first], n_units, sums_by_group([count], code, len(first))[:, 0])

    @cached_property
    def sums(self) -> Array:
        """(U, 7) as in ``stats.marks.mark_sums``."""
        return mark_sums(self.reference, self.judge, self.unit, self.n_units, self.count)

    @cached_property
    def levels(self) -> Array:
        """(L,) different marks of the judge, ascending."""
        return np.unique(self.judge)


@dataclass(frozen=True, slots=True)
class Marking:
    """What becomes of a calibrated mark before it is scored.

    Attributes:
        low, high: ends it is clipped to; infinite where no range is known.
        levels: (q,) marks that may be given, ascending: the nearest is taken, the upper one half way; None: it stays as it is.
    """

    low: float = -math.inf
    high: float = math.inf
    levels: Array | None = None

    def of(self, marks: Array) -> Array:
        """The marks as they are scored; NaN stays."""
        if self.levels is None:
            return np.clip(marks, self.low, self.high)
        if (np.diff(self.levels) == 1).all():
            steps = np.floor(marks - self.levels[0] + 0.5 + _HALF_WAY)
            whole: Array = np.clip(steps + self.levels[0], self.levels[0], self.levels[-1])
            return whole
        at = np.searchsorted((self.levels[1:] + self.levels[:-1]) / 2 - _HALF_WAY, marks, side="right")
        return np.where(np.isnan(marks), np.nan, self.levels[at])


def line(sums: Array, method: Method = "linear") -> tuple[Array, Array]:
    """Intercept and slope that take the judge's marks to the reference's; NaN where the judge's marks are constant.

    Args:
        sums: (..., 7) ``stats.marks.mark_sums`` of the pairs it is fitted on.
        method: "linear" gives the marks the reference's mean and standard deviation, slope sd(t)/sd(m); "least_squares" is
            the regression of reference on mark, slope r·sd(t)/sd(m).
    """
    n, t, m, tt, mm, tm = (sums[..., column] for column in range(6))
    spread_t, spread_m = (_spread(n, total, squares) for total, squares in ((t, tt), (m, mm)))
    slope = np.sqrt(ratio(spread_t, spread_m)) if method == "linear" else ratio(n * tm - t * m, spread_m)
    return ratio(t - slope * m, n), slope


def _spread(n: Array, total: Array, squares: Array) -> Array:
    spread = n * squares - np.square(total)
    return np.where(spread > _NEGLIGIBLE * n * squares, spread, 0.0)


def isotonic(count: Array, total: Array) -> Array:
    """Increasing least-squares fit of means on ordered levels: max over j ≤ l of min over k ≥ l of the mean of levels j to k.

    A level without pairs takes the mean of its neighbours' values, beyond the last one that neighbour's (Barlow et al. 1972).

    Args:
        count: (..., L) pairs at each level, above or equal to 0.
        total: (..., L) their summed reference marks.

    Returns:
        (..., L) fitted means; NaN where no level holds a pair.
    """
    by_level, sums = (np.ascontiguousarray(np.moveaxis(one, -1, 0)) for one in (count, total))
    n, t = np.cumsum(by_level, axis=0), np.cumsum(sums, axis=0)
    held = by_level > _NEGLIGIBLE * n[-1:]
    fitted = np.full(by_level.shape, -np.inf)
    for first in range(len(by_level)):  # levels lead, arrays are used again: most of an interval's time is spent here
        with np.errstate(divide="ignore", invalid="ignore"):
            means = (t[first:] - t[first - 1]) / (n[first:] - n[first - 1]) if first else t / n
        np.copyto(means, np.inf, where=~np.isfinite(means))
        for level in range(len(means) - 2, -1, -1):
            here = means[level : level + 1]
            np.minimum(here, means[level + 1 : level + 2], out=here)
        np.copyto(means, -np.inf, where=~held[first : first + 1])
        np.maximum(fitted[first:], means, out=fitted[first:])
    return _filled(np.moveaxis(fitted, 0, -1), np.moveaxis(held, 0, -1))


def _filled(fitted: Array, held: NDArray[np.bool_]) -> Array:
    """Levels without a pair between their neighbours."""
    if held.all():
        return fitted
    places, n_levels = np.arange(held.shape[-1]), held.shape[-1]
    below = np.maximum.accumulate(np.where(held, places, -1), axis=-1)
    above = np.minimum.accumulate(np.where(held, places, n_levels)[..., ::-1], axis=-1)[..., ::-1]
    below, above = np.where(below < 0, above, below), np.where(above == n_levels, below, above)
    safe = np.where(np.isfinite(fitted), fitted, 0.0)
    either = [np.take_along_axis(safe, np.clip(at, 0, n_levels - 1), axis=-1) for at in (below, above)]
    return np.where(held.any(axis=-1, keepdims=True), (either[0] + either[1]) / 2, np.nan)


@dataclass(frozen=True)
class Calibrated:
    """Calibrated marks of pairs, as a function of weights.

    Attributes:
        fitted: pairs that the maps are fitted on.
        applied: pairs whose marks are calibrated, of the same units; each unit's by the fit on the other units.
        method: of fitting.
        marking: what becomes of a calibrated mark.
    """

    fitted: Pairs
    applied: Pairs
    method: Method
    marking: Marking

    def sums(self, weights: Array) -> Array:
        """``stats.marks.mark_sums`` of the calibrated marks, summed over units.

        Args:
            weights: (..., U) how often each unit stands in each replicate.

        Returns:
            (..., 7); NaN where the map of a unit that stands in it is undefined.
        """
        flat = weights.reshape(-1, weights.shape[-1])
        step = max(1, _AT_ONCE // max(self._width, 1))
        parts = [self._sums(flat[start : start + step]) for start in range(0, len(flat), step)]
        found = np.concatenate(parts) if parts else np.empty((0, 7))
        return found.reshape(*weights.shape[:-1], 7)

    @property
    def _width(self) -> int:
        """Numbers that one replicate needs at once."""
        maps = self.fitted.n_units * (len(self._levels) if self.method == "isotonic" else 7)
        return max(len(self.applied.unit), maps)

    @cached_property
    def _levels(self) -> Array:
        return np.union1d(self.fitted.levels, self.applied.levels)

    @cached_property
    def _level_sums(self) -> Array:
        """(U, 2, L) pairs and summed reference marks at each level of the judge's marks."""
        pairs, n_levels = self.fitted, len(self._levels)
        code = pairs.unit * n_levels + np.searchsorted(self._levels, pairs.judge)
        size = pairs.n_units * n_levels
        columns = [np.bincount(code, one, size) for one in (pairs.count, pairs.count * pairs.reference)]
        return np.stack([column.reshape(pairs.n_units, n_levels) for column in columns], axis=1)

    def _sums(self, weights: Array) -> Array:
        pairs = self.applied
        stands = weights[:, pairs.unit] * pairs.count
        marks = self.marking.of(self._calibrated(weights))
        marks = np.where(stands > 0, marks, 0.0)
        t = pairs.reference
        columns = (
            stands.sum(axis=1), stands @ t, (stands * marks).sum(axis=1), stands @ t**2, (stands * marks**2).sum(axis=1),
            (stands * marks) @ t, (stands * np.abs(marks - t)).sum(axis=1),
        )  # fmt: skip
        return np.stack(columns, axis=-1)

    def _calibrated(self, weights: Array) -> Array:
        """(R, n) marks by each unit's own map, before they are clipped."""
        pairs = self.applied
        if self.method == "isotonic":
            left = _without_each(weights, self._level_sums)
            maps = isotonic(left[:, :, 0], left[:, :, 1])
            found: Array = maps[:, pairs.unit, np.searchsorted(self._levels, pairs.judge)]
            return found
        intercept, slope = line(_without_each(weights, self.fitted.sums), self.method)
        return intercept[:, pairs.unit] + slope[:, pairs.unit] * pairs.judge


def _without_each(weights: Array, sums: Array) -> Array:
    """(R, U, *cells) sums of (R, U) replicates without every copy of each unit in turn."""
    flat = sums.reshape(len(sums), -1)
    total = weights @ flat
    left = total[:, None, :] - weights[:, :, None] * flat
    return left.reshape(*weights.shape, *sums.shape[1:])


def slope_of(sums: Array) -> Array:
    """Least-squares slope of the reference's marks on the judge's, from (..., 7) ``stats.marks.mark_sums``."""
    return line(sums, "least_squares")[1]


def regression_tables(sums: Array) -> Array:
    """(U, 3, 3) ``stats.cluster_robust.cross_products`` of reference on 1 and mark, from (U, 7) ``stats.marks.mark_sums``."""
    n, t, m, tt, mm, tm = (sums[..., column] for column in range(6))
    return np.stack([np.stack(row, axis=-1) for row in ((n, m, t), (m, mm, tm), (t, tm, tt))], axis=-2)
