import pytest

from evenhand.errors import MappingError, SourceError
from evenhand.verdicts.sources import Source, distinct_columns


def test_column_is_text_and_never_null():
    assert Source("t.csv", "t", ('a"b',), "").column('a"b', "--judge") == """coalesce(CAST("a""b" AS VARCHAR), '')"""


def test_unknown_column():
    source = Source("t.csv", "t", ("gold", "judge"), "")
    with pytest.raises(
        MappingError, match=r't\.csv: no column "jugde" \(asked for by --judge\); did you mean "judge"\?'
    ):
        source.column("jugde", "--judge")
    with pytest.raises(MappingError, match='columns are "gold", "judge"'):
        source.column("zzz", "--judge")


def test_distinct_columns():
    assert distinct_columns(["a", "b"], "t") == ("a", "b")
    with pytest.raises(SourceError, match='column names stand twice: "A", "a"'):
        distinct_columns(["a", "A", "b"], "t")
