"""Confidences of a judge: ids, what they are read as, tables, figure, refusals, and cluster intervals."""

import json

import numpy as np
import pytest

import evenhand
from evenhand.errors import EvenhandError
from evenhand.results import Audit

ROWS = [
    *(("a", "yes", "yes", 0.9), ("a", "yes", "yes", 0.8), ("a", "no", "yes", 0.6), ("a", "no", "no", 0.7)),
    *(("b", "no", "no", 0.9), ("b", "yes", "no", 0.5), ("b", "yes", "yes", 0.7), ("b", "no", "no", 0.6)),
    *(("c", "no", "yes", 0.9), ("c", "yes", "yes", 0.9), ("c", "no", "no", 0.8), ("c", "yes", "no", 0.6)),
]


def csv(rows, head="item_id,cluster,human,judge,sure"):
    return head + "\n" + "".join(f"i{n},{','.join(map(str, row))}\n" for n, row in enumerate(rows))


@pytest.fixture
def audited(tmp_path):
    def ran(text, **options):
        path = tmp_path / "v.csv"
        path.write_text(text, encoding="utf-8")
        return evenhand.audit(path, confidence="sure", **options)

    return ran


def positive(judge, sure):
    return sure if judge == "yes" else 1 - sure


def test_every_number_of_a_binary_judge(audited):
    found = audited(csv(ROWS), cluster="cluster")
    right = [human == judge for _, human, judge, _ in ROWS]
    sure = [c for *_, c in ROWS]
    p = [positive(judge, c) for _, _, judge, c in ROWS]
    label = [human == "yes" for _, human, _, _ in ROWS]

    def auroc(score, positive_one):
        pairs = [(a > b + 1e-9) + (abs(a - b) < 1e-9) / 2 for a, x in zip(score, positive_one) for b, y in zip(score, positive_one) if x and not y]  # fmt: skip # noqa: B905
        return np.mean(pairs)

    assert found["auroc[target=correct]/judge"].estimate == pytest.approx(auroc(sure, right), abs=1e-12)
    assert found["auroc/judge"].estimate == pytest.approx(auroc(p, label), abs=1e-12)
    brier = np.mean([(one - y) ** 2 for one, y in zip(p, label, strict=True)])
    assert found["brier/judge"].estimate == pytest.approx(brier, abs=1e-12)
    assert found["brier/judge"].estimate == pytest.approx(
        np.mean([(c - r) ** 2 for c, r in zip(sure, right, strict=True)])
    )
    bins = {}
    for c, r in zip(sure, right, strict=True):
        bins.setdefault(int(c * 10 + 1e-9), []).append(c - r)
    ece = sum(abs(sum(gaps)) for gaps in bins.values()) / len(sure)
    assert found["ece/judge"].estimate == pytest.approx(ece, abs=1e-12)
    assert "10 bins of equal width" in found["ece/judge"].estimand
    assert found["ece/judge"].ci_low is None
    assert found["calibration[quantity=overconfidence]/judge"].estimate == pytest.approx(np.mean(sure) - np.mean(right))
    assert found["risk_coverage_area/judge"].n_clusters == 3
    assert found["risk_coverage_area/judge"].ci_low is not None


def test_a_probability_of_the_label_is_the_same_when_it_is_said_so(audited):
    mine = audited(csv(ROWS), cluster="cluster")
    turned = csv([(c, human, judge, round(positive(judge, sure), 3)) for c, human, judge, sure in ROWS])
    said = audited(turned, cluster="cluster", confidence_of="positive")
    for name in ("auroc", "auroc[target=correct]", "brier", "ece", "risk_coverage_area", "calibration[quantity=slope]"):
        assert said[f"{name}/judge"].estimate == pytest.approx(mine[f"{name}/judge"].estimate, abs=1e-9), name
    unsaid = audited(turned, cluster="cluster")
    assert any("--confidence-of positive" in words for words in unsaid.audit.warnings)
    assert not any("--confidence-of positive" in words for words in (*mine.audit.warnings, *said.audit.warnings))


def test_the_curve_is_a_table_and_a_figure(audited):
    found = audited(csv(ROWS), cluster="cluster")
    curve = found.audit.tables["risk_coverage/judge"].records()
    assert [row["confidence"] for row in curve] == [0.9, 0.8, 0.7, 0.6, 0.5]
    assert curve[0] == {"confidence": 0.9, "coverage": 4 / 12, "risk": 0.25, "kept": 4, "wrong": 1}
    assert curve[-1]["coverage"] == 1
    assert curve[-1]["risk"] == pytest.approx(found["error_rate/judge"].estimate)
    bins = found.audit.tables["calibration/judge"].records()
    assert sum(row["n"] for row in bins) == 12
    from evenhand.report.render import to_html

    page = to_html(found.audit)
    assert "Risk against coverage" in page
    assert 'aria-labelledby="judge-1-risk-title judge-1-risk-desc"' in page


def test_ranks_outside_0_to_1_are_no_probabilities(audited):
    found = audited(csv([(*row, 10 * sure) for *row, sure in ROWS]), cluster="cluster")
    assert found["brier/judge"].status == "not_assessed"
    assert "outside 0 to 1" in found["brier/judge"].reason
    assert found["risk_coverage_area/judge"].status == "ok"
    assert found.audit.get("auroc/judge") is None


def test_verdicts_without_a_confidence_are_said(audited):
    found = audited(csv([*ROWS, ("a", "yes", "yes", "")]), cluster="cluster")
    assert found["brier/judge"].n_used == 12
    assert found["brier/judge"].n_excluded == 1
    assert any("1 scored verdicts have no confidence" in words for words in found.audit.warnings)


def test_many_different_confidences_are_classed(audited):
    rng = np.random.default_rng(2)
    rows = [
        (f"k{n % 40}", "yes", "yes" if rng.random() < c else "no", c) for n, c in enumerate(rng.uniform(0.3, 1, 1_500))
    ]
    found = audited(csv(rows), cluster="cluster", levels=("no", "yes"))
    right = np.array([judge == "yes" for _, _, judge, _ in rows])
    sure = np.array([c for *_, c in rows])
    order = np.argsort(-sure)
    area = (np.cumsum(~right[order]) / np.arange(1, len(rows) + 1)).mean()
    assert found["risk_coverage_area/judge"].estimate == pytest.approx(area, abs=5e-3)
    assert found["brier/judge"].estimate == pytest.approx(np.mean((sure - right) ** 2), abs=1e-9)
    assert "taken as 512 classes" in found["risk_coverage_area/judge"].estimand
    assert len(found.audit.tables["risk_coverage/judge"].rows) <= 101


def test_without_a_wrong_verdict(audited):
    found = audited(csv([("a", "yes", "yes", 0.9), ("b", "no", "no", 0.8)]), cluster="cluster")
    assert found["auroc[target=correct]/judge"].status == "undefined"
    assert found["risk_coverage_area/judge"].estimate == 0


@pytest.mark.parametrize("cell", ["high", "inf", "nan"])
def test_a_confidence_is_a_number(audited, cell):
    with pytest.raises(EvenhandError, match="row 14"):
        audited(csv([*ROWS, ("a", "yes", "yes", cell)]), cluster="cluster")


def test_one_column_cannot_speak_of_two_judges(command, write):
    write("v.csv", "item_id,human,a,b,sure\n1,x,x,y,.5\n2,y,y,y,.6\n")
    ending = command("audit", "v.csv", "--judge", "a,b", "--confidence", "sure", "--out", "out")
    assert ending.code == 2
    assert "2 judges" in ending.err


def test_a_column_a_criterion(command, write, tmp_path):
    write(
        "v.csv",
        "item_id,gold_1,judge_1,sure_1,gold_2,judge_2,sure_2\nr1,1,1,.9,0,1,.6\nr2,0,0,.8,1,1,.7\nr3,1,0,.5,1,1,.9\n",
    )
    options = ("--judge", "judge_{criterion}", "--reference", "gold_{criterion}", "--confidence", "sure_{criterion}")
    assert command("audit", "v.csv", *options, "--out", "out").code == 0
    assert Audit.load(tmp_path / "out")["brier/judge"].n_used == 6
    refused = command("audit", "v.csv", *options[:-1], "sure_1", "--out", "no")
    assert refused.code == 2
    assert "is a pattern" in refused.err


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_convert_carries_confidence_and_explanation(command, write, tmp_path, ending):
    text = "item_id,human,judge,sure,why\nr1,yes,yes,0.9,clear\nr2,no,yes,0.6,doubtful\nr3,no,no,0.7,short\n"
    write("v.csv", text)
    options = ("--confidence", "sure", "--explanation", "why")
    assert command("convert", "v.csv", *options, "--to", f"w.{ending}").code == 0
    again = ("--confidence", "confidence", "--explanation", "explanation") if ending != "parquet" else ()
    assert command("audit", f"w.{ending}", *again, "--out", "two").code == 0
    assert command("audit", "v.csv", *options, "--out", "one").code == 0
    one, two = (Audit.load(tmp_path / name) for name in ("one", "two"))
    assert two["brier/judge"].estimate == one["brier/judge"].estimate
    if ending == "jsonl":
        rows = [json.loads(line) for line in (tmp_path / "w.jsonl").read_text(encoding="utf-8").splitlines()]
        judged = {row["response_id"]: row for row in rows if row["rater_kind"] == "judge"}
        assert (judged["r2"]["confidence"], judged["r2"]["explanation"]) == ("0.6", "doubtful")
        assert all(not row.get("confidence") for row in rows if row["rater_kind"] == "reference")
