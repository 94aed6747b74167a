"""The tables of an audit: what a report draws from, beside the estimates."""

import math
from collections.abc import Iterator

import numpy as np

from evenhand.audits import (
    calibration_marks,
    confidence,
    groups_tables,
    label_budget,
    lines,
    preference,
    system_means,
    systems,
)
from evenhand.audits.evidence import Evidence
from evenhand.results import Table
from evenhand.stats.arrays import binned
from evenhand.stats.strong_true_score import fit_beta_binomial, livingston_lewis
from evenhand.tally.moments import Side, complete_responses
from evenhand.verdicts.scale import STATUSES


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """Name and table of everything one judge's tallies hold."""
    name = evidence.source
    yield f"levels/{name}", _levels(evidence)
    yield from systems.tables(evidence)
    yield from system_means.tables(evidence)
    yield from label_budget.tables(evidence)
    if not evidence.has_reference:
        return
    if evidence.is_binary:
        yield f"criteria/{name}", _criteria(evidence)
    if any(not traits.obstacle for traits in evidence.traits):
        yield f"by/{name}", preference.table(evidence)
    if lines.applies(evidence):
        yield f"lines/{name}", lines.table(evidence)
    yield from confidence.tables(evidence)
    yield from calibration_marks.tables(evidence)
    yield from groups_tables.tables(evidence)
    if evidence.patterns is not None:
        yield f"totals/{name}", _totals(evidence)
        if evidence.cuts and len(evidence.criteria) > 1:
            yield f"decomposition/{name}", _decomposition(evidence)


def _levels(evidence: Evidence) -> Table:
    """Reference level by judge level, labels and statuses, over all slots."""
    names: tuple[str, ...] = ("scored", *STATUSES)
    q, counts = 1, evidence.cells.states().sum(axis=0).astype(int)
    if evidence.scale.kind != "continuous":
        names, cells, q = evidence.scale.all_levels, evidence.cells, evidence.scale.size
        counts = binned(cells.reference * len(names) + cells.judge, cells.count, (len(names), len(names))).astype(int)
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


def _decomposition(evidence: Evidence) -> Table:
    """A_J - LL_J = (1 - LL_G) - (1 - A_J) - (LL_J - LL_G), exactly, at each cut (Zhu 2026, section 4).

    ``line_sampling`` is what Livingston-Lewis charges an error-free scorer, ``judge_error`` the judge's wrong decisions.
    """
    columns = ("cut", "accuracy_minus_livingston_lewis", "line_sampling", "judge_error", "judge_minus_reference")
    if evidence.patterns is None:
        return Table(columns=columns, rows=())
    groups = complete_responses(evidence.patterns, needs_reference=True)
    rows = []
    for cut in evidence.cuts if len(groups) == 1 else ():
        sides: tuple[Side, Side] = ("judge", "reference")
        of_judge, of_reference = (
            float(livingston_lewis(fit_beta_binomial(groups[0].histogram(side).sum(axis=0)), cut).accuracy)
            for side in sides
        )
        passes = [groups[0].values(side).sum(axis=1) >= cut for side in sides]
        count = evidence.patterns.count[groups[0].kept]
        accuracy = float(count[passes[0] == passes[1]].sum() / count.sum())
        rows.append((cut, accuracy - of_judge, 1 - of_reference, 1 - accuracy, of_judge - of_reference))
    return Table(columns=columns, rows=tuple(row for row in rows if all(map(math.isfinite, row))))
