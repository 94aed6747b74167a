"""Aggregation: the same agreement as a mean over criteria (macro) and over whole responses (item level).

The pooled (micro) level is in ``agreement``. A level is an estimand: a mean over criteria gives a rare criterion the
weight of a common one, a response-level decision hides where its criteria cancel.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.agreement import diagonal
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array, Measure, binned, ratio
from evenhand.stats.intervals import FEW_CLUSTERS_WITH_EVENT
from evenhand.stats.scales import ATANH, LOG_ONE_MINUS, LOGIT, Scale

ORDER = 55


@dataclass(frozen=True, slots=True)
class _Level:
    """A statistic of a 2×2 table, to be taken at another level."""

    name: str
    measure: Measure
    scale: Scale
    words: str
    events: Callable[[Array], Array] | None = None


def _accepts(tables: Array) -> Array:
    return np.stack([tables[..., 0, 1], tables[..., 0, 0]], axis=-1)


def _rejects(tables: Array) -> Array:
    return np.stack([tables[..., 1, 0], tables[..., 1, 1]], axis=-1)


def _share(events: tuple[tuple[int, int], ...], others: tuple[tuple[int, int], ...]) -> Measure:
    def measure(table: Array) -> Array:
        hit, missed = (np.sum([table[..., r, j] for r, j in group], axis=0) for group in (events, others))
        return ratio(hit, hit + missed)

    return measure


_STATISTICS = (
    _Level("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "Cohen's kappa of {judge} with the reference"),
    _Level("phi", of.phi, ATANH, "phi of {judge} with the reference"),
    _Level(
        "observed_agreement", of.observed_agreement, LOGIT, "share of agreement of {judge} with the reference", diagonal
    ),
    _Level("false_accept_rate", _share(((0, 1),), ((0, 0),)), LOGIT, "false accept rate of {judge}", _accepts),
    _Level("false_reject_rate", _share(((1, 0),), ((1, 1),)), LOGIT, "false reject rate of {judge}", _rejects),
)


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Macro and item-level agreement of one judge, where there is more than one criterion."""
    if not evidence.is_binary or not evidence.has_reference or len(evidence.criteria) < 2:
        return
    for level in _STATISTICS:
        over = _over_lines if evidence.per_cluster else _over_criteria
        for found in over(evidence, level):
            yield _without_few_events(evidence, level, found)
    yield from _item_level(evidence)


def _without_few_events(evidence: Evidence, level: _Level, found: Estimate) -> Estimate:
    """A mean of rates rests on the same few events as the pooled rate, whose jackknife would be too narrow."""
    if level.events is None or evidence.plan.method != "default":
        return found
    cells = level.events(evidence.cells.paired.tables())
    fewest = min(np.count_nonzero(cells[:, 0]), np.count_nonzero(cells[:, 1]))
    if fewest >= FEW_CLUSTERS_WITH_EVENT:
        return found
    reason = f"no interval: {fewest} clusters hold an event or a non-event, too few for a mean of rates; the pooled rate has one"
    return found.model_copy(
        update={
            "ci_low": None,
            "ci_high": None,
            "interval_method": "none",
            "interval_scale": None,
            "interval_df": None,
            "interval_std_error": None,
            "reason": reason,
        }
    )


def _over_criteria(evidence: Evidence, level: _Level) -> Iterator[Estimate]:
    """Unweighted mean over the criteria on which the statistic is defined at the full sample."""
    tables = evidence.cells.paired.tables_by_criterion()
    defined = np.isfinite(level.measure(tables.sum(axis=0)))
    without = [name for name, kept in zip(evidence.criteria, defined, strict=True) if not kept]
    left_out = (
        f"; undefined on {', '.join(without[:6])}{' and more' if len(without) > 6 else ''}, left out" if without else ""
    )
    yield assess(
        evidence,
        Statistic(
            level.name,
            lambda cells: ratio(np.asarray(level.measure(cells)).sum(axis=-1), np.asarray(float(cells.shape[-3]))),
            level.scale,
            "judge",
            f"mean over {int(defined.sum())} criteria, each weighing the same, of the {level.words}{left_out}",
            "criterion",
            counted=False,
        ),
        tables[:, defined],
        undefined="defined on no criterion",
        n_excluded=evidence.n_unpaired,
        n_clusters=evidence.counts.get("paired"),
        sizes=tables.sum(axis=(1, 2, 3)),
        params={"aggregation": "macro"},
    )


def _over_lines(evidence: Evidence, level: _Level) -> Iterator[Estimate]:
    """Unweighted mean over the lines of all clusters on which the statistic is defined; a line lies in one cluster."""
    if evidence.units.grouped:
        return
    by_line = evidence.cells.paired.tables_by_criterion()
    values = level.measure(by_line)
    defined = np.isfinite(values)
    lost = np.argwhere(~defined & (by_line.sum(axis=(2, 3)) > 0))
    named = ", ".join(f"{evidence.cluster_names[u]}.{evidence.criteria[k]}" for u, k in lost[:6])
    left_out = (
        f"; undefined on {len(lost)} of the lines ({named}{' and more' if len(lost) > 6 else ''}), left out"
        if len(lost)
        else ""
    )
    sums = np.stack([np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64)], axis=-1)
    yield assess(
        evidence,
        Statistic(
            level.name,
            lambda cells: ratio(cells[..., 0], cells[..., 1]),
            level.scale,
            "judge",
            f"mean over {int(defined.sum())} checklist lines, each weighing the same, of the {level.words}{left_out}",
            "line",
            counted=False,
        ),
        sums,
        undefined="defined on no line",
        n_excluded=evidence.n_unpaired,
        sizes=sums[:, 1],
        params={"aggregation": "macro"},
    )


def _item_level(evidence: Evidence) -> Iterator[Estimate]:
    """Each complete response reduced to one decision by each side: every criterion met, or a cut reached."""
    patterns = evidence.patterns
    if patterns is None:
        return
    kept = patterns.is_judged & patterns.is_referred
    present = np.bitwise_count(patterns.masks["present"]).sum(axis=1)
    rules: list[tuple[dict[str, Param], str, NDArray[np.bool_], NDArray[np.bool_]]] = [
        ({"rule": "all"}, "all criteria met", patterns.reference_total == present, patterns.judge_total == present)
    ]
    rules += [
        ({"cut": cut}, f"at least {cut:g} criteria met", patterns.reference_total >= cut, patterns.judge_total >= cut)
        for cut in evidence.cuts
    ]
    for params, words, should, does in rules:
        code = (patterns.unit * 4 + should * 2 + does)[kept]
        tables = binned(code, patterns.count[kept], (patterns.n_units, 2, 2))
        for level in _STATISTICS[:3]:
            is_rate = level.name == "observed_agreement"
            yield assess(
                evidence,
                Statistic(
                    level.name,
                    of.share if is_rate else level.measure,
                    level.scale,
                    "judge",
                    f"{level.words}, one decision a response: {words}",
                    "response",
                    is_rate=is_rate,
                    chance=None if is_rate else of.cohen_chance,
                ),
                diagonal(tables) if is_rate else tables,
                undefined="one side decides all responses alike, or there is none",
                n_excluded=int(patterns.count.sum() - tables.sum()),
                n_clusters=evidence.counts.get("complete"),
                params={"aggregation": "item", **params},
            )
