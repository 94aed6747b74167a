import csv
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.api import AuditResult
from evenhand.errors import RequestError
from evenhand.results import Estimate

BANK = files("evenhand.data") / "zhu_bank.csv"
OPTIONS = {"criteria": "per-cluster", "blank": "unparsed", "cut": (4, 5, 6, 7)}


@pytest.fixture(scope="module")
def bank() -> AuditResult:
    return evenhand.audit(str(BANK), **OPTIONS)


def ends(estimate: Estimate) -> tuple[float | None, float | None]:
    return estimate.ci_low, estimate.ci_high


# --- the example bank ---


@pytest.mark.parametrize(
    ("cut", "excluded", "reject", "error"),
    [  # oracles zhu.acc cut*, zhu.unparsed=reject cut*, zhu.unparsed=gate error cut*; CONVENTIONS A.11
        (4, 0.961111, 0.861905, 0.823810),
        (5, 0.927778, 0.852381, 0.795238),
        (6, 0.900000, 0.852381, 0.771429),
        (7, 0.916667, 0.880952, 0.785714),
    ],
)
def test_accuracy_of_the_bank(bank: AuditResult, cut: int, excluded: float, reject: float, error: float) -> None:
    assert bank[f"accuracy[cut={cut}]/judge"].estimate == pytest.approx(excluded, abs=5e-7)
    assert bank[f"accuracy[cut={cut},unscored=reject]/judge"].estimate == pytest.approx(reject, abs=5e-7)
    assert bank[f"accuracy[cut={cut},unscored=error]/judge"].estimate == pytest.approx(error, abs=5e-7)


def test_populations_of_the_bank(bank: AuditResult) -> None:
    excluded, error = bank["accuracy[cut=5]/judge"], bank["accuracy[cut=5,unscored=error]/judge"]
    assert (excluded.n_used, excluded.n_excluded, excluded.n_clusters, excluded.unit) == (180, 30, 13, "response")
    assert (excluded.events, excluded.trials) == (167, 180)
    # contract: G = 15, the two clusters that lost everything count
    assert (error.n_used, error.n_excluded, error.n_clusters) == (210, 0, 15)


def test_default_interval_of_the_bank(bank: AuditResult) -> None:
    # shared check/contract.py
    assert ends(bank["accuracy[cut=5]/judge"]) == pytest.approx((0.8735, 0.9598), abs=6e-5)


def test_percentile_ends_are_the_published_ones_to_the_digit() -> None:
    # oracle cluster_bootstrap.zhu
    found = evenhand.audit(str(BANK), **OPTIONS, interval="percentile", seed=0, resamples=2_000)
    for cut, low, high in ((4, 0.92222, 0.99444), (5, 0.89326, 0.96154), (6, 0.85057, 0.94505), (7, 0.85556, 0.97253)):
        assert ends(found[f"accuracy[cut={cut}]/judge"]) == pytest.approx((low, high), abs=6e-6)


def test_leniency_of_the_bank(bank: AuditResult) -> None:
    # contract: .461111 in criteria a response, ten times the rate difference of 83/1800
    leniency = bank["leniency/judge"]
    assert leniency.estimate == pytest.approx(0.461111, abs=5e-7)
    assert leniency.estimate == pytest.approx(10 * bank["leniency[per=verdict]/judge"].estimate, abs=1e-12)
    assert leniency.ci_low == pytest.approx(10 * bank["leniency[per=verdict]/judge"].ci_low, abs=1e-12)
    assert (leniency.n_used, leniency.n_clusters, leniency.interval_scale) == (180, 13, "identity")


def test_one_flipped_verdict_can_flip_a_decision(tmp_path, bank: AuditResult) -> None:
    with BANK.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    judges = [f"judge_{k}" for k in range(1, 11)]
    golds = [f"gold_{k}" for k in range(1, 11)]
    total = lambda row, names: sum(int(row[name]) for name in names)  # noqa: E731
    # a response at the judge's cut of 5 whose reference passes too: one verdict less fails it
    flipped = next(row for row in rows if row["judge_1"] and total(row, judges) == 5 and total(row, golds) >= 5)
    flipped[next(name for name in judges if flipped[name] == "1")] = "0"
    path = tmp_path / "flipped.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    moved = evenhand.audit(str(path), **OPTIONS)
    assert moved["accuracy[cut=5]/judge"].estimate == pytest.approx(166 / 180, abs=1e-12)
    assert moved["accuracy[cut=7]/judge"].estimate == bank["accuracy[cut=7]/judge"].estimate
    assert moved["leniency/judge"].estimate == pytest.approx(82 / 180, abs=1e-12)


# --- small data against counting ---


def by_hand(rows, cut: float) -> dict[str, tuple[int, int]]:
    """Treatment → right decisions and decisions; rows are (reference, judge) texts with blanks."""
    found = {"excluded": [0, 0], "reject": [0, 0], "error": [0, 0]}
    for reference, judge in rows:
        if "" in reference:
            continue
        should, judged = sum(map(int, reference)) >= cut, "" not in judge
        passes = judged and sum(map(int, judge)) >= cut
        if judged:
            found["excluded"][0] += passes == should
            found["excluded"][1] += 1
        found["reject"][0] += passes == should
        found["error"][0] += judged and passes == should
        found["reject"][1] += 1
        found["error"][1] += 1
    return {name: (right, n) for name, (right, n) in found.items()}


@pytest.mark.parametrize("seed", range(4))
def test_decisions_are_counted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = rng.choice(["0", "1", ""], (2, 40, 4), p=[0.45, 0.5, 0.05])
    columns = {
        f"{name}_{k + 1}": side[:, k] for name, side in zip(("gold", "judge"), sides, strict=True) for k in range(4)
    }
    data = pl.DataFrame({"id": [f"r{n}" for n in range(40)], "topic": [f"q{n % 7}" for n in range(40)], **columns})
    cuts = (0.5, 1, 2.5, 4)
    found = evenhand.audit(data, response="id", cluster="topic", cut=cuts)
    rows = list(zip(sides[0].tolist(), sides[1].tolist(), strict=True))
    for cut in cuts:
        for treatment, (right, n) in by_hand(rows, cut).items():
            more = "" if treatment == "excluded" else f",unscored={treatment}"
            one = found[f"accuracy[cut={cut:g}{more}]/judge"]
            assert (one.events, one.trials, one.n_used, one.n_excluded) == (right, n, n, 40 - n)
    complete = [(g, j) for g, j in rows if "" not in g and "" not in j]
    gaps = [sum(map(int, j)) - sum(map(int, g)) for g, j in complete]
    assert found["leniency/judge"].estimate == pytest.approx(np.mean(gaps), abs=1e-12)
    assert found["leniency/judge"].n_excluded == 40 - len(complete)


def test_without_a_complete_response_accuracy_is_undefined() -> None:
    data = pl.DataFrame(
        {"id": ["a", "b"], "gold_1": ["1", "0"], "gold_2": ["", ""], "judge_1": ["1", "0"], "judge_2": ["1", "1"]}
    )
    found = evenhand.audit(data, response="id", cut=1)
    for treatment in ("", ",unscored=reject", ",unscored=error"):
        one = found[f"accuracy[cut=1{treatment}]/judge"]
        assert (one.status, one.reason, one.n_excluded) == ("undefined", "no response in the population", 2)
    assert found["leniency/judge"].status == "undefined"


def test_no_decision_without_a_cut_or_a_reference() -> None:
    data = pl.DataFrame(
        {"id": ["a", "b"], "gold_1": ["1", "0"], "gold_2": ["1", "0"], "judge_1": ["1", "0"], "judge_2": ["1", "1"]}
    )
    assert not evenhand.audit(data, response="id").audit.of("accuracy", "judge")
    alone = evenhand.audit(data.drop("gold_1", "gold_2"), response="id", judge="judge_{criterion}", cut=1)
    assert not alone.audit.of("accuracy", "judge")
    assert not alone.audit.of("leniency", "judge")


@pytest.mark.parametrize("cut", [0, -3, 5, 99])
def test_a_cut_that_decides_nothing_is_refused(cut: float) -> None:
    data = pl.DataFrame(
        {"id": ["a", "b"], **{f"{side}_{n}": ["1", "0"] for side in ("gold", "judge") for n in range(1, 5)}}
    )
    with pytest.raises(RequestError, match="a response meets 0 to 4 criteria"):
        evenhand.audit(data, response="id", cut=cut)
