"""Logs and plain files are opened by one door."""

from pathlib import Path

import pytest
from log_reading import FIXTURES

from evenhand.errors import SourceError
from evenhand.importers.opening import open_files
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec


def test_a_log_beside_a_file_of_rows(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,human\n001,C\n")
    with Engine() as engine:
        opened = open_files(engine, [labels, FIXTURES / "inspect" / "plain.json"], Spec(seed=7))
        assert [source.name for source in opened.sources] == ["plain.json", "labels.csv"]
    assert (opened.spec.seed, opened.spec.verdict) == (7, "value")
    assert opened.counts["plain.json: verdicts"] == 5
    assert opened.notes[0].startswith("read as inspect (read from inspect 0.3")


def test_plain_files_leave_the_spec_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,judge\n1,yes\n")
    with Engine() as engine:
        opened = open_files(engine, [path], Spec())
    assert (opened.spec, dict(opened.counts), opened.notes) == (Spec(), {}, ())


def test_logs_of_two_tools_are_refused() -> None:
    paths = [FIXTURES / "inspect" / "plain.json", FIXTURES / "promptfoo" / "plain.json"]
    with Engine() as engine, pytest.raises(SourceError, match="logs of two tools"):
        open_files(engine, paths, Spec())


def test_a_column_that_the_user_names_is_in_use() -> None:
    with Engine() as engine:
        (plain,) = open_files(engine, [FIXTURES / "inspect" / "plain.json"], Spec()).sources
        (named,) = open_files(engine, [FIXTURES / "inspect" / "plain.json"], Spec(model="model")).sources
    assert "model" not in plain.columns
    assert "model" in named.columns


def test_a_log_of_marks_and_words_says_that_they_do_not_mix() -> None:
    with Engine() as engine:
        opened = open_files(engine, [FIXTURES / "inspect" / "several.eval"], Spec())
    assert any(note.startswith("two scales in one log") for note in opened.notes)
