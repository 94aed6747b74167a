"""Dose of a label: the slope beside least squares, the ratio at a proportional effect and at a step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.dose import dose_reached, dose_slope, dose_sums, mean_effect
from evenhand.stats.resampling import leave_one_out


def drawn(seed, n=60):
    rng = np.random.default_rng(seed)
    tail = rng.integers(0, 2, n).astype(float)
    own = np.where(tail, rng.uniform(6, 9, n), rng.uniform(1, 4, n))
    gap = rng.uniform(2, 7, n)
    return rng, gap, np.column_stack([tail, own, rng.normal(5, 2, n)])


def sums_of(effect, gap, held, n_units=6):
    return dose_sums(effect, gap, held, np.arange(len(effect)) % n_units, n_units)


@given(st.integers(0, 10_000))
def test_the_slope_is_that_of_least_squares_and_so_without_a_unit(seed) -> None:
    rng, gap, held = drawn(seed)
    effect = 0.1 * gap + held @ [0.3, -0.1, 0.05] + rng.normal(size=len(gap))
    sums = sums_of(effect, gap, held)

    def least_squares(kept):
        design = np.column_stack([np.ones(kept.sum()), gap[kept], held[kept]])
        return np.linalg.lstsq(design, effect[kept], rcond=None)[0][1]

    unit = np.arange(len(gap)) % 6
    assert float(dose_slope(sums.sum(axis=0))) == pytest.approx(least_squares(unit >= 0), rel=1e-6, abs=1e-8)
    expected = [least_squares(unit != one) for one in range(6)]
    assert dose_slope(leave_one_out(sums)) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@given(st.integers(0, 10_000), st.floats(0.05, 2))
def test_an_effect_in_proportion_has_ratio_one_and_a_step_ratio_nothing(seed, size) -> None:
    _, gap, held = drawn(seed)
    for effect, ratio in ((size * gap, 1.0), (np.full(len(gap), size), 0.0)):
        total = sums_of(effect, gap, held).sum(axis=0)
        assert float(dose_reached(total) / mean_effect(total)) == pytest.approx(ratio, abs=1e-6)


def test_a_gap_that_never_varies_or_follows_what_is_held_has_no_slope() -> None:
    _, gap, held = drawn(1)
    effect = np.ones(len(gap))
    assert np.isnan(dose_slope(sums_of(effect, np.full(len(gap), 4.0), held).sum(axis=0)))
    assert np.isnan(dose_slope(sums_of(effect, held[:, 1] + 1.0, held).sum(axis=0)))
    assert np.isnan(dose_slope(np.zeros(25)))


def test_a_held_column_that_repeats_another_changes_nothing() -> None:
    rng, gap, held = drawn(2)
    effect = 0.2 * gap + rng.normal(size=len(gap))
    once = dose_slope(sums_of(effect, gap, held).sum(axis=0))
    twice = dose_slope(sums_of(effect, gap, np.column_stack([held, held[:, 0]])).sum(axis=0))
    assert float(twice) == pytest.approx(float(once))
