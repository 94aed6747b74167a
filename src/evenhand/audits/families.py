"""Families: estimates that a reader looks at together, so that the largest of them needs a stricter test.

P values are of t with each estimate's own standard error and degrees of freedom; Holm's need nothing else. Simultaneous
intervals and their step-down p values come from resamples that the members share (Romano and Wolf 2005), each member's
replicates exchanged for quantiles of t in the same order: they hang together as the resamples have it, and a family of
one would have its ordinary interval. A plain bootstrap of few clusters is too narrow (8 clusters, 5 means: .90 for .95).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from evenhand.audits.evidence import IntervalPlan, Member
from evenhand.results import Estimate
from evenhand.stats.arrays import Array
from evenhand.stats.binomial import LEAST_DF, t_quantile
from evenhand.stats.hypothesis_tests import holm, max_t
from evenhand.stats.resampling import resample
from evenhand.stats.scales import IDENTITY

POWER, ALPHA = 0.8, 0.05
"""Of the smallest difference that is called detectable."""
MOST_TOGETHER = 200
"""Members beyond which a family has Holm's p values alone."""
_MOST_LOST = 0.05
"""Share of resamples with an undefined member beyond which there are no simultaneous intervals."""
_MOST_VALUES = 50_000_000


def taken_together(estimates: Sequence[Estimate], plan: IntervalPlan) -> list[Estimate]:
    """The estimates, those of families with p values, simultaneous ends and the smallest difference they could find.

    Args:
        estimates: all of an audit.
        plan: knows the members of families.
    """
    by_id: dict[str, Estimate] = {one.id: one for one in estimates}
    changed: dict[str, dict[str, Any]] = {}
    families: dict[str, list[Member]] = {}
    for member in plan.members:
        found = by_id.get(member.estimate_id)
        if found is not None and found.status == "ok" and found.std_error and _df(found) >= LEAST_DF:
            families.setdefault(member.family, []).append(member)
    for name, members in families.items():
        held = [by_id[member.estimate_id] for member in members]
        changed |= _of_family(name, held, members, plan)
    return [one.model_copy(update=changed[one.id]) if one.id in changed else one for one in estimates]


def _df(estimate: Estimate) -> float:
    return estimate.interval_df if estimate.interval_df is not None else estimate.n_clusters - 1.0


def _of_family(
    name: str, held: Sequence[Estimate], members: Sequence[Member], plan: IntervalPlan
) -> dict[str, dict[str, Any]]:
    """Id → fields of every member."""
    m, has_null = len(held), members[0].scale is IDENTITY
    said = f"{name}{', tested against 0' if has_null else ''}; {m} in all"
    found: dict[str, dict[str, Any]] = {one.id: {"family": said} for one in held}
    if has_null:
        raw = np.array([_p_value(one) for one in held])
        for one, p, adjusted in zip(held, raw, holm(raw), strict=True):
            found[one.id] |= {"p_values": {"raw": float(p), "holm": float(adjusted)}, "detectable": _detectable(one, m)}
    pairs = [(one, member) for one, member in zip(held, members, strict=True) if _is_on_scale(one, member)]
    if 1 < len(pairs) <= MOST_TOGETHER:
        _simultaneous(found, pairs, plan)
    return found


def _is_on_scale(estimate: Estimate, member: Member) -> bool:
    """Whether its interval is of t on the scale it was declared with: neither of few events nor withheld."""
    return bool(estimate.interval_std_error) and estimate.interval_scale == member.scale.name


def _p_value(estimate: Estimate) -> float:
    """Two-sided p of "the value is 0"."""
    t = abs(estimate.estimate or 0.0) / (estimate.std_error or math.inf)
    return float(2 * special.stdtr(_df(estimate), -t))


def _detectable(estimate: Estimate, m: int) -> float:
    """True value found with 80 % power at the strictest step of Holm's, .05/m: (t_{1-α/2m} + t_{.8}) standard errors."""
    df = _df(estimate)
    return (t_quantile(1 - ALPHA / 2 / m, df) + t_quantile(POWER, df)) * (estimate.std_error or 0.0)


def _simultaneous(
    found: dict[str, dict[str, Any]], pairs: Sequence[tuple[Estimate, Member]], plan: IntervalPlan
) -> None:
    """Add ends, and step-down p values where 0 is the null; none where too many resamples have an undefined member."""
    scale = pairs[0][1].scale
    values = scale.forward(np.array([one.estimate for one, _ in pairs]))
    errors = np.array([one.interval_std_error for one, _ in pairs], dtype=np.float64)
    replicates = _replicates([member for _, member in pairs], plan)
    whole = np.isfinite(replicates).all(axis=1)
    if whole.mean() < 1 - _MOST_LOST:
        return
    df = min(_df(one) for one, _ in pairs)
    taken = max_t(values, errors, values + _as_t(replicates[whole], df) * errors, plan.confidence_level)
    if not math.isfinite(taken.critical_value):
        return
    lows, highs = scale.inverse(taken.low), scale.inverse(taken.high)
    for (one, _), low, high, p in zip(pairs, lows, highs, taken.p_value, strict=True):
        fields = found[one.id]
        least, most = scale.domain
        fields["simultaneous"] = (max(float(low), least), min(float(high), most))
        if "p_values" in fields:
            fields["p_values"] = {**fields["p_values"], "max_t": float(p)}


def _as_t(replicates: Array, df: float) -> Array:
    """(B, m) each column's values exchanged for t quantiles in the same order."""
    ranks = replicates.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.asarray(special.stdtrit(df, (ranks + 0.5) / len(replicates)))


def _replicates(members: Sequence[Member], plan: IntervalPlan) -> Array:
    """(B, m) the members' values on their scale in the same resamples; one row of NaN where they are too many."""
    weights = plan.weights(len(members[0].tallies))
    if max(len(weights) * member.tallies[0].size for member in members) > _MOST_VALUES:
        return np.full((1, len(members)), np.nan)
    flat = [one.tallies.reshape(len(one.tallies), -1) for one in members]
    together = resample(weights, np.concatenate(flat, axis=1)) if _fits(weights, flat) else None
    ends = np.cumsum([0, *(one.shape[1] for one in flat)])
    values = []
    for one, start, stop in zip(members, ends, ends[1:], strict=False):
        drawn = resample(weights, one.tallies) if together is None else together[:, start:stop]
        values.append(one.scale.forward(one.measure(drawn.reshape(len(weights), *one.tallies.shape[1:]))))
    return np.stack(values, axis=1)


def _fits(weights: Array, flat: Sequence[Array]) -> bool:
    """Whether the resamples of all members may be made in one product."""
    n_cells = sum(one.shape[1] for one in flat)
    return bool(len(weights) * n_cells <= _MOST_VALUES)
