"""Who would pass if the judge's marks were used at the cuts: shares by group under the judge and under the reference.

Differences are of the same responses, so what is shared by both sides cancels. No correction for noise in the reference: these
are counts of decisions as they would fall, not claims about what people deserve.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.evidence import Evidence
from evenhand.audits.groups import has_marks
from evenhand.audits.groups_gap import Pair, pairs, within_sides
from evenhand.audits.statistic import Statistic, assess
from evenhand.ids import Param
from evenhand.results import Describes, Estimate, Unit
from evenhand.stats import group_shares as of
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.scales import IDENTITY, LOG, LOGIT, Scale
from evenhand.tally.groups import Groups
from evenhand.tally.marks import level_values

ORDER = 68
_NONE = "no response of one of the groups is scored on both sides"
_NOT_HELD = "none of the group it is held against passes"
_NOBODY = "nobody passes"


@dataclass(frozen=True, slots=True)
class _Decisions:
    """Scores of both sides that a cut divides.

    Attributes:
        groups: the axis.
        group, unit, weight: (m,) of each combination.
        scores: (m,) of the reference and of the judge.
        n_all: members of the domain, with those left out.
        unit_word: what they are.
        cuts: of the scores.
        is_named: whether ids name the cut.
        words: passing, for a sentence, with {cut}.
    """

    groups: Groups
    group: Counts
    unit: Counts
    weight: Array
    scores: tuple[Array, Array]
    n_all: int
    unit_word: Unit
    cuts: tuple[float, ...]
    is_named: bool
    words: str


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every share along every axis, at every cut."""
    for groups in evidence.groups:
        decisions = _decisions(evidence, groups)
        if decisions is not None and len(np.unique(decisions.group)) > 1:
            for cut in decisions.cuts:
                yield from _at_cut(evidence, decisions, cut)


def _decisions(evidence: Evidence, groups: Groups) -> _Decisions | None:
    """None where no cut divides what a response gets."""
    totals, n_all = groups.totals, int(evidence.cells.count.sum())
    if totals is not None:
        sides = totals.reference.astype(np.float64), totals.judge.astype(np.float64)
        left = int(evidence.patterns.count.sum()) if evidence.patterns is not None else 0
        return _Decisions(
            groups, totals.group, totals.unit, totals.weight, sides, left, "response", evidence.cuts, True,
            "meet {cut} criteria or more",
        )  # fmt: skip
    if len(evidence.criteria) > 1 or not (evidence.is_binary or (has_marks(evidence) and evidence.cuts)):
        return None
    values = np.array([0.0, 1.0]) if evidence.is_binary else level_values(evidence.scale)[0]
    sides = values[groups.reference], values[groups.judge]
    cuts, words = ((1.0,), "are {positive}") if evidence.is_binary else (evidence.cuts, "have a mark of {cut} or more")
    return _Decisions(
        groups, groups.group, groups.unit, groups.weight, sides, n_all, "verdict", cuts, not evidence.is_binary, words
    )


def _at_cut(evidence: Evidence, decisions: _Decisions, cut: float) -> Iterator[Estimate]:
    passes = tuple(scores >= cut for scores in decisions.scores)
    words = decisions.words.replace("{cut}", f"{cut:g}")
    named: dict[str, Param] = {"axis": decisions.groups.axis} | ({"cut": cut} if decisions.is_named else {})
    for at in np.unique(decisions.group).tolist():
        yield from _of_group(evidence, decisions, passes, at, words, {**named, "level": decisions.groups.names[at]})
    for pair in pairs(decisions.group, decisions.groups.names, decisions.groups.axis):
        yield from _of_pair(evidence, decisions, passes, pair, words, {**named, "level": pair.level})


def _sides(evidence: Evidence) -> tuple[tuple[str, str, Describes], tuple[str, str, Describes]]:
    return (
        (evidence.reference_source, "the reference's labels", "reference"),
        (evidence.source, "{judge}'s labels", "judge"),
    )


def _of_group(
    evidence: Evidence, decisions: _Decisions, passes: tuple[NDArray[np.bool_], ...], at: int, words: str, params: dict[str, Param]
) -> Iterator[Estimate]:  # fmt: skip
    """The share of a group that passes, and the group's part of all who do, on either side and their difference."""
    name = f"group {params['level']} ({decisions.groups.axis})"
    focal = (decisions.group == at).astype(np.int64)
    tables = [_table(decisions, focal, one) for one in passes]
    for (source, whose, describes), cells in zip(_sides(evidence), tables, strict=True):
        yield _share(evidence, decisions, "group_share", cells[:, 1, ::-1], source, describes,
            f"share of {name} who {words} by {whose}", _NONE, params)  # fmt: skip
        yield _share(evidence, decisions, "group_part", cells[:, ::-1, 1], source, describes,
            f"part of {name} among those who {words} by {whose}", _NOBODY, params)  # fmt: skip
    both = np.stack(tables, axis=1)
    for statistic, measure, what in (
        ("group_share", _moved, f"share of {name} who {words}"),
        ("group_part", of.difference_of_parts, f"part of {name} among those who {words}"),
    ):
        sizes = both[:, 0, 1].sum(axis=1) if statistic == "group_share" else both[:, 0].sum(axis=(1, 2))
        yield _assess(evidence, decisions, statistic, measure, IDENTITY, both, evidence.difference_source, "judge",
            f"{what}: by {{judge}}'s labels minus by the reference's", _NOBODY, params, sizes)  # fmt: skip


def _moved(cells: Array) -> Array:
    """Share of the focal group that passes under the judge minus under the reference, (..., 2 sides, 2, 2) → (...)."""
    shares = of.passing(cells)[..., 1]
    return np.asarray(shares[..., 1] - shares[..., 0])


def _share(
    evidence: Evidence, decisions: _Decisions, name: str, cells: Array, source: str, describes: Describes, words: str, undefined: str,
    params: dict[str, Param],
) -> Estimate:  # fmt: skip
    statistic = Statistic(name, share, LOGIT, describes, words, unit=decisions.unit_word, is_rate=True, params=params)
    left = max(decisions.n_all - int(cells.sum()), 0)
    return assess(evidence, statistic, cells, undefined=undefined, source=source, n_excluded=left)


def _of_pair(
    evidence: Evidence, decisions: _Decisions, passes: tuple[NDArray[np.bool_], ...], pair: Pair, words: str, params: dict[str, Param]
) -> Iterator[Estimate]:  # fmt: skip
    """Difference and ratio of two groups' shares on either side, and how far the judge moves the difference."""
    tables = [_table(decisions, pair.focal, one) for one in passes]
    members = tables[0].sum(axis=2)
    for (source, whose, describes), cells in zip(_sides(evidence), tables, strict=True):
        said = f"share who {words} by {whose}, {pair.words}"
        found = _assess(
            evidence,
            decisions,
            "group_share_gap",
            of.share_gap,
            IDENTITY,
            cells,
            source,
            describes,
            said,
            _NONE,
            params,
        )
        yield within_sides(evidence, found, cells, of.share_gap, members)[0]
        ratio = f"share who {words} by {whose}, over that of the other: {pair.words.replace(' minus ', ' over ', 1)}"
        yield _assess(
            evidence,
            decisions,
            "group_share_ratio",
            of.share_ratio,
            LOG,
            cells,
            source,
            describes,
            ratio,
            _NOT_HELD,
            params,
        )
    both = np.stack(tables, axis=1)
    said = f"difference in the share who {words}, {pair.words}: by {{judge}}'s labels minus by the reference's"
    found = _assess(evidence, decisions, "group_share_gap", of.difference_of_gaps, IDENTITY, both, evidence.difference_source, "judge",
        said, _NONE, params, members.sum(axis=1))  # fmt: skip
    yield within_sides(evidence, found, both, of.difference_of_gaps, members)[0]


def _assess(
    evidence: Evidence, decisions: _Decisions, name: str, measure: Measure, scale: Scale, cells: Array, source: str, describes: Describes,
    words: str, undefined: str, params: dict[str, Param], sizes: Array | None = None,
) -> Estimate:  # fmt: skip
    statistic = Statistic(
        name, measure, scale, describes, words, unit=decisions.unit_word, counted=False, params=params
    )
    sizes = cells.reshape(len(cells), -1).sum(axis=1) if sizes is None else sizes
    left = max(decisions.n_all - int(sizes.sum()), 0)
    return assess(evidence, statistic, cells, undefined=undefined, source=source, sizes=sizes, n_excluded=left)


def _table(decisions: _Decisions, focal: Counts, passes: NDArray[np.bool_]) -> Array:
    """(U, 2, 2) of the other group and the focal one, failing and passing."""
    n_units = decisions.groups.n_units
    code = (decisions.unit * 2 + focal) * 2 + passes
    return np.bincount(code, weights=decisions.weight, minlength=4 * n_units).astype(np.float64).reshape(n_units, 2, 2)
