"""Units that a panel would decide with fewer votes than its quorum, by name."""

from dataclasses import dataclass

from evenhand.errors import RequestError
from evenhand.verdicts.table import VerdictTable

MOST_NAMED = 200


@dataclass(frozen=True, slots=True)
class ShortVotes:
    """Rated units with a vote or more, and fewer than the quorum.

    Attributes:
        quorum: votes that are needed.
        n_judges: votes there could be.
        n: how many units there are.
        rows: (response, criterion, condition, votes) of the first of them.
    """

    quorum: int
    n_judges: int
    n: int
    rows: tuple[tuple[str, str, str, int], ...]


def find_short_votes(table: VerdictTable) -> ShortVotes | None:
    """The units short of the quorum; None where none is set or there is no panel."""
    quorum, n_judges = table.reading.spec.quorum, len(table.reading.raters)
    if quorum is not None and quorum > n_judges:
        raise RequestError(
            f"--quorum {quorum}: there are {n_judges} judge(s), so no unit could ever be decided; name at most {n_judges}"
        )
    if quorum is None or n_judges < 2:
        return None
    found = table.engine.rows(
        f"SELECT response, criterion, condition, votes, count(*) OVER () FROM (SELECT response, criterion, condition, "
        f"count(*) FILTER (judge < {table.scale.size}) AS votes FROM {table.relation} GROUP BY ALL) "
        f"WHERE votes BETWEEN 1 AND {quorum - 1} ORDER BY response, criterion, condition LIMIT {MOST_NAMED}"
    )
    names = table.reading.criteria
    rows = tuple((str(one), names[at], str(condition), int(votes)) for one, at, condition, votes, _ in found)
    return ShortVotes(quorum, n_judges, int(found[0][-1]) if found else 0, rows)
