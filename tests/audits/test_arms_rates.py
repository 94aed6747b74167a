"""Planted label effects, words and equivalence, called at their stated rates: a short run here, a long one in the slow layer.

Marks are not clipped, learners differ, and every mean is known: where all errors have one sign, the change of the mean
absolute error is minus the drift.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from arm_samples import LABELS, labelled

from evenhand.auditing import run_audit
from evenhand.audits.arms import _label_effect
from evenhand.audits.arms_accuracy import accuracy
from evenhand.audits.arms_labels import label_arms
from evenhand.audits.arms_toward import toward
from evenhand.audits.arms_view import views
from evenhand.audits.arms_words import verdicts, with_calls
from evenhand.audits.families import taken_together
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec

SEED = 20
N_SHORT, N_LONG = 60, 1_500


@pytest.fixture(scope="module")
def base():
    """The evidence of one run: 24 learners in two tails, 5 responses each; worlds change its marks alone."""
    with Engine() as engine:
        session = run_audit(
            engine, [labelled(seed=0)], Spec.of(**{**LABELS, "response": ("response_id",), "judge": ("mark",)})
        )
        yield session.evidence[0]


def worlds(base, n, *, drift, swapped, bias, parts=("label_effect",), noise=0.6, learners=0.4, spread=0.2, seed=SEED):
    """Estimates by id of n worlds; drift, swapped and bias are of the high and the low tail."""
    arms, rng = base.arms, np.random.default_rng(seed)
    tails = np.array([arms.tails.index("high"), arms.tails.index("low")])
    position = {int(tail): at for at, tail in enumerate(tails)}
    tail = np.array([position[int(one)] for one in arms.tail])
    of_arm = {"control": (0.0, 0.0), "true": drift, "swapped": swapped}
    shift = np.array([of_arm[name] for name in arms.names])
    tail_of_grading, learner = tail[arms.response], arms.each_learner
    n_learners = int(learner.max()) + 1
    for _ in range(n):
        shared = rng.normal(0, learners, n_learners)[learner] + rng.normal(0, 0.3, arms.n_responses)
        moved = rng.normal(
            0, spread, (len(arms.names), n_learners)
        )  # what a label does differs from learner to learner
        error = np.array(bias)[tail_of_grading] + shared[arms.response] + shift[arms.arm, tail_of_grading]
        error = error + moved[arms.arm, learner[arms.response]] + rng.normal(0, noise, len(arms.mark))
        plan = replace(base.plan, members=[], n_resamples=100)
        world = replace(base, arms=replace(arms, mark=arms.reference[arms.response] + error), plan=plan)
        (view,) = views(world)
        found = []
        if "label_effect" in parts:
            found += _label_effect(view, label_arms(view)[0])
        if "toward" in parts:
            found += toward(view)
        if "accuracy" in parts:
            found += accuracy(view)
        found = with_calls(taken_together(found, plan), {}, 0.95)
        yield {one.id: one for one in [*found, *verdicts(found, {}, 0.95)]}


def band(rate, n, z=3.3):
    """Shares of n that chance lets stand for a true one: 999 of 1,000 of them."""
    half = z * np.sqrt(rate * (1 - rate) / n) + 0.5 / n
    return rate - half, rate + half


def coverage(base, n):
    ids = {
        "label_effect/true-swapped": 0.6,
        "label_effect[tail=high]/true-swapped": 0.8,
        "label_effect[tail=low]/true-swapped": 0.4,
    }
    hit = Counter()
    for found in worlds(base, n, drift=(0.4, -0.2), swapped=(-0.4, 0.2), bias=(-1.0, 0.3)):
        hit.update(name for name, truth in ids.items() if found[name].ci_low <= truth <= found[name].ci_high)
    return [hit[name] / n for name in ids]


def words(base, n, **planted):
    """Shares of the words of the true label by tail."""
    tally = {tail: Counter() for tail in ("high", "low")}
    for found in worlds(base, n, parts=("toward",), **planted):
        for tail, counts in tally.items():
            counts[found[f"toward_away[tail={tail}]/true-control"].reason.split(":")[0].split(";")[0]] += 1
    return {tail: {word: count / n for word, count in counts.items()} for tail, counts in tally.items()}


def flags(base, n, drift):
    """Shares of gains and of changes shown to be inside ±0.10, where the error changes by minus the drift."""
    gain = inside = 0
    planted = {
        "drift": (drift, drift),
        "swapped": (0.0, 0.0),
        "bias": (-6.0, -6.0),
        "noise": 0.15,
        "learners": 0.1,
        "spread": 0.03,
    }
    for found in worlds(base, n, parts=("accuracy",), **planted):
        gain += found["equivalence[metric=mae]/true-control"].reason.startswith("gain")
        inside += int(found["equivalence[metric=mae,quantity=inside]/true-control"].estimate)
    return gain / n, inside / n


def check_coverage(base, n):
    low, high = band(0.95, n)
    assert all(low <= share <= min(high + 0.01, 1) for share in coverage(base, n))


def check_words(base, n):
    # nothing moves: a word that claims a move is called in at most 5 % of worlds over both tails
    still = words(base, n, drift=(0.0, 0.0), swapped=(0.0, 0.0), bias=(-1.0, -1.0))
    claimed = sum(1 - shares.get("no move shown", 0) for shares in still.values())
    assert claimed <= band(0.05, n)[1]
    # the true label moves strong work up and weak work down, on a judge who is harsh on both
    moved = words(base, n, drift=(0.6, -0.6), swapped=(-0.6, 0.6), bias=(-1.0, -1.0))
    assert moved["high"]["toward"] >= 0.8
    assert moved["low"]["away"] >= 0.8
    assert moved["high"].get("away", 0) + moved["low"].get("toward", 0) <= band(0.001, n)[1]
    # past the reference: nearer in the high tail, farther in the low one
    past = words(base, n, drift=(1.3, 3.2), swapped=(0.0, 0.0), bias=(-1.0, -1.0))
    assert past["high"].get("overshoots, farther", 0) <= band(0.025, n)[1]
    assert past["low"].get("overshoots, farther", 0) >= 0.7
    assert past["low"].get("overshoots, nearer", 0) <= band(0.005, n)[1]


def check_equivalence(base, n):
    gain, inside = flags(base, n, 0.0)
    assert gain <= band(0.025, n)[1]
    assert inside >= 0.9
    at_margin = flags(base, n, 0.10)
    assert at_margin[1] <= band(0.05, n)[1]
    assert flags(base, n, 0.5)[0] >= 0.95


def test_label_effects_are_covered(base) -> None:
    check_coverage(base, N_SHORT)


def test_words_are_called_at_their_rates(base) -> None:
    check_words(base, N_SHORT)


def test_equivalence_is_called_at_its_rates(base) -> None:
    check_equivalence(base, N_SHORT)


@pytest.mark.slow
def test_label_effects_are_covered_at_length(base) -> None:
    check_coverage(base, N_LONG)


@pytest.mark.slow
def test_words_are_called_at_their_rates_at_length(base) -> None:
    check_words(base, N_LONG)


@pytest.mark.slow
def test_equivalence_is_called_at_its_rates_at_length(base) -> None:
    check_equivalence(base, N_LONG)
