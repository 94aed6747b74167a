"""Banks drawn as sufficient statistics: the totals of all responses at once, then what each criterion adds up to.

Responses whose criteria are exchangeable need no verdict of their own: given its total, a response meets a random
subset of the criteria, so the sums by criterion follow from the histogram of totals.
"""

from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evenhand.stats.arrays import Array, Counts
from evenhand.stats.internal_consistency import Moments

_BITS, _FIELDS = 12, 5
"""Of a packed sum: a word of 64 bits holds five of them, each up to 4,095 responses."""
_MOST_LISTED = 12
"""Criteria up to which all subsets are listed."""
_BLOCK_RESPONSES = 60_000


def draw_moments(rng: Generator, mass: Array, n_responses: int, n_replicates: int) -> Moments:
    """Sums over the verdicts of `n_replicates` banks of each world.

    `mass` (W, K+1) holds the probabilities of a total in each world. Leading shape (W, n_replicates).
    """
    shape = (len(mass), n_replicates)
    return moments_given_totals(rng, rng.multinomial(n_responses, mass[:, None, :], size=shape))


def moments_given_totals(rng: Generator, histogram: Counts) -> Moments:
    """Sums over verdicts, given how many responses have a total of 0 ... K, (..., K+1); leading shape (...)."""
    totals = np.square(np.arange(histogram.shape[-1]))
    return Moments(
        n=histogram.sum(axis=-1).astype(np.float64),
        item_sums=item_sums_given_totals(rng, histogram).astype(np.float64),
        total_square_sum=(histogram @ totals).astype(np.float64),
    )


def item_sums_given_totals(rng: Generator, histogram: Counts) -> Counts:
    """How many responses meet each criterion, (..., K), every subset of a total's size being as likely as another.

    `histogram` (..., K+1) counts the responses of each total. Few criteria and responses: each response's subset is
    drawn from a list of all. Else criteria are drawn one after another, for all responses of a total at once.
    """
    flat = histogram.reshape(-1, histogram.shape[-1])
    n_criteria, sizes = flat.shape[1] - 1, flat.sum(axis=1)
    listed = 0 < n_criteria <= _MOST_LISTED and 0 < sizes.max(initial=0) < 2**_BITS and (sizes == sizes[0]).all()
    sums = (_by_subset if listed else _by_criterion)(rng, flat)
    return sums.reshape(*histogram.shape[:-1], n_criteria)


def _by_criterion(rng: Generator, histogram: Counts) -> Counts:
    """A response that still has r of the next m criteria to meet meets the first of them with probability r/m."""
    n_criteria = histogram.shape[1] - 1
    left = histogram.T.copy()  # by what is left to meet; the long axis last, for speed
    sums = np.empty((n_criteria, len(histogram)), dtype=np.int64)
    for place in range(n_criteria):
        rest = n_criteria - place
        sums[place] = left[rest]  # those who must meet all that is left
        for remaining in range(1, rest):
            met = rng.binomial(left[remaining], remaining / rest)
            sums[place] += met
            left[remaining] -= met
            left[remaining - 1] += met
        left[rest - 1] += left[rest]
    return sums.T


def _by_subset(rng: Generator, histogram: Counts) -> Counts:
    """Every response draws one of the subsets of its total's size; banks of one size n below 2^_BITS."""
    n_criteria, n = histogram.shape[1] - 1, int(histogram[0].sum())
    words, first, choices = _subsets(n_criteria)
    sums = np.empty((len(histogram), words.shape[0]), dtype=np.uint64)
    block = max(1, _BLOCK_RESPONSES // n)
    for start in range(0, len(histogram), block):
        part = histogram[start : start + block]
        total = np.repeat(np.tile(np.arange(n_criteria + 1, dtype=np.int16), len(part)), part.ravel())
        chosen = first[total] + (rng.random(total.size) * choices[total]).astype(np.int32)
        for at, word in enumerate(words):
            sums[start : start + block, at] = word[chosen].reshape(len(part), n).sum(axis=1)
    shifts = np.arange(_FIELDS, dtype=np.uint64) * np.uint64(_BITS)
    fields = (sums[:, :, None] >> shifts) & np.uint64(2**_BITS - 1)
    return fields.reshape(len(histogram), -1)[:, :n_criteria].astype(np.int64)


@cache
def _subsets(n_criteria: int) -> tuple[NDArray[np.uint64], NDArray[np.int32], Array]:
    """All subsets of the criteria by size, packed five criteria a word, (words, 2^K); where a size begins, and how many it has."""
    bits = (np.arange(2**n_criteria)[:, None] >> np.arange(n_criteria)) & 1
    bits = bits[np.argsort(bits.sum(axis=1), kind="stable")]
    choices = np.bincount(bits.sum(axis=1))
    padded = np.pad(bits, ((0, 0), (0, -n_criteria % _FIELDS))).astype(np.uint64).reshape(len(bits), -1, _FIELDS)
    words = (padded << (np.arange(_FIELDS, dtype=np.uint64) * np.uint64(_BITS))).sum(axis=-1, dtype=np.uint64)
    first = np.concatenate([[0], choices.cumsum()[:-1]]).astype(np.int32)
    return np.ascontiguousarray(words.T), first, choices.astype(np.float64)
