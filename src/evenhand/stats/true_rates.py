"""From a judge's verdicts on everything and reference labels on a part to the rate or mean of the whole.

Rogan and Gladen (1978) turn the judge's positive rate by its two error rates; prediction-powered inference (Angelopoulos
et al. 2023; power-tuned: 2024) corrects the judge's mean by its mean error on the labelled part. Both need labelled
members that were chosen without a look at the judge's verdict. Tallies add up over units; their last axis is cells.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evenhand.stats.arrays import Array, Counts, Measure, ratio
from evenhand.stats.binomial import clopper_pearson, t_quantile, upper_probability, wilson
from evenhand.stats.ensembles import sums_by_group
from evenhand.stats.resampling import leave_one_out

_NEGLIGIBLE = 1e-24


@dataclass(frozen=True, slots=True)
class Ends:
    """Two ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Jackknifed:
    """A value, its stratified jackknife standard error and Satterthwaite's df; NaN where a left-out value is undefined."""

    value: float
    std_error: float
    df: float

    def ends(self, level: float) -> Ends:
        """The t interval; both ends are NaN without a standard error above 0."""
        if not (self.std_error > 0 and self.df > 0):
            return Ends(math.nan, math.nan)
        half = t_quantile(upper_probability(level), self.df) * self.std_error
        return Ends(self.value - half, self.value + half)


def rogan_gladen(positive_rate: ArrayLike, specificity: ArrayLike, sensitivity: ArrayLike) -> Array:
    """True rate (p + specificity - 1)/(sensitivity + specificity - 1), not clipped; (...).

    NaN where the judge says positive no more often on positives than on negatives: its verdicts then hold nothing.
    """
    p, q0, q1 = (np.asarray(one, dtype=np.float64) for one in (positive_rate, specificity, sensitivity))
    gain = q0 + q1 - 1
    return np.asarray(ratio(p + q0 - 1, np.where(gain > 0, gain, 0.0)) + np.where(gain > 0, 0.0, np.nan))


def known_rates_ends(
    positives: float, trials: float, specificity: float, sensitivity: float, level: float = 0.95, method: str = "wilson"
) -> Ends:
    """The interval where both error rates are known: the ends of the positive rate, turned; not clipped.

    Args:
        positives, trials: the judge's positive verdicts, and all of them.
        specificity, sensitivity: known, together above 1.
        level: confidence level.
        method: "wilson" or "clopper_pearson".
    """
    if method == "wilson":
        low, high = wilson(positives, trials, level)
    else:
        low, high = map(float, clopper_pearson(np.asarray(positives), np.asarray(trials), level))
    turned = rogan_gladen([low, high], specificity, sensitivity)
    return Ends(float(turned[0]), float(turned[1]))


def lee_ends(
    positive_rate: float, specificity: float, sensitivity: float, n: float, m0: float, m1: float, level: float = 0.95
) -> Ends:
    """Interval of the true rate with estimated error rates, for independent rows (Lee et al. 2026), cut at 0 and 1.

    Each of the three shares is drawn towards a half as if z²/2 positives in z² (the judge's rate) or one in two (its
    rates on labelled rows) had been seen besides; the centre moves by the curvature of the ratio.

    Args:
        positive_rate: share of the judge's positive verdicts among n unlabelled rows.
        specificity, sensitivity: shares of right verdicts among m0 negatives and m1 positives with a label.
        n, m0, m1: rows behind each.
        level: confidence level.
    """
    z = float(special.ndtri(upper_probability(level)))
    more = z * z
    p = (n * positive_rate + more / 2) / (n + more)
    q0, q1 = (m0 * specificity + 1) / (m0 + 2), (m1 * sensitivity + 1) / (m1 + 2)
    gain = q0 + q1 - 1
    if gain <= 0:
        return Ends(0.0, 1.0)
    centre = (p + q0 - 1) / gain
    v0, v1 = q0 * (1 - q0) / (m0 + 2), q1 * (1 - q1) / (m1 + 2)
    moved = centre + 2 * more * (centre * v1 - (1 - centre) * v0)
    spread = math.sqrt(p * (1 - p) / (n + more) + (1 - centre) ** 2 * v0 + centre**2 * v1) / gain
    low, high = (min(max(end, 0.0), 1.0) for end in (moved - z * spread, moved + z * spread))
    return Ends(low, high)


def corrected_prevalence(cells: Array) -> Array:
    """Rogan-Gladen from (..., 6): labelled TN, FP, FN, TP (reference by judge), then unlabelled negatives, positives."""
    tn, fp, fn, tp, negative, positive = (cells[..., at] for at in range(6))
    return rogan_gladen(ratio(positive, positive + negative), ratio(tn, tn + fp), ratio(tp, tp + fn))


def mean_sums(
    reference: Array, judge: Array, labelled: ArrayLike, group: Counts, n_groups: int, repeats: ArrayLike = 1.0
) -> Array:
    """Tallies of prediction-powered means.

    Args:
        reference: (n,) values; what stands where there is no label is not read.
        judge: (n,) the judge's values, on the same scale.
        labelled: (n,) whether there is a label.
        group: (n,) unit of resampling.
        n_groups: U.
        repeats: (n,) how often each row occurs.

    Returns:
        (U, 9): labelled n, Σy, Σy², Σf, Σf², Σyf; unlabelled N, Σf, Σf².
    """
    here = np.asarray(labelled, dtype=np.float64)
    y, f, rest = np.where(here > 0, reference, 0.0), np.asarray(judge, dtype=np.float64), 1 - here
    columns = [here, y, y * y, here * f, here * f * f, y * f, rest, rest * f, rest * f * f]
    return sums_by_group(columns, group, n_groups, repeats)


def power_tuning(sums: Array) -> Array:
    """λ in [0, 1] that makes the corrected mean least variable, from (..., 9): cov(y, f)/((1 + n/N) var f).

    The covariance has divisor n over labelled rows, the variance n + N - 1 over all. 0 where the judge is constant.
    """
    n, y, _, f, ff, yf, n_rest, f_rest, ff_rest = (sums[..., at] for at in range(9))
    covariance = ratio(yf, n) - ratio(y, n) * ratio(f, n)
    everyone = n + n_rest
    variance = ratio(ff + ff_rest - ratio((f + f_rest) ** 2, everyone), everyone - 1)
    variance = np.where(variance > 1e-14 * np.maximum(ratio(ff + ff_rest, everyone), 1e-300), variance, 0.0)
    tuned = ratio(covariance, (1 + ratio(n, n_rest)) * variance)
    return np.clip(np.where(variance == 0, 0.0, tuned), 0.0, 1.0)


def ppi_mean(sums: Array, tuning: float | None = None) -> Array:
    """Mean of the reference over everybody, λ f̄_unlabelled + (ȳ - λ f̄_labelled), from (..., 9) `mean_sums`.

    Args:
        sums: (..., 9).
        tuning: λ; 1 for the plain form, None for `power_tuning`, found anew in every leading entry.
    """
    weight = power_tuning(sums) if tuning is None else np.asarray(tuning, dtype=np.float64)
    own = ratio(sums[..., 1] - weight * sums[..., 3], sums[..., 0])
    return np.asarray(weight * ratio(sums[..., 7], sums[..., 6]) + own)


def ppi_ends(sums: Array, tuning: float | None = None, level: float = 0.95) -> Ends:
    """The normal interval of `ppi_mean` for independent rows, variances with divisors n and N; sums of shape (9,)."""
    weight = float(power_tuning(sums)) if tuning is None else tuning
    value, spread = float(ppi_mean(sums, weight)), math.sqrt(_ppi_variance(sums, weight))
    half = float(special.ndtri(upper_probability(level))) * spread
    return Ends(value - half, value + half)


def _ppi_variance(sums: Array, weight: float) -> float:
    n, y, yy, f, ff, yf, n_rest, f_rest, ff_rest = (float(one) for one in sums)
    error = (yy - 2 * weight * yf + weight**2 * ff) / n - ((y - weight * f) / n) ** 2
    judged = weight**2 * (ff_rest / n_rest - (f_rest / n_rest) ** 2)
    return max(error, 0.0) / n + max(judged, 0.0) / n_rest


def stratum_of_units(labelled: Array, unlabelled: Array) -> Counts:
    """(U,) 0, 1, 2 for units of labelled members only, of unlabelled ones only, of both.

    A kind with a single unit joins the one that has most: from one unit no spread can be had.
    """
    kind = np.where(labelled > 0, np.where(unlabelled > 0, 2, 0), 1).astype(np.int64)
    counts = np.bincount(kind, minlength=3)
    return np.where(counts[kind] == 1, int(counts.argmax()), kind)


def jackknife_over_strata(tallies: Array, sizes: Array, stratum: Counts, measure: Measure) -> Jackknifed:
    """Delete-one jackknife within strata of units, with Satterthwaite's degrees of freedom.

    Variance Σ_h (G_h - 1)/G_h Σ (θ_(hg) - mean_h)²; df (Σ v_h)² / Σ v_h²/(G*_h - 1), G*_h = (Σ size)²/Σ size².

    Args:
        tallies: (G, *cells), every unit with a member.
        sizes: (G,) members of each unit.
        stratum: (G,).
        measure: (..., *cells) → (...).
    """
    value = float(measure(tallies.sum(axis=0)))
    without = measure(leave_one_out(tallies))
    if not (math.isfinite(value) and np.isfinite(without).all()):
        return Jackknifed(value, math.nan, math.nan)
    parts = []
    for one in np.unique(stratum):
        here = stratum == one
        n, units = np.count_nonzero(here), sizes[here]
        if n < 2:
            return Jackknifed(value, math.nan, math.nan)
        variance = (n - 1) / n * float(np.square(without[here] - without[here].mean()).sum())
        parts.append((variance, float(units.sum() ** 2 / np.square(units).sum()) - 1))
    total = sum(variance for variance, _ in parts)
    if total <= _NEGLIGIBLE:
        return Jackknifed(value, 0.0, math.nan)
    lost = sum(variance**2 / df for variance, df in parts if variance > 0 and df > 0)
    return Jackknifed(value, math.sqrt(total), total**2 / lost if lost > 0 else math.nan)


# --- how many labels ---


def best_share_of_positives(true_rate: float, specificity: float, sensitivity: float) -> float:
    """Share of the labels that should go to positives for the shortest Rogan-Gladen interval (Lee et al. 2026).

    m1/m0 = θ √(q1(1 - q1)) / ((1 - θ) √(q0(1 - q0))); a half where neither label has errors.
    """
    on_positives = true_rate * math.sqrt(sensitivity * (1 - sensitivity))
    on_negatives = (1 - true_rate) * math.sqrt(specificity * (1 - specificity))
    both = on_positives + on_negatives
    return on_positives / both if both > 0 else 0.5


def labels_for_prevalence(
    half_width: float,
    true_rate: float,
    specificity: float,
    sensitivity: float,
    n_judged: float,
    *,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> float:
    """Labels, best divided, for a corrected prevalence give or take `half_width`; inf where no number is enough.

    The judge's own rate over `n_judged` unlabelled rows sets a floor below which labels cannot bring the interval.
    """
    gain = specificity + sensitivity - 1
    if gain <= 0:
        return math.inf
    p = true_rate * gain + 1 - specificity
    z = float(special.ndtri(upper_probability(level)))
    allowed = (half_width * gain / z) ** 2 / design_effect - p * (1 - p) / n_judged
    spread = true_rate * math.sqrt(sensitivity * (1 - sensitivity)) + (1 - true_rate) * math.sqrt(
        specificity * (1 - specificity)
    )
    return math.inf if allowed <= 0 else math.ceil(spread**2 / allowed)


def labels_for_mean(
    half_width: float, error_variance: float, judged_variance: float, n_judged: float, *, level: float = 0.95,
    design_effect: float = 1.0,
) -> float:  # fmt: skip
    """Labels for a prediction-powered mean give or take `half_width`; inf where no number is enough.

    Args:
        half_width: wanted.
        error_variance: of y - λ f.
        judged_variance: of λ f, over `n_judged` unlabelled rows.
        n_judged: rows without a label.
        level: confidence level.
        design_effect: of rows that share clusters.
    """
    z = float(special.ndtri(upper_probability(level)))
    allowed = (half_width / z) ** 2 / design_effect - judged_variance / n_judged
    return math.inf if allowed <= 0 else math.ceil(error_variance / allowed)


def certifiable(n_labels: ArrayLike, n_errors: ArrayLike = 0, level: float = 0.95, design_effect: float = 1.0) -> Array:
    """The most that so many labels can certify: exact one-sided lower bound of agreement at so many errors; (...).

    1 - B^{-1}(level; errors + 1, n - errors) of the beta distribution, at n/design effect labels. With no error at
    all, (1 - level)^(1/n).
    """
    n, errors = (np.asarray(one, dtype=np.float64) / design_effect for one in (n_labels, n_errors))
    right = np.maximum(n - errors, 0.0)
    bound = 1 - special.betaincinv(errors + 1, np.where(right > 0, right, 1.0), level)
    return np.where(right > 0, bound, 0.0)


def labels_to_certify(agreement: float, n_errors: int = 0, level: float = 0.95, design_effect: float = 1.0) -> int:
    """Fewest labels that certify an agreement, in (0, 1), if so many of them are errors."""
    low, high = n_errors, n_errors + 1
    while certifiable(high, n_errors, level, design_effect) < agreement:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = certifiable(middle, n_errors, level, design_effect) >= agreement
        low, high = (low, middle) if enough else (middle, high)
    return high
