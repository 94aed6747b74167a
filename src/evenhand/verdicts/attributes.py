"""What a column says of each response beside its verdicts: a second cluster, a length, an author."""

from evenhand.errors import KeyClashError, MappingError, printable
from evenhand.verdicts.cleaning import id_text
from evenhand.verdicts.layout import CRITERION
from evenhand.verdicts.reading import Reading, rows_with
from evenhand.verdicts.sides import response_key
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec


def attribute(reading: Reading, column: str, option: str) -> str:
    """A new relation (response, value) of a column, one row a response of the sources that has a value.

    Args:
        reading: of the sources.
        column: that a source holds beside the response id.
        option: that named it, for messages.

    Raises:
        MappingError: no source has the column, or none that has it has the response id, too.
        KeyClashError: a response with two different values.
    """
    engine, spec, name = reading.engine, reading.spec, reading.engine.name("attribute")
    found = [_select(reading, source, column, option) for source in holding(reading, column, option)]
    engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT response, min(value) AS value, max(value) AS other FROM ({' UNION ALL '.join(found)}) "
        "WHERE trim(value) <> '' GROUP BY response"
    )
    torn = engine.rows(f"SELECT response, value, other FROM {name} WHERE value <> other ORDER BY 1 LIMIT 3")
    if torn:
        said = "; ".join(
            f'"{printable(response)}" has "{printable(one)}" and "{printable(other)}"{rows_of(reading, column, response)}'
            for response, one, other in torn
        )
        more = f"; {option} takes one column that says one thing of a response" if len(spec.response) == 1 else ""
        raise KeyClashError(f'column "{printable(column)}" says two things of one response: {said}{more}')
    return name


def length_columns(spec: Spec) -> tuple[str, ...]:
    """The columns that say how long a response is: those named, else the one text of a response."""
    texts = tuple(name for name in spec.text if CRITERION not in name)
    return spec.length or (texts if len(texts) == 1 and spec.scale != "pairwise" else ())


def holding(reading: Reading, column: str, option: str) -> list[Source]:
    """The sources that have the column beside the response id.

    Raises:
        MappingError: none has.
    """
    with_id = [
        one for one in reading.sources if column in one.columns and set(reading.spec.response) <= set(one.columns)
    ]
    if not with_id:
        if not any(column in one.columns for one in reading.sources):
            reading.sources[0].column(column, option)
        raise MappingError(f'column "{printable(column)}" ({option}) stands in no file that has the response id')
    return with_id


def _select(reading: Reading, source: Source, column: str, option: str) -> str:
    key = response_key(source, reading.spec.response, reading.spec)
    value = id_text(source.column(column, option), reading.spec)
    return f"SELECT {key} AS response, {value} AS value FROM {source.relation}"


def rows_of(reading: Reading, column: str, response: str) -> str:
    """The source rows of a response, where its id is one column."""
    if len(reading.spec.response) > 1:
        return ""
    said = []
    for source in reading.sources:
        if column in source.columns and reading.spec.response[0] in source.columns:
            test = f"{response_key(source, reading.spec.response, reading.spec)} = ?"
            said.append(rows_with(reading.engine, source, test, [response]))
    found = "; ".join(filter(None, said))
    return f" ({found})" if found else ""
