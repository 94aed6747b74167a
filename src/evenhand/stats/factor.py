"""McDonald's omega: the share of the totals' variance that one common factor explains; about bank and checklist.

One factor by maximum likelihood from the covariance matrix (Joreskog 1967, Psychometrika 32): for given unique variances
the loadings follow from an eigenvector, so the search is over the K unique variances alone, in their logarithms, by damped
Newton steps (second derivatives as in Clarke 1970, British J. Math. Stat. Psychology 23). Matrices are fitted together,
broadcasting over their leading axes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.internal_consistency import CrossProducts

LEAST_UNIQUE = 0.005
"""Share of a criterion's variance that its unique variance keeps: below it is a Heywood case, held there and flagged."""
_MAX_STEPS = 200
_MAX_HALVINGS = 12
_TOLERANCE = 1e-9
_SINGULAR = 1e-10
_FLAT = 1e-6
Discrepancy = tuple[Array, ...]
"""What ``_discrepancy`` returns."""


@dataclass(frozen=True, slots=True)
class OneFactor:
    """A fitted factor; NaN where no fit is possible or it did not settle.

    Attributes:
        loadings: (..., K) in units of the criteria, their sum not negative.
        unique: (..., K) unique variances.
        boundary: (...) a unique variance stands at its least value.
    """

    loadings: Array
    unique: Array
    boundary: NDArray[np.bool_]

    @property
    def omega(self) -> Array:
        """McDonald's omega (1999, Test Theory, chapter 6), (...): (sum of loadings)² over itself and the unique variances."""
        common = np.square(self.loadings.sum(axis=-1))
        return ratio(common, common + self.unique.sum(axis=-1))


def covariances(cross: CrossProducts) -> Array:
    """(..., K, K) covariance matrices, divisor n; NaN without responses."""
    n = np.asarray(cross.n)[..., None, None]
    mean = ratio(cross.sums, np.asarray(cross.n)[..., None])
    return ratio(cross.products, n) - mean[..., :, None] * mean[..., None, :]


def mcdonald_omega(cross: CrossProducts) -> Array:
    """Omega of one factor fitted to the criteria, (...); NaN where it cannot be: see ``fit_one_factor``."""
    return fit_one_factor(covariances(cross)).omega


def fit_one_factor(covariance: Array) -> OneFactor:
    """Maximum likelihood under normal criteria.

    Args:
        covariance: (..., K, K).

    Returns:
        NaN for fewer than three criteria, a constant criterion, or a matrix without inverse (criteria that determine each
        other, no more responses than criteria).
    """
    k = covariance.shape[-1]
    lead = covariance.shape[:-2]
    flat = np.asarray(covariance, dtype=np.float64).reshape(-1, k, k)
    loadings, unique = np.full((len(flat), k), np.nan), np.full((len(flat), k), np.nan)
    boundary = np.zeros(len(flat), dtype=np.bool_)
    fit = _fittable(flat) if k >= 3 else np.zeros(len(flat), dtype=np.bool_)
    if fit.any():
        scale = np.sqrt(np.diagonal(flat[fit], axis1=-2, axis2=-1))
        correlation = flat[fit] / (scale[:, :, None] * scale[:, None, :])
        found, own, settled = _search(correlation)
        loadings[fit] = np.where(settled[:, None], found * scale, np.nan)
        unique[fit] = np.where(settled[:, None], own * np.square(scale), np.nan)
        boundary[fit] = (own <= LEAST_UNIQUE * (1 + 1e-6)).any(axis=1)
    return OneFactor(loadings.reshape(*lead, k), unique.reshape(*lead, k), boundary.reshape(lead))


def _fittable(covariance: Array) -> NDArray[np.bool_]:
    """Which matrices have an inverse to speak of."""
    finite = np.asarray(np.isfinite(covariance).all(axis=(-2, -1)))
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    varies = finite & (np.where(finite[:, None], variance, 0.0) > 0).all(axis=-1)
    found = np.zeros(len(covariance), dtype=np.bool_)
    scale = np.sqrt(variance[varies])
    correlation = covariance[varies] / (scale[:, :, None] * scale[:, None, :])
    found[varies] = np.linalg.eigvalsh(correlation)[:, 0] > _SINGULAR
    return found


def _search(correlation: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Loadings and unique variances of correlation matrices, and which of them settled."""
    start = 1 / np.diagonal(np.linalg.inv(correlation), axis1=-2, axis2=-1)
    log_unique = np.log(np.clip(start * (1 - 0.5 / correlation.shape[-1]), LEAST_UNIQUE, 1.0))
    settled = np.zeros(len(correlation), dtype=np.bool_)
    loadings = np.empty_like(log_unique)
    active, at_hand = np.arange(len(correlation)), _discrepancy(correlation, log_unique)
    for _ in range(_MAX_STEPS):
        here = log_unique[active]
        value, slope, curvature, _ = at_hand
        at_floor = (here <= np.log(LEAST_UNIQUE) + 1e-12) & (slope > 0)
        free = ~at_floor
        settled[active] = np.abs(np.where(free, slope, 0.0)).max(axis=1) < _TOLERANCE
        both = free[:, :, None] & free[:, None, :]
        step = np.linalg.solve(np.where(both, curvature, np.eye(here.shape[1])), np.where(free, slope, 0.0)[..., None])[
            ..., 0
        ]
        log_unique[active], at_hand = _halved(correlation[active], here, step, value)
        loadings[active] = at_hand[3]
        unsettled = ~settled[active]
        if not unsettled.any():
            break
        active = active[unsettled]
        at_hand = tuple(one[unsettled] for one in at_hand)
    return loadings, np.exp(log_unique), settled


def _halved(correlation: Array, here: Array, step: Array, value: Array) -> tuple[Array, Discrepancy]:
    """The step shortened for each matrix until the discrepancy does not rise, and the discrepancy there."""
    most, step = value + 1e-13 * np.abs(value) + 1e-15, np.clip(step, -2.0, 2.0)
    tried = np.maximum(here - step, np.log(LEAST_UNIQUE))
    there = _discrepancy(correlation, tried)
    for halvings in range(1, _MAX_HALVINGS):
        worse = np.flatnonzero(there[0] > most)
        if not len(worse):
            break
        tried[worse] = np.maximum(here[worse] - 0.5**halvings * step[worse], np.log(LEAST_UNIQUE))
        for whole, part in zip(there, _discrepancy(correlation[worse], tried[worse]), strict=True):
            whole[worse] = part
    return tried, there


def _discrepancy(correlation: Array, log_unique: Array) -> Discrepancy:
    """Likelihood discrepancy (B,), its slope (B, K) and curvature (B, K, K) in log unique variances, and the loadings.

    The curvature is exact where that is convex, else the always convex part of it that matters near a good fit.
    """
    scale = np.exp(log_unique / 2)
    values, vectors = np.linalg.eigh(correlation / (scale[:, :, None] * scale[:, None, :]))
    rest, others, top = values[:, :-1], vectors[..., :-1], vectors[..., -1]
    safe = np.maximum(rest, 1e-300)
    value = (rest - np.log(safe) - 1).sum(axis=1)
    slope = (np.square(others) * (1 - rest)[:, None, :]).sum(axis=-1)
    back = others.swapaxes(-1, -2)
    shared, weighted = others @ back, (others * rest[:, None, :]) @ back
    bend = ratio((1 - rest) * (rest + values[:, -1:]), values[:, -1:] - rest)
    exact = shared * weighted + ((others * bend[:, None, :]) @ back) * (top[:, :, None] * top[:, None, :])
    is_convex = np.isfinite(exact).all(axis=(-2, -1))
    is_convex[is_convex] = np.linalg.eigvalsh(exact[is_convex])[:, 0] > _FLAT
    curvature = np.where(is_convex[:, None, None], exact, np.square(shared) + _FLAT * np.eye(correlation.shape[-1]))
    sign = np.where(top.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    loadings = scale * top * sign * np.sqrt(np.maximum(values[:, -1:] - 1, 0.0))
    return value, slope, curvature, loadings
