"""Logs whose texts do not fit in memory: a bounded number of rows is held, and nothing else changes."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from log_reading import FIXTURES, balanced, read, rows

import evenhand
from evenhand.importers import logs as reading
from evenhand.importers.records import Column, LogImporter, Record, Tally, scalar
from evenhand.verdicts import single_verdicts
from evenhand.verdicts.engine import Engine

LOGS = (
    "inspect/several.eval",
    "promptfoo/repeat.json",
    "deepeval/test_run.json",
    "lm_eval/samples_colours.jsonl",
    "mt_bench/pair.jsonl",
)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every log were large: three records at a time, and to disk after some characters."""
    monkeypatch.setattr(reading, "CHUNK", 3)
    monkeypatch.setattr(reading, "MOST_HELD", 200)
    monkeypatch.setattr(single_verdicts, "PIECE", 4)


@pytest.mark.parametrize("log", LOGS)
def test_the_same_rows(log: str, request: pytest.FixtureRequest) -> None:
    with Engine() as engine:
        small = read(engine, FIXTURES / log)
        expected, counts = rows(engine, small), dict(small.counts)
        assert not engine.is_large
    request.getfixturevalue("large")
    with Engine() as engine:
        found = read(engine, FIXTURES / log)
        assert engine.is_large
        assert rows(engine, found) == expected
        assert found.counts == counts
        assert found.spec == small.spec
        assert balanced(engine, found)


def test_resumed_runs_meet_on_disk(large: None) -> None:
    with Engine() as engine:
        logs = read(engine, FIXTURES / "inspect" / "resumed_1.eval", FIXTURES / "inspect" / "resumed_2.eval")
        assert balanced(engine, logs)
        superseded = [n for counts in logs.counts.values() for name, n in counts.items() if "superseded" in name]
    assert sum(superseded) > 0


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("log", LOGS)
def test_the_same_conversion(log: str, ending: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    evenhand.convert(FIXTURES / log, to=one)
    request.getfixturevalue("large")
    evenhand.convert(FIXTURES / log, to=two)
    if ending == "jsonl":
        assert one.read_bytes() == two.read_bytes()
    assert duckdb.execute(f"SELECT * FROM '{one}'").fetchall() == duckdb.execute(f"SELECT * FROM '{two}'").fetchall()
    assert (
        [str(key) for key in duckdb.execute(f"SELECT decode(key) FROM parquet_kv_metadata('{two}')").fetchall()]
        if ending == "parquet"
        else True
    )


def test_no_more_than_a_chunk_and_what_is_held_are_in_memory(
    large: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cause of bounded memory: records are taken lazily, and the engine's table is emptied to disk as it fills."""
    path = tmp_path / "a.log"
    path.write_text("x")
    taken, written = [0], list[int]()

    def records(_path: Path, _tally: Tally) -> Iterator[Record]:
        for number in range(1, 61):
            taken[0] += 1
            yield {"id": f"r{number}", "value": number % 2, "why": "because " * 20}

    add, on_disk = reading._Table.add, Engine.on_disk
    most = [0]

    def counted(table: reading._Table, chunk: list[dict[str, str | None]]) -> None:
        add(table, chunk)
        (held,) = table.engine.one(f"SELECT count(*) FROM {table._rows}")
        most[0] = max(most[0], held)
        assert taken[0] <= written_rows() + held

    def written_rows() -> int:
        return sum(written)

    def noted(engine: Engine, query: str) -> str:
        written.append(engine.one(f"SELECT count(*) FROM ({query})")[0])
        return on_disk(engine, query)

    monkeypatch.setattr(reading._Table, "add", counted)
    monkeypatch.setattr(Engine, "on_disk", noted)
    columns = (
        Column("response_id", "id"),
        Column("criterion_id", "", "c"),
        Column("rater_id", "", "m"),
        Column("explanation", "why"),
    )
    importer = LogImporter(
        "x", (".log",), lambda _path, _head: True, records, columns, lambda record: scalar(record["value"])
    )
    with Engine() as engine:
        found = reading.read_logs(engine, importer, [path])
        assert found.counts["a.log"] == {"verdicts": 60, "scored": 60}
        assert [row["source_row"] for row in rows(engine, found)] == [str(n) for n in range(1, 61)]
    assert most[0] == 3
    assert written_rows() >= 54


def test_a_late_column_is_empty_before(large: None, tmp_path: Path) -> None:
    line = {
        "doc_id": 0,
        "resps": [],
        "filtered_resps": [],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
        "note": "n" * 90,
    }
    lines = [line | {"doc_id": n} | ({"late": "l"} if n > 8 else {}) for n in range(12)]
    path = tmp_path / "samples_x.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with Engine() as engine:
        found = rows(engine, read(engine, path))
    assert [row.get("extra.late") for row in found] == [None] * 9 + ["l"] * 3
