"""Columns, carried fields and single values of records."""

import json

import pytest

from evenhand.errors import SourceError
from evenhand.importers.records import CANONICAL, Carried, Column, Verdict, scalar, text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("C", Verdict("C", "scored", "C")),
        (" none ", Verdict(" none ", "scored", " none ")),
        ("None", Verdict("None", "scored", "None")),
        (0, Verdict("0", "scored", "0")),
        (0.0, Verdict("0.0", "scored", "0.0")),
        (12345678901234567890, Verdict("12345678901234567890", "scored", "12345678901234567890")),
        (False, Verdict("false", "scored", "false")),
        (None, Verdict(None, "missing", None, "null")),
        ("  ", Verdict(None, "missing", "  ", "blank")),
        (float("nan"), Verdict(None, "unparsed", "nan", "not finite")),
        (float("inf"), Verdict(None, "unparsed", "inf", "not finite")),
        ([1, "é"], Verdict(None, "unparsed", '[1,"é"]', "not one value")),
        ({}, Verdict(None, "unparsed", "{}", "not one value")),
    ],
)
def test_a_value_is_a_label_or_says_why_not(value: object, expected: Verdict) -> None:
    assert scalar(value) == expected


def test_columns_follow_dotted_paths() -> None:
    record = {"a": {"b": {"c": 7}}, "d": None}
    assert Column("x", "a.b.c").of(record) == "7"
    assert Column("x", "a.b").of(record) == '{"c":7}'
    assert Column("x", "a.z.c", "else").of(record) == "else"
    assert Column("x", "d.c").of(record) is None
    assert Column("x", "", "always").of(record) == "always"


def test_short_scalars_are_carried_along() -> None:
    record = {"m": {"a": 1, "b": "x" * 3000, "c": [1], "d": None, "e": "kept", "f": "a column"}}
    assert Carried("m", "meta.", frozenset({"f"})).of(record) == {"extra.meta.a": "1", "extra.meta.e": "kept"}
    assert Carried("nowhere").of(record) == {}


def test_text_holds_what_an_encoding_can() -> None:
    assert text("a\ud800b") == "a\\ud800b"
    assert text({"a": "\ud800"}) == '{"a":"\\ud800"}'
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SourceError, match="too deeply"):
        text(deep)
    assert json.loads(text([1, True, None]) or "") == [1, True, None]


def test_the_canonical_columns_are_those_of_the_design() -> None:
    assert len(set(CANONICAL)) == len(CANONICAL) == 18
