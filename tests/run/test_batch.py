"""Batches: a file of requests out, a file of results in, and every line of it accounted for."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies import item, study

from evenhand.cli.main import run as evenhand_command
from evenhand.design.calls import load_design
from evenhand.errors import RequestError, SourceError
from evenhand.run import batching
from evenhand.run.closing import read_attempts
from evenhand.run.running import Finished, run_design
from evenhand.verdicts.engine import Engine

BATCH = 'backend = "batch"\nsettings = { max_tokens = 5 }'


def requests_in(folder: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for path in sorted(folder.glob("batch-requests*.jsonl")):
        lines += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return lines


def result(request: dict[str, Any], text: str = "yes", **more: Any) -> dict[str, Any]:
    """A line as batch services write it."""
    body = {
        "id": "chatcmpl-1",
        "model": request["body"]["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": request["custom_id"], "response": response, "error": None, **more}


def failed(request: dict[str, Any], status: int, message: str) -> dict[str, Any]:
    body = {"error": {"message": message, "type": "scripted", "code": None}}
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


def write_lines(path: Path, lines: Iterable[object]) -> Path:
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), encoding="utf-8"
    )
    return path


def verdicts(path: Path) -> dict[str, tuple[str | None, str, str | None]]:
    with Engine() as engine:
        rows = engine.rows("SELECT response_id, value, status, reason FROM read_parquet(?)", [str(path)])
    return {row[0]: row[1:] for row in rows}


def test_requests_hold_what_is_sent_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, out = study(tmp_path / "study", 3, judge=BATCH), tmp_path / "out"
    assert evenhand_command(["run", str(plan), "--out", str(out)]) == 0
    assert "3 requests" in capsys.readouterr().out
    lines = requests_in(out)
    calls = list(load_design(plan).calls())
    assert [line["custom_id"] for line in lines] == [call.key for call in calls]
    assert lines[0] == {
        "custom_id": calls[0].key,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "small",
            "messages": [{"role": "user", "content": calls[0].request.messages[0].content}],
            "max_tokens": 5,
        },
    }
    assert {found[1:] for found in verdicts(out / "verdicts.parquet").values()} == {("missing", "in a batch")}


def test_results_come_back_in_any_order_and_nothing_is_left(tmp_path: Path) -> None:
    plan, out = study(tmp_path / "study", 4, judge=BATCH), tmp_path / "out"
    assert evenhand_command(["run", str(plan), "--out", str(out)]) == 0
    lines = [
        result(one, "no" if item(one["body"]["messages"][0]["content"]) == "r2" else "yes") for one in requests_in(out)
    ]
    write_lines(out / "batch_abc_output.jsonl", reversed(lines))
    assert evenhand_command(["run", str(plan), "--out", str(out)]) == 0
    assert [found[0] for found in verdicts(out / "verdicts.parquet").values()] == ["yes", "yes", "no", "yes"]
    assert requests_in(out) == []
    attempts = list(read_attempts(out / "ledger.parquet"))
    assert {(one.prompt_tokens, one.completion_tokens, one.number) for one in attempts} == {(9, 1, 1)}
    assert evenhand_command(["run", str(plan), "--out", str(out)]) == 0
    assert len(list(read_attempts(out / "ledger.parquet"))) == 4


def test_every_line_is_accounted_for_and_the_rest_is_a_batch_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors, a missing line, a duplicate, an unknown id, a torn line, a line of another kind, a file read twice."""
    plan, out = study(tmp_path / "study", 6, judge=BATCH), tmp_path / "out"
    assert evenhand_command(["run", str(plan), "--out", str(out)]) == 0
    asked = requests_in(out)
    stranger = {**asked[0], "custom_id": "stranger"}
    lines: list[object] = [
        result(asked[0]), failed(asked[1], 400, "too long; your key sk-abcdefghijklmnop"), result(asked[2], "no"),
        result(asked[2], "yes"), result(stranger), '{"custom_id": "torn', asked[3], "",
        {"custom_id": asked[3]["custom_id"], "response": None, "error": {"code": "batch_expired", "message": "expired"}},
    ]  # fmt: skip
    results = write_lines(tmp_path / "results.jsonl", lines)
    capsys.readouterr()
    assert evenhand_command(["run", str(plan), "--out", str(out), "--batch-results", str(results)]) == 3
    said = capsys.readouterr()
    for words in (
        "3 replies", "2 failed", "1 further lines", '1 of no call here (the first: "stranger")',
        "2 that are no result (results.jsonl line 6, results.jsonl line 7)", "2 calls that waited have no line",
        "batch: 4 requests", "4 of these stood in a file of requests before",
    ):  # fmt: skip
        assert words in said.out
    assert "sk-abcdef" not in said.out + said.err
    found = verdicts(out / "verdicts.parquet")
    assert found["r0"] == ("yes", "scored", None)
    assert found["r1"] == (None, "error", "bad request")
    assert found["r2"] == ("no", "scored", None)
    assert found["r3"] == (None, "error", "server")
    assert found["r4"] == found["r5"] == (None, "missing", "in a batch")
    left = requests_in(out)
    assert [one["custom_id"] for one in left] == [asked[place]["custom_id"] for place in (1, 3, 4, 5)]
    again = run_design(load_design(plan), out, batch_results=[results])
    assert again.results is not None
    assert (again.results.replies, again.results.failed, again.results.known) == (0, 0, 5)
    whole = run_design(load_design(plan), out, batch_results=[write_lines(tmp_path / "rest.jsonl", map(result, left))])
    assert (whole.unanswered, requests_in(out)) == (0, [])
    assert verdicts(out / "verdicts.parquet")["r2"] == ("no", "scored", None)


@settings(max_examples=12, deadline=None)
@given(data=st.data(), n=st.integers(1, 6))
def test_whatever_a_service_returns_each_call_is_answered_once_or_asked_again(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, n: int
) -> None:
    folder = tmp_path_factory.mktemp("batch")
    plan, out = study(folder / "study", n, judge=BATCH), folder / "out"
    design = load_design(plan)
    run_design(design, out)
    asked = requests_in(out)
    kinds = data.draw(
        st.lists(st.tuples(st.integers(0, n), st.sampled_from(["yes", "no", "error", "torn"])), max_size=12)
    )
    lines: list[object] = []
    first: dict[int, str] = {}
    for place, kind in kinds:
        request = asked[place] if place < n else {**asked[0], "custom_id": "nobody"}
        if kind == "torn":
            lines.append('{"custom_id": "')
        elif kind == "error":
            lines.append(failed(request, 500, "down"))
        else:
            lines.append(result(request, kind))
            first.setdefault(place, kind)
    if not any(kind != "torn" for _, kind in kinds):
        return
    found = run_design(design, out, batch_results=[write_lines(folder / "results.jsonl", lines)])
    by_id = verdicts(found.verdicts)
    assert {name: value for name, (value, _, _) in by_id.items() if value} == {
        f"r{place}": kind for place, kind in first.items() if place < n
    }
    assert [one["custom_id"] for one in requests_in(out)] == [
        asked[place]["custom_id"] for place in range(n) if place not in first
    ]
    counts = found.results
    assert counts is not None
    assert counts.unknown == sum(place == n and kind != "torn" for place, kind in kinds)
    assert counts.malformed == sum(kind == "torn" for _, kind in kinds)
    kept = list(read_attempts(out / "ledger.parquet"))
    assert len(kept) == counts.replies + counts.failed


def test_a_budget_holds_requests_back(tmp_path: Path) -> None:
    plan = study(tmp_path / "study", 5, judge=BATCH, more="[budget]\ncalls = 3")
    found = run_design(load_design(plan), tmp_path / "out")
    assert found.requests is not None
    assert found.requests.calls == len(requests_in(tmp_path / "out")) == 3
    assert found.requests.held_back.startswith("budget")
    assert evenhand_command(["run", str(plan), "--out", str(tmp_path / "out")]) == 3


def test_a_file_holds_one_judge_and_no_more_than_services_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_MOST_LINES", 2)
    second = '\n[[judge]]\nname = "other"\nmodel = "large"\nbackend = "batch"'
    plan = study(tmp_path / "study", 3, judge=BATCH + second)
    found = run_design(load_design(plan), tmp_path / "out")
    assert found.requests is not None
    assert [path.name for path in found.requests.files] == [f"batch-requests-{number}.jsonl" for number in range(1, 5)]
    lines = [path.read_text(encoding="utf-8").splitlines() for path in found.requests.files]
    models = [{json.loads(line)["body"]["model"] for line in one} for one in lines]
    assert all(len(one) == 1 for one in models)
    assert len(requests_in(tmp_path / "out")) == 6


def test_a_function_takes_the_place_of_a_batch(tmp_path: Path) -> None:
    plan = study(tmp_path / "study", 2, judge=BATCH)
    found: Finished = run_design(load_design(plan), tmp_path / "out", judges={"judge": lambda _request: "yes"})
    assert (found.unanswered, found.requests) == (0, None)


def test_results_without_a_judge_that_waits_for_them_are_refused(tmp_path: Path) -> None:
    plan = study(tmp_path / "study", 1, judge='base_url = "http://127.0.0.1:9/v1"')
    with pytest.raises(RequestError, match="no judge of this plan is asked in batches"):
        run_design(load_design(plan), tmp_path / "out", batch_results=[tmp_path / "results.jsonl"])


@pytest.mark.parametrize("text", ["", "not json\n", '{"custom_id": "a", "method": "POST", "body": {}}\n'])
def test_a_file_that_holds_no_results_is_refused(tmp_path: Path, text: str) -> None:
    plan = study(tmp_path / "study", 1, judge=BATCH)
    (tmp_path / "results.jsonl").write_text(text)
    with pytest.raises(SourceError, match="no line of it is a batch's result"):
        run_design(load_design(plan), tmp_path / "out", batch_results=[tmp_path / "results.jsonl"])
    with pytest.raises(SourceError, match="cannot be read"):
        run_design(load_design(plan), tmp_path / "out", batch_results=[tmp_path / "absent.jsonl"])
