"""Ends of differences: cut at what a difference can be, said so, and nowhere else."""

import polars as pl
import pytest
from arm_samples import SCALE, told
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand.audits.ranges import _cut

WIDE = [[0.0, 10], [0, 10], [10, 0], [0, 9]]


def test_a_drift_ends_at_the_width_of_the_scale():
    result = evenhand.audit(told(WIDE, ("control", "x"), reference=["5"] * 4), **SCALE, reference="reference")
    found = result.audit["drift/x-control"]
    assert found.estimate == pytest.approx((10 + 10 - 10 + 9) / 4)
    assert (found.ci_low, found.ci_high) == (-10, 10)
    assert "lower end cut at -10, upper end cut at 10" in found.reason
    without = evenhand.audit(
        told(WIDE, ("control", "x")), response="response_id", judge="mark", scale="continuous", resamples=200
    )
    assert without.audit["drift/x-control"].ci_high > 10  # no range is known


def test_a_share_of_the_scale_ends_at_one():
    result = evenhand.audit(told(WIDE, ("low", "high")), **SCALE)
    found = result.audit["label_effect_share/high-low"]
    assert found.ci_high == 1
    assert "upper end cut at 1" in found.reason


def test_a_drift_of_binary_verdicts_ends_at_one():
    frame = told([[0.0, 1], [0, 1], [0, 1], [1, 0]], ("control", "x"))
    result = evenhand.audit(frame, response="response_id", judge="mark", positive="1", resamples=200)
    found = result.audit["drift/x-control"]
    assert (found.estimate, found.ci_high) == (0.5, 1)


def test_differences_of_rates_of_two_judges_end_at_one():
    """Three clusters: A is right on nearly all, B on hardly any."""
    marks = ("110", "001", "110", "001", "101", "110")
    rows = [(f"c{at // 2}", *one) for at, one in enumerate(marks)]
    frame = pl.DataFrame(
        [{"item_id": f"i{at}", "cluster": c, "human": h, "A": a, "B": b} for at, (c, h, a, b) in enumerate(rows)]
    )
    result = evenhand.audit(frame, judge=["A", "B"], reference="human", cluster="cluster", positive="1", resamples=200)
    found = result.audit["error_rate/A-B"]
    assert (found.estimate, found.ci_low) == (pytest.approx(-2 / 3), -1)
    assert "lower end cut at -1" in found.reason
    kappa = result.audit["cohen_kappa/A-B"]
    assert kappa.ci_high > 1 or kappa.ci_low < -1  # two coefficients can differ by 2
    assert all(
        -1 <= end <= 1
        for one in result.audit.estimates
        if one.statistic in ("error_rate", "observed_agreement", "false_accept_rate") and one.source == "A-B"
        for end in (one.ci_low, one.ci_high, *(one.simultaneous or ()))
        if end is not None
    )


@pytest.fixture(scope="module")
def one():
    result = evenhand.audit(told(WIDE, ("control", "x")), **SCALE)
    return result.audit["drift/x-control"]


@given(st.floats(-3, 3), st.floats(0, 3), st.floats(-1, 1))
def test_a_cut_loses_no_truth(one, low, length, truth):
    found = _cut(one.model_copy(update={"ci_low": low, "ci_high": low + length}), 1.0)
    assert (low <= truth <= low + length) == (found.ci_low <= truth <= found.ci_high)
