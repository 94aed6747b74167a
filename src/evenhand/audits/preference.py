"""Whether a judge errs otherwise on longer responses, or on its own model's: differences at a fixed reference label.

Longer responses may be better, and a model's own may be, too; so verdicts are compared within each reference label, and
the labels are weighted as all paired verdicts have them. Weights and the labels that are kept are those of the full
sample, in every replicate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate, Table
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, Counts, binned, ratio
from evenhand.stats.scales import IDENTITY, LOGIT
from evenhand.tally.marks import level_values
from evenhand.tally.traits import Traits

ORDER = 55
MOST_STRATA = 20
"""Reference labels up to which each is a stratum of its own; marks of more are taken in bands of equal numbers."""
FEWEST_UNITS = 2
"""Units that must hold verdicts of either half for a label to be compared."""
DIRECTIONS, OVERALL = "errors of each direction by length and author", "verdicts by length and author"
_HALVES = {"length": ("responses of the shorter half", "responses of the longer half"),
    "author": ("responses of other authors", "responses that its own model wrote")}  # fmt: skip
_OF_PAIRS = {"length": "the side whose wins are counted is the longer one rather than the shorter",
    "author": "the side whose wins are counted was written by its own model rather than the other side"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Scored:
    """What one statistic counts of every paired verdict.

    Attributes:
        name: of the statistic.
        value: (n,) of each row of the tally.
        words: what its mean is.
        family: what its difference is tested together with.
        reference: the one label whose verdicts count, or None for all of them.
        per_verdict: whether the id says so.
    """

    name: str
    value: Array
    words: str
    family: str
    reference: int | None = None
    per_verdict: bool = False


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Differences and rates by every trait that a column names."""
    for traits in evidence.traits:
        if traits.obstacle:
            name = {"binary": "leniency", "pairwise": "win_rate", "nominal": "error_rate"}.get(
                evidence.scale.kind, "bias"
            )
            params = {"by": traits.name} | ({"per": "verdict"} if name == "leniency" else {})
            yield exact(
                evidence, name, None, unit="verdict", describes="judge", reason=traits.obstacle, params=params,
                estimand=f"difference of the verdicts of {{judge}} by {traits.name} at a fixed reference label",
            )  # fmt: skip
            continue
        for scored in _all_scored(evidence, traits):
            yield _difference(evidence, traits, scored)
            if scored.reference is not None:
                yield from _levels(evidence, traits, scored)


def _all_scored(evidence: Evidence, traits: Traits) -> Iterator[_Scored]:
    reference, judge, kind = traits.reference, traits.judge, evidence.scale.kind
    wrong = (judge != reference).astype(np.float64)
    if kind == "binary":
        words = "share that {judge} calls {positive} of what the reference calls {negative}"
        yield _Scored("false_accept_rate", wrong, words, DIRECTIONS, 0)
        words = "share that {judge} calls {negative} of what the reference calls {positive}"
        yield _Scored("false_reject_rate", wrong, words, DIRECTIONS, 1)
        positive = (judge == 1).astype(np.float64)
        yield _Scored("leniency", positive, "share that {judge} calls {positive}", OVERALL, per_verdict=True)
    if kind == "pairwise":
        last = evidence.scale.size - 1
        won = np.where(judge == last, 1.0, np.where(judge == 0, 0.0, 0.5))
        yield _Scored(
            "win_rate", won, "win rate of {positive} in the verdicts of {judge}, a tie being half a win", OVERALL
        )
    if kind in ("ordinal", "continuous"):
        values, own = level_values(evidence.scale)
        if own:
            gap = values[judge] - values[reference]
            yield _Scored("bias", gap, "mean of {judge}'s mark minus the reference's", OVERALL)
            yield _Scored(
                "mae", np.abs(gap), "mean absolute difference of {judge}'s mark from the reference's", OVERALL
            )
    if kind != "continuous":
        yield _Scored("error_rate", wrong, "share of verdicts on which {judge} differs from the reference", OVERALL)


def _difference(evidence: Evidence, traits: Traits, scored: _Scored) -> Estimate:
    """With the trait minus without it, within each reference label, labels weighted as all paired verdicts have them."""
    strata, n_strata = _strata(traits, scored)
    tallies = _tallies(traits, scored, strata, n_strata)
    held = (tallies[..., 1] > 0).sum(axis=0)
    kept: NDArray[np.bool_] = (held >= min(FEWEST_UNITS, traits.n_units)).all(axis=0)
    weights = tallies[:, :, kept, 1].sum(axis=(0, 1))
    sizes = tallies[:, :, kept, 1].sum(axis=(1, 2))
    statistic = Statistic(
        scored.name,
        partial(_standardised, ratio(weights, weights.sum())),
        IDENTITY,
        "judge",
        _difference_words(evidence, traits, scored),
        counted=False,
        params={"by": traits.name} | ({"per": "verdict"} if scored.per_verdict else {}),
    )
    return assess(
        evidence,
        statistic,
        tallies[:, :, kept],
        undefined="no reference label whose verdicts of both kinds lie in two clusters",
        sizes=sizes,
        n_excluded=int(evidence.cells.count.sum() - sizes.sum()),
        family=scored.family,
    )


def _strata(traits: Traits, scored: _Scored) -> tuple[Counts, int]:
    """(n,) stratum of each row, -1 for none, and the number of strata."""
    if scored.reference is not None:
        return np.where(traits.reference == scored.reference, 0, -1), 1
    labels, position = np.unique(traits.reference, return_inverse=True)
    if len(labels) <= MOST_STRATA:
        return position, len(labels)
    counts = np.bincount(position, weights=traits.count)
    before = np.cumsum(counts) - counts / 2
    band = np.minimum((before / counts.sum() * MOST_STRATA).astype(np.int64), MOST_STRATA - 1)
    return band[position], MOST_STRATA


def _tallies(traits: Traits, scored: _Scored, strata: Counts, n_strata: int) -> Array:
    """(U, 2, R, 2) sum of the value and number of verdicts, by half and stratum."""
    here = strata >= 0
    half = traits.has_trait[traits.band[here]].astype(np.int64)
    code = (traits.unit[here] * 2 + half) * n_strata + strata[here]
    shape, count = (traits.n_units, 2, n_strata), traits.count[here]
    sums = [
        np.bincount(code, weights=weight, minlength=traits.n_units * 2 * n_strata).reshape(shape)
        for weight in (count * scored.value[here], count)
    ]
    return np.stack(sums, axis=-1)


def _standardised(weights: Array, tallies: Array) -> Array:
    """(..., 2, R, 2) → weighted mean over strata of the second half's mean minus the first's."""
    means = ratio(tallies[..., 0], tallies[..., 1])
    if not len(weights):
        return np.full(tallies.shape[:-3], np.nan)
    gap: Array = ((means[..., 1, :] - means[..., 0, :]) * weights).sum(axis=-1)
    return gap


def _difference_words(evidence: Evidence, traits: Traits, scored: _Scored) -> str:
    if evidence.scale.kind == "pairwise":
        return f"{scored.words}: difference when {_OF_PAIRS[traits.name]}, at a fixed reference label"
    without, with_ = _HALVES[traits.name]
    fixed = "" if scored.reference is not None else ", at a fixed reference label"
    return f"{scored.words}: on {with_} minus on {without}{fixed}{_where(traits)}"


def _where(traits: Traits) -> str:
    """Where the halves part."""
    return f" (parted at {traits.parted})" if traits.parted else ""


def _levels(evidence: Evidence, traits: Traits, scored: _Scored) -> Iterator[Estimate]:
    """The rate in either half."""
    strata, n_strata = _strata(traits, scored)
    tallies = _tallies(traits, scored, strata, n_strata)[:, :, 0]
    for half, group in enumerate(traits.groups):
        cells = np.stack([tallies[:, half, 0], tallies[:, half, 1] - tallies[:, half, 0]], axis=-1)
        words = f"{scored.words}, on {_HALVES[traits.name][half]}{_where(traits)}"
        params = {"by": traits.name, "group": group}
        yield assess(
            evidence,
            Statistic(scored.name, share, LOGIT, "judge", words, is_rate=True, params=params),
            cells,
            undefined=f"no such verdict on {_HALVES[traits.name][half]}",
            n_excluded=int(evidence.cells.count.sum() - cells.sum()),
        )


def table(evidence: Evidence) -> Table:
    """Verdicts by trait, band and reference label: how many, and how many differ from the reference."""
    levels, rows = evidence.scale.levels, []
    for traits in evidence.traits:
        if traits.obstacle or len(levels) > MOST_STRATA:
            continue
        shape = (len(traits.bands), len(levels))
        code = traits.band * len(levels) + traits.reference
        n = binned(code, traits.count, shape).astype(int)
        wrong = binned(code, traits.count * (traits.judge != traits.reference), shape).astype(int)
        for band, said in enumerate(traits.bands):
            rows += [
                (traits.name, said, label, int(n[band, at]), int(wrong[band, at])) for at, label in enumerate(levels)
            ]
    return Table(columns=("by", "band", "reference", "verdicts", "errors"), rows=tuple(rows))
