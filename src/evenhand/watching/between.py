"""Values of many audits: how far they lie apart beyond their own error, their common value, and where the next one may lie.

Audits of one bank share clusters, so their errors hang together: the errors' whole covariance matrix is used. With a
diagonal one these are the estimators of meta-analysis (Paule and Mandel 1982; DerSimonian and Kacker 2007).
"""

import numpy as np

from evenhand.stats.arrays import Array

_STEPS = 60
_JITTER = 1e-10


def heterogeneity(values: Array, within: Array) -> float:
    """Q = (y - μ̂)' W (y - μ̂), W the inverse of the covariance: about χ²(k - 1) if errors alone set values apart.

    Args:
        values: (k,).
        within: (k, k) covariance of their errors, positive definite.
    """
    residual = values - centre(values, within)
    return float(residual @ np.linalg.solve(within, residual))


def weights(within: Array) -> Array:
    """(k,) weights of the best linear centre: W1 / 1'W1."""
    raw = np.asarray(np.linalg.solve(within, np.ones(len(within))), dtype=np.float64)
    found: Array = raw / raw.sum()
    return found


def centre(values: Array, within: Array) -> float:
    """Weighted mean of (k,) values."""
    return float(weights(within) @ values)


def between_variance(values: Array, within: Array) -> float:
    """Variance τ² between audits at which Q is k - 1 (Paule and Mandel 1982), 0 where errors alone explain the spread.

    Args:
        values: (k,), k ≥ 2.
        within: (k, k) covariance of their errors; may be singular.
    """
    k = len(values)
    held = conditioned(within, values)
    if heterogeneity(values, held) <= k - 1:
        return 0.0
    low, high = 0.0, float(values.var(ddof=1))  # at the sample variance Q is k - 1 even without any error
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if heterogeneity(values, held + middle * np.eye(k)) > k - 1:
            low = middle
        else:
            high = middle
    return high


def conditioned(within: Array, values: Array) -> Array:
    """The matrix with a touch on its diagonal, so that equal audits do not make it singular."""
    scale = max(float(np.trace(within)) / len(within), float(np.square(values).mean()) * 1e-8, 1e-24)
    found: Array = within + _JITTER * scale * np.eye(len(within))
    return found
