"""Abstention as an estimand: excluded (the default everywhere), counted as the negative label, or a class of its own.

The three answer different questions, so they stand side by side; none is a way of cleaning data.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.agreement import diagonal
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.results import Estimate
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array
from evenhand.stats.scales import ATANH, LOG_ONE_MINUS, LOGIT
from evenhand.stats.weighted_agreement import mcc_multiclass

ORDER = 58


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Agreement under the other two modes, where either side abstains at all."""
    if not evidence.has_reference:
        return
    q, abstained = evidence.scale.size, evidence.scale.status("abstained")
    cells = evidence.cells
    if evidence.scale.kind == "continuous" or not ((cells.judge == abstained) | (cells.reference == abstained)).any():
        return
    tables = cells.classes([*range(q), abstained])
    if not (tables[:, q].any() or tables[:, :, q].any()):
        return
    left = int(cells.count.sum() - tables.sum())
    yield from _as_category(evidence, tables, left)
    if evidence.is_binary:
        yield from _as_negative(evidence, tables, left)


def _as_category(evidence: Evidence, tables: Array, left: int) -> Iterator[Estimate]:
    said = "abstention being a class of its own, every confusion of two classes counting the same"
    for statistic in (
        Statistic("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "judge",
            f"chance-corrected agreement of {{judge}} with the reference, {said}", chance=of.cohen_chance),
        Statistic("mcc_multiclass", mcc_multiclass, ATANH, "judge",
            f"Gorodkin's multi-class correlation of {{judge}} with the reference, {said}"),
        Statistic("observed_agreement", of.share, LOGIT, "judge",
            f"share of verdicts on which {{judge}} gives the reference's class, {said}", is_rate=True),
    ):  # fmt: skip
        yield assess(
            evidence, statistic, diagonal(tables) if statistic.is_rate else tables, undefined="0/0, no variation in classes", n_excluded=left,
            n_clusters=evidence.counts.get("slots"), params={"mode": "category"},
        )  # fmt: skip


def _as_negative(evidence: Evidence, tables: Array, left: int) -> Iterator[Estimate]:
    """Abstention recoded as the negative label on both sides."""
    folded = tables[:, :2, :2].copy()
    folded[:, 0, :] += tables[:, 2, :2]
    folded[:, :, 0] += tables[:, :2, 2]
    folded[:, 0, 0] += tables[:, 2, 2]
    said = "an abstention of either side counting as {negative}"
    f1 = np.stack([folded[:, 1, 1], folded[:, 0, 1] + folded[:, 1, 0]], axis=-1)
    for statistic, cells in (
        (Statistic("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "judge",
            f"chance-corrected agreement of {{judge}} with the reference, {said}", chance=of.cohen_chance), folded),
        (Statistic("phi", of.phi, ATANH, "judge", f"phi of {{judge}} with the reference, {said}"), folded),
        (Statistic("observed_agreement", of.share, LOGIT, "judge",
            f"share of verdicts on which {{judge}} gives the reference's label, {said}", is_rate=True), diagonal(folded)),
        (Statistic("f1", of.f1, LOGIT, "judge", f"F1 of {{judge}} for {{positive}}, {said}: the same number as {{positive}} against the rest",
            is_rate=True, from_rate=lambda share: 2 * share / (1 + share)), f1),
    ):  # fmt: skip
        yield assess(
            evidence, statistic, cells, undefined="0/0, no variation in labels", n_excluded=left,
            n_clusters=evidence.counts.get("slots"), params={"mode": "negative"},
        )  # fmt: skip
