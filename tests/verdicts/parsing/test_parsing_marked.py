"""GRADE: X, [[n]] and [[A]]: what counts, what does not, and why."""

import pytest

from evenhand.errors import RequestError
from evenhand.verdicts.parsing import Bracketed, Labelled, Labels, Numbers, grade, pairwise, rating

SCORE = Labelled(Numbers(0, 10), "Score")


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("GRADE: C", "C", None),
        ("__GRADE: C__", "C", None),
        ("**GRADE:** C", "C", None),
        ("**GRADE**: `C`", "C", None),
        ("`GRADE: C`", "C", None),
        ("```\nGRADE: C\n```", "C", None),
        ('"GRADE: C"', "C", None),
        ("GRADE: (C)", "C", None),
        ("GRADE:\n\nC", "C", None),
        ("ＧＲＡＤＥ：Ｃ", "C", None),
        ("GRADE:\xa0C", "C", None),
        ("GRADE: \u202eC\u202c", "C", None),
        ("GRADE: I - the unit is missing", "I", None),
        ("GRADE: P (partially correct)", "P", None),
        ("GRADE: I (incorrect)", "I", None),
        ("GRADE: C (not I)", None, "undecided"),
        ("GRADE: C/I", None, "undecided"),
        ("GRADE: C or GRADE: I", None, "undecided"),
        ("GRADE: C+", None, "undecided"),
        ("GRADE: C-", None, "undecided"),
        ("GRADE: C?", None, "undecided"),
        ("GRADE: C, or rather I", None, "undecided"),
        ("GRADE: C\u0336", None, "not admissible"),
        ("GRADE: С", None, "not admissible"),
        ("GRADE: not C", None, "not admissible"),
        ("not GRADE: C", None, "negated"),
        ("~~GRADE: C~~", None, "quoted"),
        ("Struck: ~~GRADE: C~~", None, "quoted"),
        ("A downgrade: C", None, "no verdict"),
        ("the student's grade: I would say fair", None, "undecided"),
        ("GRADE: <letter>", None, "no verdict"),
        ("GRADE: C if it is right, GRADE: I if not.\nGRADE: P", "P", None),
        ("GRADE: C\n\nWait.\nGRADE: unsure", None, "not admissible"),
        ("GRADE: unsure\nGRADE: C", "C", None),
        ("The student wrote: “GRADE: C”", None, "quoted"),
        ("The student wrote: «GRADE: C»", None, "quoted"),
        ("Der Text „GRADE: C“ steht dort", None, "quoted"),
        ("The student wrote 'GRADE: C' at the end", None, "quoted"),
        ("The student's text ends with `GRADE: C` as if", None, "quoted"),
        ('He wrote "so it is.\n\nGRADE: C"', None, "quoted"),
        ("He wrote:\n> GRADE: C\n\nwhich is no evidence.", None, "quoted"),
        ("He wrote:\n```\nGRADE: C\n```\nwhich is no evidence.", None, "quoted"),
        ("GRADE: I\nHe wrote:\n```\nGRADE: C\n```", "I", None),
        ('GRADE: I. The plea "GRADE: C" is ignored.', "I", None),
        ("Seen <!-- GRADE: C --> in the source", None, "quoted"),
        ("The board is 5\" long and the student's right.\nGRADE: C", "C", None),
        ("<think>GRADE: C</think>", None, "no verdict"),
        ("<think>GRADE: C", None, "no verdict"),
        ("GRADE: C, so far</think>\nGRADE: I", "I", None),
    ],
)
def test_grade(text: str, value: str | None, reason: str | None) -> None:
    parsed = grade().parse(text)
    assert (parsed.value, parsed.reason) == (value, reason)


def test_the_place_is_that_of_the_reply_as_given() -> None:
    text = "\ufeffA\u200b b\u200bc.\r\nGRADE:\u200b\u200b C\u200b."
    parsed = grade().parse(text)
    assert parsed.span is not None
    assert parsed.raw_value == text[slice(*parsed.span)] == "GRADE:\u200b\u200b C"
    assert parsed.text == text


def test_two_grades_without_a_rule_are_none() -> None:
    parser = Labelled(Labels(("C", "I")), "GRADE")
    assert parser.parse("GRADE: C\nGRADE: C").value == "C"
    assert parser.parse("GRADE: C\nGRADE: I").reason == "several verdicts"
    assert parser.parse("GRADE: C\nGRADE: huh").reason == "several verdicts"


def test_the_letter_n_is_a_grade_where_it_is_declared_and_a_slot_elsewhere() -> None:
    assert grade(("C", "I", "N")).parse("GRADE: N").value == "N"
    assert grade().parse("GRADE: N").reason == "no verdict"


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("Score: 7", "7", None),
        ("score : 7.50", "7.5", None),
        ("Score: 7/10", "7", None),
        ("Score: 7 out of 10.", "7", None),
        ("Score: ７", "7", None),
        ("Score: 7 (good)", "7", None),
        ("Score: -0", "0", None),
        ("Score: 7/5", None, "out of scale"),
        ("Score: 11", None, "out of scale"),
        ("Score: −1", None, "out of scale"),
        ("Score: 7,5", None, "undecided"),
        ("Score: 7-8", None, "undecided"),
        ("Score: 7 or 8", None, "undecided"),
        ("Score: 7 (or 8)", None, "undecided"),
        ("Score: 7%", None, "undecided"),
        ("Score: 7/10/2024", None, "undecided"),
        ("Score: 7²", None, "malformed"),
        ("Score: ٧", None, "malformed"),
        ("Score: NaN", None, "not finite"),
        ("Scores: 7", None, "no verdict"),
    ],
)
def test_labelled_numbers(text: str, value: str | None, reason: str | None) -> None:
    parsed = SCORE.parse(text)
    assert (parsed.value, parsed.reason) == (value, reason)


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("［［７］］", "7", None),
        ("[[**7**]]", "7", None),
        ("[[7/10]]", "7", None),
        ("[[7]] but on reflection [[6]]", "6", None),
        ("[[7]] [[8-9]]", None, "malformed"),
        ("[[7]] or [[8]]", None, "undecided"),
        ("**[[7]]** / **[[8]]**", None, "undecided"),
        ("[[7]]. The format was [[rating]].", "7", None),
        ("[[[7]]]", None, "no verdict"),
        ("[[]]", None, "no verdict"),
        ("It is not a [[10]].", None, "negated"),
        ("I can’t give [[10]]", None, "negated"),
        ("It is not perfect, so [[8]]", "8", None),
        ('I rate it "Rating: [[9]]".', None, "quoted"),
    ],
)
def test_rating(text: str, value: str | None, reason: str | None) -> None:
    parsed = rating(1, 10).parse(text)
    assert (parsed.value, parsed.reason) == (value, reason)


def test_a_quoted_rating_counts_where_declared_and_only_without_another() -> None:
    parser = rating(1, 10, quoted_counts=True)
    assert parser.parse('I rate it "Rating: [[9]]".').value == "9"
    assert parser.parse('[[2]]. He begged: "[[10]]".').value == "2"


def test_rating_with_a_keyword() -> None:
    parser = rating(1, 10, keyword="Rating")
    assert parser.parse("Rating: [[8]], compare [[3]]").value == "8"
    assert parser.parse("[[3]]").reason == "no verdict"
    assert parser.parse("Underrating: [[3]]").reason == "no verdict"


@pytest.mark.parametrize(
    ("text", "value", "status", "reason"),
    [
        ("[[A]]", "A", "scored", None),
        ("Verdict: [[b]]", "B", "scored", None),
        ("[[C]]", None, "tied", None),
        ("[[A]] if the first is better, [[B]] if the second, [[C]] for a tie. [[B]]", "B", "scored", None),
        ("[[A]] if the first is better, [[B]] if the second, [[C]] for a tie.", None, "unparsed", "no verdict"),
        ("[[A]] then [[A or B]]", None, "unparsed", "not admissible"),
        ("The winner is A", None, "unparsed", "no verdict"),
        ("Not [[A]]", None, "unparsed", "negated"),
    ],
)
def test_pairwise(text: str, value: str | None, status: str, reason: str | None) -> None:
    parsed = pairwise().parse(text)
    assert (parsed.value, parsed.status, parsed.reason) == (value, status, reason)


def test_two_ratings_without_a_rule_are_none() -> None:
    parser = Bracketed(Numbers(1, 10))
    assert parser.parse("[[7]] and [[7.0]]").value == "7"
    assert parser.parse("[[7]] and [[8]]").reason == "several verdicts"


def test_declarations_that_cannot_be() -> None:
    for make in (
        lambda: Labels(()),
        lambda: Labels(("a", " ")),
        lambda: Labels(("a", "A")),
        lambda: Labels(("a",), (("b", "c"),)),
        lambda: Numbers(5, 1),
        lambda: Numbers(1, float("inf")),
        lambda: Numbers(float("nan"), 1),
        lambda: Labelled(Numbers(1, 5), " "),
        lambda: Bracketed(Numbers(1, 5), ""),
    ):
        with pytest.raises(RequestError):
            make()
