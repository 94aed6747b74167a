"""What columns say of responses under arms: what was shown, whose work it is, and in which tail of attainment."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import KeyClashError, MappingError, printable
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.resampling import MAX_UNITS, random_groups
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.cleaning import label_text
from evenhand.verdicts.layout import recognise_cluster
from evenhand.verdicts.order import natural
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.sides import response_key
from evenhand.verdicts.table import Units, VerdictTable

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def shown_texts(table: VerdictTable, rows: str, names: Sequence[str], role: str) -> dict[tuple[int, int], str]:
    """(response, arm) → what a column says was shown, where it says anything."""
    reading, column = table.reading, getattr(table.reading.spec, role)
    if column is None:
        return {}
    option, arm = f"--{role.replace('_', '-')}", reading.spec.arm or ""
    holding = [one for one in reading.sources if {column, arm, *reading.spec.response} <= set(one.columns)]
    if not holding:
        reading.sources[0].column(column, option)
        raise MappingError(
            f'column "{printable(column)}" ({option}) stands in no file that has the response id and the arm'
        )
    selects = [
        f"SELECT {response_key(one, reading.spec.response, reading.spec)} AS response, {one.column(arm, '--arm')} AS arm, "
        f"trim({label_text(one.column(column, option), reading.spec)}) AS value FROM {one.relation}"
        for one in holding
    ]
    found = reading.engine.rows(
        f"SELECT row, arm, min(value), max(value), response FROM ({' UNION ALL '.join(selects)}) JOIN {rows} USING (response) "
        "WHERE value <> '' GROUP BY row, arm, response ORDER BY row, arm"
    )
    torn = next((row for row in found if row[2] != row[3]), None)
    if torn is not None:
        _, under, one, other, response = (printable(str(value)) for value in torn)
        raise KeyClashError(
            f'column "{printable(column)}" says two things of response "{response}" under arm "{under}": "{one}" and "{other}". '
            "What the judge was told differently is another arm: name them apart in the arm's column"
        )
    return {(int(row), names.index(str(under))): str(one) for row, under, one, _, _ in found if str(under) in names}


def text_grid(shown: Mapping[tuple[int, int], str], size: tuple[int, int]) -> NDArray[np.object_]:
    """(n, A) texts, empty where nothing was shown."""
    grid = np.full(size, "", dtype=object)
    for place, text in shown.items():
        grid[place] = text
    return grid


def means_of_numbers(texts: NDArray[np.object_]) -> tuple[Array, Counts]:
    """(n, A) mean of the numbers that each text lists, NaN where it lists none, and how many they are."""
    different, at = np.unique(texts.astype(str), return_inverse=True)
    listed = [[float(number) for number in _NUMBER.findall(text)] for text in different.tolist()]
    means = np.array([np.mean(one) if one else np.nan for one in listed])
    counts = np.array([len(one) for one in listed], dtype=np.int64)
    at = at.reshape(texts.shape)
    return means[at], counts[at]


def _of_responses(reading: Reading, rows: str, column: str, option: str) -> list[tuple[int, str]]:
    """Response number and what a column says of it, in the order of responses; those of which it says nothing are left out."""
    values = attribute(reading, column, option)
    found = reading.engine.rows(f"SELECT row, value FROM {values} JOIN {rows} USING (response) ORDER BY row")
    return [(int(row), str(value)) for row, value in found]


def _number(table: VerdictTable, rows: str, column: str, option: str) -> tuple[Counts, tuple[str, ...]]:
    """Position of each response's value of a column, and the values in natural order.

    Raises:
        KeyClashError: a response without one, or with two.
    """
    found = _of_responses(table.reading, rows, column, option)
    (n,) = table.engine.one(f"SELECT count(*) FROM {rows}")
    if len(found) < n:
        raise KeyClashError(
            f'{n - len(found):,} responses have nothing in "{printable(column)}" ({option}): fill it in, or take them out'
        )
    names = tuple(sorted({name for _, name in found}, key=natural))
    number = {name: at for at, name in enumerate(names)}
    return np.array([number[name] for _, name in found], dtype=np.int64), names


def _units(table: VerdictTable, each: Counts, names: tuple[str, ...]) -> tuple[Counts, Units]:
    """Units of resampling: the values themselves, or random groups of them where they are many."""
    if len(names) <= MAX_UNITS:
        return each, Units(names, len(names), True)
    groups = random_groups(len(names), table.reading.spec.seed)
    grouped = tuple(f"group {at + 1}" for at in range(int(groups.max()) + 1))
    return groups[each], Units(grouped, len(names), True)


def by_learner(table: VerdictTable, rows: str) -> tuple[Counts | None, Units | None, Counts | None]:
    """Unit of resampling of each response by learner, all units, and each response's learner."""
    column = table.reading.spec.learner
    if column is None:
        return None, None, None
    each, names = _number(table, rows, column, "--learner")
    return *_units(table, each, names), each


def by_question(table: VerdictTable, rows: str, unit: Counts) -> tuple[Counts, Units]:
    """The clusters; where these are the learners, the questions that another column names, if one does."""
    spec = table.reading.spec
    if spec.cluster is None or spec.cluster != spec.learner:
        return unit, table.units
    columns = [column for source in table.reading.sources for column in source.columns if column != spec.cluster]
    other = spec.second_cluster or recognise_cluster(columns)
    if other is None:
        return unit, table.units
    return _units(table, *_number(table, rows, other, "--cluster"))


def by_tail(table: VerdictTable, rows: str) -> tuple[Counts, tuple[str, ...]]:
    """Position of each response's tail, -1 without one, and the tails in natural order."""
    column = table.reading.spec.tail
    (n,) = table.engine.one(f"SELECT count(*) FROM {rows}")
    tail = np.full(n, -1, dtype=np.int64)
    if column is None:
        return tail, ()
    found = _of_responses(table.reading, rows, column, "--tail")
    names = tuple(sorted({name for _, name in found}, key=natural))
    for row, name in found:
        tail[row] = names.index(name)
    return tail, names
