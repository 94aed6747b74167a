"""A mark that feeds a belief that labels the next answer: the loop's closed forms, and the label effect behind it.

The belief about a skill is a beta distribution: prior mass 1 beside evidence that decays by r between writes and grows by
M at each. Marks and labels lie on one scale; a label effect γ is marks per point of label. Near the steady state a
belief's deviation follows d' = (r + wγ) d, w = M/n*, n* = 1 + M/(1 - r): it dies out below 1 and runs away above.
Everything broadcasts over leading axes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats.arrays import Array, Counts, ratio
from evenhand.stats.ensembles import sums_by_group

_SINGULAR = 1e-10
_CONTROL_SQUARE = 12


@dataclass(frozen=True, slots=True)
class Grader:
    """A judge as a line: mark = intercept + slope t + [shift + label_effect (label - mid) + interaction (t - mid)] + noise.

    What stands in brackets is there when a label is shown. Each field has shape (...); marks, points of label and the
    reference mark t share one scale with middle mid.

    Attributes:
        intercept, slope: of marks without a label on reference marks.
        label_effect: γ, marks per point of label.
        shift: of showing any label, in marks.
        interaction: marks per point of t that showing a label adds to the slope.
        noise: standard deviation of a single mark about the line.
    """

    intercept: Array
    slope: Array
    label_effect: Array
    shift: Array
    interaction: Array
    noise: Array


def kept_share(days: ArrayLike, decay: float = 0.1) -> Array:
    """Share r of its evidence that a belief keeps over some days between writes: (1 + decay days)^-½."""
    return np.asarray((1 + decay * np.asarray(days, dtype=np.float64)) ** -0.5)


def held_evidence(kept: ArrayLike, mass: ArrayLike = 1.0) -> Array:
    """n* = 1 + M/(1 - r): prior and evidence right after a write in the steady state; infinite where nothing decays."""
    kept = np.asarray(kept, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(1 + np.asarray(mass, dtype=np.float64) / (1 - kept))


def weight_of_mark(kept: ArrayLike, mass: ArrayLike = 1.0) -> Array:
    """w = M/n*: how far one mark moves the belief, as a share of its distance."""
    return np.asarray(mass, dtype=np.float64) / held_evidence(kept, mass)


def eigenvalue(label_effect: ArrayLike, kept: ArrayLike, mass: ArrayLike = 1.0) -> Array:
    """r + wγ: what is left of a belief's deviation from one write to the next."""
    effect = np.asarray(label_effect, dtype=np.float64)
    return np.asarray(np.asarray(kept, dtype=np.float64) + weight_of_mark(kept, mass) * effect)


def runaway_effect(kept: ArrayLike, mass: ArrayLike = 1.0) -> Array:
    """γ* = 1 + (1 - r)/M: the label effect at which the eigenvalue is 1."""
    return np.asarray(1 + (1 - np.asarray(kept, dtype=np.float64)) / np.asarray(mass, dtype=np.float64))


def runaway_multiple(label_effect: ArrayLike, kept: ArrayLike, mass: ArrayLike = 1.0) -> Array:
    """γ*/γ: how many times its own label effect a judge is away from running away; NaN where γ is not above 0."""
    effect = np.asarray(label_effect, dtype=np.float64)
    return ratio(runaway_effect(kept, mass), np.where(effect > 0, effect, 0.0))


def linear_multiplier(label_effect: ArrayLike, kept: ArrayLike, n_writes: int, mass: ArrayLike = 1.0) -> Array:
    """Σ λ^k / Σ r^k over k < n: a steady push on the belief after n writes, with feedback over without; λ = r + wγ."""
    kept = np.asarray(kept, dtype=np.float64)
    powers = np.arange(n_writes)
    with_edge, without = eigenvalue(label_effect, kept, mass)[..., None], kept[..., None]
    return np.asarray((with_edge**powers).sum(axis=-1) / (without**powers).sum(axis=-1))


def label_sums(
    reference: Array,
    control: Array,
    labelled: Array,
    label: Array,
    mid: float,
    group: Counts,
    n_groups: int,
    *,
    control_square: Array | None = None,
    n_labels: int = 1,
) -> Array:
    """Tallies of the fit, one row an answer that was marked under a label as well.

    Args:
        reference, control, labelled, label: (n,) marks without and with the label, and the label, on one scale.
        mid: middle of the scale.
        group: (n,) unit of resampling of each row.
        n_groups: U.
        control_square: (n,) mean square of the single marks that `control` is the mean of, where it was repeated.
        n_labels: labels under which each answer was marked: its rows, which all bring its control mark, weigh 1 together.

    Returns:
        (U, 15): cross products of 1, label - mid, t - mid, control and labelled - control, the upper triangle by rows.
    """
    square = control**2 if control_square is None else control_square
    columns = products(label - mid, reference - mid, control.astype(np.float64), square, labelled - control)
    return sums_by_group(np.moveaxis(columns, -1, 0), group, n_groups, 1 / n_labels)


def bend_sums(reference: Array, moved: Array, label: Array, mid: float, group: Counts, n_groups: int) -> Array:
    """(U, 15) tallies of `label_bend`, one row an answer under a label; moved by (n,) marks."""
    x = label - mid
    return sums_by_group(np.moveaxis(products(x, reference - mid, x**2, x**4, moved), -1, 0), group, n_groups)


def label_bend(sums: Array) -> Array:
    """(...) marks per squared point of label, of moved marks on 1, label, reference mark and squared label by least squares.

    NaN where labels have fewer than three values, or do not tell it from the rest.
    """
    return np.asarray(_least_squares(_moments(sums), [0, 1, 2, 3], 4)[0][..., 3])


def products(label: Array, reference: Array, control: Array, control_square: Array, moved: Array) -> Array:
    """(..., 15) products of 1, label, reference, control and moved, the upper triangle by rows; control² is given."""
    columns = np.broadcast_arrays(np.ones(()), label, reference, control, moved)
    upper = [columns[i] * columns[j] for i in range(5) for j in range(i, 5)]
    upper[_CONTROL_SQUARE] = np.broadcast_to(control_square, columns[0].shape)
    return np.stack(upper, axis=-1)


def _moments(sums: Array) -> Array:
    """(..., 5, 5) cross products from (..., 15) sums."""
    full = np.zeros((*sums.shape[:-1], 5, 5))
    rows, columns = np.triu_indices(5)
    full[..., rows, columns] = sums
    full[..., columns, rows] = sums
    return full


def _least_squares(cross: Array, predictors: list[int], outcome: int) -> tuple[Array, Array]:
    """Coefficients (..., p) and residual sum of squares (...); NaN where the predictors do not determine them."""
    inner = cross[..., predictors, :][..., predictors]
    right = cross[..., predictors, outcome]
    size = np.sqrt(np.einsum("...ii->...i", inner))
    scaled = ratio(inner, size[..., :, None] * size[..., None, :])
    determined = np.linalg.det(np.nan_to_num(scaled)) > _SINGULAR
    safe = np.where(determined[..., None, None], inner, np.eye(len(predictors)))
    found = np.linalg.solve(safe, right[..., None])[..., 0]
    found = np.where(determined[..., None], found, np.nan)
    left: Array = cross[..., outcome, outcome] - (found * right).sum(axis=-1)
    return np.asarray(found), np.where(left > 0, left, np.where(np.isnan(left), np.nan, 0.0))


def fit_grader(sums: Array, mid: float) -> Grader:
    """The judge's line by least squares, from (..., 15) `label_sums`.

    labelled - control on 1, label - mid and t - mid; control on 1 and t, about which single marks spread by the noise
    (divisor n - 2 answers). NaN where labels or reference marks do not vary enough to tell the three apart.
    """
    cross = _moments(sums)
    pushed, _ = _least_squares(cross, [0, 1, 2], 4)
    line, residual = _least_squares(cross, [0, 2], 3)
    spare = np.maximum(cross[..., 0, 0] - 2, 0)
    noise = np.sqrt(ratio(residual, spare))
    slope = line[..., 1]
    return Grader(line[..., 0] - slope * mid, slope, pushed[..., 1], pushed[..., 0], pushed[..., 2], noise)


def learner_spread(values: Array, learner: Counts) -> tuple[float, float, float]:
    """Mean over learners, and standard deviations between learners and within them, from (n,) marks of their answers.

    One-way analysis of variance with unequal numbers of answers (Searle 1971): the variance between is
    (MSB - MSW)/n0, 0 where that is negative. With one answer a learner all spread is between learners.
    """
    n = np.bincount(learner).astype(np.float64)
    n_learners, means = len(n), np.bincount(learner, weights=values) / n
    left = float(np.square(values - means[learner]).sum())
    spare = len(values) - n_learners
    within = left / spare if spare > 0 else 0.0
    if n_learners < 2:
        return float(means.mean()), 0.0, float(np.sqrt(within))
    between = float((n * np.square(means - values.mean())).sum()) / (n_learners - 1)
    size = (n.sum() - np.square(n).sum() / n.sum()) / (n_learners - 1)
    return float(means.mean()), float(np.sqrt(max(between - within, 0.0) / size)), float(np.sqrt(within))
