"""A small course in a folder: a plan, a bank of learners' marked answers, and what a test changes in them."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evenhand.design.calls import Design, load_design

GRADER = """\
[bank]
responses = "bank.csv"
cluster = "question"
learner = "student"
reference = "mark"
text = ["task", "answer"]

[scale]
kind = "ordinal"
levels = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

[reply]
parse = "bracketed"

[[judge]]
name = "loop"
model = "small"

[[phrasing]]
name = "plain"
template = "builtin:grader/plain"

[[arm]]
name = "control"

[[arm]]
name = "true"
block = "builtin:block/attainment"
label = "own"

[[arm]]
name = "swapped"
block = "builtin:block/attainment"
label = "opposite_tail"

[[arm]]
name = "neutral"
block = "builtin:block/neutral"

[draw]
tails = { high = 6, low = 4, n = 20 }
seed = 7
"""
HEADER = ("response_id", "question", "student", "gender", "task", "answer", "mark")
Row = Sequence[str]
MakeDesign = Callable[..., Design]


def course(
    answer: Callable[[int, int], str] = lambda learner, question: f"answer {learner} to {question}",
) -> list[Row]:
    """Eight learners of two kinds and six questions; marks 1 to 3 of the weak ones, 7 to 9 of the able ones."""
    return [
        (
            f"r{learner}.{question}",
            f"q{question}",
            f"s{learner}",
            "female" if learner % 3 else "male",
            f"Task {question}?",
            answer(learner, question),
            str((1 if learner < 4 else 7) + (learner + question) % 3),
        )
        for learner in range(8)
        for question in range(6)
    ]


def write_bank(path: Path, rows: Sequence[Row], header: Row = HEADER) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a plan stands with its bank."""
    write_bank(tmp_path / "bank.csv", course())
    (tmp_path / "plan.toml").write_text(GRADER, encoding="utf-8")
    return tmp_path


@pytest.fixture
def design_of(folder: Path) -> MakeDesign:
    """The design of a plan text, with a bank and template files of the test's own."""

    def made(plan: str = GRADER, rows: Sequence[Row] | None = None, header: Row = HEADER, **templates: str) -> Design:
        if rows is not None:
            write_bank(folder / "bank.csv", rows, header)
        for name, text in templates.items():
            (folder / f"{name}.txt").write_text(text, encoding="utf-8", newline="")
        (folder / "plan.toml").write_text(plan, encoding="utf-8")
        return load_design(folder / "plan.toml")

    return made


@pytest.fixture
def grader() -> str:
    """The text of the plan."""
    return GRADER


@pytest.fixture
def rows() -> list[Row]:
    """The rows of the bank."""
    return course()
