"""Any OpenAI-compatible server: hosted, vLLM, llama.cpp, Ollama, or a proxy, by its base URL."""

import email.utils
import math
import time
from collections.abc import Mapping
from typing import Any

from evenhand.design.request import PlannedCall
from evenhand.errors import RequestError
from evenhand.run.backend import CallFailedError, Reply, Usage, failure_kind
from evenhand.run.redacting import redacted

_LONGEST_WAIT = 3_600.0


class OpenAIBackend:
    """The chat completions of one server, through the OpenAI SDK; retries, waiting and counting are the runner's."""

    name = "openai"

    def __init__(self, base_url: str | None, api_key: str, timeout: float = 120.0) -> None:
        """Prepare a client; nothing is sent.

        Args:
            base_url: of the server, such as ``http://127.0.0.1:8080/v1``; the SDK's own where it is None.
            api_key: held in memory only; may be any text for a server that asks for none.
            timeout: seconds until an attempt counts as failed.

        Raises:
            RequestError: the SDK is not installed.
        """
        try:
            import openai
        except ModuleNotFoundError:
            raise RequestError("this judge is reached through the OpenAI SDK: pip install 'evenhand[run]'") from None
        self._errors, self._secret = openai, api_key
        self._client = openai.AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout, max_retries=0)

    async def complete(self, call: PlannedCall) -> Reply:
        """One completion; everything in ``settings`` is sent as it stands, and nothing else is added."""
        request, errors = call.request, self._errors
        body: dict[str, Any] = dict(request.settings)
        if request.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "schema": dict(request.schema), "strict": True},
            }
        messages: Any = [{"role": message.role, "content": message.content} for message in request.messages]
        try:
            answer = await self._client.chat.completions.create(model=request.model, messages=messages, extra_body=body)
        except errors.APITimeoutError as problem:
            raise CallFailedError("timeout", self._said(problem)) from None
        except errors.APIStatusError as problem:
            wait = _retry_after(problem.response.headers)
            kind = failure_kind(problem.status_code)
            if kind == "rate limit" and "insufficient_quota" in str(problem):
                kind = "payment"
            raise CallFailedError(kind, self._said(problem), status=problem.status_code, retry_after=wait) from None
        except errors.APIConnectionError as problem:
            raise CallFailedError("connection", self._said(problem.__cause__ or problem)) from None
        except (errors.APIError, ValueError) as problem:  # a body that is no completion, or no JSON
            raise CallFailedError("cut reply", self._said(problem)) from None
        return self._reply(answer, request.model)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _said(self, problem: BaseException) -> str:
        return redacted(str(problem) or type(problem).__name__, [self._secret])

    def _reply(self, answer: Any, model: str) -> Reply:
        choices = getattr(answer, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise CallFailedError("cut reply", "the server's answer holds no message")
        choice = choices[0]
        content = choice.message.content
        if content is not None and not isinstance(content, str):
            raise CallFailedError("cut reply", "the server's message holds no text")
        raw = {name: str(value) for name in ("id", "system_fingerprint") if (value := getattr(answer, name, None))}
        return Reply(
            text=content or "",
            served_model=str(getattr(answer, "model", "") or model),
            usage=_usage(getattr(answer, "usage", None)),
            finish_reason=str(getattr(choice, "finish_reason", "") or ""),
            refusal=str(getattr(choice.message, "refusal", "") or ""),
            tokens=_first_token(getattr(choice, "logprobs", None)),
            raw=raw,
        )


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", 0) if details is not None else 0
    return Usage(int(usage.prompt_tokens or 0), int(cached or 0), int(usage.completion_tokens or 0))


def _first_token(logprobs: Any) -> dict[str, float]:
    """Probability of each token the server lists for the first place."""
    content = getattr(logprobs, "content", None)
    if not content:
        return {}
    found: dict[str, float] = {}
    for one in getattr(content[0], "top_logprobs", None) or [content[0]]:
        found[one.token] = found.get(one.token, 0.0) + math.exp(min(float(one.logprob), 0.0))
    return found


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds a server asks to wait, as a number or a date; 0 where it asks for none."""
    said = headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(said).timestamp() - time.time()
        except ValueError:
            return 0.0
    return min(max(seconds, 0.0), _LONGEST_WAIT) if math.isfinite(seconds) else 0.0
