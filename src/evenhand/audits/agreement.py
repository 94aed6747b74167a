"""Agreement of one judge with the reference: by verdict, pooled over criteria and for each of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats import agreement as of
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.scales import ATANH, IDENTITY, LOG_ONE_MINUS, LOGIT
from evenhand.stats.weighted_agreement import mcc_multiclass

_TN, _FP, _FN, _TP = (0, 0), (0, 1), (1, 0), (1, 1)
_Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Declared:
    """A statistic, the cells it takes from a table, and its words where those are empty."""

    statistic: Statistic
    cells: Callable[[Array], Array]
    pairs: Callable[[int], Counts]
    undefined: str
    by_criterion: bool = False


def _rate(
    name: str,
    events: tuple[_Cell, ...],
    others: tuple[_Cell, ...],
    estimand: str,
    undefined: str,
    *,
    by_criterion: bool = False,
    describes: Describes = "judge",
) -> _Declared:
    """A share of events among events and others, of a 2×2 table."""

    def cells(table: Array) -> Array:
        return np.stack([sum(table[..., r, j] for r, j in group) for group in (events, others)], axis=-1)

    statistic = Statistic(name, of.share, LOGIT, describes, estimand, is_rate=True)
    pairs = np.array([r * 2 + j for r, j in events + others])
    return _Declared(statistic, cells, lambda _q: pairs, undefined, by_criterion)


def _whole(statistic: Statistic, undefined: str, *, by_criterion: bool = False) -> _Declared:
    return _Declared(statistic, lambda table: table, lambda q: np.arange(q * q), undefined, by_criterion)


def diagonal(table: Array) -> Array:
    """Verdicts on and off the diagonal, (..., q, q) → (..., 2)."""
    agreed = np.trace(table, axis1=-2, axis2=-1)
    return np.stack([agreed, table.sum(axis=(-2, -1)) - agreed], axis=-1)


_NOTHING = "no verdict in which both sides are scored"
_ONE_LABEL = "no variation in labels"

_OBSERVED = _Declared(
    Statistic(
        "observed_agreement",
        of.share,
        LOGIT,
        "judge",
        "share of verdicts on which {judge} gives the reference's label, where both are scored",
        is_rate=True,
    ),
    diagonal,
    lambda q: np.arange(q * q),
    _NOTHING,
    by_criterion=True,
)
_KAPPA = _whole(
    Statistic(
        "cohen_kappa",
        of.cohen_kappa,
        LOG_ONE_MINUS,
        "judge",
        "chance-corrected agreement of {judge} with the reference on verdicts where both are scored, "
        "pooled over criteria, at this bank's prevalence and this judge's positive rate",
        chance=of.cohen_chance,
    ),
    _ONE_LABEL,
    by_criterion=True,
)
ANY_SCALE: tuple[_Declared, ...] = (
    _OBSERVED,
    _KAPPA,
    _whole(
        Statistic(
            "gwet_ac1",
            of.gwet_ac1,
            LOG_ONE_MINUS,
            "judge",
            "Gwet's AC1 of {judge} with the reference: agreement beyond Σp(1−p)/(q−1) over the declared labels",
            chance=of.gwet_chance,
        ),
        _ONE_LABEL,
    ),
    _whole(
        Statistic(
            "brennan_prediger",
            of.brennan_prediger,
            LOG_ONE_MINUS,
            "judge",
            "agreement of {judge} with the reference beyond 1/q for q declared labels (PABAK for two)",
            chance=of.uniform_chance,
        ),
        _ONE_LABEL,
    ),
    _whole(
        Statistic(
            "scott_pi",
            of.scott_pi,
            LOG_ONE_MINUS,
            "judge",
            "agreement of {judge} with the reference beyond that of raters who share the pooled label rates",
            chance=of.scott_chance,
        ),
        _ONE_LABEL,
    ),
)
SEVERAL: tuple[_Declared, ...] = (
    _whole(
        Statistic(
            "mcc_multiclass",
            mcc_multiclass,
            ATANH,
            "judge",
            "Gorodkin's correlation R_K of {judge}'s labels with the reference's where both are scored",
        ),
        _ONE_LABEL,
    ),
)
"""Of three labels or more."""
BINARY: tuple[_Declared, ...] = (
    _rate(
        "error_rate",
        (_FP, _FN),
        (_TP, _TN),
        "share of verdicts on which {judge} differs from the reference, where both are scored",
        _NOTHING,
        by_criterion=True,
    ),
    _rate(
        "false_accept_rate",
        (_FP,),
        (_TN,),
        "share of the verdicts whose reference is {negative} that {judge} calls {positive}",
        "the reference is never {negative}",
        by_criterion=True,
    ),
    _rate(
        "false_reject_rate",
        (_FN,),
        (_TP,),
        "share of the verdicts whose reference is {positive} that {judge} calls {negative}",
        "the reference is never {positive}",
        by_criterion=True,
    ),
    _rate(
        "precision",
        (_TP,),
        (_FP,),
        "share of the verdicts {judge} calls {positive} whose reference is {positive}",
        "the judge never says {positive}",
    ),
    _rate(
        "recall",
        (_TP,),
        (_FN,),
        "share of the verdicts whose reference is {positive} that {judge} calls {positive}",
        "the reference is never {positive}",
    ),
    _rate(
        "specificity",
        (_TN,),
        (_FP,),
        "share of the verdicts whose reference is {negative} that {judge} calls {negative}",
        "the reference is never {negative}",
    ),
    _rate(
        "npv",
        (_TN,),
        (_FN,),
        "share of the verdicts {judge} calls {negative} whose reference is {negative}",
        "the judge never says {negative}",
    ),
    _rate(
        "prevalence",
        (_TP, _FN),
        (_FP, _TN),
        "share of the verdicts used for {judge} whose reference is {positive}",
        _NOTHING,
        by_criterion=True,
        describes="bank",
    ),
    _rate(
        "judge_positive_rate",
        (_TP, _FP),
        (_FN, _TN),
        "share of verdicts {judge} calls {positive}, where both sides are scored",
        _NOTHING,
        by_criterion=True,
    ),
    _Declared(
        Statistic(
            "f1",
            of.f1,
            LOGIT,
            "judge",
            "F1 of {judge} for {positive}: harmonic mean of precision and recall, blind to true negatives",
            is_rate=True,
            from_rate=lambda share: 2 * share / (1 + share),
        ),
        lambda t: np.stack([t[..., 1, 1], t[..., 0, 1] + t[..., 1, 0]], axis=-1),
        lambda _q: np.array([1, 2, 3]),
        "neither side ever says {positive}",
    ),
    _whole(
        Statistic(
            "balanced_accuracy",
            of.balanced_accuracy,
            LOGIT,
            "judge",
            "mean of {judge}'s recall and specificity: accuracy at a prevalence of one half",
        ),
        "the reference uses one label only",
    ),
    _whole(
        Statistic(
            "phi",
            of.phi,
            ATANH,
            "judge",
            "correlation of {judge}'s labels with the reference's where both are scored; on two labels phi, Pearson r, "
            "Spearman ρ, Kendall τ_b and Matthews' coefficient are this one number",
            chance=of.cohen_chance,
        ),
        _ONE_LABEL,
        by_criterion=True,
    ),
    _whole(
        Statistic(
            "kappa_phi_ratio",
            of.kappa_phi_ratio,
            IDENTITY,
            "judge",
            "kappa over phi: 1 when {judge}'s positive rate equals the reference's, less the further they are apart",
        ),
        _ONE_LABEL,
    ),
    _whole(
        Statistic(
            "leniency",
            of.leniency_per_verdict,
            IDENTITY,
            "judge",
            "{judge}'s positive rate minus the reference's, where both are scored",
            params={"per": "verdict"},
        ),
        _NOTHING,
        by_criterion=True,
    ),
)


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every agreement estimate of one judge; marks have their own in ``marks``."""
    if not evidence.has_reference or evidence.scale.kind == "continuous":
        return
    declared = (*ANY_SCALE, *(BINARY if evidence.is_binary else SEVERAL if evidence.scale.size > 2 else ()))
    tables = evidence.cells.paired.tables()
    for one in declared:
        yield _estimate(evidence, one, tables, alternatives=True)
    if evidence.is_binary:
        yield from _bounds(evidence)
        if evidence.is_sole_judge:
            yield _reference_rate(evidence)
    if len(evidence.criteria) > 1:
        paired = evidence.cells.paired
        slots = np.bincount(evidence.cells.criterion, weights=evidence.cells.count, minlength=len(evidence.criteria))
        for position, criterion in enumerate(evidence.criteria):
            table = paired.on_criterion(position).tables()
            left = int(slots[position] - table.sum())
            for one in declared:
                if one.by_criterion:
                    yield _estimate(
                        evidence, one, table, position=position, n_excluded=left, params={"criterion": criterion}
                    )


def _estimate(
    evidence: Evidence,
    one: _Declared,
    tables: Array,
    *,
    position: int = -1,
    n_excluded: int | None = None,
    alternatives: bool = False,
    params: Mapping[str, Param] | None = None,
) -> Estimate:
    if evidence.support:
        n_clusters: int | None = evidence.support.n_clusters(one.pairs(evidence.scale.size), position)
    else:
        n_clusters = evidence.counts.get("paired") if position < 0 else None
    found = assess(
        evidence,
        one.statistic,
        one.cells(tables),
        undefined=_reason(evidence, one, tables.sum(axis=0)),
        n_excluded=evidence.n_unpaired if n_excluded is None else n_excluded,
        n_clusters=n_clusters,
        alternatives=alternatives,
        params=params,
        family=f"{one.statistic.name} by criterion, {evidence.source}" if position >= 0 else "",
    )
    if one.statistic.name == "kappa_phi_ratio":
        return found.model_copy(update=_NO_INTERVAL)
    if one.statistic.name == "cohen_kappa" and found.std_errors:
        null = float(of.kappa_null_std_error(tables.sum(axis=0)))
        return found.model_copy(update={"std_errors": {**found.std_errors, "null": null}})
    return found


_NO_INTERVAL: dict[str, object] = {
    "ci_low": None,
    "ci_high": None,
    "std_error": None,
    "std_errors": {},
    "interval_method": "none",
    "interval_scale": None,
    "interval_df": None,
    "interval_std_error": None,
    "design_effect": None,
    "reason": "no interval: the ratio has its maximum at 1; leniency[per=verdict] carries the uncertainty of the gap",
}


def _reason(evidence: Evidence, one: _Declared, table: Array) -> str:
    """Why a value is 0/0, with the counts that show it."""
    levels = evidence.scale.levels
    if not table.sum():
        return _NOTHING
    if one.undefined is not _ONE_LABEL:
        return one.undefined.format(negative=levels[0], positive=levels[-1])
    said = []
    for side, margin in (("reference", table.sum(axis=1)), ("judge", table.sum(axis=0))):
        if np.count_nonzero(margin) == 1:
            said.append(
                f"{side} uses one label only: {int(margin.sum())} of {int(margin.sum())} are {levels[int(margin.argmax())]}"
            )
    return f"0/0, {_ONE_LABEL}: {'; '.join(said)}" if said else "0/0"


def _reference_rate(evidence: Evidence) -> Estimate:
    """The reference's positive rate over every slot it labels, whether the judge was scored or not."""
    labels = evidence.cells.levels(len(evidence.scale.all_levels))[:, :2].sum(axis=2)
    statistic = Statistic(
        "prevalence",
        of.share,
        LOGIT,
        "bank",
        "share of the verdicts the reference labels that it calls {positive}",
        is_rate=True,
    )
    return assess(
        evidence,
        statistic,
        labels[:, ::-1],
        undefined="the reference labels no verdict",
        source=evidence.reference_source,
        n_excluded=int(evidence.cells.count.sum() - labels.sum()),
        n_clusters=evidence.counts.get("slots"),
    )


def _bounds(evidence: Evidence) -> Iterator[Estimate]:
    """Rates with every unscored verdict counted as right, and as wrong."""
    levels = evidence.cells.levels(len(evidence.scale.all_levels))
    unscored = levels[:, :, 2:].sum(axis=2)
    for name, events, right, rows in (
        ("error_rate", levels[:, 0, 1] + levels[:, 1, 0], levels[:, 0, 0] + levels[:, 1, 1], (0, 1)),
        ("false_accept_rate", levels[:, 0, 1], levels[:, 0, 0], (0,)),
        ("false_reject_rate", levels[:, 1, 0], levels[:, 1, 1], (1,)),
    ):
        lost = sum(unscored[:, row] for row in rows)
        what = next(one for one in BINARY if one.statistic.name == name)
        for bound, cells in (("lower", (events, right + lost)), ("upper", (events + lost, right))):
            said = "right" if bound == "lower" else "wrong"
            yield assess(
                evidence,
                Statistic(
                    name,
                    of.share,
                    LOGIT,
                    "judge",
                    f"{what.statistic.estimand}; every unscored verdict counted as {said}",
                    is_rate=True,
                ),
                np.stack(cells, axis=-1),
                undefined=_reason(evidence, what, levels[:, :2, :2].sum(axis=0)),
                n_excluded=int(levels[:, 2:].sum()),
                n_clusters=evidence.counts.get("slots"),
                params={"bound": bound},
            )
        if name == "error_rate":
            yield assess(
                evidence,
                Statistic(
                    name,
                    of.share,
                    LOGIT,
                    "judge",
                    "share of verdicts {judge} gets wrong when an unscored verdict is an error",
                    is_rate=True,
                ),
                np.stack((events + lost, right), axis=-1),
                undefined=_NOTHING,
                n_excluded=int(levels[:, 2:].sum()),
                n_clusters=evidence.counts.get("slots"),
                params={"unscored": "error"},
            )
