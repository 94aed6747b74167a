"""``tallies.parquet`` holds one row a unit, and enough to recompute each interval without the verdicts."""

import re
from importlib.resources import as_file, files

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.stats.agreement import cohen_kappa, share
from evenhand.stats.internal_consistency import Moments, kr20
from evenhand.stats.intervals import Sample, jackknife_t
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS, LOGIT

CELL = re.compile(r"verdicts\[criterion=(.+),reference=(.+),judge=(.+)\]/judge")
TOTAL = re.compile(r"responses\[state=complete,reference=(\d+),judge=(\d+)\]/judge")
SUM = re.compile(r"complete\[side=(judge|reference),criterion=(\d+)\]/judge")


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> tuple[evenhand.AuditResult, pl.DataFrame]:
    out = tmp_path_factory.mktemp("out") / "bank"
    with as_file(files("evenhand.data") / "zhu_bank.csv") as path:
        found = evenhand.audit(
            path,
            response="response_id",
            cluster="cluster_id",
            reference="gold_{criterion}",
            judge="judge_{criterion}",
            criteria="per-cluster",
            blank="unparsed",
            cut=5,
            out=out,
        )
    return found, pl.read_parquet(out / "tallies.parquet")


def ends(tallies: np.ndarray, measure, scale, sizes: np.ndarray) -> tuple[float | None, float | None]:
    kept = sizes > 0
    sample = Sample(
        tallies[kept], measure, sizes[kept], scale, tuple(map(str, np.flatnonzero(kept))), lambda _n: np.ones((1, 1))
    )
    interval = jackknife_t(sample, 0.95, scale)
    return interval.low, interval.high


def test_one_row_a_cluster_in_natural_order(bank: tuple[evenhand.AuditResult, pl.DataFrame]) -> None:
    assert bank[1]["unit"].to_list() == [str(number) for number in range(15)]


def test_kappa_and_its_interval_come_back(bank: tuple[evenhand.AuditResult, pl.DataFrame]) -> None:
    found, table = bank
    cells = np.zeros((15, 2, 2))
    for name in table.columns:
        if (cell := CELL.fullmatch(name)) and {cell[2], cell[3]} <= {"0", "1"}:
            cells[:, int(cell[2]), int(cell[3])] += table[name].to_numpy()
    kappa = found["cohen_kappa/judge"]
    assert float(cohen_kappa(cells.sum(axis=0))) == pytest.approx(kappa.estimate, abs=1e-12)
    assert ends(cells, cohen_kappa, LOG_ONE_MINUS, cells.sum(axis=(1, 2))) == pytest.approx(
        (kappa.ci_low, kappa.ci_high)
    )


def test_gate_accuracy_and_its_interval_come_back(bank: tuple[evenhand.AuditResult, pl.DataFrame]) -> None:
    found, table = bank
    cells = np.zeros((15, 2))
    for name in table.columns:
        if total := TOTAL.fullmatch(name):
            cells[:, int((int(total[1]) >= 5) != (int(total[2]) >= 5))] += table[name].to_numpy()
    accuracy = found["accuracy[cut=5]/judge"]
    assert ends(cells, share, LOGIT, cells.sum(axis=1)) == pytest.approx((accuracy.ci_low, accuracy.ci_high))


def test_the_kr20_difference_comes_back(bank: tuple[evenhand.AuditResult, pl.DataFrame]) -> None:
    found, table = bank
    packed = {side: np.zeros((15, 12)) for side in ("judge", "reference")}
    for name in table.columns:
        if item := SUM.fullmatch(name):
            packed[item[1]][:, int(item[2])] = table[name].to_numpy()
        elif total := TOTAL.fullmatch(name):
            for side, value in (("reference", int(total[1])), ("judge", int(total[2]))):
                packed[side][:, 0] += table[name].to_numpy()
                packed[side][:, -1] += table[name].to_numpy() * value**2
    both = np.concatenate([packed["judge"], packed["reference"]], axis=1)

    def difference(sums: np.ndarray) -> np.ndarray:
        one, other = (
            kr20(Moments(part[..., 0], part[..., 1:-1], part[..., -1])) for part in (sums[..., :12], sums[..., 12:])
        )
        return one - other

    gap = found["kr20/judge-reference"]
    assert ends(both, difference, IDENTITY, packed["judge"][:, 0]) == pytest.approx((gap.ci_low, gap.ci_high))
