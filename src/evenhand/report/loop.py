"""The loop over a course: a short page and its drawings."""

import math
from collections.abc import Iterator, Mapping, Sequence

from evenhand.errors import printable
from evenhand.report.curves import Curve, Point, curves
from evenhand.report.drawings import ForestRow, Panel, forest
from evenhand.report.markdown import markdown_text, pipe_table
from evenhand.report.svg import Drawing
from evenhand.report.tables import display_name, ends_text, plain_number, value_text
from evenhand.results import Estimate, Table

_STOPS = 8
"""Points of a path that are drawn."""
_PATHS = ("default, no label", "default, label", "false, no label", "false, label")
_PANELS = (
    ("loop_multiplier", "", "Spread fed back over spread with a frozen label"),
    ("loop_multiplier", "binary", "The same with a binary label"),
)


def recovery_drawing(name: str, who: str, paths: Sequence[Sequence[float]]) -> Drawing:
    """Mean belief over a course from two starts, without and with the label: four paths from item 0 on."""
    n_items = len(paths[0]) - 1
    shown = sorted({round(at * n_items / _STOPS) for at in range(_STOPS + 1)})
    return curves(
        name,
        f"Recovery from a false record: {who}",
        "Mean belief about learners of one ability over the course, from the default start and from a false low record, "
        "without a label and with the belief as label.",
        [
            Curve(words, tuple(Point(float(item), beliefs[item]) for item in shown))
            for words, beliefs in zip(_PATHS, paths, strict=True)
        ],
        x_words="items",
        y_words="belief",
    )


def multiplier_drawing(name: str, found: Sequence[tuple[str, Sequence[Estimate]]]) -> Drawing | None:
    """What feedback does to the spread of beliefs, a row a grader; None where nothing is defined."""
    panels = []
    for statistic, label, title in _PANELS:
        rows = tuple(
            ForestRow(who, one.estimate, one.ci_low, one.ci_high, value_text(one), ends_text(one))
            for who, estimates in found
            for one in estimates
            if one.statistic == statistic and one.params.get("label", "") == label and one.estimate is not None
        )
        panels += [Panel(title, rows, percent=False)] if rows else []
    return forest(name, panels, "What feedback does to the spread of beliefs") if panels else None


def attenuation_drawing(name: str, found: Sequence[tuple[str, Table]]) -> Drawing:
    """Fitted label effect by the label effect before rounding and clipping, a curve a run, beside no loss at all."""
    drawn = [Curve(who, tuple(Point(x, y) for x, y in _points(table))) for who, table in found]
    widest = max((curve.points for curve in drawn), key=lambda points: max(abs(point.x) for point in points))
    straight = Curve("no loss", tuple(Point(point.x, point.x) for point in (widest[0], widest[-1])))
    return curves(
        name,
        "What rounding and clipping take from a label effect",
        "Label effect that least squares finds on average in marks that are rounded and clipped, by the label effect before that, at the answers and "
        "labels of the run; the run's own fit is read off the curve backwards.",
        [*drawn, straight],
        x_words="before clipping, marks per point of label",
        y_words="fitted",
    )


def _points(table: Table) -> Iterator[tuple[float, float]]:
    """Points of a curve at round effects; the run's own, between them, stands in the table."""
    for row in table.records():
        effect, fitted = row["label_effect"], row["fitted"]
        if (
            isinstance(effect, float)
            and isinstance(fitted, float)
            and math.isclose(effect, round(effect, 4), abs_tol=1e-9)
        ):
            yield round(effect, 4), fitted


def loop_page(
    found: Sequence[tuple[str, Sequence[Estimate]]],
    curves_of: Sequence[tuple[str, Table]],
    settings: Mapping[str, object],
    note: str,
) -> str:
    """A Markdown page: what was simulated, numbers with intervals and definitions, and the attenuation curve."""
    parts = ["# The loop over a course", markdown_text(note)]
    for who, estimates in found:
        rows = [[display_name(one), value_text(one), *ends_text(one), printable(one.reason)] for one in estimates]
        parts += [
            f"## {markdown_text(who)}",
            str(pipe_table(["quantity", "value", "from", "to", "note"], rows, "lrrrl")),
        ]
    definitions = {one.id.rpartition("/")[0]: one.estimand for _, estimates in found for one in estimates}
    parts += ["## What the numbers are", str(pipe_table(["id", "definition"], list(definitions.items())))]
    for who, table in curves_of:
        rows = [
            [plain_number(cell, 4) if isinstance(cell, float) else str(cell) for cell in row[1:]] for row in table.rows
        ]
        parts += [
            f"## Rounding and clipping: {markdown_text(who)}",
            str(pipe_table(["label effect before clipping", "fitted on average"], rows, "r")),
        ]
    parts += ["## Settings"]
    for name, value in settings.items():
        lines = value.items() if isinstance(value, Mapping) else [("", value)]
        parts += [f"- {markdown_text(name)}: " + "; ".join(_setting(*one) for one in lines)]
    return "\n\n".join(parts) + "\n"


def _setting(name: str, value: object) -> str:
    """One setting in words; of a grader, its own."""
    own = (
        ", ".join(f"{key} {_plain(one)}" for key, one in value.items()) if isinstance(value, Mapping) else _plain(value)
    )
    return markdown_text(f"{name}: {own}" if name else own)


def _plain(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
