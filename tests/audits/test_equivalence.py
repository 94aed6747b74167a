"""Equivalence inside margins: the two flags, their words, their power, and refusals."""

import math
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # noqa: TID251 - an independent implementation, in tests alone

import evenhand
from evenhand.audits.equivalence import power_at_zero, within_margins
from evenhand.errors import RequestError

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
BANK = files("evenhand.data") / "zhu_bank.csv"


@pytest.fixture(scope="module")
def bank() -> evenhand.AuditResult:
    return evenhand.audit(str(BANK), blank="unparsed", margin={"leniency": 0.5, "kr20": 0.1})


def test_both_flags_of_a_difference(bank) -> None:
    name, one = "equivalence[metric=leniency", bank["leniency/judge"]
    found = bank[f"{name}]/judge"]
    half = stats.t.ppf(0.95, one.interval_df) * one.std_error
    assert (found.ci_low, found.ci_high) == pytest.approx((one.estimate - half, one.estimate + half))
    assert found.estimate == one.estimate
    # .461, 90 % interval .245 to .677: the 95 % interval excludes 0, the 90 % one does not lie within ±.5
    assert (bank[f"{name},quantity=different]/judge"].estimate, bank[f"{name},quantity=inside]/judge"].estimate) == (
        1,
        0,
    )
    upper = stats.t.sf((0.5 - one.estimate) / one.std_error, one.interval_df)
    assert bank[f"{name},quantity=p]/judge"].estimate == pytest.approx(upper)
    assert found.reason.startswith(
        "different from 0: gain, not shown to be inside the margin; margin 0.5, fixed beforehand"
    )
    assert "power 96% where the truth is 0" in found.reason


def test_a_difference_of_judge_and_reference(bank) -> None:
    one = bank["equivalence[metric=kr20]/judge-reference"]
    assert one.reason.startswith(("equivalent", "inconclusive"))
    flags = [
        bank[f"equivalence[metric=kr20,quantity={flag}]/judge-reference"].estimate for flag in ("different", "inside")
    ]
    assert flags == [0.0, float(max(abs(one.ci_low), abs(one.ci_high)) < 0.1)]
    assert bank.audit.get("equivalence[metric=kr20]/judge") is None  # the judge's own value is no difference


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (0.00, 0.01, "equivalent"),
        (0.05, 0.01, "different from 0, and inside the margin: equivalent"),
        (0.30, 0.05, "different from 0: gain, not shown"),
        (-0.30, 0.05, "different from 0: loss, not shown"),
        (-0.05, 0.06, "inconclusive, but no gain larger than 0.1"),
        (0.05, 0.06, "inconclusive, but no loss larger than 0.1"),
        (0.00, 0.20, "inconclusive"),
    ],
)
def test_words(bank, value: float, error: float, words: str) -> None:
    one = bank["leniency/judge"].model_copy(
        update={"estimate": value, "interval_std_error": error, "interval_df": 30.0}
    )
    found = list(within_margins([one], {"leniency": 0.1}))
    assert found[0].reason.startswith(words)
    assert [estimate.params.get("quantity", "") for estimate in found] == ["", "p", "different", "inside", "power"]


@given(margin=st.floats(0.01, 3), df=st.integers(2, 60))
@settings(max_examples=20)
def test_power_is_the_share_of_draws_found_inside(margin: float, df: int) -> None:
    # with the standard error as it is: t about a truth of 0
    t = np.sort(stats.t.rvs(df, size=40_000, random_state=1))
    bound = stats.t.ppf(0.95, df)
    share = np.mean((t + bound < margin) & (t - bound > -margin))
    assert power_at_zero(margin, 1.0, df) == pytest.approx(share, abs=0.012)


def test_a_standard_error_of_zero_or_too_few_clusters_tests_nothing(bank) -> None:
    for changes in ({"interval_std_error": 0.0}, {"interval_df": 0.05}, {"estimate": None}):
        one = bank["leniency/judge"].model_copy(update=changes)
        assert list(within_margins([one], {"leniency": 0.1})) == []


def test_refused_margins(bank, refused, write) -> None:
    with pytest.raises(RequestError, match="no difference of that name in this audit; differences here are leniency"):
        list(within_margins(bank.audit.estimates, {"cohen_kappa": 0.1}))
    with pytest.raises(RequestError, match="a margin is above 0"):
        evenhand.audit(str(BANK), margin={"leniency": 0})
    write("v.csv", "id,judge,reference\n" + "\n".join(f"r{n},{n % 2},{n % 3 % 2}" for n in range(12)))
    for margin, says in (
        ("leniency", "is not METRIC=VALUE; write --margin leniency=0.2"),
        ("leniency=wide", '--margin "wide" is not a number'),
        ("lenience=0.1", 'did you mean "leniency'),
        ("x y=0.1", "is not an id"),
    ):
        refused("audit", "v.csv", "--margin", margin, "--out", "out", says=says)


def test_margins_as_requirements(command, write) -> None:
    path = write("bank.csv", BANK.read_text(encoding="utf-8"))
    done = command(
        "audit",
        path,
        "--blank",
        "unparsed",
        "--margin",
        "leniency=0.8",
        "--margin",
        "leniency[per=verdict]=0.01",
        "--out",
        "out",
    )
    assert done.code == 0
    held = command("check", "out", "--require", "equivalence[metric=leniency,quantity=inside]/judge == 1")
    assert (held.code, held.out.startswith("met")) == (0, True)
    metric = "leniency%5Bper%3Dverdict%5D"
    assert command("check", "out", "--require", f"equivalence[metric={metric},quantity=inside]/judge == 1").code == 1
    report = (path.parent / "out" / "report.md").read_text(encoding="utf-8")
    assert "Held against margins fixed beforehand" in report
    assert math.isclose(
        float(command("show", "out", "equivalence[metric=leniency]/judge").out.split("\t")[1]), 0.4611111111111
    )
