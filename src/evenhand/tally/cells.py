"""Cells: how often each pair of reference and judge level occurs, by unit and criterion."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, Counts, binned
from evenhand.verdicts.scale import STATUSES
from evenhand.verdicts.table import VerdictTable

N_STATES = 1 + len(STATUSES)
"""A verdict is scored, or has one of the statuses."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Sparse counts of one judge's verdict slots.

    Attributes:
        n_units, n_criteria, n_labels: sizes; levels at or past n_labels are statuses.
        unit, criterion, reference, judge, count: (n,) one entry a cell that occurs.
    """

    n_units: int
    n_criteria: int
    n_labels: int
    unit: Counts
    criterion: Counts
    reference: Counts
    judge: Counts
    count: Counts

    @property
    def paired(self) -> "Cells":
        """Only the cells in which both sides are scored."""
        return self._where((self.judge < self.n_labels) & (self.reference < self.n_labels))

    @property
    def judged(self) -> "Cells":
        """Only the cells in which the judge is scored."""
        return self._where(self.judge < self.n_labels)

    def _where(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> "Cells":
        columns = (self.unit, self.criterion, self.reference, self.judge, self.count)
        return Cells(self.n_units, self.n_criteria, self.n_labels, *(column[kept] for column in columns))

    def tables(self) -> Array:
        """(U, q, q) tables of reference by judge labels, pooled over criteria; needs both sides scored."""
        q = self.n_labels
        return binned((self.unit * q + self.reference) * q + self.judge, self.count, (self.n_units, q, q))

    def tables_by_criterion(self) -> Array:
        """(U, K, q, q) tables of reference by judge labels; needs both sides scored."""
        q, k = self.n_labels, self.n_criteria
        code = ((self.unit * k + self.criterion) * q + self.reference) * q + self.judge
        return binned(code, self.count, (self.n_units, k, q, q))

    def judge_labels(self) -> Array:
        """(U, q) counts of the judge's labels; needs the judge scored."""
        return binned(self.unit * self.n_labels + self.judge, self.count, (self.n_units, self.n_labels))

    def levels(self, n_levels: int) -> Array:
        """(U, L, L) counts over labels and statuses, reference by judge."""
        code = (self.unit * n_levels + self.reference) * n_levels + self.judge
        return binned(code, self.count, (self.n_units, n_levels, n_levels))

    def states(self) -> Array:
        """(U, S, S) counts of scored (first) and the statuses, reference by judge, however many labels there are."""
        reference, judge = (np.maximum(label - self.n_labels + 1, 0) for label in (self.reference, self.judge))
        code = (self.unit * N_STATES + reference) * N_STATES + judge
        return binned(code, self.count, (self.n_units, N_STATES, N_STATES))

    def judged_as(self, code: int) -> Array:
        """(U,) slots to which the judge gives this code."""
        here = self.judge == code
        return binned(self.unit[here], self.count[here], (self.n_units,))

    def agreed(self) -> Array:
        """(U,) slots in which both sides give the same label."""
        here = (self.judge == self.reference) & (self.judge < self.n_labels)
        return binned(self.unit[here], self.count[here], (self.n_units,))

    def classes(self, kept: Sequence[int]) -> Array:
        """(U, m, m) counts over the m codes kept, reference by judge."""
        number = np.full(self.n_labels + N_STATES, -1)
        number[list(kept)] = np.arange(len(kept))
        reference, judge, m = number[self.reference], number[self.judge], len(kept)
        here = (reference >= 0) & (judge >= 0)
        code = (self.unit[here] * m + reference[here]) * m + judge[here]
        return binned(code, self.count[here], (self.n_units, m, m))

    def on_criterion(self, position: int) -> "Cells":
        """Only the cells of one criterion."""
        return self._where(self.criterion == position)


def tally_cells(table: VerdictTable, rater: int, *, by: str = "unit") -> Cells:
    """Count one judge's slots in one GROUP BY.

    Args:
        table: the verdict table.
        rater: the judge's position.
        by: "unit", or "cluster" where lines that belong to a cluster are wanted and units are groups of them.
    """
    found = table.engine.integers(
        f"SELECT {by} AS unit, criterion, reference, judge, count(*) AS n FROM {table.relation} "
        "WHERE rater = ? GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    size = len(table.units.names) if by == "unit" else table.units.n_clusters
    return Cells(
        size,
        len(table.reading.criteria),
        table.scale.size,
        *(found[name] for name in ("unit", "criterion", "reference", "judge", "n")),
    )
