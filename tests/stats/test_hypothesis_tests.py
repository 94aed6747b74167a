import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats  # noqa: TID251

from evenhand.stats import hypothesis_tests as of

# data/cochran_q_small.csv, brennan2001_syn1_pxi.csv and r_sleep.csv of the oracles
SMALL = np.array([[1, 1, 0]] * 6 + [[1, 0, 1]] + [[1, 0, 0]] * 2 + [[0, 1, 0]] + [[0, 0, 0]] * 2 + [[1, 1, 1]] * 2)
SYNTHETIC_1 = np.array(
    [
        [int(cell) for cell in row]
        for row in (
            "101000000000", "111001000000", "111110000000", "110110010000", "111110100000",
            "111011100000", "111111100000", "111101111100", "111111111110", "111111111111",
        )
    ]
)  # fmt: skip
SLEEP = np.array(
    [
        [0.7, 1.9],
        [-1.6, 0.8],
        [-0.2, 1.1],
        [-1.2, 0.1],
        [-0.1, -0.1],
        [3.4, 4.4],
        [3.7, 5.5],
        [0.8, 1.6],
        [0, 4.6],
        [2, 3.4],
    ]
)

verdicts = st.tuples(st.integers(2, 12), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 1))
)
p_values = hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(0, 1))


def cochran(values: np.ndarray) -> of.ChiSquareTest:
    return of.cochran_q(of.cochran_sums(values, np.zeros(len(values), dtype=int), 1)[0])


@pytest.mark.parametrize(
    ("values", "q", "df", "p"),
    [  # cochran_q.small, cochran_q.syn1: R friedman.test = statsmodels cochrans_q; 1e-8, 1e-7
        (SMALL, 10.4, 2, 0.00551656442076077),
        (SYNTHETIC_1, 47.9138576779026, 11, 1.47905684046131e-06),
    ],
)
def test_oracle_cochran(values, q, df, p) -> None:
    found = cochran(values)
    assert found.statistic == pytest.approx(q, abs=1e-8)
    assert found.df == df
    assert found.p_value == pytest.approx(p, abs=1e-8)


def test_cochran_by_hand() -> None:
    # rows 110, 100, 000, 111: conditions 3, 2, 1, rows 2, 1, 0, 3: 2(3·14 - 36)/(3·6 - 14) = 3
    found = cochran(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1]]))
    assert found.statistic == 3
    assert found.p_value == pytest.approx(math.exp(-1.5), abs=1e-12)


@given(verdicts)
def test_cochran_of_two_conditions_is_mcnemar(values) -> None:
    one, other = values[:, 0], values[:, 1]
    b, c = int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum())
    found = cochran(values[:, :2]).statistic
    if b + c == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx((b - c) ** 2 / (b + c), abs=1e-9)


@given(verdicts, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_cochran_s_tallies_add_up_and_broadcast(values, n_groups, seed) -> None:
    group = np.random.default_rng(seed).integers(0, n_groups, len(values))
    sums = of.cochran_sums(values, group, n_groups)
    np.testing.assert_array_equal(of.cochran_q(sums.sum(axis=0)).statistic, cochran(values).statistic)
    found = of.cochran_q(sums)
    assert found.statistic.shape == found.df.shape == found.p_value.shape == (n_groups,)
    np.testing.assert_array_equal(found.statistic, [of.cochran_q(row).statistic for row in sums])


# --- equivalence ---


def test_oracle_tost_welch() -> None:
    # tost.lakens2017, 1e-6; Lakens 2017 prints t(182) = -2.69, p = .004
    v1, v2 = 0.95**2 / 95, 0.83**2 / 89
    df = (v1 + v2) ** 2 / (v1**2 / 94 + v2**2 / 88)
    bound = 0.383568677031897
    found = of.equivalence_test(np.asarray(5.25 - 5.22), np.asarray(math.sqrt(v1 + v2)), df, (-bound, bound))
    assert df == pytest.approx(181.134367160507, abs=1e-6)
    assert found.t_lower == pytest.approx(3.14973014565574, abs=1e-6)
    assert found.t_upper == pytest.approx(-2.69277143665571, abs=1e-6)
    assert found.p_lower == pytest.approx(0.00095600825997825, abs=1e-6)
    assert found.p_upper == pytest.approx(0.00387552174484783, abs=1e-6)
    assert (found.ci_low, found.ci_high) == pytest.approx((-0.187084311828454, 0.247084311828454), abs=1e-6)


def test_oracle_tost_paired() -> None:
    # tost.sleep: R t.test one-sided twice, pingouin 0.6.1; 1e-8
    difference = SLEEP[:, 0] - SLEEP[:, 1]
    std_error = np.asarray(difference.std(ddof=1) / math.sqrt(10))
    found = of.equivalence_test(np.asarray(difference.mean()), std_error, 9, (-2, 2))
    assert found.t_lower == pytest.approx(1.07980609305092, abs=1e-8)
    assert found.t_upper == pytest.approx(-9.20406145981499, abs=1e-8)
    assert found.p_lower == found.p_value == pytest.approx(0.154157235669097, abs=1e-8)
    assert found.p_upper == pytest.approx(3.55234415924769e-06, abs=1e-8)
    assert (found.ci_low, found.ci_high) == pytest.approx((-2.29300526702928, -0.866994732970716), abs=1e-8)


@given(
    hnp.arrays(np.float64, 5, elements=st.floats(-3, 3)),
    hnp.arrays(np.float64, 5, elements=st.floats(0.01, 3)),
    st.integers(1, 60),
    st.floats(0.1, 2),
)
def test_equivalent_exactly_where_the_interval_lies_inside(estimate, std_error, df, margin) -> None:
    found = of.equivalence_test(estimate, std_error, df, (-margin, margin))
    inside = (found.ci_low > -margin) & (found.ci_high < margin)
    clear = np.abs(found.p_value - 0.05) > 1e-9
    np.testing.assert_array_equal((found.p_value < 0.05)[clear], inside[clear])
    for one in range(5):
        single = of.equivalence_test(estimate[one], std_error[one], df, (-margin, margin))
        assert single.p_value == found.p_value[one]


def test_equivalence_without_a_standard_error_is_undefined() -> None:
    assert np.isnan(of.equivalence_test(np.asarray(0.0), np.asarray(0.0), 9, (-1, 1)).p_value)
    normal = of.equivalence_test(np.asarray(0.0), np.asarray(1.0), math.inf, (-1, 1))
    assert normal.p_value == pytest.approx(stats.norm.cdf(-1), abs=1e-12)


# --- families ---


def test_corrections_by_hand() -> None:
    # sorted .01 .02 .03 .04: Holm 4·.01, max(.04, 3·.02), max(.06, 2·.03), max(.06, .04); BH 4p/i = .04 throughout
    p = np.array([0.03, 0.01, 0.04, 0.02])
    assert of.holm(p) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert of.benjamini_hochberg(p) == pytest.approx([0.04, 0.04, 0.04, 0.04])
    # Benjamini and Hochberg (1995), section 4.1: 15 p values, four rejected at .05, Holm's three
    published = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1,
    ]  # fmt: skip
    assert (of.benjamini_hochberg(np.array(published)) <= 0.05).sum() == 4
    assert (of.holm(np.array(published)) <= 0.05).sum() == 3


@given(p_values)
def test_corrections_by_definition(p) -> None:
    m = len(p)
    by_closure = np.zeros(m)  # Holm is the closed test of Bonferroni's
    for size in range(1, m + 1):
        for family in itertools.combinations(range(m), size):
            chosen = list(family)
            by_closure[chosen] = np.maximum(by_closure[chosen], min(1.0, size * p[chosen].min()))
    np.testing.assert_allclose(of.holm(p), by_closure, atol=1e-12)
    np.testing.assert_allclose(of.benjamini_hochberg(p), stats.false_discovery_control(p), atol=1e-12)


@given(p_values, st.randoms(use_true_random=False))
def test_undefined_p_values_leave_the_family_alone(p, random) -> None:
    order = list(range(len(p) + 2))
    random.shuffle(order)
    padded = np.concatenate([p, [np.nan, np.nan]])[order]
    for correction in (of.holm, of.benjamini_hochberg):
        expected = np.concatenate([correction(p), [np.nan, np.nan]])[order]
        np.testing.assert_allclose(correction(padded), expected, atol=1e-12)
        np.testing.assert_allclose(correction(np.stack([padded, padded[::-1]])), [expected, expected[::-1]], atol=1e-12)


def test_max_t_by_hand() -> None:
    # four resamples deviate by at most 1, 2, 2, 3 standard errors: the .75 quantile is 2
    estimate, std_error = np.array([10.0, 0.0]), np.array([2.0, 1.0])
    deviations = np.array([[1, 0.5], [-2, 1], [0, -2], [3, 0]])
    found = of.max_t(estimate, std_error, estimate + deviations * std_error, level=0.75)
    assert found.critical_value == 2
    assert found.low.tolist() == [6, -2]
    assert found.high.tolist() == [14, 2]
    # 10/2 = 5 is never reached; the second alone is reached by all: (4 + 1)/(4 + 1)
    assert found.p_value.tolist() == [1 / 5, 1]


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_max_t_is_wider_than_each_and_narrower_than_bonferroni_allows(m, seed) -> None:
    rng = np.random.default_rng(seed)
    estimate, std_error = rng.normal(size=m), rng.uniform(0.5, 2, m)
    replicates = estimate + std_error * rng.normal(size=(400, m))
    found = of.max_t(estimate, std_error, replicates, level=0.9)
    deviation = np.abs((replicates - estimate) / std_error)
    assert found.critical_value >= np.quantile(deviation, 0.9, axis=0, method="inverted_cdf").max() - 1e-12
    bonferroni = np.quantile(deviation, 1 - 0.1 / m, axis=0, method="inverted_cdf").max()
    assert found.critical_value <= bonferroni + 1e-12
    inside = ((replicates >= found.low - 1e-12) & (replicates <= found.high + 1e-12)).all(axis=1)
    assert inside.mean() >= 0.9
    alone = ((deviation >= np.abs(estimate / std_error)).sum(axis=0) + 1) / 401
    assert (found.p_value >= alone - 1e-12).all()
    order = rng.permutation(m)
    moved = of.max_t(estimate[order], std_error[order], replicates[:, order], level=0.9)
    np.testing.assert_allclose(moved.p_value, found.p_value[order])


def test_max_t_leaves_out_undefined_resamples() -> None:
    rng = np.random.default_rng(3)
    replicates = rng.normal(size=(50, 2))
    broken = np.concatenate([replicates, [[np.nan, 0.0], [0.0, np.inf]]])
    one, other = (of.max_t(np.zeros(2), np.ones(2), values) for values in (replicates, broken))
    assert one.critical_value == other.critical_value
    assert math.isnan(of.max_t(np.zeros(2), np.ones(2), np.full((4, 2), np.nan)).critical_value)
    assert np.isnan(of.max_t(np.zeros(2), np.array([1.0, 0.0]), replicates).p_value).all()


@given(verdicts)
def test_cochran_ignores_constant_rows_and_the_order_of_conditions(values) -> None:
    assume(np.isfinite(cochran(values).statistic))
    constant = np.concatenate(
        [values, np.ones((2, values.shape[1]), dtype=int), np.zeros((1, values.shape[1]), dtype=int)]
    )
    np.testing.assert_allclose(cochran(constant).statistic, cochran(values).statistic, atol=1e-9)
    np.testing.assert_allclose(cochran(values[:, ::-1]).statistic, cochran(values).statistic, atol=1e-9)


@given(verdicts)
def test_repeated_rows_are_counted_not_copied(values) -> None:
    rows, times = np.unique(values, axis=0, return_counts=True)
    few = of.cochran_sums(rows, np.zeros(len(rows), dtype=int), 1, times)
    np.testing.assert_array_equal(few, of.cochran_sums(values, np.zeros(len(values), dtype=int), 1))


@pytest.mark.parametrize("table", [[[4, 5], [10, 1]], [[3, 1], [1, 3]], [[0, 7], [6, 0]], [[100, 120], [90, 140]]])
def test_fisher_exact_is_scipys(table):
    assert of.fisher_exact(np.array(table, dtype=float)) == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)


def test_fisher_exact_needs_both_margins():
    """The first is case MIS-03 of the shared case list, by hand."""
    assert of.fisher_exact(np.array([[4.0, 5.0], [10.0, 1.0]])) == pytest.approx(0.049845, abs=5e-7)
    assert of.fisher_exact(np.array([[3.0, 4.0], [0.0, 0.0]])) is None
