"""Inspect AI, for real: its mock model behind the backend, and a design as its task whose log is audited."""

import asyncio
import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studies import pair_study, study

import evenhand
from evenhand.cli.main import run as evenhand_command
from evenhand.design.calls import load_design
from evenhand.design.plan import JudgePart
from evenhand.errors import RequestError
from evenhand.run.backends.inspect_model import InspectBackend, check_settings
from evenhand.run.closing import read_attempts
from evenhand.run.inspect_files import write_inspect_task
from evenhand.run.running import run_design
from evenhand.verdicts.spec import Spec

inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect AI is an extra: pip install 'evenhand[inspect]'")
pytestmark = pytest.mark.filterwarnings("ignore")
MOCK = 'backend = "inspect"'


def answering(answer: Callable[[str], str]) -> Any:
    """Inspect's mock model with an answer to each prompt, and usage, so that it counts no tokens itself."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def output(messages: list[Any], _tools: Any, _choice: Any, _config: Any) -> ModelOutput:
        found = ModelOutput.from_content("mockllm/model", answer(messages[-1].text))
        found.usage = ModelUsage(input_tokens=7, output_tokens=2, total_tokens=14, input_tokens_cache_read=5)
        return found

    return get_model("mockllm/model", custom_outputs=output)


@pytest.fixture
def mocked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], str]], None]:
    def put(answer: Callable[[str], str]) -> None:
        model = answering(answer)
        monkeypatch.setattr("inspect_ai.model.get_model", lambda *_a, **_k: model)

    return put


def test_a_plan_is_run_through_inspect(tmp_path: Path, mocked: Any) -> None:
    mocked(lambda text: "no" if "answer of r1" in text else "yes")
    plan = study(
        tmp_path / "study", 3, judge=MOCK + "\nsettings = { temperature = 0.0, max_tokens = 5 }", model="mockllm/model"
    )
    assert evenhand_command(["run", str(plan), "--out", str(tmp_path / "out")]) == 0
    attempts = list(read_attempts(tmp_path / "out" / "ledger.parquet"))
    assert [one.value for one in attempts] == ["yes", "no", "yes"]
    assert {(one.prompt_tokens, one.cached_tokens, one.completion_tokens) for one in attempts} == {(12, 5, 2)}
    assert {one.served_model for one in attempts} == {"mockllm/model"}


def test_what_a_provider_raises_is_a_failure_of_its_kind(tmp_path: Path, mocked: Any) -> None:
    class RateLimited(Exception):  # noqa: N818  as a provider's SDK may call it
        status_code = 429

    class ReadTimeout(Exception):  # noqa: N818
        pass

    def answer(text: str) -> str:
        if "answer of r0" in text:
            raise RateLimited("slow down, sk-abcdefghijklmnop")
        if "answer of r1" in text:
            raise ReadTimeout
        raise ValueError("no such deployment")

    mocked(answer)
    plan = study(tmp_path / "study", 3, judge=MOCK, model="mockllm/model", more="attempts = 1")
    assert evenhand_command(["run", str(plan), "--out", str(tmp_path / "out")]) == 3
    found = {one.labels["response_id"]: one for one in read_attempts(tmp_path / "out" / "ledger.parquet")}
    assert [found[name].failure for name in ("r0", "r1", "r2")] == ["rate limit", "timeout", "bad request"]
    assert found["r0"].http_status == 429
    assert "abcdefgh" not in found["r0"].message
    assert {one.number for one in found.values()} == {1}


def test_an_unknown_setting_and_an_unknown_model_are_refused(tmp_path: Path) -> None:
    judge = JudgePart(name="j", model="mockllm/model", backend="inspect", settings={"temprature": 0.0})
    with pytest.raises(RequestError, match='did you mean "temperature"'):
        InspectBackend(judge, "")
    with pytest.raises(RequestError, match="is not for a plan"):
        check_settings(judge.model_copy(update={"settings": {"max_retries": 3}}), ["max_retries"])
    with pytest.raises(RequestError, match="Inspect cannot serve"):
        InspectBackend(JudgePart(name="j", model="nobody/model", backend="inspect"), "")


def biased(text: str) -> str:
    """A judge that takes the longer answer, and the first one where both are of one length."""
    from studies import answers_shown

    first, second = answers_shown(text)
    return "[[A]]" if len(first) >= len(second) else "[[B]]"


def test_a_design_as_an_inspect_task_comes_back_through_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of the task, audited with the spec beside it, gives the numbers of a run of the same plan."""
    monkeypatch.chdir(tmp_path)
    plan = pair_study(tmp_path / "study")
    design = load_design(plan)
    files = write_inspect_task(design, tmp_path / "judge_pairs.py")
    assert write_inspect_task(design, tmp_path / "judge_pairs.py") == files
    (log,) = inspect_ai.eval(
        files[0].name, model=answering(biased), log_dir=str(tmp_path / "logs"), display="none", log_format="eval"
    )
    assert log.status == "success", log.error
    (path,) = (tmp_path / "logs").glob("*.eval")
    audit = evenhand.audit(str(path), spec=Spec.load(files[-1]))
    direct = run_design(
        design, tmp_path / "out", judges={"judge": lambda request: biased(request.messages[-1].content)}
    )
    other = evenhand.audit(str(direct.verdicts))
    for name in ("order_consistency/judge", "first_position_share/judge", "observed_agreement/judge"):
        assert audit[name].estimate == pytest.approx(other[name].estimate), name
    table = tmp_path / "verdicts.csv"
    evenhand.convert(str(path), spec=Spec.load(files[-1]), to=table).close()
    with table.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["rater_kind"] == "judge"]
    assert len(rows) == design.n_calls
    assert {row["extra.metadata.call"] for row in rows} == {call.key for call in design.calls()}


def test_a_reply_without_a_verdict_stays_unparsed_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = study(tmp_path / "study", 3)
    files = write_inspect_task(load_design(plan), tmp_path / "judge_lines.py")
    replies = {"r0": "yes", "r1": "perhaps", "r2": "N"}
    model = answering(lambda text: replies[text.split("answer of ")[1].split()[0]])
    inspect_ai.eval(files[0].name, model=model, log_dir=str(tmp_path / "logs"), display="none", log_format="eval")
    (path,) = (tmp_path / "logs").glob("*.eval")
    table = tmp_path / "verdicts.csv"
    with evenhand.convert(str(path), spec=Spec.load(files[-1]), to=table) as converted:
        assert converted.n_verdicts == 6
    with table.open(encoding="utf-8") as stream:
        found = {row["response_id"]: row["status"] for row in csv.DictReader(stream) if row["rater_kind"] == "judge"}
    assert found == {"r0": "scored", "r1": "unparsed", "r2": "unparsed"}


def test_a_backend_waits_for_a_call_that_is_cancelled(mocked: Any) -> None:
    from evenhand.design.request import Message, PlannedCall, Request

    mocked(lambda _text: "yes")
    backend = InspectBackend(JudgePart(name="j", model="mockllm/model", backend="inspect"), "")
    call = PlannedCall(0, {}, Request("inspect", "mockllm/model", (Message("system", "s"), Message("user", "u"))))

    async def go() -> str:
        found = await backend.complete(call)
        await backend.close()
        return found.text

    assert asyncio.run(go()) == "yes"
