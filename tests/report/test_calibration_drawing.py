"""The reliability diagram: bubbles by their verdicts, fits that stay on the axes, a diagonal, shares in percent."""

import itertools

from evenhand.report.calibration_drawing import Axes, Spot, reliability
from evenhand.report.svg import Circle, Label, Line

SPOTS = [Spot(1, 2, 4, -3.0, 2.0), Spot(5, 4, 16, 4.5, 4.0), Spot(9, 8, 1, 12.0, 8.0)]


def drawn(spots=SPOTS, **axes):
    return reliability("a-name", "Title", "Words.", spots, Axes("said", "seen", **axes))


def test_bubbles_have_areas_by_their_verdicts():
    circles = drawn().of(Circle)
    by_place = {circle.x: circle.r for circle in circles}
    (_, four), (_, sixteen), (_, one) = sorted(by_place.items())
    assert four == sixteen / 2
    assert one >= 2
    assert any("said 5.000: seen 4.000 over 16 verdicts" in circle.title for circle in circles)


def test_nothing_leaves_the_box_however_steep_a_fit_is():
    drawing = drawn()
    for line in drawing.of(Line):
        for x, y in ((line.x1, line.y1), (line.x2, line.y2)):
            assert 0 <= x <= drawing.width
            assert 0 <= y <= drawing.height
    for label in drawing.of(Label):
        assert 0 <= label.y <= drawing.height


def test_both_fits_are_drawn_and_named_where_there_are_some():
    words = [label.text for label in drawn().of(Label)]
    assert {"fitted line", "isotonic step", "both the same"} <= set(words)
    bare = drawn([Spot(0.2, 0.3, 5), Spot(0.9, 0.8, 7)], percent=True)
    words = [label.text for label in bare.of(Label)]
    assert "fitted line" not in words
    assert {"0 %", "100 %"} <= set(words)


def test_one_spot_alone_is_drawn():
    assert len(drawn([Spot(3, 3, 2)]).of(Circle)) == 1
    assert len({circle.x for circle in drawn([Spot(3, 4, 2)]).of(Circle)}) == 1


def test_the_larger_bubbles_lie_below_the_smaller_ones():
    radii = [circle.r for circle in drawn().of(Circle)]
    assert all(a >= b for a, b in itertools.pairwise(radii))
