import csv
from importlib.resources import files
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import beta as beta_function
from scipy.special import betaln

from evenhand.stats.strong_true_score import (
    BetaBinomial,
    beta_binomial_gof,
    beta_binomial_log_likelihood,
    beta_binomial_log_mass,
    beta_binomial_reliability,
    fit_beta_binomial,
    livingston_lewis,
)

CUTS = [4, 5, 6, 7]


def bank_histogram(side):
    """Responses with total 0 ... 10, among the parsed ones."""
    with (files("evenhand.data") / "zhu_bank.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["judge_1"]]
    return np.bincount([sum(int(row[f"{side}_{j}"]) for j in range(1, 11)) for row in rows], minlength=11)


def bank_histograms():
    return np.stack([bank_histogram("judge"), bank_histogram("gold")])


def model(alpha, beta, K):
    """A beta-binomial with given shapes."""
    alpha, beta = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float)
    return BetaBinomial(K, alpha, beta, K * alpha / (alpha + beta), np.zeros(alpha.shape, dtype=bool))


histograms = st.integers(1, 12).flatmap(lambda K: hnp.arrays(np.int64, (4, K + 1), elements=st.integers(0, 6)))
shapes = st.floats(0.05, 50)


def test_two_trials_by_hand():
    # K = 2 has as many parameters as free cells, so the fit is exact: 3 4 5 of 12 means E p = 7/12, E p^2 = 5/12;
    # alpha + beta = (E p - E p^2) / (E p^2 - (E p)^2) = (1/6) / (11/144) = 24/11, alpha = 14/11, beta = 10/11
    histogram = np.array([3, 4, 5])
    fit = fit_beta_binomial(histogram)
    assert (fit.alpha, fit.beta) == (pytest.approx(14 / 11, abs=1e-9), pytest.approx(10 / 11, abs=1e-9))
    assert fit.mean_total == pytest.approx(7 / 6, abs=1e-9)
    assert not fit.boundary
    assert np.exp(beta_binomial_log_mass(fit)) == pytest.approx(histogram / 12, abs=1e-9)
    # 2 / (24/11 + 2) = 11/23
    assert beta_binomial_reliability(fit) == pytest.approx(11 / 23, abs=1e-9)


def test_uniform_true_scores_by_hand():
    # Beta(1, 1), K = 1, cut 1: P(pass) = 1/2; a true pass needs p = 1, probability 0, so accuracy = P(fail) = 1/2.
    # Consistency = integral of p^2 + (1-p)^2 = 2/3; chance 1/2, kappa 1/3. Cut .5: accuracy = 2 integral_.5^1 p = 3/4.
    fit = model(1, 1, 1)
    got = livingston_lewis(fit, [1, 0.5])
    assert got.accuracy == pytest.approx([1 / 2, 3 / 4], abs=1e-14)
    assert got.consistency == pytest.approx([2 / 3, 2 / 3], abs=1e-14)
    assert got.pass_rate == pytest.approx([1 / 2, 1 / 2], abs=1e-14)
    assert got.kappa == pytest.approx([1 / 3, 1 / 3], abs=1e-13)


def test_gof_by_hand():
    # Beta(1, 1), K = 3 expects 5 in each of 4 cells of 20; observed 8 4 4 4: (9 + 1 + 1 + 1)/5, df 1
    got = beta_binomial_gof(model(1, 1, 3), np.array([8, 4, 4, 4]))
    assert (got.chi2, got.df) == (pytest.approx(12 / 5, abs=1e-12), 1)
    # P(chi2_1 > 2.4) = 2 (1 - Phi(sqrt 2.4)) = .1213352503 (R pchisq)
    assert got.p_value == pytest.approx(0.12133525, abs=5e-9)
    # of 16 it expects 4 a cell, pooled 8 and 8: (12-8)^2/8 + (4-8)^2/8 = 4, df -1, no p
    pooled = beta_binomial_gof(model(1, 1, 3), np.array([6, 6, 2, 2]))
    assert (pooled.chi2, pooled.df) == (pytest.approx(4, abs=1e-12), -1)
    assert np.isnan(pooled.p_value)
    # of 24 in 5 cells, K = 4: 4.8 a cell, pooled 9.6 and 9.6, remainder 4.8 joins the last: 9.6 and 14.4
    merged = beta_binomial_gof(model(1, 1, 4), np.array([4, 4, 4, 6, 6]))
    assert merged.chi2 == pytest.approx(1.6**2 / 9.6 + 1.6**2 / 14.4, abs=1e-12)


def test_oracle_fit():
    # oracles bb.zhu.judge, bb.zhu.gold: VGAM 1.1.7, R optim, scipy; reliability CONVENTIONS A.7
    histogram = bank_histograms()
    fit = fit_beta_binomial(histogram)
    assert fit.alpha == pytest.approx([5.45224484751137, 5.02317065770211], abs=1e-6)
    assert fit.beta == pytest.approx([3.66326300266087, 4.07742766741914], abs=1e-6)
    likelihood = beta_binomial_log_likelihood(fit, histogram)
    assert likelihood == pytest.approx([-387.223194538431, -391.345878776356], abs=1e-6)
    assert beta_binomial_reliability(fit) == pytest.approx([0.523135, 0.523544], abs=5e-7)
    assert not fit.boundary.any()


def test_oracle_gof():
    # oracle bb.gof.zhu: 5.312236, df 6, p .504434 (Zhu 2026 prints 5.31, 6, .504)
    histogram = bank_histogram("judge")
    got = beta_binomial_gof(fit_beta_binomial(histogram), histogram)
    assert got.chi2 == pytest.approx(5.312236, abs=1e-5)
    assert got.df == 6
    assert got.p_value == pytest.approx(0.504434, abs=1e-5)


def test_oracle_livingston_lewis_exact():
    # oracles ll.exact.zhu.judge, ll.exact.zhu.gold: R integrate(); betafunctions 1.9.0 HB.CA
    got = livingston_lewis(fit_beta_binomial(bank_histograms()), CUTS)
    assert got.accuracy == pytest.approx(
        np.array(
            [
                [0.881572968179011, 0.812107874508877, 0.759317879499797, 0.750110953129956],
                [0.845457785948159, 0.780851353179459, 0.749797164007667, 0.769725056265957],
            ]
        ),
        abs=1e-6,
    )
    assert got.consistency == pytest.approx(
        np.array(
            [
                [0.836480053558101, 0.754884447323794, 0.696910846104956, 0.689079980889745],
                [0.79275344690969, 0.718860851409072, 0.685488542191915, 0.708973558319055],
            ]
        ),
        abs=1e-6,
    )
    assert got.kappa == pytest.approx(
        np.array(
            [
                [0.300016490525783, 0.345892009738816, 0.368512112447798, 0.365515364566234],
                [0.321265444579037, 0.358414123141618, 0.370528385287754, 0.356392618728335],
            ]
        ),
        abs=1e-6,
    )
    assert got.pass_rate == pytest.approx(
        np.array(
            [
                [0.864962034504754, 0.750267310896086, 0.600099050747395, 0.429415076347509],
                [0.811975504329806, 0.675792343090941, 0.513349331755374, 0.345371553452793],
            ]
        ),
        abs=1e-6,
    )


def test_oracle_livingston_lewis_on_the_published_grid():
    # oracle ll.grid.zhu: Zhu 2026 table A.6 and released estimators.py
    got = livingston_lewis(fit_beta_binomial(bank_histograms()), CUTS, method="grid400")
    assert got.accuracy[0] == pytest.approx([0.881638, 0.812111, 0.759174, 0.749808], abs=2e-6)
    assert got.accuracy[1] == pytest.approx([0.845546, 0.780854, 0.749657, 0.76948], abs=2e-6)
    assert got.consistency[0] == pytest.approx([0.83648, 0.754884, 0.696911, 0.68908], abs=2e-6)


def test_oracle_underdispersed_totals_are_flagged():
    # oracle edge.bb.underdispersed: no interior maximum, binomial limit with log likelihood -23.5266
    histogram = np.bincount([5] * 10 + [4] * 3 + [6] * 3, minlength=11)
    fit = fit_beta_binomial(histogram)
    assert fit.boundary
    assert np.isinf(fit.alpha)
    assert np.isinf(fit.beta)
    assert fit.mean_total == 5
    assert beta_binomial_reliability(fit) == 0
    assert beta_binomial_log_likelihood(fit, histogram) == pytest.approx(-23.5266, abs=5e-5)


def test_binomial_limit_values():
    # all p = .5, K = 10: pass at 5 with probability 638/1024, true pass since .5 K = 5; at 6 with 386/1024, true fail
    fit = fit_beta_binomial(np.bincount([5] * 10, minlength=11))
    for method in ("exact", "grid400"):
        got = livingston_lewis(fit, [5, 6], method=method)
        assert got.pass_rate == pytest.approx([638 / 1024, 386 / 1024], abs=1e-14)
        assert got.accuracy == pytest.approx([638 / 1024, 638 / 1024], abs=1e-14)
        assert got.consistency == pytest.approx([(638**2 + 386**2) / 1024**2] * 2, abs=1e-14)
        assert got.kappa == pytest.approx([0, 0], abs=1e-12)


def test_the_limit_is_approached_continuously():
    # the interior formulas at alpha + beta = 10^8 against the limit's own, away from the cut
    near = livingston_lewis(model(3e7, 7e7, 10), CUTS)
    fit = BetaBinomial(10, np.array(np.inf), np.array(np.inf), np.array(3.0), np.array(True))
    at = livingston_lewis(fit, CUTS)
    for name in ("accuracy", "consistency", "pass_rate"):
        assert getattr(near, name) == pytest.approx(getattr(at, name), abs=1e-6)


def test_totals_at_the_two_ends_only():
    # the likelihood rises towards alpha = beta = 0: true proportions 0 and 1, decisions without error
    histogram = np.array([3, 0, 0, 0, 1])
    fit = fit_beta_binomial(histogram)
    assert (fit.alpha, fit.beta, fit.mean_total, fit.boundary) == (0, 0, 1, True)
    assert beta_binomial_reliability(fit) == 1
    assert np.exp(beta_binomial_log_mass(fit)) == pytest.approx([0.75, 0, 0, 0, 0.25], abs=1e-15)
    assert beta_binomial_log_likelihood(fit, histogram) == pytest.approx(3 * np.log(0.75) + np.log(0.25), abs=1e-14)
    got = livingston_lewis(fit, 2)
    assert (got.accuracy, got.consistency, got.pass_rate) == (1, 1, pytest.approx(0.25, abs=1e-15))
    near = livingston_lewis(model(2.5e-9, 7.5e-9, 4), 2)
    assert (near.accuracy, near.consistency) == (pytest.approx(1, abs=1e-7), pytest.approx(1, abs=1e-7))


@pytest.mark.parametrize("at", [0, 3, 7])
def test_constant_totals(at):
    histogram = np.bincount([at] * 6, minlength=8)
    fit = fit_beta_binomial(histogram)
    assert fit.boundary
    assert fit.mean_total == at
    assert beta_binomial_reliability(fit) == 0
    got = livingston_lewis(fit, [0, at, 8])
    assert np.isfinite(got.accuracy).all()
    assert got.accuracy[1] == got.pass_rate[1]
    assert np.isfinite(beta_binomial_log_likelihood(fit, histogram))
    assert beta_binomial_gof(fit, histogram).df < 1


def test_a_mean_on_the_cut_counts_as_a_true_pass():
    # 29 of 100 for all: .29 * 100 is below 29 in floating point, and the comparison must not notice
    fit = fit_beta_binomial(np.bincount([29] * 4, minlength=101))
    got = livingston_lewis(fit, [29, 29.0001])
    assert got.accuracy[0] == got.pass_rate[0]
    assert got.accuracy[1] == pytest.approx(1 - got.pass_rate[1], abs=1e-15)


def test_empty_histogram_is_undefined_and_silent():
    fit = fit_beta_binomial(np.zeros((2, 6)))
    assert np.isnan(fit.alpha).all()
    assert np.isnan(beta_binomial_reliability(fit)).all()
    assert not fit.boundary.any()
    for method in ("exact", "grid400"):
        assert np.isnan(livingston_lewis(fit, [1, 2], method=method).accuracy).all()
    assert np.isnan(beta_binomial_gof(fit, np.zeros((2, 6))).p_value).all()


def test_one_trial_and_one_response():
    # K = 1 says nothing about the spread of true scores, nor does one response
    for histogram in ([3, 2], [0, 0, 1, 0]):
        fit = fit_beta_binomial(np.array(histogram))
        assert fit.boundary
        assert beta_binomial_reliability(fit) == 0


@pytest.mark.parametrize("method", ["exact", "grid400"])
def test_cuts_at_and_beyond_the_ends(method):
    # cut 0: everyone passes; above K: everyone fails; in both, kappa is undefined
    got = livingston_lewis(model(2.0, 3.0, 10), [0, -1, 10.5], method=method)
    assert got.accuracy == pytest.approx([1, 1, 1], abs=1e-12)
    assert got.consistency == pytest.approx([1, 1, 1], abs=1e-12)
    assert got.pass_rate == pytest.approx([1, 1, 0], abs=1e-12)
    assert (got.accuracy <= 1).all()
    assert np.isnan(got.kappa).all()


def test_a_cut_is_met_by_equality():
    fit = model(2.0, 3.0, 10)
    at, above, between = livingston_lewis(fit, [5, 5.0001, 5.5]).pass_rate
    assert at > above
    assert above == between


@given(histograms)
def test_fit_is_a_maximum(counts):
    fit = fit_beta_binomial(counts)
    empty = counts.sum(axis=-1) == 0
    assert not np.isnan(fit.alpha[~empty]).any()
    best = beta_binomial_log_likelihood(fit, counts)
    for sum_ in (0.02, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4):
        for mean in (0.05, 0.3, 0.5, 0.8):
            other = model(np.full(4, sum_ * mean), np.full(4, sum_ * (1 - mean)), fit.n_criteria)
            assert (best[~empty] >= beta_binomial_log_likelihood(other, counts)[~empty] - 1e-9).all()


@given(histograms)
def test_fit_is_stationary_inside_and_flagged_by_the_binomial_score(counts):
    fit, K = fit_beta_binomial(counts), counts.shape[-1] - 1
    inside = ~fit.boundary & (counts.sum(axis=-1) > 0)
    total = np.arange(K + 1)
    for histogram, is_inside in zip(counts, inside, strict=True):
        if histogram.sum() == 0:
            continue
        values = np.repeat(total, histogram)
        wide = K * values.var() > values.mean() * (K - values.mean()) + 1e-9
        assert is_inside == (wide and np.any((values > 0) & (values < K)))
    if inside.any():
        tilt = 1e-4
        alpha, beta = fit.alpha[inside], fit.beta[inside]
        best = beta_binomial_log_likelihood(fit, counts)[inside]
        for a, b in (
            (1 + tilt, 1),
            (1 - tilt, 1),
            (1, 1 + tilt),
            (1, 1 - tilt),
            (1 + tilt, 1 + tilt),
            (1 - tilt, 1 - tilt),
        ):
            moved = beta_binomial_log_likelihood(model(alpha * a, beta * b, K), counts[inside])
            assert (moved <= best + 1e-9 * np.maximum(1, np.abs(best))).all()


@given(histograms)
def test_broadcasting_equals_a_loop(counts):
    together, K = fit_beta_binomial(counts.reshape(2, 2, -1)), counts.shape[-1] - 1
    cuts = np.array([1.0, K])
    classified = livingston_lewis(together, cuts)
    fitness = beta_binomial_gof(together, counts.reshape(2, 2, -1))
    for at, index in enumerate(np.ndindex(2, 2)):
        one = fit_beta_binomial(counts[at])
        for name in ("alpha", "beta", "mean_total"):
            np.testing.assert_allclose(getattr(together, name)[index], getattr(one, name), rtol=1e-6)
        assert together.boundary[index] == one.boundary
        np.testing.assert_allclose(classified.accuracy[index], livingston_lewis(one, cuts).accuracy, atol=1e-9)
        np.testing.assert_allclose(
            classified.consistency[index][1], livingston_lewis(one, float(K)).consistency, atol=1e-9
        )
        np.testing.assert_allclose(fitness.chi2[index], beta_binomial_gof(one, counts[at]).chi2, rtol=1e-6, atol=1e-9)


@given(histograms)
def test_mirror_image(counts):
    fit, mirror = fit_beta_binomial(counts), fit_beta_binomial(counts[:, ::-1])
    np.testing.assert_allclose(fit.alpha, mirror.beta, rtol=1e-6)
    np.testing.assert_array_equal(fit.boundary, mirror.boundary)


@given(histograms, st.integers(2, 5))
def test_copies_of_the_data_leave_the_fit_alone(counts, copies):
    fit, copied = fit_beta_binomial(counts), fit_beta_binomial(copies * counts)
    np.testing.assert_allclose(fit.alpha, copied.alpha, rtol=1e-6)
    np.testing.assert_array_equal(fit.boundary, copied.boundary)


@given(shapes, shapes, st.integers(1, 30))
def test_mass_is_the_beta_binomial(alpha, beta, K):
    x = np.arange(K + 1)
    ways = np.array([float(comb(K, int(total))) for total in x])
    expected = ways * np.exp(betaln(alpha + x, beta + K - x) - betaln(alpha, beta))
    assert np.exp(beta_binomial_log_mass(model(alpha, beta, K))) == pytest.approx(expected, rel=1e-9)


@given(st.floats(1, 30), st.floats(1, 30), st.integers(1, 12), st.floats(0, 1))
def test_classification_is_the_integral(alpha, beta, K, share):
    cut = np.ceil(share * K)
    x = np.arange(K + 1)
    ways = np.array([float(comb(K, int(total))) for total in x])
    nodes, weights = np.polynomial.legendre.leggauss(200)
    accuracy = consistency = 0.0
    for low, high in ((0.0, cut / K), (cut / K, 1.0)):
        # p = sin^2 t smooths the ends, where the density has broken powers
        start, width = np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high)) - np.arcsin(np.sqrt(low))
        t = start + width * (nodes + 1) / 2
        p = np.sin(t) ** 2
        slope = width * np.sin(t) * np.cos(t)
        density = weights * slope * p ** (alpha - 1) * np.cos(t) ** (2 * beta - 2) / beta_function(alpha, beta)
        passing = np.sum((ways * p[:, None] ** x * (1 - p[:, None]) ** (K - x))[:, x >= cut], axis=1)
        accuracy += np.sum(density * (passing if low == cut / K else 1 - passing))
        consistency += np.sum(density * (passing**2 + (1 - passing) ** 2))
    got = livingston_lewis(model(alpha, beta, K), cut)
    assert got.consistency == pytest.approx(consistency, abs=1e-9)
    assert got.accuracy == pytest.approx(accuracy, abs=1e-9)


def test_split_tallies_add_up_and_resamples_near_the_boundary_are_kept():
    # a bank with hardly more spread than a binomial: many resamples have no interior maximum, none is lost
    rng = np.random.default_rng(4)
    clusters = np.array([np.bincount(rng.binomial(10, rng.beta(30, 20, 14)), minlength=11) for _ in range(13)])
    np.testing.assert_array_equal(clusters[:6].sum(axis=0) + clusters[6:].sum(axis=0), clusters.sum(axis=0))
    draws = rng.integers(0, 13, (500, 13))
    fit = fit_beta_binomial(clusters[draws].sum(axis=1))
    assert 0.1 < fit.boundary.mean() < 0.9
    assert np.isfinite(beta_binomial_reliability(fit)).all()
    assert np.isfinite(livingston_lewis(fit, CUTS).accuracy).all()
    assert np.isfinite(livingston_lewis(fit, CUTS, method="grid400").accuracy).all()


@pytest.mark.parametrize("K", [40, 200])
def test_long_checklists(K):
    rng = np.random.default_rng(K)
    counts = np.bincount(rng.binomial(K, rng.beta(2, 3, 4000)), minlength=K + 1)
    fit = fit_beta_binomial(counts)
    assert (fit.alpha, fit.beta) == (pytest.approx(2, rel=0.15), pytest.approx(3, rel=0.15))
    assert np.exp(beta_binomial_log_mass(fit, 2 * K)).sum() == pytest.approx(1, abs=1e-9)
    exact, grid = livingston_lewis(fit, K // 2), livingston_lewis(fit, K // 2, method="grid400")
    assert exact.accuracy == pytest.approx(float(grid.accuracy), abs=5e-3)
    assert exact.consistency == pytest.approx(float(grid.consistency), abs=5e-3)


def test_a_convex_stretch_of_the_likelihood_is_crossed():
    # the start lies where the likelihood is convex in rho; Gauss-Newton steps crawl there for hundreds of rounds
    counts = np.bincount([135, 147] + 6 * [148] + 20 * [149] + 264 * [150], minlength=151)
    fit = fit_beta_binomial(counts)
    best = beta_binomial_log_likelihood(fit, counts)
    assert not fit.boundary
    for factor in (0.5, 0.99, 1.01, 2):
        assert best > beta_binomial_log_likelihood(model(fit.alpha * factor, fit.beta * factor, 150), counts)
        assert best > beta_binomial_log_likelihood(model(fit.alpha, fit.beta * factor, 150), counts)
