"""Any OpenAI-compatible server: hosted, vLLM, llama.cpp, Ollama, or a proxy, by its base URL."""

import email.utils
import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from evenhand.design.request import PlannedCall
from evenhand.errors import RequestError
from evenhand.run.backend import CallFailedError, Reply
from evenhand.run.backends.completion import body_of, error_of, reply_of
from evenhand.run.redacting import redacted

PROVIDER = "https://api.openai.com/v1"
"""Where no base URL is named; no variable of the environment puts another server behind the same name."""
_LONGEST_WAIT = 3_600.0


class OpenAIBackend:
    """The chat completions of one server, by plain HTTP; retries, waiting and counting are the runner's."""

    name = "openai"

    def __init__(self, base_url: str | None, api_key: str, timeout: float = 120.0, secrets: Iterable[str] = ()) -> None:
        """Prepare a client; nothing is sent.

        Args:
            base_url: of the server, such as ``http://127.0.0.1:8080/v1``; OpenAI's own where it is None.
            api_key: held in memory only; may be any text for a server that asks for none.
            timeout: seconds until an attempt counts as failed.
            secrets: further texts that no message may hold.

        Raises:
            RequestError: the HTTP client is not installed, or the address or the key is none.
        """
        try:
            import httpx2
        except ModuleNotFoundError:
            raise RequestError("this judge is reached over HTTP by httpx2: pip install 'evenhand[run]'") from None
        _check_address(base_url or PROVIDER)
        if not (api_key.isascii() and api_key.isprintable()):
            raise RequestError("a judge's key holds characters that no key has (a line break, perhaps); set it anew")
        self._errors, self._secrets = httpx2, (api_key, *secrets)
        scheme, host, path, query, _ = urlsplit(base_url or PROVIDER)
        self._address = urlunsplit((scheme, host, f"{path.rstrip('/')}/chat/completions", query, ""))
        self._client = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {api_key or 'none'}", "accept": "application/json"},
            timeout=timeout,
            follow_redirects=True,
            limits=httpx2.Limits(),  # the runner counts calls in flight
        )

    async def complete(self, call: PlannedCall) -> Reply:
        """One completion; everything in ``settings`` is sent as it stands, and nothing else is added."""
        errors = self._errors
        try:
            response = await self._client.post(self._address, json=body_of(call.request))
            answer: object = json.loads(response.content) if response.is_success else None
        except errors.TimeoutException as problem:
            raise CallFailedError("timeout", self._clean(str(problem) or "no reply in time")) from None
        except (errors.DecodingError, ValueError, RecursionError) as problem:  # a body that is no JSON
            raise CallFailedError("cut reply", self._clean(str(problem))) from None
        except (errors.HTTPError, errors.InvalidURL) as problem:
            raise CallFailedError("connection", self._clean(str(problem) or type(problem).__name__)) from None
        if not response.is_success:
            raise self._refused(response)
        return reply_of(answer, call.request.model, self._clean)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _refused(self, response: Any) -> CallFailedError:
        try:
            answer: object = json.loads(response.content)
        except (ValueError, RecursionError):
            answer = {"error": response.text.strip() or response.reason_phrase}
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
