"""Files become relations of text, whatever their format, and trouble names its place."""

import os
import sys

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import evenhand
from evenhand.errors import SourceError
from evenhand.importers import files
from evenhand.importers.files import read_file
from evenhand.verdicts.engine import Engine

ROWS = [("007", "1", "1"), ("7", "0", "1"), ("1e3", "0", "0"), ("12345678901234567890", "1", "1")]
TEXT = "item,gold,judge\n" + "".join(",".join(row) + "\n" for row in ROWS)
COLUMNS = dict(zip(("item", "gold", "judge"), zip(*ROWS, strict=True), strict=True))


@pytest.fixture
def contents():
    """Columns and rows of a file as text."""
    with Engine() as engine:

        def read(path, **said):
            source = read_file(engine, path, **said)
            listed = ", ".join(source.column(name, "the test") for name in source.columns)
            return source, engine.rows(f"SELECT {listed} FROM {source.relation}")

        yield read


@pytest.mark.parametrize(
    ("name", "save"),
    [
        ("t.parquet", lambda path: pyarrow.parquet.write_table(pa.table(COLUMNS), path)),
        ("t.pq", lambda path: pl.DataFrame(COLUMNS).write_parquet(path)),
        ("t.feather", lambda path: pyarrow.feather.write_feather(pa.table(COLUMNS), path)),
        ("t.arrow", lambda path: pl.DataFrame(COLUMNS).write_ipc(path)),
        ("t.ipc", lambda path: pl.DataFrame(COLUMNS).write_ipc(path, compression="zstd")),
        ("k=v/t.parquet", lambda path: pl.DataFrame(COLUMNS).write_parquet(path)),
        ("t.jsonl", lambda path: pl.DataFrame(COLUMNS).write_ndjson(path)),
        ("t.ndjson", lambda path: pl.DataFrame(COLUMNS).write_ndjson(path)),
        ("t.json", lambda path: pl.DataFrame(COLUMNS).write_json(path)),
        ("t.CSV", lambda path: path.write_text(TEXT, encoding="utf-8")),
    ],
)
def test_every_format_gives_the_same_text(contents, tmp_path, name, save):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    save(path)
    source, rows = contents(path)
    assert (source.name, source.columns, rows) == (path.name, ("item", "gold", "judge"), ROWS)
    assert len(source.sha256) == 64
    assert evenhand.audit(path)["cohen_kappa/judge"].estimate == pytest.approx(0.5)


def test_numbers_in_parquet_read_as_a_frame_s(contents, tmp_path):
    frame = pl.DataFrame(
        {"id": [7.0, 2.5, None], "v": [float("nan"), float("inf"), 1e300], "n": [2**60, 1, 2], "b": [True, False, None]}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    _, rows = contents(tmp_path / "t.parquet")
    assert rows == [("7", "", "1152921504606846976", "true"), ("2.5", "inf", "1", "false"), ("", "1e+300", "2", "")]


def test_words_for_nothing_stay_text(contents, write):
    _, rows = contents(write("t.csv", "id,judge\na,NA\nb,null\nc,\nd,NaN\n"))
    assert rows == [("a", "NA"), ("b", "null"), ("c", ""), ("d", "NaN")]


def test_quotes_newlines_and_delimiters_in_values(contents, write):
    _, rows = contents(write("t.csv", 'id,judge\n"a,1","say ""hi""\nthere"\n'))
    assert rows == [("a,1", 'say "hi"\nthere')]


def test_nested_json_becomes_text(contents, write):
    _, rows = contents(write("t.jsonl", '{"id": 1, "v": [1, 2]}\n\n{"id": 2, "v": {"a": null}}\n{"id": 3}\n'))
    assert rows == [("1", "[1,2]"), ("2", '{"a":null}'), ("3", "")]


def test_the_same_bytes_have_the_same_hash(contents, write):
    one, two, other = (
        contents(write(name, text))[0] for name, text in (("a.csv", TEXT), ("b.csv", TEXT), ("c.csv", TEXT + "\n"))
    )
    assert one.sha256 == two.sha256 != other.sha256


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_no_file(contents, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SourceError, match="a pipe or device; save it to a file first"):
        contents(tmp_path / "pipe.csv")


@pytest.mark.parametrize(("name", "given"), [("a.csv", "A.csv"), ("verdicts.csv", "verdict.csv")])
def test_a_missing_file_names_the_one_meant(contents, write, name, given):
    path = write(name, TEXT)
    with pytest.raises(SourceError, match=f'no such file; did you mean "{name}"'):
        contents(path.parent / given)


def test_a_format_that_is_not_what_it_says(contents, write):
    with pytest.raises(SourceError, match=r"t\.csv: cannot be read as parquet"):
        contents(write("t.csv", TEXT), format_="parquet")


@pytest.fixture
def without(monkeypatch):
    """Pretend that packages are not installed."""

    def hide(*names):
        for name in [*sys.modules, *names]:
            if name.split(".")[0] in names:
                monkeypatch.setitem(sys.modules, name, None)

    return hide


def test_arrow_through_whichever_is_installed(contents, tmp_path, without):
    pl.DataFrame(COLUMNS).write_ipc(tmp_path / "t.arrow")
    without("pyarrow")
    assert contents(tmp_path / "t.arrow")[1] == ROWS


def test_arrow_without_either_names_the_extra(refused, tmp_path, without):
    pl.DataFrame(COLUMNS).write_ipc(tmp_path / "t.arrow")
    without("pyarrow", "polars")
    refused(
        "audit", "t.arrow", "--out", "out", says=("t.arrow", "needs PyArrow or Polars: pip install 'evenhand[arrow]'")
    )


def test_every_other_format_needs_neither(contents, write, tmp_path, without):
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "t.parquet")
    without("pyarrow", "polars", "pandas")
    for path in (tmp_path / "t.parquet", write("t.csv", TEXT)):
        assert contents(path)[1] == ROWS
        assert evenhand.audit(path, out=tmp_path / "out")["cohen_kappa/judge"].estimate == pytest.approx(0.5)


def test_every_format_has_a_reader():
    assert set(files.FORMATS.values()) == {*files._READERS, "xlsx"}


def test_a_large_text_file_stands_on_disk_and_is_gone_afterwards(write, monkeypatch):
    monkeypatch.setattr(files, "_IN_MEMORY", 100)
    lines = "".join(f'{{"item": "{n:03}", "judge": {n % 2}, "x": {{"y": [{n}]}}}}\n' for n in range(25_000))
    with Engine() as engine:
        source = read_file(engine, write("t.jsonl", lines))
        held = list(engine.scratch().iterdir())
        assert engine.rows(f"SELECT * FROM {source.relation} LIMIT 2 OFFSET 24998") == [
            ("24998", "0", '{"y":[24998]}'),
            ("24999", "1", '{"y":[24999]}'),
        ]
        assert engine.one("SELECT current_setting('threads')")[0] >= 1
    assert len(held) == 1
    assert not held[0].exists()


def test_numbers_in_json_keep_their_digits(contents, write):
    numbers = ("123456789012345678901234567890", "90071992547409931234", "7", "7.0", "-0.5")
    _, rows = contents(write("t.jsonl", "".join(f'{{"id": {one}, "judge": 1}}\n' for one in numbers)))
    assert [one for one, _ in rows] == list(numbers)


def test_places_of_the_machine_are_not_shown(contents, write):
    with pytest.raises(SourceError, match=r't\.jsonl: cannot be read as jsonl: .*"t\.jsonl"'):
        contents(write("t.jsonl", '{"id": 1}\n{"id": \n'))
