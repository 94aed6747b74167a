"""What a run may take: the most that is allowed, and whether another attempt beside those in flight is borne."""

import math
from collections import Counter
from dataclasses import dataclass, field

from evenhand.design.request import PlannedCall
from evenhand.run.backend import Usage
from evenhand.run.prices import Prices

_CHARACTERS_A_TOKEN = 3
"""Few enough that an estimate of a prompt's tokens is rather too high."""
_REPLY_TOKENS = 512
"""Assumed of a reply that no setting bounds, until replies have been seen."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that all attempts of a ledger together may take; infinite where it is not set."""

    money: float = math.inf
    tokens: float = math.inf
    calls: float = math.inf

    def part(self, of: int) -> "Budget":
        """What one of several equal parts of a plan may take, so that all of them together keep to the whole."""
        return Budget(self.money / of, self.tokens / of, self.calls // of if math.isfinite(self.calls) else self.calls)


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


@dataclass(frozen=True, slots=True)
class Expected:
    """What an attempt may take, rather too high."""

    tokens: float
    money: float


class Purse:
    """Holds a run to its budget: what a tally says was taken, and what is set aside for the attempts in flight."""

    def __init__(self, budget: Budget, prices: Prices, tally: Tally) -> None:
        """Nothing is set aside yet."""
        self.budget, self.prices, self._tally = budget, prices, tally
        self._tokens, self._money, self._unreported = 0.0, 0.0, 0.0
        self._largest_reply = 0

    def expected(self, call: PlannedCall) -> Expected:
        """What an attempt at a call may take: its prompt, and as long a reply as its settings allow or as was met."""
        prompt = sum(len(message.content) for message in call.request.messages) // _CHARACTERS_A_TOKEN + 16
        settings = call.request.settings
        bound = settings.get("max_tokens", settings.get("max_completion_tokens"))
        bounded = isinstance(bound, int | float) and math.isfinite(bound)
        reply = int(bound) if bounded else self._largest_reply or _REPLY_TOKENS  # type: ignore[arg-type]
        cost = self.prices.cost(call.request.model, Usage(prompt, 0, reply))
        return Expected(prompt + reply, cost or 0.0)

    def refusal(self, call: PlannedCall) -> str:
        """Why the budget does not bear another attempt; empty where it does."""
        expected = self.expected(call)
        for what, taken, most in (
            ("calls", self._tally.attempts + 1, self.budget.calls),
            ("tokens", self._tally.tokens + self._unreported + self._tokens + expected.tokens, self.budget.tokens),
            ("money", self._tally.money + self._money + expected.money, self.budget.money),
        ):
            if taken > most:
                return f"budget: the next attempt could pass the {most:,.10g} {what} that are allowed"
        return ""

    def set_aside(self, call: PlannedCall) -> Expected:
        """Count an attempt as begun."""
        expected = self.expected(call)
        self._tokens += expected.tokens
        self._money += expected.money
        self._tally.attempts += 1
        return expected

    def give_back(self, expected: Expected) -> None:
        """What was set aside for an attempt that has ended."""
        self._tokens -= expected.tokens
        self._money -= expected.money

    def spend(self, model: str, usage: Usage, expected: Expected, *, replied: bool) -> float | None:
        """Add what an attempt took to the tally and return its cost.

        A reply without a count of tokens is held to have taken what was expected, as far as the budget goes; it is not written
        into the ledger as if the provider had said so.
        """
        cost = self.prices.cost(model, usage)
        self._tally.tokens += usage.total
        self._tally.money += cost or 0.0
        self._tally.unpriced += cost is None and usage.total > 0
        if replied and not usage.total:
            self._unreported += expected.tokens
        self._largest_reply = max(self._largest_reply, usage.completion)
        return cost
