import csv
import math
import random
from collections import Counter
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

import evenhand
from evenhand.api import AuditResult
from evenhand.audits.lines import MOST_LINE_ESTIMATES

BANK = files("evenhand.data") / "zhu_bank.csv"


@pytest.fixture(scope="module")
def bank() -> AuditResult:
    return evenhand.audit(str(BANK), criteria="per-cluster", blank="unparsed")


@pytest.fixture(scope="module")
def counted() -> dict[str, Counter[str]]:
    """Line → reference and judge label together → responses."""
    found: dict[str, Counter[str]] = {}
    with BANK.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for k in range(1, 11):
                if row[f"judge_{k}"]:
                    cell = row[f"gold_{k}"] + row[f"judge_{k}"]
                    found.setdefault(f"{row['cluster_id']}.{k}", Counter())[cell] += 1
    return found


def test_concentration_of_the_bank(bank: AuditResult) -> None:
    # contract: 25 of 85 in the five worst lines, 34 of 130 lines with errors; CONVENTIONS A.14
    worst, erring = bank["errors_in_worst_lines[lines=5]/judge"], bank["lines_with_errors/judge"]
    assert (worst.estimate, worst.events, worst.trials, worst.n_used, worst.unit) == (25, 25, 85, 130, "line")
    assert (erring.estimate, erring.events, erring.trials) == (34, 34, 130)
    for one in (worst, erring):
        assert (one.ci_low, one.ci_high, one.std_error, one.interval_method) == (None, None, None, "none")
        assert one.reason.startswith("no interval")


@pytest.mark.parametrize(
    ("line", "n", "absent", "accepts", "present", "rejects"),
    [  # oracles data/zhu_per_line_errors.csv
        ("11.3", 14, 7, 7, 7, 0),
        ("0.7", 12, 7, 5, 5, 0),
        ("13.4", 14, 7, 5, 7, 0),
        ("7.10", 14, 7, 0, 7, 1),
        ("10.1", 14, 13, 0, 1, 0),
    ],
)
def test_rates_of_a_line(
    bank: AuditResult, line: str, n: int, absent: int, accepts: int, present: int, rejects: int
) -> None:
    for name, events, trials in (
        ("error_rate", accepts + rejects, n),
        ("false_accept_rate", accepts, absent),
        ("false_reject_rate", rejects, present),
    ):
        one = bank[f"{name}[line={line}]/judge"]
        assert (one.events, one.trials, one.n_used, one.n_clusters) == (events, trials, trials, 1)
        assert one.estimate == pytest.approx(events / trials, abs=1e-15)
        assert (one.std_error, one.interval_method) == (None, "clopper_pearson")
        if not events:
            # no event in n: 1 - (α/2)^(1/n)
            assert (one.ci_low, one.ci_high) == pytest.approx((0, 1 - 0.025 ** (1 / trials)), abs=1e-12)


def test_every_line_of_the_bank_is_counted(bank: AuditResult, counted: dict[str, Counter[str]]) -> None:
    lines = bank.audit.of("error_rate", "judge")
    named = {one.params["line"]: one for one in lines if "line" in one.params}
    unscored = set(named) - set(counted)
    assert {line.split(".")[0] for line in unscored} == {"5", "8"}  # the two clusters that lost every verdict
    assert len(unscored) == 20
    for line in unscored:
        assert (named[line].status, named[line].trials, named[line].n_excluded) == ("undefined", 0, 14)
    for line, cells in counted.items():
        assert named[line].events == cells["01"] + cells["10"]
        assert named[line].trials == cells.total()


def test_the_table_of_lines_adds_up(bank: AuditResult) -> None:
    records = bank.audit.tables["lines/judge"].records()
    errors = [record["errors"] for record in records]
    assert errors == sorted(errors, reverse=True)
    assert errors[:5] == [7, 5, 5, 4, 4]
    assert sum(errors) == 85
    assert sum(record["scored"] for record in records) == 1800
    for record in records:
        assert record["errors"] == record["false_accepts"] + record["false_rejects"]
        assert record["scored"] == record["absent"] + record["present"]


def test_ties_stand_in_line_order(bank: AuditResult) -> None:
    records = bank.audit.tables["lines/judge"].records()
    order = [tuple(map(int, str(record["line"]).split("."))) for record in records if record["errors"] == 4]
    assert order == sorted(order)


def test_shared_criteria_are_the_lines() -> None:
    data = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "gold_x": ["0", "1", "1"],
            "judge_x": ["1", "1", "0"],
            "gold_y": ["0", "1", "1"],
            "judge_y": ["0", "1", ""],
        }
    )
    found = evenhand.audit(data, response="id", reference="gold_{criterion}", judge="judge_{criterion}")
    assert found["errors_in_worst_lines[lines=5]/judge"].estimate == 2
    assert found["errors_in_worst_lines[lines=5]/judge"].n_used == 2
    assert found["lines_with_errors/judge"].estimate == 1
    # a shared line's rate is its criterion's, with a cluster interval
    assert not [one for one in found.audit if "line" in one.params]
    assert found.audit.tables["lines/judge"].rows[0] == ("x", 2, 3, 1, 1, 1, 2)


def test_a_single_criterion_has_no_lines() -> None:
    data = pl.DataFrame({"id": ["a", "b"], "reference": ["0", "1"], "judge": ["1", "1"]})
    found = evenhand.audit(data, response="id")
    assert not found.audit.of("lines_with_errors", "judge")
    assert "lines/judge" not in found.audit.tables


def test_names_with_brackets_and_braces_survive() -> None:
    data = pl.DataFrame(
        {"id": ["a", "b"], "topic": ["q[1]/{x}", "p=2,%"], "gold_1": ["0", "1"], "gold_2": ["0", "1"],
         "judge_1": ["1", "1"], "judge_2": ["0", "1"]}
    )  # fmt: skip
    found = evenhand.audit(data, response="id", cluster="topic", criteria="per-cluster")
    one = found["error_rate[line=q%5B1%5D%2F{x}.1]/judge"]
    assert one.estimate == 1
    assert "q[1]/{x}.1" in one.estimand


def test_lines_of_grouped_clusters_keep_their_own_cluster() -> None:
    # 2,100 clusters of one response each, resampled in groups: 4,200 lines, of which the worst become estimates
    n = 2_100
    data = pl.DataFrame(
        {
            "id": [f"r{k}" for k in range(n)],
            "topic": [f"q{k}" for k in range(n)],
            **{f"gold_{c}": ["1" if k % 2 else "0" for k in range(n)] for c in (1, 2)},
            "judge_1": ["1" if k % 2 else "0" for k in range(n)],
            "judge_2": ["1" if k % 2 or k == 300 else "0" for k in range(n)],
        }
    )
    found = evenhand.audit(data, response="id", cluster="topic", criteria="per-cluster")
    assert found["lines_with_errors/judge"].estimate == 1
    assert found["lines_with_errors/judge"].trials == 2 * n
    assert found["error_rate[line=q300.2]/judge"].estimate == 1
    assert found.audit.tables["lines/judge"].rows[0][:3] == ("q300.2", 1, 1)
    assert (
        len([one for one in found.audit.of("error_rate", "judge") if list(one.params) == ["line"]])
        == MOST_LINE_ESTIMATES
    )


def test_concentration_stands_beside_what_chance_alone_gives(bank: AuditResult) -> None:
    """Zhu's bank: 25 of 85 errors on five lines and 34 lines with errors, against 13.5 (95th percentile 16) and 63.6.

    Expectation under independent errors at the overall rates, 84 of 808 and 1 of 992, by 20,000 binomial draws apart.
    """
    assert bank["expected_errors_in_worst_lines[lines=5]/judge"].estimate == pytest.approx(13.51, abs=0.15)
    assert bank["expected_errors_in_worst_lines[lines=5,quantile=0.95]/judge"].estimate == pytest.approx(16, abs=1)
    assert bank["expected_lines_with_errors/judge"].estimate == pytest.approx(63.64, abs=0.5)
    assert bank["lines_with_errors/judge"].n_excluded == 20


# --- screening ---


def test_screening_of_the_bank(bank: AuditResult) -> None:
    # 84 of 808 false accepts and 1 of 992 false rejects on every line; line 11.3 has 7 errors on 7 absent and 7 present
    accepts, rejects = 84 / 808, 1 / 992
    alone = accepts**7 * (1 - rejects) ** 7
    one = bank["error_rate[line=11.3]/judge"]
    made_up = sum(
        math.comb(7, a)
        * accepts**a
        * (1 - accepts) ** (7 - a)
        * math.comb(7, b)
        * rejects**b
        * (1 - rejects) ** (7 - b)
        for a in range(8)
        for b in range(8)
        if a + b >= 7
    )
    assert made_up > alone
    assert one.p_values["raw"] == pytest.approx(made_up, rel=1e-9)
    assert one.p_values["holm"] == one.p_values["bh"] == pytest.approx(130 * made_up, rel=1e-9)
    assert one.family.endswith("130 in all")
    records = bank.audit.tables["lines/judge"].records()
    flagged = {
        kind: {r["line"] for r in records if r[kind] is not None and r[kind] < 0.05} for kind in ("p_bh", "p_holm")
    }
    assert flagged["p_holm"] == {"11.3", "0.7", "13.4"}
    assert flagged["p_holm"] < flagged["p_bh"] == {"11.3", "0.7", "13.4", "0.1", "2.4", "11.9"}


def test_shrunken_rates_of_the_bank(bank: AuditResult) -> None:
    raw, shrunk = bank["error_rate[line=11.3]/judge"], bank["error_rate[line=11.3,rate=shrunken]/judge"]
    assert 85 / 1800 < shrunk.estimate < raw.estimate == 0.5
    none = bank["error_rate[line=10.1,rate=shrunken]/judge"]
    assert 0 < none.estimate < 85 / 1800
    assert (shrunk.ci_low, shrunk.interval_method) == (None, "none")
    assert shrunk.reason.startswith("no interval: shrunk towards Beta(")
    # of all lines together nothing is shrunk away
    records = [r for r in bank.audit.tables["lines/judge"].records() if r["shrunken_rate"] is not None]
    assert sum(r["shrunken_rate"] * r["scored"] for r in records) == pytest.approx(85, rel=0.1)
    unscored = [r for r in bank.audit.tables["lines/judge"].records() if not r["scored"]]
    assert len(unscored) == 20
    assert all(r[name] is None for r in unscored for name in ("p", "p_bh", "p_holm", "shrunken_rate"))


def test_lines_alike_are_screened_out(tmp_path: Path) -> None:
    rng, rows = random.Random(3), ["id,question,judge_1,judge_2,gold_1,gold_2"]
    for q in range(30):
        for n in range(20):
            judged = [int(rng.random() < 0.1) for _ in range(2)]
            rows.append(f"r{q}.{n},q{q},{judged[0]},{judged[1]},0,0")
    path = tmp_path / "v.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    found = evenhand.audit(path, cluster="question", criteria="per-cluster")
    records = found.audit.tables["lines/judge"].records()
    assert min(r["p_bh"] for r in records) > 0.05
    # rates spread no more than chance: nearly all of the difference between lines is shrunk away
    spread = [max(r[name] for r in records) - min(r[name] for r in records) for name in ("shrunken_rate",)]
    raw = [r["errors"] / r["scored"] for r in records]
    assert spread[0] < (max(raw) - min(raw)) / 2


def test_shared_criteria_have_no_tails_of_independent_verdicts() -> None:
    found = evenhand.audit(str(BANK), blank="unparsed")
    assert "p_holm" not in found.audit.tables["lines/judge"].columns
    assert not [one for one in found.audit if "rate" in one.params and "criterion" in one.params]
