"""Verdicts without a mark: the reply as a whole is one, or begins with one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.verdicts.parsing.deciding import is_placeholder, read_lead
from evenhand.verdicts.parsing.parsed import Admissible, Outcome, Parsed, Span, from_outcome, missing, unparsed
from evenhand.verdicts.parsing.quotation import fences, whole
from evenhand.verdicts.parsing.views import View

_REACH = 256
_LONGEST = 200
_HEADING = re.compile(r"#{1,6}[ \t]{1,4}")
_BEFORE = re.compile(r"[.!?\n][*_`\"'“”’)\s]{0,8}\Z|\A[*_`\"'“\s]{0,8}\Z")
_PAIRS = {"*": "*", "_": "_", "`": "`", '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "(": ")", "[": "]"}
_ENDING = ".,;!:…"


def _undressed(text: str, start: int, end: int) -> Iterator[Span]:
    """A span and what is left as its dressing comes off: a heading's mark, emphasis, quotes, brackets, punctuation."""
    before = (-1, -1)
    while (start, end) != before:
        before = (start, end)
        piece = text[start:end]
        start, end = start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
        yield start, end
        piece = text[start:end]
        if len(piece) > 1 and _PAIRS.get(piece[0]) == piece[-1]:
            start, end = start + 1, end - 1
        elif len(piece) > 1 and piece[-1] in _ENDING:
            end -= 1
        elif heading := _HEADING.match(piece):
            start += heading.end()


def _unwrapped(text: str) -> Span:
    """The span of a reply, or of what its fence holds where it is one fence from end to end."""
    everything = whole(text)
    blocks = fences(text)
    return blocks[0].body if len(blocks) == 1 and blocks[0].span == everything else everything


@dataclass(frozen=True)
class Whole:
    """The reply is one value of the scale and nothing else, once emphasis, quotes and closing punctuation are off.

    Attributes:
        admits: the scale.
    """

    admits: Admissible

    def parse(self, text: str | None) -> Parsed:
        """Read a reply."""
        if text is None:
            return missing(None)
        view = View.of(text)
        if view.blank:
            return missing(text)
        start, end = _unwrapped(view.folded)
        if end - start > _LONGEST:
            return unparsed(text, "no verdict", "the reply is longer than a value of the scale")
        (start, end), outcome = self._read(view.folded, start, end)
        if outcome.reason in ("malformed", "not admissible") and not self._is_number(view.folded[start:end]):
            return unparsed(text, "no verdict", outcome.detail)
        return from_outcome(text, outcome, view.original(start, end))

    def _read(self, folded: str, start: int, end: int) -> tuple[Span, Outcome]:
        spans = list(_undressed(folded, start, end))
        outcomes = [self.admits.admit(folded[slice(*span)]) for span in spans]
        decided = [place for place, outcome in enumerate(outcomes) if outcome.decided]
        chosen = decided[0] if decided else -1
        return spans[chosen], outcomes[chosen]

    @staticmethod
    def _is_number(piece: str) -> bool:
        """Whether a piece is made of digits and their marks, which makes it a wrong verdict rather than none."""
        return any(character.isdigit() for character in piece) and not any(map(str.isalpha, piece))


@dataclass(frozen=True)
class Leading:
    """The reply begins with a value of the scale: "Yes.", "No, the point is missing", "Met: the unit is given".

    Another value in the same sentence, or at the start of a later one, makes the reply unparsed.

    Attributes:
        admits: the scale.
        loose: whether words may follow without punctuation ("Yes the student says so").
    """

    admits: Admissible
    loose: bool = False

    def parse(self, text: str | None) -> Parsed:
        """Read a reply."""
        if text is None:
            return missing(None)
        view = View.of(text)
        if view.blank:
            return missing(text)
        start, end = _unwrapped(view.folded)
        heading = _HEADING.match(view.folded, start, end)
        start = heading.end() if heading else start
        line = view.folded[start : min(end, start + _REACH)]
        outcome, length = read_lead(self.admits, line, self.loose)
        place = view.original(start, start + length)
        if outcome.reason in ("malformed", "not admissible") or (is_placeholder(line) and not outcome.decided):
            return unparsed(text, "no verdict", "the reply does not begin with a value of the scale")
        other = self._later(view.folded[start + length : end], outcome)
        if outcome.decided and other is not None:
            detail = f"it begins with {outcome.name}, and a later sentence with {other.name}"
            return unparsed(text, "several verdicts", detail, place)
        return from_outcome(text, outcome, place)

    def _later(self, rest: str, outcome: Outcome) -> Outcome | None:
        """Another value at the start of a later sentence."""
        for start, end in self.admits.mentions(rest):
            if _BEFORE.search(rest[max(0, start - 9) : start]):
                other = self.admits.admit(rest[start:end])
                if other.decided and other != outcome:
                    return other
        return None
