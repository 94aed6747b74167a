"""Plans to write from, each with a bank made of the project's own texts, so that it can be looked at and tried at once."""

import csv
import io
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np

from evenhand.errors import OutputError, printable
from evenhand.output import write_text
from evenhand.simulate.text_bank import BuiltResponse, Question, build_bank, load_questions

Example = Literal["rubric", "grader", "pairwise"]
EXAMPLES: tuple[Example, ...] = ("rubric", "grader", "pairwise")
PLAN, BANK = "plan.toml", "bank.csv"
SEED = 11
_SPREAD = 0.9
_N_RUBRIC, _N_PAIRS = 120, 96
_N_LEARNERS = 48
_UNEVENNESS = 2.0
"""SD, in marks, by which a learner's answers differ beside what places learners in order."""


def example_plan(kind: Example) -> str:
    """The commented TOML of an example."""
    return (files("evenhand.data") / "plans" / f"{kind}.toml").read_text(encoding="utf-8")


def example_bank(kind: Example) -> str:
    """Its bank as CSV."""
    makers = {"rubric": _rubric_rows, "grader": _grader_rows, "pairwise": _pairwise_rows}
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows(makers[kind]())
    return stream.getvalue()


def write_example(kind: Example, out: Path) -> None:
    """Put the plan and its bank into a new or empty folder: a plan that was written on is never replaced.

    Raises:
        OutputError: the place is taken, or cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{printable(str(out))}: is there already and not empty; choose another --out")
    write_text(out / BANK, example_bank(kind))
    write_text(out / PLAN, example_plan(kind))


def _built(questions: Sequence[Question], n_responses: int) -> tuple[BuiltResponse, ...]:
    """Responses that say something: an empty answer is nothing to judge."""
    built = build_bank(questions, n_responses=n_responses, spread=_SPREAD, seed=SEED)
    return tuple(one for one in built.responses if one.text)


def _rubric_rows() -> Iterator[tuple[str, ...]]:
    questions = load_questions()
    lines = {one.question_id: one.lines for one in questions}
    numbers = range(1, len(questions[0].lines) + 1)
    yield (
        *("response_id", "question_id", "question", "answer"),
        *(f"{kind}_{number}" for kind in ("gold", "claim") for number in numbers),
    )
    for one in _built(questions, _N_RUBRIC):
        gold = ("yes" if label else "no" for label in one.gold)
        claims = (line.claim for line in lines[one.cluster_id])
        yield one.response_id, one.cluster_id, one.question, one.text, *gold, *claims


def _grader_rows() -> Iterator[tuple[str, ...]]:
    """Answers of learners who differ in attainment: of each question, the better answers go to the abler learners, with noise."""
    questions = load_questions()
    rng = np.random.default_rng(SEED)
    by_question: dict[str, list[BuiltResponse]] = {one.question_id: [] for one in questions}
    for one in _built(questions, len(questions) * _N_LEARNERS):
        by_question[one.cluster_id].append(one)
    yield "response_id", "question_id", "learner_id", "question", "answer", "teacher_mark"
    rows = []
    for question, answers in by_question.items():
        order = np.argsort([sum(one.gold) + _UNEVENNESS * rng.standard_normal() for one in answers], kind="stable")
        learners = np.sort(rng.permutation(_N_LEARNERS)[: len(answers)])
        for learner, place in zip(learners.tolist(), order.tolist(), strict=True):
            one = answers[place]
            rows.append((one.response_id, question, f"s{learner + 1}", one.question, one.text, str(sum(one.gold))))
    yield from sorted(rows, key=lambda row: int(row[0][1:]))


def _pairwise_rows() -> Iterator[tuple[str, ...]]:
    """Two answers to one question; the better one states more of its checklist."""
    waiting: dict[str, BuiltResponse] = {}
    yield "pair_id", "question_id", "question", "answer_a", "answer_b", "better"
    number = 0
    for one in _built(load_questions(), 2 * _N_PAIRS):
        other = waiting.pop(one.cluster_id, None)
        if other is None:
            waiting[one.cluster_id] = one
            continue
        number += 1
        a, b = sum(other.gold), sum(one.gold)
        better = "tie" if a == b else "A" if a > b else "B"
        yield f"p{number}", one.cluster_id, one.question, other.text, one.text, better
