"""The detection floor: its reading rule is the audits' own, its chances are right where they are known, its verdicts hold."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from evenhand.design.calls import Design
from evenhand.design.floor import POWER, Floor, _judged, _Study, _up, _verdict, floor_of, limits
from evenhand.design.floor import Chance as Seen
from evenhand.design.plan import FloorPart, ScalePart
from evenhand.design.worlds import Assumptions, Shape, assumptions_of, draw_worlds
from evenhand.stats.intervals import Sample, default
from evenhand.stats.scales import IDENTITY
from evenhand.stats.stratified import mean_over_strata

MakeDesign = Callable[..., Design]
MARKS = ScalePart(kind="ordinal", levels=tuple(range(11)))
ANY_NUMBER = ScalePart(kind="continuous", range=(-1_000.0, 1_000.0))


def assumed(scale: ScalePart = MARKS, **said: float) -> Assumptions:
    return assumptions_of(FloorPart(**said), scale, is_contrast=True, known_truth=True)


def tails(units: tuple[int, int] = (19, 14), rows: int = 150, seed: int = 1) -> Shape:
    """The published attainment design: 150 responses a tail, 19 learners at the high end and 14 at the low one."""
    rng = np.random.default_rng(seed)
    sizes = [np.bincount(np.arange(rows) % count, minlength=count) for count in units]
    truth = [rng.normal(middle, 2.2, rows).round().clip(0, 10) for middle in (8, 3)]
    stratum = np.repeat([0, 1], units)
    return Shape(np.concatenate(truth), np.concatenate(sizes), stratum, ("high", "low"))


def one_stratum(sizes: list[int]) -> Shape:
    return Shape(np.full(sum(sizes), 5.0), np.array(sizes), np.zeros(len(sizes), dtype=np.int64), ("",))


def mean(tallies: np.ndarray) -> np.ndarray:
    return tallies[..., 0] / tallies[..., 1]


def judged(shape: Shape, target: float | None, worlds: int = 1_000, halved: bool = True, **said: float) -> Floor:
    study = _Study(shape, assumed(**said), halved, seed=3)
    return _judged(study, "label effect", "learner", target, (), worlds, ())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=9), st.integers(0, 1_000))
def test_without_strata_the_rule_is_the_default_interval(sizes: list[int], seed: int) -> None:
    shape = one_stratum(sizes)
    differences = np.random.default_rng(seed).normal(0.1, 1, (3, sum(sizes)))
    value, low, high = limits(differences, shape)
    for world, row in enumerate(differences):
        tallies = np.stack([np.add.reduceat(row, shape.starts), shape.sizes], axis=1)
        sample = Sample(
            tallies, mean, shape.sizes.astype(float), IDENTITY, ("",) * len(sizes), lambda n: np.ones((1, n))
        )
        found = default(sample, 0.95)
        assert value[world] == pytest.approx(sample.value, abs=1e-12)
        assert found.low is not None
        assert found.high is not None
        assert (low[world], high[world]) == pytest.approx((found.low, found.high), rel=1e-9)


def test_within_strata_of_equal_size_the_rule_is_the_stratified_mean() -> None:
    shape = tails()
    differences = np.random.default_rng(5).normal(0.1, 1, (4, 300))
    value, low, high = limits(differences, shape)
    for world, row in enumerate(differences):
        tallies = np.stack([np.add.reduceat(row, shape.starts), shape.sizes], axis=1)
        found = mean_over_strata(tallies, shape.stratum, mean)
        # its df come from sums of cells, which are no sizes here
        df = sum(
            shape.sizes[shape.stratum == h].sum() ** 2 / (shape.sizes[shape.stratum == h] ** 2).sum() - 1
            for h in (0, 1)
        )
        half = special.stdtrit(df, 0.975) * found.std_error()
        assert value[world] == pytest.approx(found.value, abs=1e-12)
        assert (low[world], high[world]) == pytest.approx((found.value - half, found.value + half), rel=1e-9)


def test_by_hand() -> None:
    """Units of 1, 1 and 2 rows with means 1, 2 and 3: leave-one-out 8/3, 7/3 and 3/2."""
    value, low, high = limits(np.array([[1.0, 2.0, 2.0, 4.0]]), one_stratum([1, 1, 2]))
    left_out = np.array([8 / 3, 7 / 3, 3 / 2])
    std_error = np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum())
    df = 16 / 6 - 1
    assert value[0] == 9 / 4
    assert high[0] - value[0] == pytest.approx(special.stdtrit(df, 0.975) * std_error, rel=1e-12)
    assert value[0] - low[0] == pytest.approx(high[0] - value[0], rel=1e-12)


def test_differences_that_never_vary_give_no_call() -> None:
    value, low, high = limits(np.ones((2, 4)), one_stratum([1, 1, 2]))
    assert value.tolist() == [1.0, 1.0]
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_chances_are_those_of_the_t_test_where_that_is_exact() -> None:
    """One row a unit, marks of any value, no clipping: the power of a one-sample t test at n = 20."""
    shape = one_stratum([1] * 20)
    study = _Study(shape, assumed(ANY_NUMBER, repeat_sd=1.0, effect_sd=0, unit_sd=0, mark_sd=0, step=0), False, 11)
    effect = 1.0
    found, none = study.count([effect, 0.0], 20_000)
    ncp = effect / np.sqrt(2 / 20)
    expected = 1 - special.nctdtr(19, ncp, special.stdtrit(19, 0.975))
    assert found.share == pytest.approx(expected, abs=0.01)
    assert none.share == pytest.approx(0.05, abs=0.005)
    assert found.estimate == pytest.approx(effect, abs=0.01)


def test_detection_rises_with_the_effect_and_false_calls_are_about_five_in_a_hundred() -> None:
    study = _Study(tails(), assumed(), halved=True, seed=1)
    shares = [chance.share for chance in study.count([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5], 2_000)]
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert shares[-1] > 0.99
    (none,) = study.count([0.0], 4_000)
    assert 0.03 < none.share < 0.07


@pytest.mark.parametrize(
    "noisier", [{"repeat_sd": 1.0}, {"effect_sd": 1.5}, {"unit_sd": 0.6}], ids=lambda said: next(iter(said))
)
def test_noise_hides_effects(noisier: dict[str, float]) -> None:
    (calm,) = _Study(tails(), assumed(), True, 1).count([0.2], 600)
    (noisy,) = _Study(tails(), assumed(**noisier), True, 1).count([0.2], 600)
    assert noisy.share < calm.share - 0.1


def test_the_ends_of_the_scale_hide_a_part_of_an_effect() -> None:
    ends = replace(tails(), truth=np.repeat([10.0, 0.0], 150))
    at_ends, inside = (
        _Study(shape, assumed(mark_sd=1.0), True, 1).count([0.4], 300)[0]
        for shape in (ends, replace(ends, truth=np.full(300, 5.0)))
    )
    assert inside.estimate == pytest.approx(0.4, abs=0.02)
    assert at_ends.estimate < 0.3


def test_verdicts() -> None:
    floor = judged(tails(), 0.3)
    assert (floor.verdict, floor.reason) == ("pass", "")
    assert floor.smallest is not None
    assert floor.smallest < 0.3
    refused = judged(tails(), 0.05)
    assert refused.verdict == "refused"
    assert "unanswerable at this size" in refused.reason
    assert judged(tails(), None).verdict == "open"


def test_the_smallest_effect_passes_and_a_smaller_one_does_not() -> None:
    study = _Study(tails(), assumed(), True, 3)
    smallest = study.smallest(1_000)
    assert smallest is not None
    just, below = study.count([smallest, 0.9 * smallest], 1_000)
    assert just.ends[0] >= POWER > below.ends[0]


def test_the_size_that_would_do_does() -> None:
    shape = tails()
    floor = judged(shape, 0.1)
    assert floor.would_do is not None
    factor = floor.would_do.units / shape.n_units
    larger = next(
        found
        for step in np.arange(0.97, 1.03, 0.001)
        if (found := shape.enlarged(factor * step)).n_units == floor.would_do.units
    )
    assert larger.n_responses == pytest.approx(floor.would_do.responses, rel=0.05)
    (other_worlds,) = _Study(larger, assumed(), True, seed=99).count([0.1], 3_000)
    assert other_worlds.share >= POWER - 0.02


def test_undecided_worlds_are_added_up_to_ten_times_as_many() -> None:
    study = _Study(tails(), assumed(), True, 3)
    grid = np.linspace(0.1, 0.2, 21).tolist()
    close = min(study.count(grid, 4_000), key=lambda chance: abs(chance.share - POWER)).effect
    floor = judged(tails(), close, worlds=200)
    assert floor.false_calls is not None
    asked = next(chance for chance in floor.chances if chance.effect == close)
    assert 200 < asked.worlds == floor.false_calls.worlds <= 2_000


@pytest.mark.parametrize(
    ("seen", "false", "expected"),
    [
        (1_700, 100, "pass"),
        (1_600, 100, "borderline"),
        (1_500, 100, "refused"),
        (1_900, 150, "borderline"),
        (1_900, 250, "refused"),
        (1_637, 100, "pass"),
        (1_634, 100, "borderline"),
    ],
)
def test_wilson_intervals_decide(seen: int, false: int, expected: str) -> None:
    assert _verdict(Seen(0.2, seen, 2_000, 0.2), Seen(0.0, false, 2_000, 0.0), 0.15)[0] == expected


def test_equal_seeds_give_equal_floors_and_longer_studies_begin_with_shorter_ones() -> None:
    assert judged(tails(), 0.2) == judged(tails(), 0.2)
    study = _Study(tails(), assumed(), True, 3)
    whole = study.count([0.1, 0.0], 664)
    parts = [
        one + other for one, other in zip(study.count([0.1, 0.0], 332), study.count([0.1, 0.0], 332, 332), strict=True)
    ]
    assert [chance.called for chance in whole] == [chance.called for chance in parts]


def test_the_published_design_takes_less_than_ten_seconds() -> None:
    started = time.perf_counter()
    judged(tails(), 0.2, worlds=400)
    assert time.perf_counter() - started < 10


@pytest.mark.slow
@pytest.mark.parametrize("units", [(19, 14), (6, 6), (40, 5)])
@pytest.mark.parametrize("unit_sd", [0.0, 0.15])
def test_false_calls_stay_near_five_in_a_hundred_with_few_learners_too(units: tuple[int, int], unit_sd: float) -> None:
    (none,) = _Study(tails(units), assumed(unit_sd=unit_sd), True, 1).count([0.0], 10_000)
    assert 0.035 < none.share < 0.075


def test_a_draw_whose_rule_calls_too_often_is_refused() -> None:
    """Five learners carry half of the variance, and the degrees of freedom are mostly those of the other forty."""
    floor = judged(tails((40, 5)), 1.0, worlds=2_000, unit_sd=0.6)
    assert floor.verdict == "refused"
    assert "the rule calls an effect in" in floor.reason


def test_a_plan_from_its_file(design_of: MakeDesign, grader: str) -> None:
    plan = grader.replace("[draw]", "[read]\neffects = [1.0, 0.5]\n[floor]\neffect = 1.0\n[draw]")
    floor = floor_of(design_of(plan), worlds=400)
    assert floor is not None
    assert (floor.reads, floor.unit) == ("label effect (true against swapped)", "learner")
    assert [chance.effect for chance in floor.chances] == [1.0, 0.5]
    assert floor.target == 1.0
    assert "marks in steps of 1" in floor.assumptions


def test_a_tail_of_one_learner_cannot_be_read(design_of: MakeDesign, grader: str, rows: list[tuple[str, ...]]) -> None:
    lone = [(*row[:2], "s0" if row[2] in ("s1", "s2", "s3") else row[2], *row[3:]) for row in rows]
    floor = floor_of(design_of(grader, rows=lone), worlds=200)
    assert floor is not None
    assert (floor.verdict, floor.smallest) == ("refused", None)
    assert "one learner in the low tail" in floor.reason


def test_a_plan_without_a_contrast_has_no_floor(design_of: MakeDesign, grader: str) -> None:
    assert floor_of(design_of(grader.split("[[arm]]")[0])) is None


def test_drift_reads_the_arms_it_names(design_of: MakeDesign, grader: str) -> None:
    plan = grader.replace("[draw]", '[read]\nprimary = "drift"\narms = ["neutral", "control"]\n[draw]')
    floor = floor_of(design_of(plan), worlds=200)
    assert floor is not None
    assert floor.reads == "drift (neutral against control)"


@pytest.mark.parametrize(
    ("number", "expected"), [(0.1401, 0.15), (0.14, 0.14), (1.0, 1.0), (12.01, 13.0), (0.0099, 0.0099)]
)
def test_rounding_up_to_two_digits(number: float, expected: float) -> None:
    assert _up(number) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 5), min_size=2, max_size=8),
    effect=st.floats(0, 3),
    halved=st.booleans(),
    step=st.sampled_from([0.0, 0.5, 1.0, 2.5]),
)
def test_marks_of_worlds_lie_on_the_scale(sizes: list[int], effect: float, halved: bool, step: float) -> None:
    what = assumed(mark_sd=4.0, step=step)
    block = draw_worlds(one_stratum(sizes), what, (1, 2), 20, halved=halved)
    differences = block.differences(effect)
    assert differences.shape == (20, sum(sizes))
    assert np.abs(differences).max() <= 10 + 1e-5
    if step:
        assert np.allclose(differences / step, np.round(differences / step), atol=1e-5)
    assert ((block.verdicts() >= 0) & (block.verdicts() <= 10 + 1e-5)).all()


def test_labels_have_the_error_rate_the_turning_rate_and_the_effect_they_are_given() -> None:
    shape = Shape(np.tile([1.0, 0.0], 2_000), np.full(400, 10), np.zeros(400, dtype=np.int64), ("",))
    what = assumed(ScalePart(kind="binary"), error_rate=0.2, icc=0.1, flip_rate=0.05, unit_sd=0.0)
    block = draw_worlds(shape, what, (4,), 50)
    wrong = block.verdicts() != shape.truth
    assert wrong.mean() == pytest.approx(0.2 * 0.95 + 0.8 * 0.05, abs=0.01)
    assert (block.differences(0.0) != 0).mean() == pytest.approx(2 * 0.05 * 0.95, abs=0.005)
    assert block.differences(0.1).mean() == pytest.approx(0.1 * (1 - 2 * 0.05), abs=0.005)
    of_unit = (wrong.reshape(50, 400, 10)).sum(axis=2).ravel()
    assert of_unit.var() > 1.5 * 10 * wrong.mean() * (1 - wrong.mean())
