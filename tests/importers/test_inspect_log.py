"""Inspect's logs: written by Inspect itself (fixtures), its own test logs (../shared), and the case IMP-06."""

import json
from collections import Counter
from pathlib import Path

import pytest
from log_reading import FIXTURES, balanced, read, rows, shared

from evenhand.errors import SourceError
from evenhand.importers.logs import completed
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import read_slots
from evenhand.verdicts.spec import Spec

HERE = FIXTURES / "inspect"


def of(found: list[dict[str, str | None]], **wanted: str) -> list[dict[str, str | None]]:
    return [row for row in found if all(row.get(name) == value for name, value in wanted.items())]


@pytest.mark.parametrize("name", ["several.eval", "chunked.eval", "edited.eval"])
def test_scorers_epochs_errors_and_unparsed_grades_of_a_zstandard_log(name: str) -> None:
    with Engine() as engine:
        logs = read(engine, HERE / name)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts[name] == {"verdicts": 40, "scored": 35, "error": 4, "unparsed": 1, "samples": 10} | {
        key: count for key, count in logs.counts[name].items() if key.startswith("archive members")
    }
    assert logs.spec.cluster == "cluster_id"
    assert logs.spec.criterion == "criterion_id"
    assert {row["response_id"] for row in found} == {
        f"{sample} | {epoch}" for sample in ("001", "002", "003", "4", "5") for epoch in (1, 2)
    }
    graded = of(found, rater_id="model_graded_qa")
    assert {row.get("model") for row in graded if row["status"] != "error"} == {"mockllm/grader"}
    assert Counter(row.get("value") for row in graded if row["status"] == "scored") == {"C": 4, "I": 3, "P": 1}
    (lost,) = of(found, status="unparsed")
    assert (lost["raw_value"], lost["extra.reason"]) == ("nan", "grader_failed")
    assert {row["criterion_id"] for row in of(found, rater_id="rubric")} == {"clarity", "facts"}
    failed = of(found, status="error")
    assert {row["response_id"] for row in failed} == {"4 | 1"}
    assert {row["extra.error"] for row in failed} == {"RuntimeError('the sandbox did not answer')"}
    assert {row["extra.metadata.topic"] for row in found} == {"colour"}


def test_a_score_edited_by_a_person_counts_as_the_grader_gave_it() -> None:
    with Engine() as engine:
        found = rows(engine, read(engine, HERE / "edited.eval"))
    (edited,) = [row for row in found if "extra.edited_by" in row]
    assert edited["response_id"] == "001 | 1"
    assert (edited["value"], edited["extra.edited_value"]) == ("C", "I")
    assert (edited["extra.edited_by"], edited["extra.edit_reason"]) == ("reviewer", "spelling")


def test_a_json_log_gives_the_grades_in_their_order() -> None:
    with Engine() as engine:
        logs = read(engine, HERE / "plain.json")
        assert balanced(engine, logs)
    assert logs.counts["plain.json"] == {"verdicts": 5, "scored": 3, "error": 1, "unparsed": 1, "samples": 5}
    assert (logs.spec.scale, logs.spec.levels) == ("ordinal", ("I", "P", "C"))
    assert logs.spec.cluster is None
    assert "cluster_id" not in logs.sources[0].columns


def test_the_place_of_the_header_in_a_json_log_does_not_matter(tmp_path: Path) -> None:
    log = json.loads((HERE / "plain.json").read_text())
    with Engine() as engine:
        straight = rows(engine, read(engine, HERE / "plain.json"))
        importer_sees = rows(engine, read(engine, _with_header_last(log, tmp_path)))
    for row in (*straight, *importer_sees):
        row.pop("source_file")
    assert importer_sees == straight


def _with_header_last(log: dict[str, object], folder: Path) -> Path:
    """The first 256 KB hold the whole log, so it is recognised wherever its header stands."""
    path = folder / "last.json"
    path.write_text(json.dumps({"samples": log["samples"], **{name: log[name] for name in log if name != "samples"}}))
    return path


def test_of_a_resumed_run_the_newer_logs_samples_count() -> None:
    with Engine() as engine:
        logs = read(engine, HERE / "resumed_1.eval", HERE / "resumed_2.eval")
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts["resumed_1.eval"]["verdicts"] == 0
    assert logs.counts["resumed_1.eval"]["superseded by a newer log of the same run, left out"] == 5
    assert logs.counts["resumed_2.eval"]["scored"] == 5
    assert sorted(row["response_id"] or "" for row in found) == ["001", "002", "003", "4", "5"]


def test_the_order_of_resumed_logs_does_not_matter() -> None:
    with Engine() as engine:
        turned = rows(engine, read(engine, HERE / "resumed_2.eval", HERE / "resumed_1.eval"))
        straight = rows(engine, read(engine, HERE / "resumed_1.eval", HERE / "resumed_2.eval"))
    assert turned == straight


def test_logs_of_two_tasks_are_told_apart() -> None:
    with Engine() as engine:
        logs = read(engine, HERE / "plain.json", HERE / "resumed_2.eval")
        found = rows(engine, logs)
    assert {row["response_id"] for row in found} >= {"001 | plain", "001 | resumed"}
    assert any("records differ in task" in note for note in logs.notes)


def test_a_log_without_scores_is_refused_with_the_reason() -> None:
    with Engine() as engine, pytest.raises(SourceError, match="5 samples and no score: it was run without scoring"):
        read(engine, HERE / "unscored.eval")


def test_the_spec_reads_as_slots_and_meets_labels(tmp_path: Path) -> None:
    from evenhand.importers.files import read_file

    labels = tmp_path / "labels.csv"
    labels.write_text("id,human\n001,C\n002,I\n003,C\n4,I\n5,P\n")
    with Engine() as engine:
        logs = read(engine, HERE / "plain.json")
        spec = completed(Spec(), logs.spec)
        reading = read_slots(engine, spec, logs.sources, read_file(engine, labels))
        (met,) = engine.one(f"SELECT count(reference) FROM {reading.relation}")
    assert reading.raters == ("model_graded_qa",)
    assert met == 5


def test_what_the_user_says_comes_before_the_logs_spec() -> None:
    found = Spec(response=("response_id",), cluster="cluster_id", levels=("I", "C"))
    assert completed(Spec(cluster="extra.task"), found) == found.model_copy(update={"cluster": "extra.task"})


@pytest.mark.parametrize(
    ("name", "scored", "correct"),
    [
        ("inspect_ai/2024-11-05T13-31-45-05-00_input-task_8zXjbRzCWrL9GXiXo2vus9.json", 1, 1),
        ("inspect_ai/2025-05-12T20-28-13-04-00_popularity.json", 3, 2),
        ("inspect_ai/log_formats.eval", 1, 0),
        ("inspect_ai/log_formats.json", 1, 0),
        ("inspect_ai/log_streaming.eval", 4, 3),
        ("inspect_ai/mmlu-summary-choices.eval", 1, 0),
        ("every_eval_ever_inspect/data_arc_qwen.json", 3, 1),
        ("every_eval_ever_inspect/data_arc_sonnet.json", 5, 5),
        ("every_eval_ever_inspect/data_pubmedqa_gpt4o_mini.json", 2, 2),
    ],
)
def test_real_logs_give_the_counts_of_their_readme(name: str, scored: int, correct: int) -> None:
    path = shared("data", "harness_logs", *name.split("/"))
    with Engine() as engine:
        logs = read(engine, path)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert Counter(row["value"] == "C" for row in found) == Counter({True: correct, False: scored - correct})
    assert logs.counts[path.name]["verdicts"] == scored
    cancelled = logs.counts[path.name].get("samples of a run whose status is cancelled", 0)
    assert cancelled == (3 if name.endswith("popularity.json") else 0)


def test_the_real_log_without_scores_is_refused() -> None:
    name = "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval"
    path = shared("data", "harness_logs", "inspect_ai", name)
    with Engine() as engine, pytest.raises(SourceError, match="10 samples and no score"):
        read(engine, path)


def test_imp_06_no_grade_is_three_things_and_none_is_incorrect() -> None:
    path = shared("cases", "inputs", "IMP-06_inspect_like.json")
    with Engine() as engine:
        logs = read(engine, path)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts[path.name] == {
        "verdicts": 10, "scored": 7, "abstained": 1, "missing": 1, "error": 1, "samples": 10,
    }  # fmt: skip
    credit = {"C": 1.0, "P": 0.5, "I": 0.0}
    marks = [(row["cluster_id"], credit[row["value"] or ""]) for row in found if row["status"] == "scored"]
    assert sum(mark for _, mark in marks) / len(marks) == pytest.approx(0.642857, abs=5e-7)
    items = {item: [mark for one, mark in marks if one == item] for item, _ in marks}
    assert sum(sum(one) / len(one) for one in items.values()) / len(items) == pytest.approx(0.65)
    assert len({row["response_id"] for row in found}) == 10
    reasons = {row["status"]: row["extra.reason"] for row in found if row["status"] != "scored"}
    assert reasons == {"abstained": "no answer", "missing": "null", "error": "sample error"}


def _log(folder: Path, *scores: object) -> Path:
    path = folder / "log.json"
    samples = [{"id": n, "epoch": 1, "scores": {"judge": score}} for n, score in enumerate(scores, 1)]
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples}))
    return path


def test_every_reason_has_its_status(tmp_path: Path) -> None:
    def none(reason: str | None) -> dict[str, object]:
        return {"value": float("nan"), "reason": reason}

    path = _log(
        tmp_path,
        none("refusal"), none("no_response"), none("grader_failed"), none("scoring_failed"), none(None),
        {"value": float("nan"), "metadata": {"unscored_reason": "grade_parse_failure"}},
        {"value": True}, {"value": 0}, {"value": ""}, {"value": "I", "reason": "refusal"},
    )  # fmt: skip
    with Engine() as engine:
        found = rows(engine, read(engine, path))
    assert [(row["status"], row.get("value")) for row in found] == [
        ("refused", None), ("missing", None), ("unparsed", None), ("error", None), ("unparsed", None), ("unparsed", None),
        ("scored", "true"), ("scored", "0"), ("missing", None), ("scored", "I"),
    ]  # fmt: skip
    assert found[-1]["extra.reason"] == "refusal"


def test_a_list_of_grades_is_one_rater_a_place(tmp_path: Path) -> None:
    with Engine() as engine:
        found = rows(engine, read(engine, _log(tmp_path, {"value": ["C", "I"]}, {"value": ["C", "C"]})))
    assert [(row["response_id"], row["rater_id"], row["value"]) for row in found] == [
        ("1", "judge[1]", "C"), ("1", "judge[2]", "I"), ("2", "judge[1]", "C"), ("2", "judge[2]", "C"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"version": 2, "status": "started", "eval": {"task": "t"}, "samples": []}', "no samples, only a header"),
        ('{"version": 2, "status": "success", "eval": {"task": "t"}}', "no samples, only a header"),
        ('{"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [7]}', "sample 1 is no object"),
        ('{"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{"scores": {"a": {"value": 1}}}]}', "no response_id"),
        ('{"version": 2, "status": "error", "eval": {"task": "t"}, "samples": [{"id": 1, "error": {"message": "x"}}]}', "1 ended in an error"),
    ],
)  # fmt: skip
def test_a_log_that_holds_nothing_to_read_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with Engine() as engine, pytest.raises(SourceError, match=said):
        read(engine, path)
