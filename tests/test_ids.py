import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import EvenhandError, RequestError
from evenhand.ids import EstimateId, encode
from terminal_text import raw_controls


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (0.5, "0.5"),
        (1e-7, "1e-07"),
        (1_234_567, "1234567"),
        ("C,k", "C%2Ck"),
        ("a=b[c]/d%", "a%3Db%5Bc%5D%2Fd%25"),
        ("a b\n", "a%20b%0A"),
        ("\u202e\x7f", "%E2%80%AE%7F"),
        ("é中", "é中"),
    ],
)
def test_encode(value, text):
    assert encode(value) == text


def test_parameters_are_sorted_and_read_in_any_order():
    identity = EstimateId.of("accuracy", "judge", unscored="error", cut=5)
    assert str(identity) == "accuracy[cut=5,unscored=error]/judge"
    assert EstimateId.parse(" accuracy[unscored=error,cut=5]/judge ") == identity
    assert str(identity.without("unscored")) == "accuracy[cut=5]/judge"
    assert str(EstimateId.of("phi", "A-B")) == "phi/A-B"


@pytest.mark.parametrize(
    "text", ["", "phi", "phi/", "/judge", "Phi/judge", "phi[cut=5/judge", "phi]/judge", "phi//x", "phi[a]/j"]
)
def test_malformed(text):
    with pytest.raises(RequestError, match=r"is not (an id|param=value)"):
        EstimateId.parse(text)


hostile = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@given(source=hostile, value=hostile)
def test_any_source_and_value_come_back_and_are_safe_to_print(source, value):
    identity = EstimateId.of("error_rate", source, criterion=value)
    text = str(identity)
    assert raw_controls(text) == []
    assert not any(character.isspace() for character in text)
    assert EstimateId.parse(text) == identity


@given(text=st.text())
def test_parsing_never_breaks(text):
    try:
        identity = EstimateId.parse(text)
    except EvenhandError:
        return
    assert EstimateId.parse(str(identity)) == identity
