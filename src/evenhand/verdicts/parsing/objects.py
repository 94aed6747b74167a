"""Verdicts in a JSON object, alone, in a fenced block or within prose."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evenhand.errors import RequestError, quoted
from evenhand.verdicts.parsing.parsed import Admissible, Outcome, Parsed, Reason, from_outcome, missing, unparsed
from evenhand.verdicts.parsing.quotation import fences, merged
from evenhand.verdicts.parsing.views import View, drop_invisible

DEEPEST = 64
"""Levels of nesting beyond which an object is malformed."""
MOST_OBJECTS = 10_000
"""Objects in one reply beyond which it is not read on."""
_START = re.compile(r"\{\s{0,64}[\"}]")
_MARK = re.compile(r"[\"\\{}\[\]]")
_NEAR = 200
_QUOTES = "\"'“”„‘’«»"


class _RefusedError(Exception):
    """An object that is not read, and why."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it is written, so that no digit is lost on the way to the scale."""

    text: str


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        raise _RefusedError("duplicate key", f"{quoted(twice, 3)} stands more than once")
    return members


_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_unique, parse_int=_Number, parse_float=_Number, parse_constant=_Number
)


def _object(text: str) -> dict[str, Any]:
    try:
        found = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _RefusedError("malformed", f"not a JSON object: {error.msg}") from None
    return found if isinstance(found, dict) else {}


def _ends(text: str, start: int) -> tuple[int, bool]:
    """Where the object that starts here ends, strings respected, and whether it is closed and not too deep."""
    depth = deepest = 0
    in_string, skip = False, -1
    for match in _MARK.finditer(text, start):
        mark, place = match.group(), match.start()
        if place == skip:
            continue
        if mark == "\\":
            skip = place + 1
        elif mark == '"':
            in_string = not in_string
        elif not in_string:
            depth += 1 if mark in "{[" else -1
            deepest = max(deepest, depth)
            if depth == 0:
                return place + 1, deepest <= DEEPEST
    return len(text), False


@dataclass(frozen=True, slots=True)
class _Found:
    """An object in the view: its place, its members or why it has none."""

    start: int
    end: int
    members: dict[str, Any] | None
    refused: _RefusedError | None = None


@dataclass(frozen=True)
class JsonObject:
    """A JSON object with the verdict under a key of its top level: ``{"reason": "...", "score": 4}``.

    Numbers are taken digit by digit as written; true, false and null as these words; line ends inside strings are borne
    with. A key that stands twice, an object that is not JSON or two different objects with the key leave the reply
    unparsed. So do a fence of another language and quotation marks around an object, which count as quoted.

    Attributes:
        key: the key, exactly.
        admits: the scale.
        explanation_key: the key of the judge's reasons, if any.
        last_wins: whether the last of several objects with the key stands.

    Raises:
        RequestError: the two keys are the same, or one is empty.
    """

    key: str
    admits: Admissible
    explanation_key: str | None = None
    last_wins: bool = False

    def __post_init__(self) -> None:
        if not self.key or self.key == self.explanation_key:
            raise RequestError("a JSON verdict needs a key, and another one for its explanation")

    def parse(self, text: str | None) -> Parsed:
        """Read a reply."""
        if text is None:
            return missing(None)
        view = View.of(text)
        if view.blank:
            return missing(text)
        found = list(_objects(view))
        code = merged([block.span for block in fences(view.folded) if not block.may_hold_json])
        own = [each for each in found if not (code.cover(each.start) or _is_quoted(view.folded, each))]
        if not own:
            reason: Reason = "quoted" if found else "no verdict"
            return unparsed(text, reason, "a JSON object in a quotation only" if found else "no JSON object")
        return self._decided(view, own)

    def _decided(self, view: View, own: list[_Found]) -> Parsed:
        standing = [each for each in own if each.members is None or self.key in each.members]
        if not standing:
            return unparsed(view.text, "key absent", f"no JSON object has the key {quoted([self.key])}")
        last = standing[-1]
        place = view.original(last.start, last.end)
        several = any(each.members != last.members for each in standing)
        if several and not self.last_wins:
            return unparsed(view.text, "several verdicts", f"{len(standing)} JSON objects that differ", place)
        if last.members is None:
            reason: Reason = last.refused.reason if last.refused else "malformed"
            return unparsed(view.text, reason, last.refused.detail if last.refused else "", place)
        notes = ("several JSON objects seen",) if several else ()
        return from_outcome(view.text, self._outcome(last.members[self.key]), place, notes, self._reasons(last.members))

    def _outcome(self, value: Any) -> Outcome:
        if isinstance(value, dict | list):
            detail = f"the value of {quoted([self.key])} is a list or an object"
            return Outcome(None, "unparsed", "not admissible", detail)
        outcome = self.admits.admit(_scalar(value))
        if value is None and not outcome.decided:
            return Outcome(None, "unparsed", "not admissible", f"the value of {quoted([self.key])} is null")
        return outcome

    def _reasons(self, members: dict[str, Any]) -> str | None:
        """The judge's reasons as text that any file can hold."""
        value = members.get(self.explanation_key) if self.explanation_key else None
        return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else None


def _scalar(value: str | _Number | bool | None) -> str:
    if isinstance(value, _Number):
        return value.text
    return value if isinstance(value, str) else json.dumps(value)


def _objects(view: View) -> Iterator[_Found]:
    """Objects of the outermost level, in order; one that is never closed is the last."""
    text = _unfolded(view)
    place = count = 0
    while match := _START.search(text, place):
        count += 1
        end, sound = _ends(text, match.start())
        try:
            if count > MOST_OBJECTS:
                end = len(text)
                raise _RefusedError("several verdicts", f"more than {MOST_OBJECTS:,} JSON objects")
            if not sound:
                raise _RefusedError("malformed", f"a JSON object that is never closed, or deeper than {DEEPEST} levels")
            yield _Found(match.start(), end, _object(text[match.start() : end]))
        except _RefusedError as refused:
            yield _Found(match.start(), end, None, refused)
        place = end


def _unfolded(view: View) -> str:
    """The reply with its own characters in strings, hidden reasoning blanked as in the view."""
    plain = drop_invisible(view.text)
    return "".join("\n" if shown_as == "\n" else own for own, shown_as in zip(plain, view.folded, strict=True))


def _is_quoted(folded: str, found: _Found) -> bool:
    before, after = folded[max(0, found.start - 1) : found.start], folded[found.end : found.end + 1]
    if before and after and before in _QUOTES and after in _QUOTES:
        return True
    line = folded[max(0, found.start - _NEAR) : found.start].rpartition("\n")[2]
    return line.lstrip(" ").startswith(">")
