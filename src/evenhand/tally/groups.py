"""Paired verdicts of one judge by groups of people: an axis is a column that says a response's group."""

from dataclasses import dataclass

import numpy as np

from evenhand.errors import RequestError, printable
from evenhand.stats.arrays import Array, Counts
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import VerdictTable

MOST_GROUPS = 50
"""Groups of one axis that are held apart."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Distinct pairs of totals of responses that are scored throughout on both sides, by group and unit.

    Attributes:
        group, unit, reference, judge, count: (m,) group, unit of resampling, criteria met on either side, responses.
        weight: (m,) the number of responses, or the sum of their design weights.
    """

    group: Counts
    unit: Counts
    reference: Counts
    judge: Counts
    count: Counts
    weight: Array


@dataclass(frozen=True, slots=True)
class ResponseGroups:
    """One axis for responses in an order of their own.

    Attributes:
        axis: the column.
        names: (H,) groups in natural order.
        group: (n,) position of each response's group, -1 where it is not known.
    """

    axis: str
    names: tuple[str, ...]
    group: Counts


@dataclass(frozen=True, slots=True)
class Groups:
    """One axis.

    Attributes:
        axis: the column.
        names: (H,) groups in natural order.
        n_units: U.
        group, unit, reference, judge, count: (n,) group, unit of resampling, label codes and number of paired verdicts.
        weight: (n,) the number of paired verdicts, or the sum of their design weights.
        n_without: paired verdicts whose group is not known.
        totals: of responses, where several binary criteria make one.
    """

    axis: str
    names: tuple[str, ...]
    n_units: int
    group: Counts
    unit: Counts
    reference: Counts
    judge: Counts
    count: Counts
    weight: Array
    n_without: int
    totals: Totals | None = None


def tally_groups(table: VerdictTable, rater: int) -> tuple[Groups, ...]:
    """Count one judge's paired verdicts by every axis that the spec names; without a reference there are none.

    Raises:
        MappingError: a column that no file with the response id has.
        KeyClashError: a response in two groups of one axis.
        RequestError: an axis named twice, or of more groups than are held apart.
    """
    axes = table.reading.spec.group
    if len(set(axes)) < len(axes):
        raise RequestError(f"--group {printable(', '.join(axes))}: each axis is one column, named once")
    return tuple(_axis(table, rater, axis) for axis in axes)


def weighted_groups(table: VerdictTable, rater: int, groups: Groups, weights: str, power: int) -> Groups:
    """The same axis with verdicts counted by their design weight to that power, too.

    Args:
        table, rater: whose verdicts.
        groups: the axis as counted.
        weights: relation of (response, weight).
        power: of the weight.
    """
    return _counted(table, rater, groups.axis, groups.names, weights, power) if table.reading.has_reference else groups


def groups_of_responses(table: VerdictTable, rows: str) -> tuple[ResponseGroups, ...]:
    """Every axis for the responses of a relation (response, row).

    Raises:
        MappingError, KeyClashError, RequestError: as in `tally_groups`.
    """
    found = []
    for axis in table.reading.spec.group:
        names = _names(table, axis)
        grouped = _response_groups(table, axis, names)
        column = table.engine.integers(
            f"SELECT coalesce(g.grp, -1) AS grp FROM {rows} r LEFT JOIN {grouped} g ON g.response = r.response ORDER BY r.row"
        )
        found.append(ResponseGroups(axis, names, column["grp"]))
    return tuple(found)


def _axis(table: VerdictTable, rater: int, axis: str) -> Groups:
    names = _names(table, axis)
    if table.reading.has_reference:
        return _counted(table, rater, axis, names)
    none = np.zeros(0, dtype=np.int64)
    return Groups(axis, names, len(table.units.names), none, none, none, none, none, np.zeros(0), 0)


def _names(table: VerdictTable, axis: str) -> tuple[str, ...]:
    """Groups of an axis in natural order."""
    values = attribute(table.reading, axis, "--group")
    names = sorted({str(name) for (name,) in table.engine.rows(f"SELECT DISTINCT value FROM {values}")}, key=natural)
    if len(names) > MOST_GROUPS:
        raise RequestError(
            f'--group "{printable(axis)}": {len(names):,} groups; at most {MOST_GROUPS} are held apart: name a column of '
            "groups, or put the small ones together"
        )
    return tuple(names)


def _counted(
    table: VerdictTable, rater: int, axis: str, names: tuple[str, ...], weights: str = "", power: int = 0
) -> Groups:
    grouped, q = _response_groups(table, axis, names), table.scale.size
    where = f"s.rater = {rater} AND s.judge < {q} AND s.reference < {q}"
    weight = f"w.weight FROM {weights} w JOIN" if weights else "1.0::DOUBLE AS weight FROM"
    on = "ON s.response = w.response" if weights else ""
    found = table.engine.connection.execute(
        f"SELECT g.grp, s.unit, s.reference, s.judge, count(*) AS n, {weight} {table.relation} s {on} "
        f"JOIN {grouped} g ON g.response = s.response WHERE {where} GROUP BY ALL ORDER BY ALL"
    ).fetchnumpy()
    (paired,) = table.engine.one(f"SELECT count(*) FROM {table.relation} s WHERE {where}")
    group, unit, reference, judge, count = (
        np.ascontiguousarray(found[name], dtype=np.int64) for name in ("grp", "unit", "reference", "judge", "n")
    )
    weight_sums = np.asarray(found["weight"], dtype=np.float64) ** power * count
    lost = int(paired - count.sum())
    totals = _totals(table, rater, grouped, weights, power) if table.scale.kind == "binary" else None
    return Groups(axis, names, len(table.units.names), group, unit, reference, judge, count, weight_sums, lost, totals)


def _totals(table: VerdictTable, rater: int, grouped: str, weights: str, power: int) -> Totals | None:
    """Totals of complete responses by group; None where a response has one criterion."""
    if len(table.reading.criteria) < 2:
        return None
    sides = {
        side: " + ".join(f"bit_count(t.{side}_{word})::INTEGER" for word in range(table.n_words))
        for side in ("reference", "judge")
    }
    weight = f"w.weight FROM {weights} w JOIN" if weights else "1.0::DOUBLE AS weight FROM"
    on = "ON t.response = w.response" if weights else ""
    found = table.engine.connection.execute(
        f"SELECT g.grp, t.unit, {sides['reference']} AS reference, {sides['judge']} AS judge, count(*) AS n, {weight} {table.rated} t {on} "
        f"JOIN {grouped} g ON g.response = t.response WHERE t.rater = {rater} AND t.n_paired = t.n GROUP BY ALL ORDER BY ALL"
    ).fetchnumpy()
    group, unit, reference, judge, count = (
        np.ascontiguousarray(found[name], dtype=np.int64) for name in ("grp", "unit", "reference", "judge", "n")
    )
    return Totals(group, unit, reference, judge, count, np.asarray(found["weight"], dtype=np.float64) ** power * count)


def _response_groups(table: VerdictTable, axis: str, names: tuple[str, ...]) -> str:
    """A new relation (response, grp) of the positions of responses' groups among these names."""
    values, name = attribute(table.reading, axis, "--group"), table.engine.name("grouped")
    codes = table.engine.table(
        "groups", {"name": "VARCHAR", "code": "INTEGER"}, [(name, at) for at, name in enumerate(names)]
    )
    table.engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT v.response, c.code AS grp FROM {values} v JOIN {codes} c ON c.name = v.value"
    )
    return name
