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
    assert text.startswith("cohen_kappa/judge = 0.9036   95 % [0.8300, 0.9454]   se 0.0243")
    assert "describes  judge, on this bank's prevalence (55.1 % are 1)" in text
    assert "again      evenhand show out cohen_kappa/judge --card" in text


def test_card_gives_the_reasons_of_what_is_left_out(demo: Audit) -> None:
    text = card(demo, demo["cohen_kappa/judge"], "x")
    assert "left out   of all verdict slots: 300 judge unparsed" in text
    assert "left out" not in card(demo, demo["kr20/reference"], "x")


def test_only_numbers_of_verdicts_are_set_on_the_prevalence(demo: Audit) -> None:
    assert "prevalence" not in card(demo, demo["accuracy[cut=5]/judge"], "x")
    assert "prevalence" not in card(demo, demo["lines_with_errors/judge"], "x")


def test_headings_have_four_decimals_and_small_numbers_four_digits() -> None:
    found = [tables.sensible(number) for number in (0.12345678, 12.0, -0.00001, 0.000123456, None)]
    assert found == ["0.1235", "12", "-1e-05", "0.0001235", ""]


def test_leniency_has_its_unit(demo: Audit) -> None:
    assert tables.display_name(demo["leniency/judge"]) == "leniency, judge minus reference (criteria a response)"
    assert tables.display_name(demo["leniency[per=verdict]/judge"]) == "leniency, judge minus reference (a verdict)"


def test_bank_numbers_claim_no_judge(demo: Audit) -> None:
    text = card(demo, demo["kr20/reference"], "x")
    assert "describes  bank" in text
    assert "prevalence" not in text
