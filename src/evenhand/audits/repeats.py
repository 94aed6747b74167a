"""Repeats at one prompt: how often the same judge says something else about the same item. Sampling noise, nothing more.

What repeats agree on may still be wrong, or be set by the wording: nothing here speaks of either.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats.agreement import share
from evenhand.stats.arrays import binned
from evenhand.stats.repeats import flip_shares, repeats_needed
from evenhand.stats.scales import LOGIT
from evenhand.tally.conditions import Repeats

ORDER = 59
THRESHOLDS = (0.0, 0.2)
"""Shares of differing pairs of repeats above which items are counted."""
RECOVERY = 0.95
MOST_REPEATS = 999
_NOISE = "sampling noise at one prompt"
_NONE = "no item has two scored repeats"


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Flip rate, items above a threshold, and the repeats that a majority needs."""
    repeats = evidence.repeats
    if repeats is None:
        return
    own: dict[str, Param] = {"facet": "occasion"} if evidence.orders is not None else {}
    twice = repeats.n >= 2
    flips = flip_shares(repeats.n, repeats.same)
    weight, unit = repeats.count[twice].astype(np.float64), repeats.unit[twice]
    left = int(repeats.count[~twice].sum())
    parts = [np.bincount(unit, weight * part, repeats.n_units) for part in (flips[twice], 1 - flips[twice])]
    sums = np.stack(parts, axis=1).astype(np.float64)
    yield assess(
        evidence,
        Statistic("flip_rate", share, LOGIT, "judge",
            f"{_NOISE}: share of pairs of {{judge}}'s repeats on one item that differ, averaged over items with two repeats or more",
            "verdict", counted=False),
        sums, undefined=_NONE, n_excluded=left, params=own,
    )  # fmt: skip
    for threshold in THRESHOLDS:
        above = flips[twice] > threshold
        events = binned(unit[above], repeats.count[twice][above], (repeats.n_units,))
        size = binned(unit, repeats.count[twice], (repeats.n_units,))
        yield assess(
            evidence,
            Statistic("flip_rate", share, LOGIT, "judge",
                f"{_NOISE}: share of items on which more than {threshold:g} of the pairs of {{judge}}'s repeats differ",
                is_rate=True, counted=False),
            np.stack([events, size - events], axis=-1), undefined=_NONE, n_excluded=left, params={"items_above": threshold, **own},
        )  # fmt: skip
    yield from _needed(evidence, repeats, own)


def _needed(evidence: Evidence, repeats: Repeats, own: dict[str, Param]) -> Iterator[Estimate]:
    """Repeats for a majority to recover the many-repeat verdict, from a beta-binomial over items; two labels only."""
    estimand = (
        f"{_NOISE}: odd number of repeats whose majority gives the verdict of many repeats on {RECOVERY:.0%} of items on average, "
        "items' rates of the positive label being beta-distributed"
    )
    if not evidence.is_binary:
        return
    full = int(repeats.n.max(initial=0))
    kept = repeats.n == full
    histogram = binned(repeats.last[kept], repeats.count[kept], (full + 1,)) if full >= 2 else np.zeros(1)
    found = repeats_needed(histogram, RECOVERY, MOST_REPEATS) if full >= 2 else None
    n_used = int(repeats.count[kept].sum()) if full >= 2 else 0
    reason = f"from {full} repeats an item, a model of items' rates: no interval"
    if full < 2:
        reason = _NONE
    elif found is None:
        reason = f"more than {MOST_REPEATS} repeats: too many items are near an even split"
    yield exact(
        evidence, "repeats_needed", found, unit="verdict", describes="judge", estimand=estimand, reason=reason, n_used=n_used,
        n_excluded=int(repeats.count.sum()) - n_used, n_clusters=len(np.unique(repeats.unit[kept])) if full >= 2 else 0,
        params={"probability": RECOVERY, **own},
    )  # fmt: skip
