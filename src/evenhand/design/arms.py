"""The block an arm adds to a prompt: attainment, a prior attempt, marked examples, or a text of the user's own."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from evenhand.design.bank import Bank, Item
from evenhand.design.draw import Drawn
from evenhand.design.plan import ArmPart, ScalePart
from evenhand.design.templates import Template, fenced
from evenhand.errors import RequestError, printable


@dataclass(frozen=True, slots=True)
class Block:
    """A rendered block and what of it goes into the verdict table.

    Attributes:
        text: empty for an arm without one.
        labels: label_shown, n_prior_shown, shown_marks and example_order, as far as the block states them.
    """

    text: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Example:
    text: str
    mark: str


def block_of(
    arm: ArmPart, template: Template | None, drawn: Drawn, bank: Bank, scale: ScalePart, example_order: str = ""
) -> Block:
    """The block of an arm for one response.

    Args:
        arm: of the plan.
        template: of its block; None for an arm that adds nothing.
        drawn: the response.
        bank: where other answers come from.
        scale: ends of the marks.
        example_order: how examples follow each other: ``rising`` or ``falling`` marks, or ``mixed`` by the response's own seed.

    Raises:
        RequestError: the bank lacks what the arm tells, for this response.
    """
    if template is None:
        return Block("")
    values: dict[str, object] = {"low": f"{ends_of(scale)[0]:g}", "high": f"{ends_of(scale)[1]:g}"}
    labels: dict[str, str] = {}
    if arm.label is not None:
        shown, n_prior = _label(arm, drawn)
        labels |= {"label_shown": f"{shown:.1f}", "n_prior_shown": str(n_prior)}
        values |= {"attainment": f"{shown:.1f}", "n_prior": n_prior}
    if arm.prior is not None:
        others = _others(arm, drawn.item, bank)
        prior = others[0] if arm.prior == "low" else others[-1]
        mark = f"{prior.mark:g}" if arm.prior_mark else ""
        values |= {"prior": fenced(judged_text(prior), "earlier answer"), "prior_mark": mark}
        labels |= {"shown_marks": mark} if mark else {}
    if arm.examples is not None:
        chosen = _examples(_others(arm, drawn.item, bank), arm, drawn.item)
        marks = _shown_marks(arm, [one.mark for one in chosen], scale)
        order = _order(example_order or "rising", len(chosen), drawn.item.response_id)
        values["examples"] = [_Example(fenced(judged_text(chosen[place]), "example"), marks[place]) for place in order]
        labels["example_order"] = example_order or "rising"
        labels |= {"shown_marks": " ".join(marks[place] for place in order)} if any(marks) else {}
    return Block(template.render(values).strip("\n"), labels)


def _label(arm: ArmPart, drawn: Drawn) -> tuple[float, int]:
    """The attainment an arm states, and how many earlier answers it rests on."""
    own = arm.label == "own"
    shown, n_prior = (drawn.attainment, drawn.n_prior) if own else (drawn.partner, drawn.n_prior_partner)
    if not math.isfinite(shown):
        raise RequestError(
            f'arm "{printable(arm.name)}": learner "{printable(drawn.item.learner_id)}" of response "{printable(drawn.item.response_id)}" '
            "has no other marked response, so no attainment can be stated; leave it out of the draw"
        )
    return shown, n_prior


def _others(arm: ArmPart, item: Item, bank: Bank) -> list[Item]:
    """Marked answers of other learners to the same question, the lowest mark first."""
    found = [
        one
        for one in bank.by_cluster[item.cluster_id]
        if one.learner_id != item.learner_id and one.response_id != item.response_id and math.isfinite(one.mark)
    ]
    needed = 3 if arm.examples else 1
    if len(found) < needed:
        raise RequestError(
            f'arm "{printable(arm.name)}": "{printable(item.cluster_id)}" has {len(found)} marked answer(s) of other learners beside '
            f'response "{printable(item.response_id)}"; the arm shows {needed}'
        )
    return sorted(found, key=lambda one: (one.mark, one.response_id))


def _examples(others: Sequence[Item], arm: ArmPart, item: Item) -> list[Item]:
    """Lowest, median and highest marked answer, with three different marks where there are as many.

    The choice is the same in every arm, so that arms differ in the marks alone. Where only two marks occur, the lowest and the
    highest are shown: three marks of which two are equal cannot be exchanged so that none stands at its own answer.
    """
    low, high, middle = others[0], others[-1], len(others) // 2
    between = [place for place, one in enumerate(others) if low.mark < one.mark < high.mark]
    if between:
        return [low, others[min(between, key=lambda place: (abs(place - middle), place))], high]
    if low.mark < high.mark:
        return [low, high]
    if arm.examples == "shuffled":
        raise RequestError(
            f'arm "{printable(arm.name)}": all other answers to "{printable(item.cluster_id)}" have the mark {low.mark:g}, so marks cannot '
            f'be exchanged for response "{printable(item.response_id)}"; leave this question out'
        )
    return [low, others[middle], high]


def _shown_marks(arm: ArmPart, marks: Sequence[float], scale: ScalePart) -> list[str]:
    """Marks as an arm shows them; shuffled ones are turned by one place, so that none stands at its own answer."""
    low, high = ends_of(scale)
    if arm.examples == "unmarked":
        return [""] * len(marks)
    if arm.examples == "shuffled":
        marks = [*marks[1:], marks[0]]
    shift = {"up": arm.shift, "down": -arm.shift}.get(arm.examples or "", 0.0)
    return [f"{min(max(mark + shift, low), high):g}" for mark in marks]


def _order(name: str, size: int, response_id: str) -> tuple[int, ...]:
    """Places of examples, the lowest mark being 0."""
    if name == "mixed":
        ways = sorted(permutations(range(size)))
        return ways[int.from_bytes(hashlib.sha256(response_id.encode()).digest()[:8], "big") % len(ways)]
    return tuple(range(size)) if name == "rising" else tuple(range(size))[::-1]


def ends_of(scale: ScalePart) -> tuple[float, float]:
    """Lowest and highest mark; 0 and 1 where the levels are words."""
    if scale.range is not None:
        return scale.range
    numbers = [float(level) for level in scale.levels if _is_number(level)]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def judged_text(item: Item) -> str:
    """The text of a response that is judged: the last of its columns."""
    return list(item.texts.values())[-1] if item.texts else ""
