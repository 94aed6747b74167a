"""The panel of judges as one judge: the label with the most votes; an even split is undecided, never broken."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.agreement import diagonal
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array, Counts, binned
from evenhand.stats.ensembles import UNDECIDED, majority, profiles
from evenhand.stats.scales import LOG_ONE_MINUS, LOGIT
from evenhand.tally.ratings import Ratings

ORDER = 61
MOST_LABELS = 20
"""Labels up to which a vote is taken."""
_PARAMS = {"panel": "majority"}
_SOURCE = "raters"


def estimates_of_raters(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    """How often the panel decides, and how often its decision is the reference's.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        ratings: of all judges; one judge and the reference are no panel.
    """
    if ratings.is_judge_and_reference or evidence.scale.kind == "continuous" or ratings.n_labels > MOST_LABELS:
        return
    counts = profiles(ratings.labels, ratings.n_labels)
    vote, votes = majority(counts, evidence.quorum), counts.sum(axis=1)
    rated, decided = votes > 0, vote != UNDECIDED
    cells = np.stack([_by_unit(ratings, rated & kept) for kept in (decided, ~decided)], axis=-1)
    who = f"the majority of {ratings.n_raters} judges"
    yield assess(
        evidence, Statistic("selective_coverage", of.share, LOGIT, "measurement system",
            f"share of units that {who} decides, even splits being undecided and {_enough(evidence)} enough", "response", is_rate=True),
        cells, undefined="no unit with a vote", source=_SOURCE, n_excluded=int(ratings.count[~rated].sum()), params=_PARAMS,
    )  # fmt: skip
    tied = int(ratings.count[rated & (majority(counts) == UNDECIDED)].sum())
    yield exact(
        evidence, "n_tied", tied, unit="response", describes="measurement system", source=_SOURCE, n_used=tied, params=_PARAMS,
        estimand=f"units on which {who} is split evenly at the top",
    )  # fmt: skip
    if evidence.quorum > 1:
        short = int(ratings.count[rated & (votes < evidence.quorum)].sum())
        yield exact(
            evidence, "n_scored", short, unit="response", describes="measurement system", source=_SOURCE, n_used=short,
            params={**_PARAMS, "quorum": "short"}, estimand=f"units with fewer votes than the quorum of {evidence.quorum}, undecided for that",
        )  # fmt: skip
    alone = int(ratings.count[(majority(counts) != UNDECIDED) & (votes == 1)].sum())
    yield exact(
        evidence, "n_scored", alone, unit="response", describes="measurement system", source=_SOURCE, n_used=alone,
        params={**_PARAMS, "votes": 1}, estimand="units on which a single judge votes, the others giving none",
    )  # fmt: skip
    if ratings.reference is not None:
        yield from _against_reference(evidence, ratings, vote, ratings.reference, who)


def _enough(evidence: Evidence) -> str:
    return "one vote" if evidence.quorum == 1 else f"{evidence.quorum} votes (the quorum)"


def _by_unit(ratings: Ratings, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Array:
    return binned(ratings.unit[kept], ratings.count[kept], (ratings.n_units,))


def _against_reference(
    evidence: Evidence, ratings: Ratings, vote: Counts, reference: Counts, who: str
) -> Iterator[Estimate]:
    q, kept = ratings.n_labels, (vote != UNDECIDED) & (reference >= 0)
    code = (ratings.unit[kept] * q + reference[kept]) * q + vote[kept]
    tables = binned(code, ratings.count[kept], (ratings.n_units, q, q))
    left = int(ratings.count[~kept].sum())
    for statistic in (
        Statistic("observed_agreement", of.share, LOGIT, "measurement system",
            f"share of the units that {who} decides on which it gives the reference's label", "response", is_rate=True),
        Statistic("cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "measurement system",
            f"chance-corrected agreement of {who} with the reference, on the units it decides", "response", chance=of.cohen_chance),
    ):  # fmt: skip
        yield assess(
            evidence, statistic, diagonal(tables) if statistic.is_rate else tables, undefined="0/0, no variation in labels",
            source=_SOURCE, n_excluded=left, params=_PARAMS,
        )  # fmt: skip
