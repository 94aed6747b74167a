"""A probability sample of responses: systematic within each stratum along its clusters, every chance known."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.errors import RequestError, printable
from evenhand.sampling.population import Population
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.label_budget import allocate, spread_of_share, stratified_variance

Allocation = Literal["proportional", "equal", "neyman"]
_DRAW = 0
"""First number of the random stream that a draw uses beside the seed; the sheets have their own."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Responses to be labelled.

    Attributes:
        taken: (n,) positions in the population, in its order.
        sizes: (H,) labels of each stratum.
        chance: (n,) inclusion probability n_h/N_h of each.
        weight: (n,) N_h/n_h, how many responses of the population each stands for.
    """

    taken: Counts
    sizes: Counts
    chance: Array
    weight: Array


def draw(people: Population, sizes: Counts, seed: int, *, by_cluster: bool) -> Draw:
    """Draw so many of each stratum.

    Members of a stratum stand in a row, by cluster in natural order and within a cluster at random; from a random start
    one is taken at every N_h/n_h (Madow and Madow 1944). Every member has the chance n_h/N_h, and a cluster gets its
    share of labels to within one.

    Args:
        people: what is drawn from.
        sizes: (H,) how many of each stratum, at least one.
        seed: the same one draws the same responses.
        by_cluster: else the row is at random throughout, and clusters get what chance gives them.
    """
    rng, taken = np.random.default_rng((seed, _DRAW)), []
    shuffled = rng.permutation(len(people.responses))
    row = shuffled[np.argsort(people.cluster[shuffled], kind="stable")] if by_cluster else shuffled
    for stratum, size in enumerate(sizes.tolist()):
        members = row[people.stratum[row] == stratum]
        places = np.floor((rng.random() + np.arange(size)) * (len(members) / size)).astype(np.int64)
        taken.append(members[np.minimum(places, len(members) - 1)])
    chosen = np.sort(np.concatenate(taken))
    of = people.stratum[chosen]
    return Draw(chosen, sizes, (sizes / people.sizes)[of], (people.sizes / sizes)[of])


def spreads(people: Population, expected: tuple[float, ...] = ()) -> Array | None:
    """(H,) S_h of the share of wrong verdicts in each stratum: as expected, or as labels already there show; None without either.

    Raises:
        RequestError: as many shares as strata are needed, each from 0 to 1.
    """
    if expected:
        if len(expected) != len(people.strata) or not all(0 <= share <= 1 for share in expected):
            named = ", ".join(f'"{printable(name)}"' for name in people.strata)
            raise RequestError(
                f"--expect takes the share of wrong verdicts expected in each stratum, from 0 to 1, in this order: {named}"
            )
        shares = np.asarray(expected, dtype=np.float64)
        return np.asarray(np.sqrt(shares * (1 - shares)))
    return spread_of_share(people.wrong, people.known) if people.known.any() else None


def sizes_of(people: Population, n: int, how: Allocation, spread: Array | None) -> Counts:
    """(H,) how n labels are divided.

    Raises:
        RequestError: more labels than responses, fewer than strata, or nothing from which to know the spreads.
    """
    sizes = people.sizes
    if n > sizes.sum():
        raise RequestError(f"--n {n:,}: there are {int(sizes.sum()):,} responses to draw from")
    if n < len(sizes):
        named = ", ".join(printable(name) for name in people.strata)
        raise RequestError(
            f"--n {n:,}: {len(sizes)} strata ({named}) need a label each; draw more, or leave verdict out of --by"
        )
    if how == "neyman" and spread is None:
        named = ", ".join(f'"{printable(name)}"' for name in people.strata)
        raise RequestError(
            "--allocation neyman needs to know where the judge errs: give a file with some reference labels, or say the share of wrong "
            f"verdicts you expect in each stratum with --expect P,P,... for {named}"
        )
    weights = {
        "proportional": sizes,
        "equal": np.ones(len(sizes)),
        "neyman": sizes * (1.0 if spread is None else spread),
    }
    some_left = np.maximum(sizes - 1, 1)  # the judge's rate on the rest has to speak of every stratum
    return allocate(n, np.asarray(weights[how], dtype=np.float64), some_left if n <= some_left.sum() else sizes)


def std_error(people: Population, sizes: Counts, spread: Array) -> float:
    """Standard error of the share of responses judged wrong that such a draw would have, responses being independent."""
    return float(np.sqrt(stratified_variance(sizes, people.sizes, spread)))
