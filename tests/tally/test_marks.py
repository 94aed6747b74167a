"""`tally/marks.py`."""

import polars as pl
import pytest

from evenhand.importers.frames import read_frame
from evenhand.tally.cells import tally_cells
from evenhand.tally.marks import level_values, mark_totals, paired_marks, whole_factor
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import read_slots
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import build_table


@pytest.mark.parametrize(
    ("levels", "factor"),
    [
        (("1", "2"), 1),
        (("0.5", "2"), 10),
        (("0.25", "1.5"), 100),
        (("1e-05",), 100_000),
        (("0.12345678912",), 1),
        ((), 1),
    ],
)
def test_decimals_become_whole(levels, factor):
    assert whole_factor(levels) == factor


@pytest.fixture
def cells_and_scale():
    rows = {"response": [f"r{n}" for n in range(40)], "cluster": [f"q{n % 3}" for n in range(40)]}
    data = pl.DataFrame(
        {**rows, "judge": [f"{n / 10:g}" for n in range(40)], "reference": [f"{n / 10 + 0.1:g}" for n in range(40)]}
    )
    with Engine() as engine:
        spec = Spec.of(response="response", cluster="cluster", judge="judge", reference="reference", scale="continuous")
        table = build_table(read_slots(engine, spec, [read_frame(engine, data, "frame")]))
        yield tally_cells(table, 0), table.scale


def test_sums_of_tenths_are_exact(cells_and_scale):
    cells, scale = cells_and_scale
    marks = paired_marks(cells, scale)
    assert marks.factor == 10
    assert marks.sums().sum(axis=0).tolist() == [
        40, sum(range(1, 41)), sum(range(40)), sum(n * n for n in range(1, 41)), sum(n * n for n in range(40)),
        sum(n * (n + 1) for n in range(40)), 40,
    ]  # fmt: skip
    totals, factor = mark_totals(cells.judged, scale, side="judge")
    assert (factor, totals.sum(axis=0).tolist()) == (10, [40, sum(range(40)), sum(n * n for n in range(40))])


def test_steps_are_within_the_declared_range(cells_and_scale):
    marks = paired_marks(*cells_and_scale)
    free, held = marks.steps(None), marks.steps((0.5, 3.2))
    assert (free.low, free.high, free.n_levels) == (0, 4, 5)
    assert (held.low, held.high, int(held.reference.max())) == (1, 3, 2)
    assert marks.rounded(held).judge.max() == 3


def test_words_count_by_position():
    class Letters:
        levels, size = ("F", "C", "A"), 3

    values, own = level_values(Letters)
    assert (values.tolist(), own) == ([0, 1, 2], False)
