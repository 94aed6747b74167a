"""The OpenAI backend against a real server on loopback, faults included."""

import asyncio
import email.utils
import json
import time

import pytest
from loopback import Answer, Loopback, Script, serving

from evenhand.design.request import Message, PlannedCall, Request
from evenhand.run.backend import CallFailedError, Reply

pytest.importorskip("httpx2", reason="the HTTP client is an extra: pip install 'evenhand[run]'")
from evenhand.run.backends.openai_chat import OpenAIBackend

KEY = "sk-test-0123456789abcdef"


def a_call(url: str = "", **settings: object) -> PlannedCall:
    request = Request(url, "small-judge", (Message("user", "Is it met?"),), settings)  # type: ignore[arg-type]
    return PlannedCall(0, {"response_id": "r1"}, request)


def ask(script: Script, call: PlannedCall | None = None, timeout: float = 5.0) -> tuple[Reply, Loopback]:
    with serving(script) as server:

        async def go() -> Reply:
            backend = OpenAIBackend(server.url, KEY, timeout)
            try:
                return await backend.complete(call or a_call())
            finally:
                await backend.close()

        return asyncio.run(go()), server


def failure(script: Script, timeout: float = 5.0) -> CallFailedError:
    with pytest.raises(CallFailedError) as caught:
        ask(script, timeout=timeout)
    return caught.value


def test_a_reply_with_usage_and_the_settings_as_sent() -> None:
    reply, server = ask(lambda _body, _n: Answer("no"), a_call(temperature=0.0, top_k=5))
    assert (reply.text, reply.served_model, reply.usage.prompt, reply.usage.completion) == ("no", "small-judge", 3, 2)
    assert server.asked[0] == {
        "model": "small-judge",
        "messages": [{"role": "user", "content": "Is it met?"}],
        "temperature": 0.0,
        "top_k": 5,
    }


def test_nothing_is_added_to_a_request_without_settings() -> None:
    _, server = ask(lambda _body, _n: Answer("no"))
    assert sorted(server.asked[0]) == ["messages", "model"]


def test_a_schema_is_sent_as_structured_output() -> None:
    schema = {"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}, "required": ["verdict"]}
    request = Request("", "m", (Message("user", "?"),), {}, schema)  # type: ignore[arg-type]
    _, server = ask(lambda _body, _n: Answer('{"verdict": "yes"}'), PlannedCall(0, {}, request))
    assert server.asked[0]["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "rate limit"),
        (500, "server"),
        (503, "server"),
        (402, "payment"),
        (401, "authentication"),
        (404, "not found"),
        (400, "bad request"),
    ],
)
def test_each_status_has_its_kind(status: int, kind: str) -> None:
    problem = failure(lambda _body, _n: Answer(status=status))
    assert (problem.kind, problem.status) == (kind, status)


@pytest.mark.parametrize("dated", [False, True])
def test_retry_after_in_seconds_and_as_a_date(dated: bool) -> None:
    said = email.utils.formatdate(time.time() + 900, usegmt=True) if dated else "900"
    problem = failure(lambda _body, _n: Answer(status=429, headers={"retry-after": said}))
    assert problem.retry_after == pytest.approx(900, abs=60)


def test_a_retry_after_that_says_nothing_is_none() -> None:
    assert failure(lambda _body, _n: Answer(status=429, headers={"retry-after": "soon"})).retry_after == 0


def test_a_cut_body_is_no_reply() -> None:
    assert failure(lambda _body, _n: Answer(cut=True)).kind in ("connection", "cut reply")


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'"yes"', b"{}", b'{"choices": []}', b'{"choices": [{"index": 0}]}', b"null", b"<html>busy</html>"],
)
def test_a_body_that_is_no_completion_is_no_reply(body: bytes) -> None:
    assert failure(lambda _body, _n: Answer(body=body)).kind == "cut reply"


def test_a_slow_server_times_out() -> None:
    assert failure(lambda _body, _n: Answer(seconds=2.0), timeout=0.2).kind == "timeout"


def test_nobody_listening_is_a_connection_failure() -> None:
    async def go() -> None:
        await OpenAIBackend("http://127.0.0.1:9/v1", KEY).complete(a_call())

    with pytest.raises(CallFailedError) as caught:
        asyncio.run(go())
    assert caught.value.kind == "connection"


def test_a_key_in_an_error_is_redacted() -> None:
    said = f"Incorrect API key provided: {KEY}. Also sk-other-aaaaaaaaaaaa and Bearer abc.def"
    problem = failure(lambda _body, _n: Answer(status=401, error=said))
    assert "0123456789" not in str(problem)
    assert "sk-other" not in str(problem)
    assert "abc.def" not in str(problem)
    assert "[redacted]" in str(problem)


def test_a_refusal_and_a_swapped_model_are_seen() -> None:
    reply, _ = ask(lambda _body, _n: Answer("", more={"refusal": "I cannot help"}, model="other-model"))
    assert (reply.refusal, reply.served_model, reply.text) == ("I cannot help", "other-model", "")


def test_first_token_probabilities() -> None:
    top = [{"token": "yes", "logprob": -0.1, "bytes": None}, {"token": "no", "logprob": -2.5, "bytes": None}]
    body = {
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "yes"},
                "logprobs": {"content": [{"token": "yes", "logprob": -0.1, "bytes": None, "top_logprobs": top}]},
            }
        ]
    }
    reply, _ = ask(lambda _body, _n: Answer(body=json.dumps(body).encode()))
    assert reply.tokens == pytest.approx({"yes": 0.9048374, "no": 0.0820850}, abs=1e-6)
