"""What cannot be done is refused: exit code 2, one sentence that helps, nothing written and nothing touched."""

from pathlib import Path

import pytest

HEAD = "item,question,gold,judge\n"
FINE = HEAD + "a,q1,1,1\nb,q1,0,1\nc,q2,0,0\nd,q2,1,1\n"


@pytest.fixture(autouse=True)
def _fine(write):
    write("fine.csv", FINE)


# --- sources ---


def test_missing_file_names_the_one_meant(refused):
    refused("audit", "fien.csv", "--out", "out", says=("fien.csv: no such file", 'did you mean "fine.csv"?'))


def test_missing_folder_is_said(refused):
    refused("audit", "nowhere/fine.csv", "--out", "out", says="no such file, nor its folder")


def test_folder_as_source(refused, tmp_path):
    (tmp_path / "logs").mkdir()
    refused("audit", "logs", "--out", "out", says="logs: a folder; name the file inside it")


def test_empty_file(refused, write):
    write("empty.csv", "")
    refused("audit", "empty.csv", "--out", "out", says="empty.csv: the file is empty (0 bytes)")


@pytest.mark.parametrize("content", ["\n", "\n\nitem,gold,judge\na,1,1\n", ",,,\na,1,1,1\n"])
def test_no_column_names(refused, write, content):
    write("blank.csv", content)
    refused("audit", "blank.csv", "--out", "out", says=("blank.csv line 1: no column names", "take blank lines out"))


def test_header_only(refused, write):
    write("header.csv", HEAD)
    refused("audit", "header.csv", "--out", "out", says=("header.csv: no data rows", '"question"'))


def test_unknown_ending_and_spreadsheet(refused, write):
    write("verdicts.dat", FINE)
    refused("audit", "verdicts.dat", "--out", "out", says=('the ending ".dat"', "--format csv|"))
    write("verdicts.xlsx", b"PK")
    refused("audit", "verdicts.xlsx", "--out", "out", says="cannot be read as a spreadsheet")
    write("verdicts.xls", b"PK")
    refused("audit", "verdicts.xls", "--out", "out", says=(".xlsx is read", "as CSV"))
    refused(
        *("audit", "verdicts.dat", "--format", "cvs", "--out", "out"),
        says=('--format "cvs" is not one of csv, jsonl', 'did you mean "csv"'),
    )


def test_ragged_line(refused, write):
    write("ragged.csv", FINE + "e,q2,1\n")
    refused(
        "audit", "ragged.csv", "--out", "out", says=("ragged.csv line 6: 3 values under 4 column names", "put quotes")
    )
    write("ragged.csv", FINE + "e,q2,1,1,maybe, not\n")
    refused("audit", "ragged.csv", "--out", "out", says="ragged.csv line 6: more than 4 values under 4 column names")


def test_open_quote(refused, write):
    write("open.csv", FINE + 'e,q2,"1,1\n')
    refused("audit", "open.csv", "--out", "out", says=("open.csv line 6", "a quote is opened and not closed"))


def test_column_names_that_stand_twice(refused, write):
    write("twice.csv", "item,judge,gold,Judge\na,1,1,1\n")
    refused("audit", "twice.csv", "--out", "out", says=("column names stand twice", '"Judge", "judge"', "rename"))


def test_not_utf8(refused, write):
    write("west.csv", HEAD.encode() + "é,q1,1,1\n".encode("cp1252"))
    refused("audit", "west.csv", "--out", "out", says=("west.csv line 2: not UTF-8 (byte 0xe9)", "--encoding cp1252"))


def test_not_utf8_far_below_the_header(refused, write):
    write(
        "deep.csv",
        FINE.encode() + b"x,q9,1,1\n" * 0 + b"".join(b"r%d,q3,1,1\n" % n for n in range(9_000)) + b"\xff,q3,1,1\n",
    )
    refused("audit", "deep.csv", "--out", "out", says="deep.csv line 9006: not UTF-8 (byte 0xff)")


def test_unknown_encoding(refused):
    refused("audit", "fine.csv", "--encoding", "klingon", "--out", "out", says=('"klingon" is not known', "cp1252"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("cut.json", '[{"id":1,"judge":1},', "cut.json: the list is not closed"),
        ("list.json", "[1,2,3]", "not a list of objects"),
        ("nothing.json", "[]", "not a list of objects"),
        ("lines.jsonl", '{"id":1,"judge":1}\nnot json\n', "lines.jsonl: cannot be read as jsonl"),
        ("twins.json", '[{"id":1,"ID":2,"judge":1}]', "differ only in case"),
        ("broken.parquet", "PAR1 no", "broken.parquet: cannot be read as parquet"),
        ("broken.arrow", "ARROW no", "broken.arrow: cannot be read as arrow"),
    ],
)
def test_broken_files(refused, write, name, content, words):
    write(name, content)
    refused("audit", name, "--out", "out", says=words)


# --- columns and layouts ---


def test_unknown_column(refused):
    refused(
        "audit", "fine.csv", "--judge", "jugde", "--out", "out", says=('no column "jugde"', 'did you mean "judge"?')
    )


@pytest.mark.parametrize("option", ["--response", "--cluster", "--criterion", "--status", "--phrasing", "--reference"])
def test_unknown_column_of_any_role(refused, option):
    refused("audit", "fine.csv", option, "qestion", "--out", "out", says=('"qestion"', 'did you mean "question"?'))


def test_a_column_without_a_near_name_lists_the_columns(refused):
    refused(
        "audit", "fine.csv", "--judge", "zzz", "--out", "out", says='columns are "item", "question", "gold", "judge"'
    )


def test_pattern_that_fits_nothing(refused):
    refused(
        "audit",
        "fine.csv",
        "--judge",
        "m_{criterion}",
        "--out",
        "out",
        says=('fits the pattern "m_{criterion}"', "item"),
    )


def test_pattern_against_plain_column(refused, write):
    write("mixed.csv", "item,gold,m_1,m_2\na,1,1,0\n")
    refused(
        *("audit", "mixed.csv", "--judge", "m_{criterion}", "--reference", "gold", "--out", "out"),
        says=("no criterion in common", '"gold" (one column)', "Both sides are patterns"),
    )


def test_no_response_column(refused, write):
    write("idless.csv", "who,judge\na,1\n")
    refused(
        "audit", "idless.csv", "--out", "out", says=("idless.csv: which column identifies a response?", "--response")
    )


def test_no_judge_column(refused, write):
    write("human.csv", "item,human\na,1\n")
    refused("audit", "human.csv", "--out", "out", says=('"human" looks like the reference', "--judge COL"))


def test_three_kinds_of_files(refused, write):
    write("a.csv", "item,judge\na,1\n")
    write("b.csv", "item,gold\na,1\n")
    write("c.csv", "item,other\na,1\n")
    refused("audit", "a.csv", "b.csv", "c.csv", "--out", "out", says=("three or more", '"a.csv", "b.csv", "c.csv"'))


# --- keys ---


def test_duplicate_key_is_listed_with_its_rows(refused, write):
    write("twice.csv", HEAD + "a,q1,1,1\nb,q1,0,1\na,q1,1,0\n")
    refused(
        *("audit", "twice.csv", "--out", "out"),
        says=('response "a" stands 2 times (twice.csv rows 2, 4)', "Take the repeats out"),
    )


def test_duplicate_key_names_the_columns_that_differ(refused, write):
    write("sets.csv", "set,item,gold,judge\ns1,1,1,1\ns2,1,0,1\ns1,2,1,1\n")
    refused("audit", "sets.csv", "--out", "out", says=('columns that differ there: "set"', "--response COL,COL"))


def test_duplicate_across_stacked_files(refused, write):
    write("fine2.csv", HEAD + "d,q2,1,1\n")
    refused(
        *("audit", "fine.csv", "fine2.csv", "--out", "out"),
        says=('response "d" stands 2 times (fine.csv row 5; fine2.csv row 2)', "--labels FILE"),
    )


def test_many_duplicates_are_counted(refused, write):
    write("many.csv", HEAD + "".join(f"{n},q1,1,1\n" * 2 for n in range(30)))
    refused("audit", "many.csv", "--out", "out", says="and 25 more")


def test_response_in_two_clusters(refused, write):
    write("torn.csv", "item,question,phrasing,gold,judge\na,q1,x,1,1\na,q2,y,1,1\nb,q2,x,0,0\nb,q2,y,0,0\n")
    refused(
        *("audit", "torn.csv", "--out", "out"),
        says=('"a" lies in "q1" and "q2" (torn.csv rows 2, 3)', "--response CLUSTER,ID"),
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [(",q2,1,1", 'no response id: column "item"'), ("e,,1,1", 'no cluster: column "question"')],
)
def test_rows_without_a_key(refused, write, row, words):
    write("keyless.csv", f"{FINE}{row}\n")
    refused("audit", "keyless.csv", "--out", "out", says=(words, "keyless.csv row 6", "No id is invented"))


def test_rows_without_a_rater_or_criterion(refused, write):
    write("long.csv", "item,rater,criterion,verdict\na,human,c,1\na,m,c,1\nb,,c,1\n")
    refused("audit", "long.csv", "--out", "out", says=('no rater: column "rater"', "long.csv row 4"))
    write("long.csv", "item,rater,criterion,verdict\na,human,c,1\na,m,c,1\nb,m,,1\n")
    refused("audit", "long.csv", "--out", "out", says=('no criterion: column "criterion"', "long.csv row 4"))


def test_zero_matches_shows_both_sides(refused, write):
    write("judge.csv", "item,judge\n7.0,1\n8.0,0\n")
    write("human.csv", "item,human\n0007,1\n0008,0\n")
    refused(
        *("audit", "judge.csv", "--labels", "human.csv", "--out", "out"),
        says=('judge.csv has "7.0", "8.0"', 'human.csv has "0007", "0008"', "compared as text"),
    )


def test_long_file_whose_raters_never_meet(refused, write):
    write("long.csv", "item,rater,verdict\na,human,1\nb,m,1\n")
    refused("audit", "long.csv", "--out", "out", says=('the judge\'s rows has "b"', 'the reference\'s has "a"'))


def test_which_rater_is_the_reference(refused, write):
    write("long.csv", "item,rater,verdict\na,human,1\na,gold,1\na,m,1\n")
    refused("audit", "long.csv", "--out", "out", says=('"gold", "human"', "--reference RATER"))
    refused("audit", "long.csv", "--reference", "expert", "--out", "out", says=('"expert"', "raters are"))
    write("long.csv", "item,rater,verdict\na,human,1\n")
    refused("audit", "long.csv", "--out", "out", says='no judge among the raters "human"')


# --- labels ---


def test_label_outside_the_scale(refused, write):
    write("stray.csv", FINE + "e,q2,0,2\nf,q2,maybe,1\n")
    refused(
        *("audit", "stray.csv", "--scale", "binary", "--out", "out"),
        says=('"2" once (stray.csv row 6 column "judge")', '"maybe" once (stray.csv row 7 column "gold")', "--na "),
    )


def test_label_outside_declared_levels(refused):
    refused("audit", "fine.csv", "--levels", "1,2,3", "--out", "out", says=('"0"', 'fine.csv row 3 column "gold"'))


def test_label_that_may_mean_nothing_is_asked_about(refused, write):
    write("none.csv", HEAD + "a,q1,None,pass\nb,q1,fail,N/A\n")
    refused(
        *("audit", "none.csv", "--out", "out"),
        says=('"None" once (none.csv row 2 column "gold")', '"N/A"', "never guessed", '--na "'),
    )


def test_nan_text_is_asked_about(refused, write):
    write("nan.csv", HEAD + "a,q1,1,NaN\nb,q1,0,1\n")
    refused("audit", "nan.csv", "--out", "out", says=('"NaN"', 'nan.csv row 2 column "judge"', "--na"))


def test_bare_nan_in_json(refused, write):
    write("nan.json", '[{"id":"a","judge":NaN,"gold":1},{"id":"b","judge":1,"gold":0}]')
    refused("audit", "nan.json", "--out", "out", says=('"NaN"', "nan.json row 1"))


def test_decimal_comma_is_no_category(refused, write):
    write("comma.csv", 'item;human;judge\na;"3,5";4\nb;4;4\n')
    refused("audit", "comma.csv", "--out", "out", says=('"3,5" once (comma.csv row 2 column "human")', "with a point"))


def test_variants_of_a_label_are_listed(refused, write):
    write("variants.csv", "item,human,judge\na,yes ,Maybe\nb,yes,no\nc,YES,\u200bmaybe\n")
    refused(
        "audit", "variants.csv", "--out", "out", says=('"YES" (1), "yes" (1), "yes " (1)', "\\u200bmaybe", "--levels")
    )


def test_free_text_is_no_scale(refused, write):
    write("text.csv", "item,judge\n" + "".join(f"{n},said {n}\n" for n in range(30)))
    refused("audit", "text.csv", "--out", "out", says=("30 different labels", "free text"))


def test_only_blanks(refused, write):
    write("blank.csv", "item,judge,gold\na,,\nb,,\n")
    refused("audit", "blank.csv", "--out", "out", says="no label on either side")


def test_two_unknown_labels_on_a_binary_scale(refused, write):
    write("cats.csv", "item,gold,judge\na,cat,dog\nb,dog,dog\n")
    refused("audit", "cats.csv", "--scale", "binary", "--out", "out", says="--positive LABEL")
    refused("audit", "cats.csv", "--positive", "cow", "--out", "out", says='--positive "cow" does not occur')


def test_unknown_status(refused, write):
    write("status.csv", "item,gold,judge,status\na,1,1,scored\nb,1,,vanished\n")
    refused("audit", "status.csv", "--out", "out", says=('unknown status "vanished" (1)', "unparsed", "--status"))


# --- the output ---


def test_out_is_required(refused):
    refused("audit", "fine.csv", says=("--out DIR", "--explain"))


def test_out_is_the_source_or_holds_it(refused, tmp_path, write):
    write("data/fine.csv", FINE)
    refused("audit", "fine.csv", "--out", "fine.csv", says=("replace its own source", "another --out"))
    refused("audit", "data/fine.csv", "--out", "data", says="replace its own source fine.csv")
    refused("audit", "fine.csv", "--out", ".", says="replace its own source")


def test_out_is_a_file(refused, write):
    write("notes", "mine")
    refused("audit", "fine.csv", "--out", "notes", says=("notes: exists and is not a folder", "another --out"))
    refused("audit", "fine.csv", "--out", "notes/out", says="notes is a file, not a folder")


def test_out_is_a_foreign_folder(refused, write):
    write("photos/cat.jpg", "meow")
    refused("audit", "fine.csv", "--out", "photos", says=("no audit wrote", '"cat.jpg"', "another --out"))


def test_out_looks_like_an_audit_but_is_none(refused, write):
    write("mine/report.html", "my own report")
    refused("audit", "fine.csv", "--out", "mine", says='"report.html"')
    write("mine/audit.json", '{"schema": "something else"}')
    refused("audit", "fine.csv", "--out", "mine", says='"audit.json"')


def test_out_is_an_audit_with_a_foreign_file(refused, command, write):
    assert command("audit", "fine.csv", "--out", "out").code == 0
    write("out/thoughts.txt", "mine")
    refused("audit", "fine.csv", "--out", "out", says='"thoughts.txt"')


def test_out_is_a_symlink(refused, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    refused("audit", "fine.csv", "--out", "link", says=("link: a symbolic link", "another --out"))
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    refused("audit", "fine.csv", "--out", "dangling", says="a symbolic link")


def test_spec_is_not_written_over_anything_else(refused, write):
    write("notes.toml", "mine = 1\n")
    refused("audit", "fine.csv", "--out", "out", "--write-spec", "fine.csv", says="would replace a source")
    refused("audit", "fine.csv", "--out", "out", "--write-spec", "notes.toml", says="was not written by evenhand")


def test_explain_writes_no_spec(refused):
    refused("audit", "fine.csv", "--explain", "--write-spec", "s.toml", says="--explain writes nothing")


# --- the request ---


@pytest.mark.parametrize("stray", [("--cut", "1", "2"), ("--levels", "0", "1"), ("--judge", "judge", "gold")])
def test_stray_values_after_an_option(refused, stray):
    refused("audit", "fine.csv", *stray, "--out", "out", says=(f"{stray[-1]}: no such file",))


def test_a_stray_number_is_told_about_commas(refused):
    refused("audit", "fine.csv", "--cut", "1", "2", "--out", "out", says="take commas: --cut 4,5")


@pytest.mark.parametrize("cut", ["x", "nan", "inf", "1,,two"])
def test_cut_that_is_no_number(refused, cut):
    refused("audit", "fine.csv", "--cut", cut, "--out", "out", says=("--cut", "is not a number"))


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--seed", "-1", "seed: Input should be greater than or equal to 0 (got -1)"),
        ("--resamples", "3", "resamples: Input should be greater than or equal to 100"),
        ("--confidence-level", "95", "confidence_level: Input should be less than 1"),
        ("--confidence-level", "nan", "confidence_level"),
        ("--interval", "guess", "interval: Input should be 'default', 'percentile'"),
        ("--scale", "ordnial", "'--scale'"),
        ("--seed", "many", "'--seed'"),
    ],
)
def test_values_out_of_range(refused, option, value, words):
    refused("audit", "fine.csv", option, value, "--out", "out", says=words)


def test_unknown_options_and_commands(refused):
    refused("audit", "fine.csv", "--jugde", "x", "--out", "out", says=("--jugde", "--judge"))
    refused("audti", "fine.csv", says=('did you mean "audit"?', "evenhand --help"))
    refused("audit", says="SOURCE")


def test_hostile_argument_is_escaped(refused):
    refused("audit", "fine.csv", "--\x1b[31mred", "--out", "out", says="\\x1b[31mred")
    refused("audit", "\x1b]0;owned\x07.csv", "--out", "out", says="\\x1b]0;owned\\x07.csv: no such file")
    refused("audit", "fine.csv", "--judge", "ju\u202edge", "--out", "out", says="ju\\u202edge")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("jugde = ['judge']\n", 'unknown name "jugde"; did you mean "judge"?'),
        ("seed = -4\n", "seed: Input should be greater"),
        ("seed = \n", "not TOML"),
        (b"\xff\xfe", "not TOML"),
    ],
)
def test_broken_spec(refused, write, text, words):
    write("s.toml", text)
    refused("audit", "fine.csv", "--spec", "s.toml", "--out", "out", says=("s.toml", words))


def test_missing_spec(refused):
    refused("audit", "fine.csv", "--spec", "nowhere.toml", "--out", "out", says="nowhere.toml: cannot be read")


def test_strict_names_what_is_excluded(refused, write):
    write("gaps.csv", FINE + "e,q2,1,\n")
    refused(
        *("audit", "gaps.csv", "--strict", "--out", "out"),
        says=("--strict: 5 verdicts = 4 used + 1 judge missing", "nothing was written"),
    )


def test_refusal_makes_no_parent_folders(refused, write, tmp_path):
    write("header.csv", HEAD)
    refused("audit", "header.csv", "--out", "deep/er/out", says="no data rows")
    assert not (tmp_path / "deep").exists()


def test_nothing_there_to_show_check_or_report(refused, write):
    for name in ("show", "report"):
        refused(name, "nowhere", says=("nowhere: no saved audit there", "evenhand audit SOURCE --out DIR"))
    refused("check", "nowhere", "--require", "cohen_kappa/judge > 0", says="no saved audit there")
    write("other.json", '{"schema": "other/1"}')
    refused("show", "other.json", says="other.json: not an audit of schema evenhand.audit/1")
    write("torn.json", '{"schema": "evenh')
    refused("show", "torn.json", says="torn.json")


def test_place_in_a_message_is_relative_to_nothing_secret(refused, tmp_path):
    ending = refused("audit", "fien.csv", "--out", "out")
    assert str(Path.home()) not in ending.err
