"""What a comparison or a chart says, as lines for a terminal, a document for a machine, and a page for a reader."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.ids import EstimateId
from evenhand.output import Kind, new_folder
from evenhand.report.control_drawing import ControlPoint, control_chart
from evenhand.report.sheet import Sheet, SheetTable, sheet_html, sheet_markdown
from evenhand.report.standalone import svg_file
from evenhand.report.svg import Drawing
from evenhand.report.tables import number_text
from evenhand.watching.charting import Charted, Charting
from evenhand.watching.comparing import Compared, Comparison
from evenhand.watching.control import FEWEST

SCHEMA = "evenhand.change/1"
KIND = Kind("check", ("change.json", "report.md", "report.html", "charts"), "change.json", "evenhand.change")
_COLUMNS = ("id", "old", "new", "change", "from", "to", "p", "smallest findable", "verdict")


def comparison_rows(found: Comparison) -> list[list[str]]:
    """One row a number, rounded for reading."""
    return [_row(one) for one in found.rows]


def _row(one: Compared) -> list[str]:
    name = EstimateId.parse(one.id).statistic
    numbers = [_shown(name, value) for value in (one.old, one.new)]
    numbers += [_moved(name, value) for value in (one.change.estimate, one.low, one.high)]
    p = "" if math.isnan(one.p_value) else f"{one.p_value:.3f}" if one.p_value >= 0.001 else "<0.001"
    verdict = "no change" if one.change.status == "same" else one.verdict
    return [one.id, *numbers, p, _moved(name, one.findable), verdict]


def _shown(name: str, value: float) -> str:
    return "" if math.isnan(value) else number_text(name, value)


def _moved(name: str, value: float) -> str:
    """A difference; between two percentages it is one of points."""
    said = _shown(name, value)
    return f"{said.removesuffix(' %')} pts" if said.endswith(" %") else said


def comparison_sentences(found: Comparison) -> list[str]:
    """What can be said, the call first."""
    alarms = [one for one in found.rows if one.verdict == "alarm"]
    rate = f"{found.false_alarm:g}"
    if alarms:
        moved = "; ".join(
            f"{one.id} {'rose' if one.change.estimate > 0 else 'fell'} by {_moved(EstimateId.parse(one.id).statistic, abs(one.change.estimate))}"
            for one in alarms
        )
        said = [f"alarm: {moved}"]
    elif found.verdict == "undecided":
        said = ["undecided: no watched number has a standard error of its change"]
    elif all(one.change.status != "ok" for one in found.rows if one.verdict != "undecided"):
        said = ["no change: both audits hold the same counts in every cluster"]
    else:
        said = ["no change shown, which is not the same as none: the column before the verdict says the smallest change found with 80 % power"]  # fmt: skip
    said.append(
        f"where nothing has changed, a comparison like this raises any alarm in at most {rate} of cases over its {len(found.rows)} "
        "numbers together; intervals hold for all of them at once"
    )
    return [*said, found.pairing]


def reasons(found: Comparison) -> list[str]:
    """Why a number could not be judged, or how its error was made."""
    return [f"{one.id}: {one.change.reason}" for one in found.rows if one.change.reason and one.change.status != "same"]


def comparison_document(found: Comparison, new: str, old: str) -> dict[str, object]:
    """The comparison at full precision; what is undefined is null and has a reason."""
    return {
        "schema": SCHEMA,
        "kind": "change",
        "new": new,
        "old": old,
        "verdict": found.verdict,
        "false_alarm": found.false_alarm,
        "confidence_level": found.level,
        "clusters": {"shared": found.n_shared, "only_new": found.n_new, "only_old": found.n_old},
        "changes": [
            {
                "id": one.id,
                "new": _number(one.new),
                "old": _number(one.old),
                "change": _number(one.change.estimate),
                "std_error": _number(one.change.std_error),
                "df": _number(one.change.df),
                "ci_low": _number(one.change.low),
                "ci_high": _number(one.change.high),
                "simultaneous": [_number(one.low), _number(one.high)],
                "p_value": _number(one.p_value),
                "detectable": _number(one.findable),
                "clusters": {
                    "shared": one.change.n_shared,
                    "only_new": one.change.n_new,
                    "only_old": one.change.n_old,
                },
                "status": one.change.status,
                "reason": one.change.reason,
                "verdict": one.verdict,
            }
            for one in found.rows
        ],
        "notes": list(found.notes),
    }


def comparison_sheet(found: Comparison, new: str, old: str) -> Sheet:
    """The comparison as a page."""
    note = f"new minus old; ends hold for all {len(found.rows)} numbers at once, at {100 * (1 - found.false_alarm):g} %"
    table = SheetTable("Changes", _COLUMNS, tuple(tuple(row) for row in comparison_rows(found)), note)
    notes = (*found.notes, *reasons(found))
    return Sheet(
        SCHEMA, "Change between audits", f"{new} against {old}", tuple(comparison_sentences(found)), notes, (table,)
    )


def charting_sentences(found: Charting) -> list[str]:
    """What the charts say."""
    alarms = found.alarms
    k = len(found.places) - 1
    said = [f"alarm: {'; '.join(alarms)}" if alarms else "no alarm: the newest audit is one more of the earlier ones"]
    if found.verdict == "undecided":
        said = ["undecided: no chart has limits"]
    if any(not one.chart.reason for one in found.charts):
        limited = next(one.chart for one in found.charts if not one.chart.reason)
        said.append(
            f"limits are where one more audit lies if nothing has changed, from {k} earlier audits and how far they lie apart beyond their own "
            f"error; over {len(found.charts)} numbers and two rules (one value outside; moving average, weight {found.weight:g}) a false alarm comes in at "
            f"most {found.false_alarm:g} of audits, so one in {1 / found.false_alarm:,.0f} audits or fewer; without change a chart's "
            f"value stays inside for {limited.run_length:,.0f} audits on average, and its moving average for {limited.average_run_length:,.0f} (were centre "
            "and spread known)"
        )
    elif k < FEWEST:
        said.append(f"{k} earlier audits say nothing of how far audits lie apart by themselves: limits need {FEWEST}")
    return said


def chart_rows(one: Charted, names: Sequence[str]) -> list[list[str]]:
    """A chart's numbers, one row an audit."""
    name, of = EstimateId.parse(one.id).statistic, one.chart
    columns = (of.values, of.std_errors, of.low, of.high, of.average, of.average_low, of.average_high)
    return [
        [f"{at + 1} {audit}", *(_shown(name, float(column[at])) for column in columns)]
        for at, audit in enumerate(names)
    ]


SUMMARY_COLUMNS = ("id", "newest", "centre", "limit from", "to", "average", "limit from", "to", "verdict")


def summary_rows(found: Charting) -> list[list[str]]:
    """The newest audit on every chart."""
    rows = []
    for one in found.charts:
        of, name = one.chart, EstimateId.parse(one.id).statistic
        last = (of.low[-1], of.high[-1], of.average[-1], of.average_low[-1], of.average_high[-1])
        numbers = (float(of.values[-1]), of.centre, *map(float, last))
        rows.append([one.id, *(_shown(name, value) for value in numbers), one.verdict])
    return rows


CHART_COLUMNS = ("audit", "value", "its error", "limit from", "to", "average", "limit from", "to")


def charting_sheet(found: Charting) -> Sheet:
    """The charts as a page, a table under each."""
    tables = tuple(
        SheetTable(one.id, CHART_COLUMNS, tuple(tuple(row) for row in chart_rows(one, found.places)), _note(one))
        for one in found.charts
    )
    said = tuple(charting_sentences(found))
    return Sheet(SCHEMA, "Control chart", found.places[-1], said, found.notes, tables, tuple(drawings(found)))


def _note(one: Charted) -> str:
    of, name = one.chart, EstimateId.parse(one.id).statistic
    if of.reason:
        return f"no limits: {of.reason}"
    return (
        f"centre {_shown(name, of.centre)}, SD between audits {_shown(name, of.between_sd)} (Paule–Mandel), limits at t({of.df:g}) = {of.t:.2f} "
        f"errors of prediction; p {of.p_value:.3g} of the newest value, {of.average_p_value:.3g} of its moving average"
    )


def drawings(found: Charting) -> list[Drawing]:
    """One a chart with a value in every audit."""
    made = []
    for at, one in enumerate(found.charts):
        of = one.chart
        if not np.isfinite(of.values).all():
            continue
        limited = not of.reason
        points = [
            ControlPoint(
                place,
                float(of.values[i]),
                float(of.low[i]) if limited else None,
                float(of.high[i]) if limited else None,
                float(of.average[i]) if limited else None,
            )
            for i, place in enumerate(found.places)
        ]
        said = "Circles: audits, the newest filled. " + (
            "Short bars: where each may lie if nothing has changed; dotted: moving average." if limited else f"No limits: {of.reason}."
        )  # fmt: skip
        made.append(control_chart(f"chart-{at + 1}", one.id, said, points, of.centre if limited else None))
    return made


def charting_document(found: Charting) -> dict[str, object]:
    """The charts at full precision."""
    lists = ("values", "std_errors", "low", "high", "average", "average_low", "average_high")
    numbers = ("centre", "between_sd", "t", "df", "p_value", "average_p_value", "run_length", "average_run_length")
    return {
        "schema": SCHEMA,
        "kind": "chart",
        "audits": [{"place": place, "started": started} for place, started in zip(found.places, found.started, strict=True)],
        "verdict": found.verdict,
        "false_alarm": found.false_alarm,
        "ewma_weight": found.weight,
        "charts": [
            {
                "id": one.id,
                **{name: [_number(float(v)) for v in getattr(one.chart, name)] for name in lists},
                **{name: _number(getattr(one.chart, name)) for name in numbers},
                "reason": one.chart.reason,
                "verdict": one.verdict,
            }
            for one in found.charts
        ],
        "notes": list(found.notes),
    }  # fmt: skip


def to_json(document: dict[str, object]) -> str:
    """Strict JSON with a final newline."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def write_sheet(document: dict[str, object], sheet: Sheet, out: Path, kind: Kind = KIND) -> None:
    """Write the folder, whole or not at all: the document, the page as Markdown and HTML, the drawings.

    Raises:
        OutputError: the place holds something foreign, or cannot be written.
    """
    with new_folder(out, kind=kind) as draft:
        (draft / kind.document).write_text(to_json(document), encoding="utf-8", newline="\n")
        (draft / "report.md").write_text(sheet_markdown(sheet), encoding="utf-8", newline="\n")
        (draft / "report.html").write_text(sheet_html(sheet), encoding="utf-8", newline="\n")
        for drawing in sheet.drawings:
            (draft / "charts").mkdir(exist_ok=True)
            (draft / "charts" / f"{drawing.name}.svg").write_text(svg_file(drawing), encoding="utf-8", newline="\n")


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
