"""A chat completion as OpenAI's protocol has it, made and read as plain JSON: the same for a server's answer and a batch's line."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from evenhand.design.request import Request
from evenhand.run.backend import CallFailedError, Reply, Usage, failure_kind

_MOST_TOKENS = 10**12
"""Beyond which a count is no count."""


def body_of(request: Request) -> dict[str, Any]:
    """What is sent: everything in ``settings`` as it stands, and nothing else is added."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        **request.settings,
    }
    if request.schema is not None:
        schema = {"name": "verdict", "schema": dict(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def reply_of(answer: object, model: str, clean: Callable[[str], str]) -> Reply:
    """The reply in a completion.

    Args:
        answer: JSON as it came.
        model: that was asked for.
        clean: takes secrets out of a server's error message.

    Raises:
        CallFailedError: it holds no message, or an error in its place.
    """
    found = answer if isinstance(answer, dict) else {}
    if isinstance(found.get("error"), dict | str) and not found.get("choices"):
        raise error_of(found, 200, clean)
    choice = _first(found.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict):
        raise CallFailedError("cut reply", "the server's answer holds no message", usage=usage_of(found))
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise CallFailedError("cut reply", "the server's message holds no text", usage=usage_of(found))
    return Reply(
        text=content or "",
        served_model=str(found.get("model") or model),
        usage=usage_of(found),
        finish_reason=str(choice.get("finish_reason") or ""),
        refusal=str(message.get("refusal") or ""),
        tokens=_first_token(choice.get("logprobs")),
        raw={name: str(found[name]) for name in ("id", "system_fingerprint") if found.get(name)},
    )


def error_of(answer: object, status: int, clean: Callable[[str], str]) -> CallFailedError:
    """The failure that an error object tells; a status within it goes before one that says all is well."""
    said: object = answer.get("error", answer) if isinstance(answer, dict) else answer
    about = said if isinstance(said, dict) else {}
    code = about.get("code")
    if status < 400:
        status = code if isinstance(code, int) and 400 <= code < 600 else 0
    message = str(about.get("message") or said or "no message")
    kind = failure_kind(status) if status else "server"
    if kind == "rate limit" and "insufficient_quota" in f"{code} {about.get('type')} {message}":
        kind = "payment"
    return CallFailedError(kind, clean(message), status=status, usage=usage_of(answer))


def usage_of(answer: object) -> Usage:
    """Tokens as the provider counts them; what is no count is 0."""
    usage = _object(answer, "usage")
    prompt = _count(usage.get("prompt_tokens"))
    cached = _count(_object(usage, "prompt_tokens_details").get("cached_tokens"))
    return Usage(prompt, min(cached, prompt), _count(usage.get("completion_tokens")))


def _object(holder: object, name: str) -> Mapping[str, Any]:
    found = holder.get(name) if isinstance(holder, Mapping) else None
    return found if isinstance(found, dict) else {}


def _first(choices: object) -> Mapping[str, Any]:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _count(value: object) -> int:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
    return int(value) if usable else 0  # type: ignore[call-overload]


def _first_token(logprobs: object) -> dict[str, float]:
    """Probability of each token that the server lists for the first place."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    listed = first.get("top_logprobs") or [first]
    found: dict[str, float] = {}
    for one in listed if isinstance(listed, list) else ():
        token, logarithm = (one.get("token"), one.get("logprob")) if isinstance(one, dict) else (None, None)
        if isinstance(token, str) and isinstance(logarithm, int | float) and not math.isnan(logarithm):
            found[token] = found.get(token, 0.0) + math.exp(min(float(logarithm), 0.0))
    return found
