"""What the simulations share on the command line: lists of numbers, a progress bar, a table, and a folder of results."""

import csv
import io
import json
import math
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import Decorator
from evenhand.errors import RequestError, printable

if TYPE_CHECKING:
    from evenhand.output import Kind
    from evenhand.report.svg import Drawing

SCHEMA = "evenhand.simulation/1"
_STEMS = ("sweep", "controls", "phrasing", "loop")
_DRAWINGS = (
    *(
        "kr20-by-spread",
        "phi-control",
        "estimand-control",
        "phi-of-single-studies",
        "loop-recovery",
        "loop-multiplier",
        "loop-attenuation",
    ),
    *(f"loop-recovery-{at}" for at in range(2, 7)),
)
_FURTHER = ("audit.json", "report.html", "report.md", "loop.md", "attenuation.csv")
_PATIENCE = 1.0

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Results:
    """What a simulation found.

    Attributes:
        stem: name of its tables.
        settings: what was asked for, so that the same command gives the same numbers.
        columns: names, units in them.
        rows: one a cell of the design; NaN is undefined.
        drawings: plots.
        note: what the numbers say, a sentence or two.
        texts: further files, by name.
    """

    stem: str
    settings: Mapping[str, object]
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    drawings: "tuple[Drawing, ...]"
    note: str
    texts: Mapping[str, str] = field(default_factory=dict)


def numbers(_ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[float, ...] | None:
    """Numbers apart by commas, as the callback of an option.

    Raises:
        RequestError: something that is no number.
    """
    if value is None:
        return None
    try:
        found = tuple(float(part) for part in value.split(","))
        if not all(map(math.isfinite, found)):
            raise ValueError
    except ValueError:
        name = (option.name or "").replace("_", "-")
        raise RequestError(
            f'--{name} "{printable(value)}" is not a list of numbers; write --{name} 0,0.2,0.4'
        ) from None
    return found


def seed_option(default: int) -> Decorator:
    """The seed of every draw."""
    return click.option("--seed", type=int, default=default, show_default=True, metavar="N", help="Of every draw.")


def out_option(what: str) -> Decorator:
    """Where results go, if anywhere."""
    return click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help=f"Folder for {what}.")


class _Bar:
    """A progress bar that appears only once the work takes longer than a moment, and only before a person."""

    def __init__(self, label: str, total: int) -> None:
        self.label, self.total, self.done = label, total, 0
        self.started = time.monotonic()
        self.bar: Any = None

    def __call__(self, n: int) -> None:
        self.done += n
        if self.bar is not None:
            self.bar.update(n)
        elif sys.stderr.isatty() and time.monotonic() - self.started > _PATIENCE and self.done < self.total:
            self.bar = click.progressbar(length=self.total, label=self.label, file=sys.stderr)
            self.bar.__enter__()
            self.bar.update(self.done)


@contextmanager
def progress(label: str, total: int) -> Iterator[_Bar]:
    """A step to call with the amount of work done; a bar on stderr shows it."""
    bar = _Bar(label, total)
    try:
        yield bar
    finally:
        if bar.bar is not None:
            bar.bar.__exit__(None, None, None)


def kind() -> "Kind":
    """The folder of a simulation."""
    from evenhand.output import Kind

    names = (
        "simulation.json",
        *(f"{stem}.{ending}" for stem in _STEMS for ending in ("csv", "parquet")),
        *(f"{name}.svg" for name in _DRAWINGS),
        *_FURTHER,
    )
    return Kind("simulation", names, "simulation.json", SCHEMA.partition("/")[0])


def check_out(out: Path | None) -> None:
    """Refuse a place before the work, not after it.

    Raises:
        OutputError: something foreign stands there.
    """
    if out is not None:
        from evenhand.output import check_place

        check_place(out, kind=kind())


def refuse_with_published(given: Mapping[str, object]) -> None:
    """The published stream has its own grid, sizes and seed.

    Raises:
        RequestError: an option that would change them was given.
    """
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if named:
        raise RequestError(
            f"--stream published repeats the published simulation, whose grid, sizes and seeds are fixed: leave "
            f"{', '.join(named)} out, or say --stream own"
        )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of plain text, the first flush left."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = []
    for row in (columns, *rows):
        first, *others = (
            cell.ljust(w) if at == 0 else cell.rjust(w) for at, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def wrapped(text: str) -> str:
    """A paragraph no wider than a terminal."""
    return textwrap.fill(text, 110, break_on_hyphens=False)


def grid_text(cells: Mapping[tuple[str, str], str]) -> str:
    """Cells by the names of their row and column, in the order given; what is not there stays empty."""
    rows, columns = (list(dict.fromkeys(key[at] for key in cells)) for at in (0, 1))
    return table(["", *columns], [[row, *(cells.get((row, column), "") for column in columns)] for row in rows])


def text_of(results: Results) -> str:
    """The rows as a table, and what they say."""
    rows = [[cell if isinstance(cell, str) else _number(cell) for cell in row] for row in results.rows]
    return f"{table(results.columns, rows)}\n\n{wrapped(results.note)}"


def _number(value: float) -> str:
    from evenhand.report.tables import plain_number

    return f"{value:,}" if isinstance(value, int) else plain_number(value)


def write_results(results: Results, out: Path) -> None:
    """Write the folder, whole or not at all: CSV, Parquet, JSON and plots.

    Raises:
        OutputError: the place holds something foreign, or cannot be written.
    """
    from evenhand.output import new_folder
    from evenhand.report.standalone import svg_file

    with new_folder(out, kind=kind()) as draft:
        (draft / f"{results.stem}.csv").write_text(
            csv_text([results.columns, *results.rows]), encoding="utf-8", newline=""
        )
        (draft / "simulation.json").write_text(_json(results), encoding="utf-8", newline="\n")
        _write_parquet(results, draft / f"{results.stem}.parquet")
        for drawing in results.drawings:
            (draft / f"{drawing.name}.svg").write_text(svg_file(drawing), encoding="utf-8", newline="\n")
        for name, text in results.texts.items():
            (draft / name).write_text(text, encoding="utf-8", newline="")


def csv_text(rows: Sequence[Sequence[Value]]) -> str:
    """Rows as CSV; what is undefined is empty, and no spreadsheet runs a text."""
    from evenhand.report.csv_tables import safe_text

    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(
        [
            ["" if _undefined(cell) else safe_text(cell) if isinstance(cell, str) else cell for cell in row]
            for row in rows
        ]
    )
    return stream.getvalue()


def _json(results: Results) -> str:
    rows = [[None if _undefined(cell) else cell for cell in row] for row in results.rows]
    found = {
        "schema": SCHEMA,
        "simulation": results.stem,
        "settings": dict(results.settings),
        "columns": list(results.columns),
        "rows": rows,
        "note": results.note,
    }
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _write_parquet(results: Results, path: Path) -> None:
    from evenhand.verdicts.engine import Engine

    kinds = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE"}
    columns = {name: kinds[type(cell)] for name, cell in zip(results.columns, results.rows[0], strict=True)}
    rows = [[None if _undefined(cell) else cell for cell in row] for row in results.rows]
    with Engine() as engine:
        engine.connection.sql(f"SELECT * FROM {engine.table('results', columns, rows)}").write_parquet(str(path))


def _undefined(cell: Value) -> bool:
    return isinstance(cell, float) and not math.isfinite(cell)
