"""Ensemble coefficients by hand, their identities and symmetries, and degenerate ratings."""

import itertools
import math

import numpy as np
import pytest
from ensemble_samples import COEFFICIENTS, alpha, codes, coincidences, each, units_of, value
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats import agreement, icc
from evenhand.stats import ensembles as of
from evenhand.stats import weighted_agreement as two
from evenhand.stats.weights import agreement_weights

labels_of_raters = st.tuples(st.integers(2, 9), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(-1, 3))
)
complete_labels = st.tuples(st.integers(2, 9), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 3))
)
binary_labels = st.tuples(st.integers(2, 9), st.integers(2, 5)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 1))
)


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
