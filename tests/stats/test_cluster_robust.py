"""Least squares with clusters: every oracle record, a hand case, brute force with whole matrices, degenerate designs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from evenhand.stats.cluster_robust import cross_products, least_squares
from evenhand.stats.dose import as_tables, dose_slope, dose_sums
from evenhand.stats.intervals import cr2_variance

ORACLES = Path(__file__).resolve().parents[2].parent / "shared" / "oracles"
needs_oracles = pytest.mark.skipif(
    not (ORACLES / "oracles.json").is_file(), reason="the oracles (../shared) are absent"
)


@pytest.fixture(scope="module")
def records():
    found = json.loads((ORACLES / "oracles.json").read_text(encoding="utf-8"))["records"]
    return {one["id"]: one for one in found if one["estimator"] == "cluster_robust_se"}


def rows_of(name):
    with (ORACLES / "data" / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def coded(values):
    return np.unique(values, return_inverse=True)[1]


def bank():
    """(1800,) gold and judge verdicts of the parsed responses, and their cluster."""
    rows = rows_of("zhu_bank_180.csv")
    sides = [np.array([[float(row[f"{side}_e{j}"]) for j in range(1, 11)] for row in rows]) for side in ("gold", "judge")]  # fmt: skip
    return sides[0].ravel(), sides[1].ravel(), np.repeat(coded([row["question_id"] for row in rows]), 10)


def fitted(x, y, cluster):
    return least_squares(cross_products(x, y, cluster, int(cluster.max()) + 1))


def with_constant(x):
    return np.column_stack([np.ones(len(x)), x])


def compared(found, record):
    """Every expected number of a record that is of the regression itself."""
    expected, within = record["expected"], {"abs": record["tolerance"]}
    assert found.coefficients == pytest.approx(np.atleast_1d(expected["est"]), **within)
    assert found.df == pytest.approx(np.atleast_1d(expected["df_satt"]), **within)
    for name, errors in found.std_errors.items():
        if name.upper() in expected:
            assert errors == pytest.approx(np.atleast_1d(expected[name.upper()]), **within), name


@needs_oracles
def test_small_sample_with_a_regressor(records):
    rows = rows_of("cluster_small.csv")
    y, z = (np.array([float(row[name]) for row in rows]) for name in ("y", "z"))
    compared(fitted(with_constant(z), y, coded([row["c"] for row in rows])), records["cr2.small"])


@needs_oracles
def test_judge_on_gold(records):
    gold, judge, cluster = bank()
    compared(fitted(with_constant(gold), judge, cluster), records["cr2.zhu.x_on_g"])


@needs_oracles
def test_a_rate_is_a_regression_on_a_constant(records):
    gold, judge, cluster = bank()
    wrong, record = (gold != judge).astype(float), records["cr2.zhu.error_rate"]
    found = fitted(np.ones((len(wrong), 1)), wrong, cluster)
    compared(found, record)
    expected, within = record["expected"], {"abs": record["tolerance"]}
    estimate, error, df = found.coefficients[0], found.std_errors["cr2"][0], found.df[0]
    t = estimate / error
    assert t == pytest.approx(expected["t"], abs=1e-6)
    assert 2 * special.stdtr(df, -t) == pytest.approx(expected["p"], **within)
    half = special.stdtrit(df, 0.975) * error
    assert (estimate - half, estimate + half) == pytest.approx(expected["ci95"], **within)


@needs_oracles
def test_every_record_is_asserted(records):
    assert set(records) == {"cr2.small", "cr2.zhu.x_on_g", "cr2.zhu.error_rate"}


def test_by_hand():
    """y = 0, 2 | 4 on a constant: mean 2, residual sums -2 and 2, so CR0 is √8/3; 1 - n_g/N is 1/3 and 2/3."""
    found = fitted(np.ones((3, 1)), np.array([0.0, 2.0, 4.0]), np.array([0, 0, 1]))
    assert found.coefficients.tolist() == pytest.approx([2])
    assert found.std_errors["cr0"][0] == pytest.approx(np.sqrt(8) / 3)
    assert found.std_errors["cr1"][0] == pytest.approx(np.sqrt(16) / 3)
    assert found.std_errors["cr2"][0] == pytest.approx(np.sqrt(4 * 3 + 4 * 1.5) / 3)
    assert found.std_errors["cr3"][0] == pytest.approx(np.sqrt(4 * 9 + 4 * 2.25) / 3)


def brute(x, y, cluster):
    """CR2 and its df with n by n matrices (Pustejovsky and Tipton 2018, equations 5 to 11)."""
    bread = np.linalg.inv(x.T @ x)
    hat = x @ bread @ x.T
    residual, n = y - hat @ y, len(y)
    meat, pulls = np.zeros(bread.shape), []
    for one in np.unique(cluster):
        here = cluster == one
        values, vectors = np.linalg.eigh(np.eye(int(here.sum())) - hat[np.ix_(here, here)])
        adjust = vectors @ np.diag([v**-0.5 if v > 1e-9 else 0.0 for v in values]) @ vectors.T
        score = x[here].T @ adjust @ residual[here]
        meat += np.outer(score, score)
        pulls.append((np.eye(n) - hat)[:, here] @ adjust @ x[here] @ bread)
    df = []
    for k in range(x.shape[1]):
        p = np.array([[a[:, k] @ b[:, k] for a in pulls] for b in pulls])
        df.append(np.trace(p) ** 2 / np.square(p).sum())
    return np.sqrt(np.diag(bread @ meat @ bread)), np.array(df)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(1, 3))
def test_sums_give_what_whole_matrices_give(seed, n_clusters, n_regressors):
    rng = np.random.default_rng(seed)
    cluster = np.sort(np.r_[np.arange(n_clusters), rng.integers(0, n_clusters, 5 * n_clusters)])
    x = with_constant(rng.normal(size=(len(cluster), n_regressors)))
    y = rng.normal(size=len(cluster)) + rng.normal(size=n_clusters)[cluster]
    found = fitted(x, y, cluster)
    errors, df = brute(x, y, cluster)
    assert found.coefficients == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0], rel=1e-8, abs=1e-9)
    assert found.std_errors["cr2"] == pytest.approx(errors, rel=1e-6)
    assert found.df == pytest.approx(df, rel=1e-6)


@given(st.lists(st.tuples(st.integers(1, 8), st.floats(0, 1)), min_size=2, max_size=9))
def test_of_a_share_it_is_the_closed_form(clusters):
    sizes = np.array([n for n, _ in clusters], dtype=float)
    events = np.round(sizes * [share for _, share in clusters])
    tables = np.stack([np.array([[n, e], [e, e]]) for n, e in zip(sizes, events, strict=True)])
    found = least_squares(tables)
    variance, df = cr2_variance(events, sizes)
    assert found.std_errors["cr2"][0] == pytest.approx(np.sqrt(variance), rel=1e-8, abs=1e-12)
    assert found.df[0] == pytest.approx(df, rel=1e-8)


def test_a_regressor_that_never_varies_has_no_coefficient_and_spoils_no_other():
    rng = np.random.default_rng(1)
    cluster, x, y = np.repeat(np.arange(5), 4), rng.normal(size=20), rng.normal(size=20)
    alone = fitted(with_constant(x), y, cluster)
    found = fitted(np.column_stack([np.ones(20), x, np.full(20, 3.0)]), y, cluster)
    assert np.isnan(found.coefficients).tolist() == [True, False, True]
    assert found.coefficients[1] == pytest.approx(alone.coefficients[1])
    assert found.std_errors["cr2"][1] == pytest.approx(alone.std_errors["cr2"][1])
    assert found.df[1] == pytest.approx(alone.df[1])


def test_one_cluster_has_a_coefficient_and_no_error():
    found = fitted(np.ones((3, 1)), np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=np.int64))
    assert found.coefficients.tolist() == pytest.approx([2])
    assert all(np.isnan(errors).all() for errors in found.std_errors.values())


def test_a_cluster_that_alone_holds_a_direction_counts_for_nothing_there():
    """The second regressor is a dummy of one cluster: its coefficient has no error from others, the constant's stays finite."""
    x = with_constant(np.array([1.0, 1, 0, 0, 0, 0]))
    found = fitted(x, np.array([3.0, 5, 1, 2, 2, 4]), np.array([0, 0, 1, 1, 2, 2]))
    assert np.isfinite(found.std_errors["cr2"]).all()


def test_the_dose_is_the_same_regression():
    rng = np.random.default_rng(4)
    gap, held, effect, unit = (
        rng.normal(size=40),
        rng.normal(size=(40, 2)),
        rng.normal(size=40),
        np.repeat(np.arange(8), 5),
    )
    sums = dose_sums(effect, gap, held, unit, 8)
    assert least_squares(as_tables(sums)).coefficients[1] == pytest.approx(float(dose_slope(sums.sum(axis=0))))


@pytest.mark.slow
def test_intervals_of_a_slope_hold_their_level():
    """t with Satterthwaite's df on CR2, a regressor of the cluster, few clusters of unequal size."""
    rng, hits = np.random.default_rng(8), []
    for _ in range(2_000):
        sizes = rng.integers(2, 12, 10)
        cluster = np.repeat(np.arange(10), sizes)
        x = rng.exponential(size=10)[cluster]
        y = 1 + 0.5 * x + rng.normal(size=10)[cluster] + rng.normal(size=len(x))
        found = fitted(with_constant(x), y, cluster)
        half = special.stdtrit(found.df[1], 0.975) * found.std_errors["cr2"][1]
        hits.append(abs(found.coefficients[1] - 0.5) <= half)
    assert 0.93 <= np.mean(hits) <= 0.985, np.mean(hits)
