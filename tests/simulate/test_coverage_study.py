"""The coverage study: the same numbers whoever counts them, the audits' own statistics, and the table that is shipped."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand
from evenhand.cli.main import evenhand as command
from evenhand.errors import OutputError, RequestError
from evenhand.report.card import coverage_text, shortfall_text
from evenhand.results import Estimate
from evenhand.simulate.banks import N_LINES, Verdicts, draw_verdicts, tally
from evenhand.simulate.coverage import (
    BLOCK,
    CLUSTERS,
    ICCS,
    IMBALANCES,
    LEVEL,
    RATES,
    Count,
    Design,
    designs,
    sample_of,
)
from evenhand.simulate.coverage_study import CELLS_FILE, FACTS_FILE, LEAST_CLUSTERS, PARTS, Study, failing, run_study
from evenhand.simulate.coverage_table import Cell, CoverageTable, shipped
from evenhand.simulate.covered import covered
from evenhand.stats.intervals import METHODS

NAMED = (
    "cohen_kappa/judge",
    "observed_agreement/judge",
    "accuracy[cut=5]/judge",
    "error_rate/judge",
    "false_accept_rate/judge",
    "false_reject_rate/judge",
    "krippendorff_alpha[metric=nominal]/raters",
    "gwet_ac1/judge",
    "quadratic_weighted_kappa/judge",
    "mae/judge",
    "bias/judge",
    "kr20/judge-reference",
)
ONLY = (Design(5, "equal", "even", 0.06), Design(8, "unequal", "rare", 0.0))
TINY = Study(n_banks=6, statistics=("cohen_kappa/judge", "mae/judge"), only=ONLY)


def test_the_same_seed_gives_the_same_table_twice_and_in_two_processes(tmp_path: Path) -> None:
    tables = [run_study(TINY, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2)]
    assert tables[0].to_csv() == tables[1].to_csv() == (tmp_path / "1" / CELLS_FILE).read_text(encoding="utf-8")
    assert (tmp_path / "1" / FACTS_FILE).read_bytes() == (tmp_path / "2" / FACTS_FILE).read_bytes()
    wider = replace(TINY, n_banks=60)
    assert replace(wider, seed=2).checked().count(ONLY[0]) != wider.checked().count(ONLY[0])
    assert not (tmp_path / "1" / PARTS).exists()


def test_numbers_depend_neither_on_the_other_statistics_nor_on_the_length() -> None:
    alone = replace(TINY, statistics=("mae/judge",)).checked().count(ONLY[0])
    assert alone["mae/judge"] == TINY.checked().count(ONLY[0])["mae/judge"]
    longer = replace(TINY, n_banks=BLOCK + 6).checked().count(ONLY[0])["mae/judge"]
    assert longer.intervals == BLOCK + 6
    assert longer.truth == alone["mae/judge"].truth


def test_a_stopped_study_goes_on_where_it_was(tmp_path: Path) -> None:
    folder, told = tmp_path / "out", []

    def stop(done: int, of: int, name: str) -> None:
        told.append(done)
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(TINY, folder, told=stop)
    assert [entry.name for entry in folder.iterdir()] == [PARTS]
    table = run_study(TINY, folder, told=lambda done, _of, _name: told.append(done))
    assert told == [0, 1, 1, 2]
    assert table.to_csv() == run_study(TINY, tmp_path / "whole").to_csv()


def test_a_part_of_other_settings_or_torn_is_drawn_again(tmp_path: Path) -> None:
    whole = run_study(TINY, tmp_path / "whole").to_csv()
    folder = tmp_path / "out"
    (folder / PARTS).mkdir(parents=True)
    names = [f"{one.clusters}-{one.imbalance}-{one.rates}-{one.icc:g}.json" for one in ONLY]
    (folder / PARTS / names[0]).write_text('{"settings": {"seed": 9}, "counts": {}}', encoding="utf-8")
    (folder / PARTS / names[1]).write_text('{"settings": {"se', encoding="utf-8")
    assert run_study(TINY, folder).to_csv() == whole


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_a_killed_study_leaves_no_torn_table(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    arguments = ["simulate", "coverage", "--out", str(folder), "--banks", "2", "--statistic", "mae/judge"]
    code = "import sys; from evenhand.cli.main import run; sys.exit(run(sys.argv[1:]))"
    running = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(folder.glob(f"{PARTS}/*.json")) and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.005)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    if not (folder / CELLS_FILE).exists():
        kept = len(list((folder / PARTS).glob("[0-9]*.json")))
        assert kept > 0
    found = CliRunner().invoke(command, arguments)
    assert found.exit_code == 0, found.output
    table = CoverageTable.parse((folder / CELLS_FILE).read_text("utf-8"), (folder / FACTS_FILE).read_text("utf-8"))
    assert len(table.cells) == len(designs())
    assert [entry.name for entry in sorted(folder.iterdir())] == [CELLS_FILE, FACTS_FILE]


def test_the_command_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r'did you mean "mae/judge"'):
        run_study(replace(TINY, statistics=("mea/judge",)), tmp_path / "a")
    with pytest.raises(RequestError, match="--interval gauss"):
        run_study(replace(TINY, method="gauss"), tmp_path / "b")
    with pytest.raises(RequestError, match="at least one bank"):
        run_study(replace(TINY, n_banks=0), tmp_path / "c")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match=r"thesis\.txt"):
        run_study(TINY, tmp_path / "mine")


def test_a_cell_fails_by_its_monte_carlo_interval() -> None:
    cells = {
        covered_: Cell("x/judge", Design(8, "equal", "even", 0.0), Count(0.0, 2_000, covered_, 0, 0))
        for covered_ in (1_800, 1_838, 1_850, 1_940, 1_965, 2_000)
    }
    assert [cell.failing for cell in cells.values()] == ["short", "", "", "", "wide", "wide"]
    assert failing([cells[1_800], cells[2_000]]) == {"x/judge": {"short": 1, "lowest": 0.9, "wide": 1, "highest": 1.0}}


# --- the statistics are the audits' own ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bank() -> Verdicts:
    return draw_verdicts(np.random.default_rng(8), 1, 9, RATES["even"], icc=0.06, variation=1.3)


def _frame(bank: Verdicts) -> pd.DataFrame:
    n = len(bank.cluster)
    return pd.DataFrame({"id": [f"r{at}" for at in range(n)], "q": [f"q{at}" for at in bank.cluster]})


@pytest.fixture(scope="module")
def audits(bank: Verdicts) -> list[evenhand.AuditResult]:
    checklist, marks, raters = _frame(bank), _frame(bank), []
    for line in range(N_LINES):
        checklist[f"gold_{line}"] = bank.reference[:, line].astype(int)
        checklist[f"judge_{line}"] = bank.raters[0][:, line].astype(int)
        rows = _frame(bank).assign(id=[f"r{at}.{line}" for at in range(len(marks))])
        for name, labels, seen in zip("abc", bank.raters, bank.seen, strict=True):
            rows[name] = np.where(seen[:, line], labels[:, line].astype(int).astype(str), "")
        raters.append(rows)
    totals = bank.reference.sum(axis=1), bank.raters[0].sum(axis=1)
    marks["gold"], marks["judge"] = totals
    pairs = _frame(bank).assign(judge=np.where(totals[1] > totals[0], "A", np.where(totals[1] < totals[0], "B", "tie")))
    common = {"response": "id", "cluster": "q"}
    return [
        evenhand.audit(checklist, reference="gold_{criterion}", judge="judge_{criterion}", scale="binary", cut=(5,), **common),
        evenhand.audit(marks, reference="gold", judge="judge", scale="ordinal", levels=[str(at) for at in range(11)], **common),
        evenhand.audit(pairs, judge="judge", scale="pairwise", **common),
        evenhand.audit(pd.concat(raters), judge=["a", "b", "c"], scale="binary", blank="missing", **common),
    ]  # fmt: skip


def test_every_statistic_is_the_audits_own(bank: Verdicts, audits: list[evenhand.AuditResult]) -> None:
    tallies = tally(bank)
    for name, one in covered().items():
        cells = one.tallies(tallies)[0]
        sizes = cells.reshape(len(cells), -1).sum(axis=1) if one.sizes is None else one.sizes(tallies)[0]
        mine = METHODS["default"](sample_of(one, cells, sizes), LEVEL)
        theirs = [found for audit in audits if (found := audit.audit.get(name)) is not None]
        assert theirs, name
        assert any(_is_same(found, one.measure(cells.sum(axis=0)), mine.low, mine.high) for found in theirs), name


def _is_same(found: Estimate, value: float, low: float | None, high: float | None) -> bool:
    ends = (found.estimate, found.ci_low, found.ci_high)
    return None not in (*ends, low, high) and ends == pytest.approx((float(value), low, high), rel=1e-9, abs=1e-12)


# --- the shipped table --------------------------------------------------------------------------------------------------


def test_the_shipped_table_has_all_cells_and_says_what_made_it() -> None:
    table = shipped()
    expected = {(name, design) for name in covered() for design in designs()}
    assert {(cell.statistic, cell.design) for cell in table.cells} == expected
    assert (
        len(table.cells) == len(expected) == len(covered()) * len(CLUSTERS) * len(IMBALANCES) * len(RATES) * len(ICCS)
    )
    assert table.facts["schema"] == "evenhand.coverage/1"
    assert table.facts["method"] == "default"
    assert {"seed", "banks", "evenhand_version", "code_sha256"} <= table.facts.keys()
    for cell in table.cells:
        count = cell.count
        assert count.covered + count.below + count.above == count.intervals <= int(str(table.facts["banks"]))
    assert json.loads(table.to_json())["failing"] == failing(table.cells)


def test_the_shipped_table_falls_short_only_where_its_words_say() -> None:
    # with eight clusters or more, no named statistic at the example bank's clustering or below and errors of usual size;
    # at more than twice that clustering quadratic kappa alone; where errors are rare and clustered, what the facts list
    table = shipped()
    short = [c for c in table.cells if c.failing == "short" and c.design.clusters >= LEAST_CLUSTERS]
    named = [c for c in short if c.statistic in NAMED]
    usual = [c for c in named if c.design.rates != "rare"]
    assert not [(c.statistic, str(c.design), c.share) for c in usual if c.design.icc <= 0.06]
    assert {c.statistic for c in usual} <= {"quadratic_weighted_kappa/judge"}
    assert min(c.share for c in usual) >= 0.9
    assert not [str(c.design) for c in named if c.design.icc == 0]
    listed = table.facts["failing"]
    assert isinstance(listed, dict)
    assert {name for name, entry in listed.items() if "short" in entry} == {c.statistic for c in short}


def test_the_table_is_that_of_this_code() -> None:
    # the first banks of a cell, counted again: within the cell's own share
    table, design = shipped(), Design(8, "equal", "even", 0.06)
    again = Study(n_banks=BLOCK, seed=int(str(table.facts["seed"])), statistics=NAMED).checked().count(design)
    for cell in table.cells:
        if cell.design == design and cell.statistic in NAMED:
            found = again[cell.statistic]
            assert found.truth == pytest.approx(cell.count.truth, rel=1e-8, abs=1e-8)
            assert found.covered / found.intervals == pytest.approx(cell.share, abs=0.08)


def test_the_nearest_design() -> None:
    table = shipped()
    near = table.nearest("cohen_kappa/judge", 15, 15.0, "even")
    assert near is not None
    assert (near.design.clusters, near.design.imbalance, near.design.rates) == (13, "equal", "even")
    assert list(near.shares) == list(ICCS)
    uneven = table.nearest("cohen_kappa/judge", 40, 20.0, "even")
    assert uneven is not None
    assert (uneven.design.clusters, uneven.design.imbalance) == (30, "unequal")
    assert table.nearest("cohen_kappa/nobody", 15, 15.0, "even") is None
    assert table.nearest_rates("false_reject_rate/judge", 0.001) == "rare"


def test_cards_print_the_measured_coverage(audits: list[evenhand.AuditResult]) -> None:
    checklist = audits[0]
    kappa = checklist["cohen_kappa/judge"]
    assert kappa.coverage is not None
    assert (kappa.coverage.clusters, kappa.coverage.level) == (8, LEVEL)
    assert coverage_text(kappa).startswith("measured ")
    assert f"simulated banks of 8 {kappa.coverage.imbalance} clusters" in coverage_text(kappa)
    assert checklist["n_verdicts/judge"].coverage is None
    assert coverage_text(checklist["n_verdicts/judge"]) == ""
    for name in ("cohen_kappa[aggregation=macro]/judge", "kr20/judge-reference", "recall/judge", "prevalence/reference",
                 "accuracy[cut=5]/judge", "error_rate[criterion=1]/judge"):  # fmt: skip
        assert checklist[name].coverage is not None, name


def test_a_shortfall_of_more_than_two_points_stands_beside_the_number(audits: list[evenhand.AuditResult]) -> None:
    kappa = audits[0]["cohen_kappa/judge"]
    assert kappa.coverage is not None
    low = kappa.model_copy(update={"coverage": kappa.coverage.model_copy(update={"shares": (0.95, 0.93, 0.9)})})
    assert shortfall_text(low) == "covers 90.0 % at ICC 0.15"
    assert shortfall_text(kappa.model_copy(update={"coverage": None})) == ""


def test_other_methods_are_not_said_to_be_measured(bank: Verdicts) -> None:
    data = _frame(bank).assign(gold=bank.reference[:, 0].astype(int), judge=bank.raters[0][:, 0].astype(int))
    audit = evenhand.audit(data, response="id", cluster="q", reference="gold", judge="judge", interval="percentile")
    assert audit["cohen_kappa/judge"].coverage is None
    assert coverage_text(audit["cohen_kappa/judge"]).startswith("not measured")
