"""True rates in an audit: a part labelled, all labelled, none labelled, marks, clipping, few errors, and coverage."""

import numpy as np
import pytest

import evenhand
from evenhand.stats import true_rates as of

NAMES = ("corrected_prevalence/judge", "ppi_mean/judge")


def bank(
    seed: int = 0, *, clusters: int = 40, labelled: int = 15, size: int = 8, error: float = 0.15, marks: bool = False
) -> str:
    rng, rows = np.random.default_rng(seed), ["id,question,gold,judge"]
    for c in range(clusters):
        rate = np.clip(0.4 + 0.3 * rng.uniform(-1, 1), 0, 1)
        for i in range(size):
            truth = int(rng.integers(0, 6)) if marks else int(rng.random() < rate)
            said = int(np.clip(truth + rng.integers(-1, 2), 0, 5)) if marks else truth ^ int(rng.random() < error)
            rows.append(f"r{c}_{i},q{c},{truth if c < labelled else ''},{said}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def audited(tmp_path):
    def ran(content: str, **options):
        path = tmp_path / "v.csv"
        path.write_text(content, encoding="utf-8")
        return evenhand.audit(path, **{"response": "id", "cluster": "question", **options})

    return ran


def columns(content: str):
    rows = [line.split(",") for line in content.splitlines()[1:]]
    cluster = np.array([int(row[1][1:]) for row in rows])
    labelled = np.array([row[2] != "" for row in rows])
    return cluster, labelled, np.array([float(row[2] or 0) for row in rows]), np.array([float(row[3]) for row in rows])


def test_a_part_labelled(audited) -> None:
    content = bank()
    found = audited(content)
    cluster, labelled, y, f = columns(content)
    q1, q0 = f[labelled & (y == 1)].mean(), 1 - f[labelled & (y == 0)].mean()
    rate = found["corrected_prevalence/judge"]
    assert rate.estimate == pytest.approx((f[~labelled].mean() + q0 - 1) / (q0 + q1 - 1), abs=1e-12)
    assert rate.ci_low < rate.estimate < rate.ci_high
    assert (rate.n_used, rate.n_excluded, rate.n_clusters) == (320, 0, 40)
    assert "120 labels can certify an agreement of 0.975" in rate.reason
    mean = found["ppi_mean/judge"]
    sums = of.mean_sums(y, f, labelled, cluster, 40)
    assert mean.estimate == pytest.approx(float(of.ppi_mean(sums.sum(axis=0))), abs=1e-12)
    assert mean.ci_high - mean.ci_low < rate.ci_high - rate.ci_low
    assert "λ = " in mean.reason
    assert mean.interval_df == pytest.approx(rate.interval_df, rel=0.5)


def test_rows_without_clusters_have_the_interval_of_independent_rows(audited) -> None:
    content = bank()
    lines = [",".join(np.array(line.split(","))[[0, 2, 3]]) for line in content.splitlines()]
    rate = audited("\n".join(lines) + "\n", cluster=None)["corrected_prevalence/judge"]
    _, labelled, y, f = columns(content)
    q1, q0 = f[labelled & (y == 1)].mean(), 1 - f[labelled & (y == 0)].mean()
    counts = (labelled & (y == 0)).sum(), (labelled & (y == 1)).sum()
    lee = of.lee_ends(f[~labelled].mean(), q0, q1, (~labelled).sum(), *counts)
    assert rate.interval_method == "lee2026"
    assert (rate.ci_low, rate.ci_high) == (pytest.approx(lee.low), pytest.approx(lee.high))


def test_all_labelled_is_not_assessed_and_says_so(audited) -> None:
    found = audited(bank(labelled=40))
    for name in NAMES:
        assert found[name].status == "not_assessed"
        assert "every verdict has a reference label" in found[name].reason
    few = audited(bank(labelled=39))
    assert "every verdict but 8 of 320 has" in few["ppi_mean/judge"].reason


def test_without_a_reference_there_is_nothing(audited) -> None:
    text = "\n".join(line.rsplit(",", 2)[0] + "," + line.rsplit(",", 1)[1] for line in bank().splitlines())
    found = audited(text + "\n")
    assert all(found.audit.get(name) is None for name in NAMES)


def test_marks_have_a_mean_and_no_prevalence(audited) -> None:
    content = bank(marks=True)
    found = audited(content, scale="ordinal", levels=(["0", "1", "2", "3", "4", "5"]))
    assert found.audit.get("corrected_prevalence/judge") is None
    cluster, labelled, y, f = columns(content)
    expected = of.ppi_mean(of.mean_sums(y, f, labelled, cluster, 40).sum(axis=0))
    assert found["ppi_mean/judge"].estimate == pytest.approx(float(expected), abs=1e-12)


def test_clipping_is_said(audited) -> None:
    # the judge's rate on the unlabelled, 2 %, is below its false-accept rate on the labelled, 20 %
    rows = ["id,question,gold,judge"]
    for c in range(20):
        for i in range(10):
            gold = i % 2
            rows.append(f"l{c}_{i},a{c},{gold},{gold if i > 1 else 1 - gold}")
            rows.append(f"u{c}_{i},b{c},,{int(c == 0 and i < 4)}")
    found = audited("\n".join(rows) + "\n")["corrected_prevalence/judge"]
    assert found.estimate == 0
    assert found.reason.startswith("the formula gives -0.3000, outside 0 to 1: clipped")
    assert found.ci_low == 0


def test_no_error_seen_is_no_certainty(audited) -> None:
    found = audited(bank(error=0.0))["corrected_prevalence/judge"]
    assert "errors of one kind in 0 labelled clusters" in found.reason
    assert found.ci_low < found.estimate < found.ci_high


def test_a_judge_no_better_than_chance_is_undefined(audited) -> None:
    found = audited(bank(error=0.9))["corrected_prevalence/judge"]
    assert found.status == "undefined"
    assert "no better than chance" in found.reason


@pytest.mark.parametrize("interval", ["percentile", "none"])
def test_other_intervals_are_withheld(audited, interval: str) -> None:
    found = audited(bank(), interval=interval)
    for name in NAMES:
        assert found[name].ci_low is None
        assert "jackknife intervals only" in found[name].reason


def covered(audited, n: int) -> dict[str, float]:
    hits = dict.fromkeys(NAMES, 0)
    for seed in range(n):
        found = audited(bank(seed), resamples=100)
        for name in NAMES:
            hits[name] += found[name].ci_low <= 0.4 <= found[name].ci_high
    return {name: count / n for name, count in hits.items()}


@pytest.mark.slow
def test_intervals_of_an_audit_cover(audited) -> None:
    assert all(share >= 0.9 for share in covered(audited, 150).values())
