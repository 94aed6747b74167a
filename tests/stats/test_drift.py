"""Paired differences in strata and their ratios: hand cases, an inverted test, and what must hold for all data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # noqa: TID251 - an independent implementation, in tests alone

from evenhand.stats.drift import (
    distance_gained,
    fieller,
    left_out_covariance,
    mean,
    mean_sums,
    reassigned,
    sd_of_means,
    sign_flip_p,
    stratified,
)
from evenhand.stats.intervals import jackknife_std_error
from evenhand.stats.resampling import leave_one_out


def test_the_mean_of_one_value_a_unit_has_its_ordinary_standard_error() -> None:
    values = np.array([1.0, 2.0, 4.0, 7.0])
    found = stratified(mean_sums(values, np.arange(4), 4), np.ones(4), np.zeros(4, dtype=np.int64), mean)
    assert found.value == 3.5
    assert found.std_error() == pytest.approx(values.std(ddof=1) / 2)
    assert found.df == 3


def test_strata_keep_their_shares() -> None:
    # by hand: means 2 (of 1, 3) and 10 (of 8, 10, 12), shares 2/5 and 3/5: variance .4²·1 + .6²·4/3
    values, stratum = np.array([1.0, 3.0, 8.0, 10.0, 12.0]), np.array([0, 0, 1, 1, 1])
    found = stratified(mean_sums(values, np.arange(5), 5), np.ones(5), stratum, mean)
    assert found.value == pytest.approx(6.8)
    assert found.std_error() == pytest.approx(math.sqrt(0.4**2 * 1 + 0.6**2 * 4 / 3))
    assert found.df == 3
    pooled = jackknife_std_error(mean(leave_one_out(mean_sums(values, np.arange(5), 5))))
    assert found.std_error() < (pooled or 0)


@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 3))
def test_one_stratum_is_the_plain_jackknife(seed, n_units, most) -> None:
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n_units), rng.integers(1, most + 1, n_units))
    sums = mean_sums(rng.normal(size=len(unit)), unit, n_units)
    found = stratified(sums, sums[:, 0], np.zeros(n_units, dtype=np.int64), mean)
    # a unit that is left out is made up for, which rescales every sum alike and leaves a mean as it is
    assert found.left_out == pytest.approx(mean(leave_one_out(sums)))
    assert found.std_error() == pytest.approx(jackknife_std_error(found.left_out))


@given(st.integers(0, 10_000))
def test_covariance_has_the_variances_on_its_diagonal(seed) -> None:
    rng = np.random.default_rng(seed)
    stratum = np.sort(rng.integers(0, 2, 9))
    stratum[:2], stratum[-2:] = 0, 1
    sums = np.abs(rng.normal(2, 1, (9, 2)))
    found = stratified(sums, np.ones(9), stratum, mean)
    both = np.stack([found.left_out, 2 * found.left_out], axis=-1)
    covariance = left_out_covariance(both, stratum)
    assert math.sqrt(covariance[0, 0]) == pytest.approx(found.std_error())
    assert covariance == pytest.approx(covariance[0, 0] * np.array([[1, 2], [2, 4]]))


@given(st.floats(-3, 3), st.floats(0.5, 3), st.floats(0.01, 0.2), st.floats(0.01, 0.2), st.floats(-0.9, 0.9))
def test_fieller_inverts_its_test(top, bottom, sd_top, sd_bottom, r) -> None:
    covariance = np.array([[sd_top**2, r * sd_top * sd_bottom], [r * sd_top * sd_bottom, sd_bottom**2]])
    found = fieller(top, bottom, covariance, 2.1)
    if not found.is_bounded:
        assert abs(bottom) <= 2.1 * sd_bottom
        return

    def rejected(rho):
        spread = math.sqrt(covariance[0, 0] - 2 * rho * covariance[0, 1] + rho**2 * covariance[1, 1])
        return abs(top - rho * bottom) / spread

    assert found.low <= found.value <= found.high
    for end in (found.low, found.high):
        assert rejected(end) == pytest.approx(2.1, rel=1e-6)
    assert rejected((found.low + found.high) / 2) < 2.1


def test_fieller_by_hand() -> None:
    # without error below, it is the interval above over the value below
    found = fieller(2.0, 4.0, np.array([[0.25, 0.0], [0.0, 0.0]]), 2.0)
    assert (found.value, found.low, found.high) == (0.5, 0.25, 0.75)


@pytest.mark.parametrize(("bottom", "sd"), [(0.0, 0.1), (0.1, 0.1), (-0.1, 0.1)])
def test_a_denominator_that_may_be_nothing_has_no_ends(bottom, sd) -> None:
    found = fieller(1.0, bottom, np.diag([0.01, sd**2]), 2.0)
    assert not found.is_bounded
    assert (found.low, found.high) == (None, None)
    assert math.isnan(found.value) == (bottom == 0)


def test_distance_gained_is_of_means_not_of_responses() -> None:
    # control errors -1, -1; arm errors +3, -3: no bias is left although every response is further off
    assert float(distance_gained(np.array([2.0, -2.0, 0.0]))) == 1.0
    assert math.isnan(float(distance_gained(np.zeros(3))))


def test_spread_of_learners_by_hand() -> None:
    values, learner = np.array([0.0, 2.0, 4.0, 6.0]), np.array([0, 0, 2, 2])
    assert float(sd_of_means(values, learner, 3)) == pytest.approx(np.std([1, 5], ddof=1))
    assert math.isnan(float(sd_of_means(values, np.zeros(4, dtype=np.int64), 1)))
    many = sd_of_means(np.stack([values, values[::-1], np.zeros(4)]), learner, 3)
    assert many == pytest.approx([np.std([1, 5], ddof=1), np.std([5, 1], ddof=1), 0.0])


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_reassigning_keeps_the_values_of_every_question(seed, n) -> None:
    rng = np.random.default_rng(seed)
    question, values = rng.integers(0, 3, n), rng.normal(size=n)
    for row in reassigned(values, question, rng, 5):
        for one in range(3):
            assert sorted(row[question == one]) == pytest.approx(sorted(values[question == one]))


def test_sign_flips_by_hand() -> None:
    rng = np.random.default_rng(0)
    assert sign_flip_p(np.array([1.0, 2.0, 3.0]), rng) == (1.0, 1 / 8)
    assert sign_flip_p(np.array([-1.0, -2.0, -3.0]), rng) == (1 / 8, 1.0)
    # sums of ±1 ±1: 2, 0, 0, -2; the sample is 0
    assert sign_flip_p(np.array([1.0, -1.0]), rng) == (0.75, 0.75)
    low, high = sign_flip_p(np.full(20, 0.5), rng)
    assert low == 1.0
    assert high < 0.001


def test_sign_flips_of_many_values_are_near_the_wilcoxon_like_t_test() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 30)
    _, high = sign_flip_p(values, np.random.default_rng(4), 20_000)
    assert high == pytest.approx(stats.ttest_1samp(values, 0, alternative="greater").pvalue, abs=0.01)
