"""Known truth in closed form: what a coefficient is for an endless bank of a given design.

A response's presence rate is uniform, U(.5 - spread/2, .5 + spread/2), and its K criteria are met independently at
that rate. A judge of constant error rates sees the rate through a straight line, false_accept_rate +
(1 - false_accept_rate - false_reject_rate) rate, so its verdicts are a bank of the same kind over another range.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from evenhand.errors import RequestError
from evenhand.stats.arrays import Array
from evenhand.stats.strong_true_score import BetaBinomial


def met_rate_range(
    spread: float, false_accept_rate: float = 0.0, false_reject_rate: float = 0.0
) -> tuple[float, float]:
    """Lowest and highest probability, over responses, that the judge finds a criterion met.

    Args:
        spread: width of the range of presence rates, in [0, 1].
        false_accept_rate: probability of a 1 where the truth is 0, in [0, 1]; 0 is the reference's own bank.
        false_reject_rate: probability of a 0 where the truth is 1, in [0, 1].

    Raises:
        RequestError: an argument out of its range.
    """
    check_rate("spread", spread)
    check_rate("false_accept_rate", false_accept_rate)
    check_rate("false_reject_rate", false_reject_rate)
    slope = 1 - false_accept_rate - false_reject_rate
    middle, half = false_accept_rate + slope / 2, abs(slope) * spread / 2
    return max(middle - half, 0.0), min(middle + half, 1.0)


def mass_of_totals(n_criteria: int, low: ArrayLike, high: ArrayLike) -> Array:
    """Probability of a total of 0 ... K where the rate is uniform on [low, high]; (..., K+1) from ends of shape (...).

    Gauss-Legendre nodes integrate a polynomial of degree K exactly, for a range of any width, 0 included.
    """
    nodes, weights = np.polynomial.legendre.leggauss(n_criteria // 2 + 1)
    first, last = (np.asarray(end, dtype=np.float64)[..., None] for end in (low, high))
    rate = np.clip((first + last) / 2 + (last - first) / 2 * nodes, 0.0, 1.0)[..., None]
    total = np.arange(n_criteria + 1)
    ways = gammaln(n_criteria + 1) - gammaln(total + 1) - gammaln(n_criteria - total + 1)
    mass = weights / 2 @ np.exp(ways + xlogy(total, rate) + xlog1py(n_criteria - total, -rate))
    return np.asarray(mass / mass.sum(axis=-1, keepdims=True))


def population_kr20(
    spread: float, false_accept_rate: float = 0.0, false_reject_rate: float = 0.0, *, n_criteria: int = 10
) -> float:
    """KR-20 of the judge's verdicts on an endless bank; NaN below two criteria, or where the totals cannot vary.

    K/(K-1) (1 - K m(1-m) / (K m(1-m) + K(K-1) v)), m the mean and v the variance of the rate at which a criterion
    is found met. Kuder and Richardson (1937); arguments as in `met_rate_range`.
    """
    low, high = met_rate_range(spread, false_accept_rate, false_reject_rate)
    mean, spread_of_rate = (low + high) / 2, (high - low) ** 2 / 12
    own, shared = mean * (1 - mean), (n_criteria - 1) * spread_of_rate
    return (
        float("nan") if n_criteria < 2 or own + shared == 0 else n_criteria / (n_criteria - 1) * shared / (own + shared)
    )


def beta_binomial(alpha: float, beta: float, n_criteria: int) -> BetaBinomial:
    """The model with these shapes, both above 0, as if it had been fitted without error.

    Raises:
        RequestError: a shape that is not a number above 0.
    """
    for name, shape in (("alpha", alpha), ("beta", beta)):
        if not 0 < shape < np.inf:
            raise RequestError(f"{name} is {shape}; the shape of a beta distribution must be a number above 0")
    mean = np.asarray(n_criteria * alpha / (alpha + beta))
    return BetaBinomial(n_criteria, np.asarray(alpha), np.asarray(beta), mean, np.asarray(False))


def population_phi_lambda(alpha: float, beta: float, n_criteria: int, cuts: Array) -> Array:
    """Phi(lambda) at cuts (C,) of an endless bank whose true proportions are Beta(alpha, beta); shape (C,).

    Criteria are alike, so their component is 0. Brennan and Kane (1977), Journal of Educational Measurement 14.
    """
    size = alpha + beta
    response = alpha * beta / (size**2 * (size + 1))
    signal = response + np.square(alpha / size - cuts / n_criteria)
    return np.asarray(signal / (signal + alpha * beta / (size * (size + 1)) / n_criteria))


def check_rate(name: str, value: float) -> None:
    """Refuse a share outside [0, 1].

    Raises:
        RequestError: with the name and the value.
    """
    if not 0 <= value <= 1:
        raise RequestError(f"{name} is {value}; it must lie between 0 and 1")


def check_whole(name: str, value: int, *, least: int, most: int) -> None:
    """Refuse a number that is not whole or not in its range.

    Raises:
        RequestError: with the name and the value.
    """
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        raise RequestError(f"{name} is {value}; it must be a whole number from {least} to {most:,}")
