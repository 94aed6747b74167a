"""From sources to verdict slots, and how each is found again."""

from pathlib import Path

import polars as pl
import pytest

from evenhand.errors import EvenhandError, JoinError, KeyClashError, MappingError
from evenhand.importers.files import read_file
from evenhand.importers.frames import read_frame
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import read_slots, rows_with, stack
from evenhand.verdicts.spec import Spec


@pytest.fixture
def engine():
    with Engine() as open_engine:
        yield open_engine


@pytest.fixture
def read(engine, write):
    """Read texts of CSV (or frames) as slots."""

    def ran(*sources, labels=None, **said):
        opened = [
            read_frame(engine, one, f"frame {n}")
            if isinstance(one, pl.DataFrame)
            else read_file(engine, write(f"{n}.csv", one))
            for n, one in enumerate([*sources, *([labels] if labels is not None else [])])
        ]
        split = len(sources)
        return read_slots(engine, Spec.of(**said), opened[:split], opened[split] if labels is not None else None)

    return ran


def slots(reading):
    """(judge, response, criterion, judge text, reference text) of every slot."""
    found = reading.engine.rows(
        f"SELECT rater, response, criterion, judge, reference FROM {reading.relation} ORDER BY ALL"
    )
    return [(reading.raters[r], response, reading.criteria[c], judge, gold) for r, response, c, judge, gold in found]


def test_paired(read):
    reading = read("id,gold,judge\na,1,0\nb,,1\n")
    assert slots(reading) == [("judge", "a", "", "0", "1"), ("judge", "b", "", "1", "")]
    assert reading.roles == {"response": "id", "judge": "judge", "reference": "gold"}


def test_paired_without_reference_holds_null(read):
    assert slots(read("id,judge\na,0\n")) == [("judge", "a", "", "0", None)]


def test_wide_patterns_of_two_judges(read):
    reading = read(
        "id,g_2,g_10,m_2,m_10,n_10,n_2\na,1,2,3,4,5,6\n",
        judge=["n_{criterion}", "m_{criterion}"],
        reference="g_{criterion}",
    )
    assert reading.criteria == ("2", "10")
    assert slots(reading) == [
        ("m_{criterion}", "a", "2", "3", "1"),
        ("m_{criterion}", "a", "10", "4", "2"),
        ("n_{criterion}", "a", "2", "6", "1"),
        ("n_{criterion}", "a", "10", "5", "2"),
    ]


def test_columns_without_partner_are_said(read):
    reading = read("id,g_1,g_2,g_3,m_1,m_2,m_x\na,1,1,1,1,1,1\n", judge="m_{criterion}", reference="g_{criterion}")
    assert reading.criteria == ("1", "2")
    assert reading.notes == (
        'columns that fit a pattern but have no partner on the other side are not read: "g_3", "m_x"',
    )


def test_criterion_column_names_each_criterion_once(read):
    reading = read("id,criterion,gold,judge\na,x10,1,1\na,x9,0,1\nb,x10,0,0\n")
    assert reading.criteria == ("x9", "x10")
    assert slots(reading) == [
        ("judge", "a", "x9", "1", "0"),
        ("judge", "a", "x10", "1", "1"),
        ("judge", "b", "x10", "0", "0"),
    ]


def test_one_criterion_by_name(read):
    assert read("id,criterion,gold,judge\na,clear,1,1\n").criteria == ("clear",)


def test_rated(read):
    reading = read("id,rater,verdict\na,human,1\na,m,0\nb,m,1\n")
    assert slots(reading) == [("m", "a", "", "0", "1"), ("m", "b", "", "1", None)]
    assert reading.spec.reference == "human"
    assert reading.source_rows["judge verdicts without a reference row"] == 1


def test_joined(read):
    reading = read("id,judge\na,1\nb,0\n", labels="id,human\nb,1\nc,0\n")
    assert slots(reading) == [("judge", "a", "", "1", None), ("judge", "b", "", "0", "1")]
    assert dict(reading.source_rows) == {
        "0.csv: rows": 2,
        "1.csv: rows": 2,
        "judge verdicts that meet a reference row": 1,
        "judge verdicts without a reference row": 1,
        "reference rows that meet no judge verdict, left out": 1,
    }


def test_joined_with_another_id_column(read):
    reading = read("item_id,judge\na,1\n", labels="response_id,human\na,0\n")
    assert slots(reading) == [("judge", "a", "", "1", "0")]


def test_a_reference_that_labels_a_response_twice_is_a_clash(engine, write):
    from evenhand.verdicts.table import build_table

    judge = read_file(engine, write("j.csv", "id,judge\na,1\nb,0\n"))
    labels = read_file(engine, write("h.csv", "id,human\na,0\na,1\nb,0\n"))
    with pytest.raises(KeyClashError, match=r'"a" stands 2 times \(j\.csv row 2; h\.csv rows 2, 3\)'):
        build_table(read_slots(engine, Spec(), [judge], labels))


def test_where(read):
    reading = read("id,gold,judge\na,1,x\nb,x,1\n")
    assert reading.where("judge", "x") == '0.csv row 2 column "judge"'
    assert reading.where("reference", "x") == '0.csv row 3 column "gold"'
    assert reading.where("judge", "never") == "the judge's column"


def test_rows_with_counts_as_the_user_does(engine, write):
    source = read_file(engine, write("t.csv", "id\n" + "a\n" * 9))
    assert rows_with(engine, source, "id = ?", ["a"], limit=3) == "t.csv rows 2, 3, 4, …"
    assert rows_with(engine, source, "id = ?", ["a"], limit=1) == "t.csv row 2"
    assert rows_with(engine, source, "id = ?", ["b"]) == ""
    lines = read_file(engine, write("t.jsonl", '{"id": "a"}\n{"id": "b"}\n'))
    assert rows_with(engine, lines, "id = ?", ["b"]) == "t.jsonl row 2"


def test_stack_keeps_the_parts(engine, write):
    one = read_file(engine, write("one.csv", "id,judge\na,1\n"))
    two = read_file(engine, write("two.csv", "judge,id\n0,b\n"))
    other = read_file(engine, write("other.csv", "id,human\na,1\n"))
    stacked, alone = stack(engine, [one, other, two])
    assert (stacked.name, stacked.parts, alone) == ("one.csv + two.csv", (one, two), other)
    assert engine.rows(f"SELECT id, judge FROM {stacked.relation}") == [("a", "1"), ("b", "0")]
    assert rows_with(engine, stacked, "id IN ('a', 'b')") == "one.csv row 2; two.csv row 2"


@pytest.mark.parametrize(
    ("sources", "said", "kind", "words"),
    [
        (
            ("id,gold,judge\n,1,1\n",),
            {},
            KeyClashError,
            r'0\.csv: 1 row\(s\) have no response id: column "id", 0\.csv row 2',
        ),
        (("set,item,judge\ns,,1\n",), {"response": ["set", "item"]}, KeyClashError, 'no response id: column "item"'),
        (("id,judge\na,1\n", "id,human\nb,1\n"), {}, JoinError, '0.csv has "a", 1.csv has "b"'),
        (
            ("id,judge_1,judge_2\na,1,1\n", "id,human\na,1\n"),
            {"judge": "judge_{criterion}"},
            MappingError,
            "one column of them",
        ),
        (("id,criterion,judge\na,x,1\n", "id,human\na,1\n"), {}, MappingError, '1.csv: no column "criterion"'),
        (("id,judge\na,1\n", "id,thing\na,1\n"), {}, MappingError, "1.csv: which column holds the reference labels"),
        (("id,judge\na,1\n",), {"reference": "judge_{criterion}"}, MappingError, "fits the pattern"),
        (("id,judge\na,1\n",), {"phrasing": "wording"}, MappingError, 'no column "wording"'),
        (("id,rater,verdict\na,m,1\n",), {"verdict": "x", "rater": "rater"}, MappingError, 'no column "x"'),
    ],
)
def test_refused(read, sources, said, kind, words):
    with pytest.raises(kind, match=words) as caught:
        read(*sources, **said)
    assert isinstance(caught.value, EvenhandError)


def test_conditions_of_two_facets_stay_apart(read):
    reading = read(
        pl.DataFrame({"id": ["a", "a"], "phrasing": ["x | y", "x"], "occasion": ["z", "y | z"], "judge": [1, 1]})
    )
    assert len({condition for (condition,) in reading.engine.rows(f"SELECT condition FROM {reading.relation}")}) == 2


def test_source_of_the_messages_is_the_base_name(read, tmp_path):
    assert Path(read("id,judge\na,1\n").sources[0].name).parent == Path()
