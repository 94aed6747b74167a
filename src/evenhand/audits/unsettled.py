"""Lines that the rubric does not settle: agreement of several raters on each criterion by itself, the reference left out.

Where raters agree elsewhere and not here, the line's wording leaves the answer open; where they agree and the reference
differs, the line is settled and somebody is wrong.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.results import Estimate, Table
from evenhand.stats import ensembles as of
from evenhand.stats.arrays import Array
from evenhand.stats.scales import LOG_ONE_MINUS, LOGIT
from evenhand.stats.weights import agreement_weights
from evenhand.tally import rating_sums
from evenhand.tally.marks import level_values
from evenhand.tally.ratings import Ratings

ORDER = 62
SOURCE = "raters"
MOST_LINES = 200
"""Criteria up to which each has its own estimates, and lines up to which the table lists them."""
_ONE_LABEL = "0/0, no variation in labels: every rating is the same"


def estimates_of_raters(evidence: Evidence, ratings: Ratings, source: str = SOURCE) -> Iterator[Estimate]:
    """Agreement on each criterion.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        ratings: of all raters, by criterion.
        source: of the ids.
    """
    if not _applies(evidence, ratings):
        return
    same, levels = agreement_weights("identity", np.arange(ratings.n_labels)), level_values(evidence.scale)[0]
    for criterion, one in zip(evidence.criteria, ratings.by_criterion, strict=True):
        left = int(one.count.sum() - one.sizes.sum())
        who = f"{ratings.n_raters} raters on criterion {criterion}"
        profile = rating_sums.profile_sums(one)
        for name, measure, scale, words, sizes in (
            ("observed_agreement", of.percent_agreement, LOGIT, f"share of agreeing pairs of ratings of one unit among {who}", one.sizes),
            ("fleiss_kappa", of.fleiss_kappa, LOG_ONE_MINUS, f"chance-corrected agreement among {who} (Fleiss)", one.rated),
        ):  # fmt: skip
            yield assess(
                evidence, Statistic(name, partial(_weighted, measure, same), scale, "checklist", words, "response", counted=False),
                profile, undefined="no unit is rated twice" if name == "observed_agreement" else _ONE_LABEL, source=source,
                sizes=sizes, n_excluded=left, params={"criterion": criterion},
            )  # fmt: skip
        if evidence.scale.kind == "ordinal":
            yield assess(
                evidence,
                Statistic("krippendorff_alpha", partial(_ordinal_alpha, levels), LOG_ONE_MINUS, "checklist",
                    f"Krippendorff's alpha (ordinal) among {who}", "response", counted=False),
                rating_sums.coincidence_sums(one), undefined=_ONE_LABEL, source=source, sizes=one.sizes, n_excluded=left,
                params={"criterion": criterion, "metric": "ordinal"},
            )  # fmt: skip


def tables(evidence: Evidence, ratings: Ratings, source: str = SOURCE) -> Iterator[tuple[str, Table]]:
    """Every line with the agreement of its raters, the least settled first; a line is a cluster's where checklists differ."""
    if not _applies(evidence, ratings):
        return
    by_unit = evidence.per_cluster and not evidence.units.grouped
    rows: list[tuple[str, int, float, float | None]] = []
    same = agreement_weights("identity", np.arange(ratings.n_labels))
    for criterion, one in zip(evidence.criteria, ratings.by_criterion, strict=True):
        profile = rating_sums.profile_sums(one)
        named = (
            [(f"{name}.{criterion}", at) for at, name in enumerate(evidence.units.names)]
            if by_unit
            else [(criterion, -1)]
        )
        for line, at in named:
            cells = profile[at] if by_unit else profile.sum(axis=0)
            agreement, kappa = float(of.percent_agreement(cells, same)), float(of.fleiss_kappa(cells, same))
            if np.isfinite(agreement):
                size = one.sizes[at] if by_unit else one.sizes.sum()
                rows.append((line, int(size), agreement, kappa if np.isfinite(kappa) else None))
    rows.sort(key=lambda row: row[2])
    columns = ("line", "n", "observed_agreement", "fleiss_kappa")
    yield f"unsettled/{source}", Table(columns=columns, rows=tuple(rows[:MOST_LINES]))


def _applies(evidence: Evidence, ratings: Ratings) -> bool:
    return 1 < len(ratings.by_criterion) <= MOST_LINES and evidence.scale.kind != "continuous" and ratings.n_raters > 1


def _weighted(measure: of.WeightedMeasure, weights: Array, sums: Array) -> Array:
    return measure(sums, weights)


def _ordinal_alpha(levels: Array, sums: Array) -> Array:
    return of.krippendorff_alpha(sums, "ordinal", levels)
