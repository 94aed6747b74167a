"""How many audits pass between two false alarms of a chart on which nothing happens.

Shewhart's rule alarms by itself in each audit: the run length is geometric. An exponentially weighted moving average
remembers: its average run length solves an integral equation (Crowder 1987), which Lucas and Saccucci (1990) tabulate.
"""

import math
from functools import cache

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array

_NODES = 96
_LEAST, _MOST = 0.05, 7.0


def ewma_run_length(multiplier: float, weight: float, shift: float = 0.0) -> float:
    """Average run length of a two-sided EWMA chart of independent normal values, from its centre on.

    L(u) = 1 + ∫ L(y) φ((y - (1-λ)u)/λ - δ)/λ dy over -h < y < h, h = multiplier · √(λ/(2-λ)), by Gauss-Legendre nodes.

    Args:
        multiplier: limits in standard deviations of the average at rest.
        weight: λ in (0, 1], of the newest value.
        shift: δ of every value from the centre, in its standard deviations.
    """
    if weight >= 1:
        outside = special.ndtr(-multiplier - shift) + special.ndtr(-multiplier + shift)
        return float(1 / outside)
    half = multiplier * math.sqrt(weight / (2 - weight))
    nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)
    at, mass = half * nodes, half * node_weights

    def kernel(start: Array) -> Array:
        z = (at - (1 - weight) * start[:, None]) / weight - shift
        found: Array = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) / weight * mass
        return found

    at_nodes = np.linalg.solve(np.eye(_NODES) - kernel(at), np.ones(_NODES))
    return float(1 + kernel(np.zeros(1))[0] @ at_nodes)


@cache
def ewma_multiplier(run_length: float, weight: float) -> float:
    """Limits at which an EWMA chart at rest has this average run length.

    Args:
        run_length: above 1.
        weight: λ in (0, 1].
    """
    low, high = _LEAST, _MOST
    for _ in range(50):
        middle = (low + high) / 2
        if ewma_run_length(middle, weight) < run_length:
            low = middle
        else:
            high = middle
    return (low + high) / 2
