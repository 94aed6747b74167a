"""MT-Bench judgments: real single marks (../shared), and lines of the published layouts."""

import json
from pathlib import Path

import pytest
from log_reading import FIXTURES, balanced, read, rows, shared

from evenhand.errors import SourceError
from evenhand.verdicts.engine import Engine


def test_the_published_means_come_out_and_the_mark_of_minus_one_is_none() -> None:
    path = shared("data", "mtbench_gpt4_single", "martian_unify_gpt-4_single.jsonl")
    with Engine() as engine:
        logs = read(engine, path)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts[path.name] == {"verdicts": 320, "scored": 319, "unparsed": 1, "single lines": 320}
    assert logs.spec.cluster == "cluster_id"
    assert logs.spec.facets == ()
    for system, mean, count in (("martian", 8.3125, 160), ("unify", 8.757862, 159)):
        marks = [float(row["value"] or "") for row in found if row["extra.model"] == system and "value" in row]
        assert (len(marks), sum(marks) / len(marks)) == (count, pytest.approx(mean, abs=5e-7))


@pytest.mark.parametrize(("system", "mean"), [("gpt-4-1106-preview", 9.228125), ("mistralai/Mixtral-8x7B", 8.340625)])
def test_the_other_real_file(system: str, mean: float) -> None:
    path = shared("data", "mtbench_gpt4_single", "gpt4_mixtral_judgements.jsonl")
    with Engine() as engine:
        found = rows(engine, read(engine, path))
    marks = [float(row["value"] or "") for row in found if (row["extra.model"] or "").startswith(system)]
    assert sum(marks) / len(marks) == pytest.approx(mean, abs=5e-7)


PAIR = {
    "question_id": 81, "model_1": "vicuna", "model_2": "alpaca", "g1_winner": "model_1", "g2_winner": "tie",
    "judge": ["gpt-4", "pair-v2"], "g1_judgment": "[[A]]", "g2_judgment": "[[C]]", "turn": 1, "tstamp": 1.5,
}  # fmt: skip


def _lines(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "judgments.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_a_pair_gives_a_verdict_an_order_free_of_the_models_places(tmp_path: Path) -> None:
    turned = PAIR | {"model_1": "alpaca", "model_2": "vicuna", "turn": 2, "g1_winner": "model_1", "g2_winner": "error"}
    failed = PAIR | {"turn": 3, "g1_winner": "error", "g1_judgment": "$ERROR$", "g2_winner": None}
    with Engine() as engine:
        logs = read(engine, _lines(tmp_path, PAIR, turned, failed))
        assert balanced(engine, logs)
        found = rows(engine, logs)
    told = [(row["response_id"], row["order"], row["status"], row.get("value"), row.get("raw_value")) for row in found]
    assert told == [
        ("81 | 1 | alpaca | vicuna", "B first", "scored", "B", "model_1"),
        ("81 | 1 | alpaca | vicuna", "A first", "tied", None, "tie"),
        ("81 | 2 | alpaca | vicuna", "A first", "scored", "A", "model_1"),
        ("81 | 2 | alpaca | vicuna", "B first", "unparsed", None, "error"),
        ("81 | 3 | alpaca | vicuna", "B first", "error", None, "error"),
        ("81 | 3 | alpaca | vicuna", "A first", "missing", None, None),
    ]
    assert (logs.spec.order, logs.spec.levels, logs.spec.positive) == ("order", ("B", "A"), "A")


def test_human_pairs_meet_the_judges(tmp_path: Path) -> None:
    human = {
        "question_id": 81, "model_a": "alpaca", "model_b": "vicuna", "winner": "model_b", "judge": "expert_3", "turn": 1,
    }  # fmt: skip
    with Engine() as engine:
        logs = read(engine, _lines(tmp_path, PAIR, human, human | {"judge": "author_1", "winner": "tie (bothbad)"}))
        found = rows(engine, logs)
    assert any("unverified layout of human lines" in note for note in logs.notes)
    assert [(row["rater_id"], row["rater_kind"], row["status"], row.get("value")) for row in found] == [
        ("gpt-4", "judge", "scored", "B"), ("gpt-4", "judge", "tied", None),
        ("expert_3", "human", "scored", "B"), ("author_1", "human", "tied", None),
    ]  # fmt: skip
    assert {row["response_id"] for row in found} == {"81 | 1 | alpaca | vicuna"}


def test_marks_that_the_tool_wrote() -> None:
    with Engine() as engine:
        logs = read(engine, FIXTURES / "mt_bench" / "single.jsonl")
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert [(row["status"], row.get("value")) for row in found] == [
        ("scored", "9"), ("scored", "7"), ("scored", "5"), ("scored", "8"), ("scored", "8"), ("scored", "5"),
        ("error", None), ("unparsed", None),
    ]  # fmt: skip
    assert not any("unverified" in note for note in logs.notes)


def test_pairs_that_the_tool_wrote() -> None:
    with Engine() as engine:
        logs = read(engine, FIXTURES / "mt_bench" / "pair.jsonl")
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert [(row["response_id"], row["order"], row["status"], row.get("value")) for row in found] == [
        ("81 | 1 | alpaca | vicuna", "B first", "tied", None),
        ("81 | 1 | alpaca | vicuna", "A first", "tied", None),
        ("82 | 1 | alpaca | vicuna", "B first", "scored", "B"),
        ("82 | 1 | alpaca | vicuna", "A first", "scored", "A"),
        ("83 | 1 | alpaca | vicuna", "B first", "scored", "A"),
        ("83 | 1 | alpaca | vicuna", "A first", "scored", "A"),
        ("84 | 1 | alpaca | vicuna", "B first", "unparsed", None),
        ("84 | 1 | alpaca | vicuna", "A first", "error", None),
    ]
    assert not any("unverified" in note for note in logs.notes)


def test_two_marks_are_no_pair_in_two_orders(tmp_path: Path) -> None:
    marked = PAIR | {"g2_winner": "model_1", "m1_score": 9, "m2_score": 5}
    lost = marked | {"turn": 2, "m2_score": -1}
    with Engine() as engine:
        found = rows(engine, read(engine, _lines(tmp_path, marked, lost)))
    assert [(row.get("order"), row["status"], row.get("value")) for row in found] == [
        (None, "scored", "B"),
        (None, "unparsed", None),
    ]


def test_a_strange_line_is_named(tmp_path: Path) -> None:
    with Engine() as engine, pytest.raises(SourceError, match="line 2: neither a single mark nor a pair"):
        read(engine, _lines(tmp_path, PAIR, {"question_id": 1}))
