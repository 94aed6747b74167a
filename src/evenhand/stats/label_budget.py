"""Label budgets: how labels are best divided over strata, how many a question takes, and how many a judge saves.

Strata are sets of responses of which the judge said the same. N_h are their sizes, S_h the standard deviation of what is
measured within each (of a share p, √(p(1 - p))), n_h the labels drawn from them without replacement.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evenhand.stats.arrays import Array, Counts
from evenhand.stats.binomial import upper_probability, wilson
from evenhand.stats.true_rates import certifiable

MOST_LABELS = 10**9
"""Labels beyond which a target counts as out of reach."""
_HALVINGS = 200


def allocate(n: int, weights: Array, sizes: Counts, least: int = 2) -> Counts:
    """Whole numbers of labels in proportion to weights, none beyond its stratum's size; what one cannot take goes to the others.

    Args:
        n: labels, from the number of strata to the sum of sizes.
        weights: (H,) not negative: sizes for proportional allocation, sizes times S_h for Neyman's (1934), ones for equal
            numbers.
        sizes: (H,) N_h, positive.
        least: labels that every stratum gets as far as it has members and n reaches; from two on it shows a spread.

    Returns:
        (H,) n_h, which sum to n.

    Raises:
        ValueError: n below the number of strata or above the sum of sizes.
    """
    if not len(sizes) <= n <= sizes.sum():
        raise ValueError(f"{n} labels for {len(sizes)} strata of {int(sizes.sum())} members")
    low = np.minimum(min(least, n // len(sizes)), sizes).astype(np.float64)
    top = float(weights.max())
    wanted = np.maximum(weights / top, 1e-9) if top > 0 else sizes / sizes.max()
    below, above = 0.0, float((sizes / wanted).max())
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        enough = np.clip(middle * wanted, low, sizes).sum() >= n
        below, above = (below, middle) if enough else (middle, above)
    exact = np.clip(above * wanted, low, sizes)
    taken = np.floor(exact + 1e-9)
    for place in np.argsort(taken - exact, kind="stable")[: n - int(taken.sum())]:
        taken[place] += 1
    whole: Counts = taken.astype(np.int64)
    return whole


def stratified_variance(taken: Counts, sizes: Counts, spreads: Array) -> float:
    """Variance of a stratified mean, Σ (N_h/N)² S_h²/n_h (1 - n_h/N_h) (Cochran 1977, section 5.3); all of shape (H,)."""
    share = sizes / sizes.sum()
    return float(np.sum(share**2 * spreads**2 / taken * (1 - taken / sizes)))


def labels_to_match(variance: float, spreads: Array, sizes: Counts) -> int:
    """Fewest labels that Neyman's allocation takes for a stratified mean of at most this variance."""
    low, high = len(sizes) - 1, int(sizes.sum())
    while high - low > 1:
        middle = (low + high) // 2
        found = stratified_variance(allocate(middle, sizes * spreads, sizes), sizes, spreads)
        low, high = (low, middle) if found <= variance * (1 + 1e-12) else (middle, high)
    return high


def spread_of_share(events: ArrayLike, trials: ArrayLike) -> Array:
    """S_h of shares that a few trials show, drawn towards a half as if one of two more trials had been an event; (...)."""
    share = (np.asarray(events, dtype=np.float64) + 1) / (np.asarray(trials, dtype=np.float64) + 2)
    return np.asarray(np.sqrt(share * (1 - share)))


def labels_for_share(half_width: float, share: float, level: float = 0.95, design_effect: float = 1.0) -> float:
    """Fewest labels whose Wilson interval of a share is give or take `half_width`; inf beyond `MOST_LABELS`."""

    def is_enough(n: int) -> bool:
        low, high = wilson(share * n / design_effect, n / design_effect, level)
        return (high - low) / 2 <= half_width

    return _fewest(is_enough)


def labels_to_certify_at(agreement: float, error_rate: float, level: float = 0.95, design_effect: float = 1.0) -> float:
    """Fewest labels that certify an agreement if this share of them are errors; inf where no number does."""
    if 1 - error_rate <= agreement:
        return math.inf
    return _fewest(lambda n: bool(certifiable(n, error_rate * n, level, design_effect) >= agreement))


def _fewest(is_enough: Callable[[int], bool]) -> float:
    low, high = 0, 1
    while not is_enough(high):
        if high > MOST_LABELS:
            return math.inf
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def share_saved(variance: float, judged_variance: float, covariance: float) -> float:
    """Share of the labels for a mean that a judge's values on ever more responses save: 1 - var(y - λf)/var(y).

    λ = cov(y, f)/var(f) held within 0 and 1 as in `true_rates.power_tuning`; where it lies between them this is the squared
    correlation, and a judge whose values fall where the reference's rise saves nothing. NaN where either is constant.

    Args:
        variance: of the reference's values y.
        judged_variance: of the judge's values f.
        covariance: of both.
    """
    if not (variance > 0 and judged_variance > 0):
        return math.nan
    weight = min(max(covariance / judged_variance, 0.0), 1.0)
    return weight * (2 * covariance - weight * judged_variance) / variance


def labels_for_mean_of(
    half_width: float, variance: float, saved: float, n_judged: float, *, level: float = 0.95, design_effect: float = 1.0,
) -> int:  # fmt: skip
    """Labels for a power-tuned prediction-powered mean give or take `half_width`.

    Var = σ²/n · (1 - ρ² (T - n)/T) (Angelopoulos, Duchi and Zrnic 2024, λ at its optimum), so n = σ²(1 - ρ²)/(V - σ²ρ²/T)
    up to T. From there on every response has a label, and the judge saves none: n = σ²/V.

    Args:
        half_width: wanted.
        variance: σ² of the reference's values.
        saved: ρ², as `share_saved` has it; 0 is the mean of the labels alone.
        n_judged: T, everything the judge has a value on, labelled or not.
        level: confidence level.
        design_effect: of values that share clusters.
    """
    z = float(special.ndtri(upper_probability(level)))
    wanted = (half_width / z) ** 2 / design_effect
    if variance / wanted >= n_judged:
        return math.ceil(variance / wanted)
    return math.ceil(variance * (1 - saved) / (wanted - variance * saved / n_judged))
