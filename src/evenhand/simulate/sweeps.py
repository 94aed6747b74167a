"""What moves KR-20: banks of growing spread seen by judges of growing error.

Two streams draw the same worlds. The *published* one is that of Zhu (2026)'s released script: one generator for all
cells in turn, a uniform number for every rate, label and verdict. The *own* one draws sufficient statistics instead of
verdicts (`draws`), all cells together, which makes 10,000 replicates a cell a matter of seconds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator, default_rng

from evenhand.errors import RequestError
from evenhand.simulate.draws import draw_moments
from evenhand.simulate.population import check_rate, check_whole, mass_of_totals, met_rate_range, population_kr20
from evenhand.stats.arrays import Array
from evenhand.stats.internal_consistency import Moments, kr20

SPREADS = (0.0, 0.2, 0.4, 0.6, 0.8)
ERRORS = (0.0, 0.05, 0.1, 0.2, 0.3)
MEASURED = 0.0472
"""The measured error rate of Zhu (2026)'s judge, as the released script has it: 85 errors in 1,800 verdicts."""
FALSE_ACCEPTS, FALSE_REJECTS = 84 / 808, 1 / 992
"""That judge's measured rates by direction."""
Direction = Literal["both", "accept", "reject"]
"""Whether a judge errs either way alike, or by accepting or rejecting only."""
Step = Callable[[int], None]
"""Is told how many banks were drawn since it was last called."""

_BLOCK_TOTALS, _BLOCK_NUMBERS = 400_000, 600_000
_MOST_RESPONSES, _MOST_CRITERIA, _MOST_REPLICATES = 1_000_000, 1_000, 10_000_000


@dataclass(frozen=True, slots=True)
class World:
    """A bank's spread and a judge's error rates, each in [0, 1].

    Raises:
        RequestError: a value out of its range.
    """

    spread: float
    false_accept_rate: float
    false_reject_rate: float

    def __post_init__(self) -> None:
        for name in ("spread", "false_accept_rate", "false_reject_rate"):
            check_rate(name, getattr(self, name))

    @property
    def error_rate(self) -> float:
        """Share of wrong verdicts in an endless bank, half of whose criteria are present."""
        return (self.false_accept_rate + self.false_reject_rate) / 2


@dataclass(frozen=True, slots=True)
class Sweep:
    """KR-20 in replicates of each world.

    Attributes:
        worlds: W worlds.
        n_responses: responses of a bank.
        n_criteria: criteria of a response, K.
        kr20: (W, replicates) KR-20 of the judge's verdicts, mixed divisors; NaN where the totals do not vary.
    """

    worlds: tuple[World, ...]
    n_responses: int
    n_criteria: int
    kr20: Array

    @property
    def n_defined(self) -> Array:
        """(W,) replicates whose KR-20 is defined."""
        return np.asarray(np.isfinite(self.kr20).sum(axis=-1), dtype=np.float64)

    @property
    def mean(self) -> Array:
        """(W,) mean over the defined replicates, NaN without one."""
        return self._moments()[0]

    @property
    def sd(self) -> Array:
        """(W,) standard deviation over the defined replicates, divisor one less; NaN below two."""
        return self._moments()[1]

    @property
    def population(self) -> Array:
        """(W,) KR-20 of an endless bank, in closed form."""
        return np.array(
            [
                population_kr20(w.spread, w.false_accept_rate, w.false_reject_rate, n_criteria=self.n_criteria)
                for w in self.worlds
            ]
        )

    def part(self, start: int, stop: int) -> "Sweep":
        """Some of the worlds, by their places."""
        return Sweep(self.worlds[start:stop], self.n_responses, self.n_criteria, self.kr20[start:stop])

    def _moments(self) -> tuple[Array, Array]:
        defined = np.isfinite(self.kr20)
        n = defined.sum(axis=-1)
        mean = np.where(defined, self.kr20, 0.0).sum(axis=-1) / np.maximum(n, 1)
        squares = np.where(defined, np.square(self.kr20 - mean[:, None]), 0.0).sum(axis=-1)
        sd = np.sqrt(squares / np.maximum(n - 1, 1))
        return np.where(n > 0, mean, np.nan), np.where(n > 1, sd, np.nan)


def world(spread: float, error: float, direction: Direction = "both") -> World:
    """A world whose judge is wrong on the share `error` of all verdicts.

    Erring in one direction only, it needs twice the rate there, since half of all criteria are present.

    Raises:
        RequestError: a rate that would lie above 1.
    """
    if direction == "both":
        return World(spread, error, error)
    if not 0 <= error <= 0.5:
        raise RequestError(
            f"an error rate of {error} in one direction only would need a rate of {2 * error:g} there; it must lie between 0 and .5"
        )
    return World(spread, 2 * error, 0.0) if direction == "accept" else World(spread, 0.0, 2 * error)


def grid(spreads: Sequence[float], errors: Sequence[float], direction: Direction = "both") -> tuple[World, ...]:
    """Every spread with every error rate, errors running fastest."""
    return tuple(world(spread, error, direction) for spread in spreads for error in errors)


TWO_WAY = grid(SPREADS, ERRORS)
"""The published two-way grid; seed 11."""
MEASURED_RATE = grid(SPREADS, (MEASURED,))
"""The published column at the measured rate; seed 13."""
ONE_DIRECTIONAL = (
    *(World(spread, FALSE_ACCEPTS, FALSE_REJECTS) for spread in SPREADS),
    *grid((SPREADS[-1],), ERRORS, "accept"),
)
"""The published one-directional sweep, and the lenient-only one that goes on with its generator; seed 17."""


def own_sweep(
    worlds: Sequence[World],
    *,
    n_responses: int = 210,
    n_criteria: int = 10,
    n_replicates: int = 1000,
    seed: int = 0,
    step: Step | None = None,
) -> Sweep:
    """KR-20 in replicates of each world, in this package's stream.

    Args:
        worlds: the cells, at least one.
        n_responses: responses of a bank, at least 2.
        n_criteria: criteria of a response, at least 2.
        n_replicates: banks a cell, at least 1.
        seed: seed of the one generator, 0 or more.
        step: is told how many banks were drawn, block by block.

    Raises:
        RequestError: an argument out of its range.
    """
    _check_sizes(worlds, n_responses, n_criteria, n_replicates, seed)
    rng = default_rng(seed)
    ranges = [met_rate_range(one.spread, one.false_accept_rate, one.false_reject_rate) for one in worlds]
    mass = mass_of_totals(n_criteria, *np.transpose(ranges))
    found = np.empty((len(worlds), n_replicates))
    block = max(1, _BLOCK_TOTALS // mass.size)
    for start in range(0, n_replicates, block):
        size = min(block, n_replicates - start)
        found[:, start : start + size] = kr20(draw_moments(rng, mass, n_responses, size))
        if step is not None:
            step(size * len(worlds))
    return Sweep(tuple(worlds), n_responses, n_criteria, found)


def published_sweep(
    worlds: Sequence[World],
    *,
    n_responses: int = 210,
    n_criteria: int = 10,
    n_replicates: int = 60,
    seed: int = 11,
    step: Step | None = None,
) -> Sweep:
    """KR-20 in replicates of each world, in the stream of Zhu (2026)'s released script.

    Arguments as in `own_sweep`; the cells share one generator and so depend on their order.

    Raises:
        RequestError: an argument out of its range.
    """
    _check_sizes(worlds, n_responses, n_criteria, n_replicates, seed)
    rng = default_rng(seed)
    found = np.empty((len(worlds), n_replicates))
    for place, one in enumerate(worlds):
        start = 0
        for verdicts in _verdicts(rng, one, n_responses, n_criteria, n_replicates):
            found[place, start : start + len(verdicts)] = kr20(_moments(verdicts))
            start += len(verdicts)
            if step is not None:
                step(len(verdicts))
    return Sweep(tuple(worlds), n_responses, n_criteria, found)


def _verdicts(rng: Generator, one: World, n: int, K: int, n_replicates: int) -> Iterator[Array]:
    """Blocks (replicates, n, K) of 0/1 verdicts; a replicate draws n rates, then n K labels, then n K verdicts."""
    block = max(1, _BLOCK_NUMBERS // (n * (2 * K + 1)))
    low, width = 0.5 - one.spread / 2, (0.5 + one.spread / 2) - (0.5 - one.spread / 2)
    for start in range(0, n_replicates, block):
        draws = rng.random((min(block, n_replicates - start), n * (2 * K + 1)))
        shape = (len(draws), n, K)
        rate = low + width * draws[:, :n, None]
        present = draws[:, n : n * (K + 1)].reshape(shape) < rate
        chance = draws[:, n * (K + 1) :].reshape(shape)
        if one.false_accept_rate == one.false_reject_rate:
            yield (present ^ (chance < one.false_accept_rate)).view(np.uint8)
        else:
            found = np.where(present, chance >= one.false_reject_rate, chance < one.false_accept_rate)
            yield found.view(np.uint8)


def _moments(verdicts: Array) -> Moments:
    """Sums over (replicates, n, K) verdicts, as bytes."""
    replicates, n, K = verdicts.shape
    totals = verdicts @ np.ones(K, dtype=np.uint16)
    items = np.ones(n, dtype=np.uint32) @ verdicts
    squares = np.square(totals, dtype=np.int64).sum(axis=-1)
    return Moments(np.full(replicates, float(n)), items.astype(np.float64), squares.astype(np.float64))


def _check_sizes(worlds: Sequence[World], n_responses: int, n_criteria: int, n_replicates: int, seed: int) -> None:
    if not worlds:
        raise RequestError("the grid is empty; it needs at least one spread and one error rate")
    check_whole("responses", n_responses, least=2, most=_MOST_RESPONSES)
    check_whole("criteria", n_criteria, least=2, most=_MOST_CRITERIA)
    check_whole("replicates", n_replicates, least=1, most=_MOST_REPLICATES)
    check_whole("seed", seed, least=0, most=2**63)
