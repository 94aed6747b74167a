"""A model through Inspect AI's model API: every provider that Inspect knows, under the names it gives them."""

import asyncio
import importlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.design.plan import JudgePart
from evenhand.design.request import PlannedCall, Request
from evenhand.errors import RequestError, did_you_mean, printable
from evenhand.run.backend import CallFailedError, FailureKind, Reply, Usage, failure_kind
from evenhand.run.redacting import redacted

EXTRA = "pip install 'evenhand[inspect]'"
STEADY: dict[str, Any] = {"max_retries": 0, "adaptive_connections": False}
"""Settings of Inspect under which every attempt is one that the ledger shows."""
_OURS = (*STEADY, "max_connections", "cache", "batch", "num_choices", "attempt_timeout", "timeout", "response_schema")
FINISH = {"max_tokens": "length", "model_length": "length"}
"""Inspect's words for a reply that was cut, as the rest of a run knows them."""
_MARKUP = re.compile(r"\[/?[a-z ]+\]")


class InspectBackend:
    """Calls ``Model.generate``; Inspect's own retries and cache are off, since a ledger shows every attempt."""

    name = "inspect"

    def __init__(self, judge: JudgePart, api_key: str, secrets: Iterable[str] = ()) -> None:
        """Get the model; nothing is sent.

        Args:
            judge: of a plan; its model is named as Inspect does, as in ``openai/gpt-4o``.
            api_key: empty where Inspect finds it by itself.
            secrets: further texts that no message may hold.

        Raises:
            RequestError: Inspect is not installed, knows no such model, or has no such setting.
        """
        try:
            self._api: Any = importlib.import_module("inspect_ai.model")
            errors: Any = importlib.import_module("inspect_ai._util.error")
        except ModuleNotFoundError:
            raise RequestError(f'judge "{printable(judge.name)}": Inspect AI is not installed: {EXTRA}') from None
        self._secrets = (api_key, *secrets)
        check_settings(judge, self._api.GenerateConfig.model_fields)
        lacking = (ValueError, ImportError, LookupError, TypeError, errors.PrerequisiteError)
        try:
            self._model = self._api.get_model(
                judge.model, base_url=judge.base_url, api_key=api_key or None, memoize=False
            )
        except lacking as problem:
            said = _MARKUP.sub("", redacted(str(problem), self._secrets))
            raise RequestError(
                f'judge "{printable(judge.name)}": Inspect cannot serve "{printable(judge.model)}": {printable(said)}'
            ) from None
        self._steady = {**STEADY, "max_connections": 10_000, "attempt_timeout": math.ceil(judge.timeout)}

    async def complete(self, call: PlannedCall) -> Reply:
        """One generation; each provider has errors of its own, told apart by what they say of themselves."""
        task = asyncio.ensure_future(self._generate(call.request))
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
        if (problem := task.exception()) is not None:
            raise self._failure(problem) from None
        output = task.result()
        if getattr(output, "error", None):
            raise CallFailedError("server", redacted(str(output.error), self._secrets))
        return _reply(output, call.request.model)

    async def close(self) -> None:
        """Let the model's client go."""
        await self._model.api.aclose()

    def _generate(self, request: Request) -> Any:
        makers = {
            "system": self._api.ChatMessageSystem,
            "user": self._api.ChatMessageUser,
            "assistant": self._api.ChatMessageAssistant,
        }
        messages = [makers[message.role](content=message.content) for message in request.messages]
        settings = {**request.settings, **self._steady}
        if request.schema is not None:
            settings["response_schema"] = response_schema(request.schema)
        return self._model.generate(messages, config=self._api.GenerateConfig(**settings), cache=False)

    def _failure(self, problem: BaseException) -> CallFailedError:
        status = status_of(problem)
        said = redacted(str(problem) or type(problem).__name__, self._secrets)
        return CallFailedError(
            failure_kind(status) if status else _kind_by_name(problem),
            f"{type(problem).__name__}: {said}",
            status=status,
        )


def response_schema(schema: Mapping[str, Any]) -> Any:
    """A JSON schema of a reply as Inspect takes it."""
    api: Any = importlib.import_module("inspect_ai.model")
    util: Any = importlib.import_module("inspect_ai.util")
    return api.ResponseSchema(name="verdict", json_schema=util.JSONSchema(**schema), strict=True)


def check_settings(judge: JudgePart, known: Iterable[str]) -> None:
    """Hold the settings of a judge to those that Inspect has.

    Raises:
        RequestError: an unknown one, or one that is the run's own.
    """
    for name in judge.settings:
        if name in _OURS:
            raise RequestError(
                f'judge "{printable(judge.name)}": settings.{printable(name)} is not for a plan: a run makes, repeats and limits calls itself'
            )
        if name not in known:
            raise RequestError(
                f'judge "{printable(judge.name)}": Inspect has no setting "{printable(name)}"{did_you_mean(name, list(known))}; what only '
                "the provider knows goes into settings.extra_body"
            )


def status_of(problem: BaseException) -> int:
    """The HTTP status that a provider's error holds, wherever it keeps it; 0 where there is none."""
    holders = (problem, getattr(problem, "response", None))
    found = [getattr(one, name, None) for one in holders for name in ("status_code", "status", "code")]
    return next((one for one in found if isinstance(one, int) and 400 <= one < 600), 0)


def _kind_by_name(problem: BaseException) -> FailureKind:
    name = type(problem).__name__.casefold()
    if "timeout" in name:
        return "timeout"
    return "connection" if "connect" in name or isinstance(problem, OSError) else "bad request"


def _reply(output: Any, model: str) -> Reply:
    usage, finish = output.usage, str(output.stop_reason)
    read = usage.input_tokens_cache_read or 0 if usage else 0
    written = usage.input_tokens_cache_write or 0 if usage else 0
    logprobs = output.choices[0].logprobs if output.choices else None
    tokens: dict[str, float] = {}
    for one in (logprobs.content[0].top_logprobs or [logprobs.content[0]]) if logprobs and logprobs.content else ():
        tokens[one.token] = tokens.get(one.token, 0.0) + math.exp(min(float(one.logprob), 0.0))
    return Reply(
        text=output.completion or "",
        served_model=str(output.model or model),
        usage=Usage(usage.input_tokens + read + written, read, usage.output_tokens) if usage else Usage(),
        finish_reason=FINISH.get(finish, finish),
        tokens=tokens,
    )
