"""`evenhand audit` on what people bring: every layout and format, with the numbers and the words it prints."""

import json
import re

import pytest

from evenhand.results import Audit

HEAD = "item,question,gold,judge\n"
ROWS = "a,q1,1,1\nb,q1,0,1\nc,q2,0,0\nd,q2,1,1\ne,q3,1,0\nf,q3,0,0\n"
KAPPA = 1 / 3


@pytest.fixture
def audited(command, tmp_path):
    """Audit files and give back the audit and what was printed."""

    def ran(*arguments):
        ending = command("audit", *arguments, "--out", "out")
        assert ending.code == 0, ending.said
        assert all(re.match(r" *[0-9.]+ s  ", line) for line in ending.err.splitlines())  # progress of a slow machine
        return Audit.load(tmp_path / "out"), ending.out

    return ran


def value(audit, text):
    return audit[text].estimate


# --- one file ---


def test_recognised_layout(audited, write, tmp_path):
    write("fine.csv", HEAD + ROWS)
    audit, said = audited("fine.csv")
    assert value(audit, "cohen_kappa/judge") == pytest.approx(KAPPA)
    assert value(audit, "observed_agreement/judge") == pytest.approx(4 / 6)
    assert value(audit, "n_clusters/judge") == 3
    assert "6 verdicts = 6 used" in said
    assert "3 clusters are few" in said
    assert str(tmp_path / "out") not in said or "out/report.html" in said
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("audit.json", "report.html", "report.md", "run.json", "spec.toml"),
        *("tallies.parquet", "disagreements.parquet", "tables"),
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fine.csv", "out"]


def test_one_row_says_what_cannot_be_had(audited, write):
    write("one.csv", HEAD + "a,q1,1,1\n")
    audit, said = audited("one.csv")
    agreement, kappa = audit["observed_agreement/judge"], audit["cohen_kappa/judge"]
    assert (agreement.estimate, agreement.std_error, agreement.ci_low) == (1, None, None)
    assert "one cluster" in agreement.reason
    assert (kappa.estimate, kappa.status) == (None, "undefined")
    assert "no variation in labels" in kappa.reason
    assert "one cluster: standard errors and intervals are undefined" in said


def test_one_cluster(audited, write):
    write("one.csv", HEAD + ROWS.replace("q2", "q1").replace("q3", "q1"))
    audit, said = audited("one.csv")
    kappa = audit["cohen_kappa/judge"]
    assert (kappa.status, kappa.estimate) == ("ok", pytest.approx(KAPPA))
    assert (kappa.std_error, kappa.ci_low, kappa.ci_high, kappa.interval_method) == (None, None, None, "none")
    assert "one cluster" in kappa.reason
    assert "collect responses to other questions" in said


def test_constant_labels(audited, write):
    write("constant.csv", HEAD + ROWS.replace(",1\n", ",0\n").replace(",1,0", ",0,0"))
    audit, said = audited("constant.csv")
    kappa = audit["cohen_kappa/judge"]
    assert (kappa.status, kappa.estimate, kappa.ci_low, kappa.ci_high) == ("undefined", None, None, None)
    assert "0/0, no variation in labels" in kappa.reason
    assert "no variation in labels" in said


def test_rerun_is_byte_identical_and_replaces_only_its_own(audited, write, tmp_path):
    write("fine.csv", HEAD + ROWS)
    audited("fine.csv", "--interval", "percentile")
    first = (tmp_path / "out" / "audit.json").read_bytes()
    audited("fine.csv", "--interval", "percentile")
    assert (tmp_path / "out" / "audit.json").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fine.csv", "out"]


def test_blank_rows_are_left_out_and_counted(audited, write):
    write("gaps.csv", HEAD + ROWS + ",,,\n , ,,\n")
    audit, _ = audited("gaps.csv")
    assert audit.data.source_rows == {"gaps.csv: rows": 8, "gaps.csv: blank rows left out": 2}
    assert (audit.data.rows_read, value(audit, "cohen_kappa/judge")) == (6, pytest.approx(KAPPA))


def test_every_blank_and_status_is_accounted_for(audited, write):
    write(
        "status.csv",
        "item,gold,judge,status\na,1,1,scored\nb,0,0,\nc,1,,refused\nd,,1,\ne,1,x,unparsed\nf,0,,timeout\n",
    )
    audit, said = audited("status.csv", "--na", "x")
    assert audit.data.rows_excluded == {
        "judge error": 1,
        "judge refused": 1,
        "judge unparsed": 1,
        "reference missing": 1,
    }
    assert audit.data.rows_read == 6 == audit.data.rows_used + sum(audit.data.rows_excluded.values())
    assert "6 verdicts = 2 used + 1 judge error + 1 judge refused + 1 judge unparsed + 1 reference missing" in said


@pytest.mark.parametrize(
    ("options", "excluded"),
    [
        ((), {"judge missing": 1}),
        (("--blank", "unparsed"), {"judge unparsed": 1}),
        (("--blank", "abstained"), {"judge abstained": 1}),
    ],
)
def test_what_a_blank_means(audited, write, options, excluded):
    write("blank.csv", HEAD + ROWS + "g,q3,1,\n")
    audit, _ = audited("blank.csv", *options)
    assert audit.data.rows_excluded == excluded


def test_words_for_nothing_and_abstention(audited, write):
    write("words.csv", HEAD + ROWS + "g,q3,1,N/A\nh,q3,1,unsure\ni,q3,even,1\nj,q3,1,CANNOT_ASSESS\n")
    audit, _ = audited("words.csv", "--na", "n/a", "--abstain", "unsure", "--tie", "even")
    assert audit.data.rows_excluded == {"judge abstained": 2, "judge missing (N/A)": 1, "reference tied": 1}
    assert value(audit, "abstention_rate/judge") == pytest.approx(0.2)


def test_infinite_marks_are_unparsed(audited, write):
    write("inf.csv", HEAD + ROWS + "g,q3,1,inf\nh,q3,1,-Infinity\n")
    audit, said = audited("inf.csv")
    assert audit.data.rows_excluded == {"judge unparsed": 2}
    assert "not finite: unparsed" in said


def test_positive_label(audited, write):
    write("words.csv", "item,gold,judge\na,cat,cat\nb,dog,cat\nc,dog,dog\nd,cat,dog\n")
    cat, _ = audited("words.csv", "--positive", "cat")
    dog, said = audited("words.csv", "--positive", "dog")
    assert cat.declarations.levels == ("dog", "cat")
    assert value(cat, "false_accept_rate/judge") == value(dog, "false_reject_rate/judge")
    assert '"dog" declared positive against "cat"' in said


def test_positive_turns_a_known_vocabulary_round(audited, write):
    write("fine.csv", HEAD + ROWS)
    audit, _ = audited("fine.csv", "--positive", "0")
    assert audit.declarations.positive == "0"
    assert value(audit, "prevalence/judge") == pytest.approx(0.5) if audit.get("prevalence/judge") else True


def test_declared_levels(audited, write):
    write("marks.csv", "item,gold,judge\na,low,low\nb,high,medium\nc,medium,medium\n")
    audit, said = audited("marks.csv", "--levels", "low,medium,high,top", "--scale", "ordinal")
    assert (audit.declarations.scale, audit.declarations.levels) == ("ordinal", ("low", "medium", "high", "top"))
    assert "declared: low, medium, high, top" in said


def test_ten_comes_after_nine(audited, write):
    write("marks.csv", "item,gold,judge\n" + "".join(f"{n},{n},{n}\n" for n in range(1, 11)))
    audit, _ = audited("marks.csv")
    assert audit.declarations.levels == tuple(map(str, range(1, 11)))


def test_conditions_are_pooled_with_a_warning(audited, write):
    rows = "".join(f"{n},{p},{o},{n % 2},{(n + (p == 'x')) % 2}\n" for n in range(6) for p in "xy" for o in (1, 2))
    write("study.csv", "item,phrasing,occasion,gold,judge\n" + rows)
    audit, said = audited("study.csv")
    assert audit.data.rows_read == 24
    assert value(audit, "n_verdicts/judge") == 24
    assert value(audit, "observed_agreement/judge") == pytest.approx(0.5)
    assert any("4 conditions (phrasing, occasion) are pooled" in warning for warning in audit.warnings)
    assert "4 conditions (phrasing, occasion) are pooled" in said


def test_a_single_model_is_no_condition(audited, write):
    write("model.csv", "item,model,gold,judge\na,m,1,1\nb,m,0,1\nc,m,0,0\n")
    audit, _ = audited("model.csv")
    assert "conditions" not in audit.declarations.reading


def test_several_judges(audited, write):
    write("two.csv", "item,gold,alpha,beta\na,1,1,0\nb,0,0,0\nc,1,1,1\nd,0,1,0\n")
    audit, said = audited("two.csv", "--judge", "beta", "--judge", "alpha")
    assert audit.data.judges == ("alpha", "beta")
    assert value(audit, "observed_agreement/alpha") == value(audit, "observed_agreement/beta") == 0.75
    assert value(audit, "false_accept_rate/alpha") == 0.5
    assert audit.get("observed_agreement/judge") is None
    assert "about these 2 judges" in said
    assert [line.split()[0] for line in said.splitlines() if "75.0 %" in line] == ["alpha", "beta"]


def test_a_judge_whose_name_is_reserved(audited, write):
    write("two.csv", "item,gold,judge,other\na,1,1,0\nb,0,0,0\nc,1,1,1\nd,0,1,0\n")
    audit, _ = audited("two.csv", "--judge", "judge", "--judge", "other", "--reference", "gold")
    assert value(audit, "observed_agreement/judge%20judge") == 0.75


# --- wide and long ---


def test_wide_pattern(audited, write):
    write(
        "wide.csv",
        "item_id,gold_e1,gold_e2,judge_e1,judge_e2,judge_explanation\na,1,0,1,1,why\nb,0,0,0,0,\nc,1,1,1,1,\n",
    )
    audit, said = audited("wide.csv", "--cut", "1,2")
    assert audit.declarations.reading["judge"] == "judge_e{criterion}"
    assert value(audit, "error_rate/judge") == pytest.approx(1 / 6)
    assert value(audit, "error_rate[criterion=2]/judge") == pytest.approx(1 / 3)
    assert value(audit, "accuracy[cut=2]/judge") == pytest.approx(2 / 3)
    assert 'not read: "judge_explanation"' in " ".join(said.split())


def test_wide_pattern_in_natural_order(audited, write):
    names = [f"gold_{n}" for n in range(1, 12)] + [f"judge_{n}" for n in range(1, 12)]
    write("wide.csv", "id," + ",".join(names) + "\na" + ",1" * 22 + "\nb" + ",0" * 22 + "\n")
    audit, _ = audited("wide.csv", "--reference", "gold_{criterion}", "--judge", "judge_{criterion}")
    table = next(
        table for name, table in audit.tables.items() if name.startswith("criteria") or "criterion" in table.columns
    )
    assert audit.data.n_criteria == 11
    assert [e.params["criterion"] for e in audit.of("error_rate", "judge") if list(e.params) == ["criterion"]] == [
        str(n) for n in range(1, 12)
    ]
    assert table.columns


LONG = "item,question,criterion,gold,judge\n" + "".join(
    f"{item},q{item % 3},{criterion},{item % 2},{(item + (criterion == 10)) % 2}\n"
    for item in range(6)
    for criterion in (2, 10)
)


def test_long_with_criterion_column(audited, write):
    write("long.csv", LONG)
    audit, _ = audited("long.csv")
    assert (audit.data.n_responses, audit.data.n_criteria, audit.data.rows_read) == (6, 2, 12)
    assert value(audit, "error_rate[criterion=2]/judge") == 0
    assert value(audit, "error_rate[criterion=10]/judge") == 1
    assert value(audit, "n_criteria/judge") == 2


def test_more_criteria_than_two_masks_hold(audited, write):
    rows = "".join(f"{item},c{n},{item % 2},{(item + (n == 150)) % 2}\n" for item in range(4) for n in range(200))
    write("long.csv", "item,criterion,gold,judge\n" + rows)
    audit, _ = audited("long.csv", "--cut", "100")
    assert value(audit, "n_criteria/judge") == 200
    assert value(audit, "error_rate/judge") == pytest.approx(1 / 200)
    assert value(audit, "accuracy[cut=100]/judge") == 1


def test_long_by_rater(audited, write):
    rows = "".join(f"{n},human,{n % 2}\n{n},m2,{n % 2}\n{n},m10,{n == 1}\n" for n in range(6)).replace("True", "1")
    write("long.csv", "item,rater,verdict\n" + rows.replace("False", "0"))
    audit, _ = audited("long.csv")
    assert audit.data.judges == ("m2", "m10")
    assert value(audit, "observed_agreement/m2") == 1
    assert value(audit, "observed_agreement/m10") == pytest.approx(4 / 6)


def test_long_by_rater_kind_with_blank_rows(audited, write):
    write(
        "long.csv",
        "item,rater,rater_kind,verdict\na,ann,reference,1\na,m,judge,1\nb,ann,reference,0\nb,m,judge,1\n,,,\n",
    )
    audit, _ = audited("long.csv")
    assert audit.data.judges == ("m",)
    assert value(audit, "observed_agreement/judge") == 0.5


def test_long_by_rater_beside_a_reference_column(audited, write):
    write("long.csv", "item,rater,verdict,gold\na,m1,1,1\na,m2,0,1\nb,m1,0,0\nb,m2,0,0\n")
    audit, _ = audited("long.csv")
    assert value(audit, "observed_agreement/m1") == 1
    assert value(audit, "observed_agreement/m2") == 0.5


def test_long_by_rater_without_reference(audited, write):
    write("long.csv", "item,rater,verdict\na,m1,1\na,m2,0\nb,m1,0\nb,m2,0\n")
    audit, said = audited("long.csv")
    assert value(audit, "judge_positive_rate/m1") == 0.5
    assert "there are no reference labels" in said
    assert "--labels FILE" in said


# --- two files ---

JUDGE = "item,question,judge\na,q1,1\nb,q1,1\nc,q2,0\nd,q2,1\ne,q3,0\nf,q3,0\n"
HUMAN = "item,human\nf,0\ne,1\nd,1\nc,0\nb,0\na,1\n"


@pytest.mark.parametrize(
    "sources",
    [("j.csv", "h.csv"), ("h.csv", "j.csv"), ("j.csv", "--labels", "h.csv")],
    ids=["first", "second", "labels"],
)
def test_judge_and_reference_in_two_files(audited, write, sources):
    write("j.csv", JUDGE)
    write("h.csv", HUMAN)
    audit, _ = audited(*sources)
    assert value(audit, "cohen_kappa/judge") == pytest.approx(KAPPA)
    assert value(audit, "n_clusters/judge") == 3
    assert audit.data.has_reference


def test_two_files_of_one_column_name(audited, write):
    write("j.csv", "item,label\na,1\nb,1\nc,0\n")
    write("h.csv", "item,label\na,1\nb,0\nc,0\n")
    audit, _ = audited("j.csv", "--labels", "h.csv")
    assert value(audit, "observed_agreement/judge") == pytest.approx(2 / 3)


def test_partial_match_is_counted_and_named(audited, write):
    write("j.csv", JUDGE)
    write("h.csv", HUMAN.replace("f,0\n", "z,0\n"))
    audit, said = audited("j.csv", "h.csv")
    assert audit.data.rows_excluded == {"reference missing": 1}
    assert audit.data.source_rows["reference rows that meet no judge verdict, left out"] == 1
    assert (
        'of 6 judge verdicts 1 meet no reference row; 1 reference rows meet no judge verdict (the judge alone has "f"; the reference alone has "z")'
        in " ".join(said.split())
    )


def test_cluster_column_in_the_labels_file(audited, write):
    write("j.csv", "item,judge\na,1\nb,0\nc,1\n")
    write("h.csv", "item,question,human\na,q1,1\nb,q1,0\nc,q2,0\n")
    audit, _ = audited("j.csv", "h.csv")
    assert value(audit, "n_clusters/judge") == 2


def test_several_raters_with_labels_elsewhere(audited, write):
    write("j.csv", "item,rater,verdict\na,m1,1\nb,m1,0\na,m2,0\nb,m2,0\n")
    write("h.csv", "item,human\na,1\nb,0\n")
    audit, _ = audited("j.csv", "--labels", "h.csv")
    assert (value(audit, "observed_agreement/m1"), value(audit, "observed_agreement/m2")) == (1, 0.5)


def test_long_files_meet_on_criterion(audited, write):
    write("j.csv", "item,criterion,judge\na,x,1\na,y,0\nb,x,1\nb,y,1\n")
    write("h.csv", "item,criterion,human\na,y,0\na,x,1\nb,y,0\nb,x,1\n")
    audit, _ = audited("j.csv", "h.csv")
    assert value(audit, "error_rate[criterion=y]/judge") == 0.5
    assert value(audit, "error_rate[criterion=x]/judge") == 0


def test_wide_files_meet_on_criterion(audited, write):
    write("j.csv", "item,judge_1,judge_2\na,1,0\nb,1,1\n")
    write("h.csv", "item,gold_2,gold_1\na,0,1\nb,0,1\n")
    audit, _ = audited("j.csv", "h.csv", "--judge", "judge_{criterion}", "--reference", "gold_{criterion}")
    assert value(audit, "error_rate[criterion=2]/judge") == 0.5


def test_stacked_files(audited, write):
    write("one.csv", HEAD + "".join(ROWS.splitlines(keepends=True)[:3]))
    write("two.csv", "judge,gold,question,item\n1,1,q2,d\n0,1,q3,e\n0,0,q3,f\n")
    audit, said = audited("one.csv", "two.csv")
    assert value(audit, "cohen_kappa/judge") == pytest.approx(KAPPA)
    assert [source.rows for source in audit.data.sources] == [3, 3]
    assert "one.csv + two.csv" in said


def test_response_of_two_columns(audited, write):
    write("sets.csv", "set,item,gold,judge\ns,1,1,1\ns2,1,0,1\ns,2,1,1\ns|2,1,0,0\n")
    audit, _ = audited("sets.csv", "--response", "set,item")
    assert audit.data.n_responses == 4


# --- ids ---


def test_ids_are_text(audited, write):
    ids = ("007", "7", "07", "7.0", "1e3", "1000", "12345678901234567890", "12345678901234567891")
    write("ids.csv", "item,gold,judge\n" + "".join(f"{one},1,1\n" for one in ids))
    write("h.csv", "item,human\n" + "".join(f"{one},1\n" for one in reversed(ids)))
    audit, _ = audited("ids.csv")
    assert audit.data.n_responses == 8
    write("j.csv", "item,judge\n" + "".join(f"{one},1\n" for one in ids))
    joined, _ = audited("j.csv", "h.csv")
    assert (joined.data.n_responses, joined.data.rows_used) == (8, 8)


def test_composed_and_decomposed_ids_join(audited, write):
    write("j.csv", "item,judge\ncafe\u0301,1\nx,0\n")
    write("h.csv", "item,human\ncaf\u00e9,0\nx,0\n")
    audit, _ = audited("j.csv", "h.csv")
    assert audit.data.rows_used == 2


def test_composed_and_decomposed_ids_clash(refused, write):
    write("nfc.csv", "item,gold,judge\ncafe\u0301,1,1\ncaf\u00e9,1,1\n")
    refused("audit", "nfc.csv", "--out", "out", says="stands 2 times (nfc.csv rows 2, 3)")


# --- formats ---


def records():
    return [dict(zip(HEAD.strip().split(","), row.split(","), strict=True)) for row in ROWS.splitlines()]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.tsv", (HEAD + ROWS).replace(",", "\t")),
        ("t.csv", (HEAD + ROWS).replace(",", ";")),
        ("t.txt", (HEAD + ROWS).replace(",", "|")),
        ("quoted.csv", '"item";"question, asked";"gold";"judge"\n' + ROWS.replace(",", ";")),
        ("crlf.csv", (HEAD + ROWS).replace("\n", "\r\n")),
        ("cr.csv", (HEAD + ROWS).replace("\n", "\r")),
        ("mixed.csv", HEAD + ROWS.replace("\n", "\r\n", 2)),
        ("bom.csv", b"\xef\xbb\xbf" + (HEAD + ROWS).encode()),
        ("utf16.csv", (HEAD + ROWS).encode("utf-16")),
        ("t.json", json.dumps(records())),
        ("t.jsonl", "\n".join(map(json.dumps, records()))),
        ("k=v/t.csv", HEAD + ROWS),
        ("numbers.json", json.dumps([{**r, "gold": int(r["gold"]), "judge": float(r["judge"])} for r in records()])),
        ("booleans.json", json.dumps([{**r, "gold": r["gold"] == "1", "judge": r["judge"] == "1"} for r in records()])),
        ("spaces.csv", "Item ID,Question,Gold,Judge\n" + ROWS),
    ],
    ids=lambda part: part if isinstance(part, str) and len(part) < 20 else "",
)
def test_formats(audited, write, name, content):
    path = write(name, content)
    options = ("--cluster", "question, asked") if name == "quoted.csv" else ()
    audit, _ = audited(path, *options)
    assert value(audit, "cohen_kappa/judge") == pytest.approx(KAPPA)
    assert value(audit, "n_clusters/judge") == 3


def test_format_and_encoding_as_said(audited, write):
    write("verdicts.log", (HEAD + ROWS).replace("q1", "qé").encode("cp1252"))
    audit, _ = audited("verdicts.log", "--format", "csv", "--encoding", "cp1252")
    assert "qé" in json.dumps(audit.to_json(), ensure_ascii=False) or value(audit, "n_clusters/judge") == 3


def test_big_integers_in_json_stay_what_they_are(audited, write):
    write(
        "t.json",
        '[{"id": 12345678901234567890, "judge": 1, "gold": 1}, {"id": 12345678901234567891, "judge": 0, "gold": 1}]',
    )
    audit, _ = audited("t.json")
    assert audit.data.n_responses == 2


# --- spec, strict, explain ---


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({"t.csv": HEAD + ROWS}, ("--cut", "1", "--interval", "percentile", "--seed", "3", "--resamples", "200")),
        ({"t.csv": LONG}, ("--blank", "unparsed", "--criteria", "per-cluster")),
        ({"j.csv": JUDGE, "h.csv": HUMAN}, ()),
        ({"t.csv": "item,rater,verdict\na,human,1\na,m,1\nb,human,0\nb,m,1\n"}, ("--confidence-level", "0.9")),
        ({"t.csv": "item,score\na,1\nb,0\n"}, ()),
        ({"t.csv": "item,label\na,1\nb,0\n"}, ()),
        ({"t.csv": "item,model,phrasing,gold,judge\na,m,x,1,1\na,m,y,0,0\nb,m,x,1,1\nb,m,y,0,0\n"}, ()),
        ({"t.csv": 'it"em;x,criterion,gold,judge\na,1,1,1\nb,1,0,0\n'}, ("--response", 'it"em;x', "--na", "x,y")),
    ],
)
def test_spec_round_trip(command, write, tmp_path, files, options):
    paths = [write(name, text) for name, text in files.items()]
    assert command("audit", *paths, *options, "--out", "a", "--write-spec", "s.toml").code == 0
    assert command("audit", *paths, "--spec", "s.toml", "--out", "b", "--write-spec", "s2.toml").code == 0
    assert (tmp_path / "a" / "audit.json").read_bytes() == (tmp_path / "b" / "audit.json").read_bytes()
    assert (tmp_path / "s.toml").read_bytes() == (tmp_path / "s2.toml").read_bytes()
    assert (tmp_path / "a" / "spec.toml").read_bytes() == (tmp_path / "s.toml").read_bytes()


def test_options_override_the_spec(audited, write):
    write("t.csv", HEAD + ROWS)
    write("s.toml", 'judge = ["gold"]\nreference = "judge"\nseed = 4\n')
    audit, _ = audited("t.csv", "--spec", "s.toml", "--seed", "5")
    assert (audit.declarations.seed, audit.declarations.reading["judge"]) == (5, "gold")


def test_strict_accepts_a_file_without_gaps(audited, write):
    write("t.csv", HEAD + ROWS)
    audited("t.csv", "--strict")


def test_explain_writes_nothing(command, write, tmp_path):
    write("t.csv", HEAD + ROWS)
    ending = command("audit", "t.csv", "--explain", "--out", "out")
    assert ending.code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    for words in ("This reading supports", "What you cannot say", "response = [", 'cluster = "question"', "6 used"):
        assert words in ending.out
