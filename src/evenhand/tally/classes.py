"""Classes and their distances: labels, and abstention where it occurs, with how far the user says they lie apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import RequestError, printable, quoted
from evenhand.stats.arrays import Array, Counts
from evenhand.tally.ratings import MOST_RATERS, Ratings
from evenhand.verdicts.label_texts import canonical, folded
from evenhand.verdicts.scale import CANNOT_ASSESS, Scale
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import VerdictTable

ABSTAINED = "abstained"
_HALFWAY = {"halfway": 0.5, "halfway-squared": 0.25}


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that a matrix of distances speaks about.

    Attributes:
        name: of the matrix in ids: the preset's, or "custom".
        codes: (m,) codes of the classes.
        names: (m,) their names.
        distances: (m, m) symmetric, 0 on the diagonal.
        with_abstention: whether abstention is one of them.
        ratings: of several judges on these classes; None for one judge.
    """

    name: str
    codes: tuple[int, ...]
    names: tuple[str, ...]
    distances: Array
    with_abstention: bool
    ratings: Ratings | None = None


def find_classes(table: VerdictTable, *, with_ratings: bool = True) -> Classes | None:
    """The classes and distances of ``--distances``; None where none are given.

    Raises:
        RequestError: marks without levels, a class that is none, or a matrix that is no distance.
    """
    spec, scale = table.reading.spec, table.scale
    if spec.distances is None:
        return None
    if scale.kind == "continuous":
        raise RequestError(
            "--distances: marks without levels have their own distances; declare --levels or --scale nominal"
        )
    abstained = scale.status(ABSTAINED)
    (occurs,) = table.engine.one(
        f"SELECT count(*) FROM (SELECT 1 FROM {table.relation} WHERE judge = {abstained} OR reference = {abstained} LIMIT 1)"
    )
    names, codes = [*scale.levels], [*range(scale.size)]
    given, words = spec.distances, _words(spec)
    if occurs or (not isinstance(given, str) and any(folded(name) in words for name in given)):
        names.append(ABSTAINED)
        codes.append(abstained)
    with_abstention = len(names) > scale.size
    name = given if isinstance(given, str) else "custom"
    matrix = _preset(given, scale, with_abstention) if isinstance(given, str) else _matrix(given, names, words)
    ratings = _ratings(table, codes) if with_ratings else None
    return Classes(name, tuple(codes), tuple(names), matrix, with_abstention, ratings)


def _words(spec: Spec) -> set[str]:
    """What abstention may be called in a matrix."""
    return {ABSTAINED, *CANNOT_ASSESS, *(folded(word) for word in spec.abstain)}


def _preset(name: str, scale: Scale, with_abstention: bool) -> Array:
    """Labels 1 apart (ordered ones by their steps, the ends 1 apart); an abstention as the preset says."""
    if name != "nominal" and name not in _HALFWAY:
        raise RequestError(
            f'--distances "{printable(name)}": neither a file nor one of the presets nominal, {", ".join(_HALFWAY)}'
        )
    q = scale.size
    steps = np.abs(np.arange(q)[:, None] - np.arange(q)) / max(q - 1, 1)
    labels = steps if scale.kind == "ordinal" and name != "nominal" else 1 - np.eye(q)
    if name == "halfway-squared":
        labels = labels**2
    if not with_abstention:
        return labels
    matrix = np.full((q + 1, q + 1), _HALFWAY.get(name, 1.0))
    matrix[:q, :q] = labels
    matrix[q, q] = 0
    return matrix


def _matrix(given: Mapping[str, Mapping[str, float]], names: list[str], words: set[str]) -> Array:
    known = {name: at for at, name in enumerate(names)}

    def place(text: str) -> int:
        if folded(text) in words and ABSTAINED in known:
            return known[ABSTAINED]
        if canonical(text) not in known:
            raise RequestError(
                f'--distances: "{printable(text)}" is no class of these data; classes are {quoted(names)}'
            )
        return known[canonical(text)]

    m = len(names)
    matrix = np.full((m, m), np.nan)
    for one, row in given.items():
        for other, distance in row.items():
            matrix[place(one), place(other)] = distance
    np.fill_diagonal(matrix, np.where(np.isnan(np.diag(matrix)), 0.0, np.diag(matrix)))
    matrix = np.where(np.isnan(matrix), matrix.T, matrix)
    given_both = ~np.isnan(matrix)
    for test, wrong in (
        (np.diag(np.diag(matrix)) != 0, "is not 0"),
        (given_both & (matrix < 0), "is below 0"),
        (given_both & (matrix != matrix.T), "is not the same both ways"),
        (~given_both, "is not given"),
    ):
        if test.any():
            one, other = (printable(names[at]) for at in np.argwhere(test)[0])
            raise RequestError(f'--distances: the distance from "{one}" to "{other}" {wrong}')
    if not matrix.any():
        raise RequestError("--distances: every distance is 0, so no two verdicts would differ")
    return matrix


def _ratings(table: VerdictTable, codes: Sequence[int]) -> Ratings | None:
    """Pivot the judges' classes of every rated unit; None for one judge."""
    names = table.reading.raters
    if not 1 < len(names) <= MOST_RATERS:
        return None
    position = " ".join(f"WHEN {code} THEN {at}" for at, code in enumerate(codes))
    columns = [
        f"coalesce(max(CASE WHEN rater = {number} THEN CASE judge {position} END END), -1) AS r{number}"
        for number in range(len(names))
    ]
    listed = ", ".join(f"r{number}" for number in range(len(names)))
    found = table.engine.integers(
        f"SELECT unit, {listed}, count(*) AS n FROM (SELECT min(unit) AS unit, {', '.join(columns)} FROM {table.relation} "
        "GROUP BY response, criterion, condition) GROUP BY ALL ORDER BY ALL"
    )
    labels: Counts = np.stack([found[f"r{number}"] for number in range(len(names))], axis=1)
    return Ratings(len(table.units.names), len(codes), names, found["unit"], labels, found["n"])
