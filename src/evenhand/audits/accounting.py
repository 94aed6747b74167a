"""Row accounting and warnings: what was left out, by name, and what the reader must know first."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.stats.arrays import binned
from evenhand.verdicts.scale import STATUSES

FEW_CLUSTERS = 8
"""Below this many clusters an interval rests on too little to be relied on; it is said."""


def exclusions(evidence: Evidence) -> dict[str, int]:
    """Slots that no agreement statistic uses, by reason; a slot counts once."""
    names, q = ("scored", *STATUSES), 1
    counts = evidence.cells.states().sum(axis=0).astype(int)
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
    yield from _constant_labels(evidence, who)


def _constant_labels(evidence: Evidence, who: str) -> Iterator[str]:
    if len(evidence.criteria) < 2 or evidence.scale.kind == "continuous":
        return
    cells = evidence.cells.paired if evidence.has_reference else evidence.cells.judged
    sides = [(who, cells.judge)] + ([("the reference", cells.reference)] if evidence.has_reference else [])
    for side, label in sides:
        seen = binned(
            cells.criterion * evidence.scale.size + label, cells.count, (len(evidence.criteria), evidence.scale.size)
        )
        constant = np.count_nonzero(seen, axis=1) == 1
        names = [name for name, flat in zip(evidence.criteria, constant, strict=True) if flat]
        if names:
            listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            lost = "kappa and phi are" if evidence.has_reference else "item-total correlation is"
            count = "criterion" if len(names) == 1 else "criteria"
            yield f"{side} uses one label only on {len(names)} {count} ({listed}): kept in every total; {lost} undefined there"
