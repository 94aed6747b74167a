"""The alternative annotator test by hand, its symmetries, and how often it errs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats import alternative_annotator as of


def sums(judge, humans, *, is_marks=False):
    n = len(judge)
    found = of.win_sums(np.array(judge, float), np.array(humans, float), np.zeros(n, int), 1, np.ones(n, int), is_marks=is_marks)  # fmt: skip
    return found[0]


def test_by_hand() -> None:
    # left out the first: remaining (1,1), (0,1), (0,0); judge 1, 1, 0 has 2/2, 1/2, 2/2; human 0, 0, 1 has 0, 1/2, 0
    found = sums([1, 1, 0], [[0, 1, 1], [0, 0, 1], [1, 0, 0]])
    assert found[0].tolist() == [3, 3, 1]
    # left out the second: remaining (0,1), (0,1), (1,0): each side has one half everywhere
    assert found[1].tolist() == [3, 3, 3]
    assert of.shortfall(found)[:2].tolist() == pytest.approx([-2 / 3, 0])
    assert of.advantage(found) == pytest.approx(1)


def test_marks_by_hand() -> None:
    # remaining (4, 6) and (5, missing); the judge is 1 and 2 away, the human √5 and 0
    found = sums([5, 7], [[6 + 1, 4, 6], [5, 5, math.nan]], is_marks=True)
    assert found[0].tolist() == [2, 1, 1]
    assert found[2].tolist()[0] == 1  # the third marks the first unit only


def test_benjamini_and_yekutieli() -> None:
    # three tests: bounds .05/5.5, .1/5.5, .15/5.5
    assert of.winning_rate(np.array([0.009, 0.018, 0.5])) == pytest.approx(2 / 3)
    assert of.winning_rate(np.array([0.0092, 0.019, 0.5])) == 0
    assert of.winning_rate(np.array([0.02, 0.02, 0.02])) == 1


def test_without_spread() -> None:
    assert [of.one_sided_p(value, 0.0, 0.1, 5) for value in (0.0, 0.1)] == [0.0, 1.0]
    assert np.isnan(of.advantage(np.zeros((3, 3))))


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(4, 5)), elements=st.integers(0, 2)))
def test_a_copy_of_a_human_never_falls_short_of_that_human(labels) -> None:
    copied = sums(labels[:, 0], labels)
    assert copied[0, 1] == copied[0, 2] == copied[0, 0]
    order = [0, *range(labels.shape[1] - 1, 0, -1)]
    np.testing.assert_array_equal(sums(labels[:, 0], labels[:, order]), copied[order])


def test_a_judge_exactly_at_the_cost_is_seldom_passed() -> None:
    """20 clusters of 20 independent units, shortfall .2 at a cost of .2: one-sided tests at .05 pass 5 % of the time."""
    rng, passed = np.random.default_rng(5), 0
    for _ in range(500):
        d = rng.choice([1.0, -1.0, 0.0], p=[0.4, 0.2, 0.4], size=(20, 20)).mean(axis=1)
        error = math.sqrt(19 / 20 * np.square((d.sum() - d) / 19 - d.mean()).sum())
        passed += of.one_sided_p(d.mean(), error, 0.2, 19) < 0.05
    assert 0.02 <= passed / 500 <= 0.09
