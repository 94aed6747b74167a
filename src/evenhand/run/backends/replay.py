"""Replies of an earlier run, given again: the same design re-read without a call."""

from collections.abc import Iterable

from evenhand.design.request import PlannedCall
from evenhand.run.backend import CallFailedError, Reply, Usage
from evenhand.run.ledger import Attempt


class ReplayBackend:
    """Answers from the attempts of a ledger, by request and occasion."""

    name = "replay"

    def __init__(self, attempts: Iterable[Attempt]) -> None:
        """Hold the replies of earlier attempts."""
        self._replies = {
            (one.request, one.labels.get("occasion", "")): one for one in attempts if one.outcome == "replied"
        }

    async def complete(self, call: PlannedCall) -> Reply:
        """The reply this very request got on this occasion.

        Raises:
            CallFailedError: it was never sent.
        """
        found = self._replies.get((call.request.fingerprint, call.labels.get("occasion", "")))
        if found is None:
            raise CallFailedError("bad request", "the ledger that is replayed holds no reply to this request")
        return Reply(
            found.reply,
            found.served_model,
            Usage(found.prompt_tokens, found.cached_tokens, found.completion_tokens),
            found.finish_reason,
            raw=found.extra,
        )

    async def close(self) -> None:
        """Nothing is held."""
