"""Least squares with clusters: CR0 to CR3 standard errors of coefficients and Satterthwaite's degrees of freedom.

Everything is had from sums of products by cluster. With X'X⁻¹ = RR' and B_g = R'X_g'X_gR, whose eigenvalues lie in [0, 1],
a cluster's share of the coefficients' error is R f(B_g) R'X_g'e_g: f = 1 for CR0, (1 - λ)^(-1/2) for CR2 and (1 - λ)^(-1) for CR3
(Bell and McCaffrey 2002; Pustejovsky and Tipton 2018, working model of independent rows).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, Counts
from evenhand.stats.ensembles import sums_by_group

_POWERS = {"cr0": 0.0, "cr1": 0.0, "cr2": 0.5, "cr3": 1.0}
_SINGULAR = 1e-10
"""Share of the largest below which an eigenvalue is taken as 0: a direction in which the regressors do not vary."""


@dataclass(frozen=True, slots=True)
class ClusterRobust:
    """Coefficients of one regression.

    Attributes:
        coefficients: (p,) least squares; NaN where a regressor does not vary beside the others.
        std_errors: (p,) by name: cr0, cr1 (cr0 times √(G/(G - 1))), cr2, cr3; NaN with one cluster.
        df: (p,) Satterthwaite's for CR2.
    """

    coefficients: Array
    std_errors: Mapping[str, Array]
    df: Array


def cross_products(regressors: Array, outcome: Array, cluster: Counts, n_clusters: int) -> Array:
    """(G, p + 1, p + 1) sums of products of (n, p) regressors and the (n,) outcome, which stands last, by (n,) cluster."""
    columns = np.column_stack([regressors, outcome])
    products = columns[:, :, None] * columns[:, None, :]
    flat = sums_by_group(products.reshape(len(columns), -1).T, cluster, n_clusters)
    return flat.reshape(n_clusters, columns.shape[1], columns.shape[1])


def least_squares(tables: Array) -> ClusterRobust:
    """Coefficients with their standard errors.

    Args:
        tables: (G, p + 1, p + 1) `cross_products`; clusters without a row are left out beforehand.
    """
    n_clusters, total = len(tables), tables.sum(axis=0)
    moments, with_outcome = tables[:, :-1, :-1], tables[:, :-1, -1]
    root, known = _inverse_root(total[:-1, :-1])
    coefficients = root @ (root.T @ total[:-1, -1])
    scores = (with_outcome - moments @ coefficients) @ root
    values, vectors = np.linalg.eigh(root.T @ moments @ root)
    values = np.clip(values, 0.0, 1.0)
    own = np.einsum("gir,gi->gr", vectors, scores)
    several = np.where(n_clusters > 1, 1.0, np.nan)
    found = {}
    for name, power in _POWERS.items():
        shares = np.einsum("pi,gir,gr->gp", root, vectors, _adjusted(values, power) * own)
        factor = np.sqrt(n_clusters / (n_clusters - 1)) if name == "cr1" and n_clusters > 1 else 1.0
        found[name] = np.where(known, factor * np.sqrt(np.square(shares).sum(axis=0)) * several, np.nan)
    df = _satterthwaite(root, values, vectors) * several
    return ClusterRobust(np.where(known, coefficients, np.nan), found, np.where(known, df, np.nan))


def _inverse_root(moments: Array) -> tuple[Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """(p, r) R with RR' the inverse of (p, p) X'X on the r directions that vary, and which coefficients these determine."""
    scale = np.sqrt(np.diag(moments))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(moments / np.outer(scale, scale))
    held = values > _SINGULAR * max(float(values[-1]), 1e-300)
    root = vectors[:, held] / np.sqrt(values[held]) / scale[:, None]
    return root, np.square(vectors[:, ~held]).sum(axis=1) < np.sqrt(_SINGULAR)


def _adjusted(values: Array, power: float) -> Array:
    """(1 - λ)^-power, 0 where λ is 1: a cluster that alone determines a direction says nothing of its error."""
    left = 1 - values
    return np.where(left > _SINGULAR, np.maximum(left, _SINGULAR) ** -power, 0.0)


def _satterthwaite(root: Array, values: Array, vectors: Array) -> Array:
    """(p,) tr(P)²/tr(P²), P_gh = 1{g=h} d_g - z_g'z_h: d and z are what CR2 makes of a cluster's rows for one coefficient."""
    adjusted = _adjusted(values, 0.5)
    turned = np.einsum("gir,pi->pgr", vectors, root)
    d = (values * np.square(adjusted) * np.square(turned)).sum(axis=-1)
    z = np.einsum("gir,pgr->pgi", vectors, values * adjusted * turned)
    squares = np.square(z).sum(axis=-1)
    inner = np.swapaxes(z, -1, -2) @ z
    trace = (d - squares).sum(axis=-1)
    of_square = (np.square(d) - 2 * d * squares).sum(axis=-1) + np.square(inner).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        df: Array = np.square(trace) / of_square
    return df
