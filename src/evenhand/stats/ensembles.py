"""Agreement of several raters, from profiles: how many ratings of each level a rated unit has, missing ones left out.

Pairs of levels {a, b} are packed in the order of `np.triu_indices(q)`, both orders of a pair of ratings together. Two
tallies carry all the coefficients, for any pattern of missing ratings:

    coincidences (U, q(q+1)/2): Krippendorff; a unit with m ratings weighs m, they sum to the pairable ratings
    profile sums (U, q(q+1)/2 + q): Fleiss, Gwet, Brennan-Prediger, percent agreement; first the shares of a unit's pairs
        (they sum to the units with two ratings or more), then of its ratings (they sum to the units with one or more)

Estimators return (...) with NaN for 0/0.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.stats.agreement import cohen_kappa, phi
from evenhand.stats.arrays import Array, Counts, Measure, binned, ratio
from evenhand.stats.delta import gradient
from evenhand.stats.weights import Metric, gwet_scale, krippendorff_distances

Chance = Literal["none", "fleiss", "gwet", "uniform", "conger"]
"""Whose expected agreement a coefficient corrects for."""
WeightedMeasure = Callable[[Array, Array], Array]
"""A coefficient of sums and a matrix of agreement weights."""
UNDECIDED = -1


def sums_by_group(columns: Iterable[Array], group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Sum m columns of n rows, each as often as it repeats, by the rows' (n,) group: (n_groups, m)."""
    times = np.asarray(repeats)
    once = times.ndim == 0 and times == 1
    weights = columns if once else (column * times for column in columns)
    return np.stack([np.bincount(group, weights=one, minlength=n_groups) for one in weights], axis=-1)


def profiles(labels: Counts, n_levels: int) -> Array:
    """(n, R) level positions, negative where missing → (n, q) ratings of each level."""
    n_cells = len(labels) * n_levels
    code = np.where(labels >= 0, np.arange(len(labels))[:, None] * n_levels + labels, n_cells)
    found = np.bincount(code.ravel(), minlength=n_cells + 1)[:n_cells]
    return found.astype(np.float64).reshape(len(labels), n_levels)


def _pair_columns(counts: Array, weight: Array) -> Iterator[Array]:
    """Ordered pairs of ratings of each unit on each unordered pair of levels, times the unit's weight."""
    for a, b in zip(*np.triu_indices(counts.shape[1]), strict=True):
        yield weight * counts[:, a] * (counts[:, a] - 1 if a == b else 2 * counts[:, b])


def coincidence_sums(counts: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Krippendorff's coincidences by unit of resampling.

    Args:
        counts: (n, q) profiles.
        group: (n,) unit of resampling of each.
        n_groups: U.
        repeats: (n,) how often each profile occurs, 1 by default.

    Returns:
        (U, q(q+1)/2).
    """
    size = counts.sum(axis=1)
    weight = np.where(size > 1, np.asarray(repeats) / np.maximum(size - 1, 1), 0.0)
    return sums_by_group(_pair_columns(counts, weight), group, n_groups)


def profile_sums(counts: Array, group: Counts, n_groups: int, repeats: ArrayLike = 1.0) -> Array:
    """Shares of pairs and of ratings by unit of resampling; arguments as in `coincidence_sums`.

    Returns:
        (U, q(q+1)/2 + q).
    """
    size = counts.sum(axis=1)
    of_pairs = np.where(size > 1, np.asarray(repeats) / np.maximum(size * (size - 1), 1), 0.0)
    of_ratings = np.where(size > 0, np.asarray(repeats) / np.maximum(size, 1), 0.0)
    return sums_by_group([*_pair_columns(counts, of_pairs), *(of_ratings * counts.T)], group, n_groups)


def conger_sums(labels: Counts, n_levels: int, group: Counts, n_groups: int, repeats: ArrayLike = 1) -> Array:
    """Tallies of Conger's kappa from (n, R) level positions, negative where missing.

    Raters without any rating do not belong in here. Other arguments as in `coincidence_sums`.

    Returns:
        (U, q(q+1)/2 + R·q): shares of pairs as in `profile_sums`, then ratings of each rater on each level.
    """
    n_raters = labels.shape[1]
    rated = labels >= 0
    code = ((group[:, None] * n_raters + np.arange(n_raters)) * n_levels + labels)[rated]
    times = np.broadcast_to(np.asarray(repeats, dtype=np.int64), len(labels))
    by_rater = binned(code, np.repeat(times, rated.sum(axis=1)), (n_groups, n_raters * n_levels))
    shares = profile_sums(profiles(labels, n_levels), group, n_groups, times)
    return np.concatenate([shares[:, :-n_levels], by_rater], axis=1)


def _packed(matrix: Array) -> Array:
    """(..., q, q) → (..., q(q+1)/2), the mean of both triangles."""
    a, b = np.triu_indices(matrix.shape[-1])
    return (matrix[..., a, b] + matrix[..., b, a]) / 2


def coincidences_of_tables(tables: Array) -> Array:
    """Coincidences of two raters from their (..., q, q) tables: (..., q(q+1)/2)."""
    both = tables + np.swapaxes(tables, -1, -2)
    return _packed(both) * (2 - _packed(np.eye(tables.shape[-1])))


def _alpha(coincidences: Array, metric: Metric | Array, levels: ArrayLike, less: int) -> Array:
    a, b = np.triu_indices(np.size(levels))
    halves = (np.eye(np.size(levels))[a] + np.eye(np.size(levels))[b]) / 2
    margins = coincidences @ halves
    distances = krippendorff_distances(metric, levels, margins) if isinstance(metric, str) else metric
    packed = _packed(distances)
    observed = (coincidences * packed).sum(axis=-1)
    expected = (np.where(a == b, 1, 2) * margins[..., a] * margins[..., b] * packed).sum(axis=-1)
    return 1 - ratio((coincidences.sum(axis=-1) - less) * observed, expected)


def krippendorff_alpha(coincidences: Array, metric: Metric | Array, levels: ArrayLike) -> Array:
    """Krippendorff's alpha (2011, Computing Krippendorff's alpha-reliability): 1 - observed/expected disagreement.

    Args:
        coincidences: (..., q(q+1)/2).
        metric: "ordinal" takes its distances from the margins of these very coincidences; or a (q, q) matrix of
            distances, 0 on the diagonal.
        levels: (q,) values of the declared levels; unused ones change nothing.
    """
    return _alpha(coincidences, metric, levels, less=1)


def _split(sums: Array, q: int) -> tuple[Array, Array]:
    """Shares of pairs and what follows them."""
    n_pairs = q * (q + 1) // 2
    return sums[..., :n_pairs], sums[..., n_pairs:]


def _level_shares(ratings: Array) -> Array:
    return ratio(ratings, ratings.sum(axis=-1, keepdims=True))


def _expected_disagreement(ratings: Array, weights: Array, chance: Chance) -> Array:
    """Of the chance model, from what follows the shares of pairs in a tally; exactly 0 where one label is all there is."""
    if chance in ("none", "uniform"):
        return np.full(ratings.shape[:-1], 1.0 if chance == "none" else 1 - weights.mean())
    if chance == "conger":
        shares = _level_shares(ratings.reshape(*ratings.shape[:-1], -1, len(weights)))
        n_raters, pooled = shares.shape[-2], shares.sum(axis=-2)
        own = ((shares @ (1 - weights)) * shares).sum(axis=(-2, -1))
        everyone = ((pooled @ (1 - weights)) * pooled).sum(axis=-1)
        return ratio(everyone - own, np.full(own.shape, float(n_raters * (n_raters - 1))))
    shares = _level_shares(ratings)
    if chance == "gwet":
        return np.asarray(1 - gwet_scale(weights) * (shares * (1 - shares)).sum(axis=-1))
    return np.asarray(((shares @ (1 - weights)) * shares).sum(axis=-1))


def _coefficient(sums: Array, weights: Array, chance: Chance) -> Array:
    pairs, ratings = _split(sums, len(weights))
    observed = ratio((pairs * (1 - _packed(weights))).sum(axis=-1), pairs.sum(axis=-1))
    return 1 - ratio(observed, _expected_disagreement(ratings, weights, chance))


def chance_agreement(sums: Array, weights: Array, chance: Chance) -> Array:
    """Agreement that a coefficient expects by chance, from the tally of that coefficient; (...)."""
    return 1 - _expected_disagreement(_split(sums, len(weights))[1], weights, chance)


def percent_agreement(sums: Array, weights: Array) -> Array:
    """Mean weight of a unit's pairs of ratings, averaged over units with two or more (Gwet 2014).

    Here and in the next three: sums (..., q(q+1)/2 + q) of `profile_sums`, weights (q, q), identity for nominal labels.
    """
    return _coefficient(sums, weights, "none")


def fleiss_kappa(sums: Array, weights: Array) -> Array:
    """Fleiss' kappa (1971), generalised to weights and missing ratings by Gwet (2014).

    Label shares are averaged over units, those rated once included.
    """
    return _coefficient(sums, weights, "fleiss")


def gwet_ac(sums: Array, weights: Array) -> Array:
    """Gwet's AC1 with identity weights, AC2 with others (Gwet 2008, 2014). Counts unused labels of the scale."""
    return _coefficient(sums, weights, "gwet")


def brennan_prediger(sums: Array, weights: Array) -> Array:
    """Brennan and Prediger's coefficient (1981; Gwet 2014): chance is the mean weight. Counts unused labels."""
    return _coefficient(sums, weights, "uniform")


def conger_kappa(sums: Array, weights: Array) -> Array:
    """Conger's kappa (1980; with weights and missing ratings Gwet 2014): chance is two different raters' own margins.

    Args:
        sums: (..., q(q+1)/2 + R·q) of `conger_sums`; NaN where a rater has no rating (in a resample).
        weights: (q, q).
    """
    return _coefficient(sums, weights, "conger")


def fleiss_kappa_by_label(sums: Array, n_levels: int) -> Array:
    """Fleiss' kappa of each label against all others (Fleiss 1971, eq. 23): (..., q), from `profile_sums`."""
    pairs, ratings = _split(sums, n_levels)
    a, b = np.triu_indices(n_levels)
    touches = (np.eye(n_levels)[a] != np.eye(n_levels)[b]) / 2
    shares = _level_shares(ratings)
    return 1 - ratio(ratio(pairs @ touches, pairs.sum(axis=-1, keepdims=True)), shares * (1 - shares))


def fleiss_null_std_error(sums: Array, n_levels: int, n_raters: int) -> Array:
    """Standard error of Fleiss' kappa when it is 0 (Fleiss, Nee and Landis 1979), units independent.

    For testing "kappa is 0" only. Complete ratings: every unit has `n_raters`.
    """
    ratings = _split(sums, n_levels)[1]
    p = _level_shares(ratings)
    spread = (p * (1 - p)).sum(axis=-1)
    inner = np.square(spread) - (p * (1 - p) * (1 - 2 * p)).sum(axis=-1)
    scale = ratio(np.asarray(2.0), ratings.sum(axis=-1) * n_raters * (n_raters - 1))
    return ratio(np.sqrt(scale * np.maximum(inner, 0.0)), spread)


def _std_error_of_mean(pulls: Array, repeats: Array) -> float:
    n = repeats.sum()
    if n < 2:
        return float("nan")
    return float(np.sqrt((repeats @ np.square(pulls - (repeats @ pulls) / n)) / (n * (n - 1))))


def gwet_std_error(units: Array, repeats: Array, weights: Array, chance: Chance) -> float:
    """Gwet's standard error (2008, 2014) with independent rated units, divisor n - 1; the number of units rated twice
    or more counts as fixed, so units rated once make it wider than a jackknife's.

    Args:
        units: (n, *cells) `profile_sums` (Conger: `conger_sums`) of each distinct profile by itself.
        repeats: (n,) how often each occurs.
        weights: (q, q).
        chance: whose coefficient; "none" is percent agreement.

    Returns:
        In units of the coefficient; NaN with one unit or an undefined coefficient.
    """
    total, n = repeats @ units, repeats.sum()
    unlike = 1 - _coefficient(total, weights, chance)
    pairs, ratings = _split(units, len(weights))
    of_ratings = _split(total, len(weights))[1]
    beyond = _expected_disagreement(of_ratings, weights, chance)
    slopes = gradient(lambda sums: _expected_disagreement(sums, weights, chance), of_ratings)
    if slopes is None or not np.isfinite(unlike):
        return float("nan")
    above_chance = pairs @ _packed(weights) - (1 - beyond) * pairs.sum(axis=1)
    paired_share = (repeats @ pairs.sum(axis=1)) / n
    return _std_error_of_mean((above_chance / paired_share + n * unlike * (ratings @ slopes)) / beyond, repeats)


def krippendorff_std_error(units: Array, repeats: Array, metric: Metric | Array, levels: ArrayLike) -> float:
    """Gwet's standard error of alpha (2014), independent rated units with two ratings or more, divisor n - 1.

    That of alpha without its N - 1, the linearised large-sample form.

    Args:
        units: (n, q(q+1)/2) coincidences of each distinct profile by itself.
        repeats: (n,) how often each occurs.
        metric, levels: as in `krippendorff_alpha`.
    """
    paired = units.any(axis=1)
    units, repeats = units[paired], repeats[paired]
    slopes = gradient(lambda sums: _alpha(sums, metric, levels, less=0), repeats @ units)
    return float("nan") if slopes is None else _std_error_of_mean(repeats.sum() * (units @ slopes), repeats)


def alpha_from_fleiss(kappa: Array, n_ratings: Array | float) -> Array:
    """Nominal alpha of complete ratings, kappa + (1 - kappa)/(N R), N R ratings in all (Rao and Callison-Burch 2026)."""
    return kappa + (1 - kappa) / n_ratings


def rater_pairs(n_raters: int) -> list[tuple[int, int]]:
    """The order of pairs in `pair_tables`: (0, 1), (0, 2), ..., (1, 2), ..."""
    return [(a, b) for a in range(n_raters) for b in range(a + 1, n_raters)]


def pair_tables(labels: Counts, n_levels: int, group: Counts, n_groups: int, repeats: ArrayLike = 1) -> Array:
    """Tables of every pair of raters over the rows both rated, (U, R(R-1)/2, q, q).

    Args:
        labels: (n, R) level positions, negative where missing.
        n_levels: q.
        group: (n,) unit of resampling of each row.
        n_groups: U.
        repeats: (n,) how often each row occurs.
    """
    shape, times = (n_groups, n_levels, n_levels), np.broadcast_to(repeats, len(labels))
    tables = []
    for a, b in rater_pairs(labels.shape[1]):
        both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
        code = (group[both] * n_levels + labels[both, a]) * n_levels + labels[both, b]
        tables.append(binned(code, times[both], shape))
    return np.stack(tables, axis=1) if tables else np.zeros((n_groups, 0, n_levels, n_levels))


def mean_pairwise(measure: Measure, tables: Array, pairs: NDArray[np.bool_] | None = None) -> Array:
    """Mean of a two-rater coefficient over pairs of raters, from (..., P, q, q); NaN where one of them is undefined.

    `pairs` (P,) are those defined at the full sample, all by default: a mean over others is another quantity.
    """
    values = measure(tables)
    chosen = np.ones(values.shape[-1], dtype=bool) if pairs is None else pairs
    return ratio(values[..., chosen].sum(axis=-1), np.asarray(chosen.sum(), dtype=np.float64))


def mean_pairwise_phi(tables: Array, pairs: NDArray[np.bool_] | None = None) -> Array:
    """Mean phi of the pairs of raters, two labels; of error indicators the mean correlation of their errors."""
    return mean_pairwise(phi, tables, pairs)


def mean_pairwise_kappa(tables: Array, pairs: NDArray[np.bool_] | None = None) -> Array:
    """Mean Cohen's kappa of the pairs of raters (Light 1971)."""
    return mean_pairwise(cohen_kappa, tables, pairs)


def effective_judges(error_correlation: Array, n_judges: int) -> Array:
    """Independent judges worth as much as `n_judges` with correlated errors, R/(1 + (R - 1) r) (Kish 1965).

    NaN where 1 + (R - 1) r is 0 or less: no set of independent judges is as good.
    """
    spread = 1 + (n_judges - 1) * error_correlation
    return ratio(np.asarray(float(n_judges)), np.where(spread > 0, spread, 0.0))


def majority(counts: Array, quorum: int = 1) -> Counts:
    """Label with the most ratings, `UNDECIDED` for a tie at the top or fewer ratings than the quorum: (..., q) → (...)."""
    most = counts.max(axis=-1, keepdims=True)
    decided = ((counts == most).sum(axis=-1) == 1) & (counts.sum(axis=-1) >= quorum)
    return np.where(decided, counts.argmax(axis=-1), UNDECIDED)
