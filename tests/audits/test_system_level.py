"""Systems behind single responses: means, rankings and where correlation lies, through the whole audit."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats  # noqa: TID251

import evenhand
from evenhand.report.systems import system_sentences

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
OPTIONS = {"response": "id", "cluster": "item", "judge": "judge", "reference": "reference", "author": "model"}
MARKS = {"scale": "ordinal", "levels": tuple("12345")}
NAMES = ("ant", "bee", "cat", "dog", "eel")


def bank(n_items=12, names=NAMES, seed=4):
    rng, rows = np.random.default_rng(seed), []
    for item in range(n_items):
        level = rng.standard_normal() * 0.6
        for at, name in enumerate(names):
            quality = level + 0.5 * (at - 2)
            reference = int(np.clip(round(3 + quality + 0.7 * rng.standard_normal()), 1, 5))
            judge = int(np.clip(round(3.3 + 0.6 * quality + 0.7 * rng.standard_normal()), 1, 5))
            rows.append(
                {"id": f"{item}-{name}", "item": f"q{item}", "model": name, "judge": judge, "reference": reference}
            )
    return rows


def audited(rows, **more):
    return evenhand.audit(pl.DataFrame(rows, infer_schema_length=None), **OPTIONS, **{**MARKS, **more})


@pytest.fixture(scope="module")
def rows():
    return bank()


@pytest.fixture(scope="module")
def found(rows):
    return audited(rows)


def matrices(rows, names=NAMES):
    items = list(dict.fromkeys(row["item"] for row in rows))
    shaped = {side: np.full((len(items), len(names)), np.nan) for side in ("judge", "reference")}
    for row in rows:
        for side, values in shaped.items():
            values[items.index(row["item"]), names.index(row["model"])] = row[side]
    return shaped["reference"], shaped["judge"]


def test_means_and_their_difference(rows, found) -> None:
    reference, judge = matrices(rows)
    for at, name in enumerate(NAMES):
        for source, wanted in (("judge", judge[:, at]), ("reference", reference[:, at]), ("judge-reference", (judge - reference)[:, at])):  # fmt: skip
            one = found[f"system_mean[system={name}]/{source}"]
            assert one.estimate == pytest.approx(wanted.mean(), abs=1e-12)
            # one verdict a cluster: the jackknife is the textbook standard error
            assert one.std_error == pytest.approx(wanted.std(ddof=1) / np.sqrt(len(wanted)), rel=1e-9)
    assert "holm" in found["system_mean[system=ant]/judge-reference"].p_values


def test_three_levels_beside_scipy(rows, found) -> None:
    reference, judge = matrices(rows)
    means = reference.mean(axis=0), judge.mean(axis=0)
    for name, theirs in (("pearson_r", stats.pearsonr), ("spearman_rho", stats.spearmanr), ("kendall_tau", stats.kendalltau)):  # fmt: skip
        assert found[f"{name}[level=system]/judge"].estimate == pytest.approx(theirs(*means).statistic, abs=1e-12)
        by_item = [
            theirs(t, m).statistic for t, m in zip(reference, judge, strict=True) if len(set(t)) > 1 and len(set(m)) > 1
        ]
        one = found[f"{name}[level=item]/judge"]
        assert (one.estimate, one.n_used) == (pytest.approx(np.mean(by_item), abs=1e-12), len(by_item))
        assert one.unit == "cluster"
    within = [stats.pearsonr(reference[:, at], judge[:, at]).statistic for at in range(len(NAMES))]
    assert found["pearson_r[level=within_system]/judge"].estimate == pytest.approx(np.mean(within), abs=1e-12)
    pooled = stats.pearsonr(reference.ravel(), judge.ravel()).statistic
    assert found["pearson_r/judge"].estimate == pytest.approx(pooled, abs=1e-12)


def test_pairs_of_systems(rows, found) -> None:
    reference, judge = matrices(rows)
    alike = soft = 0.0
    pairs = [(a, b) for a in range(5) for b in range(a)]
    for a, b in pairs:
        signs = [np.sign(side[:, a].mean() - side[:, b].mean()) for side in (reference, judge)]
        alike += 1 - abs(signs[0] - signs[1]) / 2
        d = [side[:, a] - side[:, b] for side in (reference, judge)]
        p = [stats.norm.cdf(one.sum() / np.sqrt(np.square(one).sum())) for one in d]
        soft += 1 - abs(p[0] - p[1])
    assert found["pairwise_accuracy[level=system]/judge"].estimate == pytest.approx(alike / 10, abs=1e-12)
    assert found["soft_pairwise_accuracy[level=system]/judge"].estimate == pytest.approx(soft / 10, abs=1e-12)


def test_near_scores_tied(rows, found) -> None:
    reference, judge = matrices(rows)

    def accuracy(most):
        alike = []
        for t, m in zip(reference, judge, strict=True):
            pairs = [(a, b) for a in range(5) for b in range(a)]
            signs = [(np.sign(t[a] - t[b]), 0 if abs(m[a] - m[b]) <= most else np.sign(m[a] - m[b])) for a, b in pairs]
            alike.append(np.mean([one == other for one, other in signs]))
        return np.mean(alike)

    one = found["pairwise_accuracy[level=item,ties=calibrated]/judge"]
    assert one.estimate == pytest.approx(max(accuracy(most) for most in range(5)), abs=1e-12)
    assert one.estimate >= found["pairwise_accuracy[level=item,ties=class]/judge"].estimate
    assert one.ci_low < one.ci_high


def test_what_moves_in_steps_has_resampled_intervals(found) -> None:
    tau, r = found["kendall_tau[level=system]/judge"], found["pearson_r[level=system]/judge"]
    assert (tau.interval_method, tau.std_error) == ("percentile", None)
    assert (r.interval_method, r.std_error is not None) == ("jackknife_t_scaled", True)
    assert "these 5 systems (model), other items" in tau.estimand


def test_an_interval_that_is_asked_for_is_given(rows) -> None:
    tau = audited(rows, interval="jackknife_t")["kendall_tau[level=system]/judge"]
    assert tau.interval_method in ("jackknife_t", "none")
    assert audited(rows, interval="none")["kendall_tau[level=system]/judge"].ci_low is None


def test_the_same_winner_and_the_table(rows, found) -> None:
    one = found["winner_agreement[level=system]/judge"]
    assert one.estimate in (0, 1)
    assert "a pick at random is the reference's best in 1 of 5" in one.reason
    table = found.audit.tables["systems/judge"]
    assert table.columns == ("system", "verdicts", "judge_mean", "judge_rank", "reference_mean", "reference_rank")
    reference, _ = matrices(rows)
    assert [row[4] for row in table.rows] == pytest.approx(list(reference.mean(axis=0)))
    assert [row[5] for row in table.rows] == list(stats.rankdata(-reference.mean(axis=0)))


def test_decimal_marks_far_from_zero(rows) -> None:
    moved = [{**row, "judge": 1e6 + row["judge"] / 10, "reference": 1e6 + row["reference"] / 10} for row in rows]
    one, other = audited(moved, scale="continuous", levels=()), audited(rows)
    for name in ("pearson_r[level=system]", "kendall_tau[level=item]", "soft_pairwise_accuracy[level=system]"):
        assert one[f"{name}/judge"].estimate == pytest.approx(other[f"{name}/judge"].estimate, abs=1e-9)
    wanted = 1e6 + other["system_mean[system=cat]/judge"].estimate / 10
    assert one["system_mean[system=cat]/judge"].estimate == pytest.approx(wanted, abs=1e-7)
    gap = other["system_mean[system=cat]/judge-reference"].estimate / 10
    assert one["system_mean[system=cat]/judge-reference"].estimate == pytest.approx(gap, abs=1e-9)


def test_binary_verdicts_and_criteria(rows) -> None:
    split = [
        {**row, "part": part, "judge": int(row["judge"] > cut), "reference": int(row["reference"] > cut)}
        for row in rows
        for part, cut in (("easy", 2), ("hard", 3))
    ]
    found = evenhand.audit(pl.DataFrame(split), **OPTIONS, criterion="part", scale="binary", positive="1")
    one = found["system_mean[system=eel]/judge"]
    mine = [row["judge"] for row in split if row["model"] == "eel"]
    assert (one.estimate, one.trials) == (pytest.approx(np.mean(mine)), len(mine))
    hard = [row for row in split if row["part"] == "hard"]
    reference, judge = matrices(hard)
    wanted = stats.kendalltau(reference.mean(axis=0), judge.mean(axis=0)).statistic
    assert found["kendall_tau[criterion=hard,level=system]/judge"].estimate == pytest.approx(wanted, abs=1e-12)


def test_few_systems_no_items_one_system(rows) -> None:
    three = audited([row for row in rows if row["model"] in NAMES[:3]])["kendall_tau[level=system]/judge"]
    assert (three.status, three.estimate) == ("undefined", None)
    assert "3 systems" in three.reason
    options = {name: value for name, value in OPTIONS.items() if name != "cluster"}
    apart = evenhand.audit(pl.DataFrame(rows), **options, **MARKS)
    for name in ("kendall_tau[level=item]", "soft_pairwise_accuracy[level=system]"):
        assert (apart[f"{name}/judge"].status, "--cluster" in apart[f"{name}/judge"].reason) == ("not_assessed", True)
    assert apart["kendall_tau[level=system]/judge"].status == "ok"
    lone = audited([row for row in rows if row["model"] == "ant"])
    alone = lone["system_mean/judge"]
    assert (alone.status, alone.reason) == ("not_assessed", 'one system only, "ant"')
    assert list(system_sentences(lone.audit, "judge")) == [f"systems are not compared: {alone.reason}"]


def test_systems_that_share_no_item(rows) -> None:
    apart = [{**row, "item": f"{row['item']}-{row['model']}"} for row in rows]
    found = audited(apart)
    assert found["pearson_r[level=item]/judge"].status == "undefined"
    assert found["soft_pairwise_accuracy[level=system]/judge"].reason == "two systems share no item"
    assert found["kendall_tau[level=system]/judge"].status == "ok"


def test_a_judge_that_gives_one_mark(rows) -> None:
    found = audited([{**row, "judge": 3} for row in rows])
    assert found["kendall_tau[level=system]/judge"].reason == "means of one side are all equal"
    assert found["pearson_r[level=within_system]/judge"].reason == "no system whose verdicts vary on both sides"
    assert found["pairwise_accuracy[level=system]/judge"].estimate == pytest.approx(0.5)
    assert found["winner_agreement[level=system]/judge"].estimate == pytest.approx(1 / 5)


def test_unnamed_systems_are_said_and_left_out(rows) -> None:
    some = [{**row, "model": "" if at < 3 else row["model"]} for at, row in enumerate(rows)]
    found = audited(some)
    assert any("3 scored verdicts are on responses without a name" in said for said in found.audit.warnings)
    assert found["kendall_tau[level=system]/judge"].n_excluded == 3


def test_many_items_in_random_groups() -> None:
    found = audited(bank(n_items=2_200, names=NAMES[:4]))
    one = found["kendall_tau[level=item]/judge"]
    assert one.n_clusters == one.n_used
    assert 2_000 < one.n_used <= 2_200
    assert found["system_mean[system=ant]/judge"].n_clusters == 2_200
    assert found["soft_pairwise_accuracy[level=system]/judge"].n_clusters == 2_200


def test_too_many_systems_are_said(rows) -> None:
    many = [{**row, "model": f"m{at}"} for at, row in enumerate(rows)] + [{**row, "id": f"x{row['id']}", "model": "m60"} for row in rows[:5]]  # fmt: skip
    one = audited(many + [{**row, "id": f"y{row['id']}", "model": f"n{at}"} for at, row in enumerate(rows)])[
        "system_mean/judge"
    ]
    assert (one.status, "compared up to 60" in one.reason) == ("not_assessed", True)


def test_without_a_reference_there_are_means_alone(rows) -> None:
    options = {name: value for name, value in OPTIONS.items() if name != "reference"}
    frame = pl.DataFrame(rows).drop("reference")
    found = evenhand.audit(frame, **options, **MARKS)
    assert found["system_mean[system=ant]/judge"].status == "ok"
    assert not [one for one in found.audit if "level" in one.params]


def test_order_of_rows_and_names_of_items_do_not_matter(rows, found) -> None:
    rng = np.random.default_rng(1)
    mixed = [{**rows[at], "item": f"z{int(rows[at]['item'][1:]) * 7 % 12}"} for at in rng.permutation(len(rows))]
    other = audited(mixed)
    for one in found.audit:
        if "level" in one.params or "system" in one.params:
            assert other[one.id].estimate == pytest.approx(one.estimate, abs=1e-12), one.id


MT_BENCH = SHARED / "mtbench_gpt4_single" / "martian_unify_gpt-4_single.jsonl"


@pytest.mark.skipif(not MT_BENCH.is_file(), reason="the shared data folder (../shared) is absent")
def test_published_means_of_mt_bench() -> None:
    # RouteLLM benchmarks/README.md: mean score of martian over 160 scores 8.3125, of unify over 159 (-1 dropped) 8.757862
    lines = [json.loads(line) for line in MT_BENCH.read_text().splitlines()]
    rows = [
        {"id": f"{line['model']}-{line['question_id']}", "question": line["question_id"], "turn": line["turn"],
         "model": line["model"], "judge": str(line["score"])}
        for line in lines
    ]  # fmt: skip
    found = evenhand.audit(
        pl.DataFrame(rows), response="id", cluster="question", criterion="turn", judge="judge", author="model",
        scale="continuous", range=(1, 10), na=("-1",),
    )  # fmt: skip
    martian, unify = (found[f"system_mean[system={name}]/judge"] for name in ("martian", "unify"))
    assert (martian.estimate, martian.n_used) == (8.3125, 160)
    assert (unify.estimate, unify.n_used) == (pytest.approx(8.757862, abs=5e-7), 159)
    assert martian.n_clusters == 80
