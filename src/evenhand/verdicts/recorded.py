"""What data record of the circumstances of their verdicts: the values of every facet, by name."""

from collections.abc import Iterator

from evenhand.verdicts.reading import Reading
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import FACETS

MOST_VALUES = 50
"""Values of a facet that are listed, the commonest first."""


def conditions(reading: Reading) -> dict[str, int]:
    """How many values each facet takes, blanks left out."""
    found = {}
    for facet, source, column in _facets(reading):
        if facet not in reading.constant:
            counted = f"count(DISTINCT nullif({source.column(column, facet)}, ''))"
            found[facet] = int(reading.engine.one(f"SELECT {counted} FROM {source.relation}")[0])
    return found


def recorded_values(reading: Reading) -> dict[str, tuple[tuple[str, int], ...]]:
    """Values of each facet and how many rows have them, also of one that is the same in every row and so no condition."""
    found = {}
    for facet, source, column in _facets(reading):
        rows = reading.engine.rows(
            f"SELECT {source.column(column, facet)} AS value, count(*) FROM {source.relation} WHERE value <> '' "
            f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_VALUES}"
        )
        found[facet] = tuple((str(value), int(count)) for value, count in rows)
    return {facet: values for facet, values in found.items() if values}


def _facets(reading: Reading) -> Iterator[tuple[str, Source, str]]:
    """Facets of the data with the source and column that hold them."""
    for facet in FACETS:
        column = getattr(reading.spec, facet) or reading.constant.get(facet)
        source = next((one for one in reading.sources if column in one.columns), None)
        if column is not None and source is not None:
            yield facet, source, column
