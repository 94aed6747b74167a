"""What became of one judge's verdict slots, scored or which status, by the value of each facet of the conditions."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, binned
from evenhand.tally.cells import N_STATES
from evenhand.verdicts.order import natural
from evenhand.verdicts.sides import split_condition
from evenhand.verdicts.spec import FACETS
from evenhand.verdicts.table import VerdictTable

MOST_VALUES = 30
"""Values of a facet up to which rates are given for each."""
BLANK = "(blank)"
"""Name of a value that is blank."""
MOST_CONDITIONS = 10_000
"""Combinations of facets beyond which none is looked at."""


@dataclass(frozen=True, slots=True)
class ConditionStates:
    """(facet, value) → (U, S) slots in each state of the judge, scored first; ``n_clusters`` those behind each."""

    states: Mapping[tuple[str, str], Array]
    n_clusters: Mapping[tuple[str, str], int]


def tally_condition_states(table: VerdictTable, rater: int) -> ConditionStates | None:
    """Count one judge's slots by facet and state; None where nothing varies."""
    roles = [role for role in FACETS if getattr(table.reading.spec, role)]
    conditions = [str(text) for (text,) in table.engine.rows(
        f"SELECT DISTINCT condition FROM {table.rated} WHERE rater = ? LIMIT {MOST_CONDITIONS + 1}", [rater]
    )]  # fmt: skip
    if not roles or not 1 < len(conditions) <= MOST_CONDITIONS:
        return None
    parts = {text: split_condition(text, len(roles)) for text in conditions}
    numbers = {text: number for number, text in enumerate(conditions)}
    coded = table.engine.table("conditions", {"name": "VARCHAR", "number": "INTEGER"}, numbers.items())
    state = f"greatest(judge - {table.scale.size - 1}, 0)"
    found = table.engine.integers(
        f"SELECT c.number AS condition, unit, {state} AS state, count(*) AS n FROM {table.relation} v "
        f"JOIN {coded} c ON c.name = v.condition WHERE rater = ? GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    states: dict[tuple[str, str], Array] = {}
    clusters: dict[tuple[str, str], int] = {}
    n_units = len(table.units.names)
    for at, role in enumerate(roles):
        values = sorted({one[at] for one in parts.values()}, key=natural)
        if not 1 < len(values) <= MOST_VALUES:
            continue
        for value in values:
            chosen = [numbers[text] for text in conditions if parts[text][at] == value]
            here = np.isin(found["condition"], chosen)
            code = found["unit"][here] * N_STATES + found["state"][here]
            name = value or BLANK
            states[role, name] = binned(code, found["n"][here], (n_units, N_STATES))
            listed = ", ".join(str(number) for number in chosen)
            (clusters[role, name],) = table.engine.one(
                f"SELECT count(DISTINCT cluster) FROM {table.relation} v JOIN {coded} c ON c.name = v.condition "
                f"WHERE rater = ? AND c.number IN ({listed})",
                [rater],
            )
    return ConditionStates(states, clusters) if states else None
