"""Livingston and Lewis at a given reliability: an effective length, and decisions on checklists and on single marks."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from evenhand.audits.beside_reference import (
    NO_RESPONSE,
    Borrowed,
    Remembered,
    Tallies,
    beside_reference,
    sides,
    tallied,
    unfrozen,
)
from evenhand.audits.borrowed import checklists
from evenhand.audits.evidence import Evidence
from evenhand.audits.strong_true_score import NOT_OF_THE_JUDGE, Model, constant, declared, of_fit
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats.arrays import Array
from evenhand.stats.ensembles import sums_by_group
from evenhand.stats.livingston_lewis import LEAST_LENGTH, effective_length, fit_livingston_lewis
from evenhand.stats.scales import LOG
from evenhand.stats.strong_true_score import Classification
from evenhand.stats.true_scores import N_POWERS, ScoreSums, TrueScores, classify, sums_of_histogram
from evenhand.tally.marks import level_values
from evenhand.tally.moments import CompleteResponses

ORDER = 62


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """The procedure on totals of checklists, and on marks where a response has one."""
    if evidence.reliability is None:
        return
    for group, params in checklists(evidence):
        shares = tuple(cut / group.n_criteria for cut in evidence.cuts)
        histograms = tallied(evidence, group, CompleteResponses.histogram)
        yield from _classical(evidence, histograms, sums_of_histogram, shares, "criteria met", params)
    ends = _ends(evidence)
    if ends is not None and len(evidence.criteria) == 1:
        low, high = ends
        shares = tuple((cut - low) / (high - low) for cut in evidence.cuts)
        yield from _classical(evidence, _marks(evidence, low, high), _unpacked, shares, "marks")


def _ends(evidence: Evidence) -> tuple[float, float] | None:
    """Lowest and highest mark there can be: declared, or the levels of an ordinal scale; None if neither."""
    if evidence.scale.range is not None:
        return evidence.scale.range
    values, own = level_values(evidence.scale)
    return (float(values[0]), float(values[-1])) if evidence.scale.kind == "ordinal" and own else None


def _marks(evidence: Evidence, low: float, high: float) -> Tallies:
    """(U, 1 + 4) number of marks and sums of their powers, as shares of the scale, on every side there is."""
    cells = evidence.cells.paired if evidence.has_reference else evidence.cells.judged
    shares = (level_values(evidence.scale)[0] - low) / (high - low)
    packed = {}
    for side, _, _ in sides(evidence):
        share = shares[cells.judge if side == "judge" else cells.reference]
        powers = [share**power for power in range(N_POWERS + 1)]
        packed[side] = sums_by_group(powers, cells.unit, cells.n_units, cells.count)
    sizes = packed["judge"][:, 0]
    n_clusters = evidence.counts.get("paired" if evidence.has_reference else "judged")
    return Tallies(packed, sizes, int(evidence.cells.count.sum() - sizes.sum()), n_clusters)


def _unpacked(packed: Array) -> ScoreSums:
    return ScoreSums(packed[..., 0], packed[..., 1:])


def _classical(
    evidence: Evidence,
    tallies: Tallies,
    sums: Callable[[Array], ScoreSums],
    shares: tuple[float, ...],
    what: str,
    params: Mapping[str, Param] | None = None,
) -> Iterator[Estimate]:
    """The procedure of Livingston and Lewis (1995) at the given reliability: its effective length, and decisions.

    Args:
        evidence: holds the reliability and the cuts.
        tallies: of the scores.
        sums: tallies (..., m) → sums of scores as shares of the scale.
        shares: the cuts as shares of the scale.
        what: a cut counts, in words.
        params: of the ids.
    """
    reliability = evidence.reliability
    if reliability is None:
        return
    length = Borrowed("effective_length", unfrozen(lambda packed: _length(sums(packed), reliability)), LOG, "checklist",
        f"number of equally hard independent lines that would give scores as those of {{side}} the reliability {reliability:g}: "
        f"unrounded, variance with 1/(n−1){NOT_OF_THE_JUDGE}", NO_RESPONSE, explain=lambda packed: _too_short(sums(packed), reliability))  # fmt: skip
    yield from beside_reference(evidence, tallies, length, params)
    for n_parameters in (2, 4):
        ends = "a beta distribution on the whole scale" if n_parameters == 2 else "a four-parameter beta distribution"
        fit = partial(_fit, sums, reliability, n_parameters)
        model = Model(
            "livingston_lewis", {"model": f"ll{n_parameters}", "reliability": reliability},
            Remembered(partial(_decisions, fit, shares)), ("accuracy", "consistency", "kappa"),
            f", by Livingston and Lewis (1995) with {ends}, the given reliability {reliability:g} and its effective length rounded, "
            "pass meaning at least the cut",
            partial(_remark, sums, reliability, n_parameters, fit),
        )  # fmt: skip
        for one in declared(model, evidence.cuts, what):
            yield from beside_reference(evidence, tallies, one, params)


def _fit(
    sums: Callable[[Array], ScoreSums],
    reliability: float,
    n_parameters: int,
    packed: Array,
    whole: TrueScores | None = None,
) -> TrueScores:
    """Of (..., m) tallies; the length, and a fallback, are those of the whole sample's fit."""
    if whole is None:
        return fit_livingston_lewis(sums(packed), reliability, n_parameters=n_parameters)
    few, length = int(whole.n_parameters), float(whole.length)
    return fit_livingston_lewis(sums(packed), reliability, n_parameters=few, length=length)


def _decisions(
    fit: Callable[..., TrueScores], shares: tuple[float, ...], totals: Array
) -> Callable[[Array], Classification]:
    """What a sample's tallies decide, with what is frozen at its totals."""
    whole = fit(totals)
    return Remembered(lambda packed: classify(fit(packed, whole), shares))


def _length(sums: ScoreSums, reliability: float) -> Array:
    found = effective_length(sums, reliability)
    with np.errstate(invalid="ignore"):
        return np.where(np.round(found) >= LEAST_LENGTH, found, np.nan)


def _too_short(sums: ScoreSums, reliability: float) -> str:
    if said := constant(sums):
        return said
    found = float(effective_length(sums, reliability))
    if np.round(found) >= LEAST_LENGTH:
        return ""
    return (
        f"the reliability {reliability:g} gives an effective length of {found:.3g}, below {LEAST_LENGTH}: impossible for scores "
        "spread as these; the scale's ends or the reliability are not theirs"
    )  # fmt: skip


def _remark(
    sums: Callable[[Array], ScoreSums],
    reliability: float,
    asked: int,
    fit: Callable[[Array], TrueScores],
    packed: Array,
) -> str:
    return _too_short(sums(packed), reliability) or of_fit(fit(packed), asked)
