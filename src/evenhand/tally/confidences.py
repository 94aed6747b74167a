"""Confidences: right and wrong verdicts of one judge by how sure it said it was, by unit of resampling."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Array, Counts, binned
from evenhand.verdicts.table import VerdictTable

MOST_VALUES = 512
"""Different confidences up to which each is kept; beyond, as many classes of about the same number of verdicts."""
N_BINS = 10
"""Equal-width bins of the calibration error."""


@dataclass(frozen=True, slots=True)
class Confidences:
    """Verdicts in which both sides are scored and the judge gave a confidence.

    Attributes:
        labels: (K,) label the judge gave in each class; a class is a label with one confidence (or a range of them).
        values: (K,) mean confidence of the class over all units.
        tallies: (U, K, 2) verdicts that are not, and that are, the reference's label.
        of_positive: whether the values are probabilities of the positive label, else confidences in the verdict given.
        is_share: every value lies in 0 to 1.
        squares: (U, 2) verdicts, and sum of squared distances of the confidence in the verdict from 1 where it is right and
            0 where it is wrong.
        bins: (U, N_BINS, 3) verdicts, sum of confidences in the verdict, right ones, by equal widths of that confidence.
        n_values: different confidences there are.
        n_without: verdicts of both sides without a confidence.
    """

    labels: Counts
    values: Array
    tallies: Array
    of_positive: bool
    is_share: bool
    squares: Array
    bins: Array
    n_values: int
    n_without: int

    @property
    def is_exact(self) -> bool:
        """Whether each confidence is a class of its own."""
        return self.n_values <= MOST_VALUES

    @property
    def in_verdict(self) -> Array:
        """(K,) confidence in the verdict given."""
        return np.where(self.labels == 1, self.values, 1 - self.values) if self.of_positive else self.values

    @property
    def of_the_positive(self) -> Array:
        """(K,) probability of the positive label of two, to twelve decimals, so that 1 − .9 is .1."""
        return np.round(
            self.values if self.of_positive else np.where(self.labels == 1, self.values, 1 - self.values), 12
        )

    def by_reference(self) -> Array:
        """(U, K, 2) verdicts whose reference is the negative, and the positive label of two."""
        said_positive = (self.labels == 1)[:, None]
        return np.where(said_positive, self.tallies, self.tallies[..., ::-1])


def tally_confidences(table: VerdictTable, rater: int) -> Confidences | None:
    """Count one judge's verdicts by confidence; None without a column of them, a reference, or labels."""
    spec, q = table.reading.spec, table.scale.size
    if spec.confidence is None or not table.reading.has_reference or table.scale.kind == "continuous":
        return None
    engine, of_positive = table.engine, spec.confidence_of == "positive"
    both = f"FROM {table.relation} WHERE rater = {rater} AND judge < {q} AND reference < {q}"
    given = engine.rows(f"SELECT confidence, count(*) {both} AND confidence IS NOT NULL GROUP BY 1 ORDER BY 1")
    (without,) = engine.one(f"SELECT count(*) {both} AND confidence IS NULL")
    values = np.array([value for value, _ in given], dtype=np.float64)
    if not len(values):
        return None
    starts = _class_starts(values, np.array([count for _, count in given], dtype=np.float64))
    classes = engine.table(
        "classes", {"low": "DOUBLE", "class": "INTEGER"}, [(low, at) for at, low in enumerate(starts.tolist())]
    )
    sure = "CASE WHEN judge = 1 THEN confidence ELSE 1 - confidence END" if of_positive else "confidence"
    right = "(judge = reference)::INTEGER"
    cells = (
        f"SELECT unit, judge, class, {right} AS correct, "
        f"least(greatest(floor({sure} * {N_BINS}), 0), {N_BINS - 1})::INTEGER AS bin, confidence, {sure} AS sure "
        f"FROM (SELECT * {both} AND confidence IS NOT NULL) v ASOF JOIN {classes} c ON v.confidence >= c.low"
    )
    found = engine.rows(
        f"SELECT unit, judge, class, correct, bin, count(*), sum(confidence), sum(sure), sum(sure * sure) FROM ({cells}) "
        "GROUP BY ALL ORDER BY ALL"
    )
    return _gather(np.array(found, dtype=np.float64), table, values, of_positive=of_positive, without=int(without))


def _class_starts(values: Array, counts: Array) -> Array:
    """Lowest confidence of each class; values stand alone where they are few."""
    if len(values) <= MOST_VALUES:
        return values
    at = np.floor((np.cumsum(counts) - counts) / counts.sum() * MOST_VALUES)
    return values[np.flatnonzero(np.r_[True, at[1:] != at[:-1]])]


def _gather(found: Array, table: VerdictTable, values: Array, *, of_positive: bool, without: int) -> Confidences:
    unit, judge, part, correct, bin_ = found[:, :5].astype(np.int64).T
    count, total, sure, squared = found[:, 5:].T
    n_units, n_parts = len(table.units.names), int(part.max()) + 1
    keys, at = np.unique(judge * n_parts + part, return_inverse=True)
    weights = np.bincount(at, weights=count)
    tallies = binned((unit * len(keys) + at) * 2 + correct, count, (n_units, len(keys), 2))
    distance = np.where(correct == 1, squared - 2 * sure + count, squared)
    squares: Array = np.stack(
        [np.asarray(np.bincount(unit, weights=column, minlength=n_units), np.float64) for column in (count, distance)],
        axis=-1,
    )
    place = unit * N_BINS + bin_
    bins: Array = np.stack(
        [
            np.asarray(np.bincount(place, weights=column, minlength=n_units * N_BINS), np.float64)
            for column in (count, sure, count * correct)
        ],
        axis=-1,
    )
    return Confidences(
        labels=keys // n_parts,
        values=np.bincount(at, weights=total) / weights,
        tallies=tallies,
        of_positive=of_positive,
        is_share=bool(values.min() >= 0 and values.max() <= 1),
        squares=squares,
        bins=bins.reshape(n_units, N_BINS, 3),
        n_values=len(values),
        n_without=without,
    )
