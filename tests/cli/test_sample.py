"""`evenhand sample` from verdicts to labels and back into an audit, and everything it refuses."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from python_calamine import CalamineWorkbook

from evenhand.report.csv_tables import read_table
from evenhand.results import Audit
from evenhand.sampling import sheets
from sample_files import fill, judged, key_of, rows_of

HOSTILE = (
    "=1+1",
    "+A1",
    "-2",
    "@SUM(A1)",
    "\t=1",
    "'quoted",
    'say "hi"',
    "a,b\nnext line",
    "\x1b[31mred",
    "\u202eltr",
    "<b>x</b>",
)


# --- the two steps ---


def test_there_and_back_into_an_audit(drawn, command, tmp_path) -> None:
    folder, ending = drawn("--text", "answer")
    truth = judged()[1]
    assert "drawn   40 of 120 responses, spread over 12 clusters, seed 0, proportional allocation" in ending.out
    fill(folder, 1, tmp_path / "anna.csv", lambda response, _: truth[response])
    fill(folder, 2, tmp_path / "ben.csv", lambda response, _: truth[response] if response != "r7" else "1")
    ending = command("sample", "sample", "--read", "anna.csv", "--read", "ben.csv", "--out", "labels.csv")
    assert ending.code == 0, ending.said
    assert "anna: 40 rows, 40 labels" in ending.out
    assert "anna and ben: κ" in ending.out
    assert "n = 40 labels" in ending.out
    head, *rows = rows_of(tmp_path / "labels.csv")
    assert head == [
        *("id", "rater_id", "rater_kind", "label", "weight", "stratum", "rated (anna)", "rated (ben)", "comment")
    ]
    assert len(rows) == 120
    assert {row[0]: row[3] for row in rows if row[3]} == {
        row["response"]: truth[row["response"]] for row in key_of(folder).values()
    }
    ending = command("audit", "judge.csv", "--labels", "labels.csv", "--weight", "weight", "--out", "out")
    assert ending.code == 0, ending.said
    audit = Audit.load(tmp_path / "out")
    for name in ("corrected_prevalence/judge", "ppi_mean/judge", "error_rate/judge"):
        assert audit[name].status == "ok", audit[name]
        assert audit[name].ci_low < audit[name].estimate < audit[name].ci_high
    assert audit["error_rate/judge"].n_used == 40
    whole = command("audit", "judge.csv", "--out", "whole")
    assert whole.code == 0
    rate = Audit.load(tmp_path / "whole")["judge_positive_rate/judge"].estimate
    assert audit["judge_positive_rate/judge"].estimate == pytest.approx(rate, abs=1e-12)


@pytest.mark.parametrize(
    "allocation", [(), ("--allocation", "equal"), ("--allocation", "neyman", "--expect", "0.05,0.4")]
)
def test_weights_make_any_allocation_speak_of_all_responses(allocation, drawn, command, tmp_path) -> None:
    """Labelled everywhere alike, the weighted error rate is the stratified one, Σ N_h/N · p_h, by hand."""
    folder, _ = drawn(*allocation, n=60)
    truth, said = judged()[1], {row[0]: row[3] for row in rows_of(tmp_path / "judge.csv")[1:]}
    fill(folder, 1, tmp_path / "a.csv", lambda response, _: truth[response])
    command("sample", "sample", "--read", "a.csv", "--out", "labels.csv")
    command("audit", "judge.csv", "--labels", "labels.csv", "--weight", "weight", "--out", "out")
    strata: dict[str, list[int]] = {}
    for row in key_of(folder).values():
        strata.setdefault(row["stratum"], []).append(int(said[row["response"]] != truth[row["response"]]))
    plan = json.loads((folder / "plan.json").read_text())
    by_hand = sum(one["responses"] / 120 * np.mean(strata[one["name"]]) for one in plan["strata"])
    audit = Audit.load(tmp_path / "out")
    assert audit["error_rate/judge"].estimate == pytest.approx(by_hand, abs=1e-12)
    # with the judge's own rate on all responses, corrected prevalence is the labels' stratified rate
    real = {name: [] for name in strata}
    for row in key_of(folder).values():
        real[row["stratum"]].append(int(truth[row["response"]]))
    prevalence = sum(one["responses"] / 120 * np.mean(real[one["name"]]) for one in plan["strata"])
    assert audit["corrected_prevalence/judge"].estimate == pytest.approx(prevalence, abs=1e-12)


def test_the_same_seed_the_same_bytes(drawn, command, tmp_path) -> None:
    first, _ = drawn("--text", "answer")
    second, _ = drawn("--text", "answer", out="again")
    names = sorted(
        str(path.relative_to(first)) for path in first.rglob("*") if path.is_file() and path.name != "plan.md"
    )
    assert {
        "frame.csv",
        "key.csv",
        "plan.json",
        "sheets/rater_1.csv",
        "sheets/rater_2.csv",
        "sheets/instructions.txt",
    } <= set(names)
    assert [name for name in names if (first / name).read_bytes() != (second / name).read_bytes()] == []
    other, _ = drawn("--text", "answer", "--seed", "1", out="other")
    assert {row["response"] for row in key_of(other).values()} != {row["response"] for row in key_of(first).values()}


def test_frame_and_key_are_all_responses(drawn) -> None:
    folder, _ = drawn()
    frame = read_table((folder / "frame.csv").read_bytes().decode()).records()
    key = key_of(folder)
    assert sorted([str(row["response"]) for row in frame] + [row["response"] for row in key.values()]) == sorted(
        judged()[1]
    )
    assert all(float(row["inclusion_probability"]) * float(row["weight"]) == pytest.approx(1) for row in key.values())
    assert sum(float(row["weight"]) for row in key.values()) == pytest.approx(120)


# --- blinding ---


def test_sheets_hold_no_verdict_model_author_id_or_stratum(drawn) -> None:
    folder, _ = drawn("--text", "answer")
    key = key_of(folder)
    for rater in (1, 2):
        head, *rows = rows_of(folder / "sheets" / f"rater_{rater}.csv")
        assert head == ["code", "text", "label", "comment"]
        assert {row[0] for row in rows} == set(key)
        for row in rows:
            assert row[1] == f"answer number {key[row[0]]['response'][1:]}"
            assert row[2:] == ["", ""]
    said = "".join(path.read_text(encoding="utf-8") for path in (folder / "sheets").glob("*.[ct]*"))
    for word in ("gpt-", "judge", "r7,", "q3,", "stratum"):
        assert word not in said
    orders = [[row[0] for row in rows_of(folder / "sheets" / f"rater_{rater}.csv")[1:]] for rater in (1, 2)]
    assert orders[0] != orders[1]


@pytest.mark.parametrize(
    ("column", "options", "says"),
    [
        ("judge", (), "that column says a verdict or a label"),
        ("id", (), "that column says an id"),
        ("author", ("--author", "author"), "that column says who wrote it"),
        ("author", ("--group", "author"), "that column says a group of people"),
        ("nothing", (), 'no column "nothing" (asked for by --text)'),
    ],
)
def test_columns_that_raters_must_not_see(column, options, says, write, refused) -> None:
    write("judge.csv", judged()[0])
    refused("sample", "judge.csv", "--n", 10, "--text", column, *options, "--out", "s", says=says)


def test_the_judges_words_are_shown_only_with_a_warning(drawn) -> None:
    text = judged()[0].replace(",answer\n", ",why\n", 1)
    _, ending = drawn("--text", "why", "--explanation", "why", text=text)
    assert "raters who read them are no longer blind to it" in ending.out


# --- sheets ---


@pytest.fixture
def hostile(write) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(["id", "question", "judge", "answer"])
    writer.writerows([[f"={k}", f"q{k % 4}", k % 2, text] for k, text in enumerate(HOSTILE)])
    write("judge.csv", stream.getvalue())
    return "judge.csv"


def test_hostile_texts_are_texts_in_csv_and_xlsx(hostile, command, tmp_path) -> None:
    pytest.importorskip("xlsxwriter")
    ending = command("sample", hostile, "--n", len(HOSTILE), "--text", "answer", "--out", "s")
    assert ending.code == 0, ending.said
    key = key_of(tmp_path / "s")
    texts = {f"={k}": text for k, text in enumerate(HOSTILE)}
    _, *rows = rows_of(tmp_path / "s/sheets/rater_1.csv")
    for row in rows:
        assert row[1] in (texts[key[row[0]]["response"]], "'" + texts[key[row[0]]["response"]])
        assert not row[1].startswith(("=", "+", "-", "@", "\t"))
    book = CalamineWorkbook.from_path(tmp_path / "s/sheets/rater_1.xlsx").get_sheet_by_index(0).to_python()
    assert book[0] == ["code", "text", "label", "comment"]
    cells = {key[str(row[0])]["response"]: row[1] for row in book[1:]}
    for response, text in texts.items():
        if text.isprintable() or "\n" in text:
            assert cells[response] == text
    raw = zip_text(tmp_path / "s/sheets/rater_1.xlsx")
    assert "<f>" not in raw
    assert "hyperlink" not in raw


def zip_text(path: Path) -> str:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def test_a_filled_workbook_is_read(drawn, command, tmp_path) -> None:
    pytest.importorskip("xlsxwriter")
    from xlsxwriter import Workbook

    folder, _ = drawn("--text", "answer")
    rows = CalamineWorkbook.from_path(folder / "sheets/rater_1.xlsx").get_sheet_by_index(0).to_python()
    assert len(rows) == 41
    assert 'type="list"' in zip_text(folder / "sheets/rater_1.xlsx")
    book = Workbook(str(tmp_path / "anna.xlsx"))
    page = book.add_worksheet()
    for at, row in enumerate(rows):
        cells = row if at == 0 else [row[0], row[1], at % 2, "=unsure" if at == 3 else ""]
        for place, cell in enumerate(cells):
            page.write_string(at, place, cell) if isinstance(cell, str) else page.write_number(at, place, cell)
    book.close()
    ending = command("sample", "sample", "--read", "anna.xlsx", "--out", "labels.csv")
    assert ending.code == 0, ending.said
    _, *found = rows_of(tmp_path / "labels.csv")
    assert sorted(row[3] for row in found if row[3]) == ["0"] * 20 + ["1"] * 20
    assert [row[-1] for row in found if row[-1]] == ["'=unsure"]


def test_without_the_library_there_are_csv_sheets_and_a_way_to_more(drawn, monkeypatch) -> None:
    monkeypatch.setattr("evenhand.sampling.making.can_write_xlsx", lambda: False)
    folder, ending = drawn()
    assert "pip install 'evenhand[sheets]'" in ending.out
    assert sorted(path.name for path in (folder / "sheets").iterdir()) == [
        "instructions.txt",
        "rater_1.csv",
        "rater_2.csv",
    ]


def test_a_long_text_is_cut_and_says_so(drawn) -> None:
    text = judged()[0].replace("answer number 5\n", "x" * 40_000 + "\n")
    folder, _ = drawn("--text", "answer", n=120, text=text)
    longest = max((row[1] for row in rows_of(folder / "sheets/rater_1.csv")), key=len)
    assert len(longest) == sheets.LONGEST
    assert longest.endswith("(cut off here)")


def test_part_of_the_responses_on_every_sheet(drawn, command, tmp_path) -> None:
    folder, ending = drawn("--raters", "3", "--overlap", "10", n=40)
    assert "3 raters, 20, 20, 20 rows (10 on every sheet)" in ending.out
    codes = [{row[0] for row in rows_of(folder / "sheets" / f"rater_{rater}.csv")[1:]} for rater in (1, 2, 3)]
    assert len(codes[0] & codes[1] & codes[2]) == 10
    assert len(codes[0] | codes[1] | codes[2]) == 40
    truth = judged()[1]
    for rater in (1, 2, 3):
        fill(folder, rater, tmp_path / f"x{rater}.csv", lambda response, _: truth[response])
    ending = command("sample", "sample", "--read", "x1.csv", "--read", "x2.csv", "--read", "x3.csv", "--out", "l.csv")
    assert "x1 and x2: κ 1.000, 100.0 % the same, n = 10 labels" in ending.out
    assert "40 of 40 drawn responses have labels" in ending.out


# --- layouts ---


def test_a_column_a_criterion(command, write, tmp_path) -> None:
    rng, lines = np.random.default_rng(0), ["id,question,judge_1,judge_2,judge_3"]
    lines += [f"r{k},q{k % 8}," + ",".join(str(v) for v in rng.integers(0, 2, 3)) for k in range(80)]
    write("judge.csv", "\n".join(lines) + "\n")
    ending = command("sample", "judge.csv", "--judge", "judge_{criterion}", "--cut", "2", "--n", 30, "--out", "s")
    assert ending.code == 0, ending.said
    assert "0 to 1 of 3 met" in ending.out
    headings = ("label: 1", "label: 2", "label: 3")
    assert rows_of(tmp_path / "s/sheets/rater_1.csv")[0] == ["code", *headings, "comment"]
    fill(
        tmp_path / "s",
        1,
        tmp_path / "a.csv",
        lambda response, name: str((int(response[1:]) + int(name[-1])) % 2),
        headings,
    )
    ending = command("sample", "s", "--read", "a.csv", "--out", "labels.csv")
    assert ending.code == 0, ending.said
    ending = command(
        "audit",
        "judge.csv",
        "--judge",
        "judge_{criterion}",
        "--labels",
        "labels.csv",
        "--weight",
        "weight",
        "--cut",
        "2",
        "--out",
        "o",
    )
    assert ending.code == 0, ending.said
    audit = Audit.load(tmp_path / "o")
    assert audit["error_rate/judge"].n_used == 90
    assert audit["accuracy[cut=2]/judge"].n_used == 30


def test_a_row_a_criterion_with_criteria_that_some_responses_lack(command, write, tmp_path) -> None:
    lines = ["id,question,line,judge"]
    for k in range(40):
        lines += [f"r{k},q{k % 5},{line},{(k + len(line)) % 2}" for line in ("clear", "true", "cited")[: 2 + k % 2]]
    write("judge.csv", "\n".join(lines) + "\n")
    ending = command("sample", "judge.csv", "--criterion", "line", "--n", 20, "--out", "s")
    assert ending.code == 0, ending.said
    headings = ("label: cited", "label: clear", "label: true")
    head, *rows = rows_of(tmp_path / "s/sheets/rater_1.csv")
    assert head == ["code", *headings, "comment"]
    key = key_of(tmp_path / "s")
    assert {row[1] for row in rows} == {"", "not asked"}
    assert all((row[1] == "") == (int(key[row[0]]["response"][1:]) % 2 == 1) for row in rows)
    fill(tmp_path / "s", 1, tmp_path / "a.csv", lambda response, name: "1", headings)
    ending = command("sample", "s", "--read", "a.csv", "--out", "labels.csv")
    assert ending.code == 0, ending.said
    ending = command(
        "audit", "judge.csv", "--criterion", "line", "--labels", "labels.csv", "--weight", "weight", "--out", "o"
    )
    assert ending.code == 0, ending.said
    assert Audit.load(tmp_path / "o").data.source_rows["reference rows that meet no judge verdict, left out"] == 0
    assert Audit.load(tmp_path / "o")["error_rate/judge"].n_used == sum(
        2 + int(row["response"][1:]) % 2 for row in key.values()
    )


def test_marks_in_bands(command, write, tmp_path) -> None:
    rng = np.random.default_rng(1)
    lines = ["id,question,judge", *(f"r{k},q{k % 9},{rng.uniform(0, 10):.2f}" for k in range(90))]
    write("judge.csv", "\n".join(lines) + "\n")
    options = ("--scale", "continuous", "--range", "0,10")
    ending = command("sample", "judge.csv", *options, "--n", 30, "--out", "s")
    assert ending.code == 0, ending.said
    assert ending.out.count("10 of 30, each with the chance 0.3333, standing for 3") == 3
    fill(tmp_path / "s", 1, tmp_path / "a.csv", lambda response, _: f"{int(response[1:]) % 11}")
    fill(tmp_path / "s", 2, tmp_path / "b.csv", lambda response, _: f"{int(response[1:]) % 11}")
    ending = command("sample", "s", "--read", "a.csv", "--read", "b.csv", "--out", "labels.csv")
    assert "quadratically weighted κ 1.000" in ending.out
    ending = command("audit", "judge.csv", *options, "--labels", "labels.csv", "--weight", "weight", "--out", "o")
    assert ending.code == 0, ending.said
    assert Audit.load(tmp_path / "o")["ppi_mean/judge"].status == "ok"


def test_ids_of_several_columns(command, write, tmp_path) -> None:
    lines = ["task,part,judge", *(f"t{k // 4}|x,{k % 4},{k % 2}" for k in range(40))]
    write("judge.csv", "\n".join(lines) + "\n")
    ids = ("--response", "task,part", "--cluster", "task")
    assert command("sample", "judge.csv", *ids, "--n", 12, "--out", "s").code == 0
    fill(tmp_path / "s", 1, tmp_path / "a.csv", lambda response, _: response[-1] if response[-1] in "01" else "1")
    assert command("sample", "s", "--read", "a.csv", "--out", "labels.csv").code == 0
    assert rows_of(tmp_path / "labels.csv")[0][:2] == ["task", "part"]
    ending = command("audit", "judge.csv", *ids, "--labels", "labels.csv", "--weight", "weight", "--out", "o")
    assert ending.code == 0, ending.said
    assert Audit.load(tmp_path / "o")["error_rate/judge"].n_used == 12


# --- plans ---


def test_a_plan_draws_nothing(command, write, tmp_path) -> None:
    write("judge.csv", judged()[0])
    ending = command("sample", "judge.csv", "--plan", "--n", 60, "--expect", "0.05,0.3")
    assert ending.code == 0, ending.said
    # design effect 1 + (60/12 - 1)·.02 = 1.08, of which 12 clusters keep (t(59)/t(11))² = .8265; .05^(1.08/.8265/60) = .9368
    assert "93.7 %" in ending.out
    assert "46 labels" in ending.out
    assert "neyman pins it down as well as 60 in proportion with" in ending.out
    assert [path.name for path in tmp_path.iterdir()] == ["judge.csv"]
    ending = command("sample", "judge.csv", "--plan")
    assert "   100 " in ending.out


def test_a_plan_knows_what_labels_there_are(command, write) -> None:
    text, truth = judged()
    lines = text.splitlines()
    some = [
        lines[0] + ",gold",
        *(line + "," + (truth[line.split(",")[0]] if k < 60 else "") for k, line in enumerate(lines[1:])),
    ]
    write("judge.csv", "\n".join(some) + "\n")
    ending = command("sample", "judge.csv", "--plan", "--n", 30)
    assert "labelled verdicts wrong" in ending.out
    assert "neyman: needs" not in ending.out
    assert command("sample", "judge.csv", "--n", 30, "--allocation", "neyman", "--out", "s").code == 0


# --- refusals ---


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--out", "s"), "how many responses are to be labelled? --n N"),
        (("--n", "10"), "say where the sample goes: --out DIR"),
        (("--n", "121", "--out", "s"), "--n 121: there are 120 responses to draw from"),
        (("--n", "1", "--out", "s"), "2 strata (judge says 0, judge says 1) need a label each"),
        (("--n", "10", "--out", "s", "--by", "author"), '--by "author"'),
        (("--n", "10", "--out", "s", "--overlap", "some"), '--overlap "some": write all'),
        (("--n", "10", "--out", "s", "--overlap", "11"), "--overlap 11: only 10 responses are drawn"),
        (("--n", "10", "--out", "s", "--allocation", "neyman"), "--expect P,P,..."),
        (("--n", "10", "--out", "s", "--expect", "a"), '--expect "a"'),
        (("--plan", "--out", "s"), "--plan draws nothing"),
        (("--n", "10", "--out", "judge.csv"), "the output would replace its own source"),
    ],
)
def test_requests_that_cannot_be(options, says, write, refused) -> None:
    write("judge.csv", judged()[0])
    refused("sample", "judge.csv", *options, says=says)


def test_no_cluster_to_spread_over(write, refused, command) -> None:
    write("judge.csv", "id,judge\na,1\nb,0\nc,1\nd,0\n")
    refused(
        "sample", "judge.csv", "--n", 2, "--out", "s", says="name one with --cluster COL, or draw with --by verdict"
    )
    assert command("sample", "judge.csv", "--n", 2, "--by", "verdict", "--out", "s").code == 0


def test_a_sample_is_never_replaced(drawn, refused) -> None:
    drawn()
    refused(
        "sample", "judge.csv", "--n", 10, "--out", "sample", says="its sheets may be filled in".replace("its", "whose")
    )


def broken(rows: list[list[str]], how: str) -> None:
    if how == "label":
        rows[2][1] = "maybe\x1b"
    elif how == "code":
        rows[1][0] = "ZZZZZZZ"
    elif how == "twice":
        rows[3][0] = rows[1][0]
    elif how == "no code":
        rows[2][0] = ""
    elif how == "heading":
        rows[0][1] = "verdict"
    elif how == "nothing":
        for row in rows[1:]:
            row[1] = ""


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("label", ('a.csv row 3 column "label": "maybe', "is not one of 0, 1, CANNOT_ASSESS")),
        ("code", 'a.csv row 2 column "code": "ZZZZZZZ" is no code of this sample'),
        ("twice", "stands in row 2, too: one row a code"),
        ("no code", 'a.csv row 3 column "code": a row without a code'),
        ("heading", 'a.csv: no column "label"'),
        ("nothing", "the sheets hold no label"),
    ],
)
def test_cells_that_do_not_fit_are_named(how, says, drawn, refused, tmp_path) -> None:
    folder, _ = drawn()
    path = fill(folder, 1, tmp_path / "a.csv", lambda response, _: "1")
    rows = rows_of(path)
    broken(rows, how)
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    refused("sample", "sample", "--read", "a.csv", "--out", "labels.csv", says=says)


def test_many_faults_are_counted(drawn, refused, tmp_path) -> None:
    folder, _ = drawn()
    fill(folder, 1, tmp_path / "a.csv", lambda response, _: "yes?")
    refused("sample", "sample", "--read", "a.csv", "--out", "labels.csv", says="; and 32 more")


def test_blanks_are_accounted_for_and_made_up_for_in_their_stratum(drawn, command, tmp_path) -> None:
    folder, _ = drawn()
    truth = judged()[1]
    labels = iter(["", "CANNOT_ASSESS", " 1 ", *["0"] * 37])
    fill(folder, 1, tmp_path / "a.csv", lambda response, _: next(labels))
    with (tmp_path / "a.csv").open("a", encoding="utf-8") as stream:
        stream.write(",,\n")
    ending = command("sample", "sample", "--read", "a.csv", "--out", "labels.csv")
    assert ending.code == 0, ending.said
    assert "a: 41 rows, 39 labels (1 of them CANNOT_ASSESS), 1 blank label cells, 1 blank rows left out" in ending.out
    assert "1 of the drawn responses has no label; weights make up for that" in ending.out
    _, *rows = rows_of(tmp_path / "labels.csv")
    assert len(rows) == len(truth)
    plan = json.loads((folder / "plan.json").read_text())
    for one in plan["strata"]:
        with_label = [float(row[4]) for row in rows if row[3] and row[5] == one["name"]]
        assert sum(with_label) == pytest.approx(one["responses"] / 120 * 39)
        without = [float(row[4]) for row in rows if not row[3] and row[5] == one["name"]]
        assert sum(without) == pytest.approx(one["responses"] / 120 * 81)


@pytest.mark.parametrize("name", ["key.csv", "frame.csv"])
def test_a_key_that_a_spreadsheet_saved_again_is_refused(name, drawn, refused, tmp_path) -> None:
    folder, _ = drawn()
    fill(folder, 1, tmp_path / "a.csv", lambda response, _: "1")
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    refused("sample", "sample", "--read", "a.csv", "--out", "labels.csv", says=f"{name} was changed since the draw")


def test_reading_needs_a_sample_and_a_place(drawn, refused, command, tmp_path, write) -> None:
    folder, _ = drawn()
    fill(folder, 1, tmp_path / "a.csv", lambda response, _: "1")
    write("other.csv", "a,b\n1,2\n")
    refused("sample", "nowhere", "--read", "a.csv", "--out", "labels.csv", says="no sample there")
    refused("sample", "sample", "--read", "a.csv", says="say where the labels go")
    refused("sample", "sample", "--read", "a.csv", "--out", "a.csv", says="would replace a source")
    refused("sample", "sample", "--read", "a.csv", "--out", "other.csv", says="was not written by evenhand")
    refused(
        "sample",
        "sample",
        "--read",
        "a.csv",
        "--n",
        3,
        "--out",
        "labels.csv",
        says=("--read takes the folder of one sample", "leave out --n"),
    )
    refused(
        "sample", "sample", "--read", "a.csv", "--read", "sample/../a.csv", "--out", "l.csv", says='"a" stands twice'
    )
    for _ in range(2):
        assert command("sample", "sample", "--read", "a.csv", "--out", "labels.csv").code == 0


def test_a_draw_that_fails_leaves_nothing(write, refused, monkeypatch) -> None:
    write("judge.csv", judged()[0])

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evenhand.sampling.making.to_csv", full)
    refused("sample", "judge.csv", "--n", 10, "--out", "s", says="cannot be written (No space left on device)")


def test_a_sheet_saved_by_a_spreadsheet_elsewhere(drawn, command, tmp_path) -> None:
    """Semicolons, an old encoding, headings in capitals and codes in small letters."""
    folder, _ = drawn()
    head, *rows = rows_of(folder / "sheets/rater_1.csv")
    lines = [";".join(name.upper() for name in head), *(f"{row[0].lower()};1;größer" for row in rows)]
    (tmp_path / "a.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    ending = command("sample", "sample", "--read", "a.csv", "--encoding", "cp1252", "--out", "labels.csv")
    assert ending.code == 0, ending.said
    assert {row[-1] for row in rows_of(tmp_path / "labels.csv")[1:] if row[3]} == {"größer"}
