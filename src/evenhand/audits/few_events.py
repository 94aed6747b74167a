"""Limits of a rate with few events under other assumptions about how its errors cluster.

Where fewer than five clusters hold an event, no estimate of their clustering means anything; what the limit would be on
independent rows, at the estimate as it is, at the assumed intraclass correlation and at that of the errors in the other
direction stands side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.results import Estimate
from evenhand.stats.arrays import Array
from evenhand.stats.binomial import LEAST_DF, clopper_pearson, design_effect_at, icc_of, korn_graubard_limits
from evenhand.stats.intervals import ASSUMED_ICC, FEW_CLUSTERS_WITH_EVENT, design_effect_of_rate

ORDER = 51
_PAIRS = (
    ("false_accept_rate", 0, "false_reject_rate", "false rejects"),
    ("false_reject_rate", 1, "false_accept_rate", "false accepts"),
)


@dataclass(frozen=True, slots=True)
class _Rate:
    """Events and trials by unit, of the units that hold any trial."""

    events: Array
    sizes: Array

    @property
    def total(self) -> tuple[float, float]:
        return float(self.events.sum()), float(self.sizes.sum())

    @property
    def trials_a_cluster(self) -> float:
        return float(self.sizes.mean())

    @property
    def df(self) -> float:
        return float(self.sizes.sum() ** 2 / np.square(self.sizes).sum()) - 1

    @property
    def fewest(self) -> tuple[int, int]:
        """Units with an event, and units with a trial that is none."""
        return int(np.count_nonzero(self.events)), int(np.count_nonzero(self.sizes - self.events))

    @property
    def design_effect(self) -> float:
        return max(1.0, design_effect_of_rate(self.events, self.sizes) or 0.0) if len(self.sizes) > 1 else 1.0


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Limits of each of the two error rates that has few events."""
    if not evidence.is_binary or not evidence.has_reference:
        return
    tables = evidence.cells.paired.tables()
    rates = {name: _rate(tables, label) for name, label, _, _ in _PAIRS}
    for name, _, other, whose in _PAIRS:
        rate, companion = rates[name], rates[other]
        if len(rate.sizes) > 1 and rate.df >= LEAST_DF and min(rate.fewest) < FEW_CLUSTERS_WITH_EVENT:
            yield from _limits(evidence, name, rate, companion, whose)


def _rate(tables: Array, label: int) -> _Rate:
    sizes = tables[:, label].sum(axis=1)
    held = sizes > 0
    return _Rate(tables[held, label, 1 - label], sizes[held])


def _limits(evidence: Evidence, name: str, rate: _Rate, companion: _Rate, whose: str) -> Iterator[Estimate]:
    (events, trials), level = rate.total, evidence.plan.confidence_level
    bound = "upper" if rate.fewest[0] <= rate.fewest[1] else "lower"
    at_rows = clopper_pearson(np.asarray(events), np.asarray(trials), level)
    m, own = rate.trials_a_cluster, rate.design_effect
    kinds = [("none", float(at_rows[bound == "upper"]), "on independent verdicts (Clopper–Pearson)", "")]
    effects = [
        ("estimated", own, "at the estimated clustering, which means little with so few events", icc_of(own, m)),
        ("assumed", max(own, design_effect_at(ASSUMED_ICC, m)), "at the assumed intraclass correlation", ASSUMED_ICC),
    ]
    if min(companion.fewest, default=0) >= FEW_CLUSTERS_WITH_EVENT:
        icc = icc_of(companion.design_effect, companion.trials_a_cluster)
        effects.append(
            ("companion", max(own, design_effect_at(icc, m)), f"at the intraclass correlation of {whose}", icc)
        )
    for kind, effect, words, icc in effects:
        found = korn_graubard_limits(events, trials, effect, rate.df, level)
        said = f"ICC {icc:.3g}, design effect {effect:.3g}: Clopper–Pearson at {found.trials:.0f} effective trials"
        kinds.append((kind, found.high if bound == "upper" else found.low, words, said))
    for kind, limit, words, said in kinds:
        yield exact(
            evidence,
            name,
            limit,
            unit="verdict",
            describes="judge",
            reason=said or "ICC 0: every verdict counts as independent",
            n_used=int(trials),
            n_excluded=int(evidence.cells.count.sum() - trials),
            n_clusters=len(rate.sizes),
            events=events,
            trials=trials,
            params={"bound": bound, "icc": kind},
            estimand=f"{bound} {100 * level:g} % limit of the {name.replace('_', ' ')} of {{judge}} {words}",
        )
