"""Dose: whether a label's effect grows with its value or is a step, and what of it moves with the number behind it."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evenhand.audits.arms_labels import Labels
from evenhand.audits.arms_view import Kept, View
from evenhand.audits.slopes import with_cluster_robust
from evenhand.audits.statistic import exact
from evenhand.results import Estimate
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.dose import as_tables, dose_reached, dose_slope, dose_sums, mean_effect

_SAME_GAP = "the two labels lie equally far apart on every response: a dose cannot be told from a step"


def dose(view: View, label: Labels) -> Iterator[Estimate]:
    """Slope and ratio over responses whose labels lie differently far apart; steps between levels that all responses saw."""
    if label.arms == (view.roles.own, view.roles.swapped):
        yield from _by_gap(view, label)
    else:
        yield from _steps(view)


def pooled_dose(pairs: Sequence[tuple[View, Labels]]) -> Iterator[Estimate]:
    """The ratio over several runs: Σ slope · mean gap over Σ label effect, the same learners resampled in all of them.

    Args:
        pairs: a run each, with the contrast of own and swapped labels that it holds.
    """
    found = [(label, *_kept(view, label)) for view, label in pairs]
    if len(found) < 2 or not all(kept.any() and np.ptp(label.gap[kept]) > 0 for label, kept, _, _ in found):
        return
    view = replace(pairs[0][0], params={})
    units = view.units(*found[0][0].arms)
    n_units = len(units.evidence.units.names)
    sums = [
        dose_sums(one.effect[kept], one.gap[kept], held[kept], units.unit[kept], n_units)
        for one, kept, held, _ in found
    ]
    if len({one.shape for one in sums}) > 1:
        return
    anywhere = np.logical_or.reduce([kept for _, kept, _, _ in found])
    words = (
        f"dose ratio over {len(found)} models or settings: sum of slopes times mean gaps over the sum of label effects; 1 where effects are "
        f"proportional to the gap, 0 where they are steps; {found[0][3]} held fixed"
    )
    parts = (_summed(dose_reached), _summed(mean_effect))
    yield view.of_ratio("dose_ratio", found[0][0].source, np.stack(sums, axis=1), parts, anywhere, units, words)


def _summed(measure: Measure) -> Measure:
    """(..., R, m²) tallies of R runs → the sum of the measure over runs."""
    return lambda sums: np.asarray(measure(sums).sum(axis=-1))


def _kept(view: View, label: Labels) -> tuple[Kept, Array, str]:
    """(n,) responses of which everything is known, (n, h) what is held fixed, and that in words."""
    held, words = _held(view, label)
    return label.kept & np.isfinite(label.gap) & np.isfinite(held).all(axis=1), held, words


def _by_gap(view: View, label: Labels) -> Iterator[Estimate]:
    kept, held, words = _kept(view, label)
    said = f"of {{judge}}, marks per point of label: the effect of the label regressed on the gap of the two labels, with {words} held fixed"
    if not kept.any() or np.ptp(label.gap[kept]) == 0:
        reason = (
            _SAME_GAP
            if kept.any()
            else "the labels shown are not known as numbers: name their column with --label-shown COL"
        )
        for name in ("dose_slope", "dose_ratio"):
            yield _absent(view, name, label.source, said, reason)
        return
    units = view.units(*label.arms)
    n_units = len(units.evidence.units.names)

    def tallies(columns: Array) -> Array:
        return dose_sums(label.effect[kept], label.gap[kept], columns[kept], units.unit[kept], n_units)

    sums, singular = tallies(held), f"the gap does not vary beside {words}"
    found = view.assessed(
        "dose_slope", label.source, sums, dose_slope, kept, units, f"dose slope {said}", undefined=singular
    )
    yield with_cluster_robust(found, as_tables(sums[sums[:, 0] > 0]), 1, view.evidence.plan)
    if np.isfinite(label.n_prior_gap[kept]).all() and np.ptp(label.n_prior_gap[kept]) > 0:
        more = np.column_stack([held, np.where(kept, label.n_prior_gap, 0.0)])
        sums_of_more = tallies(more)
        found = view.assessed(
            "dose_slope", label.source, sums_of_more, dose_slope, kept, units,
            f"dose slope {said} and the difference of the numbers of earlier answers stated", params={"held": "n_prior"}, undefined=singular,
        )  # fmt: skip
        yield with_cluster_robust(found, as_tables(sums_of_more[sums_of_more[:, 0] > 0]), 1, view.evidence.plan)
    ratio = (
        "dose ratio: slope times mean gap over the label effect; 1 where the effect is proportional to the gap, 0 where it is a step "
        f"whatever the gap; {words} held fixed"
    )
    yield view.of_ratio("dose_ratio", label.source, sums, (dose_reached, mean_effect), kept, units, ratio)


def _held(view: View, label: Labels) -> tuple[Array, str]:
    """(n, h) what is held fixed beside the gap, and in words: tail, own label, reference mark, as far as they are known."""
    columns, words = [], []
    for at, _ in list(view.tails())[1:]:
        columns.append((view.arms.tail == at).astype(np.float64))
        words = ["the tail"]
    columns.append(label.own)
    words.append("the own label")
    if np.isfinite(view.arms.reference[label.kept]).any():
        columns.append(view.arms.reference)
        words.append("the reference mark")
    return np.column_stack(columns), ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1]


def _steps(view: View) -> Iterator[Estimate]:
    """Marks per point of label between neighbouring levels, and over all of them."""
    label, names = view.arms.label, view.arms.names
    levels = [at for at in view.roles.levels if view.n_gradings[:, at].any()]
    pairs = [(levels[-1], levels[0])] + ([(b, a) for a, b in itertools.pairwise(levels)] if len(levels) > 2 else [])
    for high, low in pairs:
        source = view.source(high, low)
        said = f'mean of {{judge}}\'s mark under "{names[high]}" minus that under "{names[low]}" on the same responses, in marks per point of label'
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (view.means[:, high] - view.means[:, low]) / (label[:, high] - label[:, low])
        kept = view.kept(high, low) & np.isfinite(slope)
        if not kept.any():
            reason = "the labels shown are not known as numbers: name their column with --label-shown COL"
            yield _absent(view, "dose_slope", source, said, reason)
            continue
        yield view.of_mean("dose_slope", source, np.where(kept, slope, 0.0), kept, (high, low), said)


def _absent(view: View, name: str, source: str, words: str, reason: str) -> Estimate:
    found = exact(
        view.evidence, name, None, unit="response", describes="grader×context", estimand=words, reason=reason, source=source,
        params=view.params,
    )  # fmt: skip
    return found.model_copy(update={"status": "not_assessed"})
