"""`evenhand reproduce grader-context --replay`: planted effects come back, and an audit that misses them is noticed."""

import json
from collections import Counter

import numpy as np
import pytest

from evenhand.audits import arms
from evenhand.reproducing import grader_context_replay as reproduction
from evenhand.reproducing import grader_context_worlds as worlds


@pytest.fixture(scope="module")
def lines():
    return reproduction.replay()


def test_what_is_planted_is_recovered(lines) -> None:
    assert [line for line in lines if line.fails] == []
    counts = Counter(line.verdict for line in lines)
    assert counts["within Monte-Carlo error"] >= 60
    assert counts["not determined"] <= 6
    assert len({(line.place, line.quantity) for line in lines}) == len(lines)


def test_the_same_seed_gives_the_same_lines(lines) -> None:
    assert reproduction.replay() == lines


def test_the_draw_has_the_shape_of_the_study() -> None:
    draw = worlds.draw_labels(np.random.default_rng(0))
    assert (len(draw.reference), draw.n_learners) == (300, 33)
    assert np.bincount(draw.tail).tolist() == [150, 150]
    assert (draw.own[draw.tail == 0] >= 6).all()
    assert (draw.own[draw.tail == 1] < 4).all()
    assert (np.sign(draw.own - draw.swapped) == np.where(draw.tail == 0, 1, -1)).all()
    examples = worlds.draw_examples(np.random.default_rng(0))
    assert (examples.shown["shuffled"].mean(axis=1) == examples.shown["correct"].mean(axis=1)).all()
    assert examples.shown["up"].max() == 10


def test_expected_marks_are_the_means_of_many_draws() -> None:
    rng = np.random.default_rng(1)
    draw = worlds.draw_labels(rng)
    (grader,) = [one for one in reproduction.GRADERS if one.name == "open"]
    total = dict.fromkeys(("control", "true", "swapped"), 0.0)
    for _ in range(300):
        for row in worlds._label_rows(draw, [grader], rng):
            if row[5] in total:
                total[row[5]] += float(row[8])
    for arm, mean in draw.expected(grader).items():
        if arm in total:
            assert total[arm] / (300 * 300) == pytest.approx(mean.mean(), abs=0.015)


def test_an_audit_that_misses_an_effect_fails_the_command(command, tmp_path, monkeypatch) -> None:
    own = arms.label_arms

    def halved(view):
        return [
            type(one)(*(getattr(one, name) / 2 if name == "effect" else getattr(one, name) for name in one.__slots__))
            for one in own(view)
        ]

    monkeypatch.setattr(arms, "label_arms", halved)
    ending = command("reproduce", "grader-context", "--replay", "--out", "lines.json")
    assert ending.code == 1
    assert "label_effect[model=open]/true-swapped" in ending.err
    document = json.loads((tmp_path / "lines.json").read_text(encoding="utf-8"))
    assert document["n_failed"] > 0
    assert document["source"] == reproduction.SOURCE


def test_a_seed_without_replay_is_refused(refused) -> None:
    refused("reproduce", "grader-context", "--seed", "3", says="say --replay, or leave --seed out")


@pytest.mark.slow
def test_other_seeds_recover_as_well() -> None:
    for seed in range(4):
        assert [line for line in reproduction.replay(seed) if line.fails] == []
