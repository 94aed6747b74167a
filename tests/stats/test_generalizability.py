import csv
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.anova import analyse
from evenhand.stats.anova_design import Design
from evenhand.stats.generalizability import (
    VarianceComponents,
    absolute_error_variance,
    d_study,
    dependability_coefficient,
    generalizability_coefficient,
    mean_squares,
    nested_components,
    nested_sums,
    phi_lambda,
    relative_error_variance,
    reliability_of_mean,
    variance_components,
)
from evenhand.stats.internal_consistency import Moments, kr20, moments


def bank_side(side):
    with (files("evenhand.data") / "zhu_bank.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["judge_1"]]
    return np.array([[int(row[f"{side}_{j}"]) for j in range(1, 11)] for row in rows])


# Brennan (2001), synthetic data set 1: 10 persons, 12 items
SYNTHETIC_1 = np.array(
    [
        [int(cell) for cell in row]
        for row in (
            "101000000000", "111001000000", "111110000000", "110110010000", "111110100000",
            "111011100000", "111111100000", "111101111100", "111111111110", "111111111111",
        )
    ]
)  # fmt: skip

tables = hnp.arrays(np.int64, st.tuples(st.integers(1, 9), st.integers(1, 6)), elements=st.integers(-3, 3))


def parts(components):
    return [components.response, components.criterion, components.residual]


def test_components_by_hand():
    # rows 11, 10, 00: grand mean 1/2, SS_p = 2 (1/4 + 0 + 1/4) = 1, SS_i = 3 (1/36 + 1/36) = 1/6, SS total = 3/2
    # SS_pi = 1/3; df 2, 1, 2: MS 1/2, 1/6, 1/6; components (1/2 - 1/6)/2 = 1/6, 0, 1/6
    sums = moments(np.array([[1, 1], [1, 0], [0, 0]]))
    assert parts(mean_squares(sums)) == pytest.approx([1 / 2, 1 / 6, 1 / 6], abs=1e-15)
    components = variance_components(sums)
    assert parts(components) == pytest.approx([1 / 6, 0, 1 / 6], abs=1e-15)
    assert absolute_error_variance(components, 2) == pytest.approx(1 / 12, abs=1e-15)
    assert relative_error_variance(components, 4) == pytest.approx(1 / 24, abs=1e-15)
    # cut 0: lambda 0; var of the grand mean (1/6 + 1/12)/3 = 1/12; signal 1/6 + 1/4 - 1/12 = 1/3; 1/3 / (1/3 + 1/12)
    assert phi_lambda(sums, 0) == pytest.approx(4 / 5, abs=1e-15)
    # cut 1 is the grand mean: signal 1/12, half of 1/12 + 1/12
    assert phi_lambda(sums, 1) == pytest.approx(1 / 2, abs=1e-15)


def test_negative_components_are_truncated_for_use_only():
    # rows 10, 01: SS_p = SS_i = 0, SS_pi = 1 on 1 df; raw -1/2, -1/2, 1
    sums = moments(np.eye(2))
    raw = variance_components(sums)
    assert parts(raw) == pytest.approx([-1 / 2, -1 / 2, 1], abs=1e-15)
    assert parts(raw.truncated()) == pytest.approx([0, 0, 1], abs=1e-15)
    # cut at the mean: signal 0 - 1/4, error 1/2: a negative value is a result
    assert phi_lambda(sums, 1) == pytest.approx(-1, abs=1e-15)


def test_oracle_brennan_synthetic_1():
    # oracles gstudy.syn1 and gstudy.syn1.dstudy: Brennan 2001, R anova, lme4 1.1.31
    sums = moments(SYNTHETIC_1)
    components = variance_components(sums)
    assert parts(components) == pytest.approx([0.0574074074074074, 0.07542087542087542, 0.12685185185185185], abs=1e-9)
    for n_criteria, relative, absolute in (
        (12, 0.844494892167991, 0.7730235194105979),
        (5, 0.6935123042505593, 0.5866162050576295),
        (10, 0.8190224570673712, 0.7394557085547002),
        (15, 0.8716026241799438, 0.8097838993113275),
        (20, 0.9005083514887438, 0.8502150470610236),
    ):
        assert generalizability_coefficient(components, n_criteria) == pytest.approx(relative, abs=1e-9)
        assert dependability_coefficient(components, n_criteria) == pytest.approx(absolute, abs=1e-9)
    # oracle phi_lambda.syn1: R anova and Brennan's estimator, lambda .3 ... .9
    expected = [
        0.868226236304412, 0.804567413263066, 0.73900293255132, 0.73208910295003,
        0.792540792540793, 0.859043395628762, 0.905258675750479,
    ]  # fmt: skip
    assert phi_lambda(sums, 12 * np.arange(0.3, 0.95, 0.1)) == pytest.approx(expected, abs=1e-9)


def test_oracle_bank():
    # oracle phi_lambda.zhu: R anova and Brennan; Zhu 2026 prints .741 .600 .516 .608 / .676 .543 .541 .673
    judge, reference = moments(bank_side("judge")), moments(bank_side("gold"))
    cuts = [4, 5, 6, 7]
    assert phi_lambda(judge, cuts) == pytest.approx(
        [0.740740740740741, 0.600385881284757, 0.516412580689465, 0.608386163941719], abs=1e-9
    )
    assert phi_lambda(reference, cuts) == pytest.approx(
        [0.67640011039672, 0.542850949608065, 0.540768266007191, 0.673253271924079], abs=1e-9
    )
    assert phi_lambda(reference, cuts, truncate=False) == pytest.approx(
        [0.67736757624398, 0.544217687074829, 0.542141230068336, 0.674230145867098], abs=1e-9
    )
    # components: CONVENTIONS A.10, whose judge residual .2173306 is a slip for .21733051 (exact fractions agree)
    assert parts(variance_components(judge)) == pytest.approx([0.0234547, 0.00001517, 0.2173305], abs=5e-8)
    assert parts(variance_components(reference)) == pytest.approx([0.0242465, -0.0006697, 0.2240030], abs=5e-8)
    assert variance_components(reference).criterion == pytest.approx(-0.000669701, abs=5e-10)


@given(tables)
def test_components_equal_the_textbook_sums_of_squares(rows):
    n, K = rows.shape
    got = parts(variance_components(moments(rows)))
    if min(n, K) < 2:
        assert np.isnan(got).all()
        return
    grand, by_row, by_column = rows.mean(), rows.mean(axis=1), rows.mean(axis=0)
    left = rows - by_row[:, None] - by_column + grand
    residual = np.sum(left**2) / ((n - 1) * (K - 1))
    row = (K * np.sum((by_row - grand) ** 2) / (n - 1) - residual) / K
    column = (n * np.sum((by_column - grand) ** 2) / (K - 1) - residual) / n
    assert got == pytest.approx([row, column, residual], abs=1e-10)


@given(hnp.arrays(np.int64, (8, 5), elements=st.integers(0, 1)))
def test_relative_coefficient_is_kr20(rows):
    # Hoyt (1941): with the table's own K, E rho squared from the raw components is alpha
    alpha = kr20(moments(rows), variance="n")
    coefficient = generalizability_coefficient(variance_components(moments(rows)), 5)
    assert coefficient == pytest.approx(float(alpha), abs=1e-9, nan_ok=True)


@given(hnp.arrays(np.int64, (2, 3, 6, 4), elements=st.integers(0, 1)))
def test_broadcasting_equals_a_loop(rows):
    cuts = np.array([[1.0, 2.5], [3.0, 4.0]])
    together = phi_lambda(moments(rows), cuts)
    assert together.shape == (2, 3, 2, 2)
    for index in np.ndindex(2, 3):
        for cell in np.ndindex(2, 2):
            one = phi_lambda(moments(rows[index]), cuts[cell])
            assert together[(*index, *cell)] == pytest.approx(float(one), abs=1e-13, nan_ok=True)


@given(hnp.arrays(np.int64, (7, 4), elements=st.integers(0, 1)), st.integers(0, 4))
def test_order_does_not_matter_and_the_mirror_image_agrees(rows, cut):
    value = float(phi_lambda(moments(rows), cut))
    assert phi_lambda(moments(rows[::-1, ::-1]), cut) == pytest.approx(value, abs=1e-12, nan_ok=True)
    assert phi_lambda(moments(1 - rows), 4 - cut) == pytest.approx(value, abs=1e-12, nan_ok=True)


def test_value_square_sum_may_be_left_out_for_binary_values():
    full = moments(SYNTHETIC_1)
    short = Moments(full.n, full.item_sums, full.total_square_sum)
    assert parts(variance_components(short)) == parts(variance_components(full))


@pytest.mark.parametrize("rows", [np.zeros((0, 3)), np.ones((1, 3)), np.eye(4)[:, :1]])
def test_too_small_tables_are_undefined_and_silent(rows):
    assert np.isnan(parts(variance_components(moments(rows)))).all()
    assert np.isnan(phi_lambda(moments(rows), [1, 2])).all()


def test_equal_responses():
    # all responses 11: no variance at all. On the cut 0/0; off the cut the distance is all there is.
    sums = moments(np.ones((5, 2)))
    assert np.isnan(phi_lambda(sums, 2))
    assert phi_lambda(sums, 1) == 1
    assert np.isnan(dependability_coefficient(VarianceComponents(*np.zeros((3, 1))), 2)).all()


# decision studies of any design


def test_a_decision_study_by_hand():
    # p 4, i 1, o 1, p*i 2, p*o 2, i*o 1, residual 4; means over 2 items and 2 occasions
    design = Design.parse("p x i x o")
    parts = np.array([4.0, 1, 1, 2, 2, 1, 4])
    found = d_study(design, parts, "p", {"i": 2, "o": 2})
    assert (found.universe, found.relative, found.absolute) == (4, 3, 4.25)
    assert found.generalizability == pytest.approx(4 / 7)
    assert found.dependability == pytest.approx(4 / 8.25)
    assert found.sem == pytest.approx(4.25**0.5)
    assert found.relative_sem == pytest.approx(3**0.5)
    fixed = d_study(design, parts, "p", {"i": 2, "o": 2}, fixed=("i",))
    assert (fixed.universe, fixed.relative, fixed.absolute) == (5, 2, 2.75)


def test_what_the_object_is_nested_in_is_measured_with_it():
    # responses within clusters: cluster and response are no error, lines within clusters are of its level
    design = Design.parse("(p x i):q")
    parts = dict(zip((term.name for term in design.terms), range(1, 5), strict=True))
    found = d_study(design, np.array(list(parts.values()), dtype=float), "p", {"i": 2})
    assert found.universe == parts["p:q"]
    assert found.relative == parts["p*i:q"] / 2
    assert found.absolute == (parts["i:q"] + parts["p*i:q"]) / 2


def test_negative_components_count_as_0_unless_they_are_wanted_raw():
    design = Design.parse("p x i")
    assert d_study(design, np.array([1.0, -1, 1]), "p", {"i": 2}).dependability == pytest.approx(2 / 3)
    assert d_study(design, np.array([1.0, -1, 1]), "p", {"i": 2}, truncate=False).dependability == 1


@pytest.mark.parametrize("conditions", [{}, {"i": 0}, {"o": 3}])
def test_a_facet_without_its_number_is_refused(conditions):
    with pytest.raises(ValueError, match="how many conditions of i"):
        d_study(Design.parse("p x i"), np.ones(3), "p", conditions)


@given(hnp.arrays(np.int64, (6, 4), elements=st.integers(0, 1)), st.integers(1, 9))
def test_the_two_ways_to_a_coefficient_agree(rows, n):
    found = variance_components(moments(rows))
    study = d_study(Design.crossed(("p", "i")), np.array(parts(found.truncated())), "p", {"i": n})
    assert study.dependability == pytest.approx(
        float(dependability_coefficient(found.truncated(), n)), abs=1e-12, nan_ok=True
    )
    one = d_study(Design.crossed(("p", "i")), np.array(parts(found)), "p", {"i": 1}).generalizability
    averaged = d_study(Design.crossed(("p", "i")), np.array(parts(found)), "p", {"i": n}).generalizability
    assert reliability_of_mean(one, n) == pytest.approx(float(averaged), abs=1e-12, nan_ok=True)


def test_oracle_grader_spearman_brown():
    assert reliability_of_mean(0.75, 2) == pytest.approx(0.8571428571, abs=1e-9)


# responses and lines within clusters


def test_nested_components_of_the_bank():
    # statistics section 7: sigma2(i:q) .0080 on the judge and .0005 on the reference; Henderson's method I over the layout
    with (files("evenhand.data") / "zhu_bank.csv").open(encoding="utf-8") as lines:
        names = [row["cluster_id"] for row in csv.DictReader(lines) if row["judge_1"]]
    clusters, cluster = np.unique(names, return_inverse=True)
    for side, line in (("judge", 0.0079787), ("gold", 0.0005313)):
        rows = bank_side(side)
        found = nested_components(nested_sums(rows, np.ones(len(rows)), cluster, len(clusters)).sum(axis=0), 10)
        assert found[2] == pytest.approx(line, abs=5e-8)
        person, item = (axis.ravel() for axis in np.indices(rows.shape))
        layout = analyse(rows.ravel(), {"p": person, "i": item, "q": np.repeat(cluster, 10)}, "(p x i):q")
        expected = [layout.component(name) for name in ("q", "p:q", "i:q", "p*i:q")]
        assert found == pytest.approx(expected, abs=1e-12)


def test_rows_that_occur_often_and_clusters_without_any():
    rows = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]])
    sums = nested_sums(rows, [2, 1, 3, 2], np.array([0, 0, 2, 2]), 3)
    assert sums[1].tolist() == [0] * 8
    spelled = nested_sums(np.repeat(rows, [2, 1, 3, 2], axis=0), np.ones(8), np.repeat([0, 0, 2, 2], [2, 1, 3, 2]), 3)
    assert sums == pytest.approx(spelled, abs=1e-12)
    assert np.isnan(nested_components(np.zeros(8), 3)).all()
