"""The same response under a higher and a lower label: which mark is which."""

from dataclasses import dataclass

import numpy as np

from evenhand.audits.arms_view import Kept, View
from evenhand.stats.arrays import Array
from evenhand.tally.arms import folded

PARTNERS = (
    "the swapped labels are those of other learners of these data, so that learners' effects hang together: in simulated studies of that kind "
    "(33 learners) the 95 % interval held the truth in 90 %"
)
"""What an interval over learners leaves out where labels are exchanged among them."""
HIGH, LOW = ("high", "top", "upper", "strong"), ("low", "bottom", "lower", "weak")


@dataclass(frozen=True, slots=True)
class Labels:
    """Marks under two labels.

    Attributes:
        source: of ids.
        words: which labels, for estimands.
        arms: the two arms: own and swapped, or the higher level and the lower.
        effect: (n,) mark under the higher label minus mark under the lower; NaN where it is not known which is which.
        gap: (n,) higher label minus lower, NaN where they are not known as numbers.
        own: (n,) the label of the first arm.
        n_prior_gap: (n,) earlier answers said behind the higher label minus those behind the lower.
        kept: (n,) complete responses with both.
    """

    source: str
    words: str
    arms: tuple[int, int]
    effect: Array
    gap: Array
    own: Array
    n_prior_gap: Array
    kept: Kept


def label_arms(view: View) -> list[Labels]:
    """The contrasts of labels that a run holds: own against swapped labels, and the highest level against the lowest."""
    roles, found = view.roles, []
    if roles.own is not None and roles.swapped is not None:
        found.append(_swapped(view, roles.own, roles.swapped))
    if len(roles.levels) > 1:
        found.append(_levels(view, roles.levels[-1], roles.levels[0]))
    return [one for one in found if view.planned[:, list(one.arms)].all(axis=1).any()]


def _levels(view: View, high: int, low: int) -> Labels:
    names, label = view.arms.names, view.arms.label
    effect = view.means[:, high] - view.means[:, low]
    return Labels(
        view.source(high, low), f'"{names[high]}" minus "{names[low]}"', (high, low), effect, label[:, high] - label[:, low],
        label[:, high], view.arms.n_prior[:, high] - view.arms.n_prior[:, low], view.kept(high, low),
    )  # fmt: skip


def _swapped(view: View, own: int, swapped: int) -> Labels:
    """The own label is the higher one in the high tail; without tails, where the column of labels says so."""
    names, label = view.arms.names, view.arms.label
    sign = own_is_higher(view, own, swapped)
    effect = sign * (view.means[:, own] - view.means[:, swapped])
    words = f'"{names[own]}" minus "{names[swapped]}" where the own label is the higher one, else the other way round'
    kept = view.kept(own, swapped) & np.isfinite(sign)
    n_prior = sign * (view.arms.n_prior[:, own] - view.arms.n_prior[:, swapped])
    gap = sign * (label[:, own] - label[:, swapped])
    return Labels(view.source(own, swapped), words, (own, swapped), effect, gap, label[:, own], n_prior, kept)


def own_is_higher(view: View, own: int, swapped: int) -> Array:
    """(n,) 1 where a learner's own label is the higher one, -1 where it is the lower, NaN where that is not known."""
    sign = np.full(view.arms.n_responses, np.nan)
    for at, tail in enumerate(view.arms.tails):
        words = folded(tail).split()
        if any(word in words for word in HIGH):
            sign[view.arms.tail == at] = 1.0
        elif any(word in words for word in LOW):
            sign[view.arms.tail == at] = -1.0
    by_label = np.sign(view.arms.label[:, own] - view.arms.label[:, swapped])
    by_label[by_label == 0] = np.nan
    return np.where(np.isfinite(sign), sign, by_label)


def are_partners(view: View, label: Labels) -> bool:
    """Whether every swapped label is the own label of another learner, where own labels tell most learners apart."""
    own, swapped = label.arms
    who = view.arms.each_learner
    if who is None or label.arms != (view.roles.own, view.roles.swapped):
        return False
    kept = label.kept & np.isfinite(view.arms.label[:, own]) & np.isfinite(view.arms.label[:, swapped])
    if not kept.any():
        return False
    learner, mine, other = who[kept], view.arms.label[kept, own], view.arms.label[kept, swapped]
    values = np.unique(mine)
    of_whom: dict[float, set[int]] = {}
    for one, value in zip(learner.tolist(), mine.tolist(), strict=True):
        of_whom.setdefault(value, set()).add(one)
    if 2 * len(values) <= len(np.unique(learner)):
        return False
    return all(of_whom.get(value, set()) - {one} for one, value in zip(learner.tolist(), other.tolist(), strict=True))
