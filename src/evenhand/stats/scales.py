"""Scales on which a statistic's jackknife values are about normal, so that t intervals hold their level."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array

_INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class Scale:
    """A monotone map with its inverse and derivative; the domain's ends and what lies outside map to non-finite values."""

    name: str
    forward: Callable[[Array], Array]
    inverse: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    domain: tuple[float, float]


def _silent(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def quiet(x: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return function(np.asarray(x, dtype=np.float64))

    return quiet


LOGIT = Scale("logit", _silent(special.logit), _silent(special.expit), _silent(lambda x: 1 / (x * (1 - x))), (0.0, 1.0))
"""Rates."""
LOG_ONE_MINUS = Scale(
    "−log(1−x)",
    _silent(lambda x: -np.log1p(-x)),
    _silent(lambda z: -np.expm1(-z)),
    _silent(lambda x: 1 / (1 - x)),
    (-_INFINITY, 1.0),
)
"""Coefficients whose maximum is 1: kappa, pi, S, AC, alpha, KR-20, Phi(lambda)."""
ATANH = Scale("atanh", _silent(np.arctanh), _silent(np.tanh), _silent(lambda x: 1 / (1 - x**2)), (-1.0, 1.0))
"""Correlations."""
LOG = Scale("log", _silent(np.log), _silent(np.exp), _silent(lambda x: 1 / x), (0.0, _INFINITY))
"""Positive quantities: standard deviations, MAE, RMSE, ratios of spreads."""
IDENTITY = Scale("identity", _silent(lambda x: x), _silent(lambda z: z), _silent(np.ones_like), (-_INFINITY, _INFINITY))
"""Signed values and differences."""
SCALES = {scale.name: scale for scale in (LOGIT, LOG_ONE_MINUS, ATANH, LOG, IDENTITY)}
"""By name, as a saved estimate names the scale of its interval."""
