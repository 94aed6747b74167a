"""Systems behind single responses: the mean that judge and reference give each, how far these lie apart, and whose is best."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact, fill
from evenhand.ids import Param
from evenhand.results import Cell, Describes, Estimate, Table
from evenhand.stats import marks as of_marks
from evenhand.stats import system_level as of
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, ratio
from evenhand.stats.scales import IDENTITY, LOGIT
from evenhand.tally.marks import level_values
from evenhand.tally.system_sums import SystemSums

ORDER = 57


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Means of every system, and whether both sides pick the same one as the best."""
    found = evidence.system_sums
    if found is None:
        return
    if found.obstacle:
        absent = exact(
            evidence, "system_mean", None, unit="verdict", describes="bank", reason=found.obstacle,
            estimand=f"mean verdict of {{judge}} on each system ({found.column})",
        )  # fmt: skip
        yield absent.model_copy(update={"status": "not_assessed"})
        return
    yield from _means(evidence, found)
    if evidence.has_reference:
        yield _same_winner(evidence, found)


def _what(evidence: Evidence) -> str:
    """What a mean is a mean of."""
    if evidence.is_binary:
        return "share of verdicts that are {positive}"
    return "mean mark" if level_values(evidence.scale)[1] else "mean position among the declared levels"


def _sides(evidence: Evidence) -> Iterator[tuple[int, str, Describes, str]]:
    """Column of a side's sum, source of its ids, whom it describes, and whose it is."""
    yield 2, evidence.source, "bank", "by {judge}"
    if evidence.has_reference:
        yield 1, evidence.reference_source, "bank", "by the reference"


def _means(evidence: Evidence, found: SystemSums) -> Iterator[Estimate]:
    sums, what = found.sums(), _what(evidence)
    for position, name in enumerate(found.names):
        mine = sums[:, position]
        params: dict[str, Param] = {"system": name}
        left, n_clusters = int(evidence.cells.count.sum() - mine[:, 0].sum()), found.n_items(position)
        for column, source, describes, whose in _sides(evidence):
            words = f"{what} {whose}, over the responses of {name}"
            if evidence.is_binary:
                cells = np.stack([mine[:, column], mine[:, 0] - mine[:, column]], axis=-1)
                statistic = Statistic("system_mean", share, LOGIT, describes, words, is_rate=True)
                yield assess(
                    evidence, statistic, cells, undefined="no scored verdict", source=source, n_excluded=left, params=params,
                    n_clusters=n_clusters,
                )  # fmt: skip
                continue
            measure = partial(_mean, column, found.origin, found.factor)
            statistic = Statistic("system_mean", measure, IDENTITY, describes, words, counted=False)
            yield assess(
                evidence, statistic, mine, undefined="no scored verdict", source=source, sizes=mine[:, 0], n_excluded=left,
                params=params, n_clusters=n_clusters,
            )  # fmt: skip
        if evidence.has_reference:
            words = f"{what} by {{judge}} minus that by the reference, over the responses of {name}"
            statistic = Statistic("system_mean", partial(_gap, found.factor), IDENTITY, "judge", words, counted=False)
            yield assess(
                evidence, statistic, mine, undefined="no scored verdict", source=evidence.difference_source, sizes=mine[:, 0],
                n_excluded=left, params=params, n_clusters=n_clusters, family=f"judge minus reference by system, {evidence.source}",
            )  # fmt: skip


def _mean(column: int, origin: float, factor: int, sums: Array) -> Array:
    return (ratio(sums[..., column], sums[..., 0]) + origin) / factor


def _gap(factor: int, sums: Array) -> Array:
    return of_marks.bias(sums) / factor


def _same_winner(evidence: Evidence, found: SystemSums) -> Estimate:
    """Whether both sides pick the same best system."""
    sums = found.sums()
    reference, judge = of.means(sums.sum(axis=0))
    best = [" or ".join(found.names[at] for at in np.flatnonzero(side == side.max())) for side in (judge, reference)]
    who = fill("{judge}", evidence)
    said = f"best by {who}: {best[0]}; by the reference: {best[1]}; a pick at random is the reference's best in 1 of {len(found.names)}"
    return exact(
        evidence, "winner_agreement", of.same_winner(reference, judge), unit="verdict", describes="judge",
        params={"level": "system"}, reason=f"one pick; {said}", n_used=int(sums[..., 0].sum()),
        n_excluded=int(evidence.cells.count.sum() - sums[..., 0].sum()),
        estimand="1 where {judge} and the reference pick the same best system by its mean, else 0; a pick among systems tied "
        "for the best is at random",
    )  # fmt: skip


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """Means and ranks of each system by both sides."""
    found = evidence.system_sums
    if found is None or found.obstacle:
        return
    sums = found.sums().sum(axis=0)
    reference, judge = (found.in_marks(side) for side in of.means(sums))
    columns: tuple[str, ...] = ("system", "verdicts", "judge_mean", "judge_rank")
    sides = [judge]
    if evidence.has_reference:
        columns, sides = (*columns, "reference_mean", "reference_rank"), [judge, reference]
    ranks = [_ranks(side) for side in sides]
    rows: list[tuple[Cell, ...]] = []
    for at, name in enumerate(found.names):
        numbers = [
            number for side, rank in zip(sides, ranks, strict=True) for number in (float(side[at]), float(rank[at]))
        ]
        rows.append((name, int(sums[at, 0]), *numbers))
    yield f"systems/{evidence.source}", Table(columns=columns, rows=tuple(rows))


def _ranks(side: Array) -> Array:
    """1 for the highest, the mean rank among equals."""
    higher, equal = (side[None, :] > side[:, None]).sum(axis=1), (side[None, :] == side[:, None]).sum(axis=1)
    return np.asarray(higher + (equal + 1) / 2, dtype=np.float64)


def notices(evidence: Evidence) -> Iterator[str]:
    """Verdicts that belong to no named system."""
    found = evidence.system_sums
    if found is not None and found.n_without:
        yield f'{found.n_without:,} scored verdicts are on responses without a name in "{found.column}" and are in no number about systems'
