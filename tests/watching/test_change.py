"""The change between two audits: hand cases, symmetry, pairing, and the rate of false alarms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.agreement import share
from evenhand.stats.binomial import t_quantile
from evenhand.watching.change import change_of, side_of, together

OLD = np.array([[1, 9], [1, 9], [2, 8], [0, 10]], dtype=float)
NEW = np.array([[2, 8], [3, 7], [2, 8], [1, 9]], dtype=float)


def side(cells, at, n_units, *, is_rate=False):
    names = [f"c{place}" for place in at]
    return side_of(cells, share, cells.sum(axis=1), names, np.asarray(at), n_units, is_rate=is_rate)


def paired(new, old, **more):
    n = len(new)
    return change_of(side(new, range(n), n, **more), side(old, range(n), n, **more), 0.95)


def test_paired_change_is_the_t_test_of_cluster_differences():
    # equal clusters: differences .1 .2 0 .1, mean .1, SD √(.02/3), standard error SD/2, 3 degrees of freedom
    found = paired(NEW, OLD)
    error = math.sqrt(0.02 / 3) / 2
    assert found.estimate == pytest.approx(0.1)
    assert found.std_error == pytest.approx(error)
    assert found.df == pytest.approx(3)
    assert found.high == pytest.approx(0.1 + t_quantile(0.975, 3) * error)
    assert (found.n_shared, found.n_new, found.n_old, found.status) == (4, 0, 0, "ok")


def test_unpaired_change_is_welch():
    found = change_of(side(NEW, range(4), 8), side(OLD, range(4, 8), 8), 0.95)
    first, second = (np.var(one[:, 0] / 10, ddof=1) / 4 for one in (NEW, OLD))
    assert found.std_error == pytest.approx(math.sqrt(first + second))
    assert found.df == pytest.approx((first + second) ** 2 / (first**2 / 3 + second**2 / 3))
    assert (found.n_shared, found.n_new, found.n_old) == (0, 4, 4)


def test_part_of_the_clusters_may_coincide():
    found = change_of(side(NEW, range(4), 6), side(OLD, range(2, 6), 6), 0.95)
    assert (found.n_shared, found.n_new, found.n_old) == (2, 2, 2)
    assert 0 < found.std_error < 1
    assert 0 < found.df <= 6


def test_rate_with_few_events_has_a_floor():
    found = paired(NEW, OLD, is_rate=True)
    rate = (12 + 1) / (80 + 2)  # of both audits, an event and a non-event added
    assert found.std_error == pytest.approx(math.sqrt(rate * (1 - rate) * 2 * (1 + 9 * 0.02) / 40))
    assert "few events" in found.reason


def test_equal_audits_have_no_change_and_no_alarm():
    n = len(OLD)
    found = change_of(side(OLD, range(n), n), side(OLD, range(n), n), 0.95, is_same=True)
    assert (found.estimate, found.status) == (0.0, "same")
    assert np.isnan(together([found], 0.05, 0).p_value).all()


def test_one_cluster_decides_nothing():
    found = paired(NEW[:1], OLD[:1])
    assert found.status == "undecided"
    assert "one cluster" in found.reason
    assert math.isnan(found.std_error)


def test_undefined_without_a_cluster_names_it():
    lone = np.array([[1, 9], [0, 0], [0, 0]], dtype=float)
    found = change_of(side(lone, range(3), 3), side(NEW[:3], range(3), 3), 0.95)
    assert found.status == "undecided"
    assert found.reason.startswith("new:")


def test_a_change_without_spread_is_not_certain():
    found = paired(np.array([[2, 8]] * 6, dtype=float), np.array([[1, 9]] * 6, dtype=float))
    assert found.status == "undecided"
    assert "says nothing of its error" in found.reason


counts = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=6, max_size=6)


@given(counts, counts, st.integers(0, 6), st.booleans())
def test_change_is_antisymmetric(first, second, offset, is_rate):
    a, b = np.array(first, dtype=float), np.array(second, dtype=float)
    n = 6 + offset
    one, other = side(a, range(6), n, is_rate=is_rate), side(b, range(offset, n), n, is_rate=is_rate)
    there, back = change_of(one, other, 0.95), change_of(other, one, 0.95)
    assert there.estimate == -back.estimate
    assert there.status == back.status
    if there.status == "ok":
        assert there.std_error == pytest.approx(back.std_error)
        assert there.df == pytest.approx(back.df)
        assert there.low == pytest.approx(-back.high)


@given(counts, counts, st.permutations(range(6)))
def test_order_of_clusters_does_not_matter(first, second, order):
    a, b = np.array(first, dtype=float), np.array(second, dtype=float)
    straight, mixed = paired(a, b), paired(a[order], b[order])
    assert mixed.status == straight.status
    if straight.status == "ok":
        assert mixed.std_error == pytest.approx(straight.std_error)


def test_pairing_narrows_what_clusters_share():
    rng = np.random.default_rng(3)
    hard = rng.beta(2, 8, 40)
    a, b = (np.stack([e, 50 - e], axis=-1).astype(float) for e in rng.binomial(50, hard, (2, 40)))
    apart = change_of(side(a, range(40), 80), side(b, range(40, 80), 80), 0.95)
    assert paired(a, b).std_error < 0.7 * apart.std_error


def test_one_change_alone_has_its_own_p_and_ends():
    found = paired(NEW, OLD)
    family = together([found], 0.05, 0)
    assert (family.low[0], family.high[0]) == pytest.approx((found.low, found.high))
    assert (family.p_value[0] <= 0.05) == (found.low > 0)


def test_the_same_change_twice_costs_nothing():
    found = paired(NEW, OLD)
    family = together([found, found], 0.05, 0)
    assert family.low[0] == pytest.approx(found.low, abs=0.003)
    assert family.findable[0] > family.high[0] - found.estimate


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [13, 60])
@pytest.mark.parametrize("is_paired", [True, False])
def test_false_alarms_come_as_stated(n_clusters, is_paired):
    rng, worlds, alarms = np.random.default_rng(n_clusters), 1_500, 0
    n = n_clusters if is_paired else 2 * n_clusters
    for _ in range(worlds):
        changes = []
        hard = [rng.beta(1, 9, n_clusters), rng.beta(2, 18, n_clusters)]
        for rates in hard:
            other = rates if is_paired else rng.permutation(rates)
            a, b = (
                np.stack([e, 60 - e], axis=-1).astype(float) for e in (rng.binomial(60, rates), rng.binomial(60, other))
            )
            at = np.arange(n_clusters)
            second = at if is_paired else at + n_clusters
            changes.append(change_of(side(a, at, n, is_rate=True), side(b, second, n, is_rate=True), 0.95))
        alarms += bool(np.nanmin([*together(changes, 0.05, 0, 4_000).p_value, 1.0]) <= 0.05)
    assert alarms / worlds < 0.05 + 3 * math.sqrt(0.05 * 0.95 / worlds)
