"""Coverage: how often an interval holds the truth, in simulated banks that all statistics share.

A cell is one statistic in one design: number of clusters, whether they are equally large, base rates, and intraclass
correlation. Banks are drawn in blocks with a seed of their own, so that numbers depend neither on the number of processes
nor on which statistics are asked for, and a longer study begins with the shorter one.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from evenhand.simulate.banks import VARIATION, BaseRates, Tallies, draw_verdicts, expected_tallies, tally
from evenhand.simulate.covered import Covered, covered
from evenhand.stats.arrays import Array
from evenhand.stats.intervals import METHODS, Sample
from evenhand.stats.resampling import draw_weights

LEVEL = 0.95
CLUSTERS = (5, 8, 13, 30, 100)
ICCS = (0.0, 0.06, 0.15)
"""None; about that of the example bank, where kappa's design effect is 5.5; and more than twice that."""
RATES: Mapping[str, BaseRates] = {
    "even": BaseRates(0.55, 0.10, 0.05),
    "skewed": BaseRates(0.85, 0.20, 0.05),
    "rare": BaseRates(0.55, 0.01, 0.002),
}
"""Base rates: about the example bank's; a reference that is mostly positive; a judge that hardly errs."""
BLOCK = 100
"""Banks drawn together."""
N_RESAMPLES = 1_000
Imbalance = Literal["equal", "unequal"]
IMBALANCES: tuple[Imbalance, ...] = ("equal", "unequal")


@dataclass(frozen=True, slots=True)
class Design:
    """How banks of a cell are drawn."""

    clusters: int
    imbalance: Imbalance
    rates: str
    icc: float

    @property
    def entropy(self) -> tuple[int, ...]:
        """Whole numbers that tell its random stream from the others'."""
        return self.clusters, IMBALANCES.index(self.imbalance), list(RATES).index(self.rates), round(1_000 * self.icc)

    def __str__(self) -> str:
        return f"{self.clusters} {self.imbalance} clusters, {self.rates} rates, ICC {self.icc:g}"


@dataclass(frozen=True, slots=True)
class Count:
    """What became of the intervals of one cell.

    Attributes:
        truth: the population's value.
        intervals: banks with an interval.
        covered, below, above: intervals that hold the truth, lie below it, lie above it.
    """

    truth: float
    intervals: int = 0
    covered: int = 0
    below: int = 0
    above: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.truth,
            self.intervals + other.intervals,
            self.covered + other.covered,
            self.below + other.below,
            self.above + other.above,
        )


def designs() -> tuple[Design, ...]:
    """Every design of the study, those of most clusters first: they take longest."""
    return tuple(Design(*one) for one in itertools.product(sorted(CLUSTERS, reverse=True), IMBALANCES, RATES, ICCS))


def draw_block(design: Design, seed: int, block: int, n_banks: int) -> Tallies:
    """Tallies of one block of banks of a design."""
    rng = np.random.default_rng([seed, *design.entropy, block])
    variation = 0.0 if design.imbalance == "equal" else VARIATION
    return tally(draw_verdicts(rng, n_banks, design.clusters, RATES[design.rates], icc=design.icc, variation=variation))


def sample_of(one: Covered, tallies: Array, sizes: Array) -> Sample:
    """A statistic's sample, as an audit makes it of the same tallies.

    Args:
        one: the statistic.
        tallies: (G, *cells).
        sizes: (G,) members of the population.
    """
    active = sizes > 0
    if not active.all():
        tallies, sizes = tallies[active], sizes[active]
    ceiling = 1 - float(one.chance(tallies.sum(axis=0))) if one.chance is not None else None
    return Sample(
        tallies=tallies,
        measure=one.measure,
        sizes=sizes,
        scale=one.scale,
        names=("",) * len(tallies),
        weights=_weights,
        events=tallies[:, 0] if one.is_rate else None,
        ceiling=ceiling if ceiling is not None and np.isfinite(ceiling) and ceiling > 0 else None,
        from_rate=one.from_rate,
    )


@cache
def _weights(n_units: int) -> Array:
    return draw_weights(0, N_RESAMPLES, n_units)


def count_block(
    design: Design, seed: int, block: int, n_banks: int, statistics: Sequence[str], method: str = "default"
) -> dict[str, Count]:
    """Count the intervals of one block of banks, by statistic.

    Args:
        design: of the banks.
        seed: of the study.
        block: number of the block.
        n_banks: in it.
        statistics: ids.
        method: a name of ``stats.intervals.METHODS``.
    """
    banks, expected = draw_block(design, seed, block, n_banks), expected_tallies(RATES[design.rates], design.icc)
    found = {}
    for name in statistics:
        one = covered()[name]
        tallies = one.tallies(banks)
        sizes = tallies.reshape(*tallies.shape[:2], -1).sum(axis=-1) if one.sizes is None else one.sizes(banks)
        found[name] = _count(one, one.value(expected), tallies, sizes, method)
    return found


def _count(one: Covered, truth: float, tallies: Array, sizes: Array, method: str) -> Count:
    totals = tallies.sum(axis=1)
    values, left_out = one.measure(totals), one.measure(totals[:, None] - tallies)
    whole = np.asarray((sizes > 0).all(axis=1))
    n_intervals = below = above = 0
    for at in np.flatnonzero(np.isfinite(values)):
        sample = sample_of(one, tallies[at], sizes[at])
        if whole[at]:  # what the sample would compute by itself, of all banks at once
            sample.__dict__.update(value=float(values[at]), left_out=left_out[at])
        interval = METHODS[method](sample, LEVEL)
        if interval.low is None or interval.high is None:
            continue
        n_intervals += 1
        below += interval.high < truth
        above += interval.low > truth
    return Count(truth, n_intervals, n_intervals - below - above, below, above)
