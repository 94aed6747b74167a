"""`evenhand reproduce agreement-metrics`: every line, the three slips, and the exit code when a function goes wrong."""

import json

import numpy as np
import pytest

from evenhand.reproducing import abstention_and_ensembles
from evenhand.reproducing.agreement_metrics import agreement_metrics
from evenhand.stats import agreement


@pytest.fixture(scope="module")
def lines():
    return agreement_metrics()


def find(lines, place: str, quantity: str):
    (found,) = [line for line in lines if place in line.place and quantity in line.quantity]
    return found


def test_no_line_fails(lines):
    assert [line for line in lines if line.fails] == []
    assert len(lines) > 60


def test_the_three_slips_are_named(lines):
    slips = [line for line in lines if line.is_slip]
    assert [line.quantity for line in slips] == [
        "micro kappa",
        "share that both sides commit to",
        "F1 recoded = F1 of MET against the rest",
    ]
    micro, coverage, coincidence = (line.note for line in slips)
    assert "0.8895" in micro  # CONVENTIONS C: .8895 with matched margins, .699 to .923 over feasible ones
    assert "from 0.70 to 0.92" in micro
    assert "independent" in coverage
    assert "identity" in coincidence


@pytest.mark.parametrize(
    ("place", "quantity", "published"),
    [
        ("(40,10,20,30)", "phi", "0.408"),
        ("(5,5,0,90)", "kappa", "0.643"),
        ("always negative", "phi", "undefined"),
        ("5.1", "macro kappa", "0.55"),
        ("appendix B", "60/90", "0.667"),
        ("7.1", "kappa .6", "0.0013"),
        ("(.3,.1,.1,.5)", "every entry", "0.8333"),
        ("(.4,.1,.2,.3)", "variance of phi", "0.813"),
        ("(.4,.1,.2,.3)", "variance of kappa", "0.806"),
        ("eq. 13", "order of the gap", "second"),
    ],
)
def test_worked_values(lines, place: str, quantity: str, published: str):
    line = find(lines, place, quantity)
    assert (line.published, line.verdict) == (published, "exact")


def test_the_lost_table_is_not_made_up(lines):
    assert find(lines, "appendix B", "3x3 table").verdict == "not determined"


def test_command_prints_saves_and_ends_well(command, tmp_path):
    ending = command("reproduce", "agreement-metrics", "--out", "lines.json")
    assert ending.code == 0, ending.said
    assert "3 differs as the source is mistaken" in ending.out
    saved = json.loads((tmp_path / "lines.json").read_text(encoding="utf-8"))
    assert saved["n_failed"] == 0
    again = command("reproduce", "agreement-metrics", "--json", "--out", "lines.json")  # replaces what it wrote
    assert json.loads(again.out) == saved


def test_command_ends_with_1_and_names_the_lines_when_a_function_is_wrong(command, monkeypatch):
    kappa = agreement.cohen_kappa
    monkeypatch.setattr(agreement, "cohen_kappa", lambda table: kappa(table) + 0.01)
    ending = command("reproduce", "agreement-metrics")
    assert ending.code == 1
    assert "lines should match and do not" in ending.err
    assert "(40,10,20,30), kappa: 0.400 came out as 0.410" in ending.err


def test_a_foreign_file_is_refused(refused, write):
    write("mine.json", '{"schema": "other"}')
    refused("reproduce", "agreement-metrics", "--out", "mine.json", says="was not written by evenhand")


def test_recoding_and_one_against_the_rest_by_hand():
    table = np.arange(1.0, 10.0).reshape(3, 3)
    expected = [[1 + 2 + 4 + 5, 3 + 6], [7 + 8, 9]]
    assert abstention_and_ensembles.recoded(table).tolist() == expected
    assert abstention_and_ensembles.against_rest(table).tolist() == expected
