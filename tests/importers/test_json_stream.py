"""JSON read piece by piece equals JSON read at once, and what is broken is said."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import SourceError
from evenhand.importers import json_stream
from evenhand.importers.json_stream import JsonFile, lines, parse, partial

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(VALUES, max_size=6), VALUES, st.sampled_from([None, 1]), st.booleans(), st.integers(1, 9))
def test_elements_and_the_rest_come_back(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listed: list[Any],
    other: Any,
    indent: int | None,
    ascii_: bool,
    chunk: int,
) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    path = tmp_path / "a.json"
    document = {"before": other, "a": {"b": listed, "c": other}, "after": other}
    path.write_text(json.dumps(document, indent=indent, ensure_ascii=ascii_), encoding="utf-8", errors="surrogatepass")
    file = JsonFile(path, "a.b")
    assert list(file.elements()) == listed
    assert file.rest == {"before": other, "a.c": other, "after": other}
    assert file.found
    path.write_text(json.dumps(listed, indent=indent), encoding="utf-8-sig")
    assert list(JsonFile(path, "").elements()) == listed


def test_arrays_that_are_passed_over_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"x": {"b": [1, 2], "a": [3], "c": null}}')
    file = JsonFile(path, "x.a", ["x.a", "x.b", "x.c"])
    assert list(file.elements()) == [3]
    assert file.rest == {"x.c": None}


@pytest.mark.parametrize("text", ['{"a": 1}', '{"a": null}', "7", "null", '"a"', "{}"])
def test_without_the_array_there_are_no_elements(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    file = JsonFile(path, "a")
    assert list(file.elements()) == []
    assert not file.found


@pytest.mark.parametrize(
    "text",
    ["", "[", "[1", "[1,", "[1,]", "[1 2]", '{"a"', '{"a":', '{"a": [}', "[1]x", "[tru]", '["', "{1: 2}", '[1]]', "[1e", "[-]"],
)  # fmt: skip
def test_what_is_broken_is_a_source_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(SourceError, match="not whole JSON"):
        list(JsonFile(path, "").elements())


def test_depth_length_and_encoding_are_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(SourceError, match="nested too deeply"):
        list(JsonFile(path, "").elements())
    path.write_bytes(b'["\xff"]')
    with pytest.raises(SourceError, match="not UTF-8"):
        list(JsonFile(path, "").elements())
    with pytest.raises(SourceError, match="not UTF-8"):
        list(lines(path))
    monkeypatch.setattr(json_stream, "MOST_CHARACTERS", 50)
    monkeypatch.setattr(json_stream, "_CHUNK", 10)
    path.write_text(json.dumps(["x" * 200]))
    with pytest.raises(SourceError, match="longer than 50"):
        list(JsonFile(path, "").elements())
    with pytest.raises(SourceError, match="line 1: longer than 50"):
        list(lines(path))


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": "\xc2\x85"}\n')
    assert list(lines(path)) == [(1, {"a": 1}), (3, {"a": "\x85"})]
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(SourceError, match=r"a.jsonl line 2: not JSON"):
        list(lines(path))


def test_documents_of_strangers() -> None:
    assert parse(b'{"a": "\\ud800", "b": 1e400}', "here") == {"a": "\ud800", "b": float("inf")}
    assert partial('{"a": [1, 2') == {"a": [1, 2]}
    assert partial("{]") is None
    for text in ("[" * 300, "[" * 100_000, "{", "nul", '{"a": ' + "1" * 5000 + "x}"):
        with pytest.raises(SourceError, match="here"):
            parse(text, "here")
