"""Agreement with the reference under each arm, and its change from the control: where marks land apart from how they rank.

Each grading counts by itself, repeats of one response sharing its weight: marks that were averaged first would agree better
than any one of them, and arms with more repeats better than others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.audits.arms_view import Kept, View
from evenhand.results import Estimate
from evenhand.stats import marks as of
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, Scale

_CONSTANT = "marks of one side are constant"


@dataclass(frozen=True, slots=True)
class _Metric:
    name: str
    measure: Measure
    scale: Scale
    words: str
    rounded: bool = False


METRICS = (
    _Metric("bias", of.bias, IDENTITY, "mean of {judge}'s mark minus the reference's, in marks"),
    _Metric("mae", of.mae, LOG, "mean absolute difference of {judge}'s mark and the reference's, in marks"),
    _Metric("quadratic_weighted_kappa", of.lin_ccc, LOG_ONE_MINUS, "quadratic-weighted kappa of {judge}'s marks with the reference's", True),
    _Metric("pearson_r", of.pearson_r, ATANH, "linear correlation of {judge}'s marks with the reference's: ranking, blind to where marks land"),
)  # fmt: skip
CHANGES = ("mae", "quadratic_weighted_kappa", "pearson_r")
"""What is taken as a change from the control; that of the bias is the drift."""


def accuracy(view: View) -> Iterator[Estimate]:
    """Each arm's agreement with the reference, and the change of it from the control, overall and by tail."""
    known = np.isfinite(view.arms.reference)
    if not known.any():
        return
    for arm in range(len(view.arms.names)):
        kept = view.kept(arm) & known
        if kept.any():
            for metric in METRICS:
                yield _level(view, metric, arm, kept)
    control = view.roles.control
    for arm in range(len(view.arms.names)):
        if control is None or arm == control or not (view.kept(arm, control) & known).any():
            continue
        for metric in METRICS:
            if metric.name in CHANGES:
                yield from _change(view, metric, arm, control, view.kept(arm, control) & known)


def _level(view: View, metric: _Metric, arm: int, kept: Kept) -> Estimate:
    units = view.clusters()
    sums = _sums(view, metric, arm, kept, units.unit, len(units.evidence.units.names))
    words = f'{metric.words}, under "{view.arms.names[arm]}"; clusters are resampled as for every other number about {{judge}}'
    return view.assessed(
        metric.name, view.source(arm), sums, metric.measure, kept, units, words, scale=metric.scale, undefined=_CONSTANT
    )


def _change(view: View, metric: _Metric, arm: int, control: int, kept: Kept) -> Iterator[Estimate]:
    units, names = view.units(arm, control), view.arms.names
    n_units = len(units.evidence.units.names)
    words = f'{metric.words}, under "{names[arm]}" minus under "{names[control]}" on the same responses'
    measure = _gap(metric.measure)
    for at, tail in ((-1, ""), *view.tails()):
        here = kept & (view.arms.tail == at) if tail else kept
        sums = np.stack([_sums(view, metric, one, here, units.unit, n_units) for one in (arm, control)], axis=1)
        whose = "" if view.evidence.is_sole_judge else f", {view.evidence.source}"
        yield view.assessed(
            metric.name, view.source(arm, control), sums, measure, here, units, words + (f'; responses of tail "{tail}"' if tail else ""),
            params={"tail": tail} if tail else {}, undefined=_CONSTANT,
            family="" if tail else f"{metric.name} of each arm minus the control's{whose}",
        )  # fmt: skip


def _gap(measure: Measure) -> Callable[[Array], Array]:
    """(..., 2, 7) sums of an arm and of the control → the arm's value minus the control's."""
    return lambda sums: measure(sums[..., 0, :]) - measure(sums[..., 1, :])


def _sums(view: View, metric: _Metric, arm: int, kept: Kept, unit: Counts, n_units: int) -> Array:
    """(U, 7) sums of paired marks over the gradings of an arm, repeats of a response weighing 1 together."""
    response, arms, _, mark = view.gradings
    here = (arms == arm) & kept[response]
    response, mark = response[here], mark[here]
    reference = view.arms.reference[response]
    if metric.rounded and _is_rounded(view):
        reference, mark = (_rounded(view, one) for one in (reference, mark))
    weight = 1 / view.n_gradings[response, arm]
    return of.mark_sums(reference, mark, unit[response], n_units, weight)


def _is_rounded(view: View) -> bool:
    """Continuous marks are rounded to whole ones for kappa, unless the whole scale is one mark wide."""
    low, high = view.arms.low, view.arms.high
    return view.evidence.scale.kind == "continuous" and (low is None or high is None or high - low >= 2)


def _rounded(view: View, marks: Array) -> Array:
    low, high = view.arms.low, view.arms.high
    whole: Array = np.floor(marks + 0.5)
    return whole if low is None or high is None else np.clip(whole, np.ceil(low), np.floor(high))
