"""Human raters beside the judge: how well they agree with each other, and the judge with each of them.

Humans agree with each other up to a point, and that point is what a judge's agreement with any one of them is held
against. A judge above the human-human value is above that value, and no more: it may have learnt what the humans share.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenhand.audits import ensemble, unsettled
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate, Table
from evenhand.stats import agreement as of
from evenhand.stats import marks as of_marks
from evenhand.stats.arrays import Array, Counts, Measure, binned, ratio
from evenhand.stats.scales import ATANH, IDENTITY, LOG_ONE_MINUS, LOGIT, Scale
from evenhand.tally.humans import Humans
from evenhand.tally.marks import level_values, whole_factor

SOURCE = "human"
MOST_CELLS = 20_000_000
"""Units × pairs of raters × cells of each beyond which no statistics of all pairs together are given."""
MOST_TABLED = 20
"""Labels up to which agreement is had from tables of them."""
_RESERVED = ("judge", "reference", "raters", "human")
_UNDEFINED = "0/0, no variation in labels, or no unit that both label"
_EXTREME = "an extreme over pairs of raters has no interval; each pair has its own, under {source}"


@dataclass(frozen=True, slots=True)
class _Coefficient:
    """A statistic of two raters: of the (q, q) table of their labels, or of the sums of their marks."""

    name: str
    measure: Measure
    scale: Scale
    words: str
    of_marks: bool = False
    chance: Measure | None = None
    is_rate: bool = False


@dataclass(frozen=True, slots=True)
class _Raters:
    """Everyone's labels, and the marks they stand for, multiplied to be whole."""

    humans: Humans
    marks: Array
    factor: int
    n_labels: int

    @property
    def n_units(self) -> int:
        return self.humans.everyone.n_units

    def pair(self, one: _Coefficient, a: int, b: int, kept: NDArray[np.bool_] | None = None) -> Array:
        """(U, *cells) of raters a and b, on the rows kept that both label."""
        rows = self.humans.everyone
        both = (rows.labels[:, a] >= 0) & (rows.labels[:, b] >= 0)
        both = both if kept is None else both & kept
        unit, count, first, second = rows.unit[both], rows.count[both], rows.labels[both, a], rows.labels[both, b]
        if one.of_marks:
            return of_marks.mark_sums(self.marks[first], self.marks[second], unit, self.n_units, count)
        q = self.n_labels
        tables = binned((unit * q + first) * q + second, count, (self.n_units, q, q))
        return _diagonal(tables) if one.is_rate else tables


def _diagonal(tables: Array) -> Array:
    same = np.trace(tables, axis1=-2, axis2=-1)
    return np.stack([same, tables.sum(axis=(-2, -1)) - same], axis=-1)


def _coefficients(evidence: Evidence) -> list[_Coefficient]:
    """Those of this scale; the first is the one that ceilings are stated in."""
    kind, own = evidence.scale.kind, level_values(evidence.scale)[1]
    kappa = _Coefficient(
        "cohen_kappa", of.cohen_kappa, LOG_ONE_MINUS, "chance-corrected agreement", chance=of.cohen_chance
    )
    same = _Coefficient("observed_agreement", of.share, LOGIT, "share of the same label", is_rate=True)
    r = _Coefficient("pearson_r", of_marks.pearson_r, ATANH, "linear correlation of the marks", of_marks=True)
    concordance = "concordance of the marks, moments with 1/n"
    if kind == "continuous":
        return [_Coefficient("lin_ccc", of_marks.lin_ccc, LOG_ONE_MINUS, concordance, of_marks=True), r]
    if evidence.scale.size > MOST_TABLED and kind != "ordinal":
        return []
    if kind == "ordinal":
        weighted = _Coefficient(
            "quadratic_weighted_kappa", of_marks.lin_ccc, LOG_ONE_MINUS, "quadratic-weighted kappa of the marks", of_marks=True
        )  # fmt: skip
        small = [kappa, same] if evidence.scale.size <= MOST_TABLED else []
        return [weighted, *small, *([r] if own else [])]
    return [kappa, same]


def estimates_of_humans(evidence: Evidence, humans: Humans) -> Iterator[Estimate]:
    """Every estimate about human raters.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        humans: labels of the judges and of the humans.
    """
    raters = _gathered(evidence, humans)
    kinds = _coefficients(evidence)
    for one in kinds:
        yield from _pairs(evidence, raters, one)
    if len(humans.names) > 1:
        yield from ensemble.estimates_of_raters(evidence, humans.among_themselves(), source=SOURCE)
        yield from unsettled.estimates_of_raters(evidence, humans.among_themselves(), SOURCE)
        for one in kinds[:1]:
            yield from _ceilings(evidence, raters, one)
        if evidence.scale.kind != "continuous":
            yield from _where_humans_agree(evidence, humans)
    if level_values(evidence.scale)[1] and evidence.scale.kind in ("ordinal", "continuous"):
        yield from _marks(evidence, raters)


def _gathered(evidence: Evidence, humans: Humans) -> _Raters:
    values, own = level_values(evidence.scale)
    factor = whole_factor(evidence.scale.levels) if own else 1
    return _Raters(humans, np.rint(values * factor) if factor > 1 else values, factor, evidence.scale.size)


def judge_name(evidence: Evidence, humans: Humans, position: int) -> str:
    """A judge as ids name it."""
    if evidence.is_sole_judge:
        return evidence.source
    name = humans.judges[position]
    return f"judge {name}" if name in _RESERVED else name


def _called(who: str) -> str:
    return "the judge" if who == "judge" else f"the judge {who}"


def _human_names(humans: Humans) -> list[str]:
    return [f"human {name}" if name in _RESERVED else name for name in humans.names]


def _pairs(evidence: Evidence, raters: _Raters, one: _Coefficient) -> Iterator[Estimate]:
    """Agreement of every two humans, and of every judge with every human: each pair an id of its own."""
    humans, names = raters.humans, _human_names(raters.humans)
    first = humans.n_judges
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            yield _of_pair(evidence, one, raters.pair(one, first + a, first + b), f"{names[a]}-{names[b]}",
                f"{one.words} of the human raters {names[a]} and {names[b]}", raters, "reference")  # fmt: skip
    for judge in range(first):
        who = judge_name(evidence, humans, judge)
        for b, name in enumerate(names):
            yield _of_pair(evidence, one, raters.pair(one, judge, first + b), f"{who}-{name}",
                f"{one.words} of {_called(who)} and the human rater {name}", raters, "judge")  # fmt: skip


def _of_pair(
    evidence: Evidence, one: _Coefficient, tallies: Array, source: str, words: str, raters: _Raters, describes: Describes
) -> Estimate:  # fmt: skip
    sizes = tallies[:, 0] if one.of_marks else tallies.reshape(len(tallies), -1).sum(axis=1)
    return assess(
        evidence,
        Statistic(one.name, one.measure, one.scale, describes, words, chance=one.chance, is_rate=one.is_rate, counted=not one.of_marks),
        tallies, undefined=_UNDEFINED, source=source, sizes=sizes,
        n_excluded=int(raters.humans.everyone.count.sum() - sizes.sum()),
    )  # fmt: skip


def _stacked(raters: _Raters, one: _Coefficient, pairs: list[tuple[int, int]], kept: NDArray[np.bool_] | None = None) -> Array:  # fmt: skip
    return np.stack([raters.pair(one, a, b, kept) for a, b in pairs], axis=1)


def _ceilings(evidence: Evidence, raters: _Raters, one: _Coefficient) -> Iterator[Estimate]:
    """Lowest, median and highest agreement over pairs of humans, the same of each judge with the humans, and how they differ."""
    humans, first = raters.humans, raters.humans.n_judges
    n = len(humans.names)
    human = [(first + a, first + b) for a in range(n) for b in range(a + 1, n)]
    n_cells = 7 if one.of_marks else raters.n_labels**2
    if raters.n_units * (len(human) + n) * n_cells > MOST_CELLS:
        return
    whose = f"{one.words} over pairs of the {n} human raters"
    among = _stacked(raters, one, human)
    yield from _spread(evidence, raters, one, among, "human_ceiling", SOURCE, whose, "A-B")
    for judge in range(first):
        who = judge_name(evidence, humans, judge)
        with_each = _stacked(raters, one, [(judge, first + b) for b in range(n)])
        source = f"{who}-{SOURCE}"
        words = f"{one.words} of {_called(who)} with one human, over the {n} human raters as reference"
        yield from _spread(evidence, raters, one, with_each, one.name, source, words, f"{who}-A")
        judged = humans.everyone.labels[:, judge] >= 0
        both = np.concatenate([_stacked(raters, one, [(judge, h) for h in range(first, first + n)], judged & (humans.n_given > 1)),
            _stacked(raters, one, human, judged)], axis=1)  # fmt: skip
        defined = np.isfinite(one.measure(both.sum(axis=0)))
        sizes = _rows_of(raters, judged & (humans.n_given > 1))
        yield assess(
            evidence,
            Statistic("human_ceiling", partial(_above, one.measure, n, defined), IDENTITY, "judge",
                f"mean {one.words} of {_called(who)} with each human minus the mean over pairs of humans, on units that the judge and two "
                "humans label: above 0 lies above the human–human value, which does not say that the judge is right where humans are not",
                "response", counted=False),
            both, undefined="defined for no pair", source=source, sizes=sizes, params={"quantity": "difference"},
            n_excluded=int(humans.everyone.count.sum() - sizes.sum()),
        )  # fmt: skip


def _rows_of(raters: _Raters, kept: NDArray[np.bool_]) -> Array:
    rows = raters.humans.everyone
    return binned(rows.unit[kept], rows.count[kept], (raters.n_units,))


def _above(measure: Measure, n_humans: int, defined: NDArray[np.bool_], tallies: Array) -> Array:
    values = measure(tallies)
    judged, among = (
        ratio(part[..., known].sum(axis=-1), np.asarray(float(known.sum())))
        for part, known in (
            (values[..., :n_humans], defined[:n_humans]),
            (values[..., n_humans:], defined[n_humans:]),
        )
    )
    return np.asarray(judged - among)


_QUANTITIES = (("min", np.min), ("median", np.median), ("max", np.max))


def _spread(
    evidence: Evidence, raters: _Raters, one: _Coefficient, tallies: Array, name: str, source: str, whose: str, pair: str
) -> Iterator[Estimate]:  # fmt: skip
    """Lowest, median and highest over the pairs; an interval for the median, or where there is one pair."""
    values = one.measure(tallies.sum(axis=0))
    defined = np.isfinite(values)
    sizes = tallies[..., 0] if one.of_marks else tallies.reshape(*tallies.shape[:2], -1).sum(axis=-1)
    sizes = sizes.max(axis=1)
    left = int(raters.humans.everyone.count.sum() - sizes.sum())
    describes: Describes = "reference" if source == SOURCE else "judge"
    for quantity, function in _QUANTITIES:
        params: dict[str, Param] = {"quantity": quantity}
        words = f"{'lowest' if quantity == 'min' else 'highest' if quantity == 'max' else 'median'} {whose}"
        if defined.sum() == 1 or quantity == "median":
            measure = partial(_over_pairs, one.measure, function, defined)
            yield assess(
                evidence, Statistic(name, measure, one.scale, describes, words, "response", counted=False), tallies,
                undefined="defined for no pair", source=source, sizes=sizes, params=params, n_excluded=left,
            )  # fmt: skip
            continue
        value = float(function(values[defined])) if defined.any() else None
        reason = _EXTREME.format(source=pair) if defined.any() else "defined for no pair"
        yield exact(evidence, name, value, unit="response", describes=describes, estimand=words, reason=reason, source=source,
            n_used=int(sizes.sum()), n_excluded=left, n_clusters=int((sizes > 0).sum()), params=params)  # fmt: skip


def _over_pairs(measure: Measure, function: object, defined: NDArray[np.bool_], tallies: Array) -> Array:
    values = measure(tallies)[..., defined]
    if not defined.any():
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(function(values, axis=-1))  # type: ignore[operator]


def _where_humans_agree(evidence: Evidence, humans: Humans) -> Iterator[Estimate]:
    """How often all humans give one label, and the judge's agreement with them there and elsewhere."""
    rows = humans.everyone
    twice = humans.n_given > 1
    cells = np.stack([_counted(rows.unit, rows.count, kept, rows.n_units) for kept in (twice & humans.agree, twice & ~humans.agree)], axis=-1)  # fmt: skip
    left = int(rows.count[~twice].sum())
    yield assess(
        evidence, Statistic("observed_agreement", of.share, LOGIT, "reference",
            "share of units with two human labels or more on which all humans give the same one", "response", is_rate=True),
        cells, undefined="no unit that two humans label", source=SOURCE, n_excluded=left, params={"humans": "unanimous"},
    )  # fmt: skip
    for judge in range(humans.n_judges):
        who = judge_name(evidence, humans, judge)
        label = rows.labels[:, judge]
        same = (humans.labels == label[:, None]).sum(axis=1) / np.maximum(humans.n_given, 1)
        for where, kept, words in (
            ("agree", twice & humans.agree, f"share of {who}'s verdicts with the humans' label, where all humans give the same one"),
            ("differ", twice & ~humans.agree, f"mean share of the humans whose label {who} gives, where humans differ"),
        ):  # fmt: skip
            kept = kept & (label >= 0)
            events = np.bincount(rows.unit[kept], weights=(same * rows.count)[kept], minlength=rows.n_units)
            sizes = _counted(rows.unit, rows.count, kept, rows.n_units)
            yield assess(
                evidence, Statistic("observed_agreement", of.share, LOGIT, "judge", words, is_rate=True),
                np.stack([events, sizes - events], axis=-1), undefined=f"no unit on which humans {where}", source=f"{who}-{SOURCE}",
                n_excluded=int(rows.count.sum() - sizes.sum()), params={"humans": where}, sizes=sizes,
            )  # fmt: skip


def _counted(unit: Counts, count: Counts, kept: NDArray[np.bool_], n_units: int) -> Array:
    return binned(unit[kept], count[kept], (n_units,))


_PRMSE: tuple[tuple[str, Measure, Scale, str], ...] = (
    ("", of_marks.prmse, LOG_ONE_MINUS, "proportional reduction in mean squared error when {who}'s marks predict the humans' true score (PRMSE)"),
    ("mse", of_marks.true_score_mse, IDENTITY, "mean squared error of {who}'s marks about the humans' true score"),
    ("error_variance", of_marks.human_error_variance, IDENTITY, "variance of one human's mark about the true score, from units marked twice"),
    ("true_variance", of_marks.true_score_variance, IDENTITY, "variance of the humans' true scores"),
)  # fmt: skip
_ONCE = "no unit with a mark of the judge is marked by two humans"


def _marks(evidence: Evidence, raters: _Raters) -> Iterator[Estimate]:
    """The true score that humans share, each judge as its predictor, and correlations with human error taken out."""
    humans, rows, first = raters.humans, raters.humans.everyone, raters.humans.n_judges
    human = np.where(humans.labels >= 0, raters.marks[np.maximum(humans.labels, 0)], np.nan)
    for judge in range(first):
        who, label = judge_name(evidence, humans, judge), rows.labels[:, judge]
        kept = (label >= 0) & (humans.n_given > 0)
        if not (label >= 0).any() or len(humans.names) < 2:
            continue
        sums = of_marks.prmse_sums(
            human[kept], raters.marks[label[kept]], rows.unit[kept], rows.n_units, rows.count[kept]
        )
        for quantity, measure, scale, words in _PRMSE:
            factor = raters.factor**2 if quantity else 1
            params: dict[str, Param] = {"quantity": quantity} if quantity else {}
            yield assess(
                evidence, Statistic("prmse", partial(_divided, measure, factor), scale, "judge" if quantity in ("", "mse") else "reference",
                    words.format(who=who), "response", counted=False),
                sums, undefined=_ONCE, source=who, sizes=sums[:, 0], params=params, n_excluded=int(rows.count.sum() - sums[:, 0].sum()),
            )  # fmt: skip
        yield from _corrected(evidence, raters, judge, who)


def _divided(measure: Measure, factor: int, sums: Array) -> Array:
    return measure(sums) / factor


def _corrected(evidence: Evidence, raters: _Raters, judge: int, who: str) -> Iterator[Estimate]:
    """Correlation with each human over the root of that human's mean correlation with the others."""
    humans, first = raters.humans, raters.humans.n_judges
    r = _Coefficient("pearson_r", of_marks.pearson_r, IDENTITY, "", of_marks=True)
    for position, name in enumerate(_human_names(humans)):
        own = first + position
        others = [other for other in range(first, first + len(humans.names)) if other != own]
        tallies = _stacked(raters, r, [(judge, own), *((own, other) for other in others)])
        defined = np.isfinite(r.measure(tallies.sum(axis=0)))
        sizes = tallies[:, 0, 0]
        yield assess(
            evidence, Statistic("pearson_r", partial(_disattenuated, defined[1:]), IDENTITY, "judge",
                f"correlation of {who}'s marks with {name}'s over the root of {name}'s mean correlation with the other humans: "
                "human error taken out, may exceed 1", "response", counted=False),
            tallies, undefined="marks are constant, or humans correlate at 0 or below", source=f"{who}-{name}", sizes=sizes,
            params={"corrected": "attenuation"}, n_excluded=int(humans.everyone.count.sum() - sizes.sum()),
        )  # fmt: skip


def _disattenuated(defined: NDArray[np.bool_], sums: Array) -> Array:
    values = of_marks.pearson_r(sums)
    among = ratio(values[..., 1:][..., defined].sum(axis=-1), np.asarray(float(defined.sum())))
    return ratio(values[..., 0], np.sqrt(np.where(among > 0, among, 0.0)))


def tables(evidence: Evidence, humans: Humans) -> Iterator[tuple[str, Table]]:
    """Agreement of every two raters, a human among them, and lines on which the humans agree least."""
    kinds, raters = _coefficients(evidence), _gathered(evidence, humans)
    if not kinds:
        return
    names = [judge_name(evidence, humans, judge) for judge in range(humans.n_judges)] + _human_names(humans)
    rows = []
    for a, one in enumerate(names):
        for b in range(max(a + 1, humans.n_judges), len(names)):
            found = [raters.pair(kind, a, b).sum(axis=0) for kind in kinds]
            size = found[0][..., 0] if kinds[0].of_marks else found[0].sum()
            values = [float(kind.measure(cells)) for kind, cells in zip(kinds, found, strict=True)]
            kept = [value if np.isfinite(value) else None for value in values]
            rows.append((one, names[b], "human" if a >= humans.n_judges else "judge", int(size), *kept))
    yield from unsettled.tables(evidence, humans.among_themselves(), SOURCE)
    yield (
        "humans/raters",
        Table(columns=("one", "other", "one_is", "n", *(kind.name for kind in kinds)), rows=tuple(rows)),
    )
