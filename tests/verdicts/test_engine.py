import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import SourceError
from evenhand.verdicts.engine import Engine, quote, without_folders


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("autoinstall_known_extensions", False),
        ("autoload_known_extensions", False),
        ("enable_progress_bar", False),
    ],
)
def test_the_engine_loads_nothing_and_prints_nothing(setting, value):
    with Engine() as engine:
        assert engine.one("SELECT current_setting(?)", [setting]) == (value,)


ENGINE = Engine()


@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30))
def test_any_identifier_can_be_quoted(name):
    assert ENGINE.one(f"SELECT {quote(name)} FROM (SELECT 7 AS {quote(name)})") == (7,)


def test_tables_and_integers():
    with Engine() as engine:
        name = engine.table("t", {"n": "INTEGER", "a b": "VARCHAR"}, [(2, "x'"), (1, '"y')])
        assert engine.rows(f'SELECT n, "a b" FROM {name} ORDER BY n') == [(1, '"y'), (2, "x'")]
        found = engine.integers(f"SELECT n FROM {name} ORDER BY n")
        assert found["n"].dtype == np.int64
        assert found["n"].tolist() == [1, 2]
        assert engine.rows(f"SELECT * FROM {engine.table('none', {'n': 'INTEGER'}, [])}") == []
        assert engine.name("t") != name


def test_held_arrays_are_let_go():
    with Engine() as engine:
        with engine.holding({"n": np.arange(3)}) as held:
            assert engine.one(f"SELECT sum(n) FROM {held}") == (3,)
        with pytest.raises(duckdb.CatalogException):
            engine.rows(f"SELECT * FROM {held}")


@pytest.mark.parametrize("kind", [duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InvalidInputException])
def test_trouble_with_the_data_is_a_sentence(kind):
    with pytest.raises(SourceError, match="cannot be read to the end: disk full"), Engine():
        raise kind("disk\nfull")


def test_other_trouble_is_a_fault_of_ours():
    with pytest.raises(duckdb.ParserException), Engine() as engine:
        engine.run("SELEC 1")


def test_a_message_quotes_no_query():
    said = "Binder Error: no such column  LINE 1: SELECT secret FROM t\n               ^"
    assert without_folders(said) == "Binder Error: no such column"
