"""Gaps between groups of people: in error rates, and in marks at equal reference score, as seen and as noise would have it.

With two groups the second is held against the first; with more, each against all others. Strata and weights are those of
the full sample, in every replicate. Groups are for an audit: they never enter a prompt.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.evidence import Evidence
from evenhand.audits.groups_gap import Rows, gap, pairs, true_gaps, widest_gap
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.errors import printable
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import group_gaps as of
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array
from evenhand.stats.scales import LOGIT
from evenhand.tally.groups import Groups
from evenhand.tally.marks import level_values

ORDER = 66
_RATES = (
    ("false_accept_rate", 0, "share that {judge} calls {positive} of what the reference calls {negative}"),
    ("false_reject_rate", 1, "share that {judge} calls {negative} of what the reference calls {positive}"),
)


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every gap along every axis that a column names."""
    for groups in evidence.groups:
        if len(np.unique(groups.group)) < 2:
            yield _nothing(evidence, groups, _why(evidence, groups))
        elif evidence.is_binary:
            yield from _of_rates(evidence, groups)
        elif has_marks(evidence):
            yield from _of_marks(evidence, groups)
        else:
            yield _nothing(
                evidence, groups, "labels are neither two nor marks: there is nothing to be higher or lower in"
            )


def notices(evidence: Evidence) -> Iterator[str]:
    """Verdicts that belong to no named group."""
    for groups in evidence.groups:
        if groups.n_without:
            yield f'{groups.n_without:,} paired verdicts are on responses without a group in "{printable(groups.axis)}" and are in no gap along it'


def has_marks(evidence: Evidence) -> bool:
    """Whether labels are marks with values of their own."""
    return evidence.scale.kind in ("ordinal", "continuous") and level_values(evidence.scale)[1]


def _why(evidence: Evidence, groups: Groups) -> str:
    if len(groups.group):
        return "all paired verdicts are of one group"
    return "no paired verdict has a group" if evidence.has_reference else "there are no reference labels to err against"


def _nothing(evidence: Evidence, groups: Groups, why: str) -> Estimate:
    absent = exact(
        evidence, "group_gap", None, unit="verdict", describes="judge", reason=why, params={"axis": groups.axis},
        n_excluded=int(evidence.cells.count.sum()), estimand="gap of {judge}'s verdicts between groups",
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})


def _rows(
    evidence: Evidence, groups: Groups, value: Array, score: Array, words: tuple[str, str], metric: str = ""
) -> Rows:
    return Rows(
        groups.axis, value, score, groups.unit, groups.n_units, groups.count, groups.weight, *words,
        int(evidence.cells.count.sum()), metric=metric,
    )  # fmt: skip


def _of_rates(evidence: Evidence, groups: Groups) -> Iterator[Estimate]:
    wrong = (groups.judge != groups.reference).astype(np.float64)
    for name, label, words in _RATES:
        here = groups.reference == label
        for at in np.unique(groups.group).tolist():
            yield _rate(evidence, groups, name, words, at, here & (groups.group == at))
        rows = _rows(evidence, groups, wrong, np.zeros(len(wrong)), (f"{words}: ", ""), name)
        found = [gap(evidence, rows, pair, here) for pair in pairs(groups.group, groups.names, groups.axis)]
        yield from (one.estimate for one in found)
        yield from widest_gap(evidence, rows, found)


def _rate(evidence: Evidence, groups: Groups, name: str, words: str, at: int, here: NDArray[np.bool_]) -> Estimate:
    wrong = groups.judge != groups.reference
    events, others = (
        np.bincount(groups.unit[rows], weights=groups.weight[rows], minlength=groups.n_units)
        for rows in (here & wrong, here & ~wrong)
    )
    cells, level = np.stack([events, others], axis=-1).astype(np.float64), groups.names[at]
    params: dict[str, Param] = {"axis": groups.axis, "level": level}
    statistic = Statistic(
        name, share, LOGIT, "judge", f"{words}, in group {level} ({groups.axis})", is_rate=True, params=params
    )
    left = int(evidence.cells.count.sum() - cells.sum())
    return assess(evidence, statistic, cells, undefined="no such verdict in this group", n_excluded=left)


def _of_marks(evidence: Evidence, groups: Groups) -> Iterator[Estimate]:
    values = level_values(evidence.scale)[0]
    mark, score = values[groups.judge], values[groups.reference]
    words = (
        "mean mark of {judge} at equal reference mark, reference marks weighted as both sides have them: ",
        "mean mark of {judge} at equal true reference score: ",
    )
    rows, seen = _rows(evidence, groups, mark, score, words), []
    for pair in pairs(groups.group, groups.names, groups.axis):
        seen.append(gap(evidence, rows, pair))
        yield seen[-1].estimate
        yield from true_gaps(evidence, rows, seen[-1])
    yield from widest_gap(evidence, rows, seen)
    yield from _fairness(evidence, groups, mark, score)


def _fairness(evidence: Evidence, groups: Groups, mark: Array, score: Array) -> Iterator[Estimate]:
    """RSMTool's trio: what groups explain of squared errors, of errors, and of errors at equal reference mark."""
    present, at = np.unique(groups.group, return_inverse=True)
    count, error = groups.count.astype(np.float64), mark - score
    for quantity, found, words in (
        ("osa", of.group_share(error**2, at, len(present), count), "squared errors (overall score accuracy)"),
        ("osd", of.group_share(error, at, len(present), count), "errors (overall score difference)"),
        ("csd", of.conditional_group_share(error, score, at, len(present), count),
            "errors beyond the reference mark (conditional score difference)"),
    ):  # fmt: skip
        is_number = math.isfinite(found.r_squared)
        told = f"F test of independent verdicts: p = {found.p_value:.3g}" if math.isfinite(found.p_value) else ""
        yield exact(
            evidence, "group_fairness", found.r_squared if is_number else None, unit="verdict", describes="judge",
            params={"axis": groups.axis, "quantity": quantity}, n_used=int(count.sum()),
            reason=f"no interval; {told}" if told else "too few verdicts, or errors that do not vary" if not is_number else "no interval",
            estimand=f"adjusted R² of groups ({groups.axis}) in {{judge}}'s {words}, as RSMTool has it",
        )  # fmt: skip
