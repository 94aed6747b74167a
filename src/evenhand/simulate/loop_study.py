"""Graders over a course: each on the scale and learners of its run, or on those that were given."""

from dataclasses import dataclass

from evenhand.results import Estimate
from evenhand.simulate.loop import Cohort, Course, simulate_course
from evenhand.simulate.loop_estimates import closed_forms, effect_of, simulated
from evenhand.simulate.loop_graders import NamedGrader, as_grader, drawn_graders
from evenhand.simulate.loop_runs import LabelRun
from evenhand.simulate.sweeps import Step
from evenhand.stats.resampling import draw_weights

_LOW, _HIGH = 0.3, 0.7
"""Shares of the scale at which the binary labels stand; the higher one is the ability behind the false record."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for; None stands for what the run says, or for shares of the scale.

    Attributes:
        scale: lowest and highest mark of graders without a run.
        ability: mean and standard deviation of learners.
        answer_sd: of answers about ability.
        n_learners, n_items, n_skills, days, recovering: of cohort and course.
        n_draws, seed, level: behind the intervals.
    """

    scale: tuple[float, float] = (0.0, 10.0)
    ability: tuple[float, float] | None = None
    answer_sd: float | None = None
    n_learners: int = 500
    n_items: int = 40
    n_skills: int = 4
    days: float = 2.5
    recovering: float | None = None
    n_draws: int = 200
    seed: int = 0
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Studied:
    """One grader's course.

    Attributes:
        grader: before rounding and clipping.
        run: it was fitted from, if any.
        course, cohort: that were simulated.
        estimates: label effects of the run, closed forms, and the simulation.
        paths: four mean beliefs over the items, as `LoopOutcome.paths` has them.
    """

    grader: NamedGrader
    run: LabelRun | None
    course: Course
    cohort: Cohort
    estimates: tuple[Estimate, ...]
    paths: list[list[float]]


def study(one: NamedGrader, run: LabelRun | None, asked: Wishes, step: Step | None = None) -> Studied:
    """Simulate the course at the grader's own parameters and at draws of them, all on the same learners and noise.

    Args:
        one: the grader.
        run: it was fitted from.
        asked: settings.
        step: is told how many graders were run.

    Raises:
        RequestError: a setting out of its range.
    """
    course, cohort = _course(run, asked)
    point = simulate_course(as_grader([one]), cohort, course, seed=asked.seed, step=step)
    weights = draw_weights(asked.seed + 2, asked.n_draws, cohort.n_learners)
    drawn = drawn_graders([one], asked.n_draws, asked.seed + 1)
    spread = simulate_course(drawn, cohort, course, seed=asked.seed, weights=weights, step=step)
    own = (run.observed, run.corrected) if run is not None else ()
    note = run.corrected.reason if run is not None and run.corrected.ci_low is not None else ""
    closed = closed_forms(one, effect_of(one, run, asked.level), course, note)
    found = simulated(one, point.of(0), spread.of(0), cohort.n_learners, asked.level)
    return Studied(one, run, course, cohort, (*own, *closed, *found), point.paths[0].tolist())


def _course(run: LabelRun | None, asked: Wishes) -> tuple[Course, Cohort]:
    low, high = (run.marks.low, run.marks.high) if run is not None else asked.scale
    wide = high - low
    mean, sd, answer_sd = run.ability if run is not None else (low + wide / 2, wide / 8, 0.0)
    mean, sd = asked.ability or (mean, sd)
    labels = low + _LOW * wide, low + _HIGH * wide
    course = Course(
        n_items=asked.n_items,
        n_skills=asked.n_skills,
        days_between=asked.days,
        low=low,
        high=high,
        recovering=labels[1] if asked.recovering is None else asked.recovering,
        binary_labels=labels,
        whole_marks=run.marks.whole if run is not None else True,
    )
    answer_sd = answer_sd if asked.answer_sd is None else asked.answer_sd
    return course, Cohort(mean, sd, answer_sd=answer_sd, n_learners=asked.n_learners)
