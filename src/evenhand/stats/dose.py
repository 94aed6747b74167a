"""The dose of a label: how much of its effect on a mark grows with the value that it states."""

import numpy as np

from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group

_SINGULAR = 1e-10
"""Smallest share of a regressor's spread that the others may leave unexplained."""


def dose_sums(effect: Array, gap: Array, held: Array, unit: Counts, n_units: int) -> Array:
    """Tallies of the regression of effects on gaps.

    Args:
        effect: (n,) mark under the higher label minus mark under the lower, on the same response.
        gap: (n,) higher minus lower label.
        held: (n, h) what is held fixed: tail, own label, reference mark.
        unit: (n,) unit of resampling.
        n_units: U.

    Returns:
        (U, (h + 3)²) flattened sums of products of 1, gap, held and effect, in this order.
    """
    columns = np.column_stack([np.ones(len(effect)), gap, held, effect])
    products = columns[:, :, None] * columns[:, None, :]
    return sums_by_group(products.reshape(len(effect), -1).T, unit, n_units)


def as_tables(sums: Array) -> Array:
    """(..., m, m) sums of products of (..., m²) `dose_sums`: ``stats.cluster_robust.cross_products`` by unit."""
    size = int(np.rint(np.sqrt(sums.shape[-1])))
    return sums.reshape(*sums.shape[:-1], size, size)


def dose_slope(sums: Array) -> Array:
    """Marks per point of label with the held columns fixed; NaN where the gap does not vary beside them.

    Ordinary least squares from (..., m²) `dose_sums`: the gap's residual on the other columns against the effect.
    """
    tables = as_tables(sums)
    n = tables[..., 0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = tables[..., 0, :] / n[..., None]
    centred = tables - n[..., None, None] * means[..., :, None] * means[..., None, :]
    cross, spread = centred[..., 1, :], centred[..., 1, 1]
    others = centred[..., 2:-1, 2:-1]
    unusable = np.asarray(~np.isfinite(centred).all(axis=(-2, -1)))
    inverse = np.linalg.pinv(np.where(unusable[..., None, None], 0.0, others), rcond=_SINGULAR, hermitian=True)
    explained = (cross[..., None, 2:-1] @ inverse)[..., 0, :]
    explained = np.where(unusable[..., None], 0.0, explained)
    left = spread - (explained * cross[..., 2:-1]).sum(axis=-1)
    with_effect = cross[..., -1] - (explained * centred[..., 2:-1, -1]).sum(axis=-1)
    left = np.where(left > _SINGULAR * np.maximum(tables[..., 1, 1], 1e-300), left, 0.0)
    return np.where(unusable, np.nan, ratio(with_effect, left))


def mean_effect(sums: Array) -> Array:
    """Mean effect from (..., m²) `dose_sums`."""
    tables = as_tables(sums)
    return ratio(tables[..., 0, -1], tables[..., 0, 0])


def dose_reached(sums: Array) -> Array:
    """Slope times mean gap: the effect, had it grown in proportion to the gap at this slope."""
    tables = as_tables(sums)
    return dose_slope(sums) * ratio(tables[..., 0, 1], tables[..., 0, 0])
