"""Verdicts on pairs: who wins under each way of counting ties, and whether the order of showing decides.

Ties are a class of their own in agreement with the reference (``agreement``); here stand win rates with a tie as half a
win, as a class, or left out, and what both answer orders of the same pair tell about the judge's position bias.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.agreement import diagonal
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats import agreement as of
from evenhand.stats import pairwise
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS, LOGIT

ORDER = 57
_NO_VERDICT = "no pair with a verdict"
_NO_BOTH = "no pair has a verdict in both orders"


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every estimate about one judge's verdicts on pairs."""
    if evidence.scale.kind != "pairwise":
        return
    judged = _outcomes(evidence.cells.judged.judge, evidence.cells.judged.unit, evidence.cells.judged.count, evidence)
    yield from _win_rates(evidence, judged, evidence.source, "{judge}", "judge")
    if evidence.has_reference:
        yield from _with_reference(evidence)
    yield from _orders(evidence)


def _outcomes(label: Counts, unit: Counts, count: Counts, evidence: Evidence) -> Array:
    """(U, 3) wins of the side that is counted for, ties and its losses."""
    outcome = pairwise.outcomes(label, evidence.scale.size)
    return pairwise.outcome_counts(outcome, unit, evidence.cells.n_units, count)


def _win_rates(
    evidence: Evidence, outcomes: Array, source: str, whose: str, describes: Describes
) -> Iterator[Estimate]:
    """Share of wins with a tie as half a win, as a class of its own, and left out."""
    side, against = evidence.scale.levels[-1], evidence.scale.levels[0]
    wins, ties, losses = outcomes.T
    n_slots = int(evidence.cells.count.sum())
    halves: Measure = pairwise.win_rate
    ways: list[tuple[str, Array, Measure, str]] = [
        ("", outcomes, halves, "a tie counting as half a win"),
        ("class", np.stack([wins, ties + losses], axis=-1), of.share, "a tie being an outcome of its own"),
        ("excluded", np.stack([wins, losses], axis=-1), of.share, "ties left out"),
    ]
    if not ties.any():
        ways = [("", np.stack([wins, losses], axis=-1), of.share, "no verdict being a tie")]
    for ties_as, cells, measure, words in ways:
        yield assess(
            evidence,
            Statistic("win_rate", measure, LOGIT, describes,
                f"share of {whose}'s verdicts on pairs won by {side} against {against}, {words}", is_rate=cells.shape[1] == 2),
            cells, undefined=_NO_VERDICT, source=source, n_excluded=n_slots - int(cells.sum()),
            params={"ties": ties_as} if ties_as else {}, alternatives=True,
        )  # fmt: skip


def _with_reference(evidence: Evidence) -> Iterator[Estimate]:
    """The reference's win rate, the difference on the same pairs, and agreement where neither side says tie."""
    paired = evidence.cells.paired
    sides = [_outcomes(label, paired.unit, paired.count, evidence) for label in (paired.reference, paired.judge)]
    yield from _win_rates(evidence, sides[0], evidence.reference_source, "the reference", "reference")
    both = np.stack(sides, axis=1)
    yield assess(
        evidence,
        Statistic("win_rate", lambda t: pairwise.win_rate(t[..., 1, :]) - pairwise.win_rate(t[..., 0, :]), IDENTITY, "judge",
            "win rate on {judge}'s verdicts minus that on the reference's, on the same pairs, a tie counting as half a win", counted=False),
        both, undefined=_NO_VERDICT, source=evidence.difference_source, sizes=both[:, 0].sum(axis=-1), n_excluded=evidence.n_unpaired,
    )  # fmt: skip
    if evidence.scale.tie is None:
        return
    decided = evidence.cells.classes([0, evidence.scale.size - 1])
    said = "where neither says tie"
    for statistic in (
        Statistic("observed_agreement", of.share, LOGIT, "judge",
            f"share of pairs on which {{judge}} names the reference's winner, {said}", is_rate=True),
        Statistic("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "judge",
            f"chance-corrected agreement of {{judge}} with the reference on the winner, {said}", chance=of.cohen_chance),
    ):  # fmt: skip
        yield assess(
            evidence, statistic, diagonal(decided) if statistic.is_rate else decided, undefined="0/0, no variation in winners",
            n_excluded=int(evidence.cells.count.sum() - decided.sum()), params={"ties": "excluded"},
        )  # fmt: skip


def _orders(evidence: Evidence) -> Iterator[Estimate]:
    """What both orders of the same pair say: none of it needs a reference."""
    orders = evidence.orders
    if orders is None:
        return
    names = ("order_consistency", "flip_rate", "first_position_share")
    if orders.obstacle:
        for name in names:
            yield _not_assessed(evidence, name, orders.obstacle)
        return
    tables = orders.tables(evidence.scale.size, evidence.cells.n_units)
    size = tables.sum(axis=(1, 2))
    left = int(orders.count.sum() - size.sum())
    for name, events, words in (
        (
            names[0],
            pairwise.consistent(tables),
            "gives the same verdict in both orders of showing, a tie being a verdict",
        ),
        (names[1], pairwise.flipped(tables), "names the other side as winner when the order of showing is changed"),
    ):
        yield assess(
            evidence, Statistic(name, of.share, LOGIT, "judge", f"share of pairs on which {{judge}} {words}", is_rate=True),
            np.stack([events, size - events], axis=-1), undefined=_NO_BOTH, n_excluded=left,
        )  # fmt: skip
    if orders.first is None:
        listed = " and ".join(f'"{name}"' for name in orders.names)
        reason = f'the orders {listed} do not say which side was shown first: write "{evidence.scale.levels[-1]} first" and "{evidence.scale.levels[0]} first"'
        yield _not_assessed(evidence, names[2], reason)
        return
    yield from _positions(evidence, tables, left)


def _positions(evidence: Evidence, tables: Array, left: int) -> Iterator[Estimate]:
    """Share of wins for what was shown first: one half without position bias, since both orders are there."""
    first, _, second = pairwise.positions(tables).T
    words = "share of {judge}'s decided verdicts that go to what was shown first, over pairs judged in both orders: .5 without position bias"
    yield assess(
        evidence, Statistic("first_position_share", of.share, LOGIT, "judge", words, is_rate=True),
        np.stack([first, second], axis=-1), undefined=_NO_BOTH, n_excluded=2 * left + int(tables.sum() * 2 - first.sum() - second.sum()),
    )  # fmt: skip


def _not_assessed(evidence: Evidence, name: str, reason: str, params: dict[str, Param] | None = None) -> Estimate:
    absent = exact(
        evidence, name, None, unit="verdict", describes="judge", estimand=f"{name.replace('_', ' ')} of {{judge}}", reason=reason, params=params
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})
