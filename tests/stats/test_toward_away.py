"""Words toward and away: every rule by hand, the words of a published table, and what must hold whatever the numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.toward_away import (
    AWAY,
    DISTANCE_UNRESOLVED,
    FARTHER,
    MIXED,
    NEARER,
    NO_MOVE,
    NO_MOVE_SHOWN,
    TOWARD,
    UNRESOLVED,
    Finding,
    as_published,
    call,
    overall,
)

YES, NO = True, False


@pytest.mark.parametrize(
    ("drift", "bias", "arm_bias", "gained", "word"),
    [
        # the drift's interval holds 0: no move is shown, whatever the bias; "no move" only inside a margin
        (Finding(0.1, NO), Finding(-1.0, YES), -0.9, Finding(0.1, NO), NO_MOVE_SHOWN),
        (Finding(0.01, NO, inside=True), Finding(-1.0, YES), -0.99, Finding(0.01, NO), NO_MOVE),
        (Finding(0.1, NO), Finding(0.0, NO), 0.1, Finding(-0.1, NO), NO_MOVE_SHOWN),
        # a resolved drift inside the margin is a move all the same
        (Finding(0.05, YES, inside=True), Finding(-1.0, YES), -0.95, Finding(0.05, YES), TOWARD),
        # it moves, but where it starts from is not known
        (Finding(0.5, YES), Finding(-0.1, NO), 0.4, Finding(-0.3, YES), UNRESOLVED),
        # along the bias
        (Finding(0.5, YES), Finding(0.4, YES), 0.9, Finding(-0.5, YES), AWAY),
        (Finding(-0.5, YES), Finding(-0.4, YES), -0.9, Finding(-0.5, YES), AWAY),
        # against the bias, still on the same side, or exactly on the reference
        (Finding(0.5, YES), Finding(-0.8, YES), -0.3, Finding(0.5, YES), TOWARD),
        (Finding(-0.5, YES), Finding(0.8, YES), 0.3, Finding(0.5, YES), TOWARD),
        (Finding(0.8, YES), Finding(-0.8, YES), 0.0, Finding(0.8, YES), TOWARD),
        # past the reference: by the paired interval of the distance gained
        (Finding(1.0, YES), Finding(-0.8, YES), 0.2, Finding(0.6, YES), NEARER),
        (Finding(2.5, YES), Finding(-0.8, YES), 1.7, Finding(-0.9, YES), FARTHER),
        (Finding(1.5, YES), Finding(-0.8, YES), 0.7, Finding(0.1, NO), DISTANCE_UNRESOLVED),
    ],
)
def test_each_rule(drift, bias, arm_bias, gained, word) -> None:
    assert call(drift, bias, arm_bias, gained) == word


@pytest.mark.parametrize(
    ("words", "one"),
    [
        ((UNRESOLVED, TOWARD), UNRESOLVED),
        ((DISTANCE_UNRESOLVED, AWAY), UNRESOLVED),
        ((TOWARD, AWAY), MIXED),
        ((NEARER, FARTHER), MIXED),
        ((TOWARD, TOWARD), TOWARD),
        ((TOWARD, NO_MOVE_SHOWN), TOWARD),
        ((NO_MOVE, AWAY), AWAY),
        ((TOWARD, NEARER), "nearer"),
        ((FARTHER, AWAY), "farther"),
        ((NO_MOVE, NO_MOVE), NO_MOVE),
        ((NO_MOVE, NO_MOVE_SHOWN), NO_MOVE_SHOWN),
    ],
)
def test_one_word_for_all_tails(words, one) -> None:
    assert overall(words) == one


@pytest.mark.parametrize("word", [NEARER, FARTHER, DISTANCE_UNRESOLVED])
def test_the_published_rule_counts_an_overshoot_as_away(word) -> None:
    assert as_published(word) == AWAY


@pytest.mark.parametrize(
    ("bias", "drift", "resolved", "words", "model"),
    [
        # printed for six models: control bias high/low, drift of the true label (bias under it less the control's) high/low
        ((0.20, 0.49), (0.24, -0.22), ((YES, NO), (YES, YES)), (UNRESOLVED, TOWARD), UNRESOLVED),
        ((-1.30, -0.46), (0.08, -0.26), ((YES, YES), (YES, YES)), (TOWARD, AWAY), MIXED),
        ((-0.98, 0.08), (0.01, -0.52), ((NO, YES), (YES, NO)), (NO_MOVE, UNRESOLVED), UNRESOLVED),
        ((-1.52, -0.41), (0.23, -0.34), ((YES, YES), (YES, YES)), (TOWARD, AWAY), MIXED),
        ((-1.79, -0.83), (0.16, -0.11), ((YES, YES), (YES, YES)), (TOWARD, AWAY), MIXED),
        ((-1.19, -0.40), (0.53, -0.02), ((YES, YES), (NO, YES)), (TOWARD, NO_MOVE), TOWARD),
    ],
)  # fmt: skip
def test_words_of_a_published_table(bias, drift, resolved, words, model) -> None:
    found = []
    for start, move, (has_moved, has_bias) in zip(bias, drift, resolved, strict=True):
        gained = Finding(abs(start) - abs(start + move), NO)
        found.append(as_published(call(Finding(move, has_moved), Finding(start, has_bias), start + move, gained)))
    assert tuple(found) == words
    assert overall(found) == model


values = st.floats(-5, 5).filter(lambda x: abs(x) > 1e-6)


@given(values, values, st.booleans(), st.booleans(), st.booleans())
def test_the_word_does_not_depend_on_the_direction_of_the_scale(bias, drift, moved, known, told) -> None:
    def word(sign):
        gained = Finding(abs(bias) - abs(bias + drift), told)
        return call(Finding(sign * drift, moved), Finding(sign * bias, known), sign * (bias + drift), gained)

    assert word(1) == word(-1)


@given(values, values)
def test_nearer_and_farther_follow_the_distance(bias, drift) -> None:
    gained = abs(bias) - abs(bias + drift)
    word = call(Finding(drift, YES), Finding(bias, YES), bias + drift, Finding(gained, YES))
    assert (word in (TOWARD, NEARER)) == (gained > 0)


@given(st.lists(st.sampled_from([NO_MOVE, NO_MOVE_SHOWN, UNRESOLVED, TOWARD, AWAY, NEARER, FARTHER, DISTANCE_UNRESOLVED]), min_size=1, max_size=4))  # fmt: skip
def test_the_order_of_tails_does_not_matter(words) -> None:
    assert overall(words) == overall(words[::-1])
    assert (overall(words) == UNRESOLVED) == any(word in (UNRESOLVED, DISTANCE_UNRESOLVED) for word in words)
