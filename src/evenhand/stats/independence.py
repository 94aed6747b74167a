"""What internal consistency would be if the judge's errors were independent of each other.

Independent errors are planted in the reference labels at the measured rates, and the observed KR-20 is placed
among the results. This is the one estimator of its family that reads rows, in the order of the file: its
draws are part of the published number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.internal_consistency import Moments, kr20, moments

_BLOCK_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class IndependenceCheck:
    """KR-20 of the reference labels with independent errors planted in them; NaN when no draw is defined.

    Attributes:
        observed: KR-20 of the judge.
        mean: mean over the defined draws.
        sd: their standard deviation, divisor one less than their number.
        share_at_least_observed: share of the defined draws at or above `observed`.
        error_count_variance: mean over all draws of the variance of errors per response.
        n_defined: draws with a defined KR-20.
        n_resamples: all draws.
    """

    observed: float
    mean: float
    sd: float
    share_at_least_observed: float
    error_count_variance: float
    n_defined: int
    n_resamples: int


def error_probabilities(
    reference: NDArray[np.integer], judge: NDArray[np.integer], clusters: NDArray[np.integer] | None = None
) -> Array:
    """Measured error rate that applies to each verdict given its reference label; shape (n, K).

    Args:
        reference: (n, K) 0/1 labels of complete responses.
        judge: (n, K) 0/1 verdicts on the same responses.
        clusters: (n,) cluster of each response. With it, the false-accept and false-reject rates are those
            of the verdict's line, the pair of cluster and criterion; without it, the overall ones.
    """
    labels = np.asarray(reference, dtype=np.intp)
    wrong = (labels != np.asarray(judge)).astype(np.float64)
    if clusters is None:
        lines = np.zeros_like(labels)
    else:
        _, cluster = np.unique(clusters, return_inverse=True)
        lines = cluster[:, None] * labels.shape[1] + np.arange(labels.shape[1])
    cells = (2 * lines + labels).ravel()
    errors, trials = np.bincount(cells, weights=wrong.ravel()), np.bincount(cells)
    return np.reshape(errors[cells] / trials[cells], labels.shape)


def independence_check(
    reference: NDArray[np.integer],
    judge: NDArray[np.integer],
    *,
    clusters: NDArray[np.integer] | None = None,
    n_resamples: int = 2000,
    seed: int = 0,
) -> IndependenceCheck:
    """Place the judge's KR-20 among those of independent errors at its measured rates.

    Arguments as in `error_probabilities`, rows in the order of the file. Each draw takes one uniform matrix
    (n, K) from `default_rng(seed)` and flips a label where it lies below the verdict's error rate. KR-20 is
    the mixed form. Zhu (2026), section 3 and appendix A.2, whose two checks (overall; per line, re-seeded)
    this reproduces.
    """
    (check,) = independence_checks(reference, judge, (clusters,), n_resamples=n_resamples, seed=seed)
    return check


def independence_checks(
    reference: NDArray[np.integer],
    judge: NDArray[np.integer],
    clusterings: Sequence[NDArray[np.integer] | None],
    *,
    n_resamples: int = 2000,
    seed: int = 0,
) -> list[IndependenceCheck]:
    """The check at the rates of each clustering, all from the same draws: what each alone would draw, drawn once."""
    labels = np.asarray(reference).astype(np.bool_)
    rates = [error_probabilities(reference, judge, clusters) for clusters in clusterings]
    observed = float(kr20(moments(judge)))
    blocks: list[list[tuple[Array, Array]]] = [[] for _ in rates]
    for uniform in _uniform_blocks(labels.shape, n_resamples, seed):
        for found, rate in zip(blocks, rates, strict=True):
            flips = uniform < rate
            found.append((kr20(_moments(flips ^ labels)), _row_error_variance(flips)))
    return [_placed(observed, found, n_resamples) for found in blocks]


def _placed(observed: float, blocks: Sequence[tuple[Array, Array]], n_resamples: int) -> IndependenceCheck:
    """What the draws' KR-20 and error count variances say."""
    consistency = np.concatenate([block[0] for block in blocks])
    defined = consistency[np.isfinite(consistency)]
    return IndependenceCheck(
        observed=observed,
        mean=_mean(defined),
        sd=float(defined.std(ddof=1)) if defined.size > 1 else np.nan,
        share_at_least_observed=_mean(defined >= observed) if np.isfinite(observed) else np.nan,
        error_count_variance=_mean(np.concatenate([block[1] for block in blocks])),
        n_defined=defined.size,
        n_resamples=n_resamples,
    )


def error_count_variance(n: Array, error_sum: Array, error_square_sum: Array) -> Array:
    """Variance of the number of errors per response, divisor n - 1; shape (...), NaN below two responses.

    Args:
        n: (...) responses.
        error_sum: (...) sum of their error counts.
        error_square_sum: (...) sum of the squared counts.
    """
    return ratio(n * error_square_sum - np.square(error_sum), n * (n - 1))


def expected_error_count_variance(probabilities: Array) -> Array:
    """Expectation of `error_count_variance` if errors were independent; shape (...), NaN below two responses.

    `probabilities` (..., n, K) are the verdicts' error rates: the mean over responses of sum p(1-p), plus the
    variance (divisor n - 1) of their expected counts sum p.
    """
    within = np.sum(probabilities * (1 - probabilities), axis=(-2, -1))
    expected = probabilities.sum(axis=-1)
    n = np.asarray(expected.shape[-1], dtype=np.float64)
    between = error_count_variance(n, expected.sum(axis=-1), np.square(expected).sum(axis=-1))
    return np.asarray(between + within / np.maximum(n, 1.0))


def _uniform_blocks(shape: tuple[int, ...], n_resamples: int, seed: int) -> Iterator[Array]:
    """Uniform matrices (draws, n, K) in blocks of bounded size, from one stream."""
    rng = np.random.default_rng(seed)
    size = max(1, _BLOCK_CELLS // max(1, math.prod(shape)))
    for start in range(0, n_resamples, size):
        yield rng.random((min(size, n_resamples - start), *shape))


def _moments(values: NDArray[np.bool_]) -> Moments:
    """``moments`` of (..., n, K) 0/1 values by matrix products of small floats, which hold counts up to 16 million."""
    rows = values.astype(np.float32)
    items = (np.ones((1, rows.shape[-2]), np.float32) @ rows)[..., 0, :].astype(np.float64)
    n = np.full(rows.shape[:-2], float(rows.shape[-2]))
    return Moments(n, items, np.square(_row_sums(values)).sum(axis=-1))


def _row_sums(values: NDArray[np.bool_]) -> Array:
    """(..., n, K) → (..., n) how many are true."""
    return (values.astype(np.float32) @ np.ones(values.shape[-1], np.float32)).astype(np.float64)


def _row_error_variance(flips: NDArray[np.bool_]) -> Array:
    """Variance of the errors per response in each of (draws, n, K) matrices."""
    counts = _row_sums(flips)
    n = np.asarray(counts.shape[-1], dtype=np.float64)
    return error_count_variance(n, counts.sum(axis=-1), np.square(counts).sum(axis=-1))


def _mean(values: NDArray[np.float64] | NDArray[np.bool_]) -> float:
    """Mean, NaN of nothing."""
    return float(np.mean(values)) if values.size else np.nan
