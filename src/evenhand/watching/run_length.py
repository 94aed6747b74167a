"""How many audits pass between two false alarms of a chart on which nothing happens.

Shewhart's rule alarms by itself in each audit: the run length is geometric. An exponentially weighted moving average
remembers: its average run length solves an integral equation (Crowder 1987), which Lucas and Saccucci (1990) tabulate.
"""

import math

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array

LEAST_WEIGHT = 0.01
"""Of the newest value, down to which the nodes are dense enough."""
_NODES = 96


def ewma_run_length(multiplier: float, weight: float, shift: float = 0.0) -> float:
    """Average run length of a two-sided EWMA chart of independent normal values, from its centre on.

    L(u) = 1 + ∫ L(y) φ((y - (1-λ)u)/λ - δ)/λ dy over -h < y < h, h = multiplier · √(λ/(2-λ)), by Gauss-Legendre nodes.

    Args:
        multiplier: limits in standard deviations of the average at rest.
        weight: λ in [`LEAST_WEIGHT`, 1], of the newest value.
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
