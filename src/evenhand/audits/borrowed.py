"""Internal consistency and dependability: on the judge's verdicts, on reference labels, and their difference."""

from collections.abc import Callable, Iterator
from functools import partial

from evenhand.audits.beside_reference import Borrowed, beside_reference, tallied, unfrozen
from evenhand.audits.evidence import Evidence
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats import internal_consistency as of
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.generalizability import phi_lambda
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS
from evenhand.tally.moments import (
    MOST_PRODUCT_CELLS,
    CompleteResponses,
    complete_responses,
    unpack_moments,
    unpack_products,
)

ORDER = 60
MOST_CHECKLISTS = 12
"""Different sets of criteria among complete responses beyond which only the commonest are computed."""
_NO_VARIANCE = "totals do not vary: every response has the same total, or there is one response or one criterion"
_NO_PAIR = "no pair of criteria varies"
_SYSTEM: Describes = "measurement system"


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Moments of complete responses with the same checklist."""
    for group, params in checklists(evidence):
        moments = tallied(evidence, group, CompleteResponses.moments)
        for one in _of_moments(evidence.cuts):
            yield from beside_reference(evidence, moments, one, params)
        if group.n_product_cells > MOST_PRODUCT_CELLS:
            continue
        products = tallied(evidence, group, CompleteResponses.products)
        criteria = tuple(evidence.criteria[at] for at in group.criteria)
        for one in (*of_products(group.n_criteria, "verdicts"), *item_totals(criteria)):
            yield from beside_reference(evidence, products, one, params)


def checklists(evidence: Evidence) -> Iterator[tuple[CompleteResponses, dict[str, Param]]]:
    """Complete responses by their set of criteria, with the parameter that names it where there are several."""
    if evidence.patterns is None or len(evidence.criteria) < 2:
        return
    groups = complete_responses(evidence.patterns, needs_reference=evidence.has_reference)
    for group in groups[:MOST_CHECKLISTS]:
        first, last = evidence.criteria[group.criteria[0]], evidence.criteria[group.criteria[-1]]
        yield group, {} if len(groups) == 1 else {"checklist": f"{first}..{last} ({group.n_criteria})"}


def _moments(function: Callable[[of.Moments], Array]) -> Callable[[Array], Measure]:
    return unfrozen(lambda packed: function(unpack_moments(packed)))


# fmt: off
def _of_moments(cuts: tuple[float, ...]) -> Iterator[Borrowed]:
    """Statistics of a unit's moments."""
    yield Borrowed("mean_total", _moments(of.mean_total), IDENTITY, "bank", "mean total of {side}, in criteria met", "no complete response")
    yield Borrowed("sd_total", _moments(of.sd_total), LOG, "bank",
        "standard deviation of the totals of {side}, divisor n−1, in criteria met", "fewer than two complete responses")
    yield Borrowed("kr20", _moments(of.kr20), LOG_ONE_MINUS, _SYSTEM,
        "internal consistency (KR-20) of {side} over the checklist's lines, item variances with 1/n and the total's with "
        "1/(n−1) as published by Zhu (2026): about the bank and the checklist, not the judge", _NO_VARIANCE)
    yield Borrowed("kr20", _moments(partial(of.kr20, variance="n")), LOG_ONE_MINUS, _SYSTEM,
        "internal consistency (KR-20) of {side} over the checklist's lines, both variances with 1/n: Cronbach's alpha",
        _NO_VARIANCE, {"variance": "n"})
    yield Borrowed("kr21", _moments(of.kr21), LOG_ONE_MINUS, _SYSTEM,
        "KR-21 of {side}: KR-20 as if every line were equally hard, item variances with 1/n and the total's with 1/(n−1)", _NO_VARIANCE)
    yield Borrowed("kr21", _moments(partial(of.kr21, variance="n")), LOG_ONE_MINUS, _SYSTEM,
        "KR-21 of {side}: KR-20 as if every line were equally hard, both variances with 1/n", _NO_VARIANCE, {"variance": "n"})
    for cut in cuts:
        yield Borrowed("phi_lambda", _moments(partial(phi_lambda, cut=cut)), LOG_ONE_MINUS, _SYSTEM,
            f"dependability Φ(λ) of {{side}} at {cut:g} criteria met: a ratio of squared distances from the cut, not an accuracy",
            _NO_VARIANCE, {"cut": cut})
# fmt: on


def of_products(n_criteria: int, what: str) -> Iterator[Borrowed]:
    """Statistics of a unit's cross products of criteria; ``what`` there is on each: verdicts or marks."""
    again, lines = (
        (": kr20[variance=n] on 0/1 verdicts", "the checklist's lines") if what == "verdicts" else ("", "the criteria")
    )
    yield Borrowed("cronbach_alpha", partial(_alpha, n_criteria), LOG_ONE_MINUS, _SYSTEM,
        f"internal consistency (Cronbach's alpha) of {{side}} over {lines}{again}", _NO_VARIANCE)  # fmt: skip
    yield Borrowed("standardized_alpha", partial(_standardized_alpha, n_criteria), LOG_ONE_MINUS, _SYSTEM,
        "alpha of {side} as if every line varied alike: K r/(1+(K−1)r) of the mean correlation r between criteria", _NO_PAIR)  # fmt: skip
    yield Borrowed("mean_intercriterion_correlation", partial(_mean_correlation, n_criteria), ATANH, _SYSTEM,
        "mean correlation between two criteria of {side}, over the pairs that vary", _NO_PAIR)  # fmt: skip


def item_totals(criteria: tuple[str, ...]) -> Iterator[Borrowed]:
    """Each criterion against the total of the others."""
    for position, criterion in enumerate(criteria):
        yield Borrowed("item_total_correlation", unfrozen(partial(_correlation_with_rest, len(criteria), position)), ATANH, "checklist",
            "correlation of this criterion with the total of the others in {side}",
            "constant on this criterion, or on the total of the others", {"criterion": criterion})  # fmt: skip


def _alpha(n_criteria: int, _totals: Array) -> Measure:
    return lambda packed: of.cronbach_alpha(unpack_products(packed, n_criteria))


def _mean_correlation(n_criteria: int, totals: Array) -> Measure:
    pairs = of.varying_pairs(unpack_products(totals, n_criteria))
    return lambda packed: of.mean_intercriterion_correlation(unpack_products(packed, n_criteria), pairs)


def _standardized_alpha(n_criteria: int, totals: Array) -> Measure:
    correlation = _mean_correlation(n_criteria, totals)
    return lambda packed: of.standardized_alpha(correlation(packed), n_criteria)


def _correlation_with_rest(n_criteria: int, position: int, packed: Array) -> Array:
    return of.item_total_correlation(unpack_products(packed, n_criteria))[..., position]
