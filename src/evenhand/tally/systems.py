"""Systems behind pairs: who was compared with whom and who won, by unit of resampling."""

from dataclasses import dataclass

import numpy as np

from evenhand.errors import RequestError, printable
from evenhand.stats import pairwise
from evenhand.stats.arrays import Array, Counts
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import VerdictTable

MOST_SYSTEMS = 60
"""Systems up to which strengths are fitted: there are as many unknowns, and a win matrix a unit."""


@dataclass(frozen=True, slots=True)
class Systems:
    """Comparisons of named systems by one judge.

    Attributes:
        names: (S,) systems in natural order.
        n_units, n_labels: sizes.
        first, second: (n,) the system on the side whose wins are counted, and on the other; never the same.
        unit, judge, reference, count: (n,) unit of resampling, label codes (-1 for none) and number of pairs.
        n_same: comparisons of a system with itself, which say nothing.
        n_without: comparisons one of whose systems is not named.
        obstacle: why there are no strengths; empty where there are.
    """

    names: tuple[str, ...]
    n_units: int
    n_labels: int
    first: Counts
    second: Counts
    unit: Counts
    judge: Counts
    reference: Counts
    count: Counts
    n_same: int
    n_without: int
    obstacle: str = ""

    def wins(self, side: str) -> Array:
        """(U, S, S) wins of the row's system over the column's by the judge's or the reference's verdicts, halves for ties."""
        label = self.judge if side == "judge" else self.reference
        kept = label >= 0
        outcome = pairwise.outcomes(label[kept], self.n_labels)
        return pairwise.win_matrices(
            self.first[kept],
            self.second[kept],
            outcome,
            len(self.names),
            self.unit[kept],
            self.n_units,
            self.count[kept],
        )


def tally_systems(table: VerdictTable, rater: int) -> Systems | None:
    """Count one judge's pairs by the systems that ``--author COL,COL`` names; None on another scale or without it.

    Raises:
        RequestError: one column, where two sides need two.
    """
    spec, q, engine = table.reading.spec, table.scale.size, table.engine
    if table.scale.kind != "pairwise" or not spec.author:
        return None
    if len(spec.author) != 2:
        raise RequestError(
            f"--author {printable(','.join(spec.author))}: pairs have two sides; write --author COL_A,COL_B"
        )
    one, other = (attribute(table.reading, column, "--author") for column in _columns(table))
    joined = f"FROM {table.relation} s LEFT JOIN {one} a USING (response) LEFT JOIN {other} b USING (response) WHERE s.rater = {rater}"
    same, without = engine.one(
        f"SELECT count(*) FILTER (a.value = b.value), count(*) FILTER (a.value IS NULL OR b.value IS NULL) {joined}"
    )
    found = engine.rows(f"SELECT DISTINCT unnest([a.value, b.value]) {joined}")
    names = tuple(sorted((str(name) for (name,) in found if name is not None), key=natural))
    nothing = np.zeros(0, dtype=np.int64)
    if len(names) > MOST_SYSTEMS:
        said = f"{len(names):,} systems: strengths are fitted for at most {MOST_SYSTEMS}"
        none = nothing, nothing, nothing, nothing, nothing, nothing
        return Systems(names, len(table.units.names), q, *none, same, without, said)
    codes = engine.table(
        "systems", {"name": "VARCHAR", "code": "INTEGER"}, [(name, at) for at, name in enumerate(names)]
    )
    counted = engine.integers(
        f"SELECT x.code AS first, y.code AS second, unit, if(judge < {q}, judge, -1) AS judge, "
        f"if(reference < {q}, reference, -1) AS reference, count(*) AS n FROM (SELECT a.value AS a, b.value AS b, unit, judge, reference "
        f"{joined}) JOIN {codes} x ON x.name = a JOIN {codes} y ON y.name = b WHERE a <> b GROUP BY ALL ORDER BY ALL"
    )
    first, second, unit, judge, reference, n = (
        counted[name] for name in ("first", "second", "unit", "judge", "reference", "n")
    )
    n_units = len(table.units.names)
    return Systems(names, n_units, q, first, second, unit, judge, reference, n, int(same), int(without))


def _columns(table: VerdictTable) -> tuple[str, str]:
    """The column of the side whose wins are counted, and the other's: columns are given in the order of the sides' names."""
    first, second = table.reading.spec.author
    lowest, highest = table.scale.levels[0], table.scale.levels[-1]
    return (first, second) if highest.casefold() < lowest.casefold() else (second, first)
