"""Tables of groups: the numbers that RSMTool's readers look for, and which labels each group would get."""

import math
from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.groups import has_marks
from evenhand.results import Cell, Table
from evenhand.stats import marks as of
from evenhand.stats.arrays import Array
from evenhand.tally.groups import Groups
from evenhand.tally.marks import level_values

MOST_LABELS = 20
"""Labels up to which each group's shares of them are tabled."""
EVERYBODY = "all"
_COLUMNS = (
    "axis", "group", "n", "reference_mean", "reference_sd", "judge_mean", "judge_sd", "smd", "dsm", "pearson_r",
    "quadratic_weighted_kappa", "rmse",
)  # fmt: skip


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """``groups``: moments and agreement by group; ``labels_by_group``: shares of every label under either side."""
    axes = [groups for groups in evidence.groups if len(groups.group)]
    if axes and has_marks(evidence):
        rows = [row for groups in axes for row in _moments(groups, level_values(evidence.scale)[0])]
        yield f"groups/{evidence.source}", Table(columns=_COLUMNS, rows=tuple(rows))
    if axes and evidence.scale.size <= MOST_LABELS:
        yield f"labels_by_group/{evidence.source}", _labels(evidence, axes)


def _moments(groups: Groups, values: Array) -> Iterator[tuple[Cell, ...]]:
    """A row a group, and one of everybody; verdicts count alike.

    SMD is the judge's mean less the reference's, in the reference's standard deviation over everybody. DSM, the difference of
    standardised means, compares both after each is standardised over everybody (RSMTool, Loukina and others 2019).
    """
    mark, score, count = values[groups.judge], values[groups.reference], groups.count.astype(np.float64)
    zeros = np.zeros(len(mark), dtype=np.int64)
    ends = [_mean_and_sd(one, count) for one in (score, mark)]
    for at in (-1, *np.unique(groups.group).tolist()):
        here = np.ones(len(mark), dtype=np.bool_) if at < 0 else groups.group == at
        (h, h_sd), (m, m_sd) = (_mean_and_sd(one[here], count[here]) for one in (score, mark))
        sums = of.mark_sums(score[here], mark[here], zeros[here], 1, groups.count[here])[0]
        dsm = (m - ends[1][0]) / ends[1][1] - (h - ends[0][0]) / ends[0][1] if ends[0][1] > 0 < ends[1][1] else math.nan
        numbers = (
            h, h_sd, m, m_sd, (m - h) / ends[0][1] if ends[0][1] > 0 else math.nan, dsm,
            *(float(function(sums)) for function in (of.pearson_r, of.lin_ccc, of.rmse)),
        )  # fmt: skip
        name = EVERYBODY if at < 0 else groups.names[at]
        yield (groups.axis, name, int(count[here].sum()), *(one if math.isfinite(one) else None for one in numbers))


def _mean_and_sd(values: Array, count: Array) -> tuple[float, float]:
    """Mean, and standard deviation with divisor n - 1; NaN below two."""
    n = float(count.sum())
    mean = float((count * values).sum() / n)
    return mean, math.sqrt(float((count * (values - mean) ** 2).sum()) / (n - 1)) if n > 1 else math.nan


def _labels(evidence: Evidence, axes: list[Groups]) -> Table:
    """How often each label falls to each group, by the judge and by the reference."""
    rows: list[tuple[Cell, ...]] = []
    for groups in axes:
        for at in np.unique(groups.group).tolist():
            here = groups.group == at
            n = float(groups.count[here].sum())
            sides = [
                np.bincount(one[here], weights=groups.count[here], minlength=evidence.scale.size)
                for one in (groups.judge, groups.reference)
            ]
            for label, judge, reference in zip(evidence.scale.levels, *sides, strict=True):
                rows.append(
                    (groups.axis, groups.names[at], label, int(judge), judge / n, int(reference), reference / n)
                )
    columns = ("axis", "group", "label", "n_judge", "share_judge", "n_reference", "share_reference")
    return Table(columns=columns, rows=tuple(rows))
