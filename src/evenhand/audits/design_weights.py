"""Design weights: which statistics they enter, how their intervals treat them, and which are not computed with them.

The one place that says so. A response that was sampled with a known chance stands for 1 / chance responses; rates, means and
tables of agreement are then ratios of weighted sums (Hájek 1971), so that only the weights' proportions matter. Intervals
resample clusters with their weighted tallies. Where a rate has few events, Korn and Graubard's limits are taken at the
effective size of its own population (Σw)²/Σw², which unequal weights make smaller than the number of verdicts. Counts stay
counts: n_used, events and trials are of verdicts, not of weights.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from evenhand.audits import (
    agreement,
    decisions,
    groups,
    groups_shares,
    label_budget,
    mark_gates,
    marks,
    status,
    true_rates,
)
from evenhand.audits.evidence import Evidence
from evenhand.audits.registry import all_estimates
from evenhand.audits.statistic import exact
from evenhand.errors import printable
from evenhand.results import Estimate
from evenhand.stats.effective_sizes import EffectiveSizes
from evenhand.tally.design_weights import WeightSums, weight_sums, weighted_cells, weighted_patterns
from evenhand.tally.groups import weighted_groups
from evenhand.verdicts.design_weights import design_weights
from evenhand.verdicts.table import VerdictTable


def _gates_of_one_mark(evidence: Evidence) -> Iterator[Estimate]:
    """Decisions on marks of one criterion; totals over several are not counted by weight."""
    if len(evidence.criteria) == 1:
        yield from mark_gates.estimates(evidence)


_FAMILIES: tuple[Callable[[Evidence], Iterable[Estimate]], ...] = (
    status.estimates,
    agreement.estimates,
    decisions.estimates,
    _gates_of_one_mark,
    marks.estimates,
    true_rates.estimates,
    groups.estimates,
    groups_shares.estimates,
    label_budget.estimates,
)
WEIGHTED = frozenset(
    {
        *("observed_agreement", "cohen_kappa", "phi", "gwet_ac1", "brennan_prediger", "scott_pi", "mcc_multiclass"),
        *("error_rate", "false_accept_rate", "false_reject_rate", "precision", "recall", "specificity", "npv", "f1"),
        *("balanced_accuracy", "prevalence", "judge_positive_rate", "kappa_phi_ratio", "leniency", "accuracy"),
        *("bias", "mae", "rmse", "lin_ccc", "pearson_r", "quadratic_weighted_kappa", "weighted_kappa", "gwet_ac2"),
        *("exact_agreement", "adjacent_agreement", "spread_ratio", "smd", "mean_total"),
        *("corrected_prevalence", "ppi_mean", "certifiable", "labels_saved"),
        *("group_gap", "group_gap_true", "group_share", "group_part", "group_share_gap", "group_share_ratio"),
    }
)
"""Statistics of those families that weights enter; everything else says that it is not computed."""
_KEPT_ERRORS = ("bootstrap", "cr1")
"""Standard errors that rest on clusters alone."""


def estimates_of(evidence: Evidence, table: VerdictTable, rater: int) -> Iterator[Estimate]:
    """Every estimate of one judge, those that weights enter weighted.

    Args:
        evidence: of the judge, unweighted.
        table: its verdicts.
        rater: its position.

    Raises:
        EvenhandError: a column that holds no design weights.
    """
    if table.reading.spec.weight is None:
        yield from all_estimates(evidence)
        return
    relation, column = design_weights(table.reading), table.reading.spec.weight
    sums = weight_sums(table, relation)
    sizes = EffectiveSizes()
    quiet = replace(evidence.plan, method="none", _drawn={}, members=[])
    _run(_weighted(replace(evidence, plan=quiet), table, rater, relation, 2, sizes))
    known = replace(sizes, recording=False)
    weighted = {one.id: one for one in _run(_weighted(evidence, table, rater, relation, 1, known))}
    for one in all_estimates(replace(evidence, plan=quiet)):
        if one.status == "ok" and one.id in weighted and one.statistic in WEIGHTED:
            yield _merged(one, weighted[one.id], known.effective.get(one.id), column)
        else:
            yield from withheld([one], column)
    yield from _of_weights(evidence, sums, column)


def _weighted(
    evidence: Evidence, table: VerdictTable, rater: int, relation: str, power: int, sizes: EffectiveSizes
) -> Evidence:
    """The same evidence with responses counted by their weight to that power."""
    return replace(
        evidence,
        cells=weighted_cells(table, rater, relation, power),
        patterns=weighted_patterns(table, rater, relation, power) if evidence.patterns is not None else None,
        groups=tuple(weighted_groups(table, rater, groups, relation, power) for groups in evidence.groups),
        effective=sizes,
    )


def _run(evidence: Evidence) -> list[Estimate]:
    return [one for family in _FAMILIES for one in family(evidence) if one.statistic in WEIGHTED]


def _merged(plain: Estimate, weighted: Estimate, effective: float | None, column: str) -> Estimate:
    """The weighted estimate with the counts of the plain one; its design effect is over as many independent verdicts."""
    deff = weighted.design_effect * plain.n_used / effective if weighted.design_effect and effective else None
    return weighted.model_copy(
        update={
            "n_used": plain.n_used,
            "n_excluded": plain.n_excluded,
            "events": plain.events,
            "trials": plain.trials,
            "design_effect": deff,
            "std_errors": {name: error for name, error in weighted.std_errors.items() if name in _KEPT_ERRORS},
            "estimand": f'{weighted.estimand}; responses weighted by "{column}"',
        }
    )


def withheld(estimates: Iterable[Estimate], column: str | None) -> Iterator[Estimate]:
    """Estimates that weights do not enter: counts as they are, the others without a value; all as they are without weights."""
    for one in estimates:
        if column is None or one.status != "ok" or one.statistic.startswith("n_"):
            yield one
        else:
            yield one.model_copy(
                update={
                    **dict.fromkeys(("estimate", "std_error", "ci_low", "ci_high", "interval_scale", "interval_df")),
                    **dict.fromkeys(("interval_std_error", "events", "trials", "design_effect", "coverage")),
                    "std_errors": {},
                    "interval_method": "none",
                    "status": "not_assessed",
                    "reason": f"not computed with design weights (--weight {column}); without them it describes the sample",
                }
            )


def _of_weights(evidence: Evidence, sums: WeightSums, column: str) -> Iterator[Estimate]:
    """What the weights are: their sum, the effective number of responses, and how far they lie apart."""
    for quantity, value, words in (
        ("sum", sums.total, f'sum of the design weights "{column}" over the responses: the size of the population if they are 1 / chance'),
        ("effective", sums.effective, "responses of equal weight that would say as much of a mean, (Σw)²/Σw²"),
        ("spread", sums.most / sums.least, "largest design weight over the smallest"),
    ):  # fmt: skip
        yield exact(
            evidence, "design_weight", value, unit="response", describes="bank", estimand=words,
            params={"quantity": quantity}, n_used=sums.n, n_clusters=evidence.counts.get("clusters", 0),
            reason="of the weights as given, without sampling error",
        )  # fmt: skip


def notices(estimates: Sequence[Estimate], column: str | None) -> Iterator[str]:
    """What must be said before the numbers."""
    found = next(
        (one for one in estimates if one.params.get("quantity") == "effective" and one.statistic == "design_weight"),
        None,
    )
    if column is None or found is None or found.estimate is None:
        return
    yield (
        f'rates, means and agreement weigh responses by "{printable(column)}" (design weights): {found.n_used:,} responses count as '
        f"{found.estimate:,.1f} of equal weight; counts and tables are of responses, and what weights do not enter says so"
    )
