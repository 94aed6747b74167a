"""What a plan would send, looked at before anything is sent: how much, and that arms differ in their block alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.design.calls import Design
from evenhand.design.request import PlannedCall
from evenhand.errors import printable

_CHARACTERS_A_TOKEN = 4.0
_REPLY_TOKENS = 8
"""Assumed of a structured or one-word reply whose length no setting bounds."""


@dataclass(frozen=True, slots=True)
class Volume:
    """Calls and about how many tokens; ``bounded`` says whether every judge bounds its replies by a setting."""

    calls: int
    tokens_in: int
    tokens_out: int
    by_model: Mapping[str, tuple[int, int]]
    bounded: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """Groups of prompts that must be equal but for the arm's block.

    Attributes:
        groups: sets of arms of one response, line, wording, judge and order.
        equal: of them, those whose prompts differ in the block only.
        first_fault: the first other one, in words.
        example: one response's prompts as a difference, arm by arm.
    """

    groups: int
    equal: int
    first_fault: str
    example: tuple[str, ...]


def look(design: Design) -> tuple[Volume, Proof]:
    """Render every prompt of a plan once, count it, and compare the arms of each response."""
    calls = tokens_in = tokens_out = groups = equal = 0
    by_model: dict[str, tuple[int, int]] = {}
    fault, example, bounded = "", (), True
    group: dict[str, PlannedCall] = {}
    n_arms = len(design.plan.arm)
    for call in design.calls():
        sent = sum(len(message.content) for message in call.request.messages)
        reply, is_bound = _reply_tokens(call)
        bounded &= is_bound
        token_count = math.ceil(sent / _CHARACTERS_A_TOKEN)
        calls, tokens_in, tokens_out = calls + 1, tokens_in + token_count, tokens_out + reply
        before = by_model.get(call.request.model, (0, 0))
        by_model[call.request.model] = (before[0] + token_count, before[1] + reply)
        group[call.labels["arm"]] = call
        if len(group) == n_arms:
            groups += 1
            said = _difference_elsewhere(group)
            equal += not said
            fault = fault or said
            example = example or _example(group)
            group = {}
    volume = Volume(calls, tokens_in, tokens_out, by_model, bounded)
    return volume, Proof(groups, equal, fault, example)


def _reply_tokens(call: PlannedCall) -> tuple[int, bool]:
    settings = call.request.settings
    bound = settings.get("max_tokens", settings.get("max_completion_tokens"))
    return (int(bound), True) if isinstance(bound, int | float) else (_REPLY_TOKENS, False)


def _difference_elsewhere(group: Mapping[str, PlannedCall]) -> str:
    """What differs between the arms of a response besides one passage of the user's message; empty where nothing does."""
    first, *others = group.values()
    for other in others:
        one, two = first.request, other.request
        same = (one.model, one.endpoint, dict(one.settings), one.schema) == (
            two.model,
            two.endpoint,
            dict(two.settings),
            two.schema,
        )
        if not same or one.messages[:-1] != two.messages[:-1]:
            return f"{_named(first)}: arms {first.labels['arm']} and {other.labels['arm']} differ outside the prompt"
    prompts = [call.request.messages[-1].content for call in group.values()]
    shortest = min(prompts, key=len)
    start = min(_common(shortest, prompt) for prompt in prompts)
    end = min(_common(shortest[::-1], prompt[::-1]) for prompt in prompts)
    blocks = [prompt[start : len(prompt) - min(end, len(prompt) - start)] for prompt in prompts]
    bare = len(shortest) - start - min(end, len(shortest) - start)
    if bare > min(len(block) for block in blocks):
        return f"{_named(first)}: the prompts of its arms differ in more than one passage"
    return ""


def _common(one: str, two: str) -> int:
    """Length of the common beginning."""
    most = min(len(one), len(two))
    if one[:most] == two[:most]:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle)
    return low


def _example(group: Mapping[str, PlannedCall]) -> tuple[str, ...]:
    prompts = {arm: call.request.messages[-1].content for arm, call in group.items()}
    shortest = min(prompts.values(), key=len)
    start = min(_common(shortest, prompt) for prompt in prompts.values())
    end = min(_common(shortest[::-1], prompt[::-1]) for prompt in prompts.values())
    lines = [
        f"{_named(next(iter(group.values())))}: {start:,} characters before and {end:,} after the block are equal in all arms"
    ]
    for arm, prompt in prompts.items():
        block = prompt[start : max(start, len(prompt) - end)]
        lines.append(
            f"  {printable(arm)}: {printable(block)[:400]!r}" if block.strip() else f"  {printable(arm)}: nothing"
        )
    return tuple(lines)


def _named(call: PlannedCall) -> str:
    return f'response "{printable(call.labels["response_id"])}"'
