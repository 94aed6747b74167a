"""Sentences that a reader needs before the numbers, beyond the account of rows."""

from collections.abc import Iterator, Sequence

from evenhand.audits import confidence, distances, groups, system_means, weighted_score, wordings
from evenhand.audits.evidence import Evidence
from evenhand.errors import printable
from evenhand.results import Cell, Estimate, Table
from evenhand.tally.quorum import ShortVotes

_NO_ERROR = 1e-12
_MOST_NAMED = 6


def of_judge(evidence: Evidence) -> Iterator[str]:
    """What must be said of one judge's numbers."""
    for part in (confidence, distances, weighted_score, system_means, groups, wordings):
        yield from part.notices(evidence)


def contradictions(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Shares strictly between 0 and 1 with a standard error of exactly 0: certainty that no sample gives."""
    for one in estimates:
        if one.trials is None or one.estimate is None or one.std_error is None or not 0 < one.estimate < 1:
            continue
        if one.std_error < _NO_ERROR:
            yield (
                f"{one.id}: a standard error of 0 contradicts a share of {one.estimate:.4g}: it is the same whichever cluster is left out, "
                "which says nothing of its error"
            )


def of_panel(short: ShortVotes | None) -> Iterator[str]:
    """Which units a quorum keeps from being decided."""
    if short is None or not short.n:
        return
    named = "; ".join(_unit(*row, short.n_judges) for row in short.rows[:_MOST_NAMED])
    more = f"; and {short.n - _MOST_NAMED:,} more" if short.n > _MOST_NAMED else ""
    yield f"--quorum {short.quorum}: {short.n:,} unit(s) with fewer votes are undecided: {named}{more}"


def _unit(response: str, criterion: str, condition: str, votes: int, n_judges: int) -> str:
    said = f'"{printable(response)}"' + (f' criterion "{printable(criterion)}"' if criterion else "")
    said += f" under {printable(condition)}" if condition else ""
    return f"{said} has {votes} of {n_judges}"


def short_votes_table(short: ShortVotes) -> Table:
    """The units short of the quorum, the first of them."""
    rows: tuple[tuple[Cell, ...], ...] = short.rows
    return Table(columns=("response_id", "criterion", "condition", "votes"), rows=rows)
