"""Whether what a judge is told moves its marks towards the reference or away from it: the words, by rule."""

from collections.abc import Sequence
from dataclasses import dataclass

NO_MOVE_SHOWN, NO_MOVE = "no move shown", "no move"
UNRESOLVED, TOWARD, AWAY = "unresolved", "toward", "away"
NEARER, FARTHER, DISTANCE_UNRESOLVED = "overshoots, nearer", "overshoots, farther", "overshoots, distance unresolved"
MIXED = "mixed"
_STILL = (NO_MOVE, NO_MOVE_SHOWN)
_TO, _FROM = (TOWARD, NEARER), (AWAY, FARTHER)


@dataclass(frozen=True, slots=True)
class Finding:
    """A signed value and what its test says.

    Attributes:
        value: the estimate.
        resolved: told apart from 0.
        inside: shown to lie inside a margin that was fixed beforehand.
    """

    value: float
    resolved: bool
    inside: bool = False


def call(drift: Finding, control_bias: Finding, arm_bias: float, gained: Finding) -> str:
    """The word for one tail.

    Args:
        drift: mark under the arm minus mark under the control.
        control_bias: mark under the control minus the reference's.
        arm_bias: the same under the arm; its side of 0 says whether the reference was passed.
        gained: |bias of the control| - |bias of the arm|, by its own paired interval.
    """
    if not drift.resolved:
        return NO_MOVE if drift.inside else NO_MOVE_SHOWN
    if not control_bias.resolved:
        return UNRESOLVED
    side = 1 if control_bias.value > 0 else -1
    if side * drift.value > 0:
        return AWAY
    if side * arm_bias >= 0:
        return TOWARD
    if not gained.resolved:
        return DISTANCE_UNRESOLVED
    return NEARER if gained.value > 0 else FARTHER


def as_published(word: str) -> str:
    """The word where passing the reference counts as moving away from it, however near the mark lands."""
    return AWAY if word in (NEARER, FARTHER, DISTANCE_UNRESOLVED) else NO_MOVE if word in _STILL else word


def overall(words: Sequence[str]) -> str:
    """One word for all tails: unresolved before mixed before the common word of those that moved."""
    moved = [word for word in words if word not in _STILL]
    if any(word in (UNRESOLVED, DISTANCE_UNRESOLVED) for word in moved):
        return UNRESOLVED
    if not moved:
        return NO_MOVE if words and all(word == NO_MOVE for word in words) else NO_MOVE_SHOWN
    if any(word in _TO for word in moved) and any(word in _FROM for word in moved):
        return MIXED
    if len(set(moved)) == 1:
        return moved[0]
    return "nearer" if moved[0] in _TO else "farther"
