"""Marks of a response on all its criteria side by side: what totals, and correlations between criteria, are had from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, Counts
from evenhand.tally.marks import level_values, origin_of, whole_factor
from evenhand.tally.moments import Side
from evenhand.tally.packing import ABSENT, Packing
from evenhand.verdicts.table import VerdictTable

MOST_MARKS = 40_000_000
"""Distinct rows × criteria up to which marks are put side by side."""


@dataclass(frozen=True, slots=True)
class MarkRows:
    """Rated responses of one judge with the same labels throughout, and how often each row occurs.

    Attributes:
        n_units: U.
        factor: what the marks of ``marks`` are multiplied by.
        origin: what is then taken from each of them.
        values: (q,) mark of each label, multiplied, the origin not yet taken.
        unit, count: (P,) unit of resampling and number of responses.
        judge, reference: (P, K) labels, `packing.SILENT` without a label, `packing.ABSENT` without a slot.
    """

    n_units: int
    factor: int
    origin: float
    values: Array
    unit: Counts
    count: Counts
    judge: Counts
    reference: Counts

    def side(self, side: Side) -> Counts:
        """(P, K) labels of one side."""
        return self.judge if side == "judge" else self.reference

    def is_whole(self, side: Side) -> NDArray[np.bool_]:
        """(P,) whether the side scores every criterion that the response has."""
        present = self.judge != ABSENT
        scored = (self.side(side) >= 0) | ~present
        whole: NDArray[np.bool_] = scored.all(axis=1) & present.any(axis=1)
        return whole

    def is_full(self, side: Side) -> NDArray[np.bool_]:
        """(P,) whether the side scores every criterion that there is."""
        return np.asarray((self.side(side) >= 0).all(axis=1), dtype=np.bool_)

    def totals(self, side: Side) -> Array:
        """(P,) sum of the marks given, times the factor; of rows that are whole it is the response's total."""
        labels = self.side(side)
        given: Array = np.where(labels >= 0, self.values[np.maximum(labels, 0)], 0.0).sum(axis=1)
        return given

    def marks(self, side: Side, kept: NDArray[np.bool_]) -> Array:
        """(P', K) marks of rows that are full, times the factor, less the origin."""
        found: Array = self.values[self.side(side)[kept]] - self.origin
        return found


def tally_mark_rows(table: VerdictTable, rater: int) -> MarkRows | None:
    """Put the marks of one judge side by side; None of one criterion, of other scales, and of too many rows."""
    k = len(table.reading.criteria)
    if table.scale.kind not in ("ordinal", "continuous") or k < 2:
        return None
    packing = Packing(table.scale.size, k)
    columns = packing.columns("judge", "true") + packing.columns("reference", "true")
    names = [f"w{number}" for number in range(len(columns))]
    packed = ", ".join(f"{column} AS {name}" for column, name in zip(columns, names, strict=True))
    keys = "response, condition" if table.reading.spec.facets else "response"
    rows = table.engine.name("mark_rows")
    table.engine.run(
        f"CREATE TEMP TABLE {rows} AS SELECT unit, {', '.join(names)}, count(*) AS n FROM (SELECT min(unit) AS unit, {packed} "
        f"FROM {table.relation} WHERE rater = {rater} GROUP BY {keys}) GROUP BY ALL"
    )
    (n_rows,) = table.engine.one(f"SELECT count(*) FROM {rows}")
    found = table.engine.integers(f"SELECT * FROM {rows} ORDER BY ALL") if n_rows * k <= MOST_MARKS else None
    table.engine.run(f"DROP TABLE {rows}")
    if found is None:
        return None
    words = np.stack([found[name] for name in names], axis=1)
    judge, reference = (
        np.stack([packing.labels(side, criterion) for criterion in range(k)], axis=1)
        for side in (words[:, : packing.n_words], words[:, packing.n_words :])
    )
    values, own = level_values(table.scale)
    factor = whole_factor(table.scale.levels) if own else 1
    values = np.rint(values * factor) if factor > 1 else values
    return MarkRows(
        len(table.units.names), factor, origin_of(values), values, found["unit"], found["n"], judge, reference
    )
