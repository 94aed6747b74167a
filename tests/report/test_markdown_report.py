"""The Markdown report: the same order, and tables that no text can tear."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.markdown import markdown_text, pipe_table
from evenhand.report.render import to_markdown
from evenhand.results import Audit


def cells(line: str) -> int:
    """Cells of a pipe-table row: pipes that are not escaped, less one."""
    return len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1


def test_item_table_keeps_its_four_rows(rep_01: Audit, harmless: Audit) -> None:
    hostile, plain = to_markdown(rep_01).splitlines(), to_markdown(harmless).splitlines()
    assert len(hostile) == len(plain)
    at = next(n for n, line in enumerate(hostile) if line.startswith("| line | criterion | response"))
    rows = hostile[at + 2 : at + 6]
    assert [cells(row) for row in rows] == [6] * 4
    assert not hostile[at + 6].startswith("|")


def test_tables_are_intact(demo: Audit) -> None:
    text = to_markdown(demo)
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) > 10
    for block in blocks:
        assert len({cells(line) for line in block.splitlines()}) == 1
        assert set(block.splitlines()[1]) <= set("|-:")


def test_order_is_that_of_the_page(demo: Audit) -> None:
    assert re.findall(r"^## (.*)$", to_markdown(demo), re.MULTILINE) == [
        "What can be said",
        "What cannot be said, and what to collect",
        "Questions, and what answers them",
        "Numbers",
        "Where it errs",
        "Drawings, as numbers",
        "Checklist",
        "Lines to copy",
        "Rows, declarations, provenance",
    ]


def test_numbers_are_readable(demo: Audit) -> None:
    text = to_markdown(demo)
    assert "| false accept rate | 10.4 % | 5.7 % | 18.1 % | 84 of 808" in text
    assert "10\\.4" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b\nsecond line", r"a\|b\\nsecond line"),
        ("[link](javascript:alert(3))", r"\[link\](javascript:alert(3))"),
        ("<b>&amp;", r"\<b\>&amp;amp;"),
        ("`code`", r"\`code\`"),
        ("**x** _y_ snake_case", r"\*\*x\*\* \_y\_ snake_case"),
        ("https://x.invalid www.x.invalid", r"https\://x.invalid www\.x.invalid"),
        ("# heading", r"\# heading"),
        ("1. item", r"1\. item"),
        ("10.4 %", "10.4 %"),
    ],
)
def test_text_stays_text(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


@given(st.lists(st.tuples(st.text(), st.text()), max_size=6))
def test_any_text_keeps_rows_and_cells(rows: list[tuple[str, str]]) -> None:
    lines = str(pipe_table(["a", "b"], rows)).splitlines()
    assert len(lines) == len(rows) + 2
    assert {cells(line) for line in lines} == {2}
