import numpy as np
import pytest

from evenhand.stats import marks as of
from evenhand.tally.level_pairs import level_pairs

RNG = np.random.default_rng(3)
REFERENCE, JUDGE, UNIT = RNG.integers(0, 30, 200), RNG.integers(0, 30, 200), RNG.integers(0, 9, 200)
COUNT = RNG.integers(1, 4, 200)


@pytest.fixture
def pairs():
    return level_pairs(REFERENCE, JUDGE, 30, UNIT, 9, COUNT)


@pytest.fixture
def tables():
    return of.level_tables(REFERENCE, JUDGE, 30, UNIT, 9, COUNT)


def test_only_pairs_that_occur_are_kept(pairs, tables):
    assert pairs.tallies.shape == (9, len(set(zip(REFERENCE.tolist(), JUDGE.tolist(), strict=True))))
    np.testing.assert_array_equal(pairs.total(), tables.sum(axis=0))
    np.testing.assert_array_equal(pairs.sizes, tables.sum(axis=(1, 2)))
    np.testing.assert_array_equal(pairs.distance, np.abs(pairs.code // 30 - pairs.code % 30))


@pytest.mark.parametrize("at_once", [1, 5 * 30**2, 10**7])
def test_measures_see_the_dense_tables(pairs, tables, at_once, monkeypatch):
    monkeypatch.setattr("evenhand.tally.level_pairs.MOST_CELLS_AT_ONCE", at_once)
    found = pairs.dense(of.kendall_tau)(pairs.tallies)
    np.testing.assert_allclose(found, of.kendall_tau(tables), atol=1e-14)
    assert pairs.dense(of.kendall_tau)(pairs.tallies.sum(axis=0)).shape == ()


def test_no_pairs():
    nothing = np.empty(0, dtype=np.int64)
    pairs = level_pairs(nothing, nothing, 4, nothing, 3)
    assert pairs.tallies.shape == (3, 0)
    assert np.isnan(pairs.dense(of.spearman_rho)(pairs.tallies)).all()
