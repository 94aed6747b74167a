"""Spread of each rater beside the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.centrality import centrality_sums, rater_centrality
from evenhand.stats.intervals import METHODS, Sample
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import LOG

marks = st.tuples(st.integers(2, 9), st.integers(3, 4)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(0, 6).map(float))
)


def centrality(values, rater):
    zeros = np.zeros(len(values), dtype=int)
    return float(rater_centrality(centrality_sums(np.asarray(values, dtype=float), rater, zeros, 1)[0]))


def test_by_hand() -> None:
    # variances with 1/n: 1, 4, 0: √(1/2) of the first, √(4/.5) of the second, 0 of the third
    values = [[1, 1, 3], [3, 5, 3]]
    assert [centrality(values, rater) for rater in range(3)] == pytest.approx([np.sqrt(1 / 2), np.sqrt(8), 0])


def test_holes_leave_the_units_that_both_rate() -> None:
    values = np.array([[1, 2, np.nan], [3, 6, 1], [9, np.nan, 3]])
    # beside the second on rows 0, 1: 1 and 4; beside the third on rows 1, 2: 9 and 1
    assert centrality(values, 0) == pytest.approx(np.sqrt((1 + 9) / (4 + 1)))


def test_nothing_to_be_had() -> None:
    assert np.isnan(centrality([[1, 2, 2], [3, 2, 2]], 0))
    assert np.isnan(centrality([[1, 2, 4]], 0))
    assert np.isnan(centrality(np.array([[1, np.nan, np.nan], [np.nan, 2, 3]]), 0))


@given(marks, st.integers(-5, 5), st.integers(1, 4))
def test_of_complete_marks_it_is_a_ratio_of_deviations(values, shift, factor) -> None:
    spread = values.var(axis=0)
    for rater in range(values.shape[1]):
        others = np.delete(spread, rater).mean()
        wanted = np.sqrt(spread[rater] / others) if others > 1e-12 else np.nan
        assert centrality(values, rater) == pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True)
        moved = values.copy()
        moved[:, rater] = factor * values[:, rater] + shift  # blind to severity, in proportion to the spread
        assert centrality(moved, rater) == pytest.approx(factor * wanted, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.slow
def test_intervals_cover() -> None:
    """400 banks of 20 clusters of 5, one of three raters half as wide: truth .5 of √(1 + noise)."""
    rng, truth, hits, drawn = np.random.default_rng(5), None, 0, draw_weights(0, 100, 20)

    def bank(n):
        cluster = np.repeat(rng.standard_normal(n), 5)
        work = cluster + rng.standard_normal(5 * n)
        noise = 0.5 * rng.standard_normal((5 * n, 3))
        values = np.stack([0.5 * work, work, work], axis=1) + noise
        return centrality_sums(values, 0, np.repeat(np.arange(n), 5), n)

    truth = float(rater_centrality(bank(100_000).sum(axis=0)))
    for _ in range(400):
        sample = Sample(bank(20), rater_centrality, np.full(20, 5.0), LOG, tuple(map(str, range(20))), lambda n: drawn)
        found = METHODS["default"](sample, 0.95)
        hits += found.low <= truth <= found.high
    assert 0.92 <= hits / 400 <= 0.985
