"""Tables are (first rater, second rater); oracles are those of irrCAC, vcd, statsmodels and scikit-learn."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats import agreement
from evenhand.stats import weighted_agreement as of
from evenhand.stats.delta import delta_variance, gradient
from evenhand.stats.marks import lin_ccc, mark_sums
from evenhand.stats.weights import agreement_weights

# data/*.csv of the oracles
FCE1969 = np.array([[106, 10, 4], [22, 28, 10], [2, 12, 6]], dtype=float)
ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]], dtype=float)
DIAGNOSIS = np.array([[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]], dtype=float)
VISION = np.array([[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]], dtype=float)
GORODKIN = np.array([[5, 2, 1], [3, 7, 2], [0, 4, 6]], dtype=float)
COEFFICIENTS = {
    "none": of.weighted_observed_agreement,
    "cohen": of.weighted_kappa,
    "scott": of.weighted_scott_pi,
    "gwet": of.gwet_ac2,
    "uniform": of.weighted_brennan_prediger,
}

counts = st.integers(0, 60)
square = st.integers(2, 5).flatmap(lambda q: hnp.arrays(np.int64, (q, q), elements=counts)).filter(np.any)
weight_names = st.sampled_from(("identity", "linear", "quadratic", "ordinal", "radical"))


def weights_for(table, name):
    return agreement_weights(name, np.arange(1, table.shape[-1] + 1))


@pytest.mark.parametrize(
    ("chance", "table", "weights", "value", "se"),
    [
        # scott_pi.*, gwet_ac.*, brennan_prediger.*, percent_agreement.*: irrCAC 1.0 (cran/irrCAC@41b40b4), 1e-8
        ("scott", FCE1969, "identity", 0.427207637231504, 0.0541517990241281),
        ("scott", FCE1969, "linear", 0.491329479768786, 0.0509821759286994),
        ("scott", FCE1969, "quadratic", 0.566063977746871, 0.0557108958207901),
        ("scott", ABSTRACTORS, "identity", 0.796239696211911, 0.0590547333089573),
        ("scott", ABSTRACTORS, "quadratic", 0.892109263890932, 0.0353950586787315),
        ("scott", DIAGNOSIS, "identity", 0.430340557275542, 0.0462315444255595),
        ("scott", DIAGNOSIS, "linear", 0.405551080190406, 0.0536689065447842),
        ("scott", DIAGNOSIS, "quadratic", 0.382030365715624, 0.0660589683749454),
        ("scott", VISION, "identity", 0.595360661569041, 0.00728834589492168),
        ("scott", VISION, "quadratic", 0.70226344969786, 0.0083881341977633),
        ("gwet", FCE1969, "identity", 0.593564775613887, 0.0476278897067032),
        ("gwet", FCE1969, "quadratic", 0.795275590551181, 0.0341087449842926),
        ("gwet", ABSTRACTORS, "identity", 0.849330548231346, 0.0432174675225593),
        ("gwet", ABSTRACTORS, "linear", 0.900022722108612, 0.0292756016213458),
        ("gwet", DIAGNOSIS, "identity", 0.45615763546798, 0.0434498744312433),
        ("gwet", DIAGNOSIS, "linear", 0.377067883628066, 0.0560645689965659),
        ("gwet", DIAGNOSIS, "quadratic", 0.298572996706915, 0.0751794776667283),
        ("gwet", VISION, "identity", 0.616043995405479, 0.00693546973562656),
        ("gwet", VISION, "linear", 0.717282735579834, 0.00583451458143425),
        ("gwet", VISION, "quadratic", 0.79591634344247, 0.00597078792179744),
        ("uniform", FCE1969, "identity", 0.55, 0.0486055552380589),
        ("uniform", FCE1969, "linear", 0.62875, 0.0421762484995998),
        ("uniform", FCE1969, "quadratic", 0.7075, 0.0410072402143816),
        ("uniform", ABSTRACTORS, "identity", 0.835, 0.046933463541486),
        ("uniform", ABSTRACTORS, "linear", 0.87625, 0.0352000976561146),
        ("uniform", DIAGNOSIS, "linear", 0.347085201793722, 0.0597567251649599),
        ("uniform", DIAGNOSIS, "quadratic", 0.235874439461883, 0.0846706365997805),
        ("uniform", VISION, "linear", 0.701912531764077, 0.00601640945790401),
        ("uniform", VISION, "quadratic", 0.775310953591013, 0.0063291654169223),
        ("none", FCE1969, "identity", 0.7, 0.0324037034920393),
        ("none", FCE1969, "linear", 0.835, 0.0187449993331555),
        ("none", ABSTRACTORS, "identity", 0.89, 0.031288975694324),
        ("none", ABSTRACTORS, "quadratic", 0.9725, 0.00782224392358098),
        ("none", DIAGNOSIS, "identity", 0.587443946188341, 0.0329664564045031),
        ("none", DIAGNOSIS, "linear", 0.727952167414051, 0.0248986354854),
        ("none", DIAGNOSIS, "quadratic", 0.787742899850523, 0.0235196212777168),
        ("none", VISION, "identity", 0.708305470108332, 0.00525667043614306),
        ("none", VISION, "linear", 0.875796888235032, 0.00250683727412667),
        ("none", VISION, "quadratic", 0.937586375997503, 0.00175810150470064),
        # kappa.*.kappa.*, cohen_kappa_gwet_se.*: Fleiss, Cohen and Everitt 1969; vcd 1.4.11 = statsmodels 0.15.0, 1e-8
        ("cohen", FCE1969, "linear", 0.492307692307692, 0.05071860760768723),
        ("cohen", FCE1969, "quadratic", 0.566666666666667, 0.05566634015823023),
        ("cohen", ABSTRACTORS, "identity", 0.796409402183972, 0.05891071832608148),
        ("cohen", ABSTRACTORS, "linear", 0.842902027992002, 0.04787212159033976),
        ("cohen", ABSTRACTORS, "quadratic", 0.892156862745098, 0.035351507575659406),
        ("cohen", DIAGNOSIS, "identity", 0.431500775881179, 0.045969181562379),
        ("cohen", DIAGNOSIS, "linear", 0.406810874013446, 0.05338805071276334),
        ("cohen", DIAGNOSIS, "quadratic", 0.383185944134949, 0.06579469580787654),
        ("cohen", VISION, "identity", 0.595388828089434, 0.007286851134745739),
        ("cohen", VISION, "linear", 0.652380429500598, 0.0070752635706983645),
        ("cohen", VISION, "quadratic", 0.702334252490098, 0.008381936586536715),
    ],
)
def test_oracles(chance, table, weights, value, se) -> None:
    matrix = weights_for(table, weights)
    assert COEFFICIENTS[chance](table, matrix) == pytest.approx(value, abs=1e-8)
    assert of.analytic_std_error(table, matrix, chance) == pytest.approx(se, abs=1e-8)


@pytest.mark.parametrize(
    ("table", "weights", "se_null"),
    [  # kappa.*.kappa.*, se_null: statsmodels 0.15.0 SE0
        (FCE1969, "linear", 0.05776917955544177),
        (FCE1969, "quadratic", 0.07051398600435399),
        (ABSTRACTORS, "identity", 0.07600602503338182),
        (ABSTRACTORS, "linear", 0.0815490095101672),
        (ABSTRACTORS, "quadratic", 0.09991172574416118),
        (DIAGNOSIS, "linear", 0.051884994786334994),
        (DIAGNOSIS, "quadratic", 0.06668231825737472),
        (VISION, "identity", 0.007039275500765645),
        (VISION, "linear", 0.008140557723234578),
        (VISION, "quadratic", 0.011559146801271139),
    ],
)
def test_oracle_null_std_error(table, weights, se_null) -> None:
    assert of.null_std_error(table, weights_for(table, weights)) == pytest.approx(se_null, abs=1e-8)


@pytest.mark.parametrize(
    ("table", "value"),
    [  # mcc.*: scikit-learn 1.9.1 matthews_corrcoef, 1e-10
        (FCE1969, 0.43086374221606955),
        (ABSTRACTORS, 0.797898178541696),
        (DIAGNOSIS, 0.4333122136127257),
        (GORODKIN, 0.39049742520576836),
    ],
)
def test_oracle_mcc(table, value) -> None:
    assert of.mcc_multiclass(table) == pytest.approx(value, abs=1e-10)


def test_mcc_of_a_constant_judge_is_undefined() -> None:
    # mcc.constant: reference 0 1 2 1, judge always 1; scikit-learn returns 0.0
    assert np.isnan(of.mcc_multiclass(np.array([[0.0, 1, 0], [0, 2, 0], [0, 1, 0]])))


def test_weighted_kappa_by_hand() -> None:
    # margins (2, 2, 2) and (3, 2, 1), n = 6; one pair is two steps apart, six independent pairs would be
    # [2(2·1 + 1·2) + 2(3 + 1) + 2(3·2 + 2)]/6 = 32/6 steps apart
    table = np.array([[2.0, 0, 0], [0, 2, 0], [1, 0, 1]])
    weights = weights_for(table, "linear")
    assert of.weighted_kappa(table, weights) == pytest.approx(1 - 2 / (32 / 6), abs=1e-15)
    assert of.weighted_observed_agreement(table, weights) == pytest.approx(5 / 6, abs=1e-15)
    assert of.adjacent_agreement(table, [1, 2, 3]) == pytest.approx(5 / 6, abs=1e-15)
    # pooled margin (5, 4, 3)/12: expected steps per pair 2(5·4·1 + 5·3·2 + 4·3·1)/144
    assert of.weighted_scott_pi(table, weights) == pytest.approx(1 - (2 / 6) / (2 * 62 / 144), abs=1e-15)
    # weights 1, ½, 0 sum to 3 + 4·½ = 5: AC2 chance 5/6 · Σπ(1-π) = 5/6 · (35 + 32 + 27)/144, BP chance 5/9
    assert of.gwet_ac2(table, weights) == pytest.approx(1 - (1 / 6) / (1 - 5 / 6 * 94 / 144), abs=1e-15)
    assert of.weighted_brennan_prediger(table, weights) == pytest.approx(1 - (1 / 6) / (4 / 9), abs=1e-15)


# --- shared cases, numbers written out ---

LOW_MEDIUM_HIGH = np.array([[3.0, 1, 0], [1, 2, 1], [0, 1, 3]])  # CAT-01
CAT_03 = np.array([[3.0, 1, 0, 0], [1, 2, 0, 2], [0, 0, 0, 0], [0, 2, 0, 1]])


def test_case_cat_01_order_is_declared() -> None:
    assert of.quadratic_weighted_kappa(LOW_MEDIUM_HIGH, range(3)) == pytest.approx(0.75, abs=1e-12)
    assert of.weighted_kappa(LOW_MEDIUM_HIGH, weights_for(LOW_MEDIUM_HIGH, "linear")) == pytest.approx(0.625, abs=1e-12)
    alphabetical = [2, 0, 1]  # high, low, medium: the wrong number
    assert of.quadratic_weighted_kappa(LOW_MEDIUM_HIGH[np.ix_(alphabetical, alphabetical)], range(3)) == pytest.approx(
        0.375, abs=1e-12
    )


def test_case_cat_02_marks_are_numbers() -> None:
    human = np.array([10, 9, 2, 1, 7, 10, 3, 5, 2, 8, 6, 4, 10, 1])
    judge = np.array([10, 10, 3, 2, 7, 8, 3, 6, 2, 9, 5, 4, 9, 1])
    table = np.zeros((10, 10))
    np.add.at(table, (human - 1, judge - 1), 1)
    assert of.quadratic_weighted_kappa(table, range(1, 11)) == pytest.approx(0.9619, abs=5e-5)
    assert of.weighted_kappa(table, weights_for(table, "linear")) == pytest.approx(0.825, abs=5e-5)


def test_case_cat_03_distance_is_by_value() -> None:
    assert of.quadratic_weighted_kappa(CAT_03, range(4)) == pytest.approx(0.425532, abs=5e-7)
    assert of.weighted_kappa(CAT_03, weights_for(CAT_03, "linear")) == pytest.approx(0.302326, abs=5e-7)
    assert of.weighted_kappa(CAT_03, np.eye(4)) == pytest.approx(0.234043, abs=5e-7)
    used = [0, 1, 3]
    assert of.quadratic_weighted_kappa(CAT_03[np.ix_(used, used)], used) == pytest.approx(0.425532, abs=5e-7)
    wider = np.zeros((6, 6))
    wider[:4, :4] = CAT_03
    assert of.quadratic_weighted_kappa(wider, range(6)) == pytest.approx(0.425532, abs=5e-7)
    # positions instead of values: the wrong number
    assert of.quadratic_weighted_kappa(CAT_03[np.ix_(used, used)], range(3)) == pytest.approx(0.5663, abs=5e-5)


def test_case_unc_06_no_discordant_pair_and_one_against_seven() -> None:
    never = of.mcnemar(np.array([[7.0, 0], [0, 8]]))
    assert never.p_value_exact == 1
    assert np.isnan(never.statistic)
    some = of.mcnemar(np.array([[4.0, 7], [1, 8]]))
    assert some.p_value_exact == pytest.approx(9 / 128, abs=1e-12)  # 2 · (1 + 8)/2⁸, printed as .070312
    assert some.p_value == pytest.approx(0.0339, abs=5e-5)
    assert some.statistic == 4.5


def test_oracle_mcnemar() -> None:
    # mcnemar.agresti: R mcnemar.test, binom.test, 1e-8
    found = of.mcnemar(np.array([[794.0, 86], [150, 570]]))
    assert found.statistic == pytest.approx(17.3559322033898, abs=1e-8)
    assert found.p_value == pytest.approx(3.09929344104522e-05, abs=1e-12)
    assert found.statistic_corrected == pytest.approx(16.8177966101695, abs=1e-8)
    assert found.p_value_corrected == pytest.approx(4.11456228134594e-05, abs=1e-12)
    assert found.p_value_exact == pytest.approx(3.71593613957143e-05, abs=1e-12)


def test_stuart_maxwell_by_hand() -> None:
    # margins (9, 7, 7) and (6, 9, 8), d = (3, -2, -1); S without the last label: [[7, -3], [-3, 6]]... det 33
    # off-diagonal sums 3 (1-2), 4 (1-3), 3 (2-3): S = [[7, -3], [-3, 6]], S⁻¹ = [[6, 3], [3, 7]]/33
    # d'S⁻¹d = (6·9 - 2·3·6 + 7·4)/33 = 46/33
    table = np.array([[4.0, 3, 2], [0, 5, 2], [2, 1, 4]])
    found = of.stuart_maxwell(table)
    assert table.sum(axis=1).tolist() == [9, 7, 7]
    assert table.sum(axis=0).tolist() == [6, 9, 8]
    assert found.statistic == pytest.approx(46 / 33, abs=1e-12)
    assert found.df == 2
    assert found.p_value == pytest.approx(math.exp(-23 / 33), abs=1e-12)


def test_stuart_maxwell_drops_labels_without_discordant_pairs() -> None:
    table = np.zeros((5, 5))
    table[np.ix_([0, 2, 3], [0, 2, 3])] = [[4.0, 3, 2], [0, 5, 2], [2, 1, 4]]
    table[4, 4] = 7
    found = of.stuart_maxwell(table)
    assert found.statistic == pytest.approx(46 / 33, abs=1e-12)
    assert found.df == 2
    nothing = of.stuart_maxwell(np.diag([3.0, 4.0]))
    assert nothing.df == 0
    assert np.isnan(nothing.statistic)


@given(hnp.arrays(np.int64, (2, 2), elements=counts))
def test_stuart_maxwell_of_two_labels_is_mcnemar(table) -> None:
    assume(table[0, 1] + table[1, 0])
    np.testing.assert_allclose(of.stuart_maxwell(table).statistic, of.mcnemar(table).statistic, atol=1e-9)


@given(st.integers(0, 40), st.integers(0, 40))
def test_exact_mcnemar_is_the_binomial_sum(one, other) -> None:
    n = one + other
    tail = sum(math.comb(n, k) for k in range(min(one, other) + 1)) / 2**n
    found = of.mcnemar(np.array([[3.0, one], [other, 5.0]])).p_value_exact
    assert found == pytest.approx(min(1.0, 2 * tail), rel=1e-10)


# --- identities ---


@given(square)
def test_identity_weights_are_the_unweighted_coefficients(table) -> None:
    unweighted = {
        "none": agreement.observed_agreement,
        "cohen": agreement.cohen_kappa,
        "scott": agreement.scott_pi,
        "gwet": agreement.gwet_ac1,
        "uniform": agreement.brennan_prediger,
    }
    for chance, coefficient in COEFFICIENTS.items():
        np.testing.assert_allclose(coefficient(table, np.eye(len(table))), unweighted[chance](table), atol=1e-12)
    np.testing.assert_allclose(
        of.null_std_error(table, np.eye(len(table))), agreement.kappa_null_std_error(table), atol=1e-7
    )


@given(square, weight_names, st.sampled_from(tuple(COEFFICIENTS)))
def test_analytic_error_is_the_delta_method(table, name, chance) -> None:
    weights, coefficient = weights_for(table, name), COEFFICIENTS[chance]
    slopes = gradient(lambda t: coefficient(t, weights), table.astype(float))
    assume(slopes is not None)
    assume(1 - of.chance_agreement(table, weights, chance) > 1e-3)
    numeric = math.sqrt(max(delta_variance(table, slopes), 0))
    assert of.analytic_std_error(table, weights, chance) == pytest.approx(numeric, abs=1e-5)


@given(hnp.arrays(np.int64, (2, 2), elements=counts).filter(np.any))
def test_mcc_of_two_labels_is_phi(table) -> None:
    np.testing.assert_allclose(of.mcc_multiclass(table), agreement.phi(table), atol=1e-12)


@given(square)
def test_quadratic_kappa_is_the_concordance_of_the_marks(table) -> None:
    t, m = np.divmod(np.repeat(np.arange(table.size), table.ravel()), len(table))
    sums = mark_sums(t, m, np.zeros(len(t), dtype=int), 1)[0]
    np.testing.assert_allclose(of.quadratic_weighted_kappa(table, range(len(table))), lin_ccc(sums), atol=1e-12)


@given(square, weight_names)
def test_swapping_the_raters_changes_nothing(table, name) -> None:
    weights = weights_for(table, name)
    for chance, coefficient in COEFFICIENTS.items():
        np.testing.assert_allclose(coefficient(table, weights), coefficient(table.T, weights), atol=1e-12)
        np.testing.assert_allclose(
            of.analytic_std_error(table, weights, chance), of.analytic_std_error(table.T, weights, chance), atol=1e-7
        )
    np.testing.assert_allclose(of.mcc_multiclass(table), of.mcc_multiclass(table.T), atol=1e-12)


@given(square, st.randoms(use_true_random=False))
def test_renaming_labels_with_their_weights_changes_nothing(table, random) -> None:
    order = list(range(len(table)))
    random.shuffle(order)
    at = np.ix_(order, order)
    weights = weights_for(table, "linear")
    for coefficient in COEFFICIENTS.values():
        np.testing.assert_allclose(coefficient(table[at], weights[at]), coefficient(table, weights), atol=1e-12)
    np.testing.assert_allclose(of.stuart_maxwell(table[at]).statistic, of.stuart_maxwell(table).statistic, atol=1e-7)


@given(square, weight_names)
def test_no_constant_judge_beats_the_best(table, name) -> None:
    weights, reference = weights_for(table, name), table.sum(axis=1)
    values = []
    for label in range(len(table)):
        constant = np.zeros(table.shape)
        constant[:, label] = reference
        values.append(of.gwet_ac2(constant, weights))
    assert of.best_constant_ac2(table, weights) == pytest.approx(max(values), abs=1e-12)


# --- degenerate tables and arrays ---


def test_edge_one_label_only() -> None:
    # edge.2x2.all_same and case UND-01
    table = np.array([[50.0, 0], [0, 0]])
    weights = np.eye(2)
    assert np.isnan([of.weighted_kappa(table, weights), of.weighted_scott_pi(table, weights)]).all()
    assert np.isnan([of.mcc_multiclass(table), of.null_std_error(table, weights)]).all()
    assert np.isnan(of.analytic_std_error(table, weights, "cohen"))
    assert of.gwet_ac2(table, weights) == of.weighted_brennan_prediger(table, weights) == 1
    assert of.analytic_std_error(table, weights, "gwet") == 0


def test_edge_a_constant_rater() -> None:
    # edge.2x2.const_rater: kappa 0, ase 0, AC1 .411764705882353 (.137844873958769), BP .2, pi -.25
    table, weights = np.array([[30.0, 0], [20, 0]]), np.eye(2)
    assert of.weighted_kappa(table, weights) == 0
    assert of.analytic_std_error(table, weights, "cohen") == pytest.approx(0, abs=1e-12)
    assert of.gwet_ac2(table, weights) == pytest.approx(0.411764705882353, abs=1e-8)
    assert of.analytic_std_error(table, weights, "gwet") == pytest.approx(0.137844873958769, abs=1e-8)
    assert of.weighted_scott_pi(table, weights) == pytest.approx(-0.25, abs=1e-8)


@given(hnp.arrays(np.int64, st.integers(2, 5), elements=counts).filter(lambda d: (d > 0).sum() > 1), weight_names)
def test_no_disagreement_is_exactly_one(diagonal, name) -> None:
    table = np.diag(diagonal)
    for coefficient in COEFFICIENTS.values():
        assert coefficient(table, weights_for(table, name)) == 1
    assert of.mcc_multiclass(table) == pytest.approx(1, abs=1e-12)


def test_nothing_is_undefined() -> None:
    table = np.zeros((3, 3))
    for chance, coefficient in COEFFICIENTS.items():
        assert np.isnan(coefficient(table, np.eye(3)))
        assert np.isnan(of.analytic_std_error(table, np.eye(3), chance))
    assert np.isnan([of.mcc_multiclass(table), of.adjacent_agreement(table, range(3))]).all()
    assert np.isnan(of.best_constant_ac2(table, np.eye(3)))


@settings(max_examples=25)
@given(hnp.arrays(np.int64, (2, 2, 3, 3), elements=counts), weight_names)
def test_broadcasting_is_a_loop(stack, name) -> None:
    weights = weights_for(stack, name)
    measures = [lambda t, f=f: f(t, weights) for f in COEFFICIENTS.values()]
    measures += [lambda t, c=c: of.analytic_std_error(t, weights, c) for c in COEFFICIENTS]
    measures += [of.mcc_multiclass, lambda t: of.stuart_maxwell(t).statistic, lambda t: of.null_std_error(t, weights)]
    measures += [lambda t: of.best_constant_ac2(t, weights), lambda t: of.adjacent_agreement(t, range(3))]
    for measure in measures:
        looped = [[measure(stack[a, b]) for b in range(2)] for a in range(2)]
        np.testing.assert_allclose(measure(stack), looped, rtol=1e-12, atol=1e-12)


@given(square, st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_tallies_split_and_added_are_the_whole(table, n_parts, seed) -> None:
    rng = np.random.default_rng(seed)
    parts = np.zeros((n_parts, *table.shape))
    for a, b in itertools.product(range(len(table)), repeat=2):
        parts[:, a, b] = rng.multinomial(table[a, b], np.full(n_parts, 1 / n_parts))
    for coefficient in COEFFICIENTS.values():
        np.testing.assert_array_equal(
            coefficient(parts.sum(axis=0), np.eye(len(table))), coefficient(table, np.eye(len(table)))
        )
