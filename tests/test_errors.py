import pytest

from evenhand import errors
from evenhand.errors import did_you_mean, printable, quoted


def test_exit_codes():
    subclasses = errors.EvenhandError.__subclasses__()
    assert len(subclasses) >= 8
    special = {errors.UnmetRequirementError: 1, errors.ServiceError: 3}
    assert {kind.exit_code for kind in subclasses if kind not in special} == {2}
    assert {kind: kind.exit_code for kind in special} == special
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in subclasses)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 中", "plain é 中"),
        ("a\tb\nc", "a\\tb\\nc"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202ecod\u2066", "\\u202ecod\\u2066"),
        ("\u2028\u200b\x85", "\\u2028\\u200b\\x85"),
        ("\ud800", "\\ud800"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown


def test_quoted_counts_the_rest():
    assert quoted(["a", 'b"']) == '"a", "b""'
    assert quoted(map(str, range(1_010)), 3) == '"0", "1", "2" and 1,007 more'
    assert quoted([]) == ""


def test_did_you_mean():
    assert did_you_mean("JUGDE", ["gold", "Judge"]) == '; did you mean "Judge"?'
    assert did_you_mean("zzz", ["gold", "judge"]) == ""
    assert did_you_mean("x", []) == ""
