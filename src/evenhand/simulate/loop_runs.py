"""Graders of the loop as a saved audit of their own run under labels holds them, with what that run says of a course."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand.errors import RequestError, printable
from evenhand.ids import EstimateId
from evenhand.results import SCHEMA, Audit, Cell, Estimate
from evenhand.simulate.loop_graders import FIELDS, NamedGrader
from evenhand.stats.arrays import Array
from evenhand.stats.loop_clipping import Marks

FITTED: Mapping[str, str] = {"against": "control"}
LATENT: Mapping[str, str] = {"against": "control", "clipping": "undone"}


@dataclass(frozen=True, slots=True)
class LabelRun:
    """A run of a grader under labels.

    Attributes:
        grader: before rounding and clipping.
        fitted: its parameters as least squares finds them, by name.
        marks: what becomes of its line.
        ability: mean, standard deviation between learners and within them, of the reference marks.
        observed, corrected: label effect by a point of label as fitted, and before clipping.
        curve: (E, 2) label effects before clipping, and what a fit finds on average.
    """

    grader: NamedGrader
    fitted: Mapping[str, float]
    marks: Marks
    ability: tuple[float, float, float]
    observed: Estimate
    corrected: Estimate
    curve: Array


def is_audit(path: Path) -> bool:
    """Whether a path is a saved audit, or a folder with one, not a file of verdicts."""
    if path.is_dir():
        return (path / "audit.json").is_file()
    if path.suffix.lower() != ".json":
        return False
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and str(found.get("schema", "")).startswith(SCHEMA.split("/")[0])


def label_runs(audit: Audit) -> tuple[LabelRun, ...]:
    """Every run of the audit from which a grader was fitted.

    Raises:
        RequestError: there is none, with what the first lacks.
    """
    found = []
    for name, table in audit.tables.items():
        kind, _, judge = name.partition("/")
        if kind != "grader_run":
            continue
        lines, points = audit.tables[f"grader/{judge}"].records(), audit.tables[f"attenuation/{judge}"].records()
        for run in table.records():
            mine = [row for row in lines if row["of"] == run["of"]]
            found.append(_run(audit, run, mine, [row for row in points if row["of"] == run["of"]]))
    if not found:
        raise RequestError(f"no grader can be fitted from this run: {printable(_lacking(audit))}")
    return tuple(found)


def _lacking(audit: Audit) -> str:
    absent = [one for one in audit.estimates if one.statistic == "loop_eigenvalue" and one.reason]
    return absent[0].reason if absent else (
        "it needs marks of the same responses without a label and under two labels (--arm COL), the labels as numbers "
        "(--label-shown COL), reference marks (--reference COL) and whose work each response is (--learner COL)"
    )  # fmt: skip


def _run(
    audit: Audit, run: Mapping[str, Cell], lines: Sequence[Mapping[str, Cell]], points: Sequence[Mapping[str, Cell]]
) -> LabelRun:
    identity = EstimateId.parse(str(run["of"]))
    at = {str(row["parameter"]): row for row in lines}
    spread = np.array([[_number(at[name][f"covariance_{other}"]) for other in FIELDS] for name in FIELDS])
    more = list(identity.params.values())
    latent = {name: _number(at[name]["latent"]) for name in FIELDS}
    fitted = {name: _number(at[name]["fitted"]) for name in FIELDS}
    known = bool(np.isfinite(spread).all())
    grader = NamedGrader(
        name=" ".join([identity.source, *([f"({', '.join(more)})"] if more else [])]),
        parameters=latent,
        label_effect_error=math.sqrt(max(spread[2, 2], 0.0)) if known else 0.0,
        source=identity.source,
        params=identity.params,
        spread=spread if known else None,
        df=_number(run["df"]) if known else math.inf,
    )
    own = [
        audit[str(EstimateId("dose_slope", identity.source, {**identity.params, **more}))] for more in (FITTED, LATENT)
    ]
    return LabelRun(
        grader=grader,
        fitted=fitted,
        marks=Marks(_number(run["low"]), _number(run["high"]), whole=bool(run["whole_marks"])),
        ability=(_number(run["ability_mean"]), _number(run["ability_sd"]), _number(run["answer_sd"])),
        observed=own[0],
        corrected=own[1],
        curve=np.array([[_number(row["label_effect"]), _number(row["fitted"])] for row in points]),
    )


def _number(cell: Cell) -> float:
    return float(cell) if cell is not None else math.nan
