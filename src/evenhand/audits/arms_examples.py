"""Examples shown to a judge: whether their marks move it, whether it matters which mark stands at which, and how far."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.arms_view import Kept, View
from evenhand.audits.statistic import exact
from evenhand.results import Estimate
from evenhand.stats.arrays import Array, Measure, ratio
from evenhand.stats.ensembles import sums_by_group


def _sum(column: int) -> Measure:
    """Mean of one column of (..., 3): responses, two sums."""
    return lambda sums: ratio(sums[..., column], sums[..., 0])


_PARTS = (_sum(1), _sum(2))


def examples(view: View) -> Iterator[Estimate]:
    """Shuffled minus correct marks, the share that shuffled marks keep, and what a point of the marks shown moves."""
    arms, control = view.roles.examples, view.roles.control
    names = view.arms.names
    if {"correct", "shuffled"} <= arms.keys():
        correct, shuffled = arms["correct"], arms["shuffled"]
        words = (
            f'mean of {{judge}}\'s mark under "{names[shuffled]}" minus that under "{names[correct]}" on the same responses, in marks: '
            "the same marks are shown, at other answers"
        )
        change = view.means[:, shuffled] - view.means[:, correct]
        yield view.of_mean(
            "drift", view.source(shuffled, correct), change, view.kept(shuffled, correct), (shuffled, correct), words
        )
        if control is not None:
            said = (
                f'share of the shift by correctly marked examples that "{names[shuffled]}" keeps: (shuffled - control)/(correct - control) of '
                "{judge}'s mean marks"
            )
            yield _ratio(
                view,
                (shuffled, control),
                (correct, control),
                said,
                view.source(shuffled, correct),
                {"quantity": "share_kept"},
            )
    if {"up", "down"} <= arms.keys():
        yield _pass_through(view, arms["up"], arms["down"])


def _ratio(
    view: View, top: tuple[int, int], bottom: tuple[int, int], words: str, source: str, params: dict[str, str]
) -> Estimate:
    kept = view.kept(*top, *bottom)
    parts = [view.means[:, one] - view.means[:, other] for one, other in (top, bottom)]
    return _of_columns(view, parts, kept, (*top, *bottom), words, source, params)


def _of_columns(
    view: View, parts: list[Array], kept: Kept, arms: tuple[int, ...], words: str, source: str, params: dict[str, str]
) -> Estimate:
    units = view.units(*arms)
    columns = [np.ones(int(kept.sum())), *(part[kept] for part in parts)]
    tallies = sums_by_group(columns, units.unit[kept], len(units.evidence.units.names))
    return view.of_ratio("pass_through", source, tallies, _PARTS, kept, units, words, params)


def _pass_through(view: View, up: int, down: int) -> Estimate:
    names, level, source = view.arms.names, view.arms.level, view.source(up, down)
    words = f'marks that {{judge}} moves per point by which the marks shown are moved: "{names[up]}" against "{names[down]}"'
    kept = view.kept(up, down) & np.isfinite(level[:, up]) & np.isfinite(level[:, down])
    if not kept.any():
        found = exact(
            view.evidence, "pass_through", None, unit="response", describes="grader×context", estimand=words, source=source,
            reason="the marks shown are not known: name their column with --shown-marks COL", params=view.params,
        )  # fmt: skip
        return found.model_copy(update={"status": "not_assessed"})
    parts = [view.means[:, up] - view.means[:, down], level[:, up] - level[:, down]]
    return _of_columns(view, parts, kept, (up, down), words, source, {})
