"""Marks of one judge on the same responses under several arms: what it was additionally told, everything else equal."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import KeyClashError, MappingError, RequestError, did_you_mean, printable, quoted
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.resampling import MAX_UNITS, random_groups
from evenhand.tally.conditions import facet_roles, split_condition, whole_totals
from evenhand.tally.marks import level_values
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.cleaning import label_text
from evenhand.verdicts.layout import recognise_cluster
from evenhand.verdicts.order import natural
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.sides import response_key
from evenhand.verdicts.table import Units, VerdictTable

MOST_ARMS = 60
"""Arms beyond which none are compared."""
CONTROLS = ("control", "none", "baseline", "no context", "bare")
"""Names by which an arm that tells the judge nothing is known, beside an empty one."""
RUN_FACETS = ("model", "setting")
"""Facets whose values are runs of their own; marks are averaged over wordings, occasions and orders."""
_WORD = re.compile(r"[^0-9a-z]+")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Arms:
    """Every grading by one judge, with what it was told and whose work it graded.

    Attributes:
        names: (A,) arms in natural order.
        control: position of the arm that tells nothing; None where none is known.
        runs: (R,) values of the facets that make a run (model, setting), by facet; one without any where none varies.
        n_responses: n.
        run, response, arm, occasion: (m,) of each grading.
        occasions: (O,) values of the further facets (wording, occasion, order), which repeat the same question.
        mark: (m,) total of the response, NaN where it is not scored throughout.
        reference: (n,) NaN where there is none.
        label, n_prior, level: (n, A) the attainment stated, from how many earlier answers, and the mean mark of the
            examples or the earlier attempt shown; NaN where the arm states none.
        has_examples: (A,) arms that show several marks.
        question, questions: (n,) unit of resampling of each response, and all units.
        learner, learners: the same by learner; None where no column names them.
        each_learner: (n,) number of the learner himself, whom large data resample in groups.
        tail, tails: (n,) position of each response's tail, -1 without one, and their names.
        low, high: ends of the scale of one response; None where no range is known.
    """

    names: tuple[str, ...]
    control: int | None
    runs: tuple[Mapping[str, str], ...]
    n_responses: int
    run: Counts
    response: Counts
    arm: Counts
    occasion: Counts
    occasions: tuple[str, ...]
    mark: Array
    reference: Array
    label: Array
    n_prior: Array
    level: Array
    has_examples: NDArray[np.bool_]
    question: Counts
    questions: Units
    learner: Counts | None
    learners: Units | None
    each_learner: Counts | None
    tail: Counts
    tails: tuple[str, ...]
    low: float | None
    high: float | None


def folded(name: str) -> str:
    """An arm's name in small letters with single spaces between its words.

    >>> folded("Label_True")
    'label true'
    """
    return _WORD.sub(" ", name.casefold()).strip()


def tally_arms(table: VerdictTable, rater: int) -> Arms | None:
    """Every grading of one judge by arm; None without a column of two arms, or with labels that have no order.

    Raises:
        RequestError: ``--control`` names no arm.
        MappingError: a column that no file with the response id has.
        KeyClashError: two learners, tails or labels of one response (under one arm).
    """
    roles, spec = facet_roles(table), table.reading.spec
    if "arm" not in roles or table.scale.kind in ("nominal", "pairwise"):
        return None
    conditions = _conditions(table, rater, roles)
    names = tuple(sorted({values["arm"] for values in conditions.values()}, key=natural))
    if not 1 < len(names) <= MOST_ARMS:
        return None
    varied = [facet for facet in RUN_FACETS if len({values.get(facet, "") for values in conditions.values()}) > 1]
    runs = sorted({tuple(values[facet] for facet in varied) for values in conditions.values()}, key=_by_parts)
    rest = [role for role in roles if role != "arm" and role not in varied]
    occasions = sorted({tuple(values[role] for role in rest) for values in conditions.values()}, key=_by_parts)
    numbered = table.engine.table(
        "arms",
        {"condition": "VARCHAR", "run": "INTEGER", "arm": "INTEGER", "occasion": "INTEGER"},
        [
            (
                text,
                runs.index(tuple(values[facet] for facet in varied)),
                names.index(values["arm"]),
                occasions.index(tuple(values[role] for role in rest)),
            )
            for text, values in conditions.items()
        ],
    )
    rows = table.engine.held("graded", f"SELECT DISTINCT response FROM {table.rated}")
    rows = table.engine.held("graded", f"SELECT response, row_number() OVER (ORDER BY response) - 1 AS row FROM {rows}")
    totals, factor = whole_totals(table)
    found = table.engine.connection.execute(
        f"SELECT row, run, arm, occasion, judge FROM ({totals}) JOIN {numbered} USING (condition) JOIN {rows} USING (response) "
        "WHERE rater = ? ORDER BY row, run, arm, occasion",
        [rater],
    ).fetchnumpy()
    each = table.engine.connection.execute(
        f"SELECT row, min(unit) AS unit, max(reference) AS reference FROM ({totals}) JOIN {rows} USING (response) GROUP BY row ORDER BY row"
    ).fetchnumpy()
    size = (len(each["row"]), len(names))
    shown = {role: _shown(table, rows, names, role) for role in ("label_shown", "n_prior_shown", "shown_marks")}
    level, n_marks = _means(_grid(shown["shown_marks"], size))
    learner, learners, each_learner = _learners(table, rows)
    question, questions = _questions(table, rows, _whole(each["unit"]))
    tail, tails = _tails(table, rows)
    low, high = _ends(table)
    return Arms(
        names=names,
        control=_control(names, spec.control),
        runs=tuple(dict(zip(varied, run, strict=True)) for run in runs),
        n_responses=len(each["row"]),
        run=_whole(found["run"]),
        response=_whole(found["row"]),
        arm=_whole(found["arm"]),
        occasion=_whole(found["occasion"]),
        occasions=tuple(", ".join(one) for one in occasions),
        mark=_floats(found["judge"]) / factor,
        reference=_floats(each["reference"]) / factor,
        label=_means(_grid(shown["label_shown"], size))[0],
        n_prior=_means(_grid(shown["n_prior_shown"], size))[0],
        level=level,
        has_examples=(n_marks > 1).any(axis=0),
        question=question,
        questions=questions,
        learner=learner,
        learners=learners,
        each_learner=each_learner,
        tail=tail,
        tails=tails,
        low=low,
        high=high,
    )


def _by_parts(values: Sequence[str]) -> list[object]:
    return [natural(value) for value in values]


def _conditions(table: VerdictTable, rater: int, roles: Sequence[str]) -> dict[str, dict[str, str]]:
    """Text of each condition that names an arm → its values by facet."""
    found = table.engine.rows(f"SELECT DISTINCT condition FROM {table.rated} WHERE rater = ?", [rater])
    split = {str(text): split_condition(str(text), len(roles)) for (text,) in found}
    return {text: dict(zip(roles, values, strict=True)) for text, values in split.items() if values is not None}


def _control(names: Sequence[str], named: str | None) -> int | None:
    """The arm that tells nothing: the one that was named, else an empty one, else one known by its name."""
    if named is not None:
        if named not in names:
            raise RequestError(
                f'--control "{printable(named)}": no arm of that name{did_you_mean(named, names)}; arms are {quoted(names, 12)}'
            )
        return names.index(named)
    by_name = {folded(name): at for at, name in reversed(list(enumerate(names)))}
    return next((by_name[name] for name in ("", *CONTROLS) if name in by_name), None)


def _shown(table: VerdictTable, rows: str, names: Sequence[str], role: str) -> dict[tuple[int, int], str]:
    """(response, arm) → what a column says was shown, where it says anything."""
    reading, column = table.reading, getattr(table.reading.spec, role)
    if column is None:
        return {}
    option, arm = f"--{role.replace('_', '-')}", reading.spec.arm or ""
    holding = [one for one in reading.sources if {column, arm, *reading.spec.response} <= set(one.columns)]
    if not holding:
        reading.sources[0].column(column, option)
        raise MappingError(f'column "{printable(column)}" ({option}) stands in no file that has the response id and the arm')
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


def _grid(shown: Mapping[tuple[int, int], str], size: tuple[int, int]) -> NDArray[np.object_]:
    """(n, A) texts, empty where nothing was shown."""
    grid = np.full(size, "", dtype=object)
    for place, text in shown.items():
        grid[place] = text
    return grid


def _means(texts: NDArray[np.object_]) -> tuple[Array, Counts]:
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


def _learners(table: VerdictTable, rows: str) -> tuple[Counts | None, Units | None, Counts | None]:
    """Unit of resampling of each response by learner, all units, and each response's learner."""
    column = table.reading.spec.learner
    if column is None:
        return None, None, None
    each, names = _number(table, rows, column, "--learner")
    return *_units(table, each, names), each


def _questions(table: VerdictTable, rows: str, unit: Counts) -> tuple[Counts, Units]:
    """The clusters; where these are the learners, the questions that another column names, if one does."""
    spec = table.reading.spec
    if spec.cluster is None or spec.cluster != spec.learner:
        return unit, table.units
    columns = [column for source in table.reading.sources for column in source.columns if column != spec.cluster]
    other = spec.second_cluster or recognise_cluster(columns)
    if other is None:
        return unit, table.units
    return _units(table, *_number(table, rows, other, "--cluster"))


def _tails(table: VerdictTable, rows: str) -> tuple[Counts, tuple[str, ...]]:
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


def _ends(table: VerdictTable) -> tuple[float | None, float | None]:
    """Lowest and highest total that a response can have: of marks those of one, times its criteria."""
    scale, n_criteria = table.scale, len(table.reading.criteria)
    if scale.kind == "binary":
        return 0.0, float(n_criteria)
    if scale.range is not None:
        return scale.range[0] * n_criteria, scale.range[1] * n_criteria
    if scale.kind == "continuous":
        return None, None
    values = level_values(scale)[0]
    return float(values.min()) * n_criteria, float(values.max()) * n_criteria


def _whole(column: NDArray[np.generic]) -> Counts:
    return np.ascontiguousarray(column, dtype=np.int64)


def _floats(column: NDArray[np.generic]) -> Array:
    """A column as numbers, NaN where it is null."""
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)
