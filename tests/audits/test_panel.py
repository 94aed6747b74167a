import polars as pl
import pytest

import evenhand

ROWS = [("1", "1", "0", "1"), ("1", "0", "", "1"), ("0", "0", "1", "0"), ("", "", "1", "1"), ("", "", "", "0"), ("0", "0", "0", "1")]  # fmt: skip


@pytest.fixture(scope="module")
def panel():
    data = pl.DataFrame(ROWS, schema=["a", "b", "c", "reference"], orient="row").with_columns(
        response=pl.Series([f"u{n}" for n in range(len(ROWS))])
    )
    return evenhand.audit(data, judge=("a", "b", "c"), levels=("0", "1"))


def test_even_splits_are_undecided(panel):
    decided = panel["selective_coverage[panel=majority]/raters"]
    assert (decided.events, decided.trials, decided.n_excluded) == (4, 5, 1)
    assert panel["n_tied[panel=majority]/raters"].estimate == 1
    assert panel["n_scored[panel=majority,votes=1]/raters"].estimate == 1


def test_the_decision_against_the_reference(panel):
    right = panel["observed_agreement[panel=majority]/raters"]
    assert (right.events, right.trials) == (3, 4)
    assert panel["cohen_kappa[panel=majority]/raters"].estimate == pytest.approx(0.5)


def test_one_judge_is_no_panel():
    data = pl.DataFrame({"response": ["x", "y"], "judge": ["1", "0"], "reference": ["1", "1"]})
    assert not [one for one in evenhand.audit(data).audit if "panel" in one.params]
