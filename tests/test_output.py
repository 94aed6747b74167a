import json
import os

import pytest

from evenhand.errors import OutputError
from evenhand.output import check_file, check_place, new_folder, write_run, write_text
from evenhand.results import SCHEMA

OURS = json.dumps({"schema": SCHEMA})


def fill(folder, content=OURS):
    (folder / "audit.json").write_text(content, encoding="utf-8")


def fill_and_break(place, problem):
    with new_folder(place) as draft:
        fill(draft, "new")
        raise problem


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_is_whole_or_not_there(tmp_path):
    with new_folder(tmp_path / "deep" / "out") as draft:
        fill(draft)
        assert not (tmp_path / "deep" / "out").exists()
    assert everything(tmp_path) == ["deep", "deep/out", "deep/out/audit.json"]
    assert (tmp_path / "deep" / "out").stat().st_mode & 0o777 == 0o777 & ~_umask()


@pytest.mark.parametrize("problem", [ValueError("bug"), KeyboardInterrupt(), SystemExit(1), MemoryError()])
def test_nothing_is_left_when_the_filling_breaks(tmp_path, problem):
    with pytest.raises(type(problem)):
        fill_and_break(tmp_path / "a" / "b" / "out", problem)
    assert everything(tmp_path) == []


def test_the_old_audit_stays_when_the_new_one_breaks(tmp_path):
    fill(tmp_path_out := _made(tmp_path / "out"))
    with pytest.raises(ZeroDivisionError):
        fill_and_break(tmp_path_out, ZeroDivisionError())
    assert (tmp_path_out / "audit.json").read_text(encoding="utf-8") == OURS
    assert everything(tmp_path) == ["out", "out/audit.json"]


def test_the_old_audit_comes_back_when_the_swap_breaks(tmp_path, monkeypatch):
    fill(out := _made(tmp_path / "out"))
    rename, calls = os.rename, []

    def fails_once(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        rename(self, target)
        return target

    monkeypatch.setattr("pathlib.Path.rename", fails_once)
    with pytest.raises(OutputError, match="cannot be written"), new_folder(out) as draft:
        fill(draft, "new")
    assert (out / "audit.json").read_text(encoding="utf-8") == OURS
    assert everything(tmp_path) == ["out", "out/audit.json"]


def test_a_full_disk_is_a_sentence(tmp_path):
    with pytest.raises(OutputError, match="No space left on device"), new_folder(tmp_path / "out"):
        raise OSError(28, "No space left on device")
    assert everything(tmp_path) == []


def test_an_earlier_audit_is_replaced_whole(tmp_path):
    fill(out := _made(tmp_path / "out"))
    (out / "report.md").write_text("old", encoding="utf-8")
    with new_folder(out) as draft:
        fill(draft)
    assert everything(out) == ["audit.json"]


def test_an_empty_folder_may_be_filled(tmp_path):
    check_place(_made(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda out: out.write_text("mine", encoding="utf-8"), "is not a folder"),
        (lambda out: out.symlink_to(out.parent / "nowhere"), "symbolic link"),
        (lambda out: (_made(out) / "x").write_text("", encoding="utf-8"), 'no audit wrote \\("x"\\)'),
        (lambda out: fill(_made(out), "[]"), 'no audit wrote \\("audit.json"\\)'),
        (lambda out: fill(_made(out), "not json"), "no audit wrote"),
    ],
)
def test_what_is_foreign_is_refused(tmp_path, build, words):
    out = tmp_path / "out"
    build(out)
    with pytest.raises(OutputError, match=words):
        check_place(out)


def test_sources_are_never_inside(tmp_path):
    source = _made(tmp_path / "data") / "verdicts.csv"
    source.touch()
    (tmp_path / "alias").symlink_to(tmp_path / "data")
    for place in (source, tmp_path / "data", tmp_path, tmp_path / "alias"):
        with pytest.raises(OutputError, match=r"replace its own source verdicts\.csv"):
            check_place(place, [source])
    check_place(tmp_path / "data" / "out", [source])


def test_write_text_leaves_no_draft(tmp_path):
    write_text(tmp_path / "new" / "a.md", "text\n")
    assert everything(tmp_path) == ["new", "new/a.md"]
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "b.md", "\ud800")
    with pytest.raises(OutputError, match="cannot be written"):
        write_text(tmp_path / "new" / "a.md" / "c.md", "")
    assert everything(tmp_path) == ["new", "new/a.md"]


def test_check_file(tmp_path):
    source, other = tmp_path / "s.csv", tmp_path / "o.txt"
    source.write_text("x", encoding="utf-8")
    other.write_text("x", encoding="utf-8")
    check_file(tmp_path / "new", lambda _: False)
    check_file(other, lambda _: True)
    for path, words in (
        (source, "replace a source"),
        (other, "not written by evenhand"),
        (tmp_path, "a folder"),
        (tmp_path / "a\0b", "NUL"),
        (tmp_path / "a\udcff", "not UTF-8"),
    ):
        with pytest.raises(OutputError, match=words):
            check_file(path, lambda _: False, [source])


def test_run_facts_hold_any_path(tmp_path):
    write_run(tmp_path, {"sources": ["caf\u00e9 \udcff"]})
    assert json.loads((tmp_path / "run.json").read_bytes()) == {"sources": ["café \udcff"]}


def _made(folder):
    folder.mkdir()
    return folder


def _umask():
    current = os.umask(0)
    os.umask(current)
    return current
