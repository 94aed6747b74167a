"""Agreement of two raters on several labels, from q×q tables of counts and a q×q matrix of weights.

Tables have shape (..., q, q), rows the first rater's (the reference's) label and columns the second's (the judge's), and
every function returns (...). Weights are symmetric with 1 on the diagonal (`agreement_weights`, or a matrix of the
reader's own). Coefficients are 1 - observed/expected disagreement: exactly 1 without disagreement, NaN where one label
is all there is. With identity weights they are those of `agreement`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.hypothesis_tests import ChiSquareTest
from evenhand.stats.weights import agreement_weights, gwet_scale

Chance = Literal["none", "cohen", "scott", "gwet", "uniform"]
"""Whose expected agreement a coefficient corrects for: nobody's, Cohen's, Scott's, Gwet's, Brennan and Prediger's."""
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True)
class McNemarTest:
    """Is one side positive more often than the other? Fields of shape (...).

    Attributes:
        statistic, p_value: chi-squared on 1 df; NaN without a discordant pair.
        statistic_corrected, p_value_corrected: with Edwards' continuity correction.
        p_value_exact: two-sided binomial; 1 without a discordant pair.
    """

    statistic: Array
    p_value: Array
    statistic_corrected: Array
    p_value_corrected: Array
    p_value_exact: Array


def _margins(table: Array) -> tuple[Array, Array]:
    return table.sum(axis=-1), table.sum(axis=-2)


def _disagreement(weights: Array, first: Array, second: Array) -> Array:
    """Sum of (1 - w) over the products of two margins."""
    total: Array = ((first @ (1 - weights)) * second).sum(axis=-1)
    return total


def _disagreements(table: Array, weights: Array) -> Array:
    """Sum of (1 - w) over the table's counts."""
    total: Array = (table * (1 - weights)).sum(axis=(-2, -1))
    return total


def weighted_observed_agreement(table: Array, weights: Array) -> Array:
    """Mean weight of the pairs of labels (Cohen 1968)."""
    return 1 - ratio(_disagreements(table, weights), table.sum(axis=(-2, -1)))


def weighted_kappa(table: Array, weights: Array) -> Array:
    """Weighted kappa (Cohen 1968): chance is independent raters with these margins."""
    observed = table.sum(axis=(-2, -1)) * _disagreements(table, weights)
    return 1 - ratio(observed, _disagreement(weights, *_margins(table)))


def quadratic_weighted_kappa(table: Array, levels: ArrayLike) -> Array:
    """Weighted kappa with squared distances between the (q,) declared level values (Fleiss and Cohen 1973).

    Equals `marks.lin_ccc` of the same marks. Unused levels and a change of unit do not matter.
    """
    return weighted_kappa(table, agreement_weights("quadratic", levels))


def weighted_scott_pi(table: Array, weights: Array) -> Array:
    """Scott's pi with weights (Scott 1955; Gwet 2014): chance is two draws from the pooled margin."""
    first, second = _margins(table)
    pooled = first + second
    observed = 4 * table.sum(axis=(-2, -1)) * _disagreements(table, weights)
    return 1 - ratio(observed, _disagreement(weights, pooled, pooled))


def gwet_ac2(table: Array, weights: Array) -> Array:
    """Gwet's AC2 (Gwet 2008, 2014); AC1 with identity weights. Counts unused labels of the scale."""
    return 1 - ratio(1 - weighted_observed_agreement(table, weights), 1 - _chance(table, weights, "gwet")[0])


def weighted_brennan_prediger(table: Array, weights: Array) -> Array:
    """Brennan and Prediger's coefficient with weights (1981; Gwet 2014): chance is the mean weight of the matrix."""
    return 1 - ratio(1 - weighted_observed_agreement(table, weights), 1 - _chance(table, weights, "uniform")[0])


def best_constant_ac2(table: Array, weights: Array) -> Array:
    """AC2 of the constant second rater who does best against the first: what a judge has to beat."""
    shares = ratio(table.sum(axis=-1), table.sum(axis=(-2, -1))[..., None])
    unlike = shares @ (1 - weights)
    # pooled with a constant rater the shares are s/2, and (s + 1)/2 on that rater's level
    squares = np.square(shares).sum(axis=-1, keepdims=True) / 4 + shares / 2 + 0.25
    best: Array = (1 - ratio(unlike, 1 - gwet_scale(weights) * (1 - squares))).max(axis=-1)
    return best


def chance_agreement(table: Array, weights: Array, chance: Chance) -> Array:
    """Agreement that a coefficient expects by chance, from its (..., q, q) table."""
    return _chance(table, weights, chance)[0]


def _chance(table: Array, weights: Array, chance: Chance) -> tuple[Array, Array]:
    """Expected agreement (...) and its derivative with respect to each joint share (..., q, q)."""
    n = table.sum(axis=(-2, -1), keepdims=True)
    first, second = (ratio(margin, n[..., 0]) for margin in _margins(table))
    if chance == "cohen":
        by_first, by_second = second @ weights, first @ weights
        return (first * by_first).sum(axis=-1), by_first[..., :, None] + by_second[..., None, :]
    pooled = (first + second) / 2
    if chance == "scott":
        mean = pooled @ weights
        return (pooled * mean).sum(axis=-1), mean[..., :, None] + mean[..., None, :]
    if chance == "gwet":
        scale = gwet_scale(weights)
        expected = scale * (pooled * (1 - pooled)).sum(axis=-1)
        return expected, scale * (1 - pooled[..., :, None] - pooled[..., None, :])
    share = weights.mean() if chance == "uniform" else 0.0
    return np.full(table.shape[:-2], share), np.zeros(table.shape)


def analytic_std_error(table: Array, weights: Array, chance: Chance) -> Array:
    """Large-sample standard error of a coefficient with independent rows, for an interval around the estimate.

    For "cohen" that of Fleiss, Cohen and Everitt (1969, eq. 14), for the others Gwet's (2008, 2014), all with divisor N:
    √(Var[w - (1 - κ) ∂e/∂p] / N) / (1 - e) over the observed table.

    Args:
        table: (..., q, q) counts.
        weights: (q, q).
        chance: whose coefficient; "none" is the weighted observed agreement.

    Returns:
        (...) in units of the coefficient; NaN where it is undefined, 0 where its slope is.
    """
    n = table.sum(axis=(-2, -1))
    joint = ratio(table, n[..., None, None])
    expected, slope = _chance(table, weights, chance)
    observed = (joint * weights).sum(axis=(-2, -1))
    beyond = ratio(1 - observed, 1 - expected)
    return _spread(joint, weights - beyond[..., None, None] * slope, n, expected)


def null_std_error(table: Array, weights: Array) -> Array:
    """Standard error of weighted kappa when the raters are independent (Fleiss, Cohen and Everitt 1969, eq. 9).

    For testing "kappa is 0" only, never the width of an interval. Shape (...), rows independent.
    """
    n = table.sum(axis=(-2, -1))
    expected, slope = _chance(table, weights, "cohen")
    first, second = (ratio(margin, n[..., None]) for margin in _margins(table))
    return _spread(first[..., :, None] * second[..., None, :], weights - slope, n, expected)


def _spread(joint: Array, influence: Array, n: Array, expected: Array) -> Array:
    """Standard deviation of the influence under the joint shares, over √n (1 - expected)."""
    mean = (joint * influence).sum(axis=(-2, -1), keepdims=True)
    variance = (joint * np.square(influence - mean)).sum(axis=(-2, -1))
    return ratio(np.sqrt(ratio(variance, n)), np.where(1 - expected > _NEGLIGIBLE, 1 - expected, 0.0))


def mcc_multiclass(table: Array) -> Array:
    """Gorodkin's R_K (2004, Computational Biology and Chemistry 28): the correlation of two sets of labels.

    Phi (Matthews) for two labels. NaN where either side uses one label only.
    """
    first, second = _margins(table)
    n = table.sum(axis=(-2, -1))
    covariance = n * np.trace(table, axis1=-2, axis2=-1) - (first * second).sum(axis=-1)
    spread = [np.square(n) - np.square(margin).sum(axis=-1) for margin in (first, second)]
    return ratio(covariance, np.sqrt(spread[0]) * np.sqrt(spread[1]))


def adjacent_agreement(table: Array, levels: ArrayLike, within: float = 1.0) -> Array:
    """Share of pairs of marks no further apart than `within`, in units of the (q,) level values."""
    values = np.asarray(levels, dtype=np.float64)
    near = np.abs(values[:, None] - values) <= within * (1 + _NEGLIGIBLE)
    return ratio((table * near).sum(axis=(-2, -1)), table.sum(axis=(-2, -1)))


def mcnemar(table: Array) -> McNemarTest:
    """McNemar's test (1947) of equal positive rates, from (..., 2, 2); rows independent."""
    one, other = table[..., 0, 1], table[..., 1, 0]
    discordant, difference = one + other, np.abs(one - other)
    statistic = ratio(np.square(difference), discordant)
    corrected = ratio(np.square(np.maximum(difference - 1, 0.0)), discordant)
    fewer = np.minimum(one, other)
    tail = special.betainc(np.maximum(discordant - fewer, 1.0), fewer + 1, 0.5)
    exact = np.where(discordant == 0, 1.0, np.minimum(2 * tail, 1.0))
    return McNemarTest(
        statistic, np.asarray(special.chdtrc(1, statistic)), corrected, np.asarray(special.chdtrc(1, corrected)), exact
    )


def stuart_maxwell(table: Array) -> ChiSquareTest:
    """Stuart-Maxwell test (1955, 1970) of equal margins, from (..., q, q); rows independent.

    Labels without a discordant pair drop out; df is the rank of the covariance, q - 1 in general. Without any
    discordant pair df is 0 and the statistic NaN. McNemar's chi-squared for two labels.
    """
    first, second = _margins(table)
    covariance = -(table + table.swapaxes(-1, -2))
    diagonal = np.arange(table.shape[-1])
    covariance[..., diagonal, diagonal] += first + second
    roots, vectors = np.linalg.eigh(covariance)
    kept = roots > _NEGLIGIBLE * np.maximum(roots.max(axis=-1, keepdims=True), 1.0) * table.shape[-1]
    along = np.square(((first - second)[..., None, :] @ vectors)[..., 0, :])
    df = kept.sum(axis=-1).astype(np.float64)
    terms = np.where(kept, along / np.where(kept, roots, 1.0), 0.0)
    statistic = np.where(df > 0, terms.sum(axis=-1), np.nan)
    p_value = special.chdtrc(np.maximum(df, 1.0), statistic)
    return ChiSquareTest(statistic, df, np.asarray(p_value))
