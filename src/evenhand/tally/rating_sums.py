"""Tallies of several raters, by pairs of labels or by pairs of raters, whichever are fewer: the same sums either way."""

import numpy as np

from evenhand.stats import ensembles as of
from evenhand.stats.arrays import Array, binned
from evenhand.tally.ratings import Ratings


def _by_label(ratings: Ratings) -> bool:
    """Whether there are fewer pairs of labels than pairs of raters (or hardly more)."""
    return ratings.n_labels * (ratings.n_labels + 1) <= max(60, ratings.n_raters * (ratings.n_raters - 1))


def _pairs(ratings: Ratings, weight: Array) -> Array:
    """(U, q(q+1)/2) ordered pairs of ratings of a unit on each unordered pair of labels, times the (P,) row weight."""
    q = ratings.n_labels
    n_pairs = q * (q + 1) // 2
    total = np.zeros((ratings.n_units, n_pairs))
    for a, b in of.rater_pairs(ratings.n_raters):
        both = (ratings.labels[:, a] >= 0) & (ratings.labels[:, b] >= 0)
        one, other = ratings.labels[both, a], ratings.labels[both, b]
        low, high = np.minimum(one, other), np.maximum(one, other)
        packed = low * q - low * (low - 1) // 2 + high - low
        code = ratings.unit[both] * n_pairs + packed
        total += np.bincount(code, weights=2 * weight[both], minlength=total.size).reshape(total.shape)
    return total


def coincidence_sums(ratings: Ratings) -> Array:
    """(U, q(q+1)/2) of ``stats.ensembles.coincidence_sums``."""
    if _by_label(ratings):
        counts = of.profiles(ratings.labels, ratings.n_labels)
        return of.coincidence_sums(counts, ratings.unit, ratings.n_units, ratings.count)
    size = (ratings.labels >= 0).sum(axis=1)
    return _pairs(ratings, ratings.count / np.maximum(size - 1, 1))


def profile_sums(ratings: Ratings) -> Array:
    """(U, q(q+1)/2 + q) of ``stats.ensembles.profile_sums``."""
    if _by_label(ratings):
        counts = of.profiles(ratings.labels, ratings.n_labels)
        return of.profile_sums(counts, ratings.unit, ratings.n_units, ratings.count)
    q, rated = ratings.n_labels, ratings.labels >= 0
    size = np.maximum(rated.sum(axis=1), 1)
    share = np.zeros(ratings.n_units * q)
    for rater in range(ratings.n_raters):
        here = rated[:, rater]
        code = ratings.unit[here] * q + ratings.labels[here, rater]
        share += np.bincount(code, weights=(ratings.count / size)[here], minlength=len(share))
    pairs = _pairs(ratings, ratings.count / (size * np.maximum(size - 1, 1)))
    return np.concatenate([pairs, share.reshape(ratings.n_units, q)], axis=1)


def conger_sums(ratings: Ratings, profile: Array) -> Array:
    """(U, q(q+1)/2 + R·q) of ``stats.ensembles.conger_sums``, over the raters who rate at all.

    Args:
        ratings: of all raters.
        profile: their ``profile_sums``.
    """
    q, raters = ratings.n_labels, np.flatnonzero((ratings.labels >= 0).any(axis=0))
    margins = []
    for rater in raters:
        here = ratings.labels[:, rater] >= 0
        code = ratings.unit[here] * q + ratings.labels[here, rater]
        margins.append(binned(code, ratings.count[here], (ratings.n_units, q)))
    return np.concatenate([profile[:, :-q], *margins], axis=1)
