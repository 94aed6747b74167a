"""Marks on several criteria of a response: how far a judge's marks hang together beyond the reference's, which is halo.

A judge that lets one impression colour every criterion correlates them more than the reference does; what it errs on one
it then errs on the others. Alpha of the marks is about the bank and its criteria, as that of verdicts is.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.beside_reference import Borrowed, Tallies, beside_reference, unfrozen
from evenhand.audits.borrowed import item_totals, of_products
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate
from evenhand.stats import internal_consistency as of
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.scales import ATANH, IDENTITY, LOG
from evenhand.tally.mark_rows import MarkRows
from evenhand.tally.moments import MOST_PRODUCT_CELLS, Side, unpack_products

ORDER = 61


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Correlations between criteria of each side's marks, and of the judge's errors, over responses marked on all."""
    if evidence.scale.kind not in ("ordinal", "continuous") or len(evidence.criteria) < 2:
        return
    rows, k = evidence.mark_rows, len(evidence.criteria)
    if rows is None or rows.n_units * k**2 > MOST_PRODUCT_CELLS:
        yield _absent(evidence, "too many responses or criteria to put their marks side by side")
        return
    sides: tuple[Side, ...] = ("judge", "reference") if evidence.has_reference else ("judge",)
    kept = np.logical_and.reduce([rows.is_full(side) for side in sides])
    if not kept.any():
        both = " by both sides" if evidence.has_reference else ""
        yield _absent(evidence, f"no response is marked on all {k} criteria{both}")
        return
    marks = {side: rows.marks(side, kept) for side in sides}
    unit, count = rows.unit[kept], rows.count[kept]
    packed = {side: packed_products(found, unit, rows.n_units, count) for side, found in marks.items()}
    left = int(rows.count.sum() - count.sum())
    tallies = Tallies(packed, packed["judge"][:, 0], left, evidence.counts.get("complete"))
    for one in (*_of_totals(rows, k), *of_products(k, "marks"), *item_totals(evidence.criteria)):
        yield from beside_reference(evidence, tallies, one)
    if evidence.has_reference:
        yield _of_errors(evidence, rows, marks["judge"] - marks["reference"], kept)


def _of_totals(rows: MarkRows, k: int) -> Iterator[Borrowed]:
    """Mean and standard deviation of the totals over all criteria."""

    def mean(packed: Array) -> Array:
        return (of.mean_total(_moments(packed, k)) + k * rows.origin) / rows.factor

    def deviation(packed: Array) -> Array:
        return of.sd_total(_moments(packed, k)) / rows.factor

    yield Borrowed("mean_total", unfrozen(mean), IDENTITY, "bank",
        f"mean total of {{side}} over {k} criteria, in marks", "no complete response")  # fmt: skip
    yield Borrowed("sd_total", unfrozen(deviation), LOG, "bank",
        f"standard deviation of the totals of {{side}} over {k} criteria, divisor n−1, in marks", "fewer than two complete responses")  # fmt: skip


def _moments(packed: Array, k: int) -> of.Moments:
    """(..., 1 + K + K²) cross products as the moments that totals need."""
    return of.Moments(packed[..., 0], packed[..., 1 : 1 + k], packed[..., 1 + k :].sum(axis=-1))


def packed_products(values: Array, unit: Counts, n_units: int, count: Counts) -> Array:
    """(U, 1 + K + K²) responses, sums and cross products of (P, K) values, each row (P,) times over."""
    k = values.shape[1]
    packed = np.zeros((n_units, 1 + k + k * k))
    weighted = values * count[:, None]
    packed[:, 0] = np.bincount(unit, weights=count, minlength=n_units)
    for at in range(k):
        packed[:, 1 + at] = np.bincount(unit, weights=weighted[:, at], minlength=n_units)
        for other in range(at, k):
            product = np.bincount(unit, weights=weighted[:, at] * values[:, other], minlength=n_units)
            packed[:, 1 + k + at * k + other] = packed[:, 1 + k + other * k + at] = product
    return packed


def _of_errors(evidence: Evidence, rows: MarkRows, errors: Array, kept: NDArray[np.bool_]) -> Estimate:
    k = errors.shape[1]
    packed = packed_products(errors, rows.unit[kept], rows.n_units, rows.count[kept])
    pairs = of.varying_pairs(unpack_products(packed.sum(axis=0), k))
    statistic = Statistic(
        "error_correlation", lambda sums: of.mean_intercriterion_correlation(unpack_products(sums, k), pairs), ATANH, "judge",
        "mean correlation between two criteria of {judge}'s errors, its mark minus the reference's, over the pairs on which errors "
        "vary: above 0 what it errs on one criterion it errs on others, too", "response", counted=False,
    )  # fmt: skip
    return assess(
        evidence, statistic, packed, undefined="errors vary on fewer than two criteria", sizes=packed[:, 0],
        n_excluded=int(rows.count.sum() - packed[:, 0].sum()), n_clusters=evidence.counts.get("complete"),
    )  # fmt: skip


def _absent(evidence: Evidence, why: str) -> Estimate:
    told: dict[str, Any] = {"status": "not_assessed"}
    return exact(
        evidence, "mean_intercriterion_correlation", None, unit="response", describes="measurement system", reason=why,
        estimand="mean correlation between two criteria of {judge}'s marks",
    ).model_copy(update=told)  # fmt: skip
