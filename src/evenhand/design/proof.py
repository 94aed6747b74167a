"""What a plan would send, looked at before anything is sent: how much, and that arms differ in their block alone."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from evenhand.design.calls import Design
from evenhand.design.request import PlannedCall
from evenhand.errors import printable

_CHARACTERS_A_TOKEN = 4.0
_REPLY_TOKENS = 8
"""Assumed of a structured or one-word reply whose length no setting bounds."""
_GROUP = ("criterion_id", "rater_id", "phrasing", "order")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Volume:
    """Calls and about how many tokens; ``bounded`` says whether every judge bounds its replies by a setting.

    Attributes:
        by_judge: tokens in and out by the judge's name.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    by_judge: Mapping[str, tuple[int, int]]
    bounded: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """Prompts of one response that are equal but for the block.

    Attributes:
        response_id: the response, with the line, wording, judge and order where there are several.
        before, after: what all of them hold around it.
        blocks: by arm; empty where nothing is added.
    """

    response_id: str
    where: str
    before: str
    after: str
    blocks: Mapping[str, str]

    @property
    def places(self) -> Mapping[str, tuple[int, int]]:
        """First byte of each arm's block in the UTF-8 prompt, and the one behind its last."""
        start = len(self.before.encode())
        return {arm: (start, start + len(block.encode())) for arm, block in self.blocks.items()}


@dataclass(frozen=True, slots=True)
class Proof:
    """Responses whose prompts must be equal but for the arm's block.

    Attributes:
        responses: how many were looked at: all of the draw.
        equal: of them, those whose prompts differ in the block only, in every line, wording, judge and order.
        first_fault: the first other one, in words.
        differences: of the first responses.
        block_sizes: mean number of characters that each arm adds.
    """

    responses: int
    equal: int
    first_fault: str
    differences: tuple[Difference, ...] = ()
    block_sizes: Mapping[str, float] = field(default_factory=dict)


def look(design: Design) -> tuple[Volume, Proof]:
    """Render every prompt of a plan once, count it, and compare the arms of each response."""
    occasions = design.plan.facets.occasions
    by_judge: dict[str, tuple[int, int]] = {}
    sizes: dict[str, int] = {}
    equal, fault, bounded = 0, "", True
    shown: list[Difference] = []
    for drawn in design.drawn:
        said = ""
        for group in _groups(design.calls_of(drawn)):
            found = compare(group)
            said = said or (found if isinstance(found, str) else "")
            if isinstance(found, Difference) and len(shown) < _SHOWN:
                shown.append(found)
            for call in group:
                judge, (reply, is_bound) = call.labels["rater_id"], _reply_tokens(call)
                tokens = math.ceil(sum(len(one.content) for one in call.request.messages) / _CHARACTERS_A_TOKEN)
                before = by_judge.get(judge, (0, 0))
                by_judge[judge] = before[0] + occasions * tokens, before[1] + occasions * reply
                sizes[call.labels["arm"]] = sizes.get(call.labels["arm"], 0) + len(call.block)
                bounded &= is_bound
        equal += not said
        fault = fault or said
    calls = design.n_calls
    each = max(calls // occasions // max(len(sizes), 1), 1)
    tokens_in, tokens_out = (sum(one[side] for one in by_judge.values()) for side in (0, 1))
    volume = Volume(calls, tokens_in, tokens_out, by_judge, bounded)
    means = {arm: total / each for arm, total in sizes.items()}
    return volume, Proof(len(design.drawn), equal, fault, tuple(shown), means)


def compare(group: Sequence[PlannedCall]) -> Difference | str:
    """What the arms of one response have in common, or in words what differs besides the block.

    Every prompt must be the same text around its own block: byte for byte, at the same place.
    """
    first = group[0]
    for other in group[1:]:
        one, two = first.request, other.request
        outside = [
            (each.model, each.endpoint, dict(each.settings), each.schema, each.messages[:-1]) for each in (one, two)
        ]
        if outside[0] != outside[1]:
            return f"{_named(first)}: arms {first.labels['arm']} and {other.labels['arm']} differ outside the prompt"
    prompts = [call.request.messages[-1].content for call in group]
    longest = max(range(len(group)), key=lambda place: len(group[place].block))
    for start in _occurrences(prompts[longest], group[longest].block):
        before, after = prompts[longest][:start], prompts[longest][start + len(group[longest].block) :]
        if all(prompt == before + call.block + after for prompt, call in zip(prompts, group, strict=True)):
            where = ", ".join(f"{name} {first.labels[name]}" for name in _GROUP if first.labels.get(name))
            blocks = {call.labels["arm"]: call.block for call in group}
            return Difference(first.labels["response_id"], where, before, after, blocks)
    return f"{_named(first)}: the prompts of its arms differ in more than the block"


def _occurrences(text: str, part: str) -> Iterable[int]:
    start = text.find(part)
    while start >= 0 and part:
        yield start
        start = text.find(part, start + 1)
    if not part:
        yield 0


def _groups(calls: Iterable[PlannedCall]) -> Iterable[list[PlannedCall]]:
    for _, group in groupby(calls, key=lambda call: [call.labels.get(name, "") for name in _GROUP]):
        yield list(group)


def _reply_tokens(call: PlannedCall) -> tuple[int, bool]:
    settings = call.request.settings
    bound = settings.get("max_tokens", settings.get("max_completion_tokens"))
    return (int(bound), True) if isinstance(bound, int | float) else (_REPLY_TOKENS, False)


def _named(call: PlannedCall) -> str:
    return f'response "{printable(call.labels["response_id"])}"'
