"""Differences of two judges on the verdicts both and the reference score, and what the errors have in common."""

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.stats import agreement as of

RNG = np.random.default_rng(5)
N = 600
TRUTH = RNG.integers(0, 2, N)
JUDGES = {name: np.where(RNG.random(N) < rate, 1 - TRUTH, TRUTH) for name, rate in (("x", 0.1), ("y", 0.2), ("z", 0.2))}


def frame(judges=JUDGES, truth=TRUTH, **more):
    keys = {
        "response": [f"r{n // 4}" for n in range(len(truth))],
        "criterion": [str(n % 4) for n in range(len(truth))],
        "cluster": [f"q{n // 40}" for n in range(len(truth))],
    }
    labels = {name: [str(label) for label in judge] for name, judge in judges.items()}
    return pl.DataFrame({**keys, "reference": [str(label) for label in truth], **labels, **more})


def table(judge):
    counts = np.zeros((2, 2))
    np.add.at(counts, (TRUTH, judge), 1)
    return counts


@pytest.fixture(scope="module")
def three():
    return evenhand.audit(frame(), cluster="cluster", criterion="criterion", judge=("x", "y", "z"), cut=(3,))


def test_differences_are_those_of_the_judges(three):
    for statistic in (
        "cohen_kappa",
        "observed_agreement",
        "error_rate",
        "false_accept_rate",
        "false_reject_rate",
        "accuracy[cut=3]",
    ):
        found = three[f"{statistic}/x-y"]
        gap = three[f"{statistic}/x"].estimate - three[f"{statistic}/y"].estimate
        assert found.estimate == pytest.approx(gap, abs=1e-12)
        assert found.ci_low < gap < found.ci_high
        assert found.interval_scale == "identity"
        assert "x minus that of y" in found.estimand
    assert three["cohen_kappa/x-y"].n_used == N
    assert three["accuracy[cut=3]/x-y"].n_used == N // 4


def test_the_interval_is_a_cluster_jackknife_of_the_difference(three):
    left_out = []
    for cluster in range(N // 40):
        kept = np.arange(N) // 40 != cluster
        values = []
        for name in ("x", "y"):
            counts = np.zeros((2, 2))
            np.add.at(counts, (TRUTH[kept], JUDGES[name][kept]), 1)
            values.append(float(of.cohen_kappa(counts)))
        left_out.append(values[0] - values[1])
    g = len(left_out)
    error = np.sqrt((g - 1) / g * np.square(left_out - np.mean(left_out)).sum())
    assert three["cohen_kappa/x-y"].std_error == pytest.approx(error, rel=1e-9)


def test_only_what_all_three_score_counts():
    holes = {**{name: judge.astype(object) for name, judge in JUDGES.items()}}
    holes["x"] = np.where(np.arange(N) % 3 == 0, "", JUDGES["x"].astype(str))
    found = evenhand.audit(frame(holes), cluster="cluster", criterion="criterion", judge=("x", "y"))
    one, kept = found["error_rate/x-y"], np.arange(N) % 3 != 0
    assert (one.n_used, one.n_excluded) == (kept.sum(), N - kept.sum())
    gap = (JUDGES["x"] != TRUTH)[kept].mean() - (JUDGES["y"] != TRUTH)[kept].mean()
    assert one.estimate == pytest.approx(gap, abs=1e-12)


def test_the_order_of_judges_changes_the_sign_only():
    renamed = {"b": JUDGES["x"], "a": JUDGES["y"]}
    options = {"cluster": "cluster", "criterion": "criterion"}
    found = evenhand.audit(frame(renamed), judge=("b", "a"), **options)
    straight = evenhand.audit(frame(), judge=("x", "y"), **options)
    one, other = found["cohen_kappa/a-b"], straight["cohen_kappa/x-y"]
    assert (one.estimate, one.ci_low) == pytest.approx((-other.estimate, -other.ci_high), abs=1e-12)


def test_tests_by_name_say_what_they_assume(three):
    right = {name: judge == TRUTH for name, judge in JUDGES.items()}
    one = three["mcnemar/x-y"]
    only, other = np.sum(right["x"] & ~right["y"]), np.sum(~right["x"] & right["y"])
    assert three["mcnemar[quantity=chi2]/x-y"].estimate == pytest.approx((only - other) ** 2 / (only + other))
    assert one.reason.startswith(f"valid if rows were independent: only x right on {only}, only y on {other}")
    assert one.ci_low is None
    totals = np.array([right[name].sum() for name in JUDGES])
    rows = sum(right[name].astype(int) for name in JUDGES)
    q = 2 * (3 * (totals**2).sum() - totals.sum() ** 2) / (3 * totals.sum() - (rows**2).sum())
    assert three["cochran_q[quantity=q]/raters"].estimate == pytest.approx(q)
    assert three["cochran_q[quantity=df]/raters"].estimate == 2
    assert 0 <= three["cochran_q/raters"].estimate <= 1


def test_effective_judges(three):
    errors = np.array([JUDGES[name] != TRUTH for name in ("x", "y", "z")])
    correlation = np.corrcoef(errors)[np.triu_indices(3, 1)].mean()
    assert three["error_correlation/raters"].estimate == pytest.approx(correlation, abs=1e-12)
    assert three["effective_judges/raters"].estimate == pytest.approx(3 / (1 + 2 * correlation), rel=1e-12)


def test_a_judge_and_its_copy_are_one_judge():
    same = {"x": JUDGES["x"], "y": JUDGES["x"]}
    found = evenhand.audit(frame(same), cluster="cluster", criterion="criterion", judge=("x", "y"))
    assert found["effective_judges/raters"].estimate == pytest.approx(1)
    assert found["cohen_kappa/x-y"].estimate == 0
    assert found["mcnemar/x-y"].estimate == 1


def test_marks_and_more_labels():
    truth = RNG.integers(0, 6, N)
    judges = {name: np.clip(truth + RNG.integers(-1, 2 + shift, N), 0, 5) for name, shift in (("x", 0), ("y", 1))}
    found = evenhand.audit(frame(judges, truth), cluster="cluster", criterion="criterion", judge=("x", "y"))
    for statistic in ("bias", "mae", "pearson_r", "lin_ccc", "cohen_kappa", "observed_agreement"):
        gap = found[f"{statistic}/x"].estimate - found[f"{statistic}/y"].estimate
        assert found[f"{statistic}/x-y"].estimate == pytest.approx(gap, abs=1e-12), statistic
    halves = {name: judge / 2 for name, judge in judges.items()}
    marks = evenhand.audit(
        frame(halves, truth / 2), cluster="cluster", criterion="criterion", judge=("x", "y"), scale="continuous"
    )
    assert marks["bias/x-y"].estimate == pytest.approx(found["bias/x-y"].estimate / 2, abs=1e-12)


def test_many_judges_are_not_compared_in_pairs():
    many = {f"j{n:02}": JUDGES["x"] for n in range(11)}
    found = evenhand.audit(frame(many), cluster="cluster", criterion="criterion", judge=tuple(many))
    assert found["cohen_kappa/raters"].status == "not_assessed"
    assert "11 judges are 55 pairs" in found["mcnemar/raters"].reason
    assert not [one for one in found.audit if one.source == "j00-j01"]


def test_one_judge_is_compared_with_nobody():
    found = evenhand.audit(frame(), cluster="cluster", criterion="criterion", judge="x")
    assert not [one for one in found.audit if one.statistic in ("mcnemar", "effective_judges", "cochran_q")]


def test_a_reserved_name_is_told_apart():
    data = frame({"judge": JUDGES["x"], "y": JUDGES["y"]})
    found = evenhand.audit(data, cluster="cluster", criterion="criterion", judge=("judge", "y"))
    assert found["cohen_kappa/judge judge-y"].status == "ok"


def test_label_rates_of_more_than_two_labels():
    # d' V⁻¹ d over the first two labels, d the differences of margins and V their covariance under equal ones
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, N)
    judges = {"x": truth, "y": np.where(rng.random(N) < 0.3, 0, truth)}
    found = evenhand.audit(frame(judges, truth), cluster="cluster", criterion="criterion", judge=("x", "y"))
    one = found["stuart_maxwell[quantity=chi2]/x-y"]
    counts = np.histogram2d(judges["x"], judges["y"], bins=3, range=((0, 3), (0, 3)))[0]
    d = counts.sum(axis=1) - counts.sum(axis=0)
    v = np.diag(counts.sum(axis=1) + counts.sum(axis=0)) - counts - counts.T
    assert one.estimate == pytest.approx(d[:2] @ np.linalg.solve(v[:2, :2], d[:2]), rel=1e-9)
    assert found["stuart_maxwell[quantity=df]/x-y"].estimate == 2
    assert found["stuart_maxwell/x-y"].estimate < 1e-6
    assert found["stuart_maxwell/x-y"].reason.startswith("valid if rows were independent")
    assert not [one for one in evenhand.audit(frame(), criterion="criterion", judge=("x", "y")).audit if one.statistic == "stuart_maxwell"]  # fmt: skip
