"""A judge as a line fitted from its own run under labels, and what its label effect would become if its marks fed them.

The line is found by least squares and then before rounding and clipping, of which it is the closed forms of the loop are
taken. What `evenhand simulate loop --from` needs of a run stands in two tables: the line with its covariance, and the run.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

import numpy as np

from evenhand.audits.arms_view import Kept, Units, View, views
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.ids import EstimateId
from evenhand.results import Estimate, Table
from evenhand.simulate.loop import Course
from evenhand.simulate.loop_runs import FITTED, LATENT
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.binomial import LEAST_DF, t_quantile, upper_probability
from evenhand.stats.drift import left_out_covariance, stratified
from evenhand.stats.loop import (
    Grader,
    bend_sums,
    eigenvalue,
    fit_grader,
    label_bend,
    label_sums,
    learner_spread,
    runaway_effect,
)
from evenhand.stats.loop_clipping import Answers, Latent, Marks, as_vector, attenuation_curve, latent_grader

ORDER = 58
LINE = ("of", "parameter", "fitted", "latent", *(f"covariance_{field.name}" for field in fields(Grader)))
CURVE = ("of", "label_effect", "fitted")
RUN = ("of", "low", "high", "whole_marks", "ability_mean", "ability_sd", "answer_sd", "n_responses", "n_learners", "df")
_EFFECT = 2
_WIDEST, _MOST_STEPS = 0.4, 10
_SURE = 0.99
"""Level of the interval that a bend must exclude 0 of before it is said: one straight line in a hundred is called bent."""
_SAME = "labels or reference marks do not vary enough to tell the label's effect from that of the work"
_BENT = "marks crowd at the ends of the scale or hardly spread: no one line has such marks once they are rounded and clipped"
_FLAT = "the label effect is not above 0: no multiple of it runs away"
_SLOPE = (
    "label effect on {judge}'s marks, marks per point of label: least squares of a mark under a label less that under "
    "the control on the label, the reference mark and 1, over all labels"
)
_UNDONE = "; of the line before marks are rounded and clipped, which makes the fit smaller"
_DEFAULT = Course()
_FED = (
    "were {judge}'s marks to feed a belief about a skill that labels the learner's next answer (defaults: a mark of a skill "
    f"every {_DEFAULT.n_skills * _DEFAULT.days_between:g} days, evidence that decays as (1 + {_DEFAULT.decay:g} days)^-½, "
    f"a mark that weighs {_DEFAULT.mass:g} beside a prior of 1)"
)
_EIGEN = f"share of a belief's deviation that is left after the next mark, r + wγ, {_FED}; below 1 deviations die out"
_RUNAWAY = f"times its own that the label effect would have to be for beliefs to run away, γ*/γ, {_FED}"


@dataclass(frozen=True, slots=True)
class Fit:
    """A run's answers under labels, and the line behind them.

    Attributes:
        view: the run.
        source: the contrast of labels, as in ids.
        kept: (n,) responses with a mark without and with each label, a reference mark, and labels known as numbers.
        units: of resampling.
        sums: (U, 30) tallies of the fit, and their expectation under the latent grader.
        latent: None where there is none.
        bend: (U, 15) tallies of what the latent line leaves of the moves of marks, for `label_bend`; zeros without one.
    """

    view: View
    source: str
    kept: Kept
    units: Units
    sums: Array
    latent: Latent | None
    bend: Array

    @property
    def marks(self) -> Marks:
        """What becomes of the line."""
        return _marks(self.view)

    @property
    def fitted(self) -> Array:
        """(6,) the line as least squares finds it, the noise as its logarithm."""
        return as_vector(fit_grader(self.sums[:, :15].sum(axis=0), self.marks.mid))


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Label effect by a point of label, fitted and before clipping; eigenvalue and runaway multiple."""
    for view in views(evidence):
        for source, arms in _contrasts(view):
            found = _fit(view, source, arms)
            yield from _absent(view, source, found) if isinstance(found, str) else _of_fit(found)


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """The lines, and the runs that they were fitted from."""
    fits = [
        found
        for view in views(evidence)
        for source, arms in _contrasts(view)
        if isinstance(found := _fit(view, source, arms), Fit) and found.latent is not None
    ]
    if fits:
        yield (
            f"grader/{evidence.source}",
            Table(columns=LINE, rows=tuple(row for fit in fits for row in _line_rows(fit))),
        )
        yield f"grader_run/{evidence.source}", Table(columns=RUN, rows=tuple(_run_row(fit) for fit in fits))
        yield (
            f"attenuation/{evidence.source}",
            Table(columns=CURVE, rows=tuple(row for fit in fits for row in _curve_rows(fit))),
        )


def _contrasts(view: View) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Own and swapped labels, and levels, where the run has them, with the source that their label effect has."""
    roles = view.roles
    pair = (roles.own, roles.swapped) if roles.own is not None and roles.swapped is not None else ()
    ends = (roles.levels[-1], roles.levels[0]) if len(roles.levels) > 1 else ()
    for arms, named in ((pair, pair), (roles.levels, ends)):
        if len(named) > 1 and view.planned[:, list(arms)].all(axis=1).any():
            yield view.source(*named), tuple(arms)


def _marks(view: View) -> Marks:
    mark = view.gradings[3]
    low, high = view.arms.low or 0.0, view.arms.high or 0.0
    whole = low.is_integer() and high.is_integer() and bool((mark == np.floor(mark)).all())
    return Marks(low, high, whole)


def _fit(view: View, source: str, labels: tuple[int, ...]) -> Fit | str:
    """The fit, or what it lacks."""
    if lacking := _lacking(view, labels):
        return lacking
    control = view.roles.control or 0
    reference, label = view.arms.reference, view.arms.label[:, list(labels)]
    kept = view.kept(control, *labels) & np.isfinite(reference) & np.isfinite(label).all(axis=1)
    if not kept.any():
        return "no response has a reference mark and a mark without and under each label, the labels known as numbers"
    marks, shown = _marks(view), label[kept]
    if shown.min() < marks.low or shown.max() > marks.high:
        return f"labels lie outside the scale of the marks, {marks.low:g} to {marks.high:g}: they must share one scale"
    units = view.units(control, *labels)
    times, n_units = len(labels), len(units.evidence.units.names)
    t, x = np.tile(reference[kept], times), shown.T.ravel()
    unit, base = np.tile(units.unit[kept], times), np.tile(view.means[kept, control], times)
    marked = view.means[kept][:, list(labels)].T.ravel()
    square = np.tile(_mean_square(view, control)[kept], times)
    sums = label_sums(t, base, marked, x, marks.mid, unit, n_units, control_square=square, n_labels=times)
    latent = latent_grader(sums.sum(axis=0), Answers.of(t, x), marks, times)
    expected, bend = np.zeros_like(sums), np.zeros_like(sums)
    if latent is not None:
        expected = latent.expected_sums(unit, n_units, times)
        bend = bend_sums(t, marked - base - latent.expected_move(), x, marks.mid, unit, n_units)
    return Fit(view, source, kept, units, np.concatenate([sums, expected], axis=1), latent, bend)


def _lacking(view: View, labels: tuple[int, ...]) -> str:
    if view.roles.control is None:
        return "no arm tells nothing: say which does with --control ARM"
    if not np.isfinite(view.arms.reference).any():
        return "no reference marks: how the judge marks work of every quality is not known (--reference COL)"
    if not np.isfinite(view.arms.label[:, list(labels)]).any():
        return "the labels shown are not known as numbers: name their column with --label-shown COL"
    if view.arms.low is None or view.arms.high is None or view.arms.low >= view.arms.high:
        return "no lowest and highest mark are declared: say --range LO,HI"
    return ""


def _mean_square(view: View, arm: int) -> Array:
    """(n,) mean square of a response's single marks under an arm."""
    response, arms, _, mark = view.gradings
    mine = arms == arm
    total = np.bincount(response[mine], weights=mark[mine] ** 2, minlength=view.arms.n_responses)
    return np.asarray(total / np.maximum(view.n_gradings[:, arm], 1))


def _absent(view: View, source: str, reason: str) -> Iterator[Estimate]:
    for name, words in (("loop_eigenvalue", _EIGEN), ("loop_runaway_multiple", _RUNAWAY)):
        one = exact(
            view.evidence, name, None, unit="response", describes="grader×context", estimand=words, reason=reason, source=source,
            params=view.params,
        )  # fmt: skip
        yield one.model_copy(update={"status": "not_assessed"})


def _of_fit(fit: Fit) -> Iterator[Estimate]:
    def effect(sums: Array) -> Array:
        return fit_grader(sums[..., :15], fit.marks.mid).label_effect

    yield _assessed(fit, "dose_slope", effect, _SLOPE, _SAME, FITTED)
    latent = fit.latent
    if latent is None:
        reason = _BENT if np.isfinite(fit.fitted).all() else _SAME
        for one in _absent(fit.view, fit.source, reason):
            yield one.model_copy(update={"status": "undefined"})
        return

    def undone(sums: Array) -> Array:
        return np.asarray(latent.vectors(sums)[..., _EFFECT])

    def left(sums: Array) -> Array:
        return eigenvalue(undone(sums), _DEFAULT.kept, _DEFAULT.mass)

    warned = _bent(fit)
    for one in (
        _assessed(fit, "dose_slope", undone, _SLOPE + _UNDONE, _BENT, LATENT),
        _assessed(fit, "loop_eigenvalue", left, _EIGEN, _BENT, {}),
        _runaway(fit, float(latent.vector[_EFFECT]), undone),
    ):
        yield one if one.reason or not warned else one.model_copy(update={"reason": warned})


def _bent(fit: Fit) -> str:
    """That no line in the label has these marks, where what it leaves bends beyond a wide interval: most lines are left in peace."""
    sizes, stratum = _strata(fit)
    if len(stratum) < 2 or np.bincount(stratum).min() < 2:
        return ""
    found = stratified(fit.bend[sizes > 0], sizes[sizes > 0], stratum, label_bend)
    error = found.std_error()
    if not (np.isfinite([found.value, error]).all() and error > 0 and found.df >= LEAST_DF):
        return ""
    half = t_quantile(upper_probability(_SURE), found.df) * error
    if abs(found.value) <= half:
        return ""
    ends = f"{found.value - half:.3f} to {found.value + half:.3f}"
    return (
        f"the label effect is no straight line: beside it marks bend by {found.value:.3f} ({100 * _SURE:g} % interval {ends}) marks per squared "
        "point of label, so one label effect, and what follows from it, is an average over the labels shown"
    )


def _assessed(fit: Fit, name: str, measure: Measure, words: str, undefined: str, params: Mapping[str, str]) -> Estimate:
    return fit.view.assessed(
        name, fit.source, fit.sums, measure, fit.kept, fit.units, words, params=params, undefined=undefined
    )


def _runaway(fit: Fit, effect: float, measure: Measure) -> Estimate:
    """The multiple, its ends where the label effect's own interval lies above 0."""
    view, critical = fit.view, float(runaway_effect(_DEFAULT.kept, _DEFAULT.mass))
    if effect <= 0:
        return exact(
            view.evidence, "loop_runaway_multiple", None, unit="response", describes="grader×context", estimand=_RUNAWAY, reason=_FLAT,
            source=fit.source, n_used=int(fit.kept.sum()), n_excluded=view.n_left(fit.kept), params=view.params,
        )  # fmt: skip

    def constant(sums: Array) -> Array:
        return np.full(sums.shape[:-1], critical)

    parts = (constant, measure)
    return view.of_ratio("loop_runaway_multiple", fit.source, fit.sums, parts, fit.kept, fit.units, _RUNAWAY)


def _identity(fit: Fit) -> str:
    """The id of the run's eigenvalue, by which tables name it."""
    return str(EstimateId.of("loop_eigenvalue", fit.source, **fit.view.params))


def _line_rows(fit: Fit) -> Iterator[tuple[str | float | None, ...]]:
    """Parameters before and after, and the jackknife covariance of the latent ones, the noise as its logarithm."""
    latent = fit.latent
    if latent is None:
        return
    covariance, _ = _spread(fit, latent)
    found, before = fit.fitted, latent.vector
    for at, field in enumerate(fields(Grader)):
        values = [float(np.exp(one[at]) if field.name == "noise" else one[at]) for one in (found, before)]
        yield (
            _identity(fit),
            field.name,
            *values,
            *(one if math.isfinite(one) else None for one in covariance[at].tolist()),
        )


def _spread(fit: Fit, latent: Latent) -> tuple[Array, float]:
    """(6, 6) jackknife covariance of the latent parameters over units within tails, NaN with too few, and its df."""
    sizes, stratum = _strata(fit)
    if len(stratum) < 2:
        return np.full((6, 6), np.nan), 0.0
    tallies, held = fit.sums[sizes > 0], sizes[sizes > 0]
    value = stratified(tallies, held, stratum, lambda sums: latent.vectors(sums)[..., _EFFECT])
    columns = [stratified(tallies, held, stratum, _part(latent, at)).left_out for at in range(6)]
    return left_out_covariance(np.stack(columns, axis=-1), stratum), value.df


def _strata(fit: Fit) -> tuple[Array, Counts]:
    """(U,) responses of each unit, and the tail of each unit that has some; one for all where a tail holds one unit."""
    sizes = np.bincount(fit.units.unit[fit.kept], minlength=len(fit.sums)).astype(np.float64)
    active, strata = sizes > 0, fit.view.strata(fit.units, fit.kept)
    stratum = np.zeros(int(active.sum()), dtype=np.int64)
    if strata is not None:
        found = np.unique(strata[active], return_inverse=True)[1]
        stratum = found if np.bincount(found).min() > 1 else stratum
    return sizes, stratum


def _part(latent: Latent, at: int) -> Measure:
    return lambda sums: np.asarray(latent.vectors(sums)[..., at])


def _run_row(fit: Fit) -> tuple[str | float | bool | int, ...]:
    """Scale, abilities and size of a run."""
    learner, t = fit.view.arms.each_learner, fit.view.arms.reference[fit.kept]
    who = np.arange(len(t)) if learner is None else np.unique(learner[fit.kept], return_inverse=True)[1]
    mean, between, within = learner_spread(t, who)
    marks = fit.marks
    df = _spread(fit, fit.latent)[1] if fit.latent is not None else 0.0
    return (
        _identity(fit), marks.low, marks.high, marks.whole, mean, between, within, len(t), int(who.max()) + 1, df,
    )  # fmt: skip


def _curve_rows(fit: Fit) -> Iterator[tuple[str | float, ...]]:
    """What a fit finds on average, by the label effect before clipping, on both sides of the run's own."""
    latent = fit.latent
    if latent is None:
        return
    own = float(latent.vector[_EFFECT])
    furthest = max(_WIDEST, 2 * abs(own))
    size = 10.0 ** math.floor(math.log10(furthest / _MOST_STEPS))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor * _MOST_STEPS >= furthest * (1 - 1e-9))
    steps = np.arange(math.ceil(furthest / step - 1e-9) + 1)
    effects = np.unique(np.append(math.copysign(step, own) * steps, own))
    curve = attenuation_curve(latent.grader, latent.answers, effects, latent.marks)
    yield from ((_identity(fit), one, other) for one, other in zip(effects.tolist(), curve.tolist(), strict=True))
