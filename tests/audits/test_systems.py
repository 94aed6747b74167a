"""Strengths of systems behind pairs, and the win matrix they come from."""

import math

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.stats.pairwise import bradley_terry

PAIR = {"scale": "pairwise", "levels": ("B", "A"), "tie": "tie", "author": ("model_a", "model_b")}


def frame(rows, **more):
    columns = ["model_a", "model_b", "judge"]
    data = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        response=pl.Series([f"r{n}" for n in range(len(rows))]),
        cluster=pl.Series([f"q{n % 4}" for n in range(len(rows))]),
    )
    return data.with_columns(**more)


def test_two_systems_by_hand():
    # x beats y 6 times, loses twice, ties twice: log odds log(7/3), half for each
    rows = [("x", "y", "A")] * 3 + [("y", "x", "B")] * 3 + [("x", "y", "B"), ("y", "x", "A"), ("x", "y", "tie"), ("y", "x", "tie")]  # fmt: skip
    found = evenhand.audit(frame(rows), **PAIR)
    assert found["bradley_terry[system=x]/judge"].estimate == pytest.approx(math.log(7 / 3) / 2, abs=1e-12)
    assert found["bradley_terry[system=y]/judge"].estimate == pytest.approx(-math.log(7 / 3) / 2, abs=1e-12)
    assert found.audit.tables["wins/judge"].rows == (("x", "y", 7.0, 10), ("y", "x", 3.0, 10))


@pytest.fixture(scope="module")
def three():
    rng, systems, strength = np.random.default_rng(2), ["a", "b", "c"], [0.8, 0.0, -0.8]
    rows = []
    for _ in range(400):
        one, other = rng.choice(3, 2, replace=False)
        wins = rng.random() < 1 / (1 + math.exp(strength[other] - strength[one]))
        rows.append((systems[one], systems[other], "A" if wins else "B"))
    return rows


def test_strengths_and_their_jackknife(three):
    found = evenhand.audit(frame(three, reference=pl.Series([row[2] for row in three])), **PAIR)
    names = ["a", "b", "c"]
    wins = np.zeros((4, 3, 3))
    for n, (one, other, said) in enumerate(three):
        winner, loser = (one, other) if said == "A" else (other, one)
        wins[n % 4, names.index(winner), names.index(loser)] += 1
    strengths = bradley_terry(wins.sum(axis=0))
    left_out = np.array([bradley_terry(wins.sum(axis=0) - one) for one in wins])
    errors = np.sqrt(3 / 4 * np.square(left_out - left_out.mean(axis=0)).sum(axis=0))
    for at, name in enumerate(names):
        one = found[f"bradley_terry[system={name}]/judge"]
        assert (one.estimate, one.std_error) == pytest.approx((strengths[at], errors[at]), rel=1e-9)
        assert one.ci_low < one.estimate < one.ci_high
        assert found[f"bradley_terry[system={name}]/reference"].estimate == pytest.approx(one.estimate, abs=1e-12)


def test_the_order_of_columns_and_sides_does_not_matter(three):
    one = evenhand.audit(frame(three), **PAIR)
    turned = [(b, a, {"A": "B", "B": "A"}[said]) for a, b, said in three]
    other = evenhand.audit(frame(turned), **PAIR)
    for name in "abc":
        wanted = one[f"bradley_terry[system={name}]/judge"].estimate
        assert other[f"bradley_terry[system={name}]/judge"].estimate == pytest.approx(wanted, abs=1e-9)


def test_a_system_that_never_loses_has_no_finite_strength():
    found = evenhand.audit(frame([("x", "y", "A"), ("y", "z", "A"), ("z", "y", "A"), ("x", "x", "A")]), **PAIR)
    one = found["bradley_terry[system=x]/judge"]
    assert (one.status, one.ci_low, one.n_excluded) == ("undefined", None, 1)
    assert "no finite strengths" in one.reason


def test_without_names_there_are_no_strengths(three):
    options = {name: value for name, value in PAIR.items() if name != "author"}
    assert not [one for one in evenhand.audit(frame(three), **options).audit if one.statistic == "bradley_terry"]
    with pytest.raises(evenhand.EvenhandError, match="--author COL_A,COL_B"):
        evenhand.audit(frame(three), **{**PAIR, "author": ("model_a",)})


def test_too_many_systems_are_said():
    rows = [(f"s{n:02}", f"s{n + 1:02}", "A") for n in range(61)]
    found = evenhand.audit(frame(rows), **PAIR)
    assert found["bradley_terry/judge"].status == "not_assessed"
    assert "62 systems" in found["bradley_terry/judge"].reason


def test_intervals_cover():
    """Strengths .5, 0, -.5 with a cluster effect of sd .4 on the first: 200 banks of 20 clusters, the 99.9 % band of .95.

    Wins of the first are then diluted by the effect; the truth is the fit of the expected win matrix.
    """
    from evenhand.stats.intervals import METHODS, Sample
    from evenhand.stats.scales import IDENTITY

    def drawn(n_units):
        return np.ones((1, n_units))

    rng, base, g, n = np.random.default_rng(4), np.array([0.5, 0.0, -0.5]), 20, 30
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    expected = np.zeros((3, 3))
    for a, b in pairs:
        effect = 0.4 * nodes if a == 0 else 0.0 * nodes
        p = (weights / weights.sum() / (1 + np.exp(base[b] - base[a] - effect))).sum()
        expected[a, b], expected[b, a] = p, 1 - p
    truth, hits = bradley_terry(expected)[0], 0
    for _ in range(200):
        effect = 0.4 * rng.standard_normal(g)
        wins = np.zeros((g, 3, 3))
        for a, b in pairs:
            p = 1 / (1 + np.exp(base[b] - base[a] - (effect if a == 0 else 0 * effect)))
            won = rng.binomial(n, p)
            wins[:, a, b], wins[:, b, a] = won, n - won
        names = tuple(map(str, range(g)))
        sample = Sample(wins, lambda w: bradley_terry(w)[..., 0], np.full(g, 3.0 * n), IDENTITY, names, drawn)
        found = METHODS["default"](sample, 0.95)
        hits += found.low <= truth <= found.high
    assert 0.90 <= hits / 200 <= 0.995
