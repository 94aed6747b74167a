"""Columns of several people's labels: found by their headings, whatever the names hold."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.verdicts.rated_columns import heading, rated_columns

NAMES = st.text(min_size=1, max_size=12).filter(str.strip)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), st.lists(NAMES, min_size=1, max_size=3, unique=True))
def test_every_rater_with_a_column_a_criterion_is_found(raters: list[str], criteria: list[str]) -> None:
    columns = ["id", "weight", *(heading(rater, name) for rater in raters for name in criteria)]
    found = rated_columns(columns, criteria)
    assert all(found[rater] == tuple(heading(rater, name) for name in criteria) for rater in raters)


def test_one_column_a_rater_without_criteria() -> None:
    assert rated_columns(["id", "rated (anna)", "rated ( )", "rated", "unrated (x)"], [""]) == {
        "anna": ("rated (anna)",)
    }


def test_a_rater_without_all_criteria_is_none() -> None:
    assert rated_columns(["rated (a) 1", "rated (a) 2", "rated (b) 1"], ["1", "2"]) == {
        "a": ("rated (a) 1", "rated (a) 2")
    }
