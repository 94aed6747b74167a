"""Several forms of reply in order, refusals by declared phrases, and statuses a harness states itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.errors import RequestError
from evenhand.verdicts.parsing.parsed import FORM_ABSENT, Parsed, Parser, Status, missing, unparsed
from evenhand.verdicts.parsing.views import View, fold, is_word_at


def stated(status: Status, text: str | None, detail: str = "") -> Parsed:
    """What the source itself says of a reply: an error, a refusal, an abstention. The text is kept and not read.

    Raises:
        RequestError: the status "scored", which takes a parser.
    """
    if status == "scored":
        raise RequestError('the status "scored" needs a value: parse the reply, or admit the value on its scale')
    return Parsed(None, status, text, text, "declared", detail or f"the source says {status}")


def _key(text: str) -> str:
    return " ".join(fold(text).replace("’", "'").split()).casefold()


@dataclass(frozen=True)
class Refusal:
    """A reply that begins with a declared phrase is a refusal; nothing else is taken for one.

    Attributes:
        phrases: beginnings of replies, compared without case, width of spaces and kind of apostrophe.
        whole: whether the phrase must be the whole reply, up to closing punctuation.

    Raises:
        RequestError: no phrase, or a blank one.
    """

    phrases: tuple[str, ...]
    whole: bool = False

    def __post_init__(self) -> None:
        if not self.phrases or not all(map(_key, self.phrases)):
            raise RequestError("a refusal needs phrases, none of them blank")

    def parse(self, text: str | None) -> Parsed:
        """Read a reply: refused, or unparsed with "no verdict" so that a chain goes on."""
        if text is None:
            return missing(None)
        view = View.of(text)
        if view.blank:
            return missing(text)
        reach = 4 * max(map(len, self.phrases))
        start = _key(view.folded.lstrip()[:reach] if not self.whole else view.folded)
        for phrase in map(_key, self.phrases):
            same = start.rstrip(".!") == phrase.rstrip(".!") if self.whole else start.startswith(phrase)
            if same and not (phrase[-1].isalnum() and is_word_at(start, len(phrase))):
                return Parsed(None, "refused", text, text, "declared", f'the reply begins with "{phrase}"')
        return unparsed(text, "no verdict", "no declared phrase of refusal")


@dataclass(frozen=True)
class Chain:
    """Parsers in order of precedence: the first whose form occurs decides.

    A form that occurs in doubt (out of scale, two verdicts, a duplicate key) ends the chain as unparsed: a later parser never
    repairs what an earlier one refused. Parsers behind the deciding one that read another verdict are a conflict.

    Attributes:
        parsers: the forms.
        conflict: "noted" keeps the first verdict and says so in notes; "unparsed" gives none.

    Raises:
        RequestError: no parser.
    """

    parsers: tuple[Parser, ...]
    conflict: Literal["noted", "unparsed"] = "noted"

    def __post_init__(self) -> None:
        if not self.parsers:
            raise RequestError("a chain needs a parser")

    def parse(self, text: str | None) -> Parsed:
        """Read a reply."""
        results = [parser.parse(text) for parser in self.parsers]
        present = [result for result in results if result.reason not in FORM_ABSENT]
        if not present:
            return next((result for result in results if result.reason != "no verdict"), results[0])
        first = present[0]
        others = self._others(first, present[1:])
        if not others:
            return first
        note = f"conflict: another form of the reply reads {', '.join(others)}"
        if self.conflict == "unparsed" and text is not None:
            return unparsed(text, "conflict", f"{first.outcome.name} by one form; {note}", first.span, first.notes)
        return replace(first, notes=(*first.notes, note))

    @staticmethod
    def _others(first: Parsed, later: Sequence[Parsed]) -> list[str]:
        """Verdicts of later parsers that are not the first one's."""
        names = [result.outcome.name for result in later if result.outcome.decided]
        return [name for name in dict.fromkeys(names) if name != first.outcome.name]
