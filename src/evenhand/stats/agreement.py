"""Agreement of one judge with a reference, from q×q tables of counts.

Every function takes tables of shape (..., q, q), rows the reference's label and columns the judge's, labels in
scale order (binary: the negative label first), and returns (...). 0/0 is NaN inside arrays.
"""

import numpy as np

from evenhand.stats.arrays import Array, ratio


def _shares(table: Array) -> tuple[Array, Array, Array]:
    """Joint shares (..., q, q), reference margin (..., q) and judge margin (..., q)."""
    joint = ratio(table, table.sum(axis=(-2, -1), keepdims=True))
    return joint, joint.sum(axis=-1), joint.sum(axis=-2)


def _beyond_chance(observed: Array, expected: Array) -> Array:
    return ratio(observed - expected, 1.0 - expected)


def _has_one_label(reference: Array, judge: Array) -> Array:
    """True where both sides use one and the same label only, so that chance agreement is exactly 1."""
    one: Array = (reference * judge).max(axis=-1) == 1.0
    return one


def observed_agreement(table: Array) -> Array:
    """Share of verdicts on which both sides give the same label."""
    return ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def cohen_chance(table: Array) -> Array:
    """Agreement of independent raters with these margins; exactly 1 where both use one and the same label only."""
    _, reference, judge = _shares(table)
    return np.where(_has_one_label(reference, judge), 1.0, (reference * judge).sum(axis=-1))


def scott_chance(table: Array) -> Array:
    """Agreement of raters who share the pooled margin; exactly 1 where there is one label only."""
    _, reference, judge = _shares(table)
    pooled = (reference + judge) / 2
    return np.where(_has_one_label(reference, judge), 1.0, (pooled**2).sum(axis=-1))


def gwet_chance(table: Array) -> Array:
    """Σ p(1-p)/(q-1) over the pooled margin of the q declared labels."""
    _, reference, judge = _shares(table)
    pooled = (reference + judge) / 2
    chance: Array = (pooled * (1 - pooled)).sum(axis=-1) / (table.shape[-1] - 1)
    return chance


def uniform_chance(table: Array) -> Array:
    """1/q for q declared labels."""
    return np.full(table.shape[:-2], 1.0 / table.shape[-1])


def cohen_kappa(table: Array) -> Array:
    """Cohen's kappa (Cohen 1960): agreement beyond that of independent raters with these margins.

    Undefined (NaN) where both sides use one and the same label only.
    """
    return _beyond_chance(observed_agreement(table), cohen_chance(table))


def scott_pi(table: Array) -> Array:
    """Scott's pi (Scott 1955): chance agreement from the pooled margins."""
    return _beyond_chance(observed_agreement(table), scott_chance(table))


def gwet_ac1(table: Array) -> Array:
    """Gwet's AC1 (Gwet 2008), defined wherever there is a verdict and two declared labels."""
    return _beyond_chance(observed_agreement(table), gwet_chance(table))


def brennan_prediger(table: Array) -> Array:
    """Brennan and Prediger's coefficient (1981); PABAK for two labels."""
    return _beyond_chance(observed_agreement(table), uniform_chance(table))


def binary_cells(table: Array) -> tuple[Array, Array, Array, Array]:
    """TP, FN, FP, TN of a 2×2 table whose second label is the positive one."""
    return table[..., 1, 1], table[..., 1, 0], table[..., 0, 1], table[..., 0, 0]


def phi(table: Array) -> Array:
    """Phi (Pearson 1900); on two labels also Pearson r, Spearman ρ, Kendall τ_b and Matthews' coefficient.

    Undefined (NaN) where either side uses one label only.
    """
    tp, fn, fp, tn = binary_cells(table)
    # roots before products: exact enough, and no overflow of the fourfold product
    spread = np.sqrt((tp + fn) * (fn + tn)) * np.sqrt((tp + fp) * (fp + tn))
    defined = spread > 0
    value = np.clip(ratio(tp * tn - fp * fn, np.where(defined, spread, 0.0)), -1.0, 1.0)
    return np.where(defined & (fn == 0) & (fp == 0), 1.0, value)


def kappa_phi_ratio(table: Array) -> Array:
    """kappa / phi = 2√(AB)/(A+B), A = (TP+FN)(FN+TN) and B = (TP+FP)(FP+TN); Rao and Callison-Burch 2026, eq. 11.

    1 exactly where judge and reference have the same positive rate; undefined where phi is.
    """
    tp, fn, fp, tn = binary_cells(table)
    a, b = np.sqrt(tp + fn) * np.sqrt(fn + tn), np.sqrt(tp + fp) * np.sqrt(fp + tn)
    return np.where((a > 0) & (b > 0), ratio(2 * a * b, np.square(a) + np.square(b)), np.nan)


def leniency_per_verdict(table: Array) -> Array:
    """Judge's positive rate minus the reference's, (FP - FN)/N."""
    _, fn, fp, _ = binary_cells(table)
    return ratio(fp - fn, table.sum(axis=(-2, -1)))


def balanced_accuracy(table: Array) -> Array:
    """Mean of recall and specificity."""
    tp, fn, fp, tn = binary_cells(table)
    return (ratio(tp, tp + fn) + ratio(tn, tn + fp)) / 2


def share(cells: Array) -> Array:
    """Share of the first of two cells, (..., 2) → (...)."""
    return ratio(cells[..., 0], cells[..., 0] + cells[..., 1])


def f1(cells: Array) -> Array:
    """F1 = 2a/(2a+b) from a = true positives and b = both kinds of error, (..., 2) → (...)."""
    return ratio(2 * cells[..., 0], 2 * cells[..., 0] + cells[..., 1])


def mean_value(cells: Array, values: Array) -> Array:
    """Mean of the values whose frequencies are the cells, (..., m) with (m,) → (...)."""
    return ratio(cells @ values, cells.sum(axis=-1))


def kappa_null_std_error(table: Array) -> Array:
    """Standard error of kappa when the two sides are independent (Fleiss, Cohen and Everitt 1969), independent rows.

    Never the width of an interval around an estimate: that one is the delta method's.
    """
    _, reference, judge = _shares(table)
    n = table.sum(axis=(-2, -1))
    expected = (reference * judge).sum(axis=-1)
    third = (reference * judge * (reference + judge)).sum(axis=-1)
    variance = ratio(expected + np.square(expected) - third, n * np.square(1 - expected))
    root: Array = np.sqrt(np.maximum(variance, 0))
    return root
