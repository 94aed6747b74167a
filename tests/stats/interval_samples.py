"""Samples as the package makes them, for tests of intervals."""

from collections.abc import Callable

import numpy as np

from evenhand.stats.agreement import cohen_chance, cohen_kappa, share
from evenhand.stats.intervals import Interval, Sample
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import LOG_ONE_MINUS, LOGIT, Scale

Array = np.ndarray


def sample(tallies, measure: Callable[[Array], Array], scale: Scale, *, resamples: int = 2_000, **more) -> Sample:
    """A sample whose bootstrap is drawn as the package draws it."""
    array = np.asarray(tallies, dtype=float)
    return Sample(
        tallies=array,
        measure=measure,
        sizes=array.reshape(len(array), -1).sum(axis=1),
        scale=scale,
        names=tuple(f"c{number}" for number in range(len(array))),
        weights=lambda n_units: draw_weights(0, resamples, n_units),
        **more,
    )


def rate(tallies, **more) -> Sample:
    """A share of events, from (events, others) rows."""
    return sample(tallies, share, LOGIT, events=np.asarray(tallies, dtype=float)[:, 0], **more)


def kappa(tables, **more) -> Sample:
    chance = float(cohen_chance(np.asarray(tables, dtype=float).sum(axis=0)))
    return sample(tables, cohen_kappa, LOG_ONE_MINUS, ceiling=1 - chance, **more)


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None, interval
    assert interval.high is not None, interval
    return interval.low, interval.high
