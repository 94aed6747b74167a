"""Several judges on the same responses: how far apart two of them are, and how alike their errors.

A difference is taken on the verdicts that both judges and the reference score, and the clusters are resampled for both
judges at once, so what is hard for both cancels. Tests that take rows as independent are given by name, and say so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import agreement as of
from evenhand.stats import marks as of_marks
from evenhand.stats.arrays import Array, Counts, Measure, binned, ratio
from evenhand.stats.ensembles import effective_judges, mean_pairwise_phi, pair_tables
from evenhand.stats.hypothesis_tests import cochran_q, cochran_sums
from evenhand.stats.scales import ATANH, IDENTITY, LOG
from evenhand.stats.weighted_agreement import mcnemar, stuart_maxwell
from evenhand.tally.marks import level_values, whole_factor
from evenhand.tally.ratings import Ratings, Totals

ORDER = 60
MOST_COMPARED = 10
"""Judges up to which every pair of them is compared (45 pairs)."""
MOST_TABLE_LEVELS = 20
"""Labels up to which differences of coefficients are had from tables."""
_INDEPENDENT = "valid if rows were independent"
_NOTHING = "no verdict that both judges and the reference score"


def _share(events: tuple[tuple[int, int], ...], others: tuple[tuple[int, int], ...]) -> Measure:
    def measure(table: Array) -> Array:
        hit, missed = (np.sum([table[..., r, j] for r, j in group], axis=0) for group in (events, others))
        return ratio(hit, hit + missed)

    return measure


_ANY: tuple[tuple[str, Measure, str], ...] = (
    ("cohen_kappa", of.cohen_kappa, "Cohen's kappa with the reference"),
    ("observed_agreement", of.observed_agreement, "share of verdicts with the reference's label"),
)
_BINARY: tuple[tuple[str, Measure, str], ...] = (
    ("error_rate", _share(((0, 1), (1, 0)), ((0, 0), (1, 1))), "share of verdicts that differ from the reference"),
    ("false_accept_rate", _share(((0, 1),), ((0, 0),)), "false accept rate"),
    ("false_reject_rate", _share(((1, 0),), ((1, 1),)), "false reject rate"),
)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two judges, and the rows of ratings in which both and the reference (where there is one) have a label."""

    first: str
    second: str
    unit: Counts
    labels: tuple[Counts, Counts]
    reference: Counts
    count: Counts
    n_left: int
    at: tuple[int, int]

    @property
    def source(self) -> str:
        """As ids name it."""
        return f"{self.first}-{self.second}"

    @property
    def words(self) -> str:
        """What a difference is, for estimands."""
        return f"of {self.first} minus that of {self.second}, on the same verdicts"


def estimates_of_raters(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    """Comparisons of every pair of judges, and of their errors together.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        ratings: of all judges; those of one judge and the reference hold nothing to compare.
    """
    if ratings.is_judge_and_reference:
        return
    if ratings.n_raters > MOST_COMPARED:
        n_pairs = ratings.n_raters * (ratings.n_raters - 1) // 2
        reason = f"{ratings.n_raters} judges are {n_pairs} pairs: at most {MOST_COMPARED} judges are compared, name them with --judge"
        for name in ("mcnemar", "cohen_kappa") if ratings.reference is not None else ("mcnemar",):
            yield _exact(evidence, name, None, "raters", f"{name} between pairs of judges", reason, "not_assessed")
    else:
        for pair in _pairs(ratings):
            yield from _compared(evidence, pair, has_reference=ratings.reference is not None)
            if ratings.totals is not None:
                yield from _decisions(evidence, pair, ratings.totals)
    yield from _together(evidence, ratings)


def _pairs(ratings: Ratings) -> Iterator[_Pair]:
    names = [
        name if name not in ("judge", "reference", "raters", "human") else f"judge {name}" for name in ratings.names
    ]
    known = np.ones(len(ratings.unit), dtype=np.bool_) if ratings.reference is None else ratings.reference >= 0
    reference = np.zeros_like(ratings.unit) if ratings.reference is None else ratings.reference
    for a in range(ratings.n_raters):
        for b in range(a + 1, ratings.n_raters):
            kept = known & (ratings.labels[:, a] >= 0) & (ratings.labels[:, b] >= 0)
            left = int(ratings.count[~kept].sum())
            labels = (ratings.labels[kept, a], ratings.labels[kept, b])
            yield _Pair(
                names[a], names[b], ratings.unit[kept], labels, reference[kept], ratings.count[kept], left, (a, b)
            )


def _compared(evidence: Evidence, pair: _Pair, *, has_reference: bool) -> Iterator[Estimate]:
    n_units, kind = len(evidence.units.names), evidence.scale.kind
    if has_reference and kind != "continuous" and evidence.scale.size <= MOST_TABLE_LEVELS:
        yield from _of_tables(evidence, pair, n_units)
    if has_reference and kind in ("ordinal", "continuous"):
        yield from _of_marks(evidence, pair, n_units)
    if kind == "binary" and not has_reference:
        yield from _positive_rates(evidence, pair, n_units)
    if has_reference and kind != "continuous":
        yield from _mcnemar(
            evidence, pair, (pair.labels[0] == pair.reference, pair.labels[1] == pair.reference), "right"
        )
    if kind in ("nominal", "ordinal", "pairwise") and 2 < evidence.scale.size <= MOST_TABLE_LEVELS:
        yield from _stuart_maxwell(evidence, pair)
    if kind == "binary" and not has_reference:
        yield from _mcnemar(evidence, pair, (pair.labels[0] == 1, pair.labels[1] == 1), evidence.scale.levels[1])


def _of_tables(evidence: Evidence, pair: _Pair, n_units: int) -> Iterator[Estimate]:
    """Differences of coefficients and rates: joint tables of reference, first and second for two labels, else one each."""
    q = evidence.scale.size
    if q == 2:
        code = ((pair.unit * 2 + pair.reference) * 2 + pair.labels[0]) * 2 + pair.labels[1]
        tallies = binned(code, pair.count, (n_units, 2, 2, 2))
        sizes = tallies.sum(axis=(1, 2, 3))
    else:
        each = [(pair.unit * q + pair.reference) * q + label for label in pair.labels]
        tallies = np.stack([binned(code, pair.count, (n_units, q, q)) for code in each], axis=1)
        sizes = tallies[:, 0].sum(axis=(1, 2))
    for name, measure, words in (*_ANY, *(_BINARY if evidence.is_binary else ())):
        yield assess(
            evidence,
            Statistic(name, partial(_joint_gap if q == 2 else _gap, measure), IDENTITY, "judge", f"{words} {pair.words}", counted=q == 2),
            tallies, undefined="0/0 for one of the two judges" if sizes.any() else _NOTHING, source=pair.source,
            sizes=sizes, n_excluded=pair.n_left, family=f"{name} between pairs of judges",
        )  # fmt: skip


def _joint_gap(measure: Measure, joint: Array) -> Array:
    """(..., 2, 2, 2) reference by first by second judge → first minus second."""
    return measure(joint.sum(axis=-1)) - measure(joint.sum(axis=-2))


def _gap(measure: Measure, tables: Array) -> Array:
    """(..., 2, q, q) tables of the first and the second judge → first minus second."""
    return measure(tables[..., 0, :, :]) - measure(tables[..., 1, :, :])


def _of_marks(evidence: Evidence, pair: _Pair, n_units: int) -> Iterator[Estimate]:
    values, own = level_values(evidence.scale)
    factor = whole_factor(evidence.scale.levels) if own else 1
    values = np.rint(values * factor) if factor > 1 else values
    sums = np.stack(
        [
            of_marks.mark_sums(values[pair.reference], values[label], pair.unit, n_units, pair.count)
            for label in pair.labels
        ],
        axis=1,
    )
    kinds: tuple[tuple[str, Measure, str, int], ...] = (
        ("bias", of_marks.bias, "mean of mark minus reference", factor),
        ("mae", of_marks.mae, "mean absolute difference from the reference's mark", factor),
        ("lin_ccc", of_marks.lin_ccc, "Lin's concordance with the reference's marks", 1),
        ("pearson_r", of_marks.pearson_r, "linear correlation with the reference's marks", 1),
    )
    for name, measure, words, times in kinds:
        if own or name not in ("bias", "mae"):
            yield assess(
                evidence, Statistic(name, partial(_mark_gap, measure, times), IDENTITY, "judge", f"{words} {pair.words}", counted=False),
                sums, undefined=_NOTHING, source=pair.source, sizes=sums[:, 0, 0], n_excluded=pair.n_left,
                family=f"{name} between pairs of judges",
            )  # fmt: skip


def _mark_gap(measure: Measure, times: int, sums: Array) -> Array:
    """(..., 2, 7) sums of the first and the second judge → first minus second, in marks."""
    return (measure(sums[..., 0, :]) - measure(sums[..., 1, :])) / times


def _positive_rates(evidence: Evidence, pair: _Pair, n_units: int) -> Iterator[Estimate]:
    code = (pair.unit * 2 + pair.labels[0]) * 2 + pair.labels[1]
    tallies = binned(code, pair.count, (n_units, 2, 2))
    yield assess(
        evidence,
        Statistic("judge_positive_rate", lambda t: ratio(t[..., 1, 0] - t[..., 0, 1], t.sum(axis=(-2, -1))), IDENTITY, "judge",
            f"share of verdicts called {{positive}} {pair.words}"),
        tallies, undefined="no verdict that both judges score", source=pair.source, n_excluded=pair.n_left,
        family="judge_positive_rate between pairs of judges",
    )  # fmt: skip


def _mcnemar(
    evidence: Evidence, pair: _Pair, yes: tuple[NDArray[np.bool_], NDArray[np.bool_]], what: str
) -> Iterator[Estimate]:
    """McNemar's tests of equal shares of yes, which stands for the label or for being right."""
    table = binned(yes[0] * 2 + yes[1].astype(np.int64), pair.count, (2, 2))
    only, other = int(table[1, 0]), int(table[0, 1])
    found = mcnemar(table)
    said = f"{_INDEPENDENT}: only {pair.first} {what} on {only:,}, only {pair.second} on {other:,} of {int(table.sum()):,} verdicts"
    said = said if only + other else f"{_INDEPENDENT}: the two judges never differed on {int(table.sum()):,} verdicts"
    for quantity, value, words in (
        ("", found.p_value_exact, f"two-sided exact p of McNemar's test that {pair.first} and {pair.second} are {what} equally often"),
        ("chi2", found.statistic, f"McNemar's chi-squared on 1 df, uncorrected, of {pair.first} against {pair.second}"),
    ):  # fmt: skip
        number = float(value) if np.isfinite(value) and table.any() else None
        params: dict[str, Param] = {"quantity": quantity} if quantity else {}
        yield _exact(evidence, "mcnemar", number, pair.source, words, said, "undefined", int(table.sum()), params)


def _stuart_maxwell(evidence: Evidence, pair: _Pair) -> Iterator[Estimate]:
    """Stuart and Maxwell's test of equal label rates, McNemar's for more than two labels."""
    q = evidence.scale.size
    table = binned(pair.labels[0] * q + pair.labels[1], pair.count, (q, q))
    found, n = stuart_maxwell(table), int(table.sum())
    defined = bool(np.isfinite(found.statistic))
    said = f"{_INDEPENDENT}; {n:,} verdicts" if defined else f"the two judges never differed on {n:,} verdicts"
    words = f"Stuart and Maxwell's test that {pair.first} and {pair.second} give each of {q} labels equally often"
    for quantity, value, what in (
        ("", found.p_value, "p of "),
        ("chi2", found.statistic, "chi-squared of "),
        ("df", found.df, "degrees of freedom of "),
    ):
        params: dict[str, Param] = {"quantity": quantity} if quantity else {}
        number = float(value) if defined else None
        yield _exact(evidence, "stuart_maxwell", number, pair.source, what + words, said, "undefined", n, params)


def _decisions(evidence: Evidence, pair: _Pair, totals: Totals) -> Iterator[Estimate]:
    """Difference of gate accuracies, on responses that both judges and the reference score throughout."""
    first, second = (totals.judges[:, position] for position in pair.at)
    kept = (first >= 0) & (second >= 0) & (totals.reference >= 0)
    for cut in evidence.cuts:
        should = totals.reference[kept] >= cut
        right = [((total[kept] >= cut) == should).astype(np.int64) for total in (first, second)]
        code = (totals.unit[kept] * 2 + right[0]) * 2 + right[1]
        tallies = binned(code, totals.count[kept], (len(evidence.units.names), 2, 2))
        yield assess(
            evidence,
            Statistic("accuracy", lambda t: ratio(t[..., 1, 0] - t[..., 0, 1], t.sum(axis=(-2, -1))), IDENTITY, "judge",
                f"share of decisions at {cut:g} criteria met that match the reference's {pair.words.replace('verdicts', 'responses')}", unit="response"),
            tallies, undefined="no response that all three score throughout", source=pair.source,
            n_excluded=int(totals.count[~kept].sum()), params={"cut": cut}, family=f"accuracy at {cut:g} between pairs of judges",
        )  # fmt: skip


def _together(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    """Cochran's Q of being right, the correlation of errors, and how many independent judges that leaves."""
    if ratings.reference is None or evidence.scale.kind == "continuous":
        return
    known = ratings.reference >= 0
    unit, count, reference = ratings.unit[known], ratings.count[known], ratings.reference[known]
    labels = ratings.labels[known]
    errors = np.where(labels >= 0, (labels != reference[:, None]).astype(np.int64), -1)
    if ratings.n_raters > 2:
        yield from _cochran(evidence, ratings, errors, count)
    n_pairs = ratings.n_raters * (ratings.n_raters - 1) // 2
    if ratings.n_units * n_pairs * 4 > 50_000_000:
        return
    tables = pair_tables(errors, 2, unit, ratings.n_units, count)
    defined = np.isfinite(of.phi(tables.sum(axis=0)))
    twice = (errors >= 0).sum(axis=1) > 1
    some = binned(unit[twice], count[twice], (ratings.n_units,))
    who = f"{ratings.n_raters} judges, over {int(defined.sum())} pairs of them"
    left = int(ratings.count.sum() - some.sum())
    for name, measure, scale, words in (
        ("error_correlation", partial(_correlation, defined), ATANH, f"mean correlation of the errors of {who}"),
        ("effective_judges", partial(_effective, defined, ratings.n_raters), LOG,
            f"independent judges that {ratings.n_raters} are worth, R/(1+(R−1)ρ) for the mean correlation ρ of the errors of {who}"),
    ):  # fmt: skip
        yield assess(
            evidence, Statistic(name, measure, scale, "measurement system", words, counted=False), tables,
            undefined="no pair of judges both err on some verdicts and not on others", source="raters", sizes=some, n_excluded=left,
        )  # fmt: skip


def _correlation(defined: NDArray[np.bool_], tables: Array) -> Array:
    return mean_pairwise_phi(tables, defined)


def _effective(defined: NDArray[np.bool_], n_judges: int, tables: Array) -> Array:
    return effective_judges(mean_pairwise_phi(tables, defined), n_judges)


def _cochran(evidence: Evidence, ratings: Ratings, errors: Counts, count: Counts) -> Iterator[Estimate]:
    whole = (errors >= 0).all(axis=1)
    right = (1 - errors[whole]).astype(np.float64)
    found = cochran_q(cochran_sums(right, np.zeros(len(right), dtype=np.int64), 1, count[whole])[0])
    n, said = int(count[whole].sum()), f"Cochran's Q that all {ratings.n_raters} judges are right equally often"
    defined = np.isfinite(found.statistic)
    for quantity, value, words in (
        ("", found.p_value, f"p of {said}"),
        ("q", found.statistic, said),
        ("df", found.df, f"degrees of freedom of {said}"),
    ):
        params: dict[str, Param] = {"quantity": quantity} if quantity else {}
        reason = f"{_INDEPENDENT}; {n:,} verdicts that all judges score" if defined else "the judges never differed"
        yield _exact(
            evidence, "cochran_q", float(value) if defined else None, "raters", words, reason, "undefined", n, params
        )


def _exact(
    evidence: Evidence,
    name: str,
    value: float | None,
    source: str,
    words: str,
    reason: str,
    absent: str,
    n_used: int = 0,
    params: dict[str, Param] | None = None,
) -> Estimate:
    found = exact(
        evidence, name, value, unit="verdict", describes="judge", estimand=words, reason=reason, source=source, n_used=n_used, params=params
    )  # fmt: skip
    return found if value is not None else found.model_copy(update={"status": absent})
