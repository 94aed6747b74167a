"""The alternative annotator test (Calderon, Reichart and Dror 2025): may a judge stand in for one of several humans?

Each human is left out in turn; on every unit judge and left-out human are held against the humans that remain. The judge
"wins" where it is at least as near to them. A human's cost is subtracted from that human's own wins: a judge that saves
the cost need not be quite as good.
"""

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group


def nearness(one: Array, others: Array, *, is_marks: bool) -> Array:
    """(n,) how near values are to (n, R) others, NaN where missing: share that are equal, or minus the RMS distance."""
    known = np.isfinite(others)
    apart = np.where(known, others - one[:, None], 0.0)
    count = np.maximum(known.sum(axis=1), 1)
    if is_marks:
        return np.asarray(-np.sqrt(np.square(apart).sum(axis=1) / count))
    return np.asarray((known & (apart == 0)).sum(axis=1) / count)


def wins(judge: Array, humans: Array, left_out: int, *, is_marks: bool) -> tuple[Array, Array, Array]:
    """Units that count, where the judge is at least as near to the remaining humans, and where the left-out human is.

    Args:
        judge: (n,) values, NaN where missing.
        humans: (n, H) values.
        left_out: position of one human.
        is_marks: whether distance between values means something.

    Returns:
        (n,) each, 0 or 1.
    """
    own, others = humans[:, left_out], np.delete(humans, left_out, axis=1)
    counts = np.isfinite(judge) & np.isfinite(own) & np.isfinite(others).any(axis=1)
    of_judge = nearness(np.where(counts, judge, 0.0), others, is_marks=is_marks)
    of_human = nearness(np.where(counts, own, 0.0), others, is_marks=is_marks)
    close = np.isclose(of_judge, of_human, rtol=0, atol=1e-12)
    won, lost = counts & ((of_judge > of_human) | close), counts & ((of_human > of_judge) | close)
    return counts.astype(np.float64), won.astype(np.float64), lost.astype(np.float64)


def win_sums(
    judge: Array, humans: Array, group: Counts, n_groups: int, repeats: Counts, *, is_marks: bool
) -> Array:  # fmt: skip
    """(U, H, 3): units, wins of the judge and wins of the left-out human, a tie being a win of both."""
    each = [
        sums_by_group(wins(judge, humans, at, is_marks=is_marks), group, n_groups, repeats)
        for at in range(humans.shape[1])
    ]
    return np.stack(each, axis=1)


def advantage(sums: Array) -> Array:
    """Mean over humans of the judge's share of wins, (..., H, 3) → (...)."""
    return np.asarray(ratio(sums[..., 1], sums[..., 0]).mean(axis=-1))


def shortfall(sums: Array) -> Array:
    """Share of wins of each left-out human minus the judge's against that human, (..., H, 3) → (..., H)."""
    return ratio(sums[..., 2] - sums[..., 1], sums[..., 0])


def one_sided_p(value: float, std_error: float, cost: float, df: float) -> float:
    """p of "the shortfall is the cost or more", from a cluster jackknife; 0 or 1 without any spread."""
    if std_error == 0:
        return 0.0 if value < cost else 1.0
    return float(special.stdtr(df, (value - cost) / std_error))


def winning_rate(p_values: Array, level: float = 0.05) -> float:
    """Share of humans for whom the test rejects, false discoveries held at the level under any dependence.

    Benjamini and Yekutieli (2001), Annals of Statistics 29.
    """
    n = len(p_values)
    ordered = np.sort(p_values)
    bounds = level * np.arange(1, n + 1) / (n * (1 / np.arange(1, n + 1)).sum())
    passed = np.flatnonzero(ordered <= bounds)
    return float((passed[-1] + 1) / n) if len(passed) else 0.0
