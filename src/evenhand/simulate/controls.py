"""Two controls whose true scores are known: Phi(lambda) and Livingston-Lewis do not estimate accuracy against a reference.

The *Phi control* draws a bank from the very model that Livingston-Lewis fits. Its accuracy then estimates the share
of responses whose pass or fail is that of their own true score, and Phi(lambda), a ratio of squared distances, does
not. The *estimand control* has no sampling of criteria at all: totals scatter about the judge's own true score, which
is not the reference's total. Accuracy against the one then exceeds accuracy against the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator, default_rng

from evenhand.simulate.draws import moments_given_totals
from evenhand.simulate.population import check_whole
from evenhand.simulate.sweeps import Step
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.generalizability import phi_lambda
from evenhand.stats.internal_consistency import Moments, moments
from evenhand.stats.strong_true_score import fit_beta_binomial, livingston_lewis

CUTS = (4, 5, 6, 7)
ALPHA, BETA = 5.452, 3.663
"""The beta distribution fitted to the totals of Zhu (2026)'s judge, as the published control rounds it."""
N_CRITERIA = 10
Stream = Literal["own", "published"]

_BLOCK_NUMBERS = 2_000_000
_PRESENCE, _SLOPE, _SHIFT, _VALIDITY_SD, _ERROR_SD = 0.55, 0.9, 0.9, 1.1, 0.85


@dataclass(frozen=True, slots=True)
class PhiControl:
    """Arrays of shape (replicates, cuts).

    Attributes:
        accuracy: share of responses whose pass or fail is that of their true score.
        livingston_lewis: its estimate from the totals alone.
        phi_lambda: Phi(lambda) from the verdicts.
    """

    accuracy: Array
    livingston_lewis: Array
    phi_lambda: Array

    @property
    def gap(self) -> Array:
        """Accuracy less Phi(lambda)."""
        return self.accuracy - self.phi_lambda


@dataclass(frozen=True, slots=True)
class EstimandControl:
    """Arrays of shape (replicates, cuts).

    Attributes:
        own: share of responses whose pass or fail is that of the judge's own true score.
        reference: share whose pass or fail is the reference's.
    """

    own: Array
    reference: Array

    @property
    def difference(self) -> Array:
        """Accuracy against the judge's own true score less accuracy against the reference."""
        return self.own - self.reference


def phi_control(
    *,
    n_responses: int = 4000,
    n_replicates: int = 1,
    seed: int = 101,
    stream: Stream = "published",
    cuts: tuple[int, ...] = CUTS,
    method: Literal["exact", "grid400"] = "exact",
    step: Step | None = None,
) -> PhiControl:
    """True proportions Beta(ALPHA, BETA), ten criteria met independently at each response's own.

    Args:
        n_responses: responses of a bank, at least 2.
        n_replicates: banks, at least 1.
        seed: seed of the one generator, 0 or more; 101 with one replicate is the published control.
        stream: `published` draws every verdict, `own` the totals and then the criteria's sums.
        cuts: totals that pass.
        method: of Livingston-Lewis.
        step: is told how many banks were drawn, block by block.

    Raises:
        RequestError: an argument out of its range.
    """
    _check(n_responses, n_replicates, seed)
    rng, lines = default_rng(seed), np.asarray(cuts)
    parts: list[tuple[Array, Array, Array]] = []
    size = 1 if stream == "published" else _block(n_responses)
    for n in _sizes(n_replicates, size):
        true = rng.beta(ALPHA, BETA, size=(n, n_responses))
        totals, sums = _verdicts(rng, true) if stream == "published" else _totals(rng, true)
        fit = fit_beta_binomial(_histogram(totals))
        parts.append(
            (
                _same(totals, true * N_CRITERIA, lines),
                livingston_lewis(fit, lines, method=method).accuracy,
                phi_lambda(sums, lines),
            )
        )
        if step is not None:
            step(n)
    return PhiControl(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def estimand_control(
    *,
    n_responses: int = 4000,
    n_replicates: int = 1,
    seed: int = 303,
    cuts: tuple[int, ...] = CUTS,
    step: Step | None = None,
) -> EstimandControl:
    """Reference totals Binomial(10, .55); the judge's true score is .9 total + .9 + N(0, 1.1), clipped to [0, 10].

    Observed totals add N(0, .85) and are rounded and clipped. With one replicate and seed 303 this is the published
    control; further ones go on with its generator. Other arguments and errors as in `phi_control`.
    """
    _check(n_responses, n_replicates, seed)
    rng, lines = default_rng(seed), np.asarray(cuts)
    parts = []
    for _ in range(n_replicates):
        reference = rng.binomial(N_CRITERIA, _PRESENCE, n_responses)
        true = np.clip(_SLOPE * reference + _SHIFT + rng.normal(0, _VALIDITY_SD, n_responses), 0, N_CRITERIA)
        observed = np.clip(np.round(true + rng.normal(0, _ERROR_SD, n_responses)), 0, N_CRITERIA)
        parts.append((_same(observed, true, lines), _same(observed, reference, lines)))
        if step is not None:
            step(1)
    return EstimandControl(*(np.stack(column) for column in zip(*parts, strict=True)))


def _verdicts(rng: Generator, true: Array) -> tuple[Counts, Moments]:
    """Totals (1, n) and sums of one bank, from a uniform number a verdict."""
    found = (rng.random((*true.shape, N_CRITERIA)) < true[..., None]).astype(np.int64)
    return found.sum(axis=-1), moments(found)


def _totals(rng: Generator, true: Array) -> tuple[Counts, Moments]:
    """Totals (banks, n) and sums of banks, without their verdicts."""
    totals = rng.binomial(N_CRITERIA, true)
    return totals, moments_given_totals(rng, _histogram(totals))


def _histogram(totals: Counts) -> Counts:
    """Responses of each total in each bank, (banks, K+1)."""
    code = np.arange(len(totals))[:, None] * (N_CRITERIA + 1) + totals
    return np.bincount(code.ravel(), minlength=len(totals) * (N_CRITERIA + 1)).reshape(len(totals), -1)


def _same(first: Array | Counts, second: Array | Counts, cuts: Counts) -> Array:
    """Share of responses (last axis) on the same side of each cut."""
    return np.stack([((first >= cut) == (second >= cut)).mean(axis=-1) for cut in cuts], axis=-1)


def _block(n_responses: int) -> int:
    return max(1, _BLOCK_NUMBERS // n_responses)


def _sizes(n: int, block: int) -> Iterator[int]:
    return (min(block, n - start) for start in range(0, n, block))


def _check(n_responses: int, n_replicates: int, seed: int) -> None:
    check_whole("responses", n_responses, least=2, most=10_000_000)
    check_whole("replicates", n_replicates, least=1, most=10_000_000)
    check_whole("seed", seed, least=0, most=2**63)
