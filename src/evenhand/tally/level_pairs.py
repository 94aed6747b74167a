"""Pairs of levels that occur: a table of many levels by unit, kept sparse and made dense a few replicates at a time."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, Counts, Measure, binned

MOST_CELLS_AT_ONCE = 4_000_000
"""Cells of dense tables held at a time (32 MB)."""


@dataclass(frozen=True, slots=True)
class LevelPairs:
    """Counts of the pairs of reference and judge level that occur.

    Attributes:
        n_levels: L.
        code: (C,) reference level · L + judge level, ascending.
        tallies: (U, C) counts by unit of resampling.
    """

    n_levels: int
    code: Counts
    tallies: Array

    @property
    def sizes(self) -> Array:
        """(U,) pairs a unit."""
        size: Array = self.tallies.sum(axis=1)
        return size

    @property
    def distance(self) -> Counts:
        """(C,) steps between the two levels of each pair."""
        steps: Counts = np.abs(self.code // self.n_levels - self.code % self.n_levels)
        return steps

    def total(self) -> Array:
        """(L, L) table over all units, rows the reference's."""
        table: Array = self._table(self.tallies.sum(axis=0)[None])[0]
        return table

    def dense(self, measure: Measure, cells_a_table: int = 0) -> Measure:
        """A measure of (..., L, L) tables as one of these (..., C) tallies.

        Args:
            measure: of tables.
            cells_a_table: that the measure needs at once for one table, L² by default.
        """
        step = max(1, MOST_CELLS_AT_ONCE // max(cells_a_table, self.n_levels**2))

        def of_tallies(tallies: Array) -> Array:
            flat = tallies.reshape(math.prod(tallies.shape[:-1]), len(self.code))
            starts = range(0, max(1, len(flat)), step)
            parts = [measure(self._table(flat[start : start + step])) for start in starts]
            return np.concatenate(parts).reshape(tallies.shape[:-1])

        return of_tallies

    def _table(self, flat: Array) -> Array:
        table = np.zeros((len(flat), self.n_levels**2))
        table[:, self.code] = flat
        return table.reshape(len(flat), self.n_levels, self.n_levels)


def level_pairs(
    reference: Counts, judge: Counts, n_levels: int, unit: Counts, n_units: int, count: ArrayLike = 1
) -> LevelPairs:
    """Count pairs of levels by unit.

    Args:
        reference, judge: (n,) level positions.
        n_levels: L.
        unit: (n,) unit of resampling of each pair.
        n_units: U.
        count: (n,) how often each occurs.
    """
    code, at = np.unique(reference * n_levels + judge, return_inverse=True)
    tallies = binned(unit * len(code) + at, np.broadcast_to(count, len(unit)), (n_units, len(code)))
    return LevelPairs(n_levels, code, tallies)
