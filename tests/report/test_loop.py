"""The page and the drawings of a course: every number with its definition, names as text, curves as they are."""

import pytest
from label_runs import RUN, label_run

import evenhand
from evenhand.report.loop import attenuation_drawing, loop_page, multiplier_drawing, recovery_drawing
from evenhand.report.loop_words import loop_sentences
from evenhand.report.standalone import svg_file
from evenhand.report.svg import Circle
from evenhand.report.tables import ends_text, value_text
from evenhand.results import Table
from evenhand.simulate.loop_runs import label_runs
from evenhand.simulate.loop_study import Wishes, study

SHORT = Wishes(n_learners=40, n_items=12, n_draws=10)


@pytest.fixture(scope="module")
def audit():
    return evenhand.audit(label_run(seed=3), **RUN, resamples=200).audit


@pytest.fixture(scope="module")
def studied(audit):
    (run,) = label_runs(audit)
    return study(run.grader, run, SHORT)


def curve(points) -> Table:
    return Table(
        columns=("grader", "label_effect", "fitted"), rows=tuple(("g", *map(float, point)) for point in points)
    )


def test_the_page_defines_every_number_it_shows(studied) -> None:
    page = loop_page(
        [("a|b", studied.estimates)],
        [("a|b", curve([(0, 0), (0.1, 0.09)]))],
        {"draws": 10, "cohort": {"a": {"sd": 1.25}}},
        "A note.",
    )
    assert "a\\|b" in page
    for one in studied.estimates:
        assert (
            one.estimand.replace("*", "\\*").replace("[", "\\[").replace("]", "\\]") in page
            or one.statistic == "dose_slope"
        )
    assert "| 0.1000 | 0.0900 |" in page
    assert "- cohort: a: sd 1.25" in page


def test_a_curve_of_attenuation_lies_below_no_loss_and_leaves_odd_effects_to_the_table() -> None:
    drawing = attenuation_drawing(
        "loop-attenuation", [("g", curve([(0, 0), (0.1, 0.09), (0.123456, 0.11), (0.2, 0.17)]))]
    )
    points = [mark for mark in drawing.marks if isinstance(mark, Circle)]
    assert len([mark for mark in points if mark.title]) == 3 + 2  # three round effects, and the two ends of no loss
    assert "no loss" in svg_file(drawing)


def test_multipliers_are_drawn_with_their_ends_and_nothing_where_there_is_none(studied) -> None:
    drawing = multiplier_drawing("loop-multiplier", [("g", studied.estimates)])
    assert "Spread fed back" in svg_file(drawing)
    assert multiplier_drawing("loop-multiplier", [("g", ())]) is None


def test_paths_are_drawn_at_a_few_items(studied) -> None:
    drawing = recovery_drawing("loop-recovery", "<g>", studied.paths)
    text = svg_file(drawing)
    assert "&lt;g&gt;" in text
    assert text.count("<circle") == 3 * 9 + 3  # at nine items, and beside the names; the fourth curve has squares
    assert text.count("<rect") == 9 + 1


def test_sentences_are_of_the_judge_alone(audit) -> None:
    (said,) = loop_sentences(audit, "judge")
    assert "default settings" in said
    assert "eigenvalue" in said
    assert "runaway multiple" in said
    assert "simulate loop --from" in said
    assert loop_sentences(audit, "another") == []


def test_items_are_whole_numbers_and_their_ratio_is_not(studied) -> None:
    (items,) = (one for one in studied.estimates if one.id.startswith("loop_recovery/"))
    (ratio,) = (one for one in studied.estimates if one.id.startswith("loop_recovery[quantity=ratio]/"))
    known = {"status": "ok", "estimate": 3.0, "ci_low": 2.0, "ci_high": 4.0}
    shown = [one.model_copy(update=known) for one in (items, ratio)]
    assert [(value_text(one), *ends_text(one)) for one in shown] == [("3", "2", "4"), ("3.000", "2.000", "4.000")]
