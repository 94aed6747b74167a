"""Row accounting and warnings: what was left out, by name, and what the reader must know first."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence

FEW_CLUSTERS = 8
"""Below this many clusters an interval rests on too little to be relied on; it is said."""


def exclusions(evidence: Evidence) -> dict[str, int]:
    """Slots that no agreement statistic uses, by reason; a slot counts once."""
    names, q = evidence.scale.all_levels, evidence.scale.size
    counts = evidence.cells.levels(len(names)).sum(axis=0).astype(int)
    found: dict[str, int] = {}
    for r in range(len(names)):
        for j in range(len(names)):
            excluded = j >= q or (r >= q and evidence.has_reference)
            if excluded and counts[r, j]:
                said = [f"judge {names[j]}"] if j >= q else []
                said += [f"reference {names[r]}"] if r >= q and evidence.has_reference else []
                reason = ", ".join(said)
                found[reason] = found.get(reason, 0) + int(counts[r, j])
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def warnings(evidence: Evidence, who: str) -> Iterator[str]:
    """Sentences a reader of one judge's numbers needs."""
    used = evidence.counts["clusters_used"]
    if not evidence.units.declared:
        yield (
            "no cluster was declared: every response is taken as its own cluster, so intervals hold only if responses "
            "share nothing (question, prompt, student). Name what they share with --cluster COL"
        )
    elif used == 1:
        yield "one cluster: standard errors and intervals are undefined; collect responses to other questions"
    elif used < FEW_CLUSTERS:
        yield f"{used} clusters are few: intervals are wide and rest on {used - 1} degrees of freedom at most"
    if not evidence.has_reference:
        yield (
            "no reference labels and no varied condition of the judge: no statement about the judge can be made from "
            "these data. Collect reference labels for a sample of responses, or judge them again under other wordings"
        )
        return
    yield from _constant_labels(evidence, who)


def _constant_labels(evidence: Evidence, who: str) -> Iterator[str]:
    if len(evidence.criteria) < 2:
        return
    tables = evidence.cells.paired.tables_by_criterion().sum(axis=0)
    for side, axis in (("reference", 2), (who, 1)):
        constant = np.count_nonzero(tables.sum(axis=axis), axis=1) == 1
        names = [name for name, flat in zip(evidence.criteria, constant, strict=True) if flat]
        if names:
            listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            yield f"{side} uses one label only on {len(names)} criteria ({listed}): kappa and phi are undefined there"
