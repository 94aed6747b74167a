import pytest

from evenhand.errors import MappingError
from evenhand.verdicts import layout
from evenhand.verdicts.layout import expand, numbers_only, recognise, recognise_reference, recognise_response
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec


def read(*columns, **said):
    return recognise(Spec(**said), [Source("t.csv", "t", columns, "")])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (("item", "gold", "judge"), {"response": ("item",), "reference": "gold", "judge": ("judge",)}),
        (
            ("Item ID", "Ground-Truth", "LLM"),
            {"response": ("Item ID",), "reference": "Ground-Truth", "judge": ("LLM",)},
        ),
        (("Item ID", "Human Label", "LLM Judge"), {"reference": "Human Label", "judge": ("LLM Judge",)}),
        (("id", "gold_label", "model_label"), {"reference": "gold_label", "judge": ("model_label",)}),
        (("id", "label", "prediction"), {"reference": "label", "judge": ("prediction",)}),
        (("id", "label"), {"reference": None, "judge": ("label",)}),
        (("id", "human", "score"), {"reference": "human", "judge": ("score",)}),
        (("idx", "question_id", "judge"), {"response": ("idx",), "cluster": "question_id"}),
        (
            ("id", "gold_e1", "gold_e2", "judge_e1", "judge_e2"),
            {"reference": "gold_e{criterion}", "judge": ("judge_e{criterion}",)},
        ),
        (("id", "gold_clear", "gold_kind", "judge_clear", "judge_kind"), {"reference": "gold_{criterion}"}),
        (
            ("id", "1_human", "2_human", "1_model", "2_model"),
            {"reference": "{criterion}_human", "judge": ("{criterion}_model",)},
        ),
        (("id", "rater", "verdict"), {"rater": "rater", "verdict": "verdict", "judge": ()}),
        (("id", "rater", "verdict", "gold"), {"rater": "rater", "verdict": "verdict", "reference": "gold"}),
        (("id", "model", "gold", "judge", "epoch"), {"model": "model", "occasion": "epoch"}),
        (("id", "criterion", "gold_1", "gold_2", "judge_1", "judge_2"), {"criterion": None}),
        (("id", "judge_name", "gold", "judge"), {"rater": None, "judge": ("judge",)}),
    ],
)
def test_recognised(columns, expected):
    found = read(*columns)
    assert {role: getattr(found, role) for role in expected} == expected


def test_what_the_user_named_stays():
    found = read("id", "item", "gold", "human", "judge", response="item", reference="human")
    assert (found.response, found.reference, found.judge) == (("item",), "human", ("judge",))


@pytest.mark.parametrize(
    ("judge", "columns", "partner"),
    [
        ("judge", ("gold", "judge"), "gold"),
        ("mine", ("other", "mine"), None),
        ("m_{criterion}", ("m_1", "m_2", "gold_1", "gold_2"), "gold_{criterion}"),
        ("m_e{criterion}", ("m_e1", "m_e2", "gold_e1", "gold_e2"), "gold_e{criterion}"),
        ("m_e{criterion}", ("m_e1", "m_e2", "m_explanation", "gold_e1", "gold_e2"), "gold_e{criterion}"),
        ("m_{criterion}", ("m_1", "m_2", "gold_1"), None),
        ("m_{criterion}", ("m_1", "gold_1"), None),
    ],
)
def test_partner_of_a_named_judge(judge, columns, partner):
    assert read("id", *columns, judge=judge).reference == partner


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("who", "judge"), r"t\.csv: which column identifies a response\? .*--response COL,COL"),
        (("id", "thing"), r"Which column holds the judge's verdicts\?"),
        (("id", "human"), r'"human" looks like the reference'),
        (("id", "model"), r"Which column holds the judge's verdicts\?"),
    ],
)
def test_not_recognised(columns, words):
    with pytest.raises(MappingError, match=words):
        read(*columns)


def test_expand():
    columns = ["id", "judge_e1", "judge_e10", "judge_e", "judge_e\n"]
    assert expand("judge_e{criterion}", columns) == {"1": "judge_e1", "10": "judge_e10", "\n": "judge_e\n"}
    assert expand("plain", columns) == {"": "plain"}
    assert expand("a.*{criterion}", ["abc", "a.*c"]) == {"c": "a.*c"}
    assert expand("{criterion}", ["x"]) == {"x": "x"}


def test_numbers_only():
    assert numbers_only({"1", "2", "xplanation"}) == {"1", "2"}
    assert numbers_only({"1", "clear"}) == {"1", "clear"}


def test_reference_and_response_of_a_second_file():
    assert recognise_reference(["item", "gold_1", "gold_2"]) == "gold_{criterion}"
    assert recognise_reference(["item", "human"]) == "human"
    assert recognise_reference(["item", "judge"], like="judge") == "judge"
    assert recognise_reference(["item", "score"]) == "score"
    assert recognise_reference(["item", "thing"]) is None
    source = Source("h.csv", "h", ("item", "id"), "")
    assert recognise_response(source, ("item",)) == ("item",)
    assert recognise_response(source, ("response_id",)) == ("id",)
    with pytest.raises(MappingError, match=r"h\.csv: which column"):
        recognise_response(Source("h.csv", "h", ("who",), ""), ("item",))


def test_which_file_is_the_judge_s():
    assert layout.names_judge(["item", "judge"])
    assert layout.names_judge(["item", "judge_1", "judge_2"])
    assert not layout.names_judge(["item", "score"])
