"""Tests by name, equivalence, and families of claims.

Cochran's Q takes rows as independent, as McNemar and Stuart-Maxwell do (`weighted_agreement`): a report says so. TOST
takes whatever standard error it is given, so with a cluster jackknife's it is clustered. Corrections work on the last
axis; an undefined (NaN) p value stays NaN and does not count towards the family.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group


@dataclass(frozen=True, slots=True)
class ChiSquareTest:
    """A statistic, its degrees of freedom and upper tail probability, each of shape (...)."""

    statistic: Array
    df: Array
    p_value: Array


@dataclass(frozen=True, slots=True)
class EquivalenceTest:
    """Two one-sided tests, each field of shape (...).

    Attributes:
        t_lower, t_upper: distance of the estimate from the lower and the upper margin, in standard errors.
        p_lower, p_upper: of "not above the lower margin" and of "not below the upper margin".
        p_value: the larger of the two.
        ci_low, ci_high: the interval of level 1 - 2 alpha, inside the margins exactly where p_value < alpha.
    """

    t_lower: Array
    t_upper: Array
    p_lower: Array
    p_upper: Array
    p_value: Array
    ci_low: Array
    ci_high: Array


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """A family of m statistics at once.

    Attributes:
        critical_value: how many standard errors reach to either side.
        low, high: (m,) ends that all cover at the stated level together.
        p_value: (m,) step-down adjusted p values of "the statistic is 0".
    """

    critical_value: float
    low: Array
    high: Array
    p_value: Array


def cochran_sums(values: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of Cochran's Q.

    Args:
        values: (n, k) 0/1, complete: n rows under k raters or conditions.
        group: (n,) unit of resampling of each row.
        n_groups: U.
        repeats: (n,) how often each row occurs, 1 by default.

    Returns:
        (U, k + 1): sum of squared row totals, then the sum under each condition.
    """
    rows = np.asarray(values, dtype=np.float64)
    columns = [np.square(rows @ np.ones(rows.shape[1])), *rows.T]
    return sums_by_group(columns, group, n_groups, repeats)


def cochran_q(sums: Array) -> ChiSquareTest:
    """Cochran's Q (1950, Biometrika 37): do k conditions have one rate? Rows independent; from (..., k + 1).

    The statistic is NaN where no row has two different values.
    """
    squares, by_condition = sums[..., 0], sums[..., 1:]
    k, total = by_condition.shape[-1], by_condition.sum(axis=-1)
    spread = k * np.square(by_condition).sum(axis=-1) - np.square(total)
    statistic = ratio((k - 1) * spread, k * total - squares)
    df = np.full(statistic.shape, k - 1.0)
    return ChiSquareTest(statistic, df, np.asarray(special.chdtrc(df, statistic)))


def fisher_exact(table: Array) -> float | None:
    """Two-sided p of Fisher's exact test (1934) on a (2, 2) table of counts; None with an empty margin. Rows independent.

    The probability, at the table's margins, of the tables that are no more likely than it (to 1e-7, as R and SciPy have it).
    """
    (a, b), (c, d) = table
    rows, first, n = (a + b, c + d), a + c, a + b + c + d
    if min(*rows, first, b + d) == 0:
        return None
    hits = np.arange(max(0.0, first - rows[1]), min(rows[0], first) + 1)

    def log_choose(n: Array | float, k: Array) -> Array:
        return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))

    logs = log_choose(rows[0], hits) + log_choose(rows[1], first - hits) - log_choose(n, np.asarray(first))
    own = logs[int(a - hits[0])]
    return float(min(1.0, np.exp(logs[logs <= own + 1e-7]).sum()))


def equivalence_test(
    estimate: Array, std_error: Array, df: Array | float, margins: tuple[float, float], alpha: float = 0.05
) -> EquivalenceTest:
    """Two one-sided t tests of "outside the margins" (Schuirmann 1987; Lakens 2017).

    Args:
        estimate: (...) difference or signed value.
        std_error: (...) of it.
        df: degrees of freedom, inf for a normal reference.
        margins: lower and upper, fixed beforehand, in units of the estimate.
        alpha: level of each test.
    """
    low, high = margins
    half = special.stdtrit(df, 1 - alpha) * std_error
    t_lower, t_upper = ratio(estimate - low, std_error), ratio(estimate - high, std_error)
    p_lower, p_upper = special.stdtr(df, -t_lower), special.stdtr(df, t_upper)
    return EquivalenceTest(
        t_lower, t_upper, p_lower, p_upper, np.maximum(p_lower, p_upper), estimate - half, estimate + half
    )


def _in_order(p_values: Array) -> tuple[Array, Counts, Array]:
    """Sorted p values (NaN last), the order that undoes the sort, and the number of defined ones."""
    order = np.argsort(p_values, axis=-1, kind="stable")
    n_defined = np.isfinite(p_values).sum(axis=-1, keepdims=True).astype(np.float64)
    return np.take_along_axis(p_values, order, axis=-1), np.argsort(order, axis=-1, kind="stable"), n_defined


def holm(p_values: Array) -> Array:
    """P values adjusted so that no true null of the family is rejected but with probability alpha (Holm 1979).

    (..., m) → (..., m): the running maximum of (m - i + 1) p_(i), at most 1.
    """
    ordered, back, n = _in_order(np.asarray(p_values, dtype=np.float64))
    rank = np.arange(ordered.shape[-1])
    adjusted = np.minimum(np.maximum.accumulate((n - rank) * ordered, axis=-1), 1.0)
    return np.take_along_axis(adjusted, back, axis=-1)


def benjamini_hochberg(p_values: Array) -> Array:
    """P values adjusted for the expected share of false ones among the rejected (Benjamini and Hochberg 1995).

    (..., m) → (..., m): the running minimum, from the largest down, of m p_(i) / i.
    """
    ordered, back, n = _in_order(np.asarray(p_values, dtype=np.float64))
    scaled = n * ordered / np.arange(1, ordered.shape[-1] + 1)
    adjusted = np.minimum(np.fmin.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1], 1.0)
    adjusted = np.where(np.isnan(ordered), np.nan, adjusted)
    return np.take_along_axis(adjusted, back, axis=-1)


def max_t(estimate: Array, std_error: Array, replicates: Array, level: float = 0.95) -> Simultaneous:
    """Simultaneous intervals and step-down p values from shared resamples (Romano and Wolf 2005, 2016).

    The deviation of each replicate from the estimate, in standard errors, stands for the estimate's own from the truth;
    the largest of a family's sets how far all its intervals reach. Each next p value leaves out the larger statistics.

    Args:
        estimate: (m,) values of the family.
        std_error: (m,) positive.
        replicates: (B, m) values in the same B resamples; resamples with an undefined value are left out.
        level: confidence level of the family.
    """
    kept = replicates[np.isfinite(replicates).all(axis=-1)]
    deviation = np.abs(ratio(kept - estimate, std_error))
    observed = np.abs(ratio(estimate, std_error))
    if len(kept) == 0 or not np.isfinite(deviation).all():
        nothing = np.full(len(estimate), np.nan)
        return Simultaneous(float("nan"), nothing, nothing, nothing)
    critical = float(np.quantile(deviation.max(axis=-1), level, method="inverted_cdf"))
    order = np.argsort(-observed, kind="stable")
    # the largest deviation among a statistic and all that are smaller in the sample
    largest = np.maximum.accumulate(deviation[:, order[::-1]], axis=-1)[:, ::-1]
    exceeded = (largest >= observed[order]).sum(axis=0)
    stepped = np.maximum.accumulate((exceeded + 1) / (len(kept) + 1))
    p_value = np.empty(len(order))
    p_value[order] = stepped
    half = critical * std_error
    return Simultaneous(critical, estimate - half, estimate + half, p_value)
