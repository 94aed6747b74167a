"""What is drawn, asserted on the description and not on pixels."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report import drawings
from evenhand.report.drawings import ForestRow, LineErrors, Panel
from evenhand.report.figures import figures
from evenhand.report.svg import Circle, Drawing, Label, Line, Rect, svg
from evenhand.results import Audit

JOINT = [(0, 0, 2), (0, 1, 1), (1, 1, 4), (2, 1, 1), (2, 2, 8)]


def test_totals_draw_both_sides_in_proportion() -> None:
    drawing = drawings.totals("t", JOINT, 2)
    judge, reference = drawing.of(Rect, "judge"), drawing.of(Rect, "reference")
    assert [bar.title for bar in judge if isinstance(bar, Rect) and bar.title] == [
        "total 0, judge: 2 responses",
        "total 1, judge: 6 responses",
        "total 2, judge: 8 responses",
    ]
    heights = [bar.height for bar in reference if isinstance(bar, Rect) and bar.title]
    assert heights[0] / heights[2] == pytest.approx(3 / 9)
    assert "16 responses" in drawing.description


def test_many_totals_share_bins_and_lose_no_response() -> None:
    joint = [(at, at, at + 1) for at in range(101)]
    bars = [bar for bar in drawings.totals("t", joint, 100).of(Rect, "judge") if isinstance(bar, Rect) and bar.title]
    assert len(bars) <= 41
    counted = [int(bar.title.split(": ")[1].split(" ")[0].replace(",", "")) for bar in bars]
    assert sum(counted) == sum(range(1, 102))


def test_bubbles_grow_with_the_root_of_the_count_and_the_diagonal_is_there() -> None:
    drawing = drawings.joint_totals("j", JOINT, 2)
    by_title = {mark.title: mark.r for mark in drawing.marks if isinstance(mark, Circle)}
    assert by_title["reference 2, judge 2: 8 responses"] / by_title["reference 0, judge 0: 2 responses"] == 2
    assert len(drawing.of(Line, "diagonal")) == 1
    assert "higher on 1, equal on 14 and lower on 1 responses" in drawing.description
    above = next(
        mark for mark in drawing.marks if isinstance(mark, Circle) and mark.title.startswith("reference 0, judge 1")
    )
    below = next(
        mark for mark in drawing.marks if isinstance(mark, Circle) and mark.title.startswith("reference 2, judge 1")
    )
    assert above.y == below.y
    assert above.x < below.x


def test_errors_by_line_say_what_the_worst_hold() -> None:
    lines = [LineErrors("a", 5, 1), LineErrors("b", 3, 0), LineErrors("c", 0, 1), LineErrors("d", 0, 0)]
    drawing = drawings.errors_by_line("e", lines, n_worst=2)
    said = [mark.text for mark in drawing.marks if isinstance(mark, Label)]
    assert "2 lines: 9 of 10 errors, 90.0 %" in said
    assert "1 line without an error" in said
    assert len([bar for bar in drawing.of(Rect, "accept") if isinstance(bar, Rect) and bar.title]) == 2
    assert len(drawing.of(Rect, "reject rest")) == 1


def test_no_errors_are_said_to_be_none() -> None:
    drawing = drawings.errors_by_line("e", [LineErrors("a", 0, 0), LineErrors("b", 0, 0)])
    assert "no errors" in [mark.text for mark in drawing.marks if isinstance(mark, Label)]


def test_thousands_of_lines_are_counted_not_drawn() -> None:
    drawing = drawings.errors_by_line("e", [LineErrors(f"l{at}", 1, 0) for at in range(2_000)])
    assert sum(isinstance(mark, Rect) and bool(mark.title) for mark in drawing.marks) == 60
    assert "1,940 lines with fewer" in [mark.text for mark in drawing.marks if isinstance(mark, Label)]


def test_forest_draws_no_bar_without_an_interval_and_no_point_without_a_value() -> None:
    rows = (
        ForestRow("full", 0.5, 0.4, 0.6, "50.0 %"),
        ForestRow("no interval", 0.5, None, None, "50.0 %"),
        ForestRow("undefined", None, None, None, "undefined"),
    )
    drawing = drawings.forest("f", [Panel("p", rows, percent=True)])
    assert len(drawing.of(Circle, "point")) == 1
    assert len(drawing.of(Circle, "point-alone")) == 1
    assert len(drawing.of(Line, "interval")) == 3
    assert "undefined" in [mark.text for mark in drawing.marks if isinstance(mark, Label)]


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_ticks_cover_their_range(low: float, width: float) -> None:
    ticks = drawings.nice_ticks(low, low + width)
    assert ticks == sorted(ticks)
    assert len(ticks) <= 12
    assert ticks[-1] >= low + width - 1e-6 * max(abs(low), width, 1)
    assert ticks[0] <= low + 1e-6 * max(abs(low), width, 1)


@given(st.lists(st.tuples(st.text(max_size=40), st.integers(0, 99), st.integers(0, 99)), max_size=80))
def test_any_name_gives_well_formed_svg(lines: list[tuple[str, int, int]]) -> None:
    drawing = drawings.errors_by_line("e", [LineErrors(*line) for line in lines])
    root = ElementTree.fromstring(svg(drawing))  # noqa: S314
    assert root.attrib["role"] == "img"
    assert {child.tag for child in root} <= {"title", "desc", "rect", "line", "text", "circle"}


def test_drawings_of_the_example_bank(demo: Audit) -> None:
    found = {figure.drawing.title: figure for figure in figures(demo, "judge", "judge-1")}
    assert len(found) == 4
    lines = found["Errors by line, the most first"].drawing
    assert "5 lines: 25 of 85 errors, 29.4 %" in [mark.text for mark in lines.marks if isinstance(mark, Label)]
    totals = found["Distribution of totals, judge and reference"]
    assert sum(int(row[1]) for row in totals.rows) == 180 == sum(int(row[2]) for row in totals.rows)
    assert all(figure.rows for figure in found.values())


def test_no_colour_stands_in_a_drawing() -> None:
    text = svg(drawings.totals("t", JOINT, 2)) + svg(drawings.joint_totals("j", JOINT, 2))
    assert "fill=" not in text
    assert "stroke=" not in text
    assert "style=" not in text


def test_a_drawing_is_named_for_readers_who_do_not_see_it() -> None:
    root = ElementTree.fromstring(svg(Drawing("d", "a title", "what it shows", 10, 10)))  # noqa: S314
    assert root.attrib["aria-labelledby"] == "d-title d-desc"
    assert [child.text for child in root] == ["a title", "what it shows"]
