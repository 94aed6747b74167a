"""Does a study of responses by phrasings find the judge's phrasing component, and how well with few phrasings?

A verdict score is a response's own level plus the phrasing's plus a residual, all normal; the two-way random-effects
analysis of variance that an audit uses recovers the three components.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng

from evenhand.errors import RequestError
from evenhand.simulate.population import check_whole
from evenhand.simulate.sweeps import Step
from evenhand.stats.arrays import Array
from evenhand.stats.generalizability import VarianceComponents, dependability_coefficient, variance_components
from evenhand.stats.internal_consistency import moments

_BLOCK_NUMBERS = 1_000_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """True variances of a score.

    Attributes:
        name: in words.
        phrasing: variance between phrasings.
        residual: variance of everything else; 0 for a judge that is deterministic given its phrasing.
        response: variance between responses.

    Raises:
        RequestError: a negative variance, or none at all.
    """

    name: str
    phrasing: float
    residual: float
    response: float = 1.0

    def __post_init__(self) -> None:
        parts = (self.response, self.phrasing, self.residual)
        if not all(0 <= part < np.inf for part in parts) or not any(parts):
            raise RequestError(f'scenario "{self.name}": variances {parts} must be 0 or more, one of them above 0')

    @property
    def phi(self) -> float:
        """True dependability at a single phrasing."""
        return self.response / (self.response + self.phrasing + self.residual)


SCENARIOS = (
    Scenario("phrasing irrelevant", 0.0, 0.090),
    Scenario("mild phrasing effect", 0.039, 0.090),
    Scenario("large phrasing effect", 0.362, 0.090),
    Scenario("fixed given its phrasing", 0.175, 0.0),
)
"""Those of Zhu (2026), appendix A.5."""


@dataclass(frozen=True, slots=True)
class PhrasingStudy:
    """Simulated studies of one scenario.

    Attributes:
        scenario: the truth.
        components: (studies,) estimates, negative ones set to 0; `criterion` is the phrasing's.
        phi: (studies,) dependability at a single phrasing.
    """

    scenario: Scenario
    components: VarianceComponents
    phi: Array

    def phi_range(self, low: float = 5, high: float = 95) -> tuple[float, float]:
        """Percentiles of Phi between single studies."""
        ends = np.percentile(self.phi, [low, high])
        return float(ends[0]), float(ends[1])


def phrasing_study(
    scenario: Scenario,
    *,
    n_responses: int = 210,
    n_phrasings: int = 3,
    n_studies: int = 200,
    seed: int = 7,
    step: Step | None = None,
) -> PhrasingStudy:
    """Simulate studies of one scenario; with the defaults this is the published stream, seeded anew each time.

    A study draws n response levels, then R phrasing levels, then n R residuals.

    Args:
        scenario: the true variances.
        n_responses: responses n, at least 2.
        n_phrasings: phrasings R, at least 2.
        n_studies: studies, at least 1.
        seed: seed of the generator, 0 or more.
        step: is told how many studies were drawn, block by block.

    Raises:
        RequestError: an argument out of its range.
    """
    check_whole("responses", n_responses, least=2, most=1_000_000)
    check_whole("phrasings", n_phrasings, least=2, most=1_000)
    check_whole("replicates", n_studies, least=1, most=10_000_000)
    check_whole("seed", seed, least=0, most=2**63)
    rng, size = default_rng(seed), n_responses + n_phrasings + n_responses * n_phrasings
    block, parts = max(1, _BLOCK_NUMBERS // size), []
    for start in range(0, n_studies, block):
        n = min(block, n_studies - start)
        response, phrasing, residual = np.split(
            rng.standard_normal((n, size)), [n_responses, n_responses + n_phrasings], axis=1
        )
        scores = (
            np.sqrt(scenario.response) * response[:, :, None]
            + np.sqrt(scenario.phrasing) * phrasing[:, None, :]
            + np.sqrt(scenario.residual) * residual.reshape(n, n_responses, n_phrasings)
        )
        parts.append(variance_components(moments(scores)).truncated())
        if step is not None:
            step(n)
    return _study(scenario, parts)


def _study(scenario: Scenario, parts: Sequence[VarianceComponents]) -> PhrasingStudy:
    names = ("response", "criterion", "residual")
    components = VarianceComponents(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    return PhrasingStudy(scenario, components, dependability_coefficient(components, 1))
