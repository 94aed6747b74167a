"""What an audit holds beyond the main numbers: a line each for the terminal, and the list of it for ``--explain``."""

from collections.abc import Callable, Iterator

from evenhand.errors import printable
from evenhand.report.lookups import find, is_of_arms, is_of_systems, judge_sources, ok, wording_of
from evenhand.report.scorer import FACETS, is_studied
from evenhand.report.systems import system_sentences
from evenhand.report.tables import plural, range_text, value_text
from evenhand.report.wordings import wording_sentences
from evenhand.results import Audit, Estimate

_MOST_MARGINS = 6
Test = Callable[[Estimate], bool]


def further_sentences(audit: Audit, judge: str) -> Iterator[str]:
    """A line for wordings, systems, confidence and margins, where there are any."""
    yield from wording_sentences(audit, judge)
    yield from system_sentences(audit, judge)
    yield from _confidence(audit, judge)
    yield from _margins(audit, judge)


def _confidence(audit: Audit, judge: str) -> Iterator[str]:
    told, area = ok(audit, "auroc", judge, target="correct"), ok(audit, "risk_coverage_area", judge)
    parts = [f"a right verdict has more than a wrong one with chance {_with_range(told)}"] if told else []
    parts += [f"area under the risk–coverage curve {_with_range(area)}"] if area else []
    wrong = find(audit, "observed_agreement", judge)
    if area is not None and wrong is not None and wrong.estimate is not None:
        parts[-1] += f" beside an error rate of {1 - wrong.estimate:.3f}"
    if parts:
        yield f"confidence: {'; '.join(parts)}"


def _margins(audit: Audit, judge: str) -> Iterator[str]:
    own = (judge, f"{judge}-reference")
    found = [
        e for e in audit.estimates if e.statistic == "equivalence" and e.source in own and "quantity" not in e.params
    ]
    for one in found[:_MOST_MARGINS]:
        yield f"margin of {printable(one.params['metric'])}: {_with_range(one)}: {printable(one.reason)}"
    if len(found) > _MOST_MARGINS:
        yield f"and {len(found) - _MOST_MARGINS} more held against margins: evenhand show"


def _with_range(one: Estimate) -> str:
    ends = range_text(one)
    return value_text(one) + (f" ({ends})" if ends else "")


def families(audit: Audit) -> Iterator[str]:
    """Families of numbers that these data carry beyond agreement, in words."""
    for words, test in _FAMILIES:
        if any(one.status == "ok" and test(one) for one in audit.estimates):
            yield words
    yield from _with_names(audit)


def _named(*statistics: str) -> Test:
    return lambda one: one.statistic in statistics


_FAMILIES: tuple[tuple[str, Test], ...] = (
    ("internal consistency and kin, each beside its value on reference labels where there are any", _named("kr20", "cronbach_alpha")),
    ("halo: how far marks of different criteria, and errors on them, hang together", _named("error_correlation")),
    ("a response's weighted score", lambda one: one.params.get("weights") == "criterion"),
    ("what the judge's confidence is worth: risk against coverage, AUROC, calibration", _named("risk_coverage_area", "auroc")),
    ("the judge beside people: their agreement with each other, and with it", _named("human_ceiling")),
    ("verdicts on pairs in both orders of showing", _named("order_consistency")),
    ("verdicts that flip between occasions", lambda one: one.statistic == "flip_rate"),
    ("the population's rate, corrected by the labelled sample", _named("corrected_prevalence", "ppi_mean")),
    ("what these labels can certify, and how many a goal takes", _named("certifiable")),
    ("calibration of marks without labels", lambda one: one.statistic == "calibration" and "contrast" in one.params),
    ("comparison of arms: what the judge was told, on the same work", is_of_arms),
    ("what its label effect becomes if marks feed the label: the loop's eigenvalue and runaway multiple", _named("loop_eigenvalue")),
    ("strata, each by itself and pooled", lambda one: "strata" in one.params.values() or "stratum" in one.params),
)  # fmt: skip


def _with_names(audit: Audit) -> Iterator[str]:
    """Families that the data give names to."""
    found = [one for one in audit.estimates if one.status == "ok"]
    facets = list(dict.fromkeys(facet for one in found if (facet := wording_of(one))))
    if facets:
        yield f"agreement by {' and by '.join(facets)}"
    studied = [facet for facet in FACETS if is_studied(audit, facet)]
    if studied:
        yield f"how far totals depend on {' and '.join(studied)}: variance components, dependability"
    traits = dict.fromkeys(one.params["by"] for one in found if "by" in one.params and "system" not in one.params)
    if traits:
        yield f"verdicts by {' and by '.join(map(printable, traits))} at a fixed reference label"
    axes = dict.fromkeys(
        one.params["axis"] for one in found if one.statistic.startswith("group_gap") and "axis" in one.params
    )
    if axes:
        yield f"gaps between groups: {', '.join(map(printable, axes))}"
    systems = dict.fromkeys(one.params["system"] for one in found if "system" in one.params)
    if systems:
        ranked = any(is_of_systems(one) and "level" in one.params and one.status == "ok" for one in found)
        rest = ", and how far judge and reference rank them alike" if ranked else ""
        yield f"{plural(len(systems), 'system')} behind the responses{rest}"
    margins = dict.fromkeys(
        one.params["metric"] for one in found if one.statistic == "equivalence" and "metric" in one.params
    )
    if margins:
        yield f"equivalence inside margins: {', '.join(map(printable, margins))}"
    if len(judge_sources(audit)) > 1:
        severe = ", their severity and spread" if any(one.statistic == "rater_centrality" for one in found) else ""
        yield f"{len(judge_sources(audit))} judges side by side, compared in pairs, and their agreement with each other{severe}"
