"""Intervals for one number: cluster methods on jackknife and bootstrap values, binomial ones on counts.

The default was chosen by the share of intervals that cover the truth in simulated banks of 5 to 30 clusters: a
delete-one-cluster jackknife on a fixed scale per statistic with t on the effective number of clusters, and a
floored Korn-Graubard interval where a rate has too few events for any estimated variance to mean something.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array, Measure
from evenhand.stats.binomial import (
    LEAST_DF,
    clopper_pearson,
    design_effect_at,
    korn_graubard_limits,
    t_quantile,
    upper_probability,
    wilson,
)
from evenhand.stats.resampling import MAX_EXACT, every_resample, leave_one_out, resample
from evenhand.stats.scales import IDENTITY, Scale

FEW_CLUSTERS_WITH_EVENT = 5
"""Below this many clusters with an event (or with a non-event) a rate's design effect cannot be estimated."""
ASSUMED_ICC = 0.02
"""Intraclass correlation that floors the design effect of a rate with few events."""
_NEGLIGIBLE = 1e-12
_CONSTANT_SHARE = "the same share whichever cluster is left out: "
_CONSTANT = "the value is the same whichever cluster is left out: that says nothing of its error"


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, or none with the reason; ``df``, ``scale`` and the standard error on it where the method has them."""

    low: float | None
    high: float | None
    method: str
    reason: str = ""
    scale: str | None = None
    df: float | None = None
    std_error: float | None = None


def withheld(method: str, reason: str) -> Interval:
    """No interval, and why."""
    return Interval(None, None, method, reason)


@dataclass(frozen=True)
class Sample:
    """One statistic's tallies over the units of its population, with everything an interval may ask of them.

    Attributes:
        tallies: (G, *cells) sums a unit, every unit with at least one member of the population.
        measure: the statistic, (..., *cells) → (...).
        sizes: (G,) members of the population in each unit.
        scale: where jackknife values are about normal.
        names: (G,) unit names, for reasons.
        events: (G,) events in each unit where the statistic is a rate, else None.
        ceiling: expected disagreement at the observed margins, for a coefficient 1 - disagreement/expected; else None.
        from_rate: maps the ends of the event rate to the statistic's (F1 from Jaccard's share); identity if None.
        weights: (n_units) → (B, n_units) bootstrap counts.
    """

    tallies: Array
    measure: Measure
    sizes: Array
    scale: Scale
    names: tuple[str, ...]
    weights: Callable[[int], Array]
    events: Array | None = None
    ceiling: float | None = None
    from_rate: Callable[[Array], Array] | None = None

    @cached_property
    def value(self) -> float:
        """The point value."""
        return float(self.measure(self.tallies.sum(axis=0)))

    @cached_property
    def left_out(self) -> Array:
        """(G,) values without each unit in turn."""
        return self.measure(leave_one_out(self.tallies))

    @cached_property
    def replicates(self) -> Array:
        """(B,) bootstrap values."""
        return self.measure(resample(self.weights(len(self.tallies)), self.tallies))

    @property
    def n_units(self) -> int:
        """G."""
        return len(self.tallies)

    @cached_property
    def effective_units(self) -> float:
        """G* = (Σn)²/Σn²: equal to G when units are equally large."""
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    @cached_property
    def std_error(self) -> float | None:
        """Raw-scale delete-one jackknife standard error; None below two units or with an undefined value."""
        return jackknife_std_error(self.left_out) if self.n_units > 1 else None

    @cached_property
    def has_few_events(self) -> bool:
        """A rate with fewer than five units holding an event, or fewer than five holding a non-event."""
        if self.events is None:
            return False
        non_events = self.sizes - self.events
        fewest = min(np.count_nonzero(self.events), np.count_nonzero(non_events))
        return bool(fewest < FEW_CLUSTERS_WITH_EVENT)

    @cached_property
    def is_constant(self) -> bool:
        """Leaving a cluster out never moves the value, up to rounding."""
        return bool(np.ptp(self.left_out) <= _NEGLIGIBLE * max(1.0, abs(self.value)))

    @property
    def bounds(self) -> tuple[float, float]:
        """What the statistic can be: its scale's domain, and no less than -1 for a coefficient of agreement."""
        least, most = self.scale.domain
        return (least if self.ceiling is None else max(least, -1.0)), most

    def obstacle(self) -> str:
        """Why no cluster interval can be given, or nothing."""
        if self.n_units < 2:
            return "one cluster: no standard error and no interval can be had from it"
        broken = np.flatnonzero(~np.isfinite(self.left_out))
        if len(broken):
            return f'undefined without cluster "{self.names[broken[0]]}"' + (
                f" (and without {len(broken) - 1} more)" if len(broken) > 1 else ""
            )
        return ""


def jackknife_std_error(left_out: Array) -> float | None:
    """Delete-one jackknife standard error √((G-1)/G Σ(θ_(g) - mean)²); None when a value is undefined."""
    n = len(left_out)
    if not np.isfinite(left_out).all():
        return None
    return float(np.sqrt((n - 1) / n * np.square(left_out - left_out.mean()).sum()))


def _rate_ends(sample: Sample, ends: tuple[float, float], method: str, **more: float | str) -> Interval:
    low, high = ends
    if sample.from_rate is not None:
        low, high = (float(sample.from_rate(np.asarray(end))) for end in ends)
    return replace(Interval(low, high, method), **more)  # type: ignore[arg-type]


def _bounded(sample: Sample, interval: Interval) -> Interval:
    """Ends cut at the statistic's bounds, which is said; none where an end is infinite."""
    if interval.low is None or interval.high is None:
        return interval
    least, most = sample.bounds
    low, high = max(interval.low, least), min(interval.high, most)
    if not (math.isfinite(low) and math.isfinite(high)):
        return withheld(interval.method, "unbounded: the clusters are too few or too unequal")
    said = [interval.reason] if interval.reason else []
    said += [f"lower end cut at {least:g}"] if low > interval.low else []
    said += [f"upper end cut at {most:g}"] if high < interval.high else []
    return replace(interval, low=low, high=high, reason="; ".join(said))


def _needs_rate(method: str) -> Interval:
    return withheld(method, f"{method} is for shares of counted events; this statistic is none")


def binomial(sample: Sample, level: float, method: str) -> Interval:
    """Clopper-Pearson or Wilson limits as if verdicts were independent."""
    if sample.events is None:
        return _needs_rate(method)
    events, trials = float(sample.events.sum()), float(sample.sizes.sum())
    if method == "wilson":
        return _rate_ends(sample, wilson(events, trials, level), method)
    low, high = clopper_pearson(np.asarray(events), np.asarray(trials), level)
    return _rate_ends(sample, (float(low), float(high)), method)


def design_effect_of_rate(events: Array, sizes: Array) -> float | None:
    """Jackknife variance of a share over that of independent trials; None where either is undefined or zero."""
    total, trials = events.sum(), sizes.sum()
    independent = total / trials * (1 - total / trials) / trials
    with np.errstate(divide="ignore", invalid="ignore"):
        std_error = jackknife_std_error((total - events) / (trials - sizes))
    return None if std_error is None or independent <= 0 else float(std_error**2 / independent)


def korn_graubard(sample: Sample, level: float) -> Interval:
    """Clopper-Pearson limits at an effective sample size (Korn and Graubard 1998), its design effect floored.

    n_eff = n/deff · (t_{n-1}/t_{G*-1})² with deff = max(estimate, 1 + (m̄ - 1)·ASSUMED_ICC), m̄ trials a cluster.
    """
    if sample.events is None:
        return _needs_rate("korn_graubard")
    if sample.n_units < 2:
        return withheld("korn_graubard", sample.obstacle())
    events, trials = float(sample.events.sum()), float(sample.sizes.sum())
    floor = design_effect_at(ASSUMED_ICC, trials / sample.n_units)
    estimated = design_effect_of_rate(sample.events, sample.sizes)
    deff, df = max(floor, estimated or 0.0), sample.effective_units - 1
    found = korn_graubard_limits(events, trials, deff, df, level)
    why = "few events: " if sample.has_few_events else _CONSTANT_SHARE if sample.is_constant else ""
    said = "" if deff > floor else f", design effect floored at ICC {ASSUMED_ICC:g}"
    return _rate_ends(
        sample,
        (found.low, found.high),
        "korn_graubard",
        reason=f"{why}Clopper–Pearson at {found.trials:.0f} effective trials{said}",
        df=df,
    )


def jackknife_t(sample: Sample, level: float, scale: Scale) -> Interval:
    """Delete-one-cluster jackknife t on a scale, df = G* - 1.

    Where the value or a leave-one-out value lies outside the scale's domain, the raw standard error times the scale's
    derivative is used, and where that fails too the raw scale itself. A value that no left-out cluster moves has no
    interval: a width of zero would read as certainty.
    """
    method = "jackknife_t" if scale is IDENTITY else "jackknife_t_scaled"
    obstacle = sample.obstacle()
    raw = sample.std_error
    if obstacle or raw is None:
        return withheld(method, obstacle)
    if sample.is_constant:
        return withheld(method, _CONSTANT)
    df = sample.effective_units - 1
    if df < LEAST_DF:
        return withheld(method, f"{sample.effective_units:.3f} effective clusters: one holds nearly everything")
    middle, values = float(scale.forward(np.asarray(sample.value))), scale.forward(sample.left_out)
    spread = jackknife_std_error(values)
    if spread is None:
        spread = raw * float(scale.derivative(np.asarray(sample.value)))
    if not (math.isfinite(middle) and math.isfinite(spread)):
        return jackknife_t(sample, level, IDENTITY)
    half = t_quantile(upper_probability(level), df) * spread
    low, high = (float(scale.inverse(np.asarray(end))) for end in (middle - half, middle + half))
    return _bounded(sample, Interval(low, high, method, scale=scale.name, df=df, std_error=spread))


def perfect_agreement(sample: Sample, level: float) -> Interval:
    """One-sided bound for a coefficient that is exactly 1, from the exact limit of the disagreement rate.

    A coefficient is 1 - disagreement/expected disagreement; the upper Korn-Graubard limit of the disagreement rate
    over the expected disagreement at the observed margins gives its lower bound.
    """
    none = replace(sample, events=np.zeros_like(sample.sizes), from_rate=None)
    limit = korn_graubard(none, level)
    if limit.high is None or not sample.ceiling:
        return limit
    low = max(-1.0, 1 - limit.high / sample.ceiling)
    return Interval(low, 1.0, "korn_graubard", f"no disagreement seen: one-sided bound; {limit.reason}", df=limit.df)


def _widened(sample: Sample, few: Interval, level: float) -> Interval:
    """An interval for few events, moved out to the ends of the jackknife's where those lie further out.

    With two clusters or more on either side the clusters' spread can say more than the floor: the wider of both covers
    three to five points more where events crowd into a few clusters.
    """
    if sample.events is None or few.low is None or few.high is None:
        return few
    fewest = min(np.count_nonzero(sample.events), np.count_nonzero(sample.sizes - sample.events))
    other = jackknife_t(sample, level, sample.scale) if fewest > 1 else few
    if other.low is None or other.high is None or (other.low >= few.low and other.high <= few.high):
        return few
    reason = f"{few.reason}; widened to the jackknife's ends, which lie further out"
    return replace(few, low=min(few.low, other.low), high=max(few.high, other.high), reason=reason)


def default(sample: Sample, level: float) -> Interval:
    """The method with the best measured coverage for this kind of statistic."""
    if sample.has_few_events or (sample.events is not None and not sample.obstacle() and sample.is_constant):
        return _widened(sample, korn_graubard(sample, level), level)
    if sample.ceiling is not None and sample.value == 1.0:
        return perfect_agreement(sample, level)
    return jackknife_t(sample, level, sample.scale)


def _weighted_quantiles(values: Array, probabilities: Array, at: tuple[float, float]) -> tuple[float, float]:
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(probabilities[order])
    positions = np.minimum(np.searchsorted(cumulative, np.asarray(at) - 1e-12), len(values) - 1)
    low, high = values[order][positions].tolist()
    return low, high


def _left_out(lost: int, sample: Sample) -> str:
    return f"{lost} of {len(sample.replicates)} replicates undefined and left out" if lost else ""


def percentile(sample: Sample, level: float) -> Interval:
    """Percentile bootstrap over clusters (Efron 1979), linear quantiles; undefined replicates are counted and left out."""
    if obstacle := sample.obstacle():
        return withheld("percentile", obstacle)
    values = sample.replicates
    defined = values[np.isfinite(values)]
    if not len(defined) or np.ptp(defined) <= _NEGLIGIBLE:
        return withheld("percentile", _CONSTANT)
    lost = len(values) - len(defined)
    low, high = np.quantile(defined, [1 - upper_probability(level), upper_probability(level)])
    return Interval(float(low), float(high), "percentile", _left_out(lost, sample))


def exact_bootstrap(sample: Sample, level: float) -> Interval:
    """Percentile interval over all G^G resamples: the percentile bootstrap without its Monte-Carlo noise."""
    if obstacle := sample.obstacle():
        return withheld("exact", obstacle)
    if sample.n_units > MAX_EXACT:
        return withheld("exact", f"exact enumeration is for at most {MAX_EXACT} clusters; here are {sample.n_units}")
    weights, probabilities = every_resample(sample.n_units)
    values = sample.measure(resample(weights, sample.tallies))
    kept = np.isfinite(values)
    if not kept.any() or np.ptp(values[kept]) <= _NEGLIGIBLE:
        return withheld("exact", _CONSTANT)
    share = probabilities[kept] / probabilities[kept].sum()
    low, high = _weighted_quantiles(values[kept], share, (1 - upper_probability(level), upper_probability(level)))
    lost = float(probabilities[~kept].sum())
    return Interval(low, high, "exact", f"{lost:.2g} of the resamples undefined and left out" if lost else "")


def bca(sample: Sample, level: float) -> Interval:
    """Bias-corrected and accelerated bootstrap over clusters (Efron 1987)."""
    if obstacle := sample.obstacle():
        return withheld("bca", obstacle)
    values = sample.replicates[np.isfinite(sample.replicates)]
    below = (np.count_nonzero(values < sample.value) + np.count_nonzero(values == sample.value) / 2) / len(values)
    pull = sample.left_out.mean() - sample.left_out
    spread = np.square(pull).sum()
    if spread == 0 or below in (0.0, 1.0):
        return withheld("bca", "bca needs replicates on both sides of a value that moves when clusters are left out")
    acceleration = float((pull**3).sum() / (6 * spread**1.5))
    z0 = float(special.ndtri(below))
    ends = []
    for probability in (1 - upper_probability(level), upper_probability(level)):
        z = z0 + float(special.ndtri(probability))
        ends.append(float(special.ndtr(z0 + z / (1 - acceleration * z))))
    low, high = np.quantile(values, ends)
    return Interval(float(low), float(high), "bca", _left_out(len(sample.replicates) - len(values), sample))


def bootstrap_t(sample: Sample, level: float) -> Interval:
    """Studentised bootstrap over clusters (Efron 1982), each replicate studentised by its own jackknife."""
    if obstacle := sample.obstacle():
        return withheld("bootstrap_t", obstacle)
    std_error = sample.std_error
    if not std_error or sample.is_constant:
        return withheld("bootstrap_t", "bootstrap_t needs a value that moves when clusters are left out")
    weights = sample.weights(sample.n_units)
    ratios = []
    step = max(1, 2_000_000 // (sample.n_units * max(1, sample.tallies[0].size)))
    for start in range(0, len(weights), step):
        drawn = weights[start : start + step]
        totals = resample(drawn, sample.tallies)
        is_drawn = (drawn > 0).reshape(*drawn.shape, *(1,) * (sample.tallies.ndim - 1))
        without = sample.measure(totals[:, None] - is_drawn * sample.tallies)
        mean = np.sum(drawn * without, axis=1, keepdims=True) / sample.n_units
        inner = np.sqrt((sample.n_units - 1) / sample.n_units * (drawn * (without - mean) ** 2).sum(axis=1))
        inner[inner <= _NEGLIGIBLE * max(1.0, abs(sample.value))] = np.nan
        ratios.append((sample.measure(totals) - sample.value) / inner)
    t = np.concatenate(ratios)
    defined = t[np.isfinite(t)]
    if not len(defined) or np.ptp(defined) <= _NEGLIGIBLE:
        return withheld("bootstrap_t", "bootstrap_t needs three or more clusters that differ")
    lost = len(t) - len(defined)
    low, high = np.quantile(defined, [1 - upper_probability(level), upper_probability(level)])
    found = Interval(
        sample.value - float(high) * std_error,
        sample.value - float(low) * std_error,
        "bootstrap_t",
        f"{lost} of {len(t)} replicates without a standard error and left out" if lost else "",
    )
    return _bounded(sample, found)


def cr2_variance(events: Array, sizes: Array) -> tuple[float, float]:
    """CR2 variance of a share and its Satterthwaite df (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018).

    For an intercept alone: residual sums e_g over √(1 - n_g/N), df = tr(P)²/tr(P²) from the working model of
    independent rows, P_gh = (n_g 1{g=h} - n_g n_h/N) / √((1 - n_g/N)(1 - n_h/N)), whose diagonal is n_g.
    """
    n, adjust = sizes.sum(), 1 / (1 - sizes / sizes.sum())
    residual = events - events.sum() / n * sizes
    variance = float((np.square(residual) * adjust).sum() / n**2)
    pull = np.square(sizes) * adjust
    squares = np.square(sizes).sum() + (pull.sum() ** 2 - np.square(pull).sum()) / n**2
    return variance, float(n**2 / squares)


def cr2_t(sample: Sample, level: float) -> Interval:
    """t interval of a share from its CR2 variance and Satterthwaite df."""
    if sample.events is None or sample.from_rate is not None:
        return withheld("cr2_t", "cr2_t is for means and shares; this statistic is none")
    if sample.n_units < 2:
        return withheld("cr2_t", sample.obstacle())
    if sample.is_constant:
        return withheld("cr2_t", _CONSTANT)
    variance, df = cr2_variance(sample.events, sample.sizes)
    half = t_quantile(upper_probability(level), df) * math.sqrt(variance)
    return _bounded(sample, Interval(sample.value - half, sample.value + half, "cr2_t", df=df))


METHODS: dict[str, Callable[[Sample, float], Interval]] = {
    "default": default,
    "percentile": percentile,
    "bca": bca,
    "jackknife_t": lambda sample, level: jackknife_t(sample, level, IDENTITY),
    "jackknife_t_scaled": lambda sample, level: jackknife_t(sample, level, sample.scale),
    "bootstrap_t": bootstrap_t,
    "cr2_t": cr2_t,
    "korn_graubard": korn_graubard,
    "clopper_pearson": lambda sample, level: binomial(sample, level, "clopper_pearson"),
    "wilson": lambda sample, level: binomial(sample, level, "wilson"),
    "exact": exact_bootstrap,
    "none": lambda _sample, _level: withheld("none", ""),
}
