"""The stratified jackknife: hand cases, the textbook variance of means, coverage, degenerate strata."""

import numpy as np
import pytest

from evenhand.stats.agreement import cohen_kappa, share
from evenhand.stats.stratified import by_stratum, mean_over_strata, pooled_over_strata

TASKS = ((400, 360), (25, 10), (60, 33))


def rows(tasks):
    stratum = np.repeat(np.arange(len(tasks)), [n for n, _ in tasks])
    events = np.concatenate([np.r_[np.ones(met), np.zeros(n - met)] for n, met in tasks])
    return np.stack([events, 1 - events], axis=-1), stratum


def test_unc_04_plain_and_size_weighted_means():
    """UNC-04: two estimands, each with its own standard error."""
    tallies, stratum = rows(TASKS)
    plain, pooled = (f(tallies, stratum, share) for f in (mean_over_strata, pooled_over_strata))
    assert (plain.value, plain.std_error()) == (pytest.approx(0.616667, abs=5e-7), pytest.approx(0.040028, abs=5e-7))
    assert (pooled.value, pooled.std_error()) == (pytest.approx(0.830928, abs=5e-7), pytest.approx(0.015627, abs=5e-7))
    assert plain.df == pytest.approx(482)


def test_textbook_variance_of_a_stratified_mean():
    rng = np.random.default_rng(5)
    tasks = [(int(n), int(rng.integers(1, n))) for n in rng.integers(5, 40, 6)]
    tallies, stratum = rows(tasks)
    n, p = np.array([n for n, _ in tasks]), np.array([met / n for n, met in tasks])
    of_means = p * (1 - p) / (n - 1)
    assert mean_over_strata(tallies, stratum, share).std_error() == pytest.approx(
        np.sqrt(of_means.sum()) / 6, rel=1e-12
    )
    weighted = np.sqrt((np.square(n / n.sum()) * of_means).sum())
    assert pooled_over_strata(tallies, stratum, share).std_error() == pytest.approx(weighted, rel=1e-12)


def test_strata_of_equal_sizes_have_one_mean():
    tallies, stratum = rows([(30, 12), (30, 25)])
    plain, pooled = (f(tallies, stratum, share) for f in (mean_over_strata, pooled_over_strata))
    assert plain.value == pytest.approx(pooled.value, abs=1e-14)
    assert plain.std_error() == pytest.approx(pooled.std_error(), rel=1e-12)


def test_numbers_of_strata_need_not_be_dense():
    tallies, stratum = rows(TASKS)
    assert mean_over_strata(tallies, 5 * stratum + 2, share).std_error() == pytest.approx(0.040028, abs=5e-7)


def test_an_undefined_stratum_makes_the_mean_undefined():
    tables = np.zeros((4, 2, 2))
    tables[:, 0, 0] = 1
    assert np.isnan(mean_over_strata(tables, np.array([0, 0, 1, 1]), cohen_kappa).value)


def means(values, members, stratum):
    """(V, 2) members and sums of a mean, which are no counts of one kind."""
    return np.stack([members, values * members], axis=-1).astype(float), np.asarray(stratum)


def mean(sums):
    return sums[..., 1] / sums[..., 0]


def test_sizes_of_a_mean_are_its_members_not_the_sum_of_its_cells():
    """Two strata of three units with 1, 2 and 1 members: G* = 16/6 in each, whatever the values are."""
    values, members = np.array([1000.0, 0, 5, 2, 7, 1]), np.array([1.0, 2, 1, 1, 2, 1])
    tallies, stratum = means(values, members, [0, 0, 0, 1, 1, 1])
    for of_strata in (mean_over_strata, pooled_over_strata):
        assert of_strata(tallies, stratum, mean, members).df == pytest.approx(2 * (16 / 6 - 1))
        assert of_strata(tallies, stratum, mean).df != pytest.approx(2 * (16 / 6 - 1))
    # the stratum regains by members: 8 in all, a unit of 2 left out of 4 doubles what is left
    pooled = pooled_over_strata(tallies, stratum, mean, members)
    assert pooled.value == pytest.approx((1000 + 0 + 5 + 2 + 14 + 1) / 8)
    assert pooled.left_out[1] == pytest.approx((2 * (1000 + 5) + 2 + 14 + 1) / 8)
    assert pooled.left_out[4] == pytest.approx((1000 + 0 + 5 + 2 * (2 + 1)) / 8)


def test_sizes_of_counts_are_the_sums_of_their_cells():
    tallies, stratum = rows(TASKS)
    for of_strata in (mean_over_strata, pooled_over_strata):
        plain, said = of_strata(tallies, stratum, share), of_strata(tallies, stratum, share, tallies.sum(axis=1))
        assert (plain.value, plain.df) == (said.value, said.df)
        assert plain.left_out == pytest.approx(said.left_out)


def test_sums_by_stratum():
    assert by_stratum(np.array([[1.0], [2], [4]]), np.array([1, 0, 1]), 3).tolist() == [[2], [5], [0]]


@pytest.mark.slow
def test_intervals_hold_their_level():
    rng, sizes, truth = np.random.default_rng(11), (12, 40, 90), np.array([0.4, 0.6, 0.85])
    hits = []
    for _ in range(2_000):
        tallies, stratum = rows([(n, int(rng.binomial(n, p))) for n, p in zip(sizes, truth, strict=True)])
        found = mean_over_strata(tallies, stratum, share)
        hits.append(abs(found.value - truth.mean()) <= 1.98 * found.std_error())
    assert 0.93 <= np.mean(hits) <= 0.97
