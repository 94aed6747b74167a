"""Known gaps between groups of clustered responses: coverage by design, and the correction for a noisy score in the long run.

Monte-Carlo error of a coverage of .95: .0178 at 150 samples, .0049 at 2,000. Measured on 1,500 samples a design, in the order of
DESIGNS, with a gap of .3: .948, .944, .957, .953, .957, .956, .965. The design of two focal clusters covers .998: its single
degree of freedom is all that says anything of their spread.
"""

import numpy as np
import pytest

from evenhand.stats import group_gaps as of
from evenhand.stats.binomial import t_quantile
from evenhand.stats.resampling import leave_one_out

NESTED, CROSSED = False, True
DESIGNS = (
    (15, 15, NESTED),
    (30, 0, CROSSED),
    (7, 6, NESTED),
    (4, 4, NESTED),
    (8, 0, CROSSED),
    (25, 5, NESTED),
    (27, 3, NESTED),
)


def sampled(rng, others: int, focals: int, *, crossed: bool, gap: float, size: int = 20) -> tuple[float, of.Spread]:
    """The estimated gap of one sample: clusters in one group each, or each with both and a gap that differs between clusters."""
    n = others + focals
    unit = np.repeat(np.arange(n), size)
    focal = np.tile(np.arange(size) % 2, n) if crossed else (unit >= others).astype(int)
    score = np.clip(np.rint(rng.normal(3 - 0.5 * focal, 1)), 1, 5)
    mark = score + gap * focal + np.repeat(rng.normal(0, 0.3, n), size) + rng.normal(0, 0.7, n * size)
    if crossed:
        mark = mark + np.repeat(rng.normal(0, 0.3, n), size) * focal
    cells = of.gap_cells(mark, focal, (score - 1).astype(int), 5, unit, n, np.ones(n * size))
    cells = cells[:, :, of.kept_strata(cells, units=2)]
    weights = of.pooled_weights(cells)
    spread = of.spread_of_gap(of.gap(leave_one_out(cells), weights), cells[..., 1].sum(axis=2))
    return float(of.gap(cells.sum(axis=0), weights)), spread


def covered(n_samples: int, seed: int, others: int, focals: int, *, crossed: bool, gap: float) -> float:
    """Share of 95 % intervals that hold the gap."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(n_samples):
        value, spread = sampled(rng, others, focals, crossed=crossed, gap=gap)
        hits += abs(value - gap) <= t_quantile(0.975, spread.df) * spread.std_error
    return hits / n_samples


@pytest.mark.parametrize(("others", "focals", "crossed"), DESIGNS)
def test_gaps_are_covered(others: int, focals: int, crossed: bool) -> None:
    assert covered(150, 1, others, focals, crossed=crossed, gap=0.3) >= 0.89


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.3])
@pytest.mark.parametrize(("others", "focals", "crossed"), DESIGNS)
def test_gaps_are_covered_at_length(others: int, focals: int, crossed: bool, gap: float) -> None:
    assert 0.93 <= covered(2_000, 2, others, focals, crossed=crossed, gap=gap) <= 0.98


def long_run(n_samples: int, reliability: float, gap: float, seed: int = 3) -> tuple[float, float, float, float]:
    """Mean observed and corrected gap, the bias that theory gives the first, and the standard error of the second's mean.

    True scores are normal with standard deviation 1 within groups, .6 apart; marks are .8 of them plus the gap.
    """
    rng, n, seen, true = np.random.default_rng(seed), 4_000, [], []
    noise, units = np.sqrt((1 - reliability) / reliability), np.zeros(n, dtype=int)
    for _ in range(n_samples):
        focal = rng.integers(0, 2, n)
        t = rng.normal(-0.6 * focal, 1)
        score, mark = t + rng.normal(0, noise, n), 0.8 * t + gap * focal + rng.normal(0, 0.3, n)
        stratum = np.clip(
            np.floor((score + 6) * 20).astype(int), 0, 239
        )  # a twentieth of a point wide: hardly any difference inside
        cells = of.gap_cells(mark, focal, stratum, 240, units, 1, np.ones(n))
        cells = cells[:, :, of.kept_strata(cells)]
        weights = of.pooled_weights(cells)
        moments = of.score_moments(mark, score, focal, units, 1, np.ones(n)).sum(axis=0)
        seen.append(float(of.gap(cells.sum(axis=0), weights)))
        true.append(float(of.true_gap(seen[-1], moments, reliability)))
    bias = 0.8 * reliability * (1 - reliability) / reliability * -0.6  # β (1 - ρ)/ρ Δμ, β = .8ρ
    return float(np.mean(seen)), float(np.mean(true)), bias, float(np.std(true, ddof=1) / np.sqrt(n_samples))


@pytest.mark.parametrize(("reliability", "gap"), [(0.6, 0.0), (0.8, 0.3)])
def test_noise_biases_the_gap_as_seen_and_not_the_corrected_one(reliability: float, gap: float) -> None:
    seen, true, bias, error = long_run(60, reliability, gap)
    assert abs(true - gap) < 4 * error
    assert abs(seen - gap - bias) < 4 * error
    assert abs(bias) > 10 * error


@pytest.mark.slow
@pytest.mark.parametrize("reliability", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_noise_in_the_long_run(reliability: float, gap: float) -> None:
    seen, true, bias, error = long_run(600, reliability, gap)
    assert abs(true - gap) < 4 * error
    assert abs(seen - gap - bias) < 4 * error
