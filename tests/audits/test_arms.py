"""The judge against itself through ``evenhand.audit``: hand cases, roles, complete cases, and a real run's values."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from arm_samples import LABELS, SCALE, labelled, told
from scipy import stats  # noqa: TID251 - an independent implementation, in tests alone

import evenhand
from evenhand.errors import KeyClashError, MappingError, RequestError
from evenhand.report.decision_table import decision_table
from evenhand.report.gaps import cannot_say
from evenhand.report.page import page
from evenhand.report.terminal import summary

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "smollm2_label_arms" / "marks.csv"
needs_shared = pytest.mark.skipif(not SHARED.is_file(), reason="the shared data folder (../shared) is absent")
CONTROL, LOW, HIGH, NEUTRAL = "control", "low", "high", "neutral"
QUESTIONS = ["a", "a", "b", "b", "c", "c"]


def value(result, text):
    return result.audit[text].estimate


@pytest.fixture(scope="module")
def levels():
    """Six responses of three questions under four arms; the control is one mark below the reference throughout."""
    marks = np.array([[4, 5, 7, 4], [5, 5, 8, 6], [6, 8, 8, 6], [3, 3, 6, 4], [7, 7, 9, 7], [2, 2, 7, 4]], dtype=float)
    reference = ["5", "6", "7", "4", "8", "3"]
    frame = told(marks, (CONTROL, LOW, HIGH, NEUTRAL), question_id=QUESTIONS, reference=reference)
    shown = {CONTROL: "", LOW: "2", HIGH: "9", NEUTRAL: ""}
    frame = frame.with_columns(label_shown=pl.col("arm").replace_strict(shown))
    options = {"response": "response_id", "cluster": "question_id", "judge": "mark", "reference": "reference"}
    return evenhand.audit(frame, **options, scale="ordinal", range=(0, 10)), marks


def test_drifts_are_means_of_differences_with_clusters(levels) -> None:
    result, marks = levels
    for arm, at in ((LOW, 1), (HIGH, 2), (NEUTRAL, 3)):
        change = (marks[:, at] - marks[:, 0]).reshape(3, 2).mean(axis=1)
        found = result.audit[f"drift/{arm}-control"]
        assert found.estimate == pytest.approx(change.mean())
        assert found.std_error == pytest.approx(change.std(ddof=1) / math.sqrt(3))
        assert found.ci_high - found.estimate == pytest.approx(stats.t.ppf(0.975, 2) * found.std_error)
        assert (found.n_used, found.n_clusters, found.describes) == (6, 3, "grader×context")
        assert {"raw", "holm"} <= found.p_values.keys()
    # presence against value: high - control = (high - neutral) + (neutral - control)
    assert value(result, "drift/high-control") == pytest.approx(
        value(result, "drift/high-neutral") + value(result, "drift/neutral-control")
    )


def test_label_effect_its_share_and_its_slope(levels) -> None:
    result, marks = levels
    effect = (marks[:, 2] - marks[:, 1]).mean()
    assert value(result, "label_effect/high-low") == pytest.approx(effect)
    assert value(result, "label_effect_share/high-low") == pytest.approx(effect / 10)
    assert value(result, "dose_slope/high-low") == pytest.approx(effect / 7)
    assert value(result, "label_effect/high-low") == pytest.approx(
        value(result, "drift/high-control") - value(result, "drift/low-control")
    )


def test_agreement_is_that_of_each_arm_and_the_main_numbers_are_the_control(levels) -> None:
    result, marks = levels
    reference = np.array([5, 6, 7, 4, 8, 3.0])
    for arm, at in ((CONTROL, 0), (LOW, 1), (HIGH, 2), (NEUTRAL, 3)):
        assert value(result, f"bias/{arm}") == pytest.approx((marks[:, at] - reference).mean())
        assert value(result, f"mae/{arm}") == pytest.approx(np.abs(marks[:, at] - reference).mean())
        assert value(result, f"pearson_r/{arm}") == pytest.approx(np.corrcoef(marks[:, at], reference)[0, 1])
    for name in ("bias", "mae", "pearson_r", "quadratic_weighted_kappa"):
        assert value(result, f"{name}/judge") == pytest.approx(value(result, f"{name}/control"))
    assert value(result, "mae/high-control") == pytest.approx(value(result, "mae/high") - value(result, "mae/control"))
    assert result.audit.data.rows_read == result.audit.data.rows_used == 24
    assert any("are those of the control" in words for words in result.audit.warnings)


def test_toward_and_away_by_hand(levels) -> None:
    result, _ = levels
    # the control is one mark below throughout, so its bias has no spread: nothing can be resolved from it
    assert result.audit["toward_away[quantity=bias]/high-control"].estimate == -1
    assert result.audit["toward_away[quantity=drift]/high-control"].p_values["raw"] < 0.05
    assert result.audit["toward_away/high-control"].reason == "unresolved"


def test_complete_cases_have_a_mark_under_every_arm_they_were_graded_under() -> None:
    marks = [[4.0, 5, 7], [5, None, 8], [6, 7, 8], [3, 4, 7]]
    frame = told(marks, (CONTROL, LOW, HIGH))
    # the third response was never to be graded under low: it still counts in high against control
    frame = frame.filter(~((pl.col("response_id") == "r2") & (pl.col("arm") == LOW)))
    result = evenhand.audit(frame, **SCALE)
    found = result.audit["drift/high-control"]
    assert (found.n_used, found.n_excluded) == (3, 1)
    assert found.estimate == pytest.approx(np.mean([3, 2, 4]))
    assert result.audit["drift/low-control"].n_used == 2


def test_repeats_are_averaged_for_drift_and_counted_singly_for_agreement() -> None:
    rows = [("r1", "control", "1", "2"), ("r1", "control", "2", "6"), ("r1", "true", "1", "5"),
        ("r2", "control", "1", "7"), ("r2", "control", "2", "9"), ("r2", "true", "1", "8")]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["response_id", "arm", "occasion", "mark"], orient="row").with_columns(
        reference=pl.when(pl.col("response_id") == "r1").then(pl.lit("4")).otherwise(pl.lit("8"))
    )
    result = evenhand.audit(frame, **SCALE, reference="reference")
    assert value(result, "drift/true-control") == pytest.approx(((5 - 4) + (8 - 8)) / 2)
    assert value(result, "mae/control") == pytest.approx((2 + 2 + 1 + 1) / 4)  # 0, had repeats been averaged first
    # noise of a grading: variances 8 and 2 of two repeats each
    assert value(result, "drift[quantity=noise]/control-control") == pytest.approx(math.sqrt(5))
    assert value(result, "drift[occasion=2-1]/control-control") == pytest.approx(3)
    # bias from the first control, drift from the other
    assert value(result, "toward_away[quantity=bias]/true-control") == pytest.approx(((2 - 4) + (7 - 8)) / 2)
    assert value(result, "toward_away[quantity=drift]/true-control") == pytest.approx(((5 - 6) + (8 - 9)) / 2)


def test_other_wordings_are_no_repeats() -> None:
    """The second wording adds 2 marks in every arm: no part of it is noise, drift, or a move toward the reference."""
    plain = {"r1": (2, 5), "r2": (7, 8), "r3": (4, 4)}
    rows = [
        (response, arm, wording, str(mark + added))
        for response, marks in plain.items()
        for arm, mark in zip(("control", "true"), marks, strict=True)
        for wording, added in (("first", 0), ("second", 2))
    ]
    frame = pl.DataFrame(rows, schema=["response_id", "arm", "phrasing", "mark"], orient="row")
    result = evenhand.audit(
        frame.with_columns(reference=pl.lit("8")), **SCALE, phrasing="phrasing", reference="reference"
    )
    drift, bias = (3 + 1 + 0) / 3, (2 + 7 + 4) / 3 + 1 - 8
    assert value(result, "drift/true-control") == pytest.approx(drift)
    assert value(result, "toward_away[quantity=drift]/true-control") == pytest.approx(drift)
    assert value(result, "toward_away[quantity=bias]/true-control") == pytest.approx(bias)
    assert not [one.id for one in result.audit.estimates if one.id.endswith("/control-control")]


def test_repeats_of_several_wordings_are_held_against_their_own() -> None:
    rows = [
        (response, arm, wording, str(occasion), str(mark + added + more))
        for response, mark in (("r1", 2), ("r2", 4))
        for arm in ("control", "true")
        for wording, added in (("first", 0), ("second", 2))
        for occasion, more in ((1, 0), (2, 1))
    ]
    frame = pl.DataFrame(rows, schema=["response_id", "arm", "phrasing", "occasion", "mark"], orient="row")
    result = evenhand.audit(
        frame.with_columns(reference=pl.lit("8")), **SCALE, phrasing="phrasing", reference="reference"
    )
    assert value(result, "drift[quantity=noise]/control-control") == pytest.approx(math.sqrt(0.5))
    pairs = [
        one.params["occasion"]
        for one in result.audit.estimates
        if one.statistic == "drift" and "occasion" in one.params
    ]
    assert pairs == ["first, 2-first, 1", "second, 2-second, 1"]
    # bias from the first occasion, drift from the second, each the mean over both wordings
    assert value(result, "toward_away[quantity=bias]/true-control") == pytest.approx(3 + 1 - 8)
    assert value(result, "toward_away[quantity=drift]/true-control") == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("name", "said"), [("Control", True), ("none", True), ("baseline", True), ("", True), ("plain", False)]
)
def test_the_control_is_known_by_its_name(name, said) -> None:
    frame = told([[4.0, 6], [5, 6], [6, 9]], (name, "own label"))
    result = evenhand.audit(frame, **SCALE)
    assert (result.audit.get("drift/own label-control") is not None) == said
    if not said:
        absent = result.audit["drift/arms"]
        assert absent.status == "not_assessed"
        assert "--control" in absent.reason
        assert "2 conditions (arm) are pooled" in " ".join(result.audit.warnings)
        named = evenhand.audit(frame, **SCALE, control="plain")
        assert value(named, "drift/own label-control") == pytest.approx(2)


def test_a_control_that_is_no_arm_is_refused() -> None:
    with pytest.raises(RequestError, match=r'--control "contrl": no arm of that name; did you mean "control"'):
        evenhand.audit(told([[4.0, 6], [5, 6]], ("control", "x")), **SCALE, control="contrl")


def test_swapped_labels_are_turned_by_tail_or_by_the_label_shown() -> None:
    frame = labelled(seed=1, effect=1.0, n_learners=12)
    by_tail = evenhand.audit(frame, **LABELS)
    by_label = evenhand.audit(frame.drop("tail"), **LABELS)
    assert value(by_tail, "label_effect/true-swapped") == pytest.approx(value(by_label, "label_effect/true-swapped"))
    high, low = (value(by_tail, f"label_effect[tail={tail}]/true-swapped") for tail in ("high", "low"))
    assert value(by_tail, "label_effect/true-swapped") == pytest.approx((high + low) / 2)
    within = by_tail.audit["label_effect/true-swapped"]
    assert within.n_clusters == 12  # learners, not questions
    assert within.interval_df == pytest.approx(10)
    assert by_label.audit["label_effect/true-swapped"].interval_df == pytest.approx(11)


def test_labels_exchanged_among_the_learners_are_said_where_labels_tell_learners_apart() -> None:
    def said(frame):
        return evenhand.audit(frame, **LABELS, learner="learner_id").audit["label_effect/true-swapped"].reason

    frame = labelled(seed=1, n_learners=12)  # swapped labels are nobody's, or a few by chance
    assert said(frame) == ""
    of = {f"s{at}": f"{(8.9 if at < 6 else 3.9) - 0.1 * (at % 6):.1f}" for at in range(12)}
    partner = {name: of[f"s{(at + 6) % 12}"] for at, name in enumerate(of)}

    def shown(own, other):
        learner = pl.col("learner_id")
        told = (
            pl.when(pl.col("arm") == "true").then(learner.replace_strict(own)).otherwise(learner.replace_strict(other))
        )
        return frame.with_columns(label_shown=pl.when(pl.col("arm") == "control").then(pl.lit("")).otherwise(told))

    assert said(shown(of, partner)).startswith("the swapped labels are those of other learners")
    coarse = {name: label[0] for name, label in of.items()}  # all 8 or 3: they tell nobody apart
    assert said(shown(coarse, {name: label[0] for name, label in partner.items()})) == ""


def test_without_learners_the_cluster_is_resampled_over_both_tails() -> None:
    frame = labelled(seed=1, n_learners=12).drop("learner_id")
    found = evenhand.audit(frame, **LABELS).audit["label_effect/true-swapped"]
    assert found.n_clusters == 5
    assert found.interval_df == pytest.approx(4)


def test_two_units_are_crossed_for_contrasts_of_arms_too() -> None:
    frame = labelled(seed=1, n_learners=12)
    ends = {}
    for cluster in ("learner_id", "question_id", ["learner_id", "question_id"]):
        found = evenhand.audit(frame.drop("tail"), **{**LABELS, "cluster": cluster}, learner="learner_id").audit
        ends[str(cluster)] = found["label_effect/true-swapped"]
    one, both = ends["learner_id"], ends["['learner_id', 'question_id']"]
    assert both.interval_method == "two_way_jackknife_t"
    assert both.estimate == pytest.approx(one.estimate)
    assert both.std_error >= one.std_error
    assert both.interval_df == pytest.approx(4)  # of five questions
    assert ends["question_id"].n_clusters == 12  # one unit alone: what a label says belongs to the learner


def test_the_words_of_planted_moves() -> None:
    frame = labelled(seed=2, effect=1.2, drift=(0.7, -0.7), bias=(-1.5, -1.5), noise=0.3, own_noise=0.2)
    result = evenhand.audit(frame, **LABELS)
    assert result.audit["toward_away[tail=high]/true-control"].reason == "toward"
    assert result.audit["toward_away[tail=low]/true-control"].reason == "away"
    assert result.audit["toward_away/true-control"].reason == "mixed: high toward; low away"
    crossed = evenhand.audit(
        labelled(seed=2, drift=(2.0, 0.0), bias=(-1.5, -1.5), noise=0.3, own_noise=0.2), **LABELS
    ).audit["toward_away[tail=high]/true-control"]
    assert crossed.reason == "overshoots, nearer; where passing the reference counts as away: away"
    assert crossed.ci_low > 0


def test_words_rest_on_the_default_interval_whatever_is_asked_for() -> None:
    frame = labelled(seed=2, n_learners=12)
    found = evenhand.audit(frame, **LABELS, interval="percentile").audit
    assert found["drift/true-control"].interval_method == "percentile"
    assert found["toward_away[quantity=drift,tail=high]/true-control"].interval_method == "jackknife_t"


def test_no_move_needs_a_margin() -> None:
    frame = labelled(seed=3, effect=0.0, noise=0.05, n_learners=24)
    plain = evenhand.audit(frame, **LABELS).audit["toward_away[tail=high]/true-control"]
    assert plain.reason.startswith("no move shown: at most ")
    inside = evenhand.audit(frame, **LABELS, margin={"drift": 0.1}).audit["toward_away[tail=high]/true-control"]
    assert inside.reason == "no move"


def test_dose_in_proportion_and_as_a_step() -> None:
    step = evenhand.audit(labelled(seed=4, effect=1.0, noise=0.02, n_learners=40), **LABELS)
    assert value(step, "dose_slope/true-swapped") == pytest.approx(0, abs=0.05)
    found = step.audit["dose_ratio/true-swapped"]
    assert found.interval_method == "fieller"
    assert found.ci_low < found.estimate < found.ci_high
    dosed = evenhand.audit(labelled(seed=4, effect=1.0, dose=0.25, noise=0.02, n_learners=40), **LABELS)
    assert value(dosed, "dose_slope/true-swapped") == pytest.approx(0.25, abs=0.05)
    none = evenhand.audit(labelled(seed=5, effect=0.0, n_learners=12), **LABELS).audit["dose_ratio/true-swapped"]
    assert none.status == "ok"
    assert (none.ci_low, none.ci_high) == (None, None)
    assert none.reason.startswith("unbounded")


def test_examples_keep_a_share_and_pass_their_level_on() -> None:
    rng = np.random.default_rng(0)
    arms = ("control", "correct", "shuffled", "shift_up", "shift_down")
    base = rng.normal(5, 1, 30)
    marks = np.column_stack([base, base - 1, base - 0.4, base + 0.2, base - 1.8]) + rng.normal(0, 0.05, (30, 5))
    shown = {"control": "", "correct": "2 5 8", "shuffled": "5 8 2", "shift_up": "4 7 10", "shift_down": "0 3 6"}
    frame = told(np.round(marks, 3), arms, question_id=[f"q{at % 6}" for at in range(30)])
    frame = frame.with_columns(shown_marks=pl.col("arm").replace_strict(shown))
    result = evenhand.audit(frame, **SCALE, cluster="question_id")
    mean = marks.mean(axis=0)
    kept = result.audit["pass_through[quantity=share_kept]/shuffled-correct"]
    assert kept.estimate == pytest.approx((mean[2] - mean[0]) / (mean[1] - mean[0]), abs=1e-3)
    assert kept.ci_low < kept.estimate < kept.ci_high
    passed = result.audit["pass_through/shift_up-shift_down"]
    assert passed.estimate == pytest.approx((mean[3] - mean[4]) / 4, abs=1e-3)
    assert passed.interval_method == "fieller"
    assert passed.n_clusters == 6
    assert value(result, "drift/shuffled-correct") == pytest.approx(mean[2] - mean[1], abs=1e-3)


def test_learners_are_held_against_reassignment_within_questions() -> None:
    frame = labelled(seed=6, effect=1.0, noise=0.3, n_learners=16, n_items=6)
    even = evenhand.audit(frame, **LABELS).audit
    assert even["learner_sd[quantity=p]/true-swapped"].estimate > 0.01
    assert even["learner_sd[quantity=below]/true-swapped"].estimate <= 2
    # half of the learners are moved three marks more
    more = pl.col("learner_id").is_in([f"s{at}" for at in range(0, 16, 2)]) & (
        pl.col("label_shown").cast(float, strict=False) > 5
    )
    moved = frame.with_columns(
        mark=pl.when(more)
        .then(pl.col("mark").cast(float).sub(3).clip(0, 10))
        .otherwise(pl.col("mark").cast(float))
        .cast(str)
    )
    found = evenhand.audit(moved, **LABELS).audit
    assert found["learner_sd[quantity=p]/true-swapped"].estimate < 0.01
    assert found["learner_sd/true-swapped"].estimate > 1
    assert found["learner_sd[quantity=below]/true-swapped"].estimate >= 6


def test_settings_are_runs_of_their_own_and_their_label_effects_are_compared() -> None:
    one = labelled(seed=7, effect=0.4, n_learners=12).with_columns(setting=pl.lit("low"))
    other = labelled(seed=7, effect=1.4, n_learners=12).with_columns(setting=pl.lit("high"))
    found = evenhand.audit(pl.concat([one, other]), **LABELS).audit
    effects = [found[f"label_effect[setting={name}]/true-swapped"].estimate for name in ("low", "high")]
    between = found["label_effect[setting=low-high]/true-swapped"]
    assert between.estimate == pytest.approx(effects[0] - effects[1])
    assert between.ci_high < 0
    pooled = found["dose_ratio/true-swapped"]
    parts = [
        (found[f"dose_slope[setting={name}]/true-swapped"].estimate, effect)
        for name, effect in zip(("low", "high"), effects, strict=True)
    ]
    gap = np.mean([abs(float(a) - float(b)) for a, b in _label_pairs(one)])
    assert pooled.estimate == pytest.approx(gap * sum(slope for slope, _ in parts) / sum(effect for _, effect in parts))


def _label_pairs(frame):
    wide = frame.filter(pl.col("arm") != "control").pivot(on="arm", index="response_id", values="label_shown")
    return wide.select("true", "swapped").iter_rows()


def test_several_judges_are_told_apart_and_share_families() -> None:
    parts = [labelled(seed=8, n_learners=12, effect=effect).with_columns(rater_id=pl.lit(name)) for name, effect in (("A", 0.3), ("B", 1.5))]  # fmt: skip
    frame = pl.concat(parts).rename({"mark": "verdict"})
    options = {name: text for name, text in LABELS.items() if name != "judge"}
    result = evenhand.audit(frame, **options, rater="rater_id", verdict="verdict")
    assert value(result, "label_effect/true-swapped:A") < value(result, "label_effect/true-swapped:B")
    moves = result.audit["toward_away[quantity=drift,tail=high]/true-control:A"]
    assert moves.family.endswith("; 4 in all")  # two tails, two judges
    assert page(result.audit).judges[0].tables


def test_a_run_of_binary_checklists_is_compared_by_totals() -> None:
    rows = [
        {"response_id": f"r{response}", "criterion_id": f"c{criterion}", "arm": arm, "verdict": str(int((response + criterion + shift) % 3 > 0))}
        for response in range(9) for criterion in range(4) for arm, shift in (("control", 0), ("label", 1))
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    result = evenhand.audit(
        frame, response="response_id", criterion="criterion_id", judge="verdict", scale="binary", levels=("0", "1")
    )
    marks = frame.with_columns(pl.col("verdict").cast(int)).group_by("response_id", "arm").agg(pl.col("verdict").sum())
    means = dict(marks.group_by("arm").agg(pl.col("verdict").mean()).iter_rows())
    assert value(result, "drift/label-control") == pytest.approx(means["label"] - means["control"])


def test_nominal_verdicts_have_no_marks_to_compare() -> None:
    frame = told([[1.0, 2], [2, 3], [3, 1]], ("control", "x")).with_columns(pl.col("mark").replace_strict({"1": "a", "2": "b", "3": "c"}))  # fmt: skip
    result = evenhand.audit(frame, response="response_id", judge="mark", scale="nominal")
    assert not [one for one in result.audit.estimates if one.describes == "grader×context"]


def test_a_judge_whom_nothing_moves_has_drifts_of_zero_and_no_interval() -> None:
    frame = told([[4.0, 4], [5, 5], [6, 6]], ("control", "x"), reference=["5", "5", "9"])
    found = evenhand.audit(frame, **SCALE, reference="reference").audit
    assert found["drift/x-control"].estimate == 0
    assert found["drift/x-control"].ci_low is None
    assert found["toward_away/x-control"].reason.startswith("no move shown")


def test_columns_that_contradict_themselves_are_refused() -> None:
    frame = labelled(seed=1, n_learners=4)
    torn = pl.concat([frame, frame.with_columns(occasion=pl.lit("2"), label_shown=pl.lit("5.0"))])
    with pytest.raises(KeyClashError, match='column "label_shown" says two things of response'):
        evenhand.audit(torn, **LABELS)
    lost = frame.with_columns(learner_id=pl.when(pl.col("learner_id") == "s0").then(pl.lit("")).otherwise("learner_id"))
    with pytest.raises(KeyClashError, match=r'5 responses have nothing in "learner_id" \(--learner\)'):
        evenhand.audit(lost, **LABELS)
    with pytest.raises(MappingError, match="tial"):
        evenhand.audit(frame, **LABELS, tail="tial")


def test_the_report_says_what_moved_and_does_not_read_a_shift_as_judging() -> None:
    # the control is 2 below throughout; the label adds 2: less error, and not a bit of ranking
    result = evenhand.audit(labelled(seed=9, effect=0.1, drift=(2.0, 2.0), bias=(-2.0, -2.0)), **LABELS)
    words = result.audit["equivalence[metric=mae]/true-control"].reason
    assert words.startswith("gain")
    assert "not shown to rank better, so marks land elsewhere" in words
    text = summary(result.audit)
    assert "On identical work, true-swapped: the mark moves by" in text
    assert "which is no gain in judging" in " ".join(text.split())
    tables = {table.title: table for part in page(result.audit).judges for table in part.tables}
    assert {row.name for row in tables["Towards the reference or away from it"].rows} >= {"true-control (tail high)", "true-control (tail low)"}  # fmt: skip
    assert "Change of agreement from the control" in tables
    assert any(figure.drawing.title == "What the judge was told" for figure in page(result.audit).figures)
    author = next(row for row in decision_table(result.audit) if row.question == "Does it mark the work or the author?")
    assert "the mark moves by" in author.answer
    assert not any("statement about the author" in question for question, _ in cannot_say(result.audit))


@needs_shared
def test_values_of_a_real_run() -> None:
    """shared: smollm2_label_arms, temperature 0."""
    options = {"response": "item_id", "cluster": "question_id", "judge": "mark", "reference": "reference_total"}
    audit = evenhand.audit(str(SHARED), **options, range=(0, 10), setting="temperature").audit
    run = "[setting=0.0]"
    for contrast, expected in {
        "drift/neutral-control": (0.21, -0.09, 0.52), "drift/low-control": (1.17, 0.84, 1.50), "drift/mid-control": (0.51, -0.11, 1.13),
        "drift/high-control": (7.68, 6.88, 8.47), "label_effect/high-low": (6.505, 5.98, 7.03),
    }.items():  # fmt: skip
        found = audit[contrast.replace("/", f"{run}/")]
        assert (found.estimate, found.ci_low, found.ci_high) == pytest.approx(expected, abs=0.0051)
        assert (found.n_used, found.n_clusters) == (210, 15)
    for name, expected in {"bias/control": -4.99, "bias/high": 2.69, "mae/control": 5.07, "mae/high": 3.70,
        "pearson_r/control": -0.04, "pearson_r/high": 0.07}.items():  # fmt: skip
        assert audit[name.replace("/", f"{run}/")].estimate == pytest.approx(expected, abs=0.0051)
    repeats = "[occasion=3-2,setting=1.0]/control-control"
    assert audit[f"exact_agreement{repeats}"].estimate == pytest.approx(0.10, abs=0.005)
    assert audit[f"pearson_r{repeats}"].estimate == pytest.approx(0.05, abs=0.005)
    # agreement reads a label effect as a gain; the verdict must not
    verdict = audit["equivalence[metric=mae,setting=0.0]/high-control"].reason
    assert verdict.startswith("gain")
    assert "not shown to rank better, so marks land elsewhere" in verdict
    assert audit["toward_away[setting=0.0]/low-control"].reason == "toward"
    assert audit["toward_away[setting=0.0]/high-control"].reason.startswith("overshoots, nearer")
    assert audit["toward_away[setting=0.0]/mid-control"].reason.startswith("no move shown: at most 1.13")
    assert audit["label_effect[setting=1.0-0.0]/high-low"].ci_high < 0
