"""What can be watched: numbers that saved tallies give again, each as the audit declares it.

A number made from the tallies is held against the one in ``audit.json``; where they differ the folder is of two audits.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evenhand.errors import RequestError, SourceError, did_you_mean, printable
from evenhand.ids import EstimateId, Param
from evenhand.stats import agreement as of
from evenhand.stats import marks
from evenhand.stats.arrays import Array, Measure, ratio
from evenhand.watching.saved import SavedTallies, VerdictCells

_EQUAL = 1e-9
_TN, _FP, _FN, _TP = (0, 0), (0, 1), (1, 0), (1, 1)
_BINARY_RATES: dict[str, tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...], bool]] = {
    "error_rate": ((_FP, _FN), (_TP, _TN), True),
    "false_accept_rate": ((_FP,), (_TN,), True),
    "false_reject_rate": ((_FN,), (_TP,), True),
    "judge_positive_rate": ((_TP, _FP), (_FN, _TN), True),
    "precision": ((_TP,), (_FP,), False),
    "recall": ((_TP,), (_FN,), False),
    "specificity": ((_TN,), (_FP,), False),
    "npv": ((_TN,), (_FN,), False),
    "prevalence": ((_TP, _FN), (_FP, _TN), False),
}
"""Events, non-events, and whether it is watched without being asked for."""
_FROM_MINUS_ONE = (
    "cohen_kappa", "gwet_ac1", "scott_pi", "brennan_prediger", "lin_ccc", "pearson_r", "quadratic_weighted_kappa",
)  # fmt: skip
_FROM_ZERO = ("mae", "rmse", "spread_ratio")
_COEFFICIENTS: dict[str, tuple[Measure, bool]] = {
    "cohen_kappa": (of.cohen_kappa, True),
    "gwet_ac1": (of.gwet_ac1, False),
    "scott_pi": (of.scott_pi, False),
    "brennan_prediger": (of.brennan_prediger, False),
}
_STATUS_RATES = {
    "abstained": "abstention_rate",
    "unparsed": "unparsed_rate",
    "refused": "refused_rate",
    "error": "error_status_rate",
}


@dataclass(frozen=True)
class Watched:
    """One number.

    Attributes:
        id: as in the audit.
        cells: (U, *cells) sums a unit.
        measure: (..., *cells) → (...).
        sizes: (U,) members of its population.
        is_rate: cells are (events, non-events).
        by_default: watched without being asked for.
    """

    id: str
    cells: Array
    measure: Measure
    sizes: Array
    is_rate: bool = False
    by_default: bool = False

    @property
    def domain(self) -> tuple[float, float]:
        """What the number can be."""
        if self.is_rate:
            return 0.0, 1.0
        name = EstimateId.parse(self.id).statistic
        least = -1.0 if name in _FROM_MINUS_ONE else 0.0 if name in _FROM_ZERO else -math.inf
        return least, 1.0 if name in _FROM_MINUS_ONE else math.inf

    @property
    def value(self) -> float:
        """The number; NaN where it is undefined."""
        return float(self.measure(self.cells.sum(axis=0)))


def watched(saved: SavedTallies, source: str) -> dict[str, Watched]:
    """Id → everything of one judge that can be watched.

    Raises:
        SourceError: the tallies and the audit are not of one another.
    """
    found = {one.id: one for one in _all(saved, source)}
    for one in found.values():
        said = saved.audit.get(one.id)
        number = said.estimate if said is not None else None
        if number is not None and not abs(one.value - number) <= _EQUAL * max(1.0, abs(number)):
            raise SourceError(
                f"{saved.place}: tallies.parquet gives {one.value:.6g} for {one.id} where audit.json has {number:.6g}: "
                "the folder holds files of two audits; audit the source again"
            )
    return found


def chosen(new: SavedTallies, old: SavedTallies, ids: Sequence[str]) -> list[tuple[Watched, Watched]]:
    """What is watched, in both audits: the ids asked for, else the defaults that both have a value of.

    Raises:
        RequestError: an id that saved tallies do not give again in both, or nothing at all to watch.
    """
    sources = [source for source in new.sources if source in old.sources]
    if not sources:
        named = [", ".join(map(printable, one.sources)) or "none" for one in (new, old)]
        raise RequestError(
            f"the two audits have no judge in common: {new.place} has {named[0]}, {old.place} {named[1]}"
        )
    news, olds = ({k: v for source in sources for k, v in watched(one, source).items()} for one in (new, old))
    if ids:
        return [(_asked(news, text, new), _asked(olds, text, old)) for text in ids]
    pairs = [
        (one, olds[name])
        for name, one in news.items()
        if one.by_default and name in olds and np.isfinite(one.value) and np.isfinite(olds[name].value)
    ]
    if not pairs:
        raise RequestError(f"{new.place} and {old.place} have no number in common that could be watched")
    return pairs


def _asked(found: Mapping[str, Watched], text: str, saved: SavedTallies) -> Watched:
    identity = EstimateId.parse(text)
    criterion = identity.params.get("criterion")
    if criterion is not None and str(identity) not in found:
        cells = saved.cells(identity.source).on_criterion(criterion)
        of_it = _of_labels(saved, cells, identity.source, {"criterion": criterion})
        found = {**found, **{one.id: one for one in of_it}}
    if str(identity) not in found:
        raise RequestError(
            f"{saved.place}: its tallies do not give {printable(text)} again"
            f"{did_you_mean(str(identity), list(found))}; they give {', '.join(found)}"
        )
    return found[str(identity)]


def _all(saved: SavedTallies, source: str) -> Iterator[Watched]:
    kind = saved.audit.declarations.scale
    if kind == "continuous":
        sums = saved.mark_sums(source)
        if sums is not None:
            yield from _of_marks(*sums, source)
        return
    cells = saved.cells(source)
    if saved.audit.data.has_reference:
        yield from _of_labels(saved, cells, source, {})
        if kind == "binary":
            yield from _of_totals(saved, source)
        if kind == "ordinal":
            yield from _of_levels(cells, source)
    elif kind == "binary":
        yes, no = cells.judged_as(1), cells.judged_as(0)
        yield _share("judge_positive_rate", source, {}, yes, no, by_default=True)
    yield from _of_statuses(cells, source, kind)


def _share(
    name: str, source: str, params: Mapping[str, Param], events: Array, others: Array, *, by_default: bool
) -> Watched:
    cells = np.stack([events, others], axis=-1)
    identity = str(EstimateId.of(name, source, **params))
    return Watched(identity, cells, of.share, cells.sum(axis=-1), is_rate=True, by_default=by_default)


def _of_labels(saved: SavedTallies, cells: VerdictCells, source: str, params: Mapping[str, Param]) -> Iterator[Watched]:
    """Of tables of reference by judge labels."""
    tables, default = cells.tables(), not params
    size = tables.sum(axis=(1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2)
    kind = saved.audit.declarations.scale
    yield _share("observed_agreement", source, params, agreed, size - agreed, by_default=default)
    for name, (measure, usual) in _COEFFICIENTS.items():
        identity = str(EstimateId.of(name, source, **params))
        yield Watched(identity, tables, measure, size, by_default=usual and default and kind != "ordinal")
    if kind != "binary":
        return
    for name, (events, others, usual) in _BINARY_RATES.items():
        parts = [np.sum([tables[:, r, j] for r, j in group], axis=0) for group in (events, others)]
        yield _share(name, source, params, parts[0], parts[1], by_default=usual and default)
    per_verdict = str(EstimateId.of("leniency", source, **{**params, "per": "verdict"}))
    yield Watched(per_verdict, tables, of.leniency_per_verdict, size)


def _of_totals(saved: SavedTallies, source: str) -> Iterator[Watched]:
    """Leniency a response, and gate accuracy at the declared cuts."""
    reference, judge, counts = saved.totals(source)
    size = counts.sum(axis=1)
    sums = np.stack([size, counts @ (judge - reference).astype(np.float64)], axis=-1)
    yield Watched(str(EstimateId.of("leniency", source)), sums, _mean, size, by_default=True)
    for cut in saved.audit.declarations.cuts:
        right = counts[:, (judge >= cut) == (reference >= cut)].sum(axis=1)
        yield _share("accuracy", source, {"cut": cut}, right, size - right, by_default=True)


def _mean(sums: Array) -> Array:
    return ratio(sums[..., 1], sums[..., 0])


def level_marks(cells: VerdictCells) -> tuple[Array, bool]:
    """(q,) values of the labels, and whether they are numbers of the data's own."""
    labels = cells.levels[: cells.n_labels]
    try:
        return np.array([float(label) for label in labels]), True
    except ValueError:
        return np.arange(len(labels), dtype=np.float64), False


def mark_sums_of_levels(cells: VerdictCells) -> Array:
    """(U, 7) sums as in ``stats.marks.mark_sums``, of ordinal labels; words count by their positions."""
    values, kept = level_marks(cells)[0], cells.is_paired
    t, m = values[cells.reference[kept]], values[cells.judge[kept]]
    rows = np.stack([np.ones(len(t)), t, m, t * t, m * m, t * m, np.abs(m - t)], axis=-1)
    sums: Array = cells.counts[:, kept] @ rows
    return sums


def _of_levels(cells: VerdictCells, source: str) -> Iterator[Watched]:
    sums = mark_sums_of_levels(cells)
    own = level_marks(cells)[1]
    for one in _of_marks(sums, 1, source):
        name = one.id.partition("/")[0]
        if own or name in ("lin_ccc", "pearson_r"):
            yield replace(one, by_default=one.by_default and name != "lin_ccc")
    # over declared levels the quadratic kappa is the concordance of unrounded marks
    identity = str(EstimateId.of("quadratic_weighted_kappa", source))
    yield Watched(identity, sums, marks.lin_ccc, sums[:, 0], by_default=True)


def _of_marks(sums: Array, factor: int, source: str) -> Iterator[Watched]:
    """Of sums of paired marks, which were multiplied by a factor."""
    listed: tuple[tuple[str, Callable[[Array], Array], bool, bool], ...] = (
        ("bias", marks.bias, True, True),
        ("mae", marks.mae, True, True),
        ("rmse", marks.rmse, True, False),
        ("lin_ccc", marks.lin_ccc, False, True),
        ("pearson_r", marks.pearson_r, False, False),
        ("spread_ratio", marks.spread_ratio, False, False),
    )
    for name, measure, in_marks, usual in listed:
        scaled = partial(_divided, measure, factor) if in_marks and factor > 1 else measure
        yield Watched(str(EstimateId.of(name, source)), sums, scaled, sums[:, 0], by_default=usual)


def _divided(measure: Measure, factor: int, sums: Array) -> Array:
    found: Array = measure(sums) / factor
    return found


def _of_statuses(cells: VerdictCells, source: str, kind: str) -> Iterator[Watched]:
    """Rates of verdicts without a label, and of wins in pairs."""
    slots = cells.counts.sum(axis=1)
    for status, name in _STATUS_RATES.items():
        events = cells.judged_as(cells.levels.index(status, cells.n_labels))
        if status in ("abstained", "unparsed") or events.any():
            yield _share(name, source, {}, events, slots - events, by_default=bool(events.any()))
    if kind == "pairwise":
        wins, losses = cells.judged_as(cells.n_labels - 1), cells.judged_as(0)
        ties = cells.judged_as(1) if cells.n_labels == 3 else np.zeros_like(wins)
        yield _share("win_rate", source, {}, wins + ties / 2, losses + ties / 2, by_default=True)
