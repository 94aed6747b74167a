"""Strong true-score models of complete responses: on the judge's totals, on the reference's, and their difference.

Everything is a function of the histogram of totals (and, where a reliability is estimated, of the criteria's sums), so
that replicates are fitted from tallies. Every model is fitted once for all that is read from it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from evenhand.audits.beside_reference import (
    ALONE,
    NO_RESPONSE,
    Borrowed,
    Remembered,
    beside_reference,
    n_excluded,
    sides,
    tallied,
    unfrozen,
)
from evenhand.audits.borrowed import checklists
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats import decision_consistency as other
from evenhand.stats import strong_true_score as strong
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.internal_consistency import Moments, kr20
from evenhand.stats.scales import LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.true_scores import ScoreSums, TrueScores, classify, sums_of_histogram
from evenhand.tally.moments import CompleteResponses, Side

ORDER = 61
LIMIT = (
    "totals spread no more than a binomial's, or only over none and all, so the beta-binomial has no interior maximum"
)
NOT_OF_THE_JUDGE = ": about the bank and the checklist, not the judge"
_ONE_SIDED = "no kappa: at this cut every response passes or none does"
_QUANTITIES: dict[str, tuple[Scale, str]] = {
    "accuracy": (LOGIT, "share of responses that {side} would class at %s as their true score would, counting the sampling of lines as error"),
    "consistency": (LOGIT, "share of responses that two interchangeable checklists would class alike at %s, from {side}"),
    "kappa": (LOG_ONE_MINUS, "agreement beyond chance of two interchangeable checklists at %s, from {side}"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Model:
    """A way from tallies of totals to decisions at every cut.

    Attributes:
        name: of the statistic; its quantity is a suffix (livingston_lewis) or a parameter (the others).
        params: of the id, besides cut and quantity.
        decisions: totals of the whole sample → tallies (..., m) → an object with one array (..., cuts) a quantity.
        quantities: those it has.
        words: how, for estimands.
        explain: totals → what to say of the fit, or why there is none; may be empty.
    """

    name: str
    params: Mapping[str, Param]
    decisions: Callable[[Array], Callable[[Array], object]]
    quantities: tuple[str, ...]
    words: str
    explain: Callable[[Array], str]


def declared(model: Model, cuts: tuple[float, ...], what: str) -> Iterator[Borrowed]:
    """Every quantity of a model at every cut; ``what`` a cut counts."""
    for position, cut in enumerate(cuts):
        for quantity in model.quantities:
            scale, words = _QUANTITIES[quantity]
            suffixed = model.name == "livingston_lewis"
            yield Borrowed(
                f"{model.name}_{quantity}" if suffixed else model.name,
                partial(_read, model.decisions, quantity, position),
                scale,
                "checklist",
                words % f"{cut:g} {what}" + model.words + NOT_OF_THE_JUDGE,
                _ONE_SIDED if quantity == "kappa" else NO_RESPONSE,
                {"cut": cut, **({} if suffixed else {"quantity": quantity}), **model.params},
                model.explain,
            )


def _read(
    decisions: Callable[[Array], Callable[[Array], object]], quantity: str, position: int, totals: Array
) -> Measure:
    decide = decisions(totals)

    def measure(tallies: Array) -> Array:
        found: Array = getattr(decide(tallies), quantity)
        return found[..., position]

    return measure


def _once(function: Callable[[Array], object]) -> Callable[[Array], Callable[[Array], object]]:
    """Decisions that freeze nothing, remembered."""
    known = Remembered(function)
    return lambda _totals: known


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Fits, and decisions at every cut, of complete responses with the same checklist."""
    for group, params in checklists(evidence):
        histograms = tallied(evidence, group, CompleteResponses.histogram)
        fits = Remembered(strong.fit_beta_binomial)
        at_limit = partial(_boundary, fits)
        for one in _of_fit(fits, at_limit):
            yield from beside_reference(evidence, histograms, one, params)
        for model in _from_totals(fits, at_limit, evidence.cuts):
            for one in declared(model, evidence.cuts, "criteria met"):
                yield from beside_reference(evidence, histograms, one, params)
        with_criteria = tallied(evidence, group, _histogram_and_criteria)
        for model in _from_criteria(group.n_criteria, evidence.cuts):
            for one in declared(model, evidence.cuts, "criteria met"):
                yield from beside_reference(evidence, with_criteria, one, params)
        if evidence.reliability is not None:
            for model in _given(evidence.reliability, evidence.cuts):
                for one in declared(model, evidence.cuts, "criteria met"):
                    yield from beside_reference(evidence, histograms, one, params)
        yield from _goodness_of_fit(evidence, group, params, fits)


def _histogram_and_criteria(group: CompleteResponses, side: Side) -> Array:
    """(U, 2K+1): responses with each total, and the sum of each criterion."""
    return np.concatenate([group.histogram(side), group.moments(side)[:, 1:-1]], axis=1)


def _boundary(fits: Remembered[strong.BetaBinomial], totals: Array) -> str:
    return f"boundary: {LIMIT}" if bool(fits(totals).boundary) else ""


def _of_fit(fits: Remembered[strong.BetaBinomial], at_limit: Callable[[Array], str]) -> Iterator[Borrowed]:
    """The beta-binomial's reliability and parameters."""
    system: Describes = "measurement system"
    yield Borrowed("beta_binomial_reliability", unfrozen(lambda counts: strong.beta_binomial_reliability(fits(counts))), LOG_ONE_MINUS, system,
        f"reliability of the totals of {{side}} that a beta-binomial fit implies, K/(α+β+K){NOT_OF_THE_JUDGE}", NO_RESPONSE, explain=at_limit)  # fmt: skip
    for name in ("alpha", "beta"):
        yield Borrowed("beta_binomial", unfrozen(partial(_parameter, name, fits)), LOG, system,
            f"{name} of the beta distribution of true proportions fitted to the totals of {{side}}", NO_RESPONSE,
            {"parameter": name}, at_limit)  # fmt: skip


def _parameter(name: str, fits: Remembered[strong.BetaBinomial], counts: Array) -> Array:
    fit = fits(counts)
    value: Array = getattr(fit, name)
    return np.where(fit.boundary, np.nan, value)


def _from_totals(
    fits: Remembered[strong.BetaBinomial], at_limit: Callable[[Array], str], cuts: tuple[float, ...]
) -> Iterator[Model]:
    """Models that need the histogram of totals alone."""
    exactly = _once(lambda counts: strong.livingston_lewis(fits(counts), cuts))
    on_grid = _once(lambda counts: strong.livingston_lewis(fits(counts), cuts, method="grid400"))
    yield Model("livingston_lewis", {}, exactly, ("accuracy", "consistency", "kappa"), "", at_limit)
    yield Model("livingston_lewis", {"method": "grid400"}, on_grid, ("accuracy", "consistency"),
        "; on the published 400-point grid", at_limit)  # fmt: skip
    yield Model("huynh", {}, _once(lambda counts: other.huynh(counts, cuts)), ("consistency", "kappa"),
        ", by Huynh's (1976) beta-binomial whose reliability of the totals is KR-21, its s² over n−1", _huynh_limit)  # fmt: skip


def _huynh_limit(totals: Array) -> str:
    fit = other.fit_huynh(totals)
    return "boundary: KR-21 is not between 0 and 1" if bool(fit.boundary) else constant(sums_of_histogram(totals))


def constant(sums: ScoreSums) -> str:
    """Why no moments can be fitted, where scores do not vary."""
    if not sums.n > 1:
        return "fewer than two responses"
    return "" if sums.variance > 0 else "scores do not vary: no model of true scores can be fitted to them"


def _from_criteria(K: int, cuts: tuple[float, ...]) -> Iterator[Model]:
    """Models that take a reliability, with Cronbach's alpha of the same responses."""
    own = ", the reliability of the totals being Cronbach's alpha of the same responses"
    yield from _with_reliability(lambda packed: _alpha(K, packed), lambda packed: packed[..., : K + 1], cuts, own, {})


def _alpha(K: int, packed: Array) -> Array:
    counts = packed[..., : K + 1]
    return kr20(Moments(counts.sum(axis=-1), packed[..., K + 1 :], counts @ np.arange(K + 1) ** 2), variance="n")


def _given(reliability: float, cuts: tuple[float, ...]) -> Iterator[Model]:
    """The same models with the reliability that was given."""
    words = f", with the given reliability {reliability:g}"
    yield from _with_reliability(
        lambda packed: np.full(packed.shape[:-1], reliability), lambda packed: packed, cuts, words, {"reliability": reliability}
    )  # fmt: skip


def _with_reliability(
    reliability: Callable[[Array], Array],
    histogram: Callable[[Array], Array],
    cuts: tuple[float, ...],
    words: str,
    params: Mapping[str, Param],
) -> Iterator[Model]:
    def fit(packed: Array, n_parameters: int = 4) -> TrueScores:
        return other.fit_hanson_brennan(histogram(packed), reliability(packed), n_parameters=n_parameters)

    def hanson_brennan(n_parameters: int, packed: Array) -> strong.Classification:
        """With the number of parameters of the whole sample; undefined where four are impossible in a part of it."""
        fitted = fit(packed, n_parameters)
        found = classify(fitted, np.array(cuts) / (histogram(packed).shape[-1] - 1))
        kept = (fitted.n_parameters == n_parameters)[..., None]
        parts = (found.accuracy, found.consistency, found.pass_rate)
        return strong.Classification(*(np.where(kept, part, np.nan) for part in parts))

    frozen = {n: Remembered(partial(hanson_brennan, n)) for n in (2, 4)}

    def subkoviak(packed: Array) -> other.Consistency:
        return other.subkoviak(histogram(packed), reliability(packed), cuts)

    def remark(packed: Array) -> str:
        return constant(sums_of_histogram(histogram(packed))) or of_fit(fit(packed))

    yield Model("hanson_brennan", params, lambda totals: frozen[int(fit(totals).n_parameters)], ("accuracy", "consistency", "kappa"),
        f", by Hanson and Brennan's (1990) four-parameter beta and compound binomial{words}", remark)  # fmt: skip
    yield Model("subkoviak", params, _once(subkoviak), ("consistency", "kappa"),
        f", by Subkoviak's (1976) regressed true scores{words}", lambda packed: constant(sums_of_histogram(histogram(packed))))  # fmt: skip


def of_fit(fit: TrueScores, asked: int = 4) -> str:
    """What to say of a fit by moments: its fallback, its boundary."""
    if bool(fit.boundary):
        return "boundary: the true scores' variance is not between 0 and that of passing and failing alone"
    if asked == 4 and int(fit.n_parameters) == 2:
        return "four parameters are impossible here (an end outside the scale or a shape not above 0): two fitted, ends 0 and 1"
    return ""


def _goodness_of_fit(
    evidence: Evidence, group: CompleteResponses, params: Mapping[str, Param], fits: Remembered[strong.BetaBinomial]
) -> Iterator[Estimate]:
    """Quality of the beta-binomial's fit, side by side."""
    for side, source, words in sides(evidence):
        counts = group.histogram(side).sum(axis=0)
        gof = strong.beta_binomial_gof(fits(counts), counts)
        for quantity, value in (("chi2", gof.chi2), ("df", gof.df), ("p", gof.p_value)):
            number = float(value)
            yield exact(
                evidence, "beta_binomial_gof", number if np.isfinite(number) else None, unit="response",
                describes="bank" if side == "reference" else "measurement system",
                reason="no interval: a test of fit, blind to dependence between lines" if np.isfinite(number) else "too few pooled cells for a test",
                source=source, n_used=int(group.sizes.sum()), n_excluded=n_excluded(group),
                n_clusters=int(np.count_nonzero(group.sizes)), params={"quantity": quantity, **params},
                estimand=f"{quantity} of the beta-binomial fit to the totals of {words}, cells pooled from the left to expect 5"
                + ("" if evidence.has_reference else ALONE),
            )  # fmt: skip
