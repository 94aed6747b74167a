"""The procedure of Livingston and Lewis as published: any scores and their reliability, through an effective length.

About the bank and its scores, not about the judge. Undefined is NaN: scores that do not vary, or an effective length
that rounds below two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.true_scores import ScoreSums, TrueScores, fit_true_scores

LEAST_LENGTH = 2
"""Effective length, rounded, below which no variance of true scores can be had."""


def effective_length(sums: ScoreSums, reliability: ArrayLike) -> Array:
    """Number of equally hard independent items that would give scores of this reliability, unrounded; (...).

    ((m - lo)(hi - m) - R s2) / (s2 (1 - R)), s2 with divisor n - 1, in shares of the scale. NaN where scores do not
    vary or the reliability is not between 0 and 1. Livingston and Lewis (1995), Journal of Educational Measurement
    32, eq. 5.
    """
    R, variance = np.asarray(reliability, dtype=np.float64), sums.variance
    length = ratio(sums.mean * (1 - sums.mean) - R * variance, variance * (1 - R))
    return np.where((R > 0) & (R < 1), length, np.nan)


def fit_livingston_lewis(
    sums: ScoreSums, reliability: ArrayLike, *, n_parameters: int = 4, length: float | None = None
) -> TrueScores:
    """True scores behind scores of a given reliability; shape (...), everything NaN where undefined.

    The moments are those at the unrounded effective length, the binomial has the rounded one. Four parameters fall
    back to two where they are impossible. Livingston and Lewis (1995), Journal of Educational Measurement 32.

    Args:
        sums: of the scores.
        reliability: (...) of the scores.
        n_parameters: 4 or 2.
        length: of the binomial, where it is kept from a whole sample: in resamples its rounding would make decisions
            jump by a step of the cut.
    """
    exact = effective_length(sums, reliability)
    trials = np.round(exact) if length is None else np.where(exact >= LEAST_LENGTH - 0.5, length, np.nan)
    with np.errstate(invalid="ignore"):
        trials = np.where(trials >= LEAST_LENGTH, trials, np.nan)
    return fit_true_scores(
        sums.moments, trials, n_parameters=n_parameters, exact_length=np.where(np.isnan(trials), np.nan, exact)
    )
