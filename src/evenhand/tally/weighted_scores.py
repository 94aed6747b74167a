"""Weighted scores: a response's criteria as one number, each with the weight that the user gave it, summed by unit.

A score is Σ w x over the greatest it could be, Σ of the positive w, both over the graded criteria, x from 0 (not met, or the
lowest mark) to 1. What is not graded gives bounds over all criteria.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import RequestError, quoted
from evenhand.stats.arrays import Array
from evenhand.verdicts.order import natural
from evenhand.verdicts.scale import Scale
from evenhand.verdicts.table import VerdictTable

SIDES = ("judge", "reference")


@dataclass(frozen=True, slots=True)
class WeightedScores:
    """Sums over one judge's rated responses.

    Attributes:
        weights: (K,) in the order of the criteria.
        unweighted: criteria without a weight of their own, which weigh 1.
        reach: lowest and highest score.
        scores: side → (U, 2) responses with a graded criterion that weighs, and sum of their scores.
        bounds: side → (U, 3) all responses, sum of lowest and of highest possible scores.
        graded: side → weight graded, and weight there is, over all responses.
        both: (U, 3) responses with a criterion that weighs graded by both, and sums of judge's and reference's scores on these.
        decided: cut → (U, 2, 2) responses graded throughout by both, reference below or at the cut by judge below or at it.
        marks: (U, K, 2) graded verdicts of the judge on each criterion, and sum of their x.
    """

    weights: Array
    unweighted: tuple[str, ...]
    reach: tuple[float, float]
    scores: dict[str, Array]
    bounds: dict[str, Array]
    graded: dict[str, tuple[float, float]]
    both: Array
    decided: dict[float, Array]
    marks: Array


def criterion_weights(table: VerdictTable) -> tuple[Array, tuple[str, ...]]:
    """(K,) weights, and the criteria that have none of their own and weigh 1.

    Raises:
        RequestError: a weight of no criterion, no criteria, or no positive weight at all.
    """
    names, given = table.reading.criteria, table.reading.spec.criterion_weights
    if names == ("",):
        raise RequestError(
            "--criterion-weights: these data have one criterion; name a column of them with --criterion COL"
        )
    unknown = sorted(given.keys() - set(names), key=natural)
    if unknown:
        raise RequestError(
            f"--criterion-weights: {quoted(unknown, 6)} is no criterion of these data; criteria are {quoted(names, 20)}"
        )
    weights = np.array([given.get(name, 1.0) for name in names], dtype=np.float64)
    if not (weights > 0).any():
        raise RequestError(
            "--criterion-weights: the positive weights sum to 0, so no response can score anything; give one criterion a weight above 0"
        )
    return weights, tuple(name for name in names if name not in given)


def label_shares(scale: Scale) -> Array:
    """(q,) x of each label: 0 and 1 of two labels, marks by the declared range, or as they are where all lie in 0 to 1.

    Raises:
        RequestError: labels without numbers or order, or marks whose range is not known.
    """
    if scale.kind == "binary":
        return np.array([0.0, 1.0])
    try:
        values = np.array([float(level) for level in scale.levels])
    except ValueError:
        if scale.kind == "ordinal":
            return np.linspace(0, 1, scale.size)
        raise RequestError(
            f"--criterion-weights: labels of a {scale.kind} scale have no value to weigh; they are two labels, ordered ones or marks"
        ) from None
    if scale.range is not None:
        low, high = scale.range
    elif scale.kind == "ordinal" and scale.size > 1:
        low, high = float(values[0]), float(values[-1])
    elif values.min() >= 0 and values.max() <= 1:
        low, high = 0.0, 1.0
    else:
        raise RequestError("--criterion-weights: what are the lowest and the highest mark? Say --range LO,HI")
    return (values - low) / (high - low)


def tally_weighted_scores(table: VerdictTable, rater: int, cuts: Sequence[float]) -> WeightedScores | None:
    """Sum one judge's weighted scores; None where no weights are given.

    Args:
        table: the verdict table.
        rater: the judge's position.
        cuts: on the weighted sum Σ w x; those out of its reach are left out.
    """
    if not table.reading.spec.criterion_weights:
        return None
    weights, unweighted = criterion_weights(table)
    shares, q, engine = label_shares(table.scale), table.scale.size, table.engine
    weighed = engine.table("weighed", {"criterion": "INTEGER", "w": "DOUBLE"}, list(enumerate(weights.tolist())))
    valued = engine.table("valued", {"code": "INTEGER", "x": "DOUBLE"}, list(enumerate(shares.tolist())))
    slots = (
        f"SELECT v.unit, v.response, v.condition, v.criterion, w, a.x AS judge, b.x AS reference FROM {table.relation} v "
        f"JOIN {weighed} USING (criterion) LEFT JOIN {valued} a ON a.code = v.judge AND v.judge < {q} "
        f"LEFT JOIN {valued} b ON b.code = v.reference AND v.reference < {q} WHERE v.rater = {rater}"
    )
    responses = engine.name("scores")
    both = "judge IS NOT NULL AND reference IS NOT NULL"
    sums = {"most": "sum(greatest(w, 0))", "every": "sum(abs(w))", "whole": f"bool_and({both})"}
    for side in SIDES:
        sums |= {
            f"{side}_sum": f"coalesce(sum(w * {side}), 0)",
            f"{side}_most": f"coalesce(sum(greatest(w, 0)) FILTER ({side} IS NOT NULL), 0)",
            f"{side}_graded": f"coalesce(sum(abs(w)) FILTER ({side} IS NOT NULL), 0)",
            f"{side}_low": f"coalesce(sum(least(w, 0)) FILTER ({side} IS NULL), 0)",
            f"{side}_high": f"coalesce(sum(greatest(w, 0)) FILTER ({side} IS NULL), 0)",
            f"{side}_both": f"coalesce(sum(w * {side}) FILTER ({both}), 0)",
        }
    sums["both_most"] = f"coalesce(sum(greatest(w, 0)) FILTER ({both}), 0)"
    listed = ", ".join(f"{text} AS {name}" for name, text in sums.items())
    engine.run(
        f"CREATE TEMP TABLE {responses} AS SELECT unit, {listed} FROM ({slots}) GROUP BY unit, response, condition"
    )
    columns = {"n": "count(*) FILTER (most > 0)"}
    for side in SIDES:
        columns |= {
            f"{side}_n": f"count(*) FILTER ({side}_most > 0)",
            f"{side}_score": f"coalesce(sum({side}_sum / {side}_most) FILTER ({side}_most > 0), 0)",
            f"{side}_low": f"coalesce(sum(({side}_sum + {side}_low) / most) FILTER (most > 0), 0)",
            f"{side}_high": f"coalesce(sum(({side}_sum + {side}_high) / most) FILTER (most > 0), 0)",
            f"{side}_graded": f"sum({side}_graded)",
            f"{side}_both": f"coalesce(sum({side}_both / both_most) FILTER (both_most > 0), 0)",
        }
    columns |= {"both_n": "count(*) FILTER (both_most > 0)", "every": "sum(every)"}
    found = _by_unit(table, responses, columns)
    reach = float(weights[weights < 0].sum()), float(weights[weights > 0].sum())
    used = [cut for cut in cuts if reach[0] < cut <= reach[1]]
    decided = {cut: _decided(table, responses, cut) for cut in used} if table.reading.has_reference else {}
    sides = SIDES if table.reading.has_reference else SIDES[:1]
    scores = WeightedScores(
        weights=weights,
        unweighted=unweighted,
        reach=(reach[0] / reach[1], 1.0),
        scores={side: np.stack([found[f"{side}_n"], found[f"{side}_score"]], axis=-1) for side in sides},
        bounds={side: np.stack([found["n"], found[f"{side}_low"], found[f"{side}_high"]], axis=-1) for side in sides},
        graded={side: (float(found[f"{side}_graded"].sum()), float(found["every"].sum())) for side in sides},
        both=np.stack([found["both_n"], found["judge_both"], found["reference_both"]], axis=-1),
        decided=decided,
        marks=_marks(table, slots),
    )
    engine.run(f"DROP TABLE {responses}")
    return scores


def _by_unit(table: VerdictTable, responses: str, columns: dict[str, str]) -> dict[str, Array]:
    """Named (U,) sums."""
    listed = ", ".join(f"({text})::DOUBLE AS {name}" for name, text in columns.items())
    rows = np.array(table.engine.rows(f"SELECT unit, {listed} FROM {responses} GROUP BY unit"), dtype=np.float64)
    unit = rows[:, 0].astype(np.int64)
    found = {name: np.zeros(len(table.units.names)) for name in columns}
    for at, column in enumerate(found.values(), start=1):
        column[unit] = rows[:, at]
    return found


def _decided(table: VerdictTable, responses: str, cut: float) -> Array:
    """(U, 2, 2) responses graded throughout by both sides, by whether each side's sum reaches the cut."""
    near = 1e-9 * max(1.0, abs(cut))  # sums of decimal weights are not exact
    found = table.engine.integers(
        f"SELECT unit, (reference_sum >= {cut - near!r})::INTEGER AS reference, (judge_sum >= {cut - near!r})::INTEGER AS judge, "
        f"count(*) AS n FROM {responses} WHERE whole GROUP BY ALL ORDER BY ALL"
    )
    tables = np.zeros((len(table.units.names), 2, 2))
    tables[found["unit"], found["reference"], found["judge"]] = found["n"]
    return tables


def _marks(table: VerdictTable, slots: str) -> Array:
    rows = table.engine.rows(
        f"SELECT unit, criterion, count(judge)::DOUBLE, coalesce(sum(judge), 0) FROM ({slots}) GROUP BY ALL ORDER BY ALL"
    )
    found = np.array(rows, dtype=np.float64)
    marks = np.zeros((len(table.units.names), len(table.reading.criteria), 2))
    marks[found[:, 0].astype(np.int64), found[:, 1].astype(np.int64)] = found[:, 2:]
    return marks
