"""How far a judge's confidence tells its right verdicts from its wrong ones, and how far it is a probability.

Classes are in the order of the confidence; tallies have shape (..., K, 2): wrong (or negative) and right (or positive)
verdicts of each class. Every function keeps the leading axes; NaN stands for 0/0.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array, Measure, ratio

CLIPPED = 0.001
"""Probabilities are moved this far from 0 and 1 before their log odds are taken."""
_MOST_STEPS, _CONVERGED, _STEEPEST = 60, 1e-10, 1e6


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """The verdicts kept at each threshold of confidence, the surest first.

    Attributes:
        coverage: (T,) share of verdicts kept.
        risk: (T,) share of wrong ones among them.
        kept, wrong: (T,) their counts.
    """

    coverage: Array
    risk: Array
    kept: Array
    wrong: Array


def merged(tallies: Array, values: Array) -> tuple[Array, Array]:
    """Classes of equal value as one, in ascending order: (..., K, 2) → (..., T, 2), and their (T,) values."""
    different, at = np.unique(values, return_inverse=True)
    order = np.argsort(at, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(at[order]) > 0])
    summed: Array = np.add.reduceat(tallies[..., order, :], starts, axis=-2)
    return summed, different


def risk_coverage(tallies: Array) -> RiskCoverage:
    """The curve (El-Yaniv and Wiener 2010) from (T, 2) tallies in ascending order of confidence."""
    falling = tallies[::-1]
    kept = falling.sum(axis=-1).cumsum()
    wrong = falling[:, 0].cumsum()
    return RiskCoverage(ratio(kept, kept[-1:]), ratio(wrong, kept), kept, wrong)


def risk_coverage_area(tallies: Array) -> Array:
    """Mean over k of the share of wrong verdicts among the k surest (Geifman, Uziel and El-Yaniv 2019); (..., T, 2) → (...).

    Within verdicts of the same confidence every order is equally likely, and its mean is taken exactly:
    Σ_k (W + w (k - n)/m)/k over k = n + 1 ... n + m is w + (W - w n/m)(H(n + m) - H(n)), H the harmonic numbers. Lower is
    better; a confidence that says nothing has the error rate.
    """
    falling = tallies[..., ::-1, :]
    size, wrong = falling.sum(axis=-1), falling[..., 0]
    after, errors = size.cumsum(axis=-1), wrong.cumsum(axis=-1)
    before, earlier = after - size, errors - wrong
    harmonic = special.digamma(after + 1) - special.digamma(before + 1)
    share = np.where(size > 0, wrong / np.where(size > 0, size, 1.0), 0.0)
    terms = np.where(size > 0, wrong + (earlier - share * before) * harmonic, 0.0)
    return ratio(terms.sum(axis=-1), after[..., -1])


def auroc(tallies: Array) -> Array:
    """Chance that a positive verdict's class lies above a negative one's, ties one half (Hanley and McNeil 1982).

    Args:
        tallies: (..., T, 2) negatives and positives by class, ascending.
    """
    negative, positive = tallies[..., 0], tallies[..., 1]
    below = negative.cumsum(axis=-1) - negative / 2
    return ratio((positive * below).sum(axis=-1), negative.sum(axis=-1) * positive.sum(axis=-1))


def expected_calibration_error(bins: Array) -> Array:
    """Mean distance of confidence and share right over bins, weighed by their verdicts (Naeini et al. 2015).

    Never below 0, and above it by chance alone: it is biased upwards, the more so with few verdicts a bin.

    Args:
        bins: (..., N, 3) verdicts, sum of confidences, right ones.
    """
    return ratio(np.abs(bins[..., 1] - bins[..., 2]).sum(axis=-1), bins[..., 0].sum(axis=-1))


def overconfidence(bins: Array) -> Array:
    """Mean confidence minus the share of right verdicts, from bins as in `expected_calibration_error`."""
    return ratio((bins[..., 1] - bins[..., 2]).sum(axis=-1), bins[..., 0].sum(axis=-1))


def calibration_slope(probabilities: Array) -> Measure:
    """The slope of a logistic regression of the label on the log odds of a probability (Cox 1958), as a measure of tallies.

    1 for a calibrated probability, below 1 where it is too extreme.

    Args:
        probabilities: (T,) of the positive label, clipped to CLIPPED and 1 − CLIPPED.

    Returns:
        A measure (..., T, 2) → (...); NaN where labels or probabilities do not vary, or a threshold separates the labels.
    """
    odds = special.logit(np.clip(probabilities, CLIPPED, 1 - CLIPPED))

    def slope(tallies: Array) -> Array:
        flat = tallies.reshape(-1, len(odds), 2)
        found = np.array([_slope(odds, *one.T) for one in flat])
        return found.reshape(tallies.shape[:-2])

    return slope


def _slope(odds: Array, negative: Array, positive: Array) -> float:
    """Newton's method on two parameters."""
    n, here = negative + positive, negative + positive > 0
    if not negative.sum() or not positive.sum() or np.ptp(odds[here]) == 0 or _separates(negative, positive, odds):
        return float("nan")
    at = np.array([special.logit(positive.sum() / n.sum()), 0.0])
    for _ in range(_MOST_STEPS):
        chance = special.expit(at[0] + at[1] * odds)
        pull, spread = positive - n * chance, n * chance * (1 - chance)
        a, b, c = spread.sum(), spread @ odds, spread @ odds**2
        room = a * c - b * b
        if not room > 0:
            return float("nan")
        up, across = pull.sum(), pull @ odds
        step = np.array([(c * up - b * across) / room, (a * across - b * up) / room])
        at = at + step
        if not np.isfinite(at).all() or abs(at[1]) > _STEEPEST:
            return float("nan")
        if np.abs(step).max() < _CONVERGED:
            return float(at[1])
    return float("nan")


def _separates(negative: Array, positive: Array, odds: Array) -> bool:
    """Whether one threshold has all positives on one side and all negatives on the other."""
    low, high = odds[negative > 0], odds[positive > 0]
    return bool(low.max() <= high.min() or high.max() <= low.min())
