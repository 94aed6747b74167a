"""What serves a request: one reply, or one failure of a named kind."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from evenhand.design.request import PlannedCall

FailureKind = Literal[
    "rate limit",
    "timeout",
    "connection",
    "server",
    "cut reply",
    "payment",
    "authentication",
    "bad request",
    "not found",
]
PASSING: frozenset[FailureKind] = frozenset({"rate limit", "timeout", "connection", "server", "cut reply"})
"""Failures that the same request may not meet again; only these are tried again."""
STOPPING: frozenset[FailureKind] = frozenset({"payment", "authentication", "not found"})
"""Failures that every further request would meet; they end a run."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one attempt as the provider counts them; ``prompt`` includes ``cached``."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """Prompt and completion."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        text: the reply, untouched; empty where the model said nothing.
        served_model: the model the provider says has answered.
        finish_reason: stop, length, content_filter, ... as the provider says.
        refusal: the provider's own refusal text, where it has a place for one.
        tokens: probability of each first-token text the provider reported, where it was asked to.
        raw: what else the provider said that identifies the reply (system fingerprint, id).
    """

    text: str
    served_model: str
    usage: Usage = Usage()
    finish_reason: str = "stop"
    refusal: str = ""
    tokens: Mapping[str, float] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> dict[str, str]:
        """What a ledger keeps of it beside text and usage, so that a replay reads the same."""
        kept = dict(self.raw)
        kept |= {REFUSAL: self.refusal} if self.refusal else {}
        return kept | ({TOKENS: json.dumps(dict(self.tokens), ensure_ascii=False)} if self.tokens else {})


REFUSAL, TOKENS = "refusal", "first_token"
"""Names under which a ledger keeps a provider's own refusal and the probabilities of the first token."""


class CallFailedError(Exception):
    """An attempt without a reply.

    Attributes:
        kind: decides whether it is tried again.
        status: the HTTP status, 0 where there was none.
        retry_after: seconds the provider asks to wait, 0 where it does not say.
        usage: tokens the provider charged all the same.
        raw: what else the provider said that identifies the attempt.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int = 0,
        retry_after: float = 0.0,
        usage: Usage = Usage(),
        raw: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.retry_after, self.usage, self.raw = kind, status, retry_after, usage, raw or {}

    @property
    def named(self) -> str:
        """The kind with its HTTP status."""
        return f"{self.kind} ({self.status})" if self.status else self.kind


class Backend(Protocol):
    """A way to have requests answered; one per run, shared by all calls in flight."""

    name: str

    async def complete(self, call: PlannedCall) -> Reply:
        """The reply to a call's request; what else the call holds is never sent.

        Raises:
            CallFailedError: no reply; the message holds no key and no header.
        """
        ...

    async def close(self) -> None:
        """Let connections go."""
        ...


def failure_kind(status: int) -> FailureKind:
    """The kind of an HTTP status that is no success."""
    named: dict[int, FailureKind] = {
        401: "authentication",
        402: "payment",
        403: "authentication",
        404: "not found",
        408: "timeout",
        409: "server",
        429: "rate limit",
    }
    return named.get(status, "server" if status >= 500 else "bad request")


def storable(text: str) -> str:
    """Text without half surrogates, which no encoding holds; they are shown as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
