"""Responses as weighted sums of their criteria: the score of each side, its bounds over what is not graded, and decisions."""

from collections.abc import Iterator

from evenhand.audits.agreement import diagonal
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array, Measure, ratio
from evenhand.stats.scales import ATANH, IDENTITY, LOG_ONE_MINUS, LOGIT
from evenhand.tally.weighted_scores import WeightedScores

ORDER = 55
_WEIGHTED: dict[str, Param] = {"weights": "criterion"}


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Weighted scores and their decisions, where weights are given."""
    scores = evidence.scores
    if scores is None:
        return
    sides: list[tuple[str, str, Describes]] = [("judge", evidence.source, "judge")]
    sides += [("reference", evidence.reference_source, "reference")] if evidence.has_reference else []
    for side, source, describes in sides:
        yield from _score(evidence, scores, side, source, describes)
    if evidence.has_reference:
        words = "mean weighted score of {judge} minus the reference's, over the criteria that both graded"
        yield assess(
            evidence, Statistic("mean_total", _difference, IDENTITY, "judge", words, "response", counted=False), scores.both,
            undefined="no response with a criterion that weighs graded by both", source=evidence.difference_source, sizes=scores.both[:, 0],
            params=_WEIGHTED,
        )  # fmt: skip
        yield from _decisions(evidence, scores)
    if not evidence.has_reference or not evidence.is_binary:
        yield from _by_criterion(evidence, scores)


def _score(
    evidence: Evidence, scores: WeightedScores, side: str, source: str, describes: Describes
) -> Iterator[Estimate]:
    whose = "{judge}" if side == "judge" else "the reference"
    graded, every = scores.graded[side]
    low, high = scores.reach
    note = f"weight graded {graded:g} of {every:g}; reach {low:g} to {high:g}"
    sums, bounds = scores.scores[side], scores.bounds[side]
    n_all = int(bounds[:, 0].sum())
    words = f"mean over responses of {whose}'s weighted score, Σ w·x over the positive weights, on the criteria graded ({note})"
    yield assess(
        evidence, Statistic("mean_total", _mean(1), IDENTITY, describes, words, "response", counted=False), sums,
        undefined="no criterion that weighs is graded", source=source, sizes=sums[:, 0], n_excluded=n_all - int(sums[:, 0].sum()), params=_WEIGHTED,
    )  # fmt: skip
    if graded == every:
        return
    for at, bound, said in ((1, "lower", "lowest"), (2, "upper", "highest")):
        words = f"mean over responses of the {said} weighted score that {whose} could have given, what is not graded taken at its {said} ({note})"
        yield assess(
            evidence, Statistic("mean_total", _mean(at), IDENTITY, describes, words, "response", counted=False), bounds,
            undefined="no response", source=source, sizes=bounds[:, 0], params={**_WEIGHTED, "bound": bound},
        )  # fmt: skip


def _mean(at: int) -> Measure:
    return lambda sums: ratio(sums[..., at], sums[..., 0])


def _difference(sums: Array) -> Array:
    return ratio(sums[..., 1] - sums[..., 2], sums[..., 0])


def _decisions(evidence: Evidence, scores: WeightedScores) -> Iterator[Estimate]:
    """Each response that both graded throughout as one decision by each side."""
    n_all = int(scores.bounds["judge"][:, 0].sum())
    for cut, tables in scores.decided.items():
        rule = f"one decision a response: weighted sum of at least {cut:g}"
        for statistic, cells in (
            (Statistic("observed_agreement", of.share, LOGIT, "judge",
                f"share of agreement of {{judge}} with the reference, {rule}", "response", is_rate=True), diagonal(tables)),
            (Statistic("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "judge",
                f"Cohen's kappa of {{judge}} with the reference, {rule}", "response", chance=of.cohen_chance), tables),
            (Statistic("phi", of.phi, ATANH, "judge", f"phi of {{judge}} with the reference, {rule}", "response"), tables),
        ):  # fmt: skip
            yield assess(
                evidence, statistic, cells, undefined="one side decides all responses alike, or there is none",
                n_excluded=n_all - int(tables.sum()), params={"aggregation": "item", "cut": cut, **_WEIGHTED},
            )  # fmt: skip


def _by_criterion(evidence: Evidence, scores: WeightedScores) -> Iterator[Estimate]:
    """The judge's mean on each criterion, those of weight 0 as well."""
    for at, name in enumerate(evidence.criteria):
        sums = scores.marks[:, at]
        words = f"mean of {{judge}}'s verdicts on this criterion, from 0 to 1; its weight is {scores.weights[at]:g}"
        yield assess(
            evidence, Statistic("mean_total", _mean(1), IDENTITY, "judge", words, counted=False), sums,
            undefined="the criterion is graded nowhere", sizes=sums[:, 0],
            n_excluded=int(evidence.cells.on_criterion(at).count.sum() - sums[:, 0].sum()), params={"criterion": name, **_WEIGHTED},
        )  # fmt: skip


def notices(evidence: Evidence) -> Iterator[str]:
    """Weights that were not given."""
    scores = evidence.scores
    if scores is not None and scores.unweighted:
        names = ", ".join(scores.unweighted[:8]) + (" and more" if len(scores.unweighted) > 8 else "")
        yield f"criteria without a weight of their own weigh 1: {names}"
    if scores is None:
        return
    for side, (graded, every) in scores.graded.items():
        if graded < every:
            yield f"weighted scores of the {side} are over graded criteria: weight graded {graded:g} of {every:g}; bounds count the rest as lowest and highest"
    if (scores.weights < 0).any():
        yield f"some weights are negative: a weighted score reaches from {scores.reach[0]:g} to {scores.reach[1]:g}"
