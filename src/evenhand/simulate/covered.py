"""The statistics whose intervals are held against the truth: each as the audits declare it, on tallies of simulated banks.

Ids are those of an audit. `tests/simulate` holds every declaration here against an audit of the same verdicts. What is
another statistic's number, or its complement, with the same interval (recall, Lin's concordance, leniency) stands in ALIASES.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from evenhand.simulate.banks import N_LINES, N_RATERS, PATTERNS, Tallies
from evenhand.stats import agreement as of
from evenhand.stats import ensembles, marks, pairwise
from evenhand.stats import weighted_agreement as weighted
from evenhand.stats.arrays import Array, Measure, ratio
from evenhand.stats.generalizability import phi_lambda
from evenhand.stats.icc import icc, icc_components_with_holes, sums_with_holes
from evenhand.stats.internal_consistency import Moments, kr20, mean_total, sd_total
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.weights import agreement_weights

ALIASES: Mapping[str, str] = {
    "recall": "false_reject_rate",
    "specificity": "false_accept_rate",
    "lin_ccc": "quadratic_weighted_kappa",
    "leniency": "bias",
    "cronbach_alpha": "kr20",
    "total_correlation": "pearson_r",
    "selective_accuracy": "observed_agreement",
}
"""Statistic → the one that it is, or is the complement of, on the same tallies."""
CUT = 5
"""Criteria that a response has to meet to pass."""
_LEVELS = np.arange(N_LINES + 1, dtype=np.float64)
_Cell = tuple[int, int]
_TN, _FP, _FN, _TP = (0, 0), (0, 1), (1, 0), (1, 1)


@dataclass(frozen=True, slots=True)
class Covered:
    """One statistic.

    Attributes:
        id: as in an audit.
        tallies: of banks, (..., *cells), sums of what single responses give.
        measure: (..., *cells) → (...).
        scale: where jackknife values are about normal.
        is_rate: cells are (events, non-events).
        chance: expected agreement at a table's margins, for coefficients 1 - disagreement/(1 - chance).
        from_rate: maps the share of events to the statistic.
        sizes: members of the population by cluster; the sum of the cells by default.
    """

    id: str
    tallies: Callable[[Tallies], Array]
    measure: Measure
    scale: Scale
    is_rate: bool = False
    chance: Measure | None = None
    from_rate: Callable[[Array], Array] | None = None
    sizes: Callable[[Tallies], Array] | None = None

    def value(self, expected: Tallies) -> float:
        """The statistic of a whole population, from the expected tallies of one response."""
        many = 1e12  # divisors n - 1 are n
        return float(self.measure(self.tallies(expected) * many))


@cache
def covered() -> Mapping[str, Covered]:
    """Every statistic of the study by id."""
    found = (*_of_tables(), *_of_lines(), *_of_marks(), *_of_totals(), *_of_raters())
    return {one.id: one for one in found}


def _pooled(tallies: Tallies) -> Array:
    """(..., 2, 2) over all lines."""
    pooled: Array = tallies.lines.sum(axis=-3)
    return pooled


def _rate(name: str, events: tuple[_Cell, ...], others: tuple[_Cell, ...]) -> Covered:
    def cells(tallies: Tallies) -> Array:
        table = _pooled(tallies)
        return np.stack([sum(table[..., r, j] for r, j in group) for group in (events, others)], axis=-1)

    return Covered(f"{name}/judge", cells, of.share, LOGIT, is_rate=True)


def _of_tables() -> Iterator[Covered]:
    """Of the pooled table of verdicts."""
    yield _rate("observed_agreement", (_TP, _TN), (_FP, _FN))
    yield _rate("error_rate", (_FP, _FN), (_TP, _TN))
    yield _rate("false_accept_rate", (_FP,), (_TN,))
    yield _rate("false_reject_rate", (_FN,), (_TP,))
    yield _rate("precision", (_TP,), (_FP,))
    yield _rate("npv", (_TN,), (_FN,))
    yield _rate("prevalence", (_TP, _FN), (_FP, _TN))
    yield _rate("judge_positive_rate", (_TP, _FP), (_FN, _TN))
    yield Covered(
        "f1/judge",
        lambda tallies: _rate("f1", (_TP,), (_FP, _FN)).tallies(tallies),
        of.f1,
        LOGIT,
        is_rate=True,
        from_rate=lambda share: 2 * share / (1 + share),
    )
    for name, measure, chance in (
        ("cohen_kappa", of.cohen_kappa, of.cohen_chance),
        ("gwet_ac1", of.gwet_ac1, of.gwet_chance),
        ("brennan_prediger", of.brennan_prediger, of.uniform_chance),
        ("scott_pi", of.scott_pi, of.scott_chance),
    ):
        yield Covered(f"{name}/judge", _pooled, measure, LOG_ONE_MINUS, chance=chance)
    yield Covered("phi/judge", _pooled, of.phi, ATANH, chance=of.cohen_chance)
    yield Covered("balanced_accuracy/judge", _pooled, of.balanced_accuracy, LOGIT)


def _mean_over_lines(measure: Measure, lines: Array) -> Array:
    return ratio(np.asarray(measure(lines)).sum(axis=-1), np.asarray(float(lines.shape[-3])))


def _of_lines() -> Iterator[Covered]:
    """Means over the lines of the checklist."""
    for name, measure, scale in (("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS), ("phi", of.phi, ATANH)):
        yield Covered(
            f"{name}[aggregation=macro]/judge",
            lambda tallies: tallies.lines,
            partial(_mean_over_lines, measure),
            scale,
        )


def _flat_totals(tallies: Tallies) -> Array:
    return tallies.totals.reshape(*tallies.totals.shape[:-2], -1)


def _responses(tallies: Tallies) -> Array:
    n: Array = tallies.totals.sum(axis=(-2, -1))
    return n


def _of_marks() -> Iterator[Covered]:
    """Of totals as marks from 0 to the number of lines."""
    reference, judge = np.repeat(_LEVELS, len(_LEVELS)), np.tile(_LEVELS, len(_LEVELS))
    by_cell = marks.mark_sums(reference, judge, np.arange(len(reference)), len(reference))
    moments: tuple[tuple[str, Measure, Scale], ...] = (
        ("bias", marks.bias, IDENTITY),
        ("mae", marks.mae, LOG),
        ("rmse", marks.rmse, LOG),
        ("pearson_r", marks.pearson_r, ATANH),
        ("spread_ratio", marks.spread_ratio, LOG),
        ("smd", marks.smd, IDENTITY),
        ("smd[method=pooled]", partial(marks.smd, method="pooled"), IDENTITY),
    )
    for name, measure, scale in moments:
        yield Covered(
            f"{name}/judge", lambda tallies: _flat_totals(tallies) @ by_cell, measure, scale, sizes=_responses
        )
    linear, quadratic = agreement_weights("linear", _LEVELS), agreement_weights("quadratic", _LEVELS)
    of_levels: tuple[tuple[str, Measure, Scale], ...] = (
        ("quadratic_weighted_kappa", partial(weighted.quadratic_weighted_kappa, levels=_LEVELS), LOG_ONE_MINUS),
        ("weighted_kappa[weights=linear]", partial(weighted.weighted_kappa, weights=linear), LOG_ONE_MINUS),
        ("gwet_ac2", partial(weighted.gwet_ac2, weights=quadratic), LOG_ONE_MINUS),
        ("spearman_rho", marks.spearman_rho, ATANH),
        ("kendall_tau", marks.kendall_tau, ATANH),
    )
    for name, measure, scale in of_levels:
        yield Covered(f"{name}/judge", lambda tallies: tallies.totals, measure, scale)
    apart = np.abs(_LEVELS[:, None] - _LEVELS)
    yield _share_of_totals("exact_agreement", apart == 0)
    yield _share_of_totals("adjacent_agreement", apart <= 1)
    passes = _LEVELS >= CUT
    yield _share_of_totals(f"accuracy[cut={CUT}]", passes[:, None] == passes)
    higher = np.sign(_LEVELS - _LEVELS[:, None]).astype(np.int64)
    outcomes = [higher == sign for sign in (1, 0, -1)]
    yield Covered(
        "win_rate/judge",
        lambda tallies: np.stack([(tallies.totals * one).sum(axis=(-2, -1)) for one in outcomes], axis=-1),
        pairwise.win_rate,
        LOGIT,
    )


def _share_of_totals(name: str, events: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Covered:
    def cells(tallies: Tallies) -> Array:
        return np.stack([(tallies.totals * kept).sum(axis=(-2, -1)) for kept in (events, ~events)], axis=-1)

    return Covered(f"{name}/judge", cells, of.share, LOGIT, is_rate=True)


def _moments(tallies: Tallies, axis: int) -> Array:
    """(..., K+2) packed moments of the judge's side (axis -1 of the tables) or the reference's (axis -2)."""
    other = -3 - axis
    squares = (tallies.totals.sum(axis=other) * np.square(_LEVELS)).sum(axis=-1)
    met = tallies.lines.sum(axis=other)[..., 1]
    return np.concatenate([_responses(tallies)[..., None], met, squares[..., None]], axis=-1)


def _unpacked(packed: Array) -> Moments:
    return Moments(packed[..., 0], packed[..., 1:-1], packed[..., -1])


def _of_totals() -> Iterator[Covered]:
    """Of complete checklists, as test theory takes them."""
    judge = partial(_moments, axis=-1)
    phi_at_cut = partial(phi_lambda, cut=CUT)
    for name, function, scale in (
        ("mean_total", mean_total, IDENTITY),
        ("sd_total", sd_total, LOG),
        ("kr20", kr20, LOG_ONE_MINUS),
        (f"phi_lambda[cut={CUT}]", phi_at_cut, LOG_ONE_MINUS),
    ):
        yield Covered(f"{name}/judge", judge, partial(_of_moments, function), scale, sizes=_responses)
        yield Covered(
            f"{name}/judge-reference", _both_moments, partial(_difference, function), IDENTITY, sizes=_responses
        )


def _of_moments(function: Callable[[Moments], Array], packed: Array) -> Array:
    return function(_unpacked(packed))


def _both_moments(tallies: Tallies) -> Array:
    return np.concatenate([_moments(tallies, -1), _moments(tallies, -2)], axis=-1)


def _difference(function: Callable[[Moments], Array], both: Array) -> Array:
    width = both.shape[-1] // 2
    return function(_unpacked(both[..., :width])) - function(_unpacked(both[..., width:]))


def _of_raters() -> Iterator[Covered]:
    """Of several raters with missing verdicts, each row of labels giving its own part of the sums."""
    alone, n = np.arange(len(PATTERNS)), len(PATTERNS)
    rated = (PATTERNS >= 0).sum(axis=1)
    once, twice = ((rated >= times).astype(np.float64) for times in (1, 2))
    counts, same = ensembles.profiles(PATTERNS, 2), agreement_weights("identity", np.arange(2))
    profile = ensembles.profile_sums(counts, alone, n)
    pairs = ensembles.coincidence_sums(counts, alone, n)
    conger = ensembles.conger_sums(PATTERNS, 2, alone, n)
    values = np.where(PATTERNS >= 0, PATTERNS, np.nan)
    tables = ensembles.pair_tables(PATTERNS, 2, alone, n)

    def one(name: str, rows: Array, measure: Measure, scale: Scale, sized: Array) -> Covered:
        return Covered(
            f"{name}/raters",
            lambda tallies: np.tensordot(tallies.patterns, rows, axes=1),
            measure,
            scale,
            sizes=lambda tallies: tallies.patterns @ sized,
        )

    yield one("observed_agreement", profile, partial(ensembles.percent_agreement, weights=same), LOGIT, twice)
    yield one("fleiss_kappa", profile, partial(ensembles.fleiss_kappa, weights=same), LOG_ONE_MINUS, once)
    yield one("gwet_ac1", profile, partial(ensembles.gwet_ac, weights=same), LOG_ONE_MINUS, once)
    yield one("brennan_prediger", profile, partial(ensembles.brennan_prediger, weights=same), LOG_ONE_MINUS, once)
    yield one("conger_kappa", conger, partial(ensembles.conger_kappa, weights=same), LOG_ONE_MINUS, once)
    nominal = partial(ensembles.krippendorff_alpha, metric="nominal", levels=np.arange(2.0))
    yield one("krippendorff_alpha[metric=nominal]", pairs, nominal, LOG_ONE_MINUS, twice)
    yield one("mean_pairwise_kappa", tables, ensembles.mean_pairwise_kappa, LOG_ONE_MINUS, twice)
    yield one("mean_pairwise_phi", tables, ensembles.mean_pairwise_phi, ATANH, twice)
    yield one("icc", sums_with_holes(values, alone, n), _icc, LOG_ONE_MINUS, once)


def _icc(sums: Array) -> Array:
    return icc(icc_components_with_holes(sums), "A,1", N_RATERS)
