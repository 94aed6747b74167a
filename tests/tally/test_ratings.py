"""Pivoted ratings against counting in Python, and the memory that a large file takes."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tally.packing import ABSENT, MOST_DENSE, SILENT, Packing, distinct
from evenhand.tally.ratings import tally_ratings
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import read_slots
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import build_table

few = settings(deadline=None, max_examples=20)
COLUMNS = ("response", "cluster", "criterion", "rater", "verdict", "reference")


def rows(labels: str):
    """Rows of a long file with unique keys; a response's reference is one for all raters unless it is drawn twice."""
    keys = st.tuples(st.sampled_from("pqrs"), st.sampled_from("12345"), st.sampled_from("xyz"))
    cells = st.sampled_from([*labels, ""])
    return st.dictionaries(keys, st.tuples(cells, cells), min_size=1, max_size=40).map(
        lambda found: [(r, f"c{r in 'pq'}", k, who, said, ref) for (r, k, who), (said, ref) in found.items()]
    )


def tallied(data, **options):
    with Engine() as engine:
        relation = engine.table("tiny", dict.fromkeys(COLUMNS, "VARCHAR"), data)
        spec = Spec.of(response="response", cluster="cluster", criterion="criterion", rater="rater", verdict="verdict",
            reference="reference", **options)  # fmt: skip
        return tally_ratings(build_table(read_slots(engine, spec, [Source("tiny", relation, COLUMNS, "")])))


def counted(data, labels: str, names, *, criterion: str | None = None) -> Counter:
    """(cluster, labels of each rater, reference) of every rated unit that somebody has a slot for."""
    units: dict[tuple[str, str], dict[str, tuple[str, str, str]]] = {}
    for response, cluster, at, who, said, reference in data:
        if criterion in (None, at):
            units.setdefault((response, at), {})[who] = (cluster, said, reference)
    found: Counter = Counter()
    for slots in units.values():
        said = {labels.index(reference) for _, _, reference in slots.values() if reference}
        given_ = tuple(labels.find(slots[name][1]) if name in slots and slots[name][1] else -1 for name in names)
        cluster = next(iter(slots.values()))[0]
        found[(cluster, given_, said.pop() if len(said) == 1 else -1)] += 1
    return found


def as_counter(ratings, clusters) -> Counter:
    return Counter(
        {
            (clusters[unit], tuple(labels), reference): count
            for unit, labels, reference, count in zip(
                ratings.unit.tolist(), ratings.labels.tolist(), ratings.reference.tolist(), ratings.count.tolist(), strict=True
            )
        }
    )  # fmt: skip


@few
@given(st.one_of(rows("01").map(lambda r: ("01", r)), rows("01234").map(lambda r: ("01234", r))))
def test_ratings_are_counted(drawn) -> None:
    labels, data = drawn
    if len({row[3] for row in data}) < 2:
        return
    if not any(row[4] or row[5] for row in data):
        return
    ratings = tallied(data, levels=tuple(labels))
    clusters = sorted({row[1] for row in data})
    assert as_counter(ratings, clusters) == counted(data, labels, ratings.names)
    criteria = sorted({row[2] for row in data})
    assert len(ratings.by_criterion) == (len(criteria) if len(criteria) > 1 else 0)
    for name, one in zip(criteria, ratings.by_criterion, strict=False):
        assert as_counter(one, clusters) == counted(data, labels, ratings.names, criterion=name)


@given(st.lists(st.tuples(*[st.integers(-1, 4)] * 3, st.integers(1, 5)), min_size=1, max_size=30), st.booleans())
def test_distinct_rows_either_way(drawn, is_large) -> None:
    data = np.array(drawn)
    columns = [*data[:, :3].T] + ([np.full(len(data), MOST_DENSE)] if is_large else [])
    found, count = distinct(columns, data[:, 3])
    expected: Counter = Counter()
    for row in data:
        expected[tuple(row[:3].tolist())] += int(row[3])
    listed = list(zip(*(column.tolist() for column in found[:3]), strict=True))
    assert dict(zip(listed, count.tolist(), strict=True)) == expected
    assert listed == sorted(listed)


def test_very_many_columns_keep_their_rows_apart() -> None:
    rng = np.random.default_rng(1)
    data = rng.integers(-1, 300, (200, 12))
    found, count = distinct([*np.repeat(data, 2, axis=0).T], np.ones(400, dtype=np.int64))
    assert sorted(zip(*(column.tolist() for column in found), strict=True)) == sorted(map(tuple, data.tolist()))
    assert (count == 2).all()


def test_fields_of_a_word() -> None:
    packing = Packing(5, 30)  # 0 absent, 1 silent, 2 ... 6: three bits, twenty a word
    assert (packing.bits, packing.per_word, packing.n_words) == (3, 20, 2)
    words = np.array([[2 + (6 << 57), 1]])
    assert [packing.labels(words, at).item() for at in (0, 1, 19, 20, 21)] == [0, ABSENT, 4, SILENT, ABSENT]


# --- memory ---

LIMIT = 1_000
MEASURED = """
import resource, sys
import evenhand
found = evenhand.audit(sys.argv[1], judge=("judge", "judge2"), reference="reference", criterion="criterion", **eval(sys.argv[2]))
assert found["fleiss_kappa/raters"].status == "ok"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6)
"""


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["binary", "ordinal"])
def test_two_judges_on_ten_million_slots_fit_in_a_gigabyte(scale, tmp_path) -> None:
    pytest.importorskip("resource")
    make = Path(__file__).parents[2] / "benchmarks" / "make_data.py"
    drawn = subprocess.run([sys.executable, make, tmp_path, "--responses=500000"], check=True, capture_output=True, text=True)  # fmt: skip
    two = tmp_path / "two.parquet"
    again = "CASE WHEN hash(response_id, criterion, 9) % 10 = 0 THEN 1 - judge ELSE judge END AS judge2"
    marks = ", ".join(f"(2 * {name} + hash(response_id, {at}) % 3)::INTEGER AS {name}" for at, name in enumerate(("reference", "judge", "judge2")))  # fmt: skip
    made = f"SELECT *, {again} FROM '{drawn.stdout.strip()}'"
    made = made if scale == "binary" else f"SELECT * REPLACE ({marks}) FROM ({made})"
    script = f"import duckdb; duckdb.execute(\"COPY ({made}) TO '{two}' (FORMAT parquet)\")"
    subprocess.run([sys.executable, "-c", script], check=True)
    command = [sys.executable, "-c", MEASURED, two, repr({"scale": scale})]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert float(found.stdout) < LIMIT
