"""What holds of intervals for any data."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from interval_samples import ends, kappa, rate

from evenhand.stats.intervals import METHODS

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

Array = np.ndarray

clustered = hnp.arrays(
    np.int64, st.tuples(st.integers(2, 12), st.just(2)), elements=st.integers(0, 25)
).filter(lambda tallies: (tallies.sum(axis=1) > 0).all())  # fmt: skip
tables = hnp.arrays(np.int64, st.tuples(st.integers(2, 9), st.just(2), st.just(2)), elements=st.integers(1, 30))


@pytest.mark.parametrize(
    "method", ["default", "jackknife_t", "jackknife_t_scaled", "korn_graubard", "clopper_pearson", "wilson", "cr2_t"]
)
@given(tallies=clustered)
def test_ends_of_a_share_bracket_it(method: str, tallies: Array) -> None:
    one = rate(tallies)
    found = METHODS[method](one, 0.95)
    assume(found.low is not None)
    low, high = ends(found)
    assert 0 <= low <= one.value + 1e-12
    assert one.value - 1e-12 <= high <= 1


@pytest.mark.parametrize(("method"), ["default", "jackknife_t", "jackknife_t_scaled"])
@given(cells=tables)
def test_ends_of_kappa_bracket_it(method: str, cells: Array) -> None:
    one = kappa(cells)
    found = METHODS[method](one, 0.95)
    assume(found.low is not None)
    low, high = ends(found)
    assert -1 <= low <= one.value <= high <= 1


@pytest.mark.parametrize("method", ["percentile", "bca"])
@given(cells=tables)
def test_bootstrap_ends_lie_among_the_replicates(method: str, cells: Array) -> None:
    one = kappa(cells, resamples=200)
    found = METHODS[method](one, 0.95)
    assume(found.low is not None)
    low, high = ends(found)
    assert np.nanmin(one.replicates) <= low <= high <= np.nanmax(one.replicates)


@given(tallies=clustered, seed=st.integers(0, 2**32 - 1))
def test_the_default_does_not_know_the_order_of_clusters(tallies: Array, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(tallies))
    first, second = (METHODS["default"](rate(one), 0.95) for one in (tallies, tallies[order]))
    assert (first.low is None) == (second.low is None)
    if first.low is not None:
        assert ends(first) == pytest.approx(ends(second), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("none", "exact")])
@given(tallies=clustered)
def test_a_higher_level_is_no_narrower(method: str, tallies: Array) -> None:
    one = rate(tallies, resamples=200)
    found = [METHODS[method](one, level) for level in (0.8, 0.9, 0.95, 0.99)]
    assume(all(interval.low is not None for interval in found))
    for inner, outer in itertools.pairwise(found):
        assert outer.low <= inner.low + 1e-9
        assert outer.high >= inner.high - 1e-9


@given(tallies=clustered)
def test_a_share_and_its_complement_mirror(tallies: Array) -> None:
    for method in ("default", "clopper_pearson", "wilson", "korn_graubard", "jackknife_t_scaled"):
        share_, complement = (METHODS[method](rate(one), 0.95) for one in (tallies, tallies[:, ::-1]))
        assert (share_.low is None) == (complement.low is None)
        if share_.low is not None:
            low, high = ends(complement)
            assert ends(share_) == pytest.approx((1 - high, 1 - low), rel=1e-7, abs=1e-9)


@given(tallies=clustered)
def test_floored_limits_contain_those_of_independent_rows(tallies: Array) -> None:
    inner, outer = (METHODS[name](rate(tallies), 0.95) for name in ("clopper_pearson", "korn_graubard"))
    assert outer.low <= inner.low + 1e-9
    assert outer.high >= inner.high - 1e-9


@given(cells=tables, times=st.integers(2, 50))
def test_repeating_every_verdict_moves_no_cluster_interval(cells: Array, times: int) -> None:
    # clusters are what is sampled: more verdicts of the same clusters are no more clusters
    first, second = (METHODS["jackknife_t_scaled"](kappa(one), 0.95) for one in (cells, times * cells))
    assume(first.low is not None)
    assert ends(first) == pytest.approx(ends(second), rel=1e-8, abs=1e-8)
