"""What rounding and clipping do to a grader's line, and the line that lies behind its marks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.stats import loop as of
from evenhand.stats.loop_clipping import (
    Answers,
    Marks,
    as_grader,
    as_vector,
    attenuation_curve,
    expected_mark,
    latent_grader,
)

TEN, CLIPPED = Marks(0, 10), Marks(0, 10, whole=False)
MID = 5.0
NAMES = ("intercept", "slope", "label_effect", "shift", "interaction", "noise")


def grader(intercept=1.3, slope=0.8, effect=0.2, shift=-0.1, interaction=-0.03, noise=1.3) -> of.Grader:
    return of.Grader(*map(np.asarray, (intercept, slope, effect, shift, interaction, noise)))


def run(rng, n: int, one: of.Grader, marks: Marks, learners: int = 33):
    """Rows of n answers of learners in two tails under their own and another's label."""
    ability = np.where(rng.random(learners) < 0.5, rng.uniform(6, 9, learners), rng.uniform(1, 4, learners))
    who = rng.integers(0, learners, n)
    t = np.clip(np.floor(ability[who] + 1.5 * rng.standard_normal(n) + 0.5), 0, 10)

    def mark(line):
        line = line + one.noise * rng.standard_normal(n)
        return np.clip(np.floor(line + 0.5) if marks.whole else line, 0, 10)

    line = one.intercept + one.slope * t
    labels = np.round(ability, 1)[who], np.round(10 - ability, 1)[who]
    marked = [mark(line + one.shift + one.label_effect * (x - MID) + one.interaction * (t - MID)) for x in labels]
    control = np.tile(mark(line), 2)
    return np.tile(t, 2), control, np.concatenate(marked), np.concatenate(labels), np.tile(who, 2)


def straightened(rng, n: int, one: of.Grader, marks: Marks):
    t, control, labelled, label, who = run(rng, n, one, marks)
    sums = of.label_sums(t, control, labelled, label, MID, who, 33, n_labels=2)
    return of.fit_grader(sums.sum(axis=0), MID), latent_grader(sums.sum(axis=0), Answers.of(t, label), marks, 2)


def test_expected_mark_by_hand_and_by_quadrature() -> None:
    assert expected_mark([2.49, 2.5, -3, 99], 0.0, TEN)[0].tolist() == [2, 3, 0, 10]
    assert expected_mark([2.49, -3, 99], 0.0, CLIPPED)[1].tolist() == [2.49**2, 0, 100]
    # at the middle of two levels and little noise, half of the marks are either
    mean, square = expected_mark(2.5, 0.01, TEN)
    assert (mean, square) == (pytest.approx(2.5, abs=1e-12), pytest.approx((4 + 9) / 2, abs=1e-12))
    z = np.linspace(-8, 8, 400_001)
    density = np.exp(-(z**2) / 2)
    for marks, seen in ((TEN, np.clip(np.floor(9.3 + 1.4 * z + 0.5), 0, 10)), (CLIPPED, np.clip(9.3 + 1.4 * z, 0, 10))):
        mean, square = expected_mark(9.3, 1.4, marks)
        assert mean == pytest.approx((seen * density).sum() / density.sum(), abs=1e-5)
        assert square == pytest.approx((seen**2 * density).sum() / density.sum(), abs=1e-3)


def test_clipping_attenuates_as_the_curve_says_and_the_inversion_reads_it_backwards() -> None:
    rng, one = np.random.default_rng(4), grader(0.0, 1.0, 0.4, 0.0, 0.0, 1.5)
    fitted, latent = straightened(rng, 20_000, one, TEN)
    effects = np.linspace(0, 1, 41)
    curve = attenuation_curve(latent.grader, latent.answers, effects, TEN)
    assert (np.diff(curve) > 0).all()
    assert (curve[1:] < effects[1:]).all()
    assert fitted.label_effect < 0.37
    assert np.interp(fitted.label_effect, curve, effects) == pytest.approx(float(latent.grader.label_effect), abs=2e-3)
    assert latent.grader.label_effect == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize("marks", [TEN, CLIPPED], ids=["rounded and clipped", "clipped"])
@pytest.mark.parametrize(
    "one", [grader(), grader(-0.5, 1.2, 0.6, 0.2, -0.05, 1.5), grader(1.5, 0.55, 0.11, -0.15, -0.02, 1.2)]
)
def test_planted_graders_are_recovered_within_monte_carlo_error(one: of.Grader, marks: Marks) -> None:
    rng = np.random.default_rng(1)
    found = [straightened(rng, 300, one, marks)[1] for _ in range(40)]
    vectors = np.array([np.array([float(getattr(each.grader, name)) for name in NAMES]) for each in found])
    error = vectors.std(axis=0, ddof=1) / np.sqrt(len(vectors))
    planted = [float(getattr(one, name)) for name in NAMES]
    assert np.abs(vectors.mean(axis=0) - planted).max() < 1
    assert (np.abs(vectors.mean(axis=0) - planted) < 4 * error).all()


def test_the_run_itself_takes_no_step() -> None:
    t, control, labelled, label, who = run(np.random.default_rng(2), 200, grader(), TEN)
    sums = of.label_sums(t, control, labelled, label, MID, who, 33, n_labels=2)
    latent = latent_grader(sums.sum(axis=0), Answers.of(t, label), TEN, 2)
    both = np.concatenate([sums, latent.expected_sums(who, 33, 2)], axis=1)
    assert both.shape == (33, 30)
    assert latent.vectors(both.sum(axis=0)) == pytest.approx(latent.vector, abs=1e-7)
    assert latent.vectors(np.stack([both.sum(axis=0)] * 3)).shape == (3, 6)
    assert as_vector(as_grader(latent.vector)) == pytest.approx(latent.vector, abs=1e-12)


def test_a_step_from_the_whole_is_what_solving_anew_without_a_learner_gives() -> None:
    rng, one = np.random.default_rng(5), grader()
    t, control, labelled, label, who = run(rng, 300, one, TEN)
    sums = of.label_sums(t, control, labelled, label, MID, who, 33, n_labels=2)
    latent = latent_grader(sums.sum(axis=0), Answers.of(t, label), TEN, 2)
    both = np.concatenate([sums, latent.expected_sums(who, 33, 2)], axis=1)
    for left in (0, 7, 20):
        kept = who != left
        anew = latent_grader(sums.sum(axis=0) - sums[left], Answers.of(t[kept], label[kept]), TEN, 2)
        step = latent.vectors(both.sum(axis=0) - both[left])
        assert step[:5] == pytest.approx(anew.vector[:5], abs=2e-3)
        assert step[5] == pytest.approx(anew.vector[5], abs=5e-3)


@settings(max_examples=30, deadline=None)
@given(
    effect=st.floats(-0.3, 0.5), slope=st.floats(0.4, 1.1), noise=st.floats(0.6, 2), interaction=st.floats(-0.1, 0.1)
)
def test_whatever_the_line_its_own_expected_fit_leads_back_to_it(effect, slope, noise, interaction) -> None:
    rng, one = np.random.default_rng(9), grader(5 - 5 * slope, slope, effect, 0.1, interaction, noise)
    t, _, _, label, _ = run(rng, 150, one, TEN)
    answers = Answers.of(t, label)
    curve = attenuation_curve(one, answers, np.array([effect]), TEN)
    wide = attenuation_curve(one, answers, np.array([effect]), Marks(-1000, 1000, whole=False))
    assert wide[0] == pytest.approx(effect, abs=1e-6)
    assert abs(curve[0]) <= abs(effect) + 0.08  # a label that bends the ends may add to it through the reference mark


@pytest.mark.parametrize("what", ["nothing", "all at the top", "one mark"])
def test_marks_that_determine_no_line_give_none(what: str) -> None:
    rng = np.random.default_rng(6)
    t, control, labelled, label, who = run(rng, 100, grader(), TEN)
    if what == "all at the top":
        control, labelled = np.full_like(control, 10.0), np.full_like(labelled, 10.0)
    if what == "one mark":
        t = np.full_like(t, 4.0)
    sums = of.label_sums(t, control, labelled, label, MID, who, 33, n_labels=2).sum(axis=0)
    assert latent_grader(np.zeros(15) if what == "nothing" else sums, Answers.of(t, label), TEN, 2) is None
