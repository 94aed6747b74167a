"""Repeats of the judge at one prompt through ``evenhand.audit``: sampling noise, and labelled so."""

import polars as pl
import pytest

import evenhand
from evenhand.report.gaps import cannot_say
from evenhand.report.scorer import repeats_sentence


def audit(items, **options):
    """One judge's labels of each item over occasions, None where there is none; two responses a cluster."""
    rows = [
        {"response": f"r{n}", "cluster": f"q{n // 2}", "run": str(at), "judge": label}
        for n, labels in enumerate(items)
        for at, label in enumerate(labels)
        if label is not None
    ]
    return evenhand.audit(
        pl.DataFrame(rows), response="response", cluster="cluster", judge="judge", occasion="run", **options
    ).audit


def test_flips_by_hand():
    # pairs that differ of three: 0, 2/3, 0, 2/3 and of two: 1; the sixth item has one repeat
    items = ["000", "001", "111", "110", ("0", "1", None), ("1", None, None)]
    found = audit(items, scale="binary")
    assert found["flip_rate/judge"].estimate == pytest.approx((2 / 3 + 2 / 3 + 1) / 5, abs=1e-12)
    assert (found["flip_rate/judge"].n_used, found["flip_rate/judge"].n_excluded) == (5, 1)
    some = found["flip_rate[items_above=0]/judge"]
    assert (some.events, some.trials) == (3, 5)
    assert found["flip_rate[items_above=0.2]/judge"].estimate == pytest.approx(0.6)
    assert all(one.estimand.startswith("sampling noise at one prompt") for one in found if one.statistic == "flip_rate")
    assert found["repeats_needed[probability=0.95]/judge"].n_used == 4  # those with all three repeats


def test_a_steady_judge_needs_one_repeat():
    found = audit(["000", "111"] * 6, scale="binary")
    assert found["flip_rate/judge"].estimate == 0
    assert found["repeats_needed[probability=0.95]/judge"].estimate == 1
    said = repeats_sentence(found, "judge")
    assert "0 of 12 items flip at all; one repeat gives the verdict of many on 95 % of items" in said
    assert said.endswith("What repeats agree on may still be set by the wording.")
    assert not any("rerun" in question for question, _ in cannot_say(found))


def test_an_even_judge_needs_more_repeats_than_can_be_named():
    found = audit(["0011", "0101", "0110", "1100"], scale="binary")["repeats_needed[probability=0.95]/judge"]
    assert found.status == "undefined"
    assert "too many items are near an even split" in found.reason


def test_labels_without_an_order_flip_too():
    found = audit(["aab", "abc", "ccc", "bbb"], scale="nominal")
    assert found["flip_rate/judge"].estimate == pytest.approx((2 / 3 + 1) / 4)
    assert found.get("repeats_needed[probability=0.95]/judge") is None


def test_one_occasion_says_nothing_and_none_twice_is_undefined():
    assert audit(["0", "1", "1"], scale="binary").get("flip_rate/judge") is None
    lone = audit([("0", None), (None, "1"), ("1", None)], scale="binary")["flip_rate/judge"]
    assert (lone.status, lone.reason) == ("undefined", "no item has two scored repeats")


def test_pairs_keep_their_flips_of_order_apart():
    rows = [
        {"pair": f"p{n}", "order": order, "run": run, "judge": "A" if (n + (run == "2")) % 3 else "B"}
        for n in range(6)
        for order in ("A first", "B first")
        for run in ("1", "2")
    ]
    found = evenhand.audit(
        pl.DataFrame(rows), response="pair", judge="judge", order="order", occasion="run", scale="pairwise"
    ).audit
    assert found["flip_rate/judge"].estimate == 0  # the other order changes nothing
    assert found["flip_rate[facet=occasion]/judge"].estimate == pytest.approx(4 / 6)
