"""Support: how many clusters hold each combination of label pairs, needed where units are groups of clusters."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Counts
from evenhand.verdicts.table import VerdictTable

_MOST_BITS = 62


@dataclass(frozen=True, slots=True)
class Support:
    """Distinct masks of the label pairs a cluster holds, and how many clusters have each.

    Attributes:
        n_labels: q; bit r·q+j says that a verdict with reference label r and judge label j occurs.
        criterion: (M,) criterion, or -1 for all criteria together.
        mask, count: (M,).
    """

    n_labels: int
    criterion: Counts
    mask: Counts
    count: Counts

    def n_clusters(self, pairs: Counts, criterion: int = -1) -> int:
        """Clusters that hold at least one of these pairs, given as r·q+j."""
        wanted = int(np.bitwise_or.reduce(np.left_shift(1, pairs))) if len(pairs) else 0
        here = (self.criterion == criterion) & ((self.mask & wanted) != 0)
        return int(self.count[here].sum())


def tally_support(table: VerdictTable, rater: int) -> Support | None:
    """Count clusters by the pairs they hold; None where units are the clusters, or labels are too many for a mask."""
    q = table.scale.size
    if not table.units.grouped or q * q > _MOST_BITS:
        return None
    bit = f"1::BIGINT << (reference::BIGINT * {q} + judge)"
    by_criterion = (
        f"SELECT criterion, cluster, bit_or({bit}) AS mask FROM {table.relation} "
        f"WHERE rater = {rater} AND judge < {q} AND reference < {q} GROUP BY 1, 2"
    )
    found = table.engine.integers(
        f"WITH m AS ({by_criterion}) "
        "SELECT criterion, mask, count(*) AS n FROM m GROUP BY 1, 2 UNION ALL "
        "SELECT -1, mask, count(*) FROM (SELECT cluster, bit_or(mask) AS mask FROM m GROUP BY 1) GROUP BY mask ORDER BY ALL"
    )
    return Support(q, found["criterion"], found["mask"], found["n"])
