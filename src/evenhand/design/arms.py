"""The block an arm adds to a prompt: attainment, a prior attempt, marked examples, or a text of the user's own."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.design.bank import Bank, Item
from evenhand.design.draw import Drawn
from evenhand.design.plan import ArmPart, ScalePart
from evenhand.design.templates import Template, fenced
from evenhand.errors import RequestError, printable

_SHIFT = 2.0


@dataclass(frozen=True, slots=True)
class Block:
    """A rendered block and what of it goes into the verdict table.

    Attributes:
        text: empty for an arm without one.
        labels: label_shown, n_prior_shown and shown_marks, as far as the block states them.
    """

    text: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Example:
    text: str
    mark: str


def block_of(arm: ArmPart, template: Template | None, drawn: Drawn, bank: Bank, scale: ScalePart) -> Block:
    """The block of an arm for one response.

    Raises:
        RequestError: the bank lacks what the arm tells, for this response.
    """
    if template is None:
        return Block("")
    values: dict[str, object] = {"low": f"{_ends(scale)[0]:g}", "high": f"{_ends(scale)[1]:g}"}
    labels: dict[str, str] = {}
    if arm.label is not None:
        shown, n_prior = (
            (drawn.attainment, drawn.n_prior) if arm.label == "own" else (drawn.partner, drawn.n_prior_partner)
        )
        if not math.isfinite(shown):
            raise RequestError(
                f'arm "{printable(arm.name)}": learner "{printable(drawn.item.learner_id)}" of response "{printable(drawn.item.response_id)}" '
                "has no other marked response, so no attainment can be stated; leave it out of the draw"
            )
        labels |= {"label_shown": f"{shown:.1f}", "n_prior_shown": str(n_prior)}
        values |= {"attainment": f"{shown:.1f}", "n_prior": n_prior}
    others = _others(arm, drawn.item, bank) if arm.prior or arm.examples else []
    if arm.prior is not None:
        prior = others[0] if arm.prior == "low" else others[-1]
        values |= {
            "prior": fenced(_answer(prior), "earlier answer"),
            "prior_mark": f"{prior.mark:g}" if arm.prior_mark else "",
        }
        labels["shown_marks"] = f"{prior.mark:g}" if arm.prior_mark else ""
    if arm.examples is not None:
        chosen = [others[0], others[len(others) // 2], others[-1]]
        marks = _shown_marks(arm.examples, [one.mark for one in chosen], scale)
        values["examples"] = [
            _Example(fenced(_answer(one), "example"), mark) for one, mark in zip(chosen, marks, strict=True)
        ]
        labels["shown_marks"] = " ".join(mark for mark in marks if mark)
    return Block(template.render(values).rstrip("\n"), labels)


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


def _shown_marks(how: str, marks: Sequence[float], scale: ScalePart) -> list[str]:
    """Marks as an arm shows them; shuffled ones are turned by one place, so that none stands at its own answer."""
    low, high = _ends(scale)
    if how == "unmarked":
        return [""] * len(marks)
    if how == "shuffled":
        marks = [*marks[1:], marks[0]]
    shift = {"up": _SHIFT, "down": -_SHIFT}.get(how, 0.0)
    return [f"{min(max(mark + shift, low), high):g}" for mark in marks]


def _ends(scale: ScalePart) -> tuple[float, float]:
    if scale.range is not None:
        return scale.range
    numbers = [float(level) for level in scale.levels if _is_number(level)]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _answer(item: Item) -> str:
    return list(item.texts.values())[-1] if item.texts else ""
