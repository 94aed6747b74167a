"""promptfoo's results, written by promptfoo with local providers (fixtures)."""

import json
from collections import Counter
from pathlib import Path

import pytest
from log_reading import FIXTURES, balanced, read, rows, shared

from evenhand.errors import SourceError
from evenhand.verdicts.engine import Engine

HERE = FIXTURES / "promptfoo"


def test_judged_lines_are_verdicts_and_a_failed_judge_is_never_a_fail() -> None:
    with Engine() as engine:
        logs = read(engine, HERE / "plain.json")
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts["plain.json"] == {
        "verdicts": 10,
        "scored": 4,
        "unparsed": 2,
        "error": 4,
        "results": 8,
        "assertions that no model graded, left out": 2,
        "results without any assertion, left out": 2,
    }
    kinds = Counter((row["criterion_id"], row["status"], row.get("value"), row.get("extra.reason")) for row in found)
    assert kinds == {
        ("colour", "scored", "pass", None): 2,
        ("colour", "scored", "fail", None): 2,
        ("colour", "error", None, "no answer to judge"): 2,
        ("manners", "unparsed", None, "the judge's reply holds no verdict"): 2,
        ("outage", "error", None, "the judge failed"): 2,
    }
    assert all(row.get("raw_value") == "false" for row in found if row.get("extra.reason") == "the judge failed")
    assert {row["rater_id"] for row in found} == {"llm-rubric"}
    assert {row["model"] for row in found} == {"file://judge.js"}


def test_a_repeat_is_a_response_of_its_own_in_the_cluster_of_its_test() -> None:
    with Engine() as engine:
        logs = read(engine, HERE / "repeat.json")
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts["repeat.json"]["verdicts"] == 20
    assert len({(row["response_id"], row["criterion_id"]) for row in found}) == 20
    clusters = {row["cluster_id"]: row["extra.vars.topic"] for row in found}
    assert sorted(clusters.values()) == ["a storm", "red roses", "the sea"]
    assert {row["response_id"] for row in found if row["extra.vars.topic"] == "the sea"} == {
        f"2 | {prompt} | {epoch}" for prompt in (0, 1) for epoch in (1, 2)
    }


def test_the_real_empty_file_is_refused() -> None:
    path = shared("data", "harness_logs", "promptfoo", "degenerate_promptfoo-results.json")
    with Engine() as engine, pytest.raises(SourceError, match="no verdict in this promptfoo log"):
        read(engine, path)


def test_a_person_is_a_human_rater_and_odd_values_are_unparsed(tmp_path: Path) -> None:
    parts = [
        {"pass": True, "assertion": {"type": "human"}},
        {"pass": "yes", "assertion": {"type": "llm-rubric", "value": "a"}},
        {"pass": None, "assertion": {"type": "not-llm-rubric", "value": "b", "provider": {"id": "judge"}}},
    ]
    result = {"testIdx": 0, "promptIdx": 0, "vars": {}, "gradingResult": {"componentResults": parts}}
    path = tmp_path / "out.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": [result]}}))
    with Engine() as engine:
        found = rows(engine, read(engine, path))
    assert [(row["rater_id"], row["rater_kind"], row["status"]) for row in found] == [
        ("human", "human", "scored"),
        ("llm-rubric", "judge", "unparsed"),
        ("not-llm-rubric", "judge", "missing"),
    ]
