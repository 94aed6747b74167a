"""Centrality of raters: how widely each spreads its marks beside the others on the same units, with no reference.

Everything is a function of sums that add up over units of resampling, and broadcasts over leading axes.
"""

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group

_NEGLIGIBLE = 1e-13
"""A spread below this share of the sum of squares is rounding: the marks are constant."""


def centrality_sums(values: Array, rater: int, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Tallies of one rater beside each other one, over the units that both rate.

    Args:
        values: (n, R) marks, NaN where missing.
        rater: its position.
        group: (n,) unit of resampling of each row.
        n_groups: U.
        repeats: (n,) how often each row occurs, 1 by default.

    Returns:
        (U, R - 1, 5): units rated by both, Σx, Σx² of the rater, Σy, Σy² of the other.
    """
    own, found = values[:, rater], []
    for other in (at for at in range(values.shape[1]) if at != rater):
        both = np.isfinite(own) & np.isfinite(values[:, other])
        x, y = (np.where(both, side, 0.0) for side in (own, values[:, other]))
        columns = [both.astype(np.float64), x, np.square(x), y, np.square(y)]
        found.append(sums_by_group(columns, group, n_groups, repeats))
    return np.stack(found, axis=1)


def rater_centrality(sums: Array) -> Array:
    """√(mean variance of a rater / mean variance of the others), each over the units that both rate; (..., R - 1, 5) → (...).

    Means are over the other raters who share two units or more with it. Below 1 the rater keeps to the middle. With
    complete marks: its standard deviation over the root of the others' mean variance. NaN where the others do not vary.
    """
    n = sums[..., 0]
    spreads = []
    for at in (1, 3):
        spread = n * sums[..., at + 1] - np.square(sums[..., at])
        spread = np.where(spread > _NEGLIGIBLE * n * sums[..., at + 1], spread, 0.0)
        spreads.append(np.where(n > 1, ratio(spread, n * n), 0.0).sum(axis=-1))
    return np.sqrt(ratio(spreads[0], spreads[1]))
