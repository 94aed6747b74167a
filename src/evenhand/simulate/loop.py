"""A course in which marks feed beliefs about learners and beliefs label the next answers, with and without that edge.

All arms share the same learners, answers and noise. A learner's answers lie about the learner's ability t, on the scale
of the marks. A skill's belief is a beta distribution: prior mass 1 at the prior's mean, and evidence. At each item of the
skill the evidence decays and a mark adds M at its share of the scale. The label is the belief as it stood after the last
write. Four arms: *without* labels; *frozen*, a label that always says the middle of the scale, so that all of the label's
effect but the feedback is there; *fed back*, the belief itself; *binary*, one of two labels, by a cut of the belief.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.random import default_rng

from evenhand.errors import RequestError
from evenhand.simulate.population import check_whole
from evenhand.simulate.sweeps import Step
from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.loop import Grader, kept_share

NEAR = 0.05
"""A false record has recovered once it stays this close to the belief of the default start."""
STRONG_SHARE = 0.2
"""The strong learners are the ablest fifth."""
_BLOCK = 16_384
"""Learners of all graders together that are advanced at once: their beliefs stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Course:
    """What a course is made of.

    Attributes:
        n_items: graded items, skill after skill in turn.
        n_skills: skills.
        days_between: days from item to item.
        decay: of evidence, as in `kept_share`.
        mass: evidence M of a mark.
        prior: mean of the prior, as a share of the scale; the default start has no other evidence.
        low, high: ends of the scale of marks and labels, whole numbers.
        false_record: share of the scale that a wrong record says at the start.
        record_mass: evidence behind the wrong record; that of the steady state where None.
        recovering: ability, on the scale of the marks, of the learners with a wrong record.
        cut: belief from which the binary label says that the skill is mastered.
        binary_labels: what its two labels say on the scale.
        whole_marks: whether marks are rounded to whole ones; clipped they always are.

    Raises:
        RequestError: a number out of its range.
    """

    n_items: int = 40
    n_skills: int = 4
    days_between: float = 2.5
    decay: float = 0.1
    mass: float = 1.0
    prior: float = 0.5
    low: float = 0
    high: float = 10
    false_record: float = 0.3
    record_mass: float | None = None
    recovering: float = 7.0
    cut: float = 0.6
    binary_labels: tuple[float, float] = (3.0, 7.0)
    whole_marks: bool = True

    def __post_init__(self) -> None:
        check_whole("skills", self.n_skills, least=1, most=10_000)
        check_whole("items", self.n_items, least=self.n_skills, most=100_000)
        for name in ("days_between", "decay", "mass"):
            _check(name, getattr(self, name), 0, math.inf)
        if self.days_between == 0 or self.decay == 0 or self.mass == 0:
            raise RequestError("days between items, decay and mass of a mark must be above 0: nothing would ever move")
        for name in ("prior", "false_record", "cut"):
            _check(name, getattr(self, name), 0, 1)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise RequestError(f"a scale from {self.low} to {self.high}: two numbers, the lower first")
        if self.whole_marks and not (self.low == int(self.low) and self.high == int(self.high)):
            raise RequestError(
                f"a scale of whole marks from {self.low} to {self.high}: its ends are whole numbers, too"
            )
        _check("recovering", self.recovering, self.low, self.high)
        for label in self.binary_labels:
            _check("binary_labels", label, self.low, self.high)
        if self.record_mass is not None:
            _check("record_mass", self.record_mass, 0, 1e6)
        if not 0 <= self.record_evidence()[0] <= self.record_evidence()[1]:
            raise RequestError(
                f"a record of {self.false_record:g} beside a prior of {self.prior:g} needs more evidence than "
                f"{self.record_evidence()[1]:g} marks: take a larger record_mass or a record nearer to the prior"
            )

    @property
    def mid(self) -> float:
        """Middle of the scale."""
        return (self.low + self.high) / 2

    @property
    def kept(self) -> float:
        """r between two writes of a skill."""
        return float(kept_share(self.n_skills * self.days_between, self.decay))

    def record_evidence(self) -> tuple[float, float]:
        """Of the wrong record: evidence of success, and all evidence."""
        total = self.mass / (1 - self.kept) if self.record_mass is None else self.record_mass
        return self.false_record * (1 + total) - self.prior, total


@dataclass(frozen=True, slots=True)
class Cohort:
    """Learners: abilities normal on the scale of the marks, clipped to it, and answers normal about the ability.

    Raises:
        RequestError: a number out of its range.
    """

    mean: float
    sd: float
    answer_sd: float = 0.0
    n_learners: int = 500

    def __post_init__(self) -> None:
        check_whole("learners", self.n_learners, least=2, most=1_000_000)
        _check("mean", self.mean, -1e6, 1e6)
        _check("sd", self.sd, 0, 1e6)
        _check("answer_sd", self.answer_sd, 0, 1e6)


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """What a course does, each number of the shape (...) of the graders.

    Spreads are standard deviations over learners of the belief at the end of the course, its mean over skills.

    Attributes:
        multiplier: spread with the belief fed back, over the spread with a frozen label: what feedback alone does.
        total: the same over the spread without labels.
        error_without, error_with: root mean squared distance of belief from ability, shares of the scale.
        strong_without, strong_with: mean of belief less ability over the ablest fifth; below 0 they are under-believed.
        recovery_without, recovery_with: median items until a false record stays within `NEAR` of the default start; NaN
            where more than half of the learners are not there at the end of the course.
        binary_multiplier, binary_total, binary_error, binary_strong, binary_recovery: the same with two labels instead of
            the belief.
        paths: (..., 4, items + 1) mean belief of learners with a false record: without and with the edge from a default
            start, then without and with it from the false record.
    """

    multiplier: Array
    total: Array
    error_without: Array
    error_with: Array
    strong_without: Array
    strong_with: Array
    recovery_without: Array
    recovery_with: Array
    binary_multiplier: Array
    binary_total: Array
    binary_error: Array
    binary_strong: Array
    binary_recovery: Array
    paths: Array

    @property
    def error_change(self) -> Array:
        """What the edge does to the error of beliefs."""
        return self.error_with - self.error_without

    def of(self, at: int) -> "LoopOutcome":
        """The outcome of one grader of the first axis."""
        return LoopOutcome(*(getattr(self, field.name)[at] for field in fields(self)))


def simulate_course(
    grader: Grader,
    cohort: Cohort,
    course: Course,
    *,
    seed: int = 0,
    weights: Array | None = None,
    step: Step | None = None,
) -> LoopOutcome:
    """Run the course for every grader on the same learners, answers and noise.

    Args:
        grader: fields of one shape (...), such as graders by draws of their parameters.
        cohort: the learners.
        course: the course.
        seed: of the one generator, 0 or more.
        weights: (..., learners) how often each learner counts, such as bootstrap counts; once each by default.
        step: is told how many graders were run, block by block.

    Raises:
        RequestError: a grader with a number that is none, or a negative noise.
    """
    check_whole("seed", seed, least=0, most=2**63)
    columns, shape = _columns(grader)
    rng, n, t = default_rng(seed), cohort.n_learners, course.n_items
    ability = np.clip(cohort.mean + cohort.sd * rng.standard_normal(n), course.low, course.high)
    scatter, noise = cohort.answer_sd * rng.standard_normal((t, n)), rng.standard_normal((t, n))
    n_graders = columns.shape[1]
    counted = None if weights is None else np.broadcast_to(weights, (*shape, n)).reshape(n_graders, n)
    block, parts = max(1, _BLOCK // n), []
    for start in range(0, n_graders, block):
        here = columns[:, start : start + block, None]
        size = here.shape[1]
        counts = np.ones((size, n)) if counted is None else counted[start : start + block].astype(np.float64)
        parts.append(_cohort_part(here, ability, scatter, noise, course, counts))
        parts[-1] |= _recovery_part(here, scatter, noise, course, counts)
        if step is not None:
            step(size)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return LoopOutcome(**{name: values.reshape((*shape, *values.shape[1:])) for name, values in joined.items()})


def _columns(grader: Grader) -> tuple[Array, tuple[int, ...]]:
    """(6, D) parameters in the order of the fields, and the shape that D stands for."""
    given = [np.asarray(getattr(grader, field.name), dtype=np.float64) for field in fields(grader)]
    for field, values in zip(fields(grader), given, strict=True):
        if not np.isfinite(values).all():
            raise RequestError(f"the grader's {field.name} is not a number: its run does not determine it")
    if (given[-1] < 0).any():
        raise RequestError("the grader's noise is a standard deviation: 0 or more")
    together = np.broadcast_arrays(*given)
    return np.stack([one.ravel() for one in together]), together[0].shape


@dataclass(slots=True)
class _Beliefs:
    """Beliefs of one arm about every skill, (D, N) each, at scalar evidence that is the same for all learners."""

    course: Course
    by_skill: list[Array]
    evidence: list[float]

    @classmethod
    def start(cls, course: Course, shape: tuple[int, int], *, false: bool = False) -> "_Beliefs":
        """The default start, or the false record."""
        share, total = (course.false_record, course.record_evidence()[1]) if false else (course.prior, 0.0)
        return cls(course, [np.full(shape, share) for _ in range(course.n_skills)], [total] * course.n_skills)

    def label(self, skill: int) -> Array:
        """The belief on the scale of the marks."""
        return self.course.low + (self.course.high - self.course.low) * self.by_skill[skill]

    def binary_label(self, skill: int) -> Array:
        """The higher label from the cut on, else the lower one."""
        lower, higher = self.course.binary_labels
        return np.where(self.by_skill[skill] >= self.course.cut, higher, lower)

    def write(self, skill: int, marks: Array) -> Array:
        """Decay, then add the marks; (D, N) by how much the belief moved."""
        c = self.course
        before = self.evidence[skill]
        after = c.kept * before + c.mass
        moving = c.mass / (c.high - c.low) / (1 + after)
        stays = c.kept * (1 + before) / (1 + after)
        pulled = (c.prior * (1 - c.kept)) / (1 + after) - moving * c.low
        old = self.by_skill[skill]
        new = moving * marks
        new += stays * old
        new += pulled
        self.by_skill[skill], self.evidence[skill] = new, after
        return np.asarray(new - old)

    def mean(self) -> Array:
        """(D, N) mean over skills."""
        return np.asarray(sum(self.by_skill) / self.course.n_skills)


def _marked(line: Array, course: Course) -> Array:
    """Rounded half up, where marks are whole, and clipped; in place."""
    if course.whole_marks:
        line += 0.5
        np.floor(line, out=line)
    return np.clip(line, course.low, course.high, out=line)


def _lines(grader: Array, answers: Array, noise: Array, course: Course) -> Iterator[tuple[int, Array, Array]]:
    """Item by item: its skill, the line without a label, and the line with one but for the label's value; (D, N)."""
    intercept, slope, effect, shift, interaction, sd = grader
    for item, (t, z) in enumerate(zip(answers, noise, strict=True)):
        plain = intercept + slope * t + sd * z
        pushed = plain + (shift - course.mid * (effect + interaction)) + interaction * t
        yield item % course.n_skills, plain, pushed


def _cohort_part(
    grader: Array, ability: Array, scatter: Array, noise: Array, course: Course, counts: Array
) -> dict[str, Array]:
    """Everything about the cohort: spreads, errors, the strong."""
    effect, shape = grader[2], counts.shape
    without, frozen, fed, binary = (_Beliefs.start(course, shape) for _ in range(4))
    for skill, plain, pushed in _lines(grader, ability + scatter, noise, course):
        binary.write(skill, _marked(pushed + effect * binary.binary_label(skill), course))
        fed.write(skill, _marked(pushed + effect * fed.label(skill), course))
        frozen.write(skill, _marked(pushed + effect * course.mid, course))
        without.write(skill, _marked(plain, course))
    truth = (ability - course.low) / (course.high - course.low)
    strong = counts * (ability >= np.quantile(ability, 1 - STRONG_SHARE))
    ends = [beliefs.mean() for beliefs in (without, frozen, fed, binary)]
    spreads = [_spread(end, counts) for end in ends]
    errors = [np.sqrt(_mean((end - truth) ** 2, counts)) for end in ends]
    below = [_mean(end - truth, strong) for end in ends]
    return {
        "multiplier": ratio(spreads[2], spreads[1]),
        "total": ratio(spreads[2], spreads[0]),
        "error_without": errors[0],
        "error_with": errors[2],
        "strong_without": below[0],
        "strong_with": below[2],
        "binary_multiplier": ratio(spreads[3], spreads[1]),
        "binary_total": ratio(spreads[3], spreads[0]),
        "binary_error": errors[3],
        "binary_strong": below[3],
    }


def _recovery_part(grader: Array, scatter: Array, noise: Array, course: Course, counts: Array) -> dict[str, Array]:
    """Learners of one ability from two starts: without a label, with the belief as label, with the binary one."""
    effect, shape = grader[2], counts.shape
    starts = [_Beliefs.start(course, shape, false=false) for false in (False, True) for _ in range(3)]
    gap = [np.full(shape, course.false_record - course.prior) for _ in range(3)]
    last = [np.full(shape, 0 if abs(course.false_record - course.prior) <= NEAR else 1) for _ in range(3)]
    level = [np.full(len(counts), start) for start in (course.prior, course.prior, *2 * (course.false_record,))]
    paths = [np.stack(level, axis=1)]
    total = counts.sum(axis=1)
    for item, (skill, plain, pushed) in enumerate(_lines(grader, course.recovering + scatter, noise, course)):
        shared = _marked(plain.copy(), course)
        moves = []
        for at, beliefs in enumerate(starts):
            if at % 3 == 0:
                moves.append(beliefs.write(skill, shared))
                continue
            said = beliefs.label(skill) if at % 3 == 1 else beliefs.binary_label(skill)
            moves.append(beliefs.write(skill, _marked(pushed + effect * said, course)))
        for place, at in enumerate((0, 1, 3, 4)):
            level[place] = level[place] + (moves[at] * counts).sum(axis=1) / total / course.n_skills
        for arm in range(3):
            gap[arm] += (moves[3 + arm] - moves[arm]) / course.n_skills
            np.copyto(last[arm], item + 2, where=np.abs(gap[arm]) > NEAR + 1e-12)
        paths.append(np.stack(level, axis=1))
    found = [_median(items, counts, course.n_items) for items in last]
    names = ("recovery_without", "recovery_with", "binary_recovery")
    return dict(zip(names, found, strict=True)) | {"paths": np.stack(paths, axis=2)}


def _mean(values: Array, counts: Array) -> Array:
    """(D,) weighted means over learners."""
    return ratio((values * counts).sum(axis=1), counts.sum(axis=1))


def _spread(values: Array, counts: Array) -> Array:
    """(D,) weighted standard deviations over learners; 0 where it is rounding."""
    centred = values - _mean(values, counts)[:, None]
    spread = np.sqrt(_mean(centred**2, counts))
    return np.where(spread > 1e-12, spread, 0.0)


def _median(items: Counts, counts: Array, n_items: int) -> Array:
    """(D,) smallest number of items by which half of the learners have recovered for good; NaN beyond the course."""
    size = n_items + 2
    code = items + size * np.arange(len(items))[:, None]
    reached = np.bincount(code.ravel(), weights=counts.ravel(), minlength=size * len(items)).reshape(-1, size)
    share = np.cumsum(reached, axis=1) / counts.sum(axis=1, keepdims=True)
    first = (share >= 0.5 - 1e-12).argmax(axis=1)
    return np.where(first <= n_items, first, np.nan).astype(np.float64)


def _check(name: str, value: float, low: float, high: float) -> None:
    if not (low <= value <= high and math.isfinite(value)):
        upper = f" and {high:g}" if math.isfinite(high) else ""
        raise RequestError(f"{name.replace('_', ' ')} is {value}; it must lie between {low:g}{upper}")
