"""Control charts: run lengths and between-audit variance against published values, limits, and false alarms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from evenhand.watching.between import between_variance, heterogeneity
from evenhand.watching.change import Side
from evenhand.watching.control import chart
from evenhand.watching.run_length import ewma_run_length

# Colditz et al. (1994), 13 trials of BCG vaccine: treated cases and others, control cases and others
BCG = np.array(
    [4, 119, 11, 128, 6, 300, 29, 274, 3, 228, 11, 209, 62, 13536, 248, 12619, 33, 5036, 47, 5761, 180, 1361, 372, 1079,
     8, 2537, 10, 619, 505, 87886, 499, 87892, 29, 7470, 45, 7232, 17, 1699, 65, 1600, 186, 50448, 141, 27197,
     5, 2493, 3, 2338, 27, 16886, 29, 17825], dtype=float,
).reshape(13, 4)  # fmt: skip


# Lucas and Saccucci (1990), as Montgomery's Introduction to Statistical Quality Control tabulates them
@pytest.mark.parametrize(
    ("weight", "multiplier", "at_rest", "shifted"),
    [(0.4, 3.054, 500, 14.3), (0.25, 2.998, 500, 11.1), (0.2, 2.962, 500, 10.5), (0.1, 2.814, 500, 10.3), (0.05, 2.615, 500, 11.4)],
)  # fmt: skip
def test_run_lengths_of_published_schemes(weight, multiplier, at_rest, shifted):
    assert ewma_run_length(multiplier, weight) == pytest.approx(at_rest, rel=0.002)
    assert ewma_run_length(multiplier, weight, shift=1.0) == pytest.approx(shifted, abs=0.06)


def test_weight_of_one_is_shewhart():
    assert ewma_run_length(3.0, 1.0) == pytest.approx(370.4, abs=0.05)


def test_between_variance_of_published_trials():
    # R metafor, dat.bcg, log risk ratios: Q 152.2330; tau^2 0.3181 with method PM
    a, b, c, d = BCG.T
    values = np.log(a / (a + b) / (c / (c + d)))
    within = np.diag(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    assert heterogeneity(values, within) == pytest.approx(152.2330, abs=5e-5)
    assert between_variance(values, within) == pytest.approx(0.3181, abs=5e-5)


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=8), st.floats(-100, 100))
def test_between_variance_is_blind_to_the_origin(values, shift):
    y, within = np.array(values), np.eye(len(values))
    found = between_variance(y, within)
    assert 0 <= found <= y.var(ddof=1) + 1e-9
    assert between_variance(y + shift, within) == pytest.approx(found, abs=1e-4)


def sides(values, error=1.0, n_clusters=12, *, is_shared=False):
    """Audits with these values and standard errors, on clusters of their own or on the same ones."""
    rng, found = np.random.default_rng(1), []
    n = n_clusters if is_shared else n_clusters * len(values)
    for at, value in enumerate(values):
        pulls, sizes = np.zeros(n), np.zeros(n)
        here = slice(0, n) if is_shared else slice(at * n_clusters, (at + 1) * n_clusters)
        raw = rng.normal(size=n_clusters)
        raw -= raw.mean()
        pulls[here] = raw / np.linalg.norm(raw) * error
        sizes[here] = 10
        found.append(Side(value, pulls, sizes, None))
    return found


def test_two_earlier_audits_have_no_limits():
    found = chart(sides([1, 2, 9]), 0.05)
    assert found.reason == "2 earlier audits: limits need 3 or more"
    assert np.isnan(found.low).all()
    assert not found.is_outside
    assert not found.has_drifted


def test_limits_are_those_of_prediction():
    # audits with hardly any error of their own: mean 2, SD 1, the next lies within t(2) SD √(1 + 1/3)
    found = chart(sides([1, 2, 3, 2], error=1e-4), 0.10)
    half = found.t * math.sqrt(1 + 1 / 3)
    assert found.between_sd == pytest.approx(1, abs=1e-3)
    assert (found.low[-1], found.high[-1]) == pytest.approx((2 - half, 2 + half), abs=1e-2)
    assert found.df == 2


def test_a_jump_is_outside_and_a_creep_has_drifted():
    rest = [0, 0.4, -0.3, 0.2, -0.4, 0.1, 0.3, -0.2, 0, 0.1]
    assert chart(sides([*rest, 8], error=0.3), 0.05).is_outside
    assert not chart(sides([*rest, 0.2], error=0.3), 0.05).is_outside
    crept = chart(sides([*rest, *rest, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2], error=0.3), 0.05, weight=0.1)
    assert not crept.is_outside
    assert crept.has_drifted


def test_audits_that_never_differ_have_no_limits():
    one = sides([1.0], error=0.5)[0]
    found = chart([one] * 5, 0.05)
    assert found.reason.startswith("the earlier audits do not differ at all")


def test_limits_stay_within_what_the_number_can_be():
    found = chart(sides([0.9, 0.97, 0.95, 0.99], error=0.05), 0.05, domain=(0.0, 1.0))
    assert found.high.max() <= 1
    assert found.average_high.max() <= 1


def test_an_average_with_a_long_memory_alarms_as_seldom_as_stated():
    # limits set by an average run length would lie within 1.8 SDs here, and be crossed in 8 % of audits at rest
    rng, worlds, drifted = np.random.default_rng(3), 400, 0
    for _ in range(worlds):
        drifted += chart(sides(rng.normal(0, 5, 31).tolist(), error=0.01, n_clusters=3), 0.05, weight=0.05).has_drifted
    assert drifted / worlds < 0.025 + 3 * math.sqrt(0.025 * 0.975 / worlds)


def test_both_rules_share_the_chance_of_a_false_alarm():
    found = chart(sides([0, 1, 0.5, 2, 3]), 0.1)
    away, reach = found.average[-1] - found.centre, found.average_high[-1] - found.centre
    assert found.average_p_value == pytest.approx(2 * special.stdtr(found.df, -abs(away) * found.t / reach))
    assert found.run_length == 20
    assert found.average_run_length == pytest.approx(ewma_run_length(special.ndtri(0.975), 0.2))
    assert found.average_run_length > found.run_length


def test_an_audit_without_error_is_named():
    broken = sides([1, 2, 3, 4])
    broken[1] = Side(2.0, broken[1].pulls, broken[1].sizes, None, "one cluster")
    assert chart(broken, 0.05).reason == "audit 2 has no standard error: one cluster"


@pytest.mark.slow
@pytest.mark.parametrize("between", [0.0, 1.0, 5.0])
def test_false_alarms_are_no_more_than_stated(between):
    rng, worlds, alarms = np.random.default_rng(7), 600, 0
    for _ in range(worlds):
        values = rng.normal(0, math.hypot(1, between), 8)
        found = chart(sides(values.tolist()), 0.05)
        alarms += found.is_outside or found.has_drifted
    assert alarms / worlds < 0.05 + 3 * math.sqrt(0.05 * 0.95 / worlds)
