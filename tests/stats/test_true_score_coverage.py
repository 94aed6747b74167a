"""Share of intervals that hold the truth, for the statistics borrowed from test theory, in simulated banks.

A bank has G clusters of 14 responses to 10 lines. A response's true proportion is Beta(5.5, 3.7) through a cluster's own
shift, lines differ in difficulty, and the reference's verdicts become the judge's through false accepts and rejects whose
rates differ from cluster to cluster. The truth is the statistic of 400,000 responses from as many clusters of one.

Monte-Carlo error: √(.95·.05/n), .0154 at 200 banks and .0069 at 1,000. The fast layer wants each share within
.89 to .995, the slow layer within .92 to .985 (four parameters: up to 1, measured .96 to .997).
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from scipy.special import expit, logit

from evenhand.stats import decision_consistency as other
from evenhand.stats.internal_consistency import Moments, kr20, kr21
from evenhand.stats.intervals import METHODS, Sample
from evenhand.stats.livingston_lewis import effective_length, fit_livingston_lewis
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.strong_true_score import fit_beta_binomial, livingston_lewis
from evenhand.stats.true_scores import classify, sums_of_histogram

Array = np.ndarray
K, CUT, RELIABILITY, SIZE, LEVEL = 10, 6, 0.55, 14, 0.95
HARDNESS = np.linspace(-0.8, 0.8, K)
drawn = cache(lambda n_units: draw_weights(0, 500, n_units))


def verdicts(rng: np.random.Generator, n_clusters: int, size: int) -> tuple[Array, Array]:
    """(n_clusters, size, K) 0/1 verdicts of the judge and of the reference."""
    level = logit(np.clip(rng.beta(5.5, 3.7, (n_clusters, size)), 1e-6, 1 - 1e-6)) + 0.4 * rng.standard_normal(
        (n_clusters, 1)
    )
    reference = rng.random((n_clusters, size, K)) < expit(level[..., None] - HARDNESS)
    accept, reject = rng.beta(1.5, 13.5, (n_clusters, 1, 1)), rng.beta(1, 60, (n_clusters, 1, 1))
    flips = rng.random(reference.shape) < np.where(reference, reject, accept)
    return reference ^ flips, reference


def tallied(rows: Array) -> Array:
    """(G, 2K+1): responses with each total, and sums of the lines."""
    totals = rows.sum(axis=-1)
    histogram = np.stack([(totals == total).sum(axis=-1) for total in range(K + 1)], axis=-1)
    return np.concatenate([histogram, rows.sum(axis=1)], axis=-1).astype(float)


def moments(packed: Array) -> Moments:
    counts = packed[..., : K + 1]
    return Moments(counts.sum(axis=-1), packed[..., K + 1 :], counts @ np.arange(K + 1) ** 2)


def alpha(packed: Array) -> Array:
    return kr20(moments(packed), variance="n")


def of_mle(quantity: str, packed: Array) -> Array:
    return getattr(livingston_lewis(fit_beta_binomial(packed[..., : K + 1]), CUT), quantity)


def of_huynh(quantity: str, packed: Array) -> Array:
    return getattr(other.huynh(packed[..., : K + 1], CUT), quantity)


def of_subkoviak(quantity: str, packed: Array) -> Array:
    return getattr(other.subkoviak(packed[..., : K + 1], alpha(packed), CUT), quantity)


def of_hanson_brennan(n_parameters: int, quantity: str, packed: Array) -> Array:
    fit = other.fit_hanson_brennan(packed[..., : K + 1], alpha(packed), n_parameters=n_parameters)
    return getattr(classify(fit, CUT / K), quantity)


def of_classical(n_parameters: int, quantity: str, packed: Array) -> Array:
    fit = fit_livingston_lewis(
        sums_of_histogram(packed[..., : K + 1]), RELIABILITY, n_parameters=n_parameters, length=13
    )
    return getattr(classify(fit, CUT / K), quantity)


MEASURES: dict[str, tuple[Callable[[Array], Array], Scale]] = {
    "kr20": (lambda packed: kr20(moments(packed)), LOG_ONE_MINUS),
    "kr20[variance=n]": (alpha, LOG_ONE_MINUS),
    "kr21": (lambda packed: kr21(moments(packed)), LOG_ONE_MINUS),
    "effective_length": (lambda packed: effective_length(sums_of_histogram(packed[..., : K + 1]), RELIABILITY), LOG),
    "livingston_lewis_accuracy": (partial(of_mle, "accuracy"), LOGIT),
    "livingston_lewis_consistency": (partial(of_mle, "consistency"), LOGIT),
    "livingston_lewis_kappa": (partial(of_mle, "kappa"), LOG_ONE_MINUS),
    "livingston_lewis_accuracy[model=ll2]": (partial(of_classical, 2, "accuracy"), LOGIT),
    "livingston_lewis_consistency[model=ll2]": (partial(of_classical, 2, "consistency"), LOGIT),
    "huynh[quantity=consistency]": (partial(of_huynh, "consistency"), LOGIT),
    "huynh[quantity=kappa]": (partial(of_huynh, "kappa"), LOG_ONE_MINUS),
    "subkoviak[quantity=consistency]": (partial(of_subkoviak, "consistency"), LOGIT),
    "subkoviak[quantity=kappa]": (partial(of_subkoviak, "kappa"), LOG_ONE_MINUS),
    "hanson_brennan2[quantity=accuracy]": (partial(of_hanson_brennan, 2, "accuracy"), LOGIT),
    "hanson_brennan2[quantity=consistency]": (partial(of_hanson_brennan, 2, "consistency"), LOGIT),
    "hanson_brennan[quantity=accuracy]": (partial(of_hanson_brennan, 4, "accuracy"), LOGIT),
    "hanson_brennan[quantity=consistency]": (partial(of_hanson_brennan, 4, "consistency"), LOGIT),
    "livingston_lewis_accuracy[model=ll4]": (partial(of_classical, 4, "accuracy"), LOGIT),
}


@cache
def truth() -> Array:
    """Both sides' tallies of 400,000 responses from as many clusters."""
    rng = np.random.default_rng(11)
    parts = [[tallied(side).sum(axis=0) for side in verdicts(rng, 40_000, 1)] for _ in range(10)]
    return np.sum(parts, axis=0)


def covered(name: str, n_clusters: int, n_banks: int, *, difference: bool = False, method: str = "default") -> float:
    """Share of banks whose interval holds the truth; of the judge's value, or of judge minus reference."""
    measure, scale = MEASURES[name]
    judge, reference = truth()
    rng, hits, width = np.random.default_rng([n_clusters, n_banks]), 0, 2 * K + 1
    value = float(measure(judge) - (measure(reference) if difference else 0))
    for _ in range(n_banks):
        sides = [tallied(side) for side in verdicts(rng, n_clusters, SIZE)]
        packed = np.concatenate(sides, axis=1) if difference else sides[0]
        sample = Sample(
            tallies=packed,
            measure=(lambda both: measure(both[..., :width]) - measure(both[..., width:])) if difference else measure,
            sizes=np.full(n_clusters, float(SIZE)),
            scale=IDENTITY if difference else scale,
            names=("",) * n_clusters,
            weights=drawn,
        )
        found = METHODS[method](sample, LEVEL)
        hits += found.low is not None and found.high is not None and found.low <= value <= found.high
    return hits / n_banks


FAST = (
    "kr20[variance=n]",
    "effective_length",
    "livingston_lewis_consistency[model=ll2]",
    "huynh[quantity=consistency]",
    "subkoviak[quantity=kappa]",
)
CONSERVATIVE = tuple(name for name in MEASURES if "ll4" in name or name.startswith("hanson_brennan["))
"""Four parameters fall back to two in some of the left-out samples and not in others, which widens the jackknife."""


@pytest.mark.parametrize("name", FAST)
def test_intervals_hold_their_level(name: str) -> None:
    assert 0.89 <= covered(name, 13, 200) <= 0.995


def test_intervals_of_a_difference_hold_their_level() -> None:
    assert 0.89 <= covered("livingston_lewis_consistency[model=ll2]", 13, 200, difference=True) <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("difference", [False, True])
@pytest.mark.parametrize("name", MEASURES)
def test_measured_coverage(name: str, difference: bool) -> None:
    share = covered(name, 13, 1_000, difference=difference)
    assert 0.92 <= share <= (1.0 if name in CONSERVATIVE else 0.985), share


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kr20", "livingston_lewis_accuracy", "livingston_lewis_kappa"])
def test_measured_coverage_of_the_percentile_bootstrap(name: str) -> None:
    """Narrower than its level with 13 clusters, which is why it is not the default."""
    assert 0.84 <= covered(name, 13, 400, method="percentile") <= 0.96
