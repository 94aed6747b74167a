"""Ordinal marks: where the judge's marks land, how they spread, and how they rank, each beside the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from evenhand.audits.agreement import diagonal
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import marks as of
from evenhand.stats import weighted_agreement as weighted
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.stats.weights import agreement_weights

ORDER = 56
_CONSTANT = "marks of one side are constant"


@dataclass(frozen=True, slots=True)
class _Marks:
    """A statistic of additive sums of paired marks."""

    name: str
    measure: Measure
    scale: Scale
    estimand: str
    undefined: str = "no pair of marks"
    params: tuple[tuple[str, Param], ...] = ()


_MOMENTS = (
    _Marks("bias", of.bias, IDENTITY, "mean of {judge}'s mark minus the reference's, in marks: above 0 generous"),
    _Marks("mae", of.mae, LOG, "mean absolute difference of {judge}'s mark and the reference's, in marks"),
    _Marks("rmse", of.rmse, LOG, "root of the mean squared difference of {judge}'s mark and the reference's, in marks"),
    _Marks("lin_ccc", of.lin_ccc, LOG_ONE_MINUS, "Lin's concordance of {judge}'s marks with the reference's, moments with 1/n: "
        "the quadratic-weighted kappa of unrounded marks is this number", _CONSTANT),
    _Marks("pearson_r", of.pearson_r, ATANH, "linear correlation of {judge}'s marks with the reference's: ranking, blind to bias", _CONSTANT),
    _Marks("spread_ratio", of.spread_ratio, LOG, "standard deviation of {judge}'s marks over the reference's: below 1 it keeps to the middle", _CONSTANT),
    _Marks("smd", of.smd, IDENTITY, "mean of {judge}'s mark minus the reference's, in standard deviations of the reference", _CONSTANT),
)  # fmt: skip


def level_values(evidence: Evidence) -> tuple[Array, bool]:
    """Values of the levels, and whether they are the data's own numbers or positions in the declared order."""
    try:
        return np.array([float(level) for level in evidence.scale.levels]), True
    except ValueError:
        return np.arange(evidence.scale.size, dtype=np.float64), False


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every estimate about one judge's marks."""
    if evidence.scale.kind != "ordinal" or not evidence.has_reference:
        return
    values, own = level_values(evidence)
    cells = evidence.cells.paired
    sums = of.mark_sums(values[cells.reference], values[cells.judge], cells.unit, cells.n_units, cells.count)
    for one in _MOMENTS:
        if own or one.name in ("lin_ccc", "pearson_r"):
            yield _estimate(evidence, one, sums, sums[:, 0], counted=False)
    tables = cells.tables()
    for one in _of_tables(values):
        yield _estimate(evidence, one, tables, tables.sum(axis=(1, 2)), counted=True)
    yield from _shares(evidence, tables, values)


def _of_tables(values: Array) -> Iterator[_Marks]:
    """Statistics of level tables, on the full declared scale."""
    linear, quadratic = agreement_weights("linear", values), agreement_weights("quadratic", values)
    yield _Marks("quadratic_weighted_kappa", partial(weighted.quadratic_weighted_kappa, levels=values), LOG_ONE_MINUS,
        "quadratic-weighted kappa of {judge}'s marks with the reference's over the declared levels; it can hardly see an offset, so bias stands beside it",
        _CONSTANT)  # fmt: skip
    yield _Marks("weighted_kappa", partial(weighted.weighted_kappa, weights=linear), LOG_ONE_MINUS,
        "linear-weighted kappa of {judge}'s marks with the reference's over the declared levels", _CONSTANT, (("weights", "linear"),))  # fmt: skip
    yield _Marks("gwet_ac2", partial(weighted.gwet_ac2, weights=quadratic), LOG_ONE_MINUS,
        "Gwet's AC2 of {judge}'s marks with the reference's, quadratic weights; the best constant grader's is gwet_ac2[grader=constant]",
        "0/0: no chance-corrected agreement")  # fmt: skip
    yield _Marks("gwet_ac2", partial(weighted.best_constant_ac2, weights=quadratic), LOG_ONE_MINUS,
        "Gwet's AC2, quadratic weights, of the constant mark that agrees best with the reference: what {judge} has to beat",
        "0/0: no chance-corrected agreement", (("grader", "constant"),))  # fmt: skip
    yield _Marks(
        "spearman_rho",
        of.spearman_rho,
        ATANH,
        "rank correlation (Spearman) of {judge}'s marks with the reference's",
        _CONSTANT,
    )
    yield _Marks(
        "kendall_tau",
        of.kendall_tau,
        ATANH,
        "rank correlation (Kendall's τ_b) of {judge}'s marks with the reference's",
        _CONSTANT,
    )


def _shares(evidence: Evidence, tables: Array, values: Array) -> Iterator[Estimate]:
    near = np.abs(values[:, None] - values[None, :]) <= 1
    within = np.stack([tables[:, near].sum(axis=1), tables[:, ~near].sum(axis=1)], axis=-1)
    for name, cells, words in (
        ("exact_agreement", diagonal(tables), "is the reference's"),
        ("adjacent_agreement", within, "is the reference's or one away from it"),
    ):
        statistic = Statistic(
            name, share, LOGIT, "judge", f"share of verdicts on which {{judge}}'s mark {words}", is_rate=True
        )
        yield assess(
            evidence, statistic, cells, undefined="no pair of marks", n_excluded=evidence.n_unpaired,
            n_clusters=evidence.counts.get("paired"), alternatives=True,
        )  # fmt: skip


def _estimate(evidence: Evidence, one: _Marks, tallies: Array, sizes: Array, *, counted: bool) -> Estimate:
    return assess(
        evidence,
        Statistic(one.name, one.measure, one.scale, "judge", one.estimand, counted=counted),
        tallies,
        undefined=one.undefined,
        n_excluded=evidence.n_unpaired,
        n_clusters=evidence.counts.get("paired"),
        sizes=sizes,
        alternatives=counted,
        params=dict(one.params),
    )
