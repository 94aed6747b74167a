"""What the raters' own agreement says of the reference's reliability within groups: where to read the curve of a gap.

With double scoring the mean correlation of two raters is the reliability of one rater's score (parallel raters). Where the
reference is one of them it is the reference's; where it is another column it is taken for one made from all of them, whose
reliability is Spearman and Brown's at their number (Spearman 1910; Brown 1910).
"""

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.groups import has_marks
from evenhand.audits.groups_gap import Pair, pairs
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate
from evenhand.stats import group_gaps as of
from evenhand.stats.arrays import Array
from evenhand.stats.intervals import Interval
from evenhand.stats.marks import mark_sums, pearson_r
from evenhand.stats.scales import ATANH
from evenhand.tally.groups import Groups
from evenhand.tally.humans import Humans
from evenhand.tally.marks import centred_values, level_values

ORDER = 69
MOST_PAIRS = 190
"""Pairs of raters (20 raters) beyond which no mean correlation is tallied."""


def estimates_of_humans(evidence: Evidence, humans: Humans) -> Iterator[Estimate]:
    """The reliability within groups that the raters' agreement implies, for every pair of groups."""
    both = list(itertools.combinations(range(len(humans.names)), 2))
    if not evidence.groups or not has_marks(evidence) or not 0 < len(both) <= MOST_PAIRS:
        return
    one = humans.everyone
    sums = np.stack([_sums(evidence, humans, a, b) for a, b in both], axis=1)
    held = sums[..., 0].sum(axis=0) > 1
    if not held.any() or one.n_units < 2:
        return
    n_raters = 1 if humans.reference is not None else len(humans.names)
    statistic = Statistic(
        "group_gap_true", partial(_reliability, n_raters=n_raters), ATANH, "reference", "", counted=False
    )
    found = assess(
        evidence, statistic, sums[:, held], undefined="raters' marks do not vary", sizes=sums[..., 0].sum(axis=1)
    )
    if found.estimate is None:
        return
    said = f"{len(humans.names)} raters, reliability over everybody {found.estimate:.3f}"
    for groups in evidence.groups:
        if len(np.unique(groups.group)) > 1:
            for pair in pairs(groups.group, groups.names, groups.axis):
                yield _within(evidence, groups, pair, found, said)


def _sums(evidence: Evidence, humans: Humans, a: int, b: int) -> Array:
    """(U, 7) sums of two raters' marks on what both mark."""
    values, one = centred_values(evidence.scale), humans.everyone
    kept = (humans.labels[:, a] >= 0) & (humans.labels[:, b] >= 0)
    first, second = (values[humans.labels[kept, rater]] for rater in (a, b))
    return mark_sums(first, second, one.unit[kept], one.n_units, one.count[kept])


def _reliability(sums: Array, n_raters: int) -> Array:
    """Mean correlation over pairs, stepped up to so many raters; (..., pairs, 7) → (...)."""
    r = pearson_r(sums).mean(axis=-1)
    return np.asarray(n_raters * r / (1 + (n_raters - 1) * r))


def _within(evidence: Evidence, groups: Groups, pair: Pair, found: Estimate, said: str) -> Estimate:
    values = level_values(evidence.scale)[0]
    score = values[groups.reference]
    totals = of.score_moments(score, score, pair.focal, groups.unit, groups.n_units, groups.weight).sum(axis=0)
    ends = [
        float(of.within_reliability(one, totals)) if one is not None else math.nan
        for one in (found.estimate, found.ci_low, found.ci_high)
    ]
    has_ends = math.isfinite(ends[1]) and math.isfinite(ends[2])
    interval = Interval(ends[1], ends[2], found.interval_method, said) if has_ends else None
    return exact(
        evidence, "group_gap_true", ends[0] if math.isfinite(ends[0]) else None, unit="verdict", describes="reference",
        params={"axis": groups.axis, "level": pair.level, "quantity": "reliability"}, n_used=int(groups.count.sum()),
        n_clusters=found.n_clusters, interval=interval,
        reason=said if math.isfinite(ends[0]) else f"{said}: groups explain more of the scores' variance than that leaves",
        estimand=f"reliability of the reference within groups that the raters' agreement implies, {pair.words}",
    )  # fmt: skip
