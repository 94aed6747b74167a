"""Gradings by arm: what is read of them, which are the control's, and which part each arm plays."""

import numpy as np
import polars as pl
import pytest
from arm_samples import LABELS, SCALE, labelled, told

from evenhand.auditing import read
from evenhand.audits.arms_roles import roles_of
from evenhand.tally.arms import folded, of_control, tally_arms
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import build_table


@pytest.fixture
def engine():
    with Engine() as opened:
        yield opened


def table_of(engine, frame, **options):
    several = {name: (text,) for name, text in options.items() if name in ("response", "judge")}
    return build_table(read(engine, [frame], Spec.of(**{**options, **several})))


def roles(engine, names, shown=None, marks=None):
    """The roles of arms by name, as they are read from four responses."""
    rng = np.random.default_rng(0)
    frame = told(np.round(rng.uniform(2, 8, (4, len(names))), 2), names)
    for column, values in (("label_shown", shown), ("shown_marks", marks)):
        if values is not None:
            frame = frame.with_columns(
                pl.col("arm").replace_strict(dict(zip(names, values, strict=True))).alias(column)
            )
    found = tally_arms(table_of(engine, frame, **SCALE), 0)
    of = roles_of(found)

    def name(at):
        return None if at is None else found.names[at]

    return {
        "control": name(of.control), "neutral": name(of.neutral), "own": name(of.own), "swapped": name(of.swapped),
        "levels": [name(at) for at in of.levels], "examples": {kind: name(at) for kind, at in of.examples.items()},
    }  # fmt: skip


def test_every_grading_is_read_with_what_was_shown(engine) -> None:
    frame = labelled(seed=1, n_learners=4, n_items=3, repeats=2)
    found = tally_arms(table_of(engine, frame, **LABELS), 0)
    assert found.names == ("control", "swapped", "true")
    assert (found.n_responses, len(found.mark)) == (12, 48)
    assert found.control == 0
    assert (found.low, found.high) == (0, 10)
    assert found.learners.names == ("s0", "s1", "s2", "s3")
    assert found.questions.names == ("q0", "q1", "q2")
    assert found.tails == ("high", "low")
    assert np.isnan(found.label[:, 0]).all()
    assert np.isfinite(found.label[:, 1:]).all()
    by_hand = {(row["response_id"], row["arm"], row["occasion"]): row["mark"] for row in frame.to_dicts()}
    ids = sorted({response for response, _, _ in by_hand})
    for run in range(len(found.mark)):
        key = (ids[found.response[run]], found.names[found.arm[run]], found.occasions[found.occasion[run]])
        assert found.mark[run] == pytest.approx(float(by_hand[key]))


def test_where_clusters_are_learners_questions_come_from_their_own_column(engine) -> None:
    frame = labelled(seed=1, n_learners=4, n_items=3)
    found = tally_arms(table_of(engine, frame, **{**LABELS, "cluster": "learner_id"}), 0)
    assert found.questions.names == ("q0", "q1", "q2")
    assert found.learners.names == ("s0", "s1", "s2", "s3")


def test_the_control_alone(engine) -> None:
    table = table_of(engine, labelled(seed=1, n_learners=4, n_items=3, repeats=2), **LABELS)
    control = of_control(table)
    assert engine.one(f"SELECT count(*) FROM {control.relation}") == (24,)
    assert engine.one(f"SELECT count(*) FROM {table.relation}") == (48,)
    assert control.n_responses == 12


def test_without_a_known_control_everything_stays(engine) -> None:
    table = table_of(engine, told([[1.0, 2], [2, 3]], ("a", "b")), **SCALE)
    assert of_control(table) is table
    one_arm = table_of(engine, told([[1.0], [2.0]], ("control",)), **SCALE)
    assert of_control(one_arm) is one_arm
    assert tally_arms(one_arm, 0) is None


@pytest.mark.parametrize(
    ("names", "shown", "expected"),
    [
        (("control", "high", "low", "mid", "neutral"), ("", "9.0", "2.0", "5", ""), {"control": "control", "levels": ["low", "mid", "high"]}),
        (("none", "low", "high"), None, {"control": "none", "levels": ["low", "high"]}),
        (("Control", "Label High", "label_low"), None, {"levels": ["label_low", "Label High"]}),
        # an earlier attempt is no label
        (("control", "prior_low", "prior_high"), None, {"levels": []}),
        (("control", "true", "swapped"), None, {"own": "true", "swapped": "swapped", "levels": []}),
        (("control", "own label", "opposite tail"), None, {"own": "own label", "swapped": "opposite tail"}),
        (("control", "high", "low", "neutral"), None, {"neutral": "neutral", "levels": ["low", "high"]}),
    ],
)  # fmt: skip
def test_roles_of_labels(engine, names, shown, expected) -> None:
    found = roles(engine, names, shown)
    assert {name: found[name] for name in expected} == expected


def test_roles_of_examples(engine) -> None:
    names = ("control", "correct", "shuffled", "shift_up", "shift_down", "unmarked_examples")
    expected = {
        "correct": "correct",
        "shuffled": "shuffled",
        "up": "shift_up",
        "down": "shift_down",
        "unmarked": "unmarked_examples",
    }
    assert roles(engine, names, marks=("", "2 5 8", "5 8 2", "4 7 10", "0 3 6", ""))["examples"] == expected
    assert roles(engine, ("control", "true", "swapped"))["examples"] == {}


def test_names_are_folded() -> None:
    assert folded("Label_True ") == "label true"
    assert folded("  ") == ""
