"""The judge against itself: tables and a drawing of what it was told."""

from collections.abc import Iterator, Sequence

from evenhand.errors import printable
from evenhand.report import drawings
from evenhand.report.arms_words import contrast, is_repeat, named_arms, of_judge
from evenhand.report.contrasts import TESTED, tested_cells, text_cell
from evenhand.report.drawings import ForestRow, Panel
from evenhand.report.figures import Figure
from evenhand.report.numbers import Cell, NumberTable, Row, card, cell
from evenhand.report.tables import NAMES, display_name, ends_text, value_text
from evenhand.results import Audit, Estimate

_LEVELS = ("bias", "mae", "quadratic_weighted_kappa", "pearson_r")
_CHANGES = ("mae", "quadratic_weighted_kappa", "pearson_r")
_MOVES = ("drift", "label_effect", "label_effect_share")
_LOOP = (
    "loop_eigenvalue",
    "loop_runaway_multiple",
    "loop_multiplier",
    "loop_total",
    "loop_belief_error",
    "loop_strong_belief",
    "loop_recovery",
)
_OTHERS = ("dose_slope", "dose_ratio", "pass_through", "learner_sd", *_LOOP)
_SAME_WORK = "The same responses, so whatever moves a mark is what the judge was told. No reference is needed."
_LANDS = "Agreement also rises where marks merely land elsewhere; r alone says whether work is ranked better."
_MOST_DRAWN = 24


def arm_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """Moves of the mark, agreement under each arm and its change, toward or away, dose and the rest."""
    found = of_judge(audit, judge)
    moves = [one for one in found if one.statistic in _MOVES and not is_repeat(one)]
    others = [one for one in found if one.statistic in _OTHERS or is_repeat(one)]
    tables = (
        NumberTable("The judge against itself: identical work, told something else", TESTED, tuple(_tested(audit, moves)), "contrast", _SAME_WORK),
        NumberTable("Towards the reference or away from it", ("drift", "bias of the control", "bias of the arm", "nearer by", "word"),
            tuple(_toward(audit, found)), "arm"),
        NumberTable("Agreement with the reference under each arm", tuple(NAMES[name] for name in _LEVELS), tuple(_levels(audit, found)), "arm"),
        NumberTable("Change of agreement from the control", (*(NAMES[name] for name in _CHANGES), "verdict on the error", "verdict on κ"),
            tuple(_changes(audit, found)), "contrast", _LANDS),
        NumberTable("Dose, examples, learners and repeats", ("value",), tuple(_single(audit, one) for one in others), "number", folded=True),
    )  # fmt: skip
    return tuple(table for table in tables if table.rows)


def _tested(audit: Audit, found: Sequence[Estimate]) -> Iterator[Row]:
    for one in found:
        name = NAMES.get(one.statistic, one.statistic)
        yield Row(f"{name}: {contrast(one)}", tested_cells(one), "", (card(audit, one),))


def _toward(audit: Audit, found: Sequence[Estimate]) -> Iterator[Row]:
    at = {
        (one.source, _key(one), one.params.get("quantity", "")): one for one in found if one.statistic == "toward_away"
    }
    for (source, key, quantity), one in at.items():
        if quantity:
            continue
        parts = [at.get((source, key, name)) for name in ("drift", "bias", "bias_arm")]
        cells: list[Cell | None] = [cell(part) if part is not None else None for part in (*parts, one)]
        cards = tuple(card(audit, part) for part in (one, *parts) if part is not None)
        yield Row(contrast(one), (*cells, text_cell(printable(one.reason))), "", cards)


def _key(one: Estimate) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in one.params.items() if name not in ("quantity", "metric"))


def _levels(audit: Audit, found: Sequence[Estimate]) -> Iterator[Row]:
    mine = [one for one in found if one.statistic in _LEVELS and "estimand" not in one.params and not _is_change(one)]
    for source, key in dict.fromkeys((one.source, _key(one)) for one in mine):
        at = {one.statistic: one for one in mine if (one.source, _key(one)) == (source, key)}
        numbers = [at.get(name) for name in _LEVELS]
        first = next(one for one in numbers if one is not None)
        yield Row(contrast(first), tuple(cell(one) if one is not None else None for one in numbers), "",
            tuple(card(audit, one) for one in numbers if one is not None))  # fmt: skip


def _is_change(one: Estimate) -> bool:
    return named_arms(one).endswith("-control")


def _changes(audit: Audit, found: Sequence[Estimate]) -> Iterator[Row]:
    mine = [one for one in found if one.statistic in _CHANGES and _is_change(one) and not is_repeat(one)]
    said = {
        (one.source, _key(one), one.params["metric"]): one
        for one in found
        if one.statistic == "equivalence" and "quantity" not in one.params
    }
    for source, key in dict.fromkeys((one.source, _key(one)) for one in mine):
        at = {one.statistic: one for one in mine if (one.source, _key(one)) == (source, key)}
        numbers = [at.get(name) for name in _CHANGES]
        verdicts = [said.get((source, key, name)) for name in ("mae", "quadratic_weighted_kappa")]
        words = [text_cell(printable(one.reason)) if one is not None else None for one in verdicts]
        first = next(one for one in numbers if one is not None)
        cards = tuple(card(audit, one) for one in (*numbers, *verdicts) if one is not None)
        yield Row(contrast(first), (*(cell(one) if one is not None else None for one in numbers), *words), "", cards)


def _single(audit: Audit, one: Estimate) -> Row:
    return Row(f"{display_name(one)}: {printable(one.source.split(':')[0])}", (cell(one),), "", (card(audit, one),))


def arm_figures(audit: Audit, judge: str, key: str) -> Iterator[Figure]:
    """A forest of the contrasts of marks: drifts, label effects, and their tails."""
    found = [
        one
        for one in of_judge(audit, judge)
        if one.statistic in ("drift", "label_effect") and not is_repeat(one) and one.status == "ok"
    ]
    rows = tuple(
        ForestRow(contrast(one), one.estimate, one.ci_low, one.ci_high, value_text(one), ends_text(one))
        for one in found[:_MOST_DRAWN]
    )
    if rows:
        drawing = drawings.forest(
            f"{key}-arms", (Panel("Marks moved on identical work", rows, percent=False),), "What the judge was told"
        )
        table = tuple((row.label, row.text, *row.ends) for row in rows)
        yield Figure(drawing, ("contrast", "marks", "from", "to"), table, len(found) - len(rows))
