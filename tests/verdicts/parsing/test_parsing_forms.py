"""Forms of reply as a spec names them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import RequestError
from evenhand.verdicts.parsing.forms import FORMS, declared_form, letter_scale, pair_scale
from evenhand.verdicts.spec import Spec

SCALES = {"levels": ("bad", "fair", "good")}, {"range": (0, 10)}


def read(spec, text):
    form = declared_form(Spec.of(**spec))
    assert form is not None
    parsed = form.parser.parse(text)
    return parsed.value if parsed.status == "scored" else parsed.status if parsed.reason is None else parsed.reason


@pytest.mark.parametrize(
    ("spec", "text", "found"),
    [
        ({"parse": "grade"}, "Fine.\nGRADE: C", "C"),
        ({"parse": "grade"}, "GRADE: I\nNo, wait.\nGRADE: C", "C"),
        ({"parse": "grade"}, "GRADE: incorrect", "I"),
        ({"parse": "grade"}, "GRADE: cannot assess", "abstained"),
        ({"parse": "grade"}, "GRADE: C or I", "undecided"),
        ({"parse": "grade"}, "a fine answer", "no verdict"),
        ({"parse": "grade", "levels": ("F", "A")}, "GRADE: A", "A"),
        ({"parse": "grade", "levels": ("F", "A")}, "GRADE: C", "not admissible"),
        ({"parse": "labelled:Verdict", "levels": ("bad", "good")}, "**Verdict:** good", "good"),
        ({"parse": "labelled:Score", "range": (0, 5)}, "Score: 4", "4"),
        ({"parse": "labelled:Score", "range": (0, 5)}, "Score: 6", "out of scale"),
        ({"parse": "labelled:Score", "range": (0, 5)}, "Score: 4\nScore: 3", "several verdicts"),
        ({"parse": "labelled:Score", "range": (0, 5), "abstain": ("n/a",)}, "Score: n/a", "abstained"),
        ({"parse": "rating", "range": (1, 10)}, "I give it [[7]]", "7"),
        ({"parse": "rating", "range": (1, 10)}, "[[11]]", "out of scale"),
        ({"parse": "rating:Rating", "range": (1, 10)}, "[[3]] at first. Rating: [[7.5]]", "7.5"),
        ({"parse": "rating", "range": (1, 10), "decimal": ","}, "[[7,5]]", "7.5"),
        ({"parse": "bracketed", "levels": ("bad", "good")}, "[[good]]", "good"),
        ({"parse": "pairwise"}, "so [[B]]", "B"),
        ({"parse": "pairwise"}, "so [[C]]", "tied"),
        ({"parse": "pairwise", "tie": ("draw",)}, "so [[draw]]", "tied"),
        ({"parse": "json:score", "range": (0, 5)}, 'Here: {"reason": "a", "score": 4}', "4"),
        ({"parse": "json:score", "range": (0, 5)}, '```json\n{"score": 4}\n```', "4"),
        ({"parse": "json:score", "range": (0, 5)}, '{"mark": 4}', "key absent"),
        ({"parse": "json:ok", "levels": ("false", "true")}, '{"ok": true}', "true"),
        ({"parse": "yes-no"}, "Yes, it does.", "yes"),
        ({"parse": "yes-no"}, "Nobody knows.", "no verdict"),
        ({"parse": "met-unmet"}, "Not met: the unit is missing", "unmet"),
        ({"parse": "met-unmet"}, "CANNOT ASSESS", "abstained"),
        ({"parse": "leading", "levels": ("bad", "good")}, "good. All is there.", "good"),
        ({"parse": "whole", "range": (0, 10)}, " 7/10 ", "7"),
        ({"parse": "whole", "levels": ("bad", "good")}, "not good", "no verdict"),
        ({"parse": "tokens", "levels": ("A", "B")}, '{"A": -0.1, " B": -2.5}', "A"),
        ({"parse": "tokens", "levels": ("A", "B")}, '[{"token": "B", "logprob": -0.1}]', "B"),
        ({"parse": "tokens", "levels": ("A", "B")}, '{"A": -0.1, "B": "x"}', "malformed"),
        ({"parse": "tokens", "levels": ("A", "B")}, '{"A": NaN}', "malformed"),
        ({"parse": "tokens", "levels": ("A", "B")}, "A", "malformed"),
        ({"parse": "token-mean", "range": (1, 3)}, '{"1": -0.6931471805599453, "3": -0.6931471805599453}', "2.0"),
        ({"parse": "grade", "refusal": ("I cannot help",)}, "I cannot help with that.", "declared"),
        ({"parse": "grade", "refusal": ("I cannot help",)}, "GRADE: C", "C"),
        ({"parse": "grade"}, " ", "blank"),
    ],
)
def test_forms(spec, text, found):
    assert read(spec, text) == found


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"parse": "grad"}, 'no such form.*did you mean "grade"'),
        ({"parse": "json", "range": (0, 5)}, "needs a word after a colon"),
        ({"parse": "labelled: ", "range": (0, 5)}, "needs a word after a colon"),
        ({"parse": "yes-no:x"}, "takes no word"),
        ({"parse": "rating"}, "needs the scale of its numbers: --range"),
        ({"parse": "json:score"}, "needs the scale of its values: --levels A,B,C or --range"),
        ({"refusal": ("no",)}, "--refusal .* --parse FORM"),
        ({"parse": "leading", "levels": ("a", " ")}, "one is blank"),
    ],
)
def test_what_a_form_lacks_is_said(spec, said):
    with pytest.raises(RequestError, match=said):
        declared_form(Spec.of(**spec))


def test_no_form():
    assert declared_form(Spec()) is None


def test_orders_that_the_forms_bring():
    assert letter_scale(frozenset("CI"))["levels"] == ("I", "C")
    assert letter_scale(frozenset("CPI"))["levels"] == ("I", "P", "C")
    assert letter_scale(frozenset("CX")) == letter_scale(frozenset()) == pair_scale(frozenset()) == {}
    assert pair_scale(frozenset("A"))["positive"] == "A"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shape", FORMS)
@settings(max_examples=30, deadline=None)
@given(
    text=st.text(max_size=60)
    | st.lists(
        st.sampled_from([*"CAB[]{}:\"'\n,.-/", "GRADE: ", "[[7]]", "good", "yes", "met", '{"KEY": 4}']), max_size=9
    ).map("".join)
)
def test_any_text_gives_a_value_of_the_scale_or_a_reason(shape, scale, text):
    spec = Spec.of(parse=shape.replace("WORD", "GRADE"), **(scale | {"range": (0, 10)}))
    form = declared_form(spec)
    parsed = form.parser.parse(text)
    assert (parsed.value is not None) == (parsed.status == "scored")
    assert parsed.status in ("scored", "abstained", "tied") or parsed.reason
    if parsed.value is not None and spec.levels and shape not in ("rating", "rating:WORD", "token-mean"):
        assert parsed.value in (*spec.levels, "A", "B", "no", "yes", "unmet", "met")
