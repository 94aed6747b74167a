"""DeepEval's test runs: written by DeepEval with metrics of our own (fixture), and real ones (../shared)."""

import json
from collections import Counter
from pathlib import Path

import pytest
from log_reading import FIXTURES, balanced, read, rows, shared

from evenhand.errors import SourceError
from evenhand.verdicts.engine import Engine


def test_metrics_are_criteria_and_an_error_is_never_a_fail() -> None:
    with Engine() as engine:
        logs = read(engine, FIXTURES / "deepeval" / "test_run.json")
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts["test_run.json"] == {
        "verdicts": 10, "scored": 8, "error": 1, "unparsed": 1, "test cases": 5,
    }  # fmt: skip
    assert logs.spec.criterion == "criterion_id"
    judged = [row for row in found if row["criterion_id"] == "Names Colour"]
    assert [(row["response_id"], row["status"], row.get("value")) for row in judged] == [
        ("case-00", "scored", "pass"), ("case-01", "error", None), ("case-02", "unparsed", None),
        ("case-03", "scored", "pass"), ("case-04", "scored", "fail"),
    ]  # fmt: skip
    assert {row["raw_value"] for row in judged if row["status"] != "scored"} == {"false"}
    assert {row["rater_id"] for row in judged} == {"local-judge"}


@pytest.mark.parametrize(
    ("name", "verdicts", "passed"),
    [("latest_test_run_JaakkoLipp.json", 1, 1), ("test_run_sample_fixture.json", 2, 1)],
)
def test_real_runs_agree_with_their_own_totals(name: str, verdicts: int, passed: int) -> None:
    path = shared("data", "harness_logs", "deepeval", name)
    with Engine() as engine:
        logs = read(engine, path)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert Counter(row.get("value") for row in found) == Counter({"pass": passed, "fail": verdicts - passed})
    log = json.loads(path.read_text())
    run = log.get("testRunData", log)
    spans = [
        metric
        for case in run["testCases"]
        for listed in case.get("trace", {}).values()
        for span in (listed if isinstance(listed, list) else [])
        for metric in (span.get("metricsData") or [] if isinstance(span, dict) else [])
    ]
    assert logs.counts[name].get("metrics of single spans, left out", 0) == len(spans)
    for total in run.get("metricsScores", []):  # DeepEval's own totals take the spans in
        mine = Counter(row.get("value") for row in found if row["criterion_id"] == total["metric"])
        mine.update("pass" if one["success"] else "fail" for one in spans if one["name"] == total["metric"])
        assert mine == Counter({"pass": total["passes"], "fail": total["fails"]})


@pytest.mark.parametrize("text", ['{"testCases": []}', '{"testCases": [{"name": "a"}]}', '{"testCases": [{"name": "a", "metricsData": []}]}'])  # fmt: skip
def test_a_run_without_any_metric_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with Engine() as engine, pytest.raises(SourceError, match="no verdict in this deepeval log"):
        read(engine, path)
