"""The runner: calls of a plan, many in flight, until each has its reply or a reason why not."""

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field

from evenhand.design.request import PlannedCall
from evenhand.run.backend import PASSING, STOPPING, Backend, CallFailedError, Reply, Usage
from evenhand.run.ledger import Attempt, Ledger
from evenhand.run.prices import NO_PRICES, Prices
from evenhand.verdicts.parsing import Parsed

Reader = Callable[[PlannedCall, Reply], Parsed]
_CHARACTERS_A_TOKEN = 3
"""Few enough that an estimate of a prompt's tokens is rather too high."""
_OUTAGE = 10
"""Calls given up one after the other, without a reply between them, that are taken for an outage."""
_REPLY_TOKENS = 512
"""Assumed of a reply that no setting bounds, until replies have been seen."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How a run behaves towards a provider.

    Attributes:
        in_flight: calls at once.
        attempts: at one call within this run, the first included.
        first_wait, most_wait: seconds before the second attempt, doubled each time up to the most; a provider's Retry-After goes before.
    """

    in_flight: int = 8
    attempts: int = 5
    first_wait: float = 1.0
    most_wait: float = 60.0


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that all attempts of a ledger together may take; infinite where it is not set."""

    money: float = math.inf
    tokens: float = math.inf
    calls: float = math.inf


@dataclass
class Tally:
    """Where a run stands.

    Attributes:
        kept: calls that had their reply before this run.
        replied: calls that got it in this run.
        given_up: calls left without one.
        attempts, tokens, money, unpriced: of the whole ledger; unpriced are attempts with tokens and without a known price.
        failures: of this run by kind.
        first_failure: the first of them in the provider's words.
        stopped: why no further call was made; empty where the plan was gone through.
    """

    kept: int = 0
    replied: int = 0
    given_up: int = 0
    in_flight: int = 0
    attempts: int = 0
    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    first_failure: str = ""
    served: set[tuple[str, str]] = field(default_factory=set)
    stopped: str = ""


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
        self.policy, self.budget, self.prices = policy or Policy(), budget or Budget(), prices
        self.tally = Tally()
        self._backend, self._ledger, self._read = backend, ledger, read
        self._progress, self._sleep = progress or (lambda _tally: None), sleep
        self._finished, self._tried = ledger.finished(), ledger.tried()
        self.tally.attempts, self.tally.tokens, self.tally.money, self.tally.unpriced = ledger.spent()
        self._reserved_tokens, self._reserved_money = 0.0, 0.0
        self._largest_reply, self._given_up_in_a_row = 0, 0
        self._calls = self._unanswered(iter(calls))

    def stop(self, why: str) -> None:
        """Make no further call; those in flight are waited for."""
        self.tally.stopped = self.tally.stopped or why

    async def __call__(self) -> Tally:
        """Make the calls and say how it went; whatever ends it, replies that came are committed."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self.policy.in_flight):
                group.create_task(self._work())
        return self.tally

    def _unanswered(self, calls: Iterator[PlannedCall]) -> Iterator[PlannedCall]:
        for call in calls:
            if call.key in self._finished:
                self.tally.kept += 1
            else:
                yield call

    async def _work(self) -> None:
        while not self.tally.stopped and (call := next(self._calls, None)) is not None:
            await self._serve(call)

    async def _serve(self, call: PlannedCall) -> None:
        """Try a call until it has its reply, fails for good, or the run stops."""
        for chance in range(1, self.policy.attempts + 1):
            if self.tally.stopped or not self._affordable(call):
                self.tally.given_up += chance > 1
                return
            failure = await self._attempt(call)
            if failure is None:
                return
            if failure.kind in STOPPING:
                self.stop(f"{failure.kind}: {failure}")
            if failure.kind not in PASSING:
                break
            if chance < self.policy.attempts and not self.tally.stopped:
                await self._sleep(self._wait(failure, chance))
        self.tally.given_up += 1
        self._given_up_in_a_row += 1
        if self._given_up_in_a_row >= _OUTAGE:
            self.stop(f"outage: {_OUTAGE} calls in a row got no reply")

    def _wait(self, failure: CallFailedError, chance: int) -> float:
        return max(failure.retry_after, min(self.policy.first_wait * 2.0 ** (chance - 1), self.policy.most_wait))

    async def _attempt(self, call: PlannedCall) -> CallFailedError | None:
        tokens, money = self._expected(call)
        self._reserved_tokens += tokens
        self._reserved_money += money
        self.tally.in_flight += 1
        self.tally.attempts += 1
        started = time.perf_counter()
        failure: CallFailedError | None = None
        reply: Reply | None = None
        try:
            reply = await self._backend.complete(call)
        except CallFailedError as problem:
            failure = problem
        finally:
            self._reserved_tokens -= tokens
            self._reserved_money -= money
            self.tally.in_flight -= 1
        self._record(call, reply, failure, time.perf_counter() - started)
        self._progress(self.tally)
        return failure

    def _record(self, call: PlannedCall, reply: Reply | None, failure: CallFailedError | None, seconds: float) -> None:
        number = self._tried[call.key] = self._tried.get(call.key, 0) + 1
        usage = reply.usage if reply else failure.usage if failure else Usage()
        cost = self.prices.cost(call.request.model, usage)
        parsed = self._read(call, reply) if reply else None
        self._ledger.record(
            Attempt(
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
                message=str(failure) if failure else "",
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
                extra=dict(reply.raw) if reply else {},
            )
        )
        self.tally.tokens += usage.total
        self.tally.money += cost or 0.0
        self.tally.unpriced += cost is None and usage.total > 0
        if reply:
            self.tally.replied += 1
            self._given_up_in_a_row = 0
            self.tally.served.add((call.request.model, reply.served_model))
            self._largest_reply = max(self._largest_reply, usage.completion)
        elif failure:
            self.tally.failures[failure.named] += 1
            self.tally.first_failure = self.tally.first_failure or f"{failure.named}: {failure}"

    def _expected(self, call: PlannedCall) -> tuple[float, float]:
        """Tokens and money that an attempt may take, rather too high."""
        prompt = sum(len(message.content) for message in call.request.messages) // _CHARACTERS_A_TOKEN + 16
        bound = call.request.settings.get("max_tokens", call.request.settings.get("max_completion_tokens"))
        reply = int(bound) if isinstance(bound, int | float) else self._largest_reply or _REPLY_TOKENS
        return prompt + reply, self.prices.cost(call.request.model, Usage(prompt, 0, reply)) or 0.0

    def _affordable(self, call: PlannedCall) -> bool:
        """Whether the budget bears another attempt beside those in flight; stops the run where not."""
        tokens, money = self._expected(call)
        for what, taken, most in (
            ("calls", self.tally.attempts + 1, self.budget.calls),
            ("tokens", self.tally.tokens + self._reserved_tokens + tokens, self.budget.tokens),
            ("money", self.tally.money + self._reserved_money + money, self.budget.money),
        ):
            if taken > most:
                self.stop(f"budget: the next attempt could pass the {most:,.10g} {what} that are allowed")
                return False
        return True
