"""Frames in memory: pandas, Polars and PyArrow tables enter as NumPy arrays, none of the three being needed here."""

import importlib
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from evenhand.errors import SourceError, printable
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.sources import Source, distinct_columns


def read_frame(engine: Engine, frame: object, name: str = "frame") -> Source:
    """Open a pandas, Polars or PyArrow frame as a source; its canonical verdict table is hashed later.

    Raises:
        SourceError: not a frame, or without rows.
    """
    native = as_frame(frame)
    if native is None:
        raise SourceError(f"cannot read a {type(frame).__name__}: give a path, or a pandas, Polars or PyArrow frame")
    if not len(native):
        raise SourceError(f"{name}: no data rows, only its columns")
    relation, columns = held(engine, native, name)
    return Source(name, relation, columns, sha256="")


def as_frame(frame: object) -> Any | None:
    """The frame behind Narwhals' interface, collected; None when it is no frame.

    Raises:
        SourceError: a frame whose columns cannot be told apart.
    """
    try:
        wrapped = nw.from_native(frame, pass_through=True)
        if isinstance(wrapped, nw.LazyFrame):
            wrapped = wrapped.collect()
        if isinstance(wrapped, nw.DataFrame):
            wrapped.columns  # noqa: B018  pandas with one name twice raises here
    except nw.exceptions.NarwhalsError as problem:
        raise SourceError(f"the frame cannot be read: {printable(' '.join(str(problem).split()))[:200]}") from None
    return wrapped if isinstance(wrapped, nw.DataFrame) else None


def held(engine: Engine, frame: Any, shown: str) -> tuple[str, tuple[str, ...]]:
    """Hand a Narwhals frame's columns to the engine; returns the relation and the column names.

    Raises:
        SourceError: no columns, two of one name, or text that is no text.
    """
    columns = distinct_columns([str(name) for name in frame.columns], shown)
    if not columns:
        raise SourceError(f"{shown}: no columns")
    name = engine.name("frame")
    try:
        arrays = [_plain(column) for column in frame.iter_columns()]
        engine.connection.register(name, dict(zip(columns, arrays, strict=True)))
    except UnicodeError as problem:
        raise SourceError(f"{shown}: a text cannot be written as UTF-8 ({printable(str(problem))[:120]})") from None
    return name, columns


def _plain(column: Any) -> NDArray[Any]:
    """A column as integers or booleans where it has no gaps, else as text with None for gaps."""
    dtype = column.dtype
    if (dtype.is_integer() or dtype == nw.Boolean) and not column.is_null().any():
        return np.asarray(column.to_numpy())
    if dtype.is_float():
        values = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        texts = [None if value != value else _shortest(value) for value in values.tolist()]
    else:
        gaps = column.is_null().to_list()
        texts = [None if gap else _text(value) for value, gap in zip(column.to_list(), gaps, strict=True)]
    plain = np.empty(len(texts), dtype=object)
    plain[:] = texts
    return plain


def _shortest(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _text(value: object) -> str | None:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float):
        return None if value != value else _shortest(value)
    return str(value)


def read_arrow_file(path: Path) -> Any:
    """An Arrow IPC or Feather file through PyArrow or Polars, whichever is installed.

    Raises:
        SourceError: neither is installed, or the file is no Arrow file.
    """
    shown = printable(path.name)
    for module, fault, read in (
        ("pyarrow.lib", "ArrowException", _with_pyarrow),
        ("polars.exceptions", "PolarsError", _with_polars),
    ):
        try:
            own = getattr(importlib.import_module(module), fault)
        except ImportError:
            continue
        try:
            return nw.from_native(read(path), eager_only=True)
        except (own, OSError, ValueError, TypeError) as problem:
            raise SourceError(f"{shown}: cannot be read as arrow: {printable(str(problem))[:200]}") from None
    raise SourceError(
        f"{shown}: reading Arrow and Feather files needs PyArrow or Polars: pip install 'evenhand[arrow]'"
    )


def _with_pyarrow(path: Path) -> Any:
    feather = importlib.import_module("pyarrow.feather")
    table = feather.read_table(path, memory_map=False)
    table.validate(full=True)  # offsets beyond the data would end the process, not the read
    return table


def _with_polars(path: Path) -> Any:
    polars = importlib.import_module("polars")
    return polars.read_ipc(path)
