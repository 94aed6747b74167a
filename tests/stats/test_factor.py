"""One factor by maximum likelihood and omega: by hand, against lavaan, and as identities."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.stats.factor import LEAST_UNIQUE, covariances, fit_one_factor, mcdonald_omega
from evenhand.stats.internal_consistency import cronbach_alpha, cross_products

SCORES = Path(__file__).resolve().parents[2].parent / "shared/oracles/data/holzinger_swineford_x1_x9.csv"


@pytest.mark.skipif(not SCORES.is_file(), reason="the shared oracle tables (../shared) are absent")
@pytest.mark.parametrize(
    ("first", "omega", "alpha"),
    [  # oracles omega.hs.x1, omega.hs.x4, omega.hs.x7: lavaan 0.6.14, psych 2.2.9
        (0, 0.632553156301715, 0.626117131884981),
        (3, 0.885880923932492, 0.882706912875796),
        (6, 0.696135286738829, 0.688455022985003),
    ],
)
def test_oracle_mcdonald_omega(first, omega, alpha):
    with SCORES.open(encoding="utf-8") as lines:
        rows = np.array([[float(cell) for cell in row.values()] for row in csv.DictReader(lines)])
    cross = cross_products(rows[:, first : first + 3])
    assert mcdonald_omega(cross) == pytest.approx(omega, abs=1e-5)
    assert cronbach_alpha(cross) == pytest.approx(alpha, abs=1e-9)


def test_three_criteria_by_hand():
    # loadings 1, .8, .6 with unique variances .5: covariances .8, .6, .48 give them back exactly
    loadings = np.array([1, 0.8, 0.6])
    fit = fit_one_factor(np.outer(loadings, loadings) + 0.5 * np.eye(3))
    assert fit.loadings == pytest.approx(loadings, abs=1e-8)
    assert fit.unique == pytest.approx([0.5] * 3, abs=1e-8)
    assert fit.omega == pytest.approx(2.4**2 / (2.4**2 + 1.5), abs=1e-8)
    assert not fit.boundary


@settings(max_examples=40)
@given(st.lists(st.floats(0.2, 3), min_size=4, max_size=8), st.integers(0, 2**32 - 1))
def test_a_factor_that_made_the_matrix_is_found_in_any_units(loadings, seed):
    rng = np.random.default_rng(seed)
    load, unique = np.array(loadings), rng.uniform(0.3, 2, len(loadings))
    matrix = np.outer(load, load) + np.diag(unique)
    fit = fit_one_factor(matrix)
    assert fit.loadings == pytest.approx(load, abs=1e-5)
    units = rng.uniform(0.1, 10, len(load))
    assert fit_one_factor(matrix * np.outer(units, units)).loadings == pytest.approx(load * units, rel=1e-4)


def test_equal_loadings_and_uniquenesses_give_alpha():
    matrix = np.full((5, 5), 0.3) + 0.7 * np.eye(5)
    assert fit_one_factor(matrix).omega == pytest.approx(5 * 0.3 / (1 + 4 * 0.3), abs=1e-9)


def test_many_at_once_are_each_by_itself():
    rng = np.random.default_rng(0)
    cross = cross_products((rng.random((6, 2, 80, 5)) < rng.random((6, 2, 80, 1))).astype(float))
    together = mcdonald_omega(cross)
    assert together.shape == (6, 2)
    for index in np.ndindex(6, 2):
        alone = fit_one_factor(covariances(cross)[index]).omega
        assert together[index] == pytest.approx(float(alone), abs=1e-7)


def test_an_impossible_unique_variance_is_held_and_flagged():
    # correlations .9 .9 .5: the first criterion would need 1 - .81/.5 < 0
    fit = fit_one_factor(np.array([[1, 0.9, 0.9], [0.9, 1, 0.63], [0.9, 0.63, 1]]))
    assert fit.boundary
    assert fit.unique.min() == pytest.approx(LEAST_UNIQUE, rel=1e-6)
    assert 0 < fit.omega < 1


@pytest.mark.parametrize(
    "matrix",
    [np.eye(2), np.diag([1.0, 1, 0]), np.ones((3, 3)), np.full((3, 3), np.nan)],
    ids=["two criteria", "a constant one", "all alike", "no responses"],
)
def test_what_cannot_be_fitted_is_undefined(matrix):
    assert np.isnan(fit_one_factor(matrix).omega)
