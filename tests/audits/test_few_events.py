"""Limits of a rate with few events under other assumptions: statistics §9 has those of the example bank."""

from importlib.resources import files

import numpy as np
import pytest

import evenhand
from evenhand.stats.binomial import clopper_pearson

BANK = files("evenhand.data") / "zhu_bank.csv"


@pytest.fixture(scope="module")
def bank() -> evenhand.AuditResult:
    return evenhand.audit(str(BANK), criteria="per-cluster", blank="unparsed")


@pytest.mark.parametrize(
    ("kind", "percent"), [("none", 0.56), ("estimated", 0.65), ("assumed", 1.35), ("companion", 3.59)]
)
def test_limits_of_the_bank(bank, kind: str, percent: float) -> None:
    one = bank[f"false_reject_rate[bound=upper,icc={kind}]/judge"]
    assert 100 * one.estimate == pytest.approx(percent, abs=0.005)
    assert (one.events, one.trials, one.n_clusters, one.ci_low) == (1, 992, 13, None)
    assert one.reason.startswith("ICC ")


def test_the_assumed_one_is_the_interval_that_is_shown(bank) -> None:
    assert bank["false_reject_rate[bound=upper,icc=assumed]/judge"].estimate == bank["false_reject_rate/judge"].ci_high


def test_a_rate_with_events_in_many_clusters_has_its_interval_alone(bank) -> None:
    assert not bank.audit.of("false_accept_rate", "judge", icc="none")


def test_limits_among_the_words(bank, command, write) -> None:
    path = write("bank.csv", BANK.read_text(encoding="utf-8"))
    done = command("audit", path, "--criteria", "per-cluster", "--blank", "unparsed", "--out", "out")
    assert "few events; upper 3.6 % if clustered" in done.out
    card = command("show", "out", "false_reject_rate/judge", "--card").out
    for said in ("upper 0.0056, independent verdicts", "upper 0.0135, clustering assumed, ICC 0.02", "upper 0.0359"):
        assert said in card
    report = (path.parent / "out" / "report.md").read_text(encoding="utf-8")
    assert "Few events: the limit by what is assumed of their clustering" in report
    held = "false_reject_rate[bound=upper,icc=companion]/judge < 0.05"
    assert command("check", "out", "--require", held).code == 0


def audited(cells: list[tuple[int, int]], write) -> evenhand.AuditResult:
    """One cluster each of (false accepts, true rejects), with five false and five true accepts beside them."""
    rows, n = ["id,question,judge,reference"], 0
    for q, (accepts, rejects) in enumerate(cells):
        for count, judge, reference in ((accepts, 1, 0), (rejects, 0, 0), (5, 0, 1), (5, 1, 1)):
            for _ in range(count):
                n += 1
                rows.append(f"r{n},q{q},{judge},{reference}")
    return evenhand.audit(write("v.csv", "\n".join(rows)))


def test_no_event_has_an_upper_limit_and_all_events_a_lower_one(write) -> None:
    none = audited([(0, 20)] * 6, write)["false_accept_rate[bound=upper,icc=none]/judge"]
    assert none.estimate == pytest.approx(float(clopper_pearson(np.array(0.0), np.array(120.0), 0.95)[1]))
    all_ = audited([(20, 0)] * 6, write)["false_accept_rate[bound=lower,icc=none]/judge"]
    assert all_.estimate == pytest.approx(1 - none.estimate)


def test_a_companion_with_few_events_lends_nothing(write) -> None:
    found = audited([(0, 20)] * 4, write)
    assert found.audit.get("false_accept_rate[bound=upper,icc=assumed]/judge") is not None
    assert found.audit.get("false_accept_rate[bound=upper,icc=companion]/judge") is None


def test_one_cluster_has_no_limits(write) -> None:
    assert not audited([(0, 20)], write).audit.of("false_accept_rate", "judge", icc="none")
