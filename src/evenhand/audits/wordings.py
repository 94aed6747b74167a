"""Agreement with the reference under each wording, model, setting and occasion of the judge, one by one.

The plain numbers pool them. These say how far the pooled number holds under each: a judge that agrees well on average may
owe it to one wording, and one that says the same under a wording whatever the work is named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from evenhand.audits import agreement
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.errors import printable
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import marks as of
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, Measure, ratio
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.tally.cells import Cells
from evenhand.tally.marks import level_values, mark_totals, origin_of, paired_marks

ORDER = 59
MOST_TABLE_CELLS = 20_000_000
"""Units × labels² up to which tables of labels are made under each value."""
_OF_LABELS = (
    "observed_agreement",
    "cohen_kappa",
    "error_rate",
    "false_accept_rate",
    "false_reject_rate",
    "judge_positive_rate",
)
_NOTHING = "no verdict in which both sides are scored"


@dataclass(frozen=True, slots=True)
class _OfMarks:
    """A statistic of moments; ``own`` says that it needs numbers rather than positions."""

    name: str
    measure: Measure
    scale: Scale
    words: str
    own: bool = False


_OF_MARKS = (
    _OfMarks("bias", of.bias, IDENTITY, "mean of {judge}'s mark minus the reference's, in marks", own=True),
    _OfMarks("mae", of.mae, LOG, "mean absolute difference of {judge}'s mark and the reference's, in marks", own=True),
    _OfMarks("quadratic_weighted_kappa", of.lin_ccc, LOG_ONE_MINUS, "quadratic-weighted kappa of {judge}'s marks with the reference's"),
    _OfMarks("pearson_r", of.pearson_r, ATANH, "linear correlation of {judge}'s marks with the reference's"),
)  # fmt: skip


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """The main numbers under each value of each facet that varies."""
    held = evidence.wordings
    if held is None:
        return
    for (facet, value), cells in held.cells.items():
        one = replace(evidence, cells=cells, criteria=("1",))
        params: dict[str, Param] = {facet: value}
        where = f", under {facet} {value}, on what was judged under it"
        n_clusters = _n_clusters(evidence, facet, value)
        if not evidence.has_reference:
            yield from _alone(one, params, where, n_clusters)
            continue
        if evidence.scale.kind != "continuous":
            yield from _of_labels(one, params, where, n_clusters)
        if evidence.scale.kind in ("ordinal", "continuous"):
            yield from _of_marks(one, params, where, n_clusters)


def _n_clusters(evidence: Evidence, facet: str, value: str) -> int | None:
    """Clusters behind a value, where units are groups of them."""
    if not evidence.units.grouped or evidence.conditions is None:
        return None
    return evidence.conditions.n_clusters.get((facet, value))


def _of_labels(
    evidence: Evidence, params: Mapping[str, Param], where: str, n_clusters: int | None
) -> Iterator[Estimate]:
    if evidence.cells.n_units * evidence.scale.size**2 > MOST_TABLE_CELLS:
        return
    declared = (*agreement.ANY_SCALE, *(agreement.BINARY if evidence.is_binary else (_ERROR_RATE,)))
    tables = evidence.cells.paired.tables()
    total = tables.sum(axis=0)
    for one in declared:
        statistic = one.statistic
        if statistic.name not in _OF_LABELS:
            continue
        yield assess(
            evidence, replace(statistic, estimand=statistic.estimand.replace(", pooled over criteria", "") + where), one.cells(tables),
            undefined=_reason(evidence, total) or one.undefined.format(negative=evidence.scale.levels[0], positive=evidence.scale.levels[-1]),
            n_excluded=evidence.n_unpaired, n_clusters=n_clusters, params=params,
        )  # fmt: skip


def _off_diagonal(tables: Array) -> Array:
    return agreement.diagonal(tables)[..., ::-1]


_ERROR_RATE = replace(
    agreement.ANY_SCALE[0],
    statistic=Statistic(
        "error_rate", share, LOGIT, "judge", "share of verdicts on which {judge} differs from the reference, where both are scored",
        is_rate=True,
    ),
    cells=_off_diagonal,
)  # fmt: skip
"""Of labels that are not two; of two the binary statistics hold it."""


def _reason(evidence: Evidence, table: Array) -> str:
    """Which side says the same of everything, with its counts; empty where neither does."""
    if not table.sum():
        return _NOTHING
    said = []
    for side, margin in (("the reference", table.sum(axis=1)), ("the judge", table.sum(axis=0))):
        if np.count_nonzero(margin) == 1:
            n = int(margin.sum())
            said.append(f"{side} uses one label only: {n} of {n} are {evidence.scale.levels[int(margin.argmax())]}")
    return "; ".join(said)


def _of_marks(
    evidence: Evidence, params: Mapping[str, Param], where: str, n_clusters: int | None
) -> Iterator[Estimate]:
    marks, own = paired_marks(evidence.cells, evidence.scale), level_values(evidence.scale)[1]
    steps = marks.steps(evidence.scale.range) if evidence.scale.kind == "continuous" and len(marks.judge) else None
    for one in _OF_MARKS:
        rounds = one.name == "quadratic_weighted_kappa" and steps is not None
        if (one.own and not own) or (rounds and steps is not None and steps.n_levels < 3):
            continue
        used = marks.rounded(steps) if rounds and steps is not None else marks
        sums, factor = used.sums(), used.factor if one.own else 1
        words = one.words + (", both rounded half up to whole marks" if rounds else "") + where
        measure: Measure = _in_units(one.measure, factor)
        yield assess(
            evidence, Statistic(one.name, measure, one.scale, "judge", words, counted=False), sums,
            undefined="marks of one side are constant" if sums[:, 0].any() else _NOTHING, sizes=sums[:, 0],
            n_excluded=int(evidence.cells.count.sum() - sums[:, 0].sum()), n_clusters=n_clusters, params=params,
        )  # fmt: skip


def _in_units(measure: Measure, factor: int) -> Measure:
    return measure if factor == 1 else lambda sums: measure(sums) / factor


def _alone(evidence: Evidence, params: Mapping[str, Param], where: str, n_clusters: int | None) -> Iterator[Estimate]:
    """Without a reference: how often the judge says yes, or where its marks lie."""
    cells, values = evidence.cells.judged, level_values(evidence.scale)
    left = int(evidence.cells.count.sum() - cells.count.sum())
    if evidence.is_binary:
        words = "share of scored verdicts {judge} calls {positive}" + where
        yield assess(
            evidence, Statistic("judge_positive_rate", share, LOGIT, "judge", words, is_rate=True), cells.judge_labels()[:, ::-1],
            undefined="the judge has no scored verdict", n_excluded=left, n_clusters=n_clusters, params=params,
        )  # fmt: skip
    elif evidence.scale.kind in ("ordinal", "continuous") and values[1]:
        origin = origin_of(values[0])
        sums, factor = mark_totals(cells, evidence.scale, side="judge", origin=origin)
        statistic = Statistic(
            "mean_total", lambda sums: ratio(sums[..., 1], sums[..., 0]) / factor + origin, IDENTITY, "bank",
            "mean of {judge}'s marks" + where, counted=False,
        )  # fmt: skip
        yield assess(
            evidence, statistic, sums, undefined="no mark", n_excluded=left, n_clusters=n_clusters, sizes=sums[:, 0], params=params
        )  # fmt: skip


def notices(evidence: Evidence) -> Iterator[str]:
    """The values under which the judge gives one label, or one mark, whatever the work is."""
    held = evidence.wordings
    if held is None:
        return
    who = "the judge" if evidence.is_sole_judge else printable(evidence.source)
    for (facet, value), cells in held.cells.items():
        said = _constant(cells)
        if said is not None:
            n, label = int(cells.judged.count.sum()), printable(evidence.scale.levels[said])
            yield f'under {facet} "{printable(value)}" {who} says {label} of everything ({n:,} of {n:,} scored verdicts)'


def _constant(cells: Cells) -> int | None:
    """The one label that the judge gives to two verdicts or more; None where there are others, or too few verdicts."""
    labels = np.unique(cells.judged.judge)
    return int(labels[0]) if len(labels) == 1 and cells.judged.count.sum() > 1 else None
