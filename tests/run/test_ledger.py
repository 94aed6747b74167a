"""The ledger: committed means kept, damage is found, one process at a time, and closing loses nothing."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import LedgerError
from evenhand.run.closing import close_ledger, read_attempts
from evenhand.run.ledger import Attempt, Ledger


def attempt(number: int = 1, **more: object) -> Attempt:
    """An attempt at a call of its own."""
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


def test_two_ledgers_that_tried_the_same_call_both_count(tmp_path: Path) -> None:
    """Both attempts were paid for: the second one gets the next number, however often its ledger is adopted."""
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.record(attempt(1))
        other = attempt(1, reply="yes", value="yes")
        assert [ledger.adopt([other]), ledger.adopt([other]), ledger.adopt([attempt(1)])] == [1, 0, 0]
        assert [(one.number, one.value) for one in ledger.of_call("key1")] == [(1, "no"), (2, "yes")]
        assert ledger.spent()[2] == 0.5


def test_adopting_a_damaged_ledger_takes_nothing_of_it(tmp_path: Path) -> None:
    def torn() -> Iterator[Attempt]:
        yield attempt(1)
        raise LedgerError("torn")

    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(LedgerError, match="torn"):
            ledger.adopt(torn())
        assert not list(ledger.attempts())
        ledger.record(attempt(1))


@pytest.mark.parametrize(
    "change", ["labels = 'no json'", "extra = '[1]'", "prompt_tokens = 'many'", "cost = x'00'", "digest = ''"]
)
def test_whatever_was_changed_in_a_row_is_found(tmp_path: Path, change: str) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.record(attempt(1))
        ledger.verify()
    connection = sqlite3.connect(tmp_path / "l.sqlite")
    connection.execute(f"UPDATE attempts SET {change}")
    connection.commit()
    connection.close()
    with Ledger(tmp_path / "l.sqlite") as ledger, pytest.raises(LedgerError, match="was changed"):
        ledger.verify()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.builds(
            attempt,
            number=st.just(1),
            reply=texts,
            value=st.none() | texts,
            raw_value=st.none() | texts,
            message=texts,
            labels=st.dictionaries(texts, texts, max_size=3),
            extra=st.dictionaries(texts, texts, max_size=2),
            cost=st.none() | st.floats(0, 1e6),
            seconds=st.floats(0, 1e4),
            completion_tokens=st.integers(0, 2**50),
            outcome=st.sampled_from(["replied", "failed"]),
        ),
        max_size=6,
    )
)
def test_any_attempts_come_back_from_both_files_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, made: list[Attempt]
) -> None:
    folder = tmp_path_factory.mktemp("ledger")
    given_ones = [replace(one, key=f"k{place}", place=place) for place, one in enumerate(made)]
    ledger = Ledger(folder / "l.sqlite")
    for one in given_ones:
        ledger.record(one)
    assert list(ledger.attempts()) == given_ones
    close_ledger(ledger, folder / "l.parquet")
    assert list(read_attempts(folder / "l.parquet")) == given_ones
