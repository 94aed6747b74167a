"""Fixed strata, such as tasks: each by itself, their plain mean, and the pooled value, with intervals drawn within strata.

The plain mean and the pooled value are two estimands, and each has its own standard error: the pooled one printed beside
the plain mean would be far too short where strata differ in size.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.audits.agreement import diagonal
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array
from evenhand.stats.binomial import t_quantile
from evenhand.stats.intervals import Interval
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.stratified import StratifiedValue, mean_over_strata, pooled_over_strata
from evenhand.tally.strata import Strata

ORDER = 57
_METHODS = ("default", "jackknife_t", "jackknife_t_scaled")


@dataclass(frozen=True, slots=True)
class _OfStratum:
    """A statistic, and its cells of a table of labels."""

    statistic: Statistic
    cells: Callable[[Array], Array]


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every statistic of strata, where they are named."""
    strata = evidence.strata
    if strata is None or not len(strata.stratum):
        return
    for one in _statistics(evidence):
        cells = one.cells(strata.tables)
        yield from _each(evidence, strata, one, cells)
        words = one.statistic.estimand
        yield _together(evidence, strata, one, cells, mean_over_strata(cells, strata.stratum, one.statistic.measure),
            f"plain mean over {len(strata.names)} strata, each weighing the same, of: {words}", {"aggregation": "strata"})  # fmt: skip
        yield _together(evidence, strata, one, cells, pooled_over_strata(cells, strata.stratum, one.statistic.measure),
            f"{words}; strata weigh by their sizes and are fixed: clusters are drawn within them", {"strata": "fixed"})  # fmt: skip


def _statistics(evidence: Evidence) -> Iterator[_OfStratum]:
    if not evidence.has_reference:
        if evidence.is_binary:
            words = "share of scored verdicts {judge} calls {positive}"
            yield _OfStratum(_rate("judge_positive_rate", words), lambda tables: tables[:, 0, ::-1])
        return
    words = "share of verdicts on which {judge} gives the reference's label"
    yield _OfStratum(_rate("observed_agreement", words), diagonal)
    words = "chance-corrected agreement of {judge} with the reference"
    yield _OfStratum(Statistic("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "judge", words), lambda tables: tables)
    if evidence.is_binary:
        words = "share of the verdicts whose reference is {negative} that {judge} calls {positive}"
        yield _OfStratum(_rate("false_accept_rate", words), lambda tables: tables[:, 0, ::-1])
        words = "share of the verdicts whose reference is {positive} that {judge} calls {negative}"
        yield _OfStratum(_rate("false_reject_rate", words), lambda tables: tables[:, 1, :])


def _rate(name: str, words: str) -> Statistic:
    return Statistic(name, of.share, LOGIT, "judge", words, is_rate=True)


def _each(evidence: Evidence, strata: Strata, one: _OfStratum, cells: Array) -> Iterator[Estimate]:
    for at, name in enumerate(strata.names):
        here = strata.stratum == at
        tallies = np.zeros((len(evidence.units.names), *cells.shape[1:]))
        tallies[strata.unit[here]] = cells[here]
        yield assess(
            evidence, one.statistic, tallies, undefined="0/0 in this stratum", n_excluded=strata.n_excluded,
            n_clusters=int(strata.n_clusters[at]), params={"stratum": name},
        )  # fmt: skip


def _together(
    evidence: Evidence, strata: Strata, one: _OfStratum, cells: Array, found: StratifiedValue, words: str, params: dict[str, Param]
) -> Estimate:  # fmt: skip
    value = found.value if math.isfinite(found.value) else None
    rate = one.statistic.is_rate
    estimate = exact(
        evidence, one.statistic.name, value, unit="verdict", describes="judge", estimand=words,
        n_used=int(cells.sum()), n_excluded=strata.n_excluded, n_clusters=int(strata.n_clusters.sum()), params=params,
        events=float(cells[:, 0].sum()) if rate else None, trials=float(cells.sum()) if rate else None,
        reason="undefined in a stratum" if value is None else "",
    )  # fmt: skip
    if value is None:
        return estimate
    error, interval = _interval(evidence, strata, found, one.statistic.scale)
    return estimate.model_copy(
        update={
            "std_error": error,
            "ci_low": interval.low,
            "ci_high": interval.high,
            "interval_method": interval.method,
            "interval_scale": interval.scale,
            "interval_df": interval.df,
            "reason": interval.reason,
        }
    )


def _interval(
    evidence: Evidence, strata: Strata, found: StratifiedValue, scale: Scale
) -> tuple[float | None, Interval]:
    """The stratified jackknife's standard error, and t ends on the statistic's scale with Σ(G*_h − 1) df."""
    alone = np.flatnonzero(np.bincount(found.stratum) < 2)
    if len(alone):
        name = strata.names[int(alone[0])]
        return None, Interval(None, None, "none", f'stratum "{name}" holds one cluster: no standard error within it')
    error = found.std_error()
    if not math.isfinite(error):
        return None, Interval(None, None, "none", "undefined without one of the clusters")
    if error < 1e-12:
        return None, Interval(
            None, None, "none", "the value is the same whichever cluster is left out: that says nothing of its error"
        )
    if evidence.plan.method not in _METHODS:
        return error, Interval(None, None, "none", f"strata have jackknife intervals only, not {evidence.plan.method}")
    spread = found.std_error(scale)
    if not math.isfinite(spread):
        spread = error * float(scale.derivative(np.asarray(found.value)))
    middle = float(scale.forward(np.asarray(found.value)))
    if not (math.isfinite(middle) and math.isfinite(spread)):
        middle, spread, scale = found.value, error, IDENTITY
    half = t_quantile(0.5 + evidence.plan.confidence_level / 2, found.df) * spread
    low, high = (float(scale.inverse(np.asarray(end))) for end in (middle - half, middle + half))
    least, most = scale.domain
    return error, Interval(max(low, least), min(high, most), "jackknife_t_scaled", "", scale.name, found.df)
