"""Zhu (2026), "Three Ways Classical Test Theory Can Mislead About LLM Judges", recomputed from its bank and its seeds."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from evenhand.auditing import run_audit
from evenhand.errors import RequestError, printable
from evenhand.reproducing.lines import Line, held_exactly
from evenhand.reproducing.three_ways_bank import CUTS, BankNumbers, bank_lines
from evenhand.reproducing.three_ways_simulated import simulated_lines
from evenhand.reproducing.three_ways_text import Row, read_rows, text_lines
from evenhand.results import Audit
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec

SOURCE = "Zhu (2026), Three Ways Classical Test Theory Can Mislead About LLM Judges"


@dataclass(frozen=True)
class Study:
    """The bank read and audited.

    Attributes:
        numbers: what an audit says of it.
        rows: its rows as text.
    """

    numbers: BankNumbers
    rows: tuple[Row, ...]

    def lines(self) -> Iterator[Line]:
        """Every published number the data determine, beside ours."""
        for line in bank_lines():
            yield held_exactly(line.place, line.quantity, line.printed, line.recomputed(self.numbers), line.note)
        yield from text_lines(self.rows)
        yield from simulated_lines()


def read_study(bank: Path | None = None) -> Study:
    """Audit a bank as the paper did: percentile intervals, 2,000 resamples, seed 0.

    Args:
        bank: the published judge_item_bank.csv; the 0/1 matrix that comes along where it is None.

    Raises:
        SourceError: the file cannot be read.
        RequestError: it has not the bank's columns.
    """
    if bank is not None:
        return _study(bank)
    with as_file(files("evenhand.data") / "zhu_bank.csv") as matrix:
        return _study(matrix)


def _study(path: Path) -> Study:
    rows = read_rows(path)
    columns = rows[0].keys() if rows else ()
    published = {"item_id", "question_id", "gold_e1", "judge_e1"} <= set(columns)
    if not published and not {"response_id", "cluster_id", "gold_1", "judge_1"} <= set(columns):
        raise RequestError(
            f"{printable(path.name)}: has no columns item_id, question_id, gold_e1..10 and judge_e1..10; "
            "--bank takes the paper's own judge_item_bank.csv"
        )
    names = ("item_id", "question_id", "e{criterion}") if published else ("response_id", "cluster_id", "{criterion}")
    return Study(BankNumbers(_audit(path, names, "judge"), _audit(path, names, "gold")), tuple(rows))


def _audit(path: Path, names: tuple[str, str, str], side: str) -> Audit:
    response, cluster, criterion = names
    spec = Spec.of(
        response=(response,),
        cluster=cluster,
        judge=(f"{side}_{criterion}",),
        reference=f"gold_{criterion}" if side == "judge" else None,
        criteria="per-cluster",
        blank="unparsed",
        cut=tuple(map(float, CUTS)),
        interval="percentile",
    )
    with Engine() as engine:
        return run_audit(engine, [path], spec).audit
