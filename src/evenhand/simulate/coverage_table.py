"""The table of measured coverage: its rows, the file that holds it, and the cell nearest to a design at hand."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from evenhand.simulate.coverage import IMBALANCES, Count, Design, Imbalance
from evenhand.stats.binomial import wilson

SCHEMA = "evenhand.coverage/1"
COLUMNS = ("statistic", "clusters", "imbalance", "rates", "icc", "truth", "intervals", "covered", "below", "above")
LEAST, MOST = 0.93, 0.97
"""A cell fails when its 99 % Monte-Carlo interval lies outside."""
_UNEQUAL = 0.5
"""Coefficient of variation of cluster sizes from which a design counts as unequal."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One statistic in one design."""

    statistic: str
    design: Design
    count: Count

    @property
    def share(self) -> float:
        """Intervals that hold the truth; NaN where no bank has one."""
        return self.count.covered / self.count.intervals if self.count.intervals else math.nan

    @property
    def failing(self) -> str:
        """ "short" or "wide" where the 99 % Monte-Carlo interval of the share lies below or above what is allowed."""
        if not self.count.intervals:
            return ""
        low, high = wilson(self.count.covered, self.count.intervals, 0.99)
        return "short" if high < LEAST else "wide" if low > MOST else ""


@dataclass(frozen=True, slots=True)
class Measured:
    """Coverage at the design nearest to one at hand, at each intraclass correlation."""

    design: Design
    shares: Mapping[float, float]


@dataclass(frozen=True)
class CoverageTable:
    """Cells of a study, with what made them.

    Attributes:
        facts: seed, banks, version and the meaning of the designs, as in the JSON file.
        cells: in the order of the file.
    """

    facts: Mapping[str, object]
    cells: tuple[Cell, ...]

    def nearest(self, statistic: str, n_clusters: int, effective: float, rates: str) -> Measured | None:
        """Coverage of a statistic at the nearest design; None where it was not studied.

        Args:
            statistic: an id of the study.
            n_clusters: G, two or more.
            effective: (Σn)²/Σn² of the cluster sizes.
            rates: which base rates.
        """
        studied = [cell for cell in self._of(statistic) if cell.count.intervals]
        if not studied:
            return None
        imbalance: Imbalance = IMBALANCES[math.sqrt(max(0.0, n_clusters / effective - 1)) >= _UNEQUAL]
        clusters = min({cell.design.clusters for cell in studied}, key=lambda at: abs(math.log(at / n_clusters)))
        here = {
            cell.design.icc: cell.share
            for cell in studied
            if (cell.design.clusters, cell.design.imbalance, cell.design.rates) == (clusters, imbalance, rates)
        }
        return Measured(Design(clusters, imbalance, rates, 0.0), here) if here else None

    def nearest_rates(self, statistic: str, share: float) -> str | None:
        """Base rates whose value of a rate is nearest to a share in log odds; None where it was not studied."""
        truths = {cell.design.rates: cell.count.truth for cell in self._of(statistic)}
        inside = {name: truth for name, truth in truths.items() if 0 < truth < 1}
        return min(inside, key=lambda name: abs(_log_odds(inside[name]) - _log_odds(share))) if inside else None

    def _of(self, statistic: str) -> tuple[Cell, ...]:
        known: dict[str, tuple[Cell, ...]] | None = self.__dict__.get("_cells")
        if known is None:
            lists: dict[str, list[Cell]] = {}
            for cell in self.cells:
                lists.setdefault(cell.statistic, []).append(cell)
            known = self.__dict__["_cells"] = {name: tuple(cells) for name, cells in lists.items()}
        return known.get(statistic, ())

    def to_csv(self) -> str:
        """The cells as CSV, one a line."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for cell in self.cells:
            design, count = cell.design, cell.count
            where = (cell.statistic, design.clusters, design.imbalance, design.rates, f"{design.icc:g}")
            writer.writerow((*where, f"{count.truth:.9g}", count.intervals, count.covered, count.below, count.above))
        return stream.getvalue()

    def to_json(self) -> str:
        """The facts as JSON."""
        return json.dumps(self.facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def parse(cls, cells: str, facts: str) -> "CoverageTable":
        """Read what ``to_csv`` and ``to_json`` write."""
        return cls(json.loads(facts), tuple(_cells(csv.DictReader(io.StringIO(cells)))))


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


def _cells(rows: Iterable[Mapping[str, str]]) -> Iterator[Cell]:
    for row in rows:
        imbalance = IMBALANCES[row["imbalance"] != IMBALANCES[0]]
        design = Design(int(row["clusters"]), imbalance, row["rates"], float(row["icc"]))
        numbers = (int(row[name]) for name in ("intervals", "covered", "below", "above"))
        yield Cell(row["statistic"], design, Count(float(row["truth"]), *numbers))


@cache
def shipped() -> CoverageTable:
    """The study that comes with the package: default intervals at 95 %."""
    data = files("evenhand.data")
    return CoverageTable.parse(
        (data / "coverage.csv").read_text(encoding="utf-8"), (data / "coverage.json").read_text(encoding="utf-8")
    )
