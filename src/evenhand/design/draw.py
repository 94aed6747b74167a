"""Which responses of a bank are judged: all, a stratified sample, or equal numbers from two tails of attainment."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.design.bank import Bank, Item
from evenhand.design.plan import DrawPart, TailsPart
from evenhand.errors import RequestError

if TYPE_CHECKING:
    import numpy as np

HIGH, LOW = "high", "low"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A response of the draw.

    Attributes:
        item: the response.
        tail: high, low, or empty where the draw has no tails.
        attainment: mean reference mark over the learner's other responses; NaN where there is none.
        n_prior: how many those are.
        partner: attainment of a learner of the opposite tail; NaN without tails.
        n_prior_partner: how many responses that one rests on.
    """

    item: Item
    tail: str = ""
    attainment: float = math.nan
    n_prior: int = 0
    partner: float = math.nan
    n_prior_partner: int = 0


def draw(bank: Bank, part: DrawPart) -> tuple[Drawn, ...]:
    """The responses a plan judges, in the order of the bank; the same seed draws the same ones.

    Raises:
        RequestError: there are fewer than the plan asks for, in all or in a tail.
    """
    every = [Drawn(item, "", *attainment(bank, item)) for item in bank.items]
    if part.tails is not None:
        return _tails(every, part, part.tails)
    return tuple(every) if part.n is None else _strata(every, part, part.n)


def _generator(part: DrawPart) -> "np.random.Generator":
    import numpy as np  # loaded where something is drawn

    return np.random.default_rng(part.seed)


def _strata(every: list[Drawn], part: DrawPart, n: int) -> tuple[Drawn, ...]:
    if n > len(every):
        raise RequestError(f"[draw] n = {n:,}: the bank holds {len(every):,} responses")
    strata: dict[str, list[int]] = {}
    for position, one in enumerate(every):
        strata.setdefault(one.item.strata, []).append(position)
    chosen: list[int] = []
    sizes = {name: len(members) for name, members in strata.items()}
    rng = _generator(part)
    for name, size in (_equal(sizes, n) if part.equal else _shares(sizes, n)).items():
        chosen += rng.permutation(strata[name])[:size].tolist()
    return tuple(every[position] for position in sorted(chosen))


def attainment(bank: Bank, item: Item) -> tuple[float, int]:
    """Mean reference mark over the learner's other responses, and how many those are."""
    if not item.learner_id:
        return math.nan, 0
    others = [one.mark for one in bank.by_learner[item.learner_id] if one.response_id != item.response_id]
    marks = [mark for mark in others if math.isfinite(mark)]
    return (math.fsum(marks) / len(marks), len(marks)) if marks else (math.nan, 0)


def _tails(every: list[Drawn], part: DrawPart, tails: TailsPart) -> tuple[Drawn, ...]:
    size = tails.n // 2
    if tails.low >= tails.high:
        raise RequestError(f"[draw] tails: low = {tails.low:g} must lie below high = {tails.high:g}")
    members = {
        HIGH: [position for position, one in enumerate(every) if one.attainment >= tails.high],
        LOW: [position for position, one in enumerate(every) if one.attainment < tails.low],
    }
    for name, found in members.items():
        if len(found) < size:
            raise RequestError(
                f"[draw] tails: {size:,} responses are wanted of the {name} tail and {len(found):,} have such an attainment; "
                "move high or low, or ask for fewer"
            )
    rng = _generator(part)
    drawn = {name: rng.permutation(members[name])[:size].tolist() for name in (HIGH, LOW)}
    placed: dict[int, Drawn] = {}
    for name, opposite in ((HIGH, LOW), (LOW, HIGH)):
        for position, across in zip(drawn[name], drawn[opposite], strict=True):
            one, other = every[position], every[across]
            placed[position] = Drawn(one.item, name, one.attainment, one.n_prior, other.attainment, other.n_prior)
    return tuple(placed[position] for position in sorted(placed))


def _shares(sizes: dict[str, int], n: int) -> dict[str, int]:
    """n places over strata in proportion to their sizes, largest remainders first."""
    total = sum(sizes.values())
    exact = {name: n * size / total for name, size in sizes.items()}
    taken = {name: math.floor(share) for name, share in exact.items()}
    rest = sorted(exact, key=lambda name: (taken[name] - exact[name], name))
    for name in rest[: n - sum(taken.values())]:
        taken[name] += 1
    return taken


def _equal(sizes: dict[str, int], n: int) -> dict[str, int]:
    """n places over strata, as many for each, what a small stratum cannot fill going to the larger ones."""
    taken = dict.fromkeys(sizes, 0)
    while (rest := n - sum(taken.values())) > 0:
        open_ones = sorted(name for name in sizes if taken[name] < sizes[name])
        for name in open_ones[:rest] if rest < len(open_ones) else open_ones:
            taken[name] += min(max(rest // len(open_ones), 1), sizes[name] - taken[name])
    return taken
