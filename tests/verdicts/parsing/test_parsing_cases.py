"""Cases PAR-01, PAR-03, PAR-05 and PAR-06 of the shared list of public bug reports, rows and numbers written out."""

import json
import math
from statistics import fmean

import pytest

from evenhand.verdicts.parsing import JsonObject, Numbers, TokenChoice, TokenMean, grade, rating

PAR_01 = {
    "g01": ("The steps check out against the key.\nGRADE: C", "C", None),
    "g02": ("Numbers differ from the key.\n**GRADE: I**", "I", None),
    "g03": ("grade: c", "C", None),
    "g04": ("All facts are present.\nGRADE:\u200bC", "C", None),
    "g05": ("GRADE: C. I saw no reason to downgrade: it is a full answer.", "C", None),
    "g06": ("My first idea was GRADE: I, but the unit was in fact given.\nFinal line\nGRADE: C", "C", None),
    "g07": ("GRID: C", None, "no verdict"),
    "g08": ("GRADE: CI", None, "not admissible"),
    "g09": ("GRADE: Correct", "C", None),
    "g10": ("GRADE: C or I, hard to tell", None, "undecided"),
    "g11": ("", None, "blank"),
    "g12": ("Half of the list is right.\nGRADE: P", "P", None),
    "g13": ("GRADE: $LETTER", None, "no verdict"),
    "g14": (
        'The student wrote "GRADE: C" at the end of the answer. That text is not evidence; the sum is wrong.\nGRADE: I',
        "I",
        None,
    ),
    "g15": ("GRADE: I\u200b", "I", None),
    "g16": ("Incomplete answer, so upgrade: not possible", None, "no verdict"),
}
PAR_03 = {
    "n1": ("Clear and short. [[7]]", 7, None),
    "n2": ("[[3]] would be fair for a partial answer, but this one is complete. Rating: [[8]]", 8, None),
    "n3": ('The assistant ended with "[[10]]". Ignoring that. [[4]]', 4, None),
    "n4": ("Rating: [8]", None, "no verdict"),
    "n5": ("[[11]]", None, "out of scale"),
    "n6": ("[[7.5]]", 7.5, None),
    "n7": ("[[6,9]]", None, "malformed"),
    "n8": ("Rating: [[ 5 ]]", 5, None),
    "n9": ('Output format: "[[rating]]", e.g. "Rating: [[5]]".\n\nRating: [[2]]', 2, None),
    "n10": ("$ERROR$", None, "no verdict"),
    "n11": ("[[0]]", None, "out of scale"),
    "n12": ("<think>maybe [[9]]?</think>\nToo vague. [[3]]", 3, None),
}
PAR_05 = {
    "l1": [
        ("7", -0.5978370007556204),
        ("8", -1.2039728043259361),
        ("6", -2.3025850929940455),
        (" 9", -3.506557897319982),
        ("Score", -4.199705077879927),
        ("1", -5.298317366548036),
    ],
    "l2": [("The", -0.35667494393873245), ("I", -1.6094379124341003), ("**", -2.3025850929940455)],
}
PAR_06 = ("4", "5", "11", "85", "3", "0.85", "-1", "9.2e+124", '"7"', "5", '"inf"', "1")


@pytest.mark.parametrize("row", PAR_01)
def test_par_01_rows(row: str) -> None:
    text, value, reason = PAR_01[row]
    parsed = grade().parse(text)
    assert (parsed.value, parsed.reason, parsed.text) == (value, reason, text)


def test_par_01_counts_and_notes() -> None:
    parsed = {row: grade().parse(text) for row, (text, _, _) in PAR_01.items()}
    values = [each.value for each in parsed.values()]
    # the blank reply g11, one of the six without a grade in the case, is "missing" here
    assert [values.count(letter) for letter in ("C", "P", "I", None)] == [6, 1, 3, 6]
    assert [row for row, each in parsed.items() if each.status == "missing"] == ["g11"]
    assert {row: each.notes for row, each in parsed.items() if each.notes} == {
        "g06": ("several grades seen: I, C",),
        "g14": ("several grades seen: C, I",),
    }


@pytest.mark.parametrize("row", PAR_03)
def test_par_03_rows(row: str) -> None:
    text, score, reason = PAR_03[row]
    parsed = rating(1, 10).parse(text)
    assert (None if parsed.value is None else float(parsed.value), parsed.reason) == (score, reason)


def test_par_03_mean() -> None:
    values = [rating(1, 10).parse(text).value for text, _, _ in PAR_03.values()]
    scored = [float(value) for value in values if value is not None]
    assert (len(scored), len(values) - len(scored)) == (7, 5)
    assert fmean(scored) == pytest.approx(5.214286, abs=5e-7)


def test_par_05_mean_over_tokens() -> None:
    scale = Numbers(1, 10)
    parsed = TokenMean(scale).parse_tokens(PAR_05["l1"], "7")
    assert parsed.value is not None
    assert parsed.mass == pytest.approx(0.9850)
    assert float(parsed.value) == pytest.approx(7.233503, abs=5e-7)
    assert scale.rescaled(parsed.value) == pytest.approx(0.692611, abs=5e-7)
    cut = TokenMean(scale, least_probability=0.01).parse_tokens(PAR_05["l1"], "7")
    assert cut.value is not None
    assert float(cut.value) == pytest.approx(7.265306, abs=5e-7)
    choice = TokenChoice(Numbers(1, 10, whole=True)).parse_tokens(PAR_05["l1"], "7")
    assert (choice.value, choice.confidence) == ("7", pytest.approx(0.55 / 0.985))


@pytest.mark.parametrize(
    "parser", [TokenMean(Numbers(1, 10)), TokenChoice(Numbers(1, 10)), TokenMean(Numbers(1, 10), 0)]
)
def test_par_05_no_usable_token(parser: TokenMean | TokenChoice) -> None:
    parsed = parser.parse_tokens(PAR_05["l2"], "The")
    assert (parsed.value, parsed.status, parsed.reason, parsed.text) == (None, "unparsed", "no usable token", "The")


def test_par_05_plain_token_says_so() -> None:
    assert TokenMean(Numbers(1, 10)).parse_tokens(None, "7").reason == "no probabilities"
    plain = TokenMean(Numbers(1, 10), plain_fallback=True).parse_tokens(None, "7")
    assert (plain.value, plain.notes) == ("7", ("the drawn token, not a mean of probabilities",))
    assert TokenMean(Numbers(1, 10), plain_fallback=True).parse_tokens(None, "11").reason == "out of scale"


def test_par_06_scale() -> None:
    parser = JsonObject("score", Numbers(1, 5))
    parsed = [parser.parse(f'{{"id": "o", "score": {score}, "scale": [1, 5]}}') for score in PAR_06]
    scored = [float(each.value) for each in parsed if each.value is not None]
    reasons = [each.reason for each in parsed]
    assert (len(scored), reasons.count("out of scale"), reasons.count("not finite")) == (5, 6, 1)
    assert math.isclose(fmean(scored), 3.6)
    for score, each in zip(PAR_06, parsed, strict=True):
        assert each.value is not None or json.loads(f'"{each.detail.split(chr(34))[1]}"') == score.strip('"')
