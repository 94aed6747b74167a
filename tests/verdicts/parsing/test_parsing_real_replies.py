"""Replies of real judges, from the shared data; the texts stay there."""

import csv
import json
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from evenhand.verdicts.parsing import grade, mark, rating, yes_no

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def _file(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is absent: real replies stay outside the project")
    return path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("martian_unify_gpt-4_single.jsonl", {"martian": (160, 8.3125), "unify": (159, 8.757862)}),
        (
            "gpt4_mixtral_judgements.jsonl",
            {"gpt-4-1106-preview": (160, 9.228125), "mistralai/Mixtral-8x7B-Instruct-v0.1": (160, 8.340625)},
        ),
    ],
)
def test_mt_bench_ratings_are_those_published(name: str, expected: dict[str, tuple[int, float]]) -> None:
    marks: dict[str, list[float]] = {}
    quoted = 0
    for line in _file(f"mtbench_gpt4_single/{name}").read_text().splitlines():
        row = json.loads(line)
        parsed = rating(1, 10, quoted_counts=True).parse(row["judgment"])
        assert (-1 if parsed.value is None else float(parsed.value)) == row["score"]
        quoted += rating(1, 10).parse(row["judgment"]).reason == "quoted"
        if parsed.value is not None:
            marks.setdefault(row["model"], []).append(float(parsed.value))
    assert {model: (len(own), round(fmean(own), 6)) for model, own in marks.items()} == expected
    assert quoted == 2  # the judge itself wrote "Rating: [[n]]" between quotation marks: read where declared


def test_first_words_of_a_small_model() -> None:
    parser = yes_no(leading=True, loose=True)
    statuses: Counter[str] = Counter()
    with _file("smollm2_on_zhu_bank/verdicts.csv").open(newline="") as rows:
        for row in csv.DictReader(rows):
            parsed = parser.parse(row["raw"])
            assert (parsed.status, parsed.value) == (row["status"], {"1": "yes", "0": "no", "": None}[row["value"]])
            statuses[parsed.status] += 1
    assert sum(statuses.values()) == 7_700


def test_raw_scores_of_llmbar() -> None:
    with _file("llmbar/verdicts.csv").open(newline="") as rows:
        raw = {row[name] for row in csv.DictReader(rows) for name in ("score_1_raw", "score_2_raw")}
    assert {text for text in raw if mark(0, 10, whole=True).parse(text).value != text} == {""}


def test_inspect_grader_replies() -> None:
    read = 0
    for path in sorted(_file("harness_logs/inspect_ai").glob("2024*.json")):
        for sample in json.loads(path.read_text())["samples"]:
            score = sample["scores"]["model_graded_fact"]
            assert grade().parse(score["explanation"]).value == score["value"]
            read += 1
    assert read == 1
