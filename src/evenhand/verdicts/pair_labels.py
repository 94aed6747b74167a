"""Verdicts on pairs: the two sides, the last one being the side whose wins are counted, and the tie between them."""

from collections.abc import Mapping

from evenhand.errors import ScaleError, printable, quoted
from evenhand.verdicts.binary_labels import positive_last
from evenhand.verdicts.label_texts import Levels, Texts, refuse_strays, refuse_variants
from evenhand.verdicts.order import natural
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.unclear_labels import refuse_unclear

SIDES = (
    ("b", "a"),
    ("model_b", "model_a"),
    ("model_2", "model_1"),
    ("response_b", "response_a"),
    ("response_2", "response_1"),
    ("assistant_b", "assistant_a"),
)
"""Names of the two sides, the one whose wins are counted last."""
TIE_WORDS = frozenset({"tie", "tied", "draw", "equal", "same", "tie (bothbad)", "tie (both bad)"})
"""Labels that say neither side wins."""


def is_pairwise(spec: Spec, labels: Mapping[str, int]) -> bool:
    """Whether labels are two known sides with a tie (a word among them, or declared), or sides shown in two orders."""
    ties = {label for label in labels if label.casefold() in TIE_WORDS}
    if spec.levels:
        return len(spec.levels) == 3 and sum(level.casefold() in TIE_WORDS for level in spec.levels) == 1
    sides = {label.casefold() for label in labels if label not in ties}
    return bool(sides) and bool(ties or spec.tie or spec.order) and any(sides <= set(pair) for pair in SIDES)


def pair_levels(spec: Spec, labels: Mapping[str, int], texts: Texts, *, has_ties: bool) -> Levels:
    """Two sides, and a tie between them where one occurs or is declared.

    Args:
        spec: declared levels, tie words and the side whose wins are counted.
        labels: how often each occurs.
        texts: for messages, and the words that say tie.
        has_ties: whether ties stand in a status column.

    Raises:
        ScaleError: other than two sides, or a label that is neither side nor tie.
    """
    tie_words = {label for label in (*spec.levels, *labels) if label.casefold() in TIE_WORDS}
    declared = tuple(texts.key(level) for level in spec.levels if level not in tie_words)
    sides = declared or _sides(spec, [label for label in labels if label not in tie_words], labels)
    sides = tuple(side for side in sides if texts.statuses.get(side.casefold()) != "tied")
    if len(set(sides)) != 2 or len(sides) != 2:
        raise ScaleError(f"a pairwise scale has two sides and perhaps a tie (--tie WORD), got {quoted(sides)}")
    if spec.positive is not None:
        sides = positive_last(sides, texts.key(spec.positive))
    admitted = (*sides, *sorted(tie_words))
    spelled = {label: next((side for side in sides if side.casefold() == label.casefold()), label) for label in labels}
    if spec.levels:
        refuse_strays(admitted, labels, texts, "pairwise")
    else:
        unknown = {label: count for label, count in labels.items() if spelled[label] not in admitted}
        refuse_unclear(unknown, texts)
        refuse_variants(unknown)
        refuse_strays(admitted, {spelled[label]: count for label, count in labels.items()}, texts, "pairwise")
    with_tie = bool(tie_words) or has_ties or "tied" in texts.statuses.values()
    name = min(tie_words, default="tie", key=lambda word: (word not in spec.levels, -labels.get(word, 0), word))
    levels = (sides[0], name, sides[1]) if with_tie else (sides[0], sides[1])
    members: dict[str, int | str] = dict.fromkeys(tie_words, 1)
    members |= {label: levels.index(side) for label, side in spelled.items() if side in sides}
    said = "declared" if spec.scale or spec.levels else "inferred from the labels"
    ties = f', "{printable(name)}" between them' if with_tie else ", no tie"
    reading = f'pairwise, {said}: wins are counted for "{printable(sides[1])}" against "{printable(sides[0])}"{ties}'
    return Levels("pairwise", levels, reading, members)


def _sides(spec: Spec, found: list[str], labels: Mapping[str, int]) -> tuple[str, ...]:
    """The sides by known names or a declared one to count for, each in its commonest spelling."""
    by_name: dict[str, str] = {}
    for label in sorted(found, key=lambda label: (labels[label], label)):
        by_name[label.casefold()] = label
    pair = next((pair for pair in SIDES if by_name.keys() <= set(pair)), None)
    if pair:
        return tuple(by_name.get(side, side.upper() if len(side) == 1 else side) for side in pair)
    if len(found) == 2 and spec.positive is None:
        raise ScaleError(f"for which of {quoted(found)} are wins counted? Say --positive LABEL")
    return tuple(sorted(found, key=natural))
