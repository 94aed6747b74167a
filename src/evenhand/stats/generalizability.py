"""Generalizability theory: coefficients of a mean over conditions, from variance components.

A study of responses by criteria is about the bank, not the judge: its functions take the sums in `Moments`, broadcasting
over their leading axes. `d_study` takes the components of any design of `stats.anova`. Undefined is NaN: fewer than two
responses or fewer than two conditions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.anova_design import Design
from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.internal_consistency import Moments, mean_total


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of a single value, in squared units of the value; each of shape (...).

    Attributes:
        response: of the responses' universe scores (persons, p).
        criterion: of the criteria's mean levels (items, i).
        residual: of the interaction with everything unexplained (pi).
    """

    response: Array
    criterion: Array
    residual: Array

    def truncated(self) -> VarianceComponents:
        """The same with negative estimates set to 0, for use in coefficients."""
        return VarianceComponents(
            np.maximum(self.response, 0.0), np.maximum(self.criterion, 0.0), np.maximum(self.residual, 0.0)
        )


def mean_squares(sums: Moments) -> VarianceComponents:
    """Mean squares of the two-way table, in the fields of their components; shape (...) each.

    Degrees of freedom: n - 1, K - 1 and (n-1)(K-1). Brennan (2001), Generalizability Theory, chapter 2.
    """
    n, K = sums.n, sums.n_criteria
    grand = np.square(sums.total_sum)
    by_response = n * sums.total_square_sum - grand
    by_criterion = K * np.square(sums.item_sums).sum(axis=-1) - grand
    residual = n * K * sums.square_sum - grand - by_response - by_criterion
    return VarianceComponents(
        ratio(by_response, n * K * (n - 1)),
        ratio(by_criterion, n * K * (K - 1)),
        ratio(residual, n * K * (n - 1) * (K - 1)),
    )


def variance_components(sums: Moments) -> VarianceComponents:
    """Analysis-of-variance estimates of the p x i design, raw: they may be negative. Shape (...) each.

    Brennan (2001), Generalizability Theory, chapter 2.
    """
    squares = mean_squares(sums)
    return VarianceComponents(
        (squares.response - squares.residual) / sums.n_criteria,
        ratio(squares.criterion - squares.residual, sums.n),
        squares.residual,
    )


def relative_error_variance(components: VarianceComponents, n_criteria: int) -> Array:
    """Error variance of a mean over `n_criteria` used to rank, shape (...). Brennan (2001), chapter 2."""
    return components.residual / n_criteria


def absolute_error_variance(components: VarianceComponents, n_criteria: int) -> Array:
    """Error variance of a mean over `n_criteria` used as a level, shape (...). Brennan (2001), chapter 2."""
    return (components.criterion + components.residual) / n_criteria


def generalizability_coefficient(components: VarianceComponents, n_criteria: int) -> Array:
    """Universe over universe and relative error variance, shape (...). Brennan (2001), chapter 2."""
    error = relative_error_variance(components, n_criteria)
    return ratio(components.response, components.response + error)


def dependability_coefficient(components: VarianceComponents, n_criteria: int) -> Array:
    """Universe over universe and absolute error variance, Phi, shape (...). Brennan (2001), chapter 2."""
    error = absolute_error_variance(components, n_criteria)
    return ratio(components.response, components.response + error)


def phi_lambda(sums: Moments, cut: ArrayLike, *, truncate: bool = True) -> Array:
    """Dependability of decisions at a cut, Phi(lambda); shape (...) followed by the shape of `cut`.

    `cut` is a total (criteria met), lambda = cut / K. The squared distance of the grand mean from lambda is
    corrected for its own error variance, so the result may be negative. Negative components count as 0 unless
    `truncate` is False. NaN where all responses are equal and lie on the cut. Brennan and Kane (1977),
    Journal of Educational Measurement 14; Brennan (2001), Generalizability Theory, chapter 2; Zhu (2026),
    appendix A.3.
    """
    K = sums.n_criteria
    raw = variance_components(sums)
    components = raw.truncated() if truncate else raw
    error = absolute_error_variance(components, K)
    mean_error = ratio(components.response + components.residual / K, sums.n) + components.criterion / K
    cuts = np.asarray(cut, dtype=np.float64)
    distance = np.subtract.outer(mean_total(sums) / K, cuts / K)
    signal = np.square(distance) + _align(components.response - mean_error, cuts.ndim)
    return ratio(signal, signal + _align(error, cuts.ndim))


def _align(values: Array, n_axes: int) -> Array:
    """Append `n_axes` axes of length one."""
    return np.reshape(values, np.shape(values) + (1,) * n_axes)


@dataclass(frozen=True, slots=True)
class DStudy:
    """Variances of a mean over conditions, in squared units of the value; each of shape (...).

    Attributes:
        universe: of the objects' universe scores.
        relative: error variance of ranking objects.
        absolute: error variance of an object's level.
    """

    universe: Array
    relative: Array
    absolute: Array

    @property
    def generalizability(self) -> Array:
        """Universe over universe and relative error variance."""
        return ratio(self.universe, self.universe + self.relative)

    @property
    def dependability(self) -> Array:
        """Universe over universe and absolute error variance, Phi."""
        return ratio(self.universe, self.universe + self.absolute)

    @property
    def sem(self) -> Array:
        """Standard error of measurement of a level, the root of the absolute error variance."""
        return np.sqrt(self.absolute)

    @property
    def relative_sem(self) -> Array:
        """Standard error of measurement of a difference from the others, the root of the relative error variance."""
        return np.sqrt(self.relative)


def d_study(
    design: Design,
    components: Array,
    object_: str,
    conditions: Mapping[str, float],
    *,
    fixed: Collection[str] = (),
    truncate: bool = True,
) -> DStudy:
    """A decision study: any numbers of conditions, any of them fixed. Brennan (2001), chapters 4 and 5.

    Args:
        design: with its terms.
        components: (..., T) of a single value, in the terms' order.
        object_: the facet that is measured; what it is nested in is measured with it.
        conditions: facet → how many of its levels a mean is over (within each level above a nested one), for every other
            facet.
        fixed: facets whose very levels are meant: their interactions with the object are its score, their own level no
            error.
        truncate: negative components count as 0.

    Raises:
        ValueError: a facet without its number of conditions, or a number below 1.
    """
    measured = design.closure([object_])
    lacking = [facet for facet in design.facets if facet not in measured and not conditions.get(facet, 0) >= 1]
    if lacking:
        raise ValueError(
            f"how many conditions of {', '.join(lacking)}? Give each facet but {object_} a number of 1 or more"
        )
    parts = np.maximum(components, 0.0) if truncate else np.asarray(components, dtype=np.float64)
    universe, relative, absolute = (np.zeros(parts.shape[:-1]) for _ in range(3))
    for at, term in enumerate(design.terms):
        over = set(term.facets) - measured
        part = parts[..., at] / math.prod(conditions[facet] for facet in over)
        of_object = measured <= set(term.facets)
        if over <= set(fixed):
            universe = universe + part if of_object else universe
        else:
            absolute = absolute + part
            relative = relative + part if of_object else relative
    return DStudy(universe, relative, absolute)


def reliability_of_mean(reliability: ArrayLike, n_conditions: ArrayLike) -> Array:
    """Reliability of a mean over `n_conditions` from that of one, r k / (1 + (k - 1) r). Spearman (1910), Brown (1910)."""
    r, k = np.asarray(reliability, dtype=np.float64), np.asarray(n_conditions, dtype=np.float64)
    return ratio(k * r, 1 + (k - 1) * r)


def nested_sums(values: ArrayLike, count: ArrayLike, cluster: Counts, n_clusters: int) -> Array:
    """Tallies of the (p x i):q design: each cluster has its own responses and its own criteria, crossed within it.

    Args:
        values: (P, K) rows, the k-th criterion being another one in every cluster.
        count: (P,) how often each row occurs.
        cluster: (P,) its cluster.
        n_clusters: Q.

    Returns:
        (Q, 8): 1 for a cluster with responses; responses n; n²; sums of squares between responses, between
        criteria and of what is left, within the cluster; the sum of all values; each cluster's squared sum over nK.
    """
    rows, repeats = np.asarray(values, dtype=np.float64), np.asarray(count, dtype=np.float64)
    k = rows.shape[1]
    weighted = rows * repeats[:, None]

    def by_cluster(column: Array) -> Array:
        return np.asarray(np.bincount(cluster, weights=column, minlength=n_clusters), dtype=np.float64)

    n = by_cluster(repeats)
    items = np.stack([by_cluster(column) for column in weighted.T], axis=1)
    total = items.sum(axis=1)
    full = np.maximum(n, 1)
    of_mean = np.square(total) / (full * k)
    responses = by_cluster(repeats * np.square(rows.sum(axis=1))) / k - of_mean
    criteria = np.square(items).sum(axis=1) / full - of_mean
    left = by_cluster((weighted * rows).sum(axis=1)) - of_mean - responses - criteria
    sums: Array = np.stack(
        [(n > 0).astype(np.float64), n, np.square(n), responses, criteria, left, total, of_mean], axis=1
    )
    return sums


def nested_components(sums: Array, n_criteria: int) -> Array:
    """Variance components of the (p x i):q design, raw, from ``nested_sums``: (..., 8) → (..., 4).

    Henderson's method I: those of clusters, responses in clusters, criteria in clusters, and what is left. With equal
    numbers of criteria the last three are those of mean squares pooled over clusters.
    """
    k = n_criteria
    clusters, n, squared, responses, criteria, left, total, of_mean = (sums[..., at] for at in range(8))
    residual = ratio(left, (n - clusters) * (k - 1))
    response = ratio(responses - (n - clusters) * residual, (n - clusters) * k)
    criterion = ratio(criteria - clusters * (k - 1) * residual, n * (k - 1))
    between = of_mean - ratio(np.square(total), n * k)
    a_cluster = n - ratio(squared, n)
    explained = (clusters - 1) * (k * response + residual) + a_cluster * criterion
    cluster = ratio(between - explained, a_cluster * k)
    return np.stack([cluster, response, criterion, residual], axis=-1)
