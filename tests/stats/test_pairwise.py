import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from evenhand.stats import pairwise as of

outcomes = st.integers(0, 2)
cells = hnp.arrays(np.int64, (3,), elements=st.integers(0, 40))
order_table = hnp.arrays(np.int64, (3, 3), elements=st.integers(0, 20))
wins = st.integers(2, 5).flatmap(lambda s: hnp.arrays(np.int64, (s, s), elements=st.integers(0, 9)))


def one(n: int) -> tuple[np.ndarray, int]:
    return np.zeros(n, dtype=int), 1


def test_case_pwx_01_ties_in_two_codings() -> None:
    # preferences 2 2 1 1.5 2 null 0 1 2 1.5 null 2: 2 the candidate, 1 the baseline, 1.5 and 0 a tie
    preferences = [2, 2, 1, 1.5, 2, None, 0, 1, 2, 1.5, None, 2]
    outcome = np.array([{2: 0, 1.5: 1, 0: 1, 1: 2}[p] for p in preferences if p is not None])
    tallies = of.outcome_counts(outcome, np.arange(len(outcome)), len(outcome))
    total = tallies.sum(axis=0)
    assert total.tolist() == [5, 3, 2]
    assert of.win_rate(total) == 0.65
    assert of.win_rate(total, "excluded") == pytest.approx(0.714286, abs=5e-7)
    assert of.outcome_shares(total).tolist() == [0.5, 0.3, 0.2]
    left_out = of.win_rate(total - tallies)
    std_error = math.sqrt(9 / 10 * ((left_out - left_out.mean()) ** 2).sum())
    assert std_error == pytest.approx(0.130171, abs=5e-7)


def test_orders_by_hand() -> None:
    # A A, A B, A tie, B B, B A, tie tie: first letter the winner with A shown first, second with B shown first
    one_order, other = np.array([0, 0, 0, 2, 2, 1]), np.array([0, 2, 1, 2, 0, 1])
    table = of.order_tables(one_order, other, *one(6))[0]
    assert of.order_consistency(table) == 0.5
    assert of.order_flip_rate(table) == pytest.approx(1 / 3)
    # shown first: A in the first order (3), B in the other (2); shown second: 2 and 2; ties 1 and 2
    assert of.positions(table).tolist() == [5, 3, 4]
    assert of.first_position_share(of.positions(table)) == pytest.approx(5 / 9)
    assert of.first_position_share(of.positions(table), "half") == pytest.approx(6.5 / 12)


def test_a_judge_who_always_takes_the_first() -> None:
    n = 8
    table = of.order_tables(np.zeros(n, dtype=int), np.full(n, 2), *one(n))[0]
    assert of.order_consistency(table) == 0
    assert of.order_flip_rate(table) == of.first_position_share(of.positions(table)) == 1


@given(cells)
def test_win_rates_of_both_sides_add_to_one(counts) -> None:
    for ties in ("half", "excluded"):
        np.testing.assert_allclose(
            of.win_rate(counts, ties) + of.win_rate(counts[::-1], ties), 1 + 0 * of.win_rate(counts, ties)
        )
    np.testing.assert_allclose(of.win_rate(counts), of.outcome_shares(counts) @ [1, 0.5, 0])


@given(order_table)
def test_renaming_the_sides_changes_nothing_about_order(table) -> None:
    # the other side becomes the first: orders and outcomes swap
    renamed = table.T[::-1, ::-1]
    for measure in (of.order_consistency, of.order_flip_rate):
        np.testing.assert_allclose(measure(renamed), measure(table))
    np.testing.assert_array_equal(of.positions(renamed), of.positions(table))


@given(st.lists(st.tuples(outcomes, outcomes, st.integers(0, 2)), min_size=1, max_size=20))
def test_tallies_of_groups_add_up(rows) -> None:
    first, second, group = (np.array(column) for column in zip(*rows, strict=True))
    np.testing.assert_array_equal(
        of.outcome_counts(first, group, 3).sum(axis=0), of.outcome_counts(first, *one(len(rows)))[0]
    )
    np.testing.assert_array_equal(
        of.order_tables(first, second, group, 3).sum(axis=0), of.order_tables(first, second, *one(len(rows)))[0]
    )
    systems = (first + 1 + np.minimum(second, 1)) % 3
    np.testing.assert_array_equal(
        of.win_matrices(first, systems, second, 3, group, 3).sum(axis=0),
        of.win_matrices(first, systems, second, 3, *one(len(rows)))[0],
    )


@given(st.lists(st.tuples(outcomes, outcomes), min_size=1, max_size=20))
def test_repeated_rows_are_counted_not_copied(rows) -> None:
    whole = np.array(rows)
    few, times = np.unique(whole, axis=0, return_counts=True)
    ends = one(len(few)), one(len(whole))
    for tally in (
        lambda data, where, *repeats: of.outcome_counts(data[:, 0], *where, *repeats),
        lambda data, where, *repeats: of.order_tables(data[:, 0], data[:, 1], *where, *repeats),
        lambda data, where, *repeats: of.win_matrices(data[:, 0], data[:, 0] + 1, data[:, 1], 4, *where, *repeats),
    ):
        np.testing.assert_array_equal(tally(few, ends[0], times), tally(whole, ends[1]))


# --- Bradley-Terry ---


def test_two_systems_by_hand() -> None:
    # 6 wins, 2 losses, 2 ties as halves: log odds log(7/3), shared between the two
    wins_of = of.win_matrices(
        np.array([0] * 6 + [1, 1] + [0, 1]), np.array([1] * 6 + [0, 0] + [1, 0]),
        np.array([0] * 6 + [0, 0] + [1, 1]), 2, *one(10)
    )[0]  # fmt: skip
    assert wins_of.tolist() == [[0, 7], [3, 0]]
    strengths = of.bradley_terry(wins_of)
    assert strengths[0] - strengths[1] == pytest.approx(math.log(7 / 3), abs=1e-12)
    assert strengths.sum() == pytest.approx(0, abs=1e-12)


def test_published_baseball() -> None:
    """Agresti (2002), Categorical Data Analysis, section 10.6.1: American League East 1987, Baltimore at 0."""
    teams = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
    table = np.array(
        [
            [0, 7, 9, 7, 7, 9, 11], [6, 0, 7, 5, 11, 9, 9], [4, 6, 0, 7, 7, 8, 12], [6, 8, 6, 0, 6, 7, 10],
            [6, 2, 6, 7, 0, 7, 12], [4, 4, 5, 6, 6, 0, 6], [2, 4, 1, 3, 1, 7, 0],
        ]
    )  # fmt: skip
    found = of.bradley_terry(table)
    found = dict(zip(teams, (found - found[-1]).tolist(), strict=True))
    # printed to two digits: 1.58, 1.44, 1.29, 1.25, 1.11, .68, 0
    expected = {
        "Milwaukee": 1.58,
        "Detroit": 1.44,
        "Toronto": 1.29,
        "New York": 1.25,
        "Boston": 1.11,
        "Cleveland": 0.68,
    }
    for team, strength in expected.items():
        assert found[team] == pytest.approx(strength, abs=0.0051), team


@given(wins)
def test_fitted_wins_are_the_observed_ones(table) -> None:
    table = table * (1 - np.eye(len(table), dtype=int))
    strengths = of.bradley_terry(table)
    if not of.has_bradley_terry(table):
        assert np.isnan(strengths).all()
        return
    odds = np.exp(strengths[:, None] - strengths[None])
    fitted = ((table + table.T) * odds / (1 + odds)).sum(axis=1)
    np.testing.assert_allclose(fitted, table.sum(axis=1), atol=1e-7)
    assert strengths.sum() == pytest.approx(0, abs=1e-9)


@settings(max_examples=20)
@given(wins)
def test_the_maximum_is_the_optimiser_s(table) -> None:
    table = table * (1 - np.eye(len(table), dtype=int))
    assume(of.has_bradley_terry(table))

    def minus_log_likelihood(strengths: np.ndarray) -> float:
        return float((table * np.log1p(np.exp(strengths[None] - strengths[:, None]))).sum())

    found = optimize.minimize(minus_log_likelihood, np.zeros(len(table)), method="BFGS")
    assert minus_log_likelihood(of.bradley_terry(table)) <= found.fun + 1e-9


@given(wins, st.randoms(use_true_random=False))
def test_order_of_systems_does_not_matter(table, random) -> None:
    order = list(range(len(table)))
    random.shuffle(order)
    np.testing.assert_allclose(of.bradley_terry(table[np.ix_(order, order)]), of.bradley_terry(table)[order], atol=1e-7)
    np.testing.assert_allclose(of.bradley_terry(table.T), -of.bradley_terry(table), atol=1e-7)
    np.testing.assert_allclose(of.bradley_terry(3 * table), of.bradley_terry(table), atol=1e-7)


@given(hnp.arrays(np.int64, (2, 3, 4, 4), elements=st.integers(0, 9)))
def test_broadcasting_is_a_loop(stack) -> None:
    looped = [[of.bradley_terry(table) for table in row] for row in stack]
    np.testing.assert_allclose(of.bradley_terry(stack), looped, atol=1e-9)
    orders = stack[..., :3, :3]
    for measure in (of.order_consistency, of.order_flip_rate, of.positions):
        np.testing.assert_array_equal(measure(orders), [[measure(table) for table in row] for row in orders])


@pytest.mark.parametrize("lopsided", [1e3, 1e6, 1e9])
def test_extreme_odds_converge(lopsided) -> None:
    strengths = of.bradley_terry(np.array([[0, lopsided, 0], [1, 0, lopsided], [0, 1, 0]]))
    assert np.diff(strengths) == pytest.approx([-math.log(lopsided)] * 2, rel=1e-6)


def test_strengths_that_do_not_exist() -> None:
    assert np.isnan(of.bradley_terry(np.array([[0.0, 3], [0, 0]]))).all()  # never beaten
    halves = np.array([[0.0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]])
    assert np.isnan(of.bradley_terry(halves)).all()  # two groups that never met
    assert of.bradley_terry(np.array([[5.0]])).tolist() == [0]


def test_nothing_is_undefined() -> None:
    assert np.isnan([of.win_rate(np.zeros(3)), of.win_rate(np.array([0.0, 4, 0]), "excluded")]).all()
    assert np.isnan(of.outcome_shares(np.zeros(3))).all()
    assert np.isnan([of.order_consistency(np.zeros((3, 3))), of.order_flip_rate(np.zeros((3, 3)))]).all()
