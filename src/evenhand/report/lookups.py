"""Where the words of a report find their numbers: judges, references, the leading coefficients, the conditions."""

from evenhand.ids import EstimateId, Param
from evenhand.results import Audit, Estimate

FEW_RESPONSES = 50
"""Below this many responses KR-20's divisors matter, and the form with both divisors n leads."""
MOST_JUDGES = 4
"""Judges that are named one by one where a text speaks of each."""


def judge_sources(audit: Audit) -> list[str]:
    """Sources of judges, in the order of the estimates."""
    return list(dict.fromkeys(estimate.source for estimate in audit if estimate.statistic == "n_verdicts"))


def reference_of(judge: str) -> str:
    """Source of the reference's values on this judge's responses."""
    return "reference" if judge == "judge" else f"reference:{judge}"


def find(audit: Audit, statistic: str, source: str, **params: Param) -> Estimate | None:
    """The estimate with exactly these parameters, whatever its status."""
    return audit.get(str(EstimateId.of(statistic, source, **params)))


def ok(audit: Audit, statistic: str, source: str, **params: Param) -> Estimate | None:
    """The estimate with exactly these parameters, if it has a value."""
    found = find(audit, statistic, source, **params)
    return found if found is not None and found.status == "ok" else None


def is_of_arms(estimate: Estimate) -> bool:
    """Whether a number compares what the judge was told, on the same work."""
    return estimate.describes == "grader×context"


_WORDINGS = frozenset({"phrasing", "model", "setting", "occasion"})
_BY_WORDING = frozenset(
    {
        "observed_agreement",
        "cohen_kappa",
        "error_rate",
        "false_accept_rate",
        "false_reject_rate",
        "judge_positive_rate",
        "bias",
        "mae",
        "quadratic_weighted_kappa",
        "pearson_r",
        "mean_total",
    }
)


def wording_of(estimate: Estimate) -> str:
    """The facet under one of whose values alone a number was found; empty for all others."""
    facets = _WORDINGS & estimate.params.keys()
    is_one = len(estimate.params) == 1 and estimate.statistic in _BY_WORDING and bool(facets)
    return next(iter(facets)) if is_one else ""


def is_of_systems(estimate: Estimate) -> bool:
    """Whether a number is about systems behind the responses, or about how both sides rank them."""
    return "system" in estimate.params or ("level" in estimate.params and "axis" not in estimate.params)


def main_cut(audit: Audit) -> float | None:
    """The cut that a short text speaks of: of criteria met the one nearest to half of them, of marks the middle one."""
    cuts = audit.declarations.cuts
    if audit.declarations.scale != "binary":
        return sorted(cuts)[len(cuts) // 2] if cuts else None
    return min(cuts, key=lambda cut: abs(cut - audit.data.n_criteria / 2), default=None)


def cut_words(audit: Audit, cut: float | str) -> str:
    """A cut with what it is held against: criteria met, a mark, or a total of marks."""
    said = cut if isinstance(cut, str) else f"{cut:g}"
    if audit.declarations.scale == "binary":
        return f"{said} of {audit.data.n_criteria}"
    return f"a mark of {said}" if audit.data.n_criteria == 1 else f"a total of {said}"


def leading_kr20(audit: Audit, source: str) -> Estimate | None:
    """The form of KR-20 that leads on these responses, if it has a value: below 50 of them, both divisors n."""
    plain = find(audit, "kr20", source)
    if plain is not None and plain.n_used < FEW_RESPONSES:
        return ok(audit, "kr20", source, variance="n")
    return ok(audit, "kr20", source)


def n_compared(audit: Audit, judge: str) -> int:
    """Verdicts of a judge that meet a reference label."""
    names = ("observed_agreement", "pearson_r", "lin_ccc", "bias")
    return max((found.n_used for name in names if (found := find(audit, name, judge)) is not None), default=0)


def n_values(audit: Audit, facet: str) -> int:
    """Values a facet of the judge's conditions takes in these data; 0 where no column names it."""
    return audit.declarations.conditions.get(facet, 0)


def pooled_conditions(audit: Audit) -> str:
    """The conditions that totals of the judge pool, in words; empty where each response counts once."""
    words = {"phrasing": "wordings", "model": "models", "setting": "settings", "occasion": "occasions"}
    found = [f"{n:,} {word}" for facet, word in words.items() if (n := n_values(audit, facet)) > 1]
    return " and ".join(found)


def exclusions(audit: Audit, source: str) -> dict[str, int]:
    """Verdict slots of a judge that no agreement statistic uses, by reason."""
    if source == "judge":
        return audit.data.rows_excluded
    start = f"{source}: "
    return {reason[len(start) :]: n for reason, n in audit.data.rows_excluded.items() if reason.startswith(start)}
