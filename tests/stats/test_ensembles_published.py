"""Ensemble coefficients against other programs, published values and shared cases.

Labels are (rated units, raters), -1 where missing; oracles are those of irrCAC, krippendorff and statsmodels.
"""

import csv
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from ensemble_samples import (
    COEFFICIENTS,
    DIAGNOSES,
    DISTRIBUTION,
    KRIPPENDORFF_A,
    KRIPPENDORFF_B,
    RAW4,
    RAW5,
    alpha,
    codes,
    coincidences,
    each,
    units_of,
    value,
)

from evenhand.stats import ensembles as of
from evenhand.stats.weights import agreement_weights

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder (../shared) is absent")


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
