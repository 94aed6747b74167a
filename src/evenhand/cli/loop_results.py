"""What `simulate loop` prints and writes."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.cli.simulating import Results, Value, csv_text, table, wrapped
from evenhand.errors import printable

if TYPE_CHECKING:
    from evenhand.report.svg import Drawing
    from evenhand.results import Audit, Estimate, Table
    from evenhand.simulate.loop import Cohort, Course
    from evenhand.simulate.loop_study import Studied, Wishes

_COLUMNS = ("grader", "id", "value", "low", "high", "status", "reason", "definition")
_NOTE = (
    "Ends hold the confidence level's share of draws over learners and over what is not known of the grader; all ways of labelling share learners, "
    "answers and noise. These are properties of the simulation, not observations of a course."
)
_MOST_PATHS = 6
_OF_RUN = {
    "dose_slope[against=control]": "label effect as fitted, marks per point of label: least squares of (mark under a "
    "label - mark under the control) on label, reference mark and 1 over all labels",
    "dose_slope[against=control,clipping=undone]": "the same before rounding and clipping, which make the fit "
    "smaller: what the course is simulated with",
}


def results_of(found: Sequence["Studied"], base: "Audit | None", asked: "Wishes") -> Results:
    """Rows, files and drawings of all graders; `base` is the audit of the run that they were fitted from."""
    from evenhand.report.loop import loop_page
    from evenhand.simulate.loop_audit import given_audit, run_audit_of

    estimates = [one for each in found for one in each.estimates]
    names = [each.grader.name for each in found]
    audit = (
        run_audit_of(base, estimates, _NOTE)
        if base is not None
        else given_audit(names, found[0].course, estimates, asked.level, asked.seed, _NOTE)
    )
    settings = {
        "graders": {
            each.grader.name: {**each.grader.parameters, "label_effect_error": each.grader.label_effect_error}
            for each in found
        },
        "fitted": {each.grader.name: dict(each.run.fitted) for each in found if each.run is not None},
        "course": {each.grader.name: _fields(each.course) for each in found},
        "cohort": {each.grader.name: _fields(each.cohort) for each in found},
        "draws": asked.n_draws,
        "confidence_level": asked.level,
        "seed": asked.seed,
    }
    rows = tuple(_row(each, one) for each in found for one in each.estimates)
    curves = _curves(found)
    shown = [(each.grader.name, each.estimates) for each in found]
    texts = {"audit.json": audit.to_json(), "loop.md": loop_page(shown, curves, settings, _NOTE)}
    if curves:
        texts["attenuation.csv"] = _attenuation_csv(curves)
    return Results("loop", settings, _COLUMNS, rows, tuple(_drawings(found, curves)), _NOTE, texts)


def _row(each: "Studied", one: "Estimate") -> tuple[Value, ...]:
    numbers = map(_cell, (one.estimate, one.ci_low, one.ci_high))
    return (each.grader.name, one.id, *numbers, one.status, one.reason, one.estimand)


def _cell(value: float | None) -> float:
    return float("nan") if value is None else value


def _fields(one: "Course | Cohort") -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def _curves(found: Sequence["Studied"]) -> "list[tuple[str, Table]]":
    """The attenuation curve of each run, under the grader's name."""
    from evenhand.results import Table

    columns = ("grader", "label_effect", "fitted")
    return [
        (
            each.grader.name,
            Table(columns=columns, rows=tuple((each.grader.name, *point) for point in each.run.curve.tolist())),
        )
        for each in found
        if each.run is not None
    ]


def _attenuation_csv(curves: "Sequence[tuple[str, Table]]") -> str:
    rows = [
        [cell if isinstance(cell, str | float) else str(cell) for cell in row] for _, one in curves for row in one.rows
    ]
    return csv_text([curves[0][1].columns, *rows])


def _drawings(found: Sequence["Studied"], curves: "Sequence[tuple[str, Table]]") -> "Iterator[Drawing]":
    from evenhand.report.loop import attenuation_drawing, multiplier_drawing, recovery_drawing

    for at, each in enumerate(found[:_MOST_PATHS], start=1):
        yield recovery_drawing("loop-recovery" if at == 1 else f"loop-recovery-{at}", each.grader.name, each.paths)
    drawn = multiplier_drawing("loop-multiplier", [(each.grader.name, each.estimates) for each in found])
    if drawn is not None:
        yield drawn
    if curves:
        yield attenuation_drawing("loop-attenuation", curves)


def text_of(found: Sequence["Studied"]) -> str:
    """Numbers of every grader, and what they are."""
    from evenhand.report.tables import ends_text, missing_text, value_text
    from evenhand.simulate.loop_estimates import DEFINITIONS, LABELS, eigenvalue_words, runaway_words

    parts = []
    for each in found:
        rows = [
            [one.id.rpartition("/")[0], value_text(one), *ends_text(one), missing_text(one)] for one in each.estimates
        ]
        parts += [table([printable(each.grader.name), "value", "low", "high", ""], rows), ""]
        if each.run is not None and each.run.corrected.reason and each.run.corrected.ci_low is not None:
            parts += [wrapped(f"Note: {printable(each.run.corrected.reason)}."), ""]
    course = found[0].course
    said = {"loop_eigenvalue": eigenvalue_words(course), "loop_runaway_multiple": runaway_words(course), **DEFINITIONS}
    if any(each.run is not None for each in found):
        said = {**_OF_RUN, **said}
    labels = ", ".join(f"[label={name}] {words}" if name else f"else {words}" for name, words in LABELS.items())
    parts += [*(wrapped(f"{name}: {words}.") for name, words in said.items()), wrapped(f"Labels: {labels}. {_NOTE}")]
    return "\n".join(parts)
