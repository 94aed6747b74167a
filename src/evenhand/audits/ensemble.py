"""Agreement of several raters with each other, the reference left out; with one judge, of judge and reference as raters."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import ensembles as of
from evenhand.stats.agreement import cohen_kappa, phi
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.icc import icc, icc_components_with_holes, rater_severity, severity_sums, sums_with_holes
from evenhand.stats.scales import ATANH, IDENTITY, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.weights import agreement_weights
from evenhand.tally.ratings import Ratings

SOURCE = "raters"
_WEIGHTS: tuple[Literal["linear", "quadratic"], ...] = ("linear", "quadratic")
FORMS = ("A,1", "C,1", "1,1", "A,k", "C,k", "1,k")
_ONE_LABEL = "0/0, no variation in labels: every rating is the same"


@dataclass(frozen=True, slots=True)
class _Ensemble:
    """A statistic of several raters and its tallies."""

    name: str
    tallies: Array
    measure: Measure
    scale: Scale
    estimand: str
    params: dict[str, Param]
    undefined: str = _ONE_LABEL


def estimates_of_raters(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    """Every ensemble estimate.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        ratings: of all raters.
    """
    kinds: list[Callable[[Evidence, Ratings], Iterator[_Ensemble]]] = [_nominal, _pairwise, _numeric]
    for kind in kinds:
        for one in kind(evidence, ratings):
            statistic = Statistic(
                one.name, one.measure, one.scale, "measurement system", one.estimand, "response", counted=False
            )
            yield assess(
                evidence,
                statistic,
                one.tallies,
                undefined=one.undefined,
                source=SOURCE,
                n_excluded=int(ratings.count.sum() - ratings.sizes.sum()),
                sizes=ratings.sizes,
                params=one.params,
            )
    yield from _severity(evidence, ratings)


def _who(ratings: Ratings) -> str:
    return f"{ratings.n_raters} raters" if ratings.n_raters > 2 else f"{ratings.names[0]} and {ratings.names[1]}"


def _values(evidence: Evidence) -> Array:
    """Values of the levels: their numbers where all are numbers, else their positions."""
    try:
        return np.array([float(level) for level in evidence.scale.levels])
    except ValueError:
        return np.arange(evidence.scale.size, dtype=np.float64)


def _nominal(evidence: Evidence, ratings: Ratings) -> Iterator[_Ensemble]:
    q, who = ratings.n_labels, _who(ratings)
    counts = of.profiles(ratings.labels, q)
    profile = of.profile_sums(counts, ratings.unit, ratings.n_units, ratings.count)
    pairs = of.coincidence_sums(counts, ratings.unit, ratings.n_units, ratings.count)
    same = agreement_weights("identity", np.arange(q))
    levels = _values(evidence)

    def measured(function: Callable[[Array, Array], Array], weights: Array) -> Measure:
        return lambda sums: function(sums, weights)

    yield _Ensemble("observed_agreement", profile, measured(of.percent_agreement, same), LOGIT,
        f"share of agreeing pairs of ratings of one unit, averaged over units, among {who}", {}, "no unit is rated twice")  # fmt: skip
    yield _Ensemble("fleiss_kappa", profile, measured(of.fleiss_kappa, same), LOG_ONE_MINUS,
        f"chance-corrected agreement among {who}, raters taken as interchangeable (Fleiss)", {})  # fmt: skip
    yield _Ensemble("gwet_ac1", profile, measured(of.gwet_ac, same), LOG_ONE_MINUS,
        f"Gwet's AC1 among {who}", {})  # fmt: skip
    yield _Ensemble("brennan_prediger", profile, measured(of.brennan_prediger, same), LOG_ONE_MINUS,
        f"agreement among {who} beyond 1/q", {})  # fmt: skip
    metrics = ("nominal", "ordinal", "interval", "ratio") if evidence.scale.kind == "ordinal" else ("nominal",)
    for metric in metrics:
        if metric == "ratio" and levels.min() < 0:
            continue
        yield _Ensemble("krippendorff_alpha", pairs, partial(_alpha, metric, levels), LOG_ONE_MINUS,
            f"Krippendorff's alpha ({metric}) among {who}", {"metric": metric})  # fmt: skip
    if evidence.scale.kind == "ordinal":
        for name in _WEIGHTS:
            weights = agreement_weights(name, levels)
            params: dict[str, Param] = {} if name == "quadratic" else {"weights": name}
            yield _Ensemble("gwet_ac2", profile, measured(of.gwet_ac, weights), LOG_ONE_MINUS,
                f"Gwet's AC2 among {who}, {name} weights; a constant grader can score high on it", params)  # fmt: skip


def _alpha(metric: str, levels: Array, sums: Array) -> Array:
    return of.krippendorff_alpha(sums, metric, levels)  # type: ignore[arg-type]


def _pairwise(evidence: Evidence, ratings: Ratings) -> Iterator[_Ensemble]:
    q, who = ratings.n_labels, _who(ratings)
    conger = of.conger_sums(ratings.labels, q, ratings.unit, ratings.n_units, ratings.count)
    same = agreement_weights("identity", np.arange(q))
    yield _Ensemble("conger_kappa", conger, lambda sums: of.conger_kappa(sums, same), LOG_ONE_MINUS,
        f"chance-corrected agreement among {who}, each with its own label rates (Conger)", {})  # fmt: skip
    if ratings.n_raters < 3:
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
    """Intraclass correlations, where levels have an order or are two."""
    if evidence.scale.kind == "nominal":
        return
    sums = sums_with_holes(_marks(evidence, ratings), ratings.unit, ratings.n_units, ratings.count)
    for form in FORMS:
        params: dict[str, Param] = {} if form == "A,1" else {"form": form}
        yield _Ensemble("icc", sums, partial(_icc, form, ratings.n_raters), LOG_ONE_MINUS,
            f"intraclass correlation ICC({form}) of {_who(ratings)}, these raters fixed", params, "marks do not vary")  # fmt: skip


def _icc(form: str, n_raters: int, sums: Array) -> Array:
    return icc(icc_components_with_holes(sums), form, n_raters)  # type: ignore[arg-type]


def _marks(evidence: Evidence, ratings: Ratings) -> Array:
    """(P, R) values of the labels, NaN where a rater gives none."""
    values = _values(evidence)
    return np.where(ratings.labels >= 0, values[np.maximum(ratings.labels, 0)], np.nan)


def _severity(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    if evidence.scale.kind == "nominal" or ratings.n_raters < 3:  # of two raters it is half their mean difference
        return
    sums = severity_sums(_marks(evidence, ratings), ratings.unit, ratings.n_units, ratings.count)
    for position, name in enumerate(ratings.names):
        yield assess(
            evidence,
            Statistic("rater_severity", rater_severity_of, IDENTITY, "judge" if name != "reference" else "reference",
                f"mean deviation of {name} from the mean of a unit's ratings: above 0 lenient, below 0 severe", "response", counted=False),
            sums[:, position], undefined="no unit that it rates is rated by another", source=name,
            sizes=sums[:, position, 1], n_excluded=int(ratings.count.sum() - sums[:, position, 1].sum()),
        )  # fmt: skip


def rater_severity_of(sums: Array) -> Array:
    """Severity of one rater, (..., 2) → (...)."""
    return rater_severity(sums[..., None, :])[..., 0]
