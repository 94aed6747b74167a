"""Gate decisions: whether a response's total passes a cut, by the judge and by the reference."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.results import Estimate
from evenhand.stats.agreement import mean_value, share
from evenhand.stats.arrays import Array
from evenhand.stats.scales import IDENTITY, LOGIT
from evenhand.tally.patterns import Patterns

TREATMENTS = {
    "excluded": "responses scored throughout on both sides",
    "reject": "responses with a full reference, one that is not scored throughout counting as rejected",
    "error": "responses with a full reference, one that is not scored throughout counting as a wrong decision",
}


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Leniency per response, and accuracy at every declared cut under three treatments of unscored responses."""
    patterns = evidence.patterns
    if patterns is None or not evidence.has_reference:
        return
    yield _leniency(evidence, patterns)
    for cut in evidence.cuts:
        for treatment, words in TREATMENTS.items():
            yield _accuracy(evidence, patterns, cut, treatment, words)


def _leniency(evidence: Evidence, patterns: Patterns) -> Estimate:
    """Mean of judge total minus reference total over complete responses."""
    k, complete = patterns.n_criteria, patterns.is_judged & patterns.is_referred
    gap = patterns.by_unit(patterns.judge_total - patterns.reference_total + k, 2 * k + 1, complete)
    values = np.arange(-k, k + 1, dtype=np.float64)
    statistic = Statistic(
        "leniency",
        lambda cells: mean_value(cells, values),
        IDENTITY,
        "judge",
        "mean of {judge}'s total minus the reference's total, in criteria a response",
        unit="response",
    )
    return assess(
        evidence,
        statistic,
        gap,
        undefined="no response is scored throughout on both sides",
        n_excluded=int(patterns.count.sum() - gap.sum()),
        n_clusters=evidence.counts.get("complete"),
        alternatives=True,
    )


def right_and_wrong(patterns: Patterns, cut: float, treatment: str = "excluded") -> Array:
    """(U, 2) right and wrong decisions at a cut, what is not scored throughout treated so."""
    passes, should = patterns.judge_total >= cut, patterns.reference_total >= cut
    judged, referred = patterns.is_judged, patterns.is_referred
    if treatment == "excluded":
        right, kept = passes == should, judged & referred
    elif treatment == "reject":
        right, kept = (passes & judged) == should, referred
    else:
        right, kept = (passes == should) & judged, referred
    return patterns.by_unit((~right).astype(np.int64), 2, kept)


def _accuracy(evidence: Evidence, patterns: Patterns, cut: float, treatment: str, words: str) -> Estimate:
    cells = right_and_wrong(patterns, cut, treatment)
    statistic = Statistic(
        "accuracy",
        share,
        LOGIT,
        "judge",
        f"share of decisions at {cut:g} criteria met on which {{judge}} and the reference agree, over {words}",
        unit="response",
        is_rate=True,
    )
    params: dict[str, str | float] = {"cut": cut} | ({} if treatment == "excluded" else {"unscored": treatment})
    return assess(
        evidence,
        statistic,
        cells,
        undefined="no response in the population",
        n_excluded=int(patterns.count.sum() - cells.sum()),
        n_clusters=evidence.counts.get("complete" if treatment == "excluded" else "referred"),
        alternatives=treatment == "excluded",
        params=params,
    )
