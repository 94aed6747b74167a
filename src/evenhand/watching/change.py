"""The change of a number between two audits, and of many at once with one false-alarm rate.

Each audit is a delete-one-cluster jackknife; the pull of a cluster is how far leaving it out moves the value. Where both
audits hold a cluster its two pulls are subtracted, so what moves both numbers alike is no error of the change; clusters
of one audit alone stand for themselves. With the same clusters in both this is the jackknife of the difference, with
none in common the sum of two variances (Satterthwaite 1946; Welch 1947), and between the two the sum of three parts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.binomial import LEAST_DF, design_effect_at, t_quantile, upper_probability
from evenhand.stats.hypothesis_tests import max_t
from evenhand.stats.intervals import ASSUMED_ICC, FEW_CLUSTERS_WITH_EVENT
from evenhand.stats.resampling import leave_one_out

POWER = 0.8
"""Of the smallest change that is called findable."""
N_DRAWS = 100_000
_NEGLIGIBLE = 1e-12
_MOST_SCORE = 37.0
"""Beyond it a normal tail is 0 in double precision."""

Status = Literal["ok", "same", "undecided"]
Kept = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Side:
    """One audit's part of a change.

    Attributes:
        value: the number; NaN where it is undefined.
        pulls: (U,) √((G-1)/G) times each unit's jackknife deviation, 0 for units outside the population: Σ pulls² is
            the squared jackknife standard error.
        sizes: (U,) members of the population.
        events: (U,) of a rate, else None.
        obstacle: why there is no standard error, or nothing.
    """

    value: float
    pulls: Array
    sizes: Array
    events: Array | None
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """New minus old.

    Attributes:
        estimate: NaN where a side is undefined.
        std_error, df: of it; NaN without.
        low, high: ends at the confidence level, each change by itself.
        n_shared, n_new, n_old: units with members on both sides, and on one alone.
        pulls: (U,) of the change.
        status: ok; same where every unit is the same in both; undecided with a reason.
        reason: why undecided, or what was done about few events.
    """

    estimate: float
    std_error: float
    df: float
    low: float
    high: float
    n_shared: int
    n_new: int
    n_old: int
    pulls: Array
    status: Status
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Changes watched together.

    Attributes:
        critical_value: normal score of the tail that each interval leaves out on either side.
        p_value: (m,) step-down adjusted p of "no change"; NaN for changes that have no standard error.
        low, high: (m,) simultaneous ends.
        findable: (m,) smallest true change that would be found with 80 % power.
    """

    critical_value: float
    p_value: Array
    low: Array
    high: Array
    findable: Array


def side_of(
    cells: Array, measure: Measure, sizes: Array, names: Sequence[str], at: Counts, n_units: int, *, is_rate: bool
) -> Side:
    """One audit's number and the pulls of its units, placed among the units of both audits.

    Args:
        cells: (G, *cells) sums a unit.
        measure: (..., *cells) → (...).
        sizes: (G,) members of the population.
        names: (G,) of units, for reasons.
        at: (G,) place of each unit.
        n_units: U.
        is_rate: cells are (events, non-events).
    """
    active = sizes > 0
    placed, pulls = np.zeros(n_units), np.zeros(n_units)
    placed[at] = sizes
    events = None
    if is_rate:
        events = np.zeros(n_units)
        events[at] = cells[:, 0]
    value = float(measure(cells.sum(axis=0))) if active.any() else math.nan
    if not math.isfinite(value):
        return Side(value, pulls, placed, events, "undefined")
    n = int(active.sum())
    if n < 2:
        return Side(value, pulls, placed, events, "one cluster: nothing says how far the number moves by itself")
    left_out = measure(leave_one_out(cells[active]))
    broken = np.flatnonzero(~np.isfinite(left_out))
    if len(broken):
        name = np.asarray(names, dtype=object)[active][broken[0]]
        return Side(value, pulls, placed, events, f'undefined without cluster "{name}"')
    pulls[at[active]] = math.sqrt((n - 1) / n) * (left_out - left_out.mean())
    return Side(value, pulls, placed, events)


def change_of(new: Side, old: Side, level: float, *, is_same: bool = False) -> Change:
    """New minus old with its interval.

    Args:
        new, old: placed among the same units.
        level: of the interval.
        is_same: every unit holds the same sums in both.
    """
    parts = _parts(new, old)
    shared, only_new, only_old = (int(part.sum()) for part in parts)
    pulls, estimate = new.pulls - old.pulls, new.value - old.value

    def without(status: Status, reason: str) -> Change:
        missing = (math.nan, math.nan, math.nan, math.nan)
        return Change(estimate, *missing, shared, only_new, only_old, pulls, status, reason)

    if is_same and math.isfinite(estimate):
        return without("same", "every cluster holds the same counts in both audits")
    obstacles = [f"{side}: {one.obstacle}" for side, one in (("new", new), ("old", old)) if one.obstacle]
    if obstacles:
        return without("undecided", "; ".join(obstacles))
    squares = [float(np.square(pulls[part]).sum()) for part in parts]
    variance, reason = sum(squares), ""
    df = _df(new, old, parts, squares)
    floor = _floor(new, old)
    if floor is not None and floor > variance:
        variance, df = floor, min(_effective(one.sizes) for one in (new, old)) - 1
        reason = f"few events: standard error floored at ICC {ASSUMED_ICC:g}"
    if variance <= (_NEGLIGIBLE * max(1.0, abs(new.value), abs(old.value))) ** 2:
        return without(
            "undecided", "the change is the same whichever cluster is left out: that says nothing of its error"
        )
    if df < LEAST_DF:
        return without("undecided", "one cluster holds nearly everything")
    spread = math.sqrt(variance)
    half = t_quantile(upper_probability(level), df) * spread
    ends = (estimate - half, estimate + half)
    return Change(estimate, spread, df, *ends, shared, only_new, only_old, pulls, "ok", reason)


def together(changes: Sequence[Change], alpha: float, seed: int, n_draws: int = N_DRAWS) -> Family:
    """Step-down adjusted p values and simultaneous ends, from the correlation of the changes' pulls.

    Each change's own p, of t with its own degrees of freedom, stands as a normal score; the largest of normal scores with
    the pulls' correlation sets how far all intervals reach (Hothorn, Bretz and Westfall 2008), stepped down as Westfall and
    Young (1993) do. At most a share ``alpha`` of families without any change raises an alarm.

    Args:
        changes: those without a standard error get NaN.
        alpha: of the whole family.
        seed: of the draws.
        n_draws: of the vector of scores.
    """
    nothing = np.full(len(changes), np.nan)
    kept = np.array([at for at, one in enumerate(changes) if one.status == "ok"], dtype=np.int64)
    if not len(kept):
        return Family(math.nan, nothing, nothing.copy(), nothing.copy(), nothing.copy())
    held = [changes[at] for at in kept]
    estimate, errors, df = (np.array([getattr(one, name) for one in held]) for name in ("estimate", "std_error", "df"))
    tails = special.stdtr(df, -np.abs(estimate) / errors)
    scores = np.minimum(-special.ndtri(tails), _MOST_SCORE)
    draws = _scores(np.stack([one.pulls for one in held]), seed, n_draws)
    found = max_t(scores, np.ones(len(held)), scores + draws, 1 - alpha)
    # one change alone has its own quantile without the noise of draws
    critical = found.critical_value if len(held) > 1 else float(special.ndtri(1 - alpha / 2))
    reach = special.stdtrit(df, special.ndtr(critical)) * errors
    p, low, high, findable = (nothing.copy() for _ in range(4))
    p[kept] = found.p_value if len(held) > 1 else 2 * tails
    low[kept], high[kept] = estimate - reach, estimate + reach
    findable[kept] = reach + special.stdtrit(df, POWER) * errors
    return Family(critical, p, low, high, findable)


def _scores(pulls: Array, seed: int, n_draws: int) -> Array:
    """(B, m) normal draws that are correlated as the (m, U) pulls are."""
    norms = np.sqrt(np.square(pulls).sum(axis=1))
    correlation, moved = np.eye(len(pulls)), norms > 0
    scaled = pulls[moved] / norms[moved][:, None]
    correlation[np.ix_(moved, moved)] = scaled @ scaled.T
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    found: Array = np.random.default_rng(seed).standard_normal((n_draws, len(pulls))) @ root.T
    return found


def _parts(new: Side, old: Side) -> tuple[Kept, Kept, Kept]:
    """Which units have members on both sides, on the new one alone, on the old one alone."""
    in_new, in_old = new.sizes > 0, old.sizes > 0
    return in_new & in_old, in_new & ~in_old, in_old & ~in_new


def _effective(sizes: Array) -> float:
    """(Σn)²/Σn², 0 for nothing."""
    squares = float(np.square(sizes).sum())
    return float(sizes.sum()) ** 2 / squares if squares else 0.0


def _df(new: Side, old: Side, parts: Sequence[Kept], squares: Sequence[float]) -> float:
    """Satterthwaite's degrees of freedom; each part loses its share of the one that its side's mean costs."""
    inverse, total = 0.0, sum(squares)
    for part, square, sides in zip(parts, squares, ((new, old), (new,), (old,)), strict=True):
        if square <= 0:
            continue
        df = min(_effective(one.sizes * part) * (1 - 1 / _effective(one.sizes)) for one in sides)
        inverse += (square / total) ** 2 / max(df, 1e-9)
    return 1 / inverse if inverse else min(_effective(one.sizes) for one in (new, old)) - 1


def _floor(new: Side, old: Side) -> float | None:
    """Least variance of a change of a rate with few events on a side: of independent sides at a common rate, and at an
    assumed intraclass correlation, since so few events tell neither their own spread nor their clustering.
    """
    if new.events is None or old.events is None:
        return None
    counted = ((new.events, new.sizes), (old.events, old.sizes))
    few = any(
        min(np.count_nonzero(events), np.count_nonzero(sizes - events)) < FEW_CLUSTERS_WITH_EVENT
        for events, sizes in counted
    )
    if not few:
        return None
    trials = [float(sizes.sum()) for _, sizes in counted]
    rate = (float(new.events.sum() + old.events.sum()) + 1) / (sum(trials) + 2)
    held = [np.count_nonzero(sizes) for _, sizes in counted]
    shares = sum(design_effect_at(ASSUMED_ICC, n / units) / n for n, units in zip(trials, held, strict=True))
    return rate * (1 - rate) * shares
