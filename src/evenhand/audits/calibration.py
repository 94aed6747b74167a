"""Marks calibrated without the label: what one line, fitted on everybody else's work, does for agreement with the reference.

Of a judge without arms: its calibrated marks beside its marks as given. Of arms, each with a fit of its own: the calibrated
control beside the control and beside an arm, and a calibrated arm beside the calibrated control: what being told something
adds once both land where the reference does. A source `a-b` is the first minus the second, and `contrast` says in the same
order which of the two is calibrated.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.arms_view import Kept, Units, View, views
from evenhand.audits.beside_reference import Recent
from evenhand.audits.calibration_errors import MOST_RESAMPLES, with_resampled_error
from evenhand.audits.calibration_marks import Sides, arm_sides, judge_sides, units_of_fit
from evenhand.audits.evidence import Evidence
from evenhand.audits.slopes import with_cluster_robust
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import marks as of
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.calibration import METHODS, Calibrated, Method, Pairs, regression_tables, slope_of
from evenhand.stats.calibration_error import Resampling
from evenhand.stats.scales import IDENTITY

ORDER = 58
RAW, BOTH = "calibrated-raw", "calibrated-calibrated"
MOST_LEVELS = 101
"""Different marks of the judge up to which an isotonic step is fitted."""
MOST_FITTED = 150_000_000
"""Calibrated marks, or sums of levels of isotonic fits, that all replicates of one estimate may need."""
_METRICS: Mapping[str, tuple[Measure, str]] = {
    "mae": (of.mae, "mean absolute difference from the reference's mark"),
    "rmse": (of.rmse, "root mean squared difference from the reference's mark"),
    "quadratic_weighted_kappa": (of.lin_ccc, "quadratic-weighted kappa with the reference's marks"),
}
_BETTER: Mapping[str, str] = {
    "mae": "below 0 is nearer the reference",
    "rmse": "below 0 is nearer the reference",
    "quadratic_weighted_kappa": "above 0 agrees better",
}
_FITS: Mapping[Method, str] = {
    "linear": "by one line that gives them the reference's mean and standard deviation",
    "least_squares": "by the least-squares line of reference on mark",
    "isotonic": "by the increasing step of least squares of reference on mark",
}
_NO_FIT = "no fit: without one of the units, the others' marks are constant or there are none"
_FEW = "fewer than three marks can be given: nothing to stretch"
Give = Callable[[str, Array, Measure, str, Mapping[str, Param], str], Estimate]
"""Source, tallies, measure, words, parameters and family → an estimate."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """(..., U) weights → (..., 7) sums of marks on one side of a contrast, exact and rounded."""

    exact: Measure
    rounded: Measure

    def of(self, metric: str) -> Measure:
        """Those that a metric takes: kappa is of whole marks."""
        return self.rounded if metric == "quadratic_weighted_kappa" else self.exact


@dataclass(frozen=True, slots=True)
class _Field:
    """What is contrasted, and how estimates of it are made.

    Attributes:
        evidence: of the judge.
        sides: marks of both sides.
        give: makes an estimate.
        params: of the run, which ``give`` adds by itself.
        drawn: units that resamples are made of.
    """

    evidence: Evidence
    sides: Sides
    give: Give
    params: Mapping[str, Param]
    drawn: Resampling

    def refitted(
        self, source: str, measure: Measure, words: str, params: Mapping[str, Param], family: str = ""
    ) -> Estimate:
        """An estimate of (..., U) weights, its fits made anew in every replicate."""
        one = self.give(source, np.eye(self.sides.first.n_units), measure, words, params, family)
        return with_resampled_error(one, measure, self.drawn, self.evidence.plan)


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every estimate about calibrated marks: of the arms where there are some, else of the judge."""
    if evidence.arms is None:
        yield from _of_judge(evidence)
        return
    for view in views(evidence):
        yield from _of_run(view)


def _of_judge(evidence: Evidence) -> Iterator[Estimate]:
    found = judge_sides(evidence)
    if found is None:
        return
    held, sides = found
    sizes, n_all = sides.first.sums[:, 0], int(evidence.cells.count.sum())

    def give(
        source: str, tallies: Array, measure: Measure, words: str, params: Mapping[str, Param], _family: str
    ) -> Estimate:
        statistic = Statistic("calibration", measure, IDENTITY, "judge", words, counted=False)
        return assess(
            held, statistic, tallies, undefined=_NO_FIT, source=source, sizes=sizes, n_excluded=n_all - int(sizes.sum()), params=params,
            n_clusters=evidence.counts.get("paired", len(np.unique(evidence.cells.paired.unit))),
        )  # fmt: skip

    drawn = Resampling(sizes, np.zeros(len(sizes), dtype=np.int64))
    field, words = _Field(held, sides, give, {}, drawn), "{judge}'s marks"
    yield _slope(field, evidence.source, words)
    yield from _contrasts(field, evidence.source, RAW, (words, "the marks as given"))


def _of_run(view: View) -> Iterator[Estimate]:
    known, control, names = np.isfinite(view.arms.reference), view.roles.control, view.arms.names
    present = [at for at in range(len(names)) if (view.kept(at) & known).any()]
    for arm in present:
        field = _field(view, view.kept(arm) & known, view.clusters(), (arm, arm))
        yield _slope(field, view.source(arm), f'{{judge}}\'s marks under "{names[arm]}"')
    if control is None or control not in present:
        return
    kept, own = view.kept(control) & known, f'{{judge}}\'s marks under "{names[control]}"'
    units = units_of_fit(view, kept, view.units(control))
    field = _field(view, kept, units, (control, control))
    yield from _contrasts(field, view.source(control), RAW, (own, "the marks as given"))
    yield from _transfers(view, field, units, kept, control)
    for arm in present:
        kept = view.kept(arm, control) & known
        if arm != control and kept.any():
            yield from _of_arm(view, kept, arm, control)


def _of_arm(view: View, kept: Kept, arm: int, control: int) -> Iterator[Estimate]:
    """The calibrated control against the arm as it is, and both calibrated."""
    own, other = (f'{{judge}}\'s marks under "{view.arms.names[at]}"' for at in (control, arm))
    units = units_of_fit(view, kept, view.units(arm, control))
    run = "".join(f", {value}" for value in view.params.values())
    resampled = f"{run}, {units_count(units)} {units.word} resampled"
    yield from _contrasts(
        _field(view, kept, units, (control, arm)), view.source(control, arm), RAW, (own, f"{other}, as given"),
        view.source("calibrated control minus each arm") + resampled,
    )  # fmt: skip
    yield from _contrasts(
        _field(view, kept, units, (arm, control)), view.source(arm, control), BOTH, (other, f"{own}, calibrated by a fit of their own"),
        view.source("calibrated arm minus the calibrated control") + resampled,
    )  # fmt: skip


def _field(view: View, kept: Kept, units: Units, arms: tuple[int, int]) -> _Field:
    return _over(view, kept, units, arm_sides(view, kept, units, arms))


def _over(view: View, kept: Kept, units: Units, sides: Sides) -> _Field:
    """Sides over the kept responses, units drawn within tails where each lies in one."""
    sizes = np.bincount(units.unit[kept], minlength=units_count(units)).astype(np.float64)
    stratum = view.strata(units, kept)
    drawn = Resampling(sizes, np.zeros(len(sizes), dtype=np.int64) if stratum is None else stratum)
    return _Field(view.evidence, sides, _within(view, kept, units), view.params, drawn)


def _within(view: View, kept: Kept, units: Units) -> Give:
    """Estimates of one run over the kept responses, within tails."""

    def give(
        source: str, tallies: Array, measure: Measure, words: str, params: Mapping[str, Param], family: str
    ) -> Estimate:
        return view.assessed(
            "calibration", source, tallies, measure, kept, units, words, params=params, family=family, undefined=_NO_FIT
        )

    return give


def _contrasts(
    field: _Field, source: str, contrast: str, words: tuple[str, str], family: str = ""
) -> Iterator[Estimate]:
    """First side calibrated, minus the second as it is or calibrated: every metric by every method."""
    sides = field.sides
    for method in METHODS:
        obstacle = _obstacle(field, method)
        first = _calibrated(sides.first, sides.first, sides, method)
        second = _calibrated(sides.second, sides.second, sides, method) if contrast == BOTH else _raw(sides)
        for metric, (measure, what) in _METRICS.items():
            params = _params(contrast, metric, method)
            said = (
                f"{what}: of {words[0]}, calibrated {_FITS[method]}, each unit's by the fit on all other units, minus that of {words[1]}: "
                f"{_BETTER[metric]}; fitted anew in every replicate{sides.note(metric)}"
            )
            reason = obstacle or (_FEW if metric == "quadratic_weighted_kappa" and sides.rounded is None else "")
            if reason:
                yield _absent(field, source, said, reason, params)
                continue
            gap = partial(_gap, measure, first.of(metric), second.of(metric))
            together = f"{metric}, {family}" if family and method == "linear" and sides.is_light else ""
            yield field.refitted(source, gap, said, params, together)


def _transfers(view: View, field: _Field, units: Units, kept: Kept, control: int) -> Iterator[Estimate]:
    """The control's line fitted on one tail and applied to another: what is left of its error there."""
    tail_of_unit = view.strata(units, kept)
    if tail_of_unit is None or _obstacle(field, "linear"):
        return
    sides, own = field.sides, f'{{judge}}\'s marks under "{view.arms.names[control]}"'
    tails = [
        (tail, kept & (view.arms.tail == at), _of_units(sides.first, tail_of_unit == at + 1))
        for at, tail in view.tails()
    ]
    for (fitted_on, here, fitted), (applied_to, there, applied) in itertools.permutations(tails, 2):
        if here.any() and there.any():
            carried = _over(view, here | there, units, sides)
            how = f'{own} of tail "{applied_to}", calibrated {_FITS["linear"]} on tail "{fitted_on}"'
            params = {"fit": fitted_on, "tail": applied_to}
            yield from _carried(carried, fitted, applied, view.source(control), how, params)


def _of_units(pairs: Pairs, chosen: NDArray[np.bool_]) -> Pairs:
    """The pairs of (U,) chosen units; those of the others weigh nothing."""
    return replace(pairs, count=pairs.count * chosen[pairs.unit])


def _carried(
    field: _Field, fitted: Pairs, applied: Pairs, source: str, how: str, params: Mapping[str, Param]
) -> Iterator[Estimate]:
    calibrated, raw = _calibrated(fitted, applied, field.sides, "linear"), _raw(replace(field.sides, second=applied))
    left = (
        f"mean of mark minus the reference's: of {how}; above 0 it leaves them too generous{field.sides.note('bias')}"
    )
    yield field.refitted(source, partial(_value, of.bias, calibrated.exact), left, {**params, "quantity": "bias"})
    for metric, (measure, what) in _METRICS.items():
        if metric == "quadratic_weighted_kappa" and field.sides.rounded is None:
            continue
        gap = partial(_gap, measure, calibrated.of(metric), raw.of(metric))
        note = f"{_BETTER[metric]}; fitted anew in every replicate{field.sides.note(metric)}"
        said = f"{what}: of {how}, minus that of the marks as given: {note}"
        yield field.refitted(source, gap, said, {**_params(RAW, metric, "linear"), **params})


def units_count(units: Units) -> int:
    """U."""
    return len(units.evidence.units.names)


def _params(contrast: str, metric: str, method: Method) -> dict[str, Param]:
    params: dict[str, Param] = {"contrast": contrast}
    return params | ({"metric": metric} if metric != "mae" else {}) | ({"method": method} if method != "linear" else {})


def _gap(measure: Measure, first: Measure, second: Measure, weights: Array) -> Array:
    return np.asarray(measure(first(weights)) - measure(second(weights)))


def _value(measure: Measure, sums: Measure, weights: Array) -> Array:
    return measure(sums(weights))


def _calibrated(fitted: Pairs, applied: Pairs, sides: Sides, method: Method) -> _Sums:
    exact_sums = Recent(Calibrated(fitted, applied, method, sides.marking).sums)
    if sides.rounded is None or sides.rounded is sides.marking:
        return _Sums(exact_sums, exact_sums)
    whole = replace(applied, reference=sides.rounded.of(applied.reference))
    return _Sums(exact_sums, Recent(Calibrated(fitted, whole, method, sides.rounded).sums))


def _raw(sides: Sides) -> _Sums:
    """The second side's marks as given; kappa's are rounded where they are not whole."""
    pairs = sides.second
    whole = pairs if sides.rounded is None else replace(
        pairs, judge=sides.rounded.of(pairs.judge), reference=sides.rounded.of(pairs.reference)
    )  # fmt: skip
    return _Sums(partial(_summed, pairs.sums), partial(_summed, whole.sums))


def _summed(sums: Array, weights: Array) -> Array:
    found: Array = weights @ sums
    return found


def _obstacle(field: _Field, method: Method) -> str:
    """Why no calibration by this method is made, or nothing: a step of too many marks, or too many fits."""
    sides, plan = field.sides, field.evidence.plan
    n_levels = max(len(side.levels) for side in (sides.first, sides.second))
    if method == "isotonic" and n_levels > MOST_LEVELS:
        return f"{n_levels:,} different marks: an isotonic step is fitted to at most {MOST_LEVELS}; rounded marks have fewer"
    n_units, n_replicates = sides.first.n_units, 0
    if plan.method == "default":
        n_replicates = min(plan.n_resamples, MOST_RESAMPLES)
    elif plan.method in ("percentile", "bca"):
        n_replicates = plan.n_resamples
    elif plan.method == "bootstrap_t":
        n_replicates = plan.n_resamples * (n_units + 1)
    n_replicates += n_units
    needed = n_replicates * max(len(side.unit) for side in (sides.first, sides.second))
    if method == "isotonic":
        needed = max(needed, n_replicates * n_units * n_levels**2)
    if needed > MOST_FITTED:
        return f"{n_replicates:,} replicates that each fit {n_units:,} units anew are too many: a jackknife or fewer resamples can be had"
    return ""


def _slope(field: _Field, source: str, words: str) -> Estimate:
    """Least-squares slope of reference on mark, with the standard errors of a regression with clusters."""
    said = (
        f"marks of the reference per mark, least squares of the reference's mark on {words}: below 1 the marks spread more than what they "
        "predict, above 1 less"
    )
    sums = field.sides.first.sums
    found = field.give(source, sums, slope_of, said, {"quantity": "slope"}, "")
    return with_cluster_robust(found, regression_tables(sums[sums[:, 0] > 0]), 1, field.evidence.plan)


def _absent(field: _Field, source: str, words: str, reason: str, params: Mapping[str, Param]) -> Estimate:
    of_arms = field.evidence.arms is not None
    found = exact(
        field.evidence, "calibration", None, unit="response" if of_arms else "verdict", describes="grader×context" if of_arms else "judge",
        estimand=words, reason=reason, source=source, params={**field.params, **params},
    )  # fmt: skip
    return found.model_copy(update={"status": "not_assessed"})
