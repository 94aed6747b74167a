"""The reporting checklist, computed from what the audit holds, each item with where it is met."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.audits.evidence import Evidence
from evenhand.results import Estimate

Item = dict[str, str]
ALWAYS = "done by this tool in every audit"
_NO_REFERENCE = "no reference labels"
_INDEPENDENT = ("clopper_pearson", "wilson")


@dataclass(frozen=True, slots=True)
class _Facts:
    """What items are decided by."""

    first: Evidence
    n_judges: int
    names: frozenset[str]
    valued: frozenset[str]
    sources: frozenset[str]
    conditions: Mapping[str, int]
    abstention_is_class: bool

    @property
    def scale(self) -> str:
        return self.first.scale.kind


def checklist(
    evidence: Sequence[Evidence], estimates: Sequence[Estimate], *, conditions: Mapping[str, int]
) -> tuple[Item, ...]:
    """Items after Rao and Callison-Burch (2026), section 8, and this project's own, as met, not met or not applicable.

    Args:
        evidence: of every judge.
        estimates: of the audit.
        conditions: facets of the judge's conditions that a column names, with how many values each takes.
    """
    facts = _Facts(
        evidence[0],
        len(evidence),
        frozenset(estimate.statistic for estimate in estimates),
        frozenset(estimate.statistic for estimate in estimates if estimate.status == "ok"),
        frozenset(estimate.source for estimate in estimates),
        conditions,
        any(estimate.params.get("mode") == "category" for estimate in estimates),
    )
    return (*_agreement(facts), *_handling(facts), *_design(facts))


def _agreement(facts: _Facts) -> Iterator[Item]:
    reference, scale = facts.first.has_reference, facts.scale
    yield _item("judgment scale named before any statistic", True, f"declarations.scale: {ALWAYS}")
    yield (
        _item(
            "one of the equal binary coefficients only", True, "phi; r, ρ, τ_b and MCC are named as equal to it, always"
        )
        if scale == "binary" and reference
        else _off("one of the equal binary coefficients only", "for binary verdicts with reference labels")
    )
    companion = "agreement with a companion that sees the marginals"
    if scale == "continuous" or not reference:
        yield _off(companion, _NO_REFERENCE if not reference else "marks are not labels: no table of labels")
    else:
        beside = " and prevalence" if scale == "binary" else ", with the labels each side uses in tables.levels"
        met = {"observed_agreement", "cohen_kappa"} <= facts.names
        yield _item(companion, met, f"observed_agreement beside cohen_kappa{beside}")
    yield from _of_marks(facts)
    if scale == "continuous" or not reference:
        yield _off("confusion matrix", _NO_REFERENCE if not reference else "marks are not labels")
    else:
        yield _item("confusion matrix", True, f"tables.levels: {ALWAYS}")
    constant = "criteria with constant labels listed, not dropped"
    if scale == "continuous" or len(facts.first.criteria) == 1:
        yield _off(constant, "one criterion" if scale != "continuous" else "marks are not labels")
    else:
        where = "tables.criteria, warnings" if scale == "binary" and reference else "warnings"
        yield _item(constant, True, f"{where}: {ALWAYS}")


def _of_marks(facts: _Facts) -> Iterator[Item]:
    """What ordinal and continuous marks ask for, and three classes."""
    beside = "bias beside QWK and r beside QWK"
    if facts.scale not in ("ordinal", "continuous") or not facts.first.has_reference:
        yield _off(beside, "for ordinal and continuous marks with a reference")
    else:
        lacking = [name for name in ("quadratic_weighted_kappa", "bias", "pearson_r") if name not in facts.valued]
        where = f"no value of {', '.join(lacking)}" if lacking else "bias, quadratic_weighted_kappa, pearson_r"
        yield _item(beside, not lacking, where)
    yield _weights(facts)


def _weights(facts: _Facts) -> Item:
    """Three classes or more: levels, ties, labels without an order, or abstention as a class of its own."""
    item, scale = "weight matrix for three classes or more", facts.first.scale
    classes = scale.size + facts.abstention_is_class
    if not facts.first.has_reference or facts.scale == "continuous" or classes < 3:
        return _off(item, "for three classes or more with a reference")
    stated = facts.first.classes
    if stated is not None:
        return _item(item, True, f"{stated.name}: weighted_kappa[weights={stated.name}]")
    if facts.scale == "ordinal":
        return _item(item, "weighted_kappa" in facts.names, "quadratic, and [weights=linear], named with each number")
    if facts.scale == "pairwise":
        return _item(item, True, "identity: a tie is a class of its own; left out in [ties=excluded]")
    return _item(
        item, False, "say how far classes lie apart: --distances FILE, or a preset; until then all lie equally far"
    )


def _handling(facts: _Facts) -> Iterator[Item]:
    reference = facts.first.has_reference
    yield _item("handling of abstentions named in every number", True, f"declarations.abstention_mode: {ALWAYS}")
    ties = ", tie_rate" if "tie_rate" in facts.names else ""
    yield _item("abstention, tie and invalid rates as results", True, f"abstention_rate, unparsed_rate{ties}: {ALWAYS}")
    committed = "agreement where both committed with its coverage"
    yield (
        _item(committed, "selective_accuracy" in facts.names, "selective_accuracy beside selective_coverage")
        if reference
        else _off(committed, _NO_REFERENCE)
    )
    levels = "aggregation level named"
    if not reference or len(facts.first.criteria) == 1:
        yield _off(levels, "one criterion" if reference else _NO_REFERENCE)
    else:
        yield _item(
            levels, True, f"pooled over criteria (micro) unless an id says [aggregation=] or [criterion=]: {ALWAYS}"
        )
    yield _item("every row accounted for", True, f"data.rows_excluded, data.source_rows: {ALWAYS}")


def _design(facts: _Facts) -> Iterator[Item]:
    first = facts.first
    together = "one ensemble statistic with a table per judge"
    if facts.n_judges == 1:
        yield _off(together, "one judge")
    else:
        found = "raters" in facts.sources
        yield _item(together, found, "…/raters, tables.levels of each judge" if found else "no ensemble statistic here")
    yield _unit(first)
    reliability = "the reference's own reliability"
    if "human" in facts.sources:
        yield _item(reliability, True, "how well humans agree with each other: …/human, human_ceiling")
    elif first.has_reference:
        yield _item(reliability, False, "collect a second rater's labels on the same responses")
    else:
        yield _off(reliability, _NO_REFERENCE)
    borrowed = "borrowed coefficients beside their value on reference labels"
    if "kr20" not in facts.names:
        yield _off(borrowed, "none is in this audit")
    else:
        where = "kr20 of the judge, of the reference and their difference"
        yield _item(
            borrowed, first.has_reference, where if first.has_reference else "add reference labels: --labels FILE"
        )
    yield from _recorded(facts.conditions)


def _recorded(conditions: Mapping[str, int]) -> Iterator[Item]:
    occasions = conditions.get("occasion", 0)
    said = f"flip_rate and variance_component[facet=occasion], over {occasions} occasions"
    yield _item(
        "the judge run more than once, for its run-to-run noise",
        occasions > 1,
        said if occasions > 1 else "judge the same responses again: --occasion COL",
    )
    lacking = [facet for facet in ("model", "setting") if not conditions.get(facet)]
    options = " and ".join(f"--{facet} COL" for facet in lacking)
    yield _item(
        "model and settings of the judge recorded", not lacking, f"add {options}" if lacking else "the data name them"
    )
    prompt = bool(conditions.get("phrasing"))
    yield _item(
        "prompt of the judge recorded, by name or fingerprint",
        prompt,
        "the data name it" if prompt else "add --phrasing COL: a name or a hash of the instruction",
    )


def _unit(first: Evidence) -> Item:
    item, method = "resampling unit and number of clusters", first.plan.method
    if method == "none":
        return _off(item, "no intervals were asked for")
    if method in _INDEPENDENT:
        return _item(item, False, f"{method} takes verdicts as independent: leave --interval at its default")
    declared = first.units.declared
    return _item(
        item, declared, "declarations.cluster_unit, n_clusters" if declared else "declare one with --cluster COL"
    )


def _item(item: str, met: bool, where: str) -> Item:
    return {"item": item, "status": "met" if met else "not met", "where": where}


def _off(item: str, why: str) -> Item:
    return {"item": item, "status": "not applicable", "where": why}
