"""A statistic over fixed strata: its plain mean over them or its pooled value, with a jackknife that stays within strata.

Tallies have shape (V, *cells), one row a unit within a stratum, and a (V,) stratum each. Strata are fixed: another sample
would have the same ones.
"""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, Counts, Measure, ratio
from evenhand.stats.scales import IDENTITY, Scale


@dataclass(frozen=True, slots=True)
class StratifiedValue:
    """A value with its leave-one-out values.

    Attributes:
        value: NaN where it is undefined.
        left_out: (V,) values without each unit.
        df: Σ (G*_h - 1), G*_h = (Σn)²/Σn² of a stratum's units.
    """

    value: float
    left_out: Array
    stratum: Counts
    df: float

    def std_error(self, scale: Scale = IDENTITY) -> float:
        """√ Σ_h (G_h - 1)/G_h Σ_g (θ_(hg) - mean_h)² of the values on a scale; NaN where one of them is none."""
        values = scale.forward(self.left_out)
        n = np.bincount(self.stratum).astype(np.float64)
        present = np.flatnonzero(n)
        mean = np.bincount(self.stratum, weights=values) / np.maximum(n, 1)
        squares = np.bincount(self.stratum, weights=np.square(values - mean[self.stratum]))
        return float(np.sqrt(((n[present] - 1) / n[present] * squares[present]).sum()))


def by_stratum(tallies: Array, stratum: Counts, n_strata: int) -> Array:
    """(H, *cells) sums of the (V, *cells) tallies."""
    totals = np.zeros((n_strata, *tallies.shape[1:]))
    np.add.at(totals, stratum, tallies)
    return totals


def mean_over_strata(tallies: Array, stratum: Counts, measure: Measure, sizes: Array | None = None) -> StratifiedValue:
    """Unweighted mean of a statistic over the strata that occur; NaN where it is undefined in one of them.

    Args:
        tallies: (V, *cells).
        stratum: (V,).
        measure: (..., *cells) → (...).
        sizes: (V,) members of the population in each unit; the sum of its cells by default, which is that of counts only.
    """
    _, at = np.unique(stratum, return_inverse=True)
    n_strata = int(at.max()) + 1
    totals = by_stratum(tallies, at, n_strata)
    values = measure(totals)
    moved = measure(totals[at] - tallies) - values[at]
    value = float(values.mean())
    return StratifiedValue(value, value + moved / n_strata, at, _df(_sizes(tallies, sizes), at))


def pooled_over_strata(
    tallies: Array, stratum: Counts, measure: Measure, sizes: Array | None = None
) -> StratifiedValue:
    """The statistic of all strata together, each at the weight that its size gives it, which leaving a unit out keeps.

    Arguments as in `mean_over_strata`.
    """
    _, at = np.unique(stratum, return_inverse=True)
    members = _sizes(tallies, sizes)
    totals, held = by_stratum(tallies, at, int(at.max()) + 1), np.bincount(at, weights=members).astype(np.float64)
    total, without = totals.sum(axis=0), totals[at] - tallies
    regained = ratio(held[at], held[at] - members).reshape(-1, *(1 for _ in tallies.shape[1:]))
    return StratifiedValue(
        float(measure(total)), measure(total - totals[at] + without * regained), at, _df(members, at)
    )


def _sizes(tallies: Array, sizes: Array | None) -> Array:
    return tallies.reshape(len(tallies), -1).sum(axis=1) if sizes is None else sizes


def _df(sizes: Array, stratum: Counts) -> float:
    """Σ (G*_h - 1) of (V,) sizes; NaN where a stratum has none."""
    sums, squares = np.bincount(stratum, weights=sizes), np.bincount(stratum, weights=sizes**2)
    return float((sums**2 / squares - 1).sum()) if (squares > 0).all() else math.nan
