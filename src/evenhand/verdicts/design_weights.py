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
_OF_ROWS = ("clopper_pearson", "wilson", "cr2_t")
"""Interval methods that count every verdict alike."""


def design_weights(reading: Reading) -> str:
    """A new relation (response, weight) of ``--weight``, one row a response of the reading, weights of mean 1 over them.

    Raises:
        RequestError: a reading whose rows are no responses, or an interval that counts every verdict alike.
        MappingError: no file with the response id has the column; a weight that is no number above 0; a response without one.
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
        selects.append(f"SELECT {key} AS response, try_cast(trim({text}) AS DOUBLE) AS weight FROM {source.relation}")
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


def _check(reading: Reading, source: Source, column: str, text: str) -> None:
    """Refuse a cell that is neither blank nor a finite number above 0."""
    number = f"try_cast(trim({text}) AS DOUBLE)"
    test = f"trim({text}) <> '' AND ({number} IS NULL OR NOT isfinite({number}) OR {number} <= 0)"
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
