"""Broken copies of every fixture: a SourceError or exact accounting, never anything else."""

import random
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from log_reading import FIXTURES, balanced

from evenhand.errors import SourceError
from evenhand.importers.logs import read_logs
from evenhand.importers.registry import recognise
from evenhand.importers.safe_zip import SafeZip
from evenhand.verdicts.engine import Engine

LOGS = (
    "inspect/several.eval",
    "inspect/edited.eval",
    "inspect/chunked.eval",
    "inspect/plain.json",
    "promptfoo/repeat.json",
    "deepeval/test_run.json",
    "lm_eval/samples_colours.jsonl",
    "label_studio/project.json",
    "label_studio/snapshot.json",
    "mt_bench/pair.jsonl",
)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data))]


def _flipped(data: bytes, draw: random.Random) -> bytes:
    broken = bytearray(data)
    for _ in range(draw.randint(1, 5)):
        broken[draw.randrange(len(broken))] ^= 1 << draw.randrange(8)
    return bytes(broken)


def _doubled(data: bytes, draw: random.Random) -> bytes:
    start, stop = sorted(draw.randrange(len(data)) for _ in range(2))
    return data[:stop] + data[start:stop] + data[stop:]


def _reordered(data: bytes, draw: random.Random) -> bytes:
    one, two, three = sorted(draw.randrange(len(data)) for _ in range(3))
    return data[:one] + data[two:three] + data[one:two] + data[three:]


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("breaks", [_cut, _flipped, _doubled, _reordered])
def test_a_broken_copy_is_refused_or_accounted_for(
    tmp_path: Path, log: str, breaks: Callable[[bytes, random.Random], bytes]
) -> None:
    whole = (FIXTURES / log).read_bytes()
    path = tmp_path / Path(log).name
    with Engine() as engine:
        for seed in range(12):
            path.write_bytes(breaks(whole, random.Random(f"{log} {seed}")))
            _reads_or_refuses(engine, path)


def _reads_or_refuses(engine: Engine, path: Path) -> None:
    said = path.name
    try:
        importer = recognise(path)
        if importer is None:
            return  # left to the reader of rows
        logs = read_logs(engine, importer, [path])
    except SourceError as problem:
        said = str(problem)
    else:
        assert balanced(engine, logs)
    assert path.name in said


@pytest.mark.parametrize("log", [log for log in LOGS if log.endswith(".eval")])
def test_members_in_another_order_give_the_same_counts(tmp_path: Path, log: str) -> None:
    path, turned = FIXTURES / log, tmp_path / "turned.eval"
    with SafeZip(path) as archive, warnings.catch_warnings(), zipfile.ZipFile(turned, "w") as copy:
        warnings.simplefilter("ignore")
        for name in reversed(archive.members):
            copy.writestr(name, archive.read(name))
            copy.writestr(name, archive.read(name))
    with Engine() as engine:
        importer = recognise(path)
        assert importer is not None
        straight = read_logs(engine, importer, [path]).counts[path.name]
        found = dict(read_logs(engine, importer, [turned]).counts["turned.eval"])
    doubled = "archive members that a later one replaces, left out"
    assert found.pop(doubled) > 0
    assert found == {name: count for name, count in straight.items() if name != doubled}


@pytest.mark.parametrize("log", ["lm_eval/samples_colours.jsonl"])
def test_lines_in_another_order_give_the_same_counts(tmp_path: Path, log: str) -> None:
    path = tmp_path / Path(log).name
    lines = (FIXTURES / log).read_text().splitlines()
    path.write_text("\n".join(reversed(lines)))
    with Engine() as engine:
        importer = recognise(path)
        assert importer is not None
        assert read_logs(engine, importer, [path]).counts[path.name]["verdicts"] == 16


@pytest.mark.parametrize("log", LOGS)
def test_a_log_under_another_name_is_still_told_by_its_content(tmp_path: Path, log: str) -> None:
    copy = tmp_path / ("renamed" + Path(log).suffix)
    shutil.copy(FIXTURES / log, copy)
    importer = recognise(copy)
    assert importer is not None
    assert importer.name == {"inspect": "inspect"}.get(log.split("/")[0], log.split("/")[0])
