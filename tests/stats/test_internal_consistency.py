import csv
from dataclasses import fields
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.internal_consistency import (
    CrossProducts,
    Moments,
    cronbach_alpha,
    cross_products,
    kr20,
    kr21,
    mean_intercriterion_correlation,
    mean_total,
    moments,
    sd_total,
    standardized_alpha,
    varying_pairs,
)


def bank():
    """Judge and reference rows (180, 10) of the parsed responses, and their clusters."""
    with (files("evenhand.data") / "zhu_bank.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["judge_1"]]
    judge = np.array([[int(row[f"judge_{j}"]) for j in range(1, 11)] for row in rows])
    reference = np.array([[int(row[f"gold_{j}"]) for j in range(1, 11)] for row in rows])
    return judge, reference, np.array([int(row["cluster_id"]) for row in rows])


def matrix(*rows):
    return np.array([[int(cell) for cell in row] for row in rows])


# case CTT-01; CTT-02a is the same with a ninth line that everybody meets
EIGHT_LINES = matrix(
    "11111110",
    "11110100",
    "11011000",
    "10100000",
    "11111111",
    "01000000",
    "11101100",
    "10010010",
    "11111011",
    "01100000",
)
NINE_LINES = np.column_stack([EIGHT_LINES, np.ones(10, dtype=int)])

tables = hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(0, 1))
stacks = hnp.arrays(np.int64, (3, 2, 6, 4), elements=st.integers(0, 1))


def take(sums, index):
    """One element of every field along its leading axes."""
    return type(sums)(*(getattr(sums, field.name)[index] for field in fields(sums)))


def test_kr20_by_hand():
    # rows 11, 10, 00: totals 2 1 0, variance 1 (n-1) or 2/3 (n); p = 2/3, 1/3, sum pq = 4/9
    # hence 2 (1 - 4/9) = 10/9 with mixed divisors, and 2 (1 - (4/9)/(2/3)) = 2/3 with n in both
    sums = moments(matrix("11", "10", "00"))
    assert kr20(sums) == pytest.approx(10 / 9, abs=1e-15)
    assert kr20(sums, variance="n") == pytest.approx(2 / 3, abs=1e-15)
    # mean rate 1/2, so K p q = 1/2: mixed 2 (1 - 1/2) = 1; n 2 (1 - 3/4) = 1/2
    assert kr21(sums) == pytest.approx(1, abs=1e-15)
    assert kr21(sums, variance="n") == pytest.approx(1 / 2, abs=1e-15)
    assert mean_total(sums) == 1
    assert sd_total(sums) == 1


def test_correlation_by_hand():
    # columns 1100, 1000, 0000: the first two correlate (4*1 - 2*1) / sqrt(4 * 3) = 1/sqrt 3, the third is constant
    cross = cross_products(matrix("110", "100", "000", "000"))
    pairs = varying_pairs(cross)
    assert pairs.sum() == 1
    assert pairs[0, 1]
    assert mean_intercriterion_correlation(cross, pairs) == pytest.approx(3**-0.5, abs=1e-15)


def test_standardized_alpha_by_hand():
    # two criteria that correlate .5 give 1 / 1.5
    assert standardized_alpha(np.array(0.5), 2) == pytest.approx(2 / 3, abs=1e-15)


def test_continuous_values_by_hand():
    # columns 1 2 3 and 2 4 6: variances (n) 2/3 and 8/3, total 3 6 9 variance 6: 2 (1 - (10/3)/6) = 8/9
    values = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    assert cronbach_alpha(cross_products(values)) == pytest.approx(8 / 9, abs=1e-15)
    assert moments(values).square_sum == 70


def test_cases_ctt():
    # CTT-01: .780807 (KR-20 = alpha), KR-21 .711014, mixed form .8170; CTT-02a: .768607 with the constant line kept
    sums = moments(EIGHT_LINES)
    assert kr20(sums, variance="n") == pytest.approx(0.780807, abs=5e-7)
    assert cronbach_alpha(cross_products(EIGHT_LINES)) == pytest.approx(0.780807, abs=5e-7)
    assert kr21(sums, variance="n") == pytest.approx(0.711014, abs=5e-7)
    assert kr20(sums) == pytest.approx(0.8170, abs=5e-5)
    assert kr20(moments(NINE_LINES), variance="n") == pytest.approx(0.768607, abs=5e-7)
    assert not varying_pairs(cross_products(NINE_LINES))[:, 8].any()
    # CTT-02b: all totals equal, undefined
    same = matrix(*["101"] * 6)
    assert np.isnan(kr20(moments(same)))
    assert np.isnan(kr20(moments(same), variance="n"))
    assert np.isnan(cronbach_alpha(cross_products(same)))


def test_oracle_brennan_synthetic_1():
    # oracle kr20.brennan_syn1: R base, CTT 2.3.3; Brennan 2001 prints .844. The first item is constant.
    rows = matrix(
        "101000000000", "111001000000", "111110000000", "110110010000", "111110100000",
        "111011100000", "111111100000", "111101111100", "111111111110", "111111111111",
    )  # fmt: skip
    sums = moments(rows)
    assert kr20(sums, variance="n") == pytest.approx(0.844494892167991, abs=1e-10)
    assert kr20(sums) == pytest.approx(0.869136312042101, abs=1e-10)
    assert kr21(sums, variance="n") == pytest.approx(0.724486637085956, abs=1e-10)
    assert kr21(sums) == pytest.approx(0.761128882468269, abs=1e-10)
    assert cronbach_alpha(cross_products(rows)) == pytest.approx(0.844494892167991, abs=1e-10)


def test_oracle_bank():
    # oracles kr20.zhu.judge, kr20.zhu.gold (R base, psych 2.2.9) and zhu.* (Zhu 2026, recomputed)
    judge, reference, _ = bank()
    sums, labels = moments(judge), moments(reference)
    assert kr20(sums) == pytest.approx(0.52233940844699, abs=1e-9)
    assert kr20(labels) == pytest.approx(0.523074219959034, abs=1e-9)
    assert kr20(sums, variance="n") == pytest.approx(0.519050181057805, abs=1e-9)
    assert kr20(labels, variance="n") == pytest.approx(0.519789097662095, abs=1e-9)
    assert kr21(sums) == pytest.approx(0.51963388632173, abs=1e-9)
    assert kr21(labels) == pytest.approx(0.52184206704531, abs=1e-9)
    assert mean_total(labels) == pytest.approx(5.511111, abs=5e-7)
    assert sd_total(labels) == pytest.approx(2.159787, abs=5e-7)
    assert mean_total(sums) - mean_total(labels) == pytest.approx(0.461111, abs=5e-7)


def test_oracle_bank_correlations():
    # CONVENTIONS A.4: judge .097868, reference .097711, errors .062831 over 36 pairs; standardised alpha .519906
    judge, reference, _ = bank()
    for rows, expected, n_pairs in (
        (judge, 0.097868, 45),
        (reference, 0.097711, 45),
        (judge != reference, 0.062831, 36),
    ):
        cross = cross_products(rows)
        pairs = varying_pairs(cross)
        assert pairs.sum() == n_pairs
        assert mean_intercriterion_correlation(cross, pairs) == pytest.approx(expected, abs=5e-7)
    cross = cross_products(reference)
    mean = mean_intercriterion_correlation(cross, varying_pairs(cross))
    assert standardized_alpha(mean, 10) == pytest.approx(0.519906, abs=5e-7)


def test_oracle_percentile_ends_of_the_difference():
    # Zhu 2026 and CONVENTIONS A.6: KR-20 judge minus reference, 2,000 draws over 13 clusters, -.07307 to .07441
    judge, reference, cluster = bank()
    names = np.unique(cluster)
    draws = np.random.default_rng(0).integers(0, 13, (2000, 13))
    weights = np.sum(draws[:, :, None] == np.arange(13), axis=1).astype(float)

    def replicates(rows):
        parts = [moments(rows[cluster == name]) for name in names]
        return kr20(
            Moments(
                weights @ np.array([part.n for part in parts]),
                weights @ np.array([part.item_sums for part in parts]),
                weights @ np.array([part.total_square_sum for part in parts]),
            )
        )

    ends = np.percentile(replicates(judge) - replicates(reference), [2.5, 97.5])
    assert ends == pytest.approx([-0.07307, 0.07441], abs=5e-6)


@given(tables)
def test_kr20_n_is_alpha_from_a_covariance_matrix(rows):
    K = rows.shape[1]
    covariance = np.atleast_2d(np.cov(rows, rowvar=False, ddof=0))
    expected = np.nan
    if K > 1 and rows.sum(axis=1).std() > 0:
        expected = K / (K - 1) * (1 - np.trace(covariance) / covariance.sum())
    assert kr20(moments(rows), variance="n") == pytest.approx(expected, abs=1e-10, nan_ok=True)
    assert cronbach_alpha(cross_products(rows)) == pytest.approx(expected, abs=1e-10, nan_ok=True)


@given(tables)
def test_divisors_differ_by_the_stated_amount(rows):
    n, K = rows.shape
    mixed, plain = kr20(moments(rows)), kr20(moments(rows), variance="n")
    assert np.isnan(mixed) == np.isnan(plain)
    if not np.isnan(mixed):
        assert mixed - plain == pytest.approx((K / (K - 1) - mixed) / (n - 1), abs=1e-10)
        assert kr21(moments(rows)) <= mixed + 1e-10


@given(stacks)
def test_broadcasting_equals_a_loop(rows):
    sums, cross = moments(rows), cross_products(rows)
    pairs = varying_pairs(cross)
    for index in np.ndindex(3, 2):
        one, one_cross = take(sums, index), take(cross, index)
        for statistic in (kr20, kr21, mean_total, sd_total):
            np.testing.assert_array_equal(statistic(sums)[index], statistic(one))
        np.testing.assert_array_equal(cronbach_alpha(cross)[index], cronbach_alpha(one_cross))
        np.testing.assert_array_equal(pairs[index], varying_pairs(one_cross))
        frozen = pairs[0, 0]
        np.testing.assert_array_equal(
            mean_intercriterion_correlation(cross, frozen)[index], mean_intercriterion_correlation(one_cross, frozen)
        )


@given(tables, st.integers(0, 12), st.randoms(use_true_random=False))
def test_tallies_add_up_and_order_does_not_matter(rows, at, random):
    order = list(range(len(rows)))
    random.shuffle(order)
    for tally in (moments, cross_products):
        whole, first, second = tally(rows), tally(rows[order][:at]), tally(rows[order][at:])
        for field in fields(whole):
            total = getattr(first, field.name) + getattr(second, field.name)
            np.testing.assert_array_equal(getattr(whole, field.name), total)
    columns = rows[:, ::-1]
    assert kr20(moments(rows)) == pytest.approx(float(kr20(moments(columns))), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("rows", [np.zeros((0, 3)), np.ones((1, 3)), np.eye(4)[:, :1], np.ones((5, 4)), np.eye(4)])
def test_degenerate_tables_are_undefined_and_silent(rows):
    # no response; one response; one criterion; all met; all totals 1
    sums, cross = moments(rows), cross_products(rows)
    for value in (kr20(sums), kr20(sums, variance="n"), kr21(sums), cronbach_alpha(cross)):
        assert np.isnan(value)


def test_degenerate_spread_and_mean():
    assert np.isnan(mean_total(moments(np.zeros((0, 3)))))
    assert np.isnan(sd_total(moments(np.ones((1, 3)))))
    assert sd_total(moments(np.ones((5, 4)))) == 0


def test_a_resample_that_loses_a_frozen_pair_is_undefined():
    pairs = varying_pairs(cross_products(matrix("110", "011", "101")))
    lost = cross_products(matrix("110", "111", "100"))
    assert np.isnan(mean_intercriterion_correlation(lost, pairs))
    nothing = CrossProducts(np.array(0.0), np.zeros(3), np.zeros((3, 3)))
    assert not varying_pairs(nothing).any()
    assert np.isnan(mean_intercriterion_correlation(nothing, varying_pairs(nothing)))
