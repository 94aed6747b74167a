"""Zhu (2026) on the texts of its bank: what only the published file determines, not the 0/1 matrix alone."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from evenhand.errors import SourceError, printable
from evenhand.reproducing.lines import Line, held_exactly, not_computed

Row = Mapping[str, str]
K = 10
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WORKED = "30"
"""The response that Table A.2 shows."""
_NEEDS_TEXTS = "the texts stay with the published bank: give its judge_item_bank.csv as --bank"


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a bank as text by column.

    Raises:
        SourceError: it cannot be read as delimited UTF-8 text.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise SourceError(f"{printable(path.name)}: cannot be read as CSV ({printable(str(problem))})") from None


def text_lines(rows: Sequence[Row]) -> Iterator[Line]:
    """Lines about texts, computed where the rows have an ``answer``, and named as missing where not."""
    worked = next((row for row in rows if _first(row, "item_id", "response_id") == _WORKED), None)
    if worked is None:
        yield not_computed("Table A.2", "the worked response", "item 30", "differs", "this bank has no such response")
        return
    gold, judge = _verdicts(worked, "gold"), _verdicts(worked, "judge")
    yield held_exactly("Table A.2", "gold total of the worked response", "5", sum(gold))
    yield held_exactly("Table A.2", "judge total of the worked response", "6", sum(judge))
    wrong = [position for position, (g, j) in enumerate(zip(gold, judge, strict=True), start=1) if g != j]
    yield held_exactly("Table A.2", "right verdicts on it", "9", K - len(wrong))
    yield held_exactly("Table A.2", "line of the one error on it", "6", wrong[0] if len(wrong) == 1 else float("nan"))
    if "answer" not in worked:
        for place, quantity, published in (
            ("§2", "correlation of sentence count and gold total, all responses", "0.63"),
            ("§A.2", "responses to the question that hold the worked distractor", "7"),
            ("§A.2", "  of them, with line 9 present", "0"),
            ("§A.2", "responses to that question", "14"),
        ):
            yield not_computed(place, quantity, published, "needs --bank", _NEEDS_TEXTS)
        return
    yield from _of_sentences(rows, worked)


def _of_sentences(rows: Sequence[Row], worked: Row) -> Iterator[Line]:
    counts = [len(_sentences(row)) for row in rows]
    totals = [sum(_verdicts(row, "gold")) for row in rows]
    r = float(np.corrcoef(counts, totals)[0, 1])
    yield held_exactly(
        "§2",
        "correlation of sentence count and gold total, all responses",
        "0.63",
        r,
        "sentences end at . ! or ? before a space",
    )
    same = [row for row in rows if row["question_id"] == worked["question_id"]]
    distractor = _sentences(worked)[1]
    holding = [row for row in same if distractor in _sentences(row)]
    yield held_exactly("§A.2", "responses to the question that hold the worked distractor", "7", len(holding))
    yield held_exactly("§A.2", "  of them, with line 9 present", "0", sum(_verdicts(row, "gold")[8] for row in holding))
    yield held_exactly("§A.2", "responses to that question", "14", len(same))


def _sentences(row: Row) -> list[str]:
    return [part for part in _SENTENCE_END.split(row["answer"].strip()) if part]


def _verdicts(row: Row, side: str) -> list[int]:
    names = (f"{side}_e{{}}", f"{side}_{{}}")
    pattern = names[0] if names[0].format(1) in row else names[1]
    return [int(float(row[pattern.format(position)] or 0)) for position in range(1, K + 1)]


def _first(row: Row, *columns: str) -> str:
    return next((row[column] for column in columns if column in row), "")
