"""Shared array words."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Measure = Callable[[Array], Array]
"""A statistic as a pure function of tallies: the last axes are cells, every leading axis is kept."""


def ratio(numerator: Array, denominator: Array) -> Array:
    """``numerator / denominator`` with NaN for 0/0, silently."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Array = np.divide(numerator, denominator)
    return np.where(np.equal(denominator, 0), np.nan, quotient)


def binned(code: Counts, counts: Counts | None, shape: tuple[int, ...]) -> Array:
    """Sum (n,) counts by (n,) packed codes in [0, prod(shape)) → an array of that shape; without counts each is one."""
    size = math.prod(shape)
    return np.asarray(np.bincount(code, weights=counts, minlength=size), dtype=np.float64).reshape(shape)
