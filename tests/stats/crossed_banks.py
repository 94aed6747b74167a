"""Simulated banks of learners × questions, each with an effect of its own on the judge's errors, and estimates of them."""

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

from evenhand.results import Estimate
from evenhand.stats.agreement import cohen_chance, cohen_kappa, share
from evenhand.stats.intervals import METHODS, Sample
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import LOG_ONE_MINUS, LOGIT

Array = np.ndarray
PREVALENCE, FALSE_ACCEPT, FALSE_REJECT, CRITERIA = 0.5, 0.15, 0.10, 4
SPREAD = 0.45
"""Standard deviation of each unit's effect on the probit of an error."""


def truth() -> Array:
    """Expected shares of the cells of a table of reference by judge."""
    return np.array(
        [
            [(1 - PREVALENCE) * (1 - FALSE_ACCEPT), (1 - PREVALENCE) * FALSE_ACCEPT],
            [PREVALENCE * FALSE_REJECT, PREVALENCE * (1 - FALSE_REJECT)],
        ]
    )


def banks(n_banks: int, n_first: int, n_second: int, seed: int) -> Iterator[Array]:
    """(first, second, 2, 2) tables: an error's probit is its mean's, scaled so that the mean rate is exact, plus effects."""
    rng = np.random.default_rng(seed)
    scale = math.sqrt(1 + 2 * SPREAD**2)
    for _ in range(n_banks):
        effect = rng.normal(0, SPREAD, (n_first, 1)) + rng.normal(0, SPREAD, (1, n_second))
        positive = rng.binomial(CRITERIA, PREVALENCE, (n_first, n_second))
        accepts, rejects = (
            rng.binomial(trials, special.ndtr(special.ndtri(rate) * scale + effect))
            for trials, rate in ((CRITERIA - positive, FALSE_ACCEPT), (positive, FALSE_REJECT))
        )
        cells = [CRITERIA - positive - accepts, accepts, rejects, positive - rejects]
        yield np.stack(cells, axis=-1).reshape(n_first, n_second, 2, 2).astype(float)


def kappa(table: Array) -> Sample:
    """By unit: (U, 2, 2)."""
    ceiling = 1 - float(cohen_chance(table.sum(axis=0)))
    return _sample(table, measure=cohen_kappa, scale=LOG_ONE_MINUS, ceiling=ceiling)


def false_accepts(table: Array) -> Sample:
    """By unit: (U, 2, 2)."""
    cells = table[:, 0, ::-1]
    held = cells.sum(axis=1) > 0
    return _sample(cells[held], measure=share, scale=LOGIT, events=cells[held, 0])


def _sample(tallies: Array, **more) -> Sample:
    sizes = tallies.reshape(len(tallies), -1).sum(axis=1)
    names = tuple(f"u{number}" for number in range(len(tallies)))
    return Sample(tallies, sizes=sizes, names=names, weights=lambda n: draw_weights(0, 200, n), **more)


def estimate(sample: Sample, level: float = 0.95) -> Estimate:
    """As an audit makes it, under one id."""
    found = METHODS["default"](sample, level)
    return Estimate(
        id="x/judge",
        statistic="x",
        params={},
        source="judge",
        estimate=sample.value,
        std_error=sample.std_error,
        ci_low=found.low,
        ci_high=found.high,
        interval_method=found.method,
        interval_scale=found.scale,
        interval_df=found.df,
        interval_std_error=found.std_error,
        status="ok",
        reason=found.reason,
        unit="verdict",
        events=None,
        trials=None,
        n_used=int(sample.sizes.sum()),
        n_excluded=0,
        n_clusters=sample.n_units,
        design_effect=None,
        describes="judge",
        estimand="x",
    )
