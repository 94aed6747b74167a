"""Shares of groups that pass, and the make-up of those who do; cells are (..., 2, 2): group (the other, the focal), fail and pass."""

import numpy as np

from evenhand.stats.arrays import Array, ratio


def passing(cells: Array) -> Array:
    """Share of each group that passes, (..., 2, 2) → (..., 2)."""
    return ratio(cells[..., 1], cells.sum(axis=-1))


def share_gap(cells: Array) -> Array:
    """Share of the focal group that passes minus that of the other."""
    shares = passing(cells)
    return np.asarray(shares[..., 1] - shares[..., 0])


def share_ratio(cells: Array) -> Array:
    """Share of the focal group that passes over that of the other: the adverse impact ratio; NaN where none passes."""
    shares = passing(cells)
    return ratio(shares[..., 1], shares[..., 0])


def difference_of_gaps(cells: Array) -> Array:
    """Gap in shares under the judge minus that under the reference, from (..., 2 sides, 2, 2), the reference first."""
    gaps = share_gap(cells)
    return np.asarray(gaps[..., 1] - gaps[..., 0])


def difference_of_parts(cells: Array) -> Array:
    """Part of the focal group among those who pass, under the judge minus under the reference, from (..., 2 sides, 2, 2)."""
    parts = ratio(cells[..., 1, 1], cells[..., 1].sum(axis=-1))
    return np.asarray(parts[..., 1] - parts[..., 0])
