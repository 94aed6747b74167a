"""One judge's verdicts apart by wording, model, setting and occasion: how often each pair of labels occurs under each."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.tally.cells import Cells
from evenhand.tally.condition_states import BLANK, MOST_CONDITIONS, MOST_VALUES
from evenhand.tally.conditions import split_condition
from evenhand.verdicts.order import natural
from evenhand.verdicts.spec import FACETS
from evenhand.verdicts.table import VerdictTable

APART = ("phrasing", "model", "setting", "occasion")
"""Facets by whose values agreement is given; arms and orders are contrasts of their own."""


@dataclass(frozen=True, slots=True)
class Wordings:
    """(facet, value) → cells of the verdicts under that value, criteria pooled (position 0); values in natural order."""

    cells: Mapping[tuple[str, str], Cells]


def tally_wordings(table: VerdictTable, rater: int) -> Wordings | None:
    """Count one judge's slots by the values of each facet of which there are two or more; None where nothing varies."""
    roles = [role for role in FACETS if getattr(table.reading.spec, role)]
    if not set(roles) & set(APART):
        return None
    found = table.engine.rows(
        f"SELECT DISTINCT condition FROM {table.rated} WHERE rater = ? LIMIT {MOST_CONDITIONS + 1}", [rater]
    )
    conditions = [str(text) for (text,) in found]
    if not 1 < len(conditions) <= MOST_CONDITIONS:
        return None
    split = [split_condition(text, len(roles)) for text in conditions]
    parts = [one for one in split if one is not None]
    if len(parts) < len(split):  # a source without one of the columns: its verdicts have no value to stand under
        return None
    coded = table.engine.table(
        "conditions", {"name": "VARCHAR", "number": "INTEGER"}, [(text, at) for at, text in enumerate(conditions)]
    )
    counted = table.engine.integers(
        f"SELECT c.number AS condition, v.unit, v.reference, v.judge, count(*) AS n FROM {table.relation} v "
        f"JOIN {coded} c ON c.name = v.condition WHERE v.rater = ? GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    cells: dict[tuple[str, str], Cells] = {}
    for place, role in enumerate(roles):
        values = sorted({one[place] for one in parts}, key=natural)
        if role not in APART or not 1 < len(values) <= MOST_VALUES:
            continue
        for value in values:
            here = np.isin(counted["condition"], [at for at, one in enumerate(parts) if one[place] == value])
            unit, reference, judge, n = (
                np.asarray(counted[name])[here] for name in ("unit", "reference", "judge", "n")
            )
            pooled = np.zeros(len(unit), dtype=np.int64)
            cells[role, value or BLANK] = Cells(
                len(table.units.names), 1, table.scale.size, unit, pooled, reference, judge, n
            )  # fmt: skip
    return Wordings(cells) if cells else None
