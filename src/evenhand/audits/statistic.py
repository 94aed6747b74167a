"""What a statistic declares, and how a declaration and its tallies become an estimate."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from evenhand.audits.evidence import Evidence, Member
from evenhand.ids import EstimateId, Param
from evenhand.results import Describes, Estimate, Unit
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.delta import cr1_std_error, delta_variance, gradient
from evenhand.stats.intervals import METHODS, Interval, Sample, cr2_variance, withheld
from evenhand.stats.scales import Scale

MOST_CELLS = 400
"""Cells in use beyond which no statistic is linearised: design effect and the standard errors beside the jackknife's."""
EXACT_COUNT = "a count of what was read, without sampling error"


OWN_INTERVALS = {
    "generalised": "generalised intervals are for variance components and what is made of them, where a facet varies",
    "fieller": "Fieller's interval is for ratios of two contrasts of arms",
}
"""Methods that some statistics bring along and use by themselves."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One declaration.

    Attributes:
        name: as in ids.
        measure: (..., *cells) → (...).
        scale: where its jackknife values are about normal.
        describes: whom the number is about.
        estimand: one sentence; may hold {judge}, {positive}, {negative}.
        unit: what is counted.
        is_rate: cells are (events, non-events) of one population.
        chance: expected agreement at a table's margins, for coefficients 1 - disagreement/(1 - chance).
        from_rate: maps the share of events to the statistic, where it is a monotone function of it.
        counted: cells are counts of independent members, so that a design effect has a meaning.
    """

    name: str
    measure: Measure
    scale: Scale
    describes: Describes
    estimand: str
    unit: Unit = "verdict"
    is_rate: bool = False
    chance: Measure | None = None
    from_rate: Callable[[Array], Array] | None = None
    counted: bool = True
    params: Mapping[str, Param] = field(default_factory=dict)


def assess(
    evidence: Evidence,
    statistic: Statistic,
    tallies: Array,
    *,
    undefined: str,
    source: str = "",
    n_excluded: int = 0,
    n_clusters: int | None = None,
    describes: Describes | None = None,
    alternatives: bool = False,
    sizes: Array | None = None,
    params: Mapping[str, Param] | None = None,
    family: str = "",
) -> Estimate:
    """One estimate with its interval.

    Args:
        evidence: names and the interval plan.
        statistic: the declaration.
        tallies: (U, *cells) counts a unit; units without any are outside the population.
        undefined: the reason to give where the value is 0/0.
        source: of the id; the judge by default.
        n_excluded: members of the domain that the population leaves out.
        n_clusters: clusters behind the population; the units in it by default.
        describes: whom, where it differs from the declaration.
        alternatives: also compute the other standard errors.
        sizes: (U,) members of the population a unit; the sum of its cells by default.
        params: of the id, besides the declaration's own.
        family: what it is tested or bounded together with; see ``families``.
    """
    sizes = tallies.reshape(len(tallies), -1).sum(axis=1) if sizes is None else sizes
    identity = EstimateId.of(statistic.name, source or evidence.source, **{**statistic.params, **(params or {})})
    if evidence.effective is not None:
        factor = evidence.effective.factor(str(identity), sizes)
        tallies, sizes = factor * tallies, factor * sizes
    active = sizes > 0
    sample = Sample(
        tallies=tallies[active],
        measure=statistic.measure,
        sizes=sizes[active],
        scale=statistic.scale,
        names=evidence.names(active),
        weights=evidence.plan.weights,
        events=tallies[active][:, 0] if statistic.is_rate else None,
        ceiling=_ceiling(statistic, tallies),
        from_rate=statistic.from_rate,
    )
    value = sample.value if active.any() else math.nan
    interval = _interval(sample, evidence) if math.isfinite(value) else Interval(None, None, "none", undefined)
    std_error = sample.std_error if math.isfinite(value) else None
    if family and std_error:
        evidence.plan.members.append(Member(family, str(identity), statistic.measure, tallies, statistic.scale))
    others, deff = _other_std_errors(sample, statistic, std_error, alternatives) if math.isfinite(value) else ({}, None)
    return Estimate(
        id=str(identity),
        statistic=statistic.name,
        params=dict(identity.params),
        source=identity.source,
        estimate=value if math.isfinite(value) else None,
        std_error=std_error,
        std_errors=others,
        ci_low=interval.low,
        ci_high=interval.high,
        interval_method=interval.method if interval.low is not None else "none",
        interval_scale=interval.scale,
        interval_df=interval.df,
        interval_std_error=interval.std_error,
        status="ok" if math.isfinite(value) else "undefined",
        reason=interval.reason,
        unit=statistic.unit,
        events=float(sample.events.sum()) if sample.events is not None else None,
        trials=float(sizes.sum()) if statistic.is_rate else None,
        n_used=int(sizes.sum()),
        n_excluded=n_excluded,
        n_clusters=int(active.sum()) if n_clusters is None else n_clusters,
        design_effect=deff,
        describes=describes or statistic.describes,
        estimand=fill(statistic.estimand, evidence),
    )


_PLACEHOLDER = re.compile(r"\{(judge|negative|positive)\}")


def fill(estimand: str, evidence: Evidence) -> str:
    """An estimand sentence with its {judge}, {negative} and {positive}; other braces are text of the data."""
    levels = evidence.scale.levels
    judge = "the judge" if evidence.is_sole_judge else f"the judge {evidence.source}"
    words = {"judge": judge, "negative": levels[0], "positive": levels[-1]}
    return _PLACEHOLDER.sub(lambda found: words[found[1]], estimand)


def _ceiling(statistic: Statistic, tallies: Array) -> float | None:
    if statistic.chance is None:
        return None
    ceiling = 1 - float(statistic.chance(tallies.sum(axis=0)))
    return ceiling if math.isfinite(ceiling) and ceiling > 0 else None


def _interval(sample: Sample, evidence: Evidence) -> Interval:
    method = evidence.plan.method
    if method in OWN_INTERVALS:
        return withheld(method, f"{OWN_INTERVALS[method]}; leave --interval at its default")
    return METHODS[method](sample, evidence.plan.confidence_level)


def _other_std_errors(
    sample: Sample, statistic: Statistic, std_error: float | None, alternatives: bool
) -> tuple[dict[str, float], float | None]:
    """Standard errors by name, and the design effect: jackknife variance over the independent one."""
    totals = sample.tallies.sum(axis=0)
    if not statistic.counted or np.count_nonzero(totals) > MOST_CELLS:
        return {}, None
    slopes = gradient(sample.measure, totals)
    if slopes is None:
        return {}, None
    independent = delta_variance(totals, slopes)
    deff = std_error**2 / independent if std_error is not None and independent > 1e-18 else None
    if not alternatives:
        return {}, deff
    found: dict[str, float | None] = {
        "delta": math.sqrt(independent),
        "cr1": cr1_std_error(sample.tallies, slopes),
        "bootstrap": _bootstrap_std_error(sample),
    }
    n = float(sample.sizes.sum())
    if n > 1:
        found["naive"] = math.sqrt(independent * n / (n - 1))
    if sample.events is not None and sample.from_rate is None and sample.n_units > 1:
        found["cr2"] = math.sqrt(cr2_variance(sample.events, sample.sizes)[0])
    return {name: number for name, number in sorted(found.items()) if number is not None}, deff


def _bootstrap_std_error(sample: Sample) -> float | None:
    if sample.obstacle():
        return None
    values = sample.replicates[np.isfinite(sample.replicates)]
    return float(values.std(ddof=1)) if len(values) > 1 else None


def exact(
    evidence: Evidence,
    name: str,
    value: float | None,
    *,
    unit: Unit,
    describes: Describes,
    estimand: str,
    reason: str = EXACT_COUNT,
    source: str = "",
    n_used: int = 0,
    n_excluded: int = 0,
    n_clusters: int = 0,
    events: float | None = None,
    trials: float | None = None,
    interval: Interval | None = None,
    params: Mapping[str, Param] | None = None,
) -> Estimate:
    """An estimate that no resampling speaks about: a count, an order statistic, or a line's own binomial rate."""
    identity = EstimateId.of(name, source or evidence.source, **(params or {}))
    has_ends = interval is not None and interval.low is not None
    return Estimate(
        id=str(identity),
        statistic=name,
        params=dict(identity.params),
        source=identity.source,
        estimate=value,
        std_error=None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        interval_method=interval.method if interval and has_ends else "none",
        status="ok" if value is not None else "undefined",
        reason=interval.reason if interval and has_ends else reason,
        unit=unit,
        events=events,
        trials=trials,
        n_used=n_used,
        n_excluded=n_excluded,
        n_clusters=n_clusters,
        design_effect=None,
        describes=describes,
        estimand=fill(estimand, evidence),
    )
