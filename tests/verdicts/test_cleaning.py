"""Texts as the user asked to have them read, and nothing else."""

import pytest

from evenhand.errors import ScaleError
from evenhand.importers.files import read_file
from evenhand.verdicts.cleaning import id_text, label_text, loose_id, numeric_id
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import read_slots
from evenhand.verdicts.spec import Spec


@pytest.fixture(scope="module")
def sql():
    """The value of an expression over one text."""
    with Engine() as engine:
        yield lambda expression, text: engine.one(f"SELECT {expression} FROM (SELECT ?::VARCHAR AS t)", [text])[0]


@pytest.mark.parametrize(
    ("decimal", "text", "read"),
    [
        (",", "3,5", "3.5"),
        (",", "1.250,5", "1250.5"),
        (",", "1 250,5", "1250.5"),
        (",", "1\u00a0250", "1250"),
        (",", "1.234.567", "1234567"),
        (",", "-0,5", "-0.5"),
        (",", "7", "7"),
        (",", "", ""),
        (",", "1.25", "1.25"),
        (",", "a,b", "a,b"),
        (".", "1,250.5", "1250.5"),
        (".", "2,000", "2000"),
        (".", "1'000.5", "1000.5"),
        (".", "3,5", "3,5"),
        (".", "1,2,3", "1,2,3"),
    ],
)
def test_decimal_marks(sql, decimal, text, read):
    assert sql(label_text("t", Spec(decimal=decimal)), text) == read
    assert sql(label_text("t", Spec()), text) == text


@pytest.mark.parametrize(
    ("text", "read"), [("6/12", "0.5"), ("1 / 4", "0.25"), ("1/0", "1/0"), ("2026/12/3", "2026/12/3")]
)
def test_fractions(sql, text, read):
    assert sql(label_text("t", Spec(fractions=True)), text) == read


def test_ids_change_only_on_request(sql):
    text = " \u200bCafe\u0301\u00a0"
    assert sql(id_text("t", Spec()), text) == " \u200bCaf\u00e9\u00a0"
    assert sql(id_text("t", Spec(clean=("trim", "case", "zero-width"))), text) == "caf\u00e9"
    assert sql(loose_id("t"), " A\u200b ") == "a"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0007", "7"),
        ("7.0", "7"),
        ("1e3", "1000"),
        ("0x1F", "31"),
        ("9007199254740993123", "9007199254740993123"),
        ("a7", "a7"),
        ("nan", "nan"),
        ("", ""),
    ],
)
def test_what_a_spreadsheet_makes_of_an_id(sql, text, number):
    assert sql(numeric_id("t"), text) == number


@pytest.fixture
def notes(write):
    """Notes of reading a file as slots."""

    def read(text, labels=None, **said):
        with Engine() as engine:
            given = [
                read_file(engine, write(f"{n}.csv", one)) for n, one in enumerate([text, *([labels] if labels else [])])
            ]
            return read_slots(engine, Spec.of(**said), given[:1], given[1] if labels else None).notes

    return read


def test_odd_ids_are_said(notes):
    said = notes("id,judge\n a,1\nb\u200b,0\ncafe\u0301,1\n")
    assert said == (
        '0.csv column "id": 1 ids are written in decomposed form (NFD) and are read as NFC',
        '0.csv column "id": 1 ids hold characters that cannot be seen: kept; --clean zero-width takes it out',
        '0.csv column "id": 1 ids hold outer space: kept; --clean trim takes it out',
    )
    assert "taken out" in notes("id,judge\n a,1\n", clean="trim")[0]
    assert notes("id,judge\na,1\n") == ()


def test_case_variants_of_ids_get_a_hint(notes):
    (said,) = notes("id,judge\nA1,1\nb,1\n", "id,human\na1,0\nb,1\n")
    assert "2 of these ids equal one of the other side but for case" in said
    assert notes("id,judge\nA1,1\nb,1\n", "id,human\na1,0\nb,1\n", clean="case") == ()


def test_numbers_lost_in_a_spreadsheet_get_a_hint(notes):
    (said,) = notes("id,judge\n007,1\n8,1\n", "id,human\n7,0\n8,1\n")
    assert "leading zeros" in said
    assert 'the judge alone has "007"; the reference alone has "7"' in said


def test_a_point_under_a_decimal_comma_is_refused(notes):
    with pytest.raises(ScaleError, match=r'0\.csv row 3 column "judge" holds a number with a decimal point'):
        notes('id,judge\na,"3,5"\nb,3.5\n', decimal=",")
    assert notes('id,judge\na,"3,5"\nb,1.250\n', decimal=",") == ()
