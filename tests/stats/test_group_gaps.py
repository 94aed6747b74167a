"""Gaps at equal reference score: by hand, what a noisy score adds and its correction, RSMTool's trio, coverage."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # noqa: TID251

from evenhand.stats import group_gaps as of
from evenhand.stats.binomial import t_quantile
from evenhand.stats.intervals import jackknife_std_error
from evenhand.stats.resampling import leave_one_out

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder (../shared) is absent")


def cells_of(value, focal, stratum, unit=None, count=None):
    value, focal, stratum = map(np.asarray, (value, focal, stratum))
    unit = np.zeros(len(value), dtype=int) if unit is None else unit
    count = np.ones(len(value)) if count is None else count
    return of.gap_cells(value, focal, stratum, int(stratum.max()) + 1, unit, int(unit.max()) + 1, count)


def test_a_gap_by_hand() -> None:
    # stratum 0: 2 of each, means 1 and 3; stratum 1: 1 and 3, means 4 and 4; weights 4/8 and 4/8: gap 1
    cells = cells_of([1, 1, 2, 4, 4, 3, 4, 5], [0, 0, 1, 1, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1])
    weights = of.pooled_weights(cells)
    assert weights.tolist() == [0.5, 0.5]
    assert of.gap(cells.sum(axis=0), weights) == pytest.approx(1, abs=1e-15)
    assert of.kept_strata(cells, 2).tolist() == [True, False]
    assert of.kept_strata(cells).tolist() == [False, False]


def test_without_a_stratum_there_is_no_gap() -> None:
    cells = cells_of([1, 2], [0, 0], [0, 0])
    assert np.isnan(of.gap(cells.sum(axis=0), of.pooled_weights(cells)))
    kept = cells[:, :, of.kept_strata(cells)]
    assert np.isnan(of.gap(kept.sum(axis=0), of.pooled_weights(kept)))


rows = st.integers(0, 2**32).map(np.random.default_rng)


@given(rng=rows, shift=st.floats(-3, 3))
def test_a_constant_shift_of_the_focal_group_is_the_gap(rng, shift: float) -> None:
    focal, stratum = np.tile([0, 1], 30), rng.integers(0, 3, 60)
    level = np.array([1.0, 5.0, 2.0])[stratum]
    cells = cells_of(level + shift * focal, focal, stratum)
    kept = cells[:, :, of.kept_strata(cells, 1)]
    if kept.shape[2]:
        assert of.gap(kept.sum(axis=0), of.pooled_weights(kept)) == pytest.approx(shift, abs=1e-9)


@given(rng=rows)
def test_moments_give_what_least_squares_on_rows_gives(rng) -> None:
    n = 40
    focal, score, unit = np.arange(n) % 2, rng.normal(size=n), rng.integers(0, 4, n)
    value = 1 + 0.7 * score + 2 * focal + rng.normal(size=n)
    moments = of.score_moments(value, score, focal, unit, 4, np.ones(n)).sum(axis=0)
    design = np.stack([np.ones(n), score, focal], axis=1)
    slope = np.linalg.lstsq(design, value, rcond=None)[0][1]
    assert of.within_slope(moments) == pytest.approx(slope, abs=1e-9)
    assert of.score_difference(moments) == pytest.approx(score[focal == 1].mean() - score[focal == 0].mean(), abs=1e-12)
    for observed in (-0.4, 0.1):
        even = of.break_even(observed, moments)
        if np.isfinite(even):
            assert of.true_gap(observed, moments, float(even)) == pytest.approx(0, abs=1e-9)
        assert of.true_gap(observed, moments, 1.0) == pytest.approx(observed, abs=1e-15)


def noisy(rng, n: int, *, gap: float, reliability: float, difference: float = -1.0, levels: bool = True):
    """Marks on a true score with a gap, and a noisy score: within-group variance of the truth is 1."""
    focal = rng.integers(0, 2, n)
    truth = difference * focal + rng.normal(size=n)
    score = truth + np.sqrt(1 / reliability - 1) * rng.normal(size=n)
    mark = 2 + 0.8 * truth + gap * focal + 0.3 * rng.normal(size=n)
    stratum = np.clip(np.floor(score * 8).astype(int) + 40, 0, 79)
    return mark, score, focal, stratum


@pytest.mark.parametrize("reliability", [0.6, 0.8])
@pytest.mark.parametrize("gap", [0.0, 0.25])
def test_the_correction_is_exact_on_noisy_matching(gap: float, reliability: float) -> None:
    mark, score, focal, stratum = noisy(np.random.default_rng(3), 400_000, gap=gap, reliability=reliability)
    cells = cells_of(mark, focal, stratum)
    cells = cells[:, :, of.kept_strata(cells)]
    seen = of.gap(cells.sum(axis=0), of.pooled_weights(cells))
    zeros = np.zeros(len(mark), dtype=int)
    moments = of.score_moments(mark, score, focal, zeros, 1, np.ones(len(mark)))[0]
    # what noise adds: .8 (1 - rho) Δμ with Δμ = -1
    assert seen == pytest.approx(gap - 0.8 * (1 - reliability), abs=0.01)
    assert of.true_gap(seen, moments, reliability) == pytest.approx(gap, abs=0.01)
    if gap == 0:
        assert of.break_even(seen, moments) == pytest.approx(reliability, abs=0.02)
    # the reliability over everybody: between-group variance 1/4 of the truth besides
    total = 1.25 / (1.25 + 1 / reliability - 1)
    assert of.within_reliability(total, moments) == pytest.approx(reliability, abs=0.005)


def test_scores_that_do_not_vary_correct_nothing() -> None:
    moments = of.score_moments(
        np.arange(4.0), np.full(4, 3.0), np.array([0, 0, 1, 1]), np.zeros(4, dtype=int), 1, np.ones(4)
    )[0]
    assert np.isnan(of.within_slope(moments))
    assert np.isnan(of.true_gap(0.2, moments, 0.8))
    assert np.isnan(of.break_even(0.2, moments))


# --- RSMTool's trio ---


@needs_shared
@pytest.mark.parametrize("axis", ["L1", "QUESTION"])
def test_published_rsmtool_fairness(axis: str) -> None:
    # expected_fairness_metrics_by_*.csv: trimmed raw scores, 1e-7
    folder = SHARED / "rsmtool_asap2"
    with (folder / "asap2_predictions_with_subgroups.csv").open(encoding="utf-8") as lines:
        read = list(csv.DictReader(lines))
    with (folder / "expected" / f"expected_fairness_metrics_by_{axis}.csv").open(encoding="utf-8") as lines:
        expected, sig = list(csv.DictReader(lines))
    human = np.array([float(row["h1"]) for row in read])
    error = np.clip([float(row["score"]) for row in read], 1 - 0.49998, 6 + 0.49998) - human
    names, group = np.unique([row[axis] for row in read], return_inverse=True)
    once = np.ones(len(group))
    for name, found in (
        ("Overall score accuracy", of.group_share(error**2, group, len(names), once)),
        ("Overall score difference", of.group_share(error, group, len(names), once)),
        ("Conditional score difference", of.conditional_group_share(error, human, group, len(names), once)),
    ):
        assert found.r_squared == pytest.approx(float(expected[name]), abs=1e-7)
        assert found.p_value == pytest.approx(float(sig[name]), abs=1e-7)


def test_shares_of_groups_are_an_analysis_of_variance() -> None:
    rng = np.random.default_rng(0)
    group, value = np.arange(30) % 3, rng.normal(size=30)
    found = of.group_share(value, group, 3, np.ones(30))
    assert found.p_value == pytest.approx(stats.f_oneway(*(value[group == at] for at in range(3))).pvalue, abs=1e-12)
    doubled = of.group_share(np.repeat(value, 2), np.repeat(group, 2), 3, np.ones(60))
    assert doubled.r_squared == pytest.approx(of.group_share(value, group, 3, np.full(30, 2.0)).r_squared, abs=1e-12)


def test_shares_that_nothing_determines() -> None:
    same = np.full(9, 2.0)
    for found in (of.group_share(same, np.arange(9) % 3, 3, np.ones(9)),
                  of.group_share(same, np.zeros(9, dtype=int), 1, np.ones(9)),
                  of.conditional_group_share(np.arange(4.0), np.arange(4), np.arange(4) % 2, 2, np.ones(4))):  # fmt: skip
        assert np.isnan(found.r_squared)


# --- coverage ---


def covered(n_replicates: int, seed: int, clusters: int = 30, size: int = 20) -> tuple[float, float]:
    """Share of 95 % jackknife t intervals that hold the seen gap (score without noise) and the true gap (with noise)."""
    rng, seen_hits, true_hits = np.random.default_rng(seed), 0, 0
    n, unit = clusters * size, np.repeat(np.arange(clusters), size)
    for _ in range(n_replicates):
        shared = 0.3 * rng.normal(size=clusters)[unit]
        for reliability in (1.0, 0.7):
            mark, score, focal, _ = noisy(rng, n, gap=0.25, reliability=reliability)
            mark = mark + shared
            stratum = np.clip(np.floor(score * 2).astype(int) + 8, 0, 15)
            cells = cells_of(mark, focal, stratum, unit)
            cells = cells[:, :, of.kept_strata(cells)]
            weights = of.pooled_weights(cells)
            moments = of.score_moments(mark, score, focal, unit, clusters, np.ones(n))
            values = [
                of.true_gap(of.gap(tallies, weights), sums, reliability)
                for tallies, sums in (
                    (cells.sum(axis=0), moments.sum(axis=0)),
                    (leave_one_out(cells), leave_one_out(moments)),
                )
            ]
            half = t_quantile(0.975, clusters - 1) * jackknife_std_error(values[1])
            # strata half a point wide leave a little of the groups' difference inside them
            hit = abs(values[0] - 0.25) <= half + 0.02
            seen_hits += hit * (reliability == 1)
            true_hits += hit * (reliability < 1)
    return seen_hits / n_replicates, true_hits / n_replicates


def test_intervals_of_gaps_cover() -> None:
    assert min(covered(150, 8)) > 0.9


@pytest.mark.slow
def test_intervals_of_gaps_cover_at_length() -> None:
    seen, true = covered(2500, 9)
    assert 0.93 <= seen <= 0.985
    assert 0.93 <= true <= 0.985
