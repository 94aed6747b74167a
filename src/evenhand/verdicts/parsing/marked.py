"""Verdicts behind a mark of their own: ``GRADE: C`` and ``[[7]]``."""

import re
from dataclasses import dataclass
from functools import cached_property

from evenhand.errors import RequestError
from evenhand.verdicts.parsing.deciding import (
    CLOSING,
    OPENING,
    Candidate,
    Rule,
    decide,
    is_conditional,
    is_placeholder,
    read_lead,
)
from evenhand.verdicts.parsing.parsed import Admissible, Outcome, Parsed, missing
from evenhand.verdicts.parsing.views import View, fold, is_word_at

_REACH = 256
_QUOTES = frozenset("\"'“‘„«")
_CLOSING_QUOTE = re.compile("[\"'”’“»]")
_BRACKETS = r"(?<!\[)\[\[([^\[\]\n]{0,64})\]\](?!\])"


def _keyword(text: str) -> str:
    words = fold(text).split()
    if not words:
        raise RequestError("the keyword before a verdict is blank")
    return r"[ \t]{1,4}".join(map(re.escape, words))


@dataclass(frozen=True)
class Labelled:
    """A keyword, a colon and the verdict: ``GRADE: C``, ``Score: 7``, ``**Verdict:** met``.

    What follows the verdict on its line must be nothing, the end of the sentence, or punctuation and words that name no
    other value: "GRADE: C or I" and "GRADE: CI" are undecided. A keyword inside a word ("upgrade:") is none, and so
    is the slot of a template ("GRADE: $LETTER").

    Attributes:
        admits: the scale.
        keyword: the word before the colon, in any case.
        last_wins: whether the last of several verdicts stands; several different ones are unparsed otherwise. A last one that
            is no value makes the reply unparsed, it never gives way to an earlier one.
        quoted_counts: whether a verdict in a quotation, a block quote or a fence stands where there is no other.
        noun: what a verdict is called in notes.

    Raises:
        RequestError: a blank keyword.
    """

    admits: Admissible
    keyword: str
    last_wins: bool = False
    quoted_counts: bool = False
    noun: str = "verdict"

    def __post_init__(self) -> None:
        _keyword(self.keyword)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"{_keyword(self.keyword)}[*_`]{{0,4}}[ \t]{{0,4}}:[\s*_`]{{0,16}}", re.IGNORECASE)

    def parse(self, text: str | None) -> Parsed:
        """Read a reply."""
        if text is None:
            return missing(None)
        view = View.of(text)
        rule = Rule(self.last_wins, self.quoted_counts, self.noun)
        return decide(view, self._candidates(view.folded), rule)

    def _candidates(self, folded: str) -> list[Candidate]:
        marks = [mark for mark in self._pattern.finditer(folded) if not is_word_at(folded, mark.start() - 1)]
        limits = [mark.start() for mark in marks[1:]] + [len(folded)]
        known: dict[str, tuple[Outcome, int]] = {}
        found = []
        for mark, limit in zip(marks, limits, strict=False):
            line = folded[mark.end() : min(limit, mark.end() + _REACH)].partition("\n")[0]
            if folded[max(0, mark.start() - 1) : mark.start()] in _QUOTES:
                line = _CLOSING_QUOTE.split(line, maxsplit=1)[0]
            if line not in known:
                known[line] = read_lead(self.admits, line)
            outcome, end = known[line]
            slot = not outcome.decided and is_placeholder(line)
            if not slot and not is_conditional(folded, mark.end() + end):
                found.append(Candidate(mark.start(), mark.end() + end, outcome))
        return found


@dataclass(frozen=True)
class Bracketed:
    """A verdict in double brackets: ``[[7]]``, ``Rating: [[7]]``, ``[[A]]``.

    Attributes:
        admits: the scale.
        keyword: a word and a colon that must stand before the brackets; None where the brackets alone are the form.
        last_wins: as in Labelled.
        quoted_counts: as in Labelled.
        noun: what a verdict is called in notes.

    Raises:
        RequestError: a blank keyword.
    """

    admits: Admissible
    keyword: str | None = None
    last_wins: bool = False
    quoted_counts: bool = False
    noun: str = "verdict"

    def __post_init__(self) -> None:
        if self.keyword is not None:
            _keyword(self.keyword)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        before = "" if self.keyword is None else rf"{_keyword(self.keyword)}[*_`]{{0,4}}[ \t]{{0,4}}:[\s*_`]{{0,16}}"
        return re.compile(before + _BRACKETS, re.IGNORECASE)

    def parse(self, text: str | None) -> Parsed:
        """Read a reply."""
        if text is None:
            return missing(None)
        view = View.of(text)
        rule = Rule(self.last_wins, self.quoted_counts, self.noun)
        return decide(view, self._candidates(view.folded), rule)

    def _candidates(self, folded: str) -> list[Candidate]:
        known: dict[str, Outcome] = {}
        found = []
        for match in self._pattern.finditer(folded):
            content = match.group(1)
            if content not in known:
                known[content] = self.admits.admit(content.strip(OPENING + CLOSING))
            outcome = known[content]
            if (not outcome.decided and is_placeholder(content)) or is_conditional(folded, match.end()):
                continue
            if self.keyword is None or not is_word_at(folded, match.start() - 1):
                found.append(Candidate(match.start(), match.end(), outcome))
        return found
