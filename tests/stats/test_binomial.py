import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.stats.binomial import clopper_pearson, design_effect_at, icc_of, korn_graubard_limits, t_quantile, wilson

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def test_one_effective_trial_is_one_trial() -> None:
    # design effect 1 and as many degrees of freedom as trials have: Clopper-Pearson itself
    found = korn_graubard_limits(3, 60, 1.0, 59, 0.95)
    low, high = clopper_pearson(np.array(3.0), np.array(60.0), 0.95)
    assert (found.low, found.high, found.trials) == pytest.approx((float(low), float(high), 60.0))


def test_effective_trials_by_hand() -> None:
    found = korn_graubard_limits(3, 60, 2.0, 9, 0.95)
    assert found.trials == pytest.approx(30 * (t_quantile(0.975, 59) / t_quantile(0.975, 9)) ** 2)
    assert found.low < 3 / 60 < found.high


def test_no_event_and_nothing_but_events() -> None:
    assert korn_graubard_limits(0, 20, 1.0, 19, 0.95).low == 0.0
    assert korn_graubard_limits(0, 20, 1.0, 19, 0.95).high == pytest.approx(1 - 0.025 ** (1 / 20))
    assert korn_graubard_limits(20, 20, 1.0, 19, 0.95).high == 1.0
    assert wilson(0, 20, 0.95)[0] == 0.0
    assert wilson(20, 20, 0.95)[1] == 1.0


@given(
    events=st.integers(0, 40), trials=st.integers(40, 400), effect=st.floats(1, 20), df=st.floats(1, 60),
    more=st.floats(1, 5),
)  # fmt: skip
def test_more_clustering_is_never_narrower(events: int, trials: int, effect: float, df: float, more: float) -> None:
    one = korn_graubard_limits(events, trials, effect, df, 0.95)
    other = korn_graubard_limits(events, trials, effect * more, df, 0.95)
    assert other.high >= one.high - 1e-9
    assert other.low <= one.low + 1e-9
    assert 0 <= other.low <= events / trials <= other.high <= 1


@given(icc=st.floats(0, 1), trials=st.floats(1.01, 500))
def test_icc_and_design_effect_are_inverse(icc: float, trials: float) -> None:
    assert icc_of(design_effect_at(icc, trials), trials) == pytest.approx(icc, abs=1e-9)


def test_single_trials_have_no_correlation() -> None:
    assert (design_effect_at(0.5, 1.0), icc_of(1.3, 1.0), design_effect_at(-0.9, 5)) == (1.0, 0.0, 1.0)
