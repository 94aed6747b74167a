import pytest

from evenhand.auditing import read
from evenhand.errors import KeyClashError, MappingError
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec


def values(paths, column: str, **spec: object) -> dict[str, str]:
    with Engine() as engine:
        reading = read(engine, [str(path) for path in paths], Spec.of(**spec))
        relation = attribute(reading, column, "--author")
        return dict(engine.rows(f"SELECT response, value FROM {relation} ORDER BY 1"))


def test_one_value_a_response(write) -> None:
    path = write("v.csv", "id,criterion,judge,gold,author\na,1,1,1,X\na,2,0,1,X\nb,1,1,0,\nc,1,1,1,Y\n")
    assert values([path], "author", criterion="criterion") == {"a": "X", "c": "Y"}  # a blank is no value


def test_over_stacked_files_and_ids_of_two_columns(write) -> None:
    one = write("1.csv", "student,item,judge,gold,author\ns,1,1,1,X\n")
    other = write("2.csv", "student,item,judge,gold,author\ns,2,1,1,Y\n")
    found = values([one, other], "author", response=("student", "item"), judge="judge", reference="gold")
    assert found == {"s | 1": "X", "s | 2": "Y"}


def test_from_the_file_of_labels(write) -> None:
    judge = write("judge.csv", "id,judge\na,1\nb,0\n")
    labels = write("labels.csv", "id,gold,author\na,1,X\nb,1,Y\n")
    assert values([judge, labels], "author") == {"a": "X", "b": "Y"}


def test_two_values_of_one_response(write) -> None:
    path = write("v.csv", "id,criterion,judge,gold,author\na,1,1,1,X\na,2,0,1,Z\n")
    with pytest.raises(KeyClashError, match=r'"a" has "X" and "Z" \(v.csv rows 2, 3\)'):
        values([path], "author", criterion="criterion")


def test_no_such_column_and_one_without_ids(write) -> None:
    path = write("v.csv", "id,judge,gold\na,1,1\n")
    with pytest.raises(MappingError, match='no column "author"'):
        values([path], "author")
    judge = write("judge.csv", "id,judge\na,1\nb,0\n")
    labels = write("labels.csv", "item_id,gold,author\na,1,X\nb,1,Y\n")
    with pytest.raises(MappingError, match="stands in no file that has the response id"):
        values([judge, labels], "author")


def test_names_that_would_break_a_query(write) -> None:
    path = write("v.csv", 'id,judge,gold,"au""thor\'; --"\na,1,1,"x\'); --"\n')
    assert values([path], "au\"thor'; --") == {"a": "x'); --"}
