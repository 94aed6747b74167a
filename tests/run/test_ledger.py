"""The ledger: committed means kept, damage is found, one process at a time, and closing loses nothing."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import LedgerError
from evenhand.run.closing import close_ledger, read_attempts
from evenhand.run.ledger import Attempt, Ledger


def attempt(number: int = 1, **more: object) -> Attempt:
    base = Attempt(
        key=f"key{number}", number=1, place=number, labels={"response_id": "r\u0000é", "arm": "x"}, request="f" * 64, model="m",
        settings="{}", outcome="replied", reply='he said "no"\n\x1b[31m', value="no", status="scored", cost=0.25, seconds=0.5,
    )  # fmt: skip
    return replace(base, **more)  # type: ignore[arg-type]


def test_what_is_recorded_comes_back(tmp_path: Path) -> None:
    given = [attempt(n) for n in range(5)] + [attempt(9, outcome="failed", value=None, cost=None, failure="timeout")]
    with Ledger(tmp_path / "l.sqlite") as ledger:
        for one in given:
            ledger.record(one)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert list(ledger.attempts()) == given
        assert ledger.finished() == {f"key{n}" for n in range(5)}


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite"), pytest.raises(LedgerError, match="another process"):
        Ledger(tmp_path / "l.sqlite")


def test_a_changed_row_is_found(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.record(attempt(1))
    connection = sqlite3.connect(tmp_path / "l.sqlite")
    connection.execute("UPDATE attempts SET value = 'yes'")
    connection.commit()
    connection.close()
    with Ledger(tmp_path / "l.sqlite") as ledger, pytest.raises(LedgerError, match="was changed"):
        list(ledger.attempts())


@pytest.mark.parametrize("cut", [1, 100, 5_000])
def test_a_torn_file_is_found(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        for number in range(200):
            ledger.record(attempt(number))
    data = path.read_bytes()
    path.write_bytes(data[:cut] + b"\xff" * 64 + data[cut + 64 : -4096])
    with pytest.raises(LedgerError, match="damaged"), Ledger(path) as ledger:
        list(ledger.attempts())


def test_a_file_that_is_no_ledger_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    path.write_text("my notes " * 200)
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(path)
    assert path.read_text().startswith("my notes")


def test_closing_keeps_every_row_and_then_removes_the_open_file(tmp_path: Path) -> None:
    given = [attempt(n) for n in range(300)]
    ledger = Ledger(tmp_path / "l.sqlite")
    for one in given:
        ledger.record(one)
    close_ledger(ledger, tmp_path / "l.parquet")
    assert list(read_attempts(tmp_path / "l.parquet")) == given
    assert [one.name for one in tmp_path.iterdir()] == ["l.parquet"]


def test_closed_attempts_are_adopted_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.record(attempt(1))
        ledger.adopt([attempt(1), attempt(2)])
        ledger.adopt([attempt(2)])
        assert len(list(ledger.attempts())) == 2
