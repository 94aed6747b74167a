import csv
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.generalizability import (
    VarianceComponents,
    absolute_error_variance,
    dependability_coefficient,
    generalizability_coefficient,
    mean_squares,
    phi_lambda,
    relative_error_variance,
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
