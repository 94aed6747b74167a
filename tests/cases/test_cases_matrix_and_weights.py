"""Cases NUM-03, UNC-04, PWX-03 (quorum), CFG-01, MIS-04 (codes), UND-01 and UND-03 (raters) of the list of public bug reports.

Inputs are the list's own small synthetic files; each test names its case, its command and its ids.
"""

import json
from pathlib import Path

import pytest

from evenhand.results import Audit

SHARED = Path(__file__).parents[3] / "shared" / "cases" / "inputs"
TOLERANCE = 5e-5


def near(value):
    return pytest.approx(value, abs=TOLERANCE)


@pytest.fixture
def audited(command, write, tmp_path):
    """Run `evenhand audit NAME ... --out out`; the audit and what the terminal said."""

    def ran(name, text, *options):
        write(name, text)
        ending = command("audit", name, *options, "--out", "out")
        assert ending.code == 0, ending.err
        return Audit.load(tmp_path / "out"), " ".join(ending.out.split())

    return ran


@pytest.fixture
def report(tmp_path):
    return lambda: (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


# --- NUM-03 ---

UNITS_BY_RATERS = "unit,r1,r2,r3,r4\nu1,1,1,2,1\nu2,3,3,3,2\nu3,5,4,5,5\nu4,2,2,2,2\nu5,4,5,4,4\nu6,3,3,4,3\n"
RATERS_BY_UNITS = "rater,u1,u2,u3,u4,u5,u6\nr1,1,3,5,2,4,3\nr2,1,3,4,2,5,3\nr3,2,3,5,2,4,4\nr4,1,2,5,2,4,3\n"
NUM_03 = {
    "krippendorff_alpha[metric=interval]/raters": 0.877005,
    "krippendorff_alpha[metric=ordinal]/raters": 0.889155,
    "fleiss_kappa/raters": 0.471366,
}


@pytest.mark.parametrize(
    ("text", "side"),
    [(UNITS_BY_RATERS, "rows"), (RATERS_BY_UNITS, "columns")],
    ids=["units by raters", "raters by units"],
)
def test_num_03_both_files_give_the_same_numbers(audited, report, text, side):
    """NUM-03: evenhand audit NUM-03_units_by_raters.csv --items rows; NUM-03_raters_by_units.csv --items columns."""
    audit, _ = audited("NUM-03.csv", text, "--items", side)
    for identity, value in NUM_03.items():
        assert audit[identity].estimate == near(value)
    assert audit.declarations.reading["matrix"] == "6 items x 4 raters"
    assert "6 items x 4 raters" in report()
    assert any(f"--items {side}: each row is" in words for words in audit.warnings)


@pytest.mark.parametrize("text", [UNITS_BY_RATERS, RATERS_BY_UNITS], ids=["unit", "rater"])
def test_num_03_header_words_are_not_guessed(refused, write, text):
    """NUM-03: evenhand audit NUM-03.csv without a word: refused, whatever the first column is called."""
    write("NUM-03.csv", text)
    says = ("--response COL", "--items columns") if text is RATERS_BY_UNITS else "--response COL"
    refused("audit", "NUM-03.csv", "--out", "out", says=says)


def test_num_03_columns_stated_one_by_one(audited):
    """NUM-03: evenhand audit NUM-03_units_by_raters.csv --response unit --judge r1,r2,r3,r4."""
    audit, _ = audited("NUM-03.csv", UNITS_BY_RATERS, "--response", "unit", "--judge", "r1,r2,r3,r4")
    for identity, value in NUM_03.items():
        assert audit[identity].estimate == near(value)
    assert audit.declarations.reading["matrix"] == "6 items x 4 raters"


def test_num_03_the_saved_spec_reads_the_matrix_again(command, write, tmp_path):
    """NUM-03: evenhand audit ... --items columns --write-spec s.toml, then --spec s.toml: the same numbers."""
    write("NUM-03.csv", RATERS_BY_UNITS)
    for options in (("--items", "columns", "--write-spec", "s.toml"), ("--spec", "s.toml")):
        assert command("audit", "NUM-03.csv", *options, "--out", "out").code == 0
        assert Audit.load(tmp_path / "out")["fleiss_kappa/raters"].estimate == near(0.471366)


def test_num_03_converts(command, write, tmp_path):
    """NUM-03: evenhand convert NUM-03_raters_by_units.csv --items columns --to v.parquet: one row a verdict, same numbers."""
    write("NUM-03.csv", RATERS_BY_UNITS)
    assert command("convert", "NUM-03.csv", "--items", "columns", "--to", "v.parquet").code == 0
    assert command("audit", "v.parquet", "--out", "out").code == 0
    assert Audit.load(tmp_path / "out")["krippendorff_alpha[metric=ordinal]/raters"].estimate == near(0.889155)


# --- UNC-04 ---

UNC_04 = "task,n,correct\nt1,400,360\nt2,25,10\nt3,60,33\n"


def unc_04_long():
    rows = "".join(
        f"{task},yes,{met}\n{task},no,{n - met}\n"
        for task, n, met in (("t1", 400, 360), ("t2", 25, 10), ("t3", 60, 33))
    )
    return "task,judge,n\n" + rows


@pytest.mark.parametrize(
    ("text", "count"), [(UNC_04, "correct/n"), (unc_04_long(), "n")], ids=["counts of two kinds", "a label a row"]
)
def test_unc_04_two_means_two_errors(audited, text, count):
    """UNC-04: evenhand audit UNC-04.csv --strata task --count correct/n --out out."""
    audit, _ = audited("UNC-04.csv", text, "--strata", "task", "--count", count)
    plain, pooled = (
        audit["judge_positive_rate[aggregation=strata]/judge"],
        audit["judge_positive_rate[strata=fixed]/judge"],
    )
    assert (plain.estimate, plain.std_error) == (near(0.616667), near(0.040028))
    assert (pooled.estimate, pooled.std_error) == (near(0.830928), near(0.015627))
    assert audit["judge_positive_rate[stratum=t2]/judge"].estimate == near(0.4)
    assert "each weighing the same" in plain.estimand
    assert plain.ci_low < plain.estimate < plain.ci_high


def test_unc_04_an_error_of_zero_is_a_contradiction(audited):
    """UNC-04: a share of one half in every cluster has a jackknife error of 0: flagged, and no interval of width 0."""
    rows = "".join(f"k{cluster},k{cluster}_{n},{n % 2}\n" for cluster in range(8) for n in range(4))
    audit, said = audited("UNC-04b.csv", "cluster,item_id,judge\n" + rows, "--cluster", "cluster")
    found = audit["judge_positive_rate/judge"]
    assert found.estimate == 0.5
    assert "judge_positive_rate/judge: a standard error of 0 contradicts a share of 0.5" in said
    assert found.ci_low < 0.5 < found.ci_high


def test_unc_04_counts_are_whole(refused, write):
    """UNC-04: evenhand audit UNC-04.csv --count correct/n with more correct than there are, or half a verdict."""
    for wrong in ("t1,400,401", "t1,4.5,3", "t1,,3"):
        write("UNC-04.csv", f"task,n,correct\nt0,3,1\n{wrong}\n")
        refused("audit", "UNC-04.csv", "--count", "correct/n", "--out", "out", says=("--count correct/n", "row 3"))


# --- PWX-03 ---

PWX_03 = "item_id,r1,r2,r3,r4,gold\na,1,1,0,,1\nb,1,0,,,1\nc,0,0,1,1,1\nd,1,1,1,,1\ne,0,,1,,0\nf,0,0,,,0\ng,,,1,,1\nh,1,0,0,,0\n"
PANEL = ("--judge", "r1,r2,r3,r4", "--reference", "gold")


def test_pwx_03_without_a_quorum(audited):
    """PWX-03: evenhand audit PWX-03.csv --judge r1,r2,r3,r4 --reference gold: 5 decided, 3 tied, all decided ones right."""
    audit, _ = audited("PWX-03.csv", PWX_03, *PANEL)
    decided = audit["selective_coverage[panel=majority]/raters"]
    assert (decided.events, decided.trials - decided.events) == (5, 3)
    assert audit["n_tied[panel=majority]/raters"].estimate == 3
    assert audit["observed_agreement[panel=majority]/raters"].estimate == 1
    assert audit["n_scored[panel=majority,votes=1]/raters"].estimate == 1
    assert "even splits being undecided" in decided.estimand


def test_pwx_03_a_quorum_flags_the_lone_vote(audited):
    """PWX-03: the same with --quorum 2: item g is named, and no longer decided."""
    audit, said = audited("PWX-03.csv", PWX_03, *PANEL, "--quorum", "2")
    decided = audit["selective_coverage[panel=majority]/raters"]
    assert (decided.events, decided.trials) == (4, 8)
    assert audit["n_tied[panel=majority]/raters"].estimate == 3
    assert audit["n_scored[panel=majority,quorum=short]/raters"].estimate == 1
    assert '--quorum 2: 1 unit(s) with fewer votes are undecided: "g" has 1 of 4' in said


def test_pwx_03_a_quorum_is_a_number_of_votes(refused, write):
    """PWX-03: evenhand audit PWX-03.csv ... --quorum 0."""
    write("PWX-03.csv", PWX_03)
    refused("audit", "PWX-03.csv", *PANEL, "--quorum", "0", "--out", "out", says="quorum")


# --- CFG-01 ---

CFG_01 = {
    "criteria": [("facts", 2, 1), ("units", 1, 0), ("style", 0, 0.5)],
    "all_zero": [("x", 0, 1), ("y", 0, 0)],
    "missing_weight": [("p", 1, 1), ("q", None, 0.5)],
    "negative": [("p", 2, 1), ("q", -1, 1)],
    "one_unscored": [("facts", 2, 1), ("units", 1, None), ("style", 1, 0.5)],
}
RUBRIC = ("--criterion", "criterion", "--scale", "continuous", "--range", "0,1", "--criterion-weights", "weights.json")


@pytest.fixture
def rubric(write):
    """Files of one rubric: its scores as rows, its weights as they stand in the list's file."""

    def written(name):
        lines = CFG_01[name]
        rows = [{"item_id": "r", "criterion": one, "judge": score} for one, _, score in lines]
        weights = [{"name": one, **({"weight": weight} if weight is not None else {})} for one, weight, _ in lines]
        write("weights.json", json.dumps(weights))
        return "CFG-01.jsonl", "".join(json.dumps(row) + "\n" for row in rows)

    return written


@pytest.mark.parametrize(("name", "score"), [("criteria", 0.666667), ("missing_weight", 0.75), ("negative", 0.5)])
def test_cfg_01_weighted_scores(audited, rubric, name, score):
    """CFG-01: evenhand audit CFG-01.jsonl --criterion criterion --scale continuous --range 0,1 --criterion-weights FILE."""
    audit, said = audited(*rubric(name), *RUBRIC)
    assert audit["mean_total[weights=criterion]/judge"].estimate == near(score)
    assert audit.get("mean_total[bound=lower,weights=criterion]/judge") is None
    assert ("criteria without a weight of their own weigh 1: q" in said) == (name == "missing_weight")
    assert ("reaches from -0.5 to 1" in said) == (name == "negative")


def test_cfg_01_a_weight_of_zero_keeps_its_criterion(audited, rubric):
    """CFG-01: mean_total[criterion=style,weights=criterion]/judge is its own 0.5."""
    audit, _ = audited(*rubric("criteria"), *RUBRIC)
    assert audit["mean_total[criterion=style,weights=criterion]/judge"].estimate == near(0.5)


def test_cfg_01_what_is_not_graded_gives_bounds(audited, rubric):
    """CFG-01: one_unscored: over graded criteria, with the note, and both bounds."""
    audit, said = audited(*rubric("one_unscored"), *RUBRIC)
    score = audit["mean_total[weights=criterion]/judge"]
    assert score.estimate == near(0.833333)
    assert "weight graded 3 of 4" in score.estimand
    assert "weight graded 3 of 4" in said
    assert audit["mean_total[bound=lower,weights=criterion]/judge"].estimate == near(0.625)
    assert audit["mean_total[bound=upper,weights=criterion]/judge"].estimate == near(0.875)
    assert audit["mean_total[criterion=units,weights=criterion]/judge"].status == "undefined"


def test_cfg_01_weights_that_sum_to_nothing_are_refused(refused, rubric, write):
    """CFG-01: all_zero: exit 2."""
    write(*rubric("all_zero"))
    refused("audit", "CFG-01.jsonl", *RUBRIC, "--out", "out", says="positive weights sum to 0")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("weights.csv", "criterion,weight\nfact,2\n", ('"fact" is no criterion', '"facts"')),
        ("weights.csv", "criterion,weight\nfacts,heavy\n", ('"facts" is "heavy"', "no number")),
        ("weights.csv", "criterion,weight\nfacts,1\nfacts,2\n", "stands twice"),
        ("weights.json", "[1, 2]", '"criterion": ...'),
        ("weights.json", "{", "weights.json"),
        ("weights.toml", "facts = inf", "not finite"),
        ("weights.yaml", "facts: 1", "the ending is one of"),
    ],
)
def test_cfg_01_files_of_weights_that_are_none(refused, rubric, write, name, text, says):
    """CFG-01: what is wrong with a file of weights is said, with exit 2."""
    write(*rubric("criteria"))
    write(name, text)
    refused("audit", "CFG-01.jsonl", *RUBRIC[:-1], name, "--out", "out", says=says)


# --- MIS-04 ---

MIS_04 = "student,human,judge\ns1,7,6.5\ns2,,5\ns3,0,0\ns4,EX,4\ns5,4,4\ns6,AB,\ns7,9,8\ns8,-,3\ns9,0,2\ns10,6,6\n"


def test_mis_04_every_code_is_listed_with_its_count(audited, command, report):
    """MIS-04: evenhand audit MIS-04.csv --response student --scale continuous --na EX,AB,- ; convert ... --to v.csv."""
    options = ("--response", "student", "--scale", "continuous", "--na", "EX,AB,-")
    audit, said = audited("MIS-04.csv", MIS_04, *options)
    for code, count in (("EX", 1), ("AB", 1), ("-", 1)):
        assert (
            sum(n for reason, n in audit.data.rows_excluded.items() if f"reference missing ({code})" in reason) == count
        )
        assert f"({code})" in report()
    assert audit.data.rows_excluded["reference missing"] == 1  # the blank human cell
    assert sum(n for reason, n in audit.data.rows_excluded.items() if reason.startswith("judge missing")) == 1
    assert (audit.data.rows_read, audit.data.rows_used) == (10, 6)
    assert audit["mean_total/reference"].estimate == near(4.333333)
    assert "10 verdicts = 6 used" in said
    ledger = command("convert", "MIS-04.csv", *options, "--to", "v.csv").out
    reference = next(line for line in ledger.splitlines() if "reference:" in line)
    assert all(part in reference for part in ("1 missing (blank)", "1 missing (EX)", "1 missing (AB)", "1 missing (-)"))
    assert "1 missing (blank)" in next(line for line in ledger.splitlines() if "judge:" in line)


# --- UND-01, UND-03 among raters ---

UND_01 = "item_id,human,judge\n" + "".join(f"u{n},pass,pass\n" for n in range(1, 9))


def test_und_01_raters_have_no_value_either(audited, report):
    """UND-01: evenhand audit UND-01.csv --levels fail,pass: Fleiss' kappa and alpha are undefined with the reason; no band."""
    audit, _ = audited("UND-01.csv", UND_01, "--levels", "fail,pass")
    for identity in ("fleiss_kappa/raters", "krippendorff_alpha[metric=nominal]/raters"):
        found = audit[identity]
        assert (found.status, found.estimate, found.ci_low, found.ci_high) == ("undefined", None, None, None)
        assert "no variation in labels" in found.reason
    assert "almost perfect" not in report().casefold()


def test_und_03_zero_and_negative_are_results(audited, command, report):
    """UND-03: evenhand audit UND-03a.csv --reference r1 --judge r2; UND-03b.csv: printed with the label shares, never clipped."""
    text = "item_id,r1,r2\n" + "".join(f"q{n:02},ok,{'ok' if n < 20 else 'bad'}\n" for n in range(1, 21))
    audit, _ = audited("UND-03a.csv", text, "--reference", "r1", "--judge", "r2", "--levels", "bad,ok")
    assert audit["observed_agreement/judge"].estimate == near(0.95)
    assert audit["krippendorff_alpha[metric=nominal]/raters"].estimate == near(0)
    assert audit["cohen_kappa/judge"].estimate == near(0)
    assert audit["gwet_ac1/judge"].estimate == near(0.947438)
    shares = [audit[f"{name}/judge"].estimate for name in ("prevalence", "judge_positive_rate")]
    assert sum(shares) / 2 == near(0.975)
    assert command("show", "out", "cohen_kappa/judge").out.split("\t")[1] in ("0", "0.0")
    assert "0.000" in report()
    audit, _ = audited(
        "UND-03b.csv",
        "item_id,r1,r2\nq1,A,B\nq2,B,A\nq3,A,B\n",
        "--reference",
        "r1",
        "--judge",
        "r2",
        "--scale",
        "nominal",
    )
    assert audit["krippendorff_alpha[metric=nominal]/raters"].estimate == near(-0.666667)


# --- the rows are the list's ---


@pytest.mark.skipif(not SHARED.exists(), reason="the list of cases lies beside the project on its own machine only")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NUM-03_units_by_raters.csv", UNITS_BY_RATERS),
        ("NUM-03_raters_by_units.csv", RATERS_BY_UNITS),
        ("UNC-04.csv", UNC_04),
        ("PWX-03.csv", PWX_03),
        ("MIS-04.csv", MIS_04),
    ],
)
def test_the_rows_are_the_list_s(name, text):
    assert (SHARED / name).read_text(encoding="utf-8").split() == text.split()


@pytest.mark.skipif(not SHARED.exists(), reason="the list of cases lies beside the project on its own machine only")
def test_the_rubrics_are_the_list_s():
    held = json.loads((SHARED / "CFG-01.json").read_text(encoding="utf-8"))
    assert {
        name: [(one["name"], one.get("weight"), one["score"]) for one in lines] for name, lines in held.items()
    } == CFG_01
