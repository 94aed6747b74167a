"""Huynh, Subkoviak and Hanson-Brennan: oracles, identities, limits."""

import csv
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.decision_consistency import fit_hanson_brennan, fit_huynh, huynh, lords_k, subkoviak
from evenhand.stats.internal_consistency import kr20, kr21, moments
from evenhand.stats.strong_true_score import livingston_lewis
from evenhand.stats.true_scores import classify

CUTS = [4, 5, 6, 7]
SYNTHETIC = (
    "101000000000", "111001000000", "111110000000", "110110010000", "111110100000",
    "111011100000", "111111100000", "111101111100", "111111111110", "111111111111",
)  # fmt: skip
histograms = st.integers(2, 12).flatmap(lambda K: hnp.arrays(np.int64, (3, K + 1), elements=st.integers(0, 6)))


def bank():
    """Judge's verdicts (180, 10) of the parsed responses."""
    with (files("evenhand.data") / "zhu_bank.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["judge_1"]]
    return np.array([[int(row[f"judge_{j}"]) for j in range(1, 11)] for row in rows])


def histogram(rows):
    return np.bincount(rows.sum(axis=1), minlength=rows.shape[1] + 1)


def test_oracle_huynh():
    """Oracle huynh.zhu: closed-form bivariate negative hypergeometric in R; KR-21 with s2 over n - 1."""
    counts = histogram(bank())
    fit = fit_huynh(counts)
    assert kr21(moments(bank())) == pytest.approx(0.51963388632173, abs=1e-8)
    assert (fit.alpha, fit.beta) == (
        pytest.approx(5.52091242397468, abs=1e-8),
        pytest.approx(3.72340605337827, abs=1e-8),
    )
    got = huynh(counts, CUTS)
    assert got.consistency == pytest.approx(
        [0.835777938747808, 0.753456919874349, 0.695229492640911, 0.688033784040863], abs=1e-8
    )
    assert got.kappa == pytest.approx(
        [0.297368358552717, 0.343248591038229, 0.365785499931537, 0.362565532868521], abs=1e-8
    )


def test_oracle_subkoviak_bank():
    """Oracle subkoviak.zhu: R from the definition, reliability Cronbach's alpha."""
    alpha = kr20(moments(bank()), variance="n")
    assert alpha == pytest.approx(0.519050181057805, abs=1e-12)
    got = subkoviak(histogram(bank()), alpha, CUTS)
    assert got.consistency == pytest.approx(
        [0.845778964633386, 0.725457152208493, 0.636865704568659, 0.635260323484459], abs=1e-9
    )
    assert got.kappa == pytest.approx(
        [0.142652264026758, 0.201327597928036, 0.239397396745254, 0.243821502948949], abs=1e-9
    )


def test_oracle_subkoviak_synthetic():
    """Oracle subkoviak.syn1: Brennan's synthetic data 1, cut 6."""
    rows = np.array([[int(cell) for cell in row] for row in SYNTHETIC])
    got = subkoviak(histogram(rows), 0.844494892167991, 6)
    assert got.consistency == pytest.approx(0.72717580753354, abs=1e-9)
    assert got.pass_rate**2 + (1 - got.pass_rate) ** 2 == pytest.approx(0.529908152551626, abs=1e-9)
    assert got.kappa == pytest.approx(0.419636409464809, abs=1e-9)


def test_subkoviak_by_hand():
    # K = 1, totals 0 0 1 1 at R = 0: every true score is 1/2, so each decision is a coin
    got = subkoviak([2, 2], 0.0, 1)
    assert (got.consistency, got.pass_rate, got.kappa) == (pytest.approx(0.5), pytest.approx(0.5), pytest.approx(0.0))
    # at R = 1 the true scores are the observed ones, 0 and 1: no decision changes
    got = subkoviak([2, 2], 1.0, 1)
    assert (got.consistency, got.kappa) == (1, 1)


def test_huynh_by_hand():
    # totals 0 to 3 once each: mean 3/2, s2 = 5/3, KR-21 = 3/2 (1 - (9/4)/5) = .825; alpha = 1.5 (1/.825 - 1) = beta
    fit = fit_huynh([1, 1, 1, 1])
    assert fit.alpha == pytest.approx(1.5 * (1 / 0.825 - 1), abs=1e-12)
    assert fit.beta == pytest.approx(float(fit.alpha), abs=1e-12)


def test_lords_k_is_zero_at_kr21():
    """With the reliability KR-21 (variances with n - 1) the errors are a binomial's."""
    counts = histogram(bank())
    assert lords_k(counts, kr21(moments(bank()))) == pytest.approx(0, abs=1e-12)


def test_hanson_brennan_at_kr21_is_nearly_livingston_lewis():
    """k = 0 and two parameters: a beta-binomial by moments, close to the one by maximum likelihood and to Huynh's."""
    counts = histogram(bank())
    fit = fit_hanson_brennan(counts, kr21(moments(bank())), n_parameters=2)
    assert fit.alpha == pytest.approx(float(fit_huynh(counts).alpha), rel=0.02)
    got, by_huynh = classify(fit, np.array(CUTS) / 10), livingston_lewis(fit_huynh(counts), CUTS)
    assert got.consistency == pytest.approx(by_huynh.consistency, abs=2e-3)
    assert got.accuracy == pytest.approx(by_huynh.accuracy, abs=2e-3)


@given(histograms, st.floats(-1, 1.5))
def test_whatever_the_totals_consistency_stays_in_its_range(counts, reliability):
    cuts, K = np.arange(0, counts.shape[-1] + 1), counts.shape[-1] - 1
    n = counts.sum(axis=-1)
    varies = (counts > 0).sum(axis=-1) > 1
    for got, defined in ((huynh(counts, cuts), varies), (subkoviak(counts, np.full(3, reliability), cuts), n > 0)):
        np.testing.assert_array_equal(np.isfinite(got.consistency).all(axis=-1), defined)
        assert (got.consistency[defined] >= 0.5 - 1e-9).all()
        assert (got.consistency[defined] <= 1 + 1e-9).all()
        assert got.consistency[defined][:, [0, -1]] == pytest.approx(1)  # everyone passes, no one passes
        assert np.isnan(got.kappa[defined][:, [0, -1]]).all()
    compound = classify(fit_hanson_brennan(counts, np.clip(reliability, 0.0, 0.99)), cuts / K)
    assert np.isfinite(compound.accuracy[varies]).all()
    assert ((compound.accuracy[varies] >= 0) & (compound.accuracy[varies] <= 1)).all()
    assert np.isnan(compound.accuracy[~varies]).all()


@given(histograms)
def test_broadcasting_equals_a_loop(counts):
    together, one_by_one = huynh(counts, CUTS), [huynh(row, CUTS) for row in counts]
    np.testing.assert_allclose(together.consistency, [one.consistency for one in one_by_one])
    regressed = subkoviak(counts, np.array([0.2, 0.5, 0.8]), CUTS)
    for at, reliability in enumerate((0.2, 0.5, 0.8)):
        np.testing.assert_allclose(regressed.consistency[at], subkoviak(counts[at], reliability, CUTS).consistency)


def test_huynh_at_its_limits():
    # totals spread less than a binomial's: KR-21 is negative, one true proportion for all
    flat = fit_huynh(np.bincount([5] * 10 + [4] * 3 + [6] * 3, minlength=11))
    assert flat.boundary
    assert np.isinf(flat.alpha)
    # totals 0 and K only: true proportions 0 and 1, decided without error
    ends = huynh([4, 0, 0, 6], [1, 2, 3])
    assert ends.consistency == pytest.approx([1, 1, 1])
    assert ends.pass_rate == pytest.approx([0.6] * 3)


@pytest.mark.parametrize("counts", [[0, 0, 0], [0, 5, 0], [1, 0, 0], [3, 4]])
def test_degenerate_totals_are_undefined_and_silent(counts):
    # no response, one total, one response, one criterion
    assert np.isnan(huynh(counts, 1).consistency)
    assert np.isnan(classify(fit_hanson_brennan(counts, 0.5), 0.5).consistency)
