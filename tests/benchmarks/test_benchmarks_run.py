"""The benchmarks run, on tiny data; how fast is for benchmarks/run.py to say."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def table() -> list[list[str]]:
    """Cells of the table that a quick run prints."""
    done = subprocess.run([sys.executable, str(FOLDER / "run.py"), "--quick"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]


def test_every_row_has_every_column(table: list[list[str]]):
    assert table[0] == ["what", "seconds", "peak MB", "ratio", "at most", ""]
    assert {len(row) for row in table} == {6}


def test_bounds_stand_beside_what_they_bound(table: list[list[str]]):
    bounds = {row[0]: row[4] for row in table[2:] if row[4]}
    assert bounds == {
        "evenhand --help": "0.3 s",
        "evenhand audit --help": "0.3 s",
        "audit, long Parquet": "8 x, 1000 MB",
        "2,000 kappas, 13 clusters: evenhand": "0.1 s",
        "2,000 kappas, 3,000 clusters: evenhand": "0.1 s",
    }


def test_peers_that_are_not_installed_are_skipped_in_words(table: list[list[str]]):
    for row in table[2:]:
        assert float(row[1]) >= 0 if row[1] != "–" else row[5] == "not installed, skipped"


def test_data_are_the_same_again(tmp_path: Path):
    def made(name: str) -> str:
        command = [sys.executable, str(FOLDER / "make_data.py"), str(tmp_path / name), "--responses", "50"]
        done = subprocess.run(
            [*command, "--clusters", "5", "--format", "csv"], check=True, capture_output=True, text=True
        )
        return Path(done.stdout.strip()).read_text(encoding="utf-8")

    text = made("one")
    assert text == made("two")
    assert text.splitlines()[0] == "response_id,cluster_id,criterion,judge,reference"
    assert len(text.splitlines()) == 501


def test_benchmarks_name_no_place_of_a_machine():
    for path in FOLDER.iterdir():
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not any(f"/{place}/" in text for place in ("work", "home", "root")), path.name
