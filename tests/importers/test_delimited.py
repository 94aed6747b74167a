import pytest

from evenhand.errors import SourceError
from evenhand.importers.delimited import DelimitedText

HEAD = "item,gold,judge\n"


@pytest.mark.parametrize(
    ("name", "text", "delimiter", "columns"),
    [
        ("t.csv", HEAD, ",", ("item", "gold", "judge")),
        ("t.csv", "item;gold;judge", ";", ("item", "gold", "judge")),
        ("t.csv", 'item;"a,b,c,d";judge\n', ";", ("item", "a,b,c,d", "judge")),
        ("t.tsv", "item\ta,b,c\n", "\t", ("item", "a,b,c")),
        ("t.txt", "item|gold\n", "|", ("item", "gold")),
        ("t.csv", "only\n", ",", ("only",)),
        ("t.csv", 'item,"two\nlines"\n', ",", ("item", "two\nlines")),
        ("t.csv", " item ,,judge\n", ",", ("item", "unnamed_2", "judge")),
    ],
)
def test_header(write, name, text, delimiter, columns):
    found = DelimitedText(write(name, text))
    assert (found.delimiter, found.columns, found.is_utf8) == (delimiter, columns, True)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "utf-8"])
def test_encodings(write, encoding):
    text = "itém,gold\nà,1\r\nb,0\r"
    said = None if encoding in ("utf-8", "utf-8-sig", "utf-16") else encoding
    found = DelimitedText(write("t.csv", text.encode(encoding)), said)
    assert found.columns == ("itém", "gold")
    with found.rewritten() as plain:
        assert plain.read_bytes().decode() == "itém,gold\nà,1\nb,0\n"
    assert not plain.exists()


@pytest.mark.parametrize(
    ("content", "encoding", "words"),
    [
        (b"\n\nitem,gold\n", None, "t.csv line 1: no column names"),
        (b"a,\xe9\n", None, r"t\.csv line 1: not UTF-8 \(byte 0xe9\); .*--encoding cp1252"),
        (HEAD.encode() + b"\xff", "utf-16", "not utf-16"),
        (HEAD.encode(), "klingon", '"klingon" is not known'),
        (HEAD.encode(), "base64", '"base64" is not known'),
        (b'"' + b"x" * 200_000, None, r"t\.csv line 1: the column names cannot be read"),
        (b"a,A\n", None, "column names stand twice"),
    ],
)
def test_refused(write, content, encoding, words):
    with pytest.raises(SourceError, match=words):
        DelimitedText(write("t.csv", content), encoding)


def test_bytes_that_are_no_text_have_a_line(write):
    text = DelimitedText(write("t.csv", HEAD.encode() * 500_000 + b"a,\xff,1\n"))
    with pytest.raises(SourceError, match=r"line 500001: not UTF-8 \(byte 0xff\)"):
        text.must_be_valid()
    DelimitedText(write("t.csv", HEAD + "é" * 10)).must_be_valid()
