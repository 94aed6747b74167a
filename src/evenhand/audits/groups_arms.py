"""Gaps between groups in what moves a mark: the effect of a label, or of any arm, on one group less that on another.

At equal reference score where there is one, with the same correction for its noise: there the slope is that of the contrast on
the score, not of the mark. Needs no reference otherwise: the same work is graded under both arms.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.arms_labels import label_arms
from evenhand.audits.arms_view import Kept, View, views
from evenhand.audits.evidence import Evidence
from evenhand.audits.groups_gap import Rows, gap, pairs, true_gaps, widest_gap
from evenhand.results import Estimate
from evenhand.stats.arrays import Array
from evenhand.tally.groups import ResponseGroups

ORDER = 67


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every gap in a label effect or a drift, along every axis that a column names."""
    for view in views(evidence):
        for axis in view.arms.groups:
            yield from _of_axis(view, axis)


def _of_axis(view: View, axis: ResponseGroups) -> Iterator[Estimate]:
    for label in label_arms(view):
        words = f"effect of the higher label on {{judge}}'s mark ({label.words})"
        yield from _gaps(view, axis, "label_effect", label.source, label.effect, label.kept, label.arms, words)
    control, names = view.roles.control, view.arms.names
    for arm in range(len(names)) if control is not None else ():
        if control is not None and arm != control and view.n_gradings[:, arm].any():
            change = view.means[:, arm] - view.means[:, control]
            words = f'{{judge}}\'s mark under "{names[arm]}" minus that under "{names[control]}"'
            yield from _gaps(
                view, axis, "drift", view.source(arm, control), change, view.kept(arm, control), (arm, control), words
            )


def _gaps(
    view: View, axis: ResponseGroups, metric: str, source: str, values: Array, kept: Kept, arms: tuple[int, ...], words: str
) -> Iterator[Estimate]:  # fmt: skip
    has_score = bool(np.isfinite(view.arms.reference).any())
    score = view.arms.reference if has_score else np.zeros(len(values))
    here = kept & (axis.group >= 0) & np.isfinite(score) & np.isfinite(values)
    if len(np.unique(axis.group[here])) < 2:
        return
    units, ones = view.units(*arms), np.ones(int(here.sum()))
    at = " at equal{} reference score, reference scores weighted as both sides have them: "
    rows = Rows(
        axis.axis, values[here], score[here], units.unit[here], len(units.evidence.units.names), ones.astype(np.int64), ones,
        words + (at.format("") if has_score else ": "), words + at.format(" true"), int(view.planned.any(axis=1).sum()), source=source,
        metric=metric, more=view.params, unit_word="response", describes="grader×context", family=f"gaps between groups in {metric}",
    )  # fmt: skip
    seen = []
    for pair in pairs(axis.group[here], axis.names, axis.axis):
        seen.append(gap(units.evidence, rows, pair))
        yield seen[-1].estimate
        if has_score:
            yield from true_gaps(units.evidence, rows, seen[-1])
    yield from widest_gap(units.evidence, rows, seen)
