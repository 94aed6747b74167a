"""Texts behind the worst lines: only on request, the right response beside the right claim, cut to a length."""

import csv
from pathlib import Path

import pytest

import evenhand
from evenhand.errors import RequestError
from evenhand.simulate.demo import text_bank_rows
from evenhand.verdicts.texts import LONGEST

MAPPING = {
    "response": "response_id",
    "cluster": "question_id",
    "reference": "gold_{criterion}",
    "judge": "judge_{criterion}",
    "criteria": "per-cluster",
    "blank": "unparsed",
}


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bank") / "texts.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(text_bank_rows())
    return path


def records(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_texts_are_absent_unless_asked_for(bank: Path) -> None:
    found = evenhand.audit(bank, **MAPPING, text=("answer", "claim_{criterion}"))
    assert not [name for name in found.audit.tables if name.startswith("texts/")]
    answers = [row["answer"] for row in records(bank) if row["answer"]]
    assert answers[0] not in found.audit.to_json()


def test_every_shown_error_carries_its_own_texts(bank: Path) -> None:
    rows = {row["response_id"]: row for row in records(bank)}
    found = evenhand.audit(bank, **MAPPING, text=("answer", "claim_{criterion}"), texts="errors")
    shown = found.audit.tables["texts/judge"].records()
    assert shown
    for record in shown:
        row = rows[str(record["response_id"])]
        question, _, criterion = str(record["line"]).partition(".")
        assert row["question_id"] == question
        assert (row[f"gold_{criterion}"], row[f"judge_{criterion}"]) == (record["reference"], record["judge"])
        assert record["reference"] != record["judge"]
        assert record["response_text"] == row["answer"][:LONGEST]
        assert record["criterion_text"] == row[f"claim_{criterion}"]
        assert (record["reference"] == "1") == (row[f"claim_{criterion}"] in row["answer"])


def test_the_worst_lines_come_first(bank: Path) -> None:
    found = evenhand.audit(bank, **MAPPING, text="answer", texts="errors")
    worst = [row["line"] for row in found.audit.tables["lines/judge"].records()[:5]]
    assert list(dict.fromkeys(row["line"] for row in found.audit.tables["texts/judge"].records())) == worst


def test_texts_without_a_text_column_are_refused(bank: Path) -> None:
    with pytest.raises(RequestError, match="--text COL"):
        evenhand.audit(bank, **MAPPING, texts="errors")


def test_texts_appear_in_the_report_escaped(tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text('id,human,judge,answer\na,pass,fail,"<script>alert(1)</script>"\nb,fail,fail,x\nc,pass,pass,y\n')
    found = evenhand.audit(path, text="answer", texts="errors", response="id")
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
