"""Criteria that all responses share, each against the others: where a judge errs more than elsewhere, by cluster."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits import lines
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.results import Estimate
from evenhand.stats.arrays import Array, ratio
from evenhand.stats.scales import IDENTITY

ORDER = 56


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Each criterion's error rate minus that of the others; a checklist of each cluster's own has its lines screened."""
    if not lines.applies(evidence) or evidence.per_cluster:
        return
    tables = evidence.cells.paired.tables_by_criterion()
    counts = np.stack([tables[..., 0, 1] + tables[..., 1, 0], tables.sum(axis=(2, 3))], axis=-1)
    everywhere = counts.sum(axis=1)
    for position, criterion in enumerate(evidence.criteria):
        own = counts[:, position]
        yield assess(
            evidence,
            Statistic(
                "error_rate",
                _own_minus_others,
                IDENTITY,
                "judge",
                f"error rate of {{judge}} on criterion {criterion} minus that on all others",
                counted=False,
            ),
            np.stack([own, everywhere - own], axis=1),
            undefined="no scored verdict of this criterion, or of the others",
            sizes=everywhere[:, 1],
            n_excluded=evidence.n_unpaired,
            params={"contrast": "others", "criterion": criterion},
            family=f"error rate of each criterion minus the others', {evidence.source}",
        )


def _own_minus_others(counts: Array) -> Array:
    """(..., 2, 2) errors and verdicts of the criterion and of the others → difference of their error rates."""
    rates = ratio(counts[..., 0], counts[..., 1])
    gap: Array = rates[..., 0] - rates[..., 1]
    return gap
