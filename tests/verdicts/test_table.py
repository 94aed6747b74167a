"""The canonical table: codes, clusters in natural order, and the key."""

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.errors import KeyClashError, ScaleError
from evenhand.importers.frames import read_frame
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import read_slots
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import build_table


@pytest.fixture
def table():
    with Engine() as engine:

        def built(rows, **said):
            return build_table(read_slots(engine, Spec.of(**said), [read_frame(engine, pl.DataFrame(rows))]))

        yield built


def test_clusters_in_natural_order(table):
    found = table({"id": ["a", "b", "c"], "question": ["q10", "q9", "q1"], "judge": [1, 0, 1]})
    assert found.units.names == ("q1", "q9", "q10")
    assert found.units.declared
    assert not found.units.grouped
    rows = found.engine.rows(f"SELECT response, cluster, unit, judge FROM {found.relation} ORDER BY 1")
    assert rows == [("a", 2, 2, 1), ("b", 1, 1, 0), ("c", 0, 0, 1)]


def test_each_response_is_its_own_cluster_by_default(table):
    found = table({"id": ["r10", "r9"], "judge": [1, 0]})
    assert found.units.names == ("r9", "r10")
    assert not found.units.declared


def test_many_clusters_become_seeded_groups(table):
    n = 3_000
    rows = {"id": [f"r{i}" for i in range(n)], "judge": [i % 2 for i in range(n)]}
    found, again, other = table(rows), table(rows), table(rows, seed=1)
    assert found.units.grouped
    assert (found.units.n_clusters, len(found.units.names)) == (n, 1_024)
    units = [one.engine.rows(f"SELECT unit FROM {one.relation} ORDER BY response") for one in (found, again, other)]
    assert units[0] == units[1] != units[2]
    assert np.bincount(np.array(units[0]).ravel()).min() >= 2


def test_statuses_of_a_status_column(table):
    words = ["scored", "OK", "", " Refused ", "parse_error", "api_error"]
    found = table({"id": list("abcdef"), "judge": ["1", "0", "1", "1", "1", ""], "status": words})
    codes = [code for (code,) in found.engine.rows(f"SELECT judge FROM {found.relation} ORDER BY response")]
    assert [found.scale.all_levels[code] for code in codes] == ["1", "0", "1", "refused", "unparsed", "error"]


@pytest.mark.parametrize("n_criteria", [1, 61, 62, 63, 124, 125, 300])
def test_the_key_holds_for_any_number_of_criteria(table, n_criteria):
    rows = [{"id": i, "criterion": f"c{k}", "gold": k % 2, "judge": i} for i in (0, 1) for k in range(n_criteria)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    found = table(columns)
    assert found.n_words == -(-n_criteria // 62)
    assert found.n_responses == 2
    doubled = {name: [*values, values[-1]] for name, values in columns.items()}
    with pytest.raises(KeyClashError, match=rf'response "1" criterion "c{n_criteria - 1}" stands 2 times'):
        table(doubled)


def test_clashes_name_what_tells_them_apart(table):
    rows = {"id": ["a", "a"], "judge": [1, 1], "wordy": ["x", "y"], "same": ["s", "s"]}
    with pytest.raises(
        KeyClashError, match=r'stands 2 times \(frame rows 1, 2\).*columns that differ there: "wordy"; options'
    ):
        table(rows)


def test_a_clash_under_a_condition_names_it(table):
    with pytest.raises(KeyClashError, match="under y"):
        table({"id": list("aaab"), "phrasing": list("xyyx"), "judge": [1, 1, 1, 1]})


def test_torn_response(table):
    rows = {"id": ["a", "a", "b"], "cluster": ["q1", "q2", "q1"], "criterion": ["x", "y", "x"], "judge": [1, 1, 0]}
    with pytest.raises(KeyClashError, match=r'"a" lies in "q1" and "q2" \(frame rows 1, 2\)'):
        table(rows)


def test_free_text_is_refused_before_it_is_read(table):
    with pytest.raises(ScaleError, match=r"more than 5,000 different texts: it is no column of labels"):
        table({"id": list(range(6_000)), "judge": [f"text {i}" for i in range(6_000)]})


def test_many_declared_levels_fit_their_codes():
    numbers = list(range(40))
    frame = pl.DataFrame({"id": numbers, "gold": numbers, "judge": numbers})
    result = evenhand.audit(frame, levels=[str(n) for n in numbers], interval="none")
    assert result["observed_agreement/judge"].estimate == 1
