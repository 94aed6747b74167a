import pytest

from evenhand.stats.anova_design import Design


def names(text):
    return [term.name for term in Design.parse(text).terms]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p x i", ["p", "i", "p*i"]),
        ("p × r", ["p", "r", "p*r"]),
        ("p x i x r", ["p", "i", "r", "p*i", "p*r", "i*r", "p*i*r"]),
        ("p x (i:h)", ["p", "h", "p*h", "i:h", "p*i:h"]),
        ("i:p", ["p", "i:p"]),
        ("(p x i):q", ["q", "p:q", "i:q", "p*i:q"]),
        ("a:b:c", ["c", "b:c", "a:b*c"]),
        ("response x phrasing x occasion", None),
    ],
)
def test_terms_are_the_sets_closed_under_nesting(text, expected):
    found = names(text)
    assert len(found) == (7 if expected is None else len(expected))
    assert expected is None or sorted(found) == sorted(expected)


def test_spaces_do_not_matter_and_the_largest_term_is_last():
    design = Design.parse(" p*( i : h ) ")
    assert design.within == {"p": frozenset(), "i": {"h"}, "h": frozenset()}
    assert design.terms[-1].name == "p*i:h"
    assert design.closure(["i"]) == {"i", "h"}


@pytest.mark.parametrize(
    "text", ["", "p x", "x p", "p x p", "(p x i", "p:", "p i", "a x b x c x d x e x f x g x h x j"]
)
def test_what_is_no_design_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match="is no design: write"):
        Design.parse(text)
