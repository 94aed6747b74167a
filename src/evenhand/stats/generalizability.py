"""Generalizability theory of a complete table, responses by criteria: about the bank, not the judge.

Functions of the sums in `Moments`, broadcasting over their leading axes. Undefined is NaN: fewer than two
responses or fewer than two criteria.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.internal_consistency import Moments, mean_total


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of a single value, in squared units of the value; each of shape (...).

    Attributes:
        response: of the responses' universe scores (persons, p).
        criterion: of the criteria's mean levels (items, i).
        residual: of the interaction with everything unexplained (pi).
    """

    response: Array
    criterion: Array
    residual: Array

    def truncated(self) -> VarianceComponents:
        """The same with negative estimates set to 0, for use in coefficients."""
        return VarianceComponents(
            np.maximum(self.response, 0.0), np.maximum(self.criterion, 0.0), np.maximum(self.residual, 0.0)
        )


def mean_squares(sums: Moments) -> VarianceComponents:
    """Mean squares of the two-way table, in the fields of their components; shape (...) each.

    Degrees of freedom: n - 1, K - 1 and (n-1)(K-1). Brennan (2001), Generalizability Theory, chapter 2.
    """
    n, K = sums.n, sums.n_criteria
    grand = np.square(sums.total_sum)
    by_response = n * sums.total_square_sum - grand
    by_criterion = K * np.square(sums.item_sums).sum(axis=-1) - grand
    residual = n * K * sums.square_sum - grand - by_response - by_criterion
    return VarianceComponents(
        ratio(by_response, n * K * (n - 1)),
        ratio(by_criterion, n * K * (K - 1)),
        ratio(residual, n * K * (n - 1) * (K - 1)),
    )


def variance_components(sums: Moments) -> VarianceComponents:
    """Analysis-of-variance estimates of the p x i design, raw: they may be negative. Shape (...) each.

    Brennan (2001), Generalizability Theory, chapter 2.
    """
    squares = mean_squares(sums)
    return VarianceComponents(
        (squares.response - squares.residual) / sums.n_criteria,
        ratio(squares.criterion - squares.residual, sums.n),
        squares.residual,
    )


def relative_error_variance(components: VarianceComponents, n_criteria: int) -> Array:
    """Error variance of a mean over `n_criteria` used to rank, shape (...). Brennan (2001), chapter 2."""
    return components.residual / n_criteria


def absolute_error_variance(components: VarianceComponents, n_criteria: int) -> Array:
    """Error variance of a mean over `n_criteria` used as a level, shape (...). Brennan (2001), chapter 2."""
    return (components.criterion + components.residual) / n_criteria


def generalizability_coefficient(components: VarianceComponents, n_criteria: int) -> Array:
    """Universe over universe and relative error variance, shape (...). Brennan (2001), chapter 2."""
    error = relative_error_variance(components, n_criteria)
    return ratio(components.response, components.response + error)


def dependability_coefficient(components: VarianceComponents, n_criteria: int) -> Array:
    """Universe over universe and absolute error variance, Phi, shape (...). Brennan (2001), chapter 2."""
    error = absolute_error_variance(components, n_criteria)
    return ratio(components.response, components.response + error)


def phi_lambda(sums: Moments, cut: ArrayLike, *, truncate: bool = True) -> Array:
    """Dependability of decisions at a cut, Phi(lambda); shape (...) followed by the shape of `cut`.

    `cut` is a total (criteria met), lambda = cut / K. The squared distance of the grand mean from lambda is
    corrected for its own error variance, so the result may be negative. Negative components count as 0 unless
    `truncate` is False. NaN where all responses are equal and lie on the cut. Brennan and Kane (1977),
    Journal of Educational Measurement 14; Brennan (2001), Generalizability Theory, chapter 2; Zhu (2026),
    appendix A.3.
    """
    K = sums.n_criteria
    raw = variance_components(sums)
    components = raw.truncated() if truncate else raw
    error = absolute_error_variance(components, K)
    mean_error = ratio(components.response + components.residual / K, sums.n) + components.criterion / K
    cuts = np.asarray(cut, dtype=np.float64)
    distance = np.subtract.outer(mean_total(sums) / K, cuts / K)
    signal = np.square(distance) + _align(components.response - mean_error, cuts.ndim)
    return ratio(signal, signal + _align(error, cuts.ndim))


def _align(values: Array, n_axes: int) -> Array:
    """Append `n_axes` axes of length one."""
    return np.reshape(values, np.shape(values) + (1,) * n_axes)
