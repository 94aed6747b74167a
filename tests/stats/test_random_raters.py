"""Raters as a sample: the added variance, what has no interval, and coverage."""

import numpy as np
import pytest

from evenhand.stats.icc import icc, icc_components_with_holes, sums_with_holes
from evenhand.stats.random_raters import random_raters_interval
from evenhand.stats.resampling import leave_one_out
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS


def test_by_hand() -> None:
    # units ±1: V = 1/2 · 2 = 1; raters 0, 1, 2: V = 2/3 · 2 = 4/3; t(2) at .975 is 4.30265
    found = random_raters_interval(1.0, np.array([0.0, 2.0]), np.array([0.0, 1.0, 2.0]), IDENTITY, 0.95)
    half = 4.302652729749464 * np.sqrt(1 + 4 / 3)
    assert (found.low, found.high, found.df) == pytest.approx((1 - half, 1 + half, 2), rel=1e-12)


@pytest.mark.parametrize(
    ("units", "raters", "said"),
    [
        ([0.4, 0.6], [0.4, 0.6], "2 raters: a sample of raters starts at 3"),
        ([0.4, 0.6], [0.4, np.nan, 0.6], "undefined without one of the raters"),
        ([0.4, 1.0], [0.4, 0.5, 0.6], "outside the −log(1−x) scale"),
        ([0.4], [0.4, 0.5, 0.6], "one cluster"),
    ],
)
def test_no_interval_without_a_sample(units, raters, said) -> None:
    found = random_raters_interval(0.5, np.array(units), np.array(raters), LOG_ONE_MINUS, 0.95)
    assert found.low is None
    assert said in found.reason


def share_covered(n_banks: int, *, n_raters: int = 6, n_clusters: int = 12, seed: int = 0) -> float:
    """Units of variance 1 in clusters (ICC .2), raters of variance .15, residual .5: ICC(A,1) is 1/1.65."""
    rng, per, truth, hits = np.random.default_rng(seed), 15, 1 / 1.65, 0
    unit = np.repeat(np.arange(n_clusters), per)
    for _ in range(n_banks):
        value = np.sqrt(0.2) * rng.standard_normal(n_clusters)[unit] + np.sqrt(0.8) * rng.standard_normal(len(unit))
        marks = value[:, None] + np.sqrt(0.15) * rng.standard_normal(n_raters) + np.sqrt(0.5) * rng.standard_normal((len(unit), n_raters))  # fmt: skip

        def measure(sums: np.ndarray) -> np.ndarray:
            return icc(icc_components_with_holes(sums))

        sums = sums_with_holes(marks, unit, n_clusters)
        without = [measure(sums_with_holes(np.delete(marks, at, axis=1), unit, 1 + unit.max()).sum(axis=0)) for at in range(n_raters)]  # fmt: skip
        found = random_raters_interval(
            float(measure(sums.sum(axis=0))), measure(leave_one_out(sums)), np.array(without), LOG_ONE_MINUS, 0.95
        )
        hits += found.low is not None and found.low <= truth <= found.high
    return hits / n_banks


def test_coverage() -> None:
    assert 0.92 <= share_covered(200) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("n_raters", [4, 6, 10])
def test_coverage_of_many_banks(n_raters) -> None:
    assert 0.94 <= share_covered(2_000, n_raters=n_raters, seed=n_raters) <= 0.995
