"""Sheets as text, as their user sees them."""

import datetime
import io
import zipfile

import pytest
from workbooks import workbook

import evenhand
from evenhand.errors import SourceError
from evenhand.importers import spreadsheet
from evenhand.importers.files import read_file
from evenhand.verdicts.engine import Engine

HEAD = ["item", "human", "judge"]


@pytest.fixture
def contents(write):
    """Columns and rows of a workbook."""
    with Engine() as engine:

        def read(sheets, name="t.xlsx", **said):
            book = sheets if isinstance(sheets, bytes) else workbook(sheets)
            source = read_file(engine, write(name, book), **said)
            return source, engine.rows(f"SELECT * FROM {source.relation}")

        yield read


def test_numbers_booleans_and_text_as_they_are_seen(contents):
    source, rows = contents(
        {"S": [HEAD, ["007", 7.0, True], [7.0, 2.5, False], ["1e3", -1e20, "None"], ["x", None, " a "]]}
    )
    assert (source.columns, source.first_row, len(source.sha256)) == (("item", "human", "judge"), 2, 64)
    assert rows == [("007", "7", "true"), ("7", "2.5", "false"), ("1e3", "-1e+20", "None"), ("x", "", " a ")]


def test_only_one_sheet_holds_data(contents):
    assert contents({"Cover": [], "Marks": [HEAD, ["a", 1, 1]]})[1] == [("a", "1", "1")]


def test_which_of_several_sheets(contents):
    book = {"One": [HEAD, ["a", 1, 1]], "Two": [HEAD, ["b", 0, 1]]}
    with pytest.raises(SourceError, match=r't\.xlsx: 2 sheets hold data: "One", "Two"; choose one with --sheet'):
        contents(book)
    assert contents(book, sheet="Two")[1] == [("b", "0", "1")]
    with pytest.raises(SourceError, match=r'no sheet "two" \(--sheet\); did you mean "Two"\?'):
        contents(book, sheet="two")


def test_sheet_is_an_option(command, write):
    write("t.xlsx", workbook({"One": [HEAD, ["a", 1, 1]], "Two": [HEAD, ["b", 0, 1], ["c", 1, 1], ["d", 0, 0]]}))
    ending = command("audit", "t.xlsx", "--sheet", "Two", "--out", "out")
    assert ending.code == 0
    assert "3 verdicts = 3 used" in ending.out


def test_empty_rows_and_nameless_columns(contents):
    source, rows = contents({"S": [[], ["item", None, "judge"], ["a", "x", 1], [], ["b", None, 0], [], []]})
    assert source.columns == ("item", "unnamed_2", "judge")
    assert source.first_row == 3
    assert rows == [("a", "x", "1"), ("", "", ""), ("b", "", "0")]


def test_dates_are_refused_where_they_are_used(command, refused, write):
    day = datetime.date(2026, 12, 3)
    write("t.xlsx", workbook({"S": [[*HEAD, "when"], ["a", day, 1, day], ["b", 1, 0, day], ["c", 1, day, day]]}))
    refused("audit", "t.xlsx", "--out", "out", says=('B2 in "human"', 'C4 in "judge"', "dates", "as text"))
    write("t.xlsx", workbook({"S": [[*HEAD, "when"], ["a", 1, 1, day], ["b", 0, 0, day]]}))
    assert command("audit", "t.xlsx", "--out", "out").code == 0


def test_formulas_that_failed_are_refused(refused, write):
    write("t.xlsx", workbook({"S": [HEAD, ["a", "#DIV/0!", 1], ["b", 1, 1]]}))
    refused("audit", "t.xlsx", "--out", "out", says=("failed formulas", 'B2 in "human"'))


def test_rows_are_counted_as_the_spreadsheet_does(refused, write):
    write("t.xlsx", workbook({"S": [[], HEAD, ["a", 1, 1], ["a", 0, 1]]}))
    refused("audit", "t.xlsx", "--out", "out", says="t.xlsx rows 3, 4")


@pytest.mark.parametrize(
    ("book", "words"),
    [
        ({"S": []}, "no cell is filled"),
        ({"S": [HEAD]}, "no data rows"),
        ({"S": [["a", "A"], [1, 2]]}, "column names stand twice"),
        (b"PK\3\4 and then nothing", "cannot be read as a spreadsheet"),
        (b"\xd0\xcf\x11\xe0 an old or locked workbook", "cannot be read as a spreadsheet"),
    ],
)
def test_refused(contents, book, words):
    with pytest.raises(SourceError, match=rf"t\.xlsx: .*{words}"):
        contents(book)


def test_a_sheet_with_a_stray_cell_far_away_is_not_unfolded(contents, monkeypatch):
    book = workbook({"S": [HEAD, ["a", 1, 1]]}).replace(b"", b"")
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'r="C2"', b'r="XFD1048576"'))
    with pytest.raises(SourceError, match="1,048,576 rows and 16,384 columns"):
        contents(changed.getvalue())


def test_cells_are_named_as_in_a_spreadsheet():
    assert [spreadsheet._cell(place, 3) for place in (0, 25, 26, 701, 702, 16383)] == [
        *("A3", "Z3", "AA3", "ZZ3", "AAA3", "XFD3")
    ]


def test_other_spreadsheets_are_told_the_way_out(refused, write):
    write("t.ods", b"x")
    refused("audit", "t.ods", "--out", "out", says=("t.ods", ".xlsx", "CSV (UTF-8)"))


def test_the_same_numbers_as_csv(write):
    rows = [HEAD, ["a", "pass", "pass"], ["b", "fail", "pass"], ["c", "fail", "fail"], ["d", "pass", "pass"]]
    csv = "\n".join(",".join(row) for row in rows)
    kappas = [
        evenhand.audit(path)["cohen_kappa/judge"].estimate
        for path in (write("t.csv", csv), write("t.xlsx", workbook({"S": rows})))
    ]
    assert kappas[0] == kappas[1]
