"""Many groups, groups in label effects, who would pass, tables, what the raters imply, margins; and what the report says of them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import evenhand
from evenhand.errors import MappingError, RequestError
from evenhand.report.groups import group_figures, group_sentences, group_tables
from evenhand.report.page import page
from evenhand.report.render import to_html, to_markdown
from evenhand.report.svg import Circle
from evenhand.stats import group_gaps as of

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "rsmtool_asap2"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder (../shared) is absent")
LEVELS = tuple("123456")


@pytest.fixture
def audited(tmp_path):
    def ran(rows: list[str], **options):
        path = tmp_path / "v.csv"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        options = {"response": "id", "cluster": "student", "group": "g", "resamples": 100, **options}
        return evenhand.audit(path, **options).audit

    return ran


def schools(gap_of_d: float, seed: int = 0) -> list[str]:
    rng, rows = np.random.default_rng(seed), ["id,student,gold,judge,g"]
    for c in range(40):
        shift = rng.normal(0, 0.1)
        for i in range(10):
            gold = int(np.clip(np.rint(rng.normal(3, 1)), 1, 5))
            judge = int(np.clip(np.floor(gold + shift + gap_of_d * (c % 5 == 3) + rng.random()), 1, 6))
            rows.append(f"r{c}_{i},s{c},{gold},{judge},{'abcde'[c % 5]}")
    return rows


def arms(extra: float = 0.5, *, reference: bool = True, seed: int = 0) -> list[str]:
    """Marks under control, own label and swapped label; the label moves group b by that much more."""
    rng, rows = np.random.default_rng(seed), ["id,student,gold,judge,g,arm,label"]
    for c in range(40):
        focal = c % 2
        for i in range(6):
            gold = int(np.clip(np.rint(rng.normal(3 - 0.5 * focal, 1)), 1, 5))
            for arm, label, effect in (("control", "", 0.0), ("true", 5, 0.3 + extra * focal), ("swapped", 2, -0.3)):
                mark = gold + effect + rng.normal(0, 0.3)
                rows.append(f"r{c}_{i},s{c},{gold if reference else ''},{mark:.2f},{'ab'[focal]},{arm},{label}")
    return rows


# --- many groups ---


def test_the_widest_of_several_groups_is_named_beside_its_bar(audited) -> None:
    found = audited(schools(0.8), scale="ordinal", levels=LEVELS)
    widest, bar = (found[f"group_gap[axis=g,quantity={name}]/judge"] for name in ("widest", "bar"))
    same = found["group_gap[axis=g,level=d]/judge"]
    assert widest.estimate == same.estimate
    assert "d minus all others" in widest.estimand
    assert widest.reason.startswith("d: ")
    assert widest.estimate - bar.estimate == pytest.approx(widest.ci_low)
    assert widest.ci_low < same.ci_low < same.ci_high < widest.ci_high
    p = widest.p_values
    assert p["raw"] < p["max_t"] < 0.05
    assert p["raw"] < p["holm"] < 0.05
    assert found["group_gap[axis=g,p=holm,quantity=widest]/judge"].estimate == p["holm"]
    (said,) = group_sentences(found, "judge")
    assert "g: the widest" in said
    assert "the bar for the widest of 5" in said


def test_no_gap_is_not_called_wide(audited) -> None:
    widest = audited(schools(0.0), scale="ordinal", levels=LEVELS)["group_gap[axis=g,quantity=widest]/judge"]
    assert widest.p_values["max_t"] > 0.05
    assert widest.ci_low < 0 < widest.ci_high


def test_two_groups_have_no_widest_and_a_level_may_be_called_so(audited) -> None:
    rows = [row.replace(",a", ",widest") if row.endswith((",a", ",b")) else row for row in schools(0.5)]
    rows = [row for row in rows if not row.endswith((",c", ",d", ",e"))]
    found = audited(rows, scale="ordinal", levels=LEVELS)
    assert found["group_gap[axis=g,level=widest]/judge"].status == "ok"
    assert found.get("group_gap[axis=g,quantity=widest]/judge") is None


def test_a_group_of_one_cluster_has_no_interval(audited) -> None:
    rows = [row for row in schools(0.5) if row.endswith((",a", "g")) or ",s3," in row]
    gap = audited(rows, scale="ordinal", levels=LEVELS)["group_gap[axis=g,level=d]/judge"]
    assert gap.ci_low is None


# --- label effects ---


def test_gaps_in_label_effects(audited) -> None:
    rows = arms()
    found = audited(rows, arm="arm", label_shown="label", scale="continuous", range=(0, 7))
    gap = found["group_gap[axis=g,level=b,metric=label_effect]/true-swapped"]
    assert gap.describes == "grader×context"
    assert gap.ci_low < 0.5 < gap.ci_high
    drift = found["group_gap[axis=g,level=b,metric=drift]/true-control"]
    assert drift.ci_low < 0.5 < drift.ci_high
    read = [row.split(",") for row in rows[1:]]
    marks = {(row[0], row[5]): float(row[3]) for row in read}
    first = {row[0]: row for row in read}
    effect = np.array([marks[name, "true"] - marks[name, "swapped"] for name in first])
    gold = np.array([float(row[2]) for row in first.values()])
    focal = np.array([row[4] == "b" for row in first.values()], dtype=int)
    unit = np.zeros(len(focal), dtype=int)
    moments = of.score_moments(effect, gold, focal, unit, 1, np.ones(len(unit))).sum(axis=0)
    true = found["group_gap_true[axis=g,level=b,metric=label_effect,reliability=0.5]/true-swapped"]
    # the slope is that of the contrast on the score
    pull = of.within_slope(moments) * of.score_difference(moments)
    assert true.estimate == pytest.approx(gap.estimate - pull, abs=1e-9)


def test_label_effects_need_no_reference(audited) -> None:
    found = audited(arms(reference=False), arm="arm", label_shown="label", scale="continuous", range=(0, 7))
    gap = found["group_gap[axis=g,level=b,metric=label_effect]/true-swapped"]
    assert gap.ci_low < 0.5 < gap.ci_high
    assert "equal reference" not in gap.estimand
    assert found.of("group_gap_true", "true-swapped") == []


# --- who would pass ---


def test_shares_that_pass_by_hand(audited) -> None:
    rows = ["id,student,gold,judge,g"]
    rows += [
        f"r{c}_{i},s{c},{1 + (i + c) % 5},{1 + (i + c + (c % 2)) % 5},{'ab'[c % 2]}"
        for c in range(8)
        for i in range(10)
    ]
    found = audited(rows, scale="ordinal", levels=tuple("12345"), cut=4)
    read = [row.split(",") for row in rows[1:]]
    for source, at in (("reference", 2), ("judge", 3)):
        passing = {g: [int(row[at]) >= 4 for row in read if row[4] == g] for g in "ab"}
        shares = {g: float(np.mean(passed)) for g, passed in passing.items()}
        assert found[f"group_share[axis=g,cut=4,level=b]/{source}"].estimate == pytest.approx(shares["b"])
        assert found[f"group_share_gap[axis=g,cut=4,level=b]/{source}"].estimate == pytest.approx(
            shares["b"] - shares["a"]
        )
        assert found[f"group_share_ratio[axis=g,cut=4,level=b]/{source}"].estimate == pytest.approx(
            shares["b"] / shares["a"]
        )
        part = sum(passing["b"]) / (sum(passing["a"]) + sum(passing["b"]))
        assert found[f"group_part[axis=g,cut=4,level=b]/{source}"].estimate == pytest.approx(part)
    for name in ("group_share", "group_part", "group_share_gap"):
        both = [
            found[f"{name}[axis=g,cut=4,level=b]/{source}"].estimate
            for source in ("judge", "reference", "judge-reference")
        ]
        assert both[2] == pytest.approx(both[0] - both[1], abs=1e-12)
    table = found.tables["labels_by_group/judge"].records()
    assert sum(int(row["n_judge"]) for row in table) == 80
    assert sum(float(row["share_judge"]) for row in table if row["group"] == "a") == pytest.approx(1)


def test_binary_verdicts_need_no_cut_and_nobody_passing_is_said(audited) -> None:
    rows = [
        "id,student,gold,judge,g",
        *(f"r{c}_{i},s{c},{i % 2},{i % 2 if c % 2 else 0},{'ab'[c % 2]}" for c in range(8) for i in range(6)),
    ]
    found = audited(rows)
    assert found["group_share[axis=g,level=b]/judge"].estimate == pytest.approx(0.5)
    ratio = found["group_share_ratio[axis=g,level=b]/judge"]
    assert ratio.status == "undefined"
    assert "none of the group" in ratio.reason


# --- tables for readers from RSMTool ---


@needs_shared
@pytest.mark.parametrize("axis", ["L1", "QUESTION"])
def test_rsmtools_evaluation_by_group(axis: str) -> None:
    """expected_eval_by_*.csv of RSMTool (commit a844f71), within 1e-7; machine scores are within its trimming."""
    found = evenhand.audit(
        SHARED / "asap2_predictions_with_subgroups.csv", response="id", reference="h1", judge="score", group=axis,
        scale="continuous", resamples=100,
    ).audit  # fmt: skip
    with (SHARED / "expected" / f"expected_eval_by_{axis}.csv").open(encoding="utf-8") as lines:
        expected = {row[""]: row for row in csv.DictReader(lines)}
    rows = found.tables["groups/judge"].records()
    assert len(rows) == len(expected)
    names = {
        "n": "N", "reference_mean": "h_mean", "reference_sd": "h_sd", "judge_mean": "sys_mean.scale_trim",
        "judge_sd": "sys_sd.scale_trim", "pearson_r": "corr.scale_trim", "quadratic_weighted_kappa": "wtkappa.scale_trim",
        "rmse": "RMSE.scale_trim", "dsm": "DSM.scale_trim",
    }  # fmt: skip
    for row in rows:
        theirs = expected["All data" if row["group"] == "all" else str(row["group"])]
        for ours, name in names.items():
            assert row[ours] == pytest.approx(float(theirs[name]), abs=1e-7), (row["group"], ours)
    with (SHARED / "expected" / "expected_eval.csv").open(encoding="utf-8") as lines:
        whole = next(row for row in csv.DictReader(lines) if row[""] == "scale_trim")
    assert rows[0]["smd"] == pytest.approx(float(whole["SMD"]), abs=1e-7)


# --- what double scoring implies ---


def scored_twice(seed: int = 0) -> list[str]:
    rng, rows = np.random.default_rng(seed), ["id,student,who,kind,mark,g"]
    for c in range(30):
        focal = c % 2
        for i in range(8):
            true = rng.normal(5 - 1.0 * focal, 1)
            for who, kind, sd in (("h1", "human", 0.6), ("h2", "human", 0.6), ("m", "judge", 0.4)):
                mark = int(np.clip(np.rint(true + rng.normal(0, sd)), 1, 9))
                rows.append(f"r{c}_{i},s{c},{who},{kind},{mark},{'ab'[focal]}")
    return rows


def test_the_raters_agreement_says_where_to_read_the_curve(audited) -> None:
    rows = scored_twice()
    options = {"rater": "who", "rater_kind": "kind", "verdict": "mark", "reference": "h1", "scale": "ordinal"}
    found = audited(rows, levels=tuple("123456789"), **options)
    one = found["group_gap_true[axis=g,level=b,quantity=reliability]/judge"]
    read = [row.split(",") for row in rows[1:]]
    h1, h2 = (np.array([float(row[4]) for row in read if row[2] == who]) for who in ("h1", "h2"))
    focal = np.array([row[5] == "b" for row in read if row[2] == "h1"])
    within = sum(((h1[focal == at] - h1[focal == at].mean()) ** 2).sum() for at in (True, False)) / len(h1)
    expected = 1 - (1 - np.corrcoef(h1, h2)[0, 1]) * h1.var() / within
    assert one.estimate == pytest.approx(expected, abs=1e-9)
    assert one.ci_low < one.estimate < one.ci_high
    (figure,) = [one for one in group_figures(found, "judge", "judge-1") if one.drawing.name == "judge-1-group-1"]
    assert any("raters' agreement" in row[0] for row in figure.rows)


# --- margins ---


def test_a_margin_of_gaps_stands_for_all_of_them(audited) -> None:
    rows = schools(0.0)
    found = audited(rows, scale="ordinal", levels=LEVELS, margin={"group_gap": 0.9, "group_gap[axis=g,level=a]": 0.8})
    named = {one.params["metric"] for one in found if one.statistic == "equivalence"}
    assert named == {f"group_gap[axis=g,level={level}]" for level in "abcde"}
    with pytest.raises(RequestError, match="no difference of that name"):
        audited(rows, scale="ordinal", levels=LEVELS, margin={"group_gab": 0.9})


# --- the report ---


def test_the_report_draws_the_curve_and_says_the_assumption(audited) -> None:
    rows = ["id,student,gold,judge,g"]
    rng = np.random.default_rng(0)
    for c in range(30):
        for i in range(10):
            gold = int(np.clip(np.rint(rng.normal(3 + 0.8 * (c % 2), 1)), 1, 5))
            judge = int(np.clip(np.rint(0.8 * gold + 0.6 + 0.35 * (c % 2) + rng.normal(0, 0.4)), 1, 6))
            rows.append(f"r{c}_{i},s{c},{gold},{judge},{['<b>', 'a & b'][c % 2]}")
    found = audited(rows, scale="ordinal", levels=LEVELS, cut=3)
    even = found["group_gap_true[axis=g,level=a & b,quantity=break_even]/judge"]
    assert 0 < even.estimate < 1
    (figure,) = group_figures(found, "judge", "judge-1")
    assert len(figure.drawing.of(Circle, "point")) == 9  # eight reliabilities and 1
    assert len(figure.drawing.of(Circle, "point-alone")) == 1
    assert figure.rows[-1][0] == "break-even"
    for mark in figure.drawing.of(Circle):
        assert 0 <= mark.x <= figure.drawing.width
        assert 0 <= mark.y <= figure.drawing.height
    titles = [table.title for table in group_tables(found, "judge")]
    assert titles == [
        "Gaps between groups",
        "Gaps at equal true score, by the reference's reliability within groups",
        "Who would pass, by group",
    ]
    text = to_html(found)
    assert "independent of the group" in text
    assert "a &amp; b" in text
    assert "<b>, " not in text
    assert "independent of the group" in to_markdown(found)
    assert len(page(found).figures) >= 1


def test_terminal_and_saved_folder(command, write) -> None:
    write("v.csv", "\n".join(schools(0.8)) + "\n")
    ending = command(
        "audit", "v.csv", "--response", "id", "--cluster", "student", "--group", "g", "--scale", "ordinal", "--levels", ",".join(LEVELS),
        "--cut", "3", "--resamples", "100", "--margin", "group_gap=0.9", "--out", "out",
    )  # fmt: skip
    assert ending.code == 0, ending.said
    assert "widest gap between groups: g: the widest" in ending.out
    table = Path("out/tables/groups.csv").read_text(encoding="utf-8").splitlines()
    assert table[0].startswith("axis,group,n,reference_mean,reference_sd,judge_mean,judge_sd,smd,dsm")
    assert len(table) == 7
    shown = command("show", "out", "group_gap[axis=g,quantity=widest]/judge", "--json")
    assert json.loads(shown.out)[0]["status"] == "ok" if shown.out.startswith("[") else "widest" in shown.out
    checked = command("check", "out", "--require", "group_gap[axis=g,quantity=widest]/judge.ci_low > 0")
    assert checked.code == 0, checked.said


# --- what is said where nothing can be compared ---


def test_groups_without_reference_labels_say_so(audited) -> None:
    found = audited(["id,student,judge,g", *(f"r{n},s{n % 8},{n % 2},{'ab'[n % 3 % 2]}" for n in range(48))])
    gap = found["group_gap[axis=g]/judge"]
    assert (gap.status, gap.n_excluded) == ("not_assessed", 48)
    assert gap.reason == "there are no reference labels to err against"
    assert list(group_sentences(found, "judge")) == [f"gaps in errors between groups (g): none, {gap.reason}"]
    with pytest.raises(MappingError, match='"nowhere"'):
        audited(["id,student,judge,g", "r1,s1,1,a", "r2,s2,0,b"], group="nowhere")


def test_groups_of_labels_without_an_order_say_so(audited) -> None:
    rows = [f"r{n},s{n % 8},{'xyz'[n % 3]},{'xyz'[n // 3 % 3]},{'ab'[n % 2]}" for n in range(54)]
    gap = audited(["id,student,gold,judge,g", *rows])["group_gap[axis=g]/judge"]
    assert (gap.status, gap.reason[:33]) == ("not_assessed", "labels are neither two nor marks:")


def test_verdicts_without_a_group_are_counted(audited) -> None:
    rows = [f"r{n},s{n % 8},{n % 2},{n // 2 % 2},{('a', 'b', '')[n % 3]}" for n in range(54)]
    said = [one for one in audited(["id,student,gold,judge,g", *rows]).warnings if "without a group" in one]
    assert said == ['18 paired verdicts are on responses without a group in "g" and are in no gap along it']


# --- more reference scores than strata ---


def fine_marks(judge_of, seed: int = 1) -> list[str]:
    """Marks to the second decimal; the second group's lie one standard deviation lower."""
    rng, rows = np.random.default_rng(seed), ["id,student,gold,judge,g"]
    for n in range(1_200):
        focal = n // 8 % 2
        gold = round(float(rng.normal(50 - 10 * focal, 10)), 2)
        rows.append(f"r{n},s{n // 8},{gold},{judge_of(gold, focal, rng):.6f},{'ab'[focal]}")
    return rows


def test_a_judge_that_repeats_the_reference_has_no_gap_in_bands(audited) -> None:
    gap = audited(fine_marks(lambda gold, focal, rng: gold), scale="continuous")["group_gap[axis=g,level=b]/judge"]
    assert gap.estimate == pytest.approx(0, abs=1e-9)
    assert "in 20 bands of the score" in gap.estimand


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.5])
def test_a_known_gap_is_found_in_bands_whatever_the_slope(audited, slope: float) -> None:
    rows = fine_marks(lambda gold, focal, rng: slope * gold + 2 * focal + rng.normal(0, 0.5))
    gap = audited(rows, scale="continuous")["group_gap[axis=g,level=b]/judge"]
    assert gap.estimate == pytest.approx(2, abs=0.1)
    assert gap.ci_low <= 2 <= gap.ci_high


def test_values_move_to_the_mean_score_of_their_band_by_hand() -> None:
    # one band: both groups have slope 2; scores 1, 3 and 3, 5, so the mean score is 3
    score, focal = np.array([1.0, 3.0, 3.0, 5.0]), np.array([1, 1, 0, 0])
    value = 2 * score + 7 * focal
    moved = of.at_band_means(value, score, focal, np.zeros(4, dtype=np.int64), 1, np.ones(4))
    assert moved.tolist() == [13, 13, 6, 6]
