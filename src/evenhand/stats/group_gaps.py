"""Gaps between a focal group and a reference group at equal reference score, and what noise in the score adds to them.

Cells of a gap are (..., 2, R, 2): the reference group, then the focal one; strata of the score; sum of the value and
number of members. Strata and their weights are those of the full sample, in every replicate.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from evenhand.stats.arrays import Array, Counts, ratio

LEAST_IN_STRATUM = 5
"""Members of either group below which a stratum is left out."""
N_MOMENTS = 5
_ROUNDING = 1e-12


def gap_cells(
    value: Array, focal: Counts, stratum: Counts, n_strata: int, unit: Counts, n_units: int, count: Array
) -> Array:
    """(U, 2, R, 2) cells from (n,) rows: value, 1 for the focal group and 0 for the other, stratum, unit, repeats."""
    code, shape = (unit * 2 + focal) * n_strata + stratum, (n_units, 2, n_strata)
    size = n_units * 2 * n_strata
    sums = [np.bincount(code, weights=weight, minlength=size).reshape(shape) for weight in (count * value, count)]
    return np.stack(sums, axis=-1)


def at_band_means(value: Array, score: Array, focal: Counts, stratum: Counts, n_strata: int, count: Array) -> Array:
    """(n,) values moved to the mean score of their stratum, along the slope of the value on the score within strata and groups.

    A stratum that is a band of scores holds the lower ones of the group with the lower mean: without this, a judge that gives
    back the score itself would show a gap.

    Args:
        value, score: (n,).
        focal, stratum, n_strata, count: as in `gap_cells`.
    """
    cell = stratum * 2 + focal
    n, h, y = (
        np.bincount(cell, weights=one, minlength=2 * n_strata).astype(np.float64)
        for one in (count, count * score, count * value)
    )
    totals, sizes = (one.reshape(-1, 2).sum(axis=1) for one in (h, n))
    x, held = score - ratio(h, n)[cell], score - ratio(totals, sizes)[stratum]
    spread, product = float((count * x * x).sum()), float((count * x * (value - ratio(y, n)[cell])).sum())
    slope = product / spread if spread > _ROUNDING * float((count * score * score).sum()) else 0.0
    return value - slope * held


def kept_strata(cells: Array, least: float = LEAST_IN_STRATUM, units: int = 1) -> NDArray[np.bool_]:
    """(R,) whether a stratum holds that many members of either group, in so many units, from (U, 2, R, 2) cells."""
    members = cells[..., 1]
    enough = (members.sum(axis=0) >= least) & ((members > 0).sum(axis=0) >= units)
    kept: NDArray[np.bool_] = enough.all(axis=0)
    return kept


def pooled_weights(cells: Array) -> Array:
    """(R,) share of all members, both groups together, in each stratum of (U, 2, R, 2) cells."""
    counts = cells[..., 1].sum(axis=(0, 1))
    return ratio(counts, counts.sum())


def gap(cells: Array, weights: Array) -> Array:
    """Weighted mean over strata of the focal group's mean less the other's; (..., 2, R, 2) and (R,) → (...).

    NaN without a stratum, or where a stratum holds none of a group.
    """
    if not len(weights):
        return np.full(cells.shape[:-3], np.nan)
    means = ratio(cells[..., 0], cells[..., 1])
    found: Array = ((means[..., 1, :] - means[..., 0, :]) * weights).sum(axis=-1)
    return found


def score_moments(value: Array, score: Array, focal: Counts, unit: Counts, n_units: int, count: Array) -> Array:
    """(U, 2, 5) of both groups: members, ΣH, ΣH², Σy, ΣHy, with H the score and y the value."""
    code = unit * 2 + focal
    columns = (count, count * score, count * score**2, count * value, count * score * value)
    sums = [np.bincount(code, weights=weight, minlength=2 * n_units).reshape(n_units, 2) for weight in columns]
    return np.stack(sums, axis=-1)


def within_slope(moments: Array) -> Array:
    """Slope of the value on the score within groups, from (..., 2, 5); NaN where the score does not vary in them."""
    n, h, hh, y, hy = (moments[..., at] for at in range(N_MOMENTS))
    spread, product = (hh - ratio(h * h, n)).sum(axis=-1), (hy - ratio(h * y, n)).sum(axis=-1)
    return ratio(product, np.where(spread > _ROUNDING * hh.sum(axis=-1), spread, 0.0))


def score_difference(moments: Array) -> Array:
    """Mean score of the focal group less the other's, from (..., 2, 5)."""
    means = ratio(moments[..., 1], moments[..., 0])
    return np.asarray(means[..., 1] - means[..., 0])


def true_gap(observed: ArrayLike, moments: Array, reliability: float) -> Array:
    """The gap at equal *true* score: observed - β (1 - ρ)/ρ Δμ.

    β is the slope of the value on the score within groups, Δμ the groups' mean difference of the score, ρ in (0, 1] the
    score's reliability within groups. Members of a group with the lower mean who share a noisy score with the other group
    have the lower true score on average (Kelley's regression); this takes that out. It needs errors of the score that
    do not depend on the group.
    """
    pull = within_slope(moments) * score_difference(moments)
    return np.asarray(np.asarray(observed, dtype=np.float64) - pull * (1 - reliability) / reliability)


def break_even(observed: ArrayLike, moments: Array) -> Array:
    """Reliability at which the corrected gap is 0: βΔμ/(βΔμ + observed); NaN where no ρ in (0, 1) makes it so."""
    pull = within_slope(moments) * score_difference(moments)
    found = ratio(pull, pull + np.asarray(observed, dtype=np.float64))
    return np.where((found > 0) & (found < 1), found, np.nan)


def within_reliability(total: float, moments: Array) -> Array:
    """Reliability within groups, 1 - (1 - ρ)σ²/σ²_within, from that over everybody and (..., 2, 5); NaN if not above 0."""
    n, h, hh = (moments[..., at] for at in range(3))
    size = n.sum(axis=-1)
    within = ratio((hh - ratio(h * h, n)).sum(axis=-1), size)
    whole = ratio(hh.sum(axis=-1), size) - ratio(h.sum(axis=-1), size) ** 2
    found = 1 - (1 - total) * ratio(whole, within)
    return np.where(found > 0, found, np.nan)


@dataclass(frozen=True, slots=True)
class Fairness:
    """How much of a score's errors groups explain: adjusted R² and the p of its F test (independent rows)."""

    r_squared: float
    p_value: float


def _adjusted(left: float, whole: float, n: float, n_parameters: int) -> float:
    return 1 - (left / (n - n_parameters)) / (whole / (n - 1))


def _f_test(fewer: float, more: float, df: int, df_left: float) -> float:
    if more <= _ROUNDING * fewer or df < 1 or df_left < 1:
        return float("nan")
    return float(special.fdtrc(df, df_left, (fewer - more) / df / (more / df_left)))


def group_share(value: Array, group: Counts, n_groups: int, count: Array) -> Fairness:
    """Adjusted R² of a value on groups: RSMTool's overall score accuracy for squared errors, difference for errors.

    Args:
        value: (n,).
        group: (n,) in 0 ... H - 1, all of which occur.
        n_groups: H.
        count: (n,) repeats.
    """
    n = float(count.sum())
    sums, sizes = (np.bincount(group, weights=weight, minlength=n_groups) for weight in (count * value, count))
    whole = float((count * value**2).sum()) - float((count * value).sum()) ** 2 / n
    left = whole - (float((sums**2 / sizes).sum()) - float(sums.sum()) ** 2 / n)
    if n <= n_groups or n_groups < 2 or whole <= _ROUNDING:
        return Fairness(float("nan"), float("nan"))
    return Fairness(_adjusted(left, whole, n, n_groups), _f_test(whole, left, n_groups - 1, n - n_groups))


def conditional_group_share(value: Array, score: Array, group: Counts, n_groups: int, count: Array) -> Fairness:
    """What groups add to the adjusted R² of a value on levels of the score: RSMTool's conditional score difference.

    Args:
        value: (n,), errors for RSMTool's.
        score: (n,), every different one a level of its own.
        group, n_groups, count: as in `group_share`.
    """
    levels, at = np.unique(score, return_inverse=True)
    n, root, n_levels = float(count.sum()), np.sqrt(count), len(levels)
    if n <= n_groups + n_levels or n_groups < 2:
        return Fairness(float("nan"), float("nan"))
    base = (at[:, None] == np.arange(n_levels)).astype(np.float64)
    dummies = (group[:, None] == np.arange(1, n_groups)).astype(np.float64)
    whole = float((count * value**2).sum()) - float((count * value).sum()) ** 2 / n
    lefts, ranks = [], []
    for design in (base, np.concatenate([base, dummies], axis=1)):
        found, _, rank, _ = np.linalg.lstsq(root[:, None] * design, root * value, rcond=None)
        lefts.append(float((count * (value - design @ found) ** 2).sum()))
        ranks.append(int(rank))
    if whole <= _ROUNDING:
        return Fairness(float("nan"), float("nan"))
    added = _adjusted(lefts[1], whole, n, ranks[1]) - _adjusted(lefts[0], whole, n, ranks[0])
    return Fairness(added, _f_test(lefts[0], lefts[1], ranks[1] - ranks[0], n - ranks[1]))


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a gap moves with its units.

    Attributes:
        deviation: (G,) scaled so that the variance is the sum of their squares.
        parts: (2,) expected shares of the two sides in the variance, were units alike; one side takes all where units lie on both.
        parts_df: (2,) degrees of freedom of each part.
    """

    deviation: Array
    parts: Array
    parts_df: Array

    @property
    def std_error(self) -> float:
        """Square root of the variance."""
        return float(np.sqrt(np.square(self.deviation).sum()))

    @property
    def df(self) -> float:
        """Of a t interval: 1/Σ share²/df of the parts; 0 where a part has none.

        Satterthwaite's (1946) with expected shares, as Bell and McCaffrey (2002) take them from a working model: shares as
        estimated would give a side whose few units happen to lie close together many degrees of freedom.
        """
        held = self.parts > 0
        if not (self.parts_df[held] > 0).all():
            return 0.0
        return float(1 / (self.parts[held] ** 2 / self.parts_df[held]).sum())


def spread_of_gap(left_out: Array, members: Array) -> Spread:
    """Delete-one-unit jackknife of a gap, within each side where every unit lies on one of them.

    With sides apart V = Σ_h (G_h - 1)/G_h Σ_g (θ_(hg) - mean_h)², and a side of few units says so in the degrees of freedom;
    with units on both sides it is the ordinary jackknife with G* - 1, G* = (Σn)²/Σn².

    Args:
        left_out: (G,) values without each unit in turn.
        members: (G, 2) members of a unit on either side, or their weights; no unit without any.
    """
    apart = bool((np.count_nonzero(members, axis=1) == 1).all())
    side = (members[:, 1] > 0).astype(np.int64) if apart else np.zeros(len(members), dtype=np.int64)
    sizes, deviation = members.sum(axis=1), np.zeros(len(members))
    expected, parts_df = np.zeros(2), np.zeros(2)
    for at in np.unique(side).tolist():
        here = side == at
        n, held = int(here.sum()), sizes[here]
        deviation[here] = (left_out[here] - left_out[here].mean()) * np.sqrt((n - 1) / n)
        effective = float(held.sum() ** 2 / np.square(held).sum())
        expected[at], parts_df[at] = 1 / effective, effective - 1
    return Spread(deviation, expected / expected.sum(), parts_df)
