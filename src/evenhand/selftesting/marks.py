"""Defects of a judge of marks, planted beside the user's own reference marks.

A world is a tally of moments. The reference's are the user's, cluster by cluster; the judge's follow in closed form: with
m = a + b·t + e and e normal, Σe, Σ(t - t̄)e and Σe² of a cluster are a normal, an independent normal and a χ².
The judge in question has the reference's mean and spread and the correlation that the user's judge has.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.errors import RequestError
from evenhand.selftesting.planting import Defect, Rule, excludes, lies_above
from evenhand.stats import marks
from evenhand.stats.arrays import Array
from evenhand.stats.scales import ATANH, IDENTITY, LOG
from evenhand.watching.saved import SavedTallies
from evenhand.watching.watched import mark_sums_of_levels

SHIFTS = (0.1, 0.25, 0.5)
LOST = (0.1, 0.25, 0.5)
NOISE = (0.25, 0.5, 1.0)
MOST_ICC = 0.3


@dataclass(frozen=True)
class MarkShape:
    """A bank of marks.

    Attributes:
        n, total, squares: (U,) pairs, and sums of the reference's marks less their mean and of its squares.
        sd: of the reference's marks.
        correlation: of the judge's marks with the reference's.
        icc: correlation of the judge's errors in a cluster.
        said: where these numbers come from.
    """

    n: Array
    total: Array
    squares: Array
    sd: float
    correlation: float
    icc: float
    said: tuple[str, ...]


def mark_shape(saved: SavedTallies, source: str) -> MarkShape:
    """The bank of one judge of marks.

    Raises:
        RequestError: no reference marks, marks that do not vary, or fewer than two clusters.
    """
    found = _sums(saved, source)
    if found is None or not saved.audit.data.has_reference:
        raise RequestError("selftest of marks needs reference marks: give --reference COL or --labels FILE")
    sums, factor = found
    n, total, squares = sums[:, 0], sums[:, 1] / factor, sums[:, 3] / factor**2
    whole = sums.sum(axis=0)
    mean = total.sum() / max(n.sum(), 1)
    centred = total - n * mean
    spread = squares - 2 * mean * total + n * mean**2
    sd = float(np.sqrt(max(spread.sum() / max(n.sum(), 1), 0.0)))
    correlation = float(marks.pearson_r(whole))
    if np.count_nonzero(n) < 2:
        raise RequestError("selftest needs two clusters or more: one has no interval, so nothing would ever be called")
    if not sd or not np.isfinite(correlation):
        raise RequestError("selftest of marks needs marks that vary on both sides")
    correlation = min(max(correlation, 0.0), 0.999)
    said = (f"the judge in question has the reference's mean and spread, and correlates with it as yours does ({correlation:.2f})",)  # fmt: skip
    return MarkShape(n, centred, spread, sd, correlation, _icc(saved, source, sums, factor), said)


def reference_sd(saved: SavedTallies, source: str) -> float:
    """Standard deviation of the reference's marks that a judge's are paired with, 0 where there are none."""
    found = _sums(saved, source)
    if found is None:
        return 0.0
    n, t, _, tt, *_ = found[0].sum(axis=0)
    return float(np.sqrt(max(tt / n - (t / n) ** 2, 0.0)) / found[1]) if n else 0.0


def _sums(saved: SavedTallies, source: str) -> tuple[Array, int] | None:
    """(U, 7) sums of paired marks, and what the marks were multiplied by."""
    if saved.audit.declarations.scale == "continuous":
        return saved.mark_sums(source)
    return mark_sums_of_levels(saved.cells(source)), 1


def _icc(saved: SavedTallies, source: str, sums: Array, factor: int) -> float:
    """From the jackknife variance of the mean error over that of independent errors."""
    bias, whole = saved.audit.get(f"bias/{source}"), sums.sum(axis=0)
    variance = float(marks.rmse(whole) ** 2 - marks.bias(whole) ** 2) / factor**2
    if bias is None or bias.std_error is None or variance <= 0:
        return 0.0
    n, units = float(whole[0]), np.count_nonzero(sums[:, 0])
    each = n / units
    if each <= 1:
        return 0.0
    return float(min(MOST_ICC, max(0.0, (bias.std_error**2 * n / variance - 1) / (each - 1))))


def moments(
    rng: np.random.Generator,
    shape: MarkShape,
    *,
    shift: float = 0.0,
    scale: float = 1.0,
    noise: float = 0.0,
    correlation: float | None = None,
) -> Array:
    """(U, 7) sums of paired marks of one world, the last (absolute differences) left at 0.

    Args:
        rng: of the draws.
        shape: of the bank.
        shift: added to every mark, in SDs of the reference.
        scale: of the judge's deviations from the mean.
        noise: SD of further errors, in SDs of the reference.
        correlation: of the judge with the reference; the shape's own by default.
    """
    r = shape.correlation if correlation is None else correlation
    n, t, tt = shape.n, shape.total, shape.squares
    variance = shape.sd**2 * ((1 - r * r) * scale**2 + noise**2)
    held = n > 0
    safe = np.where(held, n, 1.0)
    within = np.maximum(tt - t * t / safe, 0.0)
    own = rng.standard_normal(len(n)) * np.sqrt(variance * shape.icc)
    rest = variance * (1 - shape.icc)
    error = n * own + rng.standard_normal(len(n)) * np.sqrt(rest * n)
    along = rng.standard_normal(len(n)) * np.sqrt(rest * within)
    freedom = np.maximum(n - 1 - (within > 0), 0.0)
    left = np.where(freedom > 0, rest * rng.chisquare(np.maximum(freedom, 1.0)), 0.0)
    square = error**2 / safe + np.divide(along**2, within, out=np.zeros_like(within), where=within > 0) + left
    product = along + t / safe * error  # Σ t·e
    a, b = shift * shape.sd, scale * r
    m = a * n + b * t + error
    mm = a * a * n + b * b * tt + square + 2 * a * b * t + 2 * a * error + 2 * b * product
    tm = a * t + b * tt + product
    found: Array = np.where(held, np.stack([n, t, m, tt, mm, tm, np.zeros_like(n)]), 0.0).T
    return found


def defects(shape: MarkShape, rule: Rule, source: str) -> Iterator[Defect]:
    """What is planted, the controls first."""
    half, level = (1 - rule.level) / 2, 1 - rule.level
    bias, spread, r = f"bias/{source}", f"spread_ratio/{source}", f"pearson_r/{source}"

    def shifted(rng: np.random.Generator, size: float) -> bool:
        sums = moments(rng, shape, shift=size)
        return lies_above(rule.interval(sums, marks.bias, IDENTITY, sizes=sums[:, 0]), 0.0)

    def ratio_off(sums: Array) -> bool:
        return excludes(rule.interval(sums, marks.spread_ratio, LOG, sizes=sums[:, 0]), 1.0)

    def compressed(rng: np.random.Generator, size: float) -> bool:
        return ratio_off(moments(rng, shape, scale=1 - size))

    def noisy(rng: np.random.Generator, size: float) -> bool:
        return ratio_off(moments(rng, shape, noise=size))

    def random(rng: np.random.Generator, size: float) -> bool:
        sums = moments(rng, shape, correlation=shape.correlation * (1 - size))
        found = rule.interval(sums, marks.pearson_r, ATANH, sizes=sums[:, 0])
        return found.low is not None and found.low <= 0

    off = "its interval excludes 1"
    yield Defect("judge without bias (control)", bias, "its interval lies above 0", "", (0.0,), shifted, half)
    yield Defect("judge of the reference's spread (control)", spread, off, "", (0.0,), compressed, level)
    yield Defect("generous judge", bias, "its interval lies above 0", "SDs of the reference added", SHIFTS, shifted)
    yield Defect("judge that keeps to the middle", spread, off, "share of its spread lost", LOST, compressed)
    yield Defect("noisy judge", spread, off, "SDs of the reference of further noise", NOISE, noisy)
    yield Defect("random judge", r, "its interval reaches 0", "", (1.0,), random)
