"""JSON from strangers, read piece by piece: one element of a long array at a time, everything else beside it."""

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, TextIO

from pydantic_core import from_json

from evenhand.errors import SourceError, printable

MOST_CHARACTERS = 256 * 2**20
"""Longest single value, line or element."""
_CHUNK = 2**18
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_SPACE = " \t\n\r"
_AFTER = frozenset(_SPACE + ",:]}")
"""What may follow a whole value."""


def parse(data: bytes | str, where: str) -> Any:
    """One JSON document.

    Args:
        data: its text; at most 200 levels deep.
        where: named in messages.

    Raises:
        SourceError: not JSON, or nested too deeply.
    """
    try:
        return from_json(data)
    except ValueError as problem:
        if "recursion limit" in str(problem):
            raise SourceError(f"{where}: nested more than 200 levels deep") from None
    try:
        return json.loads(data)  # half surrogates and the like, which the fast parser refuses
    except (ValueError, RecursionError) as problem:
        raise SourceError(f"{where}: not JSON: {printable(str(problem))[:160]}") from None


def partial(data: str) -> Any:
    """What can be made out of the beginning of a document; None where nothing can."""
    try:
        return from_json(_HALF.sub(r"\\ufffd", data), allow_partial=True)
    except ValueError:
        return None


def lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Line number and document of each line of a JSON lines file that is not blank.

    Raises:
        SourceError: a line that is not JSON, not UTF-8, or too long.
    """
    shown = printable(path.name)
    with _opened(path) as stream:
        number = 0
        while line := _line(stream, f"{shown} line {number + 1}"):
            number += 1
            if line.strip():
                yield number, parse(line, f"{shown} line {number}")


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8-sig", newline="\n")
    except OSError as problem:
        raise SourceError(f"{printable(path.name)}: cannot be read ({problem.strerror})") from None


def _line(stream: TextIO, where: str) -> str:
    try:
        line = stream.readline(MOST_CHARACTERS)
    except UnicodeDecodeError as problem:
        raise SourceError(f"{where}: not UTF-8 ({problem.reason})") from None
    if len(line) == MOST_CHARACTERS:
        raise SourceError(f"{where}: longer than {MOST_CHARACTERS:,} characters")
    return line


class JsonFile:
    """A JSON document whose array at a dotted place is read one element at a time.

    Args:
        path: the file.
        at: the array's dotted place; empty where the document is the array.
        passed_over: dotted places of other arrays, whose elements are let go one by one.

    Attributes:
        rest: dotted name → value of all that stands outside that array; whole once the elements are read.
        found: whether the array was there.
    """

    def __init__(self, path: Path, at: str, passed_over: Collection[str] = ()) -> None:
        self.passed_over = passed_over
        self.path, self.at = path, tuple(at.split(".")) if at else ()
        self.shown = printable(path.name)
        self.rest: dict[str, Any] = {}
        self.found = False

    def before(self, name: str) -> bool:
        """Whether there is such a name beside the array; one that stands after it is read first."""
        for _ in self.elements():
            if name in self.rest:
                break
        return name in self.rest

    def elements(self) -> Iterator[Any]:
        """The elements in order.

        Raises:
            SourceError: not JSON, not UTF-8, nested too deeply, or a value too long.
        """
        with _opened(self.path) as stream:
            text = _Cursor(stream, self.shown)
            yield from self._within(text, 0)
            if text.peek():
                raise text.problem("more text after the end of the document")

    def _within(self, text: "_Cursor", depth: int) -> Iterator[Any]:
        first = text.peek()
        if depth == len(self.at) and first == "[":
            self.found = True
            yield from text.array()
        elif depth < len(self.at) and first == "{":
            for name in text.names():
                dotted = ".".join((*self.at[:depth], name))
                if name == self.at[depth]:
                    yield from self._within(text, depth + 1)
                elif dotted in self.passed_over and text.peek() == "[":
                    for _ in text.array():
                        pass
                else:
                    self.rest[dotted] = text.value()
        else:
            self.rest[".".join(self.at[:depth])] = text.value()


class _Cursor:
    """A place in a stream of JSON text."""

    def __init__(self, stream: TextIO, shown: str) -> None:
        self.stream, self.shown = stream, shown
        self.text, self.at, self.passed, self.ended = "", 0, 0, False
        self.decode = json.JSONDecoder().raw_decode

    def problem(self, what: str) -> SourceError:
        return SourceError(f"{self.shown}: not whole JSON: {what} (character {self.passed + self.at + 1:,})")

    def _fill(self) -> None:
        """Read on; at least doubles what is held, so that a long value costs linear time."""
        wanted = max(_CHUNK, len(self.text) - self.at)
        if wanted > MOST_CHARACTERS:
            raise self.problem(f"one value is longer than {MOST_CHARACTERS:,} characters, or never ends")
        try:
            more = self.stream.read(wanted)
        except UnicodeDecodeError as problem:
            raise SourceError(f"{self.shown}: not UTF-8 ({problem.reason})") from None
        self.ended = not more
        self.text, self.passed, self.at = self.text[self.at :] + more, self.passed + self.at, 0

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _SPACE:
                    return self.text[self.at]
                self.at += 1
            if self.ended:
                return ""
            self._fill()

    def take(self, wanted: str) -> str:
        """Step over one of these characters."""
        found = self.peek()
        if not found or found not in wanted:
            raise self.problem(f"expected {' or '.join(wanted)}, found {printable(found) or 'the end'}")
        self.at += 1
        return found

    def value(self) -> Any:
        """The value that starts here."""
        self.peek()
        while True:
            try:
                value, end = self.decode(self.text, self.at)
            except RecursionError:
                raise self.problem("nested too deeply") from None
            except ValueError as problem:
                if self.ended:
                    raise self.problem(str(problem).split(":")[0]) from None
            else:
                if self.ended or self.text[end : end + 1] in _AFTER:  # else "1" may yet become "1.5"
                    self.at = end
                    return value
            self._fill()

    def array(self) -> Iterator[Any]:
        """The elements of the array that starts here."""
        self.take("[")
        if self.peek() == "]":
            self.at += 1
            return
        yield self.value()
        while self.take(",]") == ",":
            yield self.value()

    def names(self) -> Iterator[str]:
        """The names of the object that starts here; its reader takes each value before the next."""
        self.take("{")
        if self.peek() == "}":
            self.at += 1
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                raise self.problem("a name that is no text")
            self.take(":")
            yield name
            if self.take(",}") == "}":
                return
