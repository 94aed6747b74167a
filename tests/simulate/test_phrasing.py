"""The phrasing study: the published stream, what is recovered, and how far single studies scatter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import RequestError
from evenhand.simulate.phrasing import SCENARIOS, Scenario, phrasing_study
from evenhand.stats.generalizability import variance_components
from evenhand.stats.internal_consistency import moments

# oracles phrasing.irrelevant, .mild, .determ; the third row is Zhu (2026), table A.7
PUBLISHED = {
    "phrasing irrelevant": ([0.99418, 0.00014, 0.08985, 0.91628], [0.89953, 0.93009]),
    "mild phrasing effect": ([0.99418, 0.03907, 0.08985, 0.88551], [0.82123, 0.92015]),
    "large phrasing effect": ([0.994, 0.365, 0.090, 0.721], None),
    "fixed given its phrasing": ([0.99616, 0.17691, 0.0, 0.86531], [0.66656, 0.98825]),
}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_oracles_phrasing_identification(scenario: Scenario):
    found = phrasing_study(scenario)
    means, ends = PUBLISHED[scenario.name]
    parts = found.components
    values = [float(part.mean()) for part in (parts.response, parts.criterion, parts.residual, found.phi)]
    assert values == pytest.approx(means, abs=5e-4)
    if ends is not None:
        assert found.phi_range() == pytest.approx(ends, abs=1e-5)


def test_published_scatter_of_three_phrasings():
    found = phrasing_study(SCENARIOS[-1])
    assert float(found.components.criterion.std(ddof=1)) == pytest.approx(0.1830, abs=5e-5)


def test_components_are_recovered_by_many_phrasings():
    for scenario in SCENARIOS:
        found = phrasing_study(scenario, n_phrasings=40, n_studies=150, seed=1)
        assert float(found.components.criterion.mean()) == pytest.approx(scenario.phrasing, abs=0.03)
        assert float(found.phi.mean()) == pytest.approx(scenario.phi, abs=0.02)


def test_one_study_is_the_analysis_of_its_scores():
    rng = np.random.default_rng(7)
    draws = rng.standard_normal(5 + 3 + 15)
    scores = 2 * draws[:5, None] + 0.5 * draws[5:8] + 0.1 * draws[8:].reshape(5, 3)
    found = phrasing_study(Scenario("one", 0.25, 0.01, response=4.0), n_responses=5, n_studies=1, seed=7)
    expected = variance_components(moments(scores)).truncated()
    assert found.components.criterion[0] == pytest.approx(float(expected.criterion))
    assert found.components.response[0] == pytest.approx(float(expected.response))


@settings(max_examples=25, deadline=None)
@given(parts=st.tuples(*[st.floats(0.01, 100)] * 3), R=st.integers(2, 6), seed=st.integers(0, 2**40))
def test_phi_is_a_share_and_the_same_again(parts: tuple[float, float, float], R: int, seed: int):
    scenario = Scenario("any", parts[0], parts[1], response=parts[2])
    asked = {"n_responses": 6, "n_phrasings": R, "n_studies": 5, "seed": seed}
    found = phrasing_study(scenario, **asked)
    assert ((found.phi >= 0) & (found.phi <= 1)).all()
    assert np.array_equal(found.phi, phrasing_study(scenario, **asked).phi)


def test_what_cannot_be_asked_is_named():
    with pytest.raises(RequestError, match="phrasings is 1; it must be a whole number from 2"):
        phrasing_study(SCENARIOS[0], n_phrasings=1)
    with pytest.raises(RequestError, match="must be 0 or more, one of them above 0"):
        Scenario("none", 0, 0, response=0)
    with pytest.raises(RequestError, match="must be 0 or more"):
        Scenario("negative", -1, 0)
