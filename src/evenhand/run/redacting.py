"""Texts without secrets: an error message may quote the key it refuses, and a base URL may hold one."""

import base64
import json
import logging
import os
import re
from collections.abc import Iterable
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from evenhand.design.plan import JudgePart
from evenhand.errors import RequestError, printable

_LOOKS_SECRET = re.compile(
    r"(?i)\b(?:sk|pk|rk|key|api|xai|gsk|hf|AIza)[-_][A-Za-z0-9_\-*.]{8,}|\bAIza[A-Za-z0-9_\-]{10,}"
    r"|(?<=Bearer )\S+|(?<=Basic )\S+|(?<=api_key=)[^\s&\"']+|(?<=api-key: )\S+|//[^/\s:@]+:[^/\s@]+@"
)
_NAMES_SECRET = re.compile(r"(?i)key|token|secret|sig|pass|auth|code|cred")
_SHORTEST = 4
"""Characters below which a text is no secret to look for: it would stand in every other message by chance."""
_REDACTED = "[redacted]"
_TALKATIVE = ("httpx", "httpx2", "openai", "openai._base_client")  # the last two within Inspect
"""Loggers that write addresses of requests."""
MOST = 300
"""Characters of a provider's message that are kept."""
_OWN = "OPENAI_API_KEY"
"""The variable of the provider's own server."""


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """A message on one line, shortened, with every known secret and everything that looks like one replaced."""
    text = _LOOKS_SECRET.sub(_REDACTED, " ".join(without(text, secrets).split()))
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def without(text: str, secrets: Iterable[str]) -> str:
    """A text with every known secret replaced, also as URLs, JSON and Basic authentication write it."""
    written = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
    for form in sorted(written, key=len, reverse=True):
        text = text.replace(form, _REDACTED)
    return text


def _forms(secret: str) -> set[str]:
    encoded = base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode()
    return {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1], encoded}


class LogFilter(logging.Filter):
    """Keeps secrets out of what HTTP libraries log of a request, whose address may hold them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def __enter__(self) -> Self:
        for name in _TALKATIVE:
            logging.getLogger(name).addFilter(self)
        return self

    def __exit__(self, *_problem: object) -> None:
        for name in _TALKATIVE:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a record pass, without what it must not hold."""
        record.msg, record.args = _LOOKS_SECRET.sub(_REDACTED, without(record.getMessage(), self._secrets)), ()
        return True


def key_variable(judge: JudgePart) -> str:
    """The environment variable whose key is sent for a judge; empty where none is: the provider's key goes to no other server."""
    return judge.key or ("" if judge.base_url else _OWN)


def secrets_of(judges: Iterable[JudgePart]) -> tuple[str, ...]:
    """The keys of judges, from the environment and from their base URLs."""
    found: list[str] = []
    for judge in judges:
        found += [os.environ.get(judge.key or _OWN, "").strip(), *_of_url(judge.base_url or "")]
    return tuple(dict.fromkeys(one for one in found if len(one) >= _SHORTEST))


def _of_url(url: str) -> list[str]:
    """User, password, and what stands under a name that speaks of a secret."""
    parts = urlsplit(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    found = [user, password, unquote(user), unquote(password), f"{unquote(user)}:{unquote(password)}"]
    found = found if user else []
    for raw in parts.query.split("&"):
        name, _, value = raw.partition("=")
        if value and _NAMES_SECRET.search(name):
            found += [value, unquote(value)]
    return found


def url_without_secrets(url: str, secrets: Iterable[str] = ()) -> str:
    """A base URL as it may be written down: without user, password and secret parts of its query."""
    parts = urlsplit(url)
    kept = [(name, _REDACTED if _NAMES_SECRET.search(name) else value) for name, value in parse_qsl(parts.query)]
    query = "&".join(f"{quote(name)}={value if value == _REDACTED else quote(value)}" for name, value in kept)
    plain = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))
    return _LOOKS_SECRET.sub(_REDACTED, without(plain, secrets))


def check_plan_holds_no_key(judges: Iterable[JudgePart], content: object) -> None:
    """Refuse a plan in which the key of a judge stands, elsewhere than in a base URL.

    Args:
        judges: of the plan.
        content: everything else of it, as JSON has it.

    Raises:
        RequestError: with the variable that holds the key, never the key.
    """
    text = json.dumps(content, ensure_ascii=False)
    for judge in judges:
        variable = judge.key or _OWN
        key = os.environ.get(variable, "").strip()
        if len(key) >= 2 * _SHORTEST and (key in text or json.dumps(key)[1:-1] in text):
            raise RequestError(
                f'judge "{printable(judge.name)}": the key that {variable} holds stands in the plan itself; take it out: a plan is written '
                "into the folder of a run, and a key never is"
            )
