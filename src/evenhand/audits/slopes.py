"""Slopes of a regression with clusters: their CR1 and CR2 standard errors beside the jackknife's."""

import math

from evenhand.audits.evidence import IntervalPlan
from evenhand.results import Estimate
from evenhand.stats.arrays import Array
from evenhand.stats.binomial import LEAST_DF, t_quantile, upper_probability
from evenhand.stats.cluster_robust import least_squares


def with_cluster_robust(estimate: Estimate, tables: Array, at: int, plan: IntervalPlan) -> Estimate:
    """The estimate with ``[se=cr1]`` and ``[se=cr2]``, and Satterthwaite's t interval where ``--interval cr2_t`` asks for it.

    Args:
        estimate: a least-squares coefficient.
        tables: (G, p + 1, p + 1) ``stats.cluster_robust.cross_products`` of the units with rows.
        at: place of the coefficient.
        plan: of intervals.
    """
    if estimate.status != "ok" or len(tables) < 2 or estimate.estimate is None:
        return estimate
    found = least_squares(tables)
    cr1, cr2, df = (float(one[at]) for one in (found.std_errors["cr1"], found.std_errors["cr2"], found.df))
    if not (math.isfinite(cr1) and math.isfinite(cr2) and cr2 > 0 and df >= LEAST_DF):
        return estimate
    half = t_quantile(upper_probability(plan.confidence_level), df) * cr2
    low, high = estimate.estimate - half, estimate.estimate + half
    said = f"with the CR2 standard error, t({df:.2f}): {low:.4g} to {high:.4g}"
    update: dict[str, object] = {"std_errors": {**estimate.std_errors, "cr1": cr1, "cr2": cr2}}
    if plan.method == "cr2_t":
        update |= {
            "ci_low": low, "ci_high": high, "interval_method": "cr2_t", "interval_scale": "identity", "interval_df": df,
            "interval_std_error": cr2, "reason": "",
        }  # fmt: skip
    else:
        update["reason"] = "; ".join(filter(None, (estimate.reason, said)))
    return estimate.model_copy(update=update)
