"""Tables here are (reference, judge); binary ones are written (TP, FN, FP, TN) as in the literature."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats import agreement as of
from evenhand.stats.delta import delta_variance, gradient

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

Table = np.ndarray
COEFFICIENTS = (of.cohen_kappa, of.scott_pi, of.gwet_ac1, of.brennan_prediger, of.observed_agreement)
BINARY = (of.phi, of.kappa_phi_ratio, of.balanced_accuracy, of.leniency_per_verdict)

counts = st.integers(0, 60)
fourfold = st.tuples(counts, counts, counts, counts).filter(any)
square = st.integers(2, 5).flatmap(lambda q: hnp.arrays(np.int64, (q, q), elements=counts)).filter(np.any)


def binary(tp: int, fn: int, fp: int, tn: int) -> Table:
    return np.array([[tn, fp], [fn, tp]], dtype=float)


def std_error(measure: Callable[[Table], Table], table: Table) -> float:
    slopes = gradient(measure, table)
    assert slopes is not None
    return math.sqrt(delta_variance(table, slopes))


def positive_f1(table: Table) -> Table:
    return of.f1(np.array([table[1, 1], table[0, 1] + table[1, 0]]))


# data/*.csv of the oracles
FCE1969 = np.array([[106, 10, 4], [22, 28, 10], [2, 12, 6]], dtype=float)
ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]], dtype=float)
DIAGNOSIS = np.array([[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]], dtype=float)
VISION = np.array([[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]], dtype=float)


@pytest.mark.parametrize(
    ("measure", "table", "value", "se"),
    [
        # scott_pi.*.identity, gwet_ac.*.identity, brennan_prediger.*.identity, percent_agreement.*.identity
        (of.scott_pi, FCE1969, 0.427207637231504, 0.0541517990241281),
        (of.gwet_ac1, FCE1969, 0.593564775613887, 0.0476278897067032),
        (of.brennan_prediger, FCE1969, 0.55, 0.0486055552380589),
        (of.observed_agreement, FCE1969, 0.7, 0.0324037034920393),
        (of.scott_pi, ABSTRACTORS, 0.796239696211911, 0.0590547333089573),
        (of.gwet_ac1, ABSTRACTORS, 0.849330548231346, 0.0432174675225593),
        (of.brennan_prediger, ABSTRACTORS, 0.835, 0.046933463541486),
        (of.observed_agreement, ABSTRACTORS, 0.89, 0.031288975694324),
        (of.scott_pi, DIAGNOSIS, 0.430340557275542, 0.0462315444255595),
        (of.gwet_ac1, DIAGNOSIS, 0.45615763546798, 0.0434498744312433),
        (of.observed_agreement, DIAGNOSIS, 0.587443946188341, 0.0329664564045031),
        (of.scott_pi, VISION, 0.595360661569041, 0.00728834589492168),
        (of.gwet_ac1, VISION, 0.616043995405479, 0.00693546973562656),
        (of.observed_agreement, VISION, 0.708305470108332, 0.00525667043614306),
        # kappa.*.kappa.unweighted and cohen_kappa_gwet_se.*.identity
        (of.cohen_kappa, ABSTRACTORS, 0.796409402183972, 0.05891071832608148),
        (of.cohen_kappa, DIAGNOSIS, 0.431500775881179, 0.045969181562379),
        (of.cohen_kappa, VISION, 0.595388828089434, 0.007286851134745739),
    ],
)
def test_oracles(measure: Callable[[Table], Table], table: Table, value: float, se: float) -> None:
    assert measure(table) == pytest.approx(value, abs=1e-8)
    assert std_error(measure, table) == pytest.approx(se, abs=1e-8)


@pytest.mark.parametrize(
    ("table", "se"),
    [(ABSTRACTORS, 0.07600602503338182), (VISION, 0.007039275500765645)],  # kappa.*.kappa.unweighted: se_null
)
def test_oracle_null_std_error(table: Table, se: float) -> None:
    assert of.kappa_null_std_error(table) == pytest.approx(se, abs=1e-8)


@pytest.mark.parametrize(
    ("cells", "accuracy", "f1", "kappa", "kappa_se", "kappa_se0", "phi", "phi_var"),
    [  # binary2x2.40_10_20_30, .5_5_0_90, .79_26_8_17; Rao and Callison-Burch 2026 print the first two
        ((40, 10, 20, 30), 0.7, 0.7272727272727273, 0.4, 0.0897997772825746, 0.0979795897113271, 0.408248290463863, 0.008125),
        ((5, 5, 0, 90), 0.95, 0.6666666666666666, 0.642857142857143, 0.145408163265306, 0.0934049773615859,
         0.688247201611685, 0.0131578947368421),
        ((79, 26, 8, 17), 0.7384615384615385, 0.8229166666666666, 0.339312406576981, 0.0864911887874203,
         0.0821657284161416, 0.362190749081517, 0.00778114589251386),
    ],
)  # fmt: skip
def test_oracle_binary(cells, accuracy, f1, kappa, kappa_se, kappa_se0, phi, phi_var) -> None:
    table = binary(*cells)
    assert of.observed_agreement(table) == pytest.approx(accuracy, abs=1e-12)
    assert positive_f1(table) == pytest.approx(f1, abs=1e-12)
    assert of.cohen_kappa(table) == pytest.approx(kappa, abs=1e-7)
    assert std_error(of.cohen_kappa, table) == pytest.approx(kappa_se, abs=1e-7)
    assert of.kappa_null_std_error(table) == pytest.approx(kappa_se0, abs=1e-7)
    assert of.phi(table) == pytest.approx(phi, abs=1e-7)
    assert std_error(of.phi, table) ** 2 == pytest.approx(phi_var, abs=1e-7)


def test_variances_of_kappa_and_phi() -> None:
    # statistics §2, CONVENTIONS C eq. 13: N·Var .8064 and .8125; equal, .640, at matched marginals
    table, matched = binary(40, 10, 20, 30), np.array([[0.4, 0.1], [0.1, 0.4]])
    assert 100 * std_error(of.cohen_kappa, table) ** 2 == pytest.approx(0.8064, abs=1e-6)
    assert 100 * std_error(of.phi, table) ** 2 == pytest.approx(0.8125, abs=1e-6)
    assert std_error(of.cohen_kappa, matched) ** 2 == pytest.approx(0.64, abs=1e-6)
    assert std_error(of.phi, matched) ** 2 == pytest.approx(0.64, abs=1e-6)


def test_a_judge_that_never_says_yes() -> None:
    # CONVENTIONS C: always negative on the second example: p_o .90, kappa 0, phi 0/0
    table = binary(0, 10, 0, 90)
    assert of.observed_agreement(table) == pytest.approx(0.9, abs=1e-15)
    assert of.cohen_kappa(table) == 0
    assert np.isnan(of.phi(table))
    assert np.isnan(of.kappa_phi_ratio(table))


def test_edge_a_constant_judge() -> None:
    # edge.2x2.const_rater: kappa 0, ase 0, AC1 .411764705882353 (.137844873958769), BP .2, pi -.25
    table = np.array([[30.0, 0.0], [20.0, 0.0]])
    assert of.cohen_kappa(table) == 0
    assert std_error(of.cohen_kappa, table) == 0
    assert of.gwet_ac1(table) == pytest.approx(0.411764705882353, abs=1e-8)
    assert std_error(of.gwet_ac1, table) == pytest.approx(0.137844873958769, abs=1e-8)
    assert of.brennan_prediger(table) == pytest.approx(0.2, abs=1e-8)
    assert of.scott_pi(table) == pytest.approx(-0.25, abs=1e-8)


def test_edge_one_label_only() -> None:
    # edge.2x2.all_same and case UND-01: kappa and pi are 0/0, AC1 and BP are 1
    table = np.array([[50.0, 0.0], [0.0, 0.0]])
    assert np.isnan([of.cohen_kappa(table), of.scott_pi(table), of.phi(table), of.kappa_phi_ratio(table)]).all()
    assert of.gwet_ac1(table) == 1
    assert std_error(of.gwet_ac1, table) == 0
    assert of.brennan_prediger(table) == 1
    assert gradient(of.cohen_kappa, table) is None


def test_edge_perfect() -> None:
    # edge.2x2.perfect: everything is 1, exactly
    table = np.array([[30.0, 0.0], [0.0, 20.0]])
    for measure in (*COEFFICIENTS, of.phi, of.kappa_phi_ratio, of.balanced_accuracy):
        assert measure(table) == 1
    assert std_error(of.cohen_kappa, table) == 0


def test_case_und_03_one_disagreement_in_twenty() -> None:
    # shared cases UND-03a: agreement .95, kappa exactly 0, AC1 .947438
    table = np.array([[0.0, 0.0], [1.0, 19.0]])
    assert of.cohen_kappa(table) == 0
    assert of.gwet_ac1(table) == pytest.approx(0.947438, abs=5e-7)


def test_no_verdict_is_undefined() -> None:
    for measure in (*COEFFICIENTS, *BINARY):
        assert np.isnan(measure(np.zeros((2, 2))))


def test_shares_and_means_by_hand() -> None:
    table = binary(40, 10, 20, 30)
    assert of.leniency_per_verdict(table) == pytest.approx(0.1, abs=1e-15)
    assert of.balanced_accuracy(table) == pytest.approx((0.8 + 0.6) / 2, abs=1e-15)
    assert of.share(np.array([3.0, 1.0])) == 0.75
    assert of.mean_value(np.array([1.0, 2.0, 1.0]), np.array([-1.0, 0.0, 3.0])) == 0.5
    assert of.kappa_phi_ratio(table) == pytest.approx(0.4 / 0.408248290463863, abs=1e-12)


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_large_counts_neither_overflow_nor_lose_digits(n: int) -> None:
    table = n * binary(40, 10, 20, 30)
    assert of.phi(table) == pytest.approx(1 / math.sqrt(6), rel=1e-14)
    assert of.cohen_kappa(table) == pytest.approx(0.4, rel=1e-14)
    assert of.kappa_null_std_error(table) == pytest.approx(0.0979795897113271 / math.sqrt(n), rel=1e-12)


# --- one number under five names ---


def vectors(tp: int, fn: int, fp: int, tn: int) -> tuple[np.ndarray, np.ndarray]:
    """Reference and judge, one verdict an element."""
    return np.repeat([1, 1, 0, 0], [tp, fn, fp, tn]), np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    dx, dy = x - x.mean(), y - y.mean()
    return float((dx * dy).sum() / math.sqrt((dx**2).sum() * (dy**2).sum()))


def ranks(x: np.ndarray) -> np.ndarray:
    """Average ranks of a 0/1 vector."""
    zeros = np.count_nonzero(x == 0)
    return np.where(x == 0, (zeros + 1) / 2, (zeros + 1 + len(x)) / 2)


def kendall_tau_b(x: np.ndarray, y: np.ndarray) -> float:
    """Concordant less discordant pairs over the geometric mean of the untied ones, by counting."""
    sign_x, sign_y = np.sign(x[:, None] - x[None]), np.sign(y[:, None] - y[None])
    return float((sign_x * sign_y).sum() / math.sqrt(np.abs(sign_x).sum() * np.abs(sign_y).sum()))


def matthews(tp: int, fn: int, fp: int, tn: int) -> float:
    return (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


@given(fourfold)
def test_phi_is_pearson_spearman_kendall_and_matthews(cells) -> None:
    x, y = vectors(*cells)
    phi = float(of.phi(binary(*cells)))
    if len(set(x.tolist())) < 2 or len(set(y.tolist())) < 2:
        assert math.isnan(phi)
        return
    others = [pearson(x, y), pearson(ranks(x), ranks(y)), kendall_tau_b(x, y), matthews(*cells)]
    assert [phi] * 4 == pytest.approx(others, abs=1e-12)


@given(fourfold)
def test_kappa_is_phi_times_the_ratio_and_never_larger(cells) -> None:
    # Rao and Callison-Burch 2026, eq. 11
    kappa, phi, ratio = (float(measure(binary(*cells))) for measure in (of.cohen_kappa, of.phi, of.kappa_phi_ratio))
    assume(math.isfinite(phi))
    assert kappa == pytest.approx(phi * ratio, abs=1e-12)
    assert abs(kappa) <= abs(phi) + 1e-12
    assert 0 < ratio <= 1 + 1e-15
    assert ratio == 1 or cells[1] != cells[2]


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_no_disagreement_is_exactly_one(tp, tn) -> None:
    assert of.phi(binary(tp, 0, 0, tn)) == of.cohen_kappa(binary(tp, 0, 0, tn)) == 1


@given(fourfold)
def test_equal_positive_rates_make_kappa_phi(cells) -> None:
    tp, fn, _, tn = cells
    table = binary(tp, fn, fn, tn)
    np.testing.assert_allclose(of.cohen_kappa(table), of.phi(table), atol=1e-12)


# --- symmetries ---


@given(square)
def test_swapping_the_sides_changes_no_coefficient(table) -> None:
    for measure in COEFFICIENTS:
        np.testing.assert_allclose(measure(table), measure(table.T), atol=1e-12)


@given(fourfold)
def test_swapping_false_accepts_and_rejects(cells) -> None:
    tp, fn, fp, tn = cells
    table, swapped = binary(tp, fn, fp, tn), binary(tp, fp, fn, tn)
    for measure in (of.phi, of.kappa_phi_ratio):
        np.testing.assert_allclose(measure(table), measure(swapped), atol=1e-12)
    np.testing.assert_allclose(of.leniency_per_verdict(table), -of.leniency_per_verdict(swapped), atol=1e-15)


@given(square, st.randoms(use_true_random=False))
def test_renaming_the_labels_changes_nothing(table, random) -> None:
    order = list(range(len(table)))
    random.shuffle(order)
    for measure in (*COEFFICIENTS, of.kappa_null_std_error):
        np.testing.assert_allclose(measure(table[np.ix_(order, order)]), measure(table), atol=1e-12)


@given(square, st.integers(2, 1_000))
def test_repeating_the_data_moves_only_the_null_error(table, times) -> None:
    for measure in COEFFICIENTS:
        np.testing.assert_allclose(measure(times * table), measure(table), atol=1e-10)
    np.testing.assert_allclose(
        of.kappa_null_std_error(times * table), of.kappa_null_std_error(table) / math.sqrt(times), rtol=1e-6, atol=1e-9
    )


@given(square)
def test_values_stay_in_range(table) -> None:
    for measure in (of.cohen_kappa, of.scott_pi, of.gwet_ac1, of.brennan_prediger):
        assert np.isnan(measure(table)) or -1 - 1e-12 <= measure(table) <= 1


# --- arrays ---


@given(hnp.arrays(np.int64, (3, 2, 3, 3), elements=counts))
def test_broadcasting_is_a_loop(stack) -> None:
    for measure in (*COEFFICIENTS, of.kappa_null_std_error):
        looped = [[measure(stack[a, b]) for b in range(2)] for a in range(3)]
        np.testing.assert_array_equal(measure(stack), looped)


@given(hnp.arrays(np.int64, (4, 3, 2, 2), elements=counts))
def test_broadcasting_is_a_loop_for_binary(stack) -> None:
    for measure in BINARY:
        looped = [[measure(stack[a, b]) for b in range(3)] for a in range(4)]
        np.testing.assert_array_equal(measure(stack), looped)


@given(square, st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_tallies_split_and_added_are_the_whole(table, n_parts, seed) -> None:
    rng = np.random.default_rng(seed)
    parts = np.zeros((n_parts, *table.shape))
    for r, j in itertools.product(range(len(table)), repeat=2):
        parts[:, r, j] = rng.multinomial(table[r, j], np.full(n_parts, 1 / n_parts))
    for measure in COEFFICIENTS:
        np.testing.assert_array_equal(measure(parts.sum(axis=0)), measure(table))


@given(fourfold)
def test_f1_is_the_harmonic_mean(cells) -> None:
    tp, fn, fp, _ = cells
    assume(tp)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    assert positive_f1(binary(*cells)) == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-12)
