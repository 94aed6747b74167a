"""Rao and Callison-Burch (2026), sections 6 and 7 and appendix B: a third label, and more judges than one.

The example table is ours: the paper's own is not in its text, which fixes three of its cells' sums only.
"""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from evenhand.reproducing.lines import Line, held_exactly, identity, not_computed, slip, statement
from evenhand.stats import agreement as of
from evenhand.stats import ensembles as among
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.marks import kendall_tau, mark_sums, pearson_r, spearman_rho
from evenhand.stats.weighted_agreement import mcc_multiclass

N_TABLES = 200
_N_ITEMS, _N_JUDGES = 40, 3
_UNMET, _CA, _MET = 0, 1, 2
EXAMPLE = np.array([[20.0, 5.0, 3.0], [4.0, 17.0, 1.0], [4.0, 2.0, 24.0]])
"""Reference down, judge across: UNMET, CANNOT_ASSESS, MET."""


def random_tables(rng: Generator, n: int, q: int) -> Array:
    """Tables (n, q, q) of 1 to 60 in a cell: both sides use every label."""
    return rng.integers(1, 61, size=(n, q, q)).astype(np.float64)


def largest(difference: Array) -> float:
    """Largest absolute deviation; NaN if any is undefined."""
    return float(np.abs(difference).max())


def f1(table: Array) -> Array:
    """F1 of the positive label, from (..., 2, 2)."""
    tp, fn, fp, _ = of.binary_cells(table)
    return of.f1(np.stack([tp, fn + fp], axis=-1))


def pearson(tables: Array) -> Array:
    """Pearson's r of labels numbered in their order, from (n, q, q), as an audit of marks computes it; (n,)."""
    n, q, _ = tables.shape
    first, second = (np.tile(values.ravel(), n) for values in np.indices((q, q), dtype=np.float64))
    return pearson_r(mark_sums(first, second, np.repeat(np.arange(n), q * q), n, tables.ravel()))


def recoded(tables: Array) -> Array:
    """CANNOT_ASSESS counted as UNMET on both sides: (..., 2, 2)."""
    groups = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(groups @ tables @ groups.T)


def against_rest(tables: Array) -> Array:
    """MET against everything else, cell by cell: (..., 2, 2)."""
    met, row, column = tables[..., _MET, _MET], tables[..., _MET, :].sum(axis=-1), tables[..., :, _MET].sum(axis=-1)
    rest = tables.sum(axis=(-2, -1)) - row - column + met
    return np.stack([np.stack([rest, column - met], axis=-1), np.stack([row - met, met], axis=-1)], axis=-2)


def abstention(rng: Generator) -> Iterator[Line]:
    """Section 6 and appendix B."""
    yield _coverage()
    yield from _three_modes()
    tables = random_tables(rng, N_TABLES, 3)
    yield from _appendix_b(tables)
    yield from _three_labels(tables)


def _coverage() -> Line:
    n = EXAMPLE.sum()
    both = EXAMPLE[np.ix_([_UNMET, _MET], [_UNMET, _MET])].sum() / n
    product = (1 - EXAMPLE[_CA].sum() / n) * (1 - EXAMPLE[:, _CA].sum() / n)
    why = (
        f"the covered share is Pr[m=0 and m^=0], {both:.3f} in our table; the product of the two rates, {product:.3f} there, needs "
        "abstentions that are independent of each other"
    )
    return slip(
        "section 6.1, exclude", "share that both sides commit to", "(1-Pr[m=1])(1-Pr[m^=1])", f"{both:.3f}, not {product:.3f}",
        why, confirmed=abs(both - product) > 1e-3,
    )  # fmt: skip


def _three_modes() -> Iterator[Line]:
    kept = EXAMPLE[np.ix_([_UNMET, _MET], [_UNMET, _MET])]
    modes = (kept, recoded(EXAMPLE), EXAMPLE)
    for name, measure in (("accuracy", of.observed_agreement), ("kappa", of.cohen_kappa)):
        values = [float(measure(table)) for table in modes]
        differ = len({round(value, 6) for value in values}) == 3
        shown = " / ".join(f"{value:.3f}" for value in values)
        yield statement(
            "section 6.1, three modes (our table)", f"{name}: exclude / as UNMET / own class", "three different values", shown,
            holds=differ,
        )  # fmt: skip


def _appendix_b(tables: Array) -> Iterator[Line]:
    place = "appendix B"
    yield not_computed(
        place, "the 3x3 table and its rows of results", "not in the text",
        "not determined",
        "only n(MET,MET) = 30 and the rest of its row and of its column, 15 each, can be read from the text",
    )  # fmt: skip
    known = np.array([[0.0, 15.0], [15.0, 30.0]])
    yield held_exactly(place, "F1 of MET against the rest, 60/90", "0.667", float(f1(known)))
    apart = largest(f1(recoded(tables)) - f1(against_rest(tables)))
    more = [
        largest(m(recoded(tables)) - m(against_rest(tables))) for m in (of.observed_agreement, of.cohen_kappa, of.phi)
    ]
    equal = max(apart, *more) <= 1e-12
    yield slip(
        place, "F1 recoded = F1 of MET against the rest", "by coincidence on this table",
        f"equal on {N_TABLES} of {N_TABLES} tables" if equal else "not always equal",
        "an identity: counting CANNOT_ASSESS as UNMET on both sides leaves the table of MET against the rest as it is, hence F1, "
        "accuracy, kappa and phi on every table",
        confirmed=equal,
    )  # fmt: skip


def _three_labels(tables: Array) -> Iterator[Line]:
    place = "section 6.2, three labels as 0, 1/2, 1"
    level = tables + tables[:, ::-1, ::-1]  # as many of the lowest as of the highest label on both sides
    yield identity(
        place,
        "rho = r where UNMET and MET are as frequent",
        "equal",
        largest(spearman_rho(level) - pearson(level)),
        N_TABLES,
    )
    correlations: tuple[Measure, ...] = (pearson, spearman_rho, kendall_tau, mcc_multiclass)
    values = np.stack([measure(tables) for measure in correlations])
    for name, first, second in (("rho and r", 0, 1), ("R_K and r", 3, 0), ("R_K and tau_b", 3, 2)):
        n = int((np.abs(values[first] - values[second]) > 1e-9).sum())
        yield statement(
            place, f"{name} generically", "differ", f"differ on {n} of {N_TABLES}", holds=n > 0.98 * N_TABLES
        )


def _fleiss(labels: Counts, q: int) -> float:
    group = np.zeros(len(labels), dtype=np.int64)
    return float(among.fleiss_kappa(among.profile_sums(among.profiles(labels, q), group, 1)[0], np.eye(q)))


def _alpha(labels: Counts, q: int, metric: Array | None = None) -> float:
    group = np.zeros(len(labels), dtype=np.int64)
    sums = among.coincidence_sums(among.profiles(labels, q), group, 1)[0]
    distances = 1 - np.eye(q) if metric is None else metric
    return float(among.krippendorff_alpha(sums, distances, np.arange(q)))


def _pairs(labels: Counts, q: int) -> Array:
    return np.asarray(among.pair_tables(labels, q, np.zeros(len(labels), dtype=np.int64), 1)[0])


def ensembles(rng: Generator) -> Iterator[Line]:
    """Section 7."""
    place = "section 7.1, observation 2"
    drawn = [_labels(rng) for _ in range(N_TABLES)]
    fleiss, alpha = (np.array([measure(one, 2) for one in drawn]) for measure in (_fleiss, _alpha))
    off = largest(alpha - among.alpha_from_fleiss(fleiss, _N_ITEMS * _N_JUDGES))
    yield identity(
        place, "eq. 16, alpha from Fleiss' kappa", "kappa + (1-kappa)/(NR)", off, N_TABLES,
        note="complete ratings, as many judges on every item",
    )  # fmt: skip
    yield identity(place, "alpha below Fleiss' kappa", "never", max(float((fleiss - alpha).max()), 0.0), N_TABLES)
    gap = float(among.alpha_from_fleiss(np.asarray(0.6), 300.0)) - 0.6
    yield held_exactly(place, "alpha - kappa at kappa .6, N 100, R 3", "0.0013", gap)
    measures: tuple[Measure, ...] = (pearson, spearman_rho, kendall_tau, mcc_multiclass)
    phi = np.array([float(among.mean_pairwise_phi(_pairs(one, 2))) for one in drawn])
    others = np.array([[float(among.mean_pairwise(measure, _pairs(one, 2))) for one in drawn] for measure in measures])
    yield identity(place, "mean pairwise r, rho, tau_b, MCC are mean phi", "equal", largest(others - phi), 4 * N_TABLES)
    level = [np.stack([rng.permutation(one[:, 0]) for _ in range(_N_JUDGES)], axis=1) for one in drawn]
    same = np.array([float(among.mean_pairwise_phi(_pairs(one, 2))) - _fleiss(one, 2) for one in level])
    yield identity(place, "mean phi = Fleiss' kappa at equal rates", "equal", largest(same), N_TABLES)
    yield from _three_label_ensembles()


def _labels(rng: Generator) -> Counts:
    """Labels (items, judges) of judges of unequal rates, each using both labels."""
    truth = rng.random((_N_ITEMS, 1)) < 0.5
    labels = (truth ^ (rng.random((_N_ITEMS, _N_JUDGES)) < rng.uniform(0.05, 0.4, _N_JUDGES))).astype(np.int64)
    labels[0], labels[1] = 0, 1
    return labels


def _three_label_ensembles() -> Iterator[Line]:
    place = "section 7.2, three labels (our ensembles)"
    agreed = np.repeat([[label, label] for label in (_UNMET, _CA, _MET)], 20, axis=0)
    far = np.concatenate([agreed, np.tile([_UNMET, _MET], (10, 1))])
    near = np.concatenate([agreed, np.tile([_CA, _MET], (14, 1))])
    squares = np.square(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    nominal = [_fleiss(one, 3) for one in (far, near)]
    graded = [_alpha(one, 3, squares) for one in (far, near)]
    shown = f"kappa {nominal[0]:.3f} > {nominal[1]:.3f}, alpha {graded[0]:.3f} < {graded[1]:.3f}"
    yield statement(
        place, "kappa and quadratic alpha rank two ensembles", "can disagree", shown,
        holds=nominal[0] > nominal[1] and graded[0] < graded[1],
    )  # fmt: skip
    mixed = np.concatenate([near, np.tile([_UNMET, _MET], (4, 1))])
    committed = mixed[(mixed != _CA).all(axis=1)] // 2
    encoded, deleted = float(pearson(_pairs(mixed, 3))[0]), float(pearson(_pairs(committed, 2))[0])
    yield statement(
        place, "r with abstention as 1/2, or left out", "depends on the choice", f"{encoded:.3f} or {deleted:.3f}",
        holds=abs(encoded - deleted) > 1e-3,
    )  # fmt: skip
