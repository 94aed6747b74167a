"""Ratings: how often each combination of the raters' labels on one rated unit occurs, by unit of resampling."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, Counts, binned
from evenhand.tally.cells import Cells
from evenhand.verdicts.table import VerdictTable

MOST_RATERS = 60


@dataclass(frozen=True, slots=True)
class Totals:
    """How many criteria of a response each judge and the reference call met, and how often each combination occurs.

    Attributes:
        unit: (P,) unit of resampling.
        judges: (P, R) totals, -1 where a judge does not score every criterion of the response.
        reference: (P,) totals, -1 where the reference does not.
        count: (P,) responses.
    """

    unit: Counts
    judges: Counts
    reference: Counts
    count: Counts


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
        reference: (P,) label codes of the reference beside several judges, -1 where it gives none; None without one.
        totals: of responses, where a cut is declared.
    """

    n_units: int
    n_labels: int
    names: tuple[str, ...]
    unit: Counts
    labels: Counts
    count: Counts
    reference: Counts | None = None
    totals: Totals | None = None

    @property
    def n_raters(self) -> int:
        """R."""
        return len(self.names)

    @property
    def is_judge_and_reference(self) -> bool:
        """Whether these are one judge and the reference taken as two raters."""
        return self.reference is None and self.names[1:] == ("reference",)

    @property
    def sizes(self) -> Array:
        """(U,) units rated at least twice, by unit of resampling."""
        return self._rated(2)

    @property
    def rated(self) -> Array:
        """(U,) units rated at all, by unit of resampling."""
        return self._rated(1)

    def _rated(self, times: int) -> Array:
        kept = (self.labels >= 0).sum(axis=1) >= times
        return binned(self.unit[kept], self.count[kept], (self.n_units,))


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
    columns.append(f"coalesce(max(CASE WHEN reference < {q} THEN reference END), -1) AS reference")
    found = table.engine.integers(
        f"SELECT unit, {', '.join(rated)}, reference, count(*) AS n FROM (SELECT min(unit) AS unit, {', '.join(columns)} "
        f"FROM {table.relation} GROUP BY response, criterion, condition) GROUP BY ALL ORDER BY ALL"
    )
    labels = np.stack([found[name] for name in rated], axis=1)
    reference = found["reference"] if table.reading.has_reference else None
    totals = _tally_totals(table) if reference is not None and table.reading.spec.cut else None
    return Ratings(len(table.units.names), q, names, found["unit"], labels, found["n"], reference, totals)


def _tally_totals(table: VerdictTable) -> Totals | None:
    """Pivot the judges' totals of every response; None where labels are not two."""
    if table.scale.kind != "binary":
        return None
    words, names = range(table.n_words), [f"r{number}" for number in range(len(table.reading.raters))]

    def total(scored: str, met: str) -> str:
        whole = " AND ".join(f"{scored}_{word} = present_{word}" for word in words)
        return f"CASE WHEN {whole} THEN {' + '.join(f'bit_count({met}_{word})' for word in words)} END"

    columns = [
        f"coalesce(max(CASE WHEN rater = {number} THEN {total('judged', 'judge')} END), -1) AS {name}"
        for number, name in enumerate(names)
    ]
    columns.append(f"coalesce(max({total('referred', 'reference')}), -1) AS reference")
    found = table.engine.integers(
        f"SELECT unit, {', '.join(names)}, reference, count(*) AS n FROM (SELECT min(unit) AS unit, {', '.join(columns)} "
        f"FROM {table.rated} GROUP BY response, condition) GROUP BY ALL ORDER BY ALL"
    )
    return Totals(found["unit"], np.stack([found[name] for name in names], axis=1), found["reference"], found["n"])
