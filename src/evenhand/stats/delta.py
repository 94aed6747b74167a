"""Standard errors by linearisation: the gradient of a statistic with respect to its cells."""

import math

import numpy as np

from evenhand.stats.arrays import Array, Measure

_STEP = 1e-4


def gradient(measure: Measure, totals: Array) -> Array | None:
    """Derivative with respect to each cell that holds something; 0 in empty cells, None where undefined.

    Central differences at a relative step: the statistics are smooth ratios, so the error is of order 1e-8.

    Args:
        measure: the statistic.
        totals: (*cells) summed tallies.

    Returns:
        (*cells) gradient.
    """
    flat = totals.ravel()
    active = np.flatnonzero(flat > 0)
    steps = np.zeros((len(active), len(flat)))
    steps[np.arange(len(active)), active] = flat[active] * _STEP
    above = measure((flat + steps).reshape(-1, *totals.shape))
    below = measure((flat - steps).reshape(-1, *totals.shape))
    slopes = np.zeros(len(flat))
    slopes[active] = (above - below) / (2 * flat[active] * _STEP)
    return slopes.reshape(totals.shape) if np.isfinite(slopes).all() else None


def delta_variance(totals: Array, slopes: Array) -> float:
    """Variance with independent members of the cells: Σ n_c (∂θ/∂n_c)², θ being a function of shares."""
    return float((totals * slopes**2).sum())


def cr1_std_error(tallies: Array, slopes: Array) -> float | None:
    """Linearised cluster standard error with the G/(G-1) factor (CR1); None below two units."""
    n = len(tallies)
    if n < 2:
        return None
    pulls = (tallies * slopes).reshape(n, -1).sum(axis=1)
    return math.sqrt(n / (n - 1) * float(np.square(pulls).sum()))
