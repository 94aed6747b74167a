import pytest

from evenhand.errors import MappingError
from evenhand.verdicts.sources import Source
from evenhand.verdicts.values import value_columns

WIDE = Source("t.csv", "t", ("id", "g_2", "g_10", "m_10", "m_2", "m_explanation", "gold"), "")


def test_criteria_in_natural_order_and_partners():
    found = value_columns(WIDE, ["m_{criterion}"], "g_{criterion}")
    assert (found.criteria, found.judges, found.reference) == (("2", "10"), (("m_2", "m_10"),), ("g_2", "g_10"))
    assert (found.idle, found.of_judges) == (("m_explanation",), ["m_2", "m_10"])


def test_plain_columns():
    found = value_columns(WIDE, ["m_2", "m_10"], "gold")
    assert (found.criteria, found.judges, found.reference) == (("",), (("m_2",), ("m_10",)), ("gold",))


@pytest.mark.parametrize(
    ("judge", "reference", "words"),
    [
        ("x_{criterion}", None, r'fits the pattern "x_{criterion}" \(--judge\); columns are "id"'),
        (
            "m_{criterion}",
            "gold",
            r'no criterion in common: "m_{criterion}" \("2", "10", "explanation"\) against "gold" \(one column\)',
        ),
        ("m_3", None, r'no column "m_3" \(asked for by --judge\); did you mean "m_2"\?'),
        ("gold", "glod", r'asked for by --reference\); did you mean "gold"'),
    ],
)
def test_refused(judge, reference, words):
    with pytest.raises(MappingError, match=words):
        value_columns(WIDE, [judge], reference)
