"""A reply as parsers look at it: odd characters folded, hidden reasoning blanked, every place traceable to the original.

Folded: full-width ASCII (digits, letters, brackets, colon), spaces of all widths, line ends of all kinds, the minus sign and
hyphens. Dropped: characters that show nothing (zero-width, direction controls, variation selectors, tags), so none of
them changes a verdict. Kept as they are: quotation marks of all kinds, digits of other scripts, accents.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

from evenhand.verdicts.parsing.parsed import Span

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_DROPPED = re.compile(f"[{_INVISIBLE}]")
_SPACES = (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_LINE_ENDS = (0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029)
_HYPHENS = (0x2010, 0x2011, 0x2212)
_FOLDED = (
    {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
    | dict.fromkeys(_SPACES, 0x20)
    | dict.fromkeys(_LINE_ENDS, 0x0A)
    | dict.fromkeys(_HYPHENS, 0x2D)
)
_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)


def drop_invisible(text: str) -> str:
    """The text without characters that show nothing."""
    return text if text.isascii() else _DROPPED.sub("", text)


def fold(text: str) -> str:
    """The text as parsers compare it."""
    return drop_invisible(text).translate(_FOLDED)


def is_word_at(text: str, place: int) -> bool:
    """Whether a word goes on at a place; an underscore does so between letters only, an accent always."""
    if not 0 <= place < len(text):
        return False
    character = text[place]
    if character == "_":
        return text[place + 1 : place + 2].isalnum() and text[place - 1 : place].isalnum()
    return character.isalnum() or (character > "\x7f" and unicodedata.category(character).startswith("M"))


@dataclass(frozen=True, slots=True)
class View:
    """A reply, folded.

    Attributes:
        text: the reply as given.
        folded: what to search; reasoning between tags such as <think> is blanked to line ends of the same length.
        shifts: where, in ``folded``, one dropped character of ``text`` stood, in order.
    """

    text: str
    folded: str
    shifts: tuple[int, ...] = ()

    @classmethod
    def of(cls, text: str) -> "View":
        """Fold a reply."""
        shifts: tuple[int, ...] = ()
        if not text.isascii():
            shifts = tuple(match.start() - count for count, match in enumerate(_DROPPED.finditer(text)))
        return cls(text, _without_reasoning(fold(text)), shifts)

    @property
    def blank(self) -> bool:
        """Whether the reply as given shows nothing."""
        return not fold(self.text).strip()

    def original(self, start: int, end: int) -> Span:
        """The place in the reply as given of a place in the folded one."""
        first = start + bisect_right(self.shifts, start)
        last = end - 1 + bisect_right(self.shifts, end - 1) + 1 if end > start else first
        return first, last


def _without_reasoning(folded: str) -> str:
    """Blank what stands between reasoning tags; a tag that lacks its partner hides all on its side."""
    hidden: list[Span] = []
    opened = -1
    for tag in _THINKING.finditer(folded):
        if not tag.group(1):
            opened = tag.start() if opened < 0 else opened
        elif opened >= 0:
            hidden.append((opened, tag.end()))
            opened = -1
        else:
            hidden = [(0, tag.end())]
    if opened >= 0:
        hidden.append((opened, len(folded)))
    pieces, shown_from = [], 0
    for start, end in hidden:
        pieces += [folded[shown_from:start], "\n" * (end - start)]
        shown_from = end
    return "".join([*pieces, folded[shown_from:]])
