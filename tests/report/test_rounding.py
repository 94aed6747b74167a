"""Rounding and cards, as a reader sees them."""

import pytest

from evenhand.report import tables
from evenhand.report.card import card
from evenhand.results import Audit


def test_ends_are_rounded_as_the_value_is(demo: Audit) -> None:
    assert tables.ends_text(demo["false_accept_rate/judge"]) == ("5.7 %", "18.1 %")
    assert tables.range_text(demo["false_accept_rate/judge"]) == "5.7 to 18.1 %"
    assert tables.range_text(demo["kr20/judge-reference"]) == "-0.081 to 0.079"
    assert tables.ends_text(demo["errors_in_worst_lines[lines=5]/judge"]) == ("", "")


@pytest.mark.parametrize(("number", "text"), [(0.05, "5 %"), (1.0, "100 %"), (0.125, "12.5 %"), (-0.1, "-10 %")])
def test_ticks_have_no_more_digits_than_they_need(number: float, text: str) -> None:
    assert tables.axis_text(number, percent=True) == text


def test_no_negative_zero() -> None:
    assert tables.number_text("kr20", -0.0001) == "0.000"


def test_names_speak_words(demo: Audit) -> None:
    assert (
        tables.display_name(demo["accuracy[cut=5,unscored=error]/judge"])
        == "gate accuracy (cut 5, unscored counted as errors)"
    )
    assert tables.display_name(demo["beta_binomial[parameter=alpha]/judge"]) == "beta-binomial (α)"


def test_card_of_the_sketch(demo: Audit) -> None:
    text = card(demo, demo["cohen_kappa/judge"], "evenhand show out cohen_kappa/judge --card")
    assert text.startswith(
        "cohen_kappa/judge = 0.9036   95 % [0.8300, 0.9454]   se 0.0242"
    )
    assert "describes  judge, on this bank's prevalence (55.1 % are 1)" in text
    assert "again      evenhand show out cohen_kappa/judge --card" in text


def test_bank_numbers_claim_no_judge(demo: Audit) -> None:
    text = card(demo, demo["kr20/reference"], "x")
    assert "describes  bank" in text
    assert "prevalence" not in text
