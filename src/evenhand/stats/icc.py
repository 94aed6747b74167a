"""Raters' marks: intraclass correlations (McGraw and Wong 1996, Psychological Methods 1), interval alpha, severity.

"1": raters differ from unit to unit, one-way. "C": consistency, a rater's level does not count as error. "A": absolute
agreement, it does. ",1" is one rater's mark, ",k" the mean of k. Values are kept raw: they may be negative.

Complete marks go through `complete_sums` (exact for whole-number marks), marks with holes through `sums_with_holes` and
Henderson's method I, which gives the same numbers when nothing is missing. NaN for 0/0.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group
from evenhand.stats.generalizability import mean_squares
from evenhand.stats.internal_consistency import Moments

Form = Literal["1,1", "C,1", "A,1", "1,k", "C,k", "A,k"]
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """Mean squares of n units by k raters, each of shape (...).

    Attributes:
        unit: between units, n - 1 degrees of freedom.
        rater: between raters, k - 1.
        residual: of the interaction with everything unexplained, (n - 1)(k - 1).
        within: within units, n(k - 1): rater and residual pooled.
    """

    unit: Array
    rater: Array
    residual: Array
    within: Array


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components in squared marks, raw, each of shape (...); `one_way` is (unit, error) without a rater term."""

    unit: Array
    rater: Array
    residual: Array
    one_way: tuple[Array, Array]


def complete_sums(values: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of complete marks.

    Args:
        values: (n, k) marks of n rated units by k raters.
        group: (n,) unit of resampling of each.
        n_groups: U.
        repeats: (n,) how often each row occurs, 1 by default.

    Returns:
        (U, k + 3): units, sum of squared row totals, sum of squares, sum of each rater.
    """
    columns = [np.ones(len(values)), np.square(values.sum(axis=1)), np.square(values).sum(axis=1), *values.T]
    return sums_by_group(columns, group, n_groups, repeats)


def sums_with_holes(values: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of marks with holes; arguments as in `complete_sums`, NaN where missing.

    Returns:
        (U, 4 + 2k): rated units, Σ m², Σ X²/m (m marks of a unit, X their sum), Σ x², marks of each rater, sum of each.
    """
    rated = np.isfinite(values)
    filled = np.where(rated, values, 0.0)
    size, total = rated.sum(axis=1), filled.sum(axis=1)
    columns = [size > 0, np.square(size), np.square(total) / np.maximum(size, 1), np.square(filled).sum(axis=1)]
    return sums_by_group([*columns, *rated.T, *filled.T], group, n_groups, repeats)


def icc_mean_squares(sums: Array) -> MeanSquares:
    """Mean squares from (..., k + 3) `complete_sums`; below 1e-12 of the mean squared marks they are rounding, hence 0."""
    n = sums[..., 0]
    found = mean_squares(Moments(n, sums[..., 3:], sums[..., 1], sums[..., 2]))
    negligible = _NEGLIGIBLE * ratio(sums[..., 2], n)
    unit, rater, residual = (
        np.where(np.abs(square) <= negligible, 0.0, square)
        for square in (found.response, found.criterion, found.residual)
    )
    return MeanSquares(unit, rater, residual, ratio(rater + (n - 1) * residual, n))


def icc_components(sums: Array) -> Components:
    """Variance components from (..., k + 3) `complete_sums`."""
    squares, n, k = icc_mean_squares(sums), sums[..., 0], sums.shape[-1] - 3
    return Components(
        (squares.unit - squares.residual) / k,
        ratio(squares.rater - squares.residual, n),
        squares.residual,
        ((squares.unit - squares.within) / k, squares.within),
    )


def icc_components_with_holes(sums: Array) -> Components:
    """Variance components from (..., 4 + 2k) `sums_with_holes`: Henderson's method I (1953, Biometrics 9).

    The uncorrected sums of squares of units, raters, marks and mean are set equal to their expectations. A rater
    without marks counts for nothing. Components below 1e-12 of the mean square mark are rounding and set to 0.
    """
    k = (sums.shape[-1] - 4) // 2
    n_units, size_squares, unit_squares, squares = (sums[..., column] for column in range(4))
    marks, totals = sums[..., 4 : 4 + k], sums[..., 4 + k :]
    n = marks.sum(axis=-1)
    n_raters = (marks > 0).sum(axis=-1).astype(np.float64)
    mean_square = ratio(np.square(totals.sum(axis=-1)), n)
    rater_squares = np.where(marks > 0, np.square(totals) / np.where(marks > 0, marks, 1), 0.0).sum(axis=-1)
    per_unit, per_rater = ratio(size_squares, n), ratio(np.square(marks).sum(axis=-1), n)

    between = unit_squares - mean_square
    expected = [
        [n - per_unit, n_units - per_rater, n_units - 1],
        [n_raters - per_unit, n - per_rater, n_raters - 1],
        [n - per_unit, n - per_rater, n - 1],
    ]
    found = [between, rater_squares - mean_square, squares - mean_square]
    within = ratio(squares - unit_squares, n - n_units)
    one_way = ratio(between - (n_units - 1) * within, n - per_unit)
    negligible = _NEGLIGIBLE * ratio(squares, n)
    unit, rater, residual, one_way, within = (
        np.where(np.abs(value) <= negligible, 0.0, value) for value in (*_solve(expected, found), one_way, within)
    )
    return Components(unit, rater, residual, (one_way, within))


def _solve(matrix: list[list[Array]], right: list[Array]) -> tuple[Array, Array, Array]:
    """Three linear equations at once for every leading index; NaN where they have no single solution."""
    a = np.stack([np.stack(row, axis=-1) for row in matrix], axis=-2)
    b = np.stack(right, axis=-1)
    solvable = np.asarray(np.isfinite(a).all(axis=(-2, -1)))
    a = np.where(solvable[..., None, None], a, 0.0)
    solvable = solvable & (np.abs(np.linalg.det(a)) > _NEGLIGIBLE * np.abs(a).max(axis=(-2, -1)) ** 3)
    solution = np.linalg.solve(np.where(solvable[..., None, None], a, np.eye(3)), b[..., None])[..., 0]
    unit, rater, residual = (np.where(solvable, solution[..., i], np.nan) for i in range(3))
    return unit, rater, residual


def icc(components: Components, form: Form = "A,1", n_raters: int = 1) -> Array:
    """Intraclass correlation from variance components, shape (...).

    Args:
        components: of `icc_components` or `icc_components_with_holes`.
        form: McGraw and Wong's; Shrout and Fleiss (1979) call them ICC(1,1), (3,1), (2,1), (1,k), (3,k), (2,k).
        n_raters: k of the ",k" forms.
    """
    kind, averaged = form[0], form.endswith("k")
    unit, error = components.one_way if kind == "1" else (components.unit, components.residual)
    if kind == "A":
        error = error + components.rater
    return ratio(unit, unit + error / (n_raters if averaged else 1))


def _f(df1: Array, df2: Array, level: float) -> Array:
    return np.asarray(special.fdtri(df1, df2, 0.5 + level / 2))


def _ratio_interval(f: Array, df1: Array, df2: Array, k: int, level: float) -> tuple[Array, Array]:
    """(F - 1)/(F + k - 1) at the ends of the interval for a ratio of mean squares."""
    low, high = f / _f(df1, df2, level), f * _f(df2, df1, level)
    return ratio(low - 1, low + k - 1), ratio(high - 1, high + k - 1)


def _agreement_interval(squares: MeanSquares, n: Array, k: int, level: float) -> tuple[Array, Array]:
    """McGraw and Wong (1996), table 7, ICC(A,1): Satterthwaite degrees of freedom at the estimate."""
    error = ratio((squares.rater - squares.residual) * k, n) + k * squares.residual
    estimate = ratio(squares.unit - squares.residual, squares.unit - squares.residual + error)
    a = ratio(k * estimate, n * (1 - estimate))
    b = 1 + a * (n - 1)
    by_rater, by_residual = a * squares.rater, b * squares.residual
    df = ratio(
        np.square(by_rater + by_residual),
        np.square(by_rater) / (k - 1) + ratio(np.square(by_residual), (n - 1) * (k - 1)),
    )
    both = k * squares.rater + (k * n - k - n) * squares.residual
    f_low, f_high = _f(n - 1, df, level), _f(df, n - 1, level)
    return (
        ratio(n * (squares.unit - f_low * squares.residual), f_low * both + n * squares.unit),
        ratio(n * (f_high * squares.unit - squares.residual), both + n * f_high * squares.unit),
    )


def icc_interval(sums: Array, form: Form, level: float = 0.95) -> tuple[Array, Array]:
    """F-based limits for normal marks and independent units (McGraw and Wong 1996, table 7), (...) each.

    Those of the ",k" forms are the Spearman-Brown transforms of the ",1" limits. For "1,k" and "C,k" that is the table's
    own formula; for "A,k" the table has other degrees of freedom and wider limits (R's irr uses them, psych and
    pingouin the transform), but then the interval of a mean would not say the same as that of a single mark. A limit of a
    single mark at -1/(k - 1) or below has no transform: NaN.

    Args:
        sums: (..., k + 3) `complete_sums`, k ≥ 2.
        form: as in `icc`.
        level: confidence level.
    """
    squares, n, k = icc_mean_squares(sums), sums[..., 0], sums.shape[-1] - 3
    if form[0] == "1":
        ends = _ratio_interval(ratio(squares.unit, squares.within), n - 1, n * (k - 1), k, level)
    elif form[0] == "C":
        ends = _ratio_interval(ratio(squares.unit, squares.residual), n - 1, (n - 1) * (k - 1), k, level)
    else:
        ends = _agreement_interval(squares, n, k, level)
    if not form.endswith("k"):
        return ends
    low, high = (np.where(1 + (k - 1) * end > 0, ratio(k * end, 1 + (k - 1) * end), np.nan) for end in ends)
    return low, high


def interval_sums(
    size: Array, total: Array, square_total: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0
) -> Array:
    """Tallies of interval alpha for marks on any number of levels.

    Args:
        size, total, square_total: (n,) ratings of each rated unit, their sum and the sum of their squares.
        group: (n,) unit of resampling of each.
        n_groups: U.
        repeats: (n,) how often each occurs, 1 by default.

    Returns:
        (U, 4): over units with two ratings or more, ratings, sum, sum of squares, and sum of (m Σx² - (Σx)²)/(m - 1).
    """
    paired = size > 1
    within = (size * square_total - np.square(total)) / np.maximum(size - 1, 1)
    columns = [np.where(paired, column, 0.0) for column in (size, total, square_total, within)]
    return sums_by_group(columns, group, n_groups, repeats)


def krippendorff_alpha_interval(sums: Array) -> Array:
    """Krippendorff's alpha with the interval metric from (..., 4) `interval_sums`."""
    n, total, squares, within = (sums[..., column] for column in range(4))
    spread = n * squares - np.square(total)
    return 1 - ratio((n - 1) * within, np.where(spread > _NEGLIGIBLE * n * squares, spread, 0.0))


def severity_sums(values: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of the raters' severity from (n, R) values, NaN where missing, (n,) repeats of each row: (U, R, 2).

    Sum of a rater's deviations from the mean of the unit's ratings, and their number, over units with two or more.
    """
    rated = np.isfinite(values)
    size = rated.sum(axis=1, keepdims=True)
    kept = rated & (size > 1)
    filled = np.where(rated, values, 0.0)
    deviation = np.where(kept, filled - filled.sum(axis=1, keepdims=True) / np.maximum(size, 1), 0.0)
    columns = np.stack([deviation, kept], axis=-1).reshape(len(values), -1)
    return sums_by_group(list(columns.T), group, n_groups, repeats).reshape(n_groups, -1, 2)


def rater_severity(sums: Array) -> Array:
    """Mean deviation of each rater from the mean of the unit's ratings, (..., R, 2) → (..., R), in units of the mark.

    Above 0 the rater is lenient, below 0 severe; with complete ratings they sum to 0 over raters.
    """
    return ratio(sums[..., 0], sums[..., 1])
