"""Two units of resampling at once: learners and questions, whose effects cross.

Every estimate is made three times, with the tallies by the first unit, by the second and by their intersection. The
variances combine as V = max(V₁ + V₂ - V₁₂, V₁, V₂) on the interval's own scale, with t on the smaller of the two
degrees of freedom (Cameron, Gelbach and Miller 2011; Davezies, D'Haultfœuille and Guyonvarch 2021 on why the maximum).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.results import Estimate
from evenhand.stats.binomial import t_quantile, upper_probability
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS, SCALES, Scale

METHOD, WIDER = "two_way_jackknife_t", "two_way_wider"
FEWEST_LEVELS = 5
"""Levels of the second unit below which only the first is resampled."""
METHODS = ("default", "jackknife_t", "jackknife_t_scaled", "korn_graubard", "clopper_pearson", "wilson", "none")
"""Interval methods that can be had by two units."""
_ROWS = ("clopper_pearson", "wilson")
_CLUSTERED = ("cr1", "cr2", "bootstrap")


@dataclass(frozen=True, slots=True)
class TwoUnits:
    """The two units by name, and the level of intervals."""

    first: str
    second: str
    confidence_level: float


def variance(first: float, second: float, both: float) -> float:
    """max(V₁ + V₂ - V₁₂, V₁, V₂): never less than resampling either unit alone gives."""
    return max(first + second - both, first, second)


def combined(
    units: TwoUnits, first: Sequence[Estimate], second: Sequence[Estimate], both: Sequence[Estimate]
) -> list[Estimate]:
    """The first unit's estimates with intervals over both units.

    Args:
        units: their names.
        first, second, both: all estimates by the first unit, the second and their intersection.
    """
    of_second, of_both = _by_id(second), _by_id(both)
    return [_one(units, one, of_second.get(one.id), of_both.get(one.id)) for one in first]


def _by_id(estimates: Sequence[Estimate]) -> Mapping[str, Estimate]:
    return {one.id: one for one in estimates}


def _one(units: TwoUnits, one: Estimate, two: Estimate | None, both: Estimate | None) -> Estimate:
    if one.estimate is None or one.ci_low is None or one.interval_method in _ROWS:
        return one
    if two is None or two.estimate is None:
        return _said(one, f"by {units.first} alone: there is no such value by {units.second}")
    if not _same(one.estimate, two.estimate):
        return _said(
            one, f"{_left_out(one, units)}: by {units.second} it is {two.estimate:.4g}, and no interval holds for both"
        )
    if both is not None and (both.estimate is None or not _same(one.estimate, both.estimate)):
        both = None
    spread = _errors(one, two, both)
    if two.ci_low is None or two.ci_high is None:
        nothing = dict.fromkeys(("ci_low", "ci_high", "interval_scale", "interval_df", "interval_std_error"))
        why = f"by {units.second}: {two.reason}"
        return one.model_copy(update={**spread, **nothing, "interval_method": "none", "reason": why})
    if one.interval_std_error is None or two.interval_std_error is None:
        return _wider(units, one, two, spread)
    return one.model_copy(update={**spread, **_interval(units, one, two, both)})


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def _left_out(one: Estimate, units: TwoUnits) -> str:
    """Why the number is another one by the second unit."""
    if one.statistic == "calibration":
        return f"by {units.first} alone, each one's marks calibrated on all others"
    return f"by {units.first} alone, since the number itself depends on the unit"


def _said(one: Estimate, words: str) -> Estimate:
    return one.model_copy(update={"reason": "; ".join(filter(None, (one.reason, words)))})


def _errors(one: Estimate, two: Estimate, both: Estimate | None) -> dict[str, object]:
    """Standard errors over both units, and the design effect that goes with them."""

    def over_both(a: float | None, b: float | None, c: float | None) -> float | None:
        return None if a is None or b is None else math.sqrt(variance(a**2, b**2, (c or 0.0) ** 2))

    std_error = over_both(one.std_error, two.std_error, both.std_error if both else None)
    others = dict(one.std_errors)
    for kind in _CLUSTERED:
        crossed = both.std_errors.get(kind) if both else None
        found = over_both(one.std_errors.get(kind), two.std_errors.get(kind), crossed)
        others.pop(kind, None)
        others |= {kind: found} if found is not None else {}
    deff = one.design_effect
    if deff is not None and std_error is not None and one.std_error:
        deff *= (std_error / one.std_error) ** 2
    return {"std_error": std_error, "std_errors": dict(sorted(others.items())), "design_effect": deff}


def _wider(units: TwoUnits, one: Estimate, two: Estimate, spread: Mapping[str, object]) -> Estimate:
    """Few events, or no error at all: limits have no standard error to combine, so the wider of each end stands."""
    ends = [one.ci_low, two.ci_low, one.ci_high, two.ci_high]
    low, low_too, high, high_too = (float(end) for end in ends if end is not None)
    why = f"{one.reason}; each end the wider of those by {units.first} and by {units.second}"
    return one.model_copy(
        update={
            **spread,
            "ci_low": min(low, low_too),
            "ci_high": max(high, high_too),
            "interval_method": WIDER,
            "interval_scale": None,
            "interval_df": None,
            "interval_std_error": None,
            "reason": why.removeprefix("; "),
        }
    )


def _interval(units: TwoUnits, one: Estimate, two: Estimate, both: Estimate | None) -> dict[str, object]:
    scales = [SCALES.get(found.interval_scale or "", IDENTITY) for found in (one, two)]
    scale, errors = scales[0], [found.interval_std_error for found in (one, two)]
    crossed = both.interval_std_error if both and both.interval_scale == scale.name else None
    if scales[0] is not scales[1]:
        scale, errors = IDENTITY, [one.std_error, two.std_error]
        crossed = both.std_error if both else None
    a, b = (float(error or 0.0) ** 2 for error in errors)
    spread = math.sqrt(variance(a, b, float(crossed or 0.0) ** 2))
    df = min(found for found in (one.interval_df, two.interval_df, math.inf) if found is not None)
    half = t_quantile(upper_probability(units.confidence_level), df) * spread
    middle = float(scale.forward(np.asarray(one.estimate)))
    low, high = (float(scale.inverse(np.asarray(end))) for end in (middle - half, middle + half))
    least, most = _bounds(one, scales)
    said = [f"lower end cut at {least:g}"] if low < least else []
    said += [f"upper end cut at {most:g}"] if high > most else []
    said += [] if both else ["as if the two units never met: their intersection has no value"]
    return {
        "ci_low": max(low, least),
        "ci_high": min(high, most),
        "interval_method": METHOD,
        "interval_scale": scale.name,
        "interval_df": df,
        "interval_std_error": spread,
        "reason": "; ".join(said),
    }


def _bounds(one: Estimate, scales: Sequence[Scale]) -> tuple[float, float]:
    """What the statistic can be: its scales' domains, and no less than -1 for a coefficient of agreement."""
    least, most = max(scale.domain[0] for scale in scales), min(scale.domain[1] for scale in scales)
    is_agreement = LOG_ONE_MINUS in scales and one.describes in ("judge", "measurement system")
    return (max(least, -1.0) if is_agreement else least), most
