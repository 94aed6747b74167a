"""What the shipped coverage study says of an estimate's interval: the nearest design it measured, or nothing."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.ids import EstimateId
from evenhand.results import Coverage, Estimate
from evenhand.simulate.coverage import LEVEL
from evenhand.simulate.coverage_table import shipped
from evenhand.simulate.covered import ALIASES, CUT

_METHODS = ("jackknife_t", "jackknife_t_scaled", "korn_graubard")
_OF_A_PART = frozenset(
    {"criterion", "checklist", "bound", "unscored", "ties", "rule", "unit", "line", "per", "variance"}
)
"""Parameters that choose whom a number is about and leave its method as it is."""
_WITH_CUT = ("accuracy", "phi_lambda")
_FEW_ERRORS = {"binary": 0.02, "nominal": 0.02, "pairwise": 0.02, "ordinal": 0.15, "continuous": 0.15}
"""Share of unlike verdicts below which the designs with rare errors are nearer, by scale: marks differ more easily."""
_ONE_SIDED = 0.72
"""Share of the commonest reference label from which the designs with a skewed reference are nearer."""


def with_coverage(
    estimates: Sequence[Estimate], evidence: Sequence[Evidence], n_units: int, method: str
) -> tuple[Estimate, ...]:
    """Estimates with the measured coverage of their intervals where it was measured.

    Args:
        estimates: of the audit.
        evidence: of every judge.
        n_units: of resampling.
        method: of the intervals; the study is of the default.
    """
    if method != "default":
        return tuple(estimates)
    rates = {one.source: nearest_rates(one) for one in evidence}
    return tuple(_with_coverage(estimates, evidence, n_units, rates))


def _with_coverage(
    estimates: Sequence[Estimate], evidence: Sequence[Evidence], n_units: int, rates: dict[str, str]
) -> Iterator[Estimate]:
    table, sides = shipped(), _sides(evidence)
    for estimate in estimates:
        clusters = min(estimate.n_clusters, n_units)
        if estimate.ci_low is None or estimate.interval_method not in _METHODS or clusters < 2:
            yield estimate
            continue
        judge, side = sides.get(estimate.source, (evidence[0].source, "judge"))
        studied = _studied(estimate, side)
        own = _nearest_to_rate(estimate, studied)
        effective = estimate.interval_df + 1 if estimate.interval_df is not None else float(clusters)
        found = table.nearest(studied, clusters, effective, own or rates[judge])
        yield (
            estimate
            if found is None
            else estimate.model_copy(
                update={
                    "coverage": Coverage(
                        level=LEVEL,
                        clusters=found.design.clusters,
                        imbalance=found.design.imbalance,
                        rates=found.design.rates,
                        iccs=tuple(found.shares),
                        shares=tuple(round(share, 4) for share in found.shares.values()),
                    )
                }
            )
        )


def _sides(evidence: Sequence[Evidence]) -> dict[str, tuple[str, str]]:
    """Source of an estimate → whose verdicts it is about, and as whose it was studied."""
    found = {"raters": (evidence[0].source, "raters")}
    for one in evidence:
        found |= {
            one.source: (one.source, "judge"),
            one.reference_source: (one.source, "judge"),
            one.difference_source: (one.source, "judge-reference"),
        }
    return found


def _nearest_to_rate(estimate: Estimate, studied: str) -> str | None:
    """Base rates nearest to a rate's own events; None for other statistics."""
    if estimate.events is None or not estimate.trials:
        return None
    return shipped().nearest_rates(studied, (estimate.events + 0.5) / (estimate.trials + 1))


def _studied(estimate: Estimate, side: str) -> str:
    """Id under which the study has this kind of number."""
    params = {name: value for name, value in estimate.params.items() if name not in _OF_A_PART}
    if params.get("aggregation") == "item":
        del params["aggregation"]
    if params.pop("cut", None) is not None and estimate.statistic in _WITH_CUT:
        params["cut"] = str(CUT)
    statistic = ALIASES.get(estimate.statistic, estimate.statistic)
    return str(EstimateId(statistic, side, dict(sorted(params.items()))))


def nearest_rates(evidence: Evidence) -> str:
    """Which of the study's base rates a judge's verdicts are nearest to; "even" where there is nothing to tell."""
    paired = evidence.cells.paired
    total = float(paired.count.sum())
    if not evidence.has_reference or not total:
        return "even"
    unlike = float(paired.count[paired.reference != paired.judge].sum()) / total
    if unlike < _FEW_ERRORS.get(evidence.scale.kind, 0.0):
        return "rare"
    labels = np.bincount(paired.reference, weights=paired.count)
    share = float(labels.max()) / total
    return "skewed" if evidence.is_binary and math.isfinite(share) and share >= _ONE_SIDED else "even"
