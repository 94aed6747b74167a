"""Intervals of facets with few conditions: exact cases, and the share that holds the truth in simulated studies.

Three phrasings, 180 responses. The fast layer draws mean squares themselves (their chi-squared laws are exact) and accepts
.95 within its 99.9 % band; the slow layer draws verdict totals with clusters of responses and wants .93 to .97 (.90 where
phrasing and cluster interact strongly, with 13 clusters).
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from evenhand.audits.facets import product_sums
from evenhand.stats.anova import analyse, crossed_components, crossed_mean_squares, from_mean_squares
from evenhand.stats.anova_design import Design
from evenhand.stats.component_intervals import (
    component_limits,
    effective_df,
    generalised,
    generalised_draws,
    modified_large_sample,
)
from evenhand.stats.generalizability import d_study
from evenhand.stats.resampling import leave_one_out

DESIGN = Design.parse("p x h")
TRUTHS = [(1.0, 0.2, 0.3), (0.1, 6.0, 0.18), (1.0, 0.05, 0.3)]


def test_one_mean_square_has_the_exact_chi_squared_interval():
    exact = [2 * 5 / special.chdtri(5, tail) * 2 for tail in (0.025, 0.975)]
    assert modified_large_sample([4.0], [5.0], [1.0], 0.95) == pytest.approx(exact, abs=1e-12)
    drawn = generalised(generalised_draws([4.0], [5.0], seed=0), lambda squares: squares[:, 0], 0.95)
    assert drawn == pytest.approx(exact, rel=0.03)


def test_a_difference_by_hand():
    # Ting and others (1990), S = 10 on 2 df minus 1 on 358 df: the terms written out once more
    alpha = 0.025
    g, h = 1 - 2 / special.chdtri(2, alpha), 358 / special.chdtri(358, 1 - alpha) - 1
    f = special.fdtri(2, 358, 1 - alpha)
    cross = ((f - 1) ** 2 - g**2 * f**2 - h**2) / f
    low = 9 - np.sqrt((g * 10) ** 2 + h**2 + cross * 10)
    assert modified_large_sample([10.0, 1.0], [2.0, 358.0], [1.0, -1.0], 0.95)[0] == pytest.approx(low, abs=1e-12)


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.integers(1, 400), st.integers(1, 400), st.floats(0.1, 5))
def test_scale_and_sign_carry_over(a, b, df_a, df_b, factor):
    low, high = modified_large_sample([a, b], [df_a, df_b], [1.0, -1.0], 0.9)
    assert low <= a - b <= high
    turned = modified_large_sample([a, b], [df_a, df_b], [-1.0, 1.0], 0.9)
    assert turned == pytest.approx((-high, -low), rel=1e-9, abs=1e-9)
    scaled = modified_large_sample([a * factor, b * factor], [df_a, df_b], [1.0, -1.0], 0.9)
    assert scaled == pytest.approx((low * factor, high * factor), rel=1e-9, abs=1e-9)


def test_no_mean_square_no_width_and_never_defined_is_nan():
    draws = generalised_draws([0.0], [3.0], seed=0, n_draws=10)
    assert generalised(draws, lambda squares: squares[:, 0], 0.95) == (0, 0)
    assert np.isnan(generalised(draws, lambda squares: squares[:, 0] * np.nan, 0.95)).all()


def test_effective_df_are_at_most_nominal_and_at_least_one():
    found = effective_df(np.array([2.0, 2.0, 2.0, 0.0]), np.array([8.0, 0.08, 800.0, 0.0]), np.full(4, 50.0))
    assert found.tolist() == [1, 50, 1, 50]


def test_limits_of_a_layout():
    values = np.random.default_rng(0).normal(size=(20, 4))
    person, item = (axis.ravel() for axis in np.indices(values.shape))
    study = analyse(values.ravel(), {"p": person, "i": item}, "p x i")
    ours, formula = component_limits(study, 0.95), component_limits(study, 0.95, method="mls")
    assert (ours[:, 0] <= study.components).all() and (study.components <= ours[:, 1]).all()  # noqa: PT018
    assert ours == pytest.approx(formula, rel=0.1, abs=0.05)
    holes = analyse(values.ravel()[1:], {"p": person[1:], "i": item[1:]}, "p x i")
    assert np.isnan(component_limits(holes, 0.95)).all()


def hits_of_mean_squares(truth, n_studies, n=180, phrasings=3):
    """Share of intervals that hold σ²(response), σ²(phrasing) (both methods) and Φ at one phrasing."""
    response, phrasing, residual = truth
    rng = np.random.default_rng(0)
    df = np.array([n - 1.0, phrasings - 1, (n - 1) * (phrasings - 1)])
    weights = from_mean_squares(DESIGN, np.array([n, phrasings, n * phrasings]))
    expected = np.array([residual + phrasings * response, residual + n * phrasing, residual])
    hits = np.zeros(4)
    for seed in range(n_studies):
        squares = expected * rng.chisquare(df) / df
        drawn = generalised_draws(squares, df, seed=seed, n_draws=2_000) @ weights.T
        phi = d_study(DESIGN, drawn, "p", {"h": 1}).dependability
        mls = modified_large_sample(squares, df, weights[1], 0.95)
        for at, (value, ends) in enumerate(
            (
                (response, np.quantile(drawn[:, 0], [0.025, 0.975])),
                (phrasing, np.quantile(drawn[:, 1], [0.025, 0.975])),
                (phrasing, mls),
                (response / sum(truth), np.quantile(phi, [0.025, 0.975])),
            )
        ):
            hits[at] += ends[0] <= value <= ends[1]
    return hits / n_studies


@pytest.mark.parametrize("truth", TRUTHS)
def test_coverage_with_three_phrasings(truth):
    shares = hits_of_mean_squares(truth, 400)
    assert (shares >= 0.914).all(), shares
    assert (shares <= 0.986).all(), shares


@pytest.mark.slow
@pytest.mark.parametrize("truth", TRUTHS)
def test_coverage_with_three_phrasings_closely(truth):
    shares = hits_of_mean_squares(truth, 4_000)
    assert (shares >= 0.93).all(), shares
    assert (shares <= 0.97).all(), shares


def hits_of_totals(clusters, n_studies, *, between, interaction):
    """The same with responses in 13 clusters of 14 that are alike, mean squares' df by the jackknife over clusters."""
    rng, n, shape = np.random.default_rng(1), clusters * 14, (3,)
    unit = np.repeat(np.arange(clusters), 14)
    truth = np.array([1.0, 0.2, 0.3])
    nominal = np.array([n - 1.0, 2, (n - 1) * 2])

    def squares_of(sums):
        return crossed_mean_squares(sums[..., 4:].reshape(*sums.shape[:-1], 3, 3), sums[..., 1:4], sums[..., 0], shape)

    hits = np.zeros((2, 3))
    for seed in range(n_studies):
        values = rng.normal(0, between**0.5, (clusters, 1))[unit] + rng.normal(0, (1 - between) ** 0.5, (n, 1))
        values = values + rng.normal(0, 0.2**0.5, (1, 3)) + rng.normal(0, interaction**0.5, (clusters, 3))[unit]
        values = values + rng.normal(0, (0.3 - interaction) ** 0.5, (n, 3))
        sums = product_sums(values, unit, np.ones(n), clusters)
        squares, left_out = squares_of(sums.sum(axis=0)), squares_of(leave_one_out(sums))
        by_jackknife = effective_df(squares, (clusters - 1) * left_out.var(axis=0), nominal)
        by_jackknife[1] = 2
        for kind, df in enumerate((by_jackknife, nominal)):
            drawn = crossed_components(
                generalised_draws(squares, df, seed=seed, n_draws=2_000), np.asarray(float(n)), shape
            )
            phi = d_study(DESIGN, drawn, "p", {"h": 1}).dependability
            for at, (value, found) in enumerate(
                ((truth[0], drawn[:, 0]), (truth[1], drawn[:, 1]), (truth[0] / truth.sum(), phi))
            ):
                low, high = np.quantile(found, [0.025, 0.975])
                hits[kind, at] += low <= value <= high
    return hits / n_studies


@pytest.mark.slow
@pytest.mark.parametrize(("between", "interaction", "least"), [(0.0, 0.0, 0.93), (0.3, 0.0, 0.92), (0.3, 0.1, 0.89)])
def test_coverage_where_responses_come_in_clusters(between, interaction, least):
    ours, nominal = hits_of_totals(13, 2_000, between=between, interaction=interaction)
    assert (ours >= least).all(), ours
    assert (ours <= 0.975).all(), ours
    if between:  # what the nominal degrees of freedom would give for the responses' own component
        assert nominal[0] < 0.88
