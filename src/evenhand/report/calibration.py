"""Calibration: what fitting the judge's marks to the reference would do, how far its confidence can be taken at its word."""

from collections.abc import Iterator, Sequence

from evenhand.errors import printable
from evenhand.report.arms_words import contrast, named_arms, of_judge
from evenhand.report.calibration_drawing import Axes, Spot, reliability
from evenhand.report.figures import Figure
from evenhand.report.numbers import NumberTable, Row, card, pivot, row
from evenhand.report.tables import NAMES, count_text, param_text, percent_text, plain_number
from evenhand.results import Audit, Cell, Estimate, Table

_METRICS = ("mae", "rmse", "quadratic_weighted_kappa")
_OF_CONFIDENCE = ("ece", "brier")
_MARKS_NOTE = (
    "Each learner's or cluster's marks are calibrated on everybody else's, and the fit is made anew wherever one is left out or drawn. "
    "Where calibration alone gains as much as a label does, the label moved marks and judged no better."
)
_TAILS_NOTE = (
    "A line fitted on one tail of attainment and applied to another: what it leaves there is why it has to be fitted on work like that "
    "it is for."
)


def calibration_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """Contrasts of calibrated marks, transfer between tails, and slopes beside the errors of confidences."""
    of_arms = [one for one in of_judge(audit, judge) if one.statistic == "calibration"]
    own = [one for one in audit.estimates if one.source == judge and one.statistic in ("calibration", *_OF_CONFIDENCE)]
    found = [*own, *(one for one in of_arms if one not in own)]
    contrasts = [one for one in found if "contrast" in one.params and "fit" not in one.params]
    transfers = [one for one in found if "fit" in one.params]
    others = [one for one in found if "contrast" not in one.params and "fit" not in one.params]
    changes = tuple(NAMES[name] for name in _METRICS)
    tables = (
        NumberTable("Marks calibrated on everybody else's: change of agreement", changes,
            tuple(_contrasts(audit, [one for one in contrasts if "method" not in one.params])), "contrast", _MARKS_NOTE),
        NumberTable("The same by least squares and by an isotonic step", changes,
            tuple(_contrasts(audit, [one for one in contrasts if "method" in one.params])), "contrast", folded=True),
        NumberTable("Calibrated on another tail", ("bias left", *changes), tuple(_transfers(audit, transfers)), "tails", _TAILS_NOTE),
        NumberTable("Calibration: slopes, and confidences against what is right", ("value",), tuple(_single(audit, one) for one in others)),
    )  # fmt: skip
    return tuple(table for table in tables if table.rows)


def _contrasts(audit: Audit, found: Sequence[Estimate]) -> Iterator[Row]:
    columns = tuple(NAMES[name] for name in _METRICS)
    for key in dict.fromkeys(_key(one) for one in found):
        mine = [one for one in found if _key(one) == key]
        at = {one.params.get("metric", "mae"): one for one in mine}
        yield pivot(audit, _name(mine[0]), columns, [at.get(name) for name in _METRICS])


def _transfers(audit: Audit, found: Sequence[Estimate]) -> Iterator[Row]:
    columns = ("bias left", *(NAMES[name] for name in _METRICS))
    for key in dict.fromkeys(_tails(one) for one in found):
        mine = [one for one in found if _tails(one) == key]
        at = {one.params.get("metric", one.params.get("quantity", "mae")): one for one in mine}
        first = mine[0]
        name = f"{named_arms(first)}: fitted on {first.params['fit']}, applied to {first.params['tail']}"
        yield pivot(audit, printable(name), columns, [at.get(name) for name in ("bias", *_METRICS)])


def _key(one: Estimate) -> tuple[str, tuple[tuple[str, str], ...]]:
    return one.source, tuple((name, value) for name, value in one.params.items() if name != "metric")


def _tails(one: Estimate) -> tuple[str, tuple[tuple[str, str], ...]]:
    return one.source, tuple(
        (name, value) for name, value in one.params.items() if name not in ("metric", "quantity", "contrast")
    )


def _name(one: Estimate) -> str:
    whose = named_arms(one) if one.describes == "grader×context" else one.source
    said = [param_text(name, value) for name, value in one.params.items() if name != "metric"]
    return printable(f"{whose}: {', '.join(said)}")


def _single(audit: Audit, one: Estimate) -> Row:
    plain = row(audit, one)
    if one.describes != "grader×context":
        return plain
    return Row(
        f"{NAMES[one.statistic]} {param_text('quantity', one.params['quantity'])}: {contrast(one)}",
        plain.cells,
        plain.events,
        (card(audit, one),),
    )


def calibration_figures(audit: Audit, judge: str, key: str) -> Iterator[Figure]:
    """Reliability diagrams: of marks, and of confidences."""
    marks, sure = audit.tables.get(f"reliability/{judge}"), audit.tables.get(f"calibration/{judge}")
    if marks is not None and marks.rows:
        yield _of_marks(marks, f"{key}-reliability")
    if sure is not None and sure.rows:
        yield _of_confidence(sure, f"{key}-confidence")


def _of_marks(table: Table, name: str) -> Figure:
    rows = table.records()
    spots = [
        Spot(_number(r["mean_mark"]), _number(r["mean_reference"]), int(_number(r["n"])), _maybe(r["linear"]), _maybe(r["isotonic"]))
        for r in rows
    ]  # fmt: skip
    drawing = reliability(
        name, "Reference mark by the judge's mark",
        "Each bubble is a mark of the judge: how far it goes to the right, and the mean reference mark there upwards; its area is how "
        "often it was given. Off the dashed line a mark means something else to the judge than to the reference. Both fits are on all marks.",
        spots, Axes("the judge's mark", "mean reference mark"),
    )  # fmt: skip
    names = ("from", "to", "n", "mean_mark", "mean_reference", "linear", "isotonic")
    headers = ("from", "to", "verdicts", "mean mark", "mean reference", "line", "isotonic")
    return Figure(drawing, headers, tuple(tuple(_cell(name, r[name]) for name in names) for r in rows))


def _of_confidence(table: Table, name: str) -> Figure:
    rows = table.records()
    spots = [Spot(_number(r["mean_confidence"]), _number(r["share_right"]), int(_number(r["n"]))) for r in rows]
    drawing = reliability(
        name, "Share of right verdicts by confidence",
        "Each bubble is a bin of confidences: their mean to the right, the share of right verdicts upwards, its area the verdicts. Below the "
        "dashed line the judge is surer than it is right.",
        spots, Axes("the judge's confidence", "share of right verdicts", percent=True),
    )  # fmt: skip
    names = ("from", "to", "n", "mean_confidence", "share_right")
    headers = ("from", "to", "verdicts", "mean confidence", "share right")
    return Figure(drawing, headers, tuple(tuple(_percent(name, r[name]) for name in names) for r in rows))


def _number(value: Cell) -> float:
    return float(value or 0)


def _maybe(value: Cell) -> float | None:
    return None if value is None else float(value)


def _percent(name: str, value: Cell) -> str:
    return count_text(_number(value)) if name == "n" else percent_text(_number(value))


def _cell(name: str, value: Cell) -> str:
    return count_text(_number(value)) if name == "n" else "–" if value is None else plain_number(float(value))
