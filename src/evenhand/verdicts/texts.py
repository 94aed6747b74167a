"""Texts of responses and criteria, fetched for single slots and only when the user asked for them.

A ``--text`` column holds the response's text; one with ``{criterion}`` in its name holds the criterion's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.errors import MappingError, printable
from evenhand.verdicts.layout import CRITERION, expand
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.sides import response_key
from evenhand.verdicts.sources import Source

LONGEST = 2_000
"""Characters of one text that are kept."""


@dataclass(frozen=True, slots=True)
class SlotTexts:
    """Texts behind one slot; empty where there is none."""

    response: str
    criterion: str


def fetch_texts(reading: Reading, slots: Sequence[tuple[str, int]]) -> list[SlotTexts]:
    """Texts of slots.

    Args:
        reading: whose spec names the text columns.
        slots: (response id, criterion position) pairs.

    Returns:
        One entry a slot, in order.

    Raises:
        MappingError: a text column that no source has.
    """
    spec = reading.spec
    responses = _by_response(reading, [name for name in spec.text if CRITERION not in name], [one for one, _ in slots])
    criteria: dict[tuple[str, int], str] = {}
    for pattern in (name for name in spec.text if CRITERION in name):
        for position in sorted({position for _, position in slots}):
            column = _column_of(reading, pattern, reading.criteria[position])
            ids = [one for one, at in slots if at == position]
            criteria |= {(one, position): text for one, text in _by_response(reading, [column], ids).items()}
    return [SlotTexts(responses.get(one, ""), criteria.get((one, position), "")) for one, position in slots]


def _column_of(reading: Reading, pattern: str, criterion: str) -> str:
    for source in reading.sources:
        found = expand(pattern, source.columns)
        if criterion in found:
            return found[criterion]
    raise MappingError(f'no column fits --text "{printable(pattern)}" for criterion "{printable(criterion)}"')


def _by_response(reading: Reading, columns: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Response id → text, several columns joined by a blank line, cut at LONGEST."""
    texts: dict[str, str] = {}
    for column in columns:
        source = _source_of(reading, column)
        key = response_key(source, reading.spec.response, reading.spec)
        ids = reading.engine.table("wanted", {"id": "VARCHAR"}, [[one] for one in sorted(set(wanted))])
        found = reading.engine.rows(
            f"SELECT k.id, left(min(k.text), {LONGEST}) FROM (SELECT {key} AS id, {source.column(column, '--text')} AS text "
            f"FROM {source.relation}) k JOIN {ids} USING (id) GROUP BY 1"
        )
        for one, text in found:
            texts[one] = f"{texts[one]}\n\n{text}" if one in texts else text
    return texts


def _source_of(reading: Reading, column: str) -> Source:
    for source in reading.sources:
        if column in source.columns and all(name in source.columns for name in reading.spec.response):
            return source
    reading.sources[0].column(column, "--text")
    raise MappingError(f'column "{printable(column)}" (--text) stands in no file that has the response id')
