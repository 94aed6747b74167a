"""Which parts of a reply are somebody else's words: quotations, block quotes, code, struck-out text, comments.

One pass over the marks, no look-behind beyond a character, so time grows with the text and no faster. In doubt a part counts as
quoted, which costs a verdict and never invents one. A pair of quotation marks or a fence around the whole
reply is no quotation but its wrapping.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evenhand.verdicts.parsing.parsed import Span
from evenhand.verdicts.parsing.views import is_word_at

MOST_MARKS = 50_000
"""Quotation marks beyond which a reply counts as quoted from end to end: no judge writes so, and nobody waits for it."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_BLOCK_QUOTE = re.compile(r"^ {0,3}>[^\n]*", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,500}~~")
_MARKS = "\"'`“”„‟‘’‚«»‹›「」『』"
_MARK = re.compile(f"`+|[{_MARKS}\n]")
_KINDS = dict.fromkeys("“”„‟", "“") | dict.fromkeys("‘’‚", "‘") | dict.fromkeys("«»", "«") | dict.fromkeys("‹›", "‹")
_KINDS |= {"」": "「", "』": "『"}
_OPENING = frozenset("„‟‚‘「『")
_DIRECTIONLESS = frozenset("\"'’")
_LINE_ONLY = frozenset("'‘`")
_NEAR = 64
_EMPHASIS = "*_ \t."
_JSON_INFO = frozenset({"", "json", "jsonc", "json5"})


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its whole span, the span of its body, its info word in lower case."""

    span: Span
    body: Span
    info: str

    @property
    def may_hold_json(self) -> bool:
        """Whether the block says JSON or nothing about its language."""
        return self.info in _JSON_INFO


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans in order that do not overlap."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def cover(self, place: int) -> bool:
        """Whether a place lies in one of the spans."""
        before = bisect_right(self.starts, place) - 1
        return before >= 0 and place < self.ends[before]


def merged(spans: list[Span]) -> Spans:
    """Overlapping spans as one."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(spans):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return Spans(tuple(starts), tuple(ends))


def whole(text: str) -> Span:
    """The span of a text without the space around it."""
    return len(text) - len(text.lstrip()), len(text.rstrip())


def fences(text: str) -> list[Fence]:
    """Fenced blocks in order; one that is never closed reaches to the end."""
    found: list[Fence] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        marks, info = line.group(1), line.group(2).strip()
        if opened is None:
            opened = None if "`" in info else line
        elif marks.startswith(opened.group(1)) and not info:
            found.append(_fence(opened, line.start(), line.end()))
            opened = None
    if opened is not None:
        found.append(_fence(opened, len(text), len(text)))
    return found


def _fence(opened: re.Match[str], body_end: int, end: int) -> Fence:
    info = opened.group(2).split(maxsplit=1)
    body = (min(opened.end() + 1, body_end), body_end)
    return Fence((opened.start(), end), body, info[0].lower() if info else "")


def quoted_parts(text: str) -> Spans:
    """Everything in a folded reply that is not said by its author in the author's own name."""
    if sum(map(text.count, _MARKS)) > MOST_MARKS:
        return Spans((0,), (len(text),))
    everything = whole(text)
    wrapping = [*(fence.span for fence in fences(text)), *_quotations(text)]
    spans = [span for span in wrapping if span != everything]
    spans += [match.span() for match in _BLOCK_QUOTE.finditer(text)]
    spans += [match.span() for match in _STRUCK.finditer(text)]
    return merged(spans + _comments(text))


def _comments(text: str) -> list[Span]:
    spans, start = [], text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        end = len(text) if end < 0 else end + 3
        spans.append((start, end))
        start = text.find("<!--", end)
    return spans


def _quotations(text: str) -> Iterator[Span]:
    """Pairs of quotation marks; an opening double mark without partner reaches to the end of its line."""
    opened: dict[str, list[int]] = {}
    for match in _MARK.finditer(text):
        mark = match.group()
        if mark == "\n":
            if opened:
                opened = {kind: stack for kind, stack in opened.items() if kind[0] not in _LINE_ONLY}
            continue
        stack = opened.setdefault(_KINDS.get(mark, mark), [])
        role = _role(text, match.start(), mark, stack)
        if role == "opens":
            stack.append(match.start())
        elif role == "closes":
            span = (stack.pop(), match.end())
            if mark[0] != "`" or not _fills_line(text, span):
                yield span
    for kind, stack in opened.items():
        if kind[0] not in _LINE_ONLY:
            yield from _unclosed(text, stack)


def _role(text: str, place: int, mark: str, stack: list[int]) -> Literal["opens", "closes", "neither"]:
    otherwise: Literal["opens", "closes"] = "closes" if stack else "opens"
    if mark in _OPENING:
        return "opens"
    if mark == "“":
        return "closes" if stack and text[stack[-1]] == "„" else "opens"
    if mark not in _DIRECTIONLESS:
        return otherwise
    opens, closes = _directions(text, place, mark)
    if opens == closes:
        return "neither" if mark != '"' and not opens else otherwise
    if closes:
        return "closes" if stack else "neither"
    return "opens" if mark != "’" else "neither"


def _directions(text: str, place: int, mark: str) -> tuple[bool, bool]:
    """Whether a mark without direction may open and may close, by its neighbours; an apostrophe does neither."""
    before, after = text[place - 1 : place] if place else "", text[place + 1 : place + 2]
    opens = bool(after) and not after.isspace() and not is_word_at(text, place - 1)
    closes = bool(before) and not before.isspace()
    if mark != '"':
        closes = closes and not is_word_at(text, place + 1)
    return opens, closes


def _fills_line(text: str, span: Span) -> bool:
    """Whether a piece of inline code is all there is on its line, which makes it the judge's own way to set it off."""
    start, end = span
    before = text[max(0, start - _NEAR) : start].rpartition("\n")
    if not before[1] and start > _NEAR:
        return False
    after = text[end : end + _NEAR].partition("\n")[0]
    return not before[2].strip(_EMPHASIS) and not after.strip(_EMPHASIS)


def _unclosed(text: str, places: list[int]) -> Iterator[Span]:
    reached = -1
    for place in places:
        if place >= reached:
            end = text.find("\n", place)
            reached = len(text) if end < 0 else end
            yield place, reached
