"""Intervals from mean squares and their degrees of freedom, for facets that resampling responses says nothing about.

Three phrasings are two degrees of freedom whatever the number of responses: their component is as uncertain as a variance
from three values, and only the mean squares know that. Effects are taken as normal and independent, so that each mean
square times its degrees of freedom over its expectation is a chi-squared.

``generalised`` (Tsui and Weerahandi 1989, JASA 84; Weerahandi 1993, JASA 88) draws the expectations' fiducial
distribution and evaluates any function of them; ``modified_large_sample`` (Graybill and Wang 1980, JASA 75; Ting, Burdick,
Graybill, Jeyaratnam and Lu 1990, J. Statistical Computation and Simulation 35) is a formula for linear combinations.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evenhand.stats.anova import Anova, from_mean_squares
from evenhand.stats.arrays import Array

N_DRAWS = 40_000
"""Draws behind a generalised interval: its ends move by some 1 % of its width from seed to seed."""


def generalised_draws(mean_squares: ArrayLike, df: ArrayLike, *, seed: int, n_draws: int = N_DRAWS) -> Array:
    """Draws of the expected mean squares, given the observed ones.

    Args:
        mean_squares: (T,).
        df: (T,) degrees of freedom, positive, whole or not.
        seed: of the draws; the same for every function of them.
        n_draws: N.

    Returns:
        (N, T) mean square times df over a chi-squared of df.
    """
    freedom = np.asarray(df, dtype=np.float64)
    chi_squared = 2 * np.random.default_rng(seed).standard_gamma(freedom / 2, (n_draws, len(freedom)))
    draws: Array = np.asarray(mean_squares, dtype=np.float64) * freedom / np.maximum(chi_squared, 1e-300)
    return draws


def effective_df(mean_squares: Array, variances: Array, nominal: Array) -> Array:
    """(T,) degrees of freedom that give the mean squares these estimated variances (Satterthwaite 1946), at most the nominal.

    For mean squares that responses carry: responses of one cluster are alike and verdicts are not normal, so a mean square
    varies more than its nominal degrees of freedom say.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        estimated = 2 * np.square(mean_squares) / variances
    return np.where(np.isfinite(estimated), np.clip(estimated, 1.0, nominal), nominal)


def generalised(draws: Array, function: Callable[[Array], Array], level: float) -> tuple[float, float]:
    """Generalised limits of a function of expected mean squares, (N, T) → (N,); NaN where it is never defined."""
    values = function(draws)
    defined = values[np.isfinite(values)]
    if not len(defined):
        return np.nan, np.nan
    low, high = np.quantile(defined, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)


def modified_large_sample(
    mean_squares: ArrayLike, df: ArrayLike, coefficients: ArrayLike, level: float
) -> tuple[float, float]:
    """Modified large-sample limits of a linear combination of expected mean squares.

    Exact for one mean square and right as any one of the df grows. With terms of one sign it is Graybill and Wang's; with
    both it is that of Ting and others, their cross terms between one positive and one negative term included.

    Args:
        mean_squares: (T,), not negative.
        df: (T,) degrees of freedom.
        coefficients: (T,), of either sign.
        level: confidence level.
    """
    squares, freedom = np.asarray(mean_squares, dtype=np.float64), np.asarray(df, dtype=np.float64)
    weights = np.asarray(coefficients, dtype=np.float64)
    alpha = 0.5 - level / 2
    low = _lower_half(squares, freedom, weights, alpha)
    high = _lower_half(squares, freedom, -weights, alpha)
    value = float(weights @ squares)
    return value - low, value + high


def _lower_half(squares: Array, df: Array, weights: Array, alpha: float) -> float:
    """Distance from the estimate to its lower limit; to the upper one with every sign turned."""
    plus, minus = weights > 0, weights < 0
    up, down = weights[plus] * squares[plus], -weights[minus] * squares[minus]
    f_up, f_down = _upper_f(alpha, df[plus]), _upper_f(1 - alpha, df[minus])
    g, h = 1 - 1 / f_up, 1 / f_down - 1
    spread = float(np.square(g * up).sum() + np.square(h * down).sum())
    if plus.any() and minus.any():
        ratio = _quantile_f(1 - alpha, df[plus][:, None], df[minus][None, :])
        cross = (np.square(ratio - 1) - np.square(g)[:, None] * np.square(ratio) - np.square(h)[None, :]) / ratio
        spread += float(np.sum(cross * up[:, None] * down[None, :]))
        spread += _among_positive(up, df[plus], g, alpha)
    return float(np.sqrt(max(spread, 0.0)))


def _among_positive(parts: Array, df: Array, g: Array, alpha: float) -> float:
    """Cross terms of two positive terms, where there are negative ones beside them."""
    one, other = np.triu_indices(len(parts), k=1)
    if not len(one):
        return 0.0
    m, n = df[one], df[other]
    together = np.square((1 - 1 / _upper_f(alpha, m + n)) * (m + n)) / (m * n)
    cross = (together - np.square(g[one]) * m / n - np.square(g[other]) * n / m) / (len(parts) - 1)
    return float(np.sum(cross * parts[one] * parts[other]))


def _upper_f(alpha: float, df: Array) -> Array:
    """Upper alpha point of F with df and infinitely many degrees of freedom: a chi-squared over its df."""
    found: Array = special.chdtri(df, alpha) / df
    return found


def _quantile_f(probability: float, df1: Array, df2: Array) -> Array:
    found: Array = special.fdtri(df1, df2, probability)
    return found


def component_limits(
    study: Anova, level: float, *, seed: int = 0, method: Literal["generalised", "mls"] = "generalised"
) -> Array:
    """(T, 2) limits of every component of a balanced layout; NaN of an unbalanced one, whose mean squares are dependent.

    Args:
        study: from ``stats.anova.analyse``.
        level: confidence level.
        seed: of the generalised draws.
        method: generalised, or mls for modified large-sample limits.
    """
    n_terms = len(study.design.terms)
    if not study.is_balanced or not np.isfinite(study.mean_squares).all():
        return np.full((n_terms, 2), np.nan)
    weights = from_mean_squares(study.design, study.n_cells)
    if method == "mls":
        ends = [modified_large_sample(study.mean_squares, study.df, row, level) for row in weights]
    else:
        drawn = generalised_draws(study.mean_squares, study.df, seed=seed)
        ends = [generalised(drawn, partial(np.dot, b=row), level) for row in weights]
    return np.array(ends)
