"""What a simulated course says, as estimates: a value, the ends of its draws, and a sentence that says what it is."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.ids import EstimateId
from evenhand.results import Estimate
from evenhand.simulate.loop import NEAR, STRONG_SHARE, Course, LoopOutcome
from evenhand.simulate.loop_graders import NamedGrader
from evenhand.simulate.loop_runs import LabelRun
from evenhand.stats.arrays import Array, ratio
from evenhand.stats.binomial import upper_probability
from evenhand.stats.loop import eigenvalue, runaway_effect

_SPREAD = "standard deviation over learners of the belief at the end of the course (its mean over skills)"
DEFINITIONS: Mapping[str, str] = {
    "loop_multiplier": f"{_SPREAD} with the label fed back, over the same where the label always says the middle of "
    "the scale: what feedback alone does",
    "loop_total": f"{_SPREAD} with the label fed back, over the same without labels: all that the label does",
    "loop_belief_error": "root mean squared distance of the belief at the end of the course from ability, as shares "
    "of the scale",
    "loop_strong_belief": f"mean of belief less ability over the ablest {STRONG_SHARE:.0%} of learners at the end of "
    "the course, as shares of the scale (below 0 they are under-believed)",
    "loop_recovery": f"median number of items until a belief that starts from a false record stays within {NEAR:g} of "
    "the belief that the same learner has from the default start",
}
"""What the simulation's statistics are, whatever the label."""
LABELS: Mapping[str, str] = {
    "none": "no label",
    "binary": "a binary label (mastered or not, by a cut of the belief)",
    "": "the belief as label",
}
NOT_THERE = "more than half of the learners are not there at the end of the course"
NO_SPREAD = "beliefs do not spread without feedback"
FLAT = "the label effect is not above 0: no multiple of it runs away"

_Value = Callable[[LoopOutcome], Array]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a course.

    Attributes:
        statistic, params: of its id.
        value: from the outcome.
        definition: a sentence.
    """

    statistic: str
    params: Mapping[str, str]
    value: _Value
    definition: str


def _by_label(statistic: str, values: Mapping[str, _Value]) -> Iterator[Quantity]:
    for label, value in values.items():
        params = {"label": label} if label else {}
        yield Quantity(statistic, params, value, f"{DEFINITIONS[statistic]}; with {LABELS[label]}")


def _compared(statistic: str, label: str, quantity: str, value: _Value) -> Quantity:
    """A quantity with a label beside the same with none: their difference or ratio."""
    how = {"change": "less that", "ratio": "over that"}[quantity]
    words = f"{DEFINITIONS[statistic]}; with {LABELS[label]} {how} with no label"
    return Quantity(statistic, {**({"label": label} if label else {}), "quantity": quantity}, value, words)


QUANTITIES: tuple[Quantity, ...] = (
    *_by_label("loop_multiplier", {"": lambda one: one.multiplier, "binary": lambda one: one.binary_multiplier}),
    *_by_label("loop_total", {"": lambda one: one.total, "binary": lambda one: one.binary_total}),
    *_by_label(
        "loop_belief_error",
        {
            "none": lambda one: one.error_without,
            "": lambda one: one.error_with,
            "binary": lambda one: one.binary_error,
        },
    ),
    _compared("loop_belief_error", "", "change", lambda one: one.error_change),
    _compared("loop_belief_error", "binary", "change", lambda one: one.binary_error - one.error_without),
    *_by_label(
        "loop_strong_belief",
        {
            "none": lambda one: one.strong_without,
            "": lambda one: one.strong_with,
            "binary": lambda one: one.binary_strong,
        },
    ),
    _compared("loop_strong_belief", "", "change", lambda one: one.strong_with - one.strong_without),
    _compared("loop_strong_belief", "binary", "change", lambda one: one.binary_strong - one.strong_without),
    *_by_label(
        "loop_recovery",
        {
            "none": lambda one: one.recovery_without,
            "": lambda one: one.recovery_with,
            "binary": lambda one: one.binary_recovery,
        },
    ),
    _compared("loop_recovery", "", "ratio", lambda one: ratio(one.recovery_with, one.recovery_without)),
    _compared("loop_recovery", "binary", "ratio", lambda one: ratio(one.binary_recovery, one.recovery_without)),
)
"""Every number that comes from the simulation, in the order in which it is shown."""


def eigenvalue_words(course: Course) -> str:
    """What the eigenvalue is in this course."""
    return (
        "share of a belief's deviation that is left after the next mark, r + wγ, near the steady state of a course with a "
        f"mark of a skill every {course.n_skills * course.days_between:g} days (evidence decays as "
        f"(1 + {course.decay:g} days)^-½, a mark weighs {course.mass:g} beside a prior of 1); below 1 deviations die out"
    )


def runaway_words(course: Course) -> str:
    """What the multiple is in this course."""
    critical = float(runaway_effect(course.kept, course.mass))
    return (
        "times its own that the label effect would have to be for beliefs to run away, γ*/γ with "
        f"γ* = {critical:.4g} in this course"
    )


def effect_of(one: NamedGrader, run: LabelRun | None, level: float) -> tuple[float, float | None, float | None]:
    """The label effect before clipping with its ends: the run's interval, or normal at the standard error given."""
    value = one.parameters["label_effect"]
    if run is not None:
        return value, run.corrected.ci_low, run.corrected.ci_high
    if one.label_effect_error == 0:
        return value, None, None
    half = float(special.ndtri(upper_probability(level))) * one.label_effect_error
    return value, value - half, value + half


def closed_forms(
    one: NamedGrader, effect: tuple[float, float | None, float | None], course: Course, note: str = ""
) -> Iterator[Estimate]:
    """Eigenvalue and runaway multiple from a label effect before clipping and its ends.

    Args:
        one: the grader.
        effect: value and ends, None where there are none.
        course: the course.
        note: what is to be said of the label effect beside them.
    """
    value, low, high = effect
    middle, *ends = (None if one_ is None else float(eigenvalue(one_, course.kept, course.mass)) for one_ in effect)
    yield _estimate(one, "loop_eigenvalue", {}, middle, ends, eigenvalue_words(course), note)
    critical = float(runaway_effect(course.kept, course.mass))
    multiple = critical / value if value > 0 else None
    multiples: list[float | None] = [None, None]
    reason = FLAT if multiple is None else note
    if multiple is not None and low is not None and high is not None:
        if low > 0:
            multiples = [critical / high, critical / low]
        else:
            reason = f"unbounded: a label effect of 0 is not ruled out; at least {critical / high:.3g}"
    yield _estimate(one, "loop_runaway_multiple", {}, multiple, multiples, runaway_words(course), reason)


def simulated(
    one: NamedGrader, point: LoopOutcome, drawn: LoopOutcome, n_learners: int, level: float
) -> Iterator[Estimate]:
    """Every number of one grader's simulation.

    Args:
        one: the grader.
        point: fields of shape (), at its own parameters.
        drawn: fields of shape (draws,), over draws of learners and of the grader.
        n_learners: of the cohort.
        level: of confidence.
    """
    for quantity in QUANTITIES:
        value, ends = float(quantity.value(point)), ends_of_draws(quantity.value(drawn), level)
        known = math.isfinite(value)
        absent = NOT_THERE if quantity.statistic == "loop_recovery" else NO_SPREAD
        reason = absent if not known else "" if None not in ends else f"no upper end: in some draws {absent}"
        yield _estimate(
            one,
            quantity.statistic,
            quantity.params,
            value if known else None,
            ends,
            quantity.definition,
            reason,
            n_learners,
        )


def ends_of_draws(drawn: Array, level: float) -> tuple[float | None, float | None]:
    """Ends of the middle share of draws; an undefined draw lies beyond every number, and an end there is none."""
    places = np.round([1 - upper_probability(level), upper_probability(level)], 12)
    ends = np.quantile(np.where(np.isnan(drawn), np.inf, drawn), places, method="inverted_cdf")
    low, high = (float(end) if np.isfinite(end) else None for end in ends)
    return low, high


def _estimate(
    one: NamedGrader,
    statistic: str,
    params: Mapping[str, str],
    value: float | None,
    ends: Sequence[float | None],
    words: str,
    reason: str,
    n_learners: int = 0,
) -> Estimate:
    identity = EstimateId(statistic, one.source, dict(sorted({**one.params, **params}.items())))
    has_ends = value is not None and None not in ends
    return Estimate(
        id=str(identity),
        statistic=statistic,
        params=dict(identity.params),
        source=one.source,
        estimate=value,
        std_error=None,
        ci_low=ends[0] if has_ends else None,
        ci_high=ends[1] if has_ends else None,
        interval_method=("draws" if n_learners else "from_label_effect") if has_ends else "none",
        status="ok" if value is not None else "undefined",
        reason=reason,
        unit="learner",
        events=None,
        trials=None,
        n_used=n_learners,
        n_excluded=0,
        n_clusters=n_learners,
        design_effect=None,
        describes="grader×context",
        estimand=f"{words}; a property of the simulation, not an observation of a course",
    )
