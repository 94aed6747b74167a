"""Limits of a share of counted events: on independent trials, and on an effective number of clustered ones."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array

LEAST_DF = 0.1
"""Below this many degrees of freedom a t quantile says nothing (it is 10^12 at 0.1)."""


def upper_probability(level: float) -> float:
    """Where the upper end of a two-sided interval of this level stands."""
    return 0.5 + level / 2


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t."""
    return float(special.stdtrit(df, probability))


def clopper_pearson(events: Array, trials: Array, level: float) -> tuple[Array, Array]:
    """Exact binomial limits (Clopper and Pearson 1934); counts may be fractional (effective sample sizes).

    Args:
        events: (...) successes.
        trials: (...) trials, positive.
        level: confidence level.

    Returns:
        (...) lower and (...) upper limits in [0, 1].
    """
    events, trials = np.broadcast_arrays(np.asarray(events, float), np.asarray(trials, float))
    none, all_ = events <= 0, events >= trials
    outside = 1 - upper_probability(level)
    low = special.betaincinv(np.where(none, 1, events), trials - np.where(none, 0, events) + 1, outside)
    high = special.betaincinv(events + 1, np.where(all_, 1, trials - events), upper_probability(level))
    return np.where(none, 0.0, low), np.where(all_, 1.0, high)


def wilson(events: float, trials: float, level: float) -> tuple[float, float]:
    """Score limits of a binomial proportion (Wilson 1927)."""
    z = float(special.ndtri(upper_probability(level)))
    p, shrink = events / trials, 1 + z**2 / trials
    middle = (p + z**2 / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(p * (1 - p) / trials + z**2 / (4 * trials**2))
    return (0.0 if events <= 0 else middle - half), (1.0 if events >= trials else middle + half)


@dataclass(frozen=True, slots=True)
class EffectiveLimits:
    """Clopper-Pearson limits, and how many independent trials they were taken at."""

    low: float
    high: float
    trials: float


def kept_of_few_clusters(trials: float, df: float, level: float) -> float:
    """Share of an effective number of trials that is left where clusters are few, (t_{n-1}/t_{df})²."""
    at = upper_probability(level)
    return (t_quantile(at, trials - 1) / t_quantile(at, df)) ** 2 if trials > 1 else 1.0


def korn_graubard_limits(
    events: float, trials: float, design_effect: float, df: float, level: float
) -> EffectiveLimits:
    """Clopper-Pearson limits at an effective sample size (Korn and Graubard 1998).

    n_eff = n/deff · (t_{n-1}/t_{df})²: fewer trials where they share clusters, and fewer still where clusters are few.

    Args:
        events, trials: counts over all clusters.
        design_effect: variance over that of independent trials.
        df: degrees of freedom of the clusters.
        level: confidence level.
    """
    effective = trials / design_effect * kept_of_few_clusters(trials, df, level)
    low, high = clopper_pearson(np.asarray(events / trials * effective), np.asarray(effective), level)
    return EffectiveLimits(float(low), float(high), effective)


def design_effect_at(icc: float, trials_a_cluster: float) -> float:
    """Design effect of a share at an intraclass correlation: 1 + (m - 1)·ICC, at least 1."""
    return max(1.0, 1 + (trials_a_cluster - 1) * icc)


def icc_of(design_effect: float, trials_a_cluster: float) -> float:
    """Intraclass correlation behind a design effect, 0 where clusters hold one trial each."""
    return (design_effect - 1) / (trials_a_cluster - 1) if trials_a_cluster > 1 else 0.0
