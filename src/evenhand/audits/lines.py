"""Checklist lines: where the errors sit. A line is a criterion, or a cluster's criterion where checklists differ."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.results import Estimate, Table
from evenhand.stats.arrays import Array, Counts, binned
from evenhand.stats.intervals import Interval, clopper_pearson

N_WORST = 5
MOST_LINE_ESTIMATES = 2_000
"""Lines beyond which only those with the most errors become estimates; the table holds them all."""
_RATES = (
    ("error_rate", "errors", "scored", "{judge} differs from the reference"),
    ("false_accept_rate", "false_accepts", "absent", "{judge} calls {positive} what the reference calls {negative}"),
    ("false_reject_rate", "false_rejects", "present", "{judge} calls {negative} what the reference calls {positive}"),
)


@dataclass(frozen=True, slots=True)
class Lines:
    """Counts of every line that has a scored pair, the most errors first, ties in line order.

    Attributes:
        names: (L,) "cluster.criterion", or the criterion.
        keys: (L,) cluster · K + criterion, or the criterion's position.
        tables: (L, 2, 2) reference by judge.
    """

    names: tuple[str, ...]
    keys: Counts
    tables: Array

    def counts(self, what: str) -> Array:
        """(L,) errors, false accepts, false rejects, or the verdicts they are shares of."""
        t = self.tables
        columns: dict[str, Array] = {
            "errors": t[:, 0, 1] + t[:, 1, 0],
            "false_accepts": t[:, 0, 1],
            "false_rejects": t[:, 1, 0],
            "scored": t.sum(axis=(1, 2)),
            "absent": t[:, 0].sum(axis=1),
            "present": t[:, 1].sum(axis=1),
        }
        return columns[what]


def gather(evidence: Evidence) -> Lines:
    """The lines of one judge."""
    cells, k = evidence.line_cells.paired, len(evidence.criteria)
    line: Counts = cells.unit * k + cells.criterion if evidence.per_cluster else cells.criterion
    keys, position = np.unique(line, return_inverse=True)
    code = (position * 2 + cells.reference) * 2 + cells.judge
    tables = binned(code, cells.count, (len(keys), 2, 2))
    errors = tables[:, 0, 1] + tables[:, 1, 0]
    order = np.argsort(-errors, kind="stable")
    names = tuple(_name(evidence, int(keys[at])) for at in order)
    return Lines(names, keys[order], tables[order])


def _name(evidence: Evidence, key: int) -> str:
    if not evidence.per_cluster:
        return evidence.criteria[key]
    cluster, criterion = divmod(key, len(evidence.criteria))
    return f"{evidence.cluster_names[cluster]}.{evidence.criteria[criterion]}"


def applies(evidence: Evidence) -> bool:
    """Whether there are lines to tell apart."""
    return evidence.is_binary and evidence.has_reference and (len(evidence.criteria) > 1 or evidence.per_cluster)


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Concentration of errors, and each line's own rates."""
    if not applies(evidence):
        return
    lines = gather(evidence)
    errors = lines.counts("errors")
    n_clusters = evidence.counts["clusters_used"]
    total = int(errors.sum())
    order_statistic = "no interval: the worst lines are chosen by the same errors that are counted on them"
    worst = min(N_WORST, len(errors))
    yield exact(
        evidence,
        "errors_in_worst_lines",
        int(errors[:N_WORST].sum()),
        unit="line",
        describes="judge",
        reason=order_statistic,
        events=float(errors[:N_WORST].sum()),
        trials=float(total),
        n_used=len(errors),
        n_clusters=n_clusters,
        params={"lines": N_WORST},
        estimand=f"errors of {{judge}} on the {worst} of {len(errors)} lines that hold the most, of {total} in all",
    )
    with_errors = int(np.count_nonzero(errors))
    yield exact(
        evidence,
        "lines_with_errors",
        with_errors,
        unit="line",
        describes="judge",
        reason="no interval: a count of the lines seen",
        events=float(with_errors),
        trials=float(len(errors)),
        n_used=len(errors),
        n_clusters=n_clusters,
        estimand=f"lines of {len(errors)} on which {{judge}} errs at least once",
    )
    if evidence.per_cluster:
        yield from _line_rates(evidence, lines)


def _line_rates(evidence: Evidence, lines: Lines) -> Iterator[Estimate]:
    kept = range(min(len(lines.names), MOST_LINE_ESTIMATES))
    for name, events_of, trials_of, words in _RATES:
        events, trials = lines.counts(events_of), lines.counts(trials_of)
        low, high = clopper_pearson(events, np.maximum(trials, 1), evidence.plan.confidence_level)
        for at in kept:
            seen = trials[at] > 0
            yield exact(
                evidence,
                name,
                float(events[at] / trials[at]) if seen else None,
                unit="response",
                describes="judge",
                reason="" if seen else "no verdict of this line is in the population",
                events=float(events[at]),
                trials=float(trials[at]),
                n_used=int(trials[at]),
                n_clusters=1,
                params={"line": lines.names[at]},
                interval=Interval(
                    float(low[at]),
                    float(high[at]),
                    "clopper_pearson",
                    "over the line's own responses, which lie in one cluster",
                )
                if seen
                else None,
                estimand=f"share of the responses to line {lines.names[at]} on which {words}",
            )


def table(evidence: Evidence) -> Table:
    """All lines, the most errors first."""
    lines = gather(evidence)
    names = ("errors", "scored", "false_accepts", "absent", "false_rejects", "present")
    columns = [lines.counts(name).astype(int).tolist() for name in names]
    rows = tuple((line, *counts) for line, *counts in zip(lines.names, *columns, strict=True))
    return Table(columns=("line", *names), rows=rows)
