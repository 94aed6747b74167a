"""The tables of an audit: what a report draws from, beside the estimates."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits import lines
from evenhand.audits.evidence import Evidence
from evenhand.results import Table


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """Name and table of everything one judge's tallies hold."""
    name = evidence.source
    yield f"levels/{name}", _levels(evidence)
    if not evidence.has_reference:
        return
    if evidence.is_binary:
        yield f"criteria/{name}", _criteria(evidence)
    if lines.applies(evidence):
        yield f"lines/{name}", lines.table(evidence)
    if evidence.patterns is not None:
        yield f"totals/{name}", _totals(evidence)


def _levels(evidence: Evidence) -> Table:
    """Reference level by judge level, labels and statuses, over all slots."""
    names = evidence.scale.all_levels
    counts = evidence.cells.levels(len(names)).sum(axis=0).astype(int)
    q = evidence.scale.size
    rows = [
        (names[r], names[j], int(counts[r, j]))
        for r in range(len(names))
        for j in range(len(names))
        if counts[r, j] or (r < q and j < q)
    ]
    return Table(columns=("reference", "judge", "n"), rows=tuple(rows))


def _criteria(evidence: Evidence) -> Table:
    """Counts of each criterion; a criterion with constant labels stays."""
    counts = evidence.cells.paired.tables_by_criterion().sum(axis=0).astype(int)
    rows = [
        (criterion, int(t[1, 1]), int(t[1, 0]), int(t[0, 1]), int(t[0, 0]))
        for criterion, t in zip(evidence.criteria, counts, strict=True)
    ]
    return Table(
        columns=("criterion", "true_accepts", "false_rejects", "false_accepts", "true_rejects"), rows=tuple(rows)
    )


def _totals(evidence: Evidence) -> Table:
    """Joint distribution of reference and judge totals over complete responses."""
    patterns = evidence.patterns
    if patterns is None:
        return Table(columns=("reference_total", "judge_total", "n"), rows=())
    size = patterns.n_criteria + 1
    kinds = patterns.reference_total * size + patterns.judge_total
    joint = patterns.by_unit(kinds, size * size, patterns.is_judged & patterns.is_referred).sum(axis=0).astype(int)
    rows = [(int(at // size), int(at % size), int(joint[at])) for at in np.flatnonzero(joint)]
    return Table(columns=("reference_total", "judge_total", "n"), rows=tuple(rows))
