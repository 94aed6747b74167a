"""Gate decisions on marks: whether a response's mark, or its total over several criteria, reaches a cut on either side."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.decisions import TREATMENTS
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.errors import RequestError
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats.agreement import share
from evenhand.stats.arrays import Array, binned
from evenhand.stats.scales import LOGIT
from evenhand.tally.marks import level_values

ORDER = 51
_Decided = tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]
_NEAR = 1e-9
"""Share of a cut by which a total that is a sum of decimals may miss it."""


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Accuracy at every declared cut under three treatments of what is not scored.

    Raises:
        RequestError: a cut that every response reaches, or none can.
    """
    wanted = evidence.scale.kind in ("ordinal", "continuous") and evidence.has_reference and evidence.cuts
    if not wanted or evidence.scores is not None:  # with weights a cut is one of the weighted score
        return
    if not level_values(evidence.scale)[1]:
        yield _absent(evidence, "levels are words: a cut is a number, so it needs marks that are numbers")
        return
    _check(evidence)
    decided = _decided(evidence)
    if decided is None:
        yield _absent(evidence, "too many responses or criteria to put their marks side by side")
        return
    for cut in evidence.cuts:
        for treatment, words in TREATMENTS.items():
            cells = _cells(evidence, decided, cut, treatment)
            yield _accuracy(evidence, cells, int(decided[1].sum()), cut, treatment, words)


def right_and_wrong(evidence: Evidence, cut: float) -> Array | None:
    """(U, 2) right and wrong decisions of responses scored throughout on both sides; None where there are no marks to hold so."""
    if evidence.scale.kind not in ("ordinal", "continuous") or not level_values(evidence.scale)[1]:
        return None
    decided = _decided(evidence)
    return None if decided is None else _cells(evidence, decided, cut, "excluded")


def _cells(evidence: Evidence, decided: _Decided, cut: float, treatment: str) -> Array:
    unit, count, judge, reference = decided
    right, kept = _treated(judge, reference, cut - _NEAR * max(1.0, abs(cut)), treatment)
    return binned((unit * 2 + ~right)[kept], count[kept], (evidence.cells.n_units, 2))


def gate_words(evidence: Evidence, cut: float) -> str:
    """What is held against the cut."""
    k = len(evidence.criteria)
    return f"a mark of {cut:g}" if k == 1 else f"a total of {cut:g} over {k} criteria"


def _check(evidence: Evidence) -> None:
    """A cut that no response can miss, or none can reach, would pass any gate."""
    values, k = level_values(evidence.scale)[0], len(evidence.criteria)
    if evidence.scale.range is None and evidence.scale.kind != "ordinal":
        return
    low, high = evidence.scale.range or (float(values.min()), float(values.max()))
    absurd = [cut for cut in evidence.cuts if not k * low < cut <= k * high]
    if absurd:
        what = "a mark lies" if k == 1 else f"a total over {k} criteria lies"
        raise RequestError(
            f"--cut {absurd[0]:g}: {what} between {k * low:g} and {k * high:g}; name a cut above {k * low:g} and up to {k * high:g}"
        )


def _decided(evidence: Evidence) -> _Decided | None:
    """Unit, number, and the judge's and reference's mark or total of responses; NaN where a side is not scored throughout."""
    if len(evidence.criteria) == 1:
        cells, values = evidence.cells, level_values(evidence.scale)[0]
        judge, reference = (
            np.where(side < len(values), values[np.minimum(side, len(values) - 1)], np.nan)
            for side in (cells.judge, cells.reference)
        )
        return cells.unit, cells.count, judge, reference
    rows = evidence.mark_rows
    if rows is None:
        return None
    judge = np.where(rows.is_whole("judge"), rows.totals("judge") / rows.factor, np.nan)
    reference = np.where(rows.is_whole("reference"), rows.totals("reference") / rows.factor, np.nan)
    return rows.unit, rows.count, judge, reference


def _treated(
    judge: Array, reference: Array, least: float, treatment: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which decisions are right, and which count."""
    judged, referred = np.isfinite(judge), np.isfinite(reference)
    passes, should = judge >= least, reference >= least
    if treatment == "excluded":
        return passes == should, judged & referred
    if treatment == "reject":
        return (passes & judged) == should, referred
    return (passes == should) & judged, referred


def _accuracy(evidence: Evidence, cells: Array, n_responses: int, cut: float, treatment: str, words: str) -> Estimate:
    estimand = (
        f"share of decisions at {gate_words(evidence, cut)} on which {{judge}} and the reference agree, over {words}"
    )
    params: dict[str, Param] = {"cut": cut} | ({} if treatment == "excluded" else {"unscored": treatment})
    return assess(
        evidence, Statistic("accuracy", share, LOGIT, "judge", estimand, "response", is_rate=True), cells,
        undefined="no response in the population", n_excluded=n_responses - int(cells.sum()), params=params,
        n_clusters=evidence.counts.get("complete" if treatment == "excluded" else "referred"),
        alternatives=treatment == "excluded",
    )  # fmt: skip


def _absent(evidence: Evidence, why: str) -> Estimate:
    absent = exact(
        evidence, "accuracy", None, unit="response", describes="judge", reason=why, params={"cut": evidence.cuts[0]},
        estimand="share of decisions at the cut on which {judge} and the reference agree",
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})
