"""Verdicts on an arm's agreement: the printed words of a published table, precedence, and r beside them."""

import math

import pytest

from evenhand.audits.arms_words import MARGINS, verdicts
from evenhand.ids import EstimateId
from evenhand.results import Estimate

DF = 1e9


def change(statistic, value, low, high, source="true-control"):
    """A change whose 95 % interval reaches as far as the further of these ends, on a normal reference."""
    named = EstimateId.of(statistic, source)
    return Estimate(
        id=str(named), statistic=statistic, params={}, source=source, estimate=value, std_error=max(high - value, value - low) / 1.959964,
        ci_low=low, ci_high=high, interval_method="jackknife_t", interval_scale="identity", interval_df=DF, status="ok", reason="",
        unit="response", events=None, trials=None, n_used=300, n_excluded=0, n_clusters=65, design_effect=None,
        describes="grader×context", estimand="a change",
    )  # fmt: skip


def word(*changes):
    found = [one for one in verdicts(changes, {}, 0.95) if "quantity" not in one.params]
    return [one.reason for one in found]


@pytest.mark.parametrize(
    ("mae", "qwk", "words", "largest"),
    [
        # nine printed rows: change of MAE and of QWK with their ends, the two words, and the largest gain left open
        ((-0.010, -0.087, 0.063), (0.003, -0.010, 0.017), ("equivalent", "equivalent"), None),
        ((0.034, -0.030, 0.101), (0.003, -0.021, 0.027), ("equivalent", "no gain larger than"), 0.027),
        ((0.064, -0.015, 0.147), (-0.001, -0.027, 0.018), ("no gain larger than", "no gain larger than"), None),
        ((0.066, -0.019, 0.150), (-0.010, -0.047, 0.023), ("no gain larger than", "no gain larger than"), 0.023),
        ((-0.028, -0.063, 0.008), (0.029, 0.013, 0.043), ("equivalent", "gain"), None),
        ((-0.088, -0.187, 0.004), (0.046, 0.010, 0.085), ("no gain larger than", "gain"), None),
        ((-0.036, -0.142, 0.076), (0.039, 0.001, 0.074), ("no gain larger than", "gain"), None),
        ((0.10, 0.03, 0.19), (-0.013, -0.045, 0.016), ("loss", "no gain larger than"), 0.016),
        ((-0.005, -0.087, 0.072), (0.013, -0.006, 0.031), ("equivalent", "no gain larger than"), 0.031),
    ],
)  # fmt: skip
def test_words_of_a_published_table(mae, qwk, words, largest) -> None:
    said = word(change("mae", *mae), change("quadratic_weighted_kappa", *qwk))
    assert [one.split(" (")[0].rstrip("0123456789.-").rstrip() for one in said] == list(words)
    if largest is not None:
        # printed ends are not quite symmetric about the value, ours are: a thousandth or two apart
        bound = float(said[1].split("larger than ")[1].split(" ")[0])
        assert bound == pytest.approx(largest, abs=0.0061)


def test_a_gain_comes_before_equivalence_and_both_flags_are_said() -> None:
    (said,) = word(change("mae", -0.03, -0.05, -0.01))
    assert said.startswith("gain (different from 0, inside the margin of 0.1)")
    flags = {
        one.params.get("quantity"): one.estimate for one in verdicts([change("mae", -0.03, -0.05, -0.01)], {}, 0.95)
    }
    assert (flags["different"], flags["inside"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("r", "said"),
    [
        ((0.05, 0.01, 0.09), "it ranks better, too"),
        ((-0.05, -0.09, -0.01), "it ranks worse"),
        ((0.01, -0.03, 0.05), "not shown to rank better, so marks land elsewhere"),
    ],
)
def test_r_stands_beside_a_gain(r, said) -> None:
    assert said in word(change("mae", -0.5, -0.6, -0.4), change("pearson_r", *r))[0]


def test_a_declared_margin_takes_the_place_of_the_default() -> None:
    one = change("mae", 0.0, -0.15, 0.15)
    assert word(one)[0].startswith("no gain larger than")
    (found, *_) = verdicts([one], {"mae": 0.2}, 0.95)
    assert found.reason.startswith("equivalent")
    assert MARGINS == {"quadratic_weighted_kappa": 0.02, "mae": 0.10}


def test_a_change_without_spread_has_no_verdict() -> None:
    assert not word(change("mae", 0.0, 0.0, 0.0))
    assert math.isfinite(DF)


def test_other_differences_are_left_alone() -> None:
    assert not word(change("mae", -0.5, -0.6, -0.4, source="A-B"))
    assert not word(change("bias", -0.5, -0.6, -0.4))
