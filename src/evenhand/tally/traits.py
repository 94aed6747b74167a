"""Verdicts by a trait of the response that should not matter: how long it is, and whether the judge's model wrote it.

For verdicts on pairs the trait is which of the two sides has it: the side whose wins are counted, or the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import EvenhandError, MappingError, RequestError, printable, quoted
from evenhand.stats.arrays import Counts
from evenhand.verdicts.attributes import attribute, length_columns
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.table import VerdictTable

_JOINER = " | "


@dataclass(frozen=True, slots=True)
class Traits:
    """Paired verdicts of one judge by bands of one trait.

    Attributes:
        name: length or author, as ids name it.
        n_units: U.
        groups: what the two halves are called in ids: without the trait, with it.
        bands: (n_bands,) each band in words.
        has_trait: (n_bands,) whether a band belongs to the half with the trait.
        band, unit, reference, judge, count: (n,) the band, unit of resampling, label codes and number of verdicts.
        n_without: paired verdicts of which the trait is not known, or which no half holds.
        parted: where the halves of a length part, in words.
        obstacle: why there is nothing to compare; empty where there is.
    """

    name: str
    n_units: int
    groups: tuple[str, str]
    bands: tuple[str, ...]
    has_trait: NDArray[np.bool_]
    band: Counts
    unit: Counts
    reference: Counts
    judge: Counts
    count: Counts
    n_without: int
    obstacle: str = ""
    parted: str = ""


def tally_traits(table: VerdictTable, rater: int) -> tuple[Traits, ...]:
    """Count one judge's paired verdicts by the traits that the spec names, where there is a reference.

    Raises:
        MappingError: a column that no file with the response id has.
        RequestError: one column where the two sides of pairs need two, or two where there is one response.
    """
    spec, found = table.reading.spec, []
    if table.reading.has_reference and (columns := length_columns(spec)):
        found.append(_by_length(table, rater, columns))
    if table.reading.has_reference and spec.author:
        found.append(_by_author(table, rater, spec.author))
    return tuple(found)


def _by_length(table: VerdictTable, rater: int, columns: Sequence[str]) -> Traits:
    reading, option = table.reading, "--length" if table.reading.spec.length else "--text"
    try:
        values, unit = _measured(reading, _sides(table, columns, option), option)
    except EvenhandError as problem:
        if option == "--length":
            raise
        return _nothing("length", ("shorter", "longer"), f"{problem}; or name lengths with --length")
    if table.scale.kind == "pairwise":
        first, second = _labels(table)
        pair = (f"{first} shorter than {second}", f"{first} longer than {second}")
        return _tally(table, rater, "length", ("shorter", "longer"), pair, (False, True), _compared(reading, values))
    edges = reading.engine.one(
        f"SELECT quantile_cont(value, [0.25, 0.5, 0.75]) FROM {values} "
        f"WHERE response IN (SELECT response FROM {table.rated})"
    )[0]
    if edges is None or not _varies(reading, values):
        return _nothing("length", ("shorter", "longer"), "all responses are equally long")
    q1, middle, q3 = (f"{edge:,.6g}" for edge in edges)
    bands = (f"up to {q1} {unit}", f"{q1} to {middle}", f"{middle} to {q3}", f"above {q3} {unit}")
    name = reading.engine.name("bands")
    tests = " + ".join(f"(value > {float(edge)!r})::INTEGER" for edge in edges)
    reading.engine.run(f"CREATE TEMP TABLE {name} AS SELECT response, '' AS model, {tests} AS band FROM {values}")
    found = _tally(table, rater, "length", ("shorter", "longer"), bands, (False, False, True, True), name)
    return replace(found, parted=f"{middle} {unit}")


def _by_author(table: VerdictTable, rater: int, columns: Sequence[str]) -> Traits:
    """Own and others' work: the author's name is the judge's model, or the judge's name where no column holds models."""
    reading, groups = table.reading, ("others", "own")
    sides = [attribute(reading, column, "--author") for column in _sides(table, columns, "--author")]
    judges = _judge_models(table, rater)
    own = reading.engine.table("own", {"model": "VARCHAR", "key": "VARCHAR"}, [(one, _key(one)) for one in judges])
    name, key = reading.engine.name("bands"), "lower(trim(a.value))"
    if len(sides) == 1:
        select = f"SELECT a.response, o.model, ({key} = o.key)::INTEGER AS band FROM {sides[0]} a, {own} o"
        bands = ("written by others", "written by the judge's model")
    else:
        first, second = _labels(table)
        bands = (f"{second} written by the judge's model", f"{first} written by the judge's model")
        select = (
            f"SELECT a.response, o.model, CASE WHEN {key} = o.key THEN 1 ELSE 0 END AS band FROM {sides[0]} a "
            f"JOIN {sides[1]} b USING (response), {own} o WHERE ({key} = o.key) <> (lower(trim(b.value)) = o.key)"
        )
    reading.engine.run(f"CREATE TEMP TABLE {name} AS {select}")
    (n_own,) = reading.engine.one(f"SELECT count(*) FROM {name} WHERE band = 1")
    if not n_own:
        written = reading.engine.rows(f"SELECT DISTINCT value FROM {sides[0]} ORDER BY 1 LIMIT 6")
        authors = quoted([str(author) for (author,) in written])
        said = f"no author is the judge's model: authors are {authors}, the judge is {quoted(judges)}"
        return _nothing("author", groups, f"{said}; name the column of models with --model, or the judge as its model")
    return _tally(table, rater, "author", groups, bands, (False, True), name)


def _key(model: str) -> str:
    return model.strip().casefold()


def _judge_models(table: VerdictTable, rater: int) -> tuple[str, ...]:
    """The model behind each condition of a judge: the value of the model's column, else the judge's name."""
    facets, model = table.reading.spec.facets, table.reading.spec.model
    if model is None:
        return (table.reading.raters[rater],)
    found = table.engine.rows(f"SELECT DISTINCT {_model_of(facets, model)} FROM {table.rated} s ORDER BY 1")
    return tuple(str(one) for (one,) in found)


def _model_of(facets: Sequence[str], model: str) -> str:
    """SQL text of the model in a condition."""
    if len(facets) == 1:
        return "s.condition"
    return f"replace(split_part(s.condition, '{_JOINER}', {list(facets).index(model) + 1}), '||', '|')"


def _sides(table: VerdictTable, columns: Sequence[str], option: str) -> tuple[str, ...]:
    """Columns of the side whose wins are counted and of the other, or the one column of single responses."""
    wanted = 2 if table.scale.kind == "pairwise" else 1
    if len(columns) != wanted:
        what = "verdicts on pairs need two columns, one of each side" if wanted == 2 else "a response has one column"
        example = f"{option} COL_A,COL_B" if wanted == 2 else f"{option} COL"
        raise RequestError(f"{option} {printable(','.join(columns))}: {what}; write {example}")
    if wanted == 1:
        return tuple(columns)
    ordered = sorted(_labels(table), key=str.casefold)
    return tuple(columns) if ordered[0] == _labels(table)[0] else tuple(reversed(columns))


def _labels(table: VerdictTable) -> tuple[str, str]:
    """The side whose wins are counted, and the other."""
    return table.scale.levels[-1], table.scale.levels[0]


def _measured(reading: Reading, columns: Sequence[str], option: str) -> tuple[str, str]:
    """A relation of (response, value, other): numbers as they stand, else characters; and the unit in words.

    ``value`` is the length of a response, or of the side whose wins are counted; ``other`` that of the other side.
    """
    engine, sides, name = (
        reading.engine,
        [attribute(reading, one, option) for one in columns],
        reading.engine.name("lengths"),
    )
    numbers = option == "--length" and all(
        engine.one(
            f"SELECT coalesce(bool_and(coalesce(isfinite(try_cast(value AS DOUBLE)), false)), false) FROM {side}"
        )[0]
        for side in sides
    )
    measured = "try_cast({}.value AS DOUBLE)" if numbers else "length({}.value)::DOUBLE"
    if not numbers and any(_is_mixed(reading, side) for side in sides) and option == "--length":
        raise MappingError(f"{option} {printable(', '.join(columns))} holds numbers and texts: give lengths, or texts")
    other = f", {measured.format('b')} AS other" if len(sides) > 1 else ""
    join = f" JOIN {sides[1]} b USING (response)" if len(sides) > 1 else ""
    engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT a.response, {measured.format('a')} AS value{other} FROM {sides[0]} a{join}"
    )
    return name, printable(columns[0]) if numbers else "characters"


def _is_mixed(reading: Reading, values: str) -> bool:
    """Whether most values are numbers and some are not: a column of lengths with a stray text."""
    numbers, all_ = reading.engine.one(f"SELECT count(try_cast(value AS DOUBLE)), count(*) FROM {values}")
    return bool(numbers > all_ / 2)


def _varies(reading: Reading, values: str) -> bool:
    return bool(reading.engine.one(f"SELECT count(DISTINCT value) > 1 FROM {values}")[0])


def _compared(reading: Reading, values: str) -> str:
    name = reading.engine.name("bands")
    reading.engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT response, '' AS model, (value > other)::INTEGER AS band FROM {values} WHERE value <> other"
    )
    return name


def _nothing(name: str, groups: tuple[str, str], obstacle: str) -> Traits:
    none = np.zeros(0, dtype=np.int64)
    return Traits(name, 0, groups, (), np.zeros(0, dtype=np.bool_), none, none, none, none, none, 0, obstacle)


def _tally(
    table: VerdictTable,
    rater: int,
    name: str,
    groups: tuple[str, str],
    bands: tuple[str, ...],
    has_trait: tuple[bool, ...],
    relation: str,
) -> Traits:
    """Count paired verdicts by band.

    Args:
        table, rater: whose verdicts.
        name, groups, bands, has_trait: as in ``Traits``.
        relation: (response, model, band), the model being "" where it does not matter.
    """
    spec, q = table.reading.spec, table.scale.size
    model = _model_of(spec.facets, spec.model) if spec.model and name == "author" else "b.model"
    where = f"s.rater = {rater} AND s.judge < {q} AND s.reference < {q}"
    found = table.engine.integers(
        f"SELECT b.band, s.unit, s.reference, s.judge, count(*) AS n FROM {table.relation} s JOIN {relation} b "
        f"ON b.response = s.response AND b.model = {model} WHERE {where} GROUP BY ALL ORDER BY ALL"
    )
    (paired,) = table.engine.one(f"SELECT count(*) FROM {table.relation} s WHERE {where}")
    columns = [found[one] for one in ("band", "unit", "reference", "judge", "n")]
    halves = [bool(np.isin(columns[0], np.flatnonzero(np.array(has_trait) == half)).any()) for half in (False, True)]
    obstacle = "" if all(halves) else f"all paired verdicts are on responses of one kind: {groups[int(halves[1])]}"
    band, unit, reference, judge, count = columns
    lost = int(paired - count.sum())
    n_units = len(table.units.names)
    return Traits(
        name, n_units, groups, bands, np.array(has_trait), band, unit, reference, judge, count, lost, obstacle
    )
