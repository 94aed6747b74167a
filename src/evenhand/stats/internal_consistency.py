"""Internal consistency of a checklist: statements about the bank and its lines, not about the judge.

Everything here is a function of sums that add up over clusters, and broadcasts over their leading axes: one
call gives the point value, every resample and every leave-one-out value. Undefined is NaN: fewer than two
criteria, no response, or totals that do not vary (one response, or the same total for all).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.stats.arrays import Array, ratio


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over complete responses, in counts or scaled integers; each field adds up over clusters.

    Attributes:
        n: (...) number of responses.
        item_sums: (..., K) sum of the values on each criterion.
        total_square_sum: (...) sum of the squared totals, a total being the sum of a response's K values.
        value_square_sum: (...) sum of all squared values; may be left out for 0/1 values.
    """

    n: Array
    item_sums: Array
    total_square_sum: Array
    value_square_sum: Array | None = None

    @property
    def n_criteria(self) -> int:
        """Number of criteria K."""
        return int(self.item_sums.shape[-1])

    @property
    def total_sum(self) -> Array:
        """Sum of the totals, shape (...)."""
        return np.asarray(np.sum(self.item_sums, axis=-1))

    @property
    def square_sum(self) -> Array:
        """Sum of all squared values, shape (...)."""
        return self.total_sum if self.value_square_sum is None else self.value_square_sum


@dataclass(frozen=True, slots=True)
class CrossProducts:
    """Sums and cross products over complete responses, exact likewise; each field adds up over clusters.

    Attributes:
        n: (...) number of responses.
        sums: (..., K) sum of each criterion.
        products: (..., K, K) sum of the products of two criteria, the full symmetric matrix.
    """

    n: Array
    sums: Array
    products: Array


def moments(values: ArrayLike) -> Moments:
    """Sums of complete rows `values` of shape (..., n, K)."""
    rows = np.asarray(values, dtype=np.float64)
    return Moments(
        n=np.full(rows.shape[:-2], float(rows.shape[-2])),
        item_sums=rows.sum(axis=-2),
        total_square_sum=np.square(rows.sum(axis=-1)).sum(axis=-1),
        value_square_sum=np.square(rows).sum(axis=(-2, -1)),
    )


def cross_products(values: ArrayLike) -> CrossProducts:
    """Sums and cross products of complete rows `values` of shape (..., n, K)."""
    rows = np.asarray(values, dtype=np.float64)
    n = np.full(rows.shape[:-2], float(rows.shape[-2]))
    return CrossProducts(n, rows.sum(axis=-2), rows.swapaxes(-1, -2) @ rows)


def mean_total(sums: Moments) -> Array:
    """Mean of the totals, in criteria met; shape (...), NaN without responses."""
    return ratio(sums.total_sum, sums.n)


def sd_total(sums: Moments) -> Array:
    """Standard deviation of the totals, divisor n - 1, in criteria met; (...), NaN below two responses."""
    return np.sqrt(ratio(np.maximum(_total_spread(sums), 0.0), sums.n * (sums.n - 1)))


def kr20(sums: Moments, *, variance: Literal["mixed", "n"] = "mixed") -> Array:
    """Kuder-Richardson formula 20 of 0/1 values: K/(K-1) (1 - sum p(1-p) / s2), shape (...).

    `mixed` divides the item variances by n and the total variance by n - 1, as published by Zhu (2026). `n`
    divides both by n and equals Cronbach's alpha (Kuder and Richardson 1937, eq. 20). The two differ by
    (K/(K-1) - mixed) / (n-1).
    """
    items = np.sum(sums.item_sums * (sums.n[..., None] - sums.item_sums), axis=-1)
    return _consistency(sums, items, variance)


def kr21(sums: Moments, *, variance: Literal["mixed", "n"] = "mixed") -> Array:
    """Kuder-Richardson formula 21 (1937): `kr20` with every criterion at the mean rate, hence never above it.

    Shape (...); divisors as in `kr20`.
    """
    items = sums.total_sum * (sums.n - sums.total_sum / sums.n_criteria)
    return _consistency(sums, items, variance)


def cronbach_alpha(cross: CrossProducts) -> Array:
    """Coefficient alpha, K/(K-1) (1 - sum of item variances / variance of the total), shape (...).

    The divisor cancels. Cronbach (1951), Psychometrika 16, eq. 2. On 0/1 values this is `kr20` with
    `variance="n"`.
    """
    spread = _covariation(cross)
    total = spread.sum(axis=(-2, -1))
    return _alpha(np.trace(spread, axis1=-2, axis2=-1), total, spread.shape[-1])


def varying_pairs(cross: CrossProducts) -> NDArray[np.bool_]:
    """Pairs j < k of criteria that both vary, (..., K, K): taken at the full sample, kept in resamples."""
    varies = np.diagonal(_covariation(cross), axis1=-2, axis2=-1) > 0
    return np.triu(varies[..., :, None] & varies[..., None, :], k=1)


def mean_intercriterion_correlation(cross: CrossProducts, pairs: NDArray[np.bool_]) -> Array:
    """Mean Pearson correlation between criteria over the frozen `pairs`, shape (...).

    `pairs` comes from `varying_pairs` at the full sample. NaN without pairs, or where a resample leaves one
    of them without variation: a mean over other pairs would be another quantity. Zhu (2026), section 3.
    """
    spread = _covariation(cross)
    scale = np.sqrt(np.maximum(np.diagonal(spread, axis1=-2, axis2=-1), 0.0))
    correlation = ratio(spread, scale[..., :, None] * scale[..., None, :])
    return ratio(np.where(pairs, correlation, 0.0).sum(axis=(-2, -1)), pairs.sum(axis=(-2, -1)))


def item_total_correlation(cross: CrossProducts) -> Array:
    """Correlation of each criterion with the total of the others (corrected item-total correlation), (..., K).

    NaN for a criterion that does not vary, or whose others' total does not. Henrysson (1963), Psychometrika 28.
    """
    spread = _covariation(cross)
    own = np.diagonal(spread, axis1=-2, axis2=-1)
    with_total = spread.sum(axis=-1)
    rest = spread.sum(axis=(-2, -1))[..., None] - 2 * with_total + own
    scale = np.sqrt(np.maximum(own, 0.0)) * np.sqrt(np.maximum(rest, 0.0))
    return np.clip(ratio(with_total - own, scale), -1.0, 1.0)


def standardized_alpha(mean_correlation: Array, n_criteria: int) -> Array:
    """Alpha of standardised criteria, K r / (1 + (K-1) r), from their mean correlation r; shape of r.

    Spearman (1910) and Brown (1910).
    """
    return ratio(n_criteria * mean_correlation, 1 + (n_criteria - 1) * mean_correlation)


def _consistency(sums: Moments, items: Array, variance: Literal["mixed", "n"]) -> Array:
    """K/(K-1) (1 - items / spread of totals), where `items` is n squared times the sum of item variances."""
    spread = _total_spread(sums)
    total = spread if variance == "n" else spread * ratio(sums.n, sums.n - 1)
    return _alpha(items, total, sums.n_criteria)


def _alpha(items: Array, total: Array, n_criteria: int) -> Array:
    """K/(K-1) (1 - items / total); NaN with one criterion or without variation of the total."""
    if n_criteria < 2:
        return np.full(np.shape(total), np.nan)
    return n_criteria / (n_criteria - 1) * (1 - ratio(items, total))


def _total_spread(sums: Moments) -> Array:
    """n squared times the variance of the totals; from exact sums, hence exactly 0 when they are constant."""
    return sums.n * sums.total_square_sum - np.square(sums.total_sum)


def _covariation(cross: CrossProducts) -> Array:
    """n squared times the covariance matrix, from exact sums."""
    products = cross.n[..., None, None] * cross.products
    return products - cross.sums[..., :, None] * cross.sums[..., None, :]
