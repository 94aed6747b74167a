"""Strengths of many systems from verdicts on pairs of them, each judged by the wins over every other (Bradley-Terry)."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Describes, Estimate, Table
from evenhand.stats import pairwise
from evenhand.stats.arrays import Array
from evenhand.stats.scales import IDENTITY
from evenhand.tally.systems import Systems

ORDER = 58
_NONE = "no finite strengths: some systems never beat, or never lose to, the others (a tie counts half)"


@dataclass(frozen=True)
class _Fits:
    """Strengths of win matrices, fitted once for all systems."""

    known: dict[bytes, Array] = field(default_factory=dict)

    def of(self, position: int, wins: Array) -> Array:
        """(..., S, S) wins → (...) strength of one system."""
        key = hashlib.blake2b(np.ascontiguousarray(wins).tobytes()).digest() + bytes(str(wins.shape), "ascii")
        if key not in self.known:
            self.known[key] = pairwise.bradley_terry(wins)
        return self.known[key][..., position]


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """The strength of each system by the judge's verdicts, and by the reference's on the pairs that both judge."""
    systems = evidence.systems
    if systems is None:
        return
    if systems.obstacle or len(systems.names) < 2:
        absent = exact(
            evidence, "bradley_terry", None, unit="response", describes="bank", estimand="strengths of the systems compared, by {judge}",
            reason=systems.obstacle or "one system only, compared with itself",
        )  # fmt: skip
        yield absent.model_copy(update={"status": "not_assessed"})
        return
    sides: list[tuple[str, str, Describes]] = [("judge", evidence.source, "judge")]
    sides += [("reference", evidence.reference_source, "reference")] if evidence.has_reference else []
    for side, source, describes in sides:
        wins, fits = systems.wins(side), _Fits()
        sizes = wins.sum(axis=(1, 2))
        left = int(systems.count.sum() - sizes.sum()) + systems.n_same + systems.n_without
        whose = "{judge}'s" if side == "judge" else "the reference's"
        for position, name in enumerate(systems.names):
            yield assess(
                evidence,
                Statistic("bradley_terry", partial(fits.of, position), IDENTITY, describes,
                    f"log strength of {name} among {len(systems.names)} systems by {whose} verdicts (Bradley–Terry, mean 0): the difference "
                    "of two is the log odds that one beats the other, a tie counting as half a win", "response", counted=False),
                wins, undefined=_NONE, source=source, sizes=sizes, params={"system": name}, n_excluded=left,
            )  # fmt: skip


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """The win matrix, by the judge's verdicts and by the reference's."""
    systems = evidence.systems
    if systems is None or systems.obstacle:
        return
    sides = [("judge", evidence.source)] + (
        [("reference", evidence.reference_source)] if evidence.has_reference else []
    )
    for side, source in sides:
        yield f"wins/{source}", _matrix(systems, side)


def _matrix(systems: Systems, side: str) -> Table:
    wins = systems.wins(side).sum(axis=0)
    rows = [
        (one, other, float(wins[a, b]), int(wins[a, b] + wins[b, a]))
        for a, one in enumerate(systems.names)
        for b, other in enumerate(systems.names)
        if a != b and wins[a, b] + wins[b, a] > 0
    ]
    return Table(columns=("system", "against", "wins", "n"), rows=tuple(rows))
