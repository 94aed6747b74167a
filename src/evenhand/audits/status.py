"""What was read and what became of it: counts, and the rates at which verdicts are not scored."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, binned
from evenhand.stats.scales import LOGIT
from evenhand.verdicts.scale import STATUSES

ORDER = 10
_RATES = {
    "abstained": ("abstention_rate", "abstains"),
    "tied": ("tie_rate", "is a tie"),
    "unparsed": ("unparsed_rate", "could not be parsed"),
    "refused": ("refused_rate", "is a refusal"),
    "error": ("error_status_rate", "is an error of the run"),
}
MOST_CRITERIA = 100
"""Criteria up to which rates of statuses are given for each."""


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Counts and status rates of one judge."""
    states = evidence.cells.states()
    yield from _counts(evidence)
    n_slots = states.sum(axis=(1, 2))
    for status, (name, words) in _RATES.items():
        events = evidence.cells.judged_as(evidence.scale.status(status))
        if status in ("abstained", "unparsed") or events.any():
            rate = Statistic(
                name, share, LOGIT, "judge", f"share of {{judge}}'s verdict slots whose verdict {words}", is_rate=True
            )
            cells = np.stack([events, n_slots - events], axis=-1)
            yield assess(evidence, rate, cells, undefined="no verdict slot", n_clusters=evidence.counts.get("slots"))
    yield from _of_reference(evidence, n_slots)
    yield from _by_criterion(evidence)
    yield from _by_condition(evidence)
    if evidence.has_reference:
        both = states[:, 0, 0]
        covered = Statistic(
            "selective_coverage",
            share,
            LOGIT,
            "judge",
            "share of verdict slots in which both {judge} and the reference are scored",
            is_rate=True,
        )
        yield assess(
            evidence,
            covered,
            np.stack([both, n_slots - both], axis=-1),
            undefined="no verdict slot",
            n_clusters=evidence.counts.get("slots"),
        )
        agreed = evidence.cells.agreed()
        selective = Statistic(
            "selective_accuracy",
            share,
            LOGIT,
            "judge",
            "share of the verdicts in which both are scored on which {judge} gives the reference's label",
            is_rate=True,
        )
        yield assess(
            evidence,
            selective,
            np.stack([agreed, both - agreed], axis=-1),
            undefined="no verdict in which both sides are scored",
            n_excluded=evidence.n_unpaired,
            n_clusters=evidence.counts.get("paired"),
        )
    elif evidence.is_binary:
        labels = evidence.cells.judged.judge_labels()
        rate = Statistic(
            "judge_positive_rate",
            share,
            LOGIT,
            "judge",
            "share of scored verdicts {judge} calls {positive}",
            is_rate=True,
        )
        yield assess(
            evidence,
            rate,
            labels[:, ::-1],
            undefined="the judge has no scored verdict",
            n_excluded=int(n_slots.sum() - labels.sum()),
            n_clusters=evidence.counts.get("judged"),
            alternatives=True,
        )


def _of_reference(evidence: Evidence, n_slots: Array) -> Iterator[Estimate]:
    """The same rates of the reference's side, for the statuses it has."""
    if not evidence.has_reference:
        return
    cells = evidence.cells
    for status, (name, words) in _RATES.items():
        here = cells.reference == evidence.scale.status(status)
        if here.any():
            events = binned(cells.unit[here], cells.count[here], (cells.n_units,))
            said = f"share of {{judge}}'s verdict slots whose reference verdict {words}"
            rate = Statistic(name, share, LOGIT, "reference", said, is_rate=True)
            yield assess(
                evidence, rate, np.stack([events, n_slots - events], axis=-1), undefined="no verdict slot", source=evidence.reference_source,
                n_clusters=evidence.counts.get("slots"),
            )  # fmt: skip


def _by_criterion(evidence: Evidence) -> Iterator[Estimate]:
    """Rates of the judge's statuses on each criterion, where it has that status at all."""
    cells, k = evidence.cells, len(evidence.criteria)
    if not 1 < k <= MOST_CRITERIA:
        return
    slots = binned(cells.unit * k + cells.criterion, cells.count, (cells.n_units, k))
    for status, (name, words) in _RATES.items():
        here = cells.judge == evidence.scale.status(status)
        if not here.any():
            continue
        events = binned((cells.unit * k + cells.criterion)[here], cells.count[here], (cells.n_units, k))
        for at, criterion in enumerate(evidence.criteria):
            said = f"share of {{judge}}'s verdict slots on this criterion whose verdict {words}"
            rate = Statistic(name, share, LOGIT, "judge", said, is_rate=True)
            table = np.stack([events[:, at], slots[:, at] - events[:, at]], axis=-1)
            yield assess(
                evidence, rate, table, undefined="no verdict slot on this criterion", n_excluded=int(slots.sum() - slots[:, at].sum()),
                params={"criterion": criterion},
            )  # fmt: skip


def _by_condition(evidence: Evidence) -> Iterator[Estimate]:
    """Rates of the judge's statuses under each model, phrasing and other condition, and how they differ between two."""
    held = evidence.conditions
    if held is None:
        return
    n_all = int(evidence.cells.count.sum())
    for status, (name, words) in _RATES.items():
        position = 1 + STATUSES.index(status)
        if not any(states[:, position].any() for states in held.states.values()):
            continue
        for (facet, value), states in held.states.items():
            n_slots = states.sum(axis=1)
            said = f"share of {{judge}}'s verdict slots under this {facet} whose verdict {words}"
            rate = Statistic(name, share, LOGIT, "judge", said, is_rate=True)
            yield assess(
                evidence, rate, np.stack([states[:, position], n_slots - states[:, position]], axis=-1), undefined="no verdict slot",
                n_clusters=held.n_clusters[facet, value], n_excluded=n_all - int(n_slots.sum()), params={facet: value},
            )  # fmt: skip


def _counts(evidence: Evidence) -> Iterator[Estimate]:
    numbers = {name: int(evidence.cells.judged_as(evidence.scale.status(name)).sum()) for name in STATUSES}
    total = int(evidence.cells.count.sum())
    scored = total - sum(numbers.values())
    counts = evidence.counts
    yield exact(
        evidence,
        "n_responses",
        counts["responses_used"],
        unit="response",
        describes="bank",
        n_used=counts["responses_used"],
        n_excluded=counts["responses"] - counts["responses_used"],
        n_clusters=counts["clusters_used"],
        estimand="rated responses with every criterion scored on every side there is",
    )
    yield exact(
        evidence,
        "n_clusters",
        counts["clusters_used"],
        unit="cluster",
        describes="bank",
        n_used=counts["clusters_used"],
        n_excluded=counts["clusters"] - counts["clusters_used"],
        n_clusters=counts["clusters_used"],
        estimand="clusters with at least one verdict that is used",
    )
    yield exact(
        evidence,
        "n_criteria",
        len(evidence.criteria),
        unit="criterion",
        describes="checklist",
        n_used=len(evidence.criteria),
        n_clusters=counts["clusters"],
        estimand="criteria of the checklist",
    )
    yield exact(
        evidence,
        "n_verdicts",
        total,
        unit="verdict",
        describes="bank",
        n_used=total,
        n_clusters=counts["clusters"],
        estimand="verdict slots of {judge}: responses × criteria × conditions",
    )
    yield exact(
        evidence,
        "n_scored",
        scored,
        unit="verdict",
        describes="judge",
        n_used=scored,
        n_excluded=total - scored,
        n_clusters=counts["clusters"],
        estimand="verdict slots in which {judge} "
        + ("names a side" if evidence.scale.kind == "pairwise" else "gives a label"),
    )
    for status, number in numbers.items():
        yield exact(
            evidence,
            f"n_{status}",
            number,
            unit="verdict",
            describes="judge",
            n_used=number,
            n_clusters=counts["clusters"],
            estimand=f"verdict slots of {{judge}} that are {status}",
        )
