"""The scorer facet: how far a judge's totals depend on wording, model, setting and occasion, beside what the work decides.

Responses crossed with the conditions of the judge. A facet's few conditions are its sample: intervals come from mean
squares and their degrees of freedom, and each says how few they are. Over these very conditions (``[phrasing=fixed]``)
intervals are over clusters of responses.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.evidence import Evidence
from evenhand.audits.from_mean_squares import Study, degrees
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats.anova import crossed_mean_squares
from evenhand.stats.arrays import Array
from evenhand.stats.internal_consistency import Moments, sd_total
from evenhand.stats.scales import LOG
from evenhand.tally.conditions import ConditionTotals
from evenhand.tally.marks import centred_values
from evenhand.tally.ratings import Ratings
from evenhand.verdicts.order import natural

ORDER = 58
SCORER = ("phrasing", "model", "setting", "occasion")
"""Facets that are conditions of the judge, the one that a report speaks of first; arms and orders are contrasts, not these."""
WORDS = {"phrasing": "phrasings", "model": "models", "setting": "settings", "occasion": "occasions", "rater": "raters"}
MOST_CELLS = 40_000_000
"""Units × conditions² beyond which no study of them is made."""
_CONSTANT = "totals do not vary"
_COEFFICIENTS = (
    (
        "generalizability",
        lambda study: study.generalizability,
        "generalizability of {judge}'s total, ranking responses",
    ),
    ("dependability", lambda study: study.dependability, "dependability Φ of {judge}'s total as a level"),
    ("sem", lambda study: study.sem, "standard error of measurement of {judge}'s total as a level, in its own units"),
)


@dataclass(frozen=True, slots=True)
class Crossing:
    """Facets that are crossed in the data while the others are held.

    Attributes:
        facets: names.
        levels: values of each.
        columns: positions of the combinations among the conditions, the last facet changing fastest.
        held: value of each other facet.
        kept: (P,) rows with a total under every one of them.
    """

    facets: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    columns: tuple[int, ...]
    held: Mapping[str, str]
    kept: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of conditions."""
        return tuple(len(one) for one in self.levels)


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every study that the conditions of one judge carry; the first one's ids are the plain ones."""
    totals = evidence.totals_by_condition
    if totals is None:
        return
    found = crossings(totals)
    for number, crossing in enumerate(found):
        params: dict[str, Param] = {} if number == 0 else {"study": "*".join(crossing.facets)}
        yield from _study(evidence, totals, crossing, params)
    taken = {facet for crossing in found for facet in crossing.facets}
    for facet in SCORER:
        if facet in totals.facets and facet not in taken and len(totals.values(facet)) > 1:
            yield _not_assessed(evidence, facet, totals)


def is_studied(evidence: Sequence[Evidence]) -> bool:
    """Whether any judge's conditions carry a study."""
    return any(one.totals_by_condition is not None and crossings(one.totals_by_condition) for one in evidence)


def crossings(totals: ConditionTotals) -> list[Crossing]:
    """The largest sets of facets that are crossed, none inside another, the leading facet's first."""
    varied = [facet for facet in SCORER if facet in totals.facets and len(totals.values(facet)) > 1]
    found: list[Crossing] = []
    for size in range(len(varied), 0, -1):
        for chosen in itertools.combinations(varied, size):
            if any(set(chosen) <= set(one.facets) for one in found):
                continue
            candidates = [one for one in _candidates(totals, chosen) if totals.count[one.kept].sum() >= 2]
            if candidates:
                found.append(max(candidates, key=lambda one: (math.prod(one.shape), int(totals.count[one.kept].sum()))))
    return sorted(found, key=lambda one: min(SCORER.index(facet) for facet in one.facets))


def _candidates(totals: ConditionTotals, chosen: Sequence[str]) -> Iterator[Crossing]:
    """One for each combination of the other facets' values, in natural order, where the chosen ones are fully crossed."""
    mine = [totals.facets.index(facet) for facet in chosen]
    others = [at for at in range(len(totals.facets)) if at not in mine]
    by_held: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {}
    for column, condition in enumerate(totals.conditions):
        held = tuple(condition[at] for at in others)
        by_held.setdefault(held, {})[tuple(condition[at] for at in mine)] = column
    for held, at in by_held.items():
        levels = tuple(tuple(sorted({one[place] for one in at}, key=natural)) for place in range(len(mine)))
        columns = [at.get(combination) for combination in itertools.product(*levels)]
        if min(len(one) for one in levels) < 2 or None in columns:
            continue
        whole = tuple(column for column in columns if column is not None)
        names = (totals.facets[place] for place in others)
        kept = np.asarray(np.isfinite(totals.totals[:, whole]).all(axis=1))
        yield Crossing(tuple(chosen), levels, whole, dict(zip(names, held, strict=True)), kept)


def product_sums(values: Array, unit: NDArray[np.int64], count: Array, n_units: int) -> Array:
    """(U, 1 + C + C²) objects, sums and cross products of (P, C) values, each row (P,) times over."""
    n_conditions = values.shape[1]
    sums = np.zeros((n_units, 1 + n_conditions + n_conditions**2))
    weighted = values * count[:, None]
    sums[:, 0] = np.bincount(unit, count, n_units)
    for at in range(n_conditions):
        sums[:, 1 + at] = np.bincount(unit, weighted[:, at], n_units)
        for other in range(at, n_conditions):
            product = np.bincount(unit, weighted[:, at] * values[:, other], n_units)
            sums[:, 1 + n_conditions * (1 + at) + other] = product
            sums[:, 1 + n_conditions * (1 + other) + at] = product
    return sums


def _mean_squares(shape: tuple[int, ...], sums: Array) -> Array:
    size = math.prod(shape)
    products = sums[..., 1 + size :].reshape(*sums.shape[:-1], size, size)
    return crossed_mean_squares(products, sums[..., 1 : 1 + size], sums[..., 0], shape)


def _study(
    evidence: Evidence, totals: ConditionTotals, crossing: Crossing, params: dict[str, Param]
) -> Iterator[Estimate]:
    kept, shape = crossing.kept, crossing.shape
    if totals.n_units * len(crossing.columns) ** 2 > MOST_CELLS:
        return
    count = totals.count[kept].astype(np.float64)
    tallies = product_sums(totals.totals[kept][:, crossing.columns], totals.unit[kept], count, totals.n_units)
    study = Study(
        evidence, "response", crossing.facets, shape, tallies, lambda sums: _mean_squares(shape, sums),
        int(totals.count.sum() - count.sum()), None if not evidence.units.grouped else evidence.counts.get("clusters"), params,
    )  # fmt: skip
    yield from _of_study(study, evidence.source, _whose(evidence, crossing))
    if evidence.has_reference:
        yield from _bank_spread(evidence, totals, crossing, params)


def _whose(evidence: Evidence, crossing: Crossing) -> str:
    what = "totals" if len(evidence.criteria) > 1 else "verdicts" if evidence.is_binary else "marks"
    held = "".join(f", {facet} {value}" for facet, value in crossing.held.items() if value)
    return f"{{judge}}'s {what}{held}"


def _of_study(study: Study, source: str, whose: str) -> Iterator[Estimate]:
    """Components, each as it stands and over these very conditions; then coefficients at one condition and at all."""
    many = " × ".join(f"{n} {WORDS[facet]}" for facet, n in zip(study.facets, study.shape, strict=True))
    few = "; ".join(degrees(n, WORDS[facet]) for facet, n in zip(study.facets, study.shape, strict=True))
    fixed: dict[str, Param] = dict.fromkeys(study.facets, "fixed")
    for at, (name, term) in enumerate(zip(study.names, study.design.terms, strict=True)):
        own = [facet for facet in term.facets if facet != study.object_]
        describes: Describes = "judge" if own else "measurement system"
        words = _component_words(name, own, study.object_, whose)
        yield study.component(at, source, describes, words, few, _CONSTANT)
        yield study.fixed_component(at, source, describes, f"{words}: over these {many}", fixed, _CONSTANT)
    for n_conditions, said in _decisions(study):
        counts: dict[str, Param] = {facet: n for facet, n in n_conditions.items() if n > 1}
        for name, of, words in _COEFFICIENTS:
            estimand = f"{words.replace(_JUDGE, whose)} {said}"
            yield study.coefficient(name, of, n_conditions, source, estimand, counts, few, _CONSTANT)
            if name == "dependability" and not counts:
                fixed_words = f"{estimand}: over these {many}"
                yield study.fixed_coefficient(name, of, n_conditions, source, fixed_words, fixed, _CONSTANT)


_JUDGE = "{judge}'s total"


def _component_words(name: str, own: Sequence[str], object_: str, whose: str) -> str:
    if not own:
        return f"variance of the {object_}s' universe scores in {whose}: what the work decides"
    if name == "residual":
        return f"variance of what {object_}s and {' and '.join(WORDS[facet] for facet in own)} leave in {whose}, their interaction included"
    if len(own) == 1 and name == own[0]:
        return f"variance between {WORDS[own[0]]} of the mean level of {whose}"
    return f"variance of the interaction {name.replace('*', ' × ')} in {whose}"


def _decisions(study: Study) -> Iterator[tuple[dict[str, int], str]]:
    """One condition of each facet, and a mean over as many as there are."""
    yield dict.fromkeys(study.facets, 1), "under " + " and ".join(f"one {facet}" for facet in study.facets)
    listed = " and ".join(f"{n} {WORDS[facet]}" for facet, n in zip(study.facets, study.shape, strict=True))
    yield dict(zip(study.facets, study.shape, strict=True)), f"averaged over {listed}"


def _bank_spread(
    evidence: Evidence, totals: ConditionTotals, crossing: Crossing, params: dict[str, Param]
) -> Iterator[Estimate]:
    """The reference's spread over the study's responses: what a judge that follows the work has to tell apart."""
    kept = crossing.kept & np.isfinite(totals.reference)
    sums = product_sums(
        totals.reference[kept][:, None], totals.unit[kept], totals.count[kept].astype(np.float64), totals.n_units
    )
    yield assess(
        evidence,
        Statistic("sd_total", lambda t: sd_total(Moments(t[..., 0], t[..., 1:2], t[..., 2])), LOG, "bank",
            f"standard deviation of the reference's totals over the responses of the study of {' and '.join(WORDS[f] for f in crossing.facets)}, "
            "divisor n−1", "response", counted=False),
        sums, undefined="fewer than two responses with a reference", source=evidence.reference_source, sizes=sums[:, 0],
        n_excluded=int(totals.count.sum() - sums[:, 0].sum()), params={"study": "*".join(crossing.facets), **params},
    )  # fmt: skip


def _not_assessed(evidence: Evidence, facet: str, totals: ConditionTotals) -> Estimate:
    n = len(totals.values(facet))
    found = exact(
        evidence, "variance_component", None, unit="response", describes="judge", params={"facet": facet},
        estimand=f"variance between {WORDS[facet]} of the mean level of {{judge}}'s totals",
        reason=f"fewer than two responses are fully scored under all {n} {WORDS[facet]}, other conditions the same",
    )  # fmt: skip
    return found.model_copy(update={"status": "not_assessed"})


def estimates_of_raters(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    """Rated units (a criterion of a response, "response" in ids) by raters: what lies between units, between raters, and the rest.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        ratings: of all raters.
    """
    if evidence.scale.kind in ("nominal", "pairwise") or ratings.n_units * ratings.n_raters**2 > MOST_CELLS:
        return
    kept = (ratings.labels >= 0).all(axis=1)
    count = ratings.count[kept].astype(np.float64)
    marks = centred_values(evidence.scale)[ratings.labels[kept]]
    shape = (ratings.n_raters,)
    study = Study(
        evidence, "response", ("rater",), shape, product_sums(marks, ratings.unit[kept], count, ratings.n_units),
        lambda sums: _mean_squares(shape, sums), int(ratings.count.sum() - count.sum()), None, {},
    )  # fmt: skip
    if study.n_objects < 2:
        return
    names = "the ratings of " + (", ".join(ratings.names) if ratings.n_raters <= 6 else f"{ratings.n_raters} raters")
    for found in _of_study(study, "raters", names):
        yield found.model_copy(update={"describes": "measurement system"})
