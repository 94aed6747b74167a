"""Logs into the engine: chunk by chunk in bounded memory, every record counted, with a spec that names the columns."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import SourceError, printable, quoted
from evenhand.importers.files import sha256
from evenhand.importers.records import CANONICAL, EXTRA, LogImporter, Row, Tally
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import FACETS, Spec

CHUNK = 2_000
"""Records that are held as Python objects at a time."""
MOST_HELD = 16 * 2**20
"""Characters of a log's rows in memory beyond which they go to disk."""
MOST_COLUMNS = 200
_KEYS = ("response_id", "criterion_id", "rater_id")
_RUN = (EXTRA + "task_id", "cluster_id", EXTRA + "epoch")
_CREATED = EXTRA + "created"
_APART = {
    EXTRA + "task": ("response_id", "cluster_id"),
    EXTRA + "system": ("response_id",),
    EXTRA + "epoch": ("response_id",),
}
"""What makes a record of the same id another one, and the ids its name is added to where records differ in it."""


@dataclass(frozen=True)
class Logs:
    """Logs of one tool as sources.

    Attributes:
        sources: one a file, all of the same columns; their relations hold every canonical column, used or not.
        spec: what each column is, completed by what the user said.
        counts: file → what became of its records: rows by status, and by reason what is no row.
        notes: what the user should know.
    """

    sources: tuple[Source, ...]
    spec: Spec
    counts: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...]


def read_logs(engine: Engine, importer: LogImporter, paths: Sequence[Path], given: Spec | None = None) -> Logs:
    """Read logs of one tool.

    Args:
        engine: where their rows are held.
        importer: of that tool.
        paths: the logs.
        given: what the user said; comes before what the logs say.

    Logs of an interrupted run and of its resumption overlap: of each sample the newest log's verdicts count. Logs of
    several tasks, systems or epochs have these added to their response ids.

    Raises:
        SourceError: a log that is damaged, or holds no verdict.
    """
    tables = [_read(engine, importer, path) for path in paths]
    _align(tables)
    for table in tables:
        table.settle()
        _check(table, importer)
    _drop_superseded(engine, tables)
    notes = [*_layout_note(importer, tables), *importer.notes, *_told_apart(engine, tables)]
    union = " UNION ALL BY NAME ".join(f"SELECT * FROM {table.name}" for table in tables)
    rows = engine.name("log_rows")
    engine.run(f"CREATE TEMP VIEW {rows} AS {union}")
    roles, said = _roles(engine, rows)
    labels = frozenset(
        str(value) for (value,) in engine.rows(f"SELECT DISTINCT value FROM {rows} WHERE status = 'scored'")
    )
    spec = Spec(response=("response_id",), rater="rater_id", rater_kind="rater_kind", verdict="value", status="status")
    own = bool(given and (given.verdict or given.parse))  # the log's labels are not what is read then
    spec = completed(given or Spec(), spec.model_copy(update={**roles, **({} if own else importer.scale(labels))}))
    columns = _columns_in_use(engine, rows, tables[0], spec)
    sources = tuple(
        Source(path.name, table.name, columns, sha256(path)) for path, table in zip(paths, tables, strict=True)
    )
    return Logs(
        sources, spec, {table.shown: table.counts() for table in tables}, (*notes, *said, *_mixed(engine, rows))
    )


def completed(given: Spec, found: Spec) -> Spec:
    """A log's spec under the user's: a field that the user left at its default takes the log's."""
    plain = Spec()
    said = {name: getattr(given, name) for name in Spec.model_fields if getattr(given, name) != getattr(plain, name)}
    return found.model_copy(update=said)


@dataclass
class _Table:
    """Rows of one log in the engine; columns are added as they turn up, and rows that hold much text go to disk.

    Attributes:
        engine: where they are held.
        shown: the log's name.
        tally: what became of records that are no row.
        columns: name → column; None where there are too many.
        name: of the relation, once it is settled.
    """

    engine: Engine
    shown: str
    tally: Tally = field(default_factory=Counter)
    columns: dict[str, str | None] = field(default_factory=dict)
    name: str = ""
    _rows: str = ""
    _parts: list[str] = field(default_factory=list)
    _held: int = 0

    def __post_init__(self) -> None:
        self.columns |= {name: name for name in CANONICAL}
        self._start()

    def _start(self) -> None:
        self._rows, self._held = self.engine.name("log_rows"), 0
        listed = ", ".join(f"{quote(column)} VARCHAR" for column in self.columns.values() if column)
        self.engine.run(f"CREATE TEMP TABLE {self._rows} ({listed})")

    def add(self, rows: Sequence[Row]) -> None:
        """Append rows."""
        if self._held > MOST_HELD:
            self._parts.append(self.engine.on_disk(f"SELECT * FROM {self._rows}"))
            self.engine.run(f"DROP TABLE {self._rows}")
            self._start()
        names = dict.fromkeys(name for row in rows for name in row)
        placed = {column: name for name in names if (column := self.column(name)) is not None}
        arrays = {column: _texts([row.get(name) for row in rows]) for column, name in placed.items()}
        listed = ", ".join(quote(column) for column in arrays)
        cast = ", ".join(f"{quote(column)}::VARCHAR" for column in arrays)
        with self.engine.holding(arrays) as held:
            self.engine.run(f"INSERT INTO {self._rows} ({listed}) SELECT {cast} FROM {held}")
        self._held += sum(len(value) for row in rows for value in row.values() if value is not None)

    def settle(self) -> None:
        """Make the relation of all rows and columns."""
        self.replace(" UNION ALL BY NAME ".join([*self._parts, f"SELECT * FROM {self._rows}"]))

    def replace(self, select: str) -> None:
        """Put a query of the same columns in the relation's place."""
        self.name, listed = self.engine.name("log"), ", ".join(quote(one) for one in self.columns.values() if one)
        self.engine.run(f"CREATE TEMP VIEW {self.name} AS SELECT {listed} FROM ({select})")

    def column(self, name: str) -> str | None:
        """The column of a name, made where it is new; names that differ in case alone stay apart."""
        if name not in self.columns:
            taken = {column.casefold() for column in self.columns.values() if column}
            column, number = name, 2
            while column.casefold() in taken:
                column, number = f"{name} {number}", number + 1
            if len(self.columns) < MOST_COLUMNS:
                self.engine.run(f"ALTER TABLE {self._rows} ADD COLUMN {quote(column)} VARCHAR")
                self.columns[name] = column
            else:
                self.columns[name] = None
                self.tally[f"further fields beyond {MOST_COLUMNS} columns, not carried along"] += 1
        return self.columns[name]

    def counts(self) -> dict[str, int]:
        """Rows by status, then what is no row."""
        found = self.engine.rows(f"SELECT status, count(*) FROM {self.name} GROUP BY 1 ORDER BY 1")
        statuses = {str(status): int(count) for status, count in found}
        return {
            "verdicts": sum(statuses.values()),
            **statuses,
            **{name: count for name, count in self.tally.items() if count},
        }


def _read(engine: Engine, importer: LogImporter, path: Path) -> _Table:
    table = _Table(engine, printable(path.name))
    rows = importer.rows(path, table.tally)
    while chunk := list(islice(rows, CHUNK)):
        table.add(chunk)
    return table


def _check(table: _Table, importer: LogImporter) -> None:
    """Refuse a log without verdicts, and verdicts without their ids."""
    engine = table.engine
    (count,) = engine.one(f"SELECT count(*) FROM {table.name}")
    if not count:
        said = "".join(f"; {name}: {number:,}" for name, number in table.tally.items())
        raise SourceError(f"{table.shown}: no verdict in this {importer.name} log{said}")
    for key in _KEYS:
        lacking = engine.rows(f"SELECT source_row FROM {table.name} WHERE {key} IS NULL OR trim({key}) = '' LIMIT 1")
        if lacking:
            raise SourceError(f"{table.shown}: record {lacking[0][0]} has no {key}, and none is invented")


def _texts(values: list[str | None]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _align(tables: Sequence[_Table]) -> None:
    """Give every log the columns of all."""
    for table in tables:
        for other in tables:
            for name in list(other.columns):
                table.column(name)


def _drop_superseded(engine: Engine, tables: Sequence[_Table]) -> None:
    """Of a sample that stands in several logs of one run, keep the newest log's verdicts."""
    if len(tables) < 2 or not all(table.columns.get(name) for table in tables for name in (*_RUN, _CREATED)):
        return
    keys = ", ".join(quote(name) for name in _RUN)
    union = " UNION ALL ".join(
        f"SELECT {keys}, try_cast({quote(_CREATED)} AS TIMESTAMP) AS born, {number} AS k FROM {table.name} WHERE {quote(_RUN[0])} IS NOT NULL"
        for number, table in enumerate(tables)
    )
    newest = engine.name("newest")
    engine.run(
        f"CREATE TEMP TABLE {newest} AS SELECT {keys}, max_by(k, (coalesce(born, '-infinity'::TIMESTAMP), k)) AS k FROM ({union}) GROUP BY ALL"
    )
    met = " AND ".join(f"t.{quote(name)} = n.{quote(name)}" for name in _RUN)
    for number, table in enumerate(tables):
        (count,) = engine.one(f"SELECT count(*) FROM {table.name} t JOIN {newest} n ON {met} WHERE n.k <> {number}")
        if count:
            table.tally["superseded by a newer log of the same run, left out"] += count
            table.replace(f"SELECT t.* FROM {table.name} t ANTI JOIN (FROM {newest} WHERE k <> {number}) n ON {met}")


def _told_apart(engine: Engine, tables: Sequence[_Table]) -> Iterator[str]:
    """Add task, system and epoch to the ids where records differ in them."""
    for name, ids in _APART.items():
        column = quote(name)
        if not all(table.columns.get(name) for table in tables):
            continue
        union = " UNION ".join(
            f"SELECT DISTINCT {column} AS name FROM {table.name} WHERE {column} IS NOT NULL" for table in tables
        )
        found = sorted(str(one) for (one,) in engine.rows(union))
        if len(found) > 1:
            added = ", ".join(f"{one} || ' | ' || coalesce({column}, '') AS {one}" for one in ids)
            for table in tables:
                table.replace(f"SELECT * REPLACE ({added}) FROM {table.name}")
            yield f"records differ in {name.removeprefix(EXTRA)} ({quoted(found, 4)}): it is added to {' and '.join(ids)}"


def _roles(engine: Engine, rows: str) -> tuple[dict[str, Any], list[str]]:
    """Roles these rows use: clusters that group, criteria that differ, facets under which one response was judged twice."""
    responses, clusters, criteria, own = engine.one(
        "SELECT count(DISTINCT response_id), count(DISTINCT cluster_id), count(DISTINCT criterion_id), "
        f"count(*) FILTER (criterion_id <> rater_id) FROM {rows}"
    )
    roles: dict[str, Any] = {}
    notes = []
    if 0 < clusters < responses:
        roles["cluster"] = "cluster_id"
    if criteria > 1 and own:
        roles["criterion"] = "criterion_id"
    elif criteria > 1:
        notes.append(
            f"{criteria} scorers are read as {criteria} raters of the same responses; "
            "where each looks at something else, --criterion criterion_id keeps them apart"
        )
    varying = ", ".join(f"max(n_{name})" for name in FACETS)
    counted = ", ".join(f"count(DISTINCT {quote(name)}) AS n_{name}" for name in FACETS)
    most = engine.one(
        f"SELECT {varying} FROM (SELECT {counted} FROM {rows} GROUP BY rater_id, response_id, criterion_id)"
    )
    roles |= {name: name for name, count in zip(FACETS, most, strict=True) if count > 1}
    return roles, notes


def _mixed(engine: Engine, rows: str) -> Iterator[str]:
    """Marks beside words: no scale holds both, so no number over all of them means anything."""
    found = engine.rows(
        "SELECT rater_id, criterion_id, bool_and(try_cast(value AS DOUBLE) IS NOT NULL) AS marks "
        f"FROM {rows} WHERE status = 'scored' GROUP BY ALL ORDER BY ALL"
    )
    sides = {
        kind: [f"{rater} on {criterion}" for rater, criterion, marks in found if marks is kind]
        for kind in (True, False)
    }
    if all(sides.values()):
        yield (
            f"two scales in one log: numbers from {quoted(sides[True], 4)}, words from {quoted(sides[False], 4)}; what is "
            "computed over both means nothing: convert the log and audit each by itself"
        )


def _columns_in_use(engine: Engine, rows: str, table: _Table, spec: Spec) -> tuple[str, ...]:
    """Columns that hold something, but for keys and facets that these rows do not use."""
    idle = {"cluster_id", "criterion_id", *FACETS} - {spec.cluster, spec.criterion, *spec.facets}
    listed = [column for column in table.columns.values() if column and column not in idle]
    counts = engine.one(f"SELECT {', '.join(f'count({quote(column)})' for column in listed)} FROM {rows}")
    return tuple(column for column, count in zip(listed, counts, strict=True) if count)


def _layout_note(importer: LogImporter, tables: Sequence[_Table]) -> Iterator[str]:
    unmet = sorted(name for name in importer.unverified if any(table.tally[name] for table in tables))
    if not importer.verified or unmet:
        of = f" of {' and '.join(unmet)}" if importer.verified else ""
        yield (
            f"{importer.name}: unverified layout{of}: this importer follows the tool's documentation and has not met one of its "
            "own files; compare the counts with the tool's"
        )
