"""Ends of differences cut at what a difference can be: shares differ by at most 1, marks by at most the width of their scale.

Intervals of differences stand on the identity scale, so that zero inside them and the p value of zero say the same; with few
clusters their ends can lie where no difference can. Cutting them there loses no coverage: the truth is on this side.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.audits.evidence import Evidence
from evenhand.results import Estimate
from evenhand.stats.scales import IDENTITY
from evenhand.tally.marks import level_values

_SHARES = frozenset(
    {
        *("observed_agreement", "error_rate", "false_accept_rate", "false_reject_rate", "precision", "recall"),
        *("specificity", "npv", "f1", "balanced_accuracy", "prevalence", "judge_positive_rate", "accuracy"),
        *("selective_coverage", "selective_accuracy", "exact_agreement", "adjacent_agreement", "win_rate"),
        *("label_effect_share", "group_share", "group_part", "group_share_gap"),
    }
)
_OF_ARMS = frozenset({"drift", "label_effect", "bias"})


def within_range(estimates: Iterable[Estimate], evidence: Evidence) -> list[Estimate]:
    """The estimates, ends of differences on the identity scale cut at the largest difference there can be, which is said.

    Args:
        estimates: all of an audit.
        evidence: of one of its judges, whose scale all share.
    """
    widths = _widths(evidence)
    return [_cut(one, _width(one, widths)) for one in estimates]


def _widths(evidence: Evidence) -> Mapping[str, float]:
    """Largest difference of marks of a response under two arms, and of one mark and its reference, where these are known."""
    found, arms, scale = {}, evidence.arms, evidence.scale
    if arms is not None and arms.low is not None and arms.high is not None:
        found["arms"] = arms.high - arms.low
    if scale.range is not None:
        found["mark"] = scale.range[1] - scale.range[0]
    elif scale.kind == "ordinal":
        values, _ = level_values(scale)
        found["mark"] = float(values.max() - values.min())
    return found


def _width(one: Estimate, widths: Mapping[str, float]) -> float | None:
    if one.interval_scale != IDENTITY.name:
        return None
    name = one.params.get("metric", "") if one.statistic == "equivalence" else one.statistic
    if name in _SHARES or (name == "leniency" and one.params.get("per") == "verdict"):
        return 1.0
    if one.describes == "grader×context":
        if name not in _OF_ARMS or "arms" not in widths or "quantity" in one.params:
            return None
        is_of_runs = name == "label_effect" and bool(one.params.keys() - {"tail", "metric"})
        return widths["arms"] * (2 if is_of_runs else 1)  # of two runs, a difference of two differences
    return widths.get("mark") if name == "bias" else None


def _cut(one: Estimate, width: float | None) -> Estimate:
    if width is None or one.ci_low is None or one.ci_high is None:
        return one
    update: dict[str, Any] = {}
    if one.ci_low < -width or one.ci_high > width:
        ends = [
            f"{side} end cut at {limit:g}"
            for side, limit, beyond in (
                ("lower", -width, one.ci_low < -width),
                ("upper", width, one.ci_high > width),
            )
            if beyond
        ]
        said = f"{', '.join(ends)}: no difference here can be larger"
        update |= {"ci_low": max(one.ci_low, -width), "ci_high": min(one.ci_high, width)}
        update["reason"] = "; ".join(filter(None, (one.reason, said)))
    if one.simultaneous is not None:
        low, high = one.simultaneous
        update["simultaneous"] = (max(low, -width), min(high, width))
    return one.model_copy(update=update) if update else one
