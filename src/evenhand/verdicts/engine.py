"""The embedded engine: one DuckDB connection that loads nothing, asks nothing and prints nothing.

Identifiers reach SQL through :func:`quote` alone; values reach it as parameters, or as rows of a registered array.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from evenhand.errors import SourceError, printable

_ABOUT_DATA = (
    duckdb.IOException,
    duckdb.InvalidInputException,
    duckdb.ConversionException,
    duckdb.OutOfMemoryException,
)
_FOLDERS = re.compile(r"(?<![^\s\"'(])/(?:[^/\s\"']+/)+")


def without_folders(message: str) -> str:
    """A message without the folders of the files it names.

    >>> without_folders('cannot open "/home/me/verdicts.csv"')
    'cannot open "verdicts.csv"'
    """
    return _FOLDERS.sub("", message)


def quote(identifier: str) -> str:
    """An identifier as it may stand in SQL, whatever characters it holds."""
    return '"' + identifier.replace('"', '""') + '"'


class Engine:
    """A private in-memory database; close it, or use it as a context."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(
            ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        )
        self.connection.execute("SET enable_progress_bar = false")
        self._names = 0
        self._scratch: TemporaryDirectory[str] | None = None

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, _kind: object, problem: BaseException | None, _trace: object) -> None:
        """Close; what the engine cannot read or hold becomes a sentence.

        Raises:
            SourceError: instead of the engine's own error about the data, the disk or the memory.
        """
        self.connection.close()
        if self._scratch is not None:
            self._scratch.cleanup()
        if isinstance(problem, _ABOUT_DATA) or type(problem) is duckdb.Error:  # the latter of a damaged Parquet page
            said = printable(without_folders(" ".join(str(problem).split())))[:300]
            raise SourceError(f"the data cannot be read to the end: {said}") from None

    def name(self, stem: str) -> str:
        """A fresh relation name."""
        self._names += 1
        return f"{stem}_{self._names}"

    def scratch(self) -> Path:
        """A folder for what does not fit in memory; gone when the engine closes."""
        if self._scratch is None:
            self._scratch = TemporaryDirectory(prefix="evenhand-")
        return Path(self._scratch.name)

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

    def integers(self, sql: str, parameters: Sequence[object] = ()) -> dict[str, NDArray[np.int64]]:
        """Columns of a query of integers, none of them null."""
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
    def holding(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """A relation over NumPy arrays for the length of a ``with`` block; yields its name."""
        name = self.name("held")
        self.connection.register(name, dict(arrays))
        try:
            yield name
        finally:
            self.connection.unregister(name)
