"""The reporting checklist, computed from what the audit holds, each item with where it is met."""

from collections.abc import Sequence

from evenhand.audits.evidence import Evidence
from evenhand.results import Estimate

Item = dict[str, str]


def checklist(
    evidence: Sequence[Evidence], estimates: Sequence[Estimate], *, conditions: int, prompts_recorded: bool
) -> tuple[Item, ...]:
    """Items after Rao and Callison-Burch (2026), section 8, and this project's own, as met, not met or not applicable.

    Args:
        evidence: of every judge.
        estimates: of the audit.
        conditions: number of conditions the judge was run under.
        prompts_recorded: whether the data name the judge's model or setting.
    """
    first = evidence[0]
    names = {estimate.statistic for estimate in estimates}
    binary, reference = first.is_binary, first.has_reference
    agreement = reference or None
    clusters = first.units.declared
    return (
        _item("judgment scale named before any statistic", True, "declarations.scale"),
        _item(
            "one of the equal binary coefficients only",
            binary and agreement,
            "phi; r, ρ, τ_b and MCC are named as equal to it",
        ),
        _item(
            "agreement with a companion that sees the marginals",
            agreement,
            "observed_agreement beside cohen_kappa and prevalence",
        ),
        _item("confusion matrix", agreement, "tables.levels"),
        _item(
            "criteria with constant labels listed, not dropped",
            agreement and len(first.criteria) > 1,
            "tables.criteria, warnings",
        ),
        _item("handling of abstentions named in every number", True, "declarations.abstention_mode"),
        _item(
            "abstention, tie and invalid rates as results", "unparsed_rate" in names, "abstention_rate, unparsed_rate"
        ),
        _item(
            "agreement where both committed with its coverage",
            agreement,
            "selective_accuracy beside selective_coverage",
        ),
        _item("weight matrix for three classes", None, "two classes, or unordered ones"),
        _item("aggregation level named", agreement, "pooled over criteria (micro), and by criterion"),
        _item(
            "one ensemble statistic with a table per judge",
            None if len(evidence) == 1 else True,
            "tables.levels of each judge",
        ),
        _item(
            "resampling unit and number of clusters",
            clusters,
            "declarations.cluster_unit, n_clusters" if clusters else "declare one with --cluster COL",
        ),
        _item("the reference's own reliability", False, "collect a second rater's labels on the same responses"),
        _item(
            "borrowed coefficients beside their value on reference labels",
            _borrowed(names, reference),
            "kr20/judge, /reference, /judge-reference",
        ),
        _item(
            "run-to-run noise of the judge",
            conditions > 1,
            "conditions are pooled here" if conditions > 1 else "judge the same responses again: --occasion COL",
        ),
        _item(
            "model and settings of the judge recorded",
            prompts_recorded,
            "data name them" if prompts_recorded else "add --model COL or --setting COL",
        ),
        _item("every row accounted for", True, "data.rows_excluded, data.source_rows"),
    )


def _borrowed(names: set[str], reference: bool) -> bool | None:
    return reference if "kr20" in names else None


def _item(item: str, met: bool | None, where: str) -> Item:
    status = {True: "met", False: "not met", None: "not applicable"}[met]
    return {"item": item, "status": status, "where": where}
