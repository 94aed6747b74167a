"""The grader fitted from its own run, and the closed forms of the loop in an audit."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from label_runs import LINE, RUN, label_run

import evenhand
from evenhand.report.decision_table import decision_table
from evenhand.report.loop_words import loop_sentences
from evenhand.stats.loop import eigenvalue, kept_share, runaway_effect

FITTED, LATENT = "dose_slope[against=control]/{}", "dose_slope[against=control,clipping=undone]/{}"
OWN = "true-swapped"
KEPT = kept_share(10)
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "smollm2_label_arms" / "marks.csv"
needs_shared = pytest.mark.skipif(not SHARED.is_file(), reason="the shared data folder (../shared) is absent")


@pytest.fixture(scope="module")
def frame():
    return label_run(seed=3)


@pytest.fixture(scope="module")
def result(frame):
    return evenhand.audit(frame, **RUN, resamples=200)


def by_rows(frame):
    """γ by least squares on the rows themselves."""
    wide = frame.pivot("arm", index=["response_id", "teacher_mark"], values="mark")
    shown = frame.pivot("arm", index=["response_id", "teacher_mark"], values="label_shown")
    t, control = (wide[name].cast(float).to_numpy() for name in ("teacher_mark", "control"))
    moved = np.concatenate([wide[arm].cast(float).to_numpy() - control for arm in ("true", "swapped")])
    label = np.concatenate([shown[arm].cast(float).to_numpy() for arm in ("true", "swapped")])
    design = np.stack([np.ones(len(label)), label - 5, np.tile(t, 2) - 5], axis=1)
    return np.linalg.lstsq(design, moved, rcond=None)[0][1]


def test_the_fitted_label_effect_is_least_squares_on_the_rows(frame, result) -> None:
    found = result[FITTED.format(OWN)]
    assert found.estimate == pytest.approx(by_rows(frame), abs=1e-9)
    assert (found.n_used, found.n_clusters, found.unit, found.describes) == (297, 33, "response", "grader×context")
    assert found.interval_df == 31  # learners within two tails


def test_closed_forms_are_those_of_the_latent_effect(result) -> None:
    effect, left = result[LATENT.format(OWN)], result[f"loop_eigenvalue/{OWN}"]
    assert effect.estimate > result[FITTED.format(OWN)].estimate
    for name in ("estimate", "ci_low", "ci_high"):
        assert getattr(left, name) == pytest.approx(float(eigenvalue(getattr(effect, name), KEPT)), abs=1e-9)
    multiple, critical = result[f"loop_runaway_multiple/{OWN}"], float(runaway_effect(KEPT))
    assert multiple.estimate == pytest.approx(critical / effect.estimate)
    assert (multiple.ci_low, multiple.ci_high) == (
        pytest.approx(critical / effect.ci_high), pytest.approx(critical / effect.ci_low)
    )  # fmt: skip
    assert "every 10 days" in left.estimand


def test_the_audit_answers_what_happens_if_marks_feed_back(result) -> None:
    row = decision_table(result.audit)[-1]
    assert "feed back" in row.question
    assert "0.7" in row.answer
    assert not row.collect


def test_tables_hold_the_line_its_covariance_and_the_run(frame, result) -> None:
    line = {row["parameter"]: row for row in result.audit.tables["grader/judge"].records()}
    assert list(line) == list(LINE)
    assert line["label_effect"]["fitted"] == result[FITTED.format(OWN)].estimate
    assert line["label_effect"]["latent"] == pytest.approx(result[LATENT.format(OWN)].estimate, abs=1e-12)
    error = math.sqrt(line["label_effect"]["covariance_label_effect"])
    assert error == pytest.approx(result[LATENT.format(OWN)].std_error)
    assert line["slope"]["covariance_noise"] == pytest.approx(line["noise"]["covariance_slope"])
    (run,) = result.audit.tables["grader_run/judge"].records()
    assert (run["low"], run["high"], run["whole_marks"], run["n_responses"], run["n_learners"]) == (
        0,
        10,
        True,
        297,
        33,
    )
    assert 1 < run["answer_sd"] < 2
    curve = result.audit.tables["attenuation/judge"].records()
    assert result[FITTED.format(OWN)].estimate == pytest.approx(
        next(row["fitted"] for row in curve if row["label_effect"] == line["label_effect"]["latent"]), abs=1e-6
    )


def test_repeats_of_the_control_leave_the_effect_and_tell_the_noise_of_one_mark() -> None:
    repeated = evenhand.audit(label_run(seed=4, per=40, repeats=3), **RUN, resamples=200)
    line = {row["parameter"]: row["latent"] for row in repeated.audit.tables["grader/judge"].records()}
    assert line["noise"] == pytest.approx(LINE["noise"], abs=0.06)
    assert line["label_effect"] == pytest.approx(LINE["label_effect"], abs=0.03)


def test_marks_that_are_not_whole_are_clipped_and_not_rounded() -> None:
    found = evenhand.audit(label_run(seed=4, per=40, whole=False), **{**RUN, "scale": "continuous"}, resamples=200)
    (run,) = found.audit.tables["grader_run/judge"].records()
    assert run["whole_marks"] is False
    line = {row["parameter"]: row["latent"] for row in found.audit.tables["grader/judge"].records()}
    assert [line[name] for name in LINE] == pytest.approx(list(LINE.values()), abs=0.15)


def test_a_bent_label_effect_is_said_and_a_straight_one_is_not(result) -> None:
    undone = LATENT.format(OWN)
    assert result[undone].reason == result[f"loop_eigenvalue/{OWN}"].reason == ""
    bent = evenhand.audit(label_run(seed=3, label_effect=0.0, bend=0.12), **RUN, resamples=200)
    for name in (undone, f"loop_eigenvalue/{OWN}"):
        assert bent[name].reason.startswith("the label effect is no straight line")
        assert bent[name].status == "ok"


def test_levels_of_a_label_are_fitted_together(frame) -> None:
    arms = {"true": "high", "swapped": "low"}
    rows = [
        {**row, "arm": arms.get(row["arm"], row["arm"]), "label_shown": {"true": "8.0", "swapped": "2.0"}.get(row["arm"], "")}
        for row in frame.rows(named=True)
    ]  # fmt: skip
    found = evenhand.audit(pl.DataFrame(rows).drop("tail"), **RUN, resamples=200)
    assert found["loop_eigenvalue/high-low"].status == "ok"
    high_low = found["label_effect/high-low"].estimate / 6
    assert found[FITTED.format("high-low")].estimate == pytest.approx(high_low, abs=1e-9)


def test_several_judges_and_runs_have_lines_of_their_own(frame) -> None:
    both = pl.concat(
        [frame.with_columns(model=pl.lit("a")), label_run(seed=3, slope=0.6).with_columns(model=pl.lit("b"))]
    )
    found = evenhand.audit(both, **RUN, model="model", resamples=200)
    ids = [row["of"] for row in found.audit.tables["grader_run/judge"].records()]
    assert ids == [f"loop_eigenvalue[model={name}]/{OWN}" for name in "ab"]
    assert all(found[name].status == "ok" for name in ids)


def test_a_run_without_labels_is_no_run_of_the_loop(frame) -> None:
    both = pl.concat(
        [
            frame.with_columns(model=pl.lit("a")),
            frame.filter(pl.col("arm") == "control").with_columns(model=pl.lit("b")),
        ]
    )
    found = evenhand.audit(both, **RUN, model="model", resamples=200)
    assert found.audit.get(f"loop_eigenvalue[model=a]/{OWN}") is not None
    assert found.audit.get(f"loop_eigenvalue[model=b]/{OWN}") is None


@needs_shared
def test_a_real_judge_that_copies_its_label_is_near_running_away() -> None:
    """shared: smollm2_label_arms; a higher label by 7 points moves the mark by 6.5: the fit is near 1, the loop near the edge."""
    options = {"response": "item_id", "cluster": "question_id", "judge": "mark", "reference": "reference_total"}
    found = evenhand.audit(str(SHARED), **options, range=(0, 10), setting="temperature", resamples=200)
    fitted, left = (
        found["dose_slope[against=control,setting=0.0]/high-low"],
        found["loop_eigenvalue[setting=0.0]/high-low"],
    )
    assert fitted.estimate == pytest.approx(by_rows_of_levels(), abs=1e-9)
    assert left.ci_low < 1 < left.ci_high
    assert left.estimate == pytest.approx(0.953, abs=0.001)
    assert left.reason.startswith("the label effect is no straight line")  # 5 over 2 takes marks, 9 over 5 adds them
    (answer,) = loop_sentences(found.audit, "judge")
    assert left.reason in answer


def by_rows_of_levels():
    """γ of the three levels by least squares on the rows themselves."""
    rows = pl.read_csv(SHARED, infer_schema=False).filter(
        (pl.col("temperature").cast(float) == 0) & (pl.col("status") == "scored")
    )
    wide = rows.pivot("arm", index=["item_id", "reference_total"], values="mark").drop_nulls(
        ["control", "low", "mid", "high"]
    )
    shown = rows.group_by("arm").agg(pl.col("label_shown").first()).to_dict(as_series=False)
    at = dict(zip(shown["arm"], shown["label_shown"], strict=True))
    t, control = (wide[name].cast(float).to_numpy() for name in ("reference_total", "control"))
    moved = np.concatenate([wide[arm].cast(float).to_numpy() - control for arm in ("low", "mid", "high")])
    label = np.repeat([float(at[arm]) for arm in ("low", "mid", "high")], len(t))
    design = np.stack([np.ones(len(label)), label - 5, np.tile(t, 3) - 5], axis=1)
    return np.linalg.lstsq(design, moved, rcond=None)[0][1]


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda f: f.drop("label_shown"), {}, "--label-shown COL"),
        (lambda f: f, {"reference": None}, "--reference COL"),
        (lambda f: f.filter(pl.col("arm") != "control"), {}, "--control ARM"),
        (lambda f: f, {"scale": "continuous", "range": None}, "--range LO,HI"),
        (lambda f: f.with_columns(label_shown=pl.col("label_shown").str.replace(r"(\d)\.", "9$1.")), {}, "one scale"),
    ],
)
def test_what_a_run_lacks_is_said(frame, change, options, says: str) -> None:
    asked = {name: value for name, value in (RUN | options).items() if value is not None}
    frame = change(frame).drop("teacher_mark") if options.get("reference", "") is None else change(frame)
    found = evenhand.audit(frame, **asked, resamples=200)
    for name in ("loop_eigenvalue", "loop_runaway_multiple"):
        one = found[f"{name}/{OWN}"]
        assert one.status == "not_assessed"
        assert says in one.reason
    assert "grader/judge" not in found.audit.tables


def test_a_label_that_moves_nothing_runs_away_at_no_multiple() -> None:
    none = evenhand.audit(label_run(seed=1, label_effect=0.0), **RUN, resamples=200)
    multiple = none[f"loop_runaway_multiple/{OWN}"]
    assert multiple.ci_low is None
    assert ("not above 0" in multiple.reason) or ("unbounded" in multiple.reason)
    against = evenhand.audit(label_run(seed=1, label_effect=-0.3), **RUN, resamples=200)
    assert against[f"loop_runaway_multiple/{OWN}"].status == "undefined"
    assert against[f"loop_eigenvalue/{OWN}"].estimate < KEPT


def test_marks_all_at_the_top_tell_of_no_line() -> None:
    top = evenhand.audit(label_run(seed=1, intercept=40.0), **RUN, resamples=200)
    assert top[f"loop_eigenvalue/{OWN}"].status == "undefined"
    assert "grader/judge" not in top.audit.tables
