"""Units and their resamples: every replicate and every leave-one-out is a weighted sum of unit tallies."""

import itertools
import math

import numpy as np

from evenhand.stats.arrays import Array, Counts

MAX_UNITS = 2_048
"""Up to this many clusters are resampled themselves; above it, random groups of them."""
N_GROUPS = 1_024
_DRAWN_AT_ONCE = 65_536
"""Draws counted together: they stay in the processor's cache, and the stream is the same as in one piece."""
MAX_EXACT = 7
"""The most units whose G^G resamples are enumerated."""


def random_groups(n_clusters: int, seed: int) -> Counts:
    """Group of each cluster, equal in size to within one, from a seeded permutation.

    Args:
        n_clusters: number of clusters, in their natural order.
        seed: seed of the permutation.

    Returns:
        (n_clusters,) integers in [0, N_GROUPS).
    """
    groups = np.empty(n_clusters, dtype=np.int64)
    groups[np.random.default_rng(seed).permutation(n_clusters)] = np.arange(n_clusters) % N_GROUPS
    return groups


def draw_weights(seed: int, n_resamples: int, n_units: int) -> Array:
    """How often each unit stands in each bootstrap resample.

    The draws are ``default_rng(seed).integers(0, G, (B, G))`` over units in natural order (Zhu 2026's published
    percentile ends come from this stream).

    Returns:
        (n_resamples, n_units) counts as float64; every row sums to n_units.
    """
    rng, weights = np.random.default_rng(seed), np.empty((n_resamples, n_units))
    block = max(1, _DRAWN_AT_ONCE // n_units)
    for start in range(0, n_resamples, block):
        rows = weights[start : start + block]
        draws = rng.integers(0, n_units, rows.shape)
        draws += (np.arange(len(rows)) * n_units)[:, None]
        rows[:] = np.bincount(draws.ravel(), minlength=rows.size).reshape(rows.shape)
    return weights


def every_resample(n_units: int) -> tuple[Array, Array]:
    """All G^G equally likely resamples, as distinct multisets with their probabilities.

    Args:
        n_units: G, at most MAX_EXACT.

    Returns:
        weights (M, G) and probabilities (M,) that sum to 1, M = C(2G-1, G).
    """
    multisets = list(itertools.combinations_with_replacement(range(n_units), n_units))
    weights = np.zeros((len(multisets), n_units))
    for row, members in zip(weights, multisets, strict=True):
        np.add.at(row, list(members), 1)
    factorial = np.array([math.factorial(count) for count in range(n_units + 1)], dtype=np.float64)
    ways = factorial[n_units] / factorial[weights.astype(np.int64)].prod(axis=1)
    return weights, ways / float(n_units) ** n_units


def resample(weights: Array, tallies: Array) -> Array:
    """Tallies of every resample: one matrix product.

    Args:
        weights: (B, U).
        tallies: (U, *cells).

    Returns:
        (B, *cells).
    """
    flat = tallies.reshape(len(tallies), -1)
    return (weights @ flat).reshape(len(weights), *tallies.shape[1:])


def leave_one_out(tallies: Array) -> Array:
    """Tallies without each unit in turn: one subtraction, (U, *cells) in and out."""
    without: Array = tallies.sum(axis=0) - tallies
    return without
