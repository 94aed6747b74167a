"""A bank and graders made to the shape of the study of graders told about the student, every effect in them known.

The label draw has 300 answers by 33 learners, 19 of high attainment and 14 of low, half of the answers each; the draw of the
examples has 600 answers to 60 questions. A mark is a line in the teacher's mark, moved by what the arm says, with an error
that all marks of an answer share and one of each call; it is rounded and clipped. What an arm moves on average is known in
closed form, given the answers.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.random import Generator

from evenhand.stats.arrays import Array, Counts
from evenhand.stats.loop import Grader
from evenhand.stats.loop_clipping import Marks, expected_mark

MARKS = Marks(0, 10)
TAILS = ("high", "low")
_LEARNERS, _PER_TAIL, _QUESTIONS, _EXAMPLES = (19, 14), 150, 60, 600
_SHARED, _CALL, _LEARNER = 0.8, 0.6, 0.15
"""Standard deviations: of the error that an answer's marks share, of a call's own, and of a label's effect between learners."""
_SHIFT = 2.0


@dataclass(frozen=True, slots=True)
class Planted:
    """One grader.

    Attributes:
        name: what its rows say.
        line: marks by reference mark, and what a label does to them.
        step: marks that a label above the middle adds and one below it takes, whatever its value.
        neutral: marks that a sentence without attainment adds.
    """

    name: str
    line: Grader
    step: float = 0.0
    neutral: float = 0.0


@dataclass(frozen=True)
class LabelDraw:
    """Answers of the label study: reference mark, learner, tail, own and swapped label of each, (n,) arrays."""

    reference: Array
    learner: Counts
    tail: Counts
    own: Array
    swapped: Array
    question: Counts

    def lines(self, grader: Planted) -> dict[str, Array]:
        """(n,) line of each arm before errors, rounding and clipping."""
        one, t = grader.line, self.reference - MARKS.mid
        base = one.intercept + one.slope * self.reference
        found = {"control": base, "neutral": base + grader.neutral}
        for arm, label in (("true", self.own), ("swapped", self.swapped)):
            x = label - MARKS.mid
            pushed = one.shift + one.label_effect * x + one.interaction * t + grader.step * np.sign(x)
            found[arm] = base + pushed
        return found

    def expected(self, grader: Planted) -> dict[str, Array]:
        """(n,) mean mark of each arm."""
        own = {"control": 0.0, "neutral": 0.0}
        return {arm: _mean_mark(line, own.get(arm, _LEARNER)) for arm, line in self.lines(grader).items()}

    @cached_property
    def n_learners(self) -> int:
        """How many learners there are."""
        return int(self.learner.max()) + 1


@dataclass(frozen=True)
class ExampleDraw:
    """Answers of the example study: reference mark and question of each, and the (n, 3) marks shown in each marked arm."""

    reference: Array
    question: Counts
    shown: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class PlantedExamples:
    """What examples do to a grader.

    Attributes:
        line: marks by reference mark.
        moved: marks that an arm adds on every answer, by arm.
        pass_through: marks per point by which the marks shown lie above the given ones, in the shifted arms.
    """

    line: Grader
    moved: Mapping[str, float]
    pass_through: float

    def expected(self, draw: ExampleDraw) -> dict[str, Array]:
        """(n,) mean mark of each arm."""
        return {arm: _mean_mark(line, 0.0) for arm, line in self.lines(draw).items()}

    def lines(self, draw: ExampleDraw) -> dict[str, Array]:
        """(n,) line of each arm before errors, rounding and clipping."""
        base = self.line.intercept + self.line.slope * draw.reference
        given = draw.shown["correct"].mean(axis=1)
        found = {arm: base + by for arm, by in self.moved.items()}
        for arm in ("up", "down"):
            moved_by = draw.shown[arm].mean(axis=1) - given
            found[arm] = base + self.moved["correct"] + self.pass_through * moved_by
        return found


def _mean_mark(line: Array, between: float) -> Array:
    return expected_mark(line, np.sqrt(_SHARED**2 + _CALL**2 + between**2), MARKS)[0]


def _marked(line: Array) -> Array:
    return np.asarray(np.clip(np.floor(line + 0.5), MARKS.low, MARKS.high))


def noise() -> float:
    """Standard deviation of a mark of the control about its line."""
    return float(np.hypot(_SHARED, _CALL))


def draw_labels(rng: Generator) -> LabelDraw:
    """Answers from both tails of attainment; every learner's swapped label is that of one of the other tail."""
    ability = [
        np.round(rng.uniform(low, high, n), 1) for n, (low, high) in zip(_LEARNERS, ((6, 9), (1, 3.9)), strict=True)
    ]
    own, partner = (
        np.concatenate(ability),
        np.concatenate([rng.choice(ability[1 - at], n) for at, n in enumerate(_LEARNERS)]),
    )
    learner = np.concatenate(
        [start + np.arange(_PER_TAIL) % n for start, n in zip((0, _LEARNERS[0]), _LEARNERS, strict=True)]
    )
    reference = _marked(own[learner] + 1.3 * rng.standard_normal(2 * _PER_TAIL))
    tail = np.repeat([0, 1], _PER_TAIL)
    return LabelDraw(
        reference, learner, tail, own[learner], partner[learner], rng.integers(0, _QUESTIONS, 2 * _PER_TAIL)
    )


def draw_examples(rng: Generator) -> ExampleDraw:
    """Answers over the whole scale with the marks of three examples: as given, exchanged, and moved by two points, clipped."""
    reference = _marked(rng.uniform(0, 10, _EXAMPLES))
    given = np.sort(_marked(rng.uniform(0, 10, (_EXAMPLES, 3))), axis=1)
    shown = {"correct": given, "shuffled": np.roll(given, 1, axis=1)}
    shown |= {arm: np.clip(given + by, MARKS.low, MARKS.high) for arm, by in (("up", _SHIFT), ("down", -_SHIFT))}
    return ExampleDraw(reference, np.arange(_EXAMPLES) % _QUESTIONS, shown)


def write_labels(path: Path, draw: LabelDraw, graders: Sequence[Planted], rng: Generator) -> None:
    """One row a grading: every grader, arm and answer."""
    _write(
        path,
        ("response_id", "question_id", "learner_id", "tail", "model", "arm", "label_shown", "reference", "mark"),
        _label_rows(draw, graders, rng),
    )


def _label_rows(draw: LabelDraw, graders: Sequence[Planted], rng: Generator) -> Iterator[tuple[str, ...]]:
    n = len(draw.reference)
    for grader in graders:
        shared = _SHARED * rng.standard_normal(n)
        for arm, line in draw.lines(grader).items():
            apart = _LEARNER * rng.standard_normal(draw.n_learners)[draw.learner] if arm in ("true", "swapped") else 0.0
            marks = _marked(line + shared + apart + _CALL * rng.standard_normal(n))
            label = {"true": draw.own, "swapped": draw.swapped}.get(arm)
            for at in range(n):
                yield (
                    f"a{at}", f"q{draw.question[at]}", f"s{draw.learner[at]}", TAILS[draw.tail[at]], grader.name, arm,
                    "" if label is None else f"{label[at]:.1f}", f"{draw.reference[at]:.0f}", f"{marks[at]:.0f}",
                )  # fmt: skip


def write_examples(path: Path, draw: ExampleDraw, grader: PlantedExamples, rng: Generator) -> None:
    """One row a grading: every arm and answer."""
    _write(
        path,
        ("response_id", "question_id", "arm", "shown_marks", "reference", "mark"),
        _example_rows(draw, grader, rng),
    )


def _example_rows(draw: ExampleDraw, grader: PlantedExamples, rng: Generator) -> Iterator[tuple[str, ...]]:
    n = len(draw.reference)
    shared = _SHARED * rng.standard_normal(n)
    for arm, line in grader.lines(draw).items():
        marks = _marked(line + shared + _CALL * rng.standard_normal(n))
        shown = draw.shown.get(arm)
        for at in range(n):
            said = "" if shown is None else " ".join(f"{one:.0f}" for one in shown[at])
            yield f"a{at}", f"q{draw.question[at]}", arm, said, f"{draw.reference[at]:.0f}", f"{marks[at]:.0f}"


def _write(path: Path, columns: Sequence[str], rows: Iterator[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(rows)
