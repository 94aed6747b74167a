"""Replies that are a verdict or begin with one; JSON; tokens; chains and refusals."""

import math

import pytest

from evenhand.errors import RequestError
from evenhand.verdicts.parsing import (
    Chain,
    JsonObject,
    Labels,
    Numbers,
    Refusal,
    TokenChoice,
    TokenMean,
    Whole,
    grade,
    mark,
    met_unmet,
    rating,
    stated,
    yes_no,
)

LEVELS = JsonObject("score", Numbers(1, 5), "reason")


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("Met", "met", "scored"),
        ("**UNMET.**", "unmet", "scored"),
        ("not met", "unmet", "scored"),
        ("Not\xa0 Met!", "unmet", "scored"),
        ("Cannot assess", None, "abstained"),
        ("Can’t assess.", None, "abstained"),
        ("CANNOT_ASSESS", None, "abstained"),
        ("# Met", "met", "scored"),
        ("```\nmet\n```", "met", "scored"),
        ("un\u200bmet", "unmet", "scored"),
        ("not\u200bmet", None, "unparsed"),
        ("never met", None, "unparsed"),
        ("met or unmet", None, "unparsed"),
        ("The line is met", None, "unparsed"),
        ("metric", None, "unparsed"),
        ("me t", None, "unparsed"),
        ("m\u0301et", None, "unparsed"),
    ],
)
def test_met_unmet_whole(text: str, value: str | None, status: str) -> None:
    parsed = met_unmet().parse(text)
    assert (parsed.value, parsed.status) == (value, status)


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("Yes", "yes", None),
        ("No, the point is missing.", "no", None),
        ("**Yes** — he says so.", "yes", None),
        ("Yes. There is no error.", "yes", None),
        ("Yes, there is no error.", None, "undecided"),
        ("Yes and no", None, "undecided"),
        ("Yes/No", None, "undecided"),
        ("Yes. No, wait.", None, "several verdicts"),
        ("Yes.\n\n**No**", None, "several verdicts"),
        ("Yesterday", None, "no verdict"),
        ("Well, yes", None, "no verdict"),
        ('"Yes" is what he wrote', None, "undecided"),
        ("Yes the student", None, "undecided"),
    ],
)
def test_yes_no_leading(text: str, value: str | None, reason: str | None) -> None:
    parsed = yes_no(leading=True).parse(text)
    assert (parsed.value, parsed.reason) == (value, reason)


def test_loose_leading_lets_words_follow_and_no_more() -> None:
    parser = yes_no(leading=True, loose=True)
    assert parser.parse("Yes the student").value == "yes"
    assert parser.parse("Yes and no").reason == "undecided"
    assert parser.parse('"Yes" is what he wrote').reason == "undecided"
    assert met_unmet(leading=True).parse("Not met: the unit is missing").value == "unmet"


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("7", "7", None),
        (" **7.50** ", "7.5", None),
        ("7/10", "7", None),
        ("7 out of 10.", "7", None),
        ("７／１０", "7", None),
        ("[[7]]", "7", None),
        (".5", None, "malformed"),
        ("7,5", None, "malformed"),
        ("<7", None, "malformed"),
        ("7-8", None, "malformed"),
        ("7/5", None, "out of scale"),
        ("11", None, "out of scale"),
        ("1e400", None, "out of scale"),
        ("9" * 60, None, "malformed"),
        ("inf", None, "not finite"),
        ("seven", None, "no verdict"),
        ("I give 7", None, "no verdict"),
        ("⑦", None, "malformed"),
        ("٧", None, "malformed"),
        ("7" + " words" * 50, None, "no verdict"),
    ],
)
def test_mark(text: str, value: str | None, reason: str | None) -> None:
    parsed = mark(0, 10).parse(text)
    assert (parsed.value, parsed.reason) == (value, reason)


def test_number_declarations() -> None:
    assert mark(0, 10, decimal_comma=True).parse("7,5").value == "7.5"
    assert mark(0, 10, decimal_comma=True).parse("7.5").reason == "malformed"
    assert mark(0, 10, whole=True).parse("7.5").reason == "not admissible"
    assert mark(0, 10, whole=True).parse("7.0").value == "7"


def test_labels_fold_width_accents_and_case() -> None:
    parser = Whole(Labels(("très bien", "bien")))
    assert parser.parse("Tre\u0300s  bien").value == "très bien"
    assert Whole(Labels(("a", "A"), case_sensitive=True)).parse("A").value == "A"
    assert Whole(Labels(("n.a.", "yes"))).parse("n.a.").value == "n.a."


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ('{"score": 4, "reason": "clear"}', "4", None),
        ('Here:\n```json\n{"reason": "he wrote {\\"score\\": 5} }", "score": 2}\n```\nDone.', "2", None),
        ('```\n{"score": 4.50}\n```', "4.5", None),
        ('`{"score": "4"}`', "4", None),
        ('{"score": 4,\u200b "reason": "x"}', "4", None),
        ('Set {1, 2} and {x}. {"score": 4}', "4", None),
        ('[{"score": 4}]', "4", None),
        ('{"notes": 1} {"score": 4}', "4", None),
        ('{"score": 4} {"score": 4}', "4", None),
        ('{"score": 4} {"score": 5}', None, "several verdicts"),
        ('{"score": 4} {"score": 5', None, "several verdicts"),
        ('{"score": 4, "score": 5}', None, "duplicate key"),
        ('{"score": 4, "score": 4}', None, "duplicate key"),
        ('{"Score": 4}', None, "key absent"),
        ('{"result": {"score": 4}}', None, "key absent"),
        ('{"score": {"value": 4}}', None, "not admissible"),
        ('{"score": null}', None, "not admissible"),
        ('{"score": true}', None, "malformed"),
        ('{"score": NaN}', None, "not finite"),
        ('{"score": -Infinity}', None, "not finite"),
        ('{"score": 4,}', None, "malformed"),
        ('{"score": 4', None, "malformed"),
        ("{'score': 4}", None, "no verdict"),
        ("{“score”: 4}", None, "no verdict"),
        ('{"a": ' * 80 + "1" + "}" * 80, None, "malformed"),
        ('He wrote:\n```python\n{"score": 4}\n```', None, "quoted"),
        ('He wrote:\n> {"score": 4}', None, "quoted"),
        ('He wrote "{"score": 4}" there', None, "quoted"),
        ('<think>{"score": 5}</think>{"score": 1}', "1", None),
        ("score: 4", None, "no verdict"),
    ],
)
def test_json(text: str, value: str | None, reason: str | None) -> None:
    parsed = LEVELS.parse(text)
    assert (parsed.value, parsed.reason) == (value, reason)


def test_json_reasons_labels_and_last_one() -> None:
    parsed = LEVELS.parse('{"score": 4, "reason": "two\nlines \\ud800"}')
    assert (parsed.value, parsed.explanation) == ("4", "two\nlines ?")
    words = JsonObject("met", Labels(("false", "true"), abstain=("null",)))
    assert [words.parse(f'{{"met": {word}}}').status for word in ("true", "null", "1")] == [
        "scored",
        "abstained",
        "unparsed",
    ]
    last = JsonObject("score", Numbers(1, 5), last_wins=True).parse('{"score": 4} {"score": 5}')
    assert (last.value, last.notes) == ("5", ("several JSON objects seen",))
    with pytest.raises(RequestError):
        JsonObject("score", Numbers(1, 5), "score")


def test_token_choice() -> None:
    parser = TokenChoice(Labels(("no", "yes")))
    tokens = [("Yes", math.log(0.3)), (" yes", math.log(0.2)), ("▁NO", math.log(0.3)), ("Perhaps", math.log(0.2))]
    parsed = parser.parse_tokens(tokens, "Perhaps")
    assert (parsed.value, parsed.text) == ("yes", "Perhaps")
    assert parsed.confidence == pytest.approx(0.5 / 0.8)
    assert parsed.mass == pytest.approx(0.8)
    assert TokenChoice(Labels(("no", "yes")), 0.9).parse_tokens(tokens).reason == "low mass"
    assert parser.parse_tokens({"Yes": math.log(0.4), "No": math.log(0.4)}).reason == "undecided"
    assert parser.parse_tokens([("Yes", 0.5)]).reason == "malformed"
    assert parser.parse_tokens([("Yes", float("nan"))]).reason == "malformed"
    assert parser.parse_tokens([("Yes", 0.0), ("No", 0.0)]).reason == "malformed"
    assert parser.parse_tokens({"Yes": float("-inf")}).reason == "no usable token"
    assert parser.parse_tokens({}).reason == "no usable token"
    assert parser.parse_tokens(None).status == "missing"
    assert parser.parse_tokens(None, "Yes").reason == "no probabilities"
    tied = TokenChoice(Labels(("A", "B"), tie=("C",))).parse_tokens({"C": math.log(0.9)})
    assert (tied.value, tied.status) == (None, "tied")


def test_token_declarations_that_cannot_be() -> None:
    for make in (lambda: TokenChoice(Numbers(1, 5), 1.5), lambda: TokenMean(Numbers(1, 5), least_probability=-1)):
        with pytest.raises(RequestError):
            make()


def test_refusal_is_declared_never_guessed() -> None:
    parser = Refusal(("I can't help with", "I’m unable"))
    assert parser.parse("I can’t help with that.").status == "refused"
    assert parser.parse("The reply says: I can't help with that.").reason == "no verdict"
    assert parser.parse("I can't help without").reason == "no verdict"
    assert Refusal(("No.",), whole=True).parse("No").status == "refused"
    assert Refusal(("No.",), whole=True).parse("No. Fine").reason == "no verdict"
    for phrases in ((), (" ",)):
        with pytest.raises(RequestError):
            Refusal(phrases)


def test_chain() -> None:
    chain = Chain((LEVELS, rating(1, 5), grade(("1", "2"))))
    assert chain.parse("[[4]]").value == "4"
    assert chain.parse('{"score": 4, "score": 5} [[4]]').reason == "duplicate key"
    assert chain.parse('He wrote "[[4]]" there').reason == "quoted"
    assert chain.parse("nothing").reason == "no verdict"
    parsed = chain.parse('{"score": 4} [[2]]')
    assert (parsed.value, parsed.notes) == ("4", ("conflict: another form of the reply reads 2",))
    strict = Chain((LEVELS, rating(1, 5)), conflict="unparsed")
    assert strict.parse('{"score": 4} [[2]]').reason == "conflict"
    assert strict.parse('{"score": 4} [[4]]').value == "4"
    refused = Chain((Refusal(("I refuse",)), rating(1, 5))).parse("I refuse. [[5]]")
    assert (refused.status, refused.notes) == ("refused", ("conflict: another form of the reply reads 5",))
    with pytest.raises(RequestError):
        Chain(())


def test_stated() -> None:
    parsed = stated("error", "GRADE: C", "timeout")
    assert (parsed.value, parsed.status, parsed.reason, parsed.text) == (None, "error", "declared", "GRADE: C")
    with pytest.raises(RequestError):
        stated("scored", "C")
