"""Sufficient statistics have the distribution that whole matrices of verdicts have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.simulate import draws
from evenhand.simulate.draws import item_sums_given_totals, moments_given_totals

histograms = hnp.arrays(np.int64, st.tuples(st.integers(1, 3), st.integers(1, 14)), elements=st.integers(0, 30))
WAYS = (draws._by_subset, draws._by_criterion)


@given(histogram=histograms, seed=st.integers(0, 2**30))
def test_sums_add_up_to_the_totals_and_stay_within_bounds(histogram: np.ndarray, seed: int):
    sums = item_sums_given_totals(np.random.default_rng(seed), histogram)
    K = histogram.shape[-1] - 1
    assert sums.shape == (len(histogram), K)
    if K:
        assert (sums.sum(axis=-1) == histogram @ np.arange(K + 1)).all()
        assert (sums >= histogram[:, -1:]).all()  # who meets all meets each
        assert (sums <= histogram[:, 1:].sum(axis=-1, keepdims=True)).all()


@pytest.mark.parametrize("way", WAYS)
def test_every_subset_is_as_likely_as_another(way):
    """Two responses of three criteria, totals 1 and 2: nine equally likely pairs of subsets."""
    sums = way(np.random.default_rng(3), np.tile([0, 1, 1, 0], (90_000, 1)))
    found, counts = np.unique(sums, axis=0, return_counts=True)
    expected = {(0, 1, 2): 1, (0, 2, 1): 1, (1, 0, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1, (2, 1, 0): 1, (1, 1, 1): 3}
    assert {tuple(row) for row in found.tolist()} == set(expected)
    for row, count in zip(found.tolist(), counts, strict=True):
        assert count / 90_000 == pytest.approx(expected[tuple(row)] / 9, abs=0.005)


def test_both_ways_have_the_spread_of_whole_matrices():
    """Variance of a criterion's sum given the totals: sum of r/K (1 - r/K)."""
    histogram = np.array([20, 10, 30, 5, 15, 40])
    r = np.arange(6) / 5
    mean, variance = histogram @ r, histogram @ (r * (1 - r))
    for way in WAYS:
        sums = way(np.random.default_rng(8), np.tile(histogram, (40_000, 1)))
        assert sums.mean(axis=0) == pytest.approx(np.full(5, mean), abs=0.1)
        assert sums.var(axis=0) == pytest.approx(np.full(5, variance), rel=0.04)
        assert np.corrcoef(sums.T)[0, 1:] == pytest.approx(np.full(4, np.corrcoef(sums.T)[0, 1]), abs=0.03)


def test_moments_by_hand():
    sums = moments_given_totals(np.random.default_rng(0), np.array([[2, 0, 3]]))
    assert sums.n.tolist() == [5.0]
    assert sums.item_sums.tolist() == [[3.0, 3.0]]
    assert sums.total_square_sum.tolist() == [12.0]


def test_many_criteria_and_banks_of_several_sizes():
    rng = np.random.default_rng(1)
    wide = item_sums_given_totals(rng, np.ones((2, 40), dtype=np.int64))
    assert (wide.sum(axis=-1) == 39 * 40 // 2).all()
    ragged = item_sums_given_totals(rng, np.array([[1, 2, 3], [0, 0, 9], [0, 0, 0]]))
    assert ragged.sum(axis=-1).tolist() == [8, 18, 0]
    large = item_sums_given_totals(rng, np.array([[0, 10_000, 0]]))
    assert large.sum() == 10_000
