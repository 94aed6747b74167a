"""Moments of complete responses: what internal consistency and strong true scores need, one vector a unit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, Counts, binned
from evenhand.stats.internal_consistency import CrossProducts, Moments
from evenhand.tally.patterns import Patterns

Side = Literal["judge", "reference"]
MOST_PRODUCT_CELLS = 50_000_000
"""Units × criteria² beyond which cross products are not kept."""
MOST_SHARED_CELLS = 4_000_000
"""Units × criteria² up to which groups of complete responses are kept for all that ask."""


@dataclass(frozen=True)
class CompleteResponses:
    """Responses with the same criteria, all scored on every side there is.

    Attributes:
        patterns: of the judge.
        kept: (P,) which patterns belong here.
        criteria: (K,) positions of their criteria.
    """

    patterns: Patterns
    kept: NDArray[np.bool_]
    criteria: NDArray[np.intp]
    _packed: dict[str, Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_criteria(self) -> int:
        """K."""
        return len(self.criteria)

    @property
    def n_product_cells(self) -> int:
        """Units × criteria²."""
        return self.patterns.n_units * self.n_criteria**2

    @property
    def sizes(self) -> Array:
        """(U,) responses a unit."""
        return self._once("sizes", self._sizes)

    def _sizes(self) -> Array:
        return binned(self.patterns.unit[self.kept], self.patterns.count[self.kept], (self.patterns.n_units,))

    def values(self, side: Side) -> NDArray[np.bool_]:
        """(P', K) verdicts of the kept patterns."""
        return self.patterns.bits(side)[self.kept][:, self.criteria]

    def errors(self) -> NDArray[np.bool_]:
        """(P', K) where judge and reference differ."""
        differ: NDArray[np.bool_] = self.values("judge") != self.values("reference")
        return differ

    def moments(self, side: Side) -> Array:
        """Packed moments of one side, made once: (U, K+2) responses, sum of each criterion, sum of squared totals."""
        return self._once(f"moments of {side}", lambda: self._moments(side))

    def _moments(self, side: Side) -> Array:
        if self.n_product_cells > MOST_PRODUCT_CELLS:
            return self.packed_moments(self.values(side))
        return moments_of_products(self.products(side), self.n_criteria)

    def products(self, side: Side) -> Array:
        """Packed cross products of one side, made once."""
        return self._once(f"products of {side}", lambda: self.packed_products(self.values(side)))

    def packed_moments(self, values: NDArray[np.bool_]) -> Array:
        """(U, K+2): responses, sum of each criterion, sum of squared totals."""
        totals = values.sum(axis=1)
        return self._sum(np.column_stack([np.ones(len(values)), values, totals**2]))

    def packed_products(self, values: NDArray[np.bool_]) -> Array:
        """(U, 1+K+K²): responses, sums and cross products of the criteria."""
        unit, weight = self.patterns.unit[self.kept], self.patterns.count[self.kept].astype(np.float64)
        k = values.shape[1]
        packed = np.zeros((self.patterns.n_units, 1 + k + k * k))
        starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else np.empty(0, np.intp)
        for start, stop in zip(starts, np.r_[starts[1:], len(unit)], strict=True):
            rows = values[start:stop].astype(np.float64)
            weighted = rows * weight[start:stop, None]
            packed[unit[start], 0] = weight[start:stop].sum()
            packed[unit[start], 1 : 1 + k] = weighted.sum(axis=0)
            packed[unit[start], 1 + k :] = (weighted.T @ rows).ravel()
        return packed

    def histogram(self, side: Side) -> Array:
        """(U, K+1) responses with each total."""
        return self.patterns.by_unit(self._total(side), self.n_criteria + 1, self.kept)

    def joint_histogram(self) -> Array:
        """(U, (K+1)²) responses with each pair of reference total and judge total."""
        size = self.n_criteria + 1
        pair = self._total("reference") * size + self._total("judge")
        return self.patterns.by_unit(pair, size * size, self.kept)

    def _total(self, side: Side) -> Counts:
        """(P,) criteria met; in a complete response no criterion outside ``criteria`` is."""
        return self.patterns.judge_total if side == "judge" else self.patterns.reference_total

    def _once(self, name: str, make: Callable[[], Array]) -> Array:
        if name not in self._packed:
            self._packed[name] = make()
        return self._packed[name]

    def _sum(self, rows: Array) -> Array:
        """(U, m) weighted sums of (P', m) rows by unit."""
        unit, weight = self.patterns.unit[self.kept], self.patterns.count[self.kept]
        columns = [np.bincount(unit, weights=column * weight, minlength=self.patterns.n_units) for column in rows.T]
        return np.stack(columns, axis=1)


def complete_responses(patterns: Patterns, *, needs_reference: bool) -> list[CompleteResponses]:
    """Complete responses, apart by the set of their criteria; the largest set first."""
    complete = patterns.is_judged & (patterns.is_referred if needs_reference else True)
    present = patterns.masks["present"][complete]
    if not len(present):
        return []
    if needs_reference in patterns.remembered:
        return list(patterns.remembered[needs_reference])
    bits, found = patterns.bits("present"), []
    group = _numbered(present)
    for number in range(int(group.max()) + 1):
        kept = np.zeros(len(complete), dtype=np.bool_)
        kept[np.flatnonzero(complete)[group == number]] = True
        found.append(CompleteResponses(patterns, kept, np.flatnonzero(bits[kept.argmax()])))
    found.sort(key=lambda one: -float(one.sizes.sum()))
    if sum(one.n_product_cells for one in found) <= MOST_SHARED_CELLS:
        patterns.remembered[needs_reference] = tuple(found)
    return found


def _numbered(rows: Counts) -> NDArray[np.intp]:
    """(P,) number of each of (P, W) rows among the distinct ones in order; columns in turn, as unique(axis=0) is slow."""
    number = np.zeros(len(rows), dtype=np.intp)
    for column in rows.T:
        values, code = np.unique(column, return_inverse=True)
        number = np.unique(number * len(values) + code, return_inverse=True)[1]
    return number


def moments_of_products(packed: Array, n_criteria: int) -> Array:
    """(U, 1+K+K²) packed products as (U, K+2) packed moments: a total's square is the sum of all products."""
    sums = packed[:, : 1 + n_criteria]
    return np.column_stack([sums, packed[:, 1 + n_criteria :].sum(axis=1)])


def unpack_moments(packed: Array) -> Moments:
    """(..., K+2) sums as moments."""
    return Moments(packed[..., 0], packed[..., 1:-1], packed[..., -1])


def unpack_products(packed: Array, n_criteria: int) -> CrossProducts:
    """(..., 1+K+K²) sums as cross products."""
    products = packed[..., 1 + n_criteria :]
    return CrossProducts(
        packed[..., 0],
        packed[..., 1 : 1 + n_criteria],
        products.reshape(*products.shape[:-1], n_criteria, n_criteria),
    )
