"""Cases UND, MIS, NUM, PWX, UNC and CAT of the list of public bug reports that agreement statistics answer.

Each test names its command and ids; inputs are the list's own small synthetic files, expected values were computed
there by two independent methods. UND-01, MIS-02 and UNC-01 are in test_cases_spine, UND-03 in test_cases_bank.
"""

import json

import pytest

from evenhand.results import Audit

TOLERANCE = 5e-5


@pytest.fixture
def audited(command, write, tmp_path):
    """Run `evenhand audit FILE ... --out out`; the audit, read back from strict JSON."""

    def ran(name, text, *options):
        write(name, text)
        ending = command("audit", name, *options, "--out", "out")
        assert ending.code == 0, ending.said

        def refuse(token):
            raise AssertionError(f"{token} is not JSON")

        json.loads((tmp_path / "out" / "audit.json").read_bytes(), parse_constant=refuse)
        return Audit.load(tmp_path / "out")

    return ran


def holds(audit, expected):
    for identity, value in expected.items():
        assert audit[identity].estimate == pytest.approx(value, abs=TOLERANCE), identity


def judges(*names):
    return [part for name in names for part in ("--judge", name)]


def table(header, rows, sep=","):
    return f"{header}\n" + "\n".join(row.replace(" ", sep) for row in rows.split("\n") if row) + "\n"


# MIS-03: evenhand audit MIS-03.jsonl --out out (columns human, status and verdict are recognised)
def mis_03():
    for number in range(1, 21):
        human = "pass" if number < 12 else "fail"
        verdict, status = ("pass" if number in (*range(1, 9), 12) else "fail"), "ok"
        if number in (11, 20):
            verdict, status = None, "api_error"
        elif number >= 16:
            verdict, status = None, "parse_error"
        yield json.dumps({"item_id": f"m{number:02}", "human": human, "status": status, "verdict": verdict})


def test_mis_03_failures_are_neither_fail_nor_absent(audited):
    audit = audited("MIS-03.jsonl", "\n".join(mis_03()) + "\n", "--response", "item_id")
    holds(
        audit,
        {
            "n_verdicts/judge": 20,
            "n_scored/judge": 14,
            "n_unparsed/judge": 4,
            "n_error/judge": 2,
            "judge_positive_rate/judge": 0.642857,
            "cohen_kappa/judge": 0.511628,
            "selective_coverage/judge": 0.7,
            "judge_positive_rate[bound=lower]/judge": 0.45,
            "judge_positive_rate[bound=upper]/judge": 0.75,
            "selective_coverage[reference=fail]/judge": 1 - 0.555556,
            "selective_coverage[reference=pass]/judge": 1 - 0.090909,
            "fisher_p/judge": 0.049845,
        },
    )
    assert audit["fisher_p/judge"].reason.startswith("valid if rows were independent")


# MIS-04: evenhand audit MIS-04.csv --response student --scale continuous --range 0,10 --na EX,AB,- --out out
MIS_04 = "student,human,judge\ns1,7,6.5\ns2,,5\ns3,0,0\ns4,EX,4\ns5,4,4\ns6,AB,\ns7,9,8\ns8,-,3\ns9,0,2\ns10,6,6\n"
MARKS = ("--response", "student", "--scale", "continuous", "--range", "0,10")


def test_mis_04_five_kinds_of_gradebook_cells(audited, command):
    audit = audited("MIS-04.csv", MIS_04, *MARKS, "--na", "EX,AB,-")
    holds(audit, {"mean_total/reference": 4.333333, "mae/judge": 0.583333, "n_missing/judge": 1})
    assert audit["mae/judge"].n_used == 6
    refused = command("audit", "MIS-04.csv", *MARKS, "--out", "no")
    assert refused.code == 2
    assert all(word in refused.err for word in ('"EX"', "--na"))


# CAT-01: evenhand audit CAT-01.csv --scale ordinal --levels low,medium,high --out out
CAT_01 = table(
    "item_id,human,judge",
    "c01 low low\nc02 low medium\nc03 medium medium\nc04 medium high\nc05 high high\nc06 high high\nc07 low low\n"
    "c08 medium medium\nc09 high medium\nc10 low low\nc11 medium low\nc12 high high",
)


def test_cat_01_order_is_declared_never_alphabetical(audited, command):
    audit = audited("CAT-01.csv", CAT_01, "--scale", "ordinal", "--levels", "low,medium,high")
    expected = {
        "quadratic_weighted_kappa/judge": 0.75,
        "weighted_kappa[weights=linear]/judge": 0.625,
        "krippendorff_alpha[metric=ordinal]/raters": 0.760417,
    }
    holds(audit, expected)
    refused = command("audit", "CAT-01.csv", "--scale", "ordinal", "--out", "no")
    assert refused.code == 2
    assert '"high", "low", "medium"' in refused.err
    assert "--levels LOWEST,...,HIGHEST" in refused.err


# CAT-02: evenhand audit CAT-02.csv --out out
CAT_02 = table(
    "item_id,human,judge",
    "d01 10 10\nd02 9 10\nd03 2 3\nd04 1 2\nd05 7 7\nd06 10 8\nd07 3 3\nd08 5 6\nd09 2 2\nd10 8 9\nd11 6 5\nd12 4 4\n"
    "d13 10 9\nd14 1 1",
)


def test_cat_02_ten_does_not_sort_between_one_and_two(audited):
    audit = audited("CAT-02.csv", CAT_02)
    assert audit.declarations.levels == tuple(str(mark) for mark in range(1, 11))
    assert "1, 2, 3, 4, 5, 6, 7, 8, 9, 10" in audit.declarations.scale_reading
    holds(audit, {"quadratic_weighted_kappa/judge": 0.9619, "weighted_kappa[weights=linear]/judge": 0.825})


# CAT-03: evenhand audit CAT-03.csv --levels 0,1,2,3 --out out; the same with 0,1,2,3,4,5
CAT_03 = table(
    "item_id,human,judge",
    "e01 0 0\ne02 0 1\ne03 1 1\ne04 1 0\ne05 3 3\ne06 3 1\ne07 1 3\ne08 1 3\ne09 0 0\ne10 1 1\ne11 0 0\ne12 3 1",
)


@pytest.mark.parametrize("levels", ["0,1,2,3", "0,1,2,3,4,5"])
def test_cat_03_distance_is_by_value(audited, levels):
    audit = audited("CAT-03.csv", CAT_03, "--levels", levels)
    assert audit.declarations.scale == "ordinal"
    expected = {
        "quadratic_weighted_kappa/judge": 0.425532,
        "weighted_kappa[weights=linear]/judge": 0.302326,
        "cohen_kappa/judge": 0.234043,
    }
    holds(audit, expected)


# CAT-04: evenhand audit CAT-04.csv --judge r1 --judge r2 --judge r3 --levels a,b,c,d,e --out out
CAT_04 = table(
    "item_id,r1,r2,r3",
    "g01 a a a\ng02 a a b\ng03 b b b\ng04 c c c\ng05 a c c\ng06 d d d\ng07 b b a\ng08 a a a\ng09 d d c\ng10 a a a",
)


def test_cat_04_declared_labels_count(audited):
    audit = audited("CAT-04.csv", CAT_04, *judges("r1", "r2", "r3"), "--levels", "a,b,c,d,e")
    same = {"fleiss_kappa/raters": 0.621451, "krippendorff_alpha[metric=nominal]/raters": 0.634069}
    holds(audit, {"gwet_ac1/raters": 0.676332, "brennan_prediger/raters": 0.666667, **same})
    assert "q = 5" in audit["brennan_prediger/raters"].estimand
    observed = audited("CAT-04.csv", CAT_04, *judges("r1", "r2", "r3"))
    assert "inferred from the labels: a, b, c, d" in observed.declarations.scale_reading
    holds(observed, {"brennan_prediger/raters": 0.6444, "gwet_ac1/raters": 0.6515, **same})


# CAT-06: evenhand audit CAT-06a.csv --clean trim,case,zero-width --out out
CAT_06A = (
    "item_id,human,judge\nn01,Yes,yes\nn02,yes ,yes\nn03,No,no\nn04,YES,yes\nn05,no,No\u00a0\nn06,no ,yes\nn07,yes,yes\n"
    "n08,\u200byes,yes\nn09,No,no\nn10,yes,no\nn11,no,no\nn12,Yes,no\n"
)
CAT_06B = table("item_id,r1,r2", "b1 Aa BB\nb2 BB BB\nb3 Aa Aa\nb4 BB Aa\nb5 Aa Aa\nb6 BB BB\nb7 Aa aa\nb8 aa aa")


def test_cat_06_cleaning_is_asked_for_and_reported(audited, command):
    audit = audited("CAT-06a.csv", CAT_06A, "--clean", "trim,case,zero-width")
    holds(audit, {"cohen_kappa/judge": 0.5, "observed_agreement/judge": 0.75})
    assert '"Yes" (2)' in audit.declarations.scale_reading
    refused = command("audit", "CAT-06a.csv", "--out", "no")
    assert refused.code == 2
    assert all(said in refused.err for said in ('"yes " (1)', '"Yes" (2)', r'"\u200byes" (1)', "--clean"))


# CAT-06b: evenhand audit CAT-06b.csv --reference r1 --judge r2 --levels Aa,aa,BB --out out
def test_cat_06b_declared_labels_are_never_merged(audited):
    audit = audited("CAT-06b.csv", CAT_06B, "--reference", "r1", "--judge", "r2", "--levels", "Aa,aa,BB")
    holds(audit, {"cohen_kappa/judge": 0.414634})


# NUM-02: evenhand audit NUM-02.csv --judge r1 --judge r2 --judge r3 --judge r4 --out out
NUM_02 = "item_id,r1,r2,r3,r4\nf1,x,x,x,y\nf2,x,x,,\nf3,y,y,y,\nf4,x,y,,\nf5,z,z,z,z\nf6,z,y,z,\nf7,x,,,\nf8,y,y,,\nf9,z,z,x,\n"


def test_num_02_different_numbers_of_raters(audited):
    audit = audited("NUM-02.csv", NUM_02, *judges("r1", "r2", "r3", "r4"))
    expected = {
        "fleiss_kappa/raters": 0.460846,
        "krippendorff_alpha[metric=nominal]/raters": 0.5,
        "gwet_ac1/raters": 0.472616,
    }
    holds(audit, expected)
    assert "those rated once included" in audit["fleiss_kappa/raters"].estimand
    assert audit["fleiss_kappa/raters"].n_used == 9
    assert audit["krippendorff_alpha[metric=nominal]/raters"].n_used == 8


# NUM-03: evenhand audit NUM-03_units_by_raters.csv --response unit --judge r1 ... --judge r4 --out out
NUM_03 = table("unit,r1,r2,r3,r4", "u1 1 1 2 1\nu2 3 3 3 2\nu3 5 4 5 5\nu4 2 2 2 2\nu5 4 5 4 4\nu6 3 3 4 3")
NUM_03_LONG = "unit,rater,mark\n" + "".join(
    f"u{unit + 1},r{rater + 1},{mark}\n"
    for rater, marks in enumerate(("135243", "134253", "235244", "125243"))
    for unit, mark in enumerate(marks)
)
NUM_03_VALUES = {
    "krippendorff_alpha[metric=interval]/raters": 0.877005,
    "krippendorff_alpha[metric=ordinal]/raters": 0.889155,
    "fleiss_kappa/raters": 0.471366,
}


def test_num_03_the_side_of_the_item_is_stated(audited):
    audit = audited("NUM-03.csv", NUM_03, "--response", "unit", *judges("r1", "r2", "r3", "r4"))
    holds(audit, NUM_03_VALUES)
    assert (audit.data.n_responses, len(audit.data.judges)) == (6, 4)
    holds(
        audited("long.csv", NUM_03_LONG, "--response", "unit", "--rater", "rater", "--verdict", "mark"), NUM_03_VALUES
    )


# PWX-01: evenhand audit PWX-01.jsonl --response item --judge preference --scale pairwise --levels 1,2 --tie 1.5,0 --out out
PWX_01 = "".join(
    json.dumps({"item": item, "preference": preference}) + "\n"
    for item, preference in zip("abcdefghijkl", (2, 2, 1, 1.5, 2, None, 0, 1, 2, 1.5, None, 2), strict=True)
)


def test_pwx_01_win_rate_under_three_rules_for_ties(audited):
    options = (
        "--response",
        "item",
        "--judge",
        "preference",
        "--scale",
        "pairwise",
        "--levels",
        "1,2",
        "--tie",
        "1.5,0",
    )
    audit = audited("PWX-01.jsonl", PWX_01, *options)
    half = audit["win_rate/judge"]
    holds(audit, {"win_rate/judge": 0.65, "win_rate[ties=excluded]/judge": 0.714286, "win_rate[ties=class]/judge": 0.5})
    holds(audit, {"n_tied/judge": 3, "n_missing/judge": 2, "n_scored/judge": 7})
    assert half.std_error == pytest.approx(0.130171, abs=5e-7)
    assert (half.n_used, half.n_excluded) == (10, 2)
    assert "a tie counting as half a win" in half.estimand


# PWX-03: evenhand audit PWX-03.csv --judge r1 ... --judge r4 --reference gold --out out
PWX_03 = "item_id,r1,r2,r3,r4,gold\na,1,1,0,,1\nb,1,0,,,1\nc,0,0,1,1,1\nd,1,1,1,,1\ne,0,,1,,0\nf,0,0,,,0\ng,,,1,,1\nh,1,0,0,,0\n"


def test_pwx_03_even_splits_are_undecided(audited):
    audit = audited("PWX-03.csv", PWX_03, *judges("r1", "r2", "r3", "r4"), "--reference", "gold")
    decided = audit["selective_coverage[panel=majority]/raters"]
    assert (decided.events, decided.trials) == (5, 8)
    holds(audit, {"n_tied[panel=majority]/raters": 3, "observed_agreement[panel=majority]/raters": 1})


# UNC-02: evenhand audit UNC-01.csv --response item_id --cluster cluster --judge score --resamples 4000 --out out
UNC_01 = "cluster,item_id,score\n" + "".join(
    f"{cluster},{cluster}_{number},{score}\n"
    for cluster, scores in {"k1": "1110", "k2": "00", "k3": "111", "k4": "10001"}.items()
    for number, score in enumerate(scores)
)


def test_unc_02_a_cluster_drawn_twice_counts_twice(audited):
    options = ("--response", "item_id", "--cluster", "cluster", "--judge", "score", "--resamples", "4000")
    audit = audited("UNC-01.csv", UNC_01, *options)
    error = audit["judge_positive_rate[se=bootstrap]/judge"].std_error
    assert error == pytest.approx(0.156818, abs=0.008)
    assert any("4 clusters are few" in words for words in audit.warnings)


# UNC-05: evenhand audit UNC-05.csv --judge r1 ... --judge r4 --scale nominal --out out
UNC_05 = table(
    "item_id,r1,r2,r3,r4",
    "s01 1 1 1 1\ns02 1 1 1 2\ns03 2 2 2 2\ns04 1 1 2 2\ns05 1 1 1 1\ns06 3 3 3 3\ns07 1 1 3 1\ns08 2 2 2 1\n"
    "s09 1 1 1 1\ns10 3 3 3 1\ns11 1 1 1 1\ns12 2 2 2 2\ns13 1 2 1 1\ns14 1 1 1 1\ns15 3 3 3 3",
)


def test_unc_05_the_error_under_no_agreement_is_not_for_intervals(audited):
    audit = audited("UNC-05.csv", UNC_05, *judges("r1", "r2", "r3", "r4"), "--scale", "nominal")
    kappa = audit["fleiss_kappa/raters"]
    assert kappa.estimate == pytest.approx(0.645191, abs=5e-7)
    assert kappa.std_error == pytest.approx(0.130512, abs=5e-5)
    assert audit["fleiss_kappa[se=delta]/raters"].std_error == pytest.approx(0.124774, abs=5e-7)
    assert audit["fleiss_kappa[se=null]/raters"].std_error == pytest.approx(0.077023, abs=5e-7)
    assert kappa.ci_high is not None
    assert kappa.ci_high <= 1
    assert kappa.interval_method == "jackknife_t_scaled"


# UNC-06: evenhand audit UNC-06a.csv --response item_id --judge judge_v1_correct --judge judge_v2_correct --out out
UNC_06A = "item_id,judge_v1_correct,judge_v2_correct\n" + "".join(
    f"w{number:02},{said},{said}\n" for number, said in enumerate(["yes"] * 9 + ["no"] * 6, start=1)
)
UNC_06B = "item_id,judge_v1_correct,judge_v2_correct\n" + "".join(
    f"w{number:02},{first},{second}\n"
    for number, (first, second) in enumerate(
        [("yes", "yes")] * 8 + [("no", "no")] * 4 + [("yes", "no")] + [("no", "yes")] * 7, start=1
    )
)


def test_unc_06_two_judges_paired(audited):
    options = ("--response", "item_id", *judges("judge_v1_correct", "judge_v2_correct"))
    pair = "judge_v1_correct-judge_v2_correct"
    same = audited("UNC-06a.csv", UNC_06A, *options)
    holds(same, {f"mcnemar/{pair}": 1, f"judge_positive_rate/{pair}": 0})
    assert "the two judges never differed" in same[f"mcnemar/{pair}"].reason
    assert same[f"mcnemar[quantity=chi2]/{pair}"].status == "undefined"
    audit = audited("UNC-06b.csv", UNC_06B, *options)
    holds(audit, {f"mcnemar/{pair}": 0.070312, f"judge_positive_rate/{pair}": -0.3})  # v1 minus v2
    assert "valid if rows were independent" in audit[f"mcnemar/{pair}"].reason
