"""Every shared oracle of the loop and of the reliability of a mean, read from the list itself."""

import json
from pathlib import Path

import numpy as np
import pytest

from evenhand.simulate.loop import Course
from evenhand.stats import loop as of
from evenhand.stats.generalizability import reliability_of_mean

LIST = Path(__file__).resolve().parents[2].parent / "shared" / "oracles" / "oracles.json"
pytestmark = pytest.mark.skipif(not LIST.is_file(), reason="the shared oracle list (../shared) is absent")


def records(estimator):
    found = [one for one in json.loads(LIST.read_text(encoding="utf-8"))["records"] if one["estimator"] == estimator]
    assert found
    return found


def test_feedback_loop_linear() -> None:
    for record in records("feedback_loop_linear"):
        expected, mass = record["expected"], record["input"]["M"]
        kept = of.kept_share(2.5 * 4)
        assert record["input"]["decay"] == "(1+0.1*2.5*4)^-0.5"
        closed = (kept, of.held_evidence(kept, mass), of.weight_of_mark(kept, mass), of.runaway_effect(kept, mass))
        assert closed == pytest.approx([expected[name] for name in ("r", "n_star", "w", "gamma_star")], abs=5e-9)
        latent, fitted = (np.array(record["params"][name]) for name in ("gamma_latent", "gamma_fitted"))
        assert np.round(of.eigenvalue(latent, kept, mass), 3).tolist() == expected["eigen"]
        assert np.round(of.runaway_multiple(latent, kept, mass), 1).tolist() == expected["runaway_latent"]
        # the fits are printed to three decimals: some fit that rounds to each gives its printed multiple
        least, most = (of.runaway_multiple(fitted + off, kept, mass) for off in (0.0005, -0.0005))
        printed = np.array(expected["runaway_fitted"])
        assert ((least - 0.05 <= printed) & (printed <= most + 0.05)).all()


def test_the_default_course_is_that_of_the_oracle() -> None:
    (record,) = records("feedback_loop_linear")
    course = Course()
    assert course.kept == pytest.approx(record["expected"]["r"], abs=5e-9)
    assert course.mass == record["input"]["M"]


def test_reliability_of_mean() -> None:
    for record in records("reliability_of_mean"):
        found = reliability_of_mean(record["input"]["r"], record["input"]["k"])
        assert found == pytest.approx(record["expected"]["reliability"], abs=record["tolerance"])
