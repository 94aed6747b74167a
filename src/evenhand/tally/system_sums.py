"""Verdicts by who wrote the response: sums a unit and system, and each system's mean on each item that several answer."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import printable
from evenhand.stats import marks as of
from evenhand.stats import system_level
from evenhand.stats.arrays import Array, Counts, binned, ratio
from evenhand.tally.marks import level_values, origin_of, whole_factor
from evenhand.tally.systems import MOST_SYSTEMS
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import VerdictTable

MOST_ITEM_CELLS = 20_000_000
"""Items × systems up to which each item's means are held."""
MOST_PAIR_CELLS = 200_000_000
"""Items × pairs of systems, or units × pairs × 5, up to which pairs of systems are compared item by item."""


@dataclass(frozen=True, slots=True)
class ItemMeans:
    """Means of each system's verdicts on each item, in marks.

    Attributes:
        unit: (I,) unit of resampling of each item.
        reference, judge: (I, S) means; NaN where the system has no verdict on the item.
    """

    unit: Counts
    reference: Array
    judge: Array


@dataclass(frozen=True, slots=True)
class SystemSums:
    """One judge's verdicts by system, paired with the reference's where there is one.

    Attributes:
        names: (S,) systems in natural order.
        column, item_column: what names the systems, and the items that several of them answer; the latter "" without one.
        n_units: U.
        factor, origin: a mark below is the scale's mark, times the factor, less the origin.
        item, unit, system, criterion, count: (n,) of each different pair of marks.
        reference, judge: (n,) marks; the reference's are 0 where there is none.
        n_without: verdicts whose system is not named.
        obstacle: why nothing is said of systems; empty where something is.
    """

    names: tuple[str, ...]
    column: str
    item_column: str
    n_units: int
    factor: int
    origin: float
    item: Counts
    unit: Counts
    system: Counts
    criterion: Counts
    count: Counts
    reference: Array
    judge: Array
    n_without: int
    obstacle: str = ""

    def on_criterion(self, position: int) -> "SystemSums":
        """Only the verdicts on one criterion."""
        return self._where(self.criterion == position)

    def _where(self, kept: NDArray[np.bool_]) -> "SystemSums":
        columns = ("item", "unit", "system", "criterion", "count", "reference", "judge")
        return replace(self, **{name: getattr(self, name)[kept] for name in columns})

    def sums(self) -> Array:
        """(U, S, 7) `stats.marks.mark_sums` of each unit and system."""
        size = len(self.names)
        flat = of.mark_sums(
            self.reference, self.judge, self.unit * size + self.system, self.n_units * size, self.count
        )  # fmt: skip
        return flat.reshape(self.n_units, size, 7)

    def n_items(self, system: int | None = None) -> int | None:
        """Items behind the verdicts, of all systems or of one; None where no column names them."""
        here = self.item if system is None else self.item[self.system == system]
        return len(np.unique(here)) if self.item_column else None

    def in_marks(self, means: Array) -> Array:
        """Means of the marks below as means of marks of the scale."""
        return (means + self.origin) / self.factor

    def item_means(self) -> ItemMeans | None:
        """Means by item; None where no column names the items, or they are too many."""
        items, at = np.unique(self.item, return_inverse=True)
        shape = (len(items), len(self.names))
        if not self.item_column or shape[0] * shape[1] > MOST_ITEM_CELLS:
            return None
        code = at * shape[1] + self.system
        n = binned(code, self.count, shape)
        sums = [
            np.asarray(np.bincount(code, weights=self.count * side, minlength=n.size).reshape(shape), dtype=np.float64)
            for side in (self.reference, self.judge)
        ]
        unit = np.zeros(shape[0], dtype=np.int64)
        unit[at] = self.unit
        return ItemMeans(unit, ratio(sums[0], n), ratio(sums[1], n))

    def pair_sums(self, means: ItemMeans) -> Array | None:
        """(U, P, 5) `stats.system_level.pair_sums`; None where they are too many."""
        n_pairs = len(self.names) * (len(self.names) - 1) // 2
        if n_pairs * max(len(means.unit), 5 * self.n_units) > MOST_PAIR_CELLS:
            return None
        return system_level.pair_sums(means.reference, means.judge, means.unit, self.n_units)


def tally_system_sums(table: VerdictTable, rater: int) -> SystemSums | None:
    """Count one judge's verdicts by the system that ``--author COL`` names.

    None without it, for verdicts on pairs (``tally.systems``) and for labels without an order.

    Raises:
        MappingError: a column that no file with the response id has.
        KeyClashError: a response of two systems.
    """
    spec, q, engine = table.reading.spec, table.scale.size, table.engine
    if table.scale.kind in ("pairwise", "nominal") or len(spec.author) != 1:
        return None
    values, column = attribute(table.reading, spec.author[0], "--author"), spec.author[0]
    paired = f"s.judge < {q}" + (f" AND s.reference < {q}" if table.reading.has_reference else "")
    slots = f"FROM {table.relation} s LEFT JOIN {values} a USING (response) WHERE s.rater = {rater} AND {paired}"
    found = engine.rows(f"SELECT DISTINCT a.value {slots} AND a.value IS NOT NULL")
    names = tuple(sorted((str(name) for (name,) in found), key=natural))
    (without,) = engine.one(f"SELECT count(*) FILTER (a.value IS NULL) {slots}")
    item_column = (spec.cluster or "") if table.units.declared else ""
    if not 1 < len(names) <= MOST_SYSTEMS:
        said = (
            f"{len(names):,} systems: they are compared up to {MOST_SYSTEMS}"
            if names
            else "no response's system is named"
        )
        said = f'one system only, "{printable(names[0])}"' if len(names) == 1 else said
        none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        columns = none, none, none, none, none, nothing, nothing
        return SystemSums(names, column, item_column, len(table.units.names), 1, 0.0, *columns, int(without), said)
    codes = engine.table(
        "systems", {"name": "VARCHAR", "code": "INTEGER"}, [(name, at) for at, name in enumerate(names)]
    )
    item = "s.cluster" if item_column else "0"
    reference = "s.reference" if table.reading.has_reference else "0"
    counted = engine.integers(
        f"SELECT {item} AS item, s.unit, x.code AS system, s.criterion, {reference} AS reference, s.judge, count(*) AS n "
        f"FROM {table.relation} s JOIN {values} a USING (response) JOIN {codes} x ON x.name = a.value "
        f"WHERE s.rater = {rater} AND {paired} GROUP BY ALL ORDER BY ALL"
    )
    marks, factor = _marks(table)
    origin = origin_of(marks)
    judge = (marks - origin)[counted["judge"]]
    given = (marks - origin)[counted["reference"]] if table.reading.has_reference else np.zeros(len(judge))
    items, unit, system, criterion, n = (
        np.asarray(counted[name]) for name in ("item", "unit", "system", "criterion", "n")
    )
    return SystemSums(
        names, column, item_column, len(table.units.names), factor, origin, items, unit, system, criterion, n, given, judge, int(without)
    )  # fmt: skip


def _marks(table: VerdictTable) -> tuple[Array, int]:
    """(q,) value of each label times the factor: 0 and 1 of two labels, marks, or the positions of words."""
    if table.scale.kind == "binary":
        return np.array([0.0, 1.0]), 1
    values, own = level_values(table.scale)
    factor = whole_factor(table.scale.levels) if own else 1
    return (np.rint(values * factor) if factor > 1 else values), factor
