"""Which of many lines err more than the rest: exact tails under equal lines, and rates shrunk towards each other."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.stats.arrays import Array

_NEGLIGIBLE = 1e-12
_MAX_STEPS, _MAX_HALVINGS = 100, 40
_LARGEST_SUM = 1e7
"""alpha + beta beyond which the lines' rates are one number for all purposes."""


@dataclass(frozen=True, slots=True)
class SharedRates:
    """Rates of lines as draws from one beta distribution; ``alpha`` and ``beta`` are infinite at the binomial limit.

    Attributes:
        alpha, beta: shapes of the distribution.
        mean: alpha / (alpha + beta), the pooled rate at the limit.
    """

    alpha: float
    beta: float
    mean: float


def chance_of_at_least(errors: Array, trials: Array, rates: Array) -> Array:
    """Chance of at least so many errors, where each line has two kinds of trials with one error rate a kind everywhere.

    Exact: errors of a line are the sum of two independent binomials.

    Args:
        errors: (L,) seen.
        trials: (L, 2) trials of either kind.
        rates: (2,) error rate of either kind.

    Returns:
        (L,) upper tail probabilities; 1 where no error is seen.
    """
    found = np.ones(len(errors))
    cases, line = np.unique(np.column_stack([errors, trials]).astype(np.int64), axis=0, return_inverse=True)
    tails = [_tail(int(e), (int(a), int(b)), (float(rates[0]), float(rates[1]))) for e, a, b in cases]
    found[:] = np.array(tails, dtype=np.float64)[line.reshape(-1)]
    return found


def _tail(errors: int, trials: tuple[int, int], rates: tuple[float, float]) -> float:
    """P(A + B >= errors) of two binomials: A alone reaches it, or B makes up for what A lacks."""
    if errors <= 0:
        return 1.0
    first = np.arange(min(errors - 1, trials[0]) + 1, dtype=np.float64)
    lacking = errors - first
    made_up = np.where(lacking <= trials[1], special.bdtrc(lacking - 1.0, max(trials[1], 1), rates[1]), 0.0)
    alone = special.bdtrc(errors - 1.0, trials[0], rates[0]) if errors <= trials[0] else 0.0
    return float(min(1.0, alone + (_mass(first, trials[0], rates[0]) * made_up).sum()))


def _mass(events: Array, trials: int, rate: float) -> Array:
    """Binomial probabilities; 0^0 is 1."""
    log_ways = special.gammaln(trials + 1) - special.gammaln(events + 1) - special.gammaln(trials - events + 1)
    return np.asarray(np.exp(log_ways + special.xlogy(events, rate) + special.xlog1py(trials - events, -rate)))


def shared_rates(events: Array, trials: Array) -> SharedRates:
    """Maximum-likelihood beta distribution behind the rates of lines (Skellam 1948), whose trials may differ in number.

    Where counts spread no more than binomials of one rate do (Tarone's statistic not above 0), that one rate is it.

    Args:
        events, trials: (L,) counts; lines without trials say nothing.
    """
    events, trials = events[trials > 0], trials[trials > 0]
    total = trials.sum()
    mean = float(events.sum() / total) if total else float("nan")
    one_rate = SharedRates(float("inf"), float("inf"), mean)
    if not 0 < mean < 1:
        return one_rate
    excess = np.square(events - trials * mean).sum() / (mean * (1 - mean)) - total
    pairs = float((trials * (trials - 1)).sum())
    if excess <= _NEGLIGIBLE * total or not pairs:
        return one_rate
    rho = min(max(excess / pairs, 1e-4), 0.9)
    shapes = np.log(np.array([mean, 1 - mean]) * (1 / rho - 1))
    for _ in range(_MAX_STEPS):
        slope, curve = _slopes(shapes, events, trials)
        step = _uphill(slope, curve)
        here = _log_likelihood(shapes, events, trials)
        for _ in range(_MAX_HALVINGS):
            if _log_likelihood(shapes + step, events, trials) >= here:
                break
            step /= 2
        shapes = shapes + step
        if np.abs(step).max() < 1e-9:
            break
    alpha, beta = np.exp(shapes).tolist()
    return one_rate if alpha + beta > _LARGEST_SUM else SharedRates(alpha, beta, alpha / (alpha + beta))


def shrunken(shared: SharedRates, events: Array, trials: Array) -> Array:
    """(L,) posterior mean of each line's rate: (alpha + events) / (alpha + beta + trials), the one rate at the limit."""
    if not np.isfinite(shared.alpha):
        return np.full(len(events), shared.mean)
    return np.asarray((shared.alpha + events) / (shared.alpha + shared.beta + trials))


def _log_likelihood(shapes: Array, events: Array, trials: Array) -> float:
    a, b = np.exp(shapes)
    found = special.betaln(a + events, b + trials - events) - special.betaln(a, b)
    return float(found.sum())


def _slopes(shapes: Array, events: Array, trials: Array) -> tuple[Array, Array]:
    """Gradient (2,) and Hessian (2, 2) of the log likelihood in the logarithms of the shapes."""
    a, b = np.exp(shapes)
    seen, n = (events, trials - events), len(events)
    both = float((special.psi(a + b + trials)).sum() - n * special.psi(a + b))
    curved = float(special.polygamma(1, a + b + trials).sum() - n * special.polygamma(1, a + b))
    first = np.array(
        [float(special.psi(s + x).sum() - n * special.psi(s)) - both for s, x in zip((a, b), seen, strict=True)]
    )
    own = np.array(
        [
            float(special.polygamma(1, s + x).sum() - n * special.polygamma(1, s)) - curved
            for s, x in zip((a, b), seen, strict=True)
        ]
    )
    size = np.array([a, b])
    hessian = -curved * np.outer(size, size)
    hessian[np.diag_indices(2)] = own * size**2 + first * size
    return first * size, hessian


def _uphill(slope: Array, curve: Array) -> Array:
    """Newton's step where the likelihood curves downwards, else a step along the slope; at most 2 in each logarithm."""
    values = np.linalg.eigvalsh(curve)
    newton, along = -np.linalg.solve(curve, slope), slope / max(float(np.abs(slope).max()), 1.0)
    step: Array = np.asarray(newton if values.max() < 0 else along, dtype=np.float64)
    largest = float(np.abs(step).max())
    return step if largest <= 2 else step * 2 / largest
