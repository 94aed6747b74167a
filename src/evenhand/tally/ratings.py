"""Ratings: how often each combination of the raters' labels on one rated unit occurs, by unit of resampling."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, Counts
from evenhand.verdicts.table import VerdictTable

MOST_RATERS = 60


@dataclass(frozen=True, slots=True)
class Ratings:
    """Distinct rows of labels, one column a rater; a rated unit is one criterion of one response in one condition.

    Attributes:
        n_units: units of resampling.
        n_labels: q.
        names: (R,) raters.
        unit: (P,) unit of resampling.
        labels: (P, R) label codes, -1 where a rater gives none.
        count: (P,) rated units with this row.
    """

    n_units: int
    n_labels: int
    names: tuple[str, ...]
    unit: Counts
    labels: Counts
    count: Counts

    @property
    def n_raters(self) -> int:
        """R."""
        return len(self.names)

    @property
    def sizes(self) -> Array:
        """(U,) units rated at least twice, by unit of resampling."""
        twice = (self.labels >= 0).sum(axis=1) > 1
        return np.asarray(
            np.bincount(self.unit[twice], weights=self.count[twice], minlength=self.n_units), dtype=np.float64
        )

    def repeated(self) -> "Ratings":
        """The same with one row a rated unit, for tallies that take no repeats."""
        rows = np.repeat(np.arange(len(self.count)), self.count)
        ones = np.ones(len(rows), dtype=np.int64)
        return Ratings(self.n_units, self.n_labels, self.names, self.unit[rows], self.labels[rows], ones)


def tally_ratings(table: VerdictTable, *, with_reference: bool) -> Ratings | None:
    """Pivot the raters of every rated unit; None for one rater, or for more than MOST_RATERS.

    Args:
        table: the verdict table.
        with_reference: the reference is the last rater, called "reference".
    """
    names = table.reading.raters + (("reference",) if with_reference else ())
    judges, q = len(table.reading.raters), table.scale.size
    if len(names) < 2 or judges > MOST_RATERS:
        return None
    columns = [
        f"coalesce(max(CASE WHEN rater = {r} AND judge < {q} THEN judge END), -1) AS r{r}" for r in range(judges)
    ]
    if with_reference:
        columns.append(f"coalesce(max(CASE WHEN reference < {q} THEN reference END), -1) AS r{judges}")
    rated = ", ".join(f"r{number}" for number in range(len(names)))
    found = table.engine.integers(
        f"SELECT unit, {rated}, count(*) AS n FROM (SELECT min(unit) AS unit, {', '.join(columns)} FROM {table.relation} "
        "GROUP BY response, criterion, condition) GROUP BY ALL ORDER BY ALL"
    )
    labels = np.stack([found[f"r{number}"] for number in range(len(names))], axis=1)
    return Ratings(len(table.units.names), q, names, found["unit"], labels, found["n"])
