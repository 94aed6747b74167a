"""A closed set of labels as a parser meets them in replies."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from evenhand.errors import RequestError, printable, quoted
from evenhand.verdicts.parsing.parsed import Outcome, Span
from evenhand.verdicts.parsing.views import fold, is_word_at

_SHOWN = 40


def shown(text: str) -> str:
    """A piece of a reply as it may stand in a message."""
    piece = text[:_SHOWN]
    plain = piece if piece.isascii() and piece.isprintable() else printable(piece)
    return f'"{plain}{"…" if len(text) > _SHOWN else ""}"'


@dataclass(frozen=True)
class Labels:
    """Labels, other spellings of them, and the words that say tie or abstention.

    Case does not matter unless declared, neither does the width of characters or of spaces. A label is read as a whole
    word, never as a part of one.

    Attributes:
        values: the admissible values.
        spellings: pairs of another spelling and the value it stands for.
        tie: texts that say neither side wins.
        abstain: texts that say the judge cannot tell.
        case_sensitive: whether "a" is another text than "A".

    Raises:
        RequestError: no label, an empty one, a spelling of an unknown value, or one text with two meanings.
    """

    values: tuple[str, ...]
    spellings: tuple[tuple[str, str], ...] = ()
    tie: tuple[str, ...] = ()
    abstain: tuple[str, ...] = ()
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        if not self.values:
            raise RequestError("labels to parse: none declared")
        unknown = [value for _, value in self.spellings if value not in self.values]
        if unknown:
            raise RequestError(f"spellings of {quoted(unknown)}, which are not among the labels {quoted(self.values)}")
        meanings: dict[str, Outcome] = {}
        for text, outcome in self._declared:
            if not self._key(text):
                raise RequestError("labels to parse: one is blank")
            if meanings.setdefault(self._key(text), outcome) != outcome:
                raise RequestError(f'the label "{printable(text)}" is declared with two meanings')

    @property
    def _declared(self) -> list[tuple[str, Outcome]]:
        pairs = [(value, Outcome(value, "scored")) for value in self.values]
        pairs += [(text, Outcome(value, "scored")) for text, value in self.spellings]
        pairs += [(text, Outcome(None, "tied")) for text in self.tie]
        return pairs + [(text, Outcome(None, "abstained")) for text in self.abstain]

    def _key(self, text: str) -> str:
        key = " ".join(unicodedata.normalize("NFC", fold(text)).replace("’", "'").split())
        return key if self.case_sensitive else key.casefold()

    @cached_property
    def _meanings(self) -> dict[str, Outcome]:
        return {self._key(text): outcome for text, outcome in self._declared}

    @cached_property
    def _longest(self) -> int:
        return 4 * max(len(text) for text, _ in self._declared)

    @cached_property
    def _named(self) -> str:
        return quoted(self.values)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """The declared texts, longest first; both forms of accented letters, both apostrophes, any few spaces."""
        texts = {unicodedata.normalize(form, fold(text)) for text, _ in self._declared for form in ("NFC", "NFD")}
        ordered = sorted(texts, key=lambda text: (-len(text), text))
        parts = [r"[ \t]{1,4}".join(map(re.escape, text.replace("’", "'").split())) for text in ordered]
        joined = "|".join(part.replace("'", "['’]") for part in parts)
        return re.compile(joined, re.NOFLAG if self.case_sensitive else re.IGNORECASE)

    def admit(self, text: str) -> Outcome:
        """What a text stands for as a whole."""
        found = self._meanings.get(self._key(text)) if len(text) <= self._longest else None
        return found or Outcome(None, "unparsed", "not admissible", f"{shown(text)} is none of {self._named}")

    def lead(self, text: str) -> int | None:
        """Where the label at the start of folded text ends."""
        match = self._pattern.match(text)
        return match.end() if match and not is_word_at(text, match.end()) else None

    def mentions(self, text: str) -> Iterator[Span]:
        """Labels that stand in folded text as words; those of one letter only in the case declared, "a" being a word."""
        for match in self._pattern.finditer(text):
            start, end = match.span()
            alone = not is_word_at(text, start - 1) and not is_word_at(text, end)
            if alone and (end - start > 1 or match.group() in self._letters):
                yield start, end

    @cached_property
    def _letters(self) -> frozenset[str]:
        return frozenset(text for text, _ in self._declared if len(text) == 1)
