"""Marks with a planted affine distortion, and calibration spelled out work by work."""

import numpy as np
from scipy.optimize import isotonic_regression

from evenhand.stats import marks as of
from evenhand.stats.calibration import Pairs

METRICS = {"mae": of.mae, "rmse": of.rmse, "quadratic_weighted_kappa": of.lin_ccc}


def pairs_of(reference, judge, unit, count=None):
    unit = np.asarray(unit)
    weight = np.ones(len(unit)) if count is None else np.asarray(count, dtype=float)
    n_units = int(unit.max()) + 1
    return Pairs(np.asarray(reference, dtype=float), np.asarray(judge, dtype=float), unit, n_units, weight)


def distorted(rng, n_units, n_items=5, shift=1.0, stretch=0.6):
    """Whole marks from 0 to 10: the judge keeps to the middle, and each unit has an error that all its marks share."""
    unit = np.repeat(np.arange(n_units), n_items)
    n = len(unit)
    reference = np.clip(np.round(5.5 + rng.normal(0, 1.5, n_units)[unit] + rng.normal(0, 1.8, n)), 0, 10)
    own = rng.normal(0, 0.5, n_units)[unit]
    judge = np.clip(np.round(shift + stretch * reference + own + rng.normal(0, 0.9, n)), 0, 10)
    return pairs_of(reference, judge, unit)


def fitted_by_hand(x, y, marks, method):
    """Marks mapped by a fit of y on x, as a textbook has it."""
    if method == "linear":
        return y.mean() + y.std() / x.std() * (marks - x.mean())
    if method == "least_squares":
        slope, intercept = np.polyfit(x, y, 1)
        return intercept + slope * marks
    levels = np.unique(x)
    means = np.array([y[x == one].mean() for one in levels])
    steps = isotonic_regression(means, weights=np.array([(x == one).sum() for one in levels])).x
    below = np.clip(np.searchsorted(levels, marks, side="right") - 1, 0, None)
    above = np.clip(np.searchsorted(levels, marks), None, len(levels) - 1)
    return (steps[below] + steps[above]) / 2


def brute_sums(pairs, method, weights, marking):
    """Sums of calibrated marks of one replicate, its units written out as often as they stand in it."""
    references, marks = [], []
    for unit in np.flatnonzero(weights):
        others = [v for v in np.flatnonzero(weights) if v != unit]
        rows = np.concatenate([np.repeat(np.flatnonzero(pairs.unit == v), int(weights[v])) for v in others])
        own = np.flatnonzero(pairs.unit == unit)
        mapped = marking.of(fitted_by_hand(pairs.judge[rows], pairs.reference[rows], pairs.judge[own], method))
        references.append(np.tile(pairs.reference[own], int(weights[unit])))
        marks.append(np.tile(mapped, int(weights[unit])))
    reference, judge = np.concatenate(references), np.concatenate(marks)
    return of.mark_sums(reference, judge, np.zeros(len(judge), dtype=np.int64), 1)[0]


def in_tails(rng, n_units, n_items=5):
    """The same from two tails of attainment, half of the units in each: the pairs and the (U,) tail."""
    tail = np.arange(n_units) % 2
    unit = np.repeat(np.arange(n_units), n_items)
    n = len(unit)
    own = (3.0 + 5.0 * tail + rng.normal(0, 0.8, n_units))[unit]
    reference = np.clip(np.round(own + rng.normal(0, 1.2, n)), 0, 10)
    judge = np.clip(np.round(1.0 + 0.6 * reference + rng.normal(0, 0.5, n_units)[unit] + rng.normal(0, 0.9, n)), 0, 10)
    return pairs_of(reference, judge, unit), tail
