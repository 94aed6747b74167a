"""Calibrated marks: hand cases, leave-one-out by sums against brute force, isotonic steps, invariance, coverage."""

import numpy as np
import pytest
from calibration_samples import METRICS, brute_sums, distorted, in_tails, pairs_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from evenhand.stats import marks as of
from evenhand.stats.binomial import t_quantile
from evenhand.stats.calibration import (
    METHODS,
    Calibrated,
    Marking,
    isotonic,
    line,
    regression_tables,
    slope_of,
)
from evenhand.stats.calibration_error import Resampling
from evenhand.stats.cluster_robust import cross_products, least_squares

FREE, WHOLE = Marking(), Marking(levels=np.arange(11.0))


def calibrated(pairs, method="linear", marking=FREE):
    return Calibrated(pairs, pairs, method, marking)


def value(pairs, metric, method="linear", marking=FREE):
    return float(METRICS[metric](calibrated(pairs, method, marking).sums(np.ones(pairs.n_units))))


def test_by_hand():
    """Three learners with two works each; the judge gives 2·t + 1 to the last one's, t + 2 to the others'."""
    pairs = pairs_of([1, 3, 2, 4, 1, 5], [3, 5, 4, 6, 3, 11], [0, 0, 1, 1, 2, 2])
    # without the last: t = 1, 3, 2, 4 and m = t + 2, so its marks 3 and 11 become 1 and 9
    # without the first: t = 2, 4, 1, 5 and m = 4, 6, 3, 11: means 3 and 6, variances 2.5 and 9.5, slope √(5/19)
    # without the second: t = 1, 3, 1, 5 and m = 3, 5, 3, 11: means 2.5 and 5.5, variances 2.75 and 10.75
    first = 3 + np.sqrt(2.5 / 9.5) * (np.array([3, 5]) - 6)
    second = 2.5 + np.sqrt(2.75 / 10.75) * (np.array([4, 6]) - 5.5)
    marks = np.concatenate([first, second, [1, 9]])
    expected = np.abs(marks - [1, 3, 2, 4, 1, 5]).mean()
    assert value(pairs, "mae") == pytest.approx(expected, abs=1e-13)


def test_a_constant_offset_is_taken_out_whole():
    pairs = pairs_of([1, 3, 2, 4, 5, 7], [3, 5, 4, 6, 7, 9], [0, 0, 1, 1, 2, 2])
    for method in METHODS[:2]:
        assert value(pairs, "mae", method) == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_perfect_marks_stay_as_they_are(method):
    marks = [0, 4, 2, 4, 10, 7, 2, 0, 7, 10, 4, 2]
    pairs = pairs_of(marks, marks, np.arange(12) // 3)
    # a unit may hold a mark that nobody else has: a step has to read that off its neighbours
    held = [0, 2, 4, 7, 10] * 3
    whole = pairs_of(held, held, np.arange(15) // 5)
    assert value(whole, "mae", method) == 0
    if method != "isotonic":
        assert value(pairs, "mae", method) == 0


def test_constant_marks_have_no_map():
    pairs = pairs_of([1, 2, 3, 4], [5, 5, 5, 5], [0, 0, 1, 1])
    assert np.isnan(value(pairs, "mae"))
    assert np.isnan(value(pairs, "mae", "least_squares"))
    assert value(pairs, "mae", "isotonic") == pytest.approx(2)  # the others' mean, 3.5 and 1.5


def test_one_learner_has_nobody_to_be_fitted_on():
    pairs = pairs_of([1, 2, 3, 4], [2, 3, 5, 5], [0, 0, 0, 0])
    for method in METHODS:
        assert np.isnan(value(pairs, "mae", method))


def test_a_constant_reference_takes_every_mark():
    pairs = pairs_of([4, 4, 4, 4], [2, 3, 5, 6], [0, 0, 1, 1])
    intercept, slope = line(pairs.sums.sum(axis=0))
    assert (float(intercept), float(slope)) == (4, 0)
    assert value(pairs, "mae", "least_squares") == pytest.approx(0, abs=1e-14)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from(METHODS), st.sampled_from([FREE, Marking(0, 10), WHOLE]))
def test_leave_one_out_by_sums_is_brute_force(seed, method, marking):
    rng = np.random.default_rng(seed)
    pairs = distorted(rng, 6, n_items=4)
    replicates = np.vstack([np.ones(6), 1 - np.eye(6), rng.multinomial(6, np.ones(6) / 6, 5)])
    got = calibrated(pairs, method, marking).sums(replicates)
    for weights, sums in zip(replicates, got, strict=True):
        if np.count_nonzero(weights) > 2:
            expected = brute_sums(pairs, method, weights, marking)
            assert sums == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(
    st.integers(0, 10_000),
    st.floats(-50, 50),
    st.floats(0.05, 20),
    st.sampled_from(["linear", "least_squares"]),
)
def test_a_linear_calibration_undoes_any_affine_change_of_marks(seed, shift, stretch, method):
    pairs = distorted(np.random.default_rng(seed), 6)
    moved = pairs_of(pairs.reference, shift + stretch * pairs.judge, pairs.unit)
    for metric in ("mae", "rmse"):
        assert value(moved, metric, method) == pytest.approx(value(pairs, metric, method), rel=1e-7)


@given(st.integers(0, 10_000))
def test_an_isotonic_calibration_sees_the_order_alone(seed):
    pairs = distorted(np.random.default_rng(seed), 5)
    moved = pairs_of(pairs.reference, np.exp(pairs.judge / 3), pairs.unit)
    assert value(moved, "mae", "isotonic") == pytest.approx(value(pairs, "mae", "isotonic"), rel=1e-9)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-20, 20)), min_size=1, max_size=12))
def test_isotonic_steps_are_those_of_scipy(levels):
    count, total = (np.array(column, dtype=float) for column in zip(*levels, strict=True))
    expected = isotonic_regression(total / count, weights=count).x
    assert isotonic(count, total) == pytest.approx(expected, abs=1e-12)


def test_levels_without_a_pair_lie_between_their_neighbours():
    fitted = isotonic(np.array([0.0, 2, 0, 0, 1, 0]), np.array([0.0, 2, 0, 0, 5, 0]))
    assert fitted.tolist() == [1, 1, 3, 3, 5, 5]
    assert np.isnan(isotonic(np.zeros(3), np.zeros(3))).all()


def test_marks_are_rounded_half_up_to_those_that_may_be_given():
    assert WHOLE.of(np.array([-3, 0.49, 0.5, 7.5, 12])).tolist() == [0, 0, 1, 8, 10]
    assert WHOLE.of(np.array([0.1 + 0.2 + 0.2, np.nextafter(0.5, 0)])).tolist() == [
        1,
        1,
    ]  # the last bit decides nothing
    assert Marking(levels=np.array([0, 2.5, 4])).of(np.array([1.25, 1.2, 3.25, 3.2])).tolist() == [2.5, 0, 4, 2.5]
    assert Marking(0, 10).of(np.array([-3, 0.5, 12])).tolist() == [0, 0.5, 10]
    assert np.isnan(WHOLE.of(np.array([np.nan]))).all()


def test_a_fit_on_other_work_is_of_that_work_alone():
    fitted, applied = pairs_of([1, 2, 3], [2, 3, 4], [0, 1, 2]), pairs_of([8, 9, 9], [7, 8, 9], [3, 4, 5])
    six = [type(one)(one.reference, one.judge, one.unit, 6, one.count) for one in (fitted, applied)]
    sums = Calibrated(six[0], six[1], "linear", FREE).sums(np.ones(6))
    assert sums[:3].tolist() == pytest.approx([3, 26, 21])  # one mark below what was given
    assert float(of.bias(sums)) == pytest.approx(-5 / 3)


def test_the_slope_is_that_of_the_regression():
    pairs = distorted(np.random.default_rng(2), 9)
    by_rows = cross_products(
        np.column_stack([np.ones(len(pairs.unit)), pairs.judge]), pairs.reference, pairs.unit, pairs.n_units
    )
    assert regression_tables(pairs.sums) == pytest.approx(by_rows)
    assert float(slope_of(pairs.sums.sum(axis=0))) == pytest.approx(least_squares(by_rows).coefficients[1])


def test_repeats_that_share_a_weight_are_one_mark():
    once = distorted(np.random.default_rng(3), 5)
    twice = pairs_of(*(np.repeat(one, 2) for one in (once.reference, once.judge, once.unit)), np.full(2 * len(once.unit), 0.5))  # fmt: skip
    for method in METHODS:
        assert value(twice, "mae", method) == pytest.approx(value(once, "mae", method))


# --- the error over resamples ---


def test_a_mean_over_resamples_has_the_error_of_its_formula():
    """Within strata √Σ (W_h)² s_h²/G_h, here by resampling: equal within what 20,000 draws leave."""
    values, stratum = np.array([1.0, 4, 2, 9, 7, 12]), np.array([0, 0, 0, 1, 1, 1])
    drawn = Resampling(np.ones(6), stratum)
    expected = np.sqrt(sum(0.25 * values[stratum == h].var(ddof=1) / 3 for h in (0, 1)))
    assert drawn.std_error(lambda w: w @ values / 6, 20_000, 1) == pytest.approx(expected, rel=0.02)
    assert drawn.df == 4
    assert Resampling(np.array([1.0, 2, 1, 0]), np.array([0, 0, 0, 1])).df == pytest.approx(16 / 6 - 1)
    weights = drawn.weights(50, 3)
    assert (weights[:, :3].sum(axis=1) == 3).all()
    assert (weights.sum(axis=1) == 6).all()


def test_there_is_no_error_without_spread_or_values():
    drawn = Resampling(np.ones(3), np.zeros(3, dtype=np.int64))
    assert drawn.std_error(lambda w: np.zeros(len(w)), 50, 0) is None
    assert drawn.std_error(lambda w: np.where(w[:, 0] > 0, w[:, 0], np.nan), 50, 0) is None
    alone = Resampling(np.array([2.0, 0, 0]), np.zeros(3, dtype=np.int64))
    assert alone.std_error(lambda w: w[:, 0], 50, 0) is None


# --- coverage ---


def population(method, marking, pairs=None):
    """Contrast calibrated minus raw in a large bank, where a fit without one unit is the fit on all."""
    pairs = distorted(np.random.default_rng(99), 40_000) if pairs is None else pairs
    if method == "isotonic":
        places = np.searchsorted(pairs.levels, pairs.judge)
        count = np.bincount(places).astype(float)
        marks = isotonic(count, np.bincount(places, pairs.reference))[places]
    else:
        intercept, slope = line(pairs.sums.sum(axis=0), method)
        marks = intercept + slope * pairs.judge
    sums = pairs_of(pairs.reference, marking.of(marks), pairs.unit).sums.sum(axis=0)
    return {name: float(metric(sums) - metric(pairs.sums.sum(axis=0))) for name, metric in METRICS.items()}


def covered(sample, method, marking, truth, n_units, seed, n_banks):
    """Share of 95 % intervals that hold the truth, by metric: t on the error over resamples, as an audit has it."""
    rng, hits = np.random.default_rng(seed), {name: [] for name in METRICS}
    for bank in range(n_banks):
        pairs, stratum = sample(rng, n_units)
        after = calibrated(pairs, method, marking)
        drawn = Resampling(pairs.sums[:, 0], stratum)
        every = np.vstack([np.ones(n_units), drawn.weights(200, bank)])
        sums, raw = after.sums(every), every @ pairs.sums
        t = t_quantile(0.975, n_units - len(np.unique(stratum)))
        for name, metric in METRICS.items():
            values = metric(sums) - metric(raw)
            error = drawn.std_error(lambda _, v=values: v[1:], 200, bank)
            hits[name].append(error is not None and abs(values[0] - truth[name]) <= t * error)
    return {name: float(np.mean(found)) for name, found in hits.items()}


def of_one_stratum(rng, n_units):
    return distorted(rng, n_units), np.zeros(n_units, dtype=np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("n_units", [13, 33, 100])
@pytest.mark.parametrize("marking", [Marking(0, 10), WHOLE], ids=["clipped", "rounded"])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_the_contrast_of_a_large_bank(method, marking, n_units):
    """The fit is made anew in every resample, so that the interval holds the fit's uncertainty, too."""
    shares = covered(of_one_stratum, method, marking, population(method, marking), n_units, 7, 400)
    assert all(0.92 <= share <= 0.998 for share in shares.values()), shares


@pytest.mark.slow
@pytest.mark.parametrize("n_units", [14, 34, 100])
@pytest.mark.parametrize("marking", [Marking(0, 10), WHOLE], ids=["clipped", "rounded"])
def test_within_tails_intervals_hold_it_too(marking, n_units):
    truth = population("linear", marking, in_tails(np.random.default_rng(99), 40_000)[0])
    shares = covered(in_tails, "linear", marking, truth, n_units, 17, 500)
    assert all(0.92 <= share <= 0.998 for share in shares.values()), shares
