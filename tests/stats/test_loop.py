"""The loop's closed forms, and the label effect by least squares."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats import loop as of
from evenhand.stats.binomial import t_quantile
from evenhand.stats.intervals import jackknife_std_error
from evenhand.stats.resampling import leave_one_out

LATENT = np.array([0.1028, 0.11, 0.1544, 0.22])
FITTED = np.array([0.093, 0.1, 0.14, 0.199])
KEPT = of.kept_share(2.5 * 4)
MID = 5.0


def test_oracle_grader_loop_to_the_printed_digit() -> None:
    # grader.loop: r, n*, w and gamma* to 8 decimals, eigenvalues and runaway multiples as printed
    assert pytest.approx(0.70710678, abs=5e-9) == KEPT
    assert of.held_evidence(KEPT) == pytest.approx(4.41421356, abs=5e-9)
    assert of.weight_of_mark(KEPT) == pytest.approx(0.22654092, abs=5e-9)
    assert of.runaway_effect(KEPT) == pytest.approx(1.29289322, abs=5e-9)
    assert [f"{value:.3f}" for value in of.eigenvalue(LATENT, KEPT)] == ["0.730", "0.732", "0.742", "0.757"]
    assert [f"{value:.1f}" for value in of.runaway_multiple(LATENT, KEPT)] == ["12.6", "11.8", "8.4", "5.9"]


def test_oracle_grader_loop_multiples_of_the_fitted_effects() -> None:
    # printed 13.8 13.0 9.3 6.5 from fits of which only three decimals are printed: some fit that rounds to them gives each
    for printed, fit in zip((13.8, 13.0, 9.3, 6.5), FITTED, strict=True):
        most, least = of.runaway_multiple(np.array([fit - 0.0005, fit + 0.0005]), KEPT)
        assert least - 0.05 <= printed <= most + 0.05


def test_closest_linear_form_of_the_multiplier() -> None:
    # the source's multipliers 1.066 1.075 1.111 1.167 are not fixed by its text; ten steady writes a skill give these
    found = of.linear_multiplier(LATENT, KEPT, 10)
    assert found == pytest.approx([1.073, 1.078, 1.113, 1.167], abs=6e-4)
    assert found == pytest.approx([1.066, 1.075, 1.111, 1.167], abs=0.008)


def test_by_hand_without_decay_and_without_effect() -> None:
    assert of.held_evidence(1.0) == math.inf
    assert of.weight_of_mark(1.0) == 0
    assert of.eigenvalue(0.0, 0.5) == 0.5
    assert of.held_evidence(0.5, 2.0) == 5
    assert of.runaway_effect(0.5, 2.0) == 1.25
    assert np.isnan(of.runaway_multiple(np.array([0.0, -0.1]), 0.5)).all()
    assert of.linear_multiplier(0.5, 0.5, 2) == pytest.approx((1 + 0.5 + 0.5 / 3) / 1.5)


@given(effect=st.floats(0.01, 3), kept=st.floats(0.01, 0.99), mass=st.floats(0.1, 10))
def test_the_eigenvalue_is_one_exactly_at_the_runaway_effect(effect: float, kept: float, mass: float) -> None:
    assert of.eigenvalue(of.runaway_effect(kept, mass), kept, mass) == pytest.approx(1, abs=1e-9)
    assert (of.eigenvalue(effect, kept, mass) > 1 + 1e-12) == (of.runaway_multiple(effect, kept, mass) < 1 - 1e-12)


# --- least squares ---


def two_arms(rng, n: int, learners: int, gamma: float = 0.2, noise: float = 1.0):
    """Answers under a true and a swapped label, rows stacked, with a learner's own shift of the label effect."""
    t = np.repeat(rng.integers(0, 11, n), 2).astype(float)
    label = np.tile([2.0, 8.0], n)
    learner = np.repeat(rng.integers(0, learners, n), 2)
    control = 1 + 0.6 * t + np.repeat(noise * rng.standard_normal(n), 2)
    own = 0.1 * rng.standard_normal(learners)[learner]
    labelled = control - 0.1 + (gamma + own) * (label - MID) - 0.05 * (t - MID) + noise * rng.standard_normal(2 * n)
    return t, control, labelled, label, learner


def test_an_exact_line_is_found() -> None:
    rng = np.random.default_rng(1)
    t, control, _, label, learner = two_arms(rng, 50, 10, noise=0)
    labelled = control - 0.3 + 0.15 * (label - MID) + 0.04 * (t - MID)
    found = of.fit_grader(of.label_sums(t, control, labelled, label, MID, learner, 10).sum(axis=0), MID)
    assert found.label_effect == pytest.approx(0.15, abs=1e-10)
    assert (found.shift, found.interaction) == (pytest.approx(-0.3, abs=1e-10), pytest.approx(0.04, abs=1e-10))
    assert (found.intercept, found.slope) == (pytest.approx(1, abs=1e-10), pytest.approx(0.6, abs=1e-10))
    assert found.noise == pytest.approx(0, abs=1e-5)


@given(seed=st.integers(0, 2**32), n=st.integers(6, 40))
def test_sums_give_what_least_squares_on_rows_gives(seed: int, n: int) -> None:
    t, control, labelled, label, learner = two_arms(np.random.default_rng(seed), n, 5)
    sums = of.label_sums(t, control, labelled, label, MID, learner, 5)
    found = of.fit_grader(sums.sum(axis=0), MID)
    if len(np.unique(t)) < 2:
        assert np.isnan(found.slope)
        return
    design = np.stack([np.ones(len(t)), label - MID, t - MID], axis=1)
    shift, effect, interaction = np.linalg.lstsq(design, labelled - control, rcond=None)[0]
    assert [found.shift, found.label_effect, found.interaction] == pytest.approx([shift, effect, interaction], abs=1e-7)
    assert [found.intercept, found.slope] == pytest.approx(np.polyfit(t, control, 1)[::-1], abs=1e-7)
    residual = control - found.intercept - found.slope * t
    assert found.noise == pytest.approx(math.sqrt(residual @ residual / (len(t) - 2)), abs=1e-6)
    # two rows an answer that weigh 1 together: the same line, the noise by answers
    halved = of.fit_grader(of.label_sums(t, control, labelled, label, MID, learner, 5, n_labels=2).sum(axis=0), MID)
    assert halved.label_effect == pytest.approx(found.label_effect, abs=1e-7)
    assert halved.noise == pytest.approx(math.sqrt(residual @ residual / (len(t) - 4)), abs=1e-6)


def test_repeated_controls_give_the_noise_of_a_single_mark() -> None:
    rng = np.random.default_rng(8)
    t = rng.integers(0, 11, 40_000).astype(float)
    single = 1 + 0.6 * t + 1.3 * rng.standard_normal((4, len(t)))
    label, zeros = rng.choice([2.0, 8.0], len(t)), np.zeros(len(t), dtype=int)
    mean, square = single.mean(axis=0), (single**2).mean(axis=0)
    sums = of.label_sums(t, mean, mean, label, MID, zeros, 1, control_square=square)[0]
    assert of.fit_grader(sums, MID).noise == pytest.approx(1.3, abs=0.01)
    assert of.fit_grader(of.label_sums(t, mean, mean, label, MID, zeros, 1)[0], MID).noise == pytest.approx(
        0.65, abs=0.01
    )


def test_learner_spread_by_hand_and_by_simulation() -> None:
    # means 2 and 6 of two learners with marks 1, 3 and 5, 7: MSB = 16, MSW = 2, two answers each
    mean, between, within = of.learner_spread(np.array([1.0, 3, 5, 7]), np.array([0, 0, 1, 1]))
    assert (mean, between, within) == (4, pytest.approx(math.sqrt(7)), pytest.approx(math.sqrt(2)))
    assert of.learner_spread(np.array([1.0, 3, 1, 3]), np.array([0, 0, 1, 1]))[1] == 0
    assert of.learner_spread(np.array([1.0, 3]), np.array([0, 1])) == (2, pytest.approx(math.sqrt(2)), 0)
    assert of.learner_spread(np.array([1.0, 3]), np.array([0, 0]))[:2] == (2, 0)
    rng = np.random.default_rng(3)
    learner = np.repeat(np.arange(20_000), rng.integers(1, 6, 20_000))
    values = 1.2 * rng.standard_normal(20_000)[learner] + 0.7 * rng.standard_normal(len(learner))
    assert of.learner_spread(values, learner) == pytest.approx((0, 1.2, 0.7), abs=0.02)


def test_leading_axes_are_kept() -> None:
    t, control, labelled, label, learner = two_arms(np.random.default_rng(2), 60, 6)
    sums = of.label_sums(t, control, labelled, label, MID, learner, 6)
    stacked = of.fit_grader(leave_one_out(sums), MID)
    kept = learner != 3
    alone = of.label_sums(t[kept], control[kept], labelled[kept], label[kept], MID, learner[kept], 6).sum(axis=0)
    assert stacked.label_effect.shape == (6,)
    assert stacked.label_effect[3] == pytest.approx(of.fit_grader(alone, MID).label_effect, abs=1e-10)


@pytest.mark.parametrize("what", ["one label", "one mark", "label tied to the mark", "nothing"])
def test_what_does_not_vary_is_not_determined(what: str) -> None:
    t, control, labelled, label, learner = two_arms(np.random.default_rng(3), 30, 5)
    if what == "one label":
        label = np.full_like(label, 8.0)
    if what == "one mark":
        t = np.full_like(t, 4.0)
    if what == "label tied to the mark":
        label = t
    sums = of.label_sums(t, control, labelled, label, MID, learner, 5).sum(axis=0)
    found = of.fit_grader(np.zeros(15) if what == "nothing" else sums, MID)
    assert np.isnan(found.label_effect)
    assert np.isnan(found.noise) == (what in ("one mark", "nothing"))


# --- coverage ---


def covered(n_replicates: int, learners: int, seed: int) -> float:
    """Share of 95 % jackknife t intervals over learners that hold the true label effect."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(n_replicates):
        t, control, labelled, label, learner = two_arms(rng, learners * 8, learners)
        sums = of.label_sums(t, control, labelled, label, MID, learner, learners)
        value = of.fit_grader(sums.sum(axis=0), MID).label_effect
        error = jackknife_std_error(of.fit_grader(leave_one_out(sums), MID).label_effect)
        hits += abs(value - 0.2) <= t_quantile(0.975, learners - 1) * error
    return hits / n_replicates


def test_intervals_of_the_label_effect_cover() -> None:
    assert covered(300, 30, 5) > 0.91


@pytest.mark.slow
@pytest.mark.parametrize("learners", [10, 40])
def test_intervals_of_the_label_effect_cover_at_length(learners: int) -> None:
    assert covered(4000, learners, 6) == pytest.approx(0.95, abs=0.015)


def test_a_bend_in_the_label_by_hand() -> None:
    label, reference = np.array([2.0, 5, 9, 2, 5, 9]), np.array([3.0, 3, 3, 7, 7, 7])
    x, unit = label - 5, np.arange(6)
    moved = 0.5 + 0.2 * x - 0.1 * (reference - 5) + 0.03 * x**2
    sums = of.bend_sums(reference, moved, label, 5.0, unit, 6)
    assert float(of.label_bend(sums.sum(axis=0))) == pytest.approx(0.03)
    two = of.bend_sums(reference, moved, np.where(label == 9, 2.0, label), 5.0, unit, 6)
    assert np.isnan(of.label_bend(two.sum(axis=0)))  # two values of the label cannot bend
