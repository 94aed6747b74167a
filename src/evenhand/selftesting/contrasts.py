"""Defects of pairs, arms and groups, planted at the error that the user's own audit has.

Position bias is drawn as counts by cluster. A mark shift under an arm, or between groups, is drawn from the normal and χ²
of the audit's own standard error and degrees of freedom: its rows are not needed, and its interval is not better than that.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evenhand.results import Estimate
from evenhand.selftesting.marks import reference_sd
from evenhand.selftesting.planting import Defect, Rule, excludes
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array
from evenhand.stats.binomial import t_quantile, upper_probability
from evenhand.stats.scales import LOGIT
from evenhand.watching.saved import SavedTallies

POINTS = (0.05, 0.1, 0.2)
SHARES = (0.1, 0.25, 0.5)
_OF_TOTALS = ("label_effect", "drift")
"""What moves a response's total; a gap between groups is of single verdicts, or of such a move."""
_STATISTICS = {"label_effect": "a label moves its marks", "drift": "an arm moves its marks", "group_gap": "groups are judged apart"}  # fmt: skip
MOST = 6
"""Contrasts that are planted, the first of the audit."""


def of_positions(saved: SavedTallies, source: str, rule: Rule) -> Iterator[Defect]:
    """Position bias, where pairs are shown in both orders."""
    name = f"first_position_share/{source}"
    found = saved.audit.get(name)
    if found is None or found.estimate is None or not found.trials:
        return
    cells = saved.cells(source)
    slots = cells.counts[:, cells.judge < cells.n_labels].sum(axis=1)
    trials = np.rint(slots * found.trials / max(slots.sum(), 1)).astype(np.int64)

    def biased(rng: np.random.Generator, size: float) -> bool:
        first = rng.binomial(trials, 0.5 + size).astype(np.float64)
        counts: Array = np.stack([first, trials - first], axis=-1)
        return excludes(rule.interval(counts, share, LOGIT, is_rate=True), 0.5)

    said = "its interval excludes .5"
    yield Defect("judge blind to the order (control)", name, said, "", (0.0,), biased, 1 - rule.level)
    yield Defect("position bias", name, said, "added to the share of wins of what is shown first", POINTS, biased)


def of_contrasts(saved: SavedTallies, level: float) -> Iterator[Defect]:
    """Shifts under arms and between groups, in SDs of what they shift."""
    held = [one for one in saved.audit if _is_plain(one)][:MOST]
    for one in held:
        sd, unit = _yardstick(saved, one)
        yield Defect(
            f"{_STATISTICS[one.statistic]} ({_which(saved, one)})", one.id, "its interval excludes 0", unit, SHARES,
            partial(_moved, one, sd, level),
        )  # fmt: skip


def _which(saved: SavedTallies, one: Estimate) -> str:
    """What tells a contrast from others of its kind."""
    parts = [one.params[key].replace("_", " ") for key in ("level", "metric") if key in one.params]
    return ", ".join([*parts, *([one.source] if one.source not in saved.sources or not parts else [])])


def _is_plain(one: Estimate) -> bool:
    has_error = bool(one.std_error) and one.interval_df is not None and one.interval_df > 0
    return one.statistic in _STATISTICS and has_error and "quantity" not in one.params


def _moved(one: Estimate, sd: float, level: float, rng: np.random.Generator, size: float) -> bool:
    error, df = one.std_error or 0.0, one.interval_df or 1.0
    seen = size * sd + error * rng.standard_normal()
    reach = t_quantile(upper_probability(level), df) * error * np.sqrt(rng.chisquare(df) / df)
    return bool(abs(seen) > reach)


def _yardstick(saved: SavedTallies, one: Estimate) -> tuple[float, str]:
    """What a size of 1 is, in the estimate's own unit, and its name."""
    metric = one.params.get("metric", "")
    if one.statistic in _OF_TOTALS or metric in _OF_TOTALS:
        for name in ("sd_total/reference", "sd_total/judge"):
            found = saved.audit.get(name)
            if found is not None and found.estimate:
                return found.estimate, "SDs of the responses' totals"
    elif not metric and (sd := reference_sd(saved, one.source)) > 0:
        return sd, "SDs of the reference's marks"
    return 1.0, "in its own unit"
