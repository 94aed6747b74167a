"""Who labels what, under which code and in which order: nothing of it depends on what a judge said."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import RequestError
from evenhand.stats.arrays import Counts

_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that no code is a word, a number or a date to a spreadsheet."""
_SHORTEST = 5
_CODES, _RATERS, _ORDER = 1, 2, 3
"""First numbers of the random streams beside the seed."""


@dataclass(frozen=True, slots=True)
class Deal:
    """Codes, and the sheets they stand on.

    Attributes:
        codes: (n,) one of each drawn response.
        sheets: (R,) positions among the drawn responses that each rater labels, in the order of the sheet.
        n_shared: responses that every rater labels.
    """

    codes: tuple[str, ...]
    sheets: tuple[Counts, ...]
    n_shared: int


def deal(responses: Sequence[str], raters: int, shared: int | None, seed: int) -> Deal:
    """Deal drawn responses to raters.

    Args:
        responses: (n,) drawn ones; other responses have other codes, so that no sheet is taken for another sample's.
        raters: R; each has its own order.
        shared: responses that all of them label, chosen at random, the others going round; all of them when None.
        seed: the same one deals the same way.

    Raises:
        RequestError: more shared responses than there are.
    """
    n = len(responses)
    if shared is not None and shared > n:
        raise RequestError(f"--overlap {shared:,}: only {n:,} responses are drawn; write all, or a number up to {n:,}")
    row = np.random.default_rng((seed, _RATERS)).permutation(n)
    n_shared = n if shared is None or raters == 1 else shared
    sheets = []
    for rater in range(raters):
        mine = np.concatenate([row[:n_shared], row[n_shared:][rater::raters]])
        sheets.append(np.random.default_rng((seed, _ORDER, rater)).permutation(mine))
    return Deal(_codes(responses, seed), tuple(sheets), n_shared)


def _codes(responses: Sequence[str], seed: int) -> tuple[str, ...]:
    """Different codes of consonants, far fewer than there could be, so that a typing error hits none."""
    n, length = len(responses), _SHORTEST
    salt = int.from_bytes(hashlib.sha256("\0".join(responses).encode()).digest()[:8], "little")
    while len(_LETTERS) ** length < 1_000 * n:
        length += 1
    rng, found = np.random.default_rng((seed, _CODES, salt)), dict[str, None]()
    while len(found) < n:
        letters = rng.integers(0, len(_LETTERS), (n, length))
        found |= dict.fromkeys("".join(_LETTERS[at] for at in row) for row in letters.tolist())
    return tuple(found)[:n]
