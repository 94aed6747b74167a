"""The runner: calls of a plan, many in flight, until each has its reply or a reason why not."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from evenhand.design.request import PlannedCall
from evenhand.run.backend import PASSING, STOPPING, Backend, CallFailedError, Reply, Usage, storable
from evenhand.run.budget import Budget, Purse, Tally
from evenhand.run.ledger import Attempt, Ledger
from evenhand.run.prices import NO_PRICES, Prices
from evenhand.verdicts.parsing import Parsed

Reader = Callable[[PlannedCall, Reply], Parsed]
_OUTAGE = 10
"""Calls given up one after the other, without a reply between them, that are taken for an outage."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How a run behaves towards a provider.

    Attributes:
        in_flight: calls at once.
        attempts: at one call within this run, the first included.
        first_wait, most_wait: seconds before the second attempt, doubled each time up to the most; a provider's Retry-After goes
            before, and holds back the calls that were not begun too.
    """

    in_flight: int = 8
    attempts: int = 5
    first_wait: float = 1.0
    most_wait: float = 60.0


Progress = Callable[[Tally], None]
Sleep = Callable[[float], Awaitable[None]]


class Run:
    """One run of calls against a backend; ``stop`` may be called from a signal handler."""

    def __init__(
        self,
        calls: Iterable[PlannedCall],
        backend: Backend,
        ledger: Ledger,
        read: Reader,
        *,
        policy: Policy | None = None,
        budget: Budget | None = None,
        prices: Prices = NO_PRICES,
        progress: Progress | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Prepare a run; nothing is sent yet.

        Args:
            calls: in the plan's order; drawn as they are needed.
            read: how a reply becomes a verdict.
            progress: told after every attempt.
            sleep: waits; replaced where time is not to pass.
        """
        self.policy = policy or Policy()
        self.tally = Tally()
        self.purse = Purse(budget or Budget(), prices, self.tally)
        self._backend, self._ledger, self._read = backend, ledger, read
        self._progress, self._sleep = progress or (lambda _tally: None), sleep
        self._finished, self._tried = ledger.finished(), ledger.tried()
        self.tally.attempts, self.tally.tokens, self.tally.money, self.tally.unpriced = ledger.spent()
        self._given_up_in_a_row, self._asked_to_wait = 0, 0
        self._stopping, self._free = asyncio.Event(), asyncio.Event()
        self._free.set()
        self._calls = self._unanswered(iter(calls))

    def stop(self, why: str) -> None:
        """Make no further call; those in flight are waited for, those between two attempts are not."""
        self.tally.stopped = self.tally.stopped or why
        self._stopping.set()
        self._free.set()

    async def __call__(self) -> Tally:
        """Make the calls and say how it went; whatever ends it, replies that came are committed.

        Raises:
            LedgerError: a reply could not be committed.
        """
        workers = [asyncio.ensure_future(self._work()) for _ in range(self.policy.in_flight)]
        for ending in await asyncio.gather(*workers, return_exceptions=True):
            if ending is not None:
                raise ending
        return self.tally

    def _unanswered(self, calls: Iterator[PlannedCall]) -> Iterator[PlannedCall]:
        for call in calls:
            if call.key in self._finished:
                self.tally.kept += 1
            else:
                yield call

    async def _work(self) -> None:
        ended_well = False
        try:
            while not self.tally.stopped and (call := next(self._calls, None)) is not None:
                await self._serve(call)
            ended_well = True
        finally:
            if not ended_well:
                self.stop("a fault")  # the other calls in flight are paid for: they are waited for and committed

    async def _serve(self, call: PlannedCall) -> None:
        """Try a call until it has its reply, fails for good, or the run stops."""
        await self._free.wait()
        for chance in count(1):
            if not self._may_go_on(call):
                self.tally.given_up += chance > 1
                return
            failure = await self._attempt(call)
            if failure is None:
                return
            if failure.kind in STOPPING:
                self.stop(f"{failure.kind}: {failure}")
            if failure.kind not in PASSING or chance >= self.policy.attempts:
                self._give_up(failure)
                return
            await self._back_off(failure, chance)

    def _may_go_on(self, call: PlannedCall) -> bool:
        if not self.tally.stopped and (why := self.purse.refusal(call)):
            self.stop(why)
        return not self.tally.stopped

    def _give_up(self, failure: CallFailedError) -> None:
        """Count a call that has no reply, and take many in a row for an outage.

        Requests that the provider refuses for what they hold are no outage once others were answered: they stand first in the
        plan again when it is run the next time, and must not keep the rest from being asked.
        """
        self.tally.given_up += 1
        if failure.kind == "bad request" and (self._finished or self.tally.replied):
            return
        self._given_up_in_a_row += 1
        if self._given_up_in_a_row >= _OUTAGE:
            self.stop(f"outage: {_OUTAGE} calls in a row got no reply")

    async def _back_off(self, failure: CallFailedError, chance: int) -> None:
        """Wait before the next attempt, no longer than the run goes on; a Retry-After holds back other calls too."""
        seconds = max(failure.retry_after, min(self.policy.first_wait * 2.0 ** (chance - 1), self.policy.most_wait))
        asked = failure.retry_after > 0
        if asked and not self.tally.stopped:
            self._asked_to_wait += 1
            self._free.clear()
        waits = [asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            self._asked_to_wait -= asked and self._asked_to_wait > 0
            if not self._asked_to_wait:
                self._free.set()

    async def _attempt(self, call: PlannedCall) -> CallFailedError | None:
        expected = self.purse.set_aside(call)
        self.tally.in_flight += 1
        started = time.perf_counter()
        failure: CallFailedError | None = None
        reply: Reply | None = None
        try:
            reply = with_storable_texts(await self._backend.complete(call))
        except CallFailedError as problem:
            failure = problem
        finally:
            self.purse.give_back(expected)
            self.tally.in_flight -= 1
        usage = reply.usage if reply else failure.usage if failure else Usage()
        cost = self.purse.spend(call.request.model, usage, expected, replied=reply is not None)
        number = self._tried[call.key] = self._tried.get(call.key, 0) + 1
        parsed = self._read(call, reply) if reply else None
        self._ledger.record(attempt_at(call, number, reply or failure, parsed, cost, time.perf_counter() - started))
        self._count(call, reply, failure)
        self._progress(self.tally)
        return failure

    def _count(self, call: PlannedCall, reply: Reply | None, failure: CallFailedError | None) -> None:
        if reply:
            self.tally.replied += 1
            self._given_up_in_a_row = 0
            self.tally.served.add((call.request.model, reply.served_model))
        elif failure:
            self.tally.failures[failure.named] += 1
            self.tally.first_failure = self.tally.first_failure or f"{failure.named}: {failure}"


def attempt_at(
    call: PlannedCall,
    number: int,
    ending: Reply | CallFailedError | None,
    parsed: Parsed | None,
    cost: float | None,
    seconds: float,
) -> Attempt:
    """One attempt at a call as the ledger keeps it.

    Args:
        number: of the attempt at this call, from 1.
        ending: its reply, or its failure.
        parsed: the reply as read.
        cost: None where the model has no known price.
        seconds: from sending to reply; 0 where nobody measured them.
    """
    reply = ending if isinstance(ending, Reply) else None
    failure = ending if isinstance(ending, CallFailedError) else None
    usage = reply.usage if reply else failure.usage if failure else Usage()
    return Attempt(
        key=call.key,
        number=number,
        place=call.place,
        labels=dict(call.labels),
        request=call.request.fingerprint,
        model=call.request.model,
        settings=json.dumps(dict(call.request.settings), sort_keys=True),
        outcome="replied" if reply else "failed",
        served_model=reply.served_model if reply else "",
        reply=reply.text if reply else "",
        finish_reason=reply.finish_reason if reply else "",
        failure=failure.kind if failure else "",
        message=storable(str(failure)) if failure else "",
        http_status=failure.status if failure else 0,
        value=parsed.value if parsed else None,
        status=parsed.status if parsed else "error",
        raw_value=parsed.raw_value if parsed else None,
        reason=(parsed.reason or "") if parsed else "",
        explanation=parsed.explanation if parsed else None,
        confidence=parsed.confidence if parsed else None,
        prompt_tokens=usage.prompt,
        cached_tokens=usage.cached,
        completion_tokens=usage.completion,
        cost=cost,
        seconds=round(seconds, 6),
        extra=reply.kept if reply else dict(failure.raw) if failure else {},
    )


def with_storable_texts(reply: Reply, more: Mapping[str, str] | None = None) -> Reply:
    """A reply whose texts any file can hold: half surrogates, which no encoding has, stand as escapes.

    Args:
        more: to be kept beside what the provider said.
    """
    parts = (reply.text, reply.served_model, reply.finish_reason, reply.refusal, *reply.raw.values(), *reply.tokens)
    if not more and all(part.isascii() for part in parts):
        return reply
    return replace(
        reply,
        text=storable(reply.text),
        served_model=storable(reply.served_model),
        finish_reason=storable(reply.finish_reason),
        refusal=storable(reply.refusal),
        raw={storable(name): storable(value) for name, value in {**reply.raw, **(more or {})}.items()},
        tokens={storable(name): value for name, value in reply.tokens.items()},
    )
