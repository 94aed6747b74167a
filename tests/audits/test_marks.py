"""Marks against values computed from the rows by NumPy and by the declared definitions."""

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.stats.weighted_agreement import quadratic_weighted_kappa

RNG = np.random.default_rng(11)
N = 240
REFERENCE = np.round(RNG.normal(6, 1.6, N).clip(0, 10), 1)
JUDGE = np.round((REFERENCE + RNG.normal(0.4, 0.9, N)).clip(0, 10), 1)


def frame(judge=JUDGE, reference=REFERENCE):
    rows = {"response": [f"r{n}" for n in range(len(judge))], "cluster": [f"q{n // 12}" for n in range(len(judge))]}
    marks = {"judge": [f"{mark:g}" for mark in judge], "reference": [f"{mark:g}" for mark in reference]}
    return pl.DataFrame({**rows, **marks})


@pytest.fixture(scope="module")
def marks():
    return evenhand.audit(frame(), cluster="cluster", scale="continuous", range=(0, 10))


def test_moments_are_those_of_the_rows(marks):
    gap = JUDGE - REFERENCE
    for name, value in {
        "bias/judge": gap.mean(),
        "mae/judge": np.abs(gap).mean(),
        "rmse/judge": np.sqrt((gap**2).mean()),
        "pearson_r/judge": np.corrcoef(JUDGE, REFERENCE)[0, 1],
        "spread_ratio/judge": JUDGE.std() / REFERENCE.std(),
        "smd/judge": gap.mean() / REFERENCE.std(ddof=1),
        "smd[method=pooled]/judge": gap.mean() / np.sqrt((JUDGE.var(ddof=1) + REFERENCE.var(ddof=1)) / 2),
        "lin_ccc/judge": 2 * np.cov(JUDGE, REFERENCE, ddof=0)[0, 1] / (JUDGE.var() + REFERENCE.var() + gap.mean() ** 2),
        "mean_total/judge": JUDGE.mean(),
        "mean_total/reference": REFERENCE.mean(),
        "sd_total/judge": JUDGE.std(ddof=1),
    }.items():
        assert marks[name].estimate == pytest.approx(value, rel=1e-12), name
        assert marks[name].ci_low < value < marks[name].ci_high


def test_rounded_marks_are_rounded_half_up(marks):
    rounded = [np.floor(side + 0.5).astype(int) for side in (REFERENCE, JUDGE)]
    table = np.zeros((11, 11))
    np.add.at(table, tuple(rounded), 1)
    assert marks["quadratic_weighted_kappa/judge"].estimate == pytest.approx(
        float(quadratic_weighted_kappa(table, np.arange(11))), rel=1e-12
    )
    gap = np.abs(rounded[0] - rounded[1])
    assert marks["exact_agreement/judge"].estimate == pytest.approx((gap == 0).mean())
    assert marks["adjacent_agreement/judge"].estimate == pytest.approx((gap <= 1).mean())
    assert "rounded half up to whole marks from 0 to 10" in marks["quadratic_weighted_kappa/judge"].estimand


def test_ranks_are_of_unrounded_marks(marks):
    pairs = np.sign(JUDGE[:, None] - JUDGE) * np.sign(REFERENCE[:, None] - REFERENCE)
    untied = [np.count_nonzero(side[:, None] != side) for side in (JUDGE, REFERENCE)]
    assert marks["kendall_tau/judge"].estimate == pytest.approx(pairs.sum() / np.sqrt(untied[0] * untied[1]), rel=1e-12)
    ranks = [
        np.array([(np.sum(side < mark) + np.sum(side <= mark)) / 2 for mark in side]) for side in (JUDGE, REFERENCE)
    ]
    assert marks["spearman_rho/judge"].estimate == pytest.approx(np.corrcoef(*ranks)[0, 1], rel=1e-12)


def test_raters_have_marks_without_levels(marks):
    assert marks["krippendorff_alpha[metric=interval]/raters"].status == "ok"
    assert not marks.audit.of("fleiss_kappa", "raters")
    assert not marks.audit.of("cohen_kappa", "judge")


def test_the_same_whole_marks_as_levels_and_as_marks():
    judge, reference = np.round(JUDGE), np.round(REFERENCE)
    levels = evenhand.audit(frame(judge, reference), cluster="cluster", scale="ordinal", range=(0, 10))
    marks = evenhand.audit(frame(judge, reference), cluster="cluster", scale="continuous", range=(0, 10))
    assert (levels.audit.declarations.scale, levels.audit.declarations.levels[-1]) == ("ordinal", "10")
    for name in (
        *("bias", "mae", "rmse", "lin_ccc", "pearson_r", "spread_ratio", "smd", "quadratic_weighted_kappa"),
        *(
            "weighted_kappa[weights=linear]",
            "gwet_ac2",
            "gwet_ac2[grader=constant]",
            "exact_agreement",
            "adjacent_agreement",
        ),
        *("spearman_rho", "kendall_tau", "mean_total", "sd_total"),
    ):
        one, other = levels[f"{name}/judge"], marks[f"{name}/judge"]
        assert one.estimate == pytest.approx(other.estimate, rel=1e-12), name
        assert (one.ci_low, one.ci_high) == pytest.approx((other.ci_low, other.ci_high), rel=1e-6), name
    interval = "krippendorff_alpha[metric=interval]/raters"
    assert levels[interval].estimate == pytest.approx(marks[interval].estimate, rel=1e-12)
    assert levels["quadratic_weighted_kappa[se=null]/judge"].std_error is not None


def test_unit_and_offset_of_marks_change_what_they_should():
    tenfold = evenhand.audit(frame(JUDGE * 10, REFERENCE * 10), cluster="cluster", scale="continuous")
    plain = evenhand.audit(frame(), cluster="cluster", scale="continuous")
    for name, times in (("bias", 10), ("rmse", 10), ("mae", 10), ("lin_ccc", 1), ("pearson_r", 1), ("kendall_tau", 1)):
        assert tenfold[f"{name}/judge"].estimate == pytest.approx(times * plain[f"{name}/judge"].estimate, rel=1e-12)


def test_what_cannot_be_tabled_says_why():
    fine = evenhand.audit(frame(JUDGE / 100, REFERENCE / 100), cluster="cluster", scale="continuous", range=(0, 1))
    for name in ("quadratic_weighted_kappa", "exact_agreement", "adjacent_agreement"):
        one = fine[f"{name}/judge"]
        assert (one.status, one.estimate) == ("not_assessed", None)
        assert "rounded to whole marks there are 2" in one.reason
    many = np.arange(N) + 0.5
    ranks = evenhand.audit(frame(many, many[::-1]), cluster="cluster", scale="continuous")
    assert ranks["kendall_tau/judge"].status == "not_assessed"
    assert "at most 200" in ranks["kendall_tau/judge"].reason
    assert ranks["pearson_r/judge"].estimate == pytest.approx(-1)
    assert ranks["weighted_kappa[weights=linear]/judge"].status == "not_assessed"


def test_out_of_range_is_unparsed_and_never_clamped():
    judge = JUDGE.copy()
    judge[:7] = 85
    found = evenhand.audit(frame(judge), cluster="cluster", scale="continuous", range=(0, 10))
    assert found["n_unparsed/judge"].estimate == 7
    assert found["bias/judge"].estimate == pytest.approx((JUDGE - REFERENCE)[7:].mean(), rel=1e-12)
    assert found["bias/judge"].n_excluded == 7
    assert found.audit.data.rows_excluded == {"judge unparsed": 7}


def test_by_criterion():
    data = frame().with_columns(criterion=pl.Series(["a", "b"] * (N // 2)))
    found = evenhand.audit(data, cluster="cluster", criterion="criterion", scale="continuous")
    gap = JUDGE - REFERENCE
    for name, kept in (("a", slice(None, None, 2)), ("b", slice(1, None, 2))):
        one = found[f"bias[criterion={name}]/judge"]
        assert one.estimate == pytest.approx(gap[kept].mean(), rel=1e-12)
        assert (one.n_used, one.n_excluded) == (N // 2, 0)


def test_letters_count_by_position():
    letters = np.array(["F", "D", "C", "B", "A"])
    rows = RNG.integers(0, 5, (60, 2))
    data = pl.DataFrame(
        {"response": [str(n) for n in range(60)], "judge": letters[rows[:, 0]], "reference": letters[rows[:, 1]]}
    )
    found = evenhand.audit(data, scale="ordinal", levels=tuple(letters))
    assert found["pearson_r/judge"].estimate == pytest.approx(np.corrcoef(rows.T)[0, 1], rel=1e-12)
    assert not found.audit.of("bias", "judge")  # letters have no unit


def test_a_hundred_levels_have_no_design_effect():
    data = frame(np.floor(JUDGE * 9.9), np.floor(REFERENCE * 9.9))
    levels = tuple(str(level) for level in range(100))
    found = evenhand.audit(data, cluster="cluster", scale="ordinal", levels=levels)
    assert found["quadratic_weighted_kappa/judge"].status == "ok"
    assert found.audit.declarations.levels == levels


def test_saved_tallies_hold_the_sums(tmp_path):
    from evenhand.cli.main import run

    frame().write_csv(tmp_path / "marks.csv")
    options = ["--cluster", "cluster", "--scale", "continuous", "--range", "0,10", "--out", str(tmp_path / "out")]
    assert run(["audit", str(tmp_path / "marks.csv"), *options]) == 0
    tallies = pl.read_parquet(tmp_path / "out" / "tallies.parquet")
    assert tallies["marks[quantity=n,times=10]/judge"].sum() == N
    assert tallies["marks[quantity=sum_judge,times=10]/judge"].sum() == pytest.approx(10 * JUDGE.sum())
    assert pl.read_parquet(tmp_path / "out" / "disagreements.parquet").height == np.count_nonzero(JUDGE != REFERENCE)


def test_marks_without_a_reference():
    found = evenhand.audit(frame().drop("reference"), cluster="cluster", scale="continuous")
    assert found["mean_total/judge"].estimate == pytest.approx(JUDGE.mean(), rel=1e-12)
    assert not found.audit.of("bias", "judge")


def test_no_pair_of_marks_is_undefined_throughout():
    data = frame().with_columns(judge=pl.lit(""))
    found = evenhand.audit(data, cluster="cluster", scale="continuous", range=(0, 10))
    for one in found.audit:
        if one.statistic in ("bias", "mae", "pearson_r", "kendall_tau", "quadratic_weighted_kappa", "exact_agreement"):
            assert (one.status, one.estimate) == ("undefined", None), one.id


def test_equal_marks_have_no_error_and_a_bound():
    found = evenhand.audit(frame(REFERENCE), cluster="cluster", scale="continuous", range=(0, 10))
    assert (found["mae/judge"].estimate, found["bias/judge"].estimate) == (0, 0)
    assert found["lin_ccc/judge"].estimate == 1
    assert found["exact_agreement/judge"].estimate == 1
    assert 0 < found["exact_agreement/judge"].ci_low < 1


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, 1e9])
def test_an_offset_of_all_marks_changes_no_number_that_rests_on_differences(offset: float) -> None:
    """Squares of large marks lose the digits in which they differ; sums are taken from an origin of their own."""
    rng = np.random.default_rng(4)
    reference = np.rint(rng.normal(0, 2, 60))
    judge = np.rint(reference + rng.normal(0.2, 1.4, 60))
    frame = pl.DataFrame(
        {
            "id": [f"r{number}" for number in range(60)],
            "question": [f"q{number // 6}" for number in range(60)],
            "reference": [f"{mark + offset:.0f}" for mark in reference],
            "judge": [f"{mark + offset:.0f}" for mark in judge],
        }
    )
    found = evenhand.audit(frame, response="id", cluster="question", scale="continuous")
    spread = reference.var() + judge.var() + (judge.mean() - reference.mean()) ** 2
    expected = {
        "rmse/judge": float(np.sqrt(np.mean((judge - reference) ** 2))),
        "pearson_r/judge": float(np.corrcoef(judge, reference)[0, 1]),
        "lin_ccc/judge": float(2 * np.cov(judge, reference, ddof=0)[0, 1] / spread),
        "sd_total/judge": float(judge.std(ddof=1)),
        "mean_total/judge": float(judge.mean() + offset),
    }
    for name, value in expected.items():
        assert found[name].estimate == pytest.approx(value, rel=1e-12, abs=1e-9), name
