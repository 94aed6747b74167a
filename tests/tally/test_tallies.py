"""Tallies against counting in Python, over small random data."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.stats.resampling import N_GROUPS, random_groups
from evenhand.tally.cells import tally_cells
from evenhand.tally.patterns import MASKS, Patterns, tally_patterns
from evenhand.tally.support import tally_support
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.order import natural
from evenhand.verdicts.reading import read_slots
from evenhand.verdicts.scale import STATUSES
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import VerdictTable, build_table

few = settings(deadline=None, max_examples=20)

JUDGES = ("b2", "b10")
TEXTS = ("0", "1", "", "CA", "=")
CODES = {"0": 0, "1": 1, "CA": 2 + STATUSES.index("abstained"), "=": 2 + STATUSES.index("tied")}


class Slot(NamedTuple):
    """One row of a long file: two judges and the reference on a criterion of a response."""

    response: str
    cluster: str
    criterion: str
    reference: str
    b2: str
    b10: str

    def code(self, side: str, blank: str) -> int:
        """The code of a side's text; a blank reference is always missing."""
        status = blank if side in JUDGES else "missing"
        return CODES.get(getattr(self, side), 2 + STATUSES.index(status))


@contextmanager
def opened(rows: Sequence[tuple[str, ...]], columns: Sequence[str] = Slot._fields, **options) -> Iterator[VerdictTable]:
    """A verdict table over rows of texts; roles are named as the columns are."""
    roles = {name: name for name in columns if name in Spec.model_fields and name != "judge"}
    spec = Spec.of(**{"levels": TEXTS[:2], "abstain": "CA", "tie": "=", "judge": JUDGES, **roles, **options})
    with Engine() as engine:
        relation = engine.table("tiny", dict.fromkeys(columns, "VARCHAR"), rows)
        yield build_table(read_slots(engine, spec, [Source("tiny", relation, tuple(columns), "")]))


def positions(rows: Sequence[Slot], column: str) -> dict[str, int]:
    """Name → position in natural order."""
    return {name: at for at, name in enumerate(sorted({getattr(row, column) for row in rows}, key=natural))}


@st.composite
def slots(draw: st.DrawFn) -> list[Slot]:
    """Up to twelve responses in up to eleven clusters under 1, 3 or 70 criteria, some slots absent."""
    n_criteria = draw(st.sampled_from([1, 3, 70]))
    n_responses, n_clusters = draw(st.integers(1, 12)), draw(st.integers(1, 11))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = []
    for response in range(n_responses):
        cluster = f"q{rng.integers(n_clusters) + 1}"
        present = rng.random(n_criteria) < 0.8
        present[rng.integers(n_criteria)] = True
        for criterion in np.flatnonzero(present):
            texts = rng.choice(TEXTS, 3, p=[0.35, 0.35, 0.1, 0.1, 0.1]).tolist()
            rows.append(Slot(f"r{response}", cluster, f"{criterion + 1}", *texts))
    # a scale needs one label somewhere
    return [*rows, Slot("last", "q1", "1", "1", "1", "1")]


blanks = st.sampled_from(["missing", "unparsed", "abstained"])


# --- cells ---


@few
@given(rows=slots(), blank=blanks)
def test_cells_are_counts(rows: list[Slot], blank: str) -> None:
    unit, criterion = positions(rows, "cluster"), positions(rows, "criterion")
    with opened(rows, blank=blank) as table:
        assert table.reading.raters == JUDGES
        for rater, judge in enumerate(JUDGES):
            cells = tally_cells(table, rater)
            expected = Counter(
                (unit[row.cluster], criterion[row.criterion], row.code("reference", blank), row.code(judge, blank))
                for row in rows
            )
            keys = zip(cells.unit, cells.criterion, cells.reference, cells.judge, strict=True)
            assert (
                dict(zip(((int(u), int(c), int(r), int(j)) for u, c, r, j in keys), cells.count, strict=True))
                == expected
            )
            assert (cells.n_units, cells.n_criteria, cells.n_labels) == (len(unit), len(criterion), 2)


@few
@given(rows=slots())
def test_tables_of_cells_are_counts(rows: list[Slot]) -> None:
    unit, criterion = positions(rows, "cluster"), positions(rows, "criterion")
    n_levels = 2 + len(STATUSES)
    by_criterion, levels = np.zeros((len(unit), len(criterion), 2, 2)), np.zeros((len(unit), n_levels, n_levels))
    labels = np.zeros((len(unit), 2))
    for row in rows:
        u, r, j = unit[row.cluster], row.code("reference", "missing"), row.code("b2", "missing")
        levels[u, r, j] += 1
        if j < 2:
            labels[u, j] += 1
        if j < 2 and r < 2:
            by_criterion[u, criterion[row.criterion], r, j] += 1
    with opened(rows) as table:
        cells = tally_cells(table, 0)
    np.testing.assert_array_equal(cells.levels(n_levels), levels)
    np.testing.assert_array_equal(cells.judged.judge_labels(), labels)
    np.testing.assert_array_equal(cells.paired.tables_by_criterion(), by_criterion)
    np.testing.assert_array_equal(cells.paired.tables(), by_criterion.sum(axis=1))


def test_rows_in_any_order_make_the_same_cells() -> None:
    rows = [Slot(f"r{n}", f"q{n % 3}", f"{n % 2}", str(n % 2), str(n % 5 % 2), "CA") for n in range(30)]
    with opened(rows) as table, opened(rows[::-1]) as reversed_table:
        first, second = tally_cells(table, 0), tally_cells(reversed_table, 0)
    for name in ("unit", "criterion", "reference", "judge", "count"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_a_status_column_speaks_before_the_verdict() -> None:
    columns = ("response", "reference", "verdict", "status")
    rows = [
        ("a", "1", "1", "scored"),
        ("b", "1", "1", "refused"),
        ("c", "0", "", "error"),
        ("d", "0", "0", ""),
        ("e", "0", "", ""),
    ]
    with opened(rows, columns, judge=(), verdict="verdict", status="status") as table:
        cells = tally_cells(table, 0)
    by_judge = cells.levels(8).sum(axis=(0, 1))
    # labels 0 and 1, then abstained tied unparsed refused error missing
    np.testing.assert_array_equal(by_judge, [1, 1, 0, 0, 0, 1, 1, 1])
    assert cells.n_criteria == 1


def test_cells_of_an_ordinal_scale() -> None:
    columns = ("response", "cluster", "reference", "verdict")
    rows = [("a", "q", "low", "high"), ("b", "q", "high", "high"), ("c", "p", "mid", "low")]
    with opened(rows, columns, judge=(), levels=("low", "mid", "high"), scale="ordinal") as table:
        tables = tally_cells(table, 0).tables()
    np.testing.assert_array_equal(tables[0], [[0, 0, 0], [1, 0, 0], [0, 0, 0]])  # cluster p comes first
    np.testing.assert_array_equal(tables[1], [[0, 0, 1], [0, 0, 0], [0, 0, 1]])


# --- patterns ---


def decoded(patterns: Patterns) -> Counter[tuple[object, ...]]:
    """(unit, criteria in each mask) → responses."""
    bits = [patterns.bits(mask) for mask in MASKS]
    found: Counter[tuple[object, ...]] = Counter()
    for at, count in enumerate(patterns.count):
        found[(int(patterns.unit[at]), *(frozenset(np.flatnonzero(one[at]).tolist()) for one in bits))] += int(count)
    return found


def counted(rows: Sequence[Slot], judge: str) -> dict[str, tuple[object, ...]]:
    """Response → its key as ``decoded`` has it."""
    unit, criterion = positions(rows, "cluster"), positions(rows, "criterion")
    found = {}
    for response in {row.response for row in rows}:
        own = [row for row in rows if row.response == response]
        members = [
            frozenset(criterion[row.criterion] for row in own if test(row))
            for test in (
                lambda row: True,
                lambda row: getattr(row, judge) in ("0", "1"),
                lambda row: getattr(row, judge) == "1",
                lambda row: row.reference in ("0", "1"),
                lambda row: row.reference == "1",
            )
        ]
        found[response] = (unit[own[0].cluster], *members)
    return found


@few
@given(rows=slots())
def test_patterns_are_responses(rows: list[Slot]) -> None:
    with opened(rows) as table:
        for rater, judge in enumerate(JUDGES):
            assert decoded(tally_patterns(table, rater)) == Counter(counted(rows, judge).values())


@few
@given(rows=slots(), cut=st.integers(0, 5))
def test_totals_of_patterns_are_sums(rows: list[Slot], cut: int) -> None:
    expected = np.zeros((len(positions(rows, "cluster")), 2))
    for unit, present, judged, judge, referred, reference in counted(rows, "b2").values():
        if judged == present == referred:
            expected[unit, int((len(judge) >= cut) != (len(reference) >= cut))] += 1
    with opened(rows) as table:
        patterns = tally_patterns(table, 0)
    wrong = (patterns.judge_total >= cut) != (patterns.reference_total >= cut)
    complete = patterns.is_judged & patterns.is_referred
    np.testing.assert_array_equal(patterns.by_unit(wrong.astype(int), 2, complete), expected)
    assert patterns.by_unit(wrong.astype(int), 2).sum() == len({row.response for row in rows})


def test_seventy_criteria_take_two_words() -> None:
    # criteria 62 and 63 of the scale's order lie on either side of the word's edge
    met = {1, 62, 63, 70}
    rows = [Slot("r", "q", f"{k}", "1" if k in met else "0", "1", "0") for k in range(1, 71)]
    with opened(rows) as table:
        assert table.n_words == 2
        patterns = tally_patterns(table, 0)
    np.testing.assert_array_equal(np.flatnonzero(patterns.bits("reference")[0]) + 1, sorted(met))
    assert (int(patterns.judge_total[0]), int(patterns.reference_total[0])) == (70, 4)
    assert patterns.is_judged.all()


def test_a_response_under_two_phrasings_is_two_patterns() -> None:
    columns = ("response", "cluster", "phrasing", "reference", "verdict")
    rows = [("a", "q", "short", "1", "1"), ("a", "q", "long", "1", "0"), ("b", "q", "short", "0", "0")]
    with opened(rows, columns, judge=(), phrasing="phrasing") as table:
        patterns = tally_patterns(table, 0)
        assert table.n_responses == 2
    assert patterns.count.sum() == 3
    np.testing.assert_array_equal(patterns.judge_total @ patterns.count, 1)


# --- groups of clusters ---


def many_clusters(n_clusters: int) -> list[Slot]:
    """One to three responses a cluster on two criteria; errors are rare and pile up in few clusters."""
    rng = np.random.default_rng(8)
    rows = []
    for cluster in range(n_clusters):
        for response in range(rng.integers(1, 4)):
            for criterion in ("1", "2"):
                reference = int(rng.random() < 0.5)
                judge = 1 - reference if cluster % 10 == 0 and rng.random() < 0.3 else reference
                texts = [str(reference), str(judge) if rng.random() > 0.05 else "", "CA"]
                rows.append(Slot(f"{cluster}-{response}", f"q{cluster}", criterion, *texts))
    return rows


N_MANY = 2_100


@pytest.fixture(scope="module")
def many() -> Iterator[tuple[list[Slot], VerdictTable]]:
    rows = many_clusters(N_MANY)
    with opened(rows, seed=3) as table:
        yield rows, table


def test_many_clusters_are_grouped_by_the_seed(many) -> None:
    rows, table = many
    assert (len(table.units.names), table.units.n_clusters, table.units.grouped) == (N_GROUPS, N_MANY, True)
    # clusters in text order stand in the groups of one seeded permutation
    group = dict(zip(sorted({row.cluster for row in rows}), random_groups(N_MANY, 3).tolist(), strict=True))
    expected = np.zeros((N_GROUPS, 2, 2))
    for row in rows:
        if row.b2:
            expected[group[row.cluster], int(row.reference), int(row.b2)] += 1
    np.testing.assert_array_equal(tally_cells(table, 0).paired.tables(), expected)


def test_cells_by_cluster_add_up_to_cells_by_group(many) -> None:
    rows, table = many
    by_cluster = tally_cells(table, 0, by="cluster")
    assert by_cluster.n_units == N_MANY
    numbers = {name: at for at, name in enumerate(sorted({row.cluster for row in rows}))}
    expected = np.zeros((N_MANY, 2, 2))
    for row in rows:
        if row.b2:
            expected[numbers[row.cluster], int(row.reference), int(row.b2)] += 1
    np.testing.assert_array_equal(by_cluster.paired.tables(), expected)
    np.testing.assert_array_equal(
        by_cluster.paired.tables().sum(axis=0), tally_cells(table, 0).paired.tables().sum(axis=0)
    )


@pytest.mark.parametrize("pairs", [[0], [1], [2], [3], [1, 2], [0, 1], [0, 1, 2, 3], []])
def test_support_counts_the_clusters_behind_pairs(many, pairs: list[int]) -> None:
    rows, table = many
    support = tally_support(table, 0)
    assert support is not None
    wanted = np.array(pairs, dtype=np.int64)
    held = [(row.cluster, row.criterion) for row in rows if row.b2 and int(row.reference) * 2 + int(row.b2) in pairs]
    assert support.n_clusters(wanted) == len({cluster for cluster, _ in held})
    for position, name in enumerate(("1", "2")):
        expected = len({cluster for cluster, criterion in held if criterion == name})
        assert support.n_clusters(wanted, position) == expected


def test_support_of_a_judge_without_verdicts_is_nobody(many) -> None:
    support = tally_support(many[1], 1)
    assert support is not None
    assert support.n_clusters(np.arange(4)) == 0


def test_no_support_where_units_are_clusters() -> None:
    with opened([Slot("r", "q", "1", "1", "1", "0")]) as table:
        assert tally_support(table, 0) is None


def test_no_support_where_labels_outgrow_a_mask() -> None:
    columns = ("response", "reference", "verdict")
    rows = [(f"r{n}", str(n % 8), str(n % 7)) for n in range(2_060)]
    with opened(rows, columns, judge=(), levels=tuple("01234567"), scale="ordinal") as table:
        assert table.units.grouped
        assert tally_support(table, 0) is None
    with opened(rows, columns, judge=(), levels=tuple("01234567")[:7], scale="ordinal", na=("7",)) as table:
        support = tally_support(table, 0)
        assert support is not None
        assert support.n_clusters(np.arange(49)) == sum(n % 8 != 7 for n in range(2_060))
        assert support.n_clusters(np.array([48])) == sum(n % 8 == 6 and n % 7 == 6 for n in range(2_060))
