"""The detection floor: what a plan can see, found by planting effects in worlds like its draw and reading them by its own rule.

The rule is the one that reads the run: the mean paired difference over all responses of the draw, a delete-one-unit jackknife
within strata, t on Σ(G*_h - 1) degrees of freedom, and a call where the 95 % interval excludes zero.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.design.calls import Design
from evenhand.design.worlds import Assumptions, Shape, Worlds, assumptions_of, draw_worlds, shape_of
from evenhand.stats.arrays import Array
from evenhand.stats.binomial import LEAST_DF, t_quantile, upper_probability, wilson

LEVEL = 0.95
POWER = 0.80
"""Share of worlds in which the effect must be seen."""
MOST_FALSE_CALLS = 0.075
"""Highest upper end of the share of worlds without an effect in which one is called."""
WORLDS = 2_000
MORE_WORLDS = 10
"""Undecided worlds are added up to this many times as many."""
_AT_ONCE = 50_000
"""Rows of worlds in one array, few enough for the processor's cache."""
_KEPT = 1_500_000
"""Rows of worlds that are kept from one effect to the next instead of being drawn again."""
_GRID, _COARSE = 10, 400
_NEGLIGIBLE = 1e-12
_MOST_ROWS = 60_000
_TRIES = 12


@dataclass(frozen=True, slots=True)
class Chance:
    """How often an effect of a size is called.

    Attributes:
        effect: as planted, in points.
        called: worlds whose interval excludes zero, for an effect above 0 on its side.
        worlds: of how many.
        estimate: mean estimate over the worlds: clipping at the ends of a scale hides part of an effect.
    """

    effect: float
    called: int
    worlds: int
    estimate: float

    @property
    def share(self) -> float:
        """Of worlds with a call."""
        return self.called / self.worlds

    @property
    def ends(self) -> tuple[float, float]:
        """95 % Wilson limits of the share."""
        return wilson(self.called, self.worlds, LEVEL)

    def __add__(self, other: "Chance") -> "Chance":
        worlds = self.worlds + other.worlds
        mean = (self.estimate * self.worlds + other.estimate * other.worlds) / worlds
        return Chance(self.effect, self.called + other.called, worlds, mean)


@dataclass(frozen=True, slots=True)
class Size:
    """A draw that would do."""

    responses: int
    units: int


@dataclass(frozen=True, slots=True)
class Floor:
    """What a draw can show.

    Attributes:
        reads: what is read, in words.
        unit: what intervals resample.
        n_units: units within strata.
        verdict: ``pass``, ``refused`` or ``borderline``; ``open`` where the plan names no effect that must be seen.
        reason: why, in a sentence.
        target: the effect that must be seen.
        smallest: the smallest effect that passes; None where none on the scale does.
        chances: by effect, the largest first.
        false_calls: the same without an effect.
        would_do: a larger draw that passes, where this one is refused.
        assumptions: of the worlds, clause by clause.
    """

    reads: str
    unit: str
    n_units: int
    verdict: str
    reason: str
    target: float | None
    smallest: float | None
    chances: tuple[Chance, ...]
    false_calls: Chance | None
    would_do: Size | None
    assumptions: tuple[str, ...]


def limits(differences: Array, shape: Shape) -> tuple[Array, Array, Array]:
    """The reading rule, for many worlds at once.

    The mean over all rows; leaving a unit out keeps the weight of its stratum, as in ``stats.stratified.pooled_over_strata``;
    √ Σ_h (G_h - 1)/G_h Σ_g (θ_(hg) - mean_h)² and t on Σ_h (G*_h - 1) degrees of freedom.

    Args:
        differences: (W, n), rows as in the shape.
        shape: units and strata.

    Returns:
        (W,) estimate, lower and upper end; NaN ends where leaving out a unit never moves the estimate.
    """
    sums = np.add.reduceat(differences, shape.starts, axis=1).astype(np.float64)
    sizes, n = shape.sizes.astype(np.float64), float(shape.sizes.sum())
    value, variance, df = np.zeros(len(sums)), np.zeros(len(sums)), 0.0
    for stratum in range(len(shape.strata)):
        members = shape.stratum == stratum
        of_unit, rows = sums[:, members], sizes[members]
        total, size, units = of_unit.sum(axis=1, keepdims=True), rows.sum(), np.count_nonzero(members)
        value += total[:, 0] / n
        left_out = (total - of_unit) / (size - rows) * (size / n)
        variance += (units - 1) / units * np.square(left_out - left_out.mean(axis=1, keepdims=True)).sum(axis=1)
        df += float(size**2 / np.square(rows).sum() - 1)
    std_error = np.sqrt(variance)
    half = np.where(std_error > _NEGLIGIBLE, t_quantile(upper_probability(LEVEL), df) * std_error, np.nan)
    return value, value - half, value + half


def floor_of(design: Design, *, worlds: int = WORLDS, seed: int = 0) -> Floor | None:
    """The floor of a plan's contrast; None where it reads none.

    Args:
        design: the plan with its draw.
        worlds: the first ones; undecided, up to ten times as many are drawn.
        seed: of the worlds.
    """
    plan = design.plan
    if plan.contrast is None or plan.primary is None:
        return None
    first, second = plan.contrast
    names = {"label_effect": "label effect", "drift": "drift", "phrasing": "effect of the wording"}
    reads = f"{names[plan.primary]} ({first} against {second})"
    shape = shape_of(design)
    known = bool(plan.bank.reference)
    assumed = assumptions_of(plan.floor, plan.scale, is_contrast=True, known_truth=known)
    words = assumed.words(plan.unit, is_contrast=True)
    study = _Study(shape, assumed, halved=plan.primary == "label_effect", seed=seed)
    obstacle = _obstacle(shape, plan.unit, nominal=plan.scale.kind == "nominal")
    if obstacle:
        return Floor(
            reads, plan.unit, shape.n_units, "refused", obstacle, plan.floor.effect, None, (), None, None, words
        )
    return _judged(study, reads, plan.unit, plan.floor.effect, plan.read.effects, worlds, words)


def _obstacle(shape: Shape, unit: str, *, nominal: bool) -> str:
    """Why the rule gives no interval whatever is planted, or nothing."""
    if nominal:
        return "labels without an order have no mean to move: read agreement instead"
    df = 0.0
    for stratum, name in enumerate(shape.strata):
        rows = shape.sizes[shape.stratum == stratum].astype(np.float64)
        if len(rows) < 2:
            return f"one {unit}{f' in the {name} tail' if name else ''}: no interval can be had from it"
        df += float(rows.sum() ** 2 / np.square(rows).sum() - 1)
    return "" if df >= LEAST_DF else f"one {unit} holds nearly everything: no interval can be had"


@dataclass(frozen=True)
class _Study:
    """Worlds of one shape, counted effect by effect."""

    shape: Shape
    assumed: Assumptions
    halved: bool
    seed: int

    def count(self, effects: Sequence[float], worlds: int, start: int = 0) -> list[Chance]:
        """Calls at each effect over worlds ``start`` to ``start + worlds``, all effects in the same worlds."""
        found: list[Chance] = []
        for block in self._blocks(worlds, start):
            now = [self._counted(block, effect) for effect in effects]
            found = [one + other for one, other in zip(found, now, strict=True)] if found else now
        return found

    def smallest(self, worlds: int) -> float | None:
        """The smallest effect, to two digits, whose Wilson interval lies wholly at or above the power; None where none does.

        A coarse grid on few worlds says where to look; a fine one on all of them decides.
        """
        value = limits(next(self._blocks(200, 0)).differences(0.0), self.shape)[0]
        unit = max(float(value.std()), self.assumed.width / 1_000)
        grid = [one for one in (unit * np.geomspace(0.75, 12.0, _GRID)).tolist() if one < self.assumed.width]
        coarse = self.count(grid, min(worlds, _COARSE)) if grid else []
        likely = next((chance.effect for chance in coarse if chance.share >= POWER), None)
        if likely is None:
            return None
        grid = (likely * np.geomspace(0.8, 1.4, _GRID)).tolist()
        failing = [chance.effect for chance in self.count(grid, worlds) if chance.ends[0] < POWER]
        effect = _up(next((one for one in grid if one > max(failing, default=0.0)), grid[-1]))
        while effect < self.assumed.width:
            if self.count([effect], worlds)[0].ends[0] >= POWER:
                return effect
            effect = _up(effect * 1.001)
        return None

    def _blocks(self, worlds: int, start: int) -> Iterator[Worlds]:
        if worlds * len(self.shape.truth) <= _KEPT:
            yield from self._kept(worlds, start)
        else:
            yield from self._drawn(worlds, start)

    def _drawn(self, worlds: int, start: int) -> Iterator[Worlds]:
        step = max(1, _AT_ONCE // len(self.shape.truth))
        for first in range(start, start + worlds, step):
            size = min(step, start + worlds - first)
            yield draw_worlds(self.shape, self.assumed, (self.seed, first), size, halved=self.halved)

    @cached_property
    def _memory(self) -> dict[tuple[int, int], list[Worlds]]:
        return {}

    def _kept(self, worlds: int, start: int) -> list[Worlds]:
        if (worlds, start) not in self._memory:
            self._memory[worlds, start] = list(self._drawn(worlds, start))
        return self._memory[worlds, start]

    def _counted(self, block: Worlds, effect: float) -> Chance:
        value, low, high = limits(block.differences(effect), self.shape)
        called = low > 0 if effect > 0 else (low > 0) | (high < 0)
        return Chance(effect, int(np.count_nonzero(called)), len(value), float(value.mean()))


def _judged(
    study: _Study,
    reads: str,
    unit: str,
    target: float | None,
    shown: Sequence[float],
    worlds: int,
    words: tuple[str, ...],
) -> Floor:
    smallest = study.smallest(worlds)
    wanted = [*shown, *([target] if target else [])] or _around(smallest or study.assumed.width / 10)
    wanted = sorted({one for one in wanted if one}, reverse=True)
    (none, *chances) = study.count([0.0, *wanted], worlds)
    by_effect = {chance.effect: chance for chance in chances}
    total = worlds
    while _undecided(by_effect.get(target or 0.0), none) and total < MORE_WORLDS * worlds:
        effects = [0.0, *([target] if target else [])]
        more = study.count(effects, worlds, start=total)
        total += worlds
        none = none + more[0]
        if target:
            by_effect[target] = by_effect[target] + more[1]
    verdict, reason = _verdict(by_effect.get(target or 0.0), none, smallest)
    asked = by_effect.get(target or 0.0)
    too_small = asked is not None and asked.ends[1] < POWER
    would_do = _size_that_would_do(study, asked.effect, smallest, worlds) if asked and too_small else None
    chances = [by_effect[effect] for effect in wanted]
    return Floor(
        reads, unit, study.shape.n_units, verdict, reason, target, smallest, tuple(chances), none, would_do, words
    )


def _undecided(found: Chance | None, none: Chance) -> bool:
    of_power = found is not None and found.ends[0] < POWER <= found.ends[1]
    too_often = none.ends[0] <= MOST_FALSE_CALLS < none.ends[1]
    return of_power or too_often


def _verdict(found: Chance | None, none: Chance, smallest: float | None) -> tuple[str, str]:
    """The verdict on a target and on false calls, and why."""
    if none.ends[0] > MOST_FALSE_CALLS:
        return "refused", f"the rule calls an effect in {_percent(none.share)} of worlds without one"
    if found is not None and found.ends[1] < POWER:
        return (
            "refused",
            f"unanswerable at this size: an effect of {found.effect:g} is seen in {_percent(found.share)} of worlds",
        )
    if none.ends[1] > MOST_FALSE_CALLS:
        return (
            "borderline",
            f"false calls of {_percent(none.share)} lie too near {_percent(MOST_FALSE_CALLS)} to be told from it",
        )
    if found is not None and found.ends[0] < POWER:
        return (
            "borderline",
            f"an effect of {found.effect:g} is seen in {_percent(found.share)} of worlds: too near {_percent(POWER)}",
        )
    if smallest is None:
        return "refused", "unanswerable at this size: no effect that the scale holds is seen in 80 % of worlds"
    if found is None:
        return "open", "the plan names no effect that must be seen ([floor] effect)"
    return "pass", ""


def _size_that_would_do(study: _Study, target: float, smallest: float | None, worlds: int) -> Size | None:
    """More units like these, until the target passes in as many worlds; None where that takes too many."""
    n_rows = len(study.shape.truth)
    factor = (smallest / target) ** 2 if smallest else 4.0
    for _ in range(_TRIES):
        if n_rows * factor > _MOST_ROWS:
            return None
        larger = study.shape.enlarged(max(factor, 1.0))
        none, found = _Study(larger, study.assumed, study.halved, study.seed).count([0.0, target], worlds)
        if found.ends[0] >= POWER and none.ends[1] <= MOST_FALSE_CALLS:
            return Size(larger.n_responses, larger.n_units)
        factor *= 1.1 if found.share > POWER - 0.1 else 1.5
    return None


def _around(effect: float) -> list[float]:
    return [_up(1.5 * effect), _up(effect), _up(effect / 2)]


def _up(number: float) -> float:
    """The next number of two digits, not below."""
    scale = 10.0 ** (math.floor(math.log10(number)) - 1)
    return float(f"{math.ceil(round(number / scale, 6)) * scale:.2g}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
