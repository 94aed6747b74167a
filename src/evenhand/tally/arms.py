"""Marks of one judge on the same responses under several arms: what it was additionally told, everything else equal."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import RequestError, did_you_mean, printable, quoted
from evenhand.stats.arrays import Array, Counts
from evenhand.tally.arms_columns import by_learner, by_question, by_tail, means_of_numbers, shown_texts, text_grid
from evenhand.tally.conditions import OCCASION, facet_roles, split_condition, whole_totals
from evenhand.tally.groups import ResponseGroups, groups_of_responses
from evenhand.tally.marks import level_values
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import Units, VerdictTable

MOST_ARMS = 60
"""Arms beyond which none are compared."""
CONTROLS = ("control", "none", "baseline", "no context", "bare")
"""Names by which an arm that tells the judge nothing is known, beside an empty one."""
RUN_FACETS = ("model", "setting")
"""Facets whose values are runs of their own; marks are averaged over wordings, occasions and orders."""
_WORD = re.compile(r"[^0-9a-z]+")


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
        asked: (O,) number of the wording and order of each: what has the same number are repeats of one prompt.
        mark: (m,) total of the response, NaN where it is not scored throughout.
        reference: (n,) NaN where there is none.
        label, n_prior, level: (n, A) the attainment stated, from how many earlier answers, and the mean mark of the
            examples or the earlier attempt shown; NaN where the arm states none.
        has_examples: (A,) arms that show several marks.
        cluster, clusters: (n,) unit of resampling of each response as all other statistics have it, and all units.
        is_crossed: two units of resampling were named, so that each statistic is had by one, the other and both.
        question, questions: the clusters; where these are the learners, the questions.
        learner, learners: the same by learner; None where no column names them.
        each_learner: (n,) number of the learner himself, whom large data resample in groups.
        tail, tails: (n,) position of each response's tail, -1 without one, and their names.
        low, high: ends of the scale of one response; None where no range is known.
        groups: of people, an entry an axis that a column names.
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
    asked: Counts
    mark: Array
    reference: Array
    label: Array
    n_prior: Array
    level: Array
    has_examples: NDArray[np.bool_]
    cluster: Counts
    clusters: Units
    is_crossed: bool
    question: Counts
    questions: Units
    learner: Counts | None
    learners: Units | None
    each_learner: Counts | None
    tail: Counts
    tails: tuple[str, ...]
    low: float | None
    high: float | None
    groups: tuple[ResponseGroups, ...] = ()


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
    shown = {role: shown_texts(table, rows, names, role) for role in ("label_shown", "n_prior_shown", "shown_marks")}
    level, n_marks = means_of_numbers(text_grid(shown["shown_marks"], size))
    learner, learners, each_learner = by_learner(table, rows)
    question, questions = by_question(table, rows, _whole(each["unit"]))
    tail, tails = by_tail(table, rows)
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
        asked=_asked(rest, occasions),
        mark=_floats(found["judge"]) / factor,
        reference=_floats(each["reference"]) / factor,
        label=means_of_numbers(text_grid(shown["label_shown"], size))[0],
        n_prior=means_of_numbers(text_grid(shown["n_prior_shown"], size))[0],
        level=level,
        has_examples=np.asarray((n_marks > 1).any(axis=0)),
        cluster=_whole(each["unit"]),
        clusters=table.units,
        is_crossed=spec.second_cluster is not None,
        question=question,
        questions=questions,
        learner=learner,
        learners=learners,
        each_learner=each_learner,
        tail=tail,
        tails=tails,
        low=low,
        high=high,
        groups=groups_of_responses(table, rows),
    )


def of_control(table: VerdictTable) -> VerdictTable:
    """The verdicts given under the control alone, where arms are compared with one: the table itself, where none are.

    Raises:
        RequestError: ``--control`` names no arm.
    """
    roles, kinds = facet_roles(table), table.scale.kind
    if "arm" not in roles or kinds in ("nominal", "pairwise"):
        return table
    found = table.engine.rows(f"SELECT DISTINCT condition FROM {table.rated}")
    split = {str(text): split_condition(str(text), len(roles)) for (text,) in found}
    arms = {text: values[roles.index("arm")] for text, values in split.items() if values is not None}
    names = tuple(sorted(set(arms.values()), key=natural))
    control = _control(names, table.reading.spec.control)
    if control is None or not 1 < len(names) <= MOST_ARMS:
        return table
    kept = [(text,) for text, arm in arms.items() if arm == names[control]]
    held = table.engine.table("control", {"condition": "VARCHAR"}, kept)

    def only(relation: str) -> str:
        name = table.engine.name("control")
        table.engine.run(f"CREATE TEMP VIEW {name} AS SELECT * FROM {relation} SEMI JOIN {held} USING (condition)")
        return name

    rated = only(table.rated)
    (n_responses,) = table.engine.one(f"SELECT count(DISTINCT response) FROM {rated}")
    return replace(
        table,
        reading=replace(table.reading, relation=only(table.reading.relation)),
        relation=only(table.relation),
        rated=rated,
        n_responses=n_responses,
    )


def _asked(roles: Sequence[str], occasions: Sequence[tuple[str, ...]]) -> Counts:
    """A number for every combination of values, the same where only the occasion differs."""
    prompts = [tuple(value for role, value in zip(roles, one, strict=True) if role != OCCASION) for one in occasions]
    numbers = {prompt: at for at, prompt in enumerate(dict.fromkeys(prompts))}
    return np.array([numbers[prompt] for prompt in prompts], dtype=np.int64)


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
