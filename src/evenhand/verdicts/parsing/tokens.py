"""Verdicts from the probabilities of the first tokens, not from text."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from evenhand.errors import RequestError
from evenhand.verdicts.parsing.labels import shown
from evenhand.verdicts.parsing.numbers import Numbers
from evenhand.verdicts.parsing.parsed import Admissible, Outcome, Parsed, Reason, missing

LogProbabilities = Mapping[str, float] | Iterable[tuple[str, float]]
"""Tokens with the natural logarithms of their probabilities, as model servers give them."""
_WORD_STARTS = "▁ĠĊ"
_SLACK = 1e-3


class _UnusableError(Exception):
    """Token probabilities that give no verdict, and why."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail = detail


def _probabilities(tokens: LogProbabilities) -> list[tuple[str, float]]:
    pairs = list(tokens.items() if isinstance(tokens, Mapping) else tokens)
    for token, logarithm in pairs:
        if not logarithm <= _SLACK:
            raise _UnusableError("malformed", f"the log-probability of {shown(token)} is {logarithm}")
    probabilities = [(token, math.exp(logarithm)) for token, logarithm in pairs]
    total = math.fsum(probability for _, probability in probabilities)
    if total > 1 + _SLACK:
        raise _UnusableError("malformed", f"the probabilities of the tokens sum to {total:.4f}")
    return probabilities


def _by_outcome(admits: Admissible, tokens: LogProbabilities, least: float = 0.0) -> dict[Outcome, float]:
    """Probability of each verdict, spaces and case of tokens put aside."""
    shares: dict[Outcome, list[float]] = {}
    for token, probability in _probabilities(tokens):
        outcome = admits.admit(_word(token))
        if outcome.decided:
            shares.setdefault(outcome, []).append(probability)
    summed = {outcome: math.fsum(parts) for outcome, parts in shares.items()}
    return {outcome: probability for outcome, probability in summed.items() if probability >= least}


def _word(token: str) -> str:
    return token.lstrip(_WORD_STARTS).strip()


def _checked_mass(shares: Mapping[Outcome, float], least_mass: float) -> float:
    mass = math.fsum(shares.values())
    if not mass > 0:
        raise _UnusableError("no usable token", "none of the tokens is a value of the scale")
    if mass < least_mass:
        raise _UnusableError(
            "low mass", f"values of the scale hold {mass:.4f} of the probability, {least_mass:g} is asked"
        )
    return mass


def _unusable(chosen: str | None, error: _UnusableError) -> Parsed:
    return Parsed(None, "unparsed", chosen, chosen, error.reason, error.detail)


def _absent(chosen: str | None) -> Parsed:
    return Parsed(None, "unparsed", chosen, chosen, "no probabilities", "the reply comes without token probabilities")


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise RequestError(f"{name} is a probability, got {share}")


@dataclass(frozen=True)
class TokenChoice:
    """The value of the scale with the highest probability among the tokens of one place.

    Attributes:
        admits: the scale.
        least_mass: probability that values of the scale must hold together.

    Raises:
        RequestError: a mass outside 0 to 1.
    """

    admits: Admissible
    least_mass: float = 0.5

    def __post_init__(self) -> None:
        _check_share("least_mass", self.least_mass)

    def parse_tokens(self, tokens: LogProbabilities | None, chosen: str | None = None) -> Parsed:
        """Read token probabilities.

        Args:
            tokens: the tokens offered at the place of the verdict; None where the server gave none.
            chosen: the token that was drawn, kept as the text; it does not decide.
        """
        if tokens is None:
            return missing(None) if chosen is None else _absent(chosen)
        try:
            shares = _by_outcome(self.admits, tokens)
            mass = _checked_mass(shares, self.least_mass)
        except _UnusableError as error:
            return _unusable(chosen, error)
        best = max(shares.values())
        first, *others = [outcome for outcome, share in shares.items() if share == best]
        if others:
            detail = f"{first.name} and {others[0].name} are equally probable"
            return _unusable(chosen, _UnusableError("undecided", detail))
        return Parsed(first.value, first.status, chosen, chosen, confidence=best / mass, mass=mass)


@dataclass(frozen=True)
class TokenMean:
    """The mean of the whole numbers of a scale, weighted by their probabilities among the tokens of one place.

    The value lies on the declared scale; ``scale.rescaled`` gives its share of it. A number that takes two tokens ("10"
    as "1", "0") cannot be told from its first digit: use a scale the tokenizer writes in one.

    Attributes:
        scale: the numbers.
        least_mass: probability that numbers of the scale must hold together.
        least_probability: numbers less probable than this are left out.
        plain_fallback: whether the drawn token stands, with a note, where there are no probabilities.

    Raises:
        RequestError: a probability outside 0 to 1.
    """

    scale: Numbers
    least_mass: float = 0.5
    least_probability: float = 0.0
    plain_fallback: bool = False

    def __post_init__(self) -> None:
        _check_share("least_mass", self.least_mass)
        _check_share("least_probability", self.least_probability)

    def parse_tokens(self, tokens: LogProbabilities | None, chosen: str | None = None) -> Parsed:
        """Read token probabilities; see TokenChoice."""
        whole = replace(self.scale, whole=True)
        if tokens is None:
            return self._plain(whole, chosen)
        try:
            shares = _by_outcome(whole, tokens, self.least_probability)
            mass = _checked_mass(shares, self.least_mass)
        except _UnusableError as error:
            return _unusable(chosen, error)
        mean = math.fsum(float(outcome.name) * share for outcome, share in shares.items()) / mass
        return Parsed(repr(mean), "scored", chosen, chosen, mass=mass)

    def _plain(self, whole: Numbers, chosen: str | None) -> Parsed:
        if chosen is None:
            return missing(None)
        if not self.plain_fallback:
            return _absent(chosen)
        outcome = whole.admit(_word(chosen))
        note = ("the drawn token, not a mean of probabilities",) if outcome.decided else ()
        return Parsed(outcome.value, outcome.status, chosen, chosen, outcome.reason, outcome.detail, notes=note)
