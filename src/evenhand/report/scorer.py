"""What a study of the judge's conditions says, in words: whether the wording or the work decides."""

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.errors import printable
from evenhand.report.lookups import judge_sources, ok, reference_of
from evenhand.report.tables import events_text, percent_text, plural, range_text, value_text
from evenhand.results import Audit, Estimate

FACETS = {
    "phrasing": ("the wording", "wording"),
    "model": ("the model", "model"),
    "setting": ("the setting", "setting"),
    "occasion": ("the occasion", "occasion"),
}
"""Facets of the scorer in the order a report speaks of them: what decides, and the word for one of its values."""
_STATISTICS = frozenset({"variance_component", "generalizability", "dependability", "sem"})


@dataclass(frozen=True, slots=True)
class Studied:
    """One facet of one judge in numbers that belong together.

    Attributes:
        facet: its name.
        component: its variance component.
        share, of_responses: shares of the variance of a total under one condition of each facet of the study.
        dependability: at one condition of each.
        n: how many values it takes there.
        spread: of the reference over the same responses, where there is one.
    """

    facet: str
    component: Estimate
    share: float
    of_responses: float
    dependability: Estimate | None
    n: int
    spread: Estimate | None


def is_of_scorer(audit: Audit, estimate: Estimate) -> bool:
    """Whether an estimate belongs to a study of conditions or of repeats."""
    if estimate.statistic == "repeats_needed" or "study" in estimate.params:
        return True
    if estimate.statistic == "flip_rate":
        return audit.declarations.scale != "pairwise" or estimate.params.get("facet") == "occasion"
    return estimate.statistic in _STATISTICS and any(_component(audit, estimate.source, facet) for facet in FACETS)


def _component(audit: Audit, judge: str, facet: str) -> Estimate | None:
    """The component of a facet itself, whatever its status."""
    found = audit.of("variance_component", judge, facet=facet)
    return next((one for one in found if set(one.params) <= {"facet", "study"}), None)


def studied(audit: Audit, judge: str, facet: str) -> Studied | None:
    """The numbers of a facet, where there is a study of it."""
    component = _component(audit, judge, facet)
    if component is None or component.estimate is None:
        return None
    study = {name: value for name, value in component.params.items() if name == "study"}
    terms = {
        one.params["facet"]: max(one.estimate or 0.0, 0.0)
        for one in audit.of("variance_component", judge)
        if set(one.params) == {"facet", *study} and one.params.get("study", "") == study.get("study", "")
    }
    total = sum(terms.values())
    spread = [one for one in audit.of("sd_total", reference_of(judge)) if _is_spread(one, facet)]
    return Studied(
        facet,
        component,
        terms.get(facet, 0.0) / total if total else 0.0,
        terms.get("response", 0.0) / total if total else 0.0,
        ok(audit, "dependability", judge, **study),
        _degrees(component) + 1,
        spread[0] if spread and spread[0].status == "ok" else None,
    )


def _is_spread(estimate: Estimate, facet: str) -> bool:
    return facet in estimate.params.get("study", "").split("*")


def _degrees(component: Estimate) -> int:
    found = component.interval_df
    return round(found) if found is not None else 0


def is_studied(audit: Audit, facet: str) -> bool:
    """Whether an audit says how far verdicts depend on a facet."""
    return any(studied(audit, judge, facet) is not None for judge in judge_sources(audit))


def facet_sentence(audit: Audit, judge: str, facet: str) -> str:
    """Whether this facet or the work decides, in one sentence with the component, Φ and the bank's spread."""
    found = studied(audit, judge, facet)
    if found is None:
        return ""
    decides, one = FACETS[facet]
    whose = "This judge's verdicts" if judge == "judge" else f"The verdicts of {printable(judge)}"
    between, of_work = percent_text(found.share), percent_text(found.of_responses)
    parts = f"of the variance of a response's total under one {one}, {between} lies between {one}s and {of_work} between responses"
    if found.share > max(found.of_responses, 0.5):
        said = f"{whose} are set by {decides}, not by the work: {parts}"
    elif found.share + found.of_responses == 0:
        said = f"{whose} vary neither with {decides} nor with the work"
    else:
        said = f"How far {whose[0].lower()}{whose[1:]} depend on {decides}: {parts}"
    return said + _beside(found, one) + "."


def _beside(found: Studied, one: str) -> str:
    """The component, dependability and the bank's spread, as they stand beside each other."""
    said = f"; the {one} component is {_with_ends(found.component)}"
    if found.component.ci_low is not None:
        df = plural(found.n - 1, "degree") + " of freedom"
        said += f" from {plural(found.n, one)}, {df}: {'imprecise' if found.n < 8 else 'not exact'}"
    if found.dependability is not None:
        said += f"; Φ at one {one} is {_with_ends(found.dependability)}"
    if found.spread is not None:
        said += f"; reference totals there have SD {value_text(found.spread)}"
    return said


def _with_ends(estimate: Estimate) -> str:
    ends = range_text(estimate)
    return value_text(estimate) + (f" ({ends})" if ends else "")


def repeats_sentence(audit: Audit, judge: str) -> str:
    """What repeats at one prompt say: sampling noise, nothing more."""
    own = {"facet": "occasion"} if audit.declarations.scale == "pairwise" else {}
    flips = ok(audit, "flip_rate", judge, **own)
    if flips is None or audit.declarations.conditions.get("occasion", 0) < 2:
        return ""
    said = f"Sampling noise at one prompt: two repeats differ on {_with_ends(flips)} of items"
    some = ok(audit, "flip_rate", judge, items_above=0, **own)
    if some is not None:
        said += f", and {events_text(some)} items flip at all"
    needed = ok(audit, "repeats_needed", judge, probability=0.95, **own)
    if needed is not None and needed.estimate is not None:
        n = int(needed.estimate)
        how = "one repeat gives" if n == 1 else f"a majority of {n} repeats gives"
        said += f"; {how} the verdict of many on 95 % of items"
    return f"{said}. What repeats agree on may still be set by the wording."


def scorer_sentences(audit: Audit, judge: str) -> Iterator[str]:
    """A sentence a facet that is studied; one on repeats."""
    for facet in FACETS:
        if facet != "occasion" and (said := facet_sentence(audit, judge, facet)):
            yield said
    last = repeats_sentence(audit, judge) or facet_sentence(audit, judge, "occasion")
    if last:
        yield last
