"""The widest of several gaps held against its own bar: what the widest of as many gaps of 0 would reach by chance."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array

N_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class Widest:
    """The gap that lies furthest from 0 for its standard error.

    Attributes:
        at: its position.
        t: its value in standard errors.
        bar: |t| that the widest of as many gaps of 0 stays under with the given probability, in this gap's own degrees of freedom.
        p_value: chance of a gap as wide if all are 0.
    """

    at: int
    t: float
    bar: float
    p_value: float


def widest(
    gaps: Array, deviations: Array, parts: Array, parts_df: Array, level: float, seed: int, n_draws: int = N_DRAWS
) -> Widest:
    """Single-step max-t (Westfall and Young 1993) of gaps whose errors hang together as their units' deviations do.

    Draws are normal with the gaps' jackknife correlation, each over the root of a variance made of its parts,
    Σ_h share_h·χ²_h/df_h, drawn anew. Gaps of different degrees of freedom are compared by the two-sided p of their t. With
    few units the correlation has a low rank, and the draws have it, too.

    Args:
        gaps: (L,).
        deviations: (L, G) whose squares sum to each gap's variance, above 0.
        parts, parts_df: (L, 2) shares of each variance that sum to 1, and their degrees of freedom.
        level: of the bar, as .95.
        seed: of the draws.
        n_draws: B.
    """
    error = np.sqrt(np.square(deviations).sum(axis=1))
    used = np.where(parts > 0, parts_df, 1.0)
    t, df = gaps / error, 1 / (parts**2 / used).sum(axis=1)
    own = 2 * special.stdtr(df, -np.abs(t))
    at = int(own.argmin())
    unit = deviations / error[:, None]
    values, vectors = np.linalg.eigh(unit @ unit.T)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((n_draws, len(gaps))) @ root.T
    drawn /= np.sqrt((parts * rng.chisquare(used, size=(n_draws, *parts.shape)) / used).sum(axis=-1))
    least = (2 * special.stdtr(df, -np.abs(drawn))).min(axis=1)
    bar = float(special.stdtrit(df[at], 1 - float(np.quantile(least, 1 - level)) / 2))
    p_value = (1 + int(np.count_nonzero(least <= own[at]))) / (n_draws + 1)
    return Widest(at, float(t[at]), bar, p_value)
