"""Langfuse scores, in the layout of its API documentation."""

import csv
import json
from pathlib import Path

import pytest
from log_reading import balanced, read, rows

from evenhand.errors import SourceError
from evenhand.verdicts.engine import Engine

SCORES = [
    {"id": "s1", "traceId": "t1", "name": "correct", "source": "EVAL", "value": 1, "dataType": "BOOLEAN", "stringValue": "True", "comment": "yes"},
    {"id": "s2", "traceId": "t1", "name": "correct", "source": "ANNOTATION", "value": 0, "dataType": "BOOLEAN", "stringValue": "False", "authorUserId": "u7"},
    {"id": "s3", "traceId": "t2", "name": "correct", "source": "EVAL", "value": None, "dataType": "BOOLEAN", "stringValue": None},
    {"id": "s4", "traceId": "t2", "observationId": "o1", "name": "mark", "source": "API", "value": 0.5, "dataType": "NUMERIC", "metadata": {"v": 2}},
]  # fmt: skip
EXPECTED = [
    ("t1", "correct", "EVAL", "judge", "scored", "True"),
    ("t1", "correct", "u7", "human", "scored", "False"),
    ("t2", "correct", "EVAL", "judge", "missing", None),
    ("t2 | o1", "mark", "API", "judge", "scored", "0.5"),
]


def _written(folder: Path, form: str) -> Path:
    path = folder / f"scores.{form.removeprefix('data.')}"
    if form == "csv":
        names = list(dict.fromkeys(name for score in SCORES for name in score if name != "metadata"))
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(SCORES)
    elif form == "jsonl":
        path.write_text("\n".join(map(json.dumps, SCORES)))
    else:
        path.write_text(json.dumps({"data": SCORES, "meta": {"page": 1}} if form == "data.json" else SCORES))
    return path


@pytest.mark.parametrize("form", ["json", "data.json", "jsonl", "csv"])
def test_judge_and_human_scores_in_every_form(tmp_path: Path, form: str) -> None:
    with Engine() as engine:
        logs = read(engine, _written(tmp_path, form))
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert [
        (row["response_id"], row["criterion_id"], row["rater_id"], row["rater_kind"], row["status"], row.get("value"))
        for row in found
    ] == EXPECTED
    assert any("unverified layout" in note for note in logs.notes)


def test_a_torn_row_of_a_csv_is_named(tmp_path: Path) -> None:
    path = _written(tmp_path, "csv")
    path.write_text(path.read_text() + "s5,t3\n")
    with Engine() as engine, pytest.raises(SourceError, match="row 6: does not fit the header"):
        read(engine, path)
