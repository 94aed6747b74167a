"""Statistics borrowed from test theory: on the judge's verdicts, on reference labels, and their difference.

An error-free scorer returns the value on reference labels, so that value is the null: what the statistic says of the
judge is at most their difference. Without reference labels none of them is about the judge.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats import internal_consistency as of
from evenhand.stats import strong_true_score as strong
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.generalizability import phi_lambda
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.tally.moments import (
    MOST_PRODUCT_CELLS,
    CompleteResponses,
    Side,
    complete_responses,
    unpack_moments,
    unpack_products,
)

ORDER = 60
MOST_CHECKLISTS = 12
"""Different sets of criteria among complete responses beyond which only the commonest are computed."""
_ALONE = "; without its value on reference labels it says nothing about the judge"


@dataclass(frozen=True, slots=True)
class _Borrowed:
    """One statistic of one side's tallies.

    Attributes:
        pack: the side's tallies, (U, m).
        measure: totals of the whole sample → the measure, so that what must be frozen is frozen there.
        estimand: of the value on one side; {side} names it.
    """

    name: str
    pack: Callable[[CompleteResponses, Side], Array]
    measure: Callable[[Array], Measure]
    scale: Scale
    describes: Describes
    estimand: str
    undefined: str
    params: Mapping[str, Param] = field(default_factory=dict)


def _moments(of_: CompleteResponses, side: Side) -> Array:
    return of_.moments(side)


def _products(of_: CompleteResponses, side: Side) -> Array:
    return of_.products(side)


def _histogram(of_: CompleteResponses, side: Side) -> Array:
    return of_.histogram(side)


def _of_moments(function: Callable[[of.Moments], Array]) -> Callable[[Array], Measure]:
    return lambda _totals: lambda packed: function(unpack_moments(packed))


class _Fits:
    """Beta-binomial fits of histograms, each fitted once: every statistic of a fit asks for the same ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[int, ...], bytes], strong.BetaBinomial] = {}

    def __call__(self, counts: Array) -> strong.BetaBinomial:
        key = (counts.shape, counts.tobytes())
        if key not in self._known:
            self._known[key] = strong.fit_beta_binomial(counts)
        return self._known[key]

    def measure(self, function: Callable[[strong.BetaBinomial], Array]) -> Callable[[Array], Measure]:
        """A statistic of the fit as a statistic of histograms."""
        return lambda _totals: lambda counts: function(self(counts))


def _mean_correlation(n_criteria: int, totals: Array) -> Measure:
    pairs = of.varying_pairs(unpack_products(totals, n_criteria))
    return lambda packed: of.mean_intercriterion_correlation(unpack_products(packed, n_criteria), pairs)


def _alpha(n_criteria: int, _totals: Array) -> Measure:
    return lambda packed: of.cronbach_alpha(unpack_products(packed, n_criteria))


def _standardized_alpha(n_criteria: int, totals: Array) -> Measure:
    correlation = _mean_correlation(n_criteria, totals)
    return lambda packed: of.standardized_alpha(correlation(packed), n_criteria)


def _correlation_with_rest(n_criteria: int, position: int, packed: Array) -> Array:
    return of.item_total_correlation(unpack_products(packed, n_criteria))[..., position]


_NO_VARIANCE = "totals do not vary: every response has the same total, or there is one response or one criterion"


def _declared(n_criteria: int, cuts: tuple[float, ...], fits: _Fits) -> Iterator[_Borrowed]:
    """Every borrowed statistic at these cuts."""
    consistency: Describes = "measurement system"
    yield _Borrowed("mean_total", _moments, _of_moments(of.mean_total), IDENTITY, "bank",
        "mean total of {side}, in criteria met", "no complete response")  # fmt: skip
    yield _Borrowed("sd_total", _moments, _of_moments(of.sd_total), LOG, "bank",
        "standard deviation of the totals of {side}, divisor n−1, in criteria met", "fewer than two complete responses")  # fmt: skip
    yield _Borrowed("kr20", _moments, _of_moments(of.kr20), LOG_ONE_MINUS, consistency,
        "internal consistency (KR-20) of {side} over the checklist's lines, item variances with 1/n and the total's with "
        "1/(n−1) as published by Zhu (2026)", _NO_VARIANCE)  # fmt: skip
    yield _Borrowed("kr20", _moments, _of_moments(partial(of.kr20, variance="n")), LOG_ONE_MINUS, consistency,
        "internal consistency (KR-20) of {side} over the checklist's lines, both variances with 1/n: Cronbach's alpha",
        _NO_VARIANCE, {"variance": "n"})  # fmt: skip
    yield _Borrowed(
        "cronbach_alpha",
        _products,
        partial(_alpha, n_criteria),
        LOG_ONE_MINUS,
        consistency,
        "internal consistency (Cronbach's alpha) of {side} over the checklist's lines: kr20[variance=n] on 0/1 verdicts",
        _NO_VARIANCE,
    )
    yield _Borrowed(
        "standardized_alpha",
        _products,
        partial(_standardized_alpha, n_criteria),
        LOG_ONE_MINUS,
        consistency,
        "alpha of {side} as if every line varied alike: K r/(1+(K−1)r) of the mean correlation r between criteria",
        "no pair of criteria varies",
    )
    yield _Borrowed(
        "kr21",
        _moments,
        _of_moments(partial(of.kr21, variance="n")),
        LOG_ONE_MINUS,
        consistency,
        "KR-21 of {side}: KR-20 as if every line were equally hard, both variances with 1/n",
        _NO_VARIANCE,
        {"variance": "n"},
    )
    yield _Borrowed("mean_intercriterion_correlation", _products, partial(_mean_correlation, n_criteria), ATANH, consistency,
        "mean correlation between two criteria of {side}, over the pairs that vary", "no pair of criteria varies")  # fmt: skip
    yield _Borrowed("beta_binomial_reliability", _histogram, fits.measure(strong.beta_binomial_reliability), LOG_ONE_MINUS, consistency,
        "reliability of the totals of {side} that a beta-binomial fit implies, K/(α+β+K)", "no complete response")  # fmt: skip
    for cut in cuts:
        yield _Borrowed("phi_lambda", _moments, _of_moments(partial(phi_lambda, cut=cut)), LOG_ONE_MINUS, consistency,
            f"dependability Φ(λ) of {{side}} at {cut:g} criteria met: a ratio of squared distances from the cut, not an accuracy",
            _NO_VARIANCE, {"cut": cut})  # fmt: skip
        for name, field_ in (("accuracy", "accuracy"), ("consistency", "consistency")):
            words = {
                "accuracy": f"share of responses that {{side}} would class at {cut:g} criteria met as their true score would, "
                "counting the sampling of lines as error",
                "consistency": f"share of responses that two interchangeable checklists would class alike at {cut:g} criteria met, from {{side}}",
            }[name]
            yield from (
                _Borrowed(f"livingston_lewis_{name}", _histogram, fits.measure(partial(_classification, cut, method, field_)), LOGIT,
                    "checklist", words + ("" if method == "exact" else "; on the published 400-point grid"), "no complete response",
                    {"cut": cut} | ({} if method == "exact" else {"method": method}))
                for method in ("exact", "grid400")
            )  # fmt: skip


def _classification(cut: float, method: str, name: str, fit: strong.BetaBinomial) -> Array:
    how = "exact" if method == "exact" else "grid400"
    found: Array = getattr(strong.livingston_lewis(fit, cut, method=how), name)  # type: ignore[arg-type]
    return found


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Borrowed statistics of one judge's complete responses, beside the reference's."""
    patterns = evidence.patterns
    if patterns is None or len(evidence.criteria) < 2:
        return
    groups = complete_responses(patterns, needs_reference=evidence.has_reference)
    for group in groups[:MOST_CHECKLISTS]:
        params: dict[str, Param] = {} if len(groups) == 1 else {"checklist": _checklist(evidence, group)}
        fits = _Fits()
        for one in _declared(group.n_criteria, evidence.cuts, fits):
            if one.pack is _products and patterns.n_units * group.n_criteria**2 > MOST_PRODUCT_CELLS:
                continue
            yield from _beside_reference(evidence, group, one, params, fits)
        yield from _fit_estimates(evidence, group, params, fits)
        if patterns.n_units * group.n_criteria**2 <= MOST_PRODUCT_CELLS:
            yield from _item_total(evidence, group, params)


def _checklist(evidence: Evidence, group: CompleteResponses) -> str:
    """A name for a set of criteria where responses differ in theirs."""
    first, last = evidence.criteria[group.criteria[0]], evidence.criteria[group.criteria[-1]]
    return f"{first}..{last} ({group.n_criteria})"


def sides(evidence: Evidence) -> Iterator[tuple[Side, str, str]]:
    """Side, source of its ids, and its words."""
    yield "judge", evidence.source, "the judge's verdicts"
    if evidence.has_reference:
        yield "reference", evidence.reference_source, "the reference labels"


def _beside_reference(
    evidence: Evidence, group: CompleteResponses, one: _Borrowed, params: Mapping[str, Param], fits: _Fits
) -> Iterator[Estimate]:
    """The value on each side there is, and the difference."""
    packed = {side: one.pack(group, side) for side, _, _ in sides(evidence)}
    measures = {side: one.measure(tallies.sum(axis=0)) for side, tallies in packed.items()}
    common = {
        "n_excluded": _n_excluded(group),
        "n_clusters": evidence.counts.get("complete"),
        "sizes": group.sizes,
        "params": {**one.params, **params},
    }
    for side, source, words in sides(evidence):
        estimand = one.estimand.replace("{side}", words) + ("" if evidence.has_reference else _ALONE)
        found = assess(
            evidence,
            Statistic(
                one.name,
                measures[side],
                one.scale,
                one.describes if side == "judge" else "bank",
                estimand,
                "response",
                counted=False,
            ),
            packed[side],
            undefined=one.undefined,
            source=source,
            **common,  # type: ignore[arg-type]
        )
        yield _at_boundary(found, one, packed[side], fits)
    if evidence.has_reference:
        width = packed["judge"].shape[1]

        def difference(both: Array) -> Array:
            return measures["judge"](both[..., :width]) - measures["reference"](both[..., width:])

        estimand = "difference, judge minus reference on the same responses: " + one.estimand.replace(
            "{side}", "one side"
        )
        yield assess(
            evidence,
            Statistic(one.name, difference, IDENTITY, one.describes, estimand, "response", counted=False),
            np.concatenate([packed["judge"], packed["reference"]], axis=1),
            undefined=one.undefined,
            source=evidence.difference_source,
            **common,  # type: ignore[arg-type]
        )


def _at_boundary(estimate: Estimate, one: _Borrowed, packed: Array, fits: _Fits) -> Estimate:
    """Say where a fit has no interior maximum; its value is that of the limit."""
    if one.pack is not _histogram or estimate.status != "ok":
        return estimate
    if not bool(fits(packed.sum(axis=0)).boundary):
        return estimate
    return estimate.model_copy(
        update={"reason": f"boundary: {_LIMIT}" + (f"; {estimate.reason}" if estimate.reason else "")}
    )


_LIMIT = (
    "totals spread no more than a binomial's, or only over none and all, so the beta-binomial has no interior maximum"
)


def _n_excluded(group: CompleteResponses) -> int:
    return int(group.patterns.count.sum() - group.sizes.sum())


def _fit_estimates(
    evidence: Evidence, group: CompleteResponses, params: Mapping[str, Param], fits: _Fits
) -> Iterator[Estimate]:
    """Parameters of the beta-binomial and the quality of its fit."""
    for side, source, words in sides(evidence):
        counts = group.histogram(side)
        fit = fits(counts.sum(axis=0))
        alone = "" if evidence.has_reference else _ALONE
        for name in ("alpha", "beta"):
            yield assess(
                evidence,
                Statistic("beta_binomial", partial(_parameter, name, fits), LOG, "bank" if side == "reference" else "measurement system",
                    f"{name} of the beta distribution of true proportions fitted to the totals of {words}{alone}", "response", counted=False),
                counts, undefined=f"boundary: {_LIMIT}" if bool(fit.boundary) else "no complete response", source=source,
                n_excluded=_n_excluded(group), params={"parameter": name, **params},
            )  # fmt: skip
        gof = strong.beta_binomial_gof(fit, counts.sum(axis=0))
        for quantity, value in (("chi2", gof.chi2), ("df", gof.df), ("p", gof.p_value)):
            number = float(value)
            yield exact(
                evidence, "beta_binomial_gof", number if np.isfinite(number) else None, unit="response",
                describes="bank" if side == "reference" else "measurement system",
                reason="no interval: a test of fit, blind to dependence between lines" if np.isfinite(number) else "too few pooled cells for a test",
                source=source, n_used=int(group.sizes.sum()), n_excluded=_n_excluded(group),
                n_clusters=int(np.count_nonzero(group.sizes)), params={"quantity": quantity, **params},
                estimand=f"{quantity} of the beta-binomial fit to the totals of {words}, cells pooled from the left to expect 5{alone}",
            )  # fmt: skip


def _item_total(evidence: Evidence, group: CompleteResponses, params: Mapping[str, Param]) -> Iterator[Estimate]:
    """Each criterion against the total of the others, on the judge's verdicts and on the reference's."""
    k = group.n_criteria
    for side, source, words in sides(evidence):
        packed = group.products(side)
        for position, criterion in enumerate(evidence.criteria[at] for at in group.criteria):
            yield assess(
                evidence,
                Statistic(
                    "item_total_correlation",
                    partial(_correlation_with_rest, k, position),
                    ATANH,
                    "checklist",
                    f"correlation of this criterion with the total of the others in {words}",
                    "response",
                    counted=False,
                ),
                packed,
                undefined=f"{words} are constant on this criterion, or on the total of the others",
                source=source,
                n_excluded=_n_excluded(group),
                n_clusters=evidence.counts.get("complete"),
                sizes=group.sizes,
                params={"criterion": criterion, **params},
            )


def _parameter(name: str, fits: _Fits, counts: Array) -> Array:
    fit = fits(counts)
    value = fit.alpha if name == "alpha" else fit.beta
    return np.where(fit.boundary, np.nan, value)
