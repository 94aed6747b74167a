"""Risk-coverage, separation and calibration of a confidence: hand cases, brute force, degenerate inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from evenhand.stats import confidence as of
from evenhand.stats.intervals import METHODS, Sample
from evenhand.stats.scales import IDENTITY, LOGIT

ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40)


def tallied(rows):
    """(T, 2) wrong and right by ascending confidence, and the values."""
    values = sorted({value for value, _ in rows})
    table = np.zeros((len(values), 2))
    for value, right in rows:
        table[values.index(value), int(right)] += 1
    return table, np.array(values, dtype=float)


def test_the_curve_of_four_verdicts():
    table, _ = tallied([(0.9, True), (0.8, False), (0.8, True), (0.5, False)])
    curve = of.risk_coverage(table)
    assert curve.coverage.tolist() == [0.25, 0.75, 1]
    assert curve.risk.tolist() == [0, 1 / 3, 0.5]
    assert (curve.kept.tolist(), curve.wrong.tolist()) == ([1, 3, 4], [0, 1, 2])


def test_area_of_four_verdicts():
    # right; then one wrong of two in either order: (1/2 + 1/3)/2 and ... by hand over both orders
    table, _ = tallied([(0.9, True), (0.8, False), (0.8, True), (0.5, False)])
    wrong_first, right_first = (0 + 1 / 2 + 1 / 3 + 2 / 4) / 4, (0 + 0 + 1 / 3 + 2 / 4) / 4
    assert of.risk_coverage_area(table) == pytest.approx((wrong_first + right_first) / 2, abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_area_is_the_mean_over_all_orders_of_ties(rows):
    table, _ = tallied(rows)
    rng, areas = np.random.default_rng(7), []
    for _ in range(400):
        order = sorted(range(len(rows)), key=lambda at: (-rows[at][0], rng.random()))
        wrong = np.cumsum([not rows[at][1] for at in order])
        areas.append((wrong / np.arange(1, len(rows) + 1)).mean())
    assert of.risk_coverage_area(table) == pytest.approx(np.mean(areas), abs=5 * np.std(areas) / 20 + 1e-12)


def test_a_constant_confidence_has_the_error_rate_as_area():
    assert of.risk_coverage_area(np.array([[3.0, 7.0]])) == pytest.approx(0.3, abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_auroc_counts_pairs(rows):
    table, _ = tallied(rows)
    right = [value for value, is_right in rows if is_right]
    wrong = [value for value, is_right in rows if not is_right]
    pairs = [(r > w) + (r == w) / 2 for r in right for w in wrong]
    found = of.auroc(table)
    assert np.isnan(found) if not pairs else found == pytest.approx(np.mean(pairs), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(ROWS, st.integers(2, 4))
def test_shares_do_not_move_when_every_verdict_stands_several_times(rows, times):
    table, _ = tallied(rows)
    for measure in (of.auroc, lambda t: of.risk_coverage(t).risk):
        np.testing.assert_allclose(measure(table), measure(times * table), rtol=1e-12)


def test_leading_axes_are_kept():
    tables = np.random.default_rng(1).integers(1, 9, (3, 4, 6, 2)).astype(float)
    slope = of.calibration_slope(np.linspace(0.1, 0.9, 6))
    for measure in (of.auroc, of.risk_coverage_area, slope):
        found = measure(tables)
        assert found.shape == (3, 4)
        assert found[2, 1] == pytest.approx(float(measure(tables[2, 1])), abs=1e-12)


def test_calibration_error_of_two_bins():
    bins = np.array([[4.0, 1.0, 2.0], [6.0, 5.4, 4.0]])  # |1 − 2| + |5.4 − 4|
    assert of.expected_calibration_error(bins) == pytest.approx(0.24, abs=1e-14)
    assert of.overconfidence(bins) == pytest.approx(0.04, abs=1e-14)


def test_slope_is_one_for_a_calibrated_probability():
    probabilities = np.array([0.2, 0.5, 0.8])
    tallies = 1_000 * np.stack([1 - probabilities, probabilities], axis=-1)
    assert of.calibration_slope(probabilities)(tallies) == pytest.approx(1, abs=1e-9)


def test_slope_of_stretched_odds_is_their_stretch():
    true = np.array([0.2, 0.5, 0.8])
    said = true**2 / (true**2 + (1 - true) ** 2)  # log odds doubled
    tallies = 1_000 * np.stack([1 - true, true], axis=-1)
    assert of.calibration_slope(said)(tallies) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(
    "tallies",
    [[[5, 0], [0, 5]], [[5, 0], [3, 0]], [[0, 0], [2, 3]], [[0, 4], [4, 0]]],
    ids=["separated", "one label", "one probability", "separated the other way"],
)
def test_slope_has_no_value_without_variation(tallies):
    assert np.isnan(of.calibration_slope(np.array([0.3, 0.7]))(np.array(tallies, dtype=float)))


def test_classes_of_equal_value_are_one():
    tallies, values = of.merged(np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([0.7, 0.2, 0.7]))
    assert values.tolist() == [0.2, 0.7]
    assert tallies.tolist() == [[3, 4], [6, 8]]


def test_slope_maximises_the_likelihood():
    rng = np.random.default_rng(3)
    said = np.round(rng.uniform(0.02, 0.98, 300), 2)
    label = rng.random(300) < said**1.3
    tallies, values = tallied(list(zip(said.tolist(), label.tolist(), strict=True)))
    odds = np.log(said / (1 - said))

    def loss(at):
        return np.logaddexp(0, at[0] + at[1] * odds).sum() - (label * (at[0] + at[1] * odds)).sum()

    best = optimize.minimize(loss, [0.0, 1.0], tol=1e-12)
    assert of.calibration_slope(values)(tallies) == pytest.approx(best.x[1], abs=1e-4)


def _bank(rng, n_clusters, probabilities, size=20):
    """(G, T, 2) by probability of the label, and (G, 2) Brier sums: clusters shift the log odds of the label."""
    at = rng.integers(0, len(probabilities), (n_clusters, size))
    odds = np.log(probabilities / (1 - probabilities))[at]
    label = rng.random(at.shape) < 1 / (1 + np.exp(-odds - rng.normal(0, 0.7, (n_clusters, 1))))
    tallies = np.zeros((n_clusters, len(probabilities), 2))
    np.add.at(tallies, (np.repeat(np.arange(n_clusters), size), at.ravel(), label.ravel().astype(int)), 1)
    squares = np.square(probabilities[at] - label).sum(axis=1)
    return tallies, np.stack([np.full(n_clusters, float(size)), squares], axis=-1)


def _coverage(n_banks, n_clusters):
    rng, probabilities = np.random.default_rng(17), np.linspace(0.05, 0.95, 19)
    measures = {
        "auroc": (of.auroc, LOGIT),
        "risk_coverage_area": (of.risk_coverage_area, LOGIT),
        "slope": (of.calibration_slope(probabilities), IDENTITY),
        "brier": (lambda sums: sums[..., 1] / sums[..., 0], LOGIT),
    }
    large = _bank(rng, 20_000, probabilities)
    truth = {name: float(measure(large[name == "brier"].sum(axis=0))) for name, (measure, _) in measures.items()}
    hits = dict.fromkeys(measures, 0)
    for _ in range(n_banks):
        bank = _bank(rng, n_clusters, probabilities)
        for name, (measure, scale) in measures.items():
            tallies = bank[name == "brier"]
            names = tuple(map(str, range(n_clusters)))
            sample = Sample(tallies, measure, np.full(n_clusters, 20.0), scale, names, lambda _n: np.empty((0, 0)))
            found = METHODS["default"](sample, 0.95)
            hits[name] += found.low <= truth[name] <= found.high
    return {name: count / n_banks for name, count in hits.items()}


def test_cluster_intervals_cover():
    """100 banks of 20 clusters: no statistic's 95 % interval holds the truth in fewer than 88 of them."""
    assert min(_coverage(100, 20).values()) >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [8, 13, 30])
def test_cluster_intervals_hold_their_level(n_clusters):
    """2,000 banks: within the project's range of 93 to 97 %, a Monte-Carlo error of half a point aside."""
    for name, share in _coverage(2_000, n_clusters).items():
        assert 0.917 <= share <= 0.983, (name, share)
