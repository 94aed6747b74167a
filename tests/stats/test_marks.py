import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats  # noqa: TID251

from evenhand.stats import agreement, ensembles, weighted_agreement
from evenhand.stats import marks as of

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder (../shared) is absent")

# data/irr_anxiety.csv of the oracles
ANXIETY = np.array(
    [[int(mark) for mark in row]
     for row in (
         "332", "361", "344", "464", "523", "542", "221", "346", "531", "231", "221", "632",
         "133", "533", "221", "221", "113", "233", "432", "342",
     )]
)  # fmt: skip
MEASURES = (of.bias, of.mae, of.rmse, of.lin_ccc, of.pearson_r, of.spread_ratio, of.smd)

paired = st.integers(2, 15).flatmap(lambda n: hnp.arrays(np.int64, (2, n), elements=st.integers(0, 6)))


def one(n: int) -> tuple[np.ndarray, int]:
    return np.zeros(n, dtype=int), 1


def sums_of(reference, judge) -> np.ndarray:
    return of.mark_sums(np.asarray(reference), np.asarray(judge), *one(len(reference)))[0]


def table_of(reference, judge, n_levels: int) -> np.ndarray:
    return of.level_tables(np.asarray(reference), np.asarray(judge), n_levels, *one(len(reference)))[0]


@pytest.mark.parametrize(
    ("second", "expected"),
    [  # ccc.anxiety12, ccc.anxiety13 and qwk_equals_ccc: epiR 2.0.57, irr::kappa2 squared; 1e-7, 1e-9
        (1, 0.29676511954993),
        (2, 0.0695067264573991),
    ],
)
def test_oracle_ccc(second, expected) -> None:
    first, other = ANXIETY[:, 0], ANXIETY[:, second]
    assert of.lin_ccc(sums_of(first, other)) == pytest.approx(expected, abs=1e-9)
    table = table_of(first - 1, other - 1, 6)
    assert weighted_agreement.quadratic_weighted_kappa(table, range(1, 7)) == pytest.approx(expected, abs=1e-9)


def test_oracle_ccc_parts() -> None:
    # ccc.anxiety13: scale shift .918369863354966 = sd(m)/sd(t), C_b = ccc/r .834975290561522
    sums = sums_of(ANXIETY[:, 0], ANXIETY[:, 2])
    assert of.lin_ccc(sums) / of.pearson_r(sums) == pytest.approx(0.834975290561522, abs=1e-9)
    assert of.spread_ratio(sums) == pytest.approx(0.918369863354966, abs=1e-9)


def test_moments_by_hand() -> None:
    # t = 1, 2, 3 and m = 2, 2, 5: errors 1, 0, 2
    sums = sums_of([1, 2, 3], [2, 2, 5])
    assert sums.tolist() == [3, 6, 9, 14, 33, 21, 3]
    assert of.bias(sums) == of.mae(sums) == 1
    assert of.rmse(sums) == pytest.approx(math.sqrt(5 / 3), abs=1e-15)
    # variances (1/n) 2/3 and 2, covariance 1, mean difference 1
    assert of.lin_ccc(sums) == pytest.approx(2 / (2 / 3 + 2 + 1), abs=1e-15)
    assert of.pearson_r(sums) == pytest.approx(1 / math.sqrt(4 / 3), abs=1e-15)
    assert of.spread_ratio(sums) == pytest.approx(math.sqrt(3), abs=1e-15)
    # variances (n - 1) 1 and 3
    assert of.smd(sums) == pytest.approx(1, abs=1e-15)
    assert of.smd(sums, "pooled") == pytest.approx(1 / math.sqrt(2), abs=1e-15)
    assert of.smd(sums, "williamson") == pytest.approx(1 / math.sqrt(2), abs=1e-15)
    everybody = sums_of([1, 2, 3, 8], [2, 2, 5, 0])
    spread = (np.var([1, 2, 3, 8], ddof=1) + np.var([2, 2, 5, 0], ddof=1)) / 2
    assert of.smd(sums, "williamson", everybody) == pytest.approx(1 / math.sqrt(spread), abs=1e-12)


def test_ranks_by_hand() -> None:
    # t = 1 1 2 3, m = 1 2 2 3: mid-ranks 1.5 1.5 3 4 and 1 2.5 2.5 4 about 2.5: products 1.5 + 0 + 0 + 2.25 = 3.75,
    # squares 4.5 each: rho 5/6. Pairs: one tied in t, one in m, four concordant: tau_b 4/√(5·5)
    table = table_of([0, 0, 1, 2], [0, 1, 1, 2], 3)
    assert of.spearman_rho(table) == pytest.approx(3.75 / 4.5, abs=1e-15)
    assert of.kendall_tau(table) == pytest.approx(4 / 5, abs=1e-15)


def test_rounding_is_half_up_and_clipped() -> None:
    marks = [0.5, 1.5, 2.5, 2.4999, -3.0, 9.7, 3.5]
    assert of.round_half_up(np.array(marks), 1, 5).tolist() == [0, 1, 2, 1, 0, 4, 3]


# --- published values ---


def read(name: str) -> dict[str, np.ndarray]:
    with (SHARED / "rsmtool_asap2" / name).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = [name for name in rows[0] if name in ("score", "system") or name[0] == "h"]
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in columns}


@needs_shared
def test_published_rsmtool_human_human() -> None:
    # expected_consistency.csv, 1e-7
    data = read("asap2_predictions_with_subgroups.csv")
    sums = sums_of(data["h1"], data["h2"])
    table = table_of(*(of.round_half_up(data[human], 1, 5) for human in ("h1", "h2")), 5)
    assert agreement.cohen_kappa(table) == pytest.approx(0.5914577530176417, abs=1e-7)
    assert weighted_agreement.quadratic_weighted_kappa(table, range(1, 6)) == pytest.approx(
        0.8333333333333334, abs=1e-7
    )
    assert of.lin_ccc(sums) == pytest.approx(0.8333333333333334, abs=1e-7)
    assert of.pearson_r(sums) == pytest.approx(0.8366627923660599, abs=1e-7)
    assert of.smd(sums, "pooled") == pytest.approx(-0.08250634887978765, abs=1e-7)
    assert agreement.observed_agreement(table) == pytest.approx(0.725, abs=1e-12)
    assert weighted_agreement.adjacent_agreement(table, range(1, 6)) == 1


@needs_shared
def test_published_rsmtool_system_human() -> None:
    # expected_eval.csv, expected_true_score_eval.csv, expected_disattenuated_correlations.csv, 1e-7
    data = read("asap2_predictions_with_subgroups.csv")
    raw = sums_of(data["h1"], data["score"])
    assert of.pearson_r(raw) == pytest.approx(0.7801773732608226, abs=1e-7)
    assert of.lin_ccc(raw) == pytest.approx(0.7797696841910529, abs=1e-7)  # its wtkappa of unrounded marks
    assert of.smd(raw) == pytest.approx(0.02351246133036713, abs=1e-7)
    assert of.rmse(raw) == pytest.approx(0.6189327249996216, abs=1e-7)
    humans = of.pearson_r(sums_of(data["h1"], data["h2"]))
    assert of.pearson_r(raw) / math.sqrt(humans) == pytest.approx(0.8529392950400517, abs=1e-7)
    system, human = (of.round_half_up(data[column], 1, 5) for column in ("score", "h1"))
    table = table_of(human, system, 5)
    assert weighted_agreement.quadratic_weighted_kappa(table, range(1, 6)) == pytest.approx(
        0.7821229050279329, abs=1e-7
    )
    assert agreement.observed_agreement(table) == pytest.approx(0.64, abs=1e-12)
    assert weighted_agreement.adjacent_agreement(table, range(1, 6)) == pytest.approx(0.99, abs=1e-12)
    both = np.column_stack([data["h1"], data["h2"]])
    sums = of.prmse_sums(both, data["score"], *one(200))[0]
    assert of.human_error_variance(sums) == pytest.approx(0.1375, abs=1e-7)
    assert of.true_score_variance(sums) == pytest.approx(0.6898869346733668, abs=1e-7)
    assert of.true_score_mse(sums) == pytest.approx(0.22787758804164682, abs=1e-7)
    assert of.prmse(sums) == pytest.approx(0.6696885002619487, abs=1e-7)
    assert of.prmse(of.prmse_sums(both, system + 1.0, *one(200))[0]) == pytest.approx(0.6666120367841208, abs=1e-7)


@needs_shared
@pytest.mark.parametrize(
    ("file", "expected", "tolerance"),
    [
        ("prmse_data.csv", (0.509375, 0.7765515, 0.3564625, 0.5409673), 1e-7),
        ("prmse_data_sparse_matrix.csv", (0.5150882, 0.769816, 0.3550792, 0.538748), 1e-6),
    ],
)
def test_published_rsmtool_prmse(file, expected, tolerance) -> None:
    data = read(file)
    human = np.column_stack([data[f"h{rater}"] for rater in range(1, 5)])
    group = np.arange(len(human)) % 37
    sums = of.prmse_sums(human, data["system"], group, 37).sum(axis=0)
    found = [
        measure(sums) for measure in (of.human_error_variance, of.true_score_variance, of.true_score_mse, of.prmse)
    ]
    assert found == pytest.approx(expected, abs=tolerance)


# --- identities ---


@given(paired)
def test_moments_agree_with_numpy(drawn) -> None:
    t, m = drawn
    sums = sums_of(t, m)
    assert of.bias(sums) == pytest.approx((m - t).mean(), abs=1e-12)
    assert of.mae(sums) == pytest.approx(np.abs(m - t).mean(), abs=1e-12)
    assert of.rmse(sums) == pytest.approx(math.sqrt(((m - t) ** 2).mean()), abs=1e-9)
    if t.std() == 0:
        assert np.isnan([of.pearson_r(sums), of.spread_ratio(sums), of.smd(sums)]).all()
        return
    assert of.spread_ratio(sums) == pytest.approx(m.std() / t.std(), abs=1e-9)
    assert of.smd(sums) == pytest.approx((m - t).mean() / t.std(ddof=1), abs=1e-9)
    if m.std() > 0:
        assert of.pearson_r(sums) == pytest.approx(np.corrcoef(t, m)[0, 1], abs=1e-9)


@given(paired)
def test_concordance_is_lin_s_formula(drawn) -> None:
    t, m = drawn
    bottom = t.var() + m.var() + (t.mean() - m.mean()) ** 2
    found = of.lin_ccc(sums_of(t, m))
    if bottom == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(2 * np.cov(t, m, ddof=0)[0, 1] / bottom, abs=1e-9)


@given(paired)
def test_ranks_agree_with_scipy(drawn) -> None:
    t, m = drawn
    table = table_of(t, m, 7)
    if np.ptp(t) == 0 or np.ptp(m) == 0:
        assert np.isnan([of.spearman_rho(table), of.kendall_tau(table)]).all()
        return
    assert of.spearman_rho(table) == pytest.approx(stats.spearmanr(t, m).statistic, abs=1e-9)
    assert of.kendall_tau(table) == pytest.approx(stats.kendalltau(t, m).statistic, abs=1e-9)


@given(hnp.arrays(np.int64, (2, 2), elements=st.integers(0, 60)).filter(np.any))
def test_two_labels_have_one_correlation(table) -> None:
    """phi = r = rho = tau_b = R_K on two labels."""
    t, m = np.divmod(np.repeat(np.arange(4), table.ravel()), 2)
    expected = agreement.phi(table)
    for found in (
        of.pearson_r(sums_of(t, m)),
        of.spearman_rho(table),
        of.kendall_tau(table),
        weighted_agreement.mcc_multiclass(table),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(paired, st.integers(-50, 50), st.integers(1, 9))
def test_origin_and_unit(drawn, origin, unit) -> None:
    t, m = drawn
    plain, moved = sums_of(t, m), sums_of(origin + unit * t, origin + unit * m)
    for measure in (of.lin_ccc, of.pearson_r, of.spread_ratio, of.smd):
        np.testing.assert_allclose(measure(moved), measure(plain), atol=1e-9)
    for measure in (of.bias, of.mae, of.rmse):
        np.testing.assert_allclose(measure(moved), unit * measure(plain), atol=1e-9)


@given(paired)
def test_swapping_the_sides(drawn) -> None:
    t, m = drawn
    one_way, other = sums_of(t, m), sums_of(m, t)
    for measure in (of.mae, of.rmse, of.lin_ccc, of.pearson_r):
        np.testing.assert_allclose(measure(one_way), measure(other), atol=1e-12)
    assert of.bias(one_way) == -of.bias(other)
    table = table_of(t, m, 7)
    for rank in (of.spearman_rho, of.kendall_tau):
        np.testing.assert_allclose(rank(table), rank(table.T), atol=1e-12)
        np.testing.assert_allclose(rank(table[::-1]), -rank(table), atol=1e-12)


@given(paired, st.lists(st.integers(1, 9), min_size=7, max_size=7))
def test_ranks_see_only_the_order_of_levels(drawn, gaps) -> None:
    t, m = drawn
    wide = np.cumsum(gaps)
    table = table_of(wide[t], wide[m], int(wide[-1]) + 1)
    for rank in (of.spearman_rho, of.kendall_tau):
        np.testing.assert_allclose(rank(table), rank(table_of(t, m, 7)), atol=1e-12)


@given(hnp.arrays(np.float64, (9, 3), elements=st.integers(0, 5)), st.integers(0, 2**32 - 1))
def test_prmse_by_fractions(human, seed) -> None:
    """RSMTool's formulas in exact arithmetic, holes included."""
    rng = np.random.default_rng(seed)
    human = np.where(rng.random(human.shape) < 0.3, np.nan, human)
    system = rng.integers(0, 6, 9).astype(float)
    rows = [[Fraction(int(v)) for v in row if np.isfinite(v)] for row in human]
    kept = [(row, Fraction(int(s))) for row, s in zip(rows, system, strict=True) if row]
    sums = of.prmse_sums(human, system, *one(9))[0]
    count = sum(len(row) for row, _ in kept)
    if count == len(kept):
        assert np.isnan(of.prmse(sums))
        return
    means = [sum(row) / len(row) for row, _ in kept]
    error = sum(sum((v - mean) ** 2 for v in row) for (row, _), mean in zip(kept, means, strict=True))
    error = Fraction(error, count - len(kept))
    assert of.human_error_variance(sums) == pytest.approx(float(error), abs=1e-12)
    grand = sum(sum(row) for row, _ in kept) / Fraction(count)
    between = sum(len(row) * (mean - grand) ** 2 for (row, _), mean in zip(kept, means, strict=True))
    bottom = count - Fraction(sum(len(row) ** 2 for row, _ in kept), count)
    assume(bottom != 0)
    variance = (between - (len(kept) - 1) * error) / bottom
    assert of.true_score_variance(sums) == pytest.approx(float(variance), abs=1e-9)
    squares = sum(len(row) * (mean - s) ** 2 for (row, s), mean in zip(kept, means, strict=True))
    mse = (squares - len(kept) * error) / count
    assert of.true_score_mse(sums) == pytest.approx(float(mse), abs=1e-9)
    assume(abs(variance) > 1e-9)
    assert of.prmse(sums) == pytest.approx(float(1 - mse / variance), rel=1e-9, abs=1e-7)


# --- degenerate marks and arrays ---


def test_perfect_marks_are_exactly_one() -> None:
    sums = sums_of([0.1, 0.7, 0.3], [0.1, 0.7, 0.3])
    assert of.lin_ccc(sums) == 1
    assert of.pearson_r(sums) == pytest.approx(1, abs=1e-15)
    assert of.bias(sums) == of.mae(sums) == of.rmse(sums) == 0


@pytest.mark.parametrize("mark", [0.0, 4.0, 0.1, 1e6 / 3])
def test_constant_marks_are_undefined(mark) -> None:
    sums = sums_of([mark] * 7, [mark] * 7)
    assert np.isnan([of.lin_ccc(sums), of.pearson_r(sums), of.spread_ratio(sums), of.smd(sums)]).all()
    assert of.mae(sums) == 0
    varied = sums_of([mark] * 7, [1, 2, 3, 4, 5, 6, 7])
    assert np.isnan([of.pearson_r(varied), of.spread_ratio(varied), of.smd(varied)]).all()


def test_nothing_is_undefined() -> None:
    assert np.isnan([measure(np.zeros(7)) for measure in (*MEASURES, of.prmse, of.human_error_variance)]).all()
    assert np.isnan([of.spearman_rho(np.zeros((3, 3))), of.kendall_tau(np.zeros((3, 3)))]).all()


@given(hnp.arrays(np.int64, (2, 2, 3, 3), elements=st.integers(0, 9)))
def test_broadcasting_is_a_loop(tables) -> None:
    for rank in (of.spearman_rho, of.kendall_tau):
        looped = [[rank(table) for table in row] for row in tables]
        np.testing.assert_allclose(rank(tables), looped, atol=1e-12)
    t, m = np.divmod(np.arange(9), 3)
    sums = np.stack([[of.mark_sums(t, m, *one(9), table.ravel())[0] for table in row] for row in tables])
    for measure in (*MEASURES, lambda s: of.smd(s, "williamson", s.sum(axis=(0, 1)))):
        if measure in MEASURES:
            looped = [[measure(cell) for cell in row] for row in sums]
            np.testing.assert_allclose(measure(sums), looped, atol=1e-12)
        else:
            assert measure(sums).shape == (2, 2)


@given(paired, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_tallies_of_groups_add_up(drawn, n_groups, seed) -> None:
    t, m = drawn
    group = np.random.default_rng(seed).integers(0, n_groups, len(t))
    np.testing.assert_array_equal(of.mark_sums(t, m, group, n_groups).sum(axis=0), sums_of(t, m))
    np.testing.assert_array_equal(of.level_tables(t, m, 7, group, n_groups).sum(axis=0), table_of(t, m, 7))


@given(paired)
def test_repeated_pairs_are_counted_not_copied(drawn) -> None:
    t, m = drawn
    rows, times = np.unique(drawn.T, axis=0, return_counts=True)
    few = rows[:, 0], rows[:, 1]
    np.testing.assert_array_equal(of.mark_sums(*few, *one(len(rows)), times)[0], sums_of(t, m))
    np.testing.assert_array_equal(of.level_tables(*few, 7, *one(len(rows)), times)[0], table_of(t, m, 7))
    human = np.column_stack([t, m]).astype(float)
    whole = of.prmse_sums(human, t + 1.0, *one(len(t)))
    np.testing.assert_allclose(of.prmse_sums(rows.astype(float), few[0] + 1.0, *one(len(rows)), times), whole)


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(2, 4)), elements=st.integers(-1, 5)),
    st.sampled_from([1.0, 0.1, 25.0]),
)
def test_interval_alpha_is_that_of_coincidences(labels, unit):
    marks = np.where(labels < 0, np.nan, labels * unit)
    sums = of.interval_alpha_sums(marks, *one(len(labels)))[0]
    counts = ensembles.profiles(labels, 6)
    coincidences = ensembles.coincidence_sums(counts, *one(len(labels)))[0]
    expected = ensembles.krippendorff_alpha(coincidences, "interval", np.arange(6) * unit)
    np.testing.assert_allclose(of.interval_alpha(sums), expected, atol=1e-9)
