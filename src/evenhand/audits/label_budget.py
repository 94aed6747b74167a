"""Label budgets: what the labels at hand can certify, how many a wanted precision takes, and how many the judge saves.

A label counts as less than one where labels share clusters: everything is at n/design effect, the design effect of the
judge's agreement, and never below what the assumed intraclass correlation makes of the clusters' sizes; few clusters take
off what they do of the audit's intervals of rates (Korn and Graubard 1998).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from evenhand.audits import decisions, mark_gates
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.ids import EstimateId, Param
from evenhand.results import Cell, Estimate, Table
from evenhand.stats.arrays import Array, binned
from evenhand.stats.binomial import LEAST_DF, design_effect_at, kept_of_few_clusters
from evenhand.stats.intervals import ASSUMED_ICC, design_effect_of_rate
from evenhand.stats.label_budget import (
    labels_for_mean_of,
    labels_for_share,
    labels_to_certify_at,
    share_saved,
    spread_of_share,
)
from evenhand.stats.true_rates import best_share_of_positives, certifiable, labels_for_prevalence, labels_to_certify
from evenhand.tally.marks import level_values

ORDER = 66
AGREEMENTS = (0.8, 0.85, 0.9, 0.95, 0.975, 0.99)
"""Agreements that are looked at."""
HALF_WIDTHS = (0.1, 0.05, 0.03, 0.02)
"""Half-widths that are looked at, of shares; of marks, parts of the range of the labels."""
_NEARLY_ALL = 0.995
_ONE_CLUSTER = "one cluster: nothing shows how far clusters differ"
SUPPOSED = 0.9
"""Agreement at which half-widths are looked at while no label says."""
COLUMNS = ("goal", "target", "labels", "clusters", "labels_without_judge", "share_on_positives", "note")


@dataclass(frozen=True, slots=True)
class _Labels:
    """What labels there are.

    Attributes:
        n, errors: labelled verdicts, and those that differ from their label.
        size: verdicts a cluster.
        design_effect: of agreement, floored at the assumed intraclass correlation, over what few clusters leave of it.
        floored: whether the floor is what counts.
        kept: share of the effective number that few clusters leave (Korn and Graubard 1998).
    """

    n: float
    errors: float
    size: float
    design_effect: float
    floored: bool
    kept: float = 1.0

    @property
    def said(self) -> str:
        """The design effect in words."""
        how = f", floored at ICC {ASSUMED_ICC:g}" if self.floored else ""
        few = f", {100 * self.kept:.0f} % of that kept, clusters being few" if self.kept < _NEARLY_ALL else ""
        own = self.design_effect * self.kept
        return f"design effect {own:.3g}{how}{few}: worth {self.n / self.design_effect:,.0f} independent labels"


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """The agreement that these labels certify, and would with no error; the share of labels that the judge saves."""
    if not evidence.has_reference or not float(evidence.cells.paired.count.sum()):
        return
    if evidence.scale.kind != "continuous":
        yield from _certified(evidence, _right_and_wrong(evidence), _n_clusters(evidence), {})
    for cut in evidence.cuts if evidence.scores is None else ():
        decided = _at_cut(evidence, cut)
        if decided is not None and decided.sum():
            n_clusters = evidence.counts.get("complete", int(np.count_nonzero(decided.sum(axis=1))))
            yield from _certified(evidence, decided, n_clusters, {"cut": cut})
    if _values(evidence) is not None:
        yield _saved(evidence)


def _right_and_wrong(evidence: Evidence) -> Array:
    """(U, 2) verdicts that are like their label and unlike it."""
    paired = evidence.cells.paired
    agreed = paired.agreed()
    return np.stack([agreed, binned(paired.unit, paired.count, (paired.n_units,)) - agreed], axis=-1)


def _at_cut(evidence: Evidence, cut: float) -> Array | None:
    """(U, 2) right and wrong decisions at a cut; None where there are none."""
    if evidence.patterns is not None:
        return decisions.right_and_wrong(evidence.patterns, cut)
    if evidence.effective is not None and len(evidence.criteria) > 1:
        return None  # totals of marks over several criteria are not counted by weight
    return mark_gates.right_and_wrong(evidence, cut)


def _certified(
    evidence: Evidence, right_and_wrong: Array, n_clusters: int, params: Mapping[str, Param]
) -> Iterator[Estimate]:
    """What these labels certify as they are, and what they would without an error."""
    level, n = evidence.plan.confidence_level, int(right_and_wrong.sum())
    for best in ({}, {"errors": 0}):
        own = {**params, **best}
        factor = 1.0
        if evidence.effective is not None:
            identity = EstimateId.of("certifiable", evidence.source, **own)
            factor = evidence.effective.factor(str(identity), right_and_wrong.sum(axis=1))
        labels = _worth(factor * right_and_wrong, n_clusters, level)
        errors = 0.0 if best else labels.errors
        is_one = n_clusters < 2 and labels.n > 1
        value = None if is_one else float(certifiable(labels.n, errors, level, labels.design_effect))
        what = f"decisions at {params['cut']:g}" if params else "verdicts"
        how = "if none of them were an error" if best else f"with {100 * errors / labels.n:.1f} % of them errors"
        words = (
            f"the agreement of {{judge}} with the reference that the labelled {what} certify at one-sided level {level:g} {how} "
            "(Clopper–Pearson at the effective number of labels)"
        )
        excluded = evidence.n_unpaired if not params else _n_responses(evidence) - n
        yield exact(
            evidence, "certifiable", value, unit="response" if params else "verdict", describes="judge", estimand=words,
            reason=_ONE_CLUSTER if is_one else labels.said, n_used=n, n_excluded=excluded, n_clusters=n_clusters, params=own,
        )  # fmt: skip


def _n_responses(evidence: Evidence) -> int:
    if evidence.patterns is not None:
        return int(evidence.patterns.count.sum())
    rows = evidence.mark_rows if len(evidence.criteria) > 1 else None
    return int((evidence.cells.count if rows is None else rows.count).sum())


def _saved(evidence: Evidence) -> Estimate:
    words = (
        "share of the labels for a mean of the reference that {judge}'s verdicts on ever more responses make unnecessary "
        "(prediction-powered, power-tuned): squared correlation of verdicts and labels where a verdict counts for between nothing and itself"
    )
    saved = _moments(evidence)[1]
    reason = "no interval: what these labels show, to plan with; labels by precision stand in the table label_budget"
    if not math.isfinite(saved):
        reason = "0/0, no variation in labels or in verdicts"
    elif saved == 0:
        reason = "verdicts do not rise with the labels, so they are not used"
    return exact(
        evidence, "labels_saved", saved if math.isfinite(saved) else None, unit="verdict", describes="judge", estimand=words,
        reason=reason, n_used=int(evidence.cells.paired.count.sum()), n_excluded=evidence.n_unpaired,
        n_clusters=_n_clusters(evidence),
    )  # fmt: skip


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """How many labels each goal takes; ``labels`` is empty where no number is enough."""
    rows = [*_rows_of_agreement(evidence), *_rows_of_prevalence(evidence), *_rows_of_mean(evidence)]
    if rows:
        yield f"label_budget/{evidence.source}", Table(columns=COLUMNS, rows=tuple(rows))


_Row = tuple[Cell, ...]


def _rows_of_agreement(evidence: Evidence) -> Iterator[_Row]:
    if evidence.scale.kind == "continuous":
        return
    labels, level = _labels(evidence), evidence.plan.confidence_level
    rate = labels.errors / labels.n if labels.n else 1 - SUPPOSED
    deff = labels.design_effect
    for target in AGREEMENTS:
        fewest = float(labels_to_certify(target, 0, level, deff))
        yield _row(
            "certify agreement, no error seen", target, fewest, labels, "the least that can do it at this design effect"
        )
        if labels.n:
            needed = labels_to_certify_at(target, rate, level, deff)
            note = f"at the {100 * rate:.1f} % errors seen" if math.isfinite(needed) else f"agreement is {1 - rate:.3f}"
            yield _row("certify agreement, errors as seen", target, needed, labels, note)
    for half in HALF_WIDTHS:
        note = f"at an agreement of {1 - rate:.3f}" + ("" if labels.n else ", supposed")
        yield _row("agreement, give or take", half, labels_for_share(half, 1 - rate, level, deff), labels, note)


def _rows_of_prevalence(evidence: Evidence) -> Iterator[_Row]:
    """Corrected prevalence (Rogan-Gladen): labels best divided between reference labels, and between what the judge said."""
    if not evidence.is_binary or not evidence.has_reference:
        return
    table = evidence.cells.paired.tables().sum(axis=0)
    if not (table.sum(axis=1) > 0).all():
        return
    (tn, fp), (fn, tp) = table.tolist()
    # as the interval has them (Lee et al.): a judge without an error so far is not taken to be without any
    truth, specificity, sensitivity = (fn + tp) / table.sum(), (tn + 1) / (tn + fp + 2), (tp + 1) / (fn + tp + 2)
    labels, judged = _labels(evidence), float(evidence.cells.judged.count.sum())
    best = best_share_of_positives(truth, specificity, sensitivity)
    spread = spread_of_share(np.array([fn, fp]), np.array([tn + fn, fp + tp]))
    neyman = np.array([tn + fn, fp + tp]) * spread
    note = (
        f"of labels on reference positives {100 * best:.0f} % (Lee et al.); drawn by verdict, {100 * neyman[1] / neyman.sum():.0f} % on what the "
        f"judge calls positive (Neyman); beside {judged:,.0f} verdicts without a label"
    )
    short = f"no number is enough: {judged:,.0f} verdicts without a label leave the judge's own rate too open"
    if specificity + sensitivity <= 1:
        short = "no number is enough: the judge says positive no more often where the label is"
    for half in HALF_WIDTHS:
        needed = labels_for_prevalence(
            half, truth, specificity, sensitivity, judged, level=evidence.plan.confidence_level,
            design_effect=labels.design_effect,
        )  # fmt: skip
        alone = labels_for_mean_of(
            half, truth * (1 - truth), 0.0, judged, level=evidence.plan.confidence_level,
            design_effect=labels.design_effect,
        )  # fmt: skip
        said = note if math.isfinite(needed) else f"{short}; {note}"
        yield _row("corrected prevalence, give or take", half, needed, labels, said, alone, best)


def _rows_of_mean(evidence: Evidence) -> Iterator[_Row]:
    if not evidence.has_reference or _values(evidence) is None or not float(evidence.cells.paired.count.sum()):
        return
    variance, saved = _moments(evidence)
    if not math.isfinite(saved):
        return
    values, labels = _values(evidence), _labels(evidence)
    judged, scale, n = float(evidence.cells.judged.count.sum()), 1.0, float(evidence.cells.paired.count.sum())
    saved *= n / (n + 1)  # as if one more label had found the judge of no use: no error so far is no proof of none
    if values is not None and not evidence.is_binary:
        scale = float(values.max() - values.min())
    for half in HALF_WIDTHS:
        needed, alone = (
            labels_for_mean_of(
                half * scale, variance, share, judged, level=evidence.plan.confidence_level,
                design_effect=labels.design_effect,
            )
            for share in (saved, 0.0)
        )  # fmt: skip
        note = f"prediction-powered over {judged:,.0f} verdicts, of which more would save {100 * saved:.0f} % of the labels"
        if alone >= judged:
            note = f"{judged:,.0f} verdicts are not enough: each needs a label, and so do more"
        yield _row("mean, give or take", half * scale, needed, labels, note, alone)


def _row(
    goal: str,
    target: float,
    needed: float,
    labels: _Labels,
    note: str,
    alone: float | None = None,
    share: float | None = None,
) -> _Row:
    """A row; clusters are of the size seen, and two at least: one shows no spread."""
    n, without = (int(one) if one is not None and math.isfinite(one) else None for one in (needed, alone))
    return goal, target, n, max(2, math.ceil(n / labels.size)) if n is not None else None, without, share, note


def _labels(evidence: Evidence) -> _Labels:
    """Labelled verdicts, or where there are none what the judge's own say of clusters."""
    paired, n_clusters, level = evidence.cells.paired, _n_clusters(evidence), evidence.plan.confidence_level
    n = float(paired.count.sum())
    if evidence.scale.kind != "continuous" and n:
        return _worth(_right_and_wrong(evidence), n_clusters, level)
    cells = paired if n else evidence.cells.judged
    sizes = binned(cells.unit, cells.count, (cells.n_units,)).astype(np.float64)
    return replace(_worth(np.stack([sizes, np.zeros_like(sizes)], axis=-1), n_clusters, level), n=n)


def _worth(right_and_wrong: Array, n_clusters: int, level: float) -> _Labels:
    """(U, 2) right and wrong verdicts or decisions, and what clusters make of them."""
    sizes, errors = right_and_wrong.sum(axis=1), right_and_wrong[:, 1]
    active, n, wrong = sizes > 0, float(sizes.sum()), float(errors.sum())
    size = n / max(n_clusters, 1) or 1.0
    can_vary = 0 < wrong < n and size > 1 and np.count_nonzero(active) > 1
    own = design_effect_of_rate(errors[active], sizes[active]) if can_vary else None
    floor = design_effect_at(ASSUMED_ICC, size)
    deff, df = max(floor, own or 0.0), (n**2 / float(np.square(sizes).sum()) if n else 0.0) - 1
    kept = min(1.0, kept_of_few_clusters(n, df, level)) if df >= LEAST_DF and n - 1 >= LEAST_DF else 1.0
    return _Labels(n, wrong, size, deff / kept, floored=deff == floor, kept=kept)


def _n_clusters(evidence: Evidence) -> int:
    cells = evidence.cells.paired if float(evidence.cells.paired.count.sum()) else evidence.cells.judged
    return evidence.counts.get("paired", len(np.unique(cells.unit)))


def _values(evidence: Evidence) -> Array | None:
    """Numbers that the labels stand for, where they do."""
    if evidence.is_binary:
        return np.array([0.0, 1.0])
    values, are_numbers = level_values(evidence.scale)
    return values if are_numbers and evidence.scale.kind in ("ordinal", "continuous") else None


def _moments(evidence: Evidence) -> tuple[float, float]:
    """Variance of the labels' values, and the share of labels that the judge's save; NaN where either is constant."""
    values, paired = _values(evidence), evidence.cells.paired
    if values is None:
        return math.nan, math.nan
    y, f, n = values[paired.reference], values[paired.judge], paired.count / paired.count.sum()
    if not (np.ptp(y) > 0 and np.ptp(f) > 0):
        return math.nan, math.nan
    dy, df = y - np.sum(n * y), f - np.sum(n * f)
    of_y, of_f, of_both = (float(np.sum(n * part)) for part in (dy * dy, df * df, dy * df))
    return of_y, share_saved(of_y, of_f, of_both)
