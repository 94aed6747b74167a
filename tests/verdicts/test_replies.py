"""Raw replies as verdicts, from the file to the numbers."""

import json

import duckdb
import pytest

import evenhand
from evenhand.results import Audit
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.parsing.forms import Form, declared_form
from evenhand.verdicts.replies import parse_replies
from evenhand.verdicts.spec import Spec

GOLD = ["C", "I", "C", "I", "C", "C", "I", "C"]
REPLIES = [
    "Well put.\nGRADE: C",
    "GRADE: I",
    "I cannot help with that.",
    "GRADE: C or I",
    "",
    "GRADE: I\nNo, wait.\nGRADE: C",
    "GRADE: cannot assess",
    "GRADE: C",
]
HEAD = ("item", "question", "reply", "gold")
GRADE = ("--judge", "reply", "--reference", "gold", "--cluster", "question", "--parse", "grade")
REFUSAL = ("--refusal", "I cannot help")


@pytest.fixture
def replies(write):
    lines = [
        json.dumps(dict(zip(HEAD, (f"r{n}", f"q{n // 2}", reply, gold), strict=True)))
        for n, (reply, gold) in enumerate(zip(REPLIES, GOLD, strict=True))
    ]
    return write("replies.jsonl", "\n".join(lines))


@pytest.fixture
def converted(command, tmp_path):
    def ran(*arguments):
        ending = command("convert", *arguments, "--to", "v.parquet")
        assert ending.code == 0, ending.err
        cursor = duckdb.execute(f"SELECT * FROM '{tmp_path / 'v.parquet'}' WHERE rater_kind = 'judge'")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()], ending.out

    return ran


def test_five_things_and_the_reply_is_kept(replies, converted):
    rows, out = converted(replies, *GRADE, *REFUSAL)
    assert [(row["status"], row["reason"], row["value"]) for row in rows] == [
        ("scored", None, "C"),
        ("scored", None, "I"),
        ("refused", "declared", None),
        ("unparsed", "undecided", None),
        ("missing", "blank", None),
        ("scored", None, "C"),
        ("abstained", None, None),
        ("scored", None, "C"),
    ]
    assert [row["raw_value"] or "" for row in rows] == REPLIES
    assert "8 different replies are parsed as grade: 4 scored, 1 abstained, 1 blank, 1 refused" in out
    assert "1 of them hold another verdict, too" in out


def test_blank_replies_are_what_the_option_says(replies, converted):
    rows, _ = converted(replies, *GRADE, "--blank", "unparsed")
    assert rows[4]["status"] == "unparsed"


def test_the_numbers_are_those_of_the_labels(replies, command, write, tmp_path):
    labels = ["C", "I", "", "", "", "C", "", "C"]
    rows = [f"r{n},q{n // 2},{label},{gold}" for n, (label, gold) in enumerate(zip(labels, GOLD, strict=True))]
    write("labels.csv", "\n".join(["item,question,judge,gold", *rows, ""]))
    assert command("audit", replies, *GRADE, "--out", "parsed").code == 0
    assert command("audit", "labels.csv", "--levels", "I,C", "--out", "plain").code == 0
    parsed, plain = Audit.load(tmp_path / "parsed"), Audit.load(tmp_path / "plain")
    for identity in ("cohen_kappa/judge", "observed_agreement/judge", "false_accept_rate/judge"):
        assert parsed[identity].estimate == plain[identity].estimate
    assert parsed["n_scored/judge"].estimate == 4
    assert parsed["n_unparsed/judge"].estimate == 2
    assert parsed.data.rows_excluded == {
        "judge abstained": 1,
        "judge missing": 1,
        "judge unparsed (no verdict)": 1,
        "judge unparsed (undecided)": 1,
    }


def test_each_row_is_explained(replies, command):
    said = command("convert", replies, *GRADE, "--explain-row", 4).out
    assert 'unparsed (undecided) by grade: "C or I" does not settle on one' in said
    said = command("convert", replies, *GRADE, "--explain-row", 6).out
    assert 'scored "C" by grade from "GRADE: C" (several grades seen: I, C)' in said
    assert 'reference "reference": scored "C"; meets' in said


def test_every_different_text_is_parsed_once():
    seen = []

    class Counting:
        def parse(self, text):
            seen.append(text)
            return declared_form(Spec(parse="grade")).parser.parse(text)

    with Engine() as engine:
        engine.run(
            "CREATE TEMP TABLE slots AS SELECT 'GRADE: ' || (CASE WHEN i % 2 = 0 THEN 'C' ELSE 'I' END) AS judge, "
            "'' AS status, '' AS reason FROM range(5000) r(i)"
        )
        form = Form("grade", Counting(), lambda _values: {})
        found = parse_replies(engine, form, "SELECT * FROM slots", carry=False)
        assert engine.rows(f"SELECT judge, status, count(*) FROM ({found.select}) GROUP BY ALL ORDER BY 1") == [
            ("C", "scored", 2500),
            ("I", "scored", 2500),
        ]
    assert sorted(seen) == ["GRADE: C", "GRADE: I"]


def test_what_a_status_says_stands_and_the_reference_is_no_reply(write, converted):
    write(
        "long.csv",
        "item,rater,kind,verdict,status\na,m,judge,GRADE: C,error\nb,m,judge,GRADE: C,unparsed\nc,m,judge,GRADE: I,scored\n"
        "a,h,reference,C,\nb,h,reference,I,\nc,h,reference,I,\n",
    )
    rows, _ = converted("long.csv", "--rater-kind", "kind", "--parse", "grade")
    assert [(row["status"], row["value"]) for row in rows] == [("error", None), ("scored", "C"), ("scored", "I")]


def test_two_files_and_one_column_a_criterion(write, command, tmp_path):
    write("judge.csv", "item,j_1,j_2\na,yes,No.\nb,Yes. It is there,maybe\n")
    write("human.csv", "item,gold_1,gold_2\na,yes,no\nb,no,no\n")
    options = ("--judge", "j_{criterion}", "--parse", "yes-no")
    ending = command("audit", "judge.csv", *options, "--labels", "human.csv", "--out", "out")
    assert ending.code == 0, ending.err
    audit = Audit.load(tmp_path / "out")
    assert audit["n_scored/judge"].estimate == 3
    assert audit["observed_agreement/judge"].estimate == pytest.approx(2 / 3)


def test_several_judges_share_their_texts(write, command, tmp_path):
    write("two.csv", "item,gold,m,n\na,1,[[1]],[[2]]\nb,2,[[2]],[[2]]\nc,3,none,[[3]]\n")
    options = ("--judge", "m,n", "--reference", "gold", "--parse", "rating", "--range", "1,3")
    ending = command("audit", "two.csv", *options, "--out", "out")
    assert ending.code == 0, ending.err
    assert "4 different replies are parsed as rating: 3 scored, 1 unparsed" in " ".join(ending.out.split())
    audit = Audit.load(tmp_path / "out")
    assert (audit["n_scored/m"].estimate, audit["n_scored/n"].estimate) == (2, 3)


def test_replies_of_a_log_are_read_anew(write, converted):
    line = {"question_id": 1, "model": "a", "judge": ["g", "p"], "judgment": "[[5]]", "score": 5, "turn": 1}
    lines = [
        line,
        line | {"question_id": 2, "judgment": "between [[5]] and [[6]]"},
        line | {"question_id": 3, "score": -1},
    ]
    lines.append(line | {"question_id": 4, "judgment": "$ERROR$", "score": -1})
    write("mt.jsonl", "\n".join(map(json.dumps, lines)))
    rows, _ = converted("mt.jsonl", "--verdict", "explanation", "--parse", "rating", "--range", "1,10")
    assert [(row["status"], row["value"], row["extra.value"]) for row in rows] == [
        ("scored", "5", "5"),
        ("unparsed", None, "5"),
        ("scored", "5", None),
        ("error", None, None),
    ]
    assert rows[0]["raw_value"] == "[[5]]"


def test_the_python_face_and_the_saved_mapping(replies, command, tmp_path):
    options = {
        "judge": "reply",
        "reference": "gold",
        "cluster": "question",
        "parse": "grade",
        "refusal": "I cannot help",
    }
    with evenhand.convert(replies, **options) as found:
        assert found.spec.parse is None
        assert list(found.frame("pandas").query("rater_kind == 'judge'")["status"])[2] == "refused"
    assert command("audit", replies, *GRADE, *REFUSAL, "--write-spec", "s.toml", "--out", "one").code == 0
    assert command("audit", replies, "--spec", "s.toml", "--out", "two").code == 0
    assert Audit.load(tmp_path / "one").estimates == Audit.load(tmp_path / "two").estimates
    assert evenhand.audit(replies, spec=tmp_path / "s.toml")["n_refused/judge"].estimate == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--parse", "grades"), "no such form"),
        (("--parse", "json:score"), "needs the scale"),
        (("--refusal", "no"), "--parse FORM"),
    ],
)
def test_refusals(replies, command, options, said):
    ending = command("audit", replies, "--judge", "reply", "--reference", "gold", *options, "--out", "out")
    assert ending.code == 2
    assert said in " ".join(ending.err.split())
