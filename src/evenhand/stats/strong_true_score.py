"""Strong true-score models of the totals: beta-binomial, Livingston-Lewis; about bank and checklist.

Functions of the histogram of totals, a tally that adds up over clusters, broadcasting over its leading axes:
2,000 resamples are fitted at once. Inside, a beta distribution is its mean and rho = 1 / (alpha + beta + 1),
since the likelihood is smooth up to both ends of rho: 0 is the binomial limit (one true proportion for all
responses), 1 the limit of true proportions 0 and 1 only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, chdtrc, gammaln

from evenhand.stats.arrays import Array, ratio

_MAX_STEPS = 100
_MAX_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class BetaBinomial:
    """True proportions Beta(alpha, beta) seen through K binomial trials; arrays of shape (...).

    Attributes:
        n_criteria: number of trials K.
        alpha: first shape; at a boundary `inf` (binomial limit) or 0 (true proportions 0 and 1 only).
        beta: second shape, likewise.
        mean_total: K alpha / (alpha + beta), in criteria met; at a boundary the sample mean.
        boundary: the likelihood has no interior maximum; the values are those of the limit it rises to.
    """

    n_criteria: int
    alpha: Array
    beta: Array
    mean_total: Array
    boundary: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """Pearson chi-squared, degrees of freedom (pooled cells - 3), upper tail (NaN if df < 1); (...) each."""

    chi2: Array
    df: Array
    p_value: Array


@dataclass(frozen=True, slots=True)
class Classification:
    """Pass or fail at a cut, as proportions; arrays of shape (...) followed by the shape of the cut.

    Attributes:
        accuracy: probability that the decision on the observed total is that on the true proportion.
        consistency: probability that two independent administrations agree.
        pass_rate: probability of passing.
    """

    accuracy: Array
    consistency: Array
    pass_rate: Array

    @property
    def kappa(self) -> Array:
        """Consistency corrected for chance; NaN where everyone passes or everyone fails."""
        chance = np.square(self.pass_rate) + np.square(1 - self.pass_rate)
        return np.where(chance < 1 - 1e-12, ratio(self.consistency - chance, 1 - chance), np.nan)


def fit_beta_binomial(histogram: ArrayLike) -> BetaBinomial:
    """Maximum likelihood from `histogram` (..., K+1), the number of responses with total 0 ... K.

    Damped Newton steps for all histograms together. Whether an interior maximum exists is decided beforehand:
    not where the score at the binomial boundary is not positive, that is, where the totals' variance (divisor
    n) is at most a binomial's, and not where every total is 0 or K. At a given mean the likelihood has one
    peak in rho (Levin and Reeds 1977, Annals of Statistics 5). NaN for an empty histogram. Skellam
    (1948), JRSS B 10.
    """
    counts = np.asarray(histogram, dtype=np.float64)
    K, lead = counts.shape[-1] - 1, counts.shape[:-1]
    flat = counts.reshape(-1, K + 1)
    mean_total, rho = _start(flat)
    inside = (rho > 0) & (rho < 1)
    mean = mean_total / K
    mean[inside], rho[inside] = _maximise(_weights(flat[inside]), mean[inside], rho[inside])
    mean_total[inside] = K * mean[inside]
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = np.where(rho == 0, np.inf, mean * (1 / rho - 1)).reshape(lead)
        beta = np.where(rho == 0, np.inf, (1 - mean) * (1 / rho - 1)).reshape(lead)
    boundary = (rho == 0) | (rho == 1)
    return BetaBinomial(K, alpha, beta, mean_total.reshape(lead), boundary.reshape(lead))


def beta_binomial_reliability(fit: BetaBinomial) -> Array:
    """Reliability of the total under the model, K / (alpha + beta + K), (...); 0 at the binomial limit."""
    return np.asarray(fit.n_criteria / (fit.alpha + fit.beta + fit.n_criteria))


def beta_binomial_log_mass(fit: BetaBinomial, n_trials: int | None = None) -> Array:
    """Log probability of totals 0 ... K (or of `n_trials` instead of K), (..., K+1); also at both limits."""
    K = fit.n_criteria if n_trials is None else n_trials
    mean, rho = fit.mean_total[..., None] / fit.n_criteria, 1 / (fit.alpha + fit.beta + 1)[..., None]
    r, total = np.arange(K), np.arange(K + 1)
    q = np.where(r == 0, 1.0, 1 - rho)  # the first factor 1 - rho cancels, but for totals 1 ... K-1
    with np.errstate(divide="ignore"):
        met, unmet = (_sums_from_zero(np.log(p * q + r * rho)) for p in (mean, 1 - mean))
        kept = np.where((total > 0) & (total < K), np.log1p(-rho), 0.0)
    trials = np.log(q + r * rho).sum(axis=-1, keepdims=True)
    return np.asarray(_log_binomial(K) + met + unmet[..., ::-1] + kept - trials)


def beta_binomial_log_likelihood(fit: BetaBinomial, histogram: ArrayLike) -> Array:
    """Log likelihood of `histogram` (..., K+1), with its binomial constants; shape (...)."""
    counts = np.asarray(histogram, dtype=np.float64)
    return np.asarray(np.sum(counts * np.where(counts > 0, beta_binomial_log_mass(fit), 0.0), axis=-1))


def beta_binomial_gof(fit: BetaBinomial, histogram: ArrayLike) -> GoodnessOfFit:
    """Pearson chi-squared of `histogram` (..., K+1) against its `fit` of shape (...).

    Cells are pooled from the left until each expects at least 5, the remainder joining the last; two
    parameters are counted as fitted. Zhu (2026), appendix A.3.
    """
    observed = np.asarray(histogram, dtype=np.float64)
    expected = np.exp(beta_binomial_log_mass(fit)) * observed.sum(axis=-1, keepdims=True)
    open_o, open_e, last_o, last_e, chi2, cells = (np.zeros(expected.shape[:-1]) for _ in range(6))
    for x in range(fit.n_criteria + 1):
        open_o, open_e = open_o + observed[..., x], open_e + expected[..., x]
        full = open_e >= 5
        chi2 = chi2 + np.where(full, _pearson(last_o, last_e), 0.0)
        last_o, last_e = np.where(full, open_o, last_o), np.where(full, open_e, last_e)
        open_o, open_e = np.where(full, 0.0, open_o), np.where(full, 0.0, open_e)
        cells = cells + full
    chi2 = chi2 + _pearson(last_o + open_o, last_e + open_e)
    df = np.maximum(cells, 1) - 3
    return GoodnessOfFit(chi2, df, np.where(df > 0, chdtrc(np.maximum(df, 1), chi2), np.nan))


def livingston_lewis(
    fit: BetaBinomial, cut: ArrayLike, *, method: Literal["exact", "grid400"] = "exact"
) -> Classification:
    """Accuracy and consistency of pass or fail at `cut`; shape (...) followed by the shape of `cut`.

    Pass: total >= cut. True pass: K times the true proportion >= cut. `exact` sums incomplete beta integrals
    over the totals; `grid400` weights 400 true proportions by the beta density, to reproduce Zhu (2026,
    appendix A.3). At a boundary both give the limit. Livingston and Lewis (1995), Journal of Educational
    Measurement 32; the two-parameter beta of Hanson and Brennan (1990), same journal 27.
    """
    cuts = np.asarray(cut, dtype=np.float64)
    alpha, beta = (np.where(fit.boundary, 1.0, shape) for shape in (fit.alpha, fit.beta))
    classify = _classify_exactly if method == "exact" else _classify_on_grid
    inside = classify(replace(fit, alpha=alpha, beta=beta), cuts.ravel())
    pairs = zip(_classify_at_limit(fit, cuts.ravel()), inside, strict=True)
    parts = [np.minimum(np.where(fit.boundary[..., None], limit, part), 1.0) for limit, part in pairs]
    return Classification(*(np.reshape(part, (*fit.boundary.shape, *cuts.shape)) for part in parts))


def _start(counts: Array) -> tuple[Array, Array]:
    """Mean total, and rho: exactly 0 or 1 at a boundary, NaN when empty, else the moment estimate."""
    K = counts.shape[-1] - 1
    total = np.arange(K + 1)
    n, first, second = counts.sum(axis=-1), counts @ total, counts @ np.square(total)
    binomial = first * (n * K - first)
    excess = K * (n * second - np.square(first)) - binomial
    moment = np.minimum(ratio(excess, (K - 1) * binomial), 0.9)
    rho = np.where(excess > 0, np.where(counts[:, 1:-1].any(axis=-1), moment, 1.0), 0.0)
    return ratio(first, n), np.where(n > 0, rho, np.nan)


def _weights(counts: Array) -> Array:
    """Exponents (3, K, m) of `_factors`: responses with more than r met, more than r unmet, minus all."""
    met = counts[:, :0:-1].cumsum(axis=-1)[:, ::-1].T
    unmet = counts[:, :-1].cumsum(axis=-1)[:, ::-1].T
    return np.stack([met, unmet, np.broadcast_to(-counts.sum(axis=-1), met.shape)])


def _factors(mean: Array, rho: Array, K: int) -> tuple[Array, Array]:
    """Share p of met, unmet and both, (3, 1, m), and the rising factors p (1 - rho) + r rho, (3, K, m)."""
    share = np.stack([mean, 1 - mean, np.ones_like(mean)])[:, None]
    return share, share * (1 - rho) + np.arange(K)[:, None] * rho


def _log_kernel(weights: Array, mean: Array, rho: Array) -> Array:
    """Log likelihood without binomial constants, (m,)."""
    return np.asarray(np.sum(weights * np.log(_factors(mean, rho, weights.shape[1])[1]), axis=(0, 1)))


def _newton_step(weights: Array, mean: Array, rho: Array) -> tuple[Array, Array]:
    """Newton step of the kernel; where its Hessian is indefinite, half-way to the uphill end of rho."""
    share, factors = _factors(mean, rho, weights.shape[1])
    sign, q = np.array([1.0, -1.0, 0.0])[:, None, None], 1 - rho
    pull, slope = weights / factors, (np.arange(weights.shape[1])[:, None] - share) / factors
    net = np.sum(sign * pull, axis=(0, 1))
    by_mean, by_rho = q * net, np.sum(weights * slope, axis=(0, 1))
    mean_mean = np.square(q) * np.sum(np.abs(sign) * pull / factors, axis=(0, 1))
    mean_rho = net + q * np.sum(sign * pull * slope, axis=(0, 1))
    rho_rho = np.sum(weights * np.square(slope), axis=(0, 1))
    determinant = mean_mean * rho_rho - np.square(mean_rho)
    concave, scale = determinant > 0, np.where(determinant > 0, determinant, 1.0)
    mean_step = np.where(concave, (rho_rho * by_mean - mean_rho * by_rho) / scale, by_mean / mean_mean)
    rho_step = np.where(concave, (mean_mean * by_rho - mean_rho * by_mean) / scale, ((by_rho > 0) - rho) / 2)
    return mean_step, rho_step


def _room(value: Array, step: Array) -> Array:
    """Share of a step, at most 1, that covers at most 9/10 of the way to the end of the unit interval."""
    way = 0.9 * np.where(step > 0, 1 - value, value)
    return way / np.maximum(np.abs(step), way)


def _improve(weights: Array, mean: Array, rho: Array) -> tuple[Array, Array]:
    """One Newton step, shortened to stay inside the unit square and not to lose likelihood."""
    mean_step, rho_step = _newton_step(weights, mean, rho)
    before = _log_kernel(weights, mean, rho)
    part = np.minimum(_room(mean, mean_step), _room(rho, rho_step))
    for _ in range(_MAX_HALVINGS):
        after = _log_kernel(weights, mean + part * mean_step, rho + part * rho_step)
        worse = after < before - 1e-12 * np.abs(before)
        if not worse.any():
            break
        part = np.where(worse, part / 2, part)
    return mean + part * mean_step, rho + part * rho_step


def _maximise(weights: Array, mean: Array, rho: Array) -> tuple[Array, Array]:
    """Ascend from every row until its step is negligible; NaN for a row that does not get there."""
    live = np.arange(mean.size)
    for _ in range(_MAX_STEPS):
        old = np.stack([mean[live], rho[live]])
        mean[live], rho[live] = new = np.stack(_improve(weights[..., live], *old))
        live = live[np.any(np.abs(new - old) > 1e-7 * old * (1 - old) + 1e-14, axis=0)]
        if live.size == 0:
            break
    mean[live] = rho[live] = np.nan
    return mean, rho


def _classify_exactly(fit: BetaBinomial, cuts: Array) -> tuple[Array, Array, Array]:
    """Accuracy from the posterior of the true proportion at each total, consistency from 2K trials."""
    K, passes = fit.n_criteria, _passes(fit, cuts)
    mass, total = np.exp(beta_binomial_log_mass(fit)), np.arange(K + 1)
    alpha, beta = fit.alpha[..., None, None] + total, fit.beta[..., None, None] + K - total
    below = betainc(alpha, beta, np.clip(cuts / K, 0.0, 1.0)[:, None])
    accuracy = np.sum(mass[..., None, :] * np.where(passes, 1 - below, below), axis=-1)
    return accuracy, np.exp(beta_binomial_log_mass(fit, 2 * K)) @ _same_side(passes).T, mass @ passes.T


def _classify_on_grid(fit: BetaBinomial, cuts: Array) -> tuple[Array, Array, Array]:
    """Riemann sums over 400 true proportions, the density normalised to sum 1."""
    K, p = fit.n_criteria, np.linspace(1e-4, 1 - 1e-4, 400)
    total, log_p, log_q = np.arange(K + 1), np.log(p), np.log1p(-p)
    log_density = (fit.alpha[..., None] - 1) * log_p + (fit.beta[..., None] - 1) * log_q
    density = np.exp(log_density - log_density.max(axis=-1, keepdims=True))
    density /= density.sum(axis=-1, keepdims=True)
    mass = np.exp(_log_binomial(K) + np.outer(log_p, total) + np.outer(log_q, K - total))
    rate = mass @ _passes(fit, cuts).T
    right = np.where(p[:, None] * K >= cuts, rate, 1 - rate)
    return density @ right, density @ (np.square(rate) + np.square(1 - rate)), density @ rate


def _classify_at_limit(fit: BetaBinomial, cuts: Array) -> tuple[Array, Array, Array]:
    """One true proportion for all (binomial limit), or 0 and 1 only, where no decision errs."""
    rate = np.exp(beta_binomial_log_mass(fit)) @ _passes(fit, cuts).T
    right = np.where(fit.mean_total[..., None] >= cuts, rate, 1 - rate)
    single = fit.alpha[..., None] > 0
    again = np.square(rate) + np.square(1 - rate)
    return np.where(single, right, 1.0), np.where(single, again, 1.0), rate


def _passes(fit: BetaBinomial, cuts: Array) -> Array:
    """1 where a total 0 ... K passes a cut, (C, K+1)."""
    return (np.arange(fit.n_criteria + 1) >= cuts[:, None]).astype(np.float64)


def _same_side(passes: Array) -> Array:
    """Chance that both halves of 2K trials with a given total fall on one side of the cut, (C, 2K+1)."""
    K = passes.shape[-1] - 1
    total = np.add.outer(np.arange(K + 1), np.arange(K + 1))
    split = np.exp(np.add.outer(_log_binomial(K), _log_binomial(K)) - _log_binomial(2 * K)[total])
    same = [np.bincount(total.ravel(), np.ravel(split * (row[:, None] == row))) for row in passes]
    return np.reshape(same, (-1, 2 * K + 1))


def _log_binomial(K: int) -> Array:
    """Log of K choose 0 ... K."""
    return np.asarray(gammaln(K + 1) - gammaln(np.arange(K + 1) + 1) - gammaln(K - np.arange(K + 1) + 1))


def _sums_from_zero(values: Array) -> Array:
    """Cumulative sums along the last axis, with a leading 0."""
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), values.cumsum(axis=-1)], axis=-1)


def _pearson(observed: Array, expected: Array) -> Array:
    """Squared standardised difference; 0 where nothing is expected."""
    return np.where(expected > 0, np.square(observed - expected) / np.maximum(expected, 1e-300), 0.0)
