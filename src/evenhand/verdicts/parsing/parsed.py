"""What a parser hands back: a value or the reason why there is none, and always the text it was read from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

Status = Literal["scored", "abstained", "tied", "unparsed", "refused", "error", "missing"]
Reason = Literal[
    "absent",
    "blank",
    "no verdict",
    "quoted",
    "key absent",
    "several verdicts",
    "undecided",
    "negated",
    "malformed",
    "not admissible",
    "out of scale",
    "not finite",
    "duplicate key",
    "no probabilities",
    "no usable token",
    "low mass",
    "conflict",
    "declared",
]
FORM_ABSENT: frozenset[Reason] = frozenset({"no verdict", "quoted", "key absent"})
"""Reasons that say the form does not occur, as opposed to occurring in doubt; only these let a chain go on."""
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one piece of text stands for on a scale: a value, a status without value, or a reason against it."""

    value: str | None
    status: Status
    reason: Reason | None = None
    detail: str = ""

    @property
    def decided(self) -> bool:
        """Whether it is a verdict, be it a value, a tie or an abstention."""
        return self.status in ("scored", "tied", "abstained")

    @property
    def name(self) -> str:
        """The value, or the status where there is none."""
        return self.value if self.value is not None else self.status


@dataclass(frozen=True, slots=True)
class Parsed:
    """One reply as read.

    Attributes:
        value: an admissible value, or None; never None where the status is scored, always None elsewhere.
        status: one of the seven statuses.
        text: the reply as given, whole.
        raw_value: the part the verdict was read from; the whole reply where no such part was found.
        reason: one of a closed set of reasons, to count by.
        detail: the reason in words, with the text at fault.
        span: start and end of the part in ``text``.
        explanation: the judge's reasons where the form has a place for them.
        confidence: probability of the value among admissible tokens, for parsers of token probabilities.
        mass: total probability of admissible tokens, for the same.
        notes: what the reader of a scored verdict should know, such as other grades seen.
    """

    value: str | None
    status: Status
    text: str | None
    raw_value: str | None = None
    reason: Reason | None = None
    detail: str = ""
    span: Span | None = None
    explanation: str | None = None
    confidence: float | None = None
    mass: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The verdict without its place in the text."""
        return Outcome(self.value, self.status, self.reason, self.detail)


class Parser(Protocol):
    """A frozen declaration of one form of reply."""

    def parse(self, text: str | None) -> Parsed:
        """Read a reply. Never raises on text."""
        ...


class Admissible(Protocol):
    """A scale as parsers need it: which texts are values of it."""

    def admit(self, text: str) -> Outcome:
        """What the text, as a whole, stands for."""
        ...

    def lead(self, text: str) -> int | None:
        """Where the token at the start of folded text ends, or None where no value of the scale starts it."""
        ...

    def mentions(self, text: str) -> Iterator[Span]:
        """Places in folded text of what could be values and stands as a word of its own."""
        ...


def unparsed(text: str, reason: Reason, detail: str, span: Span | None = None, notes: tuple[str, ...] = ()) -> Parsed:
    """A reply that holds no value, for a reason."""
    return Parsed(None, "unparsed", text, text[slice(*span)] if span else text, reason, detail, span, notes=notes)


def missing(text: str | None) -> Parsed:
    """No reply, or a blank one."""
    if text is None:
        return Parsed(None, "missing", None, reason="absent", detail="no reply")
    return Parsed(None, "missing", text, text, "blank", "the reply is blank")


def from_outcome(
    text: str, outcome: Outcome, span: Span | None, notes: tuple[str, ...] = (), explanation: str | None = None
) -> Parsed:
    """A reply read as an outcome at a place."""
    raw = text if span is None else text[slice(*span)]
    return Parsed(
        outcome.value, outcome.status, text, raw, outcome.reason, outcome.detail, span, explanation, notes=notes
    )
