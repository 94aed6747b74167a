"""Small plans with their banks, written into a folder."""

import csv
from collections.abc import Mapping
from pathlib import Path

PLAN = """{top}
[bank]
responses = "bank.csv"
text = ["answer"]
reference = "gold"
[scale]
kind = "binary"
[reply]
parse = "yes-no"
{reply}
[[judge]]
name = "judge"
model = "{model}"
{judge}
[[phrasing]]
name = "plain"
template = "plain.txt"
[facets]
occasions = {occasions}
[run]
in_flight = 8
first_wait = 0.01
{more}
"""
PAIRS = """
[bank]
responses = "bank.csv"
response = "pair_id"
cluster = "question_id"
reference = "better"
text = ["question", "answer_a", "answer_b"]
[scale]
kind = "pairwise"
levels = ["B", "A"]
tie = ["tie"]
[reply]
parse = "pairwise"
[[judge]]
name = "judge"
model = "small"
{judge}
[[phrasing]]
name = "plain"
template = "builtin:pairwise/plain"
[facets]
order = ["AB", "BA"]
"""


def study(
    folder: Path,
    n: int,
    *,
    judge: str = "",
    model: str = "small",
    occasions: int = 1,
    more: str = "",
    reply: str = "",
    top: str = "",
) -> Path:
    """n responses, "answer of r0" onwards, asked for one line each; every second one meets it."""
    folder.mkdir(exist_ok=True, parents=True)
    rows = [f"r{number},answer of r{number},{('no', 'yes')[number % 2]}" for number in range(n)]
    (folder / "bank.csv").write_text("\n".join(["response_id,answer,gold", *rows]) + "\n", encoding="utf-8")
    (folder / "plain.txt").write_text("Is this met?\n{{ response }}\n", encoding="utf-8")
    text = PLAN.format(judge=judge, model=model, occasions=occasions, more=more, reply=reply, top=top)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def item(text: str) -> str:
    """The response a prompt shows."""
    return text.split("answer of ")[1].split()[0]


PAIR_TEXTS = {
    "p1": ("much longer answer", "short"), "p2": ("short", "much longer answer"), "p3": ("same one", "same two"),
    "p4": ("some one", "some two"), "p5": ("a b c d e f g", "a b"), "p6": ("equal", "equal"),
}  # fmt: skip


def pair_study(folder: Path, judge: str = "", texts: Mapping[str, tuple[str, str]] = PAIR_TEXTS) -> Path:
    """Pairs of two questions, each shown in both orders; the reference always prefers A."""
    folder.mkdir(exist_ok=True, parents=True)
    with (folder / "bank.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["pair_id", "question_id", "question", "answer_a", "answer_b", "better"])
        for number, (name, (one, other)) in enumerate(texts.items()):
            writer.writerow([name, f"q{number % 3}", f"Question {number % 3}?", one, other, "A"])
    (folder / "plan.toml").write_text(PAIRS.format(judge=judge), encoding="utf-8")
    return folder / "plan.toml"


def answers_shown(prompt: str) -> tuple[str, str]:
    """The two answers of a pairwise prompt, in the order in which it shows them."""
    parts = prompt.split("<<<answer ")[1:]
    first, second = (
        "\n".join(part.split("\n")[1:]).rsplit("\n", 1)[0] for part in (p.split(" answer>>>")[0] for p in parts)
    )
    return first, second
