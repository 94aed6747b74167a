"""Gaps between groups of people: in error rates, and in marks at equal reference score, as seen and as noise would have it.

With two groups the second is held against the first; with more, each against all others. Strata and weights are those of
the full sample, in every replicate. Groups are for an audit: they never enter a prompt.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import group_gaps as of
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.scales import IDENTITY, LOGIT
from evenhand.tally.groups import Groups
from evenhand.tally.marks import level_values

ORDER = 66
MOST_STRATA = 20
"""Reference marks up to which each is a stratum of its own; of more, bands of about equal numbers."""
RELIABILITIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Where the corrected gap is given, besides the reliability that the user gave."""
FEWEST_UNITS = 2
"""Clusters that must hold verdicts of either side for a reference score to be compared."""
FAMILY = "gaps between groups"
_RATES = (
    ("false_accept_rate", 0, "share that {judge} calls {positive} of what the reference calls {negative}"),
    ("false_reject_rate", 1, "share that {judge} calls {negative} of what the reference calls {positive}"),
)
_FEW = f"no reference score at which both sides have {of.LEAST_IN_STRATUM} verdicts, in two clusters or more"


@dataclass(frozen=True, slots=True)
class _Pair:
    """A focal group and what it is held against.

    Attributes:
        level: the focal group's name, for ids.
        words: both, for a sentence.
        focal: (n,) 1 for rows of the focal group, 0 for the others.
    """

    level: str
    words: str
    focal: Counts


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every gap along every axis that a column names."""
    for groups in evidence.groups:
        present = np.unique(groups.group)
        if len(present) < 2:
            yield _nothing(evidence, groups)
            continue
        if evidence.is_binary:
            yield from _of_rates(evidence, groups)
        elif evidence.scale.kind in ("ordinal", "continuous") and level_values(evidence.scale)[1]:
            yield from _of_marks(evidence, groups)


def _nothing(evidence: Evidence, groups: Groups) -> Estimate:
    why = "no paired verdict has a group" if not len(groups.group) else "all paired verdicts are of one group"
    absent = exact(
        evidence, "group_gap", None, unit="verdict", describes="judge", reason=why, params={"axis": groups.axis},
        n_excluded=int(evidence.cells.count.sum()), estimand="gap of {judge}'s verdicts between groups",
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})


def _pairs(groups: Groups) -> Iterator[_Pair]:
    """The second group against the first, or each against the rest."""
    present = np.unique(groups.group).tolist()
    for at in present[1:] if len(present) == 2 else present:
        other = groups.names[present[0]] if len(present) == 2 else "all others"
        words = f"{groups.names[at]} minus {other} ({groups.axis})"
        yield _Pair(groups.names[at], words, (groups.group == at).astype(np.int64))


def _of_rates(evidence: Evidence, groups: Groups) -> Iterator[Estimate]:
    wrong, stratum = (groups.judge != groups.reference).astype(np.float64), np.zeros(len(groups.group), dtype=np.int64)
    for name, label, words in _RATES:
        here = groups.reference == label
        for at in np.unique(groups.group).tolist():
            yield _rate(evidence, groups, name, words, at, here & (groups.group == at))
        for pair in _pairs(groups):
            cells = _cells(groups, wrong, pair, stratum, 1, here)
            yield _gap(evidence, groups, pair, cells, f"{words}: {pair.words}", {"metric": name})


def _rate(evidence: Evidence, groups: Groups, name: str, words: str, at: int, here: NDArray[np.bool_]) -> Estimate:
    wrong = groups.judge != groups.reference
    events, others = (
        np.bincount(groups.unit[rows], weights=groups.count[rows], minlength=groups.n_units)
        for rows in (here & wrong, here & ~wrong)
    )
    cells, level = np.stack([events, others], axis=-1).astype(np.float64), groups.names[at]
    params: dict[str, Param] = {"axis": groups.axis, "level": level}
    statistic = Statistic(
        name, share, LOGIT, "judge", f"{words}, in group {level} ({groups.axis})", is_rate=True, params=params
    )
    left = int(evidence.cells.count.sum() - cells.sum())
    return assess(evidence, statistic, cells, undefined="no such verdict in this group", n_excluded=left)


def _cells(groups: Groups, value: Array, pair: _Pair, stratum: Counts, n_strata: int, here: NDArray[np.bool_]) -> Array:
    """(U, 2, kept strata, 2) of the rows that count."""
    cells = of.gap_cells(
        value[here], pair.focal[here], stratum[here], n_strata, groups.unit[here], groups.n_units, groups.count[here].astype(np.float64)
    )  # fmt: skip
    return np.asarray(cells[:, :, of.kept_strata(cells, units=min(FEWEST_UNITS, groups.n_units))])


def _gap(evidence: Evidence, groups: Groups, pair: _Pair, cells: Array, words: str, more: dict[str, Param]) -> Estimate:
    sizes = cells[..., 1].sum(axis=(1, 2))
    statistic = Statistic(
        "group_gap", partial(of.gap, weights=of.pooled_weights(cells)), IDENTITY, "judge", words, counted=False,
        params={"axis": groups.axis, "level": pair.level, **more},
    )  # fmt: skip
    return assess(
        evidence, statistic, cells, undefined=_FEW, sizes=sizes, n_excluded=int(evidence.cells.count.sum() - sizes.sum()),
        family=FAMILY,
    )  # fmt: skip


def _strata(groups: Groups) -> tuple[Counts, int]:
    """(n,) stratum of each row by its reference mark, and the number of strata."""
    marks, position = np.unique(groups.reference, return_inverse=True)
    if len(marks) <= MOST_STRATA:
        return position, len(marks)
    counts = np.bincount(position, weights=groups.count)
    before = np.cumsum(counts) - counts / 2
    band = np.minimum((before / counts.sum() * MOST_STRATA).astype(np.int64), MOST_STRATA - 1)
    return band[position], MOST_STRATA


def _of_marks(evidence: Evidence, groups: Groups) -> Iterator[Estimate]:
    values = level_values(evidence.scale)[0]
    mark, score, everyone = values[groups.judge], values[groups.reference], np.ones(len(groups.group), dtype=np.bool_)
    stratum, n_strata = _strata(groups)
    for pair in _pairs(groups):
        cells = _cells(groups, mark, pair, stratum, n_strata, everyone)
        words = f"mean mark of {{judge}} at equal reference mark, {pair.words}, reference marks weighted as both sides have them"
        seen = _gap(evidence, groups, pair, cells, words, {})
        yield seen
        if seen.estimate is not None:
            count = groups.count.astype(np.float64)
            moments = of.score_moments(mark, score, pair.focal, groups.unit, groups.n_units, count)
            yield from _true(evidence, groups, pair, cells, moments, seen.estimate)
    yield from _fairness(evidence, groups, mark, score)


def _true(
    evidence: Evidence, groups: Groups, pair: _Pair, cells: Array, moments: Array, seen: float
) -> Iterator[Estimate]:
    """The gap at equal true score, over reliabilities; and the reliability at which nothing is left of it."""
    flat = np.concatenate([cells.reshape(len(cells), -1), moments.reshape(len(moments), -1)], axis=1)
    shape, weights = cells.shape[1:], of.pooled_weights(cells)
    sizes = cells[..., 1].sum(axis=(1, 2)) + moments[..., 0].sum(axis=1)

    def measure(tallies: Array, reliability: float) -> Array:
        at = math.prod(shape)
        seen_there = of.gap(tallies[..., :at].reshape((*tallies.shape[:-1], *shape)), weights)
        return of.true_gap(seen_there, tallies[..., at:].reshape((*tallies.shape[:-1], 2, of.N_MOMENTS)), reliability)

    totals = moments.sum(axis=0)
    params: dict[str, Param] = {"axis": groups.axis, "level": pair.level}
    given = _given(evidence, totals)
    for reliability, said in [*((one, "") for one in RELIABILITIES), *given]:
        words = (
            f"mean mark of {{judge}} at equal true reference score, {pair.words}, if the reference's reliability within groups is "
            f"{reliability:.3g}{said}, its errors being independent of the group"
        )
        statistic = Statistic(
            "group_gap_true", partial(measure, reliability=reliability), IDENTITY, "judge", words, counted=False,
            params={**params, "reliability": f"{reliability:.4g}"},
        )  # fmt: skip
        found = assess(
            evidence, statistic, flat, undefined="the reference's marks do not vary within groups", sizes=sizes,
        )  # fmt: skip
        n_used = int(cells[..., 1].sum())
        yield found.model_copy(update={"n_used": n_used, "n_excluded": int(evidence.cells.count.sum()) - n_used})
    even = float(of.break_even(seen, totals))
    yield exact(
        evidence, "group_gap_true", even if math.isfinite(even) else None, unit="verdict", describes="judge",
        params={**params, "quantity": "break_even"}, n_used=int(cells[..., 1].sum()),
        reason="a reading of the curve, without an interval of its own" if math.isfinite(even)
        else "at no reliability between 0 and 1 does noise in the reference explain the whole gap",
        estimand=f"reliability of the reference within groups at which nothing is left of the gap of {{judge}}'s marks, {pair.words}",
    )  # fmt: skip


def _given(evidence: Evidence, totals: Array) -> list[tuple[float, str]]:
    """The reliability within groups behind the one that the user gave of the scores, where there is one."""
    if evidence.reliability is None:
        return []
    within = float(of.within_reliability(evidence.reliability, totals))
    if not math.isfinite(within) or f"{within:.4g}" in {f"{one:.4g}" for one in RELIABILITIES}:
        return []
    return [(within, f" ({evidence.reliability:g} over everybody)")]


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
