"""Totals of the same responses under several conditions of the judge, and its verdicts on the same item in repeats."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, Counts
from evenhand.tally.marks import level_values, whole_factor
from evenhand.verdicts.order import natural
from evenhand.verdicts.scale import Scale
from evenhand.verdicts.spec import FACETS
from evenhand.verdicts.table import VerdictTable

MOST_CONDITIONS = 60
"""Combinations of conditions beyond which totals are not put side by side."""
OCCASION = "occasion"


@dataclass(frozen=True, slots=True)
class ConditionTotals:
    """One judge's total of each response under each combination of conditions, and how often each row occurs.

    Attributes:
        facets: (F,) roles of the columns that make a condition.
        conditions: (C,) values of the F facets in each combination that occurs, in natural order.
        n_units: U.
        unit: (P,) unit of resampling.
        totals: (P, C) totals; NaN where the judge does not score every criterion that the response has.
        reference: (P,) totals of the reference, NaN where there is none or it is not complete.
        count: (P,) responses.
    """

    facets: tuple[str, ...]
    conditions: tuple[tuple[str, ...], ...]
    n_units: int
    unit: Counts
    totals: Array
    reference: Array
    count: Counts

    def values(self, facet: str) -> tuple[str, ...]:
        """Values that a facet takes, in natural order."""
        at = self.facets.index(facet)
        return tuple(sorted({condition[at] for condition in self.conditions}, key=natural))


@dataclass(frozen=True, slots=True)
class Repeats:
    """Verdicts on one item (a criterion of a response under one condition) over occasions, and how often each row occurs.

    Attributes:
        n_units: U.
        n_occasions: occasions that the data hold.
        unit: (P,) unit of resampling.
        n: (P,) scored repeats.
        same: (P,) sum over labels of the squared number of repeats with it.
        last: (P,) repeats with the last label, the positive one of two.
        count: (P,) items.
    """

    n_units: int
    n_occasions: int
    unit: Counts
    n: Counts
    same: Counts
    last: Counts
    count: Counts


def split_condition(text: str, n_facets: int) -> tuple[str, ...] | None:
    """The values that make a condition; None where the source lacks one of the facets' columns.

    >>> split_condition("a||b | 2", 2)
    ('a|b', '2')
    """
    parts = [text] if n_facets == 1 else [part.replace("||", "|") for part in text.split(" | ")]
    return tuple(parts) if len(parts) == n_facets else None


def facet_roles(table: VerdictTable) -> tuple[str, ...]:
    """Roles of the columns that make a condition, in the order in which its values stand."""
    return tuple(role for role in FACETS if getattr(table.reading.spec, role))


def _conditions(table: VerdictTable, rater: int) -> tuple[list[str], list[tuple[str, ...]]] | None:
    """Texts and values of the conditions, in natural order of the values; None where there are none to compare."""
    roles = facet_roles(table)
    if not roles:
        return None
    found = table.engine.rows(f"SELECT DISTINCT condition FROM {table.rated} WHERE rater = ?", [rater])
    split = [(str(text), split_condition(str(text), len(roles))) for (text,) in found]
    named = sorted(
        ((values, text) for text, values in split if values is not None),
        key=lambda pair: [natural(value) for value in pair[0]],
    )
    if not 1 < len(split) <= MOST_CONDITIONS or len(named) < len(split):
        return None
    return [text for _, text in named], [values for values, _ in named]


def tally_conditions(table: VerdictTable, rater: int) -> ConditionTotals | None:
    """Put one judge's totals of every response side by side; None with one condition, or with labels without an order."""
    conditions = _conditions(table, rater)
    if conditions is None or table.scale.kind in ("nominal", "pairwise"):
        return None
    texts, values = conditions
    numbers = table.engine.table(
        "conditions", {"condition": "VARCHAR", "number": "INTEGER"}, [(text, at) for at, text in enumerate(texts)]
    )
    totals, factor = _totals_of_masks(table) if table.scale.kind == "binary" else _totals_of_marks(table)
    names = [f"c{at}" for at in range(len(texts))]
    pivot = ", ".join(f"max(CASE WHEN number = {at} THEN judge END) AS {name}" for at, name in enumerate(names))
    whole = ", ".join(f"CASE WHEN n_criteria = n_most THEN {side} END AS {side}" for side in ("judge", "reference"))
    rows = table.engine.connection.execute(
        f"SELECT unit, {', '.join(names)}, reference, count(*) AS n FROM (SELECT min(unit) AS unit, {pivot}, max(reference) AS reference "
        f"FROM (SELECT response, unit, condition, {whole} FROM (SELECT *, max(n_criteria) OVER (PARTITION BY response) AS n_most "
        f"FROM ({totals}) WHERE rater = ?)) JOIN {numbers} USING (condition) GROUP BY response) GROUP BY ALL ORDER BY ALL",
        [rater],
    ).fetchnumpy()
    return ConditionTotals(
        facets=facet_roles(table),
        conditions=tuple(values),
        n_units=len(table.units.names),
        unit=_whole(rows["unit"]),
        totals=np.stack([_floats(rows[name]) for name in names], axis=1) / factor,
        reference=_floats(rows["reference"]) / factor,
        count=_whole(rows["n"]),
    )


def whole_totals(table: VerdictTable) -> tuple[str, int]:
    """Totals as SQL, and what they are multiplied by.

    One row a (rater, response, condition): unit, judge and reference, null where that side does not score every criterion
    that the response has under any condition.
    """
    totals, factor = _totals_of_masks(table) if table.scale.kind == "binary" else _totals_of_marks(table)
    whole = ", ".join(f"CASE WHEN n_criteria = n_most THEN {side} END AS {side}" for side in ("judge", "reference"))
    most = "max(n_criteria) OVER (PARTITION BY response) AS n_most"
    return f"SELECT rater, response, condition, unit, {whole} FROM (SELECT *, {most} FROM ({totals}))", factor


def _whole(column: NDArray[np.generic]) -> Counts:
    return np.ascontiguousarray(column, dtype=np.int64)


def _floats(column: NDArray[np.generic]) -> Array:
    """A column as numbers, NaN where it is null."""
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)


def _totals_of_masks(table: VerdictTable) -> tuple[str, int]:
    """Totals of binary verdicts as SQL: one row a rated response, null where not every criterion is scored."""
    words = range(table.n_words)

    def total(scored: str, met: str) -> str:
        whole = " AND ".join(f"{scored}_{word} = present_{word}" for word in words)
        return f"CASE WHEN {whole} THEN ({' + '.join(f'bit_count({met}_{word})' for word in words)})::INTEGER END"

    sides = f"{total('judged', 'judge')} AS judge, {total('referred', 'reference')} AS reference"
    return f"SELECT rater, response, unit, condition, n AS n_criteria, {sides} FROM {table.rated}", 1


def _totals_of_marks(table: VerdictTable) -> tuple[str, int]:
    """Totals of marks as SQL, in whole numbers of the last decimal where they have few, and the factor."""
    factor = _factor(table.scale)
    values = level_values(table.scale)[0] * factor
    is_whole = bool((np.rint(values) == values).all() or factor > 1)
    kind = "BIGINT" if is_whole else "DOUBLE"
    listed = [(code, round(float(value)) if is_whole else float(value)) for code, value in enumerate(values)]
    marks = table.engine.table("marks", {"code": "INTEGER", "value": kind}, listed)
    inner = (
        f"SELECT t.rater, t.response, t.condition, t.unit, t.criterion, j.value AS judge, r.value AS reference FROM {table.relation} t "
        f"LEFT JOIN {marks} j ON j.code = t.judge LEFT JOIN {marks} r ON r.code = t.reference"
    )
    sums = ", ".join(
        f"CASE WHEN count({side}) = count(*) THEN sum({side} ORDER BY criterion) END AS {side}"
        for side in ("judge", "reference")
    )
    grouped = (
        f"SELECT rater, response, condition, min(unit) AS unit, count(*) AS n_criteria, {sums} FROM ({inner}) "
        "GROUP BY rater, response, condition"
    )
    return grouped, factor


def _factor(scale: Scale) -> int:
    return whole_factor(scale.levels) if level_values(scale)[1] else 1


def tally_repeats(table: VerdictTable, rater: int) -> Repeats | None:
    """Count one judge's labels on every item over occasions; None without a column of occasions, or of continuous marks."""
    roles = facet_roles(table)
    conditions = _conditions(table, rater)
    if conditions is None or OCCASION not in roles or table.scale.kind == "continuous":
        return None
    texts, values = conditions
    at = roles.index(OCCASION)
    occasions = {one[at] for one in values}
    if len(occasions) < 2:
        return None
    others: Sequence[tuple[str, ...]] = [(*one[:at], *one[at + 1 :]) for one in values]
    kinds = list(dict.fromkeys(others))
    numbered = table.engine.table(
        "others",
        {"condition": "VARCHAR", "rest": "INTEGER"},
        [(text, kinds.index(other)) for text, other in zip(texts, others, strict=True)],
    )
    q = table.scale.size
    found = table.engine.integers(
        f"SELECT unit, n, same, last, count(*) AS items FROM (SELECT min(unit) AS unit, sum(times)::BIGINT AS n, "
        f"sum(times * times)::BIGINT AS same, sum(CASE WHEN judge = {q - 1} THEN times ELSE 0 END)::BIGINT AS last FROM ("
        f"SELECT response, criterion, rest, judge, min(unit) AS unit, count(*) AS times FROM {table.relation} "
        f"JOIN {numbered} USING (condition) WHERE rater = ? AND judge < {q} GROUP BY response, criterion, rest, judge"
        ") GROUP BY response, criterion, rest) GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    return Repeats(
        len(table.units.names), len(occasions), found["unit"], found["n"], found["same"], found["last"], found["items"]
    )
