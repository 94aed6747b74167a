"""A statistic of the judge's complete responses beside its value on reference labels, and the difference.

An error-free scorer returns the value on reference labels, so that value is the null: what the statistic says of the
judge is at most their difference. Without reference labels none of them is about the judge.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.scales import IDENTITY, Scale
from evenhand.tally.moments import CompleteResponses, Side

ALONE = "; without its value on reference labels it says nothing about the judge"
NO_RESPONSE = "no complete response"
Result = TypeVar("Result")
_MOST_RECENT = 3
"""Inputs that an interval asks a measure about: the whole sample, each unit left out, replicates."""


@dataclass(frozen=True, slots=True)
class Borrowed:
    """One statistic of one side's tallies.

    Attributes:
        measure: totals of the whole sample → the measure, so that what must be frozen is frozen there.
        estimand: of the value on one side; {side} names it.
        undefined: why there is no value.
        explain: totals of one side → what to say about its value, or why there is none; may be empty.
    """

    name: str
    measure: Callable[[Array], Measure]
    scale: Scale
    describes: Describes
    estimand: str
    undefined: str
    params: Mapping[str, Param] = field(default_factory=dict)
    explain: Callable[[Array], str] | None = None


@dataclass(frozen=True, slots=True)
class Tallies:
    """Both sides' tallies of one population of responses.

    Attributes:
        of_side: side → (U, m) sums.
        sizes: (U,) responses.
        n_excluded: rated responses outside the population.
        n_clusters: clusters in it, where units are groups.
    """

    of_side: Mapping[Side, Array]
    sizes: Array
    n_excluded: int
    n_clusters: int | None


class Remembered(Generic[Result]):
    """A function of tallies that keeps its results: every statistic of one fit asks it about the same tallies."""

    def __init__(self, function: Callable[[Array], Result]) -> None:
        self._function = function
        self._known: dict[tuple[tuple[int, ...], bytes], Result] = {}

    def __call__(self, tallies: Array) -> Result:
        """The function's value, computed once."""
        key = (tallies.shape, tallies.tobytes())
        if key not in self._known:
            self._known[key] = self._function(tallies)
        return self._known[key]


class Recent:
    """A measure that keeps its last results: the difference asks both sides about the tallies that each was asked about."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._known: deque[tuple[Array, Array]] = deque(maxlen=_MOST_RECENT)

    def __call__(self, tallies: Array) -> Array:
        """The measure's value, computed once while it is recent."""
        for known, value in self._known:
            if known.shape == tallies.shape and np.array_equal(known, tallies):
                return value
        value = self._measure(tallies)
        self._known.append((tallies, value))
        return value


def unfrozen(measure: Measure) -> Callable[[Array], Measure]:
    """A measure that freezes nothing at the whole sample."""
    return lambda _totals: measure


def sides(evidence: Evidence) -> Iterator[tuple[Side, str, str]]:
    """Side, source of its ids, and its words."""
    yield "judge", evidence.source, "the judge's verdicts"
    if evidence.has_reference:
        yield "reference", evidence.reference_source, "the reference labels"


def n_excluded(group: CompleteResponses) -> int:
    """Rated responses that are not in the group."""
    return int(group.patterns.count.sum() - group.sizes.sum())


def tallied(evidence: Evidence, group: CompleteResponses, pack: Callable[[CompleteResponses, Side], Array]) -> Tallies:
    """Tallies of complete responses on every side there is."""
    packed = {side: pack(group, side) for side, _, _ in sides(evidence)}
    return Tallies(packed, group.sizes, n_excluded(group), evidence.counts.get("complete"))


def beside_reference(
    evidence: Evidence, tallies: Tallies, one: Borrowed, params: Mapping[str, Param] | None = None
) -> Iterator[Estimate]:
    """The value on each side there is, and the difference."""
    totals = {side: packed.sum(axis=0) for side, packed in tallies.of_side.items()}
    measures = {side: Recent(one.measure(total)) for side, total in totals.items()}
    remarks = {side: one.explain(total) if one.explain else "" for side, total in totals.items()}
    for side, source, words in sides(evidence):
        estimand = one.estimand.replace("{side}", words) + ("" if evidence.has_reference else ALONE)
        describes = one.describes if side == "judge" else "bank"
        yield _found(
            evidence, tallies, one, measures[side], tallies.of_side[side], estimand, describes, source, remarks[side], params
        )  # fmt: skip
    if evidence.has_reference:
        width = tallies.of_side["judge"].shape[1]

        def difference(both: Array) -> Array:
            return measures["judge"](both[..., :width]) - measures["reference"](both[..., width:])

        estimand = "difference, judge minus reference on the same responses: " + one.estimand.replace(
            "{side}", "one side"
        )
        both = np.concatenate([tallies.of_side["judge"], tallies.of_side["reference"]], axis=1)
        said = "; ".join(f"{side}: {remark}" for side, remark in remarks.items() if remark)
        yield _found(
            evidence, tallies, one, difference, both, estimand, one.describes, evidence.difference_source, said, params
        )  # fmt: skip


def _found(
    evidence: Evidence,
    tallies: Tallies,
    one: Borrowed,
    measure: Measure,
    packed: Array,
    estimand: str,
    describes: Describes,
    source: str,
    remark: str,
    params: Mapping[str, Param] | None,
) -> Estimate:
    scale = IDENTITY if source == evidence.difference_source else one.scale
    undefined = one.undefined if one.undefined != NO_RESPONSE or not remark else ""
    found = assess(
        evidence,
        Statistic(one.name, measure, scale, describes, estimand, "response", counted=False),
        packed,
        undefined="; ".join(filter(None, (remark, undefined))),
        source=source,
        n_excluded=tallies.n_excluded,
        n_clusters=tallies.n_clusters,
        sizes=tallies.sizes,
        params={**one.params, **(params or {})},
    )
    if found.status != "ok" or not remark:
        return found
    return found.model_copy(update={"reason": remark + (f"; {found.reason}" if found.reason else "")})
