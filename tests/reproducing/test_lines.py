"""A line's verdict: digits, Monte-Carlo errors, identities, slips; and what makes a command fail."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import UnmetRequirementError
from evenhand.reproducing.lines import (
    as_json,
    held_exactly,
    identity,
    not_computed,
    numbers,
    printed,
    require,
    simulated,
    slip,
    statement,
    summary,
    text,
)


@pytest.mark.parametrize(
    ("published", "value", "verdict"),
    [
        ("0.408", 0.40824829, "exact"),
        ("0.813", 0.8125, "exact"),  # a tie: either rounding counts
        ("0.812", 0.8125, "exact"),
        ("0.408", 0.4086, "differs"),
        ("4.72%", 85 / 1800, "exact"),
        ("4.72%", 0.0473, "differs"),
        ("-0.073", -0.07307, "exact"),
        ("−0.073", -0.07307, "exact"),
        ("0", 0.0, "exact"),
        ("5", 6.0, "differs"),
        ("0.5", math.nan, "differs"),
        ("0.5", math.inf, "differs"),
        (".5223", 0.52234, "exact"),
    ],
)
def test_digits(published: str, value: float, verdict: str):
    line = held_exactly("here", "it", published, value)
    assert line.verdict == verdict
    assert line.fails == (verdict == "differs")
    assert bool(line.note) == (verdict == "differs")


@given(value=st.floats(-1000, 1000), digits=st.integers(0, 6))
def test_a_value_matches_its_own_rounding_and_not_a_unit_further(value: float, digits: int):
    assert held_exactly("", "", f"{value:.{digits}f}", value).verdict == "exact"
    assert held_exactly("", "", f"{value:.{digits}f}", value + 1.1 * 10**-digits).verdict == "differs"


def test_printed_digits_and_units():
    assert printed(0.0472222, "4.7%") == "4.7%"
    assert printed(0.5, "0.123") == "0.500"
    assert printed(math.nan, "0.1") == "undefined"


@pytest.mark.parametrize(
    ("mean", "std_error", "verdict"),
    [
        (0.50, 0.01, "within Monte-Carlo error"),
        (0.57, 0.01, "differs"),
        (0.52, 0.0, "differs"),
        (math.nan, 0.1, "differs"),
    ],
)
def test_monte_carlo(mean: float, std_error: float, verdict: str):
    assert simulated("there", "mean", "0.52", mean, std_error).verdict == verdict


def test_identities_and_statements():
    assert identity("", "a = b", "equal", 1e-15, 300).recomputed == "holds in 300 of 300"
    assert identity("", "a = b", "equal", 1e-3, 300).fails
    assert identity("", "a = b", "equal", math.nan, 300).fails
    assert statement("", "a", "differs", "0.1", holds=False).fails
    assert not statement("", "a", "differs", "0.1", holds=True).fails


def test_a_slip_fails_only_where_the_numbers_do_not_show_it():
    assert not slip("", "a", "0.85", "0.89", "not fixed by the text", confirmed=True).fails
    assert slip("", "a", "0.85", "0.85", "not fixed by the text", confirmed=False).fails


def test_summary_text_and_document():
    lines = (
        *numbers("section 1", "accuracy", ["0.7", "0.8"], [0.7, 0.8]),
        slip("section 1", "kappa", "0.85", "0.89", "why it is so", confirmed=True),
        not_computed("section 2", "a table", "lost", "needs --bank", "texts"),
    )
    assert summary(lines) == "4 lines: 2 exact, 1 differs as the source is mistaken, 1 needs --bank"
    said = text(lines)
    assert said.index("section 1") < said.index("why it is so") < said.index("section 2")
    assert said.count("section 1") == 1
    document = as_json("a source", lines)
    assert document["n_failed"] == 0
    assert document["lines"][2]["is_slip"] is True
    require(lines)


def test_lines_that_should_match_end_the_command():
    bad = held_exactly("table 3", "the mean", "0.5", 0.7)
    with pytest.raises(UnmetRequirementError, match=r"1 of 1 lines .* table 3, the mean: 0\.5 came out as 0\.7"):
        require([bad])
    assert UnmetRequirementError.exit_code == 1


def test_text_from_data_is_safe():
    assert "\x1b" not in text([not_computed("a\x1b[31m", "b\x1b[31m", "c\x1b[31m", "needs --bank", "d\x1b[31m")])
