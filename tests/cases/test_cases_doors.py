"""Cases IDS-*, IMP-01, -03, -04, -05, MIS-*, CAT-* and CFG-01 of the list of public bug reports.

Inputs are the list's, as small texts; each test names its case and command. Where a case asks for a number or a
behaviour that another part brings, the docstring says so and the reading is asserted.
"""

import datetime
import json
import sys
from pathlib import Path

import pytest

from evenhand.results import Audit

sys.path.append(str(Path(__file__).parents[1] / "importers"))
from workbooks import workbook

TOLERANCE = 5e-5


@pytest.fixture
def case(command, write, tmp_path):
    """Run `evenhand audit ... --out out` on files given as name → content; the audit and what the terminal said."""

    def ran(files, *options):
        for name, content in files.items():
            write(name, content)
        ending = command("audit", next(iter(files)), *options, "--out", "out")
        assert ending.code == 0, ending.err
        return Audit.load(tmp_path / "out"), " ".join(ending.out.split())

    return ran


@pytest.fixture
def shown(command):
    """The number that `evenhand show out ID` prints."""

    def ran(identity):
        ending = command("show", "out", identity)
        assert ending.code == 0, ending.err
        return float(ending.out.split("\t")[1])

    return ran


def near(value):
    return pytest.approx(value, abs=TOLERANCE)


def table(head, rows):
    return "\n".join([head, *rows, ""])


# --- ids ---

HUMAN = table("item_id,human", ["0007,pass", "007,fail", "7,pass", "0010,fail", "1e3,pass", "0x1F,fail"])
JUDGE_OK = table("item_id,judge", ["7,fail", "0007,pass", "1e3,pass", "007,fail", "0x1F,fail", "0010,pass"])
MANGLED = table("item_id,judge", ["7,pass", "7,fail", "7,fail", "10,pass", "1000,pass", "31,fail"])
BIG = 90071992547409931230


def test_ids_01_ids_are_text(case, shown):
    """IDS-01: evenhand audit judge_ok.csv --labels human.csv --out out."""
    audit, said = case({"judge_ok.csv": JUDGE_OK, "human.csv": HUMAN}, "--labels", "human.csv")
    assert audit.data.source_rows["judge verdicts that meet a reference row"] == 6
    assert shown("observed_agreement/judge") == near(0.666667)
    assert shown("cohen_kappa/judge") == near(0.333333)
    assert "6 verdicts = 6 used" in said


def test_ids_01_mangled_ids_are_refused_with_the_reason(refused, write):
    """IDS-01: evenhand audit judge_mangled.csv --labels human.csv: the double id, the lone ones, the zeros; no number."""
    write("mangled.csv", MANGLED)
    write("human.csv", HUMAN)
    said = (
        'response "7" stands 3 times (mangled.csv rows 2, 3, 4',
        'the judge alone has "10", "1000", "31"',
        'the reference alone has "0007", "0010", "007", "0x1F", "1e3"',
        "leading zeros",
    )
    refused("audit", "mangled.csv", "--labels", "human.csv", "--out", "out", says=said)


def test_ids_01_floats_meet_nothing(refused, write):
    """IDS-01: evenhand audit judge_float.csv --labels human.csv: examples of both sides, exit 2."""
    write("float.csv", table("item_id,judge", ["7.0,pass", "10.0,pass"]))
    write("human.csv", HUMAN)
    said = ('float.csv has "10.0", "7.0"', 'human.csv has "0007"', "leading zeros, a decimal point")
    refused("audit", "float.csv", "--labels", "human.csv", "--out", "out", says=said)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "xlsx"])
def test_ids_01_twenty_digits(case, shown, ending):
    """IDS-01: evenhand audit big_judge --labels big_human, as CSV, JSON lines with bare numbers, and text cells."""
    human = [[str(BIG + n), label] for n, label in zip((4, 5, 6, 7), ("pass", "fail", "fail", "pass"), strict=True)]
    judge = [[str(BIG + n), label] for n, label in zip((7, 6, 5, 4), ("pass", "fail", "pass", "pass"), strict=True)]

    def written(column, rows):
        if ending == "xlsx":
            return workbook({"S": [["item_id", column], *rows]})
        if ending == "jsonl":
            return "".join(f'{{"item_id": {one}, "{column}": "{label}"}}\n' for one, label in rows)
        return table(f"item_id,{column}", [",".join(row) for row in rows])

    names = f"judge.{ending}", f"human.{ending}"
    audit, _ = case({names[0]: written("judge", judge), names[1]: written("human", human)}, "--labels", names[1])
    assert audit.data.source_rows["judge verdicts that meet a reference row"] == 4
    assert shown("observed_agreement/judge") == near(0.75)


def test_ids_03_composition(case, shown):
    """IDS-03: evenhand audit judge.csv --labels human.csv: ids meet after NFC, and it is said."""
    human = table("item_id,human", ["caf\u00e9-1,pass", "Z\u00fcrich-2,fail", "na\u00efve-3,pass", "plain-4,fail"])
    judge = table("item_id,judge", ["cafe\u0301-1,pass", "Zu\u0308rich-2,pass", "nai\u0308ve-3,pass", "plain-4,fail"])
    audit, said = case({"judge.csv": judge, "human.csv": human}, "--labels", "human.csv")
    assert audit.data.source_rows["judge verdicts that meet a reference row"] == 4
    assert shown("cohen_kappa/judge") == near(0.5)
    assert "3 ids are written in decomposed form (NFD) and are read as NFC" in said


# --- files ---

IMP_01 = [
    *("None,None", "Minor,Minor", "None,Minor", "N/A,N/A", "Major,Major", "None,None"),
    *("N/A,None", "Minor,Minor", "null,null", "Major,Minor", "None,None", "NA,NA"),
]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_imp_01_words_for_nothing_are_labels(case, shown, ending):
    """IMP-01: evenhand audit IMP-01.csv (and .xlsx) --out out: six labels, twelve pairs, nothing lost."""
    rows = [[f"i{n:02}", *pair.split(",")] for n, pair in enumerate(IMP_01, 1)]
    text = table("item_id,human,judge", [",".join(row) for row in rows])
    content = text if ending == "csv" else workbook({"Sheet1": [["item_id", "human", "judge"], *rows]})
    audit, said = case({f"IMP-01.{ending}": content})
    assert audit["cohen_kappa/judge"].n_used == 12
    assert set(audit.declarations.levels) == {"None", "Minor", "N/A", "Major", "null", "NA"}
    assert shown("cohen_kappa/judge") == near(0.684211)
    assert shown("observed_agreement/judge") == near(0.75)
    assert "taken as labels, for --na names what is none" in said


IMP_03 = '"item id","human","judge"\n"é1","pass","pass"\n"é2","fail","pass"\n"é3","fail","fail"\n"é4","pass","pass"\n"é5","fail","fail"\n'


@pytest.mark.parametrize(
    ("encoding", "options"),
    [("utf-8-sig", ()), ("utf-8", ()), ("utf-16", ()), ("cp1252", ("--encoding", "cp1252"))],
)
def test_imp_03_four_encodings(case, shown, tmp_path, encoding, options):
    """IMP-03: evenhand audit IMP-03.csv [--encoding cp1252] --out out."""
    audit, _ = case({"IMP-03.csv": IMP_03.encode(encoding)}, *options)
    assert shown("cohen_kappa/judge") == near(0.615385)
    assert audit.declarations.reading["response"] == "item id"


def test_imp_03_ids_keep_their_accent(command, write, tmp_path):
    """IMP-03: evenhand convert IMP-03.csv --encoding cp1252 --to ids.csv."""
    write("IMP-03.csv", IMP_03.encode("cp1252"))
    assert command("convert", "IMP-03.csv", "--encoding", "cp1252", "--to", "ids.csv").code == 0
    assert "é1,judge,judge,pass" in (tmp_path / "ids.csv").read_text(encoding="utf-8")


def test_imp_03_cp1252_undeclared_names_the_way_out(refused, write):
    """IMP-03: evenhand audit IMP-03.csv of cp1252 without a word."""
    write("IMP-03.csv", IMP_03.encode("cp1252"))
    refused("audit", "IMP-03.csv", "--out", "out", says=("line 2: not UTF-8 (byte 0xe9)", "--encoding cp1252"))


IMP_04 = "item;human;judge\nt1;3,5;3,0\nt2;10,0;9,5\nt3;7,25;8,0\nt4;0,5;1,0\nt5;6,0;6,0\n"
THOUSANDS = 'item,human,judge\nw1,"1,250.5","1,200.0"\nw2,"950.0","1,000.0"\nw3,"2,000","2,000"\n'


def test_imp_04_decimal_comma(case, shown):
    """IMP-04: evenhand audit IMP-04.csv --decimal , --scale continuous --out out."""
    audit, _ = case({"IMP-04.csv": IMP_04}, "--decimal", ",", "--scale", "continuous")
    assert audit["mae/judge"].n_used == 5
    assert shown("mae/judge") == near(0.45)


def test_imp_04_decimal_comma_marks(command, write, tmp_path):
    """IMP-04: evenhand convert IMP-04.csv --decimal , --scale continuous --to marks.csv: the mean human mark is 5.45."""
    write("IMP-04.csv", IMP_04)
    assert command("convert", "IMP-04.csv", "--decimal", ",", "--scale", "continuous", "--to", "marks.jsonl").code == 0
    rows = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text(encoding="utf-8").splitlines()]
    human = [(float(row["value"]), row["raw_value"]) for row in rows if row["rater_kind"] == "reference"]
    assert sum(value for value, _ in human) / len(human) == near(5.45)
    assert (7.25, "7,25") in human


def test_imp_04_thousands(case, shown):
    """IMP-04: evenhand audit IMP-04.csv --decimal . --scale continuous --out out."""
    case({"IMP-04.csv": THOUSANDS}, "--decimal", ".", "--scale", "continuous")
    assert shown("mae/judge") == near(33.5)


@pytest.mark.parametrize(("text", "cell"), [(IMP_04, '"3,5"'), (THOUSANDS, '"1,250.5"')])
@pytest.mark.parametrize("options", [(), ("--scale", "continuous")])
def test_imp_04_is_never_guessed(refused, write, text, cell, options):
    """IMP-04: evenhand audit IMP-04.csv --out out: refused, the cell and --decimal named."""
    write("IMP-04.csv", text)
    refused("audit", "IMP-04.csv", *options, "--out", "out", says=("IMP-04.csv row 2", "--decimal ,", "--decimal ."))


def test_imp_04_one_decimal_mark_a_file(refused, write):
    """IMP-04: a point under --decimal , is refused, and named."""
    write("IMP-04.csv", IMP_04.replace("9,5", "9.5"))
    refused("audit", "IMP-04.csv", "--decimal", ",", "--out", "out", says=('IMP-04.csv row 3 column "judge"', "point"))


IMP_05 = [
    ["item", "human", "judge"],
    ["x1", "7/12", "8/12"],
    ["x2", datetime.date(2026, 12, 3), "3/12"],
    ["x3", 9.0, "9"],
    ["x4", "10/12", datetime.date(2026, 10, 12)],
    ["x5", 6.0, "6"],
    ["x6", None, 5.0],
]


def test_imp_05_dates_are_refused(refused, write):
    """IMP-05: evenhand audit IMP-05.xlsx --out out: cells B3 and C5 named, nothing of them used."""
    write("IMP-05.xlsx", workbook({"Sheet": IMP_05}))
    refused("audit", "IMP-05.xlsx", "--out", "out", says=('B3 in "human"', 'C5 in "judge"', "dates"))


def test_imp_05_fractions_are_refused_or_declared(refused, case, write):
    """IMP-05: the same without dates: 7/12 is refused, and read as a share under --fractions."""
    rows = [row for row in IMP_05 if row[0] not in ("x2", "x4")]
    write("IMP-05.xlsx", workbook({"Sheet": rows}))
    refused("audit", "IMP-05.xlsx", "--out", "out", says=('"7/12"', "--fractions"))
    audit, said = case({"IMP-05.xlsx": workbook({"Sheet": rows})}, "--fractions", "--scale", "continuous")
    assert audit["mae/judge"].n_used == 3
    assert audit["mae/judge"].estimate == near(1 / 36)
    assert "1 reference missing" in said


def test_imp_05_numbers_and_numbers_as_text_are_one_mark(case):
    """IMP-05: rows x3, x5 and x6: two usable pairs, one empty cell; 9 and "9" agree."""
    rows = [row for row in IMP_05 if row[0] in ("item", "x3", "x5", "x6")]
    audit, said = case({"IMP-05.xlsx": workbook({"Sheet": rows})}, "--scale", "continuous")
    assert audit["mae/judge"].n_used == 2
    assert audit["mae/judge"].estimate == 0
    assert "3 verdicts = 2 used + 1 reference missing" in said


# --- missing ---

MIS_02 = table(
    "item_id,human,judge",
    [
        f"k{n:02},{pair}"
        for n, pair in enumerate(
            ["a,a", "a,a", "a,b", "b,b", "b,b", "c,c", "c,b", "a,a", "b,b", ",", ",", "a,", "c,", ",c"], 1
        )
    ],
)


def test_mis_02_converts_with_every_blank_named(command, write, tmp_path):
    """MIS-02: evenhand convert MIS-02.csv --to v.parquet, then audit v.parquet: the numbers of the original (the spine's)."""
    write("MIS-02.csv", MIS_02)
    ending = command("convert", "MIS-02.csv", "--to", "v.parquet")
    assert "judge: 14 verdicts = 10 scored + 4 missing (blank)" in ending.out
    assert "reference: 14 verdicts = 11 scored + 3 missing (blank)" in ending.out
    assert command("audit", "v.parquet", "--out", "out").code == 0
    audit = Audit.load(tmp_path / "out")
    assert audit["cohen_kappa/judge"].estimate == near(0.653846)
    assert audit.data.rows_excluded == {
        "judge missing": 2,
        "judge missing, reference missing": 2,
        "reference missing": 1,
    }


MIS_03 = "".join(
    json.dumps({"item_id": f"m{n:02}", "human": human, "status": status, "verdict": verdict, "raw": raw}) + "\n"
    for n, (human, status, verdict, raw) in enumerate(
        [
            *[("pass", "ok", "pass", "VERDICT: pass")] * 8,
            *[("pass", "ok", "fail", "VERDICT: fail")] * 2,
            ("pass", "api_error", None, ""),
            ("fail", "ok", "pass", "VERDICT: pass"),
            *[("fail", "ok", "fail", "VERDICT: fail")] * 3,
            *[("fail", "parse_error", None, "I am not able to settle on a verdict here")] * 4,
            ("fail", "api_error", None, ""),
        ],
        1,
    )
)


def test_mis_03_failures_are_neither_fail_nor_absent(case, shown):
    """MIS-03: evenhand audit MIS-03.jsonl --out out. Bounds and Fisher's test stand in the audit's own tests."""
    audit, said = case({"MIS-03.jsonl": MIS_03})
    assert "20 verdicts = 14 used + 4 judge unparsed + 2 judge error" in said
    assert shown("cohen_kappa/judge") == near(0.511628)
    assert audit["n_unparsed/judge"].estimate == 4
    assert audit["n_error/judge"].estimate == 2
    assert audit["judge_positive_rate/judge"].estimate == near(0.642857)


def test_mis_03_converts_with_the_statuses(command, write):
    """MIS-03: evenhand convert MIS-03.jsonl --to v.csv; --strict refuses."""
    write("MIS-03.jsonl", MIS_03)
    ending = command("convert", "MIS-03.jsonl", "--to", "v.csv")
    assert "judge: 20 verdicts = 14 scored + 4 unparsed + 2 error" in ending.out
    assert command("convert", "MIS-03.jsonl", "--to", "w.csv", "--strict").code == 2


MIS_04 = table(
    "student,human,judge",
    ["s1,7,6.5", "s2,,5", "s3,0,0", "s4,EX,4", "s5,4,4", "s6,AB,", "s7,9,8", "s8,-,3", "s9,0,2", "s10,6,6"],
)


def test_mis_04_words_among_marks_must_be_mapped(refused, write):
    """MIS-04: evenhand audit MIS-04.csv --response student --out out: each code with its count and place."""
    write("MIS-04.csv", MIS_04)
    said = ('"EX" once (MIS-04.csv row 5', '"AB" once (MIS-04.csv row 7', '"-" once (MIS-04.csv row 9', "--na")
    refused("audit", "MIS-04.csv", "--response", "student", "--out", "out", says=said)


def test_mis_04_five_things(case, shown):
    """MIS-04: evenhand audit MIS-04.csv --response student --scale continuous --na EX,AB,- --out out: reasons stay apart."""
    options = ("--response", "student", "--scale", "continuous", "--na", "EX,AB,-")
    audit, said = case({"MIS-04.csv": MIS_04}, *options)
    assert audit["mae/judge"].n_used == 6
    assert shown("mae/judge") == near(0.583333)
    assert audit.data.rows_excluded == {
        "judge missing, reference missing (AB)": 1,
        "reference missing": 1,
        "reference missing (-)": 1,
        "reference missing (EX)": 1,
    }
    assert "10 verdicts = 6 used" in said


def test_mis_04_zeros_are_marks(command, write, tmp_path):
    """MIS-04: evenhand convert MIS-04.csv ... --to v.jsonl: two zeros of the human, a mean of 4.3333 over the pairs."""
    write("MIS-04.csv", MIS_04)
    options = ("--response", "student", "--scale", "continuous", "--na", "EX,AB,-")
    said = command("convert", "MIS-04.csv", *options, "--to", "v.jsonl").out
    for part in ("1 missing (AB)", "1 missing (-)", "1 missing (EX)", "1 missing (blank)"):
        assert part in said
    rows = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text(encoding="utf-8").splitlines()]
    human = {row["response_id"]: row["value"] for row in rows if row["rater_kind"] == "reference"}
    judged = {row["response_id"] for row in rows if row["rater_kind"] == "judge" and row["status"] == "scored"}
    marks = [float(human[one]) for one in judged if human[one] is not None]
    assert marks.count(0) == 2
    assert sum(marks) / len(marks) == near(4.333333)


# --- categories ---

CAT_01 = table(
    "item_id,human,judge",
    [
        f"c{n:02},{pair}"
        for n, pair in enumerate(
            [
                *("low,low", "low,medium", "medium,medium", "medium,high", "high,high", "high,high"),
                *("low,low", "medium,medium", "high,medium", "low,low", "medium,low", "high,high"),
            ],
            1,
        )
    ],
)


def test_cat_01_declared_order(case, shown):
    """CAT-01: evenhand audit CAT-01.csv --scale ordinal --levels low,medium,high --out out."""
    case({"CAT-01.csv": CAT_01}, "--scale", "ordinal", "--levels", "low,medium,high")
    assert shown("quadratic_weighted_kappa/judge") == near(0.75)
    assert shown("weighted_kappa[weights=linear]/judge") == near(0.625)
    assert shown("krippendorff_alpha[metric=ordinal]/raters") == near(0.760417)


def test_cat_01_no_order_is_taken_from_the_alphabet(refused, write):
    """CAT-01: evenhand audit CAT-01.csv --scale ordinal --out out."""
    write("CAT-01.csv", CAT_01)
    refused("audit", "CAT-01.csv", "--scale", "ordinal", "--out", "out", says=('"high", "low", "medium"', "--levels"))


CAT_02 = [
    *("10,10", "9,10", "2,3", "1,2", "7,7", "10,8", "3,3", "5,6", "2,2", "8,9", "6,5", "4,4", "10,9", "1,1"),
]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "xlsx"])
def test_cat_02_ten_follows_nine(case, shown, ending):
    """CAT-02: evenhand audit CAT-02.csv --out out, also as JSON text and text cells."""
    rows = [[f"d{n:02}", *pair.split(",")] for n, pair in enumerate(CAT_02, 1)]
    head = ["item_id", "human", "judge"]
    content = {
        "csv": table(",".join(head), [",".join(row) for row in rows]),
        "jsonl": "".join(json.dumps(dict(zip(head, row, strict=True))) + "\n" for row in rows),
        "xlsx": workbook({"S": [head, *rows]}),
    }[ending]
    _, said = case({f"CAT-02.{ending}": content})
    assert shown("quadratic_weighted_kappa/judge") == near(0.9619)
    assert shown("weighted_kappa[weights=linear]/judge") == near(0.825)
    assert "1, 2, 3, 4, 5, 6, 7, 8, 9, 10" in said


CAT_03 = table(
    "item_id,human,judge",
    [
        f"e{n:02},{pair}"
        for n, pair in enumerate(
            ["0,0", "0,1", "1,1", "1,0", "3,3", "3,1", "1,3", "1,3", "0,0", "1,1", "0,0", "3,1"], 1
        )
    ],
)


@pytest.mark.parametrize("options", [(), ("--levels", "0,1,2,3"), ("--levels", "0,1,2,3,4,5", "--scale", "ordinal")])
def test_cat_03_distance_is_by_value(case, shown, options):
    """CAT-03: evenhand audit CAT-03.csv [--levels 0,1,2,3] --out out."""
    case({"CAT-03.csv": CAT_03}, *options)
    assert shown("quadratic_weighted_kappa/judge") == near(0.425532)
    assert shown("weighted_kappa[weights=linear]/judge") == near(0.302326)
    assert shown("cohen_kappa/judge") == near(0.234043)


CAT_04 = table(
    "item_id,r1,r2,r3",
    [
        f"g{n:02},{','.join(row)}"
        for n, row in enumerate(["aaa", "aab", "bbb", "ccc", "acc", "ddd", "bba", "aaa", "ddc", "aaa"], 1)
    ],
)
RATERS = ("--judge", "r1", "--judge", "r2", "--judge", "r3")


def test_cat_04_the_declared_number_of_labels(case, shown):
    """CAT-04: evenhand audit CAT-04.csv --judge r1 --judge r2 --judge r3 --levels a,b,c,d,e --out out."""
    audit, said = case({"CAT-04.csv": CAT_04}, *RATERS, "--levels", "a,b,c,d,e")
    assert shown("gwet_ac1/raters") == near(0.676332)
    assert shown("brennan_prediger/raters") == near(0.666667)
    assert shown("fleiss_kappa/raters") == near(0.621451)
    assert shown("krippendorff_alpha[metric=nominal]/raters") == near(0.634069)
    assert len(audit.declarations.levels) == 5
    assert "declared: a, b, c, d, e" in said


def test_cat_04_observed_labels_are_said(case, shown):
    """CAT-04: evenhand audit CAT-04.csv --judge r1 --judge r2 --judge r3 --out out: four labels taken, and said."""
    _, said = case({"CAT-04.csv": CAT_04}, *RATERS)
    assert shown("fleiss_kappa/raters") == near(0.621451)
    assert "inferred from the labels: a, b, c, d" in said


CAT_06A = table(
    "item_id,human,judge",
    [
        *("n01,Yes,yes", "n02,yes ,yes", "n03,No,no", "n04,YES,yes", "n05,no,No ", "n06,no ,yes"),
        *("n07,yes,yes", "n08,\u200byes,yes", "n09,No,no", "n10,yes,no", "n11,no,no", "n12,Yes,no"),
    ],
)


def test_cat_06_variants_are_listed(refused, write):
    """CAT-06: evenhand audit CAT-06a.csv --out out: each variant with its count, and the way out."""
    write("CAT-06a.csv", CAT_06A)
    said = ('"YES" (1)', '"Yes" (2)', '"yes " (1)', '"\\u200byes" (1)', "--clean trim,case,zero-width")
    refused("audit", "CAT-06a.csv", "--out", "out", says=said)


def test_cat_06_cleaned_on_request(case, shown):
    """CAT-06: evenhand audit CAT-06a.csv --clean trim,case,zero-width --out out."""
    _, said = case({"CAT-06a.csv": CAT_06A}, "--clean", "trim,case,zero-width")
    assert shown("cohen_kappa/judge") == near(0.5)
    assert shown("observed_agreement/judge") == near(0.75)
    assert "cleaned" in said


def test_cat_06_labels_that_only_look_alike_stay_apart(case, shown):
    """CAT-06: evenhand audit CAT-06b.csv --reference r1 --judge r2 --levels Aa,aa,BB --out out."""
    rows = ["b1,Aa,BB", "b2,BB,BB", "b3,Aa,Aa", "b4,BB,Aa", "b5,Aa,Aa", "b6,BB,BB", "b7,Aa,aa", "b8,aa,aa"]
    options = ("--reference", "r1", "--judge", "r2", "--levels", "Aa,aa,BB")
    audit, _ = case({"CAT-06b.csv": table("item_id,r1,r2", rows)}, *options)
    assert shown("cohen_kappa/judge") == near(0.414634)
    assert audit.declarations.levels == ("Aa", "aa", "BB")


# --- configuration ---

CFG_01 = {
    "criteria": [("facts", 2, 1), ("units", 1, 0), ("style", 0, 0.5)],
    "one_unscored": [("facts", 2, 1), ("units", 1, None), ("style", 1, 0.5)],
    "missing_weight": [("p", 1, 1), ("q", None, 0.5)],
    "negative": [("p", 2, 1), ("q", -1, 1)],
}


def test_cfg_01_the_reading(command, write, tmp_path):
    """CFG-01: evenhand convert CFG-01.jsonl ... --to v.jsonl.

    Weighted scores come with --criterion-weights. Read here: a null score is missing and no 0, a criterion of weight 0 keeps
    its own score, and the weights are carried along as they stand.
    """
    records = [
        {"rubric": rubric, "name": name, "weight": weight, "score": score}
        for rubric, lines in CFG_01.items()
        for name, weight, score in lines
    ]
    write("CFG-01.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    options = ("--response", "rubric", "--criterion", "name", "--judge", "score", "--scale", "continuous")
    ending = command("convert", "CFG-01.jsonl", *options, "--to", "v.jsonl")
    assert ending.code == 0, ending.err
    assert "judge: 10 verdicts = 9 scored + 1 missing (blank)" in ending.out
    rows = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {(row["response_id"], row["criterion_id"]): row for row in rows}
    assert (found["criteria", "style"]["value"], found["criteria", "style"]["extra.weight"]) == ("0.5", "0")
    unscored = found["one_unscored", "units"]
    assert (unscored["value"], unscored["status"], unscored["extra.weight"]) == (None, "missing", "1")
    assert found["missing_weight", "q"]["extra.weight"] is None
    assert found["negative", "q"]["extra.weight"] == "-1"


def test_cfg_01_a_document_of_rubrics_is_no_table(refused, write):
    """CFG-01: evenhand audit CFG-01.json: an object of lists has no rows; its columns are shown."""
    document = {name: [{"name": one, "weight": w, "score": s} for one, w, s in lines] for name, lines in CFG_01.items()}
    write("CFG-01.json", json.dumps(document))
    refused("audit", "CFG-01.json", "--out", "out", says=("CFG-01.json", '"criteria"', "--response COL"))
