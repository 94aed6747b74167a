"""Importers are found by module and by entry point, and tell their files by their beginning."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from evenhand.errors import SourceError
from evenhand.importers import registry
from evenhand.importers.promptfoo import IMPORTER
from evenhand.importers.registry import all_importers, find, recognise


def test_every_importer_is_found_once() -> None:
    names = [importer.name for importer in all_importers()]
    assert names == ["deepeval", "inspect", "label_studio", "langfuse", "lm_eval", "mt_bench", "promptfoo"]
    assert find("promptfoo") is IMPORTER
    assert find("none") is None


def test_each_says_how_well_its_layout_is_known() -> None:
    layouts = {importer.name: importer.layout for importer in all_importers()}
    assert layouts["langfuse"] == "unverified layout"
    assert layouts["inspect"].startswith("read from inspect 0.3")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "[]"), ("a.json", "{}"), ("a.json", '[{"id": 1, "judge": "yes"}]'), ("a.json", "not json"), ("a.json", ""),
        ("a.jsonl", '{"id": 1}'), ("a.csv", "id,judge\n1,yes\n"), ("a.eval", "no zip"), ("a.parquet", "x"), ("a", "x"),
        ("a.json", '{"results": [1]}'), ("a.json", '{"eval": {"task": "t"}}'), ("a.json", '\ufeff[[[{"a'),
    ],
)  # fmt: skip
def test_plain_files_are_left_to_the_reader_of_rows(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert recognise(path) is None


def test_folders_and_absent_files_are_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    assert recognise(tmp_path / "x.json") is None
    assert recognise(tmp_path / "none.json") is None


def _with(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    all_importers.cache_clear()
    monkeypatch.setattr(registry, "entry_points", lambda group: [EntryPoint("mine", value, group)])


def test_a_third_party_adds_one_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, "evenhand.importers.promptfoo:IMPORTER")
    assert [importer.name for importer in all_importers()].count("promptfoo") == 2
    all_importers.cache_clear()


@pytest.mark.parametrize(
    "value", ["nowhere:IMPORTER", "evenhand.importers.promptfoo:NONE", "evenhand.importers.records:CANONICAL"]
)
def test_a_broken_entry_point_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    _with(monkeypatch, value)
    with pytest.raises(SourceError, match='importer "mine"'):
        all_importers()
    all_importers.cache_clear()
