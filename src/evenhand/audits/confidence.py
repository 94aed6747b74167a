"""What a judge's confidence is worth: risk against coverage, separation of right from wrong, and calibration."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate, Table
from evenhand.stats import confidence as of
from evenhand.stats.arrays import Array, ratio
from evenhand.stats.scales import IDENTITY, LOGIT
from evenhand.tally.confidences import MOST_VALUES, N_BINS, Confidences

ORDER = 62
MOST_POINTS = 101
"""Thresholds shown of the curve."""
_TELLING_SHARE = 0.95


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every number about the judge's confidence, where a column holds one."""
    held = evidence.confidences
    if held is None:
        return
    tallies, _ = of.merged(held.tallies, held.in_verdict)
    left = int(evidence.cells.count.sum() - held.tallies.sum())
    classed = (
        "" if held.is_exact else f"; {held.n_values:,} confidences taken as {MOST_VALUES} classes of about equal size"
    )
    area = Statistic(
        "risk_coverage_area", of.risk_coverage_area, LOGIT, "judge",
        "area under the risk–coverage curve: mean share of wrong verdicts among those {judge} is surest of, over every share "
        f"kept; a confidence that says nothing has the error rate{classed}",
    )  # fmt: skip
    told = Statistic(
        "auroc", of.auroc, LOGIT, "judge",
        f"chance that a right verdict of {{judge}} has a higher confidence than a wrong one{classed}", params={"target": "correct"},
    )  # fmt: skip
    for statistic, undefined in (
        (area, "no verdict with a confidence"),
        (told, "every verdict is right, or every one is wrong"),
    ):
        yield assess(evidence, statistic, tallies, undefined=undefined, n_excluded=left)
    if evidence.is_binary:
        yield from _of_label(evidence, held, left, classed)
    if held.is_share:
        yield from _calibration(evidence, held, left)
    else:
        for name in ("brier", "ece"):
            yield _unscaled(evidence, name, left)


def _of_label(evidence: Evidence, held: Confidences, left: int, classed: str) -> Iterator[Estimate]:
    """The probability of the positive label against the reference."""
    tallies, probabilities = of.merged(held.by_reference(), held.of_the_positive)
    if held.is_share:
        words = (
            "chance that {judge} gives a verdict whose reference is {positive} a higher probability of {positive} than one whose "
            f"reference is {{negative}}{classed}"
        )
        yield assess(
            evidence, Statistic("auroc", of.auroc, LOGIT, "judge", words), tallies, undefined="the reference uses one label only", n_excluded=left,
        )  # fmt: skip
        words = (
            "slope of a logistic regression of the reference on the log odds of {judge}'s probability of {positive} "
            f"(clipped to {of.CLIPPED:g} and {1 - of.CLIPPED:g}): 1 if calibrated, below 1 if too extreme{classed}"
        )
        yield assess(
            evidence, Statistic("calibration", of.calibration_slope(probabilities), IDENTITY, "judge", words, counted=False), tallies,
            undefined="labels or probabilities do not vary, or a threshold separates the labels", n_excluded=left, params={"quantity": "slope"},
        )  # fmt: skip


def _calibration(evidence: Evidence, held: Confidences, left: int) -> Iterator[Estimate]:
    words = "mean squared distance of {judge}'s confidence in its verdict from 1 where the verdict is right and 0 where it is wrong"
    same = "; the same number for the probability of {positive} against the reference" if evidence.is_binary else ""
    yield assess(
        evidence, Statistic("brier", _mean_square, LOGIT, "judge", words + same, counted=False), held.squares,
        undefined="no verdict with a confidence", sizes=held.squares[:, 0], n_excluded=left,
    )  # fmt: skip
    sizes = held.bins[..., 0].sum(axis=1)
    yield assess(
        evidence, Statistic("calibration", of.overconfidence, IDENTITY, "judge",
            "mean confidence of {judge} in its verdicts minus the share of them that are right: above 0 too sure", counted=False),
        held.bins, undefined="no verdict with a confidence", sizes=sizes, n_excluded=left, params={"quantity": "overconfidence"},
    )  # fmt: skip
    total = held.bins.sum(axis=0)
    yield exact(
        evidence, "ece", float(of.expected_calibration_error(total)), unit="verdict", describes="judge", n_used=int(sizes.sum()), n_excluded=left,
        n_clusters=int(np.count_nonzero(sizes)),
        estimand=f"mean distance of {{judge}}'s confidence and its share of right verdicts over {N_BINS} bins of equal width "
        f"({int(np.count_nonzero(total[:, 0]))} hold verdicts), weighed by their verdicts",
        reason="no interval: above 0 by chance alone, so resampling would centre on too high a value; see calibration[quantity=overconfidence] and "
        "calibration[quantity=slope]",
    )  # fmt: skip


def _mean_square(sums: Array) -> Array:
    return ratio(sums[..., 1], sums[..., 0])


def _unscaled(evidence: Evidence, name: str, left: int) -> Estimate:
    absent = exact(
        evidence, name, None, unit="verdict", describes="judge", n_excluded=left, estimand=f"{name} of {{judge}}'s confidence",
        reason="confidences lie outside 0 to 1: they rank verdicts, and are no probabilities",
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})


def tables(evidence: Evidence) -> Iterator[tuple[str, Table]]:
    """The risk–coverage curve, and the bins of the calibration error."""
    held = evidence.confidences
    if held is None:
        return
    tallies, values = of.merged(held.tallies.sum(axis=0), held.in_verdict)
    curve, thresholds = of.risk_coverage(tallies), values[::-1]
    shown = np.arange(len(values))
    if len(shown) > MOST_POINTS:
        shown = np.unique(np.searchsorted(curve.coverage, np.linspace(curve.coverage[0], 1, MOST_POINTS) - 1e-12))
    rows = tuple(
        (
            float(thresholds[at]),
            float(curve.coverage[at]),
            float(curve.risk[at]),
            int(curve.kept[at]),
            int(curve.wrong[at]),
        )
        for at in shown.tolist()
    )
    yield (
        f"risk_coverage/{evidence.source}",
        Table(columns=("confidence", "coverage", "risk", "kept", "wrong"), rows=rows),
    )
    if held.is_share:
        bins = held.bins.sum(axis=0)
        yield (
            f"calibration/{evidence.source}",
            Table(
                columns=("from", "to", "n", "mean_confidence", "share_right"),
                rows=tuple(
                    (at / N_BINS, (at + 1) / N_BINS, int(n), float(total / n), float(right / n))
                    for at, (n, total, right) in enumerate(bins.tolist())
                    if n
                ),
            ),
        )


def notices(evidence: Evidence) -> Iterator[str]:
    """What a reader of these numbers must know first."""
    held = evidence.confidences
    if held is None:
        return
    if held.n_without:
        yield f"{held.n_without:,} scored verdicts have no confidence and are in no number about it"
    if held.of_positive or not evidence.is_binary or not held.is_share:
        return
    count, said_negative = held.tallies.sum(axis=(0, 2)), held.labels == 0
    like_probability = np.where(said_negative, held.values <= 0.5, held.values >= 0.5)
    low = count[said_negative & (held.values < 0.5)].sum()
    if low > count[said_negative].sum() / 2 and (count * like_probability).sum() >= _TELLING_SHARE * count.sum():
        yield (
            f'the confidences look like probabilities of "{evidence.scale.levels[1]}": high with that verdict, low with the other. '
            "They were read as confidence in the verdict given; if they are of the label, say --confidence-of positive"
        )
