"""CSV tables: no cell runs as a formula, and every text comes back."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.csv_tables import csv_files, plain_text, read_table, safe_text
from evenhand.results import Audit

FORMULAS = ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", '=HYPERLINK("http://x.invalid","open")']


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_text(text: str) -> None:
    assert safe_text(text) == f"'{text}"
    assert plain_text(safe_text(text)) == text


@given(st.text())
def test_every_text_comes_back(text: str) -> None:
    assert plain_text(safe_text(text)) == text
    assert not safe_text(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


def texts(audit: Audit) -> list[tuple[str, ...]]:
    return [tuple(str(cell) for cell in row) for row in audit.tables["texts/judge"].rows]


def test_case_rep_01_comes_back(rep_01: Audit) -> None:
    written = dict(csv_files(rep_01))["texts.csv"]
    assert not [
        cell for row in csv.reader(io.StringIO(written)) for cell in row if cell.startswith(("=", "-", "+", "@"))
    ]
    assert list(read_table(written).rows) == texts(rep_01)


def test_case_rep_01_in_pandas(rep_01: Audit) -> None:
    frame = pd.read_csv(io.StringIO(dict(csv_files(rep_01))["texts.csv"], newline=""), dtype=str, keep_default_na=False)
    assert len(frame) == 4
    assert [tuple(plain_text(cell) for cell in row) for row in frame.itertuples(index=False)] == texts(rep_01)


def test_numbers_keep_their_precision_and_sign(demo: Audit) -> None:
    frame = pd.read_csv(io.StringIO(dict(csv_files(demo))["estimates.csv"]))
    assert frame["estimate"].dtype.kind == "f"
    by_id = frame.set_index("id")["estimate"]
    assert by_id["cohen_kappa/judge"] == demo["cohen_kappa/judge"].estimate
    assert by_id["kr20/judge-reference"] < 0


def test_each_table_has_its_file(demo: Audit, several: Audit) -> None:
    assert {"estimates.csv", "worst_lines.csv", "confusion.csv", "criteria.csv", "totals.csv"} <= dict(
        csv_files(demo)
    ).keys()
    names = [name for name, _ in csv_files(several)]
    assert len(names) == len(set(names))
    assert "confusion-2-model-1.csv" in names
