"""Rows of complete responses, for the one estimator whose published value depends on single draws per verdict."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.arrays import Counts
from evenhand.tally.patterns import MASKS
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import WORD, VerdictTable

MOST_VERDICTS = 100_000
"""Verdicts beyond which rows are not fetched: 2,000 draws for each take some 8 seconds there."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Verdicts of responses complete on both sides, in natural order of their ids (and conditions).

    Attributes:
        cluster: (n,) cluster number.
        reference, judge: (n, K) 0/1.
    """

    cluster: Counts
    reference: Counts
    judge: Counts


def fetch_rows(table: VerdictTable, rater: int) -> Rows | None:
    """Rows with all K criteria scored on both sides; None where there are too many verdicts."""
    k = len(table.reading.criteria)
    words = range(table.n_words)
    full = [(1 << min(WORD, k - word * WORD)) - 1 for word in words]
    complete = " AND ".join(f"judged_{word} = {full[word]} AND referred_{word} = {full[word]}" for word in words)
    where = f"FROM {table.rated} WHERE rater = {rater} AND {complete}"
    (count,) = table.engine.one(f"SELECT count(*) {where}")
    if count * k > MOST_VERDICTS:
        return None
    columns = [f"{mask}_{word}" for mask in MASKS if mask in ("reference", "judge") for word in words]
    found = table.engine.rows(f"SELECT response, condition, cluster, {', '.join(columns)} {where}")
    found.sort(key=lambda row: (natural(row[0]), natural(row[1])))
    masks = np.array([row[3:] for row in found], dtype=np.int64).reshape(len(found), len(columns))
    positions = np.arange(k)

    def bits(name: str) -> Counts:
        chosen = masks[:, [columns.index(f"{name}_{word}") for word in words]]
        unpacked: Counts = (chosen[:, positions // WORD] >> (positions % WORD)) & 1
        return unpacked

    return Rows(np.array([row[2] for row in found], dtype=np.int64), bits("reference"), bits("judge"))
