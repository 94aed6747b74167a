"""How the judge's errors hang together: their correlation, their variance, and what independent errors would give."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate
from evenhand.stats import internal_consistency as of
from evenhand.stats.arrays import Array, ratio
from evenhand.stats.independence import (
    error_count_variance,
    error_probabilities,
    expected_error_count_variance,
    independence_checks,
)
from evenhand.stats.scales import ATANH, LOG
from evenhand.tally.moments import (
    MOST_PRODUCT_CELLS,
    CompleteResponses,
    complete_responses,
    moments_of_products,
    unpack_products,
)
from evenhand.tally.rows import MOST_VERDICTS

ORDER = 70
_RATES = {
    "overall": "the overall false accept and false reject rates",
    "line": "each line's own false accept and false reject rates",
}


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Structure of one judge's errors over complete responses with the commonest checklist."""
    patterns = evidence.patterns
    if patterns is None or not evidence.has_reference or len(evidence.criteria) < 2:
        return
    groups = complete_responses(patterns, needs_reference=True)
    if not groups:
        return
    group = groups[0]
    excluded = int(patterns.count.sum() - group.sizes.sum())
    yield _total_correlation(evidence, group, excluded)
    yield from _errors(evidence, group, excluded)
    yield from _independence(evidence, excluded)


def _total_correlation(evidence: Evidence, group: CompleteResponses, excluded: int) -> Estimate:
    size = group.n_criteria + 1
    values = np.arange(size, dtype=np.float64)
    statistic = Statistic(
        "total_correlation", partial(_correlation, np.repeat(values, size), np.tile(values, size)), ATANH, "measurement system",
        "correlation of {judge}'s totals with the reference's over responses: moved by the bank's spread as much as by errors", "response",
    )  # fmt: skip
    return assess(
        evidence, statistic, group.joint_histogram(), undefined="totals of one side do not vary", n_excluded=excluded
    )


def _correlation(x: Array, y: Array, counts: Array) -> Array:
    """Pearson r of two scores whose joint frequencies are the cells, (..., m) with (m,) and (m,) → (...)."""
    n = counts.sum(axis=-1)
    mx, my = ratio(counts @ x, n), ratio(counts @ y, n)
    sxx, syy = ratio(counts @ x**2, n) - mx**2, ratio(counts @ y**2, n) - my**2
    spread = np.sqrt(np.maximum(sxx, 0)) * np.sqrt(np.maximum(syy, 0))
    covariance = ratio(counts @ (x * y), n) - mx * my
    return np.where(spread > 1e-12, np.clip(ratio(covariance, spread), -1, 1), np.nan)


def _errors(evidence: Evidence, group: CompleteResponses, excluded: int) -> Iterator[Estimate]:
    errors, k = group.errors(), group.n_criteria
    has_products = group.n_product_cells <= MOST_PRODUCT_CELLS
    packed = group.packed_products(errors) if has_products else None
    if packed is not None:
        pairs = of.varying_pairs(unpack_products(packed.sum(axis=0), k))
        yield assess(
            evidence,
            Statistic("error_correlation", lambda sums: of.mean_intercriterion_correlation(unpack_products(sums, k), pairs),
                ATANH, "judge", "mean correlation of {judge}'s errors between two criteria, over the pairs on which errors vary",
                "response", counted=False),
            packed, undefined="errors vary on fewer than two criteria", n_excluded=excluded, sizes=group.sizes,
        )  # fmt: skip
    moments = group.packed_moments(errors) if packed is None else moments_of_products(packed, k)
    sums = np.stack([moments[:, 0], moments[:, 1:-1].sum(axis=1), moments[:, -1]], axis=1)
    yield assess(
        evidence,
        Statistic("error_count_variance", lambda s: error_count_variance(s[..., 0], s[..., 1], s[..., 2]), LOG, "judge",
            "variance of {judge}'s number of errors a response, divisor n−1", "response", counted=False),
        sums, undefined="fewer than two complete responses", n_excluded=excluded, sizes=group.sizes,
    )  # fmt: skip


def _independence(evidence: Evidence, excluded: int) -> Iterator[Estimate]:
    rows = evidence.rows
    if rows is None:
        yield from _too_large(evidence, excluded)
        return
    if len(rows.reference) < 2:
        return
    by_line = rows.cluster if evidence.per_cluster else np.zeros_like(rows.cluster)
    clusterings = [by_line if rates == "line" else None for rates in _RATES]
    checks = independence_checks(
        rows.reference, rows.judge, clusterings, n_resamples=evidence.plan.n_resamples, seed=evidence.plan.seed
    )
    for (rates, words), lines, check in zip(_RATES.items(), clusterings, checks, strict=True):
        expected = float(expected_error_count_variance(error_probabilities(rows.reference, rows.judge, lines)))
        for quantity, value, what in (
            ("mean", check.mean, "mean KR-20"),
            ("sd", check.sd, "standard deviation of KR-20"),
            (
                "share_at_least_observed",
                check.share_at_least_observed,
                "share of draws whose KR-20 is at least the observed one",
            ),
            ("error_count_variance", expected, "expected variance of the number of errors a response"),
        ):
            yield exact(
                evidence, "independence_check", value if np.isfinite(value) else None, unit="response", describes="judge",
                reason=f"a simulation of {check.n_resamples:,} draws, not a sample" if np.isfinite(value) else "KR-20 is undefined in every draw",
                n_used=len(rows.reference), n_excluded=excluded, n_clusters=len(np.unique(rows.cluster)),
                params={"quantity": quantity, "rates": rates},
                estimand=f"{what} when independent errors at {words} are planted in the reference labels",
            )  # fmt: skip


def _too_large(evidence: Evidence, excluded: int) -> Iterator[Estimate]:
    """The check draws every verdict thousands of times: on a large bank it is not made, and that is said."""
    for rates, words in _RATES.items():
        found = exact(
            evidence, "independence_check", None, unit="response", describes="judge",
            reason=f"not made above {MOST_VERDICTS:,} verdicts: it draws every verdict in every resample; audit a sample of the responses",
            n_excluded=excluded, params={"quantity": "mean", "rates": rates},
            estimand=f"mean KR-20 when independent errors at {words} are planted in the reference labels",
        )  # fmt: skip
        yield found.model_copy(update={"status": "not_assessed"})
