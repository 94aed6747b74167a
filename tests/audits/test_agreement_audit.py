import csv
import math
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.api import AuditResult
from evenhand.results import Estimate
from evenhand.stats import agreement as of
from evenhand.stats.intervals import METHODS

BANK = files("evenhand.data") / "zhu_bank.csv"
OPTIONS = {"criteria": "per-cluster", "blank": "unparsed", "cut": (5,)}


@pytest.fixture(scope="module")
def bank() -> AuditResult:
    return evenhand.audit(str(BANK), **OPTIONS)


def rows_of_bank() -> list[dict[str, str]]:
    with BANK.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def frame(tables: list[list[list[int]]], labels: tuple[str, ...] = ("0", "1")) -> pl.DataFrame:
    """Verdicts with these reference × judge counts a cluster."""
    found = [
        (f"q{cluster}", labels[r], labels[j])
        for cluster, table in enumerate(tables)
        for r, row in enumerate(table)
        for j, count in enumerate(row)
        for _ in range(count)
    ]
    names = ("cluster", "reference", "judge")
    columns = {name: [row[at] for row in found] for at, name in enumerate(names)}
    return pl.DataFrame({"response": [f"r{at}" for at in range(len(found))], **columns})


def audit(tables: list[list[list[int]]], **options) -> AuditResult:
    return evenhand.audit(frame(tables), cluster="cluster", **{"levels": ("0", "1"), **options})


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.ci_low is not None, estimate.reason
    assert estimate.ci_high is not None, estimate.reason
    return estimate.ci_low, estimate.ci_high


# --- the example bank ---


@pytest.mark.parametrize(
    ("name", "value"),
    [  # shared spec/contract.md, "The example bank"
        ("error_rate/judge", 0.047222),
        ("false_accept_rate/judge", 0.103960),
        ("false_reject_rate/judge", 0.001008),
        ("error_rate[criterion=1]/judge", 0.144444),
        ("cohen_kappa/judge", 0.903640),
        ("phi/judge", 0.907667),
        # spec/statistics.md §2: per-verdict error with unscored counted wrong .1833 = (85 + 300)/2100
        ("error_rate[unscored=error]/judge", 385 / 2100),
        ("error_rate[bound=upper]/judge", 385 / 2100),
        ("error_rate[bound=lower]/judge", 85 / 2100),
        ("leniency[per=verdict]/judge", 83 / 1800),  # 84 false accepts less 1 false reject
        ("prevalence/judge", 992 / 1800),
        ("judge_positive_rate/judge", 1075 / 1800),
        ("precision/judge", 991 / 1075),
        ("recall/judge", 991 / 992),
        ("specificity/judge", 724 / 808),
        ("npv/judge", 724 / 725),
        ("f1/judge", 2 * 991 / (2 * 991 + 85)),
        ("balanced_accuracy/judge", (991 / 992 + 724 / 808) / 2),
        ("kappa_phi_ratio/judge", 0.903640 / 0.907667),
    ],
)
def test_values_of_the_bank(bank: AuditResult, name: str, value: float) -> None:
    assert bank[name].estimate == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [  # spec/statistics.md §9 and shared check/contract.py; false reject: floored 1.3 %
        ("cohen_kappa/judge", 0.8300, 0.9454),
        ("false_accept_rate/judge", 0.0573, 0.1813),
        ("false_reject_rate/judge", 0.0000, 0.01346),
    ],
)
def test_default_intervals_of_the_bank(bank: AuditResult, name: str, low: float, high: float) -> None:
    assert ends(bank[name]) == pytest.approx((low, high), abs=6e-5)


def test_percentile_ends_are_the_published_ones_to_the_digit() -> None:
    # oracle cluster_bootstrap.zhu: Zhu 2026 at default_rng(0), 2,000 draws
    found = evenhand.audit(str(BANK), **OPTIONS, interval="percentile", seed=0, resamples=2_000)
    for name, low, high in (
        ("error_rate/judge", 0.02582, 0.06945),
        ("false_accept_rate/judge", 0.05548, 0.15491),
        ("false_reject_rate/judge", 0.0, 0.00307),
        ("error_rate[criterion=1]/judge", 0.08242, 0.20556),
    ):
        assert ends(found[name]) == pytest.approx((low, high), abs=6e-6)
        assert found[name].interval_method == "percentile"


def test_design_effects_and_degrees_of_freedom(bank: AuditResult) -> None:
    # spec/statistics.md §9: design effects κ 5.7, false accept 6.3 on the bank
    assert bank["cohen_kappa/judge"].design_effect == pytest.approx(5.7, abs=0.05)
    assert bank["false_accept_rate/judge"].design_effect == pytest.approx(6.3, abs=0.05)
    assert bank["cohen_kappa/judge"].interval_df == pytest.approx(11.98, abs=0.005)
    assert bank["cohen_kappa/judge"].interval_scale == "−log(1−x)"
    assert bank["phi/judge"].interval_scale == "atanh"
    assert bank["error_rate/judge"].interval_scale == "logit"


def test_populations_of_the_bank(bank: AuditResult) -> None:
    # 2,100 slots of which 300 are unparsed in 30 responses; two clusters lost everything
    facts = {
        "cohen_kappa/judge": (1800, 300, 13),
        "false_accept_rate/judge": (808, 300, 13),
        "false_reject_rate/judge": (992, 300, 13),
        "error_rate[criterion=1]/judge": (180, 30, 13),
        "error_rate[unscored=error]/judge": (2100, 0, 15),
    }
    for name, (used, excluded, clusters) in facts.items():
        one = bank[name]
        assert (one.n_used, one.n_excluded, one.n_clusters) == (used, excluded, clusters)
    rate = bank["false_accept_rate/judge"]
    assert (rate.events, rate.trials) == (84, 808)


def test_other_standard_errors_on_request(bank: AuditResult) -> None:
    # oracle cr2.zhu.error_rate: CR1 .0117644021675564, CR2 .0117517659657962
    errors = bank["error_rate/judge"]
    assert set(errors.std_errors) == {"naive", "delta", "cr1", "cr2", "bootstrap"}
    assert bank["error_rate[se=cr1]/judge"].std_error == pytest.approx(0.0117644021675564, abs=1e-7)
    assert bank["error_rate[se=cr2]/judge"].std_error == pytest.approx(0.0117517659657962, abs=1e-7)
    binomial = math.sqrt(85 / 1800 * (1 - 85 / 1800) / 1800)
    assert bank["error_rate[se=delta]/judge"].std_error == pytest.approx(binomial, rel=1e-6)
    assert bank["error_rate[se=naive]/judge"].std_error == pytest.approx(binomial * math.sqrt(1800 / 1799), rel=1e-6)
    null = of.kappa_null_std_error(np.array([[724.0, 84.0], [1.0, 991.0]]))
    assert bank["cohen_kappa[se=null]/judge"].std_error == pytest.approx(float(null), rel=1e-12)
    # the jackknife stays the one beside the estimate, under every id
    assert bank["cohen_kappa[se=null]/judge"].ci_low == bank["cohen_kappa/judge"].ci_low


def test_the_ratio_of_kappa_to_phi_carries_no_interval(bank: AuditResult) -> None:
    ratio = bank["kappa_phi_ratio/judge"]
    assert (ratio.ci_low, ratio.ci_high, ratio.std_error, ratio.interval_method) == (None, None, None, "none")
    assert "leniency[per=verdict]" in ratio.reason


def test_every_criterion_of_the_bank_is_counted(bank: AuditResult) -> None:
    scored = [row for row in rows_of_bank() if row["judge_1"]]
    for k in range(1, 11):
        pairs = [(row[f"gold_{k}"], row[f"judge_{k}"]) for row in scored]
        table = np.array([[pairs.count((r, j)) for j in "01"] for r in "01"], dtype=float)
        named = {
            "error_rate": 1 - of.observed_agreement(table),
            "observed_agreement": of.observed_agreement(table),
            "cohen_kappa": of.cohen_kappa(table),
            "phi": of.phi(table),
            "false_accept_rate": table[0, 1] / table[0].sum(),
            "false_reject_rate": table[1, 0] / table[1].sum(),
            "prevalence": table[1].sum() / table.sum(),
            "judge_positive_rate": table[:, 1].sum() / table.sum(),
        }
        for name, value in named.items():
            assert bank[f"{name}[criterion={k}]/judge"].estimate == pytest.approx(float(value), abs=1e-12)
        assert bank[f"leniency[criterion={k},per=verdict]/judge"].estimate == pytest.approx(
            float(of.leniency_per_verdict(table)), abs=1e-12
        )


def test_one_flipped_verdict_moves_the_values(bank: AuditResult, tmp_path: Path) -> None:
    rows = rows_of_bank()
    flipped = next(row for row in rows if row["gold_3"] == row["judge_3"] == "0")
    flipped["judge_3"] = "1"
    path = tmp_path / "flipped.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    moved = evenhand.audit(str(path), **OPTIONS)
    assert moved["error_rate/judge"].estimate == pytest.approx(86 / 1800, abs=1e-12)
    assert moved["false_accept_rate/judge"].estimate == pytest.approx(85 / 808, abs=1e-12)
    assert moved["false_reject_rate/judge"].estimate == bank["false_reject_rate/judge"].estimate
    table = np.array([[723.0, 85.0], [1.0, 991.0]])
    assert moved["cohen_kappa/judge"].estimate == pytest.approx(float(of.cohen_kappa(table)), abs=1e-12)
    assert moved["phi/judge"].estimate == pytest.approx(float(of.phi(table)), abs=1e-12)
    assert moved["error_rate[criterion=3]/judge"].estimate == pytest.approx(14 / 180, abs=1e-12)
    one, same = (found["error_rate[criterion=1]/judge"] for found in (moved, bank))
    assert one.model_copy(update={"simultaneous": None}) == same.model_copy(update={"simultaneous": None})


# --- worked examples and undefined values ---


@pytest.mark.parametrize(
    ("table", "values"),
    [  # spec/statistics.md §2: (TP, FN, FP, TN) = (40, 10, 20, 30) and (5, 5, 0, 90)
        ([[30, 20], [10, 40]], {"observed_agreement": 0.7, "f1": 0.727273, "cohen_kappa": 0.4, "phi": 0.408248}),
        ([[90, 0], [5, 5]], {"observed_agreement": 0.95, "f1": 0.666667, "cohen_kappa": 0.642857, "phi": 0.688247}),
        ([[30, 0], [20, 0]], {"cohen_kappa": 0, "gwet_ac1": 0.411765, "brennan_prediger": 0.2, "scott_pi": -0.25}),
    ],
)
def test_worked_examples(table, values: dict[str, float]) -> None:
    found = audit([table])
    for name, value in values.items():
        assert found[f"{name}/judge"].estimate == pytest.approx(value, abs=5e-7)


def test_a_judge_that_never_says_yes_has_kappa_0_and_no_phi() -> None:
    found = audit([[[45, 0], [5, 0]], [[45, 0], [5, 0]]])
    assert found["cohen_kappa/judge"].estimate == 0
    phi = found["phi/judge"]
    assert (phi.estimate, phi.status, phi.ci_low) == (None, "undefined", None)
    assert phi.reason == "0/0, no variation in labels: judge uses one label only: 100 of 100 are 0"
    assert found["precision/judge"].reason == "the judge never says 1"


def test_case_und_01_one_label_only() -> None:
    found = audit([[[0, 0], [0, 6]], [[0, 0], [0, 6]]])
    for name in ("cohen_kappa", "scott_pi", "phi"):
        one = found[f"{name}/judge"]
        assert (one.estimate, one.status, one.ci_low, one.ci_high, one.std_error) == (
            None,
            "undefined",
            None,
            None,
            None,
        )
        assert "reference uses one label only: 12 of 12 are 1" in one.reason
    assert found["observed_agreement/judge"].estimate == 1
    assert found["gwet_ac1/judge"].estimate == 1
    assert found["false_accept_rate/judge"].reason == "the reference is never 0"


def test_a_faultless_judge_has_a_bound_and_no_false_certainty() -> None:
    found = audit([[[8, 0], [0, 9]]] * 6)
    for name in ("cohen_kappa", "phi", "gwet_ac1", "brennan_prediger", "scott_pi"):
        low, high = ends(found[f"{name}/judge"])
        assert 0.5 < low < high == 1
        assert found[f"{name}/judge"].reason.startswith("no disagreement seen: one-sided bound")
    for name in ("balanced_accuracy/judge", "leniency[per=verdict]/judge"):
        assert (found[name].ci_low, found[name].ci_high) == (None, None)
        assert found[name].reason


def test_one_cluster_has_values_and_no_error() -> None:
    found = audit([[[30, 20], [10, 40]]])
    for one in found.audit:
        assert one.std_error is None
        if one.statistic not in ("errors_in_worst_lines",):
            assert one.ci_low is None, one.id
    assert found["cohen_kappa/judge"].reason.startswith("one cluster")
    assert any("one cluster" in words for words in found.audit.warnings)


def test_very_unequal_clusters_do_not_end_the_audit() -> None:
    # G* = 1.007: a t quantile beyond floating point once made an infinite end, which no saved number may be
    found = audit([[[1000, 50], [40, 1000]], [[2, 1], [1, 3]]])
    assert found["cohen_kappa/judge"].ci_low is None
    assert "effective clusters" in found["cohen_kappa/judge"].reason


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_ends_that_can_be_saved(method: str) -> None:
    rng = np.random.default_rng(4)
    found = audit(
        [rng.multinomial(30, [0.4, 0.1, 0.05, 0.45]).reshape(2, 2).tolist() for _ in range(6)], interval=method
    )
    loaded = type(found.audit).model_validate_json(found.audit.to_json())
    limits = {"leniency": -1, "cohen_kappa": -1, "phi": -1, "scott_pi": -1, "gwet_ac1": -1, "brennan_prediger": -1}
    for one in loaded:
        if (
            one.ci_low is not None
            and one.ci_high is not None
            and one.source == "judge"
            and not one.statistic.startswith("n_")
        ):
            assert limits.get(one.statistic, 0) <= one.ci_low <= one.ci_high <= 1, one.id
        elif one.source == "judge" and one.statistic in limits and method != "default":
            assert one.reason or method == "none", one.id


# --- more judges, more labels, more clusters ---


def test_several_judges_are_each_audited_alone() -> None:
    one = frame([[[5, 2], [1, 6]], [[4, 1], [3, 7]], [[6, 0], [2, 5]]])
    two = one.with_columns(strict=pl.when(pl.col("response").str.ends_with("3")).then(pl.lit("0")).otherwise("judge"))
    shared = {"cluster": "cluster", "reference": "reference", "levels": ("0", "1")}
    both = evenhand.audit(two, judge=("judge", "strict"), **shared)
    for name, source in (("judge", "judge judge"), ("strict", "strict")):
        alone = evenhand.audit(two, judge=name, **shared)
        for statistic in ("cohen_kappa", "error_rate", "phi"):
            there = both.audit.of(statistic, source)[0]
            here = alone[f"{statistic}/judge"]
            assert (there.estimate, there.ci_low, there.ci_high) == (here.estimate, here.ci_low, here.ci_high)


def test_three_labels_have_the_coefficients_of_any_scale() -> None:
    # oracle kappa.abstractors.kappa.unweighted and the irrCAC ones beside it
    labels = ("a", "b", "c")
    data = frame([[[13, 0, 0], [0, 20, 7], [0, 4, 56]]], labels)
    found = evenhand.audit(data, cluster="cluster", scale="nominal", levels=labels)
    for name, value in {
        "cohen_kappa": 0.796409402183972,
        "scott_pi": 0.796239696211911,
        "gwet_ac1": 0.849330548231346,
        "brennan_prediger": 0.835,
        "observed_agreement": 0.89,
    }.items():
        assert found[f"{name}/judge"].estimate == pytest.approx(value, abs=1e-8)
    assert not found.audit.of("phi", "judge")


def test_clusters_behind_groups_are_counted() -> None:
    # 2,100 clusters of one verdict each in 1,024 groups: every statistic names the clusters behind it
    rng = np.random.default_rng(0)
    reference, judge = rng.integers(0, 2, 2_100), rng.integers(0, 2, 2_100)
    data = pl.DataFrame(
        {
            "response": [f"r{n}" for n in range(2_100)],
            "cluster": [f"q{n}" for n in range(2_100)],
            "reference": reference.astype(str),
            "judge": np.where(np.arange(2_100) % 7 == 0, "", judge.astype(str)),
        }
    )
    found = evenhand.audit(data, cluster="cluster")
    scored = np.arange(2_100) % 7 != 0
    assert found["cohen_kappa/judge"].n_clusters == scored.sum()
    assert found["false_accept_rate/judge"].n_clusters == (scored & (reference == 0)).sum()
    assert found["precision/judge"].n_clusters == (scored & (judge == 1)).sum()
    either = scored & ((judge == 1) | (reference == 1))
    assert found["f1/judge"].n_clusters == either.sum()
    assert found["error_rate[bound=upper]/judge"].n_clusters == 2_100
    assert found["false_accept_rate/judge"].estimate == pytest.approx(
        judge[scored & (reference == 0)].mean(), abs=1e-12
    )
