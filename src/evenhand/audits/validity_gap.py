"""What separates gate accuracy from Livingston-Lewis accuracy: an identity of four numbers, each with its interval.

A_J - LL_J = (1 - LL_G) - (1 - A_J) - (LL_J - LL_G): what Livingston-Lewis charges an error-free scorer for the sampling of
lines, less the judge's wrong decisions, less what its errors move Livingston-Lewis accuracy by (Zhu 2026, section 4).
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from evenhand.audits.beside_reference import Remembered, n_excluded
from evenhand.audits.borrowed import checklists
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.results import Estimate
from evenhand.stats.arrays import Array, ratio
from evenhand.stats.scales import IDENTITY, LOGIT, Scale
from evenhand.stats.strong_true_score import fit_beta_binomial, livingston_lewis

ORDER = 63
_PARTS: dict[str, tuple[Scale, str]] = {
    "": (IDENTITY, "gate accuracy of {judge} at %s minus the Livingston–Lewis accuracy of its totals: answers to two questions"),
    "line_sampling": (LOGIT, "1 minus the Livingston–Lewis accuracy of the reference labels at %s: what an error-free scorer is charged"),
    "judge_error": (LOGIT, "share of decisions at %s on which {judge} and the reference differ"),
    "judge_minus_reference": (IDENTITY, "Livingston–Lewis accuracy at %s, {judge}'s totals minus the reference's"),
}  # fmt: skip


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """The gap and its three parts at every cut, on complete responses with the same checklist."""
    if not evidence.has_reference:
        return
    for group, params in checklists(evidence):
        joint = group.joint_histogram()
        terms = Remembered(partial(_terms, group.n_criteria + 1, evidence.cuts))
        for position, cut in enumerate(evidence.cuts):
            for number, (part, (scale, words)) in enumerate(_PARTS.items()):
                statistic = Statistic(
                    "validity_gap", _term(terms, number, position), scale, "judge" if part == "judge_error" else "measurement system",
                    words % f"{cut:g} criteria met", "response", counted=False,
                )  # fmt: skip
                yield assess(
                    evidence, statistic, joint, undefined="no complete response", n_excluded=n_excluded(group),
                    n_clusters=evidence.counts.get("complete"), sizes=group.sizes,
                    params={"cut": cut, **({"part": part} if part else {}), **params},
                )  # fmt: skip


def _term(terms: Callable[[Array], Array], number: int, position: int) -> Callable[[Array], Array]:
    return lambda joint: terms(joint)[..., number, position]


def _terms(size: int, cuts: tuple[float, ...], joint: Array) -> Array:
    """(..., 4, cuts): the gap and its parts, from joint counts (..., size²) of reference and judge totals."""
    table = joint.reshape(*joint.shape[:-1], size, size)
    of_judge, of_reference = (
        livingston_lewis(fit_beta_binomial(table.sum(axis=axis)), cuts).accuracy for axis in (-2, -1)
    )
    passes = np.arange(size) >= np.array(cuts)[:, None]
    right = np.stack([joint @ (one[:, None] == one).ravel() for one in passes], axis=-1)
    accuracy = ratio(right, joint.sum(axis=-1)[..., None])
    return np.stack([accuracy - of_judge, 1 - of_reference, 1 - accuracy, of_judge - of_reference], axis=-2)
