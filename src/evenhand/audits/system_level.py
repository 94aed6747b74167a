"""Systems behind single responses: how far the judge ranks them as the reference does.

Three questions that one correlation over all responses mixes: do both sides rank the systems alike (``level=system``),
do they rank the systems' answers to one item alike (``level=item``), and do they rank one system's answers to many
items alike (``level=within_system``)? Systems are taken as they are; what is resampled are the items.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import marks as of_marks
from evenhand.stats import system_level as of
from evenhand.stats.arrays import Array, ratio
from evenhand.stats.scales import ATANH, LOGIT, Scale
from evenhand.tally.system_sums import ItemMeans, SystemSums

ORDER = 57
FEWEST_SYSTEMS = 4
"""Systems below which rankings are not held against each other: three fall into one order of six by chance."""
FEWEST_ON_ITEM = 3
"""Systems that must answer an item for a correlation over them: two lie on a line."""
MOST_CRITERIA = 20
"""Criteria up to which systems are ranked on each, too."""
MOST_AT_ONCE = 4_000_000
"""Items × systems² that are compared at a time (32 MB a step)."""
MOST_THRESHOLDS = 20
"""Distances between a judge's scores that are tried as a threshold of a tie."""
Compare = Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A statistic of two rows of scores, one a system.

    Attributes:
        words: what it is, for a sentence.
        in_steps: it moves in steps, where orders change: intervals then come from resamples, not from a jackknife.
    """

    name: str
    compare: Compare
    scale: Scale
    words: str
    in_steps: bool = True
    params: tuple[tuple[str, Param], ...] = ()


_TIES = "a pair that one side alone ties counting half, one tied on both sides whole"
_CLASS = "a pair that one side alone ties counting as ordered otherwise"
_COMPARED = (
    _Compared("pearson_r", of.pearson_r, ATANH, "linear correlation", in_steps=False),
    _Compared("spearman_rho", of.spearman_rho, ATANH, "rank correlation (Spearman)"),
    _Compared("kendall_tau", of.kendall_tau, ATANH, "rank correlation (Kendall's τ_b)"),
    _Compared("pairwise_accuracy", of.pairwise_accuracy, LOGIT, f"share of pairs of systems ordered alike, {_TIES}"),
    _Compared("pairwise_accuracy", partial(of.pairwise_accuracy, ties="class"), LOGIT,
        f"share of pairs of systems ordered alike, {_CLASS}", params=(("ties", "class"),)),
)  # fmt: skip
_BY_CRITERION = ("pearson_r", "kendall_tau", "pairwise_accuracy")


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Agreement over systems, within items and within systems."""
    found = evidence.system_sums
    if found is None or found.obstacle or not evidence.has_reference:
        return
    yield from _at_levels(evidence, found, _COMPARED, {})
    yield _calibrated(evidence, found)
    if 1 < len(evidence.criteria) <= MOST_CRITERIA:
        chosen = [one for one in _COMPARED if one.name in _BY_CRITERION and not one.params]
        for position, criterion in enumerate(evidence.criteria):
            yield from _at_levels(evidence, found.on_criterion(position), chosen, {"criterion": criterion})


def _at_levels(
    evidence: Evidence, found: SystemSums, compared: Sequence[_Compared], params: Mapping[str, Param]
) -> Iterator[Estimate]:
    """Agreement on one population of verdicts."""
    sums = found.sums()
    for one in compared:
        yield _of_systems(evidence, found, one, sums, params)
    means = found.item_means()
    yield _soft(evidence, found, means, params)
    for one in compared:
        yield _of_items(evidence, found, one, means, params)
    yield _within_systems(evidence, found, sums, params)


def _of_means(compare: Compare, sums: Array) -> Array:
    """A comparison of the systems' means; NaN where one of them is lost."""
    reference, judge = of.means(sums)
    return of.whole(compare(reference, judge), reference, judge)


def _resampled(evidence: Evidence) -> Evidence:
    """The same evidence with intervals from resamples in place of the default: a jackknife sees no steps, or one."""
    if evidence.plan.method != "default":
        return evidence
    return replace(evidence, plan=replace(evidence.plan, method="percentile"))


def _of_systems(
    evidence: Evidence, found: SystemSums, one: _Compared, sums: Array, params: Mapping[str, Param]
) -> Estimate:
    n, sizes = len(found.names), sums[..., 0].sum(axis=1)
    words = f"{one.words} of the systems' means by {{judge}} and by the reference: these {n} systems ({found.column}), other items"
    statistic = Statistic(one.name, partial(_of_means, one.compare), one.scale, "judge", words, counted=False)
    params = {"level": "system", **dict(one.params), **params}
    left = int(evidence.cells.count.sum() - sizes.sum())
    if n < FEWEST_SYSTEMS:
        return _few(evidence, statistic, n, params, left)
    return _assessed(
        evidence, statistic, sums, sizes, left, params, "means of one side are all equal", found.n_items(), one.in_steps
    )


def _assessed(
    evidence: Evidence, statistic: Statistic, tallies: Array, sizes: Array, left: int, params: Mapping[str, Param],
    undefined: str, n_clusters: int | None, in_steps: bool,
) -> Estimate:  # fmt: skip
    """An estimate; of one that moves in steps without the jackknife's standard error, which knows no steps."""
    found = assess(
        _resampled(evidence) if in_steps else evidence, statistic, tallies, undefined=undefined, sizes=sizes, n_excluded=left,
        n_clusters=n_clusters, params=params,
    )  # fmt: skip
    return found.model_copy(update={"std_error": None}) if in_steps else found


def _few(evidence: Evidence, statistic: Statistic, n: int, params: Mapping[str, Param], left: int) -> Estimate:
    return exact(
        evidence, statistic.name, None, unit="verdict", describes="judge", estimand=statistic.estimand, params=params,
        n_excluded=left, reason=f"{n} systems: rankings are held against each other from {FEWEST_SYSTEMS} systems on",
    )  # fmt: skip


def _soft(evidence: Evidence, found: SystemSums, means: ItemMeans | None, params: Mapping[str, Param]) -> Estimate:
    n = len(found.names)
    words = (
        f"soft pairwise accuracy of these {n} systems ({found.column}): mean over pairs of 1 − |p − q|, p and q being how sure the "
        "reference and {judge} are, on these items, that one of a pair is better (paired permutation test over items, normal "
        "approximation)"
    )
    statistic = Statistic(
        "soft_pairwise_accuracy", of.soft_pairwise_accuracy, LOGIT, "judge", words, "cluster", counted=False
    )
    params = {"level": "system", **params}
    if n < FEWEST_SYSTEMS:
        return _few(evidence, statistic, n, params, int(evidence.cells.count.sum()))
    if means is None:
        return _no_items(evidence, found, statistic, params)
    sums = found.pair_sums(means)
    if sums is None:
        return _not_assessed(
            evidence, statistic, params, f"{len(means.unit):,} items × {n} systems: too many pairs to compare"
        )
    sizes = np.bincount(means.unit, minlength=found.n_units).astype(np.float64)
    return _assessed(
        evidence, statistic, sums, sizes, 0, params, "two systems share no item", len(means.unit), in_steps=True
    )


def _of_items(
    evidence: Evidence, found: SystemSums, one: _Compared, means: ItemMeans | None, params: Mapping[str, Param]
) -> Estimate:
    """The mean over items of a comparison across the systems that answer the item."""
    words = f"mean over items ({found.item_column or 'none named'}) of the {one.words} over the systems that answer the item"
    statistic = Statistic(
        one.name, _mean_value, one.scale, "judge", words + ", {judge} against the reference", "cluster", counted=False
    )
    params = {"level": "item", **dict(one.params), **params}
    if means is None:
        return _no_items(evidence, found, statistic, params)
    fewest = 2 if one.name == "pairwise_accuracy" else FEWEST_ON_ITEM
    values = _by_item(one.compare, means, fewest)
    known = np.isfinite(values)
    columns = [np.bincount(means.unit[known], weights=w, minlength=found.n_units) for w in (None, values[known])]
    tallies = np.stack(columns, axis=-1).astype(np.float64)
    undefined = f"no item on which {fewest} systems have verdicts" + (
        "" if fewest == 2 else " that differ on both sides"
    )
    n_used = int(known.sum())
    return _assessed(
        evidence, statistic, tallies, tallies[:, 0], len(values) - n_used, params, undefined, n_used, in_steps=False
    )


def _by_item(compare: Compare, means: ItemMeans, fewest: int) -> Array:
    """(I,) values, NaN on items that too few systems answer; in blocks, as each compares all pairs of systems."""
    n_items, n_systems = means.judge.shape
    enough = np.isfinite(means.judge).sum(axis=1) >= fewest
    values, block = np.full(n_items, np.nan), max(1, MOST_AT_ONCE // n_systems**2)
    for start in range(0, n_items, block):
        here = slice(start, start + block)
        values[here] = compare(means.reference[here], means.judge[here])
    return np.where(enough, values, np.nan)


def _calibrated(evidence: Evidence, found: SystemSums) -> Estimate:
    """Pairs ordered alike within items where the judge ties what lies close together: how close is chosen to agree best."""
    words = (
        f"mean over items ({found.item_column or 'none named'}) of the share of pairs of systems ordered alike, ties being an order of "
        "their own, where {judge} ties what lies within a distance: the one that agrees best with the reference on these items, "
        "chosen anew in every replicate"
    )
    statistic = Statistic("pairwise_accuracy", _best_threshold, LOGIT, "judge", words, "cluster", counted=False)
    params: dict[str, Param] = {"level": "item", "ties": "calibrated"}
    means = found.item_means()
    if means is None:
        return _no_items(evidence, found, statistic, params)
    n_systems = len(found.names)
    block = max(1, MOST_AT_ONCE // n_systems**2)
    starts = range(0, len(means.judge), block)
    tried = [of.tie_thresholds(means.judge[start : start + block], MOST_THRESHOLDS) for start in starts]
    thresholds = of.tie_thresholds(_as_gaps(np.concatenate(tried)), MOST_THRESHOLDS)
    values = np.concatenate(
        [
            of.calibrated_accuracies(means.reference[here], means.judge[here], thresholds)
            for here in (slice(start, start + block) for start in starts)
        ],
        axis=1,
    )
    known = np.isfinite(values[0])
    unit = means.unit[known]
    columns = [np.bincount(unit, weights=w, minlength=found.n_units) for w in (None, *values[:, known])]
    tallies = np.stack(columns, axis=-1).astype(np.float64)
    undefined, n_used = "no item on which 2 systems have verdicts", int(known.sum())
    return _assessed(
        evidence, statistic, tallies, tallies[:, 0], len(known) - n_used, params, undefined, n_used, in_steps=True
    )


def _as_gaps(distances: Array) -> Array:
    """(E,) distances as (E, 2) scores that lie so far apart."""
    return np.stack([np.zeros_like(distances), distances], axis=-1)


def _best_threshold(tallies: Array) -> Array:
    """(..., 1 + E) items and sums of their values at each threshold → the greatest mean."""
    best: Array = ratio(tallies[..., 1:], tallies[..., :1]).max(axis=-1)
    return best


def _mean_value(tallies: Array) -> Array:
    return ratio(tallies[..., 1], tallies[..., 0])


def _within_systems(evidence: Evidence, found: SystemSums, sums: Array, params: Mapping[str, Param]) -> Estimate:
    """The mean over systems of the correlation over a system's own responses."""
    defined = np.isfinite(of_marks.pearson_r(sums.sum(axis=0)))
    n = int(defined.sum())
    words = f"mean over {n} systems ({found.column}) of the linear correlation of {{judge}}'s verdicts with the reference's on their own responses"
    kept = sums[:, defined]
    sizes = kept[..., 0].sum(axis=1)
    return assess(
        evidence, Statistic("pearson_r", partial(_mean_correlation, n), ATANH, "judge", words, counted=False), kept, sizes=sizes,
        undefined="no system whose verdicts vary on both sides", n_excluded=int(evidence.cells.count.sum() - sizes.sum()),
        n_clusters=found.n_items(), params={"level": "within_system", **params},
    )  # fmt: skip


def _mean_correlation(n: int, sums: Array) -> Array:
    """(..., n, 7) → (...), NaN of no system, or where one of them loses its variation."""
    total: Array = of_marks.pearson_r(sums).sum(axis=-1)
    return total / n if n else np.full_like(total, np.nan)


def _no_items(evidence: Evidence, found: SystemSums, statistic: Statistic, params: Mapping[str, Param]) -> Estimate:
    why = (
        f"items × systems are too many: {len(np.unique(found.item)):,} × {len(found.names)}" if found.item_column
        else "no column says which responses answer the same item: name it with --cluster COL"
    )  # fmt: skip
    return _not_assessed(evidence, statistic, params, why)


def _not_assessed(evidence: Evidence, statistic: Statistic, params: Mapping[str, Param], why: str) -> Estimate:
    absent = exact(
        evidence, statistic.name, None, unit=statistic.unit, describes="judge", estimand=statistic.estimand, params=params,
        reason=why,
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})
