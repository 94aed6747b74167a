"""A judge's marks m against reference marks t: level, spread and ranking, each by itself and together.

Moments (..., 7) carry what needs no levels; tables of levels (..., L, L), rows the reference's, carry ranks and rounded
agreement (`weighted_agreement` has the quadratic kappa, exact and adjacent agreement of such a table). Marks enter as
whole numbers where they can (tenths as 10 times the mark): their sums are then exact. NaN for 0/0.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, Counts, binned, ratio
from evenhand.stats.ensembles import sums_by_group

SmdMethod = Literal["unpooled", "pooled", "williamson"]
_NEGLIGIBLE = 1e-13
"""A spread below this share of the sum of squares is rounding: the marks are constant."""


def mark_sums(reference: Array, judge: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of paired marks.

    Args:
        reference, judge: (n,) marks on one scale.
        group: (n,) unit of resampling of each pair.
        n_groups: U.
        repeats: (n,) how often each pair occurs, 1 by default.

    Returns:
        (U, 7): pairs, Σt, Σm, Σt², Σm², Σtm, Σ|m - t|.
    """
    t, m = np.asarray(reference, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    columns = [np.ones(len(t)), t, m, t * t, m * m, t * m, np.abs(m - t)]
    return sums_by_group(columns, group, n_groups, repeats)


def _moments(sums: Array) -> tuple[Array, ...]:
    """n, and n times the mean difference m - t, the square sums and the cross product about the means, times n."""
    n, t, m, tt, mm, tm, _ = (sums[..., column] for column in range(7))
    spread_t, spread_m = n * tt - t * t, n * mm - m * m
    spread_t = np.where(spread_t > _NEGLIGIBLE * n * tt, spread_t, 0.0)
    spread_m = np.where(spread_m > _NEGLIGIBLE * n * mm, spread_m, 0.0)
    return n, m - t, spread_t, spread_m, n * tm - t * m


def bias(sums: Array) -> Array:
    """Mean of m - t, in marks; above 0 the judge is generous."""
    return ratio(_moments(sums)[1], sums[..., 0])


def mae(sums: Array) -> Array:
    """Mean of |m - t|, in marks."""
    return ratio(sums[..., 6], sums[..., 0])


def _square_error(sums: Array) -> Array:
    """Σ(m - t)²; exactly 0 where every pair is equal."""
    error = sums[..., 3] - 2 * sums[..., 5] + sums[..., 4]
    return np.where(sums[..., 6] == 0, 0.0, np.maximum(error, 0.0))


def rmse(sums: Array) -> Array:
    """Root of the mean squared m - t, in marks."""
    return np.sqrt(ratio(_square_error(sums), sums[..., 0]))


def lin_ccc(sums: Array) -> Array:
    """Lin's concordance correlation (1989, Biometrics 45) with 1/n moments.

    The quadratic-weighted kappa of unrounded marks is this very number. NaN where all marks of both are one value.
    """
    n, difference, spread_t, spread_m, _ = _moments(sums)
    return 1 - ratio(n * _square_error(sums), spread_t + spread_m + np.square(difference))


def pearson_r(sums: Array) -> Array:
    """Pearson's correlation; NaN where either side is constant. Blind to bias and to the size of the marks' spread."""
    _, _, spread_t, spread_m, product = _moments(sums)
    return np.clip(ratio(product, np.sqrt(spread_t) * np.sqrt(spread_m)), -1.0, 1.0)


def spread_ratio(sums: Array) -> Array:
    """sd(m) / sd(t): below 1 the judge keeps to the middle."""
    _, _, spread_t, spread_m, _ = _moments(sums)
    return np.sqrt(ratio(spread_m, spread_t))


def smd(sums: Array, method: SmdMethod = "unpooled", population: Array | None = None) -> Array:
    """Standardised mean difference (m̄ - t̄)/sd, divisor n - 1; Williamson, Xi and Breyer (2012).

    Args:
        sums: (..., 7) `mark_sums` of the group.
        method: sd(t) for "unpooled", √((var t + var m)/2) for "pooled"; "williamson" is pooled over `population`.
        population: (..., 7) of everybody, the group itself by default.
    """
    n, _, spread_t, spread_m, _ = _moments(population if method == "williamson" and population is not None else sums)
    spread = spread_t if method == "unpooled" else (spread_t + spread_m) / 2
    return ratio(bias(sums), np.sqrt(ratio(spread, n * (n - 1))))


def interval_alpha_sums(marks: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of Krippendorff's interval alpha, over the responses marked twice or more.

    Args:
        marks: (n, R) marks, NaN where missing.
        group: (n,) unit of resampling of each response.
        n_groups: U.
        repeats: (n,) how often each row occurs, 1 by default.

    Returns:
        (U, 4): marks, Σx, Σx², and Σ (m Σx² - (Σx)²)/(m - 1) over responses with m marks.
    """
    rated = np.isfinite(marks)
    count, known = rated.sum(axis=1).astype(np.float64), np.where(rated, marks, 0.0)
    total, squares, paired = known.sum(axis=1), np.square(known).sum(axis=1), count > 1
    within = (count * squares - np.square(total)) / np.maximum(count - 1, 1)
    columns = [np.where(paired, column, 0.0) for column in (count, total, squares, within)]
    return sums_by_group(columns, group, n_groups, repeats)


def interval_alpha(sums: Array) -> Array:
    """Krippendorff's alpha with the interval metric (2011) from (..., 4) `interval_alpha_sums`, however many marks differ.

    The same number as `ensembles.krippendorff_alpha` gives on coincidences; NaN where all marks are one value.
    """
    n, total, squares, within = (sums[..., column] for column in range(4))
    spread = n * squares - np.square(total)
    spread = np.where(spread > _NEGLIGIBLE * n * squares, spread, 0.0)
    return 1 - ratio((n - 1) * within, spread)


def round_half_up(marks: Array, low: int, high: int) -> Counts:
    """Positions 0 ... high - low of marks rounded half up and clipped to the declared whole levels low ... high."""
    return np.clip(np.floor(np.asarray(marks, dtype=np.float64) + 0.5), low, high).astype(np.int64) - low


def level_tables(
    reference: Counts, judge: Counts, n_levels: int, group: Counts, n_groups: int, repeats: ArrayLike = 1
) -> Array:
    """(U, L, L) tables of level positions, rows the reference's; (n,) positions, units of resampling and repeats."""
    code = np.multiply(group, n_levels, dtype=np.int64)  # then in place: passes over the rows are what a table costs
    code += reference
    code *= n_levels
    code += judge
    once = np.ndim(repeats) == 0 and repeats == 1
    return binned(code, None if once else np.broadcast_to(repeats, len(code)), (n_groups, n_levels, n_levels))


def _centred_ranks(margin: Array) -> Array:
    """Twice the mid-rank of each level less n + 1: whole numbers with mean 0 over the marks."""
    ranks: Array = 2 * np.cumsum(margin, axis=-1) - margin - margin.sum(axis=-1, keepdims=True)
    return ranks


def spearman_rho(table: Array) -> Array:
    """Spearman's rank correlation with mid-ranks, from (..., L, L); NaN where either side is constant."""
    first, second = table.sum(axis=-1), table.sum(axis=-2)
    x, y = _centred_ranks(first), _centred_ranks(second)
    product = ((x[..., None, :] @ table)[..., 0, :] * y).sum(axis=-1)
    spread_x, spread_y = (first * np.square(x)).sum(axis=-1), (second * np.square(y)).sum(axis=-1)
    return np.clip(ratio(product, np.sqrt(spread_x) * np.sqrt(spread_y)), -1.0, 1.0)


def kendall_tau(table: Array) -> Array:
    """Kendall's tau_b (1945, Biometrika 33), from (..., L, L); NaN where either side is constant."""
    below = np.cumsum(table, axis=-2) - table
    left = np.cumsum(below, axis=-1) - below
    right = below.sum(axis=-1, keepdims=True) - left - below
    surplus = (table * (left - right)).sum(axis=(-2, -1))
    n = table.sum(axis=(-2, -1))
    untied = [np.square(n) - np.square(table.sum(axis=axis)).sum(axis=-1) for axis in (-1, -2)]
    return np.clip(ratio(2 * surplus, np.sqrt(untied[0]) * np.sqrt(untied[1])), -1.0, 1.0)


def prmse_sums(human: Array, system: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of PRMSE: responses with at least one human mark.

    Args:
        human: (n, R) human marks, NaN where missing.
        system: (n,) marks of the judge.
        group: (n,) unit of resampling of each response.
        n_groups: U.
        repeats: (n,) how often each row occurs, 1 by default.

    Returns:
        (U, 7): responses, Σc, Σc², within sum of squares, Σc h, Σc h², Σc (h - m)², with c marks of mean h a response.
    """
    rated = np.isfinite(human)
    count = rated.sum(axis=1).astype(np.float64)
    mean = np.where(rated, human, 0.0).sum(axis=1) / np.maximum(count, 1)
    within = np.square(np.where(rated, human - mean[:, None], 0.0)).sum(axis=1)
    error = np.where(count > 0, count * np.square(mean - system), 0.0)
    columns = [count > 0, count, count**2, within, count * mean, count * mean**2, error]
    return sums_by_group(columns, group, n_groups, repeats)


def human_error_variance(sums: Array) -> Array:
    """Variance of a single human mark about the true score, from responses marked twice or more; (..., 7) → (...)."""
    return ratio(sums[..., 3], sums[..., 1] - sums[..., 0])


def true_score_variance(sums: Array) -> Array:
    """Variance of the true scores, human error taken out; (..., 7) → (...). May be negative."""
    n, count, squares, _, total, total_squares, _ = (sums[..., column] for column in range(7))
    between = total_squares - ratio(np.square(total), count)
    return ratio(between - (n - 1) * human_error_variance(sums), count - ratio(squares, count))


def true_score_mse(sums: Array) -> Array:
    """Mean squared error of the judge's marks as predictions of the true scores; (..., 7) → (...)."""
    return ratio(sums[..., 6] - sums[..., 0] * human_error_variance(sums), sums[..., 1])


def prmse(sums: Array) -> Array:
    """Proportional reduction in mean squared error for the true score (Haberman 2008; Loukina et al. 2020; RSMTool).

    From (..., 7) `prmse_sums`; NaN without a response that two humans marked.
    """
    return 1 - ratio(true_score_mse(sums), true_score_variance(sums))
