import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special  # an independent maximum

from evenhand.stats.screening import chance_of_at_least, shared_rates, shrunken

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

Array = np.ndarray


def binomial(n: int, p: float) -> list[float]:
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def summed(errors: int, trials: tuple[int, int], rates: tuple[float, float]) -> float:
    """The same tail by going through every pair of counts."""
    masses = [list(enumerate(binomial(n, p))) for n, p in zip(trials, rates, strict=True)]
    return sum(p * q for (a, p), (b, q) in itertools.product(*masses) if a + b >= errors)


@given(
    st.tuples(st.integers(0, 8), st.integers(0, 8)), st.integers(0, 17),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)  # fmt: skip
def test_tails_are_those_of_every_pair_of_counts(
    trials: tuple[int, int], errors: int, rates: tuple[float, float]
) -> None:
    found = chance_of_at_least(np.array([float(errors)]), np.array([trials], dtype=float), np.array(rates))
    assert found[0] == pytest.approx(summed(errors, trials, rates), abs=1e-12)


def test_a_tail_by_hand() -> None:
    # two trials at a half, one at a fifth: two or three errors are .25·.8 + .25·.2 + .5·.2 = .35
    found = chance_of_at_least(
        np.array([2.0, 0.0, 4.0]), np.array([[2, 1], [2, 1], [2, 1]], float), np.array([0.5, 0.2])
    )
    assert found == pytest.approx([0.35, 1.0, 0.0], abs=1e-15)


def test_small_tails_keep_their_digits() -> None:
    found = chance_of_at_least(np.array([40.0]), np.array([[60.0, 0.0]]), np.array([0.01, 0.5]))
    exact = sum(math.comb(60, k) * 0.01**k * 0.99 ** (60 - k) for k in range(40, 61))
    assert found[0] == pytest.approx(exact, rel=1e-9)


def likelihood(logs: Array, events: Array, trials: Array) -> float:
    a, b = np.exp(logs)
    return float((special.betaln(a + events, b + trials - events) - special.betaln(a, b)).sum())


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_the_shared_distribution_is_the_likeliest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trials = rng.integers(1, 40, rng.integers(10, 80)).astype(float)
    events = rng.binomial(trials.astype(int), rng.beta(*np.exp(rng.normal(0, 1, 2)), len(trials))).astype(float)
    found = shared_rates(events, trials)
    if np.isfinite(found.alpha):
        best = optimize.minimize(
            lambda logs: -likelihood(logs, events, trials), np.log([found.mean, 1 - found.mean]), method="Nelder-Mead"
        )
        assert likelihood(np.log([found.alpha, found.beta]), events, trials) >= -best.fun - 1e-6
        assert found.mean == pytest.approx(found.alpha / (found.alpha + found.beta))


def test_a_beta_distribution_is_found_again() -> None:
    rng = np.random.default_rng(2)
    trials = np.full(4_000, 14.0)
    events = rng.binomial(14, rng.beta(1.0, 9.0, 4_000)).astype(float)
    found = shared_rates(events, trials)
    assert (found.alpha, found.beta) == pytest.approx((1.0, 9.0), rel=0.1)
    # the shrunken rate is the posterior mean, and nearer the truth than the raw one on average
    rates = shrunken(found, events, trials)
    assert rates == pytest.approx((found.alpha + events) / (found.alpha + found.beta + 14))


@pytest.mark.parametrize(
    ("events", "trials"),
    [
        ([1.0, 1.0, 1.0, 1.0], [10.0] * 4),  # less spread than chance gives
        ([0.0, 0.0, 0.0], [5.0] * 3),
        ([5.0, 5.0], [5.0, 5.0]),
        ([1.0], [4.0]),
        ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0]),  # single trials say nothing of spread
    ],
)
def test_lines_that_differ_no_more_than_chance_have_one_rate(events: list[float], trials: list[float]) -> None:
    found = shared_rates(np.array(events), np.array(trials))
    pooled = sum(events) / sum(trials)
    assert (found.alpha, found.mean) == (math.inf, pytest.approx(pooled))
    assert shrunken(found, np.array(events), np.array(trials)) == pytest.approx([pooled] * len(events))


def test_no_trials_at_all() -> None:
    found = shared_rates(np.zeros(3), np.zeros(3))
    assert math.isnan(found.mean)
