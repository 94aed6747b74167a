"""Strata: label pairs of one judge by fixed stratum and, within it, by unit of resampling."""

from dataclasses import dataclass

import numpy as np

from evenhand.errors import KeyClashError, RequestError, printable
from evenhand.stats.arrays import Array, Counts
from evenhand.verdicts.order import natural
from evenhand.verdicts.table import VerdictTable

MOST_STRATA = 200
"""Strata that an audit holds apart."""


@dataclass(frozen=True, slots=True)
class Strata:
    """Scored verdicts by stratum; with a reference, those in which both sides are scored.

    Attributes:
        names: (H,) in natural order.
        stratum, unit: (V,) of each row; a unit that several strata share stands once in each.
        tables: (V, q, q) reference label by judge label; (V, 1, q) without a reference.
        n_excluded: slots that are not scored.
        n_clusters: (H,) clusters behind each stratum.
    """

    names: tuple[str, ...]
    stratum: Counts
    unit: Counts
    tables: Array
    n_excluded: int
    n_clusters: Counts


def tally_strata(table: VerdictTable, rater: int) -> Strata | None:
    """Count one judge's label pairs by stratum; None where no strata are named or marks have no levels.

    Raises:
        KeyClashError: a cluster that lies in two strata.
        RequestError: more strata than are held apart.
    """
    if table.reading.spec.strata is None or table.scale.kind == "continuous":
        return None
    _check(table)
    names = sorted(
        {str(name) for (name,) in table.engine.rows(f"SELECT DISTINCT stratum FROM {table.relation}")}, key=natural
    )
    if len(names) > MOST_STRATA:
        raise RequestError(
            f'--strata "{printable(table.reading.spec.strata)}": {len(names):,} strata; at most {MOST_STRATA} are held apart. '
            "What is a sample of many is a cluster: --cluster COL"
        )
    codes = table.engine.table(
        "strata", {"name": "VARCHAR", "code": "INTEGER"}, [(name, at) for at, name in enumerate(names)]
    )
    q, paired = table.scale.size, table.reading.has_reference
    reference, test = ("reference", f"judge < {q} AND reference < {q}") if paired else ("0", f"judge < {q}")
    found = table.engine.integers(
        f"SELECT c.code AS stratum, unit, {reference} AS reference, judge, count(*) AS n FROM {table.relation} v "
        f"JOIN {codes} c ON c.name = v.stratum WHERE rater = ? AND {test} GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    (slots,) = table.engine.one(f"SELECT count(*) FROM {table.relation} WHERE rater = ?", [rater])
    clusters = table.engine.integers(
        f"SELECT c.code AS stratum, count(DISTINCT cluster) AS n FROM {table.relation} v JOIN {codes} c ON c.name = v.stratum "
        f"WHERE rater = ? AND {test} GROUP BY ALL ORDER BY ALL",
        [rater],
    )
    keys, at = np.unique(found["stratum"] * len(table.units.names) + found["unit"], return_inverse=True)
    tables = np.zeros((len(keys), q if paired else 1, q))
    np.add.at(tables, (at, found["reference"], found["judge"]), found["n"])
    n_clusters = np.zeros(len(names), dtype=np.int64)
    n_clusters[clusters["stratum"]] = clusters["n"]
    n_units = len(table.units.names)
    return Strata(tuple(names), keys // n_units, keys % n_units, tables, int(slots - found["n"].sum()), n_clusters)


def _check(table: VerdictTable) -> None:
    torn = table.engine.rows(
        f"SELECT cluster_id, min(stratum), max(stratum) FROM {table.relation} GROUP BY 1 "
        "HAVING min(stratum) <> max(stratum) ORDER BY 1 LIMIT 1"
    )
    if torn:
        cluster, one, other = (printable(str(text)) for text in torn[0])
        raise KeyClashError(
            f'a cluster lies in one stratum: "{cluster}" lies in "{one}" and in "{other}". Strata are fixed and clusters are '
            "drawn within them: name another column with --strata, or another --cluster"
        )
