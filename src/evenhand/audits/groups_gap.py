"""One gap between a group and what it is held against: cells, interval, what noise in the score adds, the widest of several."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import EstimateId, Param
from evenhand.results import Describes, Estimate, Unit
from evenhand.stats import group_gaps as of
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.binomial import LEAST_DF, t_quantile, upper_probability
from evenhand.stats.group_widest import Widest, widest
from evenhand.stats.hypothesis_tests import holm
from evenhand.stats.resampling import leave_one_out
from evenhand.stats.scales import IDENTITY

RELIABILITIES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Where the corrected gap is given, besides the reliability that the user gave."""
FEWEST_UNITS = 2
"""Clusters that must hold members of either side for a reference score to be compared."""
MOST_STRATA = 20
"""Reference scores up to which each is a stratum of its own; of more, bands of about equal numbers, within which values are adjusted."""
FEWEST_LEVELS = 3
"""Gaps along one axis from which the widest is held against a bar of its own."""
_WITHIN = ("default", "jackknife_t", "jackknife_t_scaled")
_FEW = f"no reference score at which both sides have {of.LEAST_IN_STRATUM} {{members}}, in two clusters or more"


@dataclass(frozen=True, slots=True)
class Pair:
    """A focal group and what it is held against.

    Attributes:
        level: the focal group's name, for ids.
        words: both, for a sentence.
        focal: (n,) 1 for rows of the focal group, 0 for the others.
    """

    level: str
    words: str
    focal: Counts


@dataclass(frozen=True, slots=True)
class Rows:
    """What a gap along one axis is of.

    Attributes:
        axis: the column.
        value, score: (n,) whose mean is compared, and the reference score; the score is all 0 where it plays no part.
        unit, n_units: (n,) unit of resampling, and how many there are.
        count, weight: (n,) members, and the sum of their design weights.
        words: what is compared at equal reference score, up to "a minus b"; the same at equal true score.
        source, metric, more: of the id; more parameters where several runs are told apart.
        unit_word, describes: of the estimate.
        n_all: members of the domain, with those left out.
        family: what the gaps are tested together with.
    """

    axis: str
    value: Array
    score: Array
    unit: Counts
    n_units: int
    count: Counts
    weight: Array
    words: str
    words_true: str
    n_all: int
    source: str = ""
    metric: str = ""
    more: Mapping[str, Param] = field(default_factory=dict)
    unit_word: Unit = "verdict"
    describes: Describes = "judge"
    family: str = "gaps between groups"

    def params(self, pair: Pair | None = None) -> dict[str, Param]:
        """Of the id of a pair's gap, or of all of them."""
        level = pair.level if pair is not None else ""
        return {
            "axis": self.axis,
            **({"level": level} if pair is not None else {}),
            **({"metric": self.metric} if self.metric else {}),
            **self.more,
        }


@dataclass(frozen=True, slots=True)
class Gap:
    """A pair's gap as assessed.

    Attributes:
        estimate: with its interval.
        cells: (U, 2, R, 2) of the kept strata.
        spread: of its units, over all of them; None without a standard error.
    """

    pair: Pair
    estimate: Estimate
    cells: Array
    spread: of.Spread | None


def pairs(group: Counts, names: Sequence[str], axis: str) -> Iterator[Pair]:
    """The second group against the first, or each against the rest."""
    present = np.unique(group).tolist()
    for at in present[1:] if len(present) == 2 else present:
        other = names[present[0]] if len(present) == 2 else "all others"
        yield Pair(names[at], f"{names[at]} minus {other} ({axis})", (group == at).astype(np.int64))


def strata(score: Array | Counts, count: Counts) -> tuple[Counts, int]:
    """(n,) stratum of each row by its reference score, and the number of strata."""
    scores, position = np.unique(score, return_inverse=True)
    if len(scores) <= MOST_STRATA:
        return position, len(scores)
    counts = np.bincount(position, weights=count)
    before = np.cumsum(counts) - counts / 2
    band = np.minimum((before / counts.sum() * MOST_STRATA).astype(np.int64), MOST_STRATA - 1)
    return band[position], MOST_STRATA


def gap(evidence: Evidence, rows: Rows, pair: Pair, here: NDArray[np.bool_] | None = None) -> Gap:
    """The gap of a pair at equal reference score, strata and their weights being those of the full sample."""
    here = np.ones(len(rows.unit), dtype=np.bool_) if here is None else here
    stratum, n_strata = strata(rows.score, rows.count)
    value, banded = rows.value, ""
    if len(np.unique(rows.score)) > n_strata:
        value = of.at_band_means(value, rows.score, pair.focal, stratum, n_strata, rows.weight)
        banded = f"; in {n_strata} bands of the score, values moved to a band's mean score along the slope within bands"
    counted, cells = (
        of.gap_cells(value[here], pair.focal[here], stratum[here], n_strata, rows.unit[here], rows.n_units, one[here])
        for one in (rows.count.astype(np.float64), rows.weight)
    )
    kept = of.kept_strata(counted, units=min(FEWEST_UNITS, rows.n_units))
    counted, cells = counted[:, :, kept], np.asarray(cells[:, :, kept])
    measure, members = partial(of.gap, weights=of.pooled_weights(cells)), cells[..., 1].sum(axis=2)
    statistic = Statistic(
        "group_gap", measure, IDENTITY, rows.describes, f"{rows.words}{pair.words}{banded}", unit=rows.unit_word, counted=False,
        params=rows.params(pair),
    )  # fmt: skip
    n_used = int(counted[..., 1].sum())
    found = assess(
        evidence, statistic, cells, undefined=_FEW.format(members=f"{rows.unit_word}s"), sizes=members.sum(axis=1),
        n_excluded=rows.n_all - n_used, family=rows.family, source=rows.source,
    )  # fmt: skip
    found, spread = within_sides(evidence, found.model_copy(update={"n_used": n_used}), cells, measure, members)
    return Gap(pair, found, cells, spread)


def within_sides(
    evidence: Evidence, found: Estimate, tallies: Array, measure: Measure, members: Array
) -> tuple[Estimate, of.Spread | None]:
    """The estimate with a jackknife that stays within sides where clusters do, and the spread over its (U,) units.

    Args:
        evidence: the interval plan.
        found: as assessed.
        tallies: (U, *cells).
        measure: of them.
        members: (U, 2) on either side.
    """
    active = members.sum(axis=1) > 0
    if found.estimate is None or not found.std_error or active.sum() < 2:
        return found, None
    spread = of.spread_of_gap(np.asarray(measure(leave_one_out(tallies[active]))), members[active])
    deviation = np.zeros(len(tallies))
    deviation[active] = spread.deviation
    everywhere = replace(spread, deviation=deviation)
    if found.ci_low is None or evidence.plan.method not in _WITHIN:
        return found, everywhere
    error = spread.std_error
    if not (spread.df >= LEAST_DF and error > 0):
        nothing = dict.fromkeys(
            ("ci_low", "ci_high", "interval_scale", "interval_df", "interval_std_error", "std_error")
        )
        why = "one of the two groups lies in one cluster, or nearly so: it cannot be told from its cluster"
        return found.model_copy(update={**nothing, "interval_method": "none", "reason": why}), None
    half = t_quantile(upper_probability(evidence.plan.confidence_level), spread.df) * error
    ends = {"ci_low": found.estimate - half, "ci_high": found.estimate + half}
    return found.model_copy(
        update={**ends, "std_error": error, "interval_std_error": error, "interval_df": spread.df}
    ), everywhere


def true_gaps(evidence: Evidence, rows: Rows, seen: Gap) -> Iterator[Estimate]:
    """The gap at equal true score over reliabilities, and the reliability at which nothing is left of it."""
    if seen.estimate.estimate is None:
        return
    cells, pair = seen.cells, seen.pair
    moments = of.score_moments(rows.value, rows.score, pair.focal, rows.unit, rows.n_units, rows.weight)
    flat = np.concatenate([cells.reshape(len(cells), -1), moments.reshape(len(moments), -1)], axis=1)
    shape, weights, at = cells.shape[1:], of.pooled_weights(cells), math.prod(cells.shape[1:])
    members = moments[..., 0]

    def measure(tallies: Array, reliability: float) -> Array:
        observed = of.gap(tallies[..., :at].reshape((*tallies.shape[:-1], *shape)), weights)
        return of.true_gap(observed, tallies[..., at:].reshape((*tallies.shape[:-1], 2, of.N_MOMENTS)), reliability)

    totals, n_used = moments.sum(axis=0), seen.estimate.n_used
    for reliability, said in [*((one, "") for one in RELIABILITIES), *_given(evidence, totals)]:
        words = (
            f"{rows.words_true}{pair.words}, if the reference's reliability within "
            f"groups is {reliability:.3g}{said}, its errors being independent of the group"
        )
        function = partial(measure, reliability=reliability)
        statistic = Statistic(
            "group_gap_true", function, IDENTITY, rows.describes, words, unit=rows.unit_word, counted=False,
            params={**rows.params(pair), "reliability": f"{reliability:.4g}"},
        )  # fmt: skip
        found = assess(
            evidence, statistic, flat, undefined="the reference's scores do not vary within groups", sizes=members.sum(axis=1),
            source=rows.source,
        )  # fmt: skip
        found, _ = within_sides(evidence, found, flat, function, members)
        yield found.model_copy(update={"n_used": n_used, "n_excluded": seen.estimate.n_excluded})
    even = float(of.break_even(seen.estimate.estimate, totals))
    yield exact(
        evidence, "group_gap_true", even if math.isfinite(even) else None, unit=rows.unit_word, describes=rows.describes,
        params={**rows.params(pair), "quantity": "break_even"}, n_used=n_used, source=rows.source,
        reason="a reading of the curve, without an interval of its own" if math.isfinite(even)
        else "at no reliability between 0 and 1 does noise in the reference explain the whole gap",
        estimand=f"reliability of the reference within groups at which nothing is left of the gap: {rows.words}{pair.words}",
    )  # fmt: skip


def _given(evidence: Evidence, totals: Array) -> list[tuple[float, str]]:
    """The reliability within groups behind the one that the user gave of the scores, where there is one."""
    if evidence.reliability is None:
        return []
    within = float(of.within_reliability(evidence.reliability, totals))
    if not math.isfinite(within) or f"{within:.4g}" in {f"{one:.4g}" for one in RELIABILITIES}:
        return []
    return [(within, f" ({evidence.reliability:g} over everybody)")]


def widest_gap(evidence: Evidence, rows: Rows, gaps: Sequence[Gap]) -> Iterator[Estimate]:
    """The widest gap of an axis with several groups, for its standard error, against the bar of the widest of as many zeros."""
    held = [
        (one, one.spread)
        for one in gaps
        if one.spread is not None and one.estimate.std_error and one.spread.df >= LEAST_DF and one.spread.std_error > 0
    ]
    if len(gaps) < FEWEST_LEVELS or len(held) < 2:
        return
    deviations = np.stack([spread.deviation for _, spread in held])
    values = np.array([one.estimate.estimate for one, _ in held], dtype=np.float64)
    df = np.array([spread.df for _, spread in held])
    parts, parts_df = (np.stack([getattr(spread, name) for _, spread in held]) for name in ("parts", "parts_df"))
    level = evidence.plan.confidence_level
    found = widest(values, deviations, parts, parts_df, level, evidence.plan.seed)
    raw = 2 * special.stdtr(df, -np.abs(values / np.sqrt(np.square(deviations).sum(axis=1))))
    p_values = {"raw": float(raw[found.at]), "holm": float(holm(raw)[found.at]), "max_t": found.p_value}
    yield from _of_widest(rows, [one for one, _ in held], found, p_values, float(df[found.at]), level, len(gaps))


def _of_widest(
    rows: Rows, held: Sequence[Gap], found: Widest, p_values: dict[str, float], df: float, level: float, n_gaps: int
) -> Iterator[Estimate]:
    one = held[found.at].estimate
    value, error = one.estimate or 0.0, one.std_error or 0.0
    left = f"; {n_gaps - len(held)} without a standard error left out" if n_gaps > len(held) else ""
    said = (
        f"{held[found.at].pair.level}: {abs(found.t):.2f} standard errors from 0, the bar for the widest of {len(held)} is {found.bar:.2f}"
        f"{left}"
    )
    words = f"the widest gap of {len(held)} along {rows.axis} for its standard error: {one.estimand}"
    common: dict[str, object] = {
        "statistic": "group_gap",
        "p_values": {},
        "simultaneous": None,
        "detectable": None,
        "coverage": None,
    }
    for quantity, number, ends in (
        ("widest", value, (value - found.bar * error, value + found.bar * error)),
        ("bar", found.bar * error, (None, None)),
    ):
        params: Mapping[str, Param] = {**rows.params(), "quantity": quantity}
        named = EstimateId.of("group_gap", one.source, **params)
        is_gap = quantity == "widest"
        yield one.model_copy(
            update={
                **common,
                "id": str(named),
                "params": dict(named.params),
                "estimate": number,
                "std_error": error if is_gap else None,
                "ci_low": ends[0],
                "ci_high": ends[1],
                "interval_method": "max_t_draws" if is_gap else "none",
                "interval_std_error": error if is_gap else None,
                "interval_scale": one.interval_scale if is_gap else None,
                "interval_df": df if is_gap else None,
                "p_values": p_values if is_gap else {},
                "family": f"gaps along {rows.axis}; {len(held)} in all" if is_gap else "",
                "reason": said,
                "estimand": words if is_gap else f"{100 * (1 - level):g} % bar, in units of the gap, of {words}",
            }
        )
