"""Packing: the labels of all criteria of a response in a few integers, so that a pivot has one group a response."""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Counts
from evenhand.verdicts.table import WORD

ABSENT, SILENT = -2, -1
"""No verdict slot there; a slot without a label."""
MOST_DENSE = 1 << 22
"""Possible rows up to which distinct ones are counted in an array of them all."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How labels lie in words: a field of bits a criterion, 0 no slot, 1 no label, 2 and above the labels.

    Attributes:
        n_labels: q.
        n_criteria: K.
    """

    n_labels: int
    n_criteria: int

    @property
    def bits(self) -> int:
        """Bits of a field."""
        return (self.n_labels + 1).bit_length()

    @property
    def per_word(self) -> int:
        """Fields of a word."""
        return max(1, WORD // self.bits)

    @property
    def n_words(self) -> int:
        """Words a response needs."""
        return -(-self.n_criteria // self.per_word)

    def columns(self, label: str, test: str) -> list[str]:
        """SQL of each word, over the rows (criterion, label) of a response that pass the test, one row a criterion.

        Args:
            label: a column of label codes; those at or past q are no labels.
            test: which rows are packed.
        """
        return self._columns(f"CASE WHEN {label} < {self.n_labels} THEN {label} + 2 ELSE 1 END", test)

    def shared_columns(self, label: str) -> list[str]:
        """The words of a label that several rows of a criterion repeat, then the same words with their bits inverted.

        Rows without a label hold nothing. A bit that is set in both says that the rows contradict each other.
        """
        full, known = (1 << self.bits) - 1, f"CASE WHEN {label} < {self.n_labels} THEN {{}} ELSE 0 END"
        fields = (known.format(f"{label} + 2"), known.format(f"{full} - ({label} + 2)"))
        return [column for field in fields for column in self._columns(field, "true")]

    def _columns(self, field: str, test: str) -> list[str]:
        found = []
        for word in range(self.n_words):
            start, stop = word * self.per_word, (word + 1) * self.per_word
            here = test if self.n_words == 1 else f"{test} AND criterion >= {start} AND criterion < {stop}"
            shifted = f"({field})::BIGINT << ({self.bits} * (criterion - {start}))"
            found.append(f"coalesce(bit_or(CASE WHEN {here} THEN {shifted} END), 0)")
        return found

    def labels(self, words: Counts, criterion: int) -> Counts:
        """(P, ..., W) words → (P, ...) labels of one criterion, ``SILENT`` or ``ABSENT``."""
        return self._fields(words, criterion) - 2

    def shared_labels(self, words: Counts, inverted: Counts, criterion: int) -> Counts:
        """(P, W) words of ``shared_columns`` → (P,) labels of one criterion; ``SILENT`` for none, or contradicting ones."""
        one, other = self._fields(words, criterion), self._fields(inverted, criterion)
        return np.where((one & other) > 0, SILENT, np.maximum(one - 2, SILENT))

    def _fields(self, words: Counts, criterion: int) -> Counts:
        """(P, ..., W) words → (P, ...) fields of one criterion."""
        word, place = divmod(criterion, self.per_word)
        fields: Counts = (words[..., word] >> (self.bits * place)) & ((1 << self.bits) - 1)
        return fields


def distinct(columns: list[Counts], count: Counts | None = None) -> tuple[list[Counts], Counts]:
    """Distinct rows of (n,) columns of small integers from -1 on, in order, and how often each occurs: one a row by default."""
    widths = [int(column.max(initial=0)) + 2 for column in columns]
    if (size := math.prod(widths)) <= MOST_DENSE:
        key = np.zeros(len(columns[0]), dtype=np.int64)
        for column, width in zip(columns, widths, strict=True):
            key *= width
            key += column
            key += 1
        total = np.bincount(key, weights=count, minlength=size)
        found = np.flatnonzero(total)
        rows = [at.astype(np.int64) - 1 for at in np.unravel_index(found, widths)]
        return rows, total[found].astype(np.int64)
    key, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column, width in zip(columns, widths, strict=True):
        if size * width >= 1 << WORD:
            values, key = np.unique(key, return_inverse=True)
            size = len(values)
        key, size = key * width + (column + 1), size * width
    _, first, at = np.unique(key, return_index=True, return_inverse=True)
    return [column[first] for column in columns], np.bincount(at, weights=count, minlength=len(first)).astype(np.int64)
