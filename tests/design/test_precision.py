"""Half-widths of agreement: those of the default interval, narrower with more units, and the size that would do does."""

from collections.abc import Callable

import numpy as np
import pytest

from evenhand.design.calls import Design
from evenhand.design.plan import FloorPart, ScalePart
from evenhand.design.precision import _widths, precision_of
from evenhand.design.worlds import Shape, assumptions_of

MakeDesign = Callable[..., Design]


def a_shape(units: int, rows: int = 10) -> Shape:
    truth = np.tile([1.0, 0.0], units * rows // 2)
    return Shape(truth, np.full(units, rows), np.zeros(units, dtype=np.int64), ("",))


def of(scale: ScalePart, **said: float):
    return assumptions_of(FloorPart(**said), scale, is_contrast=False, known_truth=True)


def test_accuracy_without_clustering_has_about_the_binomial_half_width() -> None:
    accuracy, kappa = _widths(
        a_shape(40), of(ScalePart(kind="binary"), error_rate=0.2, flip_rate=0, icc=0), 0.05, 200, 0
    )
    assert accuracy.middle == pytest.approx(2.02 * np.sqrt(0.16 / 400), rel=0.1)
    assert (accuracy.statistic, kappa.statistic) == ("observed_agreement", "cohen_kappa")
    assert accuracy.middle < accuracy.in_most < kappa.middle


def test_errors_that_gather_widen_and_more_units_narrow() -> None:
    binary = ScalePart(kind="binary")
    even, gathered = (_widths(a_shape(20), of(binary, icc=icc), None, 150, 1)[0].middle for icc in (0.0, 0.3))
    assert gathered > 1.3 * even
    assert _widths(a_shape(80), of(binary, icc=0.3), None, 150, 1)[0].middle < 0.65 * gathered


def test_marks_are_read_for_bias_and_weighted_kappa() -> None:
    scale = ScalePart(kind="ordinal", levels=tuple(range(11)))
    shape = Shape(np.tile(np.arange(10.0), 30), np.full(30, 10), np.zeros(30, dtype=np.int64), ("",))
    bias, kappa = _widths(shape, of(scale, unit_sd=0, repeat_sd=0, mark_sd=1.0, step=0), None, 100, 2)
    assert (bias.statistic, kappa.statistic) == ("bias", "quadratic_weighted_kappa")
    assert bias.middle == pytest.approx(2.05 * 1.0 / np.sqrt(300), rel=0.15)
    assert 0 < kappa.middle < 0.1


def test_two_units_with_hardly_any_error_are_refused_in_words(
    design_of: MakeDesign, grader: str, rows: list[tuple[str, ...]]
) -> None:
    plan = grader.split("[[arm]]")[0] + "[draw]\nn = 12\n[floor]\nhalf_width = 0.2\n"
    found = precision_of(design_of(plan), worlds=100)
    assert found is not None
    assert (found.verdict, found.unit) == ("refused", "cluster")
    assert "unanswerable at this size: half-width of bias at most 0.2" in found.reason
    assert found.would_do is not None
    assert found.would_do.units > found.n_units


def test_without_a_target_it_only_reports(design_of: MakeDesign, grader: str) -> None:
    found = precision_of(design_of(grader.split("[[arm]]")[0]), worlds=100)
    assert found is not None
    assert (found.verdict, found.would_do) == ("open", None)
    assert precision_of(design_of(grader), worlds=100) is None
