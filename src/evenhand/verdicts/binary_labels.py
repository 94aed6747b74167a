"""Two classes by known spellings, or by a positive label that the user names."""

from collections.abc import Mapping, Sequence

from evenhand.errors import ScaleError, printable, quoted
from evenhand.verdicts.label_texts import Levels, canonical
from evenhand.verdicts.order import natural
from evenhand.verdicts.spec import Spec

VOCABULARIES = (
    ("0", "1"),
    ("false", "true"),
    ("no", "yes"),
    ("fail", "pass"),
    ("failed", "passed"),
    ("unmet", "met"),
    ("not met", "met"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("reject", "accept"),
    ("absent", "present"),
    ("f", "t"),
    ("n", "y"),
)
"""Spellings of a binary label, the negative one first."""


def positive_last(levels: tuple[str, ...], positive: str) -> tuple[str, ...]:
    """The levels with the positive one at the end.

    Raises:
        ScaleError: it is none of them.
    """
    if positive not in levels:
        raise ScaleError(f'--positive "{printable(positive)}" is not one of the labels {quoted(levels)}')
    return (*(level for level in levels if level != positive), positive)


def vocabulary_of(labels: Mapping[str, int]) -> tuple[str, ...]:
    """The spellings that hold the most of the labels, to name in a refusal."""
    best = max(VOCABULARIES, key=lambda pair: sum(label.casefold() in pair for label in labels))
    return tuple(label for label in labels if label.casefold() in best) or best


def binary_levels(spec: Spec, labels: Mapping[str, int]) -> Levels | None:
    """Two classes by known spellings, or by a declared positive label among two; None where there are no such.

    Args:
        spec: perhaps names the positive label, or the scale.
        labels: how often each occurs.

    Raises:
        ScaleError: a positive label that does not occur, or two labels of a declared binary scale without one.
    """
    if spec.positive is not None and canonical(spec.positive) not in labels and len(labels) > 1:
        raise ScaleError(f'--positive "{printable(spec.positive)}" does not occur; labels are {quoted(labels)}')
    members = {}
    for label in labels:
        pair = next((pair for pair in VOCABULARIES if label.casefold() in pair), None)
        if pair:
            members[label] = pair.index(label.casefold())
    if len(members) == len(labels):
        negative, positive = _names(labels, members)
        levels = (negative, positive)
        if spec.positive is not None and canonical(spec.positive) == levels[0]:
            levels, members = (levels[1], levels[0]), {label: 1 - code for label, code in members.items()}
        return Levels("binary", levels, f"binary: {_spellings(labels, members, levels)}", members)
    if len(labels) == 2 and spec.positive is not None:
        ordered = positive_last(tuple(sorted(labels, key=natural)), canonical(spec.positive))
        reading = f'binary: "{ordered[1]}" declared positive against "{ordered[0]}"'
        return Levels("binary", ordered, reading, {level: code for code, level in enumerate(ordered)})
    if spec.scale == "binary" and len(labels) == 2 and not members:
        raise ScaleError(f"which of {quoted(labels)} is the positive one? Say --positive LABEL")
    return None


def _names(labels: Mapping[str, int], members: Mapping[str, int]) -> tuple[str, str]:
    """The commonest spelling of each class; a class that does not occur takes its partner's counterpart."""
    names = ["", ""]
    for code in (0, 1):
        spelled = [label for label in labels if members[label] == code]
        names[code] = max(spelled, key=lambda label: (labels[label], label)) if spelled else ""
    seen = names[0] or names[1]
    partner = next(pair for pair in VOCABULARIES if seen.casefold() in pair)
    for code in (0, 1):
        if not names[code]:
            names[code] = partner[code].upper() if seen.isupper() and seen.isalpha() else partner[code]
    return names[0], names[1]


def _spellings(labels: Mapping[str, int], members: Mapping[str, int], levels: Sequence[str]) -> str:
    parts = []
    for code in (1, 0):
        spelled = sorted(label for label in labels if members[label] == code)
        role = "positive" if code else "negative"
        others = [label for label in spelled if label != levels[code]]
        also = f", also spelled {quoted(others)}" if others else ("" if spelled else ", which does not occur")
        parts.append(f'"{levels[code]}" {role}{also}')
    return "; ".join(parts)
