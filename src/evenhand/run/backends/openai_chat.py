"""Any OpenAI-compatible server: hosted, vLLM, llama.cpp, Ollama, or a proxy, by its base URL."""

import email.utils
import math
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from evenhand.design.request import PlannedCall
from evenhand.errors import RequestError
from evenhand.run.backend import CallFailedError, Reply
from evenhand.run.backends.completion import body_of, error_of, reply_of
from evenhand.run.redacting import redacted

PROVIDER = "https://api.openai.com/v1"
"""Where no base URL is named; no variable of the environment puts another server behind the same name."""
_LONGEST_WAIT = 3_600.0


class OpenAIBackend:
    """The chat completions of one server, through the OpenAI SDK; retries, waiting and counting are the runner's."""

    name = "openai"

    def __init__(self, base_url: str | None, api_key: str, timeout: float = 120.0, secrets: Iterable[str] = ()) -> None:
        """Prepare a client; nothing is sent.

        Args:
            base_url: of the server, such as ``http://127.0.0.1:8080/v1``; OpenAI's own where it is None.
            api_key: held in memory only; may be any text for a server that asks for none.
            timeout: seconds until an attempt counts as failed.
            secrets: further texts that no message may hold.

        Raises:
            RequestError: the SDK is not installed, or the address or the key is none.
        """
        try:
            import openai
        except ModuleNotFoundError:
            raise RequestError("this judge is reached through the OpenAI SDK: pip install 'evenhand[run]'") from None
        _check_address(base_url or PROVIDER)
        if not (api_key.isascii() and api_key.isprintable()):
            raise RequestError("a judge's key holds characters that no key has (a line break, perhaps); set it anew")
        self._errors, self._secrets = openai, (api_key, *secrets)
        address = urlsplit(base_url or PROVIDER)
        self._client = openai.AsyncOpenAI(
            base_url=urlunsplit((*address[:3], "", "")),  # the SDK puts its path behind a query
            default_query=dict(parse_qsl(address.query)),
            api_key=api_key or "none",
            timeout=timeout,
            max_retries=0,
        )

    async def complete(self, call: PlannedCall) -> Reply:
        """One completion; everything in ``settings`` is sent as it stands, and nothing else is added."""
        errors, body = self._errors, body_of(call.request)
        try:
            answer: object = await self._client.post("/chat/completions", body=body, cast_to=object)
        except errors.APITimeoutError as problem:
            raise CallFailedError("timeout", self._clean(str(problem))) from None
        except errors.APIStatusError as problem:
            raise self._refused(problem.response, str(problem)) from None
        except errors.APIConnectionError as problem:
            cause = problem.__cause__ or problem
            raise CallFailedError("connection", self._clean(str(cause) or type(cause).__name__)) from None
        except (errors.APIError, ValueError, RecursionError) as problem:  # a body that is no JSON
            raise CallFailedError("cut reply", self._clean(str(problem))) from None
        return reply_of(answer, call.request.model, self._clean)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _refused(self, response: Any, said: str) -> CallFailedError:
        try:
            answer: object = response.json()
        except (ValueError, RecursionError):
            answer = {"error": said}
        failure = error_of(answer, response.status_code, self._clean)
        failure.retry_after = _retry_after(response.headers)
        return failure

    def _clean(self, text: str) -> str:
        return redacted(text, self._secrets)


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or re.search(r"[\s\x00-\x1f]", url):
        raise RequestError("a judge's base_url is no address: write it as http://HOST:PORT/v1")


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds a server asks to wait, as a number or a date; 0 where it asks for none."""
    said = headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(said).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return min(max(seconds, 0.0), _LONGEST_WAIT) if math.isfinite(seconds) else 0.0
