"""Pairwise verdicts: how often each side wins, whether the order of showing matters, and strengths of many systems.

Outcomes are counted as (..., 3) cells: first side wins, tie, second side wins. A pair shown in both orders, both
verdicts mapped back to the same sides, is one entry of a (..., 3, 3) table, rows the verdict in the first order.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from evenhand.stats.arrays import Array, Counts, binned, ratio

Ties = Literal["half", "excluded"]
_MOST_STEPS = 200
_CONVERGED = 1e-8
"""Largest last step: Newton's next one would be about its square."""


def outcomes(label: Counts, n_labels: int) -> Counts:
    """(n,) labels of a pair (the second side, perhaps a tie, the side that wins are counted for) → (n,) outcomes."""
    return np.where(label == n_labels - 1, 0, np.where(label == 0, 2, 1))


def outcome_counts(outcome: Counts, group: Counts, n_groups: int, repeats: ArrayLike = 1) -> Array:
    """(n,) outcomes 0 first side, 1 tie, 2 second side, units of resampling and repeats → (U, 3)."""
    return binned(group * 3 + outcome, np.broadcast_to(repeats, len(outcome)), (n_groups, 3))


def order_tables(one: Counts, other: Counts, group: Counts, n_groups: int, repeats: ArrayLike = 1) -> Array:
    """(n,) outcomes of the same pairs in one order and the other, mapped back to the same sides → (U, 3, 3)."""
    return binned((group * 3 + one) * 3 + other, np.broadcast_to(repeats, len(one)), (n_groups, 3, 3))


def win_rate(cells: Array, ties: Ties = "half") -> Array:
    """Share of the first side's wins, (..., 3) → (...); a tie is half a win, or left out."""
    wins, tied, losses = cells[..., 0], cells[..., 1], cells[..., 2]
    if ties == "excluded":
        return ratio(wins, wins + losses)
    return ratio(wins + tied / 2, wins + tied + losses)


def outcome_shares(cells: Array) -> Array:
    """Shares of the three outcomes, ties a class of their own: (..., 3) → (..., 3)."""
    return ratio(cells, cells.sum(axis=-1, keepdims=True))


def consistent(table: Array) -> Array:
    """Pairs with the same verdict in both orders, a tie being a verdict: (..., 3, 3) → (...)."""
    return np.asarray(np.trace(table, axis1=-2, axis2=-1))


def flipped(table: Array) -> Array:
    """Pairs whose winner is the other side in the other order, ties not being flips: (..., 3, 3) → (...)."""
    turned: Array = table[..., 0, 2] + table[..., 2, 0]
    return turned


def order_consistency(table: Array) -> Array:
    """Share of `consistent` pairs: (..., 3, 3) → (...)."""
    return ratio(consistent(table), table.sum(axis=(-2, -1)))


def order_flip_rate(table: Array) -> Array:
    """Share of `flipped` pairs: (..., 3, 3) → (...)."""
    return ratio(flipped(table), table.sum(axis=(-2, -1)))


def positions(table: Array) -> Array:
    """Verdicts for what was shown first, tied, for what was shown second: (..., 3, 3) → (..., 3).

    In the first order the first side is shown first, in the other order the second side is.
    """
    one, other = table.sum(axis=-1), table.sum(axis=-2)
    shown: Array = one + other[..., ::-1]
    return shown


def first_position_share(cells: Array, ties: Ties = "excluded") -> Array:
    """Share of decided verdicts for what was shown first, from (..., 3) `positions`; .5 without position bias.

    With both orders of every pair this needs no reference; with one order only it also holds which side is better.
    """
    return win_rate(cells, ties)


def win_matrices(
    first: Counts,
    second: Counts,
    outcome: Counts,
    n_systems: int,
    group: Counts,
    n_groups: int,
    repeats: ArrayLike = 1,
) -> Array:
    """Wins of each system over each other, a tie being half a win for both.

    Args:
        first, second: (n,) systems compared, in [0, S), never the same.
        outcome: (n,) 0 first wins, 1 tie, 2 second wins.
        n_systems: S.
        group: (n,) unit of resampling of each comparison.
        n_groups: U.
        repeats: (n,) how often each occurs, 1 by default.

    Returns:
        (U, S, S), rows the winner; halves, hence exact.
    """
    shape, times = (n_groups, n_systems, n_systems), np.broadcast_to(repeats, len(outcome))
    won = binned((group * n_systems + first) * n_systems + second, times * (2 - outcome), shape)
    lost = binned((group * n_systems + second) * n_systems + first, times * outcome, shape)
    return (won + lost) / 2


def has_bradley_terry(wins: Array) -> NDArray[np.bool_]:
    """Whether finite strengths exist: every system reaches every other through wins (Ford 1957). (..., S, S) → (...)."""
    reaches = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    for _ in range(max(1, wins.shape[-1].bit_length())):
        reaches = (reaches.astype(np.float64) @ reaches.astype(np.float64)) > 0
    return np.asarray(reaches.all(axis=(-2, -1)))


def bradley_terry(wins: Array) -> Array:
    """Maximum-likelihood log strengths of the Bradley-Terry model (1952, Biometrika 39).

    The difference of two strengths is the log odds that one beats the other. Newton's method with steps cut to a range of
    1: within such a step the Hessian grows by less than e, so the likelihood can only rise.

    Args:
        wins: (..., S, S) wins of the row's system over the column's, halves for ties; the diagonal is ignored.

    Returns:
        (..., S) with mean 0; NaN where `has_bradley_terry` is False.
    """
    n_systems = wins.shape[-1]
    flat = np.where(np.eye(n_systems, dtype=bool), 0.0, wins).reshape(-1, n_systems, n_systems)
    strengths = np.where(has_bradley_terry(flat)[:, None], np.zeros(flat.shape[:-1]), np.nan)
    active = np.flatnonzero(np.isfinite(strengths).all(axis=-1))
    for _ in range(_MOST_STEPS):
        if not len(active):
            break
        step = _newton_step(flat[active], strengths[active])
        strengths[active] += step
        active = active[np.abs(step).max(axis=-1) > _CONVERGED]
    strengths[active] = np.nan
    return strengths.reshape(wins.shape[:-1])


def _newton_step(wins: Array, strengths: Array) -> Array:
    """(B, S, S) wins and (B, S) strengths → (B, S) steps with mean 0 and a range of at most 1."""
    beats = special.expit(strengths[:, :, None] - strengths[:, None, :])
    loses, losses = beats.swapaxes(-1, -2), wins.swapaxes(-1, -2)
    # pair by pair: a difference of large sums would hide a small gradient
    gradient = (wins * loses - losses * beats).sum(axis=-1)
    curvature = (wins + losses) * beats * loses
    diagonal = curvature.sum(axis=-1)
    information = diagonal[:, :, None] * np.eye(wins.shape[-1]) - curvature
    level = diagonal.mean(axis=-1)[:, None, None] / wins.shape[-1]
    level = np.where(level > 0, level, 1.0)
    step = np.linalg.solve(information + level, gradient[..., None])[..., 0]
    cut: Array = step / np.maximum(np.ptp(step, axis=-1, keepdims=True), 1.0)
    return cut
