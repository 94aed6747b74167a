"""Label budgets: allocation by hand and by property, stratified variance, and how many labels a target takes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats import label_budget as of
from evenhand.stats.binomial import wilson
from evenhand.stats.true_rates import certifiable, labels_to_certify, mean_sums, ppi_ends


def test_proportional_equal_and_neyman_by_hand() -> None:
    sizes = np.array([600, 300, 100])
    assert of.allocate(100, sizes.astype(float), sizes).tolist() == [60, 30, 10]
    assert of.allocate(99, np.ones(3), sizes).tolist() == [33, 33, 33]
    # N_h S_h = 600 * .1, 300 * .4, 100 * .2 = 60, 120, 20: shares .3, .6, .1
    assert of.allocate(100, sizes * np.array([0.1, 0.4, 0.2]), sizes).tolist() == [30, 60, 10]


def test_a_full_stratum_gives_the_rest_to_the_others() -> None:
    assert of.allocate(50, np.ones(3), np.array([100, 100, 5])).tolist() == [23, 22, 5]


def test_every_stratum_gets_two_where_there_are_enough() -> None:
    sizes = np.array([1000, 3, 1])
    assert of.allocate(20, sizes.astype(float), sizes).tolist() == [17, 2, 1]
    assert of.allocate(3, sizes.astype(float), sizes).tolist() == [1, 1, 1]
    assert of.allocate(10, np.zeros(3), sizes).sum() == 10
    assert of.allocate(1004, np.array([1.0, 0.0, 0.0]), sizes).tolist() == sizes.tolist()


@pytest.mark.parametrize("n", [2, 1005])
def test_too_few_and_too_many(n: int) -> None:
    with pytest.raises(ValueError, match="strata"):
        of.allocate(n, np.ones(3), np.array([1000, 3, 1]))


@given(
    st.lists(st.tuples(st.integers(1, 5000), st.floats(0, 1)), min_size=1, max_size=8),
    st.floats(0, 1),
)
def test_an_allocation_is_whole_within_sizes_and_adds_up(strata: list[tuple[int, float]], part: float) -> None:
    sizes, weights = np.array([size for size, _ in strata]), np.array([weight for _, weight in strata])
    n = len(sizes) + round(part * float(sizes.sum() - len(sizes)))
    taken = of.allocate(n, weights, sizes)
    assert taken.sum() == n
    assert (taken >= 1).all()
    assert (taken <= sizes).all()


@given(st.lists(st.tuples(st.integers(100, 5000), st.floats(0.01, 0.5)), min_size=2, max_size=6), st.integers(20, 200))
def test_neyman_is_no_worse_than_proportional_but_for_rounding(strata: list[tuple[int, float]], n: int) -> None:
    sizes, spreads = np.array([size for size, _ in strata]), np.array([spread for _, spread in strata])
    neyman, even = (
        of.stratified_variance(of.allocate(n, weights, sizes), sizes, spreads)
        for weights in (sizes * spreads, sizes * 1.0)
    )
    assert neyman <= even * (1 + 2 * len(sizes) / n)


def test_stratified_variance_by_hand() -> None:
    # (.75² · .16/30 · (1 - 30/300) + .25² · .25/20 · (1 - 20/100))
    found = of.stratified_variance(np.array([30, 20]), np.array([300, 100]), np.array([0.4, 0.5]))
    assert found == pytest.approx(0.5625 * 0.16 / 30 * 0.9 + 0.0625 * 0.25 / 20 * 0.8, rel=1e-14)
    assert of.stratified_variance(np.array([300, 100]), np.array([300, 100]), np.array([0.4, 0.5])) == 0


def test_labels_to_match_is_the_fewest() -> None:
    sizes, spreads = np.array([800, 200]), np.array([0.1, 0.5])
    target = of.stratified_variance(of.allocate(100, sizes.astype(float), sizes), sizes, spreads)
    n = of.labels_to_match(target, spreads, sizes)
    at = [of.stratified_variance(of.allocate(m, sizes * spreads, sizes), sizes, spreads) for m in (n - 1, n)]
    assert at[0] > target >= at[1]
    assert n < 80


def test_a_spread_from_nothing_is_the_widest() -> None:
    assert of.spread_of_share([0, 0, 8], [0, 8, 8]).tolist() == pytest.approx([0.5, 0.3, 0.3])


@given(st.floats(0.01, 0.3), st.floats(0.0, 1.0), st.floats(1.0, 6.0))
def test_labels_for_a_share_are_the_fewest(half: float, share: float, deff: float) -> None:
    n = of.labels_for_share(half, share, design_effect=deff)
    widths = []
    for m in (n, n - 1):
        low, high = wilson(share * m / deff, m / deff, 0.95) if m else (0.0, 1.0)
        widths.append((high - low) / 2)
    assert widths[0] <= half
    assert n == 1 or widths[1] > half


def test_labels_that_certify_at_an_error_rate() -> None:
    n = of.labels_to_certify_at(0.9, 0.05)
    assert certifiable(n, 0.05 * n) >= 0.9 > certifiable(n - 1, 0.05 * (n - 1))
    assert of.labels_to_certify_at(0.95, 0.05) == math.inf
    assert of.labels_to_certify_at(0.95, 0.0) == labels_to_certify(0.95, 0) == 59


def test_labels_for_a_mean_with_and_without_a_judge() -> None:
    # z²σ²/h² = 1.959964² · .25/.0025 = 384.15; with ρ² = .75 over many verdicts a quarter of it
    assert of.labels_for_mean_of(0.05, 0.25, 0.0, 1e12) == 385
    assert of.labels_for_mean_of(0.05, 0.25, 0.75, 1e12) == 97
    assert of.labels_for_mean_of(0.05, 0.25, 0.75, 1e12, design_effect=2.0) == 193
    # 250 verdicts are fewer than the labels it takes: all of them have one, and the judge saves none
    assert of.labels_for_mean_of(0.05, 0.25, 0.75, 250) == 385


@given(st.floats(0.01, 0.3), st.floats(0.0, 1.0), st.floats(10.0, 1e5))
def test_a_judge_never_costs_labels(half: float, saved: float, judged: float) -> None:
    with_judge, alone = (of.labels_for_mean_of(half, 0.25, share, judged) for share in (saved, 0.0))
    assert with_judge <= alone


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.6])
def test_labels_for_a_mean_give_the_prediction_powered_interval(slope: float) -> None:
    """At n labels of T verdicts the power-tuned normal interval is as wide as was asked; wider judges' λ lies below 1."""
    rng, judged, half = np.random.default_rng(2), 20_000, 0.05
    y = rng.normal(0, 1, judged)
    f = slope * y + rng.normal(0, 0.6, judged)
    saved = of.share_saved(y.var(), f.var(), float(np.cov(y, f, bias=True)[0, 1]))
    n = of.labels_for_mean_of(half, float(y.var()), saved, judged)
    sums = mean_sums(y, f, np.arange(judged) < n, np.zeros(judged, dtype=np.int64), 1)[0]
    ends = ppi_ends(sums)
    assert (ends.high - ends.low) / 2 == pytest.approx(half, rel=0.06)


def test_a_judge_that_falls_where_labels_rise_saves_nothing() -> None:
    assert of.share_saved(1.0, 1.0, -0.7) == 0
    assert of.share_saved(1.0, 1.0, 0.7) == pytest.approx(0.49)
    # var y = 4, var f = 1, cov 1.5: λ = 1, var(y - f) = 4 + 1 - 3 = 2, half of what the labels alone have; ρ² is .5625
    assert of.share_saved(4.0, 1.0, 1.5) == pytest.approx(0.5)
    assert math.isnan(of.share_saved(0.0, 1.0, 0.0))
    assert math.isnan(of.share_saved(1.0, 0.0, 0.0))


def test_a_target_out_of_reach_is_no_number() -> None:
    assert of.labels_for_share(1e-6, 0.5) == math.inf
