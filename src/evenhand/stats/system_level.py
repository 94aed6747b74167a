"""How far a judge ranks systems as a reference does: from the means that both give them, and item by item.

A system is what wrote the responses. Scores are (..., S), one a system on either side, NaN for one that is absent;
`means` makes them from sums (..., S, 7) of `marks.mark_sums` by unit and system, which add up over units. Systems are
taken as they are: what is resampled are the items.
"""

from typing import Literal

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array, Counts, ratio

Ties = Literal["half", "class"]
_NEARLY = 1e-9


def means(sums: Array) -> tuple[Array, Array]:
    """Mean mark of each system by the reference and by the judge, (..., S, 7) → two of (..., S)."""
    n = sums[..., 0]
    return ratio(sums[..., 1], n), ratio(sums[..., 2], n)


def pearson_r(reference: Array, judge: Array) -> Array:
    """Linear correlation over the systems that both sides score, (..., S) twice → (...); NaN where a side is constant."""
    known = np.isfinite(reference) & np.isfinite(judge)
    n = known.sum(axis=-1, keepdims=True)
    x, y = (_centred(side, known, n) for side in (reference, judge))
    return _cosine(x, y)


def spearman_rho(reference: Array, judge: Array) -> Array:
    """Rank correlation with mid-ranks over the systems that both sides score, (..., S) twice → (...)."""
    x, y = (order.sum(axis=-1) for order in _orders(reference, judge))
    return _cosine(x, y)


def kendall_tau(reference: Array, judge: Array) -> Array:
    """Kendall's tau_b (1945, Biometrika 33) over the systems that both sides score, (..., S) twice → (...)."""
    x, y = _orders(reference, judge)
    return _cosine(x.reshape(*x.shape[:-2], -1), y.reshape(*y.shape[:-2], -1))


def pairwise_accuracy(reference: Array, judge: Array, ties: Ties = "half") -> Array:
    """Share of pairs of systems that both sides order alike, (..., S) twice → (...); NaN without a pair.

    Args:
        reference, judge: scores.
        ties: "half" gives a pair that one side alone ties half a point, and a pair tied on both one: it is
            1 - |p - q| with p, q of 0, 1/2 and 1, what soft pairwise accuracy is of certain orders. "class" gives a pair
            that one side alone ties nothing: the accuracy with ties of Deutsch, Foster and Freitag (2023, EMNLP).
    """
    x, y = _orders(reference, judge)
    known = np.isfinite(reference) & np.isfinite(judge)
    pairs = known[..., :, None] & known[..., None, :] & ~np.eye(known.shape[-1], dtype=np.bool_)
    alike = 1 - np.abs(x - y) / 2 if ties == "half" else (x == y).astype(np.float64)
    return ratio(np.where(pairs, alike, 0.0).sum(axis=(-2, -1)), pairs.sum(axis=(-2, -1)).astype(np.float64))


def tie_thresholds(judge: Array, most: int) -> Array:
    """(E,) distances up to which the judge's scores may be taken as tied: 0 and at most ``most`` that occur, (..., S) → (E,)."""
    gaps = np.abs(judge[..., :, None] - judge[..., None, :])
    found = np.unique(gaps[np.isfinite(gaps) & (gaps > 0)])
    if len(found) > most:
        found = np.unique(np.quantile(found, np.linspace(0, 1, most), method="nearest"))
    return np.concatenate([[0.0], found])


def calibrated_accuracies(reference: Array, judge: Array, thresholds: Array) -> Array:
    """`pairwise_accuracy` with ties as a class where the judge ties whatever lies within a threshold, (..., S) twice → (E, ...).

    The greatest mean over items is the accuracy with tie calibration of Deutsch, Foster and Freitag (2023, EMNLP).
    """
    known = np.isfinite(reference) & np.isfinite(judge)
    pairs = known[..., :, None] & known[..., None, :] & ~np.eye(known.shape[-1], dtype=np.bool_)
    filled = [np.where(known, side, 0.0) for side in (reference, judge)]
    wanted, gap = (side[..., :, None] - side[..., None, :] for side in filled)
    order, n = np.sign(wanted), pairs.sum(axis=(-2, -1)).astype(np.float64)
    nearly = thresholds * (1 + _NEARLY)  # a gap of decimals may miss the threshold that it is
    alike = [pairs & (np.where(np.abs(gap) <= most, 0.0, np.sign(gap)) == order) for most in nearly]
    return np.stack([ratio(one.sum(axis=(-2, -1)).astype(np.float64), n) for one in alike])


def whole(value: Array, *sides: Array) -> Array:
    """A value over all systems, NaN where one of them has no score: over others it would be another quantity."""
    here = np.logical_and.reduce([np.isfinite(side).all(axis=-1) for side in sides])
    return np.where(here, value, np.nan)


def system_pairs(n_systems: int) -> tuple[Counts, Counts]:
    """Positions of both systems of every pair, (P,) each, the first before the second."""
    first, second = np.triu_indices(n_systems, k=1)
    return first.astype(np.int64), second.astype(np.int64)


def pair_sums(reference: Array, judge: Array, unit: Counts, n_units: int) -> Array:
    """Tallies of soft pairwise accuracy.

    Args:
        reference, judge: (I, S) scores of each system on each item, NaN where it has none there.
        unit: (I,) unit of resampling of each item.
        n_units: U.

    Returns:
        (U, P, 5): items that hold both systems of a pair; sum and sum of squares of the first's score less the second's,
        by the reference, then by the judge.
    """
    first, second = system_pairs(reference.shape[-1])
    found = np.zeros((n_units, len(first), 5))
    for at, (a, b) in enumerate(zip(first, second, strict=True)):
        gaps = [side[:, a] - side[:, b] for side in (reference, judge)]
        known = np.isfinite(gaps[0]) & np.isfinite(gaps[1])
        columns = [np.ones(int(known.sum()))]
        columns += [power for gap in gaps for power in (gap[known], np.square(gap[known]))]
        for position, column in enumerate(columns):
            found[:, at, position] = np.bincount(unit[known], weights=column, minlength=n_units)
    return found


def better_probability(total: Array, squares: Array) -> Array:
    """Normal approximation of a paired permutation test's one-sided p that the second system is better, (...) → (...).

    Swapping the systems' names item by item, Σd has mean 0 and variance Σd². Where every d is 0 it is 1/2.
    """
    spread = np.sqrt(squares)
    z = np.divide(total, spread, out=np.zeros_like(total), where=spread > 0)
    return np.asarray(special.ndtr(z))


def soft_pairwise_accuracy(sums: Array) -> Array:
    """Mean over pairs of systems of 1 - |p - q|, (..., P, 5) `pair_sums` → (...).

    Thompson, Mathur, Deutsch and Khayrallah (2024, WMT): p by the reference's scores and q by the judge's, each of
    a paired permutation test, here `better_probability`. NaN where a pair shares no item. It depends on the number
    of items: with more, both sides are surer.
    """
    by_reference, by_judge = (better_probability(sums[..., at], sums[..., at + 1]) for at in (1, 3))
    alike = 1 - np.abs(by_reference - by_judge)
    held = (sums[..., 0] > 0).all(axis=-1) & (sums.shape[-2] > 0)
    n_pairs = np.full(alike.shape[:-1], float(sums.shape[-2]))
    return np.where(held, ratio(alike.sum(axis=-1), n_pairs), np.nan)


def same_winner(reference: Array, judge: Array) -> float:
    """Chance that both sides pick the same best system, each at random among the best of its own; (S,) twice."""
    best = [np.flatnonzero(side == np.nanmax(side)) for side in (reference, judge)]
    return float(np.isin(best[0], best[1]).sum() / (best[0].size * best[1].size))


def _orders(reference: Array, judge: Array) -> tuple[Array, Array]:
    """(..., S, S) sign of every difference of two systems on either side, 0 where one of them is absent."""
    known = np.isfinite(reference) & np.isfinite(judge)
    both = known[..., :, None] & known[..., None, :]
    signs = []
    for side in (reference, judge):
        filled = np.where(known, side, 0.0)
        signs.append(np.where(both, np.sign(filled[..., :, None] - filled[..., None, :]), 0.0))
    return signs[0], signs[1]


def _centred(side: Array, known: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], n: Array | Counts) -> Array:
    """Deviations from the mean of the known scores, exactly 0 where these are all one number."""
    filled = np.where(known, side, 0.0)
    lowest = np.where(known, side, np.inf).min(axis=-1, keepdims=True)
    highest = np.where(known, side, -np.inf).max(axis=-1, keepdims=True)
    middle = np.where(
        lowest == highest, lowest, ratio(filled.sum(axis=-1, keepdims=True), np.asarray(n, dtype=np.float64))
    )
    return np.where(known & (lowest < highest), side - middle, 0.0)


def _cosine(x: Array, y: Array) -> Array:
    product = (x * y).sum(axis=-1)
    scale = np.sqrt(np.square(x).sum(axis=-1)) * np.sqrt(np.square(y).sum(axis=-1))
    return np.clip(ratio(product, scale), -1.0, 1.0)
