"""Ratings: how often each combination of the raters' labels on one rated unit occurs, by unit of resampling."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, Counts
from evenhand.tally.cells import Cells
from evenhand.verdicts.table import VerdictTable

MOST_RATERS = 60


@dataclass(frozen=True, slots=True)
class Ratings:
    """Rows of labels and how often they occur, one column a rater; a rated unit is one criterion of one response in one condition.

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


def pair_ratings(cells: Cells, judge: str) -> Ratings:
    """One judge and the reference as two raters, from counts there are already."""
    labels = np.stack([cells.judge, cells.reference], axis=1)
    labels = np.where(labels < cells.n_labels, labels, -1)
    return Ratings(cells.n_units, cells.n_labels, (judge, "reference"), cells.unit, labels, cells.count)


def tally_ratings(table: VerdictTable) -> Ratings | None:
    """Pivot the judges of every rated unit; None for one judge, or for more than MOST_RATERS."""
    names, q = table.reading.raters, table.scale.size
    if not 1 < len(names) <= MOST_RATERS:
        return None
    rated = [f"r{number}" for number in range(len(names))]
    columns = [
        f"coalesce(max(CASE WHEN rater = {number} AND judge < {q} THEN judge END), -1) AS {name}"
        for number, name in enumerate(rated)
    ]
    found = table.engine.integers(
        f"SELECT unit, {', '.join(rated)}, count(*) AS n FROM (SELECT min(unit) AS unit, {', '.join(columns)} "
        f"FROM {table.relation} GROUP BY response, criterion, condition) GROUP BY ALL ORDER BY ALL"
    )
    labels = np.stack([found[name] for name in rated], axis=1)
    return Ratings(len(table.units.names), q, names, found["unit"], labels, found["n"])
