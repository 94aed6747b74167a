"""Design weights: how many responses of the population each sampled response stands for, from one column."""

from evenhand.errors import KeyClashError, MappingError, RequestError, printable
from evenhand.verdicts.attributes import holding, rows_of
from evenhand.verdicts.cleaning import label_text
from evenhand.verdicts.reading import Reading, rows_with
from evenhand.verdicts.sides import response_key
from evenhand.verdicts.sources import Source

OPTION = "--weight"
_WAY_OUT = (
    "a design weight is 1 / (chance of being sampled), above 0; leave a response that was not sampled out of the file"
)
_PLAIN = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_LEAST, _MOST = 1e-15, 1e15
"""Beyond them no chance of being sampled lies, and squares of weights would leave double precision."""
_OF_ROWS = ("clopper_pearson", "wilson", "cr2_t")
"""Interval methods that count every verdict alike."""


def design_weights(reading: Reading) -> str:
    """A new relation (response, weight) of ``--weight``, one row a response of the reading, weights of mean 1 over them.

    Raises:
        RequestError: a reading whose rows are no responses, or an interval that counts every verdict alike.
        MappingError: no file with the response id has the column; a weight that is no number from 1e-15 to 1e15; a response without one.
        KeyClashError: two weights of one response.
    """
    column, spec, engine = reading.spec.weight or "", reading.spec, reading.engine
    if spec.count or spec.items:
        other = "--count" if spec.count else "--items"
        raise RequestError(
            f"{OPTION} weighs responses, and with {other} a row is none: give a file of one row a response"
        )
    if spec.interval in _OF_ROWS:
        raise RequestError(
            f"--interval {spec.interval} counts every verdict alike, which design weights rule out: leave it at the default, or take "
            "jackknife_t, percentile or korn_graubard"
        )
    selects = []
    for source in holding(reading, column, OPTION):
        text = label_text(source.column(column, OPTION), spec)
        _check(reading, source, column, text)
        key = response_key(source, spec.response, spec)
        selects.append(f"SELECT {key} AS response, {_number(text)} AS weight FROM {source.relation}")
    found = engine.name("weights")
    engine.run(
        f"CREATE TEMP TABLE {found} AS SELECT response, min(weight) AS weight, max(weight) AS other FROM ({' UNION ALL '.join(selects)}) "
        f"WHERE weight IS NOT NULL AND response IN (SELECT response FROM {reading.relation}) GROUP BY response"
    )
    _check_responses(reading, found, column)
    scaled = engine.name("weights")
    (mean,) = engine.one(f"SELECT fsum(weight ORDER BY weight) / count(*) FROM {found}")
    engine.run(
        f"CREATE TEMP TABLE {scaled} AS SELECT response, weight / {mean!r}::DOUBLE AS weight, weight AS given FROM {found}"
    )
    return scaled


def _number(text: str) -> str:
    """A cell as a number, NULL where it is none: the engine alone would read 1_000 and 0x10, too."""
    return f"CASE WHEN regexp_full_match(trim({text}), '{_PLAIN}') THEN try_cast(trim({text}) AS DOUBLE) END"


def _check(reading: Reading, source: Source, column: str, text: str) -> None:
    """Refuse a cell that is neither blank nor a number that can be a weight."""
    number = _number(text)
    test = f"trim({text}) <> '' AND ({number} IS NULL OR {number} NOT BETWEEN {_LEAST!r} AND {_MOST!r})"
    if place := rows_with(reading.engine, source, test, limit=1):
        bad = reading.engine.one(f"SELECT trim({text}) FROM {source.relation} WHERE {test} LIMIT 1")[0]
        raise MappingError(f'{OPTION}: {place} column "{printable(column)}" holds "{printable(str(bad))}": {_WAY_OUT}')


def _check_responses(reading: Reading, found: str, column: str) -> None:
    """Refuse a response with two weights, or with none."""
    torn = reading.engine.rows(f"SELECT response, weight, other FROM {found} WHERE weight <> other ORDER BY 1 LIMIT 3")
    if torn:
        said = "; ".join(
            f'"{printable(str(response))}" has {one:g} and {other:g}{rows_of(reading, column, str(response))}'
            for response, one, other in torn
        )
        raise KeyClashError(
            f'{OPTION} "{printable(column)}": two weights of one response: {said}; a response has one design weight'
        )
    lost = reading.engine.rows(
        f"SELECT response, count(*) OVER () FROM (SELECT DISTINCT response FROM {reading.relation}) ANTI JOIN {found} USING (response) "
        "ORDER BY 1 LIMIT 3"
    )
    if lost:
        said = "; ".join(f'"{printable(str(one))}"{rows_of(reading, column, str(one))}' for one, _ in lost)
        raise MappingError(
            f'{OPTION} "{printable(column)}": {lost[0][1]:,} response(s) have no weight: {said}; give each its weight, or leave those '
            "that were not sampled out of the file"
        )
