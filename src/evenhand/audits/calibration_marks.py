"""What calibration is made from: the marks of both sides of a contrast by unit of resampling, and the marks that may be given."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evenhand.audits.arms_view import Kept, Units, View
from evenhand.audits.evidence import Evidence
from evenhand.results import Table
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.calibration import Marking, Pairs, isotonic, line
from evenhand.stats.ensembles import sums_by_group
from evenhand.tally.marks import level_values, origin_of, paired_marks
from evenhand.verdicts.table import Units as AllUnits

MOST_WORK = 4_000_000
"""Units times marks, and ten times units squared, beyond which the units are taken in groups."""
N_GROUPS = 128
_MOST_RESAMPLED = 20_000_000
MOST_STEPS = 1_000_001
"""Whole marks from lowest to highest up to which marks are rounded."""
_FEWEST_LEVELS = 3
MOST_SHOWN, N_BINS = 30, 20
"""Different marks up to which each has its own place in the reliability table, and bins of equal width beyond."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a contrast of calibrated marks, less one origin.

    Attributes:
        first, second: marks and reference marks; the same where one judge's marks stand on both sides.
        marking: what becomes of a calibrated mark.
        rounded: the same with rounding to marks that may be given, for kappa; None where those are fewer than three.
        n_resamples: of the audit.
    """

    first: Pairs
    second: Pairs
    marking: Marking
    rounded: Marking | None
    n_resamples: int

    @property
    def is_light(self) -> bool:
        """Whether bootstrap resamples of it cost little."""
        return len(self.first.unit) * self.n_resamples <= _MOST_RESAMPLED

    def note(self, metric: str) -> str:
        """How a calibrated mark is scored, in words."""
        if self.marking.levels is not None:
            return "; calibrated marks are rounded half up to marks that may be given"
        if metric == "quadratic_weighted_kappa":
            return "; calibrated marks and all others are rounded half up to marks that may be given"
        return "; calibrated marks are clipped to the scale" if np.isfinite(self.marking.low) else ""


def judge_sides(evidence: Evidence) -> tuple[Evidence, Sides] | None:
    """The marks of a judge without arms; None without marks or a reference."""
    scale = evidence.scale
    if scale.kind not in ("ordinal", "continuous") or not evidence.has_reference or not level_values(scale)[1]:
        return None
    marks = paired_marks(evidence.cells, scale)
    if not len(marks.unit):
        return None
    unit, units = marks.unit, evidence.units
    if is_heavy(len(unit), len(units.names)):
        groups, units = grouped(units, np.zeros(len(units.names), dtype=np.int64), evidence.plan.seed)
        unit = groups[unit]
    judge, reference = marks.judge / marks.factor, marks.reference / marks.factor
    levels = np.sort(level_values(scale)[0]) if scale.kind == "ordinal" else None
    low, high = scale.range if scale.range is not None else (None, None)
    count = marks.count.astype(np.float64)
    sides = _sides((reference, reference), (judge, judge), (unit, unit), (count, count), len(units.names), levels, (low, high), evidence)  # fmt: skip
    return replace(evidence, units=units), sides


def arm_sides(view: View, kept: Kept, units: Units, arms: tuple[int, int]) -> Sides:
    """The gradings of two arms on the kept responses, repeats of one response weighing 1 together.

    Args:
        view: of the run.
        kept: (n,) responses, whose reference marks are known.
        units: of resampling.
        arms: the first and the second side.
    """
    response, arm, _, mark = view.gradings
    of_arms = [(arm == one) & kept[response] for one in arms]
    rows = [response[here] for here in of_arms]
    a, b = ((view.arms.reference[row], mark[here], units.unit[row], 1 / view.n_gradings[row, one])
            for row, here, one in zip(rows, of_arms, arms, strict=True))  # fmt: skip
    scale = view.evidence.scale
    single = scale.kind == "ordinal" and len(view.evidence.criteria) == 1 and level_values(scale)[1]
    levels = np.sort(level_values(scale)[0]) if single else None
    reference, judge, unit, count = ((one, other) for one, other in zip(a, b, strict=True))
    n_units = len(units.evidence.units.names)
    return _sides(reference, judge, unit, count, n_units, levels, (view.arms.low, view.arms.high), view.evidence)


def _sides(
    reference: tuple[Array, Array], judge: tuple[Array, Array], unit: tuple[Counts, Counts], count: tuple[Array, Array], n_units: int,
    levels: Array | None, ends: tuple[float | None, float | None], evidence: Evidence,
) -> Sides:  # fmt: skip
    every = np.concatenate([*reference, *judge])
    origin = origin_of(every)
    low, high = ends
    exact = Marking(-np.inf if low is None else low - origin, np.inf if high is None else high - origin)
    rounded = _whole(every, ends) if levels is None else levels
    if rounded is not None:
        rounded = rounded - origin
        if levels is not None or (np.concatenate(judge) % 1 == 0).all():
            exact = Marking(levels=rounded)
    whole = exact if exact.levels is not None else Marking(levels=rounded) if rounded is not None else None
    first, second = (
        Pairs.of(reference[at] - origin, judge[at] - origin, unit[at], n_units, count[at]) for at in (0, 1)
    )
    return Sides(first, second, exact, whole, evidence.plan.n_resamples)


def _whole(marks: Array, ends: tuple[float | None, float | None]) -> Array | None:
    """Whole marks from the lowest to the highest that may be given; None where they are too few or too many."""
    low, high = ends
    least = float(np.floor(marks.min() + 0.5)) if low is None else float(np.ceil(low))
    most = float(np.floor(marks.max() + 0.5)) if high is None else float(np.floor(high))
    n_levels = most - least + 1
    return np.arange(n_levels) + least if _FEWEST_LEVELS <= n_levels <= MOST_STEPS else None


def is_heavy(n_marks: int, n_units: int) -> bool:
    """Whether fits without each unit in turn would take long."""
    return n_units * n_marks + 10 * n_units**2 > MOST_WORK


def units_of_fit(view: View, kept: Kept, units: Units) -> Units:
    """The units, in groups within tails where each of many would need a fit of its own."""
    n_units = len(units.evidence.units.names)
    if not is_heavy(int(view.n_gradings[kept].sum()), n_units):
        return units
    strata = view.strata(units, kept)
    groups, found = grouped(
        units.evidence.units, np.zeros(n_units, dtype=np.int64) if strata is None else strata, view.evidence.plan.seed
    )
    return Units(replace(units.evidence, units=found), groups[units.unit], f"groups of {units.word}")


def grouped(units: AllUnits, stratum: Counts, seed: int) -> tuple[Counts, AllUnits]:
    """(U,) random group of each unit, equal in size to within one in each stratum, and the groups.

    Args:
        units: of which there are many.
        stratum: (U,) a group lies in one of them.
        seed: of the order.
    """
    drawn = np.random.default_rng(seed).permutation(len(units.names))
    present = np.unique(stratum)
    each, group, offset = max(2, N_GROUPS // len(present)), np.empty(len(drawn), dtype=np.int64), 0
    for one in present:
        members = drawn[stratum[drawn] == one]
        group[members] = offset + np.arange(len(members)) % each
        offset += min(each, len(members))
    names = tuple(f"group {at + 1}" for at in range(offset))
    return group, AllUnits(names, units.n_clusters, units.declared)


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """Mean reference mark by the judge's mark, with what both fits on all marks make of it."""
    found = judge_sides(replace(evidence, arms=None))
    if found is None:
        return
    pairs, marks = found[1].first, paired_marks(evidence.cells, evidence.scale)
    origin = origin_of(np.concatenate([marks.reference, marks.judge]) / marks.factor)
    place, edges = _places(pairs.judge)
    columns = (pairs.count, pairs.count * pairs.judge, pairs.count * pairs.reference)
    n, judge, reference = sums_by_group(columns, place, len(edges)).T
    held = n > 0
    mean = np.where(held, judge / np.maximum(n, 1), 0.0)
    intercept, slope = line(pairs.sums.sum(axis=0))
    steps = isotonic(n, reference)
    rows = tuple(
        (
            float(edges[at, 0] + origin), float(edges[at, 1] + origin), int(n[at]), float(mean[at] + origin),
            float(reference[at] / n[at] + origin), float(intercept + slope * mean[at] + origin) if np.isfinite(slope) else None,
            float(steps[at] + origin),
        )
        for at in np.flatnonzero(held)
    )  # fmt: skip
    columns_of = ("from", "to", "n", "mean_mark", "mean_reference", "linear", "isotonic")
    yield f"reliability/{evidence.source}", Table(columns=columns_of, rows=rows)


def _places(marks: Array) -> tuple[Counts, Array]:
    """(n,) place of each mark, and the (P, 2) lowest and highest mark of each place."""
    different = np.unique(marks)
    if len(different) <= MOST_SHOWN:
        return np.searchsorted(different, marks), np.stack([different, different], axis=-1)
    edges = np.linspace(different[0], different[-1], N_BINS + 1)
    place = np.clip(np.searchsorted(edges, marks, side="right") - 1, 0, N_BINS - 1)
    return place, np.stack([edges[:-1], edges[1:]], axis=-1)
