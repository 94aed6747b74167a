"""What unscored verdicts may hide: bounds of the positive rate, and whether being unscored depends on the reference label."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array, binned, ratio
from evenhand.stats.hypothesis_tests import fisher_exact
from evenhand.stats.scales import IDENTITY, LOGIT

ORDER = 59
MOST_LABELS = 20
"""Labels of the reference up to which coverage is given for each."""


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Bounds, and coverage by reference label, where the judge leaves any verdict unscored."""
    cells, q = evidence.cells, evidence.scale.size
    if not (cells.judge >= q).any():
        return
    if evidence.is_binary:
        yield from _bounds(evidence)
    elif evidence.has_reference and evidence.scale.kind != "continuous":
        yield from _agreement_bounds(evidence)
    if evidence.has_reference and evidence.scale.kind != "continuous" and q <= MOST_LABELS:
        known = cells.reference < q
        scored = (cells.judge[known] < q).astype(np.int64)
        code = (cells.unit[known] * q + cells.reference[known]) * 2 + scored
        yield from _by_label(evidence, binned(code, cells.count[known], (cells.n_units, q, 2)))


def _bounds(evidence: Evidence) -> Iterator[Estimate]:
    """The positive rate with every unscored verdict counted as negative, and as positive."""
    negative, positive = evidence.cells.judged_as(0), evidence.cells.judged_as(1)
    lost = evidence.cells.states().sum(axis=(1, 2)) - negative - positive
    for bound, events, others in (("lower", positive, negative + lost), ("upper", positive + lost, negative)):
        said = "{negative}" if bound == "lower" else "{positive}"
        words = f"share of verdict slots {{judge}} calls {{positive}}, every unscored one counted as {said}"
        yield assess(
            evidence, Statistic("judge_positive_rate", of.share, LOGIT, "judge", words, is_rate=True), np.stack([events, others], axis=-1),
            undefined="no verdict slot", n_clusters=evidence.counts.get("slots"), params={"bound": bound},
        )  # fmt: skip


def _agreement_bounds(evidence: Evidence) -> Iterator[Estimate]:
    """Share of the reference's label with every slot that either side leaves unscored counted as wrong, and as right."""
    total = binned(evidence.cells.unit, evidence.cells.count, (evidence.cells.n_units,))
    right, paired = evidence.cells.agreed(), evidence.cells.paired
    lost = total - binned(paired.unit, paired.count, (evidence.cells.n_units,))
    for bound, events in (("lower", right), ("upper", right + lost)):
        said = "wrong" if bound == "lower" else "right"
        words = f"share of verdict slots on which {{judge}} gives the reference's label, what is not scored on both sides counted as {said}"
        yield assess(
            evidence, Statistic("observed_agreement", of.share, LOGIT, "judge", words, is_rate=True), np.stack([events, total - events], axis=-1),
            undefined="no verdict slot", n_clusters=evidence.counts.get("slots"), params={"bound": bound},
        )  # fmt: skip


def _by_label(evidence: Evidence, tables: Array) -> Iterator[Estimate]:
    """(U, q, 2) slots by reference label, unscored and scored."""
    levels = evidence.scale.levels
    left = int(evidence.cells.count.sum() - tables.sum())
    for position, label in enumerate(levels):
        here = tables[:, position]
        words = f"share of the slots whose reference is {label} in which {{judge}} is scored"
        yield assess(
            evidence, Statistic("selective_coverage", of.share, LOGIT, "judge", words, is_rate=True), here[:, ::-1],
            undefined=f"the reference is never {label}", n_excluded=left + int(tables.sum() - here.sum()), params={"reference": label},
        )  # fmt: skip
    if not evidence.is_binary:
        return
    words = (
        "share of slots in which {judge} is scored where the reference is {positive}, minus where it is {negative}: "
        "other than 0, verdicts are not missing at random"
    )
    yield assess(
        evidence, Statistic("selective_coverage", _gap, IDENTITY, "judge", words), tables,
        undefined="the reference uses one label only", n_excluded=left, params={"contrast": f"{levels[1]}-{levels[0]}"},
    )  # fmt: skip
    total = tables.sum(axis=0)
    yield exact(
        evidence, "fisher_p", fisher_exact(total), unit="verdict", describes="judge", n_used=int(total.sum()), n_excluded=left,
        reason="valid if rows were independent; the clustered difference is selective_coverage[contrast=...]",
        estimand="two-sided Fisher p that being unscored by {judge} does not depend on the reference label",
    )  # fmt: skip


def _gap(table: Array) -> Array:
    """(..., 2, 2) reference label by unscored and scored → coverage at the positive label minus at the negative."""
    share = ratio(table[..., 1], table.sum(axis=-1))
    return share[..., 1] - share[..., 0]
