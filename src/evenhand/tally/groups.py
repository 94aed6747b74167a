"""Paired verdicts of one judge by groups of people: an axis is a column that says a response's group."""

from dataclasses import dataclass

import numpy as np

from evenhand.errors import RequestError, printable
from evenhand.stats.arrays import Counts
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import VerdictTable

MOST_GROUPS = 50
"""Groups of one axis that are held apart."""


@dataclass(frozen=True, slots=True)
class Groups:
    """One axis.

    Attributes:
        axis: the column.
        names: (H,) groups in natural order.
        n_units: U.
        group, unit, reference, judge, count: (n,) group, unit of resampling, label codes and number of paired verdicts.
        n_without: paired verdicts whose group is not known.
    """

    axis: str
    names: tuple[str, ...]
    n_units: int
    group: Counts
    unit: Counts
    reference: Counts
    judge: Counts
    count: Counts
    n_without: int


def tally_groups(table: VerdictTable, rater: int) -> tuple[Groups, ...]:
    """Count one judge's paired verdicts by every axis that the spec names, where there is a reference.

    Raises:
        MappingError: a column that no file with the response id has.
        KeyClashError: a response in two groups of one axis.
        RequestError: an axis named twice, or of more groups than are held apart.
    """
    axes = table.reading.spec.group
    if len(set(axes)) < len(axes):
        raise RequestError(f"--group {printable(', '.join(axes))}: each axis is one column, named once")
    return tuple(_axis(table, rater, axis) for axis in axes) if table.reading.has_reference else ()


def _axis(table: VerdictTable, rater: int, axis: str) -> Groups:
    values, q = attribute(table.reading, axis, "--group"), table.scale.size
    where = f"s.rater = {rater} AND s.judge < {q} AND s.reference < {q}"
    names = sorted({str(name) for (name,) in table.engine.rows(f"SELECT DISTINCT value FROM {values}")}, key=natural)
    if len(names) > MOST_GROUPS:
        raise RequestError(
            f'--group "{printable(axis)}": {len(names):,} groups; at most {MOST_GROUPS} are held apart: name a column of '
            "groups, or put the small ones together"
        )
    codes = table.engine.table(
        "groups", {"name": "VARCHAR", "code": "INTEGER"}, [(name, at) for at, name in enumerate(names)]
    )
    found = table.engine.integers(
        f"SELECT c.code AS grp, s.unit, s.reference, s.judge, count(*) AS n FROM {table.relation} s "
        f"JOIN {values} v ON v.response = s.response JOIN {codes} c ON c.name = v.value WHERE {where} "
        "GROUP BY ALL ORDER BY ALL"
    )
    (paired,) = table.engine.one(f"SELECT count(*) FROM {table.relation} s WHERE {where}")
    group, unit, reference, judge, count = (
        np.asarray(found[name]) for name in ("grp", "unit", "reference", "judge", "n")
    )
    lost = int(paired - count.sum())
    return Groups(axis, tuple(names), len(table.units.names), group, unit, reference, judge, count, lost)
