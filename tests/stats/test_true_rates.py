"""Rogan-Gladen, prediction-powered means, label budgets: by hand, against the oracles, and how often they cover."""

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # noqa: TID251

from evenhand.stats import true_rates as of
from evenhand.stats.intervals import cr2_variance, jackknife_std_error
from evenhand.stats.resampling import leave_one_out

ORACLES = Path(__file__).resolve().parents[2].parent / "shared" / "oracles" / "data"
needs_shared = pytest.mark.skipif(not ORACLES.is_dir(), reason="the shared oracles (../shared) are absent")

# --- Rogan and Gladen ---


def test_by_hand() -> None:
    # p = .4, specificity 4/5, sensitivity 9/10: (.4 - .2)/.7 = 2/7
    cells = np.array([40.0, 10, 5, 45, 60, 40])
    assert of.corrected_prevalence(cells) == pytest.approx(2 / 7, abs=1e-15)
    assert of.rogan_gladen(0.4, 0.8, 0.9) == pytest.approx(2 / 7, abs=1e-15)


@pytest.mark.parametrize(
    ("given_", "value", "ends"),
    [
        ((0.8, 0.9, 0.95, 500, 40, 60), 0.823529411764706, (0.7559257901191903, 0.9125393058949332)),  # rogan_gladen.lee.2
        ((0.4, 1.0, 1.0, 100, 50, 50), 0.4, (0.2972316728533711, 0.5013466029342994)),  # rogan_gladen.lee.perfect
        ((0.05, 0.9, 0.9, 100, 50, 50), -0.0625, (0.0, 0.05510940456912111)),  # rogan_gladen.lee.clip, not clipped
    ],
)  # fmt: skip
def test_oracle_rogan_gladen_lee(given_, value: float, ends: tuple[float, float]) -> None:
    assert of.rogan_gladen(*given_[:3]) == pytest.approx(value, abs=1e-10)
    found = of.lee_ends(*given_)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-10)


def test_oracle_rogan_gladen_epi() -> None:
    # rogan_gladen.epi and .epi2 (epiR, error rates known), 1e-7
    found = of.known_rates_ends(400, 1000, 0.7, 0.9)
    assert of.rogan_gladen(0.4, 0.7, 0.9) == pytest.approx(0.166666666666667, abs=1e-7)
    assert (found.low, found.high) == pytest.approx((0.116791302018962, 0.217817617476223), abs=1e-7)
    found = of.known_rates_ends(84, 180, 0.8, 0.9, method="clopper_pearson")
    assert of.rogan_gladen(84 / 180, 0.8, 0.9) == pytest.approx(0.380952380952381, abs=1e-7)
    assert (found.low, found.high) == pytest.approx((0.274424059356031, 0.489074796359086), abs=1e-7)


@given(theta=st.floats(0, 1), q0=st.floats(0.51, 1), q1=st.floats(0.51, 1))
def test_it_undoes_what_the_error_rates_do(theta: float, q0: float, q1: float) -> None:
    assert of.rogan_gladen(theta * q1 + (1 - theta) * (1 - q0), q0, q1) == pytest.approx(theta, abs=1e-9)


@pytest.mark.parametrize(("q0", "q1"), [(0.5, 0.5), (0.2, 0.7), (0.0, 0.0)])
def test_a_judge_that_knows_nothing_corrects_nothing(q0: float, q1: float) -> None:
    assert np.isnan(of.rogan_gladen(0.4, q0, q1))
    assert np.isnan(of.corrected_prevalence(np.zeros(6)))
    assert of.lee_ends(0.4, 0.3, 0.4, 100, 50, 50) == of.Ends(0.0, 1.0)


# --- prediction-powered means ---


def test_ppi_by_hand() -> None:
    # labelled y 1 0, f 1 1; unlabelled f 1 0 0: plain 1/3 + (1/2 - 1)
    sums = of.mean_sums(np.array([1.0, 0, np.nan, np.nan, np.nan]), np.array([1.0, 1, 1, 0, 0]),
                        np.array([True, True, False, False, False]), np.zeros(5, dtype=int), 1)[0]  # fmt: skip
    assert sums.tolist() == [2, 1, 1, 2, 2, 1, 3, 1, 1]
    assert of.ppi_mean(sums, 1) == pytest.approx(1 / 3 - 1 / 2, abs=1e-15)
    assert of.power_tuning(sums) == 0  # f does not vary with y
    assert of.ppi_mean(sums) == 0.5


@needs_shared
@pytest.mark.parametrize(
    ("passes", "tuning", "value", "ends"),
    [
        (False, 1.0, 5.791666666666666, (5.3607535998747515, 6.222579733458581)),  # ppi.totals.lam1
        (False, None, 5.510568017827229, (5.1613732911786325, 5.859762744475825)),  # ppi.totals.lamNone
        (True, 1.0, 0.6749999999999999, (0.571282024037239, 0.7787179759627608)),  # ppi.pass5.lam1
        (True, None, 0.659388294037061, (0.5706355992525712, 0.7481409888215508)),  # ppi.pass5.lamNone
    ],
)
def test_oracle_ppi(passes: bool, tuning: float | None, value: float, ends: tuple[float, float]) -> None:
    with (ORACLES / "ppi_bank_totals.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    labelled = np.array([row["labelled"] == "1" for row in rows])
    y = np.array([float(row["gold_total"] or "nan") for row in rows])
    f = np.array([float(row["judge_total"]) for row in rows])
    if passes:
        y, f = (y >= 5).astype(float), (f >= 5).astype(float)
    sums = of.mean_sums(y, f, labelled, np.zeros(len(y), dtype=int), 1)[0]
    found = of.ppi_ends(sums, tuning)
    assert of.ppi_mean(sums, tuning) == pytest.approx(value, abs=1e-9)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)


@given(seed=st.integers(0, 2**32), shift=st.floats(-5, 5), slope=st.floats(0.2, 3))
def test_a_judge_that_is_off_by_a_constant_is_set_right(seed: int, shift: float, slope: float) -> None:
    rng = np.random.default_rng(seed)
    y, labelled, group = rng.normal(0, 3, 40), np.arange(40) < 15, np.arange(40) % 4
    sums = of.mean_sums(y, y + shift, labelled, group, 4).sum(axis=0)
    assert of.ppi_mean(sums, 1) == pytest.approx(y[~labelled].mean(), abs=1e-9)
    scaled = of.mean_sums(y, slope * y + shift, labelled, group, 4).sum(axis=0)
    moved = of.mean_sums(y, slope * y, labelled, group, 4).sum(axis=0)
    assert of.ppi_mean(scaled) == pytest.approx(float(of.ppi_mean(moved)), abs=1e-8)
    assert 0 <= of.power_tuning(scaled) <= 1


def test_a_constant_judge_leaves_the_labelled_mean() -> None:
    sums = of.mean_sums(np.array([0.1, 0.5, 0, 0]), np.full(4, 0.7), np.array([1, 1, 0, 0]), np.zeros(4, dtype=int), 1)[
        0
    ]
    assert of.power_tuning(sums) == 0
    assert of.ppi_mean(sums) == pytest.approx(0.3)
    assert np.isnan(of.ppi_mean(np.zeros(9)))


# --- the stratified jackknife ---


def test_one_stratum_is_the_ordinary_jackknife_and_cr2_of_an_intercept() -> None:
    # a share in 4 clusters; CR1, CR2 and the jackknife of an intercept are of one family (cluster_robust_se)
    events, sizes = np.array([2.0, 0, 3, 1]), np.array([4.0, 4, 4, 4])
    tallies = np.stack([events, sizes - events], axis=1)

    def share(cells):
        return cells[..., 0] / cells.sum(axis=-1)

    found = of.jackknife_over_strata(tallies, sizes, np.zeros(4, dtype=int), share)
    assert found.std_error == pytest.approx(jackknife_std_error(share(leave_one_out(tallies))), abs=1e-15)
    assert found.std_error == pytest.approx(math.sqrt(cr2_variance(events, sizes)[0]), abs=1e-12)
    assert found.df == 3


def test_two_strata_by_hand() -> None:
    # difference of two means, 3 and 2 equal units: variances add, s²/G each; Satterthwaite as in Welch's test
    a, b = np.array([1.0, 2, 6]), np.array([4.0, 8])
    tallies = np.zeros((5, 4))
    tallies[:3, 0], tallies[:3, 1], tallies[3:, 2], tallies[3:, 3] = a, 1, b, 1

    def difference(cells):
        return cells[..., 0] / cells[..., 1] - cells[..., 2] / cells[..., 3]

    found = of.jackknife_over_strata(tallies, np.ones(5), np.array([0, 0, 0, 1, 1]), difference)
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert found.value / found.std_error == pytest.approx(welch.statistic, abs=1e-12)
    assert found.df == pytest.approx(welch.df, abs=1e-9)
    assert found.ends(0.95).high == pytest.approx(welch.confidence_interval().high, abs=1e-9)


def test_what_has_no_spread_has_no_interval() -> None:
    same = np.tile([3.0, 1.0], (4, 1))

    def share(cells):
        return cells[..., 0] / cells.sum(axis=-1)

    found = of.jackknife_over_strata(same, same.sum(axis=1), np.zeros(4, dtype=int), share)
    assert found.std_error == 0
    assert math.isnan(found.ends(0.95).low)
    alone = of.jackknife_over_strata(same, same.sum(axis=1), np.array([0, 0, 0, 1]), share)
    assert math.isnan(alone.std_error)


def test_units_by_what_they_hold() -> None:
    labelled, unlabelled = np.array([2, 3, 0, 0, 1, 1]), np.array([0, 0, 4, 4, 2, 9])
    assert of.stratum_of_units(labelled, unlabelled).tolist() == [0, 0, 1, 1, 2, 2]
    assert of.stratum_of_units(labelled[:5], unlabelled[:5]).tolist() == [0, 0, 1, 1, 0]


# --- budgets ---


def test_certifiable_by_hand() -> None:
    # no error in n: (1 - .95)^(1/n), "the rule of three"; one error in 2: P(at most 1 error) = 1 - (1-a)² = .05
    assert of.certifiable(60) == pytest.approx(0.05 ** (1 / 60), abs=1e-12)
    assert of.certifiable(2, 1) == pytest.approx(1 - math.sqrt(0.95), abs=1e-12)
    assert of.certifiable(np.array([0, 3]), np.array([0, 3])).tolist() == [0, 0]
    assert of.certifiable(120, design_effect=2) == pytest.approx(of.certifiable(60), abs=1e-15)
    assert of.labels_to_certify(0.95) == 59
    assert of.labels_to_certify(0.99) == 299


@given(agreement=st.floats(0.5, 0.995), errors=st.integers(0, 4))
def test_the_fewest_labels_are_the_fewest(agreement: float, errors: int) -> None:
    n = of.labels_to_certify(agreement, errors)
    assert of.certifiable(n, errors) >= agreement
    assert of.certifiable(n - 1, errors) < agreement


@given(n=st.integers(1, 30), errors=st.integers(0, 30), agreement=st.floats(0.05, 0.95))
def test_the_bound_is_exact(n: int, errors: int, agreement: float) -> None:
    errors = min(errors, n - 1)
    bound = Fraction(float(of.certifiable(n, errors)))
    at_bound = sum(math.comb(n, k) * (1 - bound) ** k * bound ** (n - k) for k in range(errors + 1))
    assert float(at_bound) == pytest.approx(0.05, abs=1e-9)


@given(theta=st.floats(0.05, 0.95), q0=st.floats(0.6, 0.99), q1=st.floats(0.6, 0.99))
def test_the_best_division_has_the_least_variance(theta: float, q0: float, q1: float) -> None:
    share = of.best_share_of_positives(theta, q0, q1)

    def variance(one: float) -> float:
        return (1 - theta) ** 2 * q0 * (1 - q0) / (1 - one) + theta**2 * q1 * (1 - q1) / one

    grid = np.linspace(0.001, 0.999, 999)
    assert variance(share) <= min(map(variance, grid)) + 1e-9
    gain, n, half = q0 + q1 - 1, 10_000, 0.06
    p = theta * gain + 1 - q0
    labels = of.labels_for_prevalence(half, theta, q0, q1, n)
    if math.isfinite(labels):
        spread = math.sqrt(p * (1 - p) / n + variance(share) / labels) / gain
        assert 1.959964 * spread <= half + 1e-6
        more = math.sqrt(p * (1 - p) / n + variance(share) / max(labels - 1, 0.5)) / gain
        assert 1.959964 * more > half - 1e-6


def test_budgets_that_no_number_of_labels_meets() -> None:
    assert of.labels_for_prevalence(0.01, 0.5, 0.9, 0.9, 100) == math.inf
    assert of.labels_for_prevalence(0.1, 0.5, 0.4, 0.5, 10_000) == math.inf
    assert of.labels_for_mean(0.01, 0.1, 0.25, 100) == math.inf
    assert of.labels_for_mean(0.1, 0.25, 0.0, 100) == math.ceil(0.25 / (0.1 / 1.959963984540054) ** 2)
    assert of.best_share_of_positives(0.3, 1.0, 1.0) == 0.5


# --- coverage ---


def draw(rng, clusters: int, size: int, *, rate: float, spread: float):
    """Truth and verdicts of clusters whose prevalence and error rates differ; (clusters, size) each."""
    prevalence = np.clip(rate + spread * rng.uniform(-1, 1, (clusters, 1)), 0, 1)
    truth = rng.random((clusters, size)) < prevalence
    wrong = 0.15 * rng.beta(1, 2, (clusters, 1)) * 3
    return truth, truth ^ (rng.random((clusters, size)) < wrong)


def tallies_of(truth, verdict, n_labelled: int):
    """(clusters, 6) cells and (clusters, 9) sums; the first clusters are labelled."""
    labelled = np.arange(len(truth)) < n_labelled
    table = np.stack([(truth == t) & (verdict == v) for t in (0, 1) for v in (0, 1)], axis=-1).sum(axis=1)
    said = np.stack([~verdict, verdict], axis=-1).sum(axis=1)
    cells = np.concatenate([table * labelled[:, None], said * ~labelled[:, None]], axis=1).astype(float)
    n = truth.shape[1]
    group = np.repeat(np.arange(len(truth)), n)
    sums = of.mean_sums(truth.ravel(), verdict.ravel(), np.repeat(labelled, n), group, len(truth))
    return cells, sums


def covered(
    n_replicates: int, seed: int, *, clusters: int = 60, n_labelled: int = 25, size: int = 10
) -> dict[str, float]:
    rng, hits, rate = np.random.default_rng(seed), dict.fromkeys(("rg", "lee", "ppi"), 0), 0.45
    for _ in range(n_replicates):
        cells, sums = tallies_of(*draw(rng, clusters, size, rate=rate, spread=0.35), n_labelled)
        stratum = (np.arange(clusters) >= n_labelled).astype(int)
        for name, tallies, measure in (("rg", cells, of.corrected_prevalence), ("ppi", sums, of.ppi_mean)):
            ends = of.jackknife_over_strata(tallies, np.full(clusters, size), stratum, measure).ends(0.95)
            hits[name] += ends.low <= rate <= ends.high
        tn, fp, fn, tp, negative, positive = cells.sum(axis=0)
        lee = of.lee_ends(
            positive / (positive + negative), tn / (tn + fp), tp / (tp + fn), positive + negative, tn + fp, tp + fn
        )
        hits["lee"] += lee.low <= rate <= lee.high
    return {name: count / n_replicates for name, count in hits.items()}


def test_the_clustered_intervals_cover_and_the_independent_one_does_not() -> None:
    found = covered(400, 1)
    assert found["rg"] > 0.92
    assert found["ppi"] > 0.92
    assert found["lee"] < 0.9


def test_lee_covers_independent_rows() -> None:
    found = covered(400, 2, clusters=400, n_labelled=120, size=1)
    assert found["lee"] > 0.92


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "n_labelled"), [(30, 12), (60, 25), (120, 40)])
def test_the_clustered_intervals_cover_at_length(clusters: int, n_labelled: int) -> None:
    found = covered(4000, 3, clusters=clusters, n_labelled=n_labelled)
    assert 0.93 <= found["rg"] <= 0.975
    assert 0.93 <= found["ppi"] <= 0.975
