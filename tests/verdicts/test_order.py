from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evenhand.verdicts.order import natural


def test_digits_are_numbers():
    assert sorted(["c10", "c9", "c1", "10", "9", "b", "", "c09"], key=natural) == [
        "",
        "9",
        "10",
        "b",
        "c1",
        "c09",
        "c9",
        "c10",
    ]


def test_twenty_digits():
    assert natural("9" * 20) < natural("1" + "0" * 20)


@given(st.lists(st.text(), max_size=8))
def test_the_order_is_total(texts):
    ordered = sorted(texts, key=natural)
    assert sorted([*texts[1:], *texts[:1]], key=natural) == ordered
    assert all(natural(first) != natural(second) for first, second in pairwise(ordered) if first != second)
