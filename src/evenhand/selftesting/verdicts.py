"""Defects of a judge of two labels, planted among the user's own clusters, criteria and reference labels.

A world is a tally: given how often each reference label stands in a cluster and criterion, the judge's errors there are
binomial, with a rate of the cluster's own where errors gather in clusters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from evenhand.errors import RequestError
from evenhand.selftesting.planting import Defect, Rule, lies_above
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.binomial import icc_of
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS
from evenhand.watching.change import change_of, side_of, together
from evenhand.watching.saved import SavedTallies

POINTS = (0.05, 0.1, 0.2)
SHARES = (0.3, 0.5, 0.7)
WORST = 5
USUAL_ERROR, MOST_ICC, FALSE_ALARM = 0.05, 0.3, 0.05
_NULL_DRAWS, _NULL_POINTS, _JOINT_DRAWS = 2_000, 9, 4_000


@dataclass(frozen=True)
class Shape:
    """A bank as the user has it.

    Attributes:
        absent, present: (U, K) verdicts whose reference is negative, and positive.
        error_rate: of a judge as good as the user's own, its errors as many in either direction.
        icc: correlation of errors in a cluster.
        per_cluster: a line is a cluster's criterion, else a criterion.
        said: where these numbers come from.
    """

    absent: Array
    present: Array
    error_rate: float
    icc: float
    per_cluster: bool
    said: tuple[str, ...]

    @property
    def rates(self) -> tuple[float, float]:
        """False accept and false reject rate at which the judge is neither lenient nor strict."""
        n = self.absent.sum() + self.present.sum()
        wrong = self.error_rate * n / 2
        return min(0.5, wrong / max(self.absent.sum(), 1)), min(0.5, wrong / max(self.present.sum(), 1))

    @property
    def n_lines(self) -> int:
        """Checklist lines with a verdict."""
        return int(np.count_nonzero(self.by_line(self.absent + self.present)))

    def by_line(self, counts: Array) -> Array:
        """(L,) sums by checklist line."""
        found: Array = counts.ravel() if self.per_cluster else counts.sum(axis=0)
        return found


def shape_of(saved: SavedTallies, source: str, seed: int) -> Shape:
    """The bank of one judge; without reference labels they are drawn at its positive rate and clustering.

    Raises:
        RequestError: no scored verdict, or one reference label only.
    """
    cells = saved.cells(source)
    k, n_units = len(cells.criteria), len(saved.units)
    by_label = np.zeros((2, n_units, k))
    kept = cells.is_paired if saved.audit.data.has_reference else cells.judge < cells.n_labels
    label = cells.reference if saved.audit.data.has_reference else cells.judge
    for at in np.flatnonzero(kept):
        by_label[label[at], :, cells.criterion[at]] += cells.counts[:, at]
    absent, present = by_label
    per_cluster = saved.audit.declarations.criteria == "per-cluster" and not saved.is_grouped
    if not saved.audit.data.has_reference:
        total, icc = absent + present, _icc(saved, f"judge_positive_rate/{source}")
        rng = np.random.default_rng(seed)
        rate = float(present.sum() / max(total.sum(), 1))
        present = rng.binomial(total.astype(np.int64), _cluster_rates(rng, rate, icc, n_units)[:, None]).astype(
            np.float64
        )
        drawn = (
            "no reference labels: they are drawn at the judge's positive rate and its clustering",
            f"the judge in question errs in {100 * USUAL_ERROR:g} % of verdicts, as none of its own errors is known",
        )
        return _checked(Shape(total - present, present, USUAL_ERROR, 0.0, per_cluster, drawn))
    own = saved.audit.get(f"error_rate/{source}")
    rate = own.estimate if own is not None and own.estimate else 0.0
    said: tuple[str, ...] = (
        f"the judge in question errs as often as yours ({100 * rate:.1f} %), as much in either direction",
    )
    if not rate:
        rate, said = USUAL_ERROR, (f"your judge made no error: the one in question errs in {100 * USUAL_ERROR:g} %",)
    return _checked(Shape(absent, present, rate, _icc(saved, f"error_rate/{source}"), per_cluster, said))


def _checked(shape: Shape) -> Shape:
    if not shape.absent.sum() or not shape.present.sum():
        raise RequestError("selftest needs both reference labels: with one alone there is nothing to tell apart")
    if np.count_nonzero((shape.absent + shape.present).sum(axis=1)) < 2:
        raise RequestError("selftest needs two clusters or more: one has no interval, so nothing would ever be called")
    return shape


def _icc(saved: SavedTallies, name: str) -> float:
    found = saved.audit.get(name)
    if found is None or not found.design_effect or not found.trials or found.n_clusters < 2:
        return 0.0
    return float(min(MOST_ICC, max(0.0, icc_of(found.design_effect, found.trials / found.n_clusters))))


def _cluster_rates(rng: np.random.Generator, rate: float, icc: float, n_units: int) -> Array:
    if icc <= 0 or not 0 < rate < 1:
        return np.full(n_units, rate)
    spread = 1 / icc - 1
    return np.asarray(rng.beta(rate * spread, (1 - rate) * spread, n_units))


def errors(rng: np.random.Generator, shape: Shape, accept: float, reject: float, icc: float) -> tuple[Array, Array]:
    """(U, K) false accepts and false rejects."""
    n_units = len(shape.absent)
    drawn = [
        rng.binomial(trials.astype(np.int64), _cluster_rates(rng, min(rate, 1.0), icc, n_units)[:, None])
        for trials, rate in ((shape.absent, accept), (shape.present, reject))
    ]
    return drawn[0].astype(np.float64), drawn[1].astype(np.float64)


def tables(shape: Shape, accepts: Array, rejects: Array) -> Array:
    """(U, 2, 2) reference by judge."""
    n0, n1, fp, fn = (one.sum(axis=1) for one in (shape.absent, shape.present, accepts, rejects))
    return np.stack([np.stack([n0 - fp, fp], axis=-1), np.stack([fn, n1 - fn], axis=-1)], axis=1)


def defects(shape: Shape, rule: Rule, source: str, seed: int) -> Iterator[Defect]:
    """What is planted, the controls first."""
    bound = _line_bound(shape, seed)
    accept, reject = shape.rates
    leniency, kappa = f"leniency[per=verdict]/{source}", f"cohen_kappa/{source}"
    worst = f"errors_in_worst_lines[lines={WORST}]/{source}"
    above, lines_above = "its interval lies above 0", "above the 95th percentile if every line were alike"
    changed = f"alarm of check --against at {FALSE_ALARM:g}"

    def lenient(rng: np.random.Generator, size: float) -> bool:
        found = tables(shape, *errors(rng, shape, accept + size, reject, shape.icc))
        return lies_above(rule.interval(found, of.leniency_per_verdict, IDENTITY), 0.0)

    def no_better(rng: np.random.Generator, verdicts: Array) -> bool:
        del rng
        found = rule.interval(verdicts, of.cohen_kappa, LOG_ONE_MINUS, chance=of.cohen_chance)
        return found.low is not None and found.low <= 0

    def chance_like(rng: np.random.Generator, size: float) -> bool:
        rate = float(shape.present.sum() / (shape.present.sum() + shape.absent.sum()))
        drawn = errors(rng, shape, accept + size * (rate - accept), reject + size * (1 - rate - reject), 0.0)
        return no_better(rng, tables(shape, *drawn))

    def gathered(rng: np.random.Generator, share: float) -> bool:
        return bound(*_on_few_lines(rng, shape, share))

    def drifting(rng: np.random.Generator, size: float) -> bool:
        return _drifts(rng, shape, size, accept, reject)

    def perfect(rng: np.random.Generator, size: float) -> bool:
        del size
        nothing = np.zeros_like(shape.absent)
        verdicts = tables(shape, nothing, nothing)
        called = lies_above(rule.interval(verdicts, of.leniency_per_verdict, IDENTITY), 0.0)
        return called or no_better(rng, verdicts) or bound(nothing, nothing)

    yield Defect("perfect judge (control)", leniency, "any rule of a single audit", "", (0.0,), perfect, 0.0)
    half = (1 - rule.level) / 2
    yield Defect("judge that errs alike in both directions (control)", leniency, above, "", (0.0,), lenient, half)
    if shape.n_lines > WORST:
        yield Defect("errors alike on every line (control)", worst, lines_above, "", (0.0,), gathered, 0.05)
    yield Defect("judge that does not change (control)", changed_id(source), changed, "", (0.0,), drifting, FALSE_ALARM)
    yield Defect("lenient judge", leniency, above, "added to its false accept rate", POINTS, lenient)
    yield Defect("drifting model", changed_id(source), changed, "added to the false accept rate of half the responses", POINTS, drifting)  # fmt: skip
    if shape.n_lines > WORST:
        yield Defect("clustered errors", worst, lines_above, f"share of its errors on {WORST} lines", SHARES, gathered)
    yield Defect("random judge", kappa, "its interval reaches 0", "", (1.0,), chance_like)


def changed_id(source: str) -> str:
    """What shows a change of the judge."""
    return f"false_accept_rate/{source}"


def _on_few_lines(rng: np.random.Generator, shape: Shape, share: float) -> tuple[Array, Array]:
    """As many errors as ever, a share of them on a few lines drawn at random; 0 is alike on all of them."""
    accept, reject = shape.rates
    slots = shape.by_line(shape.absent + shape.present)
    held = np.flatnonzero(slots)
    chosen = np.zeros(len(slots), dtype=np.bool_)
    chosen[rng.permutation(held)[:WORST]] = True
    there = float(slots[chosen].sum() / slots.sum())
    ratio_here, ratio_else = (share / there, (1 - share) / max(1 - there, 1e-9)) if share else (1.0, 1.0)
    by_line = np.where(chosen, ratio_here, ratio_else)
    factor = by_line.reshape(shape.absent.shape) if shape.per_cluster else by_line[None, :]
    drawn = [
        rng.binomial(trials.astype(np.int64), np.broadcast_to(np.minimum(rate * factor, 1.0), trials.shape))
        for trials, rate in ((shape.absent, accept), (shape.present, reject))
    ]
    return drawn[0].astype(np.float64), drawn[1].astype(np.float64)


def _worst(shape: Shape, accepts: Array, rejects: Array) -> float:
    lines = shape.by_line(accepts + rejects)
    return float(np.sort(lines)[-WORST:].sum())


def _line_bound(shape: Shape, seed: int) -> "LineBound":
    """The 95th percentile of errors on the worst lines if all were alike, over a grid of error rates."""
    absent, present = (shape.by_line(one).astype(np.int64) for one in (shape.absent, shape.present))
    accept, reject = shape.rates
    factors, bounds, totals = np.linspace(0.2, 2.5, _NULL_POINTS), [], []
    for factor in factors:
        rng = np.random.default_rng(seed)
        size = (_NULL_DRAWS, len(absent))
        drawn = rng.binomial(absent, min(accept * factor, 1.0), size) + rng.binomial(
            present, min(reject * factor, 1.0), size
        )
        worst = np.partition(drawn, -min(WORST, len(absent)), axis=1)[:, -WORST:].sum(axis=1)
        bounds.append(float(np.quantile(worst, 0.95)))
        totals.append(factor * (accept * absent.sum() + reject * present.sum()))
    return LineBound(shape, np.array(totals), np.array(bounds))


@dataclass(frozen=True)
class LineBound:
    """Calls errors on the worst lines that are more than chance makes at the same number of errors in all."""

    shape: Shape
    totals: Array
    bounds: Array

    def __call__(self, accepts: Array, rejects: Array) -> bool:
        """Whether these (U, K) errors are more."""
        total = float(accepts.sum() + rejects.sum())
        return total > 0 and _worst(self.shape, accepts, rejects) > float(np.interp(total, self.totals, self.bounds))


def _rate_cells(cells: Array, events: tuple[tuple[int, int], ...], others: tuple[tuple[int, int], ...]) -> Array:
    return np.stack([np.sum([cells[:, r, j] for r, j in part], axis=0) for part in (events, others)], axis=-1)


_WATCHED: tuple[tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]], ...] = (
    (((0, 1), (1, 0)), ((0, 0), (1, 1))),
    (((0, 1),), ((0, 0),)),
    (((1, 0),), ((1, 1),)),
    (((0, 1), (1, 1)), ((0, 0), (1, 0))),
)
"""Error rate, false accept rate, false reject rate, positive rate."""


def _drifts(rng: np.random.Generator, shape: Shape, size: float, accept: float, reject: float) -> bool:
    """Two halves of the responses under two models, compared as check --against compares audits; cluster effects shared."""
    halves = [rng.binomial(one.astype(np.int64), 0.5).astype(np.float64) for one in (shape.absent, shape.present)]
    state = rng.integers(2**32, size=2)
    parts = []
    for at, (n0, n1) in enumerate(((halves[0], halves[1]), (shape.absent - halves[0], shape.present - halves[1]))):
        half = Shape(n0, n1, shape.error_rate, shape.icc, shape.per_cluster, ())
        own = np.random.default_rng([*state.tolist(), at])
        parts.append(tables(half, *errors(own, half, accept + at * size, reject, shape.icc)))
    names = tuple(map(str, range(len(shape.absent))))
    place = np.arange(len(names))
    whole: list[tuple[Array, Array, Measure, bool]] = [
        (_rate_cells(parts[1], *cells), _rate_cells(parts[0], *cells), of.share, True) for cells in _WATCHED
    ]
    whole.append((parts[1], parts[0], of.cohen_kappa, False))
    changes = []
    for new, old, measure, is_rate in whole:
        make = partial(side_of, measure=measure, names=names, at=place, n_units=len(names), is_rate=is_rate)
        sides = [make(one, sizes=one.reshape(len(one), -1).sum(axis=1)) for one in (new, old)]
        changes.append(change_of(sides[0], sides[1], 0.95))
    p = together(changes, FALSE_ALARM, 0, _JOINT_DRAWS).p_value
    return bool((p[np.isfinite(p)] <= FALSE_ALARM).any())
