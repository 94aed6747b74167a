"""Calibrated marks through an audit: values by hand, arms with fits of their own, tails, tables, figures, refusals."""

import numpy as np
import polars as pl
import pytest
from arm_samples import LABELS, labelled, told
from calibration_samples import METRICS, brute_sums, distorted, pairs_of
from scipy import special

import evenhand
from evenhand.report.page import page
from evenhand.stats.calibration import Marking
from evenhand.stats.calibration_error import Resampling
from evenhand.stats.cluster_robust import cross_products, least_squares

SCALE = {
    "response": "response_id",
    "judge": "mark",
    "reference": "teacher_mark",
    "cluster": "learner_id",
    "resamples": 200,
}
RANGE = {"scale": "continuous", "range": (0, 10)}
WHOLE = Marking(levels=np.arange(11.0))


def frame_of(pairs, digits=0):
    rows = zip(pairs.unit, pairs.judge, pairs.reference, strict=True)
    return pl.DataFrame(
        [
            {
                "response_id": f"r{at}",
                "learner_id": f"s{unit:02d}",
                "mark": f"{judge:.{digits}f}",
                "teacher_mark": f"{reference:g}",
            }
            for at, (unit, judge, reference) in enumerate(rows)
        ]
    )


def value(result, text):
    return result.audit[text].estimate


@pytest.fixture(scope="module")
def pairs():
    return distorted(np.random.default_rng(11), 12)


@pytest.fixture(scope="module")
def audited(pairs):
    return evenhand.audit(frame_of(pairs), **SCALE, **RANGE)


def by_hand(pairs, metric, method, marking):
    ones = np.ones(pairs.n_units)
    return float(METRICS[metric](brute_sums(pairs, method, ones, marking)) - METRICS[metric](pairs.sums.sum(axis=0)))


@pytest.mark.parametrize("method", ["linear", "least_squares", "isotonic"])
@pytest.mark.parametrize("metric", METRICS)
def test_calibrated_minus_raw_by_hand(audited, pairs, metric, method):
    params = ["contrast=calibrated-raw"]
    params += [f"method={method}"] if method != "linear" else []
    params += [f"metric={metric}"] if metric != "mae" else []
    found = audited.audit[f"calibration[{','.join(params)}]/judge"]
    assert found.estimate == pytest.approx(by_hand(pairs, metric, method, WHOLE), abs=1e-12)
    assert found.ci_low < found.estimate < found.ci_high
    assert (found.n_used, found.n_clusters, found.describes, found.interval_scale) == (60, 12, "judge", "identity")
    assert "each unit's by the fit on all other units" in found.estimand


def contrast_by_hand(pairs, weights):
    return float(METRICS["mae"](brute_sums(pairs, "linear", weights, WHOLE)) - METRICS["mae"](weights @ pairs.sums))


def test_the_default_error_is_that_over_resamples_with_the_fit_made_anew(audited, pairs):
    drawn = Resampling(np.full(12, 5.0), np.zeros(12, dtype=np.int64)).weights(200, 0)
    error = np.std([contrast_by_hand(pairs, weights) for weights in drawn], ddof=1) * np.sqrt(12 / 11)
    found = audited.audit["calibration[contrast=calibrated-raw]/judge"]
    assert found.std_error == pytest.approx(error, rel=1e-9)
    assert found.ci_high - found.estimate == pytest.approx(special.stdtrit(11, 0.975) * error)
    assert "200 resamples, each with its own fits" in found.reason


def test_rounding_that_swallows_every_unit_left_out_is_no_certainty():
    """Nearly right marks: no single unit moves a rounded mark, resamples do."""
    frame = labelled(seed=3).filter(pl.col("arm") == "control").drop("arm")
    frame = frame.with_columns(mark=pl.col("mark").cast(pl.Float64).round().cast(pl.String))
    given = {**SCALE, **RANGE}
    name = "calibration[contrast=calibrated-raw]/judge"
    jackknife = evenhand.audit(frame, **given, interval="jackknife_t").audit[name]
    found = evenhand.audit(frame, **given).audit[name]
    assert (jackknife.estimate, jackknife.std_error, jackknife.ci_low) == (0, 0, None)
    assert found.ci_low < 0 < found.ci_high
    assert found.interval_df == pytest.approx(23)
    assert "whichever" not in found.reason


def test_the_jackknife_makes_the_fit_anew(pairs):
    without = [contrast_by_hand(pairs, weights) for weights in 1 - np.eye(12)]
    error = np.sqrt((12 - 1) / 12 * np.square(np.array(without) - np.mean(without)).sum())
    result = evenhand.audit(frame_of(pairs), **SCALE, **RANGE, interval="jackknife_t")
    found = result.audit["calibration[contrast=calibrated-raw]/judge"]
    assert found.std_error == pytest.approx(error, abs=1e-12)
    assert found.interval_method == "jackknife_t"


def test_marks_that_are_not_whole_stay_unrounded_but_for_kappa(pairs):
    halves = pairs_of(pairs.reference, pairs.judge / 2 + 0.25, pairs.unit)
    result = evenhand.audit(frame_of(halves, 2), **SCALE, **RANGE)
    expected = by_hand(halves, "mae", "linear", Marking(0, 10))
    assert value(result, "calibration[contrast=calibrated-raw]/judge") == pytest.approx(expected, abs=1e-12)
    kappa = "calibration[contrast=calibrated-raw,metric=quadratic_weighted_kappa]/judge"
    rounded = pairs_of(halves.reference, WHOLE.of(halves.judge), halves.unit)
    after = METRICS["quadratic_weighted_kappa"](brute_sums(halves, "linear", np.ones(12), WHOLE))
    before = METRICS["quadratic_weighted_kappa"](rounded.sums.sum(axis=0))
    assert value(result, kappa) == pytest.approx(float(after - before), abs=1e-12)
    assert value(result, "quadratic_weighted_kappa/judge") == pytest.approx(float(before), abs=1e-12)
    assert "clipped" in result.audit["calibration[contrast=calibrated-raw]/judge"].estimand


def test_declared_levels_are_what_is_rounded_to(pairs):
    ordinal = evenhand.audit(frame_of(pairs), **SCALE, scale="ordinal", levels=[str(one) for one in range(11)])
    continuous = evenhand.audit(frame_of(pairs), **SCALE, **RANGE)
    for metric in ("", ",metric=rmse", ",metric=quadratic_weighted_kappa"):
        name = f"calibration[contrast=calibrated-raw{metric}]/judge"
        assert value(ordinal, name) == pytest.approx(value(continuous, name), abs=1e-12)


def test_the_slope_has_the_errors_of_a_regression_with_clusters(audited, pairs):
    x = np.column_stack([np.ones(60), pairs.judge])
    fitted = least_squares(cross_products(x, pairs.reference, pairs.unit, 12))
    found = audited.audit["calibration[quantity=slope]/judge"]
    assert found.estimate == pytest.approx(fitted.coefficients[1])
    assert found.std_errors == pytest.approx({name: fitted.std_errors[name][1] for name in ("cr1", "cr2")})
    assert audited.audit["calibration[quantity=slope,se=cr2]/judge"].std_error == found.std_errors["cr2"]
    assert "t(" in found.reason
    asked = evenhand.audit(frame_of(pairs), **SCALE, **RANGE, interval="cr2_t").audit[
        "calibration[quantity=slope]/judge"
    ]
    assert (asked.interval_method, asked.reason) == ("cr2_t", "")
    assert asked.interval_df == pytest.approx(fitted.df[1])


# --- what cannot be had ---


def test_constant_marks_have_no_line():
    found = evenhand.audit(frame_of(pairs_of([1, 2, 3, 4, 5, 6], [5] * 6, [0, 0, 1, 1, 2, 2])), **SCALE, **RANGE)
    one = found.audit["calibration[contrast=calibrated-raw]/judge"]
    assert (one.status, one.estimate) == ("undefined", None)
    assert "constant" in one.reason
    assert found.audit["calibration[quantity=slope]/judge"].status == "undefined"


def test_perfect_marks_are_left_alone():
    marks = [0, 2, 4, 7, 10] * 4
    found = evenhand.audit(frame_of(pairs_of(marks, marks, np.arange(20) // 5)), **SCALE, **RANGE)
    one = found.audit["calibration[contrast=calibrated-raw]/judge"]
    assert (one.estimate, one.ci_low) == (0, None)
    assert "the same whichever cluster is left out" in one.reason


def test_one_learner_is_nobody_elses_fit():
    found = evenhand.audit(frame_of(pairs_of([1, 2, 3, 4], [2, 3, 5, 5], [0, 0, 0, 0])), **SCALE, **RANGE)
    one = found.audit["calibration[contrast=calibrated-raw]/judge"]
    assert one.status == "undefined"
    assert "no fit" in one.reason


def test_too_many_marks_for_a_step(pairs):
    rng = np.random.default_rng(0)
    many = pairs_of(rng.uniform(0, 10, 150).round(1), rng.uniform(0, 10, 150), np.arange(150) // 10)
    found = evenhand.audit(frame_of(many, 3), **SCALE, **RANGE)
    one = found.audit["calibration[contrast=calibrated-raw,method=isotonic]/judge"]
    assert one.status == "not_assessed"
    assert "rounded marks have fewer" in one.reason
    assert found.audit["calibration[contrast=calibrated-raw]/judge"].status == "ok"


def test_marks_that_are_words_or_binary_are_not_calibrated(pairs):
    words = frame_of(pairs).with_columns(
        pl.col("mark", "teacher_mark").cast(pl.Float64).lt(6).replace_strict({True: "poor", False: "good"})
    )
    for options in ({"scale": "ordinal", "levels": ["poor", "good"]}, {"positive": "good"}):
        found = evenhand.audit(words, **SCALE, **options)
        assert not [one for one in found.audit.estimates if one.statistic == "calibration"]


# --- arms ---


@pytest.fixture(scope="module")
def arms():
    frame = labelled(seed=3, bias=(0.4, 0.9)).with_columns(mark=pl.col("mark").cast(pl.Float64).round().cast(pl.String))
    return frame, evenhand.audit(frame, **LABELS, learner="learner_id")


def pairs_of_arm(frame, arm):
    here = frame.filter(pl.col("arm") == arm)
    unit = np.unique(here["learner_id"].to_numpy(), return_inverse=True)[1]
    return pairs_of(here["teacher_mark"].cast(pl.Float64).to_numpy(), here["mark"].cast(pl.Float64).to_numpy(), unit)


def test_three_contrasts_each_arm_with_its_own_fit(arms):
    frame, result = arms
    mae, raw, after = METRICS["mae"], {}, {}
    for arm in ("control", "true", "swapped"):
        one = pairs_of_arm(frame, arm)
        raw[arm] = mae(one.sums.sum(axis=0))
        after[arm] = mae(brute_sums(one, "linear", np.ones(one.n_units), WHOLE))
    same = "calibration[contrast=calibrated-raw]"
    assert value(result, f"{same}/control") == pytest.approx(float(after["control"] - raw["control"]), abs=1e-12)
    for arm in ("true", "swapped"):
        assert value(result, f"{same}/control-{arm}") == pytest.approx(float(after["control"] - raw[arm]), abs=1e-12)
        both = value(result, f"calibration[contrast=calibrated-calibrated]/{arm}-control")
        assert both == pytest.approx(float(after[arm] - after["control"]), abs=1e-12)
        found = result.audit[f"calibration[contrast=calibrated-calibrated]/{arm}-control"]
        assert found.describes == "grader×context"
        assert {"raw", "holm"} <= found.p_values.keys()
        assert found.n_clusters == 24
    assert result.audit.get(f"{same}/judge") is None  # the control's own stands in its place


def test_a_fit_on_one_tail_is_carried_to_the_other(arms):
    frame, result = arms
    control = pairs_of_arm(frame, "control")
    here = frame.filter(pl.col("arm") == "control")
    high = (here["tail"] == "high").to_numpy()
    x, y = control.judge[high], control.reference[high]
    marks = WHOLE.of(y.mean() + y.std() / x.std() * (control.judge[~high] - x.mean()))
    left = (marks - control.reference[~high]).mean()
    found = result.audit["calibration[fit=high,quantity=bias,tail=low]/control"]
    assert found.estimate == pytest.approx(left, abs=1e-12)
    gained = np.abs(marks - control.reference[~high]).mean() - np.abs(control.judge - control.reference)[~high].mean()
    assert value(result, "calibration[contrast=calibrated-raw,fit=high,tail=low]/control") == pytest.approx(gained)
    assert found.ci_low < found.estimate < found.ci_high


def test_one_number_has_one_interval_whatever_it_is_called(arms):
    _, result = arms
    for name in ("bias", "mae", "quadratic_weighted_kappa", "pearson_r"):
        judge, control = (result.audit[f"{name}/{source}"] for source in ("judge", "control"))
        assert (judge.estimate, judge.ci_low, judge.ci_high) == pytest.approx(
            (control.estimate, control.ci_low, control.ci_high), abs=1e-9
        )
        assert judge.n_clusters == control.n_clusters
    assert "clusters are resampled as for every other number" in result.audit["bias/control"].estimand


def test_the_dose_slope_has_a_cluster_robust_error(arms):
    _, result = arms
    found = result.audit["dose_slope/true-swapped"]
    assert {"cr1", "cr2"} <= found.std_errors.keys()
    assert found.std_errors["cr2"] == pytest.approx(found.std_error, rel=0.25)


def test_arms_of_two_marks_have_nothing_to_stretch():
    rng = np.random.default_rng(0)
    frame = told(rng.integers(0, 2, (20, 2)).astype(float), ("control", "x"), teacher_mark=["0", "1"] * 10)
    found = evenhand.audit(frame, response="response_id", judge="mark", reference="teacher_mark", positive="1")
    kappa = found.audit["calibration[contrast=calibrated-raw,metric=quadratic_weighted_kappa]/control"]
    assert kappa.status == "not_assessed"
    assert "fewer than three" in kappa.reason


# --- the saved audit and its report ---


def test_the_reliability_table_and_its_figure(audited, pairs):
    rows = audited.audit.tables["reliability/judge"].records()
    assert sum(row["n"] for row in rows) == 60
    for row in rows:
        here = pairs.judge == row["mean_mark"]
        assert (row["from"], row["to"], row["n"]) == (row["mean_mark"], row["mean_mark"], here.sum())
        assert row["mean_reference"] == pytest.approx(pairs.reference[here].mean())
        line = pairs.reference.mean() + pairs.reference.std() / pairs.judge.std() * (row["mean_mark"] - pairs.judge.mean())  # fmt: skip
        assert row["linear"] == pytest.approx(line)
    steps = [row["isotonic"] for row in rows]
    assert steps == sorted(steps)
    drawn = {figure.drawing.name: figure for figure in page(audited.audit).figures}
    figure = drawn["judge-1-reliability"]
    assert len(figure.rows) == len(rows)
    assert figure.headers[4] == "mean reference"


def test_many_marks_share_bins():
    rng = np.random.default_rng(1)
    many = pairs_of(rng.uniform(0, 10, 200).round(1), rng.uniform(0, 10, 200), np.arange(200) // 10)
    rows = evenhand.audit(frame_of(many, 3), **SCALE, **RANGE).audit.tables["reliability/judge"].records()
    assert len(rows) == 20
    assert sum(row["n"] for row in rows) == 200
    assert all(row["from"] <= row["mean_mark"] <= row["to"] for row in rows)


def test_the_report_has_a_section(arms, audited):
    titles = [table.title for table in page(arms[1].audit).judges[0].tables]
    assert "Marks calibrated on everybody else's: change of agreement" in titles
    assert "Calibrated on another tail" in titles
    tables = {table.title: table for table in page(audited.audit).judges[0].tables}
    names = [row.name for row in tables["Marks calibrated on everybody else's: change of agreement"].rows]
    assert names == ["judge: calibrated minus as given"]
    everywhere = [row.name for table in tables.values() for row in table.rows]
    assert [name for name in everywhere if name.startswith("calibration")] == ["calibration (slope)"]


def test_confidences_have_a_diagram_and_their_error_in_the_report():
    rng = np.random.default_rng(2)
    sure = rng.uniform(0.5, 1, 80)
    right = rng.uniform(size=80) < sure
    gold = rng.integers(0, 2, 80)
    frame = pl.DataFrame(
        {
            "item_id": [f"i{at}" for at in range(80)], "cluster": [f"c{at // 8}" for at in range(80)], "human": gold.astype(str),
            "judge": np.where(right, gold, 1 - gold).astype(str), "sure": sure.round(2),
        }
    )  # fmt: skip
    result = evenhand.audit(frame, confidence="sure", cluster="cluster", positive="1", resamples=200)
    shown = page(result.audit)
    assert "judge-1-confidence" in [figure.drawing.name for figure in shown.figures]
    rows = next(t for t in shown.judges[0].tables if t.title.startswith("Calibration: slopes")).rows
    assert {"expected calibration error", "calibration (slope)"} <= {row.name for row in rows}


def test_through_the_command(command, write):
    pairs = distorted(np.random.default_rng(5), 8)
    write("marks.csv", frame_of(pairs).write_csv())
    columns = ("--response", "response_id", "--judge", "mark", "--reference", "teacher_mark", "--cluster", "learner_id")
    ending = command("audit", "marks.csv", *columns, "--scale", "continuous", "--range", "0,10", "--out", "out")
    assert ending.code == 0, ending.said
    shown = command("show", "out", "calibration[contrast=calibrated-raw]/judge", "--card")
    assert shown.code == 0
    assert "calibrated by one line" in " ".join(shown.out.split())
    refused = command("show", "out", "calibration[contrast=calibrated]/judge")
    assert refused.code == 2
    assert "calibrated-raw" in refused.said


def test_many_units_are_taken_in_groups(monkeypatch, pairs):
    monkeypatch.setattr("evenhand.audits.calibration_marks.MOST_WORK", 100)
    monkeypatch.setattr("evenhand.audits.calibration_marks.N_GROUPS", 4)
    found = evenhand.audit(frame_of(pairs), **SCALE, **RANGE).audit["calibration[contrast=calibrated-raw]/judge"]
    assert found.status == "ok"
    assert found.interval_df == pytest.approx(3)
