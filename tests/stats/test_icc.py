import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats  # noqa: TID251

from evenhand.stats import icc as of

# data/shrout_fleiss_1979.csv, icc_negative.csv, irr_anxiety.csv, pxi_missing_12x6.csv of the oracles
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
NEGATIVE = np.array([[1, 3, 2], [3, 1, 2], [2, 2, 3], [1, 2, 1], [3, 2, 1]], dtype=float)
ANXIETY = np.array(
    [[int(mark) for mark in row]
     for row in (
         "332", "361", "344", "464", "523", "542", "221", "346", "531", "231", "221", "632",
         "133", "533", "221", "221", "113", "233", "432", "342",
     )],
    dtype=float,
)  # fmt: skip
FORMS = ("1,1", "C,1", "A,1", "1,k", "C,k", "A,k")

complete = st.tuples(st.integers(2, 8), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 9))
)
holed = st.tuples(complete, st.integers(0, 2**32 - 1)).map(
    lambda drawn: np.where(np.random.default_rng(drawn[1]).random(drawn[0].shape) < 0.2, np.nan, drawn[0])
)


def each(values: np.ndarray) -> tuple[np.ndarray, int]:
    return np.arange(len(values)), len(values)


def complete_sums(values: np.ndarray) -> np.ndarray:
    return of.complete_sums(values, *each(values)).sum(axis=0)


def holed_sums(values: np.ndarray) -> np.ndarray:
    return of.sums_with_holes(values, *each(values)).sum(axis=0)


def icc(values: np.ndarray, form: str) -> float:
    return float(of.icc(of.icc_components(complete_sums(values)), form, values.shape[1]))


@pytest.mark.parametrize(
    ("values", "expected"),
    [  # icc.sf1979, icc.negative: psych 2.2.9 = irr = pingouin 0.6.1; Shrout and Fleiss print .17 .71 .29 .44 .91 .62; 1e-9
        (
            SHROUT_FLEISS,
            (
                0.165741768405476, 0.714840714840715, 0.289763779527559,
                0.442797133679269, 0.909315542377069, 0.620050547598989,
            ),
        ),
        (
            NEGATIVE,
            (
                -0.178571428571429, -0.227272727272727, -0.294117647058824,
                -0.833333333333333, -1.25, -2.14285714285714,
            ),
        ),
    ],
)  # fmt: skip
def test_oracles(values, expected) -> None:
    assert [icc(values, form) for form in FORMS] == pytest.approx(expected, abs=1e-9)
    with_holes = of.icc_components_with_holes(holed_sums(values))
    assert [float(of.icc(with_holes, form, values.shape[1])) for form in FORMS] == pytest.approx(expected, abs=1e-9)


def test_oracle_intervals() -> None:
    # icc.sf1979.ci: psych 2.2.9, pingouin 0.6.1, 1e-8; the A,k limits are the Spearman-Brown transform there too
    expected = {
        "1,1": (-0.132932324874751, 0.722560062328121),
        "A,1": (0.018786513374712, 0.761084369648953),
        "C,1": (0.342464765033925, 0.94585825995536),
        "1,k": (-0.884442155238119, 0.912415420340776),
        "A,k": (0.0711368153025035, 0.927232040167722),
        "C,k": (0.675674713816305, 0.985891678169062),
    }
    for form, ends in expected.items():
        assert of.icc_interval(complete_sums(SHROUT_FLEISS), form) == pytest.approx(ends, abs=1e-8)


def test_oracle_anxiety() -> None:
    # icc.anxiety.A1: irr 0.84.1, 1e-8
    assert icc(ANXIETY, "A,1") == pytest.approx(0.197998259355962, abs=1e-8)
    assert of.icc_interval(complete_sums(ANXIETY), "A,1") == pytest.approx(
        (-0.0389106260931603, 0.493573945972123), abs=1e-8
    )


def test_mean_squares_by_hand() -> None:
    # rows (1, 3), (2, 4), (6, 8): row means 2, 3, 7 about 4: 2(4 + 1 + 9)/2 = 14; raters 3 and 5: 3(1 + 1)/1 = 6;
    # no interaction; within units (6 + 0)/3 = 2. C,1 = 1; A,1 = 7/(7 + 2); one-way (14 - 2)/(14 + 2)
    values = np.array([[1.0, 3], [2, 4], [6, 8]])
    squares = of.icc_mean_squares(complete_sums(values))
    assert (squares.unit, squares.rater, squares.residual, squares.within) == pytest.approx((14, 6, 0, 2), abs=1e-12)
    assert [icc(values, form) for form in FORMS] == pytest.approx([12 / 16, 1, 7 / 9, 24 / 28, 1, 7 / 8], abs=1e-12)


def henderson_by_loops(values: np.ndarray) -> tuple[float, float, float]:
    """Expectations of the quadratic forms from their matrices: E[y'Qy] = trace(QV) for Q1 = 0 about the mean."""
    unit, rater = np.nonzero(np.isfinite(values))
    y = values[unit, rater]
    z = [(unit[:, None] == np.unique(unit)).astype(float), (rater[:, None] == np.unique(rater)).astype(float)]
    ones = np.ones((len(y), 1))
    projections = [m @ np.linalg.pinv(m) for m in (*z, np.eye(len(y)))]
    mean = ones @ ones.T / len(y)
    forms = [p - mean for p in projections]
    spreads = [m @ m.T for m in z] + [np.eye(len(y))]
    a = np.array([[np.trace(form @ spread) for spread in spreads] for form in forms])
    unit_variance, rater_variance, residual = np.linalg.solve(a, [y @ form @ y for form in forms])
    return unit_variance, rater_variance, residual


@given(holed)
def test_holes_are_henderson_s_method_one(values) -> None:
    found = of.icc_components_with_holes(holed_sums(values))
    assume(np.isfinite(found.unit))
    expected = henderson_by_loops(values)
    scale = float(np.nanmax(values) ** 2) + 1
    assert (found.unit, found.rater, found.residual) == pytest.approx(expected, abs=1e-7 * scale)


@given(holed)
def test_one_way_with_holes_is_the_analysis_of_variance(values) -> None:
    groups = [row[np.isfinite(row)] for row in values if np.isfinite(row).any()]
    sizes = np.array([len(group) for group in groups])
    n, a = sizes.sum(), len(sizes)
    assume(a > 1)
    assume(n > a)
    pooled = np.concatenate(groups)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (n - a)
    between = sum(len(group) * (group.mean() - pooled.mean()) ** 2 for group in groups) / (a - 1)
    k0 = (n - (sizes**2).sum() / n) / (a - 1)
    unit, error = of.icc_components_with_holes(holed_sums(values)).one_way
    assert (unit, error) == pytest.approx(((between - within) / k0, within), abs=1e-9)


@given(complete)
def test_without_holes_both_tallies_agree(values) -> None:
    one, other = (
        of.icc_components(complete_sums(values)),
        of.icc_components_with_holes(holed_sums(values.astype(float))),
    )
    for field in ("unit", "rater", "residual"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), atol=1e-9)
    np.testing.assert_allclose(one.one_way, other.one_way, atol=1e-9)


@given(complete)
def test_consistency_ignores_a_rater_s_level_and_averages_follow_spearman_brown(values) -> None:
    k = values.shape[1]
    shifted = values + np.arange(k) * 3
    np.testing.assert_allclose(icc(shifted, "C,1"), icc(values, "C,1"), atol=1e-9)
    for kind in "1CA":
        single, mean = icc(values, f"{kind},1"), icc(values, f"{kind},k")
        assume(abs(1 + (k - 1) * single) > 1e-6)
        np.testing.assert_allclose(mean, k * single / (1 + (k - 1) * single), rtol=1e-6, atol=1e-9)


@given(complete, st.randoms(use_true_random=False))
def test_order_of_units_and_raters_does_not_matter(values, random) -> None:
    units, raters = (list(range(size)) for size in values.shape)
    random.shuffle(units)
    random.shuffle(raters)
    for form in FORMS:
        np.testing.assert_allclose(icc(values[np.ix_(units, raters)], form), icc(values, form), atol=1e-9)


@given(hnp.arrays(np.int64, (6, 3), elements=st.integers(0, 9)))
def test_interval_ends_are_where_the_f_test_tips(values) -> None:
    """C,1 and 1,1: at an end as the true value, the observed ratio of mean squares has probability .975 or .025."""
    sums, n, k = complete_sums(values), *values.shape
    squares = of.icc_mean_squares(sums)
    assume(float(squares.residual) > 1e-9)
    assume(float(squares.unit) > 1e-9)
    for form, error, df in (("C,1", squares.residual, (n - 1) * (k - 1)), ("1,1", squares.within, n * (k - 1))):
        low, high = of.icc_interval(sums, form)
        for end, probability in ((low, 0.975), (high, 0.025)):
            f = squares.unit / error / (1 + k * end / (1 - end))
            assert stats.f.cdf(f, n - 1, df) == pytest.approx(probability, abs=1e-9)


@given(complete)
def test_intervals_hold_the_estimate(values) -> None:
    for form in FORMS:
        low, high = (float(end) for end in of.icc_interval(complete_sums(values), form))
        if np.isfinite([low, high]).all() and form in ("1,1", "C,1"):
            assert low - 1e-9 <= icc(values, form) <= high + 1e-9


@settings(max_examples=25)
@given(hnp.arrays(np.int64, (5, 4, 3), elements=st.integers(0, 9)))
def test_broadcasting_is_a_loop(stack) -> None:
    sums = np.stack([complete_sums(values) for values in stack])
    holes = np.stack([holed_sums(values.astype(float)) for values in stack])
    for form in FORMS:
        np.testing.assert_allclose(of.icc(of.icc_components(sums), form, 3), [icc(values, form) for values in stack])
        looped = [of.icc(of.icc_components_with_holes(row), form, 3) for row in holes]
        np.testing.assert_allclose(of.icc(of.icc_components_with_holes(holes), form, 3), looped, atol=1e-12)
        np.testing.assert_allclose(of.icc_interval(sums, form)[0], [of.icc_interval(row, form)[0] for row in sums])


@given(holed, st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_tallies_of_groups_add_up(values, n_groups, seed) -> None:
    group = np.random.default_rng(seed).integers(0, n_groups, len(values))
    np.testing.assert_allclose(of.sums_with_holes(values, group, n_groups).sum(axis=0), holed_sums(values), atol=1e-9)
    filled = np.nan_to_num(values)
    np.testing.assert_allclose(of.complete_sums(filled, group, n_groups).sum(axis=0), complete_sums(filled))
    severity = of.severity_sums(values, group, n_groups).sum(axis=0)
    np.testing.assert_allclose(severity, of.severity_sums(values, *each(values)).sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("mark", [0.0, 3.0, 0.1, 1 / 3])
def test_constant_marks_are_undefined(mark) -> None:
    values = np.full((7, 3), mark)
    holes = values.copy()
    holes[2, 1] = np.nan
    for form in FORMS:
        assert np.isnan(of.icc(of.icc_components_with_holes(holed_sums(holes)), form, 3))
        assert np.isnan(icc(values, form))


def test_too_little_is_undefined() -> None:
    assert np.isnan([icc(np.array([[1.0, 2, 3]]), form) for form in FORMS]).all()
    empty = np.full((3, 2), np.nan)
    assert np.isnan([of.icc(of.icc_components_with_holes(holed_sums(empty)), form, 2) for form in FORMS]).all()
    assert np.isnan(of.icc_interval(complete_sums(np.array([[1.0, 2], [3, 4]])), "C,1")).all()  # residual 0


def test_severity_by_hand() -> None:
    # units (1, 3, 5), (2, 4, -), (-, -, 9): deviations (-2, 0, 2), (-1, 1, -); the last has no comparison
    values = np.array([[1, 3, 5], [2, 4, np.nan], [np.nan, np.nan, 9]])
    sums = of.severity_sums(values, *each(values)).sum(axis=0)
    assert sums.tolist() == [[-3, 2], [1, 2], [2, 1]]
    assert of.rater_severity(sums).tolist() == [-1.5, 0.5, 2]
    assert np.isnan(of.rater_severity(np.zeros((2, 2)))).all()


@given(complete)
def test_severity_of_complete_marks_is_the_rater_effect(values) -> None:
    found = of.rater_severity(of.severity_sums(values.astype(float), *each(values)).sum(axis=0))
    np.testing.assert_allclose(found, values.mean(axis=0) - values.mean(), atol=1e-9)


@given(complete)
def test_repeated_rows_are_counted_not_copied(values) -> None:
    values = values % 3 + 0.0
    rows, times = np.unique(values, axis=0, return_counts=True)
    for tally in (of.complete_sums, of.sums_with_holes, of.severity_sums):
        np.testing.assert_allclose(
            tally(rows, np.zeros(len(rows), dtype=int), 1, times).sum(axis=0),
            tally(values, *each(values)).sum(axis=0),
            atol=1e-12,  # severities sum to rounding around 0
        )


@pytest.mark.parametrize("mark", [0.0, 3.0, 0.1, 1 / 3])
def test_interval_alpha_of_constant_marks_is_undefined(mark) -> None:
    marks = np.full((7, 3), mark)
    columns = np.full(7, 3.0), marks.sum(axis=1), (marks**2).sum(axis=1)
    assert np.isnan(of.krippendorff_alpha_interval(of.interval_sums(*columns, *each(marks)).sum(axis=0)))
