"""The pivot of raters: one row a response with the labels of all judges and the reference, as masks or as packed words.

Two labels come from the masks of rated responses, more from the packed labels of verdict slots: either way there is one
group a response and condition, not one a criterion.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evenhand.stats.arrays import Counts
from evenhand.tally.packing import ABSENT, SILENT, Packing
from evenhand.verdicts.table import WORD, VerdictTable


class Pivot(Protocol):
    """Responses with the same labels by all.

    Attributes:
        unit, count: (P,) unit of resampling and number of responses.
    """

    @property
    def unit(self) -> Counts:
        """Unit of resampling."""
        ...

    @property
    def count(self) -> Counts:
        """Number of responses."""
        ...

    def judges(self, criterion: int) -> Counts:
        """(P, R) labels on a criterion, ``SILENT`` where a slot has none, ``ABSENT`` where there is no slot."""
        ...

    def reference(self, criterion: int) -> Counts:
        """(P,) the same of the reference; ``SILENT`` where rows of one response contradict each other."""
        ...


def pivot_raters(table: VerdictTable) -> Pivot:
    """Every judge's labels side by side."""
    return _masks(table) if table.scale.kind == "binary" else _words(table)


@dataclass(frozen=True, slots=True)
class _Words:
    """Packed labels: (P, R, W) of the judges, (P, W) of the reference, and those with their bits inverted."""

    packing: Packing
    unit: Counts
    count: Counts
    of_judges: Counts
    of_reference: Counts
    inverted: Counts

    def judges(self, criterion: int) -> Counts:
        return self.packing.labels(self.of_judges, criterion)

    def reference(self, criterion: int) -> Counts:
        return self.packing.shared_labels(self.of_reference, self.inverted, criterion)


@dataclass(frozen=True, slots=True)
class _Masks:
    """Bit masks of two labels: (P, R, W) slots, scored and positive of the judges, (P, W) both labels of the reference."""

    unit: Counts
    count: Counts
    present: Counts
    scored: Counts
    met: Counts
    reference_met: Counts
    reference_unmet: Counts

    def judges(self, criterion: int) -> Counts:
        present, scored, met = (_bit(mask, criterion) for mask in (self.present, self.scored, self.met))
        return np.where(scored == 1, met, np.where(present == 1, SILENT, ABSENT))

    def reference(self, criterion: int) -> Counts:
        met, unmet = _bit(self.reference_met, criterion), _bit(self.reference_unmet, criterion)
        return np.where(met + unmet == 1, met, SILENT)


def _bit(masks: Counts, criterion: int) -> Counts:
    word, place = divmod(criterion, WORD)
    found: Counts = (masks[..., word] >> place) & 1
    return found


def _fetched(table: VerdictTable, relation: str, columns: Sequence[str]) -> tuple[Counts, Counts, list[Counts]]:
    """Units, numbers of responses, and the columns: one group a response and condition, then the distinct ones."""
    names = [f"w{number}" for number in range(len(columns))]
    made = ", ".join(f"{column} AS {name}" for column, name in zip(columns, names, strict=True))
    keys = "response, condition" if table.reading.spec.facets else "response"
    found = table.engine.integers(
        f"SELECT unit, {', '.join(names)}, count(*) AS n FROM (SELECT min(unit) AS unit, {made} FROM {relation} "
        f"GROUP BY {keys}) GROUP BY ALL"
    )
    return found["unit"], found["n"], [found[name] for name in names]


def _words(table: VerdictTable) -> Pivot:
    packing, n_raters = Packing(table.scale.size, len(table.reading.criteria)), len(table.reading.raters)
    columns = [one for rater in range(n_raters) for one in packing.columns("judge", f"rater = {rater}")]
    columns += packing.shared_columns("reference")
    unit, count, words = _fetched(table, table.relation, columns)
    stacked = np.stack(words, axis=1).reshape(len(unit), n_raters + 2, packing.n_words)
    return _Words(packing, unit, count, stacked[:, :n_raters], stacked[:, n_raters], stacked[:, n_raters + 1])


def _masks(table: VerdictTable) -> Pivot:
    words, n_raters = range(table.n_words), len(table.reading.raters)
    columns = [
        f"coalesce(bit_or(CASE WHEN rater = {rater} THEN {mask}_{word} END), 0)"
        for mask in ("present", "judged", "judge")
        for rater in range(n_raters)
        for word in words
    ]
    columns += [f"bit_or(reference_{word})" for word in words]
    columns += [f"bit_or(referred_{word} & ~reference_{word})" for word in words]
    unit, count, masks = _fetched(table, table.rated, columns)
    stacked = np.stack(masks, axis=1)
    size = n_raters * table.n_words
    judges = stacked[:, : 3 * size].reshape(len(unit), 3, n_raters, table.n_words)
    met, unmet = stacked[:, 3 * size : 3 * size + table.n_words], stacked[:, 3 * size + table.n_words :]
    return _Masks(unit, count, judges[:, 0], judges[:, 1], judges[:, 2], met, unmet)
