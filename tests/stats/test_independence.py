import csv
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.independence import (
    error_count_variance,
    error_probabilities,
    expected_error_count_variance,
    independence_check,
)


def bank():
    with (files("evenhand.data") / "zhu_bank.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["judge_1"]]
    judge = np.array([[int(row[f"judge_{j}"]) for j in range(1, 11)] for row in rows])
    reference = np.array([[int(row[f"gold_{j}"]) for j in range(1, 11)] for row in rows])
    return reference, judge, np.array([int(row["cluster_id"]) for row in rows])


def test_error_probabilities_by_hand():
    # reference 10 / 10 / 00, judge 11 / 10 / 10: negatives 4 with 2 accepted, positives 2 with none rejected
    reference, judge = np.array([[1, 0], [1, 0], [0, 0]]), np.array([[1, 1], [1, 0], [1, 0]])
    np.testing.assert_array_equal(error_probabilities(reference, judge), [[0, 0.5], [0, 0.5], [0.5, 0.5]])
    # by line, clusters A A B: A.2 accepts 1 of 2, B.1 accepts 1 of 1, B.2 accepts 0 of 1
    by_line = error_probabilities(reference, judge, np.array([7, 7, 3]))
    np.testing.assert_array_equal(by_line, [[0, 0.5], [0, 0.5], [1, 0]])


def test_error_count_variance_by_hand():
    # counts 1 0 1: mean 2/3, squared deviations 1/9 + 4/9 + 1/9 = 2/3, over 2
    assert error_count_variance(np.array(3.0), np.array(2.0), np.array(2.0)) == pytest.approx(1 / 3, abs=1e-15)
    # rates 1/2 1/2 and 1/2 0: within (1/2 + 1/4)/2 = 3/8; expected counts 1 and 1/2, variance 1/8
    assert expected_error_count_variance(np.array([[0.5, 0.5], [0.5, 0.0]])) == pytest.approx(1 / 2, abs=1e-15)


def test_oracle_overall_rates():
    # CONVENTIONS A.12 and oracle zhu.independence.overall: .469580, .026498, 33 of 2000, .47166
    reference, judge, _ = bank()
    check = independence_check(reference, judge)
    assert check.observed == pytest.approx(0.522339, abs=5e-7)
    assert check.mean == pytest.approx(0.469580, abs=5e-7)
    assert check.sd == pytest.approx(0.026498, abs=5e-7)
    assert check.share_at_least_observed == 33 / 2000
    assert check.error_count_variance == pytest.approx(0.47166, abs=5e-6)
    assert (check.n_defined, check.n_resamples) == (2000, 2000)


def test_oracle_line_rates():
    # CONVENTIONS A.12 and oracle zhu.independence.line: .48163, .01859, share .011, .5913
    reference, judge, cluster = bank()
    check = independence_check(reference, judge, clusters=cluster)
    assert check.mean == pytest.approx(0.48163, abs=5e-6)
    assert check.sd == pytest.approx(0.01859, abs=5e-6)
    assert check.share_at_least_observed == pytest.approx(0.011, abs=1e-12)
    assert check.error_count_variance == pytest.approx(0.5913, abs=5e-5)


def test_oracle_expected_variance():
    # the oracles' analytic .47287 and .58964 take the spread of the expected counts with divisor n; the expectation
    # of a variance with divisor n - 1 takes n - 1 (60,000 draws: .47312 and .59150, standard error .0003)
    reference, judge, cluster = bank()
    for clusters, published in ((None, 0.47287), (cluster, 0.58964)):
        rates = error_probabilities(reference, judge, clusters)
        expected = expected_error_count_variance(rates)
        counts = rates.sum(axis=1)
        assert expected - counts.var(ddof=1) + counts.var() == pytest.approx(published, abs=5e-6)


def test_oracle_error_count_variance():
    # CONVENTIONS A.13: .719894, divisor n - 1
    reference, judge, _ = bank()
    counts = np.sum(reference != judge, axis=1).astype(float)
    value = error_count_variance(np.array(180.0), counts.sum(), np.square(counts).sum())
    assert value == pytest.approx(0.719894, abs=5e-7)


def test_rates_are_the_measured_ones():
    # CONVENTIONS A.5: false accept 84/808, false reject 1/992
    reference, judge, _ = bank()
    rates = error_probabilities(reference, judge)
    assert np.unique(rates).tolist() == [1 / 992, 84 / 808]


def test_blocks_do_not_change_the_stream(monkeypatch):
    reference, judge, _ = bank()
    whole = independence_check(reference, judge, n_resamples=50)
    monkeypatch.setattr("evenhand.stats.independence._BLOCK_CELLS", 3 * reference.size)
    assert independence_check(reference, judge, n_resamples=50) == whole


def test_the_published_stream_draw_by_draw():
    # the convention itself: one (n, K) matrix for each draw, from one generator
    reference, judge, _ = bank()
    rng, rates = np.random.default_rng(5), error_probabilities(reference, judge)
    counts = [np.sum(rng.random((180, 10)) < rates, axis=1) for _ in range(20)]
    check = independence_check(reference, judge, n_resamples=20, seed=5)
    assert check.error_count_variance == pytest.approx(np.mean([c.var(ddof=1) for c in counts]), abs=1e-12)


binary = hnp.arrays(np.int64, (7, 3), elements=st.integers(0, 1))


@given(binary, binary, hnp.arrays(np.int64, 7, elements=st.integers(0, 2)))
def test_expected_errors_equal_the_measured_ones(reference, judge, cluster):
    for clusters in (None, cluster):
        rates = error_probabilities(reference, judge, clusters)
        assert ((rates >= 0) & (rates <= 1)).all()
        assert rates.sum() == pytest.approx(float(np.sum(reference != judge)), abs=1e-12)


@given(hnp.arrays(np.int64, (2, 3, 6), elements=st.integers(0, 5)))
def test_variance_broadcasts_and_equals_numpy(counts):
    n = np.full((2, 3), 6.0)
    got = error_count_variance(n, counts.sum(axis=-1), np.square(counts).sum(axis=-1))
    np.testing.assert_allclose(got, counts.var(axis=-1, ddof=1), atol=1e-12)


@given(hnp.arrays(np.float64, (2, 4, 3), elements=st.floats(0, 1)))
def test_expectation_broadcasts(rates):
    together = expected_error_count_variance(rates)
    for index in range(2):
        assert together[index] == pytest.approx(float(expected_error_count_variance(rates[index])), abs=1e-12)


def test_expectation_agrees_with_simulation():
    rng = np.random.default_rng(2)
    rates = rng.random((12, 4))
    counts = np.sum(rng.random((40_000, 12, 4)) < rates, axis=-1)
    drawn = counts.var(axis=-1, ddof=1)
    standard_error = drawn.std() / np.sqrt(drawn.size)
    assert abs(drawn.mean() - expected_error_count_variance(rates)) < 4 * standard_error


def test_an_error_free_judge():
    reference, _, _ = bank()
    check = independence_check(reference, reference, n_resamples=10)
    assert check.mean == pytest.approx(check.observed, abs=1e-15)
    assert (check.sd, check.share_at_least_observed, check.error_count_variance) == (pytest.approx(0, abs=1e-15), 1, 0)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (4, 1)])
def test_too_small_tables_are_undefined_and_silent(shape):
    labels = np.zeros(shape, dtype=int)
    check = independence_check(labels, labels, clusters=np.zeros(shape[0], dtype=int), n_resamples=5)
    assert np.isnan([check.observed, check.mean, check.sd, check.share_at_least_observed]).all()
    assert check.n_defined == 0
    assert np.isnan(expected_error_count_variance(np.zeros((1, 3))))
    assert np.isnan(expected_error_count_variance(np.zeros((0, 3))))
    assert np.isnan(error_count_variance(np.array(0.0), np.array(0.0), np.array(0.0)))
