"""Synthetic marks and verdicts shaped like a plan's draw, with a known effect planted in them.

Rows are responses (lines of a checklist, where there is one) in the order of their units; units lie in strata, which are the
tails of a draw by attainment. A block of worlds is one array, (worlds, rows); nothing here loops over worlds.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.design.arms import ends_of
from evenhand.design.calls import Design
from evenhand.design.plan import FloorPart, ScalePart
from evenhand.stats.arrays import Array, Counts

_WHOLE_MARKS_FROM = 4.0
"""Width of a scale between whole numbers from which marks are taken for whole points, unless the plan says otherwise."""
_MET = frozenset({"1", "yes", "true", "met", "a"})


@dataclass(frozen=True)
class Shape:
    """The rows of a draw, sorted by unit, and what their units are.

    Attributes:
        truth: (n,) reference of each row: a mark, or 1 and 0 for the two labels.
        sizes: (V,) rows of each unit; a unit within a stratum.
        stratum: (V,) its stratum, from 0.
        strata: names of the strata.
        rows_a_response: lines of a checklist; 1 without one.
    """

    truth: Array
    sizes: Counts
    stratum: Counts
    strata: tuple[str, ...]
    rows_a_response: int = 1

    @property
    def n_responses(self) -> int:
        """Responses of the draw."""
        return len(self.truth) // self.rows_a_response

    @property
    def n_units(self) -> int:
        """V."""
        return len(self.sizes)

    @cached_property
    def starts(self) -> Counts:
        """(V,) first row of each unit."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    def enlarged(self, factor: float) -> "Shape":
        """A draw of more units like these: they are taken in turn, with their rows, until each stratum is that much larger."""
        chosen: list[int] = []
        for stratum in range(len(self.strata)):
            members = np.flatnonzero(self.stratum == stratum)
            chosen += members[np.arange(math.ceil(len(members) * factor)) % len(members)].tolist()
        rows = np.concatenate([np.arange(self.starts[unit], self.starts[unit] + self.sizes[unit]) for unit in chosen])
        return Shape(self.truth[rows], self.sizes[chosen], self.stratum[chosen], self.strata, self.rows_a_response)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What worlds assume of a judge, in points of the scale; see ``FloorPart``.

    Attributes:
        low, high: ends of the scale.
        are_marks: marks; else one of two labels, whose shares are points of a scale from 0 to 1.
        known_truth: whether references of the bank stand behind the rows.
    """

    low: float
    high: float
    are_marks: bool
    known_truth: bool
    bias: float
    mark_sd: float
    repeat_sd: float
    effect_sd: float
    unit_sd: float
    step: float
    error_rate: float
    flip_rate: float
    icc: float

    @property
    def width(self) -> float:
        """Of the scale."""
        return self.high - self.low

    def words(self, unit: str, *, is_contrast: bool) -> tuple[str, ...]:
        """What is assumed, one clause each."""
        truth = "references of the bank" if self.known_truth else "references spread evenly over the scale"
        if not self.are_marks:
            said = [truth, f"{self.error_rate:.3g} of verdicts wrong, ICC {self.icc:g} within a {unit}"]
            if is_contrast:
                said += [f"{self.flip_rate:.3g} of verdicts turned by another call"]
                said += [f"the effect varies by SD {self.unit_sd:g} from {unit} to {unit}"]
            return tuple(said)
        said = [truth, f"judge's marks about them with bias {self.bias:g} and SD {self.mark_sd:g}"]
        said += [f"SD {self.repeat_sd:g} from call to call"]
        if is_contrast:
            said += [
                f"the effect varies by SD {self.effect_sd:g} from response to response and {self.unit_sd:g} from {unit} to {unit}"
            ]
        else:
            said += [f"SD {self.unit_sd:g} of a {unit}'s mean error"]
        return (*said, f"marks in steps of {self.step:g}" if self.step else "marks of any value")


def shape_of(design: Design) -> Shape:
    """The units and references of a plan's draw."""
    unit = design.plan.unit
    rows: list[tuple[str, str, float]] = []
    scale = design.plan.scale
    for drawn in design.drawn:
        item = drawn.item
        named = {"learner": item.learner_id, "cluster": item.cluster_id, "response": ""}[unit]
        name = named or f"response {item.response_id}"  # a response that nothing joins to others stands alone
        rows += [(drawn.tail, name, _truth(said, scale)) for said in item.references.values()]
    rows.sort(key=lambda row: row[:2])
    strata = sorted({row[0] for row in rows})
    keys = [row[:2] for row in rows]
    units = list(dict.fromkeys(keys))
    place = {key: number for number, key in enumerate(units)}
    sizes = np.bincount([place[key] for key in keys], minlength=len(units))
    truth = np.array([row[2] for row in rows])
    unknown = np.flatnonzero(np.isnan(truth))
    low, high = ends_of_marks(scale)
    evenly = low + (high - low) * (np.arange(len(unknown)) + 0.5) / max(len(unknown), 1)
    truth[unknown] = evenly if is_of_marks(scale) else np.arange(len(unknown)) % 2
    stratum = np.array([strata.index(key[0]) for key in units], dtype=np.int64)
    lines = len(design.drawn[0].item.references)
    return Shape(truth, sizes.astype(np.int64), stratum, tuple(strata), lines)


def assumptions_of(part: FloorPart, scale: ScalePart, *, is_contrast: bool, known_truth: bool) -> Assumptions:
    """What the plan assumes, and what follows from its scale where it says nothing."""
    marks = is_of_marks(scale)
    low, high = ends_of_marks(scale) if marks else (0.0, 1.0)
    width = high - low

    def default(said: float | None, share: float) -> float:
        return share * width if said is None else said

    return Assumptions(
        low=low,
        high=high,
        are_marks=marks,
        known_truth=known_truth,
        bias=part.bias,
        mark_sd=default(part.mark_sd, 0.15),
        repeat_sd=default(part.repeat_sd, 0.03),
        effect_sd=default(part.effect_sd, 0.03),
        unit_sd=default(part.unit_sd, 0.015 if is_contrast else 0.05),
        step=_step(scale) if part.step is None else part.step,
        error_rate=part.error_rate,
        flip_rate=part.flip_rate,
        icc=part.icc,
    )


def is_of_marks(scale: ScalePart) -> bool:
    """Whether verdicts are numbers or ordered levels; else they are labels."""
    return scale.kind in ("ordinal", "continuous")


def ends_of_marks(scale: ScalePart) -> tuple[float, float]:
    """Lowest and highest mark; ordered words count 0, 1, 2, ..."""
    if scale.range is None and scale.levels and math.isnan(_number(scale.levels[0])):
        return 0.0, float(max(len(scale.levels) - 1, 1))
    return ends_of(scale)


def _step(scale: ScalePart) -> float:
    if scale.levels:
        numbers = sorted(number for level in scale.levels if not math.isnan(number := _number(level)))
        return min((b - a for a, b in itertools.pairwise(numbers) if b > a), default=1.0)
    low, high = ends_of_marks(scale)
    return 1.0 if low.is_integer() and high.is_integer() and high - low >= _WHOLE_MARKS_FROM else 0.0


def _truth(said: str, scale: ScalePart) -> float:
    """A reference as a number; NaN where there is none."""
    if not said:
        return math.nan
    if not is_of_marks(scale):
        positive = scale.positive or (scale.levels[-1] if scale.levels else "")
        return float(said == positive or (not positive and said.casefold() in _MET))
    if said in scale.levels and math.isnan(_number(said)):
        return float(scale.levels.index(said))
    return _number(said)


def _number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan


class Marks:
    """A block of worlds with marks: a judge's opinion of each response, and the noise of every call.

    Noise is held in single precision and in steps of the scale: a mark is the floor of its latent value there.
    """

    def __init__(
        self, shape: Shape, assumed: Assumptions, rng: np.random.Generator, worlds: int, *, halved: bool
    ) -> None:
        """Draw the noise, which all planted effects share."""
        size = (worlds, len(shape.truth))
        step = assumed.step or 1.0
        self._unit, self._rounds, self._top, self._halved = step, bool(assumed.step), assumed.width / step, halved
        middle = (shape.truth + assumed.bias - assumed.low) / step + (0.5 if self._rounds else 0.0)
        opinion = _normal(rng, assumed.mark_sd / step, size) + middle.astype(np.float32)
        self._of_unit = np.repeat(_normal(rng, assumed.unit_sd / step, (worlds, shape.n_units)), shape.sizes, axis=1)
        moved = self._of_unit + _normal(rng, assumed.effect_sd / step, size)
        self._one = opinion + _normal(rng, assumed.repeat_sd / step, size)
        self._verdicts = self._one
        self._other = opinion + _normal(rng, assumed.repeat_sd / step, size)
        if halved:
            moved /= 2
            self._other -= moved
        self._one = self._one + moved

    def differences(self, effect: float) -> Array:
        """(worlds, rows) mark under the one condition minus mark under the other.

        Args:
            effect: mean shift before rounding and clipping, in points; where it is halved, half of it moves the one mark up
                and half the other one down, else the other one stays.
        """
        shift = np.float32(effect / self._unit / (2 if self._halved else 1))
        given = self._given(self._one + shift)
        given -= self._given(self._other - shift) if self._halved else self._fixed
        return given if self._unit == 1.0 else given * self._unit

    def verdicts(self) -> Array:
        """(worlds, rows) marks without any condition, from the lowest mark of the scale; units differ in their mean error."""
        return self._given(self._verdicts + self._of_unit) * self._unit

    @cached_property
    def _fixed(self) -> Array:
        return self._given(self._other.copy())

    def _given(self, latent: Array) -> Array:
        """Marks as they are given: in steps, within the scale; in place."""
        if self._rounds:
            np.floor(latent, out=latent)
        return np.clip(latent, 0.0, self._top, out=latent)


def _normal(rng: np.random.Generator, spread: float, size: tuple[int, int]) -> Array:
    drawn: Array = rng.standard_normal(size, dtype=np.float32)  # type: ignore[assignment]
    drawn *= np.float32(spread)
    return drawn


class Labels:
    """A block of worlds with one of two labels a row: errors that gather in units, and calls that turn a verdict."""

    def __init__(self, shape: Shape, assumed: Assumptions, rng: np.random.Generator, worlds: int) -> None:
        """Draw the noise, which all planted effects share."""
        size = (worlds, len(shape.truth))
        rate = np.full((worlds, shape.n_units), assumed.error_rate)
        if assumed.icc > 0 and assumed.error_rate > 0:
            scale = (1 - assumed.icc) / assumed.icc
            rate = rng.beta(assumed.error_rate * scale, (1 - assumed.error_rate) * scale, rate.shape)
        is_wrong = rng.random(size) < np.repeat(rate, shape.sizes, axis=1)
        self._opinion = (shape.truth > 0.5) ^ is_wrong
        self._turned = [rng.random(size) < assumed.flip_rate for _ in range(2)]
        of_unit = assumed.unit_sd * rng.standard_normal((worlds, shape.n_units))
        self._of_unit = np.repeat(of_unit, shape.sizes, axis=1)
        self._chance = rng.random(size)
        self._positive = self._opinion.mean(axis=1, keepdims=True)

    def differences(self, effect: float) -> Array:
        """(worlds, rows) verdict under the one condition minus verdict under the other, each 0 or 1.

        Args:
            effect: rise of the positive share, before calls turn verdicts.
        """
        moved = effect + self._of_unit
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(moved > 0, moved / (1 - self._positive), -moved / self._positive)
        is_moved = (self._chance < share) & (self._opinion != (moved > 0))
        one, other = (self._opinion ^ is_moved) ^ self._turned[0], self._opinion ^ self._turned[1]
        difference: Array = one.astype(np.float64) - other
        return difference

    def verdicts(self) -> Array:
        """(worlds, rows) verdicts without any condition, each 0 or 1."""
        return (self._opinion ^ self._turned[0]).astype(np.float64)


Worlds = Marks | Labels


def draw_worlds(
    shape: Shape, assumed: Assumptions, seed: tuple[int, ...], worlds: int, *, halved: bool = False
) -> Worlds:
    """A block of worlds; equal seeds draw equal ones."""
    rng = np.random.default_rng(seed)
    if assumed.are_marks:
        return Marks(shape, assumed, rng, worlds, halved=halved)
    return Labels(shape, assumed, rng, worlds)
