"""Patterns: how often each combination of a response's binary verdicts occurs, by unit."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, Counts, binned
from evenhand.verdicts.table import WORD, VerdictTable

MASKS = ("present", "judged", "judge", "referred", "reference")


@dataclass(frozen=True)
class Patterns:
    """Distinct verdict patterns of one judge's rated responses.

    Attributes:
        n_units, n_criteria: sizes.
        unit: (P,) unit of each pattern.
        masks: name in MASKS → (P, W) words of WORD criteria each.
        count: (P,) responses with the pattern.
    """

    n_units: int
    n_criteria: int
    unit: Counts
    masks: dict[str, Counts]
    count: Counts
    remembered: dict[bool, Any] = field(default_factory=dict, repr=False, compare=False)
    """What ``moments.complete_responses`` made of them, by whether a reference was needed."""

    def bits(self, mask: str) -> NDArray[np.bool_]:
        """(P, K) one column a criterion."""
        words = np.ascontiguousarray(self.masks[mask], dtype="<i8")
        width = min(WORD, self.n_criteria)
        bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, count=width, bitorder="little")
        return bits.reshape(len(words), words.shape[1] * width)[:, : self.n_criteria].view(np.bool_)

    def _size(self, mask: str) -> Counts:
        size: Counts = np.bitwise_count(self.masks[mask]).sum(axis=1).astype(np.int64)
        return size

    @cached_property
    def judge_total(self) -> Counts:
        """(P,) criteria the judge calls met."""
        return self._size("judge")

    @cached_property
    def reference_total(self) -> Counts:
        """(P,) criteria the reference calls met."""
        return self._size("reference")

    @cached_property
    def is_judged(self) -> NDArray[np.bool_]:
        """(P,) every criterion present is scored by the judge."""
        same: NDArray[np.bool_] = (self.masks["judged"] == self.masks["present"]).all(axis=1)
        return same

    @cached_property
    def is_referred(self) -> NDArray[np.bool_]:
        """(P,) every criterion present is scored by the reference."""
        same: NDArray[np.bool_] = (self.masks["referred"] == self.masks["present"]).all(axis=1)
        return same

    def by_unit(self, kinds: Counts, n_kinds: int, kept: NDArray[np.bool_] | None = None) -> Array:
        """(U, n_kinds) responses of each kind; ``kinds`` (P,) in [0, n_kinds), ``kept`` (P,) those that count."""
        kept = np.ones(len(self.unit), dtype=np.bool_) if kept is None else kept
        code = (self.unit * n_kinds + kinds)[kept]
        return binned(code, self.count[kept], (self.n_units, n_kinds))


def tally_patterns(table: VerdictTable, rater: int) -> Patterns:
    """Group one judge's rated responses by unit and masks."""
    names = [f"{mask}_{word}" for mask in MASKS for word in range(table.n_words)]
    found = table.engine.integers(
        f"SELECT unit, {', '.join(names)}, count(*) AS n FROM {table.rated} WHERE rater = ? GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    masks = {mask: np.stack([found[f"{mask}_{word}"] for word in range(table.n_words)], axis=1) for mask in MASKS}
    return Patterns(len(table.units.names), len(table.reading.criteria), found["unit"], masks, found["n"])
