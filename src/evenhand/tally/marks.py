"""Paired marks of one judge: values of the labels, as whole numbers where decimals allow, so that their sums are exact."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from evenhand.stats import marks as of
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.ensembles import sums_by_group
from evenhand.tally.cells import Cells
from evenhand.verdicts.scale import Scale

_FAR = 1_000.0
"""Distance from 0 in units of the spread beyond which marks are summed from an origin of their own."""
MOST_DECIMALS = 9
"""Decimals up to which marks are tallied as whole numbers of the last one."""


def level_values(scale: Scale) -> tuple[Array, bool]:
    """(q,) values of the levels, and whether they are the data's own numbers or positions in the declared order."""
    try:
        return np.array([float(level) for level in scale.levels]), True
    except ValueError:
        return np.arange(scale.size, dtype=np.float64), False


def origin_of(values: Array) -> float:
    """What is taken from every mark before squares are summed: the lowest where marks lie far from 0 for their spread, else 0.

    Squares of marks such as 1,000,000,001 and 1,000,000,002 lose the digits in which the marks differ; nothing that rests on
    differences changes with the origin.
    """
    if not len(values):
        return 0.0
    low, high = float(values.min()), float(values.max())
    return low if high > low and max(abs(low), abs(high)) > _FAR * (high - low) else 0.0


def centred_values(scale: Scale) -> Array:
    """(q,) values of the levels less their origin: for statistics that rest on differences."""
    values = level_values(scale)[0]
    return values - origin_of(values)


def whole_factor(levels: Sequence[str]) -> int:
    """10^d for numbers of at most d decimals, so that a mark times it is whole; 1 where they have too many."""
    decimals = max((-int(Decimal(level).as_tuple().exponent) for level in levels), default=0)
    return 10**decimals if 0 < decimals <= MOST_DECIMALS else 1


@dataclass(frozen=True, slots=True)
class Marks:
    """Distinct pairs of marks and how often they occur.

    Attributes:
        n_units: U.
        factor: what the marks below are multiplied by.
        unit, criterion, count: (n,) unit of resampling, criterion and number of pairs.
        reference, judge: (n,) marks times the factor.
    """

    n_units: int
    factor: int
    unit: Counts
    criterion: Counts
    count: Counts
    reference: Array
    judge: Array

    def on_criterion(self, position: int) -> "Marks":
        """Only the pairs of one criterion."""
        return self._where(self.criterion == position)

    def _where(self, kept: NDArray[np.bool_]) -> "Marks":
        return Marks(
            self.n_units,
            self.factor,
            self.unit[kept],
            self.criterion[kept],
            self.count[kept],
            self.reference[kept],
            self.judge[kept],
        )

    def sums(self) -> Array:
        """(U, 7) sums of the multiplied marks less their origin, as in ``stats.marks.mark_sums``."""
        origin = origin_of(np.concatenate([self.reference, self.judge]))
        return of.mark_sums(self.reference - origin, self.judge - origin, self.unit, self.n_units, self.count)

    def steps(self, limits: tuple[float, float] | None) -> "Steps":
        """The marks rounded half up to whole ones, within the whole marks of the declared range where there is one."""
        reference, judge = self.reference / self.factor, self.judge / self.factor
        if limits is not None:
            low, high = int(np.ceil(limits[0])), int(np.floor(limits[1]))
        else:
            both = np.floor(np.concatenate([reference, judge, [0.0] if not len(judge) else []]) + 0.5)
            low, high = int(both.min()), int(both.max())
        high = max(low, high)
        return Steps(low, high, *(of.round_half_up(marks, low, high) for marks in (reference, judge)))

    def rounded(self, steps: "Steps") -> "Marks":
        """The same pairs with their marks rounded."""
        low = np.float64(steps.low)
        return replace(self, factor=1, reference=steps.reference + low, judge=steps.judge + low)


@dataclass(frozen=True, slots=True)
class Steps:
    """Rounded marks: whole ones from low to high, and the (n,) positions of each pair's two among them."""

    low: int
    high: int
    reference: Counts
    judge: Counts

    @property
    def n_levels(self) -> int:
        """Whole marks from low to high."""
        return self.high - self.low + 1


def paired_marks(cells: Cells, scale: Scale) -> Marks:
    """Marks of the slots in which both sides are scored; words count by their positions."""
    values, own = level_values(scale)
    factor = whole_factor(scale.levels) if own else 1
    values = np.rint(values * factor) if factor > 1 else values
    paired = cells.paired
    return Marks(
        cells.n_units,
        factor,
        paired.unit,
        paired.criterion,
        paired.count,
        values[paired.reference],
        values[paired.judge],
    )


def mark_totals(cells: Cells, scale: Scale, *, side: str, origin: float = 0.0) -> tuple[Array, int]:
    """(U, 3) number of marks, their sum and sum of squares on one side, less the origin, multiplied; and the factor.

    Args:
        cells: those whose label on this side is scored.
        scale: of numbers.
        side: judge or reference.
        origin: taken from every mark first.
    """
    values, factor = level_values(scale)[0] - origin, whole_factor(scale.levels)
    label = cells.judge if side == "judge" else cells.reference
    marks = (np.rint(values * factor) if factor > 1 else values)[label]
    return sums_by_group([np.ones_like(marks), marks, marks**2], cells.unit, cells.n_units, cells.count), factor
