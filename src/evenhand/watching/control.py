"""A control chart: is the newest audit one more of the earlier ones, or has something moved, at once or slowly?

Limits are of prediction: where one more audit lies if nothing has changed, given how far earlier ones lie apart (τ), the
error of the newest, and that the centre is itself estimated (Higgins, Thompson and Spiegelhalter 2009). They use t with
k - 1 degrees of freedom for k earlier audits, as so few say little of τ; so the rate of false alarms holds whatever τ is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array
from evenhand.stats.binomial import t_quantile
from evenhand.watching.between import between_variance, conditioned, weights
from evenhand.watching.change import Side
from evenhand.watching.run_length import ewma_run_length

FEWEST = 3
"""Earlier audits below which nothing is known of how far audits lie apart by themselves."""
EWMA_WEIGHT = 0.2
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True)
class Chart:
    """One number over n audits, the newest last.

    Attributes:
        values: (n,).
        std_errors: (n,) of each audit by itself; NaN where there is none.
        centre, between_sd: of the earlier audits; NaN without limits.
        low, high: (n,) where each audit may lie; NaN without limits.
        average: (n,) the moving average, in the number's own unit; NaN without limits.
        average_low, average_high: (n,) its limits.
        t, df: limits of either rule in standard errors of prediction, and their degrees of freedom.
        p_value: two-sided, of the newest value under the earlier ones; NaN without limits.
        average_p_value: of its moving average.
        run_length: audits between two false alarms of Shewhart's rule, on average.
        average_run_length: until a false alarm of the moving average, on average, were centre and spread known.
        reason: why there are no limits, or nothing.
    """

    values: Array
    std_errors: Array
    centre: float
    between_sd: float
    low: Array
    high: Array
    average: Array
    average_low: Array
    average_high: Array
    t: float
    df: float
    p_value: float
    average_p_value: float
    run_length: float
    average_run_length: float
    reason: str = ""

    @property
    def is_outside(self) -> bool:
        """The newest value lies outside its limits."""
        return bool(not self.low[-1] <= self.values[-1] <= self.high[-1]) if not self.reason else False

    @property
    def has_drifted(self) -> bool:
        """The moving average lies outside its limits."""
        inside = self.average_low[-1] <= self.average[-1] <= self.average_high[-1]
        return not self.reason and not inside


def chart(
    sides: Sequence[Side],
    chance: float,
    weight: float = EWMA_WEIGHT,
    domain: tuple[float, float] = (-math.inf, math.inf),
) -> Chart:
    """Chart a number, both rules together at one chance of a false alarm an audit.

    Args:
        sides: of each audit in time order, the newest last, placed among the same units.
        chance: of a false alarm of this chart in one audit, half of it for either rule.
        weight: of the newest value in the moving average.
        domain: what the number can be; limits are cut at it.
    """
    values = np.array([one.value for one in sides])
    errors = np.array([math.sqrt(float(np.square(one.pulls).sum())) if not one.obstacle else math.nan for one in sides])
    n, k, run_length = len(sides), len(sides) - 1, 2 / chance
    average_run_length = ewma_run_length(float(special.ndtri(1 - chance / 4)), weight)
    nothing = np.full(n, np.nan)

    def without(reason: str) -> Chart:
        lines = (nothing, nothing, nothing, nothing, nothing)
        nan = math.nan
        return Chart(values, errors, nan, nan, *lines, nan, nan, nan, nan, run_length, average_run_length, reason)

    if k < FEWEST:
        return without(f"{k} earlier audit{'s' if k > 1 else ''}: limits need {FEWEST} or more")
    broken = [at for at, one in enumerate(sides) if one.obstacle]
    if broken:
        return without(f"audit {broken[0] + 1} has no standard error: {sides[broken[0]].obstacle}")
    pulls = np.stack([one.pulls for one in sides])
    within = conditioned(pulls @ pulls.T, values)
    earlier = values[:k]
    tau2 = between_variance(earlier, within[:k, :k])
    covariance = within + tau2 * np.eye(n)
    of_centre = np.append(weights(covariance[:k, :k]), 0.0)
    middle = float(of_centre @ values)
    # deviations from the centre, whose covariance holds what they share: the centre itself, and clusters
    away = np.eye(n) - of_centre
    spread = away @ covariance @ away.T
    sds = np.sqrt(np.maximum(np.diag(spread), 0.0))
    own = float(np.square(away[-1] @ pulls).sum()) + tau2
    if own <= (_NEGLIGIBLE * max(1.0, abs(middle))) ** 2:
        return without("the earlier audits do not differ at all: that says nothing of how far the next one may")
    t = t_quantile(1 - chance / 4, k - 1)
    memory = _memory(n, weight)
    average = middle + memory @ (values - middle)
    average_sds = np.sqrt(np.maximum(np.diag(memory @ spread @ memory.T), 0.0))
    return Chart(
        values,
        errors,
        middle,
        math.sqrt(tau2),
        np.clip(middle - t * sds, *domain),
        np.clip(middle + t * sds, *domain),
        average,
        np.clip(middle - t * average_sds, *domain),
        np.clip(middle + t * average_sds, *domain),
        t,
        k - 1.0,
        _p(values[-1] - middle, sds[-1], k - 1),
        _p(average[-1] - middle, average_sds[-1], k - 1),
        run_length,
        average_run_length,
    )


def _memory(n: int, weight: float) -> Array:
    """(n, n) weights of each value in the moving average at each audit, which starts at the centre."""
    age = np.arange(n)[:, None] - np.arange(n)
    found: Array = np.where(age >= 0, weight * (1 - weight) ** np.maximum(age, 0), 0.0)
    return found


def _p(deviation: float, spread: float, df: float) -> float:
    return float(2 * special.stdtr(df, -abs(deviation) / spread)) if spread > 0 else 1.0
