"""Closed forms against large draws, published values and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RequestError
from evenhand.simulate.population import (
    beta_binomial,
    mass_of_totals,
    met_rate_range,
    population_kr20,
    population_phi_lambda,
)
from evenhand.stats.internal_consistency import kr20, moments

shares = st.floats(0, 1)


def test_published_closed_form():
    # CONVENTIONS B: spread .8 at errors 0, .0472, .05, .1, .2, .3
    found = [population_kr20(0.8, e, e) for e in (0, 0.0472, 0.05, 0.1, 0.2, 0.3)]
    assert found == pytest.approx([0.7306, 0.6795, 0.6763, 0.6126, 0.4541, 0.2611], abs=5e-5)


@given(spread=shares, error=shares, n_criteria=st.integers(2, 40))
def test_symmetric_errors_are_the_published_formula(spread: float, error: float, n_criteria: int):
    K = n_criteria
    formula = K / (K - 1) * (1 - K / 4 / (K / 4 + K * (K - 1) * spread**2 / 12 * (1 - 2 * error) ** 2))
    assert population_kr20(spread, error, error, n_criteria=K) == pytest.approx(formula, abs=1e-12)


@pytest.mark.parametrize(("accept", "reject"), [(0.104, 0.001), (0.6, 0.0), (0.0, 0.3), (0.7, 0.8)])
def test_one_directional_errors_against_a_large_bank(accept: float, reject: float):
    rng = np.random.default_rng(4)
    present = rng.random((200_000, 10)) < rng.uniform(0.1, 0.9, (200_000, 1))
    chance = rng.random(present.shape)
    judge = np.where(present, chance >= reject, chance < accept)
    assert population_kr20(0.8, accept, reject) == pytest.approx(float(kr20(moments(judge))), abs=0.01)


@given(low=shares, high=shares, K=st.integers(1, 60))
def test_mass_is_a_distribution_of_the_right_mean(low: float, high: float, K: int):
    mass = mass_of_totals(K, low, high)
    assert mass.shape == (K + 1,)
    assert (mass >= 0).all()
    assert mass.sum() == pytest.approx(1)
    assert mass @ np.arange(K + 1) == pytest.approx(K * (low + high) / 2, abs=1e-9)


def test_mass_by_hand():
    assert mass_of_totals(2, 0.0, 1.0) == pytest.approx([1 / 3] * 3)
    assert mass_of_totals(3, 0.5, 0.5) == pytest.approx([1 / 8, 3 / 8, 3 / 8, 1 / 8])
    assert mass_of_totals(2, 1.0, 1.0) == pytest.approx([0, 0, 1])
    assert mass_of_totals(1, [0.0, 0.2], [1.0, 0.4]) == pytest.approx(np.array([[0.5, 0.5], [0.7, 0.3]]))


@given(spread=shares, accept=shares, reject=shares)
def test_met_rates_lie_where_the_ends_of_the_bank_go(spread: float, accept: float, reject: float):
    low, high = met_rate_range(spread, accept, reject)
    ends = [accept + (1 - accept - reject) * (0.5 + sign * spread / 2) for sign in (-1, 1)]
    assert (low, high) == pytest.approx((min(ends), max(ends)), abs=1e-12)
    assert 0 <= low <= high <= 1


def test_gaps_of_the_phi_control():
    # CONVENTIONS B: population gaps .137 .206 .236 .138
    from evenhand.stats.strong_true_score import livingston_lewis

    cuts = np.array([4, 5, 6, 7])
    accuracy = livingston_lewis(beta_binomial(5.452, 3.663, 10), cuts).accuracy
    assert accuracy - population_phi_lambda(5.452, 3.663, 10, cuts) == pytest.approx(
        [0.137, 0.206, 0.236, 0.138], abs=6e-4
    )


def test_degenerate():
    assert population_kr20(0.0) == 0
    assert np.isnan(population_kr20(0.5, n_criteria=1))
    assert np.isnan(population_kr20(0.5, 1.0, 0.0))  # all accepted: totals cannot vary
    assert population_kr20(1.0, n_criteria=2) == pytest.approx(0.5)


@pytest.mark.parametrize("arguments", [(1.2,), (0.5, -0.1), (0.5, 0.1, float("nan"))])
def test_rates_out_of_range_are_named(arguments: tuple[float, ...]):
    with pytest.raises(RequestError, match="must lie between 0 and 1"):
        population_kr20(*arguments)


@pytest.mark.parametrize("shape", [0.0, -1.0, float("inf"), float("nan")])
def test_shapes_out_of_range_are_named(shape: float):
    with pytest.raises(RequestError, match="beta is"):
        beta_binomial(1.0, shape, 10)
