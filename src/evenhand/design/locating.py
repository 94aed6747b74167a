"""Where in a TOML file a value stands that a model refuses, in words and with its line."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from evenhand.errors import did_you_mean, printable

Place = Sequence[str | int]


class MisfitError(ValueError):
    """Parts that do not fit together, and where the file says so."""

    def __init__(self, place: tuple[str | int, ...], said: str) -> None:
        super().__init__(said)
        self.place = place


def located(text: str, problem: ValidationError, model: type[BaseModel]) -> str:
    """The first fault of a validation with its line and its place in words.

    Args:
        text: of the TOML file.
        problem: what the model said of it.
        model: of the whole file.
    """
    first = problem.errors()[0]
    misfit = first.get("ctx", {}).get("error")
    place: Place = misfit.place if isinstance(misfit, MisfitError) else first["loc"]
    line = line_of(text, place)
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        said = "unknown name" + did_you_mean(str(place[-1]), _names_beside(place, model))
    elif first["type"] == "missing":
        said = "is missing"
    elif isinstance(first["input"], str | int | float | list):
        said += f" (got {printable(repr(first['input']))[:60]})"
    return f"{f' line {line}' if line else ''}: {_in_words(place)}{said}"


def line_of(text: str, place: Place) -> int:
    """The line of a key, or of the nearest thing that holds it, from 1; 0 where it cannot be told."""
    lines = text.splitlines()
    names = [str(part) for part in place if isinstance(part, str)]
    number = next((part for part in place[1:2] if isinstance(part, int)), None)
    for depth in range(len(names), 0, -1):  # the deepest table that has a header of its own
        header = r"\s*\.\s*".join(_key(name) for name in names[:depth])
        several = number is not None and depth == 1
        shape = re.compile(rf"^\s*\[\[\s*{header}\s*\]\]" if several else rf"^\s*\[\s*{header}\s*\]")
        starts = [at for at, line in enumerate(lines) if shape.match(line)]
        if several:
            starts = starts[number : number + 1] if number is not None else []
        if starts:
            return _key_below(lines, starts[0], names[depth:]) or starts[0] + 1
    return _key_below(lines, -1, names) if names else 0


def _key(name: str) -> str:
    return rf"[\"']?{re.escape(name)}[\"']?"


def _key_below(lines: Sequence[str], start: int, names: Sequence[str]) -> int:
    """The line below a header, before the next one, on which the first of the names is set; 0 where none is."""
    if not names:
        return 0
    shape = re.compile(rf"^\s*{_key(names[0])}\s*[=.]")
    for at in range(start + 1, len(lines)):
        if re.match(r"^\s*\[", lines[at]):
            break
        if shape.match(lines[at]):
            return at + 1
    return 0


def _in_words(place: Place) -> str:
    """As ``[draw] tails n``, or ``[[arm]] number 2 label``."""
    if not place:
        return ""
    head, rest = printable(str(place[0])), list(place[1:])
    if rest and isinstance(rest[0], int):
        head, rest = f"[[{head}]] number {rest[0] + 1}", rest[1:]
    elif rest:
        head = f"[{head}]"
    return " ".join([head, *(printable(str(part)) for part in rest if isinstance(part, str))]) + ": "


def _names_beside(place: Place, model: Any) -> list[str]:
    """Names that a table may hold, the one at a place being none of them."""
    for part in place[:-1]:
        if isinstance(part, int):
            continue
        field = getattr(model, "model_fields", {}).get(part)
        inner = getattr(field.annotation, "__args__", (field.annotation,))[0] if field is not None else None
        model = inner if hasattr(inner, "model_fields") else getattr(field, "annotation", None)
    return list(getattr(model, "model_fields", {}))
