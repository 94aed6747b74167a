"""Marks: labels that are numbers, taken by their values; what lies outside a declared range is unparsed, never moved."""

import math
from collections.abc import Mapping

from evenhand.errors import ScaleError, quoted
from evenhand.verdicts.label_texts import Levels, Texts, counted, is_number
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.unclear_labels import refuse_unclear

MOST_MARKS = 200_000
"""Different marks that are kept apart."""
LARGEST = 1e12
"""A number beyond this is no mark: without a declared range, too, it is unparsed and listed."""
MOST_STEPS = 101
"""Whole marks of a declared range that are a scale of levels."""


def whole_steps(limits: tuple[float, float]) -> tuple[str, ...]:
    """The whole marks of a range, where both its ends are whole and they are few enough for levels; else none."""
    low, high = limits
    if not (low.is_integer() and high.is_integer() and high - low < MOST_STEPS):
        return ()
    return tuple(str(mark) for mark in range(int(low), int(high) + 1))


def mark_levels(spec: Spec, labels: Mapping[str, int], texts: Texts) -> Levels:
    """Numbers in order of their values.

    Args:
        spec: perhaps a declared range.
        labels: how often each occurs, as it is compared.
        texts: for messages.

    Raises:
        ScaleError: a label that is no number, no mark within the range, or too many different ones.
    """
    strange = {label: count for label, count in labels.items() if not is_number(label)}
    infinite = [label for label in strange if not _is_word(label)]
    words = {label: count for label, count in strange.items() if label not in infinite}
    if words:
        refuse_unclear(words, texts)
        example = next(iter(words))
        raise ScaleError(
            f"not a number on a scale of marks: {texts.places(list(words))}. Mend the file, or say what it means: "
            f'--na "{example}" (missing), --abstain "{example}"; letters are declared in order with '
            "--scale ordinal --levels"
        )
    low, high = spec.range or (-LARGEST, LARGEST)
    values = {label: float(label) for label in labels if label not in strange}
    inside = sorted((label for label, value in values.items() if low <= value <= high), key=values.__getitem__)
    if not inside:
        raise ScaleError(f"no mark lies within {low:g} to {high:g}: {texts.places(list(labels))}")
    if len(inside) > MOST_MARKS:
        raise ScaleError(
            f"{len(inside):,} different marks: at most {MOST_MARKS:,} are kept apart; round them in the file "
            "(a tenth of a mark is more than any of the statistics here can see)"
        )
    codes: dict[str, int | str] = {label: code for code, label in enumerate(inside)}
    outside = [label for label in values if label not in codes]
    said = "declared" if spec.scale or spec.range else "inferred from the labels"
    reading = f"continuous, {said}: {len(inside):,} different marks from {inside[0]} to {inside[-1]}"
    reading += f", range {low:g} to {high:g}" if spec.range else ", no range declared (--range LO,HI)"
    reading += f"; outside it and unparsed: {counted(outside, labels)}" if outside else ""
    reading += f"; {quoted(infinite)} not finite: unparsed" if infinite else ""
    members = codes | dict.fromkeys((*outside, *infinite), "unparsed")
    return Levels("continuous", tuple(inside), reading, members, spec.range)


def step_levels(spec: Spec, labels: Mapping[str, int], texts: Texts, steps: tuple[str, ...]) -> Levels:
    """The whole marks of a declared range as ordered levels; a number that is none of them is unparsed and counted.

    Args:
        spec: declares the range.
        labels: how often each occurs.
        texts: for messages.
        steps: the levels.

    Raises:
        ScaleError: a label that is no number.
    """
    marks = mark_levels(spec.model_copy(update={"range": None}), labels, texts)
    strays = [label for label in marks.members if label not in steps]
    reading = f"ordinal, declared by its range: {steps[0]} to {steps[-1]}"
    reading += f"; not on it and unparsed: {counted(strays, labels)}" if strays else ""
    members: dict[str, int | str] = {label: code for code, label in enumerate(steps)}
    return Levels("ordinal", steps, reading, members | dict.fromkeys(strays, "unparsed"), spec.range)


def _is_word(label: str) -> bool:
    """Whether a label is a word rather than a number that is not finite."""
    try:
        return math.isfinite(float(label))
    except ValueError:
        return True
