"""Labels are (rated units, raters), -1 where missing; oracles are those of irrCAC, krippendorff and statsmodels."""

import csv
import itertools
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats import agreement, icc
from evenhand.stats import ensembles as of
from evenhand.stats import weighted_agreement as two
from evenhand.stats.weights import agreement_weights

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder (../shared) is absent")


def codes(*rows: str) -> np.ndarray:
    """A digit a rating, a dot where missing."""
    return np.array([[-1 if cell == "." else int(cell) for cell in row] for row in rows])


# data/gwet_raw4raters_missing.csv, gwet_raw5obser_missing.csv, fleiss1971_diagnoses.csv, gwet_distrib6raters.csv,
# krippendorff2011_A.csv and _B.csv of the oracles; the first has labels 1 ... 5, here 0 ... 4, as has the third
RAW4 = codes("00.0", "1121", "2222", "2222", "1111", "0123", "3333", "0010", "1111", ".444", "..00", "..2.")
RAW5 = codes(
    "112.2", "1101.", "2333.", ".00.0", "000.0", "000.0", "102.1", "1.20.", "222.2", "2111.", ".100.", "0000.",
    "1222.", "33223", "111.1",
)  # fmt: skip
DIAGNOSES = codes(
    "444444", "222555", "233335", "555555", "222444", "113333", "333355", "113334", "114444", "555555", "144444",
    "124444", "222333", "144444", "224445", "333335", "111455", "111112", "224444", "133555", "555555", "244444",
    "224555", "114444", "144445", "222224", "111155", "224444", "133333", "555555",
) - 1  # fmt: skip
DISTRIBUTION = np.array(
    [
        [int(cell) for cell in row]
        for row in (
            "00060", "03003", "01401", "00006", "03030", "20400", "00402", "20310", "20040", "00006", "10050", "11040",
            "03300", "10050", "02031",
        )
    ]
)  # fmt: skip
KRIPPENDORFF_A = codes("01", "11", "01", "00", "00", "01", "00", "00", "10", "00")
KRIPPENDORFF_B = codes("12", "11", "22", "22", "42", "33", "33", "33", "55", "44", "44", "14") - 1
COEFFICIENTS = {
    "none": of.percent_agreement,
    "fleiss": of.fleiss_kappa,
    "gwet": of.gwet_ac,
    "uniform": of.brennan_prediger,
    "conger": of.conger_kappa,
}

labels_of_raters = st.tuples(st.integers(2, 9), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(-1, 3))
)
complete_labels = st.tuples(st.integers(2, 9), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 3))
)
binary_labels = st.tuples(st.integers(2, 9), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 1))
)


def each(n: int) -> tuple[np.ndarray, int]:
    """Every rated unit its own unit of resampling."""
    return np.arange(n), n


def units_of(labels: np.ndarray, q: int, chance: str) -> np.ndarray:
    if chance == "conger":
        return of.conger_sums(labels, q, *each(len(labels)))
    return of.profile_sums(of.profiles(labels, q), *each(len(labels)))


def coincidences(labels: np.ndarray, q: int) -> np.ndarray:
    return of.coincidence_sums(of.profiles(labels, q), *each(len(labels)))


def value(labels: np.ndarray, chance: str, weights: np.ndarray) -> float:
    return float(COEFFICIENTS[chance](units_of(labels, len(weights), chance).sum(axis=0), weights))


def alpha(labels: np.ndarray, metric: str, levels) -> float:
    return float(of.krippendorff_alpha(coincidences(labels, len(levels)).sum(axis=0), metric, levels))


@pytest.mark.parametrize(
    ("chance", "labels", "weights", "expected", "se", "tolerance"),
    [
        # *.raw4raters.*, *.raw5obser.*: irrCAC 1.0 = 1.4 = Python irrCAC 0.4.4, printed to five digits
        ("fleiss", RAW4, "identity", 0.76117, 0.15302, 1e-5),
        ("fleiss", RAW4, "linear", 0.81794, 0.1485, 1e-5),
        ("fleiss", RAW4, "quadratic", 0.86494, 0.14603, 1e-5),
        ("fleiss", RAW4, "ordinal", 0.85021, 0.14704, 1e-5),
        ("conger", RAW4, "identity", 0.76282, 0.14917, 1e-5),
        ("conger", RAW4, "linear", 0.81378, 0.14509, 1e-5),
        ("conger", RAW4, "quadratic", 0.85771, 0.14367, 1e-5),
        ("conger", RAW4, "ordinal", 0.84366, 0.1441, 1e-5),
        ("gwet", RAW4, "linear", 0.85874, 0.11733, 1e-5),
        ("gwet", RAW4, "quadratic", 0.914, 0.10396, 1e-5),
        ("gwet", RAW4, "ordinal", 0.89894, 0.1069, 1e-5),
        ("uniform", RAW4, "identity", 0.77273, 0.14472, 1e-5),
        ("uniform", RAW4, "linear", 0.84848, 0.12336, 1e-5),
        ("uniform", RAW4, "quadratic", 0.90152, 0.11089, 1e-5),
        ("uniform", RAW4, "ordinal", 0.88636, 0.11391, 1e-5),
        ("none", RAW4, "identity", 0.818181818181818, 0.12561, 1e-5),
        ("none", RAW4, "linear", 0.939393939393939, 0.09368, 1e-5),
        ("none", RAW4, "ordinal", 0.968181818181818, 0.09086, 1e-5),
        ("fleiss", RAW5, "identity", 0.45762, 0.12045, 1e-5),
        ("fleiss", RAW5, "linear", 0.61185, 0.10974, 1e-5),
        ("fleiss", RAW5, "quadratic", 0.75072, 0.09732, 1e-5),
        ("conger", RAW5, "identity", 0.46927, 0.11666, 1e-5),
        ("conger", RAW5, "linear", 0.62405, 0.10587, 1e-5),
        ("conger", RAW5, "quadratic", 0.76179, 0.0925, 1e-5),
        ("gwet", RAW5, "identity", 0.49662, 0.12197, 1e-5),
        ("gwet", RAW5, "linear", 0.68964, 0.08769, 1e-5),
        ("gwet", RAW5, "quadratic", 0.83043, 0.05825, 1e-5),
        ("gwet", RAW5, "ordinal", 0.78534, 0.06819, 1e-5),
        ("uniform", RAW5, "identity", 0.48741, 0.12089, 1e-5),
        ("uniform", RAW5, "linear", 0.66578, 0.08568, 1e-5),
        ("uniform", RAW5, "quadratic", 0.80622, 0.0586, 1e-5),
        ("uniform", RAW5, "ordinal", 0.75941, 0.06721, 1e-5),
        ("none", RAW5, "identity", 0.615555555555556, 0.09067, 1e-5),
        ("none", RAW5, "linear", 0.860740740740741, 0.0357, 1e-5),
        ("none", RAW5, "quadratic", 0.946172839506173, 0.01628, 1e-5),
        ("none", RAW5, "ordinal", 0.924814814814815, 0.021, 1e-5),
        # *.fleiss1971
        ("gwet", DIAGNOSES, "identity", 0.44788, 0.05566, 1e-5),
        ("uniform", DIAGNOSES, "identity", 0.44444, 0.05512, 1e-5),
        ("none", DIAGNOSES, "identity", 0.555555555555556, 0.0441, 1e-5),
    ],
)
def test_oracles(chance, labels, weights, expected, se, tolerance) -> None:
    q = int(labels.max()) + 1
    first = 0 if labels is RAW5 else 1
    matrix = agreement_weights(weights, np.arange(first, first + q))
    assert value(labels, chance, matrix) == pytest.approx(expected, abs=tolerance)
    units = units_of(labels, q, chance)
    assert of.gwet_std_error(units, np.ones(len(units)), matrix, chance) == pytest.approx(se, abs=tolerance)


def test_oracle_fleiss_1971() -> None:
    # fleiss.fleiss1971, conger.fleiss1971: irr, statsmodels, Fleiss 1971; kappa 1e-9, se_null 1e-8, per_category 5e-4
    units, weights = units_of(DIAGNOSES, 5, "fleiss"), np.eye(5)
    total = units.sum(axis=0)
    assert of.fleiss_kappa(total, weights) == pytest.approx(0.430244520060141, abs=1e-9)
    assert of.fleiss_null_std_error(total, 5, 6) == pytest.approx(0.0243739320994112, abs=1e-8)
    z = of.fleiss_kappa(total, weights) / of.fleiss_null_std_error(total, 5, 6)
    assert z == pytest.approx(17.6518305829914, abs=1e-5)
    assert of.fleiss_kappa_by_label(total, 5) == pytest.approx([0.245, 0.245, 0.52, 0.471, 0.566], abs=5e-4)
    assert of.gwet_std_error(units, np.ones(30), weights, "fleiss") == pytest.approx(0.0542, abs=5e-6)
    assert value(DIAGNOSES, "conger", weights) == pytest.approx(0.441808540329333, abs=1e-9)
    conger = units_of(DIAGNOSES, 5, "conger")
    assert of.gwet_std_error(conger, np.ones(30), weights, "conger") == pytest.approx(0.05079, abs=5e-6)
    # alpha_identity.fleiss1971
    found = alpha(DIAGNOSES, "nominal", range(5))
    assert found == pytest.approx(0.4334098282820291, abs=1e-9)
    assert of.alpha_from_fleiss(of.fleiss_kappa(total, weights), 30 * 6) == pytest.approx(found, abs=1e-12)


def test_oracle_distribution_of_six_raters() -> None:
    # *.distrib6raters: irrCAC 1.0 *.dist, 1e-8
    units, weights = of.profile_sums(DISTRIBUTION, *each(15)), np.eye(5)
    for chance, expected, se in (
        ("fleiss", 0.413926499032882, 0.0811929091959029),
        ("gwet", 0.444800732936326, 0.0841875667743077),
        ("uniform", 0.438888888888889, 0.0831214236875052),
    ):
        assert COEFFICIENTS[chance](units.sum(axis=0), weights) == pytest.approx(expected, abs=1e-8)
        assert of.gwet_std_error(units, np.ones(15), weights, chance) == pytest.approx(se, abs=1e-8)
    pairs = of.coincidence_sums(DISTRIBUTION, *each(15))
    assert of.krippendorff_alpha(pairs.sum(axis=0), "nominal", range(5)) == pytest.approx(0.420438426821406, abs=1e-8)
    # its standard error of alpha there, .0824322761989434, takes the chance term once where the derivative of a
    # quadratic form has it twice; irrCAC's own krippen.alpha.raw has it twice. With complete data ours is Fleiss':
    assert of.krippendorff_std_error(pairs, np.ones(15), "nominal", range(5)) == pytest.approx(
        0.0811929091959029, abs=1e-8
    )
    assert irrcac_alpha_dist_std_error(DISTRIBUTION) == pytest.approx(0.0824322761989434, abs=1e-8)


def irrcac_alpha_dist_std_error(counts: np.ndarray) -> float:
    """What that program computes for complete nominal ratings: the chance term once, agreement with its 1/N."""
    n, m = len(counts), counts[0].sum()
    observed = (counts * (counts - 1)).sum(axis=1) / (m * (m - 1))
    shares = counts.mean(axis=0) / m
    expected, small = (shares**2).sum(), 1 / (n * m)
    corrected = (1 - small) * observed + small
    found = (corrected.mean() - expected) / (1 - expected)
    linear = (corrected - expected) / (1 - expected) - (1 - found) * (counts @ shares / m - expected) / (1 - expected)
    return math.sqrt(((linear - found) ** 2).sum() / (n * (n - 1)))


@pytest.mark.parametrize(
    ("labels", "metric", "first", "expected"),
    [  # kripp.*: krippendorff (Python), irr 0.84.1; Krippendorff 2011 prints .692 for B; 1e-9
        (RAW4, "ordinal", 1, 0.8153875037548814),
        (RAW4, "interval", 1, 0.8491071428571428),
        (RAW4, "ratio", 1, 0.7974027747116121),
        (RAW5, "nominal", 0, 0.48053024026512003),
        (RAW5, "ordinal", 0, 0.7686851594862338),
        (RAW5, "interval", 0, 0.7718648087755707),
        (RAW5, "ratio", 0, 0.6792398972393263),
        (KRIPPENDORFF_B, "nominal", 1, 0.691964285714286),
        # Krippendorff (2011), example A, prints .095: 8 mismatched of 20 values, 14 of one label and 6 of the other
        (KRIPPENDORFF_A, "nominal", 0, 1 - 19 * 8 / 168),
    ],
)
def test_oracle_krippendorff(labels, metric, first, expected) -> None:
    levels = np.arange(first, first + int(labels.max()) + 1)
    assert alpha(labels, metric, levels) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("labels", "weights", "expected", "se_1_0", "se_1_4"),
    [  # krippendorff_alpha_gwet_form.*, krippendorff_alpha.fleiss1971: irrCAC 1.0; 1.4 prints .14548 for the first
        (RAW4, "identity", 0.74342, 0.14557, 0.14548),
        (RAW4, "linear", 0.80038, 0.13548, None),
        (RAW4, "quadratic", 0.84911, 0.12913, None),
        (RAW4, "ordinal", 0.83364, 0.13107, None),
        (RAW5, "identity", 0.48053, 0.11351, None),
        (RAW5, "linear", 0.63521, 0.10005, None),
        (RAW5, "ordinal", 0.72348, 0.09225, None),
        (DIAGNOSES, "identity", 0.43341, 0.0542, 0.0542),
    ],
)
def test_oracle_alpha_with_weights_for_distances(labels, weights, expected, se_1_0, se_1_4) -> None:
    levels = np.arange(int(labels.max()) + 1) + (labels is not RAW5)
    distances = 1 - agreement_weights(weights, levels)
    units = coincidences(labels, len(levels))
    assert of.krippendorff_alpha(units.sum(axis=0), distances, levels) == pytest.approx(expected, abs=1e-5)
    if se_1_4 is not None:
        found = of.krippendorff_std_error(units, np.ones(len(units)), distances, levels)
        assert found == pytest.approx(se_1_4, abs=1e-5)
    assert irrcac_1_0_alpha_std_error(units, distances) == pytest.approx(se_1_0, abs=1e-5)


def irrcac_1_0_alpha_std_error(units: np.ndarray, distances: np.ndarray) -> float:
    """irrCAC 1.0 centres unequal units on the agreement that already has its 1/N; 1.4 and we do not."""
    units = units[units.any(axis=1)]
    q = len(distances)
    a, b = np.triu_indices(q)
    size = units.sum(axis=1)
    mean_size, n = size.mean(), len(units)
    marginal = units @ ((np.eye(q)[a] + np.eye(q)[b]) / 2)
    shares = marginal.sum(axis=0) / size.sum()
    agreement_of = units @ (1 - distances[a, b]) / mean_size
    plain, expected = agreement_of.mean(), shares @ (1 - distances) @ shares
    corrected = (1 - 1 / size.sum()) * plain + 1 / size.sum()
    off = (size - mean_size) / mean_size
    alpha_plain = (plain - expected) / (1 - expected)
    chance = marginal @ (1 - distances) @ shares / mean_size - expected * off
    linear = (agreement_of - corrected * off - expected) / (1 - expected)
    linear -= 2 * (1 - alpha_plain) * (chance - expected) / (1 - expected)
    return math.sqrt(((linear - alpha_plain) ** 2).sum() / (n * (n - 1)))


@pytest.mark.parametrize(
    ("table", "metric", "expected"),
    [  # krippendorff_alpha_2raters.*: irrCAC 1.0 krippen2.table, 1e-8; edge.2x2.const_rater
        ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], "linear", 0.492601156069364),
        ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], "interval", 0.567148817802504),
        ([[13, 0, 0], [0, 20, 7], [0, 4, 56]], "nominal", 0.797258497730852),
        ([[13, 0, 0], [0, 20, 7], [0, 4, 56]], "linear", 0.843586995355484),
        ([[13, 0, 0], [0, 20, 7], [0, 4, 56]], "interval", 0.892648717571478),
        ([[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]], "nominal", 0.431617820600036),
        ([[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]], "linear", 0.406883925302087),
        ([[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]], "interval", 0.383415947855275),
        (
            [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]],
            "nominal",
            0.595387720505675,
        ),
        (
            [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]],
            "interval",
            0.702283359859041,
        ),
        ([[30, 0], [20, 0]], "nominal", -0.2375),
        ([[30, 0], [0, 20]], "nominal", 1.0),
    ],
)
def test_oracle_alpha_of_two_raters(table, metric, expected) -> None:
    levels = np.arange(1, len(table) + 1)
    distances = 1 - agreement_weights("linear", levels) if metric == "linear" else metric
    pairs = of.coincidences_of_tables(np.array(table, dtype=float))
    assert of.krippendorff_alpha(pairs, distances, levels) == pytest.approx(expected, abs=1e-8)


# --- by hand ---


def test_profiles_and_tallies_by_hand() -> None:
    # ratings a a b, a b, b and none: pairs aa, ab, bb (both orders) of unit 1: 2, 4, 0; of unit 2: 0, 2, 0
    labels = codes("001", "01.", "1..", "...")
    counts = of.profiles(labels, 2)
    assert counts.tolist() == [[2, 1], [1, 1], [0, 1], [0, 0]]
    group, n_groups = np.array([0, 0, 1, 1]), 2
    assert of.coincidence_sums(counts, group, n_groups).tolist() == [[2 / 2 + 0, 4 / 2 + 2, 0], [0, 0, 0]]
    shares = of.profile_sums(counts, group, n_groups)
    assert shares[0] == pytest.approx([2 / 6, 4 / 6 + 1, 0, 2 / 3 + 1 / 2, 1 / 3 + 1 / 2])
    assert shares[1].tolist() == [0, 0, 0, 0, 1]
    conger = of.conger_sums(labels, 2, group, n_groups)
    assert conger[:, 3:].tolist() == [[2, 0, 1, 1, 0, 1], [0, 1, 0, 0, 0, 0]]
    twice = of.profile_sums(counts, group, n_groups, np.full(4, 2))
    np.testing.assert_allclose(twice, 2 * shares)


def test_coefficients_by_hand() -> None:
    # units aaa and aab: pair agreement 1 and 1/3, mean 2/3; shares of a 1 and 2/3, mean 5/6
    labels, weights = codes("000", "001"), np.eye(2)
    assert value(labels, "none", weights) == pytest.approx(2 / 3, abs=1e-15)
    chance = (25 + 1) / 36
    assert value(labels, "fleiss", weights) == pytest.approx((2 / 3 - chance) / (1 - chance), abs=1e-15)
    assert value(labels, "gwet", weights) == pytest.approx((2 / 3 - 10 / 36) / (1 - 10 / 36), abs=1e-15)
    assert value(labels, "uniform", weights) == pytest.approx((2 / 3 - 1 / 2) / (1 / 2), abs=1e-15)
    # raters' own shares of a: 1, 1, 1/2; pairs of raters agree by chance 1, 1/2, 1/2
    assert value(labels, "conger", weights) == pytest.approx((2 / 3 - 2 / 3) / (1 / 3), abs=1e-15)
    # alpha: 6 ratings, 5 a and 1 b; coincidences off the diagonal 2 · 2/2 = 2: 1 - 5·2/(2·5·1)
    assert alpha(labels, "nominal", [0, 1]) == pytest.approx(0, abs=1e-15)


# --- shared cases, numbers written out ---


def test_case_und_01_one_label_only() -> None:
    labels = np.zeros((8, 2), dtype=int)
    assert value(labels, "none", np.eye(2)) == value(labels, "gwet", np.eye(2)) == 1
    assert np.isnan([value(labels, "fleiss", np.eye(2)), value(labels, "conger", np.eye(2))]).all()
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        assert math.isnan(alpha(labels, metric, [1, 2]))


def test_case_und_03_zero_and_negative_are_values() -> None:
    labels = np.zeros((20, 2), dtype=int)
    labels[7, 1] = 1
    assert alpha(labels, "nominal", [0, 1]) == 0
    assert value(labels, "gwet", np.eye(2)) == pytest.approx(0.947438, abs=5e-7)
    assert alpha(codes("01", "10", "01"), "nominal", [0, 1]) == pytest.approx(-2 / 3, abs=1e-12)


def test_case_num_02_different_numbers_of_raters() -> None:
    labels = codes("0001", "00..", "111.", "01..", "2222", "212.", "0...", "11..", "220.")
    assert value(labels, "fleiss", np.eye(3)) == pytest.approx(0.460846, abs=5e-7)
    assert alpha(labels, "nominal", range(3)) == pytest.approx(0.5, abs=5e-7)
    assert value(labels, "gwet", np.eye(3)) == pytest.approx(0.472616, abs=5e-7)


def test_case_num_03_rows_are_units() -> None:
    labels = codes("1121", "3332", "5455", "2222", "4544", "3343") - 1
    levels = range(1, 6)
    assert alpha(labels, "interval", levels) == pytest.approx(0.877005, abs=5e-7)
    assert alpha(labels, "ordinal", levels) == pytest.approx(0.889155, abs=5e-7)
    assert value(labels, "fleiss", np.eye(5)) == pytest.approx(0.471366, abs=5e-7)
    assert alpha(labels.T, "interval", levels) == pytest.approx(-0.1266, abs=5e-5)


def test_case_cat_01_ordinal_alpha() -> None:
    labels = codes("00", "01", "11", "12", "22", "22", "00", "11", "21", "00", "10", "22")
    assert alpha(labels, "ordinal", range(3)) == pytest.approx(0.760417, abs=5e-7)


def test_case_cat_04_declared_labels_count_where_they_should() -> None:
    labels = codes("000", "001", "111", "222", "022", "333", "110", "000", "332", "000")
    for q, ac1, bp in ((5, 0.676332, 2 / 3), (4, 0.6515, 0.6444)):
        digits = 5e-7 if q == 5 else 5e-5
        assert value(labels, "gwet", np.eye(q)) == pytest.approx(ac1, abs=digits)
        assert value(labels, "uniform", np.eye(q)) == pytest.approx(bp, abs=digits)
        assert value(labels, "fleiss", np.eye(q)) == pytest.approx(0.621451, abs=5e-7)
        assert alpha(labels, "nominal", range(q)) == pytest.approx(0.634069, abs=5e-7)


UNC_05 = codes(
    "1111", "1112", "2222", "1122", "1111", "3333", "1131", "2221", "1111", "3331", "1111", "2222", "1211", "1111",
    "3333",
) - 1  # fmt: skip


def test_case_unc_05_which_standard_error() -> None:
    units, weights = units_of(UNC_05, 3, "fleiss"), np.eye(3)
    total = units.sum(axis=0)
    assert of.fleiss_kappa(total, weights) == pytest.approx(0.645191, abs=5e-7)
    assert of.gwet_std_error(units, np.ones(15), weights, "fleiss") == pytest.approx(0.124774, abs=5e-7)
    assert of.fleiss_null_std_error(total, 3, 4) == pytest.approx(0.077023, abs=5e-7)
    left_out = of.fleiss_kappa(total - units, weights)
    jackknife = math.sqrt(14 / 15 * ((left_out - left_out.mean()) ** 2).sum())
    assert jackknife == pytest.approx(0.130512, abs=5e-7)


def test_case_pwx_03_even_splits_are_undecided() -> None:
    labels = codes("110.", "10..", "0011", "111.", "0.1.", "00..", "..1.", "100.")
    gold = np.array([1, 1, 1, 1, 0, 0, 1, 0])
    found = of.majority(of.profiles(labels, 2))
    assert found.tolist() == [1, of.UNDECIDED, of.UNDECIDED, 1, of.UNDECIDED, 0, 1, 0]
    decided = found != of.UNDECIDED
    assert (found[decided] == gold[decided]).all()
    assert of.majority(of.profiles(labels, 2), quorum=2)[6] == of.UNDECIDED
    assert of.majority(np.zeros((1, 2)))[0] == of.UNDECIDED


# --- published values ---


@needs_shared
def test_published_menagerie() -> None:
    """Ordinal alpha (28 cells, 6 digits) and AC2 with ordinal weights (28 cells, 5 digits)."""
    folder = SHARED / "menagerie_java_grading"
    letters = ["A++", "A+", "A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D", "D-", "F"]
    graded = defaultdict(lambda: defaultdict(list))
    with (folder / "grades.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["grade"] in letters and float(row["assignment_number"] or "nan") != 105:
                start = (int(row["participant_id"]) - 1) // 4 * 4 + 1
                cell = f"{start}-{start + 3}", row["skill"]
                graded[cell][row["assignment_number"]].append(letters.index(row["grade"]))
    weights, levels = agreement_weights("ordinal", range(14)), range(14)
    n_seen = 0
    with (folder / "published_reliability.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            units = graded[row["group"], row["skill"]].values()
            counts = np.array([np.bincount(grades, minlength=14) for grades in units], dtype=float)
            if row["statistic"] == "krippendorff_alpha_ordinal":
                found = of.krippendorff_alpha(of.coincidence_sums(counts, *each(len(counts))).sum(0), "ordinal", levels)
                digits = 5.0001e-7
            else:
                used = np.flatnonzero(counts.sum(axis=0))  # its irrCAC took the observed letters for the scale
                weights = agreement_weights("ordinal", range(len(used)))
                found = of.gwet_ac(of.profile_sums(counts[:, used], *each(len(counts))).sum(0), weights)
                digits = 5.0001e-6
            assert found == pytest.approx(float(row["value"]), abs=digits), row
            n_seen += 1
    assert n_seen == 56


@needs_shared
@pytest.mark.parametrize(
    ("model", "percent", "kappa"),
    [
        ("llama2orig", 96.4, 0.93),
        ("llama2new", 95.8, 0.93),
        ("mistralinstruct", 97.6, 0.92),
        ("mistralguard", 93.8, 0.89),
        ("gpt4", 98.4, 0.97),
    ],
)
def test_published_xstest(model, percent, kappa) -> None:
    with (SHARED / "xstest" / "labels.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["model"] == model]
    labels = np.array([[int(row[f"annotation_{rater}"][0]) - 1 for rater in (1, 2)] for row in rows])
    assert 100 * value(labels, "none", np.eye(3)) == pytest.approx(percent, abs=0.05)
    assert value(labels, "fleiss", np.eye(3)) == pytest.approx(kappa, abs=0.005)


# --- identities and symmetries ---


@given(labels_of_raters)
def test_alpha_is_one_less_the_ratio_of_mean_distances(labels) -> None:
    """Krippendorff's definition by loops over pairs of ratings."""
    levels = np.array([1, 2, 3, 5])
    units = [levels[row[row >= 0]] for row in labels if (row >= 0).sum() > 1]
    pooled = np.concatenate(units) if units else np.zeros(0)
    margins = np.array([(pooled == level).sum() for level in levels])
    middle = dict(zip(levels.tolist(), (np.cumsum(margins) - margins / 2).tolist(), strict=True))
    metrics = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": lambda a, b: (middle[int(a)] - middle[int(b)]) ** 2,
        "interval": lambda a, b: float(a - b) ** 2,
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2,
    }
    for metric, distance in metrics.items():
        observed = sum(
            sum(distance(a, b) for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units
        )
        expected = sum(distance(a, b) for a, b in itertools.permutations(pooled, 2))
        found = alpha(labels, metric, levels)
        if expected == 0:
            assert math.isnan(found)
        else:
            assert found == pytest.approx(1 - (len(pooled) - 1) * observed / expected, abs=1e-9)


@given(labels_of_raters)
def test_interval_alpha_from_moments(labels) -> None:
    levels = np.array([1, 2, 3, 5])
    values = np.where(labels >= 0, levels[np.maximum(labels, 0)], 0)
    columns = (labels >= 0).sum(axis=1), values.sum(axis=1), (values**2).sum(axis=1)
    sums = icc.interval_sums(*columns, *each(len(labels)))
    np.testing.assert_allclose(
        icc.krippendorff_alpha_interval(sums.sum(axis=0)), alpha(labels, "interval", levels), atol=1e-9
    )


@given(complete_labels)
def test_nominal_alpha_of_complete_ratings_is_fleiss_and_a_bit(labels) -> None:
    # Rao and Callison-Burch 2026, eq. 16
    fleiss = value(labels, "fleiss", np.eye(4))
    np.testing.assert_allclose(
        alpha(labels, "nominal", range(4)), of.alpha_from_fleiss(np.asarray(fleiss), labels.size), atol=1e-12
    )


@given(complete_labels)
def test_pairs_of_raters_make_up_conger_and_percent_agreement(labels) -> None:
    tables = of.pair_tables(labels, 4, *each(len(labels))).sum(axis=0)
    observed = agreement.observed_agreement(tables).mean()
    expected = agreement.cohen_chance(tables).mean()
    assert value(labels, "none", np.eye(4)) == pytest.approx(observed, abs=1e-12)
    assume(expected < 1 - 1e-9)
    assert value(labels, "conger", np.eye(4)) == pytest.approx((observed - expected) / (1 - expected), abs=1e-9)


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 12), st.just(2)), elements=st.integers(0, 2)))
def test_two_complete_raters_are_the_coefficients_of_their_table(labels) -> None:
    table = of.pair_tables(labels, 3, *each(len(labels))).sum(axis=0)[0]
    weights = agreement_weights("quadratic", range(3))
    for chance, coefficient in (
        ("none", two.weighted_observed_agreement),
        ("fleiss", two.weighted_scott_pi),
        ("gwet", two.gwet_ac2),
        ("uniform", two.weighted_brennan_prediger),
        ("conger", two.weighted_kappa),
    ):
        np.testing.assert_allclose(value(labels, chance, weights), coefficient(table, weights), atol=1e-9)
    np.testing.assert_allclose(coincidences(labels, 3).sum(axis=0), of.coincidences_of_tables(table))


@given(binary_labels)
def test_mean_pairwise_phi_is_the_mean_correlation(labels) -> None:
    tables = of.pair_tables(labels, 2, *each(len(labels))).sum(axis=0)
    varies = labels.std(axis=0) > 0
    pairs = np.array([varies[a] and varies[b] for a, b in of.rater_pairs(labels.shape[1])])
    found = of.mean_pairwise_phi(tables, pairs)
    if not pairs.any():
        assert np.isnan(found)
        return
    correlations = np.corrcoef(labels[:, varies].T)
    assert found == pytest.approx(correlations[np.triu_indices(len(correlations), 1)].mean(), abs=1e-9)
    assert np.isnan(of.mean_pairwise_phi(tables)) == (not pairs.all())


@given(labels_of_raters, st.randoms(use_true_random=False))
def test_order_of_raters_units_and_nominal_labels_does_not_matter(labels, random) -> None:
    units, raters, names = (list(range(size)) for size in (*labels.shape, 4))
    for order in (units, raters, names):
        random.shuffle(order)
    moved = np.where(labels >= 0, np.array(names)[np.maximum(labels, 0)], -1)[np.ix_(units, raters)]
    for chance in COEFFICIENTS:
        np.testing.assert_allclose(value(moved, chance, np.eye(4)), value(labels, chance, np.eye(4)), atol=1e-9)
    np.testing.assert_allclose(alpha(moved, "nominal", range(4)), alpha(labels, "nominal", range(4)), atol=1e-9)
    ordered = labels[np.ix_(units, raters)]
    np.testing.assert_allclose(alpha(ordered, "ordinal", range(4)), alpha(labels, "ordinal", range(4)), atol=1e-9)


@given(labels_of_raters, st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_tallies_of_groups_add_up_to_those_of_units(labels, n_groups, seed) -> None:
    group = np.random.default_rng(seed).integers(0, n_groups, len(labels))
    counts = of.profiles(labels, 4)
    for found, single in (
        (of.profile_sums(counts, group, n_groups), units_of(labels, 4, "fleiss")),
        (of.conger_sums(labels, 4, group, n_groups), units_of(labels, 4, "conger")),
        (of.coincidence_sums(counts, group, n_groups), coincidences(labels, 4)),
        (of.pair_tables(labels, 4, group, n_groups), of.pair_tables(labels, 4, *each(len(labels)))),
    ):
        np.testing.assert_allclose(found.sum(axis=0), single.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(found[0], single[group == 0].sum(axis=0), atol=1e-12)


@settings(max_examples=25)
@given(labels_of_raters)
def test_broadcasting_is_a_loop(labels) -> None:
    weights = agreement_weights("linear", range(4))
    for chance, coefficient in COEFFICIENTS.items():
        units = units_of(labels, 4, chance)
        stack = np.stack([units, units.sum(axis=0) - units])
        looped = [[coefficient(row, weights) for row in rows] for rows in stack]
        np.testing.assert_allclose(coefficient(stack, weights), looped, atol=1e-12)
    units = coincidences(labels, 4)
    stack = np.stack([units, units.sum(axis=0) - units])
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        looped = [[of.krippendorff_alpha(row, metric, [1, 2, 3, 5]) for row in rows] for rows in stack]
        np.testing.assert_allclose(of.krippendorff_alpha(stack, metric, [1, 2, 3, 5]), looped, atol=1e-9)


@given(complete_labels)
def test_repeated_profiles_are_counted_not_copied(labels) -> None:
    counts = of.profiles(labels, 4)
    distinct, repeats = np.unique(counts, axis=0, return_counts=True)
    assume(len(distinct) > 1)
    for tally in (of.profile_sums, of.coincidence_sums):
        once = tally(distinct, np.zeros(len(distinct), dtype=int), 1, repeats)
        np.testing.assert_allclose(once, tally(counts, np.zeros(len(counts), dtype=int), 1), atol=1e-12)
    rows, times = np.unique(labels, axis=0, return_counts=True)
    group, whole = np.zeros(len(rows), dtype=int), np.zeros(len(labels), dtype=int)
    for tally in (of.conger_sums, of.pair_tables):
        np.testing.assert_allclose(tally(rows, 4, group, 1, times), tally(labels, 4, whole, 1), atol=1e-12)
    few, all_ = of.profile_sums(distinct, *each(len(distinct))), of.profile_sums(counts, *each(len(counts)))
    np.testing.assert_allclose(
        of.gwet_std_error(few, repeats, np.eye(4), "gwet"),
        of.gwet_std_error(all_, np.ones(len(all_)), np.eye(4), "gwet"),
        atol=1e-9,
    )


# --- degenerate ratings ---


def test_nothing_and_single_ratings_are_undefined() -> None:
    for labels in (codes("...", "..."), codes("0..", ".1.")):
        for chance in COEFFICIENTS:
            assert math.isnan(value(labels, chance, np.eye(2)))
        assert math.isnan(alpha(labels, "ordinal", [0, 1]))
        units = units_of(labels, 2, "fleiss")
        assert math.isnan(of.gwet_std_error(units, np.ones(2), np.eye(2), "fleiss"))
        assert math.isnan(of.krippendorff_std_error(coincidences(labels, 2), np.ones(2), "nominal", [0, 1]))
    one_unit = units_of(codes("01"), 2, "fleiss")
    assert math.isnan(of.gwet_std_error(one_unit, np.ones(1), np.eye(2), "fleiss"))


def test_a_rater_without_ratings_has_no_margin() -> None:
    assert math.isnan(value(codes("00.", "01."), "conger", np.eye(2)))
    assert math.isnan(value(codes("0", "1"), "conger", np.eye(2)))


def test_no_disagreement_is_exactly_one() -> None:
    labels = codes("000", "11.", "22.", "111")
    for chance in COEFFICIENTS:
        assert value(labels, chance, agreement_weights("quadratic", range(3))) == 1
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        assert alpha(labels, metric, [1, 2, 3]) == 1


@pytest.mark.parametrize(
    ("chance", "labels", "expected"),
    [  # the pe of *.raw4raters.unweighted and *.raw5obser.unweighted: irrCAC 1.0
        ("fleiss", RAW4, 0.238715277777778),
        ("conger", RAW4, 0.233425160697888),
        ("uniform", RAW4, 0.2),
        ("none", RAW4, 0.0),
        ("fleiss", RAW5, 0.291187654320988),
        ("gwet", RAW5, 0.236270781893004),
        ("conger", RAW5, 0.275625),
    ],
)
def test_oracle_chance(chance, labels, expected) -> None:
    q = int(labels.max()) + 1
    total = units_of(labels, q, chance).sum(axis=0)
    assert of.chance_agreement(total, np.eye(q), chance) == pytest.approx(expected, abs=1e-12)


def test_effective_judges_by_hand() -> None:
    # six judges with correlation .4: 6/(1 + 5·.4) = 2
    assert of.effective_judges(np.array([0.4, 0.0, 1.0, -0.2]), 6).tolist()[:3] == [2, 6, 1]
    assert np.isnan(of.effective_judges(np.array(-0.2), 6))
    assert of.pair_tables(codes("0", "1"), 2, *each(2)).shape == (2, 0, 2, 2)
    assert np.isnan(of.mean_pairwise_kappa(np.zeros((0, 2, 2))))


def test_light_s_kappa_by_hand() -> None:
    # raters 1 and 2 agree on all four, rater 3 on half by chance: kappas 1, 0, 0
    labels = codes("000", "001", "110", "111")
    tables = of.pair_tables(labels, 2, *each(4)).sum(axis=0)
    assert of.mean_pairwise_kappa(tables) == pytest.approx(1 / 3, abs=1e-15)
