"""Raters as a sample of raters: the error of a coefficient when other raters could have been asked, too.

Leaving out units says nothing of the raters, and few raters are a small sample: their share of the error is a
delete-one-rater jackknife, added to that of the units, with t on R - 1 degrees of freedom.
"""

import numpy as np

from evenhand.stats.arrays import Array
from evenhand.stats.binomial import t_quantile, upper_probability
from evenhand.stats.intervals import Interval, jackknife_std_error, withheld
from evenhand.stats.scales import Scale

METHOD = "jackknife_t_items_and_raters"
FEWEST_RATERS = 3


def random_raters_interval(
    value: float, without_units: Array, without_raters: Array, scale: Scale, level: float
) -> Interval:
    """Two jackknives added: V = V_units + V_raters on the scale, t(R - 1).

    Args:
        value: at the full sample.
        without_units: (G,) values without each unit of resampling.
        without_raters: (R,) values without each rater.
        scale: where jackknife values are about normal.
        level: confidence level.
    """
    n_raters = len(without_raters)
    if n_raters < FEWEST_RATERS:
        return withheld(METHOD, f"{n_raters} raters: a sample of raters starts at {FEWEST_RATERS}")
    if len(without_units) < 2:
        return withheld(METHOD, "one cluster: no standard error and no interval can be had from it")
    if not np.isfinite(without_raters).all():
        return withheld(METHOD, "undefined without one of the raters")
    middle = float(scale.forward(np.asarray(value)))
    errors = [jackknife_std_error(scale.forward(values)) for values in (without_units, without_raters)]
    if errors[0] is None or errors[1] is None or not np.isfinite(middle):
        return withheld(METHOD, f"a value without one cluster or rater lies outside the {scale.name} scale")
    spread = float(np.hypot(errors[0], errors[1]))
    half = t_quantile(upper_probability(level), n_raters - 1) * spread
    low, high = (float(scale.inverse(np.asarray(end))) for end in (middle - half, middle + half))
    return Interval(low, high, METHOD, scale=scale.name, df=float(n_raters - 1), std_error=spread)
