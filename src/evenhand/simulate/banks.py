"""Banks whose truth is known exactly: verdicts that hang together by cluster, and the tallies they are expected to give.

A cluster draws a level of quality and, for each rater, a false accept and a false reject rate; a response draws its
quality around the cluster's; the reference meets each line with that chance, and a rater errs on it with the cluster's
rates, one verdict apart from the next. All draws are from beta distributions, which are fixed by their mean and the
intraclass correlation they give to verdicts. Sizes say nothing about rates, so the population's cells are expectations
with a closed form.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from evenhand.stats.arrays import Array, Counts, binned

N_LINES = 10
"""Lines of the checklist, so that totals are marks from 0 to 10."""
N_RESPONSES = 14
"""Mean number of responses a cluster."""
RESPONSE_ICC = 0.25
"""Correlation of two reference labels of one response beyond that of its cluster: KR-20 is .77 with it alone."""
VARIATION = 1.3
"""Coefficient of variation of unequal cluster sizes."""
N_RATERS = 3
RATER_FACTORS = (1.0, 1.5, 2.0)
"""Error rates of the raters, in those of the first: the judge."""
HOLES = 0.2
"""Share of a rater's verdicts that are missing where several raters are taken together."""
PATTERNS: Counts = np.array(np.meshgrid(*[[-1, 0, 1]] * N_RATERS, indexing="ij")).reshape(N_RATERS, -1).T
"""(27, R) rows of labels that R raters can give one verdict, -1 where one gives none."""
_LEAST = 1e-6
"""Means of beta distributions are kept this far from 0 and 1."""


@dataclass(frozen=True, slots=True)
class BaseRates:
    """How often the reference is positive, and how often the first rater errs on either label."""

    prevalence: float
    false_accept: float
    false_reject: float


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts of some banks, rows in the order of banks and clusters.

    Attributes:
        sizes: (B, G) responses a cluster.
        reference: (R, K) labels.
        raters: R_a arrays (R, K) of labels; the first is the judge's.
        seen: R_a arrays (R, K), False where the label is missing among several raters.
    """

    sizes: Counts
    reference: NDArray[np.bool_]
    raters: tuple[NDArray[np.bool_], ...]
    seen: tuple[NDArray[np.bool_], ...]

    @property
    def cluster(self) -> Counts:
        """(R,) cluster of each response, counted through over all banks."""
        return np.repeat(np.arange(self.sizes.size), self.sizes.ravel())


@dataclass(frozen=True, slots=True)
class Tallies:
    """What every statistic of these banks is a function of, by cluster; leading axes (B, G), or none for expectations.

    Attributes:
        lines: (..., K, 2, 2) reference by judge on each line.
        totals: (..., K+1, K+1) responses by reference total and judge total.
        patterns: (..., 27) verdicts by row of PATTERNS.
    """

    lines: Array
    totals: Array
    patterns: Array


def beta_rates(rng: np.random.Generator, mean: ArrayLike, icc: float, shape: tuple[int, ...]) -> Array:
    """Rates with this mean whose verdicts correlate by ``icc`` within a rate; the mean itself where that is 0."""
    mean = np.clip(np.asarray(mean, dtype=np.float64), _LEAST, 1 - _LEAST)
    if icc == 0:
        return np.broadcast_to(mean, shape)
    concentration = 1 / icc - 1
    return rng.beta(mean * concentration, (1 - mean) * concentration, shape)


def cluster_sizes(rng: np.random.Generator, mean: float, variation: float, shape: tuple[int, ...]) -> Counts:
    """Whole sizes of at least 1, log-normal with this mean and coefficient of variation; the mean itself where that is 0."""
    spread = math.sqrt(math.log1p(variation**2))
    drawn = mean * np.exp(spread * rng.standard_normal(shape) - spread**2 / 2) if variation else np.full(shape, mean)
    return np.maximum(1, np.rint(drawn)).astype(np.int64)


def draw_verdicts(
    rng: np.random.Generator, n_banks: int, n_clusters: int, rates: BaseRates, *, icc: float, variation: float = 0.0
) -> Verdicts:
    """Draw banks.

    Args:
        rng: the only source of chance.
        n_banks: B.
        n_clusters: G.
        rates: of the reference and the judge; the other raters err RATER_FACTORS times as often.
        icc: of the reference's labels and of each rater's errors, within a cluster.
        variation: of the cluster sizes.
    """
    shape = (n_banks, n_clusters)
    sizes = cluster_sizes(rng, N_RESPONSES, variation, shape)
    cluster = np.repeat(np.arange(sizes.size), sizes.ravel())
    quality = beta_rates(rng, rates.prevalence, icc, shape).ravel()[cluster]
    chance = beta_rates(rng, quality, RESPONSE_ICC, quality.shape)
    reference = _uniform(rng, len(cluster)) < chance[:, None]
    raters, seen = [], []
    for factor in RATER_FACTORS:
        accepts, rejects = (
            beta_rates(rng, factor * rate, icc, shape).ravel()[cluster, None]
            for rate in (rates.false_accept, rates.false_reject)
        )
        raters.append(reference ^ (_uniform(rng, len(cluster)) < np.where(reference, rejects, accepts)))
        seen.append(_uniform(rng, len(cluster)) >= HOLES)
    return Verdicts(sizes, reference, tuple(raters), tuple(seen))


def _uniform(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    return rng.random((n, N_LINES), dtype=np.float32)


def tally(verdicts: Verdicts) -> Tallies:
    """Count banks by cluster."""
    shape, n = verdicts.sizes.shape, verdicts.sizes.size
    cluster, starts = verdicts.cluster, np.cumsum(verdicts.sizes.ravel()) - verdicts.sizes.ravel()
    reference, judge = verdicts.reference, verdicts.raters[0]

    def by_line(labels: NDArray[np.bool_]) -> Array:
        return np.add.reduceat(labels, starts, axis=0, dtype=np.float64)

    both, first, second = by_line(reference & judge), by_line(reference), by_line(judge)
    neither = verdicts.sizes.reshape(-1, 1) - first - second + both
    lines = np.stack([neither, second - both, first - both, both], axis=-1)
    size = N_LINES + 1
    code = (cluster * size + reference.sum(axis=1)) * size + judge.sum(axis=1)
    pattern = np.zeros(reference.shape, dtype=np.int64)
    for labels, seen in zip(verdicts.raters, verdicts.seen, strict=True):
        pattern = pattern * 3 + np.where(seen, 1 + labels, 0)
    rows = (cluster[:, None] * len(PATTERNS) + pattern).ravel()
    return Tallies(
        lines.reshape(*shape, N_LINES, 2, 2),
        binned(code, np.ones_like(code), (n, size, size)).reshape(*shape, size, size),
        binned(rows, np.ones_like(rows), (n, len(PATTERNS))).reshape(*shape, len(PATTERNS)),
    )


def expected_tallies(rates: BaseRates, icc: float) -> Tallies:
    """Expected tallies of one response, exact."""
    p, a, r = rates.prevalence, rates.false_accept, rates.false_reject
    table = np.array([[(1 - p) * (1 - a), (1 - p) * a], [p * r, p * (1 - r)]])
    return Tallies(
        np.broadcast_to(table, (N_LINES, 2, 2)),
        _expected_totals(rates, icc),
        N_LINES * ((1 - p) * _pattern_shares(rates, 0) + p * _pattern_shares(rates, 1)),
    )


def _pattern_shares(rates: BaseRates, label: int) -> Array:
    """(27,) chance of each row of PATTERNS where the reference is this label."""
    wrong = np.array(RATER_FACTORS) * (rates.false_reject if label else rates.false_accept)
    shares = np.where(PATTERNS < 0, HOLES, (1 - HOLES) * np.where(label == PATTERNS, 1 - wrong, wrong))
    chance: Array = shares.prod(axis=1)
    return chance


def _expected_totals(rates: BaseRates, icc: float) -> Array:
    """(K+1, K+1) chance of each reference total and judge total."""
    size = N_LINES + 1
    levels, weights = _beta_nodes(rates.prevalence, icc)
    reference = sum(w * count_chances(N_LINES, level, RESPONSE_ICC) for level, w in zip(levels, weights, strict=True))
    joint = np.zeros((size, size))
    for total, chance in enumerate(np.asarray(reference)):
        accepts = count_chances(N_LINES - total, rates.false_accept, icc)
        rejects = count_chances(total, rates.false_reject, icc)
        joint[total] = chance * np.convolve(accepts, rejects[::-1])
    return joint


def _beta_nodes(mean: float, icc: float) -> tuple[Sequence[float], Sequence[float]]:
    """Nodes and weights that average polynomials of degree 2K exactly over a beta distribution."""
    if icc == 0:
        return [mean], [1.0]
    a, b = mean * (1 / icc - 1), (1 - mean) * (1 / icc - 1)
    nodes, weights = special.roots_jacobi(N_LINES + 1, b - 1, a - 1)
    return ((nodes + 1) / 2).tolist(), (weights / weights.sum()).tolist()


@cache
def count_chances(n: int, mean: float, icc: float) -> Array:
    """(n+1,) chance of each number of events among n at a rate of this mean and intraclass correlation (beta-binomial)."""
    k = np.arange(n + 1, dtype=np.float64)
    ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    if icc == 0:
        return np.asarray(np.exp(ways + special.xlogy(k, mean) + special.xlog1py(n - k, -mean)))
    a, b = mean * (1 / icc - 1), (1 - mean) * (1 / icc - 1)
    return np.asarray(np.exp(ways + special.betaln(k + a, n - k + b) - special.betaln(a, b)))
