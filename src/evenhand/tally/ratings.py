"""Ratings: how often each combination of the raters' labels on one rated unit occurs, by unit of resampling."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.stats.arrays import Array, Counts, binned
from evenhand.tally.cells import Cells
from evenhand.tally.packing import ABSENT, SILENT, distinct
from evenhand.tally.pivot import Pivot, pivot_raters
from evenhand.verdicts.table import VerdictTable

MOST_RATERS = 60
MOST_ROWS_BY_CRITERION = 2_000_000
"""Distinct rows of ratings, over all criteria, beyond which those of each criterion are not kept."""


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
        reference: (P,) label codes of the reference beside several judges, -1 where it gives none, or gives the same
            unit different ones in different rows; None without one.
        totals: of responses, where a cut is declared.
        by_criterion: (K,) the same of each criterion, where there are several.
    """

    n_units: int
    n_labels: int
    names: tuple[str, ...]
    unit: Counts
    labels: Counts
    count: Counts
    reference: Counts | None = None
    totals: Totals | None = None
    by_criterion: tuple["Ratings", ...] = ()

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
    names = table.reading.raters
    if not 1 < len(names) <= MOST_RATERS:
        return None
    rows = pivot_raters(table)
    each = [_on_criterion(table, rows, criterion) for criterion in range(len(table.reading.criteria))]
    pooled = _pooled(table, each) if len(each) > 1 else each[0]
    kept = len(each) > 1 and sum(len(one.unit) for one in each) <= MOST_ROWS_BY_CRITERION
    has_totals = table.reading.has_reference and table.reading.spec.cut
    return replace(
        pooled, by_criterion=tuple(each) if kept else (), totals=_tally_totals(table) if has_totals else None
    )


def _on_criterion(table: VerdictTable, rows: Pivot, criterion: int) -> Ratings:
    """The ratings of one criterion, distinct."""
    judges = rows.judges(criterion)
    here = (judges != ABSENT).any(axis=1)
    columns = [rows.unit[here], *np.maximum(judges[here], SILENT).T]
    columns += [rows.reference(criterion)[here]] if table.reading.has_reference else []
    (unit, *labels), count = distinct(columns, rows.count[here])
    return _gathered(table, unit, labels, count)


def _gathered(table: VerdictTable, unit: Counts, labels: Sequence[Counts], count: Counts) -> Ratings:
    names = table.reading.raters
    return Ratings(
        len(table.units.names),
        table.scale.size,
        names,
        unit,
        np.stack(labels[: len(names)], axis=1),
        count,
        labels[len(names)] if table.reading.has_reference else None,
    )


def _pooled(table: VerdictTable, each: Sequence[Ratings]) -> Ratings:
    """The ratings of all criteria as rows of one kind."""
    columns = [np.concatenate([one.unit for one in each]), *np.concatenate([one.labels for one in each]).T]
    references = [one.reference for one in each if one.reference is not None]
    columns += [np.concatenate(references)] if references else []
    (unit, *labels), count = distinct(columns, np.concatenate([one.count for one in each]))
    return _gathered(table, unit, labels, count)


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
