import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import SourceError
from evenhand.importers.frames import as_frame, read_frame
from evenhand.verdicts.engine import Engine


@pytest.fixture
def texts():
    """Rows of a frame as text."""
    with Engine() as engine:

        def read(frame):
            source = read_frame(engine, frame)
            listed = ", ".join(source.column(name, "the test") for name in source.columns)
            return engine.rows(f"SELECT {listed} FROM {source.relation}")

        yield read


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], ["1", "2"]),
        ([2**60, -5], ["1152921504606846976", "-5"]),
        ([1.0, 2.5], ["1", "2.5"]),
        ([1.0, None], ["1", ""]),
        ([True, None], ["true", ""]),
        ([True, False], ["true", "false"]),
        (["007", None], ["007", ""]),
        (["", "x\0y"], ["", "x\0y"]),
        ([decimal.Decimal("1.50"), None], ["1.50", ""]),
        ([datetime.date(2026, 1, 2), None], ["2026-01-02", ""]),
    ],
)
def test_values_are_the_same_text_in_every_library(texts, values, expected):
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        frame = (
            make({"id": ["a", "b"], "v": values})
            if make is not pd.DataFrame
            else pd.DataFrame({"id": ["a", "b"], "v": pd.Series(values, dtype=object)})
        )
        assert [value for _, value in texts(frame)] == expected


def test_pandas_gaps_and_kinds(texts):
    frame = pd.DataFrame(
        {
            "floats": [1.0, np.nan],
            "nullable": pd.array([1, None], dtype="Int64"),
            "category": pd.Categorical(["x", None]),
            "mixed": pd.Series([7, "07"], dtype=object),
            "odd": pd.Series([float("nan"), 1.0], dtype=object),
        }
    )
    assert texts(frame) == [("1", "1", "x", "7", ""), ("", "", "", "07", "1")]


def test_infinity_is_text(texts):
    assert texts(pl.DataFrame({"v": [float("inf"), -float("inf"), float("nan")]})) == [("inf",), ("-inf",), ("",)]


def test_hostile_column_names(texts):
    assert texts(pl.DataFrame({'a";DROP': ["x"], "b\n{c}": ["y"], "?": ["z"]})) == [("x", "y", "z")]


def test_what_is_no_frame():
    assert as_frame({"a": [1]}) is None
    assert as_frame("text") is None
    with Engine() as engine, pytest.raises(SourceError, match="cannot read a dict: give a path, or a pandas"):
        read_frame(engine, {"a": [1]})
