import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.agreement import share
from evenhand.stats.resampling import (
    N_GROUPS,
    draw_weights,
    every_resample,
    leave_one_out,
    random_groups,
    resample,
)

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# oracles data/cluster_small.csv: y by cluster
CLUSTER_SMALL = ([1, 0, 0], [1, 1], [0, 0, 0, 1], [1, 1, 0, 1, 0])
# shared cases inputs/UNC-01.csv: score by cluster
UNC_01 = ([1, 1, 1, 0], [0, 0], [1, 1, 1], [1, 0, 0, 0, 1])

tallies = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.just(2), st.just(3)), elements=st.integers(0, 40))


def sums(clusters) -> np.ndarray:
    """(G, 2) events and non-events."""
    return np.array([[sum(one), len(one) - sum(one)] for one in clusters], dtype=float)


def exact_moments(clusters) -> tuple[float, float]:
    """Mean and SD of the share over all G^G resamples."""
    weights, probabilities = every_resample(len(clusters))
    values = share(resample(weights, sums(clusters)))
    mean = float(probabilities @ values)
    return mean, float(np.sqrt(probabilities @ (values - mean) ** 2))


@pytest.mark.parametrize(("seed", "n_resamples", "n_units"), [(0, 50, 13), (7, 20, 1), (23, 30, 40)])
def test_draws_are_the_stream_of_the_published_ends(seed: int, n_resamples: int, n_units: int) -> None:
    # CONVENTIONS A.6: rng.integers(0, G, (B, G)) of a fresh default_rng(seed)
    draws = np.random.default_rng(seed).integers(0, n_units, (n_resamples, n_units))
    counted = [[int((row == unit).sum()) for unit in range(n_units)] for row in draws]
    weights = draw_weights(seed, n_resamples, n_units)
    np.testing.assert_array_equal(weights, counted)
    np.testing.assert_array_equal(weights.sum(axis=1), n_units)


def test_draws_equal_the_choice_of_the_released_script() -> None:
    # CONVENTIONS A.6: rng.choice(uniq, size=13, replace=True) row by row gives the same stream
    rng = np.random.default_rng(0)
    rows = [np.bincount(rng.choice(13, size=13, replace=True), minlength=13) for _ in range(25)]
    np.testing.assert_array_equal(draw_weights(0, 25, 13), rows)


@pytest.mark.parametrize("n_clusters", [2_049, 5_000, 3 * N_GROUPS])
def test_random_groups_are_balanced_and_repeatable(n_clusters: int) -> None:
    groups = random_groups(n_clusters, seed=5)
    sizes = np.bincount(groups, minlength=N_GROUPS)
    assert len(sizes) == N_GROUPS
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(groups, random_groups(n_clusters, seed=5))
    assert (groups != random_groups(n_clusters, seed=6)).any()


@pytest.mark.parametrize("n_units", [1, 2, 3, 4])
def test_every_resample_is_the_count_of_ordered_ones(n_units: int) -> None:
    weights, probabilities = every_resample(n_units)
    counted: dict[tuple[int, ...], int] = {}
    for members in itertools.product(range(n_units), repeat=n_units):
        key = tuple(members.count(unit) for unit in range(n_units))
        counted[key] = counted.get(key, 0) + 1
    found = {
        tuple(row): p * n_units**n_units for row, p in zip(weights.astype(int).tolist(), probabilities, strict=True)
    }
    assert found == pytest.approx(counted)


@pytest.mark.parametrize("n_units", range(1, 8))
def test_every_resample_sums_to_one(n_units: int) -> None:
    weights, probabilities = every_resample(n_units)
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_array_equal(weights.sum(axis=1), n_units)
    np.testing.assert_allclose(probabilities @ weights, 1, rtol=1e-12)


def test_oracle_exact_cluster_bootstrap() -> None:
    # oracle cluster_bootstrap.exact: mean .506733790831846, SD .121558477127994, range .25 to 1
    assert exact_moments(CLUSTER_SMALL) == pytest.approx((0.506733790831846, 0.121558477127994), abs=1e-9)
    weights, _ = every_resample(4)
    values = share(resample(weights, sums(CLUSTER_SMALL)))
    assert (values.min(), values.max()) == (0.25, 1.0)


def test_case_unc_02_a_cluster_drawn_twice_counts_twice() -> None:
    # shared cases UNC-02: exact mean .568951 and SD .156818; collapsing repeats would give .1298, rows .1323
    assert exact_moments(UNC_01) == pytest.approx((0.568951, 0.156818), abs=5e-7)


@pytest.mark.parametrize("seed", [0, 1, 2024])
def test_case_unc_02_by_monte_carlo(seed: int) -> None:
    # shared cases UNC-02: 4,000 resamples at any seed fall within .008 of it
    values = share(resample(draw_weights(seed, 4_000, 4), sums(UNC_01)))
    assert values.std() == pytest.approx(0.156818, abs=0.008)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(0, 99),
)
def test_resample_is_concatenation_of_clusters(clusters, seed) -> None:
    def cells(rows) -> np.ndarray:
        table = np.zeros((3, 2))
        for r, j in rows:
            table[r, j] += 1
        return table

    found = resample(draw_weights(seed, 8, len(clusters)), np.stack([cells(rows) for rows in clusters]))
    draws = np.random.default_rng(seed).integers(0, len(clusters), (8, len(clusters)))
    for table, drawn in zip(found, draws, strict=True):
        np.testing.assert_array_equal(table, cells([row for unit in drawn for row in clusters[unit]]))


@given(tallies)
def test_leave_one_out_is_deletion(table) -> None:
    deleted = [np.delete(table, unit, axis=0).sum(axis=0) for unit in range(len(table))]
    np.testing.assert_array_equal(leave_one_out(table), deleted)
