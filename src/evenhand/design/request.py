"""What is sent to a judge, and which observation the reply to it will be."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Role = Literal["system", "user", "assistant"]
_NOTHING: Mapping[str, Json] = MappingProxyType({})
IDENTIFYING = ("response_id", "criterion_id", "rater_id", "phrasing", "occasion", "arm", "order")
"""Labels that tell one observation of a design from another; the others say what is known about it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; the text of a response is data within ``content``."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that is sent and can change a verdict; what is left to the provider's default is absent, not zero.

    Attributes:
        endpoint: base URL or name of the backend that serves the model, without any key.
        model: as the provider names it.
        messages: the whole conversation; every request starts a new one.
        settings: sampling and other settings as sent (temperature, max_tokens, reasoning, ...).
        schema: JSON schema of a structured reply; None where the reply is free text.
    """

    endpoint: str
    model: str
    messages: tuple[Message, ...]
    settings: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    schema: Mapping[str, Json] | None = None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the request; equal exactly where the same bytes would be sent."""
        return digest(
            {
                "endpoint": self.endpoint,
                "model": self.model,
                "messages": [[message.role, message.content] for message in self.messages],
                "settings": dict(self.settings),
                "schema": dict(self.schema) if self.schema is not None else None,
            }
        )


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One request as one observation of a design: two occasions send the same request and are two calls.

    Attributes:
        place: position in the plan's order, from 0.
        labels: columns of the verdict table that are known before the reply: response_id, cluster_id, criterion_id, rater_id,
            model, setting, phrasing, occasion, arm, order, learner_id, tail, label_shown, n_prior_shown, shown_marks, reference, ...
        request: what is sent.
        reading: what else decides how the reply becomes a verdict (parser, scale), so that a changed scale is another call.
        block: what the arm added to the last message; a part of it, kept so that arms can be held against each other.
    """

    place: int
    labels: Mapping[str, str]
    request: Request
    reading: str = ""
    block: str = ""

    @property
    def key(self) -> str:
        """SHA-256 over what is sent, how it is read and which observation it is: what a ledger knows the call by.

        A corrected reference mark or group label is no new question to the judge and changes no key.
        """
        which = {name: text for name, text in self.labels.items() if name in IDENTIFYING}
        return digest([self.request.fingerprint, self.reading, which])


def digest(content: object) -> str:
    """SHA-256 of canonical JSON: sorted names, no spaces, no NaN."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
