"""`evenhand reproduce grader-context`: no line fails, what is not determined is said, and a wrong function is noticed."""

import json

import numpy as np
import pytest

from evenhand.reproducing import grader_context as reproduction
from evenhand.reproducing.grader_context import allowed, grader_context, reached
from evenhand.stats import loop


@pytest.fixture(scope="module")
def lines():
    return grader_context()


def test_no_line_fails_and_no_place_repeats_a_quantity(lines):
    assert [line for line in lines if line.fails] == []
    assert len(lines) > 60
    assert len({(line.place, line.quantity) for line in lines}) == len(lines)


@pytest.mark.parametrize(
    ("quantity", "published"),
    [
        ("largest eigenvalue, Qwen3-235B", "0.757"),
        ("runaway, times the latent effect, GPT-4.1-mini", "11.8"),
        ("w, what one grade moves", "0.23"),
        ("reliability of two reads", "0.86"),
        ("no QWK gain larger than, Gemini 3.5 Flash Lite", "0.017"),
        ("pass-through", "0.39"),
    ],
)
def test_what_the_text_fixes(lines, quantity: str, published: str):
    (line,) = [line for line in lines if line.quantity.startswith(quantity) and line.published == published]
    assert line.verdict == "exact"


def test_what_it_does_not_fix_is_no_claim(lines):
    left = [line.quantity for line in lines if line.verdict == "not determined"]
    assert [name for name in left if name.startswith("loop multiplier")] != []
    assert "attenuation by clipping" in left
    assert "gaps at equal true quality" in left


def test_verdict_rules_by_hand():
    assert allowed(0.01, 0.04, 0.02) == ("gain",)
    assert allowed(-0.19, -0.03, 0.1) == ("loss",)
    assert allowed(-0.01, 0.017, 0.02) == ("equivalent",)
    assert allowed(-0.021, 0.027, 0.02) == ("equivalent", "inconclusive")


def test_reached_is_exact_open_or_wrong_by_the_rounding_of_its_inputs():
    def minus(one: float, other: float) -> float:
        return one - other

    assert reached("p", "q", "0.21", ("0.06", "-0.15"), minus).verdict == "exact"
    assert reached("p", "q", "0.22", ("0.06", "-0.15"), minus).verdict == "not determined"
    assert reached("p", "q", "0.24", ("0.06", "-0.15"), minus).fails


def test_no_open_verdict_and_no_chosen_reading_counts_as_exact(lines):
    for line in lines:
        if "90 % interval" in line.note or "our reading" in line.note or "is not said" in line.note:
            assert line.verdict == "not determined"
    (removed,) = [line for line in lines if line.quantity == "gain where an offset of .32 is removed"]
    assert "0.0047" in removed.note
    assert "0.0064" in removed.note


def test_command_prints_saves_and_notices_a_wrong_function(command, tmp_path, monkeypatch):
    ending = command("reproduce", "grader-context", "--out", "lines.json")
    assert ending.code == 0, ending.said
    assert json.loads((tmp_path / "lines.json").read_text(encoding="utf-8"))["n_failed"] == 0
    own = loop.weight_of_mark
    monkeypatch.setattr(reproduction.of, "weight_of_mark", lambda *given: np.asarray(own(*given) + 0.01))
    wrong = command("reproduce", "grader-context")
    assert wrong.code == 1
    assert "w, what one grade moves: 0.23 came out as 0.24" in wrong.err
