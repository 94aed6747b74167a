"""Label Studio's exports: written by itself (tests/fixtures/label_studio), and details in the same layout."""

import json
from pathlib import Path

import pytest
from log_reading import FIXTURES, balanced, read, rows

from evenhand.verdicts.engine import Engine


def _choice(*chosen: str, tag: str = "quality") -> dict[str, object]:
    return {"from_name": tag, "to_name": "text", "type": "choices", "value": {"choices": list(chosen)}}


TASKS = [
    {
        "id": 1,
        "data": {"text": "an answer", "topic": "colour"},
        "annotations": [
            {"id": 10, "completed_by": 3, "result": [_choice("good")], "was_cancelled": False, "ground_truth": False},
            {"id": 11, "completed_by": {"id": 4, "email": "a@b.org"}, "result": [_choice("bad")], "ground_truth": True},
            {"id": 12, "completed_by": 5, "result": [], "was_cancelled": True},
        ],
        "predictions": [{"model_version": "judge-1", "score": 0.8, "result": [_choice("good")]}],
    },
    {
        "id": 2,
        "data": {"text": "another"},
        "annotations": [
            {"id": 13, "completed_by": 3, "result": [_choice("good", "bad"), {"from_name": "stars", "type": "rating", "value": {"rating": 4}}]},
            {"id": 14, "completed_by": 4, "result": [{"from_name": "span", "type": "labels", "value": {"start": 1, "end": 2, "text": "a"}}]},
        ],
    },
]  # fmt: skip


def test_annotations_predictions_and_ground_truth(tmp_path: Path) -> None:
    path = tmp_path / "project.json"
    path.write_text(json.dumps(TASKS))
    with Engine() as engine:
        logs = read(engine, path)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert [
        (row["response_id"], row["criterion_id"], row["rater_id"], row["rater_kind"], row["status"], row.get("value"))
        for row in found
    ] == [
        ("1", "quality", "3", "human", "scored", "good"),
        ("1", "quality", "ground_truth", "reference", "scored", "bad"),
        ("1", "quality", "judge-1", "judge", "scored", "good"),
        ("2", "quality", "3", "human", "unparsed", None),
        ("2", "stars", "3", "human", "scored", "4"),
    ]
    assert found[2]["confidence"] == "0.8"
    assert found[3]["raw_value"] == '["good","bad"]'
    assert logs.counts["project.json"] == {
        "verdicts": 5, "scored": 4, "unparsed": 1, "tasks": 2, "annotations that the annotator skipped, left out": 1,
        "results that mark a region or link two, left out": 1,
    }  # fmt: skip
    assert not any("unverified layout" in note for note in logs.notes)


@pytest.mark.parametrize(("export", "predictions"), [("project.json", "1234"), ("snapshot.json", "12345")])
def test_an_export_of_the_tool_itself(export: str, predictions: str) -> None:
    with Engine() as engine:
        logs = read(engine, FIXTURES / "label_studio" / export)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    judged = [row for row in found if row["rater_kind"] == "judge"]
    assert [row["response_id"] for row in judged] == list(predictions)
    assert [row["value"] for row in judged] == ["good", "good", "good", "bad", "bad"][: len(judged)]
    assert {row["rater_id"] for row in judged} == {"judge-1"}
    assert [row["confidence"] for row in judged[:2]] == ["0.9", "0.8"]
    gold = [(row["response_id"], row["value"]) for row in found if row["rater_kind"] == "reference"]
    assert gold == [("1", "good"), ("4", "bad")]
    humans = [
        (row["response_id"], row["criterion_id"], row["status"], row.get("value"))
        for row in found
        if row["rater_kind"] == "human"
    ]
    assert humans == [
        ("1", "quality", "scored", "good"),
        ("1", "stars", "scored", "5"),
        ("1", "mark", "scored", "0"),
        ("2", "quality", "scored", "bad"),
        ("2", "faults", "unparsed", None),
        ("2", "comment", "scored", "Wrong colour."),
        ("3", "quality", "scored", "good"),
    ]
    only_ids = [count for name, count in logs.counts[export].items() if "the id alone" in name]
    assert only_ids == ([1] if export == "project.json" else [])
    assert logs.counts[export]["tasks"] == 5
