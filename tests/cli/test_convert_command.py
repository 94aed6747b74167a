"""`evenhand convert`: one row a verdict, every row accounted for, and the numbers of the original when audited again."""

import json

import duckdb
import pytest

from evenhand.cli.main import run
from evenhand.results import Audit

PAIRED = "item,question,gold,judge\na,q1,1,1\nb,q1,0,1\nc,q2,0,0\nd,q2,1,\ne,q3,1,0\nf,q3,,0\n"
WIDE = "id,q,gold_1,gold_2,m_1,m_2\na,x,1,1,1,0\nb,x,0,,1,0\nc,y,1,0,CANNOT_ASSESS,0\nd,y,0,1,0,1\n"
LONG = (
    "item,rater,kind,phrasing,verdict,group\na,human,reference,,1,g\nb,human,reference,,0,h\nc,human,reference,,1,g\n"
    "a,m,judge,p1,1,g\na,m,judge,p2,0,g\nb,m,judge,p1,0,h\nb,m,judge,p2,,h\nc,m,judge,p1,1,g\nc,m,judge,p2,0,g\n"
    "a,n,judge,p1,0,g\nb,n,judge,p1,0,h\nc,n,judge,p1,1,g\n"
)
JUDGE = "item,judge\na,pass\nb,fail\nc,pass\nz,pass\n"
HUMAN = "item,question,human\na,q1,pass\nb,q1,pass\nc,q2,pass\nz,q2,fail\ny,q3,fail\n"
MARKS = "item,human,judge\na,3.5,4\nb,7,6.25\nc,EX,2\nd,0,0\ne,9,8.5\n"
PAIRS = "item,human,judge\na,A,A\nb,B,tie\nc,A,B\nd,tie,tie\ne,B,B\nf,A,A\n"
BY_CONDITION = "item,phrasing,gold,judge\na,p,1,1\na,q,0,1\nb,p,1,0\nb,q,1,1\nc,p,0,0\nc,q,0,1\n"
SOURCES = {
    "paired": (("s.csv",), ()),
    "paired blank": (("s.csv",), ("--blank", "unparsed")),
    "wide": (
        ("wide.csv",),
        ("--judge", "m_{criterion}", "--cluster", "q", "--criteria", "per-cluster", "--cut", "1,2"),
    ),
    "long": (("long.csv",), ("--rater-kind", "kind")),
    "joined": (("j.csv", "--labels", "h.csv"), ()),
    "declared": (("s.csv",), ("--levels", "0,1,2", "--scale", "ordinal")),
    "turned": (("s.csv",), ("--positive", "0")),
    "marks": (("marks.csv",), ("--scale", "continuous", "--na", "EX")),
    "pairs": (("pairs.csv",), ("--scale", "pairwise", "--positive", "A", "--tie", "tie")),
    "labels by condition": (("conditions.csv",), ()),
    "two judges": (("two.csv",), ("--judge", "m1", "--judge", "m2", "--reference", "gold")),
    "no reference": (("alone.csv",), ()),
    "replies": (
        ("replies.csv",),
        ("--judge", "reply", "--reference", "gold", "--parse", "labelled:Mark", "--range", "0,3"),
    ),
}


@pytest.fixture(autouse=True)
def files(write):
    write("s.csv", PAIRED)
    write("wide.csv", WIDE)
    write("long.csv", LONG)
    write("j.csv", JUDGE)
    write("h.csv", HUMAN)
    write("marks.csv", MARKS)
    write("pairs.csv", PAIRS)
    write("conditions.csv", BY_CONDITION)
    write("two.csv", "item,gold,m1,m2\na,1,1,0\nb,0,0,0\nc,1,,1\nd,0,1,0\n")
    write(
        "replies.csv",
        "item,gold,reply\na,1,Mark: 1\nb,3,Mark: 2\nc,0,Mark: 7\nd,2,no idea\ne,2,Mark: 2\nf,0,Mark: 0\ng,1,\n",
    )
    write("alone.csv", "item,question,judge\na,q,1\nb,q,0\nc,r,1\n")


@pytest.fixture
def rows(command, tmp_path):
    """Convert to JSON lines and give the rows back."""

    def ran(*arguments):
        ending = command("convert", *arguments, "--to", "rows.jsonl")
        assert ending.code == 0, ending.said
        return [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]

    return ran


@pytest.fixture
def audited(command, tmp_path):
    def ran(*arguments):
        ending = command("audit", *arguments, "--interval", "none", "--out", "out")
        assert ending.code == 0, ending.said
        return Audit.load(tmp_path / "out")

    return ran


def numbers(audit):
    return {one.id: (one.estimate, one.status, one.n_used, one.n_excluded, one.n_clusters) for one in audit}


@pytest.mark.parametrize("name", SOURCES)
def test_a_converted_parquet_audits_to_the_same_numbers(audited, command, name):
    files, options = SOURCES[name]
    original = audited(*files, *options)
    assert command("convert", *files, *options, "--to", "v.parquet").code == 0
    converted = audited("v.parquet")
    assert numbers(converted) == numbers(original)
    assert converted.data.rows_excluded == original.data.rows_excluded
    assert (converted.data.rows_read, converted.data.rows_used) == (original.data.rows_read, original.data.rows_used)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("name", ["paired", "wide", "long", "joined", "two judges", "no reference"])
def test_text_needs_no_mapping_but_the_choices(audited, command, name, ending):
    files, options = SOURCES[name]
    original = audited(*files, *options)
    assert command("convert", *files, *options, "--to", f"v.{ending}").code == 0
    choices = ("--criteria", "per-cluster", "--cut", "1,2") if name == "wide" else ()
    assert numbers(audited(f"v.{ending}", *choices)) == numbers(original)


@pytest.mark.parametrize("name", SOURCES)
def test_converting_twice_changes_nothing(command, tmp_path, name):
    files, options = SOURCES[name]
    assert command("convert", *files, *options, "--to", "v.parquet").code == 0
    assert command("convert", "v.parquet", "--to", "w.parquet").code == 0
    read = [duckdb.sql(f"SELECT * FROM '{tmp_path / one}.parquet' ORDER BY ALL") for one in "vw"]
    assert read[0].columns == read[1].columns
    assert read[0].fetchall() == read[1].fetchall()


def test_what_a_row_holds(rows):
    found = rows("long.csv", "--rater-kind", "kind")
    assert found[3] == {
        "response_id": "a",
        "rater_id": "m",
        "rater_kind": "judge",
        "phrasing": "p1",
        "value": "1",
        "status": "scored",
        "reason": None,
        "raw_value": "1",
        "source_file": "long.csv",
        "source_row": 5,
        "extra.group": "g",
    }
    assert [row["source_row"] for row in found] == list(range(2, 14))


def test_raw_text_status_and_reason(rows):
    found = {
        row["response_id"]: row
        for row in rows("marks.csv", "--scale", "continuous", "--na", "EX")
        if row["rater_kind"] == "reference"
    }
    assert (found["c"]["value"], found["c"]["status"], found["c"]["reason"], found["c"]["raw_value"]) == (
        None,
        "missing",
        "EX",
        "EX",
    )
    assert (found["d"]["value"], found["d"]["status"]) == ("0", "scored")


def test_ledger_counts_rows_and_verdicts(command):
    said = command("convert", "s.csv", "--to", "v.csv").out
    assert "s.csv: rows: 6" in said
    assert "judge: 6 verdicts = 5 scored + 1 missing (blank)" in said
    assert "reference: 6 verdicts = 5 scored + 1 missing (blank)" in said
    assert "wrote   v.csv: 12 verdicts" in said


def test_labels_without_a_verdict_are_kept_but_for_the_cluster(rows, command):
    found = rows("j.csv", "--labels", "h.csv")
    assert {row["response_id"] for row in found if row["rater_kind"] == "reference"} == {"a", "b", "c", "z", "y"}
    assert (
        "1 reference rows meet no judge verdict"
        in command("convert", "j.csv", "--labels", "h.csv", "--to", "rows.jsonl").out
    )


def test_reasons_in_a_column(audited, write):
    write(
        "r.csv",
        "item,gold,judge,status,reason\na,1,1,scored,\nb,1,,missing,excused\nc,0,,absent,\nd,0,,missing,\ne,0,,error,timeout\n",
    )
    assert audited("r.csv").data.rows_excluded == {
        "judge error (timeout)": 1,
        "judge missing": 1,
        "judge missing (absent)": 1,
        "judge missing (excused)": 1,
    }


def test_strict_words(refused):
    said = ("--strict:", "1 missing (blank)", "nothing was written")
    refused("convert", "s.csv", "--strict", "--to", "v.parquet", says=said)


def test_strict_on_whole_files(command, write):
    write("whole.csv", "item,gold,judge\na,1,1\nb,0,1\n")
    assert command("convert", "whole.csv", "--strict", "--to", "v.parquet").code == 0


def test_verdicts_on_no_one_scale_are_kept_as_they_stand(rows, refused, command, write):
    write("mixed.csv", "item,judge\na,3\nb,4\nc,5\nd,good\ne,\nf,CANNOT_ASSESS\n")
    found = {row["response_id"]: (row["value"], row["status"]) for row in rows("mixed.csv")}
    assert found == {
        "a": ("3", "scored"),
        "b": ("4", "scored"),
        "c": ("5", "scored"),
        "d": ("good", "scored"),
        "e": (None, "missing"),
        "f": (None, "abstained"),
    }
    assert "kept as it stands" in command("convert", "mixed.csv", "--to", "v.parquet").out
    refused("audit", "v.parquet", "--out", "out", says='"good" once (v.parquet row 4')
    refused("convert", "mixed.csv", "--scale", "continuous", "--to", "w.parquet", says="not a number")


# --- one row ---


@pytest.mark.parametrize(
    ("arguments", "row", "parts"),
    [
        (
            ("s.csv",),
            2,
            ('item: "a"', '→ response "a", judge "judge": scored "1"; meets reference "1" (s.csv row 2); used'),
        ),
        (("s.csv",), 5, ("missing (blank); meets", "not used")),
        (("wide.csv", "--judge", "m_{criterion}"), 4, ('criterion "1", judge', "abstained", 'criterion "2", judge')),
        (("j.csv", "--labels", "h.csv"), 5, ("j.csv row 5", 'response "z"', "(h.csv row 5); used", "h.csv row 5")),
        (("j.csv", "--labels", "h.csv"), 6, ('response "y"', "meets no judge verdict; not used")),
        (("alone.csv",), 3, ('judge "judge": scored "0"',)),
    ],
)
def test_explain_row(command, arguments, row, parts):
    ending = command("convert", *arguments, "--explain-row", row)
    assert ending.code == 0, ending.said
    for part in parts:
        assert part in ending.out


def test_explain_a_row_that_is_blank(command, write):
    write("b.csv", "item,gold,judge\na,1,1\n,,\nb,0,1\n")
    assert "blank throughout" in command("convert", "b.csv", "--explain-row", "3").out
    assert "b.csv: blank rows left out: 1" in command("convert", "b.csv", "--to", "v.csv").out


def test_explain_a_row_that_is_not_there(refused):
    refused("convert", "s.csv", "--explain-row", "99", says="s.csv has rows 2 to 7")


# --- the place ---


def test_never_over_its_source_or_anything_foreign(refused, write):
    refused("convert", "s.csv", "--to", "s.csv", says="would replace a source")
    refused("convert", "j.csv", "--labels", "h.csv", "--to", "h.csv", says="would replace a source")
    write("mine.csv", "my,own\n1,2\n")
    refused("convert", "s.csv", "--to", "mine.csv", says="was not written by evenhand")
    write("mine.parquet", "no parquet")
    refused("convert", "s.csv", "--to", "mine.parquet", says="was not written by evenhand")


def test_replaces_what_it_wrote(command):
    for ending in ("parquet", "csv", "jsonl"):
        assert command("convert", "s.csv", "--to", f"v.{ending}").code == 0
        assert command("convert", "s.csv", "--to", f"v.{ending}").code == 0


def test_place_and_ending_must_be_said(refused):
    refused("convert", "s.csv", says=("--to FILE.parquet", "--explain-row"))
    refused("convert", "s.csv", "--to", "v.xlsx", says=(".parquet, .csv, .jsonl",))
    refused("convert", "s.csv", "--to", "v.csv", "--explain-row", "2", says="writes nothing")


def test_labels_that_no_row_can_hold(refused, write):
    write("torn.csv", "item,rater,gold,verdict\na,m,1,1\na,n,0,1\nb,m,1,1\nb,n,1,0\n")
    refused(
        "convert", "torn.csv", "--to", "v.csv", says=('response "a" has different reference labels', "mend the labels")
    )


def test_two_files_of_one_name_tell_their_rows_apart(rows, write):
    write("x/s.csv", "item,gold,judge\ng,1,1\n")
    write("y/s.csv", "item,gold,judge\nh,0,1\n")
    assert [(row["response_id"], row["source_row"]) for row in rows("x/s.csv", "y/s.csv")] == [
        *[("g", 2)] * 2,
        *[("h", 2)] * 2,
    ]


def test_columns_that_are_called_like_ours(rows, write):
    write("own.csv", "item,gold,judge,carried.judge,extra.x,x,Value,source_row\na,1,1,c,e,i,v,77\nb,0,1,,,,,78\n")
    (first, *_) = rows("own.csv", "--judge", "judge", "--reference", "gold")
    assert first["source_row"] == 77
    assert {name: first[name] for name in first if name.startswith("extra.")} == {
        "extra.carried.judge": "c",
        "extra.x": "e",
        "extra.x 2": "i",
        "extra.Value": "v",
    }


def test_folder_is_left_clean_when_it_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["convert", "s.csv", "--judge", "nowhere", "--to", "deep/v.csv"]) == 2
    assert not (tmp_path / "deep").exists()
