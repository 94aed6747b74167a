"""Draws: the same seed, the same responses; tails of held-out attainment in equal numbers; strata in proportion or evenly."""

import math
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.design.calls import Design
from evenhand.design.draw import _equal, _shares, attainment
from evenhand.errors import RequestError

MakeDesign = Callable[..., Design]


def ids(design: Design) -> list[str]:
    return [one.item.response_id for one in design.drawn]


def test_the_same_seed_draws_the_same_responses_in_the_banks_order(design_of: MakeDesign, grader: str) -> None:
    first, second = ids(design_of(grader)), ids(design_of(grader))
    assert first == second
    order = [one.response_id for one in design_of(grader).bank.items]
    assert sorted(first, key=order.index) == first
    assert ids(design_of(grader.replace("seed = 7", "seed = 8"))) != first


def test_tails_are_equal_in_number_and_by_attainment_without_the_response_itself(
    design_of: MakeDesign, grader: str
) -> None:
    design = design_of(grader)
    assert Counter(one.tail for one in design.drawn) == {"high": 10, "low": 10}
    for one in design.drawn:
        others = [each.mark for each in design.bank.by_learner[one.item.learner_id] if each is not one.item]
        assert one.attainment == pytest.approx(sum(others) / len(others), abs=1e-12)
        assert one.n_prior == len(others) == 5
        assert (one.attainment >= 6, one.attainment < 4) == (one.tail == "high", one.tail == "low")
        assert (one.partner < 4, one.partner >= 6) == (one.tail == "high", one.tail == "low")


def test_a_tail_that_is_too_small_says_how_many_it_has(design_of: MakeDesign, grader: str) -> None:
    with pytest.raises(RequestError, match="30 responses are wanted of the high tail and 24 have"):
        design_of(grader.replace("n = 20", "n = 60"))


def test_a_learner_with_one_answer_has_no_attainment(
    design_of: MakeDesign, rows: list[tuple[str, ...]], grader: str
) -> None:
    plan = grader.split("[[arm]]")[0] + "[draw]\nseed = 1\n"
    design = design_of(plan, rows=[*rows, ("alone", "q0", "s99", "", "Task 0?", "one answer", "5")])
    alone = design.bank.by_learner["s99"][0]
    assert math.isnan(attainment(design.bank, alone)[0])


@pytest.mark.parametrize(
    ("equal", "expected"), [("", {"weak": 6, "able": 3}), ("equal = true", {"weak": 5, "able": 4})]
)
def test_strata(
    design_of: MakeDesign, grader: str, rows: list[tuple[str, ...]], equal: str, expected: dict[str, int]
) -> None:
    plan = grader.split("[[arm]]")[0] + f'[draw]\nn = 9\nstrata = "gender"\n{equal}\n'
    relabelled = [(*row[:3], "weak" if number < 32 else "able", *row[4:]) for number, row in enumerate(rows)]
    design = design_of(plan, rows=relabelled)
    counts = Counter(one.item.strata for one in design.drawn)
    assert sum(counts.values()) == 9
    assert (counts == expected) if not equal else abs(counts["weak"] - counts["able"]) == 1


@given(
    sizes=st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(1, 30), min_size=1, max_size=6),
    data=st.data(),
)
def test_shares_fill_the_draw_and_no_stratum_gives_more_than_it_has(sizes: dict[str, int], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, sum(sizes.values())))
    for taken in (_shares(sizes, n), _equal(sizes, n)):
        assert sum(taken.values()) == n
        assert all(0 <= taken[name] <= size for name, size in sizes.items())
    even = _equal(sizes, n)
    full = [name for name in sizes if even[name] == sizes[name]]
    rest = [even[name] for name in sizes if name not in full]
    assert not rest or max(rest) - min(rest) <= 1
