"""Sheets as people send them back to `evenhand sample`, and several raters' labels in an audit."""

import csv
from pathlib import Path

import numpy as np
import pytest

from evenhand.results import Audit
from sample_files import fill, judged, key_of, rows_of

# --- sheets as people send them back ---


def test_rows_that_are_gone_are_counted_although_the_other_rater_has_them(drawn, command, tmp_path) -> None:
    folder, _ = drawn()
    for rater, name in ((1, "anna"), (2, "ben")):
        fill(folder, rater, tmp_path / f"{name}.csv", lambda *_: "1")
    rows = rows_of(tmp_path / "ben.csv")
    with (tmp_path / "ben.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows[:30])
    ending = command("sample", "sample", "--read", "anna.csv", "--read", "ben.csv", "--out", "labels.csv")
    assert "anna: 40 rows, 40 labels\n" in ending.out
    assert "ben: 29 rows, 29 labels, 11 rows of the sheet are not there\n" in ending.out


def test_rows_of_another_raters_sheet_are_told(drawn, command, tmp_path) -> None:
    folder, _ = drawn("--overlap", 10)
    fill(folder, 1, tmp_path / "a.csv", lambda *_: "1")
    fill(folder, 2, tmp_path / "b.csv", lambda *_: "1")
    first, second = rows_of(tmp_path / "a.csv"), rows_of(tmp_path / "b.csv")
    codes = {row[0] for row in first}
    strange = [row for row in second if row[0] not in codes][:3]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(first + strange)
    ending = command("sample", "sample", "--read", "a.csv", "--out", "labels.csv")
    assert "a: 28 rows, 28 labels, 3 rows are of another rater's sheet\n" in ending.out
    ending = command("sample", "sample", "--read", "b.csv", "--out", "more.csv")
    assert "b: 25 rows, 25 labels\n" in ending.out


def test_cannot_assess_as_people_write_it(drawn, command, tmp_path) -> None:
    folder, _ = drawn(n=4)
    said = iter(["cannot assess", "Cannot_Assess ", "CANNOT  ASSESS", "1"])
    fill(folder, 1, tmp_path / "a.csv", lambda *_: next(said))
    ending = command("sample", "sample", "--read", "a.csv", "--out", "labels.csv")
    assert "4 labels (3 of them CANNOT_ASSESS)" in ending.out


def test_marks_with_a_decimal_comma_are_read_where_it_is_declared(command, write, refused, tmp_path) -> None:
    write("judge.csv", "id,question,judge\n" + "".join(f"r{k},q{k % 4},{k * 0.37 % 10:.2f}\n" for k in range(40)))
    scale = ("--scale", "continuous", "--range", "0,10")
    assert command("sample", "judge.csv", "--n", 12, *scale, "--out", "sample").code == 0
    fill(tmp_path / "sample", 1, tmp_path / "a.csv", lambda *_: "7,5")
    refused(
        "sample",
        "sample",
        "--read",
        "a.csv",
        "--out",
        "labels.csv",
        says="marks with a decimal comma are read with --decimal ,",
    )
    ending = command("sample", "sample", "--read", "a.csv", "--decimal", ",", "--out", "labels.csv")
    assert ending.code == 0, ending.said
    assert {row[3] for row in rows_of(tmp_path / "labels.csv")[1:] if row[3]} == {"7.5"}
    for text in ("1.000,5", "1,2,3", "12,5"):
        fill(tmp_path / "sample", 1, tmp_path / "b.csv", lambda *_, text=text: text)
        refused(
            "sample",
            "sample",
            "--read",
            "b.csv",
            "--decimal",
            ",",
            "--out",
            "more.csv",
            says="is not a number from 0 to 10",
        )


def test_what_raters_will_not_see_is_told(drawn) -> None:
    long = "x" * 40_000
    lines = judged(20)[0].replace("answer number 3", long).replace("answer number 4\n", " \n").rstrip("\n").split("\n")
    _, ending = drawn("--text", "answer", n=20, text="\n".join(lines) + "\n")
    assert '"answer" is blank for 1 of the drawn responses: their raters see a code only' in ending.out
    assert '"answer" is longer than 32,000 characters for 1 of the drawn responses, and is cut off there' in ending.out


def test_a_folder_with_a_space_is_quoted_in_the_next_command(drawn, command, tmp_path) -> None:
    folder, ending = drawn(out="my sample")
    assert "next    evenhand sample 'my sample' --read 'my sample/sheets/rater_1.csv' --read ..." in ending.out
    fill(folder, 1, tmp_path / "a.csv", lambda *_: "1")
    ending = command("sample", "my sample", "--read", "a.csv", "--out", "my labels.csv")
    assert "--labels 'my labels.csv' --weight weight" in ending.out


def test_a_plan_without_clusters_claims_none(command, write) -> None:
    write("judge.csv", "id,judge\n" + "".join(f"r{k},{k % 2}\n" for k in range(40)))
    ending = command("sample", "judge.csv", "--plan", "--by", "verdict")
    assert "read    40 responses that share no cluster" in ending.out
    assert "level 0.95; responses taken as independent" in ending.out


# --- several raters' labels in an audit ---


def by_two(folder: Path, tmp_path: Path, columns: tuple[str, ...] = ("label",)) -> None:
    truth = judged()[1]
    fill(folder, 1, tmp_path / "anna.csv", lambda response, _: truth.get(response, "1"), columns)
    fill(
        folder,
        2,
        tmp_path / "ben.csv",
        lambda response, _: "1" if response[-1] == "7" else truth.get(response, "1"),
        columns,
    )


def test_raters_labels_are_people_beside_the_judge(drawn, command, tmp_path) -> None:
    folder, _ = drawn(n=60)
    by_two(folder, tmp_path)
    said = command("sample", "sample", "--read", "anna.csv", "--read", "ben.csv", "--out", "labels.csv").out
    ending = command("audit", "judge.csv", "--labels", "labels.csv", "--out", "out")
    assert 'labels of 2 people ("anna", "ben") stand beside the reference' in " ".join(ending.out.split())
    audit = Audit.load(tmp_path / "out")
    ceiling = audit["human_ceiling[quantity=median]/human"]
    assert f"anna and ben: κ {ceiling.estimate:.3f}" in said
    assert (ceiling.n_used, audit["cohen_kappa/judge-anna"].n_used) == (60, 60)
    assert audit["cohen_kappa/judge-anna"].estimate == pytest.approx(audit["cohen_kappa/judge"].estimate)
    ending = command("audit", "judge.csv", "--labels", "labels.csv", "--weight", "weight", "--out", "weighed")
    assert "is said without --weight only" in " ".join(ending.out.split())
    assert Audit.load(tmp_path / "weighed")["human_ceiling[quantity=median]/human"].status == "not_assessed"


def test_one_raters_labels_are_the_reference_alone(drawn, command, tmp_path) -> None:
    folder, _ = drawn()
    by_two(folder, tmp_path)
    command("sample", "sample", "--read", "anna.csv", "--out", "labels.csv")
    command("audit", "judge.csv", "--labels", "labels.csv", "--out", "out")
    assert Audit.load(tmp_path / "out").get("human_ceiling[quantity=median]/human") is None


@pytest.mark.parametrize("is_long", [False, True])
def test_raters_labels_on_several_criteria(is_long, command, write, tmp_path) -> None:
    said = {k: (k % 2, int(k % 3 > 0)) for k in range(30)}
    if is_long:
        rows = [
            "id,question,line,judge",
            *(f"r{k},q{k % 5},{'ab'[c]},{v}" for k, of in said.items() for c, v in enumerate(of)),
        ]
    else:
        rows = ["id,question,judge_a,judge_b", *(f"r{k},q{k % 5},{a},{b}" for k, (a, b) in said.items())]
    write("judge.csv", "\n".join(rows) + "\n")
    mapping = ("--criterion", "line") if is_long else ("--judge", "judge_{criterion}")
    ending = command("sample", "judge.csv", "--n", 20, *mapping, "--out", "sample")
    assert ending.code == 0, ending.said
    columns = ("label: a", "label: b")
    fill(tmp_path / "sample", 1, tmp_path / "anna.csv", lambda response, _: str(int(response[1:]) % 2), columns)
    fill(tmp_path / "sample", 2, tmp_path / "ben.csv", lambda *_: "1", columns)
    command("sample", "sample", "--read", "anna.csv", "--read", "ben.csv", "--out", "labels.csv")
    ending = command("audit", "judge.csv", "--labels", "labels.csv", *mapping, "--out", "out")
    assert ending.code == 0, ending.said
    audit = Audit.load(tmp_path / "out")
    assert audit["observed_agreement/anna-ben"].n_used == 40
    drawn = [int(row["response"][1:]) for row in key_of(tmp_path / "sample").values()]
    assert audit["observed_agreement/anna-ben"].estimate == pytest.approx(np.mean([k % 2 for k in drawn]))


def test_a_text_of_few_kinds_may_give_the_judge_away(drawn) -> None:
    _, ending = drawn("--text", "author")
    assert '"author" holds 3 different texts for 40 responses, as verdicts, names of models and groups do' in ending.out
    _, ending = drawn("--text", "answer", out="other")
    assert "different texts" not in ending.out
