"""Responses by criteria as a generalizability study: components, dependability and omega, each beside the reference's.

About the bank and its checklist, not the judge: an error-free scorer gets the reference's values. Where each cluster has
its own checklist the nested study stands beside the crossed one: a position is then no criterion, and the component of
lines within clusters sees what the crossed one cannot.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from evenhand.audits.beside_reference import (
    ALONE,
    Borrowed,
    Tallies,
    beside_reference,
    n_excluded,
    sides,
    tallied,
    unfrozen,
)
from evenhand.audits.borrowed import checklists
from evenhand.audits.evidence import Evidence
from evenhand.audits.from_mean_squares import Study, degrees
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.factor import mcdonald_omega
from evenhand.stats.generalizability import (
    DStudy,
    d_study,
    mean_squares,
    nested_components,
    nested_sums,
)
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS
from evenhand.tally.moments import MOST_PRODUCT_CELLS, CompleteResponses, unpack_moments, unpack_products

ORDER = 63
MOST_FACTOR_WORK = 20_000_000
"""Units × criteria³ beyond which no factor is fitted: it is fitted anew without each unit."""
_UNDEFINED = "fewer than two complete responses or two criteria"
_NO_VARIANCE = "verdicts do not vary"
_NO_FACTOR = "no factor can be fitted: fewer than three criteria, a constant one, or criteria that determine each other"
_FACETS: tuple[tuple[str, Describes, str], ...] = (
    ("response", "measurement system", "variance of the responses' universe scores in {side}, of a single verdict"),
    ("criterion", "checklist", "variance of the criteria's mean levels in {side}, of a single verdict"),
    ("residual", "measurement system", "variance of what responses and criteria leave in {side}, of a single verdict"),
)
_NESTED: tuple[tuple[str, Describes, str], ...] = (
    ("cluster", "bank", "variance of the clusters' levels in {side}, of a single verdict"),
    ("response", "measurement system", "variance of responses within clusters in {side}, of a single verdict"),
    ("criterion", "checklist", "variance of lines within clusters in {side}, of a single verdict"),
    (
        "residual",
        "measurement system",
        "variance of what clusters, responses and lines leave in {side}, of a single verdict",
    ),
)
Coefficient = tuple[str, dict[str, Param], Callable[[DStudy, int], Array], str]
_COEFFICIENTS: tuple[Coefficient, ...] = (
    ("generalizability", {}, lambda study, _k: study.generalizability, "generalizability of totals over {k} in {side}, ranking responses"),
    ("dependability", {}, lambda study, _k: study.dependability, "dependability Φ of totals over {k} in {side}, as levels"),
    ("sem", {}, lambda study, k: k * study.sem, "standard error of measurement of a total over {k} in {side} as a level, in criteria met"),
    ("sem", {"error": "relative"}, lambda study, k: k * study.relative_sem,
        "standard error of measurement of a total over {k} in {side} beside the other responses', in criteria met"),
)  # fmt: skip


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """The studies of complete responses with the same checklist."""
    for group, params in checklists(evidence):
        yield from _omega(evidence, group, params)
        if evidence.totals_by_condition is not None:  # a response stands there once a condition: facets' study it is
            continue
        yield from _crossed(evidence, group, params)
        if evidence.per_cluster and not evidence.units.grouped:
            yield from _nested(evidence, group, params)


def _crossed(evidence: Evidence, group: CompleteResponses, params: dict[str, Param]) -> Iterator[Estimate]:
    """Each side's components and coefficients, then the differences over these very criteria."""
    k = group.n_criteria
    said = degrees(k, "criteria")
    studies = {}
    for side, source, words in sides(evidence):
        study = Study(
            evidence, "response", ("criterion",), (k,), group.moments(side), _mean_squares, n_excluded(group),
            evidence.counts.get("complete"), params,
        )  # fmt: skip
        studies[side] = study
        end = "" if evidence.has_reference else ALONE
        for at, (_, describes, estimand) in enumerate(_FACETS):
            yield study.component(
                at, source, describes if side == "judge" else "bank", estimand.replace("{side}", words) + end, said, _UNDEFINED
            )  # fmt: skip
        for name, own, of, estimand in _COEFFICIENTS:
            filled = estimand.replace("{side}", words).replace("{k}", f"{k} criteria") + end
            found = study.coefficient(
                name, partial(_of_k, of, k), {"criterion": k}, source, filled, own, said, _NO_VARIANCE
            )
            yield found if side == "judge" else found.model_copy(update={"describes": "bank"})
    if evidence.has_reference:
        yield from _differences(evidence, group, studies["judge"], studies["reference"], params)


def _of_k(of: Callable[[DStudy, int], Array], k: int, study: DStudy) -> Array:
    return of(study, k)


def _mean_squares(packed: Array) -> Array:
    """(..., K+2) packed moments → (..., 3) mean squares of responses, criteria and what is left."""
    found = mean_squares(unpack_moments(packed))
    return np.stack([found.response, found.criterion, found.residual], axis=-1)


def _differences(
    evidence: Evidence, group: CompleteResponses, judge: Study, reference: Study, params: dict[str, Param]
) -> Iterator[Estimate]:
    k = group.n_criteria
    both = np.concatenate([judge.tallies, reference.tallies], axis=1)
    width = judge.tallies.shape[1]

    def between(one: Measure) -> Measure:
        return lambda packed: one(packed[..., :width]) - one(packed[..., width:])

    measures: list[tuple[str, dict[str, Param], Measure, Describes, str]] = [
        ("variance_component", {"facet": name}, partial(_component, judge, at), describes, words)
        for at, (name, describes, words) in enumerate(_FACETS)
    ]
    measures += [
        (name, own, partial(_coefficient, judge, of, k), "measurement system", words.replace("{k}", f"{k} criteria"))
        for name, own, of, words in _COEFFICIENTS
    ]
    for name, own, measure, describes, words in measures:
        estimand = f"difference, judge minus reference on the same responses and these {k} criteria: {words.replace('{side}', 'one side')}"
        yield assess(
            evidence, Statistic(name, between(measure), IDENTITY, describes, estimand, "response", counted=False), both,
            undefined=_NO_VARIANCE, source=evidence.difference_source, sizes=group.sizes, n_excluded=n_excluded(group),
            n_clusters=evidence.counts.get("complete"), params={**own, **params},
        )  # fmt: skip


def _component(study: Study, at: int, packed: Array) -> Array:
    return study.resampled_components(packed)[..., at]


def _coefficient(study: Study, of: Callable[[DStudy, int], Array], k: int, packed: Array) -> Array:
    return of(d_study(study.design, study.resampled_components(packed), "response", {"criterion": k}), k)


def _nested(evidence: Evidence, group: CompleteResponses, params: dict[str, Param]) -> Iterator[Estimate]:
    """Responses crossed with lines within clusters: clusters are resampled, and lines with them."""
    unit, count = group.patterns.unit[group.kept], group.patterns.count[group.kept]
    packed = {
        side: nested_sums(group.values(side), count, unit, group.patterns.n_units) for side, _, _ in sides(evidence)
    }
    tallies = Tallies(packed, group.sizes, n_excluded(group), evidence.counts.get("complete"))
    for at, (name, describes, estimand) in enumerate(_NESTED):
        measure = unfrozen(partial(_nested_component, group.n_criteria, at))
        one = Borrowed(
            "variance_component", measure, IDENTITY, describes, estimand, "no cluster with two complete responses",
            {"facet": name, "design": "nested"},
        )  # fmt: skip
        yield from beside_reference(evidence, tallies, one, params)


def _nested_component(n_criteria: int, at: int, packed: Array) -> Array:
    return nested_components(packed, n_criteria)[..., at]


def _omega(evidence: Evidence, group: CompleteResponses, params: dict[str, Param]) -> Iterator[Estimate]:
    k, n_units = group.n_criteria, group.patterns.n_units
    words = (
        "internal consistency (McDonald's omega, one factor by maximum likelihood) of {side} over the checklist's lines"
    )
    if n_units * k**3 > MOST_FACTOR_WORK or n_units * k**2 > MOST_PRODUCT_CELLS:
        found = exact(
            evidence, "mcdonald_omega", None, unit="response", describes="measurement system", params=params,
            estimand=words.replace("{side}", "the judge's verdicts"),
            reason=f"not made for {k} criteria and {n_units:,} resampling units: the factor is fitted anew without each of them",
        )  # fmt: skip
        yield found.model_copy(update={"status": "not_assessed"})
        return
    one = Borrowed(
        "mcdonald_omega", unfrozen(lambda packed: mcdonald_omega(unpack_products(packed, k))), LOG_ONE_MINUS,
        "measurement system", words, _NO_FACTOR,
    )  # fmt: skip
    yield from beside_reference(evidence, tallied(evidence, group, CompleteResponses.products), one, params)
