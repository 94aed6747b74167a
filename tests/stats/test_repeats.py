import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from evenhand.stats.repeats import flip_shares, majority_recovers, repeats_needed


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7))
def test_flips_are_pairs_that_differ(labels):
    same = sum(labels.count(label) ** 2 for label in set(labels))
    pairs = [a != b for a, b in itertools.combinations(labels, 2)]
    assert flip_shares(len(labels), same) == pytest.approx(np.mean(pairs), abs=1e-12)


def test_one_repeat_has_no_pair():
    assert np.isnan(flip_shares([1], [1])).all()


@pytest.mark.parametrize(("alpha", "beta", "m"), [(1, 1, 1), (0.3, 0.2, 3), (2, 5, 7)])
def test_recovery_is_the_integral_over_rates(alpha, beta, m):
    def right(rate):
        majority = special.bdtrc(m // 2, m, rate)
        weight = rate ** (alpha - 1) * (1 - rate) ** (beta - 1) / special.beta(alpha, beta)
        return weight * (majority if rate > 0.5 else 1 - majority)

    expected = integrate.quad(right, 0, 0.5)[0] + integrate.quad(right, 0.5, 1)[0]
    assert majority_recovers(alpha, beta, m) == pytest.approx(expected, abs=1e-7)


def test_uniform_rates_by_hand():
    # one repeat of a uniform rate: ∫ max(p, 1-p) = 3/4
    assert majority_recovers(1, 1, 1) == pytest.approx(0.75, abs=1e-12)


@given(st.floats(0.05, 20), st.floats(0.05, 20))
def test_more_repeats_recover_more(alpha, beta):
    values = [majority_recovers(alpha, beta, m) for m in (1, 3, 9, 27)]
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(values))


def test_unanimous_items_need_one_repeat_and_even_ones_more_than_there_are():
    assert repeats_needed([40, 0, 0, 60], 0.95, 99) == 1
    assert repeats_needed([0, 0, 0, 0], 0.95, 99) is None
    assert repeats_needed([0, 0, 50, 0, 0], 0.95, 99) is None


def test_a_single_rate_is_a_binomial():
    # narrower than a binomial: taken as one rate, 3/4 of 4 repeats; P(majority of 9) = .9511, of 7 .9294
    assert repeats_needed([0, 0, 0, 100, 0], 0.95, 99) == 9


def test_noisy_items_need_more_repeats_than_steady_ones():
    steady, noisy = repeats_needed([45, 3, 3, 49], 0.95, 999), repeats_needed([20, 30, 30, 20], 0.95, 999)
    assert steady is not None
    assert noisy is None or noisy > steady
