"""Repeated verdicts on the same items: how often they differ, and how many a majority needs."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.strong_true_score import fit_beta_binomial


def flip_shares(n: ArrayLike, same: ArrayLike) -> Array:
    """Share of the pairs of repeats that differ, of each item; NaN with fewer than two.

    Args:
        n: (...) repeats of the item.
        same: (...) sum over labels of the squared number of repeats with it.
    """
    repeats, squares = np.asarray(n, dtype=np.float64), np.asarray(same, dtype=np.float64)
    return ratio(np.square(repeats) - squares, repeats * (repeats - 1))


def majority_recovers(alpha: float, beta: float, n_repeats: int) -> float:
    """Probability that the majority of an odd number of repeats is the likelier label, items' rates being Beta(alpha, beta).

    The integral over rates of P(Binomial(m, rate) > m/2) above one half and of its complement below is a finite sum:
    given the label counts, the chance that the rate lies above one half is that of a beta distribution.
    """
    counts = np.arange(n_repeats + 1)
    others = n_repeats - counts
    log_weight = (
        special.gammaln(n_repeats + 1) - special.gammaln(counts + 1) - special.gammaln(others + 1)
        + special.betaln(alpha + counts, beta + others) - special.betaln(alpha, beta)
    )  # fmt: skip
    above = 1 - special.betainc(alpha + counts, beta + others, 0.5)
    right = np.where(2 * counts > n_repeats, above, 1 - above)
    return float((np.exp(log_weight) * right).sum())


def repeats_needed(histogram: ArrayLike, probability: float, most: int) -> int | None:
    """Smallest odd number of repeats whose majority recovers the many-repeat verdict; None beyond ``most``.

    The verdict of many repeats is an item's likelier label. Items' rates are taken as beta-distributed, fitted to the
    numbers of positive repeats by maximum likelihood: a plain share of three repeats would call every unanimous item
    certain.

    Args:
        histogram: (n + 1,) items with 0 ... n positive repeats of n.
        probability: to be reached, on average over items.
        most: repeats tried.
    """
    counts = np.asarray(histogram, dtype=np.float64)
    fit = fit_beta_binomial(counts)
    alpha, beta = float(fit.alpha), float(fit.beta)
    if not counts.sum():
        return None
    if bool(fit.boundary):
        if alpha == 0:
            return 1
        return _at_one_rate(float(fit.mean_total) / (len(counts) - 1), probability, most)
    for n_repeats in range(1, most + 1, 2):
        if majority_recovers(alpha, beta, n_repeats) >= probability:
            return n_repeats
    return None


def _at_one_rate(rate: float, probability: float, most: int) -> int | None:
    """The same where every item has this rate of the positive label."""
    likelier = max(rate, 1 - rate)
    if likelier == 0.5:
        return None
    tried = np.arange(1, most + 1, 2)
    reached = np.flatnonzero(special.bdtrc(tried // 2, tried, likelier) >= probability)
    return int(tried[reached[0]]) if len(reached) else None
