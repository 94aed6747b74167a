"""The responses that may be labelled: their clusters, and the strata that the judge's verdicts make of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import RequestError
from evenhand.stats.arrays import Array, Counts
from evenhand.tally.marks import level_values
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import VerdictTable

BANDS = 3
"""Bands that totals or marks are put in where no cut is declared."""
UNSCORED = "not scored"


@dataclass(frozen=True, slots=True)
class Population:
    """Responses in natural order of their clusters, then of their ids.

    Attributes:
        responses: (N,) ids.
        cluster: (N,) position of each one's cluster in natural order.
        clusters: (G,) their names.
        stratum: (N,) position in ``strata``.
        strata: (H,) what the judge said, in words; one, without a name, where verdicts make none.
        wrong, known: (H,) verdicts that differ from a reference label, and verdicts with one, of each stratum.
        n_labelled: responses with a reference label.
        criterion: (N,) position of the first criterion that each has a slot on.
    """

    responses: tuple[str, ...]
    cluster: Counts
    clusters: tuple[str, ...]
    stratum: Counts
    strata: tuple[str, ...]
    wrong: Counts
    known: Counts
    n_labelled: int
    criterion: Counts

    @property
    def sizes(self) -> Counts:
        """(H,) responses of each stratum."""
        return np.bincount(self.stratum, minlength=len(self.strata)).astype(np.int64)

    @property
    def n_clusters(self) -> int:
        """G."""
        return len(self.clusters)


def population(table: VerdictTable, *, by_verdict: bool) -> Population:
    """Every response that a judge was given.

    Args:
        table: of the control arm where there are arms.
        by_verdict: make strata of what the judges said; else there is one.

    Raises:
        RequestError: a weighted score, whose cuts no count of lines tells.
    """
    if by_verdict and table.reading.spec.criterion_weights:
        raise RequestError(
            "--criterion-weights: strata are made of counts of lines, not of weighted scores; leave it out here, with --cut as a count"
        )
    found = sorted(_rows(table), key=lambda row: (natural(row.cluster), natural(row.response)))
    clusters = tuple(dict.fromkeys(row.cluster for row in found))
    number = {name: place for place, name in enumerate(clusters)}
    names, stratum = _strata(table, found) if by_verdict else (("",), np.zeros(len(found), dtype=np.int64))

    def of_strata(counts: Sequence[int]) -> Counts:
        return np.bincount(stratum, weights=counts, minlength=len(names)).astype(np.int64)

    return Population(
        responses=tuple(row.response for row in found),
        cluster=np.array([number[row.cluster] for row in found], dtype=np.int64),
        clusters=clusters,
        stratum=stratum,
        strata=names,
        wrong=of_strata([row.wrong for row in found]),
        known=of_strata([row.known for row in found]),
        n_labelled=sum(row.referred > 0 for row in found),
        criterion=np.array([row.criterion for row in found], dtype=np.int64),
    )


class _Row(NamedTuple):
    """A response's verdicts over criteria, judges and conditions taken together.

    Attributes:
        response, cluster: ids.
        low, high: codes of the lowest and highest label.
        scored, slots: verdicts with a label, and all.
        mean: of the labels' values.
        ratings: pairs of a judge and a condition.
        wrong, known, referred: verdicts that differ from the reference, those with both labels, those with a reference label.
        criterion: position of the first one.
    """

    response: str
    cluster: str
    low: int
    high: int
    scored: int
    slots: int
    mean: float
    ratings: int
    wrong: int
    known: int
    referred: int
    criterion: int


def _rows(table: VerdictTable) -> list[_Row]:
    engine, size = table.engine, table.scale.size
    values, _ = level_values(table.scale) if table.scale.kind != "binary" else (np.array([0.0, 1.0]), True)
    coded = engine.table("values", {"code": "INTEGER", "value": "DOUBLE"}, list(enumerate(values.tolist())))
    scored, referred = f"judge < {size}", f"reference < {size}"
    found = engine.rows(
        f"SELECT response, min(cluster_id), coalesce(min(judge) FILTER ({scored}), 0), coalesce(max(judge) FILTER ({scored}), 0), "
        f"count(*) FILTER ({scored}), count(*), coalesce(avg(v.value), 0), count(DISTINCT (rater, condition)), "
        f"count(*) FILTER ({scored} AND {referred} AND judge <> reference), count(*) FILTER ({scored} AND {referred}), "
        f"count(*) FILTER ({referred}), min(criterion) FROM {table.relation} LEFT JOIN {coded} v ON v.code = judge GROUP BY response"
    )
    return [_Row(*row) for row in found]


def _strata(table: VerdictTable, found: Sequence[_Row]) -> tuple[tuple[str, ...], Counts]:
    scale, cuts = table.scale, sorted(table.reading.spec.cut)
    several = len(table.reading.criteria) > 1
    unscored = np.array([row.scored < (row.slots if several else 1) for row in found])
    mean = np.array([row.mean for row in found])
    if scale.kind == "binary" and several:
        met = mean * np.array([row.slots / row.ratings for row in found])
        names, band = _by_value(met, ~unscored, cuts, f"{{}} of {len(table.reading.criteria)} met")
    elif scale.kind in ("ordinal", "continuous"):
        names, band = _by_value(mean, ~unscored, cuts, "mark {}")
    else:
        names = (*(f"judge says {level}" for level in scale.levels), "verdicts differ")
        band = np.array([row.low if row.low == row.high else scale.size for row in found], dtype=np.int64)
    return _used((*names, UNSCORED), np.where(unscored, len(names), band))


def _by_value(
    values: Array, scored: NDArray[np.bool_], cuts: Sequence[float], words: str
) -> tuple[tuple[str, ...], Counts]:
    """Bands between cuts, or thirds of the values that occur."""
    if cuts:
        band = np.searchsorted(np.asarray(cuts, dtype=np.float64), values, side="right")
    elif scored.any():
        thirds = np.quantile(values[scored], np.arange(1, BANDS) / BANDS, method="inverted_cdf")
        band = np.searchsorted(np.unique(thirds), values, side="left")
    else:
        band = np.zeros(len(values), dtype=np.int64)
    names: list[str] = []
    for number in range(int(band.max()) + 1):
        here = values[(band == number) & scored]
        ends = dict.fromkeys(f"{end:g}" for end in (here.min(), here.max())) if len(here) else {}
        name = words.format(" to ".join(ends))
        names.append(name if name not in names else f"{name} (band {number + 1})")
    return tuple(names), band.astype(np.int64)


def _used(names: Sequence[str], stratum: Counts) -> tuple[tuple[str, ...], Counts]:
    """Only the strata that have members."""
    present, position = np.unique(stratum, return_inverse=True)
    return tuple(names[place] for place in present), position.astype(np.int64)
