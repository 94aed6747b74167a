"""``evenhand check --against``: audits of one judge over time, on the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli.simulating import table, wrapped
from evenhand.errors import RequestError, printable
from evenhand.output import check_place
from evenhand.watching import pages
from evenhand.watching.charting import draw_charts
from evenhand.watching.comparing import compare
from evenhand.watching.control import FEWEST
from evenhand.watching.run_length import LEAST_WEIGHT
from evenhand.watching.saved import SavedTallies, in_time, load_history, load_saved

_CODES = {"alarm": 1, "no alarm": 0, "undecided": 2}


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched, and how strictly.

    Attributes:
        ids: empty for the defaults.
        false_alarm: chance of any alarm where nothing has changed, between 0 and 0.5.
        weight: of the newest audit in a moving average, in [0.01, 1].
        seed: of every draw.

    Raises:
        RequestError: a number out of its range.
    """

    ids: tuple[str, ...]
    false_alarm: float
    weight: float
    seed: int

    def __post_init__(self) -> None:
        if not 0 < self.false_alarm < 0.5:
            raise RequestError(f"--false-alarm {self.false_alarm:g}: a chance between 0 and 0.5, such as 0.05")
        if not LEAST_WEIGHT <= self.weight <= 1:
            raise RequestError(f"--ewma-weight {self.weight:g}: a weight from {LEAST_WEIGHT:g} to 1, such as 0.2")
        if self.seed < 0:
            raise RequestError(f"--seed {self.seed}: 0 or more")


def watch(
    place: Path, earlier: Sequence[Path], history: Path | None, asked: Watch, out: Path | None, *, as_json: bool
) -> int:
    """Compare an audit with earlier ones, print what came of it, and return the exit code.

    Raises:
        EvenhandError: the audits cannot be compared.
    """
    if out is not None:
        check_place(out, kind=pages.KIND)
    new = load_saved(place)
    listed = [*earlier, *(load_history(history, place) if history is not None else [])]
    olds = [load_saved(one) for one in listed]
    if len(olds) >= FEWEST:
        return _chart(new, olds, asked, out, as_json=as_json)
    return _compare(new, in_time(olds)[-1], asked, out, n_earlier=len(olds), as_json=as_json)


def _compare(
    new: SavedTallies, old: SavedTallies, asked: Watch, out: Path | None, *, n_earlier: int, as_json: bool
) -> int:
    found = compare(new, old, ids=asked.ids, false_alarm=asked.false_alarm, seed=asked.seed)
    document = pages.comparison_document(found, new.place, old.place)
    if as_json:
        click.echo(pages.to_json(document), nl=False)
    else:
        columns = ["id", "old", "new", "change", "from", "to", "p", "findable", "verdict"]
        _print(f"{new.place} against {old.place}", pages.comparison_sentences(found))
        click.echo(printable_lines(table(columns, pages.comparison_rows(found))))
        said = [*found.notes, *pages.reasons(found)]
        if n_earlier > 1:
            said.append(f"{n_earlier} earlier audits are too few for the limits of a chart ({FEWEST} or more): held against the latest alone")  # fmt: skip
        _notes(said)
    if out is not None:
        pages.write_sheet(document, pages.comparison_sheet(found, new.place, old.place), out)
    unmet = bool(asked.ids) and any(one.verdict == "undecided" for one in found.rows)
    code = _CODES[found.verdict]
    return 2 if unmet and code == 0 else code


def _chart(new: SavedTallies, olds: Sequence[SavedTallies], asked: Watch, out: Path | None, *, as_json: bool) -> int:
    found = draw_charts(new, olds, ids=asked.ids, false_alarm=asked.false_alarm, weight=asked.weight)
    document = pages.charting_document(found)
    if as_json:
        click.echo(pages.to_json(document), nl=False)
    else:
        _print(f"{new.place} after {len(olds)} earlier audits", pages.charting_sentences(found))
        click.echo(printable_lines(table(list(pages.SUMMARY_COLUMNS), pages.summary_rows(found))))
        _notes([*found.notes, *_latest(new, in_time(olds)[-1], asked)])
    if out is not None:
        pages.write_sheet(document, pages.charting_sheet(found), out)
    return _CODES[found.verdict]


def _latest(new: SavedTallies, old: SavedTallies, asked: Watch) -> list[str]:
    """That the latest earlier audit alone would raise an alarm, which limits from few audits may not."""
    found = compare(new, old, ids=asked.ids, false_alarm=asked.false_alarm, seed=asked.seed)
    moved = [one.id for one in found.rows if one.verdict == "alarm"]
    if not moved:
        return []
    said = (
        f"against {old.place} alone there is an alarm ({', '.join(moved)}): --against it by itself shows the changes; the chart's "
        "limits also allow for what sets audits apart without a change, of which few audits say little"
    )
    return [said]


def _print(title: str, sentences: Sequence[str]) -> None:
    click.echo(printable(title))
    for sentence in sentences:
        click.echo(wrapped(printable(sentence)))
    click.echo("")


def _notes(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(wrapped(f"note  {printable(note)}"))


def printable_lines(text: str) -> str:
    """A table of our own making whose cells may hold text of the data."""
    return "\n".join(map(printable, text.split("\n")))
