"""Single verdicts on which judge and reference differ, for the few a reader will look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.verdicts.table import VerdictTable


@dataclass(frozen=True, slots=True)
class ErrorSlot:
    """One verdict: where it is, and both labels' codes."""

    line: int
    response: str
    criterion: int
    judge: int
    reference: int


def errors_on_lines(
    table: VerdictTable, rater: int, lines: Sequence[int], *, per_cluster: bool, most: int
) -> list[ErrorSlot]:
    """Errors of one judge on some lines.

    Args:
        table: the verdict table.
        rater: the judge's position.
        lines: packed lines: cluster · K + criterion where checklists differ by cluster, else the criterion.
        per_cluster: which of the two.
        most: errors a line, the first ones by response id.
    """
    q, k = table.scale.size, len(table.reading.criteria)
    line = f"cluster * {k} + criterion" if per_cluster else "criterion"
    wanted = table.engine.table(
        "lines", {"line": "BIGINT", "rank": "INTEGER"}, [(one, rank) for rank, one in enumerate(lines)]
    )
    found = table.engine.rows(
        f"SELECT w.line, s.response, s.criterion, s.judge, s.reference FROM (SELECT *, {line} AS line FROM {table.relation} "
        f"WHERE rater = ? AND judge <> reference AND judge < {q} AND reference < {q}) s JOIN {wanted} w USING (line) "
        f"QUALIFY row_number() OVER (PARTITION BY w.line ORDER BY s.response, s.condition) <= {most} "
        "ORDER BY w.rank, s.response, s.condition",
        [rater],
    )
    return [ErrorSlot(*row) for row in found]
