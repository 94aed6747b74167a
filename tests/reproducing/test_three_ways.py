"""Zhu (2026) line by line: everything reproduces, one flipped verdict does not, and figures are drawn."""

import csv
import json
from pathlib import Path

import pytest

from evenhand.cli.main import run
from evenhand.errors import RequestError
from evenhand.reproducing.three_ways import read_study

SHARED_BANK = Path(__file__).parents[3] / "shared" / "data" / "zhu_bank" / "judge_item_bank.csv"
MATRIX = Path(__file__).parents[2] / "src" / "evenhand" / "data" / "zhu_bank.csv"


def flipped(path: Path, source: Path, row: int, column: str) -> Path:
    """The bank with one judge verdict turned."""
    with source.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    rows[row][column] = "0" if float(rows[row][column]) else "1"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_every_line_reproduces_from_the_matrix_that_comes_along() -> None:
    lines = list(read_study().lines())
    assert [line for line in lines if line.fails] == []
    verdicts = {line.verdict for line in lines}
    assert verdicts == {"exact", "within Monte-Carlo error", "needs --bank"}
    assert sum(line.verdict == "exact" for line in lines) >= 89 + 18
    assert sum(line.verdict == "needs --bank" for line in lines) == 4


def test_one_flipped_verdict_moves_lines_and_the_command_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = flipped(tmp_path / "bank.csv", MATRIX, 0, "judge_1")
    assert run(["reproduce", "three-ways", "--bank", str(bank)]) == 1
    said = capsys.readouterr().err
    assert "error rate of verdicts" in said
    assert "KR-20 on judge verdicts" in said
    assert "KR-20 on gold verdicts" not in said


def test_the_document_and_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, figures = tmp_path / "lines.json", tmp_path / "figures"
    assert run(["reproduce", "three-ways", "--json", "--out", str(out), "--figures", str(figures)]) == 0
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document == json.loads(capsys.readouterr().out)
    assert document["n_failed"] == 0
    drawn = sorted(path.name for path in figures.glob("*.svg"))
    assert drawn == [f"figure-{name}.svg" for name in ("2a", "2b", "2c", "a1a", "a1b", "a1c", "a2a", "a2b")]
    assert "0.679" in (figures / "figure-2a.svg").read_text(encoding="utf-8")
    assert run(["reproduce", "three-ways", "--figures", str(figures)]) == 0


def test_another_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("id,judge,gold\n1,1,0\n", encoding="utf-8")
    with pytest.raises(RequestError, match=r"judge_item_bank\.csv"):
        read_study(path)


@pytest.mark.skipif(
    not SHARED_BANK.exists(), reason="needs the published bank with its texts, which is not part of the project"
)
def test_the_published_file_settles_the_lines_about_texts() -> None:
    lines = list(read_study(SHARED_BANK).lines())
    assert [line for line in lines if line.fails or line.verdict == "needs --bank"] == []


@pytest.mark.skipif(
    not SHARED_BANK.exists(), reason="needs the published bank with its texts, which is not part of the project"
)
def test_a_flip_in_the_published_file_is_found(tmp_path: Path) -> None:
    bank = flipped(tmp_path / "bank.csv", SHARED_BANK, 60, "gold_e3")
    moved = {line.quantity for line in read_study(bank).lines() if line.fails}
    assert "KR-20 on gold verdicts" in moved
