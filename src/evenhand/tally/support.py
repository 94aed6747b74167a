"""Support: how many clusters hold each combination of label pairs, needed where units are groups of clusters."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Counts
from evenhand.verdicts.table import WORD, VerdictTable

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
    if table.scale.kind == "binary":
        return _of_masks(table, rater)
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


def _of_masks(table: VerdictTable, rater: int) -> Support:
    """The same for two labels from the masks of rated responses: no group a cluster and criterion is made."""
    k, words = len(table.reading.criteria), range(table.n_words)
    names = [f"p{pair}_{word}" for pair in range(4) for word in words]
    held = ", ".join(
        f"bit_or(judged_{word} & referred_{word} & {'' if pair & 2 else '~'}reference_{word} "
        f"& {'' if pair & 1 else '~'}judge_{word}) AS p{pair}_{word}"
        for pair in range(4)
        for word in words
    )
    found = table.engine.integers(
        f"SELECT {', '.join(names)}, count(*) AS n FROM (SELECT {held} FROM {table.rated} WHERE rater = ? GROUP BY cluster) "
        "GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    whole = np.zeros_like(found["n"])
    clusters = np.zeros((k + 1, 16))
    for criterion in range(k):
        word, bit = divmod(criterion, WORD)
        mask = sum(((found[f"p{pair}_{word}"] >> bit) & 1) << pair for pair in range(4))
        clusters[criterion + 1] = np.bincount(mask, weights=found["n"], minlength=16)
        whole |= mask
    clusters[0] = np.bincount(whole, weights=found["n"], minlength=16)
    row, mask = np.nonzero(clusters[:, 1:])
    return Support(2, row - 1, mask + 1, clusters[row, mask + 1].astype(np.int64))
