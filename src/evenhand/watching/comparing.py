"""Two saved audits in, what changed between them out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.stats.arrays import Counts
from evenhand.watching.change import Change, change_of, side_of, together
from evenhand.watching.comparable import notes, refuse_incomparable
from evenhand.watching.saved import SavedTallies
from evenhand.watching.watched import Watched, chosen, watched

Verdict = Literal["alarm", "no alarm", "undecided"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One number in both audits.

    Attributes:
        id: as in the audits.
        new, old: its values.
        change: new minus old with the interval it has by itself.
        low, high: ends that hold for all watched numbers at once; NaN without.
        p_value: adjusted for all of them; NaN without.
        findable: smallest true change found with 80 % power; NaN without.
        verdict: alarm where the adjusted p is at most the false-alarm rate.
    """

    id: str
    new: float
    old: float
    change: Change
    low: float
    high: float
    p_value: float
    findable: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """All watched numbers of two audits.

    Attributes:
        rows: one a number.
        false_alarm: chance that any of them alarms where none has changed.
        level: confidence level of each interval by itself.
        n_shared, n_new, n_old: clusters of both audits, and of one alone.
        is_grouped: on a side they are random groups of clusters, which meet nobody else's.
        notes: what a reader has to know.
    """

    rows: tuple[Compared, ...]
    false_alarm: float
    level: float
    n_shared: int
    n_new: int
    n_old: int
    is_grouped: bool
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Alarm where one row has one; undecided where no row could be judged."""
        verdicts = {one.verdict for one in self.rows}
        return "alarm" if "alarm" in verdicts else "no alarm" if "no alarm" in verdicts else "undecided"

    @property
    def pairing(self) -> str:
        """How the clusters of both audits meet, in words."""
        if self.is_grouped:
            return f"random groups of clusters ({self.n_new} new, {self.n_old} old) cannot be paired: the audits are taken as independent"
        if not self.n_shared:
            return f"no cluster in common ({self.n_new} new, {self.n_old} old): the audits are taken as independent"
        if not self.n_new and not self.n_old:
            return f"paired on the same {self.n_shared} clusters"
        return f"{self.n_shared} clusters in common are paired; {self.n_new} only new and {self.n_old} only old stand alone"  # fmt: skip


def compare(
    new: SavedTallies, old: SavedTallies, *, ids: Sequence[str] = (), false_alarm: float = 0.05, seed: int = 0
) -> Comparison:
    """What changed, new minus old.

    Args:
        new, old: two audits of one judge.
        ids: what is watched; by default what decisions rest on, as far as both have it.
        false_alarm: chance of any alarm where nothing has changed.
        seed: of the draws behind the family.

    Raises:
        RequestError: audits that are not comparable, or ids that their tallies do not give again.
        SourceError: tallies that are not those of their audit.
    """
    refuse_incomparable(new, old)
    pairs = chosen(new, old, ids)
    places = places_of([new, old])
    level = new.audit.declarations.confidence_level
    changes = [_change(new, old, a, b, places, level) for a, b in pairs]
    family = together(changes, false_alarm, seed)
    rows = []
    for at, (a, b) in enumerate(pairs):
        low, high, p, findable = (float(of[at]) for of in (family.low, family.high, family.p_value, family.findable))
        verdict = _verdict(changes[at], p, false_alarm)
        rows.append(Compared(a.id, a.value, b.value, changes[at], low, high, p, findable, verdict))
    here, there = set(places[0].tolist()), set(places[1].tolist())
    said = (*notes(new, old), *_bank_notes(new, old, places, level))
    shared, only_new, only_old = len(here & there), len(here - there), len(there - here)
    grouped = new.is_grouped or old.is_grouped
    return Comparison(tuple(rows), false_alarm, level, shared, only_new, only_old, grouped, said)


def places_of(audits: Sequence[SavedTallies]) -> list[Counts]:
    """(G,) place of each audit's units among those of all of them; random groups of clusters meet nobody else's."""
    numbers: dict[tuple[int, str], int] = {}
    found = []
    for at, one in enumerate(audits):
        owner = at + 1 if one.is_grouped else 0
        found.append(np.array([numbers.setdefault((owner, name), len(numbers)) for name in one.units], dtype=np.int64))
    return found


def n_places(places: Sequence[Counts]) -> int:
    """How many units there are in all."""
    return 1 + max((int(one.max()) for one in places if len(one)), default=-1)


def _change(
    new: SavedTallies, old: SavedTallies, a: Watched, b: Watched, places: Sequence[Counts], level: float
) -> Change:
    n = n_places(places)
    ours = side_of(a.cells, a.measure, a.sizes, new.units, places[0], n, is_rate=a.is_rate)
    theirs = side_of(b.cells, b.measure, b.sizes, old.units, places[1], n, is_rate=b.is_rate)
    is_same = a.cells.shape == b.cells.shape and new.units == old.units and bool((a.cells == b.cells).all())
    return change_of(ours, theirs, level, is_same=is_same)


def _verdict(change: Change, p_value: float, false_alarm: float) -> Verdict:
    if change.status == "undecided":
        return "undecided"
    return "alarm" if change.status == "ok" and p_value <= false_alarm else "no alarm"


def _bank_notes(new: SavedTallies, old: SavedTallies, places: Sequence[Counts], level: float) -> list[str]:
    """That the bank itself has other labels than before: rates that mix both labels move with it."""
    said: list[str] = []
    for source in (one for one in new.sources if one in old.sources):
        sides = [watched(one, source).get(f"prevalence/{source}") for one in (new, old)]
        if sides[0] is None or sides[1] is None:
            continue
        change = _change(new, old, sides[0], sides[1], places, level)
        if change.status == "ok" and abs(change.estimate) > change.high - change.estimate:
            said.append(
                f"the bank has moved too: the reference is positive in {sides[0].value:.3f} of verdicts, {sides[1].value:.3f} before; "
                "κ, error rate and positive rate move with it, false accept and false reject rates do not"
            )
    return said
