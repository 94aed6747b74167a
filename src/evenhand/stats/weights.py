"""How much two labels of a scale agree: weights for chance-corrected agreement, distances for Krippendorff's alpha.

A scale enters as the values of its q declared levels, unused ones included; words enter by their positions. Distance
goes by value: on the levels 0, 1, 3 the last step is twice the first.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, ratio

WeightsName = Literal["identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]


def _gaps(levels: Array) -> Array:
    return np.abs(levels[:, None] - levels)


def _ratio_distance(levels: Array) -> Array:
    """((a - b)/(a + b))², 0 between equal levels (also between 0 and 0)."""
    return np.where(_gaps(levels) == 0, 0.0, np.square(ratio(_gaps(levels), levels[:, None] + levels)))


def _ordinal(levels: Array) -> Array:
    """Pairs of levels within the stretch from one to the other, C(steps + 1, 2)."""
    steps = _gaps(np.arange(len(levels), dtype=np.float64))
    return steps * (steps + 1) / 2


def _circular(levels: Array) -> Array:
    return np.sin(np.pi * _gaps(levels) / (np.ptp(levels) + 1)) ** 2


def _bipolar(levels: Array) -> Array:
    total = levels[:, None] + levels
    room = (total - 2 * levels.min()) * (2 * levels.max() - total)
    return np.where(_gaps(levels) == 0, 0.0, ratio(np.square(_gaps(levels)), room))


_DISTANCES: dict[WeightsName, Callable[[Array], Array]] = {
    "identity": lambda levels: 1 - np.eye(len(levels)),
    "linear": _gaps,
    "quadratic": lambda levels: np.square(_gaps(levels)),
    "ordinal": _ordinal,
    "radical": lambda levels: np.sqrt(_gaps(levels)),
    "ratio": _ratio_distance,
    "circular": _circular,
    "bipolar": _bipolar,
}


def agreement_weights(name: WeightsName, levels: ArrayLike) -> Array:
    """Weights 1 - distance/largest distance, by the names of irrCAC; Gwet (2014), Handbook, section 3.5.

    `ordinal` counts positions whatever the values and is not Krippendorff's ordinal metric.

    Args:
        name: of the weights.
        levels: (q,) distinct values of the declared levels in scale order.

    Returns:
        (q, q), symmetric, 1 on the diagonal, 0 between the levels that lie furthest apart.
    """
    distance = _DISTANCES[name](np.asarray(levels, dtype=np.float64))
    largest = distance.max(initial=0.0)
    return np.ones_like(distance) if largest == 0 else 1 - distance / largest


def gwet_scale(weights: Array) -> float:
    """Sum of the (q, q) weights over q(q - 1), the factor of Gwet's chance agreement (2014); NaN with one label."""
    q = len(weights)
    return float(weights.sum()) / (q * (q - 1)) if q > 1 else float("nan")


def krippendorff_distances(metric: Metric, levels: ArrayLike, margins: Array) -> Array:
    """Squared differences of Krippendorff's metrics (2011, Computing Krippendorff's alpha-reliability, step D).

    The ordinal difference of two levels is the number of ratings between them, half of those on either counted, so it
    depends on the margins: each replicate has its own.

    Args:
        metric: level of measurement.
        levels: (q,) distinct values of the declared levels in scale order.
        margins: (..., q) pairable ratings on each level.

    Returns:
        (..., q, q) for `ordinal`, (q, q) for the others; NaN where a ratio divides by 0 (levels -a and a).
    """
    if metric == "ordinal":
        middle = np.cumsum(margins, axis=-1) - margins / 2
        return np.square(middle[..., :, None] - middle[..., None, :])
    values = np.asarray(levels, dtype=np.float64)
    if metric == "nominal":
        return 1 - np.eye(len(values))
    return np.square(_gaps(values)) if metric == "interval" else _ratio_distance(values)
