"""Rao and Callison-Burch (2026), arXiv 2606.00093: two labels, one judge (sections 3 to 5, appendix C), then the rest.

The numbers and formulas are the paper's; the words, the random tables and the examples are ours.
"""

from collections.abc import Iterator

import numpy as np
from numpy.random import default_rng

from evenhand.reproducing.abstention_and_ensembles import abstention, ensembles, f1, largest, pearson, random_tables
from evenhand.reproducing.lines import Line, held_exactly, identity, slip, statement
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.delta import delta_variance, gradient
from evenhand.stats.marks import kendall_tau, spearman_rho
from evenhand.stats.weighted_agreement import analytic_std_error, mcc_multiclass

SOURCE = "Rao and Callison-Burch (2026), Agreement Metrics for LLM-as-Judge Evaluation, arXiv 2606.00093"
N_TABLES = 300
_SEED = 20260000093
_FIRST, _RARE, _NEVER = (40, 10, 20, 30), (5, 5, 0, 90), (0, 10, 0, 90)
_BALANCED, _UNBALANCED, _OFF = (0.4, 0.1, 0.1, 0.4), (0.3, 0.1, 0.1, 0.5), (0.4, 0.1, 0.2, 0.3)


def agreement_metrics() -> tuple[Line, ...]:
    """Every worked example and identity of the paper, in its order."""
    rng = default_rng(_SEED)
    tables = random_tables(rng, N_TABLES, 2)
    return (
        *_definitions(tables),
        *_one_number(tables),
        *_kappa_and_phi(tables),
        *_worked_examples(),
        *_aggregation(),
        *abstention(rng),
        *ensembles(rng),
        *_variances(),
    )


def table_of(cells: tuple[float, float, float, float]) -> Array:
    """A table from the paper's order of cells: TP, FN, FP, TN."""
    tp, fn, fp, tn = cells
    return np.array([[tn, fp], [fn, tp]], dtype=np.float64)


def _definitions(tables: Array) -> Iterator[Line]:
    tp, fn, fp, tn = of.binary_cells(tables)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    place = "section 3, definitions"
    yield identity(
        place,
        "eq. 1, accuracy",
        "(TP+TN)/N",
        largest(of.observed_agreement(tables) - (tp + tn) / tables.sum((-2, -1))),
        N_TABLES,
    )
    yield identity(
        place,
        "eq. 2, F1 as a harmonic mean",
        "2PR/(P+R)",
        largest(f1(tables) - 2 * precision * recall / (precision + recall)),
        N_TABLES,
    )
    flipped = tables[:, ::-1, ::-1]
    yield identity(
        place,
        "F1 of the negative label",
        "2TN/(2TN+FP+FN)",
        largest(f1(flipped) - 2 * tn / (2 * tn + fp + fn)),
        N_TABLES,
    )
    by_rates = (of.observed_agreement(tables) - of.cohen_chance(tables)) / (1 - of.cohen_chance(tables))
    by_cells = 2 * (tp * tn - fp * fn) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn))
    yield identity(
        place,
        "eq. 3, kappa by its chance agreement",
        "(p_o-p_e)/(1-p_e)",
        largest(of.cohen_kappa(tables) - by_rates),
        N_TABLES,
    )
    yield identity(
        place, "eq. 4, kappa by cells", "2(TP·TN-FP·FN)/(...)", largest(of.cohen_kappa(tables) - by_cells), N_TABLES
    )
    root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    yield identity(
        place,
        "eq. 5, phi by cells",
        "(TP·TN-FP·FN)/sqrt(...)",
        largest(of.phi(tables) - (tp * tn - fp * fn) / root),
        N_TABLES,
    )
    swapped = tables.swapaxes(-1, -2)
    measures: tuple[Measure, ...] = (of.observed_agreement, f1, of.cohen_kappa, of.phi, spearman_rho, kendall_tau)
    change = np.stack([measure(tables) - measure(swapped) for measure in measures])
    yield identity(
        place, "accuracy, F1, kappa, phi, rho, tau_b under FP<->FN", "unchanged", largest(change), 6 * N_TABLES
    )


def _one_number(tables: Array) -> Iterator[Line]:
    place = "section 4, observation 1"
    for name, measure in (
        ("Pearson's r", pearson),
        ("Spearman's rho", spearman_rho),
        ("Kendall's tau_b (eq. 8)", kendall_tau),
        ("Matthews' coefficient", mcc_multiclass),
    ):
        yield identity(
            place, f"{name} is phi", "r = rho = tau_b = phi = MCC", largest(measure(tables) - of.phi(tables)), N_TABLES
        )


def _kappa_and_phi(tables: Array) -> Iterator[Line]:
    place = "section 5, kappa and phi"
    kappa, phi = of.cohen_kappa(tables), of.phi(tables)
    yield identity(
        place, "eq. 11, kappa / phi", "2 sqrt(AB)/(A+B)", largest(kappa - phi * of.kappa_phi_ratio(tables)), N_TABLES
    )
    yield identity(
        place, "eq. 12, |kappa| above |phi|", "never", max(float((np.abs(kappa) - np.abs(phi)).max()), 0.0), N_TABLES
    )
    matched = tables.copy()
    matched[:, 0, 1] = matched[:, 1, 0]
    yield identity(
        place,
        "kappa = phi at equal positive rates",
        "equal",
        largest(of.cohen_kappa(matched) - of.phi(matched)),
        N_TABLES,
    )
    tp, fn, fp, tn = of.binary_cells(tables)
    unequal = (fn != fp) & (tp * tn != fn * fp)
    apart = bool((np.abs(kappa)[unequal] < np.abs(phi)[unequal]).all())
    shown = f"strictly in {unequal.sum()} of {unequal.sum()}" if apart else "not always"
    yield statement(
        place, "|kappa| below |phi| at unequal rates", "strictly", shown, holds=apart,
        note="but where labels are independent: there both are 0",
    )  # fmt: skip
    balanced = matched.copy()
    balanced[:, 0, 0] = balanced[:, 1, 1]
    double = 2 * of.observed_agreement(balanced) - 1
    yield identity(
        place,
        "kappa where both rates are one half",
        "2 accuracy - 1",
        largest(of.cohen_kappa(balanced) - double),
        N_TABLES,
    )


def _worked_examples() -> Iterator[Line]:
    place, table = "section 5, (TP,FN,FP,TN) = (40,10,20,30)", table_of(_FIRST)
    for name, published, measure in (
        ("prevalence", "0.50", lambda t: t[1].sum() / t.sum()),
        ("judge's positive rate", "0.60", lambda t: t[:, 1].sum() / t.sum()),
        ("accuracy", "0.700", of.observed_agreement),
        ("F1", "0.727", f1),
        ("chance agreement", "0.500", of.cohen_chance),
        ("kappa", "0.400", of.cohen_kappa),
        ("phi", "0.408", of.phi),
    ):
        yield held_exactly(place, name, published, float(measure(table)))
    place, table = "section 5, (5,5,0,90)", table_of(_RARE)
    for name, published, measure in (
        ("prevalence", "0.10", lambda t: t[1].sum() / t.sum()),
        ("accuracy", "0.95", of.observed_agreement),
        ("kappa", "0.643", of.cohen_kappa),
        ("phi", "0.688", of.phi),
    ):
        yield held_exactly(place, name, published, float(measure(table)))
    place, table = "section 5, always negative on the same labels", table_of(_NEVER)
    yield held_exactly(place, "accuracy", "0.90", float(of.observed_agreement(table)))
    yield held_exactly(place, "kappa", "0", float(of.cohen_kappa(table)))
    undefined = bool(np.isnan(of.phi(table)))
    yield statement(place, "phi", "undefined", "undefined" if undefined else "a number", holds=undefined)


def _with_kappa(prevalence: float, rate: Array, kappa: float) -> Array:
    """Tables of shares with these positive rates of reference and judge, and this kappa; (..., 2, 2)."""
    shift = kappa * (prevalence + rate - 2 * prevalence * rate) / 2
    absent = np.stack([(1 - prevalence) * (1 - rate) + shift, (1 - prevalence) * rate - shift], axis=-1)
    present = np.stack([prevalence * (1 - rate) - shift, prevalence * rate + shift], axis=-1)
    return np.stack([absent, present], axis=-2)


def _aggregation() -> Iterator[Line]:
    place = "section 5.1, criteria of 80 % and 5 %, kappas .9 and .2"
    easy, hard = (_with_kappa(p, np.asarray(p), k) for p, k in ((0.8, 0.9), (0.05, 0.2)))
    macro = float(np.mean([of.cohen_kappa(easy), of.cohen_kappa(hard)]))
    yield held_exactly(place, "macro kappa", "0.55", macro)
    micro = float(of.cohen_kappa((easy + hard) / 2))
    rates = np.linspace(0, 1, 1001)
    first, second = (_with_kappa(p, rates, k) for p, k in ((0.8, 0.9), (0.05, 0.2)))
    first, second = (tables[(tables >= -1e-12).all(axis=(-2, -1))] for tables in (first, second))
    reach = of.cohen_kappa((first[:, None] + second) / 2)
    why = (
        f"as many items of each and equal positive rates give {micro:.4f}; over all judge rates that these kappas allow, micro kappa "
        f"runs from {reach.min():.2f} to {reach.max():.2f}: the text does not fix it"
    )
    yield slip(place, "micro kappa", "0.85", f"{micro:.2f}", why, confirmed=abs(micro - 0.85) > 0.005)


def _variance(measure: Measure, table: Array) -> float:
    """N times the delta-method variance of a statistic of shares."""
    slopes = gradient(measure, table)
    return float("nan") if slopes is None else delta_variance(table, slopes)


def _variances() -> Iterator[Line]:
    place, table = "appendix C, shares (.3,.1,.1,.5)", table_of(_UNBALANCED)
    yield held_exactly(place, "both positive rates", "0.4", float(table[1].sum()))
    yield held_exactly(place, "judge's positive rate", "0.4", float(table[:, 1].sum()))
    slopes = [gradient(measure, table) for measure in (of.cohen_kappa, of.phi)]
    apart = float("nan") if slopes[0] is None or slopes[1] is None else largest(slopes[0] - slopes[1])
    yield identity(place, "gradients of kappa and phi along the simplex", "equal", apart, 4, tolerance=1e-7)
    gap = _gradient_gap(_UNBALANCED)
    yield held_exactly(
        place, "their difference, every entry (5/6)", "0.8333", float(gap.mean()),
        "the constant belongs to formulas with 1 - rate for the other margin; with counts it is 0, and neither moves a variance",
    )  # fmt: skip
    yield identity(place, "the four entries of the difference", "alike", largest(gap - gap.mean()), 4, tolerance=1e-7)
    place, table = "appendix C, shares (.4,.1,.1,.4)", table_of(_BALANCED)
    yield held_exactly(place, "kappa", "0.6", float(of.cohen_kappa(table)))
    yield held_exactly(place, "phi", "0.6", float(of.phi(table)))
    yield held_exactly(place, "N times the variance of kappa", "0.640", _variance(of.cohen_kappa, table))
    yield held_exactly(place, "the same by Fleiss, Cohen and Everitt", "0.640", _fleiss_cohen_everitt(table))
    yield held_exactly(place, "N times the variance of phi", "0.640", _variance(of.phi, table))
    yield held_exactly(place, "for continuous pairs, (1 - phi^2)^2", "0.41", float((1 - of.phi(table) ** 2) ** 2))
    place, table = "appendix C, shares (.4,.1,.2,.3)", table_of(_OFF)
    yield held_exactly(place, "kappa", "0.400", float(of.cohen_kappa(table)))
    yield held_exactly(place, "phi", "0.408", float(of.phi(table)))
    yield held_exactly(place, "N times the variance of kappa", "0.806", _variance(of.cohen_kappa, table))
    yield held_exactly(place, "the same by Fleiss, Cohen and Everitt", "0.806", _fleiss_cohen_everitt(table))
    yield held_exactly(place, "N times the variance of phi", "0.813", _variance(of.phi, table), "exactly 13/16 = .8125")
    yield from _second_order()


def _second_order() -> Iterator[Line]:
    """Eq. 13: no gap of the variances at equal rates, and one that grows with the square of the difference."""
    place = "section 5 and appendix C, eq. 13"
    rng = default_rng(_SEED)
    matched = random_tables(rng, N_TABLES, 2)
    matched[:, 0, 1] = matched[:, 1, 0]
    shares = matched / matched.sum(axis=(-2, -1), keepdims=True)
    gaps = np.array([_variance(of.cohen_kappa, one) - _variance(of.phi, one) for one in shares])
    yield identity(place, "variances of kappa and phi at equal rates", "equal", largest(gaps), N_TABLES, tolerance=1e-6)
    moved = [table_of((0.4, 0.1 - step, 0.1 + step, 0.4)) for step in (0.02, 0.01)]
    wide, narrow = (_variance(of.phi, one) - _variance(of.cohen_kappa, one) for one in moved)
    order = float(np.log2(wide / narrow))
    yield statement(
        place, "order of the gap in the mismatch", "second", f"{order:.2f}", holds=abs(order - 2) < 0.05,
        note="exponent from halving the mismatch around (.4,.1,.1,.4)",
    )  # fmt: skip


def _fleiss_cohen_everitt(table: Array) -> float:
    """N times the variance of kappa in closed form; the table holds shares."""
    return float(analytic_std_error(table, np.eye(2), "cohen") ** 2)


def _gradient_gap(cells: tuple[float, float, float, float]) -> Array:
    """Gradient of kappa less that of phi, as functions of four free shares with 1 - rate for the other margins; (4,)."""

    def kappa(p: Array) -> Array:
        a, b = p[..., 0] + p[..., 1], p[..., 0] + p[..., 2]
        chance = a * b + (1 - a) * (1 - b)
        return np.asarray((p[..., 0] + p[..., 3] - chance) / (1 - chance))

    def phi(p: Array) -> Array:
        a, b = p[..., 0] + p[..., 1], p[..., 0] + p[..., 2]
        return np.asarray((p[..., 0] * p[..., 3] - p[..., 1] * p[..., 2]) / np.sqrt(a * (1 - a) * b * (1 - b)))

    first, second = (gradient(measure, np.array(cells)) for measure in (kappa, phi))
    return np.full(4, np.nan) if first is None or second is None else first - second
