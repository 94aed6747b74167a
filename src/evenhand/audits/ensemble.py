"""Agreement of several raters with each other, the reference left out; with one judge, of judge and reference as raters."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import EstimateId, Param
from evenhand.results import Estimate
from evenhand.stats import ensembles as of
from evenhand.stats.agreement import cohen_kappa, phi
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.centrality import centrality_sums, rater_centrality
from evenhand.stats.ensembles import Chance
from evenhand.stats.icc import (
    Form,
    complete_sums,
    icc,
    icc_components,
    icc_components_with_holes,
    icc_interval,
    rater_severity,
    severity_sums,
    sums_with_holes,
)
from evenhand.stats.intervals import Interval, jackknife_std_error, withheld
from evenhand.stats.marks import interval_alpha, interval_alpha_sums
from evenhand.stats.random_raters import FEWEST_RATERS, random_raters_interval
from evenhand.stats.resampling import leave_one_out
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.weights import Metric, agreement_weights
from evenhand.tally import rating_sums
from evenhand.tally.marks import centred_values, level_values
from evenhand.tally.ratings import Ratings

SOURCE = "raters"
_WEIGHTS: tuple[Literal["linear", "quadratic", "ordinal"], ...] = ("linear", "quadratic", "ordinal")
FORMS: tuple[Form, ...] = ("A,1", "C,1", "1,1", "A,k", "C,k", "1,k")
MOST_PAIR_CELLS = 50_000_000
"""Units × pairs of raters × labels² beyond which no means over pairs are given (400 MB)."""
MOST_LEFT_OUT = 20
MOST_ROWS_LEFT_OUT = 2_000_000
"""Raters, and rows of ratings times raters, beyond which the raters are not taken as a sample."""
MOST_LEVELS_BY_FORMULA = 20
MOST_ROWS_BY_FORMULA = 20_000
"""Labels, and distinct rows of ratings, beyond which standard errors by formula are not given."""
_ONE_LABEL = "0/0, no variation in labels: every rating is the same"


@dataclass(frozen=True, slots=True)
class _Ensemble:
    """A statistic of several raters and its tallies.

    ``once`` says that units rated once count in it too; ``others`` gives its standard errors by formula.
    """

    name: str
    tallies: Array
    measure: Measure
    scale: Scale
    estimand: str
    params: dict[str, Param]
    undefined: str = _ONE_LABEL
    once: bool = False
    others: Callable[[], dict[str, float]] = dict


def estimates_of_raters(evidence: Evidence, ratings: Ratings, source: str = SOURCE) -> Iterator[Estimate]:
    """Every ensemble estimate.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        ratings: of all raters.
        source: of the ids.
    """
    marks_only: list[Callable[[Evidence, Ratings], Iterator[_Ensemble]]] = [_numeric]
    kinds = marks_only if evidence.scale.kind == "continuous" else [_nominal, _pairwise, _numeric]
    reduced = _reduced(evidence, ratings, kinds)
    for kind in kinds:
        for one in kind(evidence, ratings):
            statistic = Statistic(
                one.name, one.measure, one.scale, "measurement system", one.estimand, "response", counted=False
            )
            sizes = ratings.rated if one.once else ratings.sizes
            found = assess(
                evidence,
                statistic,
                one.tallies,
                undefined=one.undefined if ratings.sizes.sum() else "no unit is rated twice",
                source=source,
                n_excluded=int(ratings.count.sum() - sizes.sum()),
                sizes=sizes,
                params=one.params,
            )
            others = {name: error for name, error in one.others().items() if np.isfinite(error)}
            yield found.model_copy(update={"std_errors": others}) if others and found.status == "ok" else found
            if found.status == "ok" and not str(one.params.get("form", "")).endswith("k"):
                yield from _random(evidence, ratings, one, found, reduced)
    yield from _by_formula(evidence, ratings, source)
    yield from _severity(evidence, ratings, source)
    yield from _centrality(evidence, ratings, source)


def _reduced(
    evidence: Evidence, ratings: Ratings, kinds: Sequence[Callable[[Evidence, Ratings], Iterator[_Ensemble]]]
) -> dict[tuple[str, str], list[float]]:
    """Each statistic without each rater in turn; nothing where the raters are judge and reference, few, or too many."""
    n = ratings.n_raters
    small = n <= MOST_LEFT_OUT and len(ratings.unit) * n <= MOST_ROWS_LEFT_OUT
    if ratings.is_judge_and_reference or n < FEWEST_RATERS or not small:
        return {}
    found: dict[tuple[str, str], list[float]] = {}
    for rater in range(n):
        others = [other for other in range(n) if other != rater]
        names = tuple(ratings.names[other] for other in others)
        less = replace(ratings, names=names, labels=ratings.labels[:, others], by_criterion=(), totals=None)
        for kind in kinds:
            for one in kind(evidence, less):
                found.setdefault((one.name, str(one.params)), []).append(float(one.measure(one.tallies.sum(axis=0))))
    return found


def _random(
    evidence: Evidence,
    ratings: Ratings,
    one: _Ensemble,
    fixed: Estimate,
    reduced: Mapping[tuple[str, str], Sequence[float]],
) -> Iterator[Estimate]:
    """The same value with the error it has when the raters, too, are a sample."""
    without = np.array(reduced.get((one.name, str(one.params)), ()))
    if len(without) != ratings.n_raters or fixed.estimate is None:
        return
    sizes = ratings.rated if one.once else ratings.sizes
    units = one.measure(leave_one_out(one.tallies[sizes > 0]))
    if evidence.plan.method in ("default", "jackknife_t", "jackknife_t_scaled"):
        scale = IDENTITY if evidence.plan.method == "jackknife_t" else one.scale
        interval = random_raters_interval(fixed.estimate, units, without, scale, evidence.plan.confidence_level)
    else:
        interval = withheld("none", "raters as a sample have a jackknife interval only: --interval default")
    of_units, of_raters = jackknife_std_error(units), jackknife_std_error(without)
    identity = EstimateId.of(one.name, fixed.source, **{**one.params, "raters": "random"})
    yield fixed.model_copy(
        update={
            "id": str(identity),
            "params": dict(identity.params),
            "std_error": float(np.hypot(of_units, of_raters))
            if of_units is not None and of_raters is not None
            else None,
            "std_errors": {},
            "ci_low": interval.low,
            "ci_high": interval.high,
            "interval_method": interval.method if interval.low is not None else "none",
            "interval_scale": interval.scale,
            "interval_df": interval.df,
            "interval_std_error": interval.std_error,
            "reason": interval.reason,
            "estimand": fixed.estimand.replace(", these raters fixed", "")
            + f"; the {ratings.n_raters} raters taken as a sample of raters",
        }
    )


def _by_formula(evidence: Evidence, ratings: Ratings, source: str) -> Iterator[Estimate]:
    """Intraclass correlations with McGraw and Wong's F-based limits, on the units that all raters mark."""
    whole = (ratings.labels >= 0).all(axis=1)
    if evidence.scale.kind not in ("ordinal", "continuous") or evidence.plan.method == "none" or ratings.n_raters < 2:
        return
    n = int(ratings.count[whole].sum())
    if n < 2:
        return
    zeros = np.zeros(int(whole.sum()), dtype=np.int64)
    sums = complete_sums(centred_values(evidence.scale)[ratings.labels[whole]], zeros, 1, ratings.count[whole])[0]
    for form in FORMS:
        value = float(icc(icc_components(sums), form, ratings.n_raters))
        low, high = (float(end) for end in icc_interval(sums, form, evidence.plan.confidence_level))
        known = bool(np.isfinite([low, high]).all())
        said = (
            "valid if units were independent and marks normal"
            if known
            else "the limits of a single mark lie too low to be those of a mean"
        )
        yield exact(
            evidence, "icc", value if np.isfinite(value) else None, unit="response", describes="measurement system", source=source,
            estimand=f"intraclass correlation ICC({form}) of {_who(ratings)}, on the units that all of them mark, with F-based limits",
            reason=said if np.isfinite(value) else "marks do not vary, or one unit only",
            n_used=n, n_excluded=int(ratings.count.sum()) - n,
            interval=Interval(low, high, "f_based", said) if known else None,
            params={"interval": "f", **({} if form == "A,1" else {"form": form})},
        )  # fmt: skip


def _who(ratings: Ratings) -> str:
    return f"{ratings.n_raters} raters" if ratings.n_raters > 2 else f"{ratings.names[0]} and {ratings.names[1]}"


@dataclass(frozen=True, slots=True)
class _Formulas:
    """Standard errors by formula, rated units independent, from the distinct rows of ratings."""

    labels: Counts
    counts: Array
    repeats: Array

    @classmethod
    def gather(cls, ratings: Ratings) -> "_Formulas | None":
        """The distinct rows; None where there are too many of them, or of labels."""
        if ratings.n_labels > MOST_LEVELS_BY_FORMULA:
            return None
        labels, at = np.unique(ratings.labels, axis=0, return_inverse=True)
        if len(labels) > MOST_ROWS_BY_FORMULA:
            return None
        repeats = np.bincount(at.ravel(), weights=ratings.count, minlength=len(labels))
        return cls(labels, of.profiles(labels, ratings.n_labels), np.asarray(repeats, dtype=np.float64))

    def gwet(self, weights: Array, chance: Chance) -> dict[str, float]:
        """Gwet's (2008, 2014) standard error."""
        n, q = len(self.labels), len(weights)
        alone, is_conger = np.arange(n), chance == "conger"
        units = of.conger_sums(self.labels, q, alone, n) if is_conger else of.profile_sums(self.counts, alone, n)
        return {"delta": of.gwet_std_error(units, self.repeats, weights, chance)}

    def fleiss(self, weights: Array, n_raters: int) -> dict[str, float]:
        """Gwet's, and under complete ratings Fleiss, Nee and Landis's (1979) for testing that kappa is 0."""
        found = self.gwet(weights, "fleiss")
        if (self.labels >= 0).all():
            sums = of.profile_sums(self.counts, np.zeros(len(self.labels), dtype=np.int64), 1, self.repeats)[0]
            found["null"] = float(of.fleiss_null_std_error(sums, len(weights), n_raters))
        return found

    def alpha(self, metric: Metric, levels: Array) -> dict[str, float]:
        """Gwet's (2014) large-sample standard error of Krippendorff's alpha."""
        units = of.coincidence_sums(self.counts, np.arange(len(self.counts)), len(self.counts))
        return {"delta": of.krippendorff_std_error(units, self.repeats, metric, levels)}


def _nominal(evidence: Evidence, ratings: Ratings) -> Iterator[_Ensemble]:
    q, who = ratings.n_labels, _who(ratings)
    profile, pairs = rating_sums.profile_sums(ratings), rating_sums.coincidence_sums(ratings)
    same = agreement_weights("identity", np.arange(q))
    levels, formulas = level_values(evidence.scale)[0], _Formulas.gather(ratings)

    def measured(function: Callable[[Array, Array], Array], weights: Array) -> Measure:
        return lambda sums: function(sums, weights)

    def gwet(chance: Chance, weights: Array = same) -> Callable[[], dict[str, float]]:
        return partial(formulas.gwet, weights, chance) if formulas else dict

    yield _Ensemble("observed_agreement", profile, measured(of.percent_agreement, same), LOGIT,
        f"share of agreeing pairs of ratings of one unit, averaged over units, among {who}", {}, "no unit is rated twice")  # fmt: skip
    yield _Ensemble("fleiss_kappa", profile, measured(of.fleiss_kappa, same), LOG_ONE_MINUS,
        f"chance-corrected agreement among {who}, raters taken as interchangeable (Fleiss); label shares averaged over units, those rated once included",
        {}, once=True, others=partial(formulas.fleiss, same, ratings.n_raters) if formulas else dict)  # fmt: skip
    yield _Ensemble("gwet_ac1", profile, measured(of.gwet_ac, same), LOG_ONE_MINUS,
        f"Gwet's AC1 among {who}, for {q} labels", {}, once=True, others=gwet("gwet"))  # fmt: skip
    yield _Ensemble("brennan_prediger", profile, measured(of.brennan_prediger, same), LOG_ONE_MINUS,
        f"agreement among {who} beyond 1/q, for q = {q} labels", {}, once=True, others=gwet("uniform"))  # fmt: skip
    whole = bool((ratings.labels >= 0).any(axis=0).all())
    yield _Ensemble("conger_kappa", rating_sums.conger_sums(ratings, profile), measured(of.conger_kappa, same), LOG_ONE_MINUS,
        f"chance-corrected agreement among {who}, each with its own label rates (Conger)", {}, once=True,
        others=gwet("conger") if whole else dict)  # fmt: skip
    identity = _identity(ratings)
    metrics: tuple[Metric, ...] = ("nominal", "ordinal", "interval", "ratio")
    for metric in metrics if evidence.scale.kind == "ordinal" else metrics[:1]:
        if metric == "ratio" and levels.min() < 0:
            continue
        yield _Ensemble("krippendorff_alpha", pairs, partial(_alpha, metric, levels), LOG_ONE_MINUS,
            f"Krippendorff's alpha ({metric}) among {who}" + (identity if metric == "nominal" else ""), {"metric": metric},
            others=partial(formulas.alpha, metric, levels) if formulas else dict)  # fmt: skip
    if evidence.scale.kind == "ordinal":
        for name in _WEIGHTS:
            weights = agreement_weights(name, levels)
            params: dict[str, Param] = {} if name == "quadratic" else {"weights": name}
            yield _Ensemble("gwet_ac2", profile, measured(of.gwet_ac, weights), LOG_ONE_MINUS,
                f"Gwet's AC2 among {who}, {name} weights; a constant grader can score high on it", params, once=True,
                others=gwet("gwet", weights))  # fmt: skip


def _identity(ratings: Ratings) -> str:
    """What nominal alpha is of complete ratings, where they are complete."""
    given = (ratings.labels >= 0).sum(axis=1)
    if not given.any() or not np.isin(given, (0, ratings.n_raters)).all():
        return ""
    n = int(ratings.rated.sum()) * ratings.n_raters
    return f"; every unit being rated by all, it is Fleiss' kappa plus (1 − kappa)/{n:,} exactly: one finding, not two"


def _alpha(metric: Metric, levels: Array, sums: Array) -> Array:
    return of.krippendorff_alpha(sums, metric, levels)


def _pairwise(evidence: Evidence, ratings: Ratings) -> Iterator[_Ensemble]:
    """Means over pairs of raters, where their tables are few and small enough to be held for every unit."""
    q, n_pairs = ratings.n_labels, ratings.n_raters * (ratings.n_raters - 1) // 2
    if n_pairs < 2 or ratings.n_units * n_pairs * q * q > MOST_PAIR_CELLS:
        return
    tables = of.pair_tables(ratings.labels, q, ratings.unit, ratings.n_units, ratings.count)
    for name, function, scale in (
        ("mean_pairwise_kappa", cohen_kappa, LOG_ONE_MINUS),
        ("mean_pairwise_phi", phi, ATANH),
    ):
        if name == "mean_pairwise_phi" and not evidence.is_binary:
            continue
        defined = np.isfinite(function(tables.sum(axis=0)))
        yield _Ensemble(name, tables, partial(_mean_pairwise, function, defined), scale,
            f"mean over {int(defined.sum())} pairs of raters of their {name.removeprefix('mean_pairwise_')}", {}, "defined for no pair")  # fmt: skip


def _mean_pairwise(function: Measure, defined: np.ndarray[tuple[int], np.dtype[np.bool_]], tables: Array) -> Array:
    return of.mean_pairwise(function, tables, defined)


def _numeric(evidence: Evidence, ratings: Ratings) -> Iterator[_Ensemble]:
    """Intraclass correlations, where levels have an order or are two, and alpha of marks without levels."""
    if evidence.scale.kind in ("nominal", "pairwise"):
        return
    marks = _marks(evidence, ratings)
    if evidence.scale.kind == "continuous":
        alpha = interval_alpha_sums(marks, ratings.unit, ratings.n_units, ratings.count)
        yield _Ensemble("krippendorff_alpha", alpha, interval_alpha, LOG_ONE_MINUS,
            f"Krippendorff's alpha (interval) among {_who(ratings)}", {"metric": "interval"}, "marks do not vary")  # fmt: skip
    sums = sums_with_holes(marks, ratings.unit, ratings.n_units, ratings.count)
    for form in FORMS:
        params: dict[str, Param] = {} if form == "A,1" else {"form": form}
        yield _Ensemble("icc", sums, partial(_icc, form, ratings.n_raters), LOG_ONE_MINUS,
            f"intraclass correlation ICC({form}) of {_who(ratings)}, these raters fixed", params, "marks do not vary", once=True)  # fmt: skip


def _icc(form: Form, n_raters: int, sums: Array) -> Array:
    return icc(icc_components_with_holes(sums), form, n_raters)


def _marks(evidence: Evidence, ratings: Ratings) -> Array:
    """(P, R) values of the labels, NaN where a rater gives none."""
    values = centred_values(evidence.scale)
    return np.where(ratings.labels >= 0, values[np.maximum(ratings.labels, 0)], np.nan)


def _severity(evidence: Evidence, ratings: Ratings, source: str) -> Iterator[Estimate]:
    if (
        evidence.scale.kind in ("nominal", "pairwise") or ratings.n_raters < 3
    ):  # of two raters it is half their mean difference
        return
    sums = severity_sums(_marks(evidence, ratings), ratings.unit, ratings.n_units, ratings.count)
    for position, name in enumerate(ratings.names):
        yield assess(
            evidence,
            Statistic("rater_severity", rater_severity_of, IDENTITY, "judge" if source == SOURCE else "reference",
                f"mean deviation of {name} from the mean of a unit's ratings: above 0 lenient, below 0 severe", "response", counted=False),
            sums[:, position], undefined="no unit that it rates is rated by another",
            source=_source_of(name, source),
            sizes=sums[:, position, 1], n_excluded=int(ratings.count.sum() - sums[:, position, 1].sum()),
        )  # fmt: skip


def _source_of(name: str, source: str) -> str:
    """A rater's own source; names that ids keep for others are told apart."""
    is_reserved = name in ("judge", "reference", "raters", "human")
    return f"{'judge' if source == SOURCE else source} {name}" if is_reserved else name


def _centrality(evidence: Evidence, ratings: Ratings, source: str) -> Iterator[Estimate]:
    """How widely each rater spreads its marks beside the others, where there are others to speak of."""
    n = ratings.n_raters
    if evidence.scale.kind not in ("ordinal", "continuous") or n < 3 or ratings.n_units * n**2 * 5 > MOST_PAIR_CELLS:
        return
    marks, rated = _marks(evidence, ratings), ratings.labels >= 0
    for position, name in enumerate(ratings.names):
        sums = centrality_sums(marks, position, ratings.unit, ratings.n_units, ratings.count)
        shared = rated[:, position] & (rated.sum(axis=1) > 1)
        sizes = np.bincount(ratings.unit[shared], weights=ratings.count[shared], minlength=ratings.n_units)
        yield assess(
            evidence,
            Statistic("rater_centrality", rater_centrality, LOG, "judge" if source == SOURCE else "reference",
                f"standard deviation of {name}'s marks over that of the other raters on the same units (root of their mean variance): "
                "below 1 it keeps to the middle", "response", counted=False),
            sums, undefined="the others' marks do not vary on the units that it rates, too", source=_source_of(name, source),
            sizes=sizes.astype(np.float64), n_excluded=int(ratings.count.sum() - sizes.sum()),
        )  # fmt: skip


def rater_severity_of(sums: Array) -> Array:
    """Severity of one rater, (..., 2) → (...)."""
    return rater_severity(sums[..., None, :])[..., 0]
