"""The Python face of saved audits: what changed between two of them, and which defects one of this size would catch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.errors import RequestError, did_you_mean, printable, quoted
from evenhand.selftesting.planting import Planted
from evenhand.selftesting.testing import Selftest, plan, run_plan, sentences
from evenhand.watching import pages
from evenhand.watching.comparing import Compared, Comparison
from evenhand.watching.comparing import compare as comparison
from evenhand.watching.saved import load_saved


@dataclass(frozen=True)
class ComparisonResult:
    """What changed between two audits; by id: ``found["cohen_kappa/judge"].change.estimate``.

    Attributes:
        verdict: ``alarm``, ``no alarm`` or ``undecided``, as ``evenhand check --against`` calls it.
        comparison: everything, with pairing and notes.
    """

    verdict: str
    comparison: Comparison = field(repr=False)

    def __getitem__(self, name: str) -> Compared:
        """One watched number.

        Raises:
            RequestError: it was not watched.
        """
        rows = {one.id: one for one in self.comparison.rows}
        if name not in rows:
            raise RequestError(f'"{printable(name)}" was not watched{did_you_mean(name, list(rows))}')
        return rows[name]

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.comparison.rows)

    def __str__(self) -> str:
        return "\n".join(map(printable, pages.comparison_sentences(self.comparison)))


def compare(
    new: str | Path, old: str | Path, *, ids: Sequence[str] = (), false_alarm: float = 0.05, seed: int = 0
) -> ComparisonResult:
    """What changed between two saved audits of one judge, new minus old.

    Args:
        new, old: folders that ``evenhand audit --out`` wrote.
        ids: what is watched; by default what decisions rest on, as far as both have it.
        false_alarm: chance of any alarm where nothing has changed, between 0 and 0.5.
        seed: of the draws behind the family of numbers.

    Raises:
        RequestError: audits that cannot be compared, ids that they do not hold, a chance out of its range.
        SourceError: no audit there, or damaged tallies.
    """
    if not 0 < false_alarm < 0.5:
        raise RequestError(f"false_alarm = {false_alarm:g}: a chance between 0 and 0.5, such as 0.05")
    found = comparison(load_saved(Path(new)), load_saved(Path(old)), ids=ids, false_alarm=false_alarm, seed=seed)
    return ComparisonResult(found.verdict, found)


@dataclass(frozen=True)
class SelftestResult:
    """Which planted defects an audit of this size would catch; iterate for one size of one defect at a time."""

    selftest: Selftest = field(repr=False)

    def __iter__(self) -> Iterator[Planted]:
        return iter(self.selftest.planted)

    def __str__(self) -> str:
        return "\n".join(map(printable, sentences(self.selftest)))


def selftest(audit: str | Path, *, judge: str | None = None, worlds: int = 200, seed: int = 0) -> SelftestResult:
    """Plant known defects in the bank of a saved audit.

    Args:
        audit: a folder that ``evenhand audit --out`` wrote.
        judge: whose bank it is, where there are several.
        worlds: of each size of each defect.
        seed: of the worlds.

    Raises:
        RequestError: the data cannot carry any defect, no such judge, a number out of its range.
        SourceError: no audit there, or damaged tallies.
    """
    saved = load_saved(Path(audit))
    if not saved.sources:
        raise RequestError("selftest found no verdict of a judge")
    if judge is not None and judge not in saved.sources:
        raise RequestError(f'"{printable(judge)}": no such judge; there are {quoted(saved.sources)}')
    made = plan(saved, judge or saved.sources[0], seed)
    return SelftestResult(run_plan(made, worlds, seed, lambda _done: None))
