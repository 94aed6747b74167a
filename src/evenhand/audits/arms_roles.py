"""Which part each arm plays, by what it states where columns say so, else by its name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.tally.arms import Arms, folded

_OWN = ("true", "own", "correct label", "real")
_SWAPPED = ("swapped", "swap", "false", "opposite", "opposite tail", "other")
_EXAMPLES = {
    "correct": ("correct", "examples", "graded", "marked"),
    "unmarked": ("unmarked", "ungraded"),
    "shuffled": ("shuffled", "shuffle", "deranged"),
    "up": ("up", "shiftup"),
    "down": ("down", "shiftdown"),
}
_LEVELS = ("low", "mid", "middle", "high")


@dataclass(frozen=True, slots=True)
class Roles:
    """Positions of arms.

    Attributes:
        control: tells nothing.
        neutral: says something that is no attainment.
        own, swapped: state the learner's own attainment and that of another, so that a response has a higher and a lower one.
        levels: state the same attainment to every response, the lowest first.
        examples: show marked examples, by what was done to their marks.
    """

    control: int | None
    neutral: int | None
    own: int | None
    swapped: int | None
    levels: tuple[int, ...]
    examples: Mapping[str, int]

    def has_labels(self) -> bool:
        """Whether the same response was graded under a higher and a lower label."""
        return (self.own is not None and self.swapped is not None) or len(self.levels) > 1

    @property
    def labels(self) -> tuple[int, ...]:
        """Arms that state an attainment."""
        pair = tuple(at for at in (self.own, self.swapped) if at is not None)
        return (*pair, *self.levels)

    def of_questions(self, arm: int) -> bool:
        """Whether what the arm shows belongs to the question, not to the learner."""
        return arm in self.examples.values()


def roles_of(arms: Arms) -> Roles:
    """The parts that the arms of these data play."""
    names = [folded(name) for name in arms.names]
    others = [at for at in range(len(names)) if at != arms.control]
    neutral = next((at for at in others if "neutral" in names[at].split()), None)
    others = [at for at in others if at != neutral]
    stated = np.isfinite(arms.label)
    if stated.any():
        labels = [at for at in others if stated[:, at].any()]
        constant = [at for at in labels if len(np.unique(arms.label[stated[:, at], at])) == 1]
        levels = sorted(constant, key=lambda at: float(arms.label[stated[:, at], at][0]))
        own, swapped = _pair(names, [at for at in labels if at not in constant])
        if own is None:
            own, swapped = _pair(names, constant) if len(labels) == 2 and _named_pair(names, labels) else (None, None)
            levels = [] if own is not None else levels
    else:
        shown = np.asarray(np.isfinite(arms.level).any(axis=0))
        labels = [at for at in others if not shown[at]]
        own, swapped = _pair(names, [at for at in labels if _named(names[at], (*_OWN, *_SWAPPED))])
        by_word = {word: at for at in labels for word in _LEVELS if _is_level(names[at], word)}
        levels = [by_word[word] for word in _LEVELS if word in by_word] if {"low", "high"} <= by_word.keys() else []
    taken = {own, swapped, *levels}
    return Roles(
        arms.control,
        neutral,
        own,
        swapped,
        tuple(levels),
        dict(_examples(arms, names, [at for at in others if at not in taken])),
    )


def _named(name: str, words: tuple[str, ...]) -> bool:
    return any(f" {word} " in f" {name} " for word in words)


def _named_pair(names: list[str], labels: list[int]) -> bool:
    return any(_named(names[at], _OWN) for at in labels) and any(_named(names[at], _SWAPPED) for at in labels)


def _pair(names: list[str], labels: list[int]) -> tuple[int | None, int | None]:
    """The arm with a learner's own label and the one with another's; of two arms the one not named is the other."""
    swapped = next((at for at in labels if _named(names[at], _SWAPPED)), None)
    own = next((at for at in labels if at != swapped and _named(names[at], _OWN)), None)
    if len(labels) == 2:
        if own is None:
            own = next(at for at in labels if at != swapped)
        if swapped is None:
            swapped = next(at for at in labels if at != own)
    return (own, swapped) if own is not None and swapped is not None else (None, None)


def _is_level(name: str, word: str) -> bool:
    """low, label low or low label: the level of a label, where nothing else is named."""
    rest = [part for part in name.split() if part != word]
    return word in name.split() and all(part in ("label", "attainment") for part in rest)


def _examples(arms: Arms, names: list[str], left: list[int]) -> Iterator[tuple[str, int]]:
    """Arms that show examples: several marks, or a name that says so."""
    candidates = [
        at
        for at in left
        if arms.has_examples[at] or "examples" in names[at].split() or _named(names[at], _EXAMPLES["unmarked"])
    ]
    if not candidates:
        candidates = [at for at in left if _named(names[at], ("shuffled", "shiftup", "shiftdown", "deranged"))]
        candidates = left if len(candidates) > 1 else []
    taken: set[int] = set()
    for kind in ("unmarked", "shuffled", "up", "down", "correct"):
        at = next((one for one in candidates if one not in taken and _named(names[one], _EXAMPLES[kind])), None)
        if at is not None:
            taken.add(at)
            yield kind, at
