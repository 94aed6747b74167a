"""Registrations: written once, held to, deviated from with a reason only."""

import json
from pathlib import Path

import pytest

from evenhand.design.registration import read_registration, register
from evenhand.errors import OutputError, RequestError, SourceError

FLOOR = {"verdict": "pass", "smallest": 0.14}
DAY = "2001-02-03T04:05:06+00:00"


def test_hash_date_and_floor_are_written(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    register(path, "a" * 64, DAY, FLOOR)
    assert json.loads(path.read_text()) == {
        "schema": "evenhand-registration/1",
        "entries": [{"plan": "a" * 64, "date": DAY, "floor": FLOOR}],
    }


def test_the_same_plan_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    register(path, "a" * 64, DAY, FLOOR)
    before = path.read_bytes()
    assert register(path, "a" * 64, "2002-01-01", {"verdict": "refused"}).entries[0].date == DAY
    assert path.read_bytes() == before


def test_another_plan_is_refused_and_with_a_reason_added(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    register(path, "a" * 64, DAY, FLOOR)
    before = path.read_bytes()
    with pytest.raises(
        RequestError, match=r"registered is plan a{12} of 2001-02-03, and this is plan b{12}.*--deviation"
    ):
        register(path, "b" * 64, DAY, FLOOR)
    assert path.read_bytes() == before
    found = register(path, "b" * 64, "2002-01-01", FLOOR, "the model was withdrawn")
    assert found == read_registration(path)
    assert [(one.plan[0], one.reason) for one in found.entries] == [("a", ""), ("b", "the model was withdrawn")]
    found.check("b" * 64, "plan.toml")
    with pytest.raises(RequestError):
        found.check("a" * 64, "plan.toml")


def test_a_reason_needs_something_to_deviate_from(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    with pytest.raises(RequestError, match="nothing to deviate from"):
        register(path, "a" * 64, DAY, FLOOR, "why")
    register(path, "a" * 64, DAY, FLOOR)
    with pytest.raises(RequestError, match="is the registered one"):
        register(path, "a" * 64, DAY, FLOOR, "why")


@pytest.mark.parametrize(
    "content", ["{}", "[]", "no JSON", '{"schema": "evenhand-registration/1", "entries": []}', "\xff"]
)
def test_another_file_is_neither_read_nor_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "study.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(SourceError):
        read_registration(path)
    with pytest.raises(OutputError, match="not written by evenhand"):
        register(path, "a" * 64, DAY, FLOOR)


def test_a_deviation_whose_reason_was_taken_out_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    register(path, "a" * 64, DAY, FLOOR)
    register(path, "b" * 64, DAY, FLOOR, "why")
    path.write_text(path.read_text().replace('"reason": "why"', '"reason": ""'))
    with pytest.raises(SourceError, match="damaged"):
        read_registration(path)
    with pytest.raises(SourceError, match="cannot be read"):
        read_registration(tmp_path / "absent.json")
