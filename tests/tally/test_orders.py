"""`tally/orders.py`: which side a value of the order column shows first; meeting is tested through test_pairwise."""

import pytest

from evenhand.tally.orders import shown_first


@pytest.mark.parametrize(
    ("order", "levels", "first"),
    [
        ("B first", ("B", "tie", "A"), 0),
        ("a", ("B", "tie", "A"), 2),
        ("AB", ("B", "A"), 1),
        ("B>A", ("B", "A"), 0),
        ("original", ("B", "A"), 1),
        ("swapped", ("B", "A"), 0),
        ("original", ("1", "2"), 0),
        ("2 shown first", ("1", "2"), 1),
        ("model_a_first", ("model_b", "model_a"), None),
        ("x", ("B", "A"), None),
        ("1", ("B", "A"), None),
    ],
)
def test_shown_first(order, levels, first):
    assert shown_first(order, levels) == first
