"""Consistency of pass or fail from one administration: Hanson and Brennan, Huynh, Subkoviak.

Named alternatives to Livingston and Lewis. All are functions of the histogram of totals and of a reliability; they
describe the bank and its checklist. Broadcasts over leading axes; undefined is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.strong_true_score import BetaBinomial, livingston_lewis
from evenhand.stats.true_scores import TrueScores, fit_true_scores, reaching, sums_of_histogram


@dataclass(frozen=True, slots=True)
class Consistency:
    """Agreement of two administrations at a cut; arrays of shape (...) followed by the shape of the cut.

    Attributes:
        consistency: probability that both pass or both fail a response.
        pass_rate: probability of passing.
    """

    consistency: Array
    pass_rate: Array

    @property
    def kappa(self) -> Array:
        """Consistency corrected for chance; NaN where everyone passes or everyone fails."""
        chance = np.square(self.pass_rate) + np.square(1 - self.pass_rate)
        return np.where(chance < 1 - 1e-12, ratio(self.consistency - chance, 1 - chance), np.nan)


def lords_k(histogram: ArrayLike, reliability: ArrayLike) -> Array:
    """Lord's k: the compound binomial whose errors have the variance this reliability leaves; (...).

    Variances with divisor n - 1. Lord (1965), Psychometrika 30; Hanson and Brennan (1990), Journal of Educational
    Measurement 27.
    """
    counts = np.asarray(histogram, dtype=np.float64)
    sums, K = sums_of_histogram(counts), counts.shape[-1] - 1
    mean, variance = K * sums.mean, K**2 * sums.variance
    true = variance * np.asarray(reliability, dtype=np.float64)
    within = mean * (K - mean)
    return ratio(K * ((K - 1) * true - K * variance + within), 2 * (within - true))


def fit_hanson_brennan(histogram: ArrayLike, reliability: ArrayLike, *, n_parameters: int = 4) -> TrueScores:
    """Beta true scores under a compound binomial, from (..., K+1) numbers of responses with each total.

    Four parameters by moments fall back to two where they are impossible. NaN where totals do not vary or K < 2.
    Hanson and Brennan (1990), Journal of Educational Measurement 27.
    """
    counts = np.asarray(histogram, dtype=np.float64)
    sums, K = sums_of_histogram(counts), counts.shape[-1] - 1
    k = lords_k(counts, reliability)
    with np.errstate(invalid="ignore"):
        length = np.where((sums.variance > 0) & np.isfinite(k) & (K > 1), float(K), np.nan)
    return fit_true_scores(sums.moments, length, lords_k=np.where(np.isfinite(k), k, 0.0), n_parameters=n_parameters)


def fit_huynh(histogram: ArrayLike) -> BetaBinomial:
    """Beta-binomial whose reliability is KR-21 with s2 over n - 1, from (..., K+1) numbers of responses.

    alpha = mean (1/KR-21 - 1), beta = K (1/KR-21 - 1) - alpha. A KR-21 at or below 0 is the binomial limit, one at or
    above 1 the limit of totals 0 and K. NaN where totals do not vary or K < 2. Huynh (1976), Journal of Educational
    Measurement 13.
    """
    counts = np.asarray(histogram, dtype=np.float64)
    sums, K = sums_of_histogram(counts), counts.shape[-1] - 1
    mean, variance = K * sums.mean, K**2 * sums.variance
    kr21 = K / (K - 1) * (1 - ratio(mean * (K - mean), K * variance)) if K > 1 else np.full_like(mean, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(kr21 > 0, np.maximum(1 / kr21 - 1, 0.0), np.where(kr21 <= 0, np.inf, np.nan))
        alpha, beta = (np.where(np.isinf(size), np.inf, size * part) for part in (mean, K - mean))
    mean = np.where(np.isnan(size), np.nan, mean)
    return BetaBinomial(K, alpha, beta, mean, np.isinf(size) | (size == 0))


def huynh(histogram: ArrayLike, cut: ArrayLike) -> Consistency:
    """Raw agreement p and kappa of two administrations at `cut`, a total. Huynh (1976), as in `fit_huynh`."""
    found = livingston_lewis(fit_huynh(histogram), cut)
    return Consistency(found.consistency, found.pass_rate)


def subkoviak(histogram: ArrayLike, reliability: ArrayLike, cut: ArrayLike) -> Consistency:
    """Mean over responses of the chance that two binomial totals at their regressed true score agree.

    A response with total x has the true proportion R x/K + (1 - R) mean/K (Kelley); pass: total >= cut. A reliability
    below 0 counts as 0, one above 1 as 1. Chance agreement from the mean pass rate. NaN for an empty histogram or a
    reliability that is NaN. Subkoviak (1976), Journal of Educational Measurement 13.
    """
    counts = np.asarray(histogram, dtype=np.float64)
    cuts, K = np.asarray(cut, dtype=np.float64), counts.shape[-1] - 1
    R = np.clip(np.asarray(reliability, dtype=np.float64), 0.0, 1.0)[..., None]
    share = R * np.arange(K + 1) / K + (1 - R) * sums_of_histogram(counts).mean[..., None]
    n = counts.sum(axis=-1)
    passing = [reaching(share, np.asarray(float(K)), np.ceil(one - 1e-9)) for one in cuts.ravel()]
    rates = [ratio(np.sum(counts * one, axis=-1), n) for one in passing]
    agreed = [ratio(np.sum(counts * (one**2 + (1 - one) ** 2), axis=-1), n) for one in passing]
    shape = (*n.shape, *cuts.shape)
    return Consistency(*(np.reshape(np.stack(part, axis=-1), shape) for part in (agreed, rates)))
