"""True proportions as a beta distribution on part of the scale, found by moments, and decisions under it.

Shared by the procedures of Livingston and Lewis and of Hanson and Brennan. Scores are shares of the scale's range.
Everything is a function of power sums that add up over clusters and broadcasts over their leading axes. A fit whose
four parameters are impossible falls back to two on the whole scale, one whose variance is impossible to its limit;
both are said, and neither gives NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln, xlog1py, xlogy

from evenhand.stats.arrays import Array, ratio
from evenhand.stats.strong_true_score import Classification

N_POWERS = 4
NEGLIGIBLE = 1e-12
"""Variance of shares at or below which scores count as constant."""
_NODES_AT_ONCE = 2_000_000
_LEAST_FOR_FOUR = 4
_SYMMETRIC = 1e-8
"""Squared relative difference of two shapes at or below which they are one, whatever the rounding says."""


@dataclass(frozen=True, slots=True)
class ScoreSums:
    """Sums of scores t, as shares of the scale in [0, 1]; each field adds up over clusters.

    Attributes:
        n: (...) number of responses.
        powers: (..., 4) sums of t, t^2, t^3 and t^4.
    """

    n: Array
    powers: Array

    @property
    def moments(self) -> Array:
        """Raw moments, (..., 4); NaN without responses."""
        return ratio(self.powers, self.n[..., None])

    @property
    def mean(self) -> Array:
        """Mean share, (...)."""
        return np.asarray(self.moments[..., 0])

    @property
    def variance(self) -> Array:
        """Variance with divisor n - 1, (...); exactly 0 for constant scores, NaN below two responses."""
        spread = self.n * self.powers[..., 1] - np.square(self.powers[..., 0])
        return np.where(spread > NEGLIGIBLE * np.square(self.n), ratio(spread, self.n * (self.n - 1)), _zero(self.n))


def _zero(n: Array) -> Array:
    return np.where(n > 1, 0.0, np.nan)


def sums_of_histogram(histogram: ArrayLike) -> ScoreSums:
    """Score sums of (..., K+1) numbers of responses with total 0 ... K."""
    counts = np.asarray(histogram, dtype=np.float64)
    shares = np.arange(counts.shape[-1]) / (counts.shape[-1] - 1)
    return ScoreSums(counts.sum(axis=-1), counts @ shares[:, None] ** np.arange(1, N_POWERS + 1))


@dataclass(frozen=True, slots=True)
class TrueScores:
    """True proportions low + (high - low) Beta(alpha, beta), seen through `length` trials; arrays of shape (...).

    Attributes:
        alpha, beta: shapes; at a boundary both `inf` (one true proportion for all) or both 0 (both ends only).
        low, high: ends of the true proportions, 0 and 1 where two parameters are fitted.
        mean: of the true proportions.
        length: number of trials, a whole number; NaN where it is undefined, and everything else with it.
        lords_k: Lord's k of a compound binomial, 0 for a binomial.
        n_parameters: 4, or 2 where four were not asked for or were impossible.
        boundary: the true variance is impossible for a beta distribution; the values are those of the limit.
    """

    alpha: Array
    beta: Array
    low: Array
    high: Array
    mean: Array
    length: Array
    lords_k: Array
    n_parameters: NDArray[np.int64]
    boundary: NDArray[np.bool_]


def true_moments(moments: Array, length: Array, lords_k: ArrayLike = 0.0) -> Array:
    """Raw moments of the true proportion, (..., 4), from those of the observed shares.

    Factorial moments of the total at this test length, divided by those of a binomial or, with Lord's k, of a
    two-term compound binomial. Lord (1965), Psychometrika 30; Hanson (1991), ACT Research Report 91-5.

    Args:
        moments: (..., 4) raw moments of the shares.
        length: (...) test length, need not be whole.
        lords_k: (...) Lord's k.
    """
    N, k = np.asarray(length, dtype=np.float64), np.asarray(lords_k, dtype=np.float64)
    x1, x2, x3, x4 = (moments[..., r] * N ** (r + 1) for r in range(N_POWERS))
    second, third = x2 - x1, x3 - 3 * x2 + 2 * x1
    fourth = x4 - 6 * x3 + 11 * x2 - 6 * x1
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [moments[..., 0]]
        scaled = (second, third / (N - 2), fourth / ((N - 2) * (N - 3)))
        for order, factorial in zip((2, 3, 4), scaled, strict=True):
            shift = k * order * (order - 1)
            found.append((factorial + shift * found[-1]) / (N * (N - 1) + shift))
    return np.stack(np.broadcast_arrays(*found), axis=-1)


def fit_true_scores(
    moments: Array, length: Array, *, lords_k: ArrayLike = 0.0, n_parameters: int = 4, exact_length: Array | None = None
) -> TrueScores:
    """Beta distribution with these moments of the observed shares, at a test length.

    Args:
        moments: (..., 4) raw moments of the observed shares.
        length: (...) whole number of trials, at least 2; NaN is kept.
        lords_k: (...) Lord's k.
        n_parameters: 4, falling back to 2 where they are impossible (an end outside the scale, a shape that is not
            positive, fewer than four trials), or 2.
        exact_length: (...) the length before rounding, for the moments; `length` by default.
    """
    N = np.asarray(length, dtype=np.float64)
    true = true_moments(moments, N if exact_length is None else exact_length, lords_k)
    mean, variance = true[..., 0], true[..., 1] - np.square(true[..., 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        size = mean * (1 - mean) / variance - 1
    defined = np.isfinite(N) & np.isfinite(mean)
    single, ends = variance <= NEGLIGIBLE, (variance > NEGLIGIBLE) & (size <= 0)
    limit = np.where(single, np.inf, 0.0)
    alpha, beta = (np.where(single | ends, limit, size * share) for share in (mean, 1 - mean))
    low, high = np.zeros_like(mean), np.ones_like(mean)
    four = np.zeros(mean.shape, dtype=np.bool_)
    if n_parameters == 4:
        a, b, l_, u = four_parameters(true)
        four = _possible(a, b, l_, u) & ~single & (N >= _LEAST_FOR_FOUR)
        alpha, beta, low, high = (
            np.where(four, x, y) for x, y in zip((a, b, l_, u), (alpha, beta, low, high), strict=True)
        )
    k = np.broadcast_to(np.asarray(lords_k, dtype=np.float64), mean.shape)
    alpha, beta, low, high, mean, N = (np.where(defined, part, np.nan) for part in (alpha, beta, low, high, mean, N))
    return TrueScores(
        alpha, beta, low, high, mean, N, k, np.where(four, 4, 2), np.asarray(defined & (single | ends) & ~four)
    )


def four_parameters(true: Array) -> tuple[Array, Array, Array, Array]:
    """Shapes and ends of the beta distribution with raw moments (..., 4), possible or not; (...) each.

    Method of moments; NaN where the roots are not real. Hanson (1991), ACT Research Report 91-5.
    """
    m1, m2, m3, m4 = (true[..., r] for r in range(N_POWERS))
    variance = m2 - m1**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        skew = (m3 - 3 * m1 * m2 + 2 * m1**3) / variance**1.5
        tails = (m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4) / variance**2
        size = 6 * (tails - skew**2 - 1) / (6 + 3 * skew**2 - 2 * tails)
        inner = 1 - 24 * (size + 1) / ((size + 2) * (size + 3) * tails - 3 * (size - 6) * (size + 1))
        inner = np.where(np.abs(inner) < _SYMMETRIC, 0.0, inner)
        wide, narrow = (size / 2 * (1 + sign * np.sqrt(inner)) for sign in (1, -1))
        alpha, beta = np.where(skew < 0, wide, narrow), np.where(skew < 0, narrow, wide)
        reach = np.sqrt(variance * (size + 1) / (alpha * beta))
        return alpha, beta, m1 - alpha * reach, m1 + beta * reach


def _possible(alpha: Array, beta: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    finite = np.isfinite(alpha) & np.isfinite(beta) & np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore"):
        return finite & (alpha > 0) & (beta > 0) & (low >= 0) & (high <= 1) & (low < high)


def classify(fit: TrueScores, cut: ArrayLike) -> Classification:
    """Accuracy and consistency of pass or fail at `cut`, a share of the scale; (...) followed by the cut's shape.

    Pass: the total reaches the cut times the length, rounded up. True pass: the true proportion reaches the cut. The
    integral is a sum over cells of the scale, each carried by two points with the cell's own mass, mean and variance
    under the beta distribution, so that no shape is too small or too large; the cut is an edge of cells.
    """
    cuts = np.asarray(cut, dtype=np.float64)
    flat, lead, size = cuts.ravel(), fit.mean.shape, fit.mean.size
    parts = np.empty((3, size, flat.size))
    n_cells = int(32 + 8 * np.sqrt(np.nanmax(fit.length, initial=1.0)))
    step = max(1, _NODES_AT_ONCE // (2 * (n_cells + flat.size)))
    for start in range(0, size, step):
        rows = slice(start, start + step)
        some = _rows(fit, rows)
        at = (flat - some.low[:, None]) / (some.high - some.low)[:, None]
        nodes, weights, places = _nodes(some, n_cells, np.clip(at, 0.0, 1.0))
        for position, one in enumerate(flat):
            passing = _passing(some, nodes, float(one))
            right = np.where(places >= at[:, position, None], passing, 1 - passing)
            for part, value in enumerate((right, passing**2 + (1 - passing) ** 2, passing)):
                parts[part, rows, position] = np.sum(weights * value, axis=-1)
    return Classification(*(np.reshape(np.clip(part, 0.0, 1.0), (*lead, *cuts.shape)) for part in parts))


def _rows(fit: TrueScores, rows: slice = slice(None)) -> TrueScores:
    """Some elements of a fit, its leading axes flattened to one."""
    return TrueScores(*(np.ravel(getattr(fit, field.name))[rows] for field in fields(fit)))


def _nodes(fit: TrueScores, n_cells: int, cuts: Array) -> tuple[Array, Array, Array]:
    """True proportions (m, 2M), two in each of the M cells between low and high, their probabilities, and their places.

    Cells are narrow towards the ends, where a density may be infinite; ``cuts`` (m, C), as shares of the way from low
    to high, are edges too. A place is a node's share of that way, in the middle of its cell whatever its rounding; at a
    limit the nodes are the mean alone, or both ends.
    """
    single, ends = np.isinf(fit.alpha), fit.alpha == 0
    alpha, beta = (np.where(single | ends, 1.0, shape)[:, None] for shape in (fit.alpha, fit.beta))
    low, width, whole = fit.low[:, None], (fit.high - fit.low)[:, None], alpha + beta
    grid = np.square(np.sin(np.linspace(0, np.pi / 2, n_cells + 1)))
    y = np.sort(np.concatenate([np.tile(grid, (len(cuts), 1)), np.nan_to_num(cuts)], axis=1), axis=1)
    mass = np.diff(betainc(alpha, beta, y))
    first = np.diff(betainc(alpha + 1, beta, y)) * alpha / whole
    second = np.diff(betainc(alpha + 2, beta, y)) * alpha * (alpha + 1) / (whole * (whole + 1))
    center = np.where(mass > 0, ratio(first, mass), (y[:, 1:] + y[:, :-1]) / 2)
    variance = np.maximum(np.where(mass > 0, ratio(second, mass) - center**2, 0.0), 0.0)
    pair, share = _two_points(np.clip(center, y[:, :-1], y[:, 1:]), variance, y[:, :-1], y[:, 1:])
    nodes = (low[..., None] + width[..., None] * pair).reshape(len(pair), -1)
    weights = (mass[..., None] * share).reshape(len(pair), -1)
    places = np.repeat((y[:, 1:] + y[:, :-1]) / 2, 2, axis=-1)
    weights[single | ends] = 0.0
    nodes[single, 0], weights[single, 0], places[single, 0] = fit.mean[single], 1.0, fit.mean[single] + 1e-12
    nodes[ends, 0], weights[ends, 0], places[ends, 0] = 0.0, 1 - fit.mean[ends], 0.0
    nodes[ends, -1], weights[ends, -1], places[ends, -1] = 1.0, fit.mean[ends], 1.0
    return nodes, weights, places


def _two_points(mean: Array, variance: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """Two points (..., 2) between bounds and their shares: of this mean and variance, equal shares where both fit in."""
    spread = np.sqrt(variance)
    above = np.minimum(mean + spread, most)
    below = mean - np.where(above > mean, ratio(variance, above - mean), 0.0)
    above = np.where(below < least, mean + ratio(variance, mean - least), above)
    below = np.maximum(below, least)
    above = np.clip(np.where(np.isfinite(above), above, mean), mean, most)
    upper = np.where(above > below, ratio(mean - below, above - below), 0.5)
    return np.stack([below, above], axis=-1), np.stack([1 - upper, upper], axis=-1)


def _passing(fit: TrueScores, nodes: Array, cut: float) -> Array:
    """Probability (m, 2M) that a total at a true proportion passes; Lord's two terms may leave 0 to 1 where k is too large."""
    N, k = fit.length[:, None], fit.lords_k[:, None]
    least = np.ceil(cut * N - 1e-9)
    found = reaching(nodes, N, least)
    if np.any(k != 0):
        bend = _binomial(nodes, N - 2, least - 2) - _binomial(nodes, N - 2, least - 1)
        inside = (least > 0) & (least <= N)
        found = np.where(inside, found - k * nodes * (1 - nodes) * bend, found)
    return found


def reaching(share: Array, length: Array, least: Array) -> Array:
    """Probability that `length` trials at this share reach `least` successes, a whole number; broadcast."""
    inside = (least > 0) & (least <= length)
    found = betainc(np.where(inside, least, 1.0), np.where(inside, length - least + 1, 1.0), share)
    return np.where(np.isnan(length), np.nan, np.where(inside, found, np.where(least <= 0, 1.0, 0.0)))


def _binomial(share: Array, n: Array, x: Array) -> Array:
    """Binomial probability of x of n, 0 outside 0 ... n."""
    inside = (x >= 0) & (x <= n)
    at = np.where(inside, x, 0.0)
    size = np.maximum(n, at)
    ways = gammaln(size + 1) - gammaln(at + 1) - gammaln(size - at + 1)
    return np.where(inside, np.exp(ways + xlogy(at, share) + xlog1py(size - at, -share)), 0.0)
