"""What is asked about instead of being guessed, and what is taken as it stands."""

import pytest

from evenhand.errors import ScaleError
from evenhand.verdicts.scale import read_scale
from evenhand.verdicts.spec import Spec


def read(labels, **said):
    return read_scale(Spec.of(**said), dict.fromkeys(labels, 2), {}, lambda side, text: f"{side} of {text}")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["3,5", "4"], "--decimal ,"),
        (["1,200.0", "4"], "--decimal \\."),
        (["7/12", "5/12"], "--fractions"),
        (["7", "8", "6", "EX", "AB"], '--na "EX,AB"'),
        (["yes", "no", "N/A"], '--na "N/A"'),
        (["NaN"], "missing verdict or an abstention"),
    ],
)
def test_asked(labels, words):
    with pytest.raises(ScaleError, match=words):
        read(labels)


def test_words_for_nothing_among_words_are_labels_and_it_is_said():
    found = read(["None", "Minor", "N/A"])
    assert found.levels == ("Minor", "N/A", "None")
    assert "taken as labels, for --na names what is none" in found.reading
    assert "taken as labels" not in read(["Major", "Minor", "Grave"]).reading


@pytest.mark.parametrize("said", [{"scale": "nominal"}, {"levels": ["7", "EX", "8"]}])
def test_a_declaration_answers(said):
    assert set(read(["7", "8", "EX"], **said).levels) == {"7", "8", "EX"}


def test_letter_marks_in_declared_order():
    found = read(["A", "F", "C"], scale="ordinal", levels=list("FDCBA"))
    assert (found.kind, found.levels) == ("ordinal", ("F", "D", "C", "B", "A"))
