"""`tally/conditions.py`: totals of responses side by side, and labels of items over occasions."""

import numpy as np
import polars as pl
import pytest

from evenhand.importers.frames import read_frame
from evenhand.tally.conditions import split_condition, tally_conditions, tally_repeats
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import read_slots
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import build_table

ROWS = [  # response, criterion, phrasing, occasion, judge, reference
    (r, c, p, o, judge, str(c % 2))
    for r in ("a", "b", "c")
    for c in (1, 2, 3)
    for p, o, judge in (("x", "1", "1"), ("x", "2", str(int(r == "a"))), ("y|z", "1", "0" if c < 3 else ""))
    if not (r == "c" and p == "y|z" and c == 3)
]


def tallied(function, rows=ROWS, **spec):
    names = ("response", "criterion", "phrasing", "occasion", "judge", "reference")
    data = pl.DataFrame({name: [row[at] for row in rows] for at, name in enumerate(names)})
    with Engine() as engine:
        roles = {name: name for name in ("response", "criterion", "judge", "reference", "phrasing", "occasion")}
        reading = read_slots(engine, Spec.of(**{**roles, **spec}), [read_frame(engine, data, "frame")])
        return function(build_table(reading), 0)


@pytest.mark.parametrize(
    ("text", "n", "values"),
    [
        ("a", 1, ("a",)),
        ("a | b", 1, ("a | b",)),
        ("a || b | 2", 2, ("a | b", "2")),
        (" || | 1", 2, (" |", "1")),
        ("a", 2, None),
    ],
)
def test_a_condition_is_taken_apart_as_it_was_put_together(text, n, values):
    assert split_condition(text, n) == values


def test_totals_of_complete_responses_stand_side_by_side():
    found = tallied(tally_conditions)
    assert found.facets == ("phrasing", "occasion")
    assert found.conditions == (("x", "1"), ("x", "2"), ("y|z", "1"))
    assert found.values("phrasing") == ("x", "y|z")
    order = np.argsort(found.totals[:, 1])
    assert found.totals[order, 0].tolist() == [3, 3, 3]
    assert sorted(found.totals[:, 1]) == [0, 0, 3]
    # a and b lack a label on one criterion, c lacks its row: none is complete
    assert np.isnan(found.totals[:, 2]).all()
    assert found.reference.tolist() == [2, 2, 2]
    assert found.count.sum() == 3


def test_marks_are_added_exactly():
    rows = [(r, c, p, "1", f"{0.1 * c + (p == 'y'):.1f}", "") for r in "abc" for c in (1, 2, 3) for p in "xy"]
    found = tallied(tally_conditions, rows, reference=None, scale="continuous")
    assert found.totals.tolist() == [[0.6, 3.6]] * 3
    assert np.isnan(found.reference).all()


def test_one_condition_is_none_to_compare():
    rows = [row for row in ROWS if row[2:4] == ("x", "1")]
    assert tallied(tally_conditions, rows) is None
    assert tallied(tally_repeats, rows) is None
    assert tallied(tally_repeats, occasion=None, rows=[row for row in ROWS if row[3] == "1"]) is None


def test_labels_of_items_over_occasions():
    found = tallied(tally_repeats)
    kinds = {
        tuple(row): n for *row, n in np.stack([found.n, found.same, found.last, found.count], axis=1).tolist() if n
    }
    merged = {}
    for (n, same, last), count in kinds.items():
        merged[n, same, last] = merged.get((n, same, last), 0) + count
    # wording x: item of a says 1 twice, items of b and c once 1 and once 0; wording y|z: one scored repeat an item
    assert merged[2, 4, 2] >= 1
    assert set(merged) == {(2, 4, 2), (2, 2, 1), (1, 1, 0)}
    by_kind = {}
    for n, same, last, count in zip(found.n, found.same, found.last, found.count, strict=True):
        by_kind[int(n), int(same), int(last)] = by_kind.get((int(n), int(same), int(last)), 0) + int(count)
    assert by_kind == {(2, 4, 2): 3, (2, 2, 1): 6, (1, 1, 0): 6}
    assert found.n_occasions == 2
