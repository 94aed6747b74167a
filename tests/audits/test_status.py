from importlib.resources import files

import polars as pl
import pytest

import evenhand
from evenhand.api import AuditResult

BANK = files("evenhand.data") / "zhu_bank.csv"


@pytest.fixture(scope="module")
def bank() -> AuditResult:
    return evenhand.audit(str(BANK), criteria="per-cluster", blank="unparsed")


@pytest.fixture(scope="module")
def mixed() -> AuditResult:
    """Six responses in three clusters with one verdict of every kind, two scored pairs and one blank reference."""
    data = pl.DataFrame(
        {
            "id": list("abcdefgh"),
            "topic": list("ppqqqrrr"),
            "gold": ["1", "0", "1", "0", "1", "1", "", "0"],
            "verdict": ["1", "1", "CA", "", "=", "", "0", "0"],
            "state": ["", "scored", "", "unparsed", "", "refused", "", "error"],
        }
    )
    roles = {"response": "id", "cluster": "topic", "reference": "gold", "verdict": "verdict", "status": "state"}
    return evenhand.audit(data, **roles, abstain="CA", tie="=")


@pytest.mark.parametrize(
    ("name", "value"),
    [  # contract: 180 responses (30 excluded), 13 clusters; 210 × 10 slots, 300 unparsed
        ("n_responses", 180),
        ("n_clusters", 13),
        ("n_criteria", 10),
        ("n_verdicts", 2100),
        ("n_scored", 1800),
        ("n_unparsed", 300),
        ("n_abstained", 0),
        ("n_missing", 0),
        ("unparsed_rate", 1 / 7),
        ("abstention_rate", 0),
        ("selective_coverage", 6 / 7),
        ("selective_accuracy", 1715 / 1800),
    ],
)
def test_values_of_the_bank(bank: AuditResult, name: str, value: float) -> None:
    assert bank[f"{name}/judge"].estimate == pytest.approx(value, abs=1e-12)


def test_exclusions_of_the_bank(bank: AuditResult) -> None:
    assert bank["n_responses/judge"].n_excluded == 30
    assert bank["n_clusters/judge"].n_excluded == 2
    assert bank.audit.data.rows_excluded == {"judge unparsed": 300}
    assert bank.audit.data.rows_read == bank.audit.data.rows_used + 300
    assert bank["unparsed_rate/judge"].n_clusters == 15


def test_a_count_has_no_interval(bank: AuditResult) -> None:
    for one in bank.audit:
        if one.statistic.startswith("n_"):
            assert (one.std_error, one.ci_low, one.ci_high, one.interval_method) == (None, None, None, "none")
            assert one.reason == "a count of what was read, without sampling error"


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("abstention_rate", 1),
        ("tie_rate", 1),
        ("unparsed_rate", 1),
        ("refused_rate", 1),
        ("error_status_rate", 1),
        ("selective_coverage", 2),
    ],
)
def test_every_status_has_its_rate(mixed: AuditResult, name: str, events: int) -> None:
    one = mixed[f"{name}/judge"]
    assert (one.events, one.trials, one.n_clusters) == (events, 8, 3)


def test_every_status_has_its_count(mixed: AuditResult) -> None:
    names = ("verdicts", "scored", "abstained", "tied", "unparsed", "refused", "error", "missing")
    assert [mixed[f"n_{name}/judge"].estimate for name in names] == [8, 3, 1, 1, 1, 1, 1, 0]
    assert mixed["n_responses/judge"].estimate == 2
    assert mixed["n_clusters/judge"].estimate == 1


def test_selective_accuracy_is_that_of_scored_pairs(mixed: AuditResult) -> None:
    one = mixed["selective_accuracy/judge"]
    assert (one.events, one.trials, one.n_excluded, one.n_clusters) == (1, 2, 6, 1)


def test_exclusions_are_named_and_add_up(mixed: AuditResult) -> None:
    data = mixed.audit.data
    assert data.rows_excluded == {
        "judge abstained": 1,
        "judge error": 1,
        "judge refused": 1,
        "judge tied": 1,
        "judge unparsed": 1,
        "reference missing": 1,
    }
    assert (data.rows_read, data.rows_used) == (8, 2)


def test_rates_that_cannot_occur_are_left_out(bank: AuditResult) -> None:
    for name in ("tie_rate", "refused_rate", "error_status_rate"):
        assert not bank.audit.of(name, "judge")


def test_bounds_count_the_unscored_as_best_and_worst(mixed: AuditResult) -> None:
    # references with a label: 7; one error among two pairs, five unscored
    assert mixed["error_rate/judge"].estimate == 1 / 2
    assert mixed["error_rate[bound=lower]/judge"].estimate == pytest.approx(1 / 7)
    assert mixed["error_rate[bound=upper]/judge"].estimate == pytest.approx(6 / 7)
    assert mixed["error_rate[unscored=error]/judge"].n_excluded == 1
    # negatives: b accepted, d unparsed, h error
    assert mixed["false_accept_rate[bound=lower]/judge"].estimate == pytest.approx(1 / 3)
    assert mixed["false_accept_rate[bound=upper]/judge"].estimate == 1
    # positives: a right; c, e, f unscored
    assert mixed["false_reject_rate[bound=lower]/judge"].estimate == 0
    assert mixed["false_reject_rate[bound=upper]/judge"].estimate == pytest.approx(3 / 4)


def test_without_a_reference_the_judges_rate_stands_alone() -> None:
    data = pl.DataFrame({"id": list("abcde"), "topic": list("ppqqr"), "verdict": ["1", "0", "1", "1", ""]})
    found = evenhand.audit(data, response="id", cluster="topic", verdict="verdict")
    rate = found["judge_positive_rate/judge"]
    assert (rate.events, rate.trials, rate.n_excluded, rate.n_clusters) == (3, 4, 1, 2)
    assert not found.audit.of("selective_accuracy", "judge")
    assert not found.audit.data.has_reference
