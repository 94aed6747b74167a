"""Many saved audits in, a control chart of each watched number out."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.watching.change import side_of
from evenhand.watching.comparable import notes, refuse_incomparable
from evenhand.watching.comparing import Verdict, n_places, places_of
from evenhand.watching.control import EWMA_WEIGHT, Chart, chart
from evenhand.watching.saved import SavedTallies, in_time
from evenhand.watching.watched import chosen


@dataclass(frozen=True, slots=True)
class Charted:
    """A number and its chart."""

    id: str
    chart: Chart

    @property
    def verdict(self) -> Verdict:
        """Alarm where the newest audit or its moving average lies outside."""
        if self.chart.reason:
            return "undecided"
        return "alarm" if self.chart.is_outside or self.chart.has_drifted else "no alarm"


@dataclass(frozen=True, slots=True)
class Charting:
    """The charts of one judge.

    Attributes:
        charts: one a watched number.
        places: (n,) where each audit was found, in time order, the newest last.
        started: (n,) when each was made; empty where that is not known.
        false_alarm: chance of any alarm in one audit where nothing has changed.
        weight: of the newest value in the moving average.
        notes: what a reader has to know.
    """

    charts: tuple[Charted, ...]
    places: tuple[str, ...]
    started: tuple[str, ...]
    false_alarm: float
    weight: float
    notes: tuple[str, ...]

    @property
    def alarms(self) -> list[str]:
        """What each alarm is, in words."""
        return [
            f"{one.id} {'lies outside its limits' if one.chart.is_outside else 'has drifted: its moving average lies outside'}"
            for one in self.charts
            if one.verdict == "alarm"
        ]

    @property
    def verdict(self) -> Verdict:
        """Alarm where one chart has one; undecided where none has limits."""
        verdicts = {one.verdict for one in self.charts}
        return "alarm" if "alarm" in verdicts else "no alarm" if "no alarm" in verdicts else "undecided"


def draw_charts(
    new: SavedTallies,
    earlier: Sequence[SavedTallies],
    *,
    ids: Sequence[str] = (),
    false_alarm: float = 0.05,
    weight: float = EWMA_WEIGHT,
) -> Charting:
    """Chart each watched number over all audits.

    Args:
        new: the audit in question.
        earlier: the history, in any order where all audits say when they were made.
        ids: what is watched; by default what decisions rest on, as far as all audits have it.
        false_alarm: chance of any alarm in one audit where nothing has changed, shared equally by all charts and rules.
        weight: of the newest value in the moving average.

    Raises:
        RequestError: audits that are not comparable, or nothing that all of them have.
    """
    for one in earlier:
        refuse_incomparable(new, one)
    audits = [*in_time(earlier), new]
    by_audit = [{a.id: b for a, b in chosen(new, one, ids)} for one in audits]
    names = [name for name in by_audit[-1] if all(name in found for found in by_audit)]
    places = places_of(audits)
    n = n_places(places)
    charts = []
    for name in names:
        sides = [
            side_of(
                found[name].cells, found[name].measure, found[name].sizes, one.units, at, n, is_rate=found[name].is_rate
            )
            for found, one, at in zip(by_audit, audits, places, strict=True)
        ]
        charts.append(Charted(name, chart(sides, false_alarm / len(names), weight, by_audit[-1][name].domain)))
    said = list(dict.fromkeys(words for one in audits[:-1] for words in notes(new, one)))
    if new.started and any(one.started > new.started for one in audits[:-1]):
        said.append(
            "an earlier audit was made after the new one, by their own dates: the new one stands last all the same"
        )
    if not all(one.started for one in audits):
        said.append("not every audit says when it was made: they stand in the order given")
    return Charting(
        tuple(charts), tuple(one.place for one in audits), tuple(one.started for one in audits), false_alarm, weight, tuple(said)
    )  # fmt: skip
