"""True rates where only a part has reference labels: the judge's verdicts on everything, corrected by what labels show.

Both numbers need labelled verdicts that were chosen without a look at what the judge said. Where verdicts share
clusters their intervals are jackknives within three strata of units (labelled only, unlabelled only, both); the interval
of Lee et al. is for independent rows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.results import Estimate
from evenhand.stats import true_rates as of
from evenhand.stats.arrays import Array, Measure, binned
from evenhand.stats.intervals import FEW_CLUSTERS_WITH_EVENT, Interval, withheld
from evenhand.tally.cells import Cells
from evenhand.tally.marks import level_values

ORDER = 65
LEAST_UNLABELLED = 0.05
"""Share of verdicts without a label below which labels are taken to be on everything, but for gaps."""
_METHODS = ("default", "jackknife_t", "jackknife_t_scaled")
_AS_DRAWN = "labels being on verdicts chosen without a look at what {judge} said"
_AS_WEIGHTED = "labels being on verdicts chosen with the chances that their design weights stand for"


def _how_drawn(evidence: Evidence) -> str:
    return _AS_DRAWN if evidence.effective is None else _AS_WEIGHTED


@dataclass(frozen=True, slots=True)
class _Part:
    """Cells that the judge scored, those with a reference label and those without."""

    labelled: Cells
    unlabelled: Cells
    n_units: int

    @property
    def sizes(self) -> tuple[Array, Array]:
        """(U,) verdicts a unit, labelled and not."""
        return tuple(binned(one.unit, one.count, (self.n_units,)) for one in (self.labelled, self.unlabelled))  # type: ignore[return-value]


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """The corrected positive rate and the corrected mean, or why there is nothing to correct."""
    names = _names(evidence)
    if not evidence.has_reference or not names:
        return
    part = _part(evidence)
    n_labelled, n_rest = (float(sizes.sum()) for sizes in part.sizes)
    if n_rest == 0 or n_labelled == 0 or n_rest < LEAST_UNLABELLED * (n_rest + n_labelled):
        for name in names:
            yield _not_assessed(evidence, name, _nothing_to_correct(n_labelled, n_rest))
        return
    if "corrected_prevalence" in names:
        yield _corrected(evidence, part)
    yield _mean(evidence, part)


def _names(evidence: Evidence) -> tuple[str, ...]:
    if evidence.is_binary:
        return ("corrected_prevalence", "ppi_mean")
    has_numbers = evidence.scale.kind in ("ordinal", "continuous") and level_values(evidence.scale)[1]
    return ("ppi_mean",) if has_numbers else ()


def _part(evidence: Evidence) -> _Part:
    judged = evidence.cells.judged
    missing = judged.reference == evidence.scale.status("missing")
    columns = (judged.unit, judged.criterion, judged.reference, judged.judge, judged.count)
    rest = Cells(judged.n_units, judged.n_criteria, judged.n_labels, *(column[missing] for column in columns))
    return _Part(evidence.cells.paired, rest, judged.n_units)


def _nothing_to_correct(n_labelled: float, n_rest: float) -> str:
    if n_labelled == 0:
        return "no verdict of the judge has a reference label: nothing says how far it is off"
    gaps = f" but {n_rest:,.0f} of {n_labelled + n_rest:,.0f}" if n_rest else ""
    return (
        f"every verdict{gaps} has a reference label: the reference's own rate and mean are the answer, and the judge adds "
        "nothing to them. To correct a judge's rate, give it verdicts beyond the labelled ones"
    )


def _corrected(evidence: Evidence, part: _Part) -> Estimate:
    cells = np.concatenate(
        [part.labelled.tables().reshape(-1, 4), part.unlabelled.judge_labels()], axis=1
    )  # TN FP FN TP, then negatives and positives
    totals = cells.sum(axis=0)
    value = float(of.corrected_prevalence(totals))
    words = (
        f"share of the verdicts without a reference label that are truly {{positive}}: {{judge}}'s rate, corrected by its two "
        f"error rates on labelled ones (Rogan–Gladen), {_how_drawn(evidence)}"
    )
    if not math.isfinite(value):
        why = "labels of one kind only, or a judge that tells them apart no better than chance: its rate holds nothing"
        return _made(evidence, part, "corrected_prevalence", None, words, None, withheld("none", why))
    clipped = min(max(value, 0.0), 1.0)
    error, interval = _interval_of_rate(evidence, part, cells)
    said = [interval.reason] if interval.reason else []
    if clipped != value:
        said.insert(0, f"the formula gives {value:.4f}, outside 0 to 1: clipped")
    said += [_certifies(evidence, part)] if evidence.effective is None else []
    reason = "; ".join(said)
    found = _made(evidence, part, "corrected_prevalence", clipped, words, error, interval)
    return found.model_copy(update={"reason": reason})


def _lee(totals: Array, level: float) -> of.Ends:
    tn, fp, fn, tp, negative, positive = totals.tolist()
    n, m0, m1 = negative + positive, tn + fp, fn + tp
    return of.lee_ends(positive / n, tn / m0, tp / m1, n, m0, m1, level)


def _interval_of_rate(evidence: Evidence, part: _Part, cells: Array) -> tuple[float | None, Interval]:
    """Lee et al.'s interval on independent rows, else the jackknife's; the wider of both where few clusters hold errors."""
    level, lee = evidence.plan.confidence_level, _lee(cells.sum(axis=0), evidence.plan.confidence_level)
    error, interval = _jackknifed(evidence, part, cells, of.corrected_prevalence)
    if evidence.plan.method != "default":
        return error, interval
    if _is_independent(evidence, part):
        return error, Interval(lee.low, lee.high, "lee2026", f"rows without clusters, level {level:g}")
    fewest = min(np.count_nonzero(cells[:, 1]), np.count_nonzero(cells[:, 2]))
    if (fewest >= FEW_CLUSTERS_WITH_EVENT and interval.low is not None) or evidence.effective is not None:
        return error, interval
    if interval.low is None or interval.high is None:
        return error, withheld(interval.method, interval.reason)
    low, high = min(interval.low, lee.low), max(interval.high, lee.high)
    why = f"errors of one kind in {fewest} labelled clusters: no narrower than the interval of independent rows (Lee et al.)"
    return error, Interval(low, high, interval.method, why, interval.scale, interval.df, interval.std_error)


def _is_independent(evidence: Evidence, part: _Part) -> bool:
    """Whether every verdict is a response of its own and no cluster was named."""
    n = sum(float(sizes.sum()) for sizes in part.sizes)
    return evidence.effective is None and not evidence.units.declared and n <= evidence.units.n_clusters


def _mean(evidence: Evidence, part: _Part) -> Estimate:
    values = level_values(evidence.scale)[0] if not evidence.is_binary else np.array([0.0, 1.0])
    both = [
        np.concatenate([getattr(one, name) for one in (part.labelled, part.unlabelled)])
        for name in ("unit", "judge", "count")
    ]
    unit, judge, count = both
    labelled = np.arange(len(unit)) < len(part.labelled.unit)
    reference = np.zeros(len(unit))
    reference[labelled] = values[part.labelled.reference]
    sums = of.mean_sums(reference, values[judge], labelled, unit, part.n_units, count)
    value, weight = float(of.ppi_mean(sums.sum(axis=0))), float(of.power_tuning(sums.sum(axis=0)))
    what = (
        "share of all verdicts whose reference is {positive}"
        if evidence.is_binary
        else "mean of the reference's marks over all verdicts"
    )
    words = (
        f"{what}, labelled or not, from {{judge}}'s verdicts on all and its mean error on the labelled (prediction-powered, "
        f"power-tuned), {_how_drawn(evidence)}"
    )
    error, interval = _jackknifed(evidence, part, sums, of.ppi_mean)
    if evidence.is_binary and interval.low is not None and interval.high is not None:
        interval = Interval(max(interval.low, 0.0), min(interval.high, 1.0), interval.method, interval.reason,
            interval.scale, interval.df, interval.std_error)  # fmt: skip
    said = f"λ = {weight:.3f}: " + (
        "the judge's verdicts are not used" if weight == 0 else "weight of the judge's verdicts"
    )
    reason = f"{interval.reason}; {said}" if interval.reason else said
    found = _made(evidence, part, "ppi_mean", value, words, error, interval)
    return found.model_copy(update={"reason": reason})


def _jackknifed(evidence: Evidence, part: _Part, tallies: Array, measure: Measure) -> tuple[float | None, Interval]:
    """Standard error and t interval, both None where they cannot be had; ends of rates are cut at 0 and 1."""
    labelled, rest = part.sizes
    active = labelled + rest > 0
    stratum = of.stratum_of_units(labelled[active], rest[active])
    found = of.jackknife_over_strata(tallies[active], (labelled + rest)[active], stratum, measure)
    ends = found.ends(evidence.plan.confidence_level)
    if not math.isfinite(found.std_error):
        return None, withheld("jackknife_t", "undefined without one of the clusters, or too few of them")
    if not math.isfinite(ends.low):
        why = "the value is the same whichever cluster is left out: that says nothing of its error"
        return found.std_error or None, withheld("jackknife_t", why)
    if evidence.plan.method not in _METHODS:
        return found.std_error, withheld(
            "none", f"true rates have jackknife intervals only, not {evidence.plan.method}"
        )
    is_rate = measure is of.corrected_prevalence
    low, high = (max(ends.low, 0.0), min(ends.high, 1.0)) if is_rate else (ends.low, ends.high)
    return found.std_error, Interval(low, high, "jackknife_t", "", "identity", found.df, found.std_error)


def _certifies(evidence: Evidence, part: _Part) -> str:
    """What so many labels could certify of the judge's agreement at best."""
    n, level = float(part.labelled.count.sum()), evidence.plan.confidence_level
    at_best = float(of.certifiable(n, 0, level))
    return f"{n:,.0f} labels can certify an agreement of {at_best:.3f} or more at best, with no error among them and rows independent"


def _made(
    evidence: Evidence, part: _Part, name: str, value: float | None, words: str, error: float | None, interval: Interval
) -> Estimate:
    labelled, rest = part.sizes
    n_used = int((labelled + rest).sum())
    found = exact(
        evidence, name, value, unit="verdict", describes="bank", estimand=words, reason=interval.reason,
        n_used=n_used, n_excluded=int(evidence.cells.count.sum()) - n_used,
        n_clusters=int(np.count_nonzero(labelled + rest)), interval=interval,
    )  # fmt: skip
    return found.model_copy(
        update={
            "std_error": error,
            "interval_scale": interval.scale,
            "interval_df": interval.df,
            "interval_std_error": interval.std_error,
        }
    )


def _not_assessed(evidence: Evidence, name: str, reason: str) -> Estimate:
    what = "positive rate" if name == "corrected_prevalence" else "mean"
    absent = exact(
        evidence, name, None, unit="verdict", describes="bank", reason=reason,
        n_excluded=int(evidence.cells.count.sum()), estimand=f"true {what} of verdicts beyond the labelled ones",
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})
