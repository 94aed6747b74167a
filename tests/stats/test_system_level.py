"""Agreement on systems: by hand, beside SciPy, by properties, and how often its intervals hold the truth.

The slow layer draws 6 systems on 60 items with item effects, noise of both sides and errors of the judge that differ by system.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats  # noqa: TID251

from evenhand.stats import system_level as of
from evenhand.stats.intervals import METHODS, Sample
from evenhand.stats.marks import mark_sums
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import ATANH, LOGIT

scores = st.integers(2, 8).flatmap(lambda n: hnp.arrays(np.int64, (2, n), elements=st.integers(0, 5)))
MEASURES = (of.pearson_r, of.spearman_rho, of.kendall_tau)


def test_by_hand() -> None:
    # reference 1 < 2 < 3 < 4, judge 1 < 3 = 3 < 2.5: five of six pairs have an order on both sides
    reference, judge = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 3, 2.5])
    # alike 12 13 14, otherwise 24 34, one side tied 23
    assert of.pairwise_accuracy(reference, judge) == pytest.approx((3 + 0.5) / 6)
    assert of.pairwise_accuracy(reference, judge, "class") == pytest.approx(3 / 6)
    assert of.kendall_tau(reference, judge) == pytest.approx((3 - 2) / np.sqrt(6 * 5))
    assert of.same_winner(reference, judge) == 0
    assert of.same_winner(np.array([1.0, 2, 2]), np.array([0.0, 1, 0])) == pytest.approx(1 / 2)
    both = np.array([1.0, 1, 2])
    assert of.pairwise_accuracy(both, both) == of.pairwise_accuracy(both, both, "class") == 1


@given(scores)
def test_as_scipy_has_it(marks) -> None:
    x, y = marks.astype(np.float64)
    theirs = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    for mine, other in zip(MEASURES, theirs, strict=True):
        found = float(mine(x, y))
        if len(set(x)) == 1 or len(set(y)) == 1:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(float(other(x, y).statistic), abs=1e-12)


@given(scores)
def test_properties(marks) -> None:
    x, y = marks.astype(np.float64)
    for measure in MEASURES:
        assert measure(x, y) == pytest.approx(float(measure(y, x)), abs=1e-12, nan_ok=True)
        assert measure(x, -y) == pytest.approx(-float(measure(x, y)), abs=1e-12, nan_ok=True)
        gone = np.append(x, np.nan), np.append(y, 3.0)  # a system that one side does not score
        assert measure(*gone) == pytest.approx(float(measure(x, y)), abs=1e-12, nan_ok=True)
    half, strict = of.pairwise_accuracy(x, y), of.pairwise_accuracy(x, y, "class")
    assert 0 <= strict <= half <= 1
    assert of.pairwise_accuracy(3 * x + 1, y) == half
    if len(set(x)) == len(x) and len(set(y)) == len(y):
        assert half == pytest.approx((1 + float(of.kendall_tau(x, y))) / 2)


def test_tie_calibration_by_hand() -> None:
    # the reference ties the first two; the judge sets them .1 apart, the third 2 away: with a threshold of .1 all three agree
    reference, judge = np.array([[1.0, 1, 2]]), np.array([[1.0, 1.1, 3]])
    thresholds = of.tie_thresholds(judge, 20)
    np.testing.assert_allclose(thresholds, [0, 0.1, 1.9, 2])
    found = of.calibrated_accuracies(reference, judge, thresholds)[:, 0]
    np.testing.assert_allclose(found, [2 / 3, 1, 2 / 3, 1 / 3])
    assert len(of.tie_thresholds(np.arange(100.0) ** 2, 20)) <= 21


@given(scores)
def test_tie_calibration_is_no_worse_than_ties_as_they_are(marks) -> None:
    x, y = marks.astype(np.float64)
    found = of.calibrated_accuracies(x, y, of.tie_thresholds(y, 20))
    assert found[0] == of.pairwise_accuracy(x, y, "class")
    assert found[-1] == pytest.approx(np.mean([x[a] == x[b] for a, b in itertools.combinations(range(len(x)), 2)]))


def test_many_at_once_are_each_by_itself() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, (2, 3, 5, 6)).astype(float)
    for measure in (*MEASURES, of.pairwise_accuracy):
        alone = [[float(measure(a, b)) for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]
        np.testing.assert_allclose(measure(x, y), alone)


def test_a_lost_system_is_no_other_quantity() -> None:
    x, y = np.array([1.0, np.nan, 3, 4]), np.array([1.0, 2, 3, 5])
    assert np.isfinite(of.pearson_r(x, y))
    assert np.isnan(of.whole(of.pearson_r(x, y), x, y))


def test_means_of_sums() -> None:
    t, m, system = np.array([1.0, 3, 4]), np.array([2.0, 2, 5]), np.array([0, 0, 1])
    reference, judge = of.means(mark_sums(t, m, system, 3))
    np.testing.assert_allclose(reference, [2, 4, np.nan])
    np.testing.assert_allclose(judge, [2, 5, np.nan])


def sign_flips(d) -> float:
    """Exact one-sided p of the paired permutation test that the second is better, ties of the sum counting half."""
    sums = np.array([np.dot(d, signs) for signs in itertools.product((-1, 1), repeat=len(d))])
    return float((sums < d.sum()).mean() + (np.isclose(sums, d.sum())).mean() / 2)


def test_the_normal_approximation_beside_all_permutations() -> None:
    rng = np.random.default_rng(3)
    for shift in (-0.4, 0.0, 0.3, 0.8):
        d = rng.standard_normal(14) + shift
        close = float(of.better_probability(d.sum(), np.square(d).sum()))
        assert close == pytest.approx(sign_flips(d), abs=0.012)


def test_soft_pairwise_accuracy_by_hand() -> None:
    # two systems, four items: the reference's differences 1, 1, 1, 1 (z = 2), the judge's 1, -1, 1, -1 (z = 0)
    reference, judge = np.array([[1.0, 0]] * 4), np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    sums = of.pair_sums(reference, judge, np.array([0, 0, 1, 1]), 2)
    assert sums.shape == (2, 1, 5)
    wanted = 1 - (stats.norm.cdf(2) - 0.5)
    assert of.soft_pairwise_accuracy(sums.sum(axis=0)) == pytest.approx(wanted, abs=1e-12)
    assert of.soft_pairwise_accuracy(of.pair_sums(reference, reference, np.zeros(4, int), 1)[0]) == 1


def test_pairs_without_an_item_and_equal_scores() -> None:
    apart = np.array([[1.0, np.nan], [np.nan, 2.0]])
    assert np.isnan(of.soft_pairwise_accuracy(of.pair_sums(apart, apart, np.zeros(2, int), 1)[0]))
    same = np.ones((3, 2))
    assert of.better_probability(np.zeros(1), np.zeros(1)) == 0.5
    assert of.soft_pairwise_accuracy(of.pair_sums(same, same, np.zeros(3, int), 1)[0]) == 1
    alone = np.ones((3, 1))
    assert np.isnan(of.soft_pairwise_accuracy(of.pair_sums(alone, alone, np.zeros(3, int), 1)[0]))


def test_nothing_to_compare() -> None:
    lost = np.array([np.nan, 1.0])
    for measure in (*MEASURES, of.pairwise_accuracy):
        assert np.isnan(measure(lost, lost))


SYSTEMS, ITEMS = 6, 60
THETA, OFFSET = np.linspace(-0.5, 0.5, SYSTEMS), np.array([0.2, -0.1, 0.0, 0.1, -0.2, 0.0])


def bank(rng, n):
    item = rng.standard_normal((n, 1)) * 0.5
    reference = THETA + item + rng.standard_normal((n, SYSTEMS))
    noise = 0.4 * rng.standard_normal((n, 1)) + 0.8 * rng.standard_normal((n, SYSTEMS))
    return np.round(2 * reference + 10), np.round(2 * (0.7 * reference + OFFSET + noise) + 10)


def sums_of(reference, judge):
    n = len(reference)
    unit = np.repeat(np.arange(n), SYSTEMS) * SYSTEMS + np.tile(np.arange(SYSTEMS), n)
    return mark_sums(reference.ravel(), judge.ravel(), unit, n * SYSTEMS).reshape(n, SYSTEMS, 7)


@pytest.mark.slow
def test_intervals_cover() -> None:
    """500 banks: what moves in steps by resampled items, correlations by the jackknife; .93 or more, as measured."""
    rng, drawn = np.random.default_rng(7), draw_weights(0, 1000, ITEMS)
    of_means = {
        "spearman": of.spearman_rho,
        "kendall": of.kendall_tau,
        "pairs": of.pairwise_accuracy,
        "pearson": of.pearson_r,
    }
    large = bank(rng, 200_000)
    truth = {name: float(f(*of.means(sums_of(*large).sum(axis=0)))) for name, f in of_means.items()}
    truth["item"] = float(np.nanmean(of.pearson_r(*large)))
    many = [of.pair_sums(*bank(rng, ITEMS), np.arange(ITEMS), ITEMS).sum(axis=0) for _ in range(3000)]
    truth["soft"] = float(np.mean(of.soft_pairwise_accuracy(np.array(many))))
    hits = dict.fromkeys(truth, 0)
    measures = {name: lambda t, compare=compare: compare(*of.means(t)) for name, compare in of_means.items()}
    measures |= {"soft": of.soft_pairwise_accuracy, "item": lambda t: t[..., 1] / t[..., 0]}
    names = tuple(map(str, range(ITEMS)))
    for _ in range(500):
        pair = bank(rng, ITEMS)
        by_item = of.pearson_r(*pair)
        known = np.isfinite(by_item)
        tallies = dict.fromkeys(of_means, sums_of(*pair))
        tallies["soft"] = of.pair_sums(*pair, np.arange(ITEMS), ITEMS)
        tallies["item"] = np.stack([known.astype(float), np.where(known, by_item, 0.0)], axis=1)
        for name, measure in measures.items():
            is_smooth = name in ("pearson", "item")
            scale, method = (ATANH, "default") if is_smooth else (LOGIT, "percentile")
            sample = Sample(tallies[name], measure, np.full(ITEMS, 6.0), scale, names, lambda n: drawn)
            found = METHODS[method](sample, 0.95)
            assert found.low is not None
            hits[name] += found.low - 1e-9 <= truth[name] <= found.high + 1e-9
    print({name: n / 500 for name, n in hits.items()})  # noqa: T201  what the report of a slow run shows
    assert min(hits.values()) / 500 >= 0.93
