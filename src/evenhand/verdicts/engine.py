"""The embedded engine: one DuckDB connection that loads nothing, asks nothing and prints nothing.

Identifiers reach SQL through :func:`quote` alone; values reach it as parameters, or as rows of a registered array.
"""

import re
import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb

from evenhand.errors import RequestError, SourceError, printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ABOUT_DATA = (
    duckdb.IOException,
    duckdb.InvalidInputException,
    duckdb.ConversionException,
    duckdb.OutOfMemoryException,
)
_ROW_GROUP = 10_000
_MEMORY = "200MB"
_MOST_MEMORY = "500MB"
"""Beyond which rows overflow onto disk: ten million responses are audited in less than 1 GB."""
_QUERY = re.compile(r"\s+LINE \d+: .*", re.DOTALL)
_FOLDERS = re.compile(r"(?<![^\s\"'(])/(?:[^/\s\"']+/)+")


def without_folders(message: str) -> str:
    """A message of the engine without the folders of the files it names, and without the query it quotes.

    >>> without_folders('cannot open "/home/me/verdicts.csv"')
    'cannot open "verdicts.csv"'
    """
    return _FOLDERS.sub("", _QUERY.sub("", message))


def quote(identifier: str) -> str:
    """An identifier as it may stand in SQL, whatever characters it holds."""
    return '"' + identifier.replace('"', '""') + '"'


def _is_about_data(problem: BaseException | None) -> bool:
    return isinstance(problem, _ABOUT_DATA) or type(problem) is duckdb.Error  # the latter of a damaged Parquet page


def _unreadable(problem: BaseException | None) -> SourceError:
    said = printable(without_folders(" ".join(str(problem).split())))[:300]
    return SourceError(f"the data cannot be read to the end: {said}")


class Engine:
    """A private in-memory database; close it, or use it as a context."""

    def __init__(self) -> None:
        overflow = (
            Path(gettempdir()) / f"evenhand-{uuid4().hex}"
        )  # made when memory runs out, and never in the user's folder
        weakref.finalize(self, shutil.rmtree, overflow, ignore_errors=True)
        settings = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": _MOST_MEMORY,
        }
        self.connection = duckdb.connect(":memory:", config={**settings, "temp_directory": str(overflow)})
        self.connection.execute("SET enable_progress_bar = false")
        self._names, self._closed = 0, False
        self._scratch: Path | None = None

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, _kind: object, problem: BaseException | None, _trace: object) -> None:
        """Close; what the engine cannot read or hold becomes a sentence.

        Raises:
            SourceError: instead of the engine's own error about the data, the disk or the memory.
        """
        self.close()
        if _is_about_data(problem):
            raise _unreadable(problem) from None

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """A block in which the engine's own errors about the data become sentences; the engine stays open.

        Raises:
            SourceError: instead of the engine's own error about the data, the disk or the memory.
            RequestError: it was closed before.
        """
        if self._closed:
            raise RequestError("what was read is closed and gone: read the sources again")
        try:
            yield
        except duckdb.Error as problem:
            if _is_about_data(problem):
                raise _unreadable(problem) from None
            raise

    def close(self) -> None:
        """Let everything go that is held; a second time does nothing."""
        self._closed = True
        self.connection.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def name(self, stem: str) -> str:
        """A fresh relation name."""
        self._names += 1
        return f"{stem}_{self._names}"

    def scratch(self) -> Path:
        """A folder for what does not fit in memory; gone when the engine closes or is let go."""
        if self._scratch is None:
            self._scratch = Path(mkdtemp(prefix="evenhand-"))
            weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        return self._scratch

    def held(self, stem: str, query: str) -> str:
        """The rows of a query, made once: in memory, or on disk where sources already are; returns the relation's name."""
        name = self.name(stem)
        if not self.is_large:
            self.run(f"CREATE TEMP TABLE {name} AS {query}")
        else:
            self.run(f"CREATE TEMP VIEW {name} AS {self.on_disk(query)}")
        return name

    def on_disk(self, query: str) -> str:
        """The rows of a query in a file beside memory, by column, gone with the engine; returns the SQL that reads them."""
        place = str(self.scratch() / f"{self.name('rows')}.parquet").replace("'", "''")
        self.bounded(f"COPY ({query}) TO '{place}' (FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE {_ROW_GROUP})")
        return f"SELECT * FROM read_parquet('{place}', hive_partitioning = false)"

    def bounded(self, sql: str) -> None:
        """Execute a statement over rows that need not fit in memory: what is sorted or grouped goes to disk beyond a limit.

        A statement that cannot be done so is done in memory.
        """
        limit = self.one("SELECT current_setting('memory_limit')")[0]
        self.run("SET threads = 1")  # every thread would hold a row group; one is as fast and bounded
        self.run(f"SET memory_limit = '{_MEMORY}'")
        try:
            self.run(sql)
        except duckdb.OutOfMemoryException:
            self.run(f"SET memory_limit = '{limit}'")
            self.run(sql)
        finally:
            self.run(f"SET memory_limit = '{limit}'")
            self.run("RESET threads")

    @property
    def is_large(self) -> bool:
        """Whether sources were so large that their rows stand on disk."""
        return self._scratch is not None

    def run(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Execute a statement."""
        self.connection.execute(sql, list(parameters))

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.connection.execute(sql, list(parameters)).fetchall()

    def one(self, sql: str, parameters: Sequence[object] = ()) -> tuple[Any, ...]:
        """The single row of a query."""
        (row,) = self.rows(sql, parameters)
        return row

    def integers(self, sql: str, parameters: Sequence[object] = ()) -> "dict[str, NDArray[np.int64]]":
        """Columns of a query of integers, none of them null."""
        import numpy as np  # not loaded where rows are only read and written, as in a run of calls

        fetched = self.connection.execute(sql, list(parameters)).fetchnumpy()
        return {name: np.ascontiguousarray(column, dtype=np.int64) for name, column in fetched.items()}

    def table(self, stem: str, columns: Mapping[str, str], rows: Iterable[Sequence[object]]) -> str:
        """A new table of these typed columns and rows; returns its name."""
        name = self.name(stem)
        declared = ", ".join(f"{quote(column)} {kind}" for column, kind in columns.items())
        self.run(f"CREATE TEMP TABLE {name} ({declared})")
        listed = [list(row) for row in rows]
        if listed:
            lists = [list(values) for values in zip(*listed, strict=True)]
            unnested = ", ".join(f"unnest(?::{kind}[])" for kind in columns.values())
            self.run(f"INSERT INTO {name} SELECT {unnested}", lists)
        return name

    @contextmanager
    def holding(self, arrays: "Mapping[str, NDArray[Any]]") -> Any:
        """A relation over NumPy arrays for the length of a ``with`` block; yields its name."""
        name = self.name("held")
        self.connection.register(name, dict(arrays))
        try:
            yield name
        finally:
            self.connection.unregister(name)
