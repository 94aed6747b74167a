"""Numbers on a declared scale: exact, never rescaled, never clamped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from evenhand.errors import RequestError
from evenhand.verdicts.parsing.labels import shown
from evenhand.verdicts.parsing.parsed import Outcome, Span
from evenhand.verdicts.parsing.views import fold, is_word_at

_WHOLE_PART = r"-?[0-9]{1,12}"
_EXPONENT = r"(?:[eE][+-]?[0-9]{1,3})?"
_OUT_OF = r"(?:(?:[ \t]{0,3}/[ \t]{0,3}|[ \t]{1,3}(?i:out of)[ \t]{1,3})([0-9]{1,12}(?:\.[0-9]{1,15})?))?"
_NOT_FINITE = frozenset({"inf", "infinity", "nan"})
_ANY_NUMBER = re.compile(r"[0-9]{1,12}(?:[.,][0-9]{1,15})?")
_LONGEST = 80


@dataclass(frozen=True)
class Numbers:
    """Numbers from low to high: 7, 7.5, and where the scale ends at 10 also 7/10 and 7 out of 10.

    Attributes:
        low: lowest number of the scale.
        high: highest number of the scale.
        whole: whether only whole numbers are values.
        decimal_comma: whether 7,5 is seven and a half; it is malformed otherwise, and 7.5 is where this is declared.

    Raises:
        RequestError: ends that are not finite or not in order.
    """

    low: float
    high: float
    whole: bool = False
    decimal_comma: bool = False

    def __post_init__(self) -> None:
        if not float("-inf") < self.low < self.high < float("inf"):
            raise RequestError(f"a scale of numbers needs two finite ends in order, got {self.low} and {self.high}")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        mark = "," if self.decimal_comma else r"\."
        return re.compile(rf"({_WHOLE_PART}(?:{mark}[0-9]{{1,15}})?{_EXPONENT}){_OUT_OF}")

    def admit(self, text: str) -> Outcome:
        """What a text stands for as a whole."""
        token = fold(text[:_LONGEST]).strip()
        match = self._pattern.fullmatch(token) if len(text) <= _LONGEST else None
        if match is None:
            if token.lstrip("+-").casefold() in _NOT_FINITE:
                return Outcome(None, "unparsed", "not finite", f"{shown(text)} is not a finite number")
            return Outcome(None, "unparsed", "malformed", f"{shown(text)} is not a number in the declared form")
        number = Decimal(match.group(1).replace(",", "."))
        if match.group(2) is not None and Decimal(match.group(2)) != Decimal(str(self.high)):
            detail = f"{shown(text)} counts out of {match.group(2)}, the scale ends at {self.high:g}"
            return Outcome(None, "unparsed", "out of scale", detail)
        return self._placed(number, text)

    def _placed(self, number: Decimal, text: str) -> Outcome:
        if not Decimal(str(self.low)) <= number <= Decimal(str(self.high)):
            detail = f"{shown(text)} is not on the scale from {self.low:g} to {self.high:g}"
            return Outcome(None, "unparsed", "out of scale", detail)
        if self.whole and number != number.to_integral_value():
            return Outcome(None, "unparsed", "not admissible", f"{shown(text)} is not a whole number")
        return Outcome("0" if not number else f"{number.normalize():f}", "scored")

    def lead(self, text: str) -> int | None:
        """Where the number at the start of folded text ends."""
        match = self._pattern.match(text)
        return match.end() if match and not is_word_at(text, match.end()) else None

    def mentions(self, text: str) -> Iterator[Span]:
        """Numbers of any size that stand in folded text as words of their own."""
        for match in _ANY_NUMBER.finditer(text):
            start, end = match.span()
            if not is_word_at(text, start - 1) and not is_word_at(text, end):
                yield start, end

    def rescaled(self, value: str) -> float:
        """The share of the scale a value lies at: low is 0, high is 1."""
        return (float(value) - self.low) / (self.high - self.low)
