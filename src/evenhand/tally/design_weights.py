"""One judge's tallies with every response counted by its design weight, and by the weight's square."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Counts
from evenhand.tally.cells import Cells
from evenhand.tally.patterns import MASKS, Patterns
from evenhand.verdicts.table import VerdictTable


@dataclass(frozen=True, slots=True)
class WeightSums:
    """The weights of the responses, as given.

    Attributes:
        n: responses.
        total: sum of their weights.
        least, most: the smallest and the largest.
        effective: (Σw)²/Σw², how many responses of equal weight say as much of a mean (Kish 1965, section 11.7).
    """

    n: int
    total: float
    least: float
    most: float
    effective: float


def weight_sums(table: VerdictTable, weights: str) -> WeightSums:
    """Sums over the responses of the audit."""
    found = table.engine.connection.execute(f"SELECT given FROM {weights} ORDER BY response").fetchnumpy()["given"]
    given = np.asarray(found, dtype=np.float64)
    total = float(given.sum())
    return WeightSums(len(given), total, float(given.min()), float(given.max()), total**2 / float((given**2).sum()))


def weighted_cells(table: VerdictTable, rater: int, weights: str, power: int) -> Cells:
    """Cells whose counts are sums of weights to that power; a combination of labels stands once a different weight.

    Grouped by weight, too, so that floating-point sums are made in one order whatever the engine does.
    """
    names = ("unit", "criterion", "reference", "judge")
    found = _fetch(
        table,
        f"SELECT {', '.join(f's.{name}' for name in names)}, w.weight, count(*) AS n FROM {table.relation} s "
        f"JOIN {weights} w ON w.response = s.response WHERE s.rater = ? GROUP BY ALL ORDER BY ALL",
        rater,
    )
    unit, criterion, reference, judge = (_whole(found[name]) for name in names)
    sizes = len(table.units.names), len(table.reading.criteria), table.scale.size
    return Cells(*sizes, unit, criterion, reference, judge, _sums(found, power))


def weighted_patterns(table: VerdictTable, rater: int, weights: str, power: int) -> Patterns:
    """Patterns whose counts are sums of weights to that power."""
    names = [f"{mask}_{word}" for mask in MASKS for word in range(table.n_words)]
    found = _fetch(
        table,
        f"SELECT t.unit, {', '.join(f't.{name}' for name in names)}, w.weight, count(*) AS n FROM {table.rated} t "
        f"JOIN {weights} w ON w.response = t.response WHERE t.rater = ? GROUP BY ALL ORDER BY ALL",
        rater,
    )
    masks = {
        mask: np.stack([_whole(found[f"{mask}_{word}"]) for word in range(table.n_words)], axis=1) for mask in MASKS
    }
    n_criteria = len(table.reading.criteria)
    return Patterns(len(table.units.names), n_criteria, _whole(found["unit"]), masks, _sums(found, power))


def _fetch(table: VerdictTable, sql: str, rater: int) -> dict[str, NDArray[np.generic]]:
    return dict(table.engine.connection.execute(sql, [rater]).fetchnumpy())


def _whole(column: NDArray[np.generic]) -> Counts:
    return np.ascontiguousarray(column, dtype=np.int64)


def _sums(found: dict[str, NDArray[np.generic]], power: int) -> Counts:
    """(n,) weight^power times the number of rows, in the place of counts: every tally is a sum of them, whole or not."""
    weight, n = (np.asarray(found[name], dtype=np.float64) for name in ("weight", "n"))
    return cast("Counts", weight**power * n)
