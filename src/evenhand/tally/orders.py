"""Pairs shown in both orders: the verdicts in the one order and in the other, by unit of resampling."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import quoted
from evenhand.stats import pairwise
from evenhand.stats.arrays import Array, Counts
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import VerdictTable

_JOINER = " | "
_ORIGINAL = frozenset({"original", "orig", "forward", "normal", "unswapped", "ab"})
_SWAPPED = frozenset({"swapped", "swap", "backward", "reversed", "reverse", "ba"})
_NOISE = ("first", "shown", "is", "was")


@dataclass(frozen=True, slots=True)
class OrderPairs:
    """Verdicts of one judge on pairs in two orders, already mapped back to the sides.

    Attributes:
        names: the values of the order column: the one with the winning side shown first, then the other; or as found.
        first: code of the side shown first in the first of them, None where the values do not say.
        unit: (n,) unit of resampling.
        one, other: (n,) label codes in the two orders, -1 where there is none.
        count: (n,) pairs.
        obstacle: why there are no two orders to compare; empty where there are.
    """

    names: tuple[str, ...]
    first: int | None
    unit: Counts
    one: Counts
    other: Counts
    count: Counts
    obstacle: str = ""

    def tables(self, n_labels: int, n_units: int) -> Array:
        """(U, 3, 3) outcomes in the one order by outcomes in the other, over pairs with a label in both."""
        both = (self.one >= 0) & (self.other >= 0)
        one, other = (pairwise.outcomes(label[both], n_labels) for label in (self.one, self.other))
        return pairwise.order_tables(one, other, self.unit[both], n_units, self.count[both])


def shown_first(order: str, levels: Sequence[str]) -> int | None:
    """Code of the side that a value of the order column shows first: "A first", "A", "AB", "original"; None if unclear.

    Args:
        order: the value.
        levels: of a pairwise scale, the side that wins are counted for last; original order shows that one first
            where it is called A or 1, as it is by default.
    """
    last, sides = len(levels) - 1, {levels[0].casefold(): 0, levels[-1].casefold(): len(levels) - 1}
    words = order.casefold().replace("_", " ").replace("-", " ").split()
    left = [word for word in words if word not in _NOISE]
    whole = order.strip().casefold()
    if whole in sides:
        return sides[whole]
    if len(left) == 1 and left[0] in sides and "first" in words:
        return sides[left[0]]
    for a, b in ((levels[0], levels[-1]), (levels[-1], levels[0])):
        if whole in {a.casefold() + joint + b.casefold() for joint in ("", ">", ",", "/", " ", "-", "_", " then ")}:
            return sides[a.casefold()]
    alphabetical = last if levels[-1].casefold() < levels[0].casefold() else 0
    if whole in _ORIGINAL:
        return alphabetical
    return last - alphabetical if whole in _SWAPPED else None


def tally_orders(table: VerdictTable, rater: int) -> OrderPairs | None:
    """Meet each pair's verdicts in two orders; None without an order column or on another scale than pairs."""
    spec, scale = table.reading.spec, table.scale
    if scale.kind != "pairwise" or not spec.order:
        return None
    conditions = [str(one) for (one,) in table.engine.rows(f"SELECT DISTINCT condition FROM {table.relation}")]
    parts = {one: one.rpartition(_JOINER) if len(spec.facets) > 1 else ("", "", one) for one in conditions}
    names = sorted({order for _, _, order in parts.values()}, key=natural)
    nothing = np.empty(0, dtype=np.int64)
    if len(names) != 2:
        said = f"two orders are compared, column {quoted([spec.order])} has {len(names)}: {quoted(names)}"
        return OrderPairs(tuple(names), None, nothing, nothing, nothing, nothing, said)
    first = [shown_first(name, scale.levels) for name in names]
    if first == [0, scale.size - 1]:
        names.reverse()
    known = None not in first and first[0] != first[1]
    orders = table.engine.table(
        "orders",
        {"condition": "VARCHAR", "rest": "VARCHAR", "number": "INTEGER"},
        [(condition, rest, names.index(order)) for condition, (rest, _, order) in parts.items()],
    )
    verdicts = ", ".join(
        f"coalesce(max(CASE WHEN number = {number} AND judge < {scale.size} THEN judge END), -1) AS {name}"
        for number, name in enumerate(("one", "other"))
    )
    found = table.engine.integers(
        f'SELECT unit, one, "other", count(*) AS n FROM (SELECT min(unit) AS unit, {verdicts} FROM {table.relation} '
        f"JOIN {orders} USING (condition) WHERE rater = ? GROUP BY response, criterion, rest) GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    return OrderPairs(
        tuple(names), scale.size - 1 if known else None, found["unit"], found["one"], found["other"], found["n"]
    )
