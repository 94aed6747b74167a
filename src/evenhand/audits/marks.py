"""Marks: where the judge's land, how they spread, and how they rank, each beside the others.

Ordinal levels and continuous marks share the statistics of moments. Tables of levels are those of the declared levels
on an ordinal scale; continuous marks are rounded half up to whole ones for them, and keep their own values for ranks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import MOST_CELLS, Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats import marks as of
from evenhand.stats import weighted_agreement as weighted
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, Counts, Measure, ratio
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.weights import agreement_weights
from evenhand.tally.cells import Cells
from evenhand.tally.level_pairs import LevelPairs, level_pairs
from evenhand.tally.marks import Marks, level_values, mark_totals, origin_of, paired_marks

ORDER = 56
MOST_TABLED = 101
"""Whole marks up to which statistics that need a table of them are given."""
MOST_RANKED = 200
"""Different marks up to which rank correlations have a cluster interval from tallies, and so are given."""
_CONSTANT = "marks of one side are constant"
_NO_CHANCE = "0/0: no chance-corrected agreement"
_IN_MARKS = frozenset({"bias", "mae", "rmse"})


@dataclass(frozen=True, slots=True)
class _Marks:
    """A statistic of additive sums of paired marks."""

    name: str
    measure: Measure
    scale: Scale
    estimand: str
    undefined: str = "no pair of marks"
    params: tuple[tuple[str, Param], ...] = ()


_MOMENTS = (
    _Marks("bias", of.bias, IDENTITY, "mean of {judge}'s mark minus the reference's, in marks: above 0 generous"),
    _Marks("mae", of.mae, LOG, "mean absolute difference of {judge}'s mark and the reference's, in marks"),
    _Marks("rmse", of.rmse, LOG, "root of the mean squared difference of {judge}'s mark and the reference's, in marks"),
    _Marks("lin_ccc", of.lin_ccc, LOG_ONE_MINUS, "Lin's concordance of {judge}'s marks with the reference's, moments with 1/n: "
        "the quadratic-weighted kappa of unrounded marks is this number", _CONSTANT),
    _Marks("pearson_r", of.pearson_r, ATANH, "linear correlation of {judge}'s marks with the reference's: ranking, blind to bias", _CONSTANT),
    _Marks("spread_ratio", of.spread_ratio, LOG, "standard deviation of {judge}'s marks over the reference's: below 1 it keeps to the middle", _CONSTANT),
    _Marks("smd", of.smd, IDENTITY, "mean of {judge}'s mark minus the reference's, in standard deviations of the reference", _CONSTANT),
    _Marks("smd", partial(of.smd, method="pooled"), IDENTITY, "mean of {judge}'s mark minus the reference's, in standard deviations "
        "pooled over both sides", _CONSTANT, (("method", "pooled"),)),
)  # fmt: skip
_BY_CRITERION = ("bias", "mae", "lin_ccc", "pearson_r")
_RANKS = (
    _Marks("spearman_rho", of.spearman_rho, ATANH, "rank correlation (Spearman) of {judge}'s marks with the reference's", _CONSTANT),
    _Marks("kendall_tau", of.kendall_tau, ATANH, "rank correlation (Kendall's τ_b) of {judge}'s marks with the reference's", _CONSTANT),
)  # fmt: skip


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every estimate about one judge's marks."""
    if evidence.scale.kind not in ("ordinal", "continuous"):
        return
    values, own = level_values(evidence.scale)
    if own and len(evidence.criteria) == 1:
        yield from _totals(evidence)
    if not evidence.has_reference:
        return
    marks = paired_marks(evidence.cells, evidence.scale)
    for one in _MOMENTS:
        if own or one.name in ("lin_ccc", "pearson_r"):
            yield _of_moments(evidence, one, marks)
    if evidence.scale.kind == "ordinal":
        paired = evidence.cells.paired
        pairs = level_pairs(
            paired.reference, paired.judge, len(values), paired.unit, evidence.cells.n_units, paired.count
        )
        for one in (*_of_tables(values, "declared levels"), *_RANKS):
            yield _of_pairs(evidence, one, pairs)
        yield from _shares(
            evidence, pairs, np.abs(values[pairs.code // len(values)] - values[pairs.code % len(values)])
        )
    else:
        yield from _rounded(evidence, marks)
        yield from _ranks(evidence, marks)
    if len(evidence.criteria) > 1:
        yield from _by_criterion(evidence, marks, own=own)


def _totals(evidence: Evidence) -> Iterator[Estimate]:
    """Mean and standard deviation of each side's marks, on the pairs where there is a reference."""
    cells = evidence.cells.paired if evidence.has_reference else evidence.cells.judged
    sides: list[tuple[str, str, Describes]] = [("judge", evidence.source, "bank")]
    sides += [("reference", evidence.reference_source, "bank")] if evidence.has_reference else []
    for side, source, describes in sides:
        yield from _of_side(evidence, cells, side, source, describes)


def _of_side(evidence: Evidence, cells: Cells, side: str, source: str, describes: Describes) -> Iterator[Estimate]:
    origin = origin_of(level_values(evidence.scale)[0])
    sums, factor = mark_totals(cells, evidence.scale, side=side, origin=origin)
    whose = "{judge}'s marks" if side == "judge" else "the reference's marks"
    where = ", where both sides are scored" if evidence.has_reference else ""
    for name, measure, scale, words in (
        ("mean_total", _from(origin * factor), IDENTITY, f"mean of {whose}{where}"),
        ("sd_total", _deviation, LOG, f"standard deviation of {whose}{where}, divisor n − 1"),
    ):
        yield assess(
            evidence,
            Statistic(name, _in_units(measure, factor), scale, describes, words, counted=False),
            sums,
            undefined="no mark" if name == "mean_total" else "fewer than two marks",
            source=source,
            n_excluded=int(evidence.cells.count.sum() - sums[:, 0].sum()),
            n_clusters=evidence.counts.get("paired" if evidence.has_reference else "judged"),
            sizes=sums[:, 0],
        )


def _mean(sums: Array) -> Array:
    return ratio(sums[..., 1], sums[..., 0])


def _from(origin: float) -> Measure:
    """The mean of marks that were summed from an origin."""
    return lambda sums: _mean(sums) + origin


def _deviation(sums: Array) -> Array:
    n, total, squares = sums[..., 0], sums[..., 1], sums[..., 2]
    return np.sqrt(np.maximum(ratio(n * squares - total**2, n * (n - 1)), 0.0))


def _in_units(measure: Measure, factor: int) -> Measure:
    """A measure of multiplied marks in the marks' own unit."""
    return measure if factor == 1 else lambda sums: measure(sums) / factor


def _of_moments(
    evidence: Evidence,
    one: _Marks,
    marks: Marks,
    params: Mapping[str, Param] | None = None,
    n_slots: int | None = None,
) -> Estimate:
    sums = marks.sums()
    measure = _in_units(one.measure, marks.factor) if one.name in _IN_MARKS else one.measure
    n_slots = int(evidence.cells.count.sum()) if n_slots is None else n_slots
    return assess(
        evidence,
        Statistic(one.name, measure, one.scale, "judge", one.estimand, counted=False),
        sums,
        undefined=one.undefined,
        n_excluded=n_slots - int(sums[:, 0].sum()),
        n_clusters=evidence.counts.get("paired") if params is None else None,
        sizes=sums[:, 0],
        params={**dict(one.params), **(params or {})},
    )


def _of_tables(values: Array, levels: str) -> Iterator[_Marks]:
    """Statistics of level tables, on all the levels of these (q,) values."""
    linear, quadratic = agreement_weights("linear", values), agreement_weights("quadratic", values)
    yield _Marks("quadratic_weighted_kappa", partial(weighted.quadratic_weighted_kappa, levels=values), LOG_ONE_MINUS,
        f"quadratic-weighted kappa of {{judge}}'s marks with the reference's over the {levels}; it can hardly see an offset, so bias stands beside it",
        _CONSTANT)  # fmt: skip
    yield _Marks("weighted_kappa", partial(weighted.weighted_kappa, weights=linear), LOG_ONE_MINUS,
        f"linear-weighted kappa of {{judge}}'s marks with the reference's over the {levels}", _CONSTANT, (("weights", "linear"),))  # fmt: skip
    yield _Marks("gwet_ac2", partial(weighted.gwet_ac2, weights=quadratic), LOG_ONE_MINUS,
        f"Gwet's AC2 of {{judge}}'s marks with the reference's over the {levels}, quadratic weights; the best constant grader's is "
        "gwet_ac2[grader=constant]", _NO_CHANCE)  # fmt: skip
    yield _Marks("gwet_ac2", partial(weighted.best_constant_ac2, weights=quadratic), LOG_ONE_MINUS,
        "Gwet's AC2, quadratic weights, of the constant mark that agrees best with the reference: what {judge} has to beat",
        _NO_CHANCE, (("grader", "constant"),))  # fmt: skip


def _of_pairs(evidence: Evidence, one: _Marks, pairs: LevelPairs) -> Estimate:
    found = assess(
        evidence,
        Statistic(one.name, pairs.dense(one.measure), one.scale, "judge", one.estimand),
        pairs.tallies,
        undefined=one.undefined,
        n_excluded=evidence.n_unpaired,
        n_clusters=evidence.counts.get("paired"),
        sizes=pairs.sizes,
        alternatives=len(pairs.code) <= MOST_CELLS,
        params=dict(one.params),
    )
    weights = one.measure.keywords if isinstance(one.measure, partial) else {}
    if found.std_errors and one.name in ("quadratic_weighted_kappa", "weighted_kappa"):
        matrix = weights["weights"] if "weights" in weights else agreement_weights("quadratic", weights["levels"])
        null = float(weighted.null_std_error(pairs.total(), matrix))
        if np.isfinite(null):
            return found.model_copy(update={"std_errors": {**found.std_errors, "null": null}})
    return found


def _shares(evidence: Evidence, pairs: LevelPairs, distance: Array | Counts, after: str = "") -> Iterator[Estimate]:
    """Exact and adjacent agreement from the (C,) distance of each pair of levels."""
    for name, near, words in (
        ("exact_agreement", distance == 0, "is the reference's"),
        ("adjacent_agreement", distance <= 1, "is the reference's or one away from it"),
    ):
        cells = np.stack([pairs.tallies[:, near].sum(axis=1), pairs.tallies[:, ~near].sum(axis=1)], axis=-1)
        statistic = Statistic(
            name, share, LOGIT, "judge", f"share of verdicts on which {{judge}}'s mark {words}{after}", is_rate=True
        )
        yield assess(
            evidence, statistic, cells, undefined="no pair of marks", n_excluded=evidence.n_unpaired,
            n_clusters=evidence.counts.get("paired"), alternatives=True,
        )  # fmt: skip


def _rounded(evidence: Evidence, marks: Marks) -> Iterator[Estimate]:
    """Continuous marks rounded half up to whole ones: what statistics of levels take them for."""
    steps = marks.steps(evidence.scale.range)
    after = f", both rounded half up to whole marks from {steps.low} to {steps.high}"
    names = ("quadratic_weighted_kappa", "exact_agreement", "adjacent_agreement")
    if steps.n_levels < 3:
        few = f"rounded to whole marks there are {steps.n_levels} of them: these marks are finer than that; see lin_ccc, which is the kappa of unrounded marks"
        for name in names:
            yield _not_assessed(evidence, name, few)
        return
    kappa = _Marks("quadratic_weighted_kappa", of.lin_ccc, LOG_ONE_MINUS, "quadratic-weighted kappa of {judge}'s marks with the "
        f"reference's{after}; of unrounded marks it is lin_ccc; it can hardly see an offset, so bias stands beside it", _CONSTANT)  # fmt: skip
    yield _of_moments(evidence, kappa, marks.rounded(steps))
    pairs = level_pairs(steps.reference, steps.judge, steps.n_levels, marks.unit, marks.n_units, marks.count)
    yield from _shares(evidence, pairs, pairs.distance, after)
    if steps.n_levels > MOST_TABLED:
        reason = f"{steps.n_levels} whole marks: tables of at most {MOST_TABLED} are kept"
        yield _not_assessed(evidence, "weighted_kappa", reason, {"weights": "linear"})
        return
    values = np.arange(steps.low, steps.high + 1, dtype=np.float64)
    for one in _of_tables(values, f"whole marks from {steps.low} to {steps.high}, marks rounded half up"):
        if one.name != "quadratic_weighted_kappa":
            yield _of_pairs(evidence, one, pairs)


def _ranks(evidence: Evidence, marks: Marks) -> Iterator[Estimate]:
    """Rank correlations of the unrounded marks, where the different ones are few enough for a table."""
    different, at = np.unique(np.concatenate([marks.reference, marks.judge]), return_inverse=True)
    if len(different) > MOST_RANKED:
        for one in _RANKS:
            reason = f"{len(different):,} different marks: ranks are tallied for at most {MOST_RANKED}; rounded marks have fewer"
            yield _not_assessed(evidence, one.name, reason)
        return
    reference, judge = np.split(at, 2)
    pairs = level_pairs(reference, judge, max(1, len(different)), marks.unit, marks.n_units, marks.count)
    for one in _RANKS:
        yield _of_pairs(evidence, one, pairs)


def _by_criterion(evidence: Evidence, marks: Marks, *, own: bool) -> Iterator[Estimate]:
    for position, criterion in enumerate(evidence.criteria):
        here = marks.on_criterion(position)
        n_slots = int(evidence.cells.on_criterion(position).count.sum())
        for one in _MOMENTS:
            if one.name in _BY_CRITERION and (own or one.name in ("lin_ccc", "pearson_r")):
                yield _of_moments(evidence, one, here, {"criterion": criterion}, n_slots)


def _not_assessed(evidence: Evidence, name: str, reason: str, params: Mapping[str, Param] | None = None) -> Estimate:
    """A statistic that these data cannot carry, with the reason in its place."""
    absent = exact(
        evidence, name, None, unit="verdict", describes="judge", estimand=f"{name.replace('_', ' ')} of {{judge}}'s marks with the reference's",
        reason=reason, n_excluded=int(evidence.cells.count.sum()), params=params,
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})


def tally_columns(evidence: Evidence) -> dict[str, Array]:
    """Named (U,) sums from which every interval of moments can be recomputed; for the saved tallies of continuous marks."""
    if not evidence.has_reference:
        sums, factor = mark_totals(evidence.cells.judged, evidence.scale, side="judge")
        names: tuple[str, ...] = ("n", "sum_judge", "sum_judge_squared")
    else:
        marks = paired_marks(evidence.cells, evidence.scale)
        sums, factor = marks.sums(), marks.factor
        names = (
            "n",
            "sum_reference",
            "sum_judge",
            "sum_reference_squared",
            "sum_judge_squared",
            "sum_product",
            "sum_distance",
        )
    return {
        f"marks[quantity={name},times={factor}]/{evidence.source}": column
        for name, column in zip(names, sums.T, strict=True)
    }
