"""Sums of squares, components and their designs: by hand, against published tables, and as identities."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.anova import analyse, crossed_components, crossed_mean_squares
from evenhand.stats.anova_design import Design
from evenhand.stats.generalizability import d_study

ORACLES = Path(__file__).resolve().parents[2].parent / "shared" / "oracles" / "data"
needs_oracles = pytest.mark.skipif(not ORACLES.is_dir(), reason="the shared oracle tables (../shared) are absent")


def table(name):
    with (ORACLES / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def of_table(name, value, design, **columns):
    rows = table(name)
    levels = {facet: np.array([row[column] for row in rows]) for facet, column in columns.items()}
    return analyse([float(row[value]) for row in rows], levels, design)


def of_grid(values, design):
    """A study of an array whose axes are the facets of a design, in its order."""
    facets = Design.parse(design).facets
    return analyse(
        values.ravel(), dict(zip(facets, (axis.ravel() for axis in np.indices(values.shape)), strict=True)), design
    )


def components(study):
    return dict(zip((term.name for term in study.design.terms), study.components.tolist(), strict=True))


def test_by_hand():
    # rows 11, 10, 00 as in test_generalizability: MS 1/2, 1/6, 1/6 on 2, 1, 2 df
    study = of_grid(np.array([[1.0, 1], [1, 0], [0, 0]]), "p x i")
    assert study.is_balanced
    assert study.df.tolist() == [2, 1, 2]
    assert study.mean_squares == pytest.approx([1 / 2, 1 / 6, 1 / 6], abs=1e-15)
    assert study.components == pytest.approx([1 / 6, 0, 1 / 6], abs=1e-15)
    # uncorrected: Σ row total²/2 = (4 + 1)/2, Σ column total²/3 = (4 + 1)/3, Σ x² = 3, (Σ x)²/6 = 9/6
    assert study.uncorrected == pytest.approx([5 / 2, 5 / 3, 3, 3 / 2], abs=1e-14)


def test_one_hole_by_hand():
    # persons 1: 1, 3; 2: 2 on item 1 only. T(p) = 8 + 4, T(i) = 9/2 + 9, T(pi) = 14, mean 36/3 = 12
    # E: p 2·2 − 5/3.. from Σ n²: k(p in p) = 3 − 5/3, k(i in p) = 2 − 5/3, k(pi in p) = 2 − 1, and so on
    study = analyse([1.0, 3, 2], {"p": [1, 1, 2], "i": [1, 2, 1]}, "p x i")
    assert not study.is_balanced
    assert study.uncorrected == pytest.approx([12, 13.5, 14, 12], abs=1e-13)
    expected = [[3 - 5 / 3, 2 - 5 / 3, 1], [2 - 5 / 3, 3 - 5 / 3, 1], [3 - 5 / 3, 3 - 5 / 3, 2]]
    assert study.expected == pytest.approx(np.array(expected), abs=1e-14)
    assert study.components == pytest.approx(np.linalg.solve(expected, [0, 1.5, 2]), abs=1e-12)
    assert np.isnan(study.mean_squares).all()


@needs_oracles
def test_oracle_gstudy_syn1_and_gstudy_syn1_dstudy():
    wide = np.array([[float(cell) for cell in row.values()] for row in table("brennan2001_syn1_pxi.csv")])
    study = of_grid(wide, "p x i")
    expected = {"p": 0.0574074074074074, "i": 0.07542087542087542, "p*i": 0.12685185185185185}
    assert components(study) == pytest.approx(expected, abs=1e-9)
    relative = [0.6935123042505593, 0.8190224570673712, 0.8716026241799438, 0.9005083514887438, 0.844494892167991]
    absolute = [0.5866162050576295, 0.7394557085547002, 0.8097838993113275, 0.8502150470610236, 0.7730235194105979]
    found = [d_study(study.design, study.components, "p", {"i": n}) for n in (5, 10, 15, 20, 12)]
    assert [one.generalizability for one in found] == pytest.approx(relative, abs=1e-9)
    assert [one.dependability for one in found] == pytest.approx(absolute, abs=1e-9)


@needs_oracles
def test_oracle_gstudy_syn2():
    wide = np.array([[float(cell) for cell in row.values()] for row in table("brennan2001_syn2_i_in_p.csv")])
    person, item = np.indices(wide.shape)
    study = analyse(wide.ravel(), {"p": person.ravel(), "i": item.ravel()}, "i:p")
    assert components(study) == pytest.approx({"p": 0.610763888888889, "i:p": 2.025}, abs=1e-9)


@needs_oracles
def test_oracle_gstudy_syn3():
    study = of_table("brennan2001_syn3_pxixo.csv", "y", "p x i x o", p="person", i="item", o="occasion")
    expected = {
        "p": 0.552777777777771, "i": 0.44166666666666277, "o": 0.00740740740740357, "p*i": 0.5750000000000136,
        "p*o": 0.1009259259259285, "i*o": 0.15648148148147875, "p*i*o": 0.9351851851851823,
    }  # fmt: skip
    assert components(study) == pytest.approx(expected, abs=1e-9)
    for conditions, fixed, relative, absolute in (
        ({"i": 4, "o": 2}, (), 0.6398713826366499, 0.5541246084232474),
        ({"i": 8, "o": 1}, (), 0.6561340843522404, 0.5978220052572262),
        ({"i": 4, "o": 2}, ("i",), 0.8062700964630208, 0.785127201565558),
    ):
        found = d_study(study.design, study.components, "p", conditions, fixed=fixed)
        assert found.generalizability == pytest.approx(relative, abs=1e-9)
        assert found.dependability == pytest.approx(absolute, abs=1e-9)


@needs_oracles
def test_oracle_gstudy_syn4():
    study = of_table("brennan2001_syn4_pxrt.csv", "Score", "p x (r:t)", p="Person", r="Rater", t="Task")
    expected = {
        "p": 0.4731481481481538, "t": 0.3251543209876535, "r:t": 0.647530864197529,
        "p*t": 0.5595679012345679 + 2e-16, "p*r:t": 2.3802469135802453,
    }  # fmt: skip
    assert components(study) == pytest.approx(expected, abs=1e-9)
    found = d_study(study.design, study.components, "p", {"t": 3, "r": 4})
    assert found.generalizability == pytest.approx(0.5514388489208667, abs=1e-9)
    assert found.dependability == pytest.approx(0.4637023593466459, abs=1e-9)


@needs_oracles
def test_oracle_gstudy_pxi_missing():
    study = of_table("pxi_missing_12x6.csv", "y", "p x i", p="p", i="i")
    assert study.uncorrected == pytest.approx([27.8, 24.743181818181817, 37.0, 23.203389830508474], abs=1e-9)
    expected = {"p": 0.047252913805449416, "i": 0.011736874244849432, "p*i": 0.18400780660621432}
    assert components(study) == pytest.approx(expected, abs=1e-9)


@needs_oracles
def test_oracle_gstudy_unbalanced_pxih():
    study = of_table("brennan_unbalanced_pxih.csv", "y", "p x (i:h)", p="p", i="i", h="h")
    expected = {
        "p": 1.201428571428567, "h": 2.916071428571425, "i:h": 0.2946428571428543,
        "p*h": 0.991428571428574, "p*i:h": 0.8428571428571461,
    }  # fmt: skip
    assert components(study) == pytest.approx(expected, abs=1e-9)


grids = hnp.arrays(np.int64, st.tuples(*[st.integers(2, 4)] * 3), elements=st.integers(-3, 3))


@settings(max_examples=30)
@given(grids)
def test_henderson_equals_mean_squares_where_nothing_is_missing(values):
    study = of_grid(values.astype(float), "p x i x o")
    assert study.components == pytest.approx(np.linalg.solve(study.expected, study.squares), abs=1e-9)


@settings(max_examples=30)
@given(grids)
def test_additive_sums_give_the_same_as_the_layout(values):
    study = of_grid(values.astype(float), "p x i x o")
    flat = values.reshape(len(values), -1).astype(float)
    n = np.asarray(float(len(values)))
    squares = crossed_mean_squares(flat.T @ flat, flat.sum(axis=0), n, values.shape[1:])
    assert squares == pytest.approx(study.mean_squares, abs=1e-10)
    assert crossed_components(squares, n, values.shape[1:]) == pytest.approx(study.components, abs=1e-10)


@settings(max_examples=30)
@given(grids, st.randoms(use_true_random=False))
def test_neither_order_nor_names_nor_shifts_matter(values, random):
    rows = [(float(x), *at) for at, x in np.ndenumerate(values)]
    random.shuffle(rows)
    y, p, i, o = (np.array(column) for column in zip(*rows, strict=True))
    study = analyse(y + 1e6, {"p": [f"person {one}" for one in p], "i": i * 10**12, "o": o}, "p x i x o")
    assert study.components == pytest.approx(of_grid(values.astype(float), "p x i x o").components, abs=1e-6)


@settings(max_examples=30)
@given(hnp.arrays(np.float64, (3, 2, 4), elements=st.integers(-5, 5).map(float)))
def test_lines_numbered_anew_in_each_cluster_are_other_lines(values):
    q, p, i = np.indices(values.shape)
    anew = analyse(values.ravel(), {"p": p.ravel(), "i": i.ravel(), "q": q.ravel()}, "(p x i):q")
    through = analyse(
        values.ravel(), {"p": (p + 10 * q).ravel(), "i": (i + 10 * q).ravel(), "q": q.ravel()}, "(p x i):q"
    )
    assert anew.components == pytest.approx(through.components, abs=1e-12)
    within = [of_grid(one, "p x i") for one in values]
    expected = np.mean([[one.components[0], one.components[1], one.components[2]] for one in within], axis=0)
    found = components(anew)
    assert [found["p:q"], found["i:q"], found["p*i:q"]] == pytest.approx(expected.tolist(), abs=1e-12)


def test_a_latin_square_has_equal_cells_and_is_not_balanced():
    p, i = (axis.ravel() for axis in np.indices((4, 4)))
    study = analyse(np.arange(16.0), {"p": p, "i": i, "o": (p + i) % 4}, "p x i x o")
    assert not study.is_balanced


def test_what_a_layout_cannot_tell_apart_is_undefined():
    assert np.isnan(analyse([1.0, 2, 3], {"p": [1, 2, 3], "i": [1, 1, 1]}, "p x i").components).any()
    assert np.isnan(analyse([1.0, 2], {"p": [1, 2], "i": [1, 2]}, "p x i").components).all()
    assert np.isnan(analyse([], {"p": [], "i": []}, "p x i").components).all()


def test_constant_values_have_no_variance():
    assert of_grid(np.full((3, 4), 0.1), "p x i").components.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("values", "levels", "words"),
    [
        ([1.0, 2], {"p": [1, 1], "i": [1, 1]}, "two values"),
        ([1.0, np.nan], {"p": [1, 2], "i": [1, 1]}, "not finite"),
        ([1.0, 2], {"p": [1, 2]}, "the design has facets p, i"),
        ([1.0, 2], {"p": [1, 2], "i": [1]}, "one level a value"),
    ],
)
def test_layouts_that_are_none_are_refused(values, levels, words):
    with pytest.raises(ValueError, match=words):
        analyse(values, levels, "p x i")
