"""Curves on shared axes, and a drawing as a file of its own."""

import itertools
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.curves import Curve, Point, curves
from evenhand.report.standalone import svg_file
from evenhand.report.svg import Circle, Label, Line, Rect

numbers = st.floats(-5, 5)
points = st.lists(st.builds(Point, numbers, numbers, st.floats(0, 2)), min_size=1, max_size=5).map(tuple)


def drawn(*made: Curve):
    return curves("a-plot", "title", "description", made, x_words="x", y_words="y")


def test_a_curve_by_hand():
    drawing = drawn(Curve("one", (Point(0, 0), Point(1, 1, 0.2))), Curve("two", (Point(0, 1),)))
    assert len(drawing.of(Circle)) == 3 + 2  # and a sign beside each name
    assert len(drawing.of(Line, "curve")) == 1
    assert len(drawing.of(Line, "interval rest")) == 1
    first, second = [mark for mark in drawing.of(Circle, "point") if mark.title]
    assert first.x < second.x
    assert first.y > second.y  # upwards
    assert second.title == "one, x 1: 1.000"


def test_four_curves_have_signs_of_their_own_beside_their_names():
    drawing = drawn(*(Curve(name, (Point(0, 0.1), Point(1, 0.2))) for name in "abcd"))
    signs = [mark for mark in drawing.marks if isinstance(mark, Circle | Rect) and not mark.title]
    assert len({(type(mark), mark.role) for mark in signs}) == 4
    names = [mark.text for mark in drawing.of(Label, "ink") if mark.text in "abcd"]
    assert names == list("abcd")  # as many signs as names, each on its line
    assert len(drawing.of(Rect)) == 3


@given(made=st.lists(st.builds(Curve, st.sampled_from(["a", "b", "c"]), points), min_size=1, max_size=6))
def test_everything_lies_in_the_box_and_names_do_not_overlap(made: list[Curve]):
    drawing = drawn(*made)
    for mark in drawing.of(Circle):
        assert 0 <= mark.x <= drawing.width
        assert 0 <= mark.y <= drawing.height
    names = sorted(label.y for label in drawing.of(Label, "ink") if label.text in "abc")
    assert len(names) == len(made)
    assert all(later - earlier >= 12.9 for earlier, later in itertools.pairwise(names))


def test_a_file_of_its_own_is_well_formed_titled_and_names_nothing_outside():
    text = svg_file(drawn(Curve("<&>", (Point(0, 0.5),))))
    root = ET.fromstring(text)  # noqa: S314  made above
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert {"viewBox", "width", "height", "role", "aria-labelledby"} <= set(root.attrib)
    assert "title" in [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
