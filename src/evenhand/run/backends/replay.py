"""Replies of an earlier run, given again: the same design re-read without a call."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import get_args

from evenhand.design.plan import BackendName
from evenhand.design.request import IDENTIFYING, PlannedCall
from evenhand.run.backend import REFUSAL, TOKENS, CallFailedError, Reply
from evenhand.run.ledger import Attempt


class ReplayBackend:
    """Answers from the attempts of a ledger: to this request, as this observation of the design.

    A reply of one occasion never answers for another one, nor that of one response for another with the same text. The judge may
    have another name now. Replies cost nothing again, so they are given without tokens.
    """

    name = "replay"

    def __init__(self, attempts: Iterable[Attempt]) -> None:
        """Hold the replies of earlier attempts; of a call with two, the first."""
        self._replies: dict[tuple[str, ...], Attempt] = {}
        for one in attempts:
            if one.outcome == "replied":
                observation = _observation(one.labels)
                self._replies.setdefault((one.request, one.labels.get("rater_id", ""), *observation), one)
                self._replies.setdefault((one.request, *observation), one)

    async def complete(self, call: PlannedCall) -> Reply:
        """The reply that this very request got as this observation, from whatever backend.

        Raises:
            CallFailedError: it was never sent.
        """
        observation, rater = _observation(call.labels), call.labels.get("rater_id", "")
        for endpoint in (call.request.endpoint, *get_args(BackendName)):
            request = replace(call.request, endpoint=endpoint).fingerprint
            found = self._replies.get((request, rater, *observation)) or self._replies.get((request, *observation))
            if found is not None:
                return _reply(found)
        raise CallFailedError("bad request", "the ledger that is replayed holds no reply to this request")

    async def close(self) -> None:
        """Nothing is held."""


def _observation(labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(labels.get(name, "") for name in IDENTIFYING if name != "rater_id")


def _reply(found: Attempt) -> Reply:
    raw = {name: text for name, text in found.extra.items() if name not in (REFUSAL, TOKENS)}
    return Reply(
        found.reply,
        found.served_model,
        finish_reason=found.finish_reason,
        refusal=found.extra.get(REFUSAL, ""),
        tokens=json.loads(found.extra.get(TOKENS, "{}")),
        raw=raw,
    )
