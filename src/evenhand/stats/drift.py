"""The judge against itself: differences of marks on the same responses, in strata, and their ratios.

Tallies are sums by unit of resampling. Where strata (tails of attainment) are fixed, a unit that is left out is made up
for by the others of its stratum, so that each stratum keeps its share.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, Counts, Measure, ratio
from evenhand.stats.ensembles import sums_by_group
from evenhand.stats.stratified import StratifiedValue, pooled_over_strata


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """Fieller's set for a ratio.

    Attributes:
        value: NaN where the denominator is 0.
        low, high: None where the set has no two ends: the denominator's own interval holds 0.
    """

    value: float
    low: float | None
    high: float | None

    @property
    def is_bounded(self) -> bool:
        """Whether the set is an interval."""
        return self.low is not None


def mean_sums(values: Array, unit: Counts, n_units: int) -> Array:
    """(U, 2) numbers of values and their sums, of (n,) values and their units of resampling."""
    return sums_by_group([np.ones(len(values)), values], unit, n_units)


def mean(sums: Array) -> Array:
    """Mean from (..., 2) `mean_sums`; NaN without a value."""
    return ratio(sums[..., 1], sums[..., 0])


def distance_gained(sums: Array) -> Array:
    """|mean error of the control| - |mean error of the arm|: above 0 the arm's mean lies nearer the reference.

    From (..., 3): responses, Σ error of the control, Σ error of the arm.
    """
    gained: Array = np.abs(ratio(sums[..., 1], sums[..., 0])) - np.abs(ratio(sums[..., 2], sums[..., 0]))
    return gained


def stratified(tallies: Array, sizes: Array, stratum: Counts, measure: Measure) -> StratifiedValue:
    """A statistic of all strata together, each keeping its share when a unit is left out.

    Args:
        tallies: (G, *cells), one row a unit; a unit lies in one stratum.
        sizes: (G,) members of the population in each unit, above 0.
        stratum: (G,) small whole numbers.
        measure: (..., *cells) → (...).
    """
    return pooled_over_strata(tallies, stratum, measure, sizes)


def left_out_covariance(left_out: Array, stratum: Counts) -> Array:
    """Jackknife covariance Σ_h (G_h - 1)/G_h Σ_g d d' of m statistics, d their deviation from the stratum's mean.

    Args:
        left_out: (G, m) values without each unit.
        stratum: (G,).
    """
    n = np.bincount(stratum).astype(np.float64)
    means = np.stack([np.bincount(stratum, weights=column) / np.maximum(n, 1) for column in left_out.T], axis=-1)
    deviation = left_out - means[stratum]
    weighted = deviation * ((n - 1) / np.maximum(n, 1))[stratum][:, None]
    found: Array = weighted.T @ deviation
    return found


def fieller(numerator: float, denominator: float, covariance: Array, t: float) -> RatioInterval:
    """Values ρ of numerator/denominator that |numerator - ρ·denominator| ≤ t standard errors does not reject (Fieller 1954).

    Args:
        numerator, denominator: estimates.
        covariance: (2, 2) of the two.
        t: critical value.
    """
    value = numerator / denominator if denominator else math.nan
    a = denominator**2 - t**2 * float(covariance[1, 1])
    b = numerator * denominator - t**2 * float(covariance[0, 1])
    c = numerator**2 - t**2 * float(covariance[0, 0])
    inner = b * b - a * c
    if not (math.isfinite(value) and math.isfinite(inner)) or a <= 0 or inner < 0:
        return RatioInterval(value, None, None)
    root = math.sqrt(inner)
    return RatioInterval(value, (b - root) / a, (b + root) / a)


def sd_of_means(values: Array, group: Counts, n_groups: int) -> Array:
    """Standard deviation, divisor G - 1, of the groups' means of (..., n) values; NaN below two groups with a value."""
    n = np.bincount(group, minlength=n_groups).astype(np.float64)
    held = n > 0
    flat = values.reshape(-1, values.shape[-1])
    means = np.stack([np.bincount(group, weights=row, minlength=n_groups)[held] / n[held] for row in flat])
    spread = means.std(axis=-1, ddof=1) if held.sum() > 1 else np.full(len(means), np.nan)
    return np.asarray(spread).reshape(values.shape[:-1])


def reassigned(values: Array, question: Counts, rng: np.random.Generator, n_draws: int) -> Array:
    """(B, n) values exchanged within questions at random, so that every learner keeps his questions.

    Args:
        values: (n,) effects.
        question: (n,) of each.
        rng: of the draws.
        n_draws: B.
    """
    order = np.argsort(question, kind="stable")
    found = np.empty((n_draws, len(values)))
    for row in found:
        drawn = np.lexsort((rng.random(len(values)), question))
        row[order] = values[drawn]
    return found


def sign_flip_p(values: Array, rng: np.random.Generator, n_draws: int = 4_096) -> tuple[float, float]:
    """P of a mean this low and of one this high where each value's sign is a coin's: labels of one learner exchanged.

    All 2^n sign patterns up to 12 values, else draws of them, the sample among them.

    Args:
        values: (n,) effects of one learner.
        rng: of the draws.
        n_draws: at most.
    """
    n, total = len(values), float(values.sum())
    if n <= 12:
        signs: NDArray[np.int64] = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        sums, extra = signs @ values, 0
    else:
        sums, extra = (1 - 2 * rng.integers(0, 2, (n_draws, n))) @ values, 1
    slack = 1e-9 * max(1.0, float(np.abs(values).sum()))
    return tuple(
        (float(np.count_nonzero(found)) + extra) / (len(sums) + extra)
        for found in (sums <= total + slack, sums >= total - slack)
    )  # type: ignore[return-value]
