"""Banks of verdicts: planted rates, their correlation, and what cannot be planted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RequestError
from evenhand.simulate.population import population_kr20
from evenhand.simulate.verdict_bank import BankDesign, draw_bank
from evenhand.stats.internal_consistency import kr20, moments

rates = st.floats(0, 1)


def test_rates_spread_and_coefficients_are_near_their_truth():
    design = BankDesign(n_responses=20_000, n_clusters=40, spread=0.8, false_accept_rate=0.2, false_reject_rate=0.05)
    bank = draw_bank(design)
    counts = bank.counts()
    assert counts["false_accepts"] / counts["n_absent"] == pytest.approx(0.2, abs=0.006)
    assert counts["false_rejects"] / counts["n_present"] == pytest.approx(0.05, abs=0.003)
    assert bank.reference.mean() == pytest.approx(0.5, abs=0.01)
    assert float(kr20(moments(bank.reference))) == pytest.approx(population_kr20(0.8), abs=0.01)
    assert float(kr20(moments(bank.judge))) == pytest.approx(population_kr20(0.8, 0.2, 0.05), abs=0.01)


@pytest.mark.parametrize("within", ["response", "cluster"])
def test_errors_gather_where_they_should(within):
    """Like errors of one group correlate as asked; every response a cluster pair of its own for the second."""
    design = BankDesign(
        n_responses=8_000, n_criteria=4, n_clusters=4_000, spread=0.0, false_accept_rate=0.2, false_reject_rate=0.2,
        errors_within=within, error_correlation=0.5, seed=3,
    )  # fmt: skip
    bank = draw_bank(design)
    wrong = bank.reference != bank.judge
    within_response = (wrong[:, 0], wrong[:, 1])
    within_cluster = (wrong[:4_000, 0], wrong[4_000:, 1])
    alike = {
        "response": bank.reference[:, 0] == bank.reference[:, 1],
        "cluster": bank.reference[:4_000, 0] == bank.reference[4_000:, 1],
    }
    found = {
        name: np.corrcoef(first[alike[name]], second[alike[name]])[0, 1]
        for name, (first, second) in (("response", within_response), ("cluster", within_cluster))
    }
    assert wrong.mean() == pytest.approx(0.2, abs=0.02)
    assert found["response"] == pytest.approx(0.5, abs=0.06)
    assert found["cluster"] == pytest.approx(0.5 if within == "cluster" else 0.0, abs=0.07)


@given(n=st.integers(1, 40), K=st.integers(1, 6), spread=rates, accept=rates, reject=rates, seed=st.integers(0, 2**40))
def test_any_design_is_drawn_the_same_again(n, K, spread, accept, reject, seed):
    design = BankDesign(n, K, min(3, n), spread, accept, reject, seed=seed)
    bank = draw_bank(design)
    again = draw_bank(design)
    assert np.array_equal(bank.reference, again.reference)
    assert np.array_equal(bank.judge, again.judge)
    counts = bank.counts()
    assert counts["n_absent"] + counts["n_present"] == n * K
    header, *rows = bank.rows()
    assert len(rows) == n
    assert {len(row) for row in rows} == {len(header)} == {2 + 2 * K}


def test_the_bank_does_not_depend_on_its_judge():
    first = draw_bank(BankDesign(seed=9))
    second = draw_bank(BankDesign(false_accept_rate=0.5, errors_within="cluster", error_correlation=0.9, seed=9))
    assert np.array_equal(first.reference, second.reference)
    assert not np.array_equal(first.judge, second.judge)


def test_a_judge_without_errors_and_one_that_only_errs():
    right = draw_bank(BankDesign(false_accept_rate=0, false_reject_rate=0))
    wrong = draw_bank(BankDesign(false_accept_rate=1, false_reject_rate=1))
    assert np.array_equal(right.judge, right.reference)
    assert np.array_equal(wrong.judge, 1 - wrong.reference)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_responses": 0}, "responses is 0"),
        ({"n_clusters": 211}, "clusters is 211; it must be a whole number from 1 to 210"),
        ({"spread": 1.5}, "spread is 1.5"),
        ({"false_accept_rate": -0.1}, "false_accept_rate is -0.1"),
        ({"error_correlation": 0.5}, "give both a place"),
        ({"errors_within": "cluster"}, "give both a place"),
        ({"seed": 1.5}, "seed is 1.5"),
    ],
)
def test_what_cannot_be_planted_is_named(change, message: str):
    with pytest.raises(RequestError, match=message):
        BankDesign(**change)
