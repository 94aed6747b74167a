"""Run-to-run noise from a repeated control: how far one grading strays, and whether a whole run shifts.

Repeats are of one prompt: marks under other wordings or orders are none, for what a wording does is no noise of a run.

Noise of single calls is inside every paired interval already; only a shift of a whole run is outside it. Neither is added to
an interval here.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.arms_view import View
from evenhand.results import Estimate
from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group
from evenhand.stats.marks import mark_sums, pearson_r
from evenhand.stats.scales import ATANH, LOG, LOGIT

MOST_OCCASIONS = 6
"""Repeats that are compared with each other."""
_AGAIN = "{judge}'s marks under the control"


def noise(view: View) -> Iterator[Estimate]:
    """The spread of repeats, and every pair of them: shift, exact agreement and correlation."""
    control = view.roles.control
    if control is None or not (view.n_gradings[:, control] > 1).any():
        return
    marks, numbers = _by_occasion(view, control)
    asked = view.arms.asked[numbers]
    if not any((np.isfinite(marks[:, asked == one]).sum(axis=1) > 1).any() for one in np.unique(asked)):
        return
    yield _spread(view, control, marks, asked)
    for first in range(min(len(numbers), MOST_OCCASIONS)):
        for second in range(first + 1, min(len(numbers), MOST_OCCASIONS)):
            both = np.isfinite(marks[:, first]) & np.isfinite(marks[:, second])
            if asked[first] == asked[second] and both.any():
                names = view.arms.occasions[numbers[first]], view.arms.occasions[numbers[second]]
                yield from _pair(view, control, marks[:, [first, second]], both, names)


def _by_occasion(view: View, control: int) -> tuple[Array, list[int]]:
    """(n, O) marks under the control on each occasion, NaN where there is none, and the occasions' numbers."""
    response, arm, occasion, mark = view.gradings
    mine = arm == control
    numbers = np.unique(occasion[mine])
    marks = np.full((view.arms.n_responses, len(numbers)), np.nan)
    marks[response[mine], np.searchsorted(numbers, occasion[mine])] = mark[mine]
    return marks, numbers.tolist()


def _spread(view: View, control: int, marks: Array, asked: Counts) -> Estimate:
    """Root of the mean variance of a response's repeats of one prompt, weighted by their degrees of freedom."""
    units, size = view.units(control), view.arms.n_responses
    spare, within = np.zeros(size), np.zeros(size)
    for prompt in np.unique(asked):
        same = marks[:, asked == prompt]
        known, n = np.isfinite(same), np.isfinite(same).sum(axis=1)
        filled = np.where(known, same, 0.0)
        spare += np.maximum(n - 1, 0)
        within += np.maximum(np.square(filled).sum(axis=1) - np.square(filled.sum(axis=1)) / np.maximum(n, 1), 0.0)
    kept = spare > 0
    tallies = sums_by_group([spare[kept], within[kept]], units.unit[kept], len(units.evidence.units.names))
    return view.assessed(
        "drift", view.source(control, control), tallies, lambda sums: np.sqrt(ratio(sums[..., 1], sums[..., 0])), kept, units,
        f"standard deviation of {_AGAIN} over repeats of the same response: noise of a single grading, in marks",
        scale=LOG, params={"quantity": "noise"},
    )  # fmt: skip


def _pair(view: View, control: int, marks: Array, both: np.ndarray, names: tuple[str, str]) -> Iterator[Estimate]:
    units, source = view.units(control), view.source(control, control)
    n_units, unit = len(units.evidence.units.names), units.unit[both]
    one, other = marks[both, 0], marks[both, 1]
    params = {"occasion": f"{names[1]}-{names[0]}"}
    words = f'on occasion "{names[1]}" and on occasion "{names[0]}"'
    yield view.of_mean(
        "drift",
        source,
        marks[:, 1] - marks[:, 0],
        both,
        (control,),
        f"mean difference of {_AGAIN} {words}, in marks: a shift of the whole run",
        params,
    )
    same = (one == other).astype(np.float64)
    shares = sums_by_group([same, 1 - same], unit, n_units)
    yield view.assessed(
        "exact_agreement", source, shares, lambda sums: ratio(sums[..., 0], sums.sum(axis=-1)), both, units,
        f"share of responses with the same of {_AGAIN} {words}", scale=LOGIT, params=params,
    )  # fmt: skip
    yield view.assessed(
        "pearson_r", source, mark_sums(one, other, unit, n_units), pearson_r, both, units, f"correlation of {_AGAIN} {words}",
        scale=ATANH, params=params, undefined="marks of one occasion are constant",
    )  # fmt: skip
