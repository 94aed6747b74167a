"""Worlds of the selftest: what is planted is what was asked for, and what is called is counted right."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.selftesting import marks, verdicts
from evenhand.selftesting.planting import Defect, Rule, plant
from evenhand.stats import marks as of

N_UNITS, K = 12, 4
SHAPE = verdicts.Shape(np.full((N_UNITS, K), 40.0), np.full((N_UNITS, K), 60.0), 0.06, 0.0, True, ())
RULE = Rule("default", 0.95, 200, 0, tuple(f"c{n}" for n in range(N_UNITS)))


def coin(size_that_is_always_called):
    return lambda rng, size: bool(rng.random() < size / size_that_is_always_called)


def planted(defect, worlds=200):
    return plant([defect], worlds, 0, lambda n: None)


def test_share_verdict_and_smallest_size():
    found = planted(Defect("coin", "x/judge", "heads", "heads", (0.1, 0.5, 1.0), coin(1.0)))
    assert [one.verdict for one in found] == ["missed", "missed", "caught"]
    assert found[1].share == pytest.approx(0.5, abs=0.1)
    assert found[2].smallest == pytest.approx(0.8, abs=0.06)
    assert found[0].low < found[0].share < found[0].high


def test_what_is_never_caught_has_no_smallest_size():
    assert planted(Defect("none", "x/judge", "never", "size", (0.1, 1.0), lambda rng, size: False))[1].smallest is None


def test_a_control_is_fine_up_to_its_rate():
    assert planted(Defect("control", "x/judge", "heads", "", (0.0,), coin(1.0), 0.05))[0].verdict == "fine"
    often = Defect("control", "x/judge", "heads", "", (0.3,), coin(1.0), 0.05)
    assert planted(often)[0].verdict == "too often"


def test_the_judge_in_question_is_neither_lenient_nor_strict():
    accept, reject = SHAPE.rates
    assert accept * SHAPE.absent.sum() == pytest.approx(reject * SHAPE.present.sum())
    wrong = accept * SHAPE.absent.sum() + reject * SHAPE.present.sum()
    assert wrong / (SHAPE.absent.sum() + SHAPE.present.sum()) == pytest.approx(SHAPE.error_rate)


def test_errors_come_at_their_rates_and_gather_in_clusters():
    rng = np.random.default_rng(0)
    spread = []
    for icc in (0.0, 0.2):
        drawn = np.stack([verdicts.errors(rng, SHAPE, 0.2, 0.1, icc)[0].sum(axis=1) for _ in range(400)])
        assert drawn.mean() / (40 * K) == pytest.approx(0.2, abs=0.01)
        spread.append(drawn.var())
    independent = 160 * 0.2 * 0.8
    assert spread[0] == pytest.approx(independent, rel=0.1)
    assert spread[1] == pytest.approx(independent * (1 + 159 * 0.2), rel=0.1)


def test_errors_on_few_lines_are_as_many_as_ever():
    rng = np.random.default_rng(1)
    drawn = [verdicts._on_few_lines(rng, SHAPE, 0.5) for _ in range(400)]
    totals = np.array([accepts.sum() + rejects.sum() for accepts, rejects in drawn])
    worst = np.array([verdicts._worst(SHAPE, *one) for one in drawn])
    expected = 0.06 * (SHAPE.absent.sum() + SHAPE.present.sum())
    assert totals.mean() == pytest.approx(expected, rel=0.02)
    assert worst.mean() / expected == pytest.approx(0.5, abs=0.04)


def test_a_perfect_judge_is_never_called():
    found = plant(list(verdicts.defects(SHAPE, RULE, "judge", 0))[:1], 30, 0, lambda n: None)
    assert [one.called for one in found] == [0]


def bank(rng, n=40, n_units=10):
    t = rng.normal(50, 10, (n_units, n))
    t -= t.mean()
    return marks.MarkShape(np.full(n_units, float(n)), t.sum(axis=1), np.square(t).sum(axis=1), float(t.std()), 0.7, 0.0, ())  # fmt: skip


@given(st.floats(-1, 1), st.floats(0.2, 1.5))
def test_marks_without_noise_are_a_line(shift, scale):
    shape = bank(np.random.default_rng(2))
    sums = marks.moments(np.random.default_rng(0), shape, shift=shift, scale=scale, correlation=1.0).sum(axis=0)
    assert float(of.pearson_r(sums)) == pytest.approx(1.0)
    assert float(of.bias(sums)) == pytest.approx(shift * shape.sd, abs=1e-9)
    assert float(of.spread_ratio(sums)) == pytest.approx(scale)


def test_moments_in_closed_form_are_those_of_rows():
    rng = np.random.default_rng(3)
    t = rng.normal(0, 1, (10, 40))
    t -= t.mean()
    shape = marks.MarkShape(np.full(10, 40.0), t.sum(axis=1), np.square(t).sum(axis=1), float(t.std()), 0.7, 0.0, ())
    drawn = np.stack([marks.moments(rng, shape) for _ in range(4_000)])
    error = rng.normal(0, shape.sd * math.sqrt(1 - 0.49), (4_000, 10, 40))
    m = 0.7 * t + error
    rows = np.stack([m.sum(axis=2), np.square(m).sum(axis=2), (t * m).sum(axis=2)], axis=-1)
    ours = drawn[..., [2, 4, 5]]
    for made, seen in ((ours.mean(axis=0), rows.mean(axis=0)), (ours.var(axis=0), rows.var(axis=0))):
        np.testing.assert_allclose(made, seen, rtol=0.15, atol=0.5)
    for a, b in ((0, 1), (0, 2), (1, 2)):  # how they hang together
        for unit in (0, 5):
            made, seen = (np.corrcoef(one[:, unit, a], one[:, unit, b])[0, 1] for one in (ours, rows))
            assert made == pytest.approx(seen, abs=0.06)


@pytest.mark.slow
def test_controls_are_called_no_more_than_stated():
    shape = bank(np.random.default_rng(4))
    rule = Rule("default", 0.95, 200, 0, tuple(f"c{n}" for n in range(10)))
    both = [*verdicts.defects(SHAPE, RULE, "judge", 0), *marks.defects(shape, rule, "judge")]
    controls = [one for one in both if one.false_rate is not None]
    for one in plant(controls, 1_000, 0, lambda n: None):
        assert one.verdict == "fine", (one.defect.name, one.share)
