"""The widest of several gaps: one gap is a t test, how often the widest of zeros is called, and shares of groups by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from evenhand.stats import group_shares
from evenhand.stats.group_gaps import gap, gap_cells, pooled_weights, spread_of_gap
from evenhand.stats.group_widest import widest
from evenhand.stats.intervals import jackknife_std_error
from evenhand.stats.resampling import leave_one_out


def whole(df) -> tuple[np.ndarray, np.ndarray]:
    """Shares and degrees of freedom of variances of one part."""
    df = np.asarray(df, dtype=float)
    return np.tile([1.0, 0.0], (len(df), 1)), np.column_stack([df, np.zeros(len(df))])


def test_one_gap_is_its_own_t_test() -> None:
    deviation = np.array([[0.1, -0.2, 0.3, 0.0]])
    found = widest(np.array([0.9]), deviation, *whole([7.0]), 0.95, 0, n_draws=200_000)
    t = 0.9 / np.sqrt(0.14)
    assert found.t == pytest.approx(t, abs=1e-12)
    assert found.bar == pytest.approx(special.stdtrit(7, 0.975), abs=0.02)
    assert found.p_value == pytest.approx(2 * special.stdtr(7, -t), abs=0.002)


def test_independent_gaps_meet_sidaks_bar() -> None:
    deviations, level = np.eye(4), 0.95
    found = widest(np.array([0.1, -2.0, 1.0, 0.5]), deviations, *whole([20.0] * 4), level, 1, n_draws=200_000)
    assert found.at == 1
    each = 1 - level ** (1 / 4)
    assert found.bar == pytest.approx(special.stdtrit(20, 1 - each / 2), abs=0.02)
    assert found.p_value == pytest.approx(1 - (1 - 2 * special.stdtr(20, -2.0)) ** 4, abs=0.004)


def test_gaps_that_are_one_gap_have_its_own_variation_alone() -> None:
    """Perfectly dependent numerators with χ² of their own: between a single t test and Šidák's."""
    same = np.tile([[0.3, -0.4]], (3, 1))
    found = widest(np.array([1.0, 1.0, 1.0]), same, *whole([1e6] * 3), 0.95, 2, n_draws=100_000)
    assert found.bar == pytest.approx(special.ndtri(0.975), abs=0.02)


@given(rng=st.integers(0, 2**32).map(np.random.default_rng))
def test_the_bar_is_no_lower_than_one_test_needs(rng) -> None:
    deviations, df = rng.normal(size=(5, 9)), rng.uniform(2, 30, 5)
    values = rng.normal(size=5)
    found = widest(values, deviations, *whole(df), 0.9, 3, n_draws=2_000)
    single = special.stdtrit(df[found.at], 0.95)
    assert found.bar >= 0.9 * single
    assert 2 * special.stdtr(df[found.at], -abs(found.t)) <= found.p_value + 0.05
    again = widest(3.0 * values, 3.0 * deviations, *whole(df), 0.9, 3, n_draws=2_000)
    assert (again.at, again.bar, again.p_value) == pytest.approx((found.at, found.bar, found.p_value))


def test_sides_of_few_units_say_so() -> None:
    rng = np.random.default_rng(0)
    left_out = rng.normal(size=12)
    members = np.zeros((12, 2))
    members[:9, 0], members[9:, 1] = 5, 5
    found = spread_of_gap(left_out, members)
    parts = [jackknife_std_error(left_out[:9]) ** 2, jackknife_std_error(left_out[9:]) ** 2]
    assert found.std_error**2 == pytest.approx(sum(parts))
    assert found.parts == pytest.approx([0.25, 0.75])  # 1/9 and 1/3 of their sum
    assert found.df == pytest.approx(1 / (0.25**2 / 8 + 0.75**2 / 2))
    mixed = spread_of_gap(left_out, np.ones((12, 2)))
    assert mixed.std_error == pytest.approx(jackknife_std_error(left_out))
    assert mixed.df == pytest.approx(11)
    alone = spread_of_gap(left_out, np.column_stack([np.r_[np.ones(11), 0], np.r_[np.zeros(11), 1]]))
    assert alone.df == 0


def test_shares_by_hand() -> None:
    cells = np.array([[6.0, 4.0], [15.0, 5.0]])  # the other group: 4 of 10 pass; the focal one: 5 of 20
    assert group_shares.share_gap(cells) == pytest.approx(0.25 - 0.4)
    assert group_shares.share_ratio(cells) == pytest.approx(0.25 / 0.4)
    both = np.stack([cells, np.array([[5.0, 5.0], [10.0, 10.0]])])
    assert group_shares.difference_of_gaps(both) == pytest.approx(0.0 + 0.15)
    assert group_shares.difference_of_parts(both) == pytest.approx(10 / 15 - 5 / 9)
    assert np.isnan(group_shares.share_ratio(np.array([[3.0, 0.0], [1.0, 1.0]])))
    assert np.isnan(group_shares.share_gap(np.array([[0.0, 0.0], [1.0, 1.0]])))


def levelled(rng, levels: int, clusters: int, *, gap_of_last: float = 0.0) -> tuple[float, bool]:
    """p of the widest of as many gaps, each group against the rest, clusters nested in groups; whether the last is it."""
    size, n = 10, levels * clusters
    group = np.repeat(np.arange(levels), clusters * size)
    unit = np.repeat(np.arange(n), size)
    value = np.repeat(rng.normal(0, 0.5, n), size) + rng.normal(size=n * size) + gap_of_last * (group == levels - 1)
    gaps, deviations, parts, parts_df = [], [], [], []
    for at in range(levels):
        focal = (group == at).astype(int)
        cells = gap_cells(value, focal, np.zeros_like(unit), 1, unit, n, np.ones(len(unit)))
        weights = pooled_weights(cells)
        spread = spread_of_gap(gap(leave_one_out(cells), weights), cells[..., 1].sum(axis=2))
        gaps.append(float(gap(cells.sum(axis=0), weights)))
        deviations.append(spread.deviation)
        parts.append(spread.parts)
        parts_df.append(spread.parts_df)
    found = widest(np.array(gaps), np.stack(deviations), np.stack(parts), np.stack(parts_df), 0.95, 0, n_draws=2_000)
    return found.p_value, found.at == levels - 1


def called(n: int, seed: int, levels: int, clusters: int) -> float:
    """How often the widest of gaps of 0 is called different from 0 at .05."""
    rng = np.random.default_rng(seed)
    return float(np.mean([levelled(rng, levels, clusters)[0] <= 0.05 for _ in range(n)]))


def test_the_widest_of_zeros_is_seldom_called_and_a_wide_one_is_found() -> None:
    assert called(150, 1, 8, 5) <= 0.1
    rng = np.random.default_rng(2)
    found = [levelled(rng, 8, 5, gap_of_last=5.0) for _ in range(30)]
    assert np.mean([p <= 0.05 and is_last for p, is_last in found]) >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "clusters"), [(4, 8), (8, 5), (20, 4)])
def test_the_widest_of_zeros_at_length(levels: int, clusters: int) -> None:
    assert 0.03 <= called(1_000, 3, levels, clusters) <= 0.075
