"""Checklist lines: where the errors sit. A line is a criterion, or a cluster's criterion where checklists differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.results import Cell, Describes, Estimate, Table, Unit
from evenhand.stats.arrays import Array, Counts, binned
from evenhand.stats.binomial import clopper_pearson
from evenhand.stats.hypothesis_tests import benjamini_hochberg, holm
from evenhand.stats.intervals import Interval
from evenhand.stats.screening import SharedRates, chance_of_at_least, shared_rates, shrunken

N_WORST = 5
N_DRAWS = 2_000
MOST_DRAWN = 20_000_000
"""Lines times draws beyond which chance concentration is not simulated."""
MOST_LINE_ESTIMATES = 2_000
"""Lines beyond which only those with the most errors become estimates; the table holds them all."""
_RATES = (
    ("error_rate", "errors", "scored", "{judge} differs from the reference"),
    ("false_accept_rate", "false_accepts", "absent", "{judge} calls {positive} what the reference calls {negative}"),
    ("false_reject_rate", "false_rejects", "present", "{judge} calls {negative} what the reference calls {positive}"),
)


class _Common(TypedDict):
    unit: Unit
    describes: Describes
    n_used: int
    n_excluded: int
    n_clusters: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Counts of every line that has a verdict slot, the most errors first, ties in line order.

    Attributes:
        names: (L,) "cluster.criterion", or the criterion.
        keys: (L,) cluster · K + criterion, or the criterion's position.
        slots: (L,) verdict slots, scored or not.
        tables: (L, 2, 2) reference by judge.
    """

    names: tuple[str, ...]
    keys: Counts
    slots: Array
    tables: Array

    def counts(self, what: str) -> Array:
        """(L,) errors, false accepts, false rejects, or the verdicts they are shares of."""
        t = self.tables
        columns: dict[str, Array] = {
            "errors": t[:, 0, 1] + t[:, 1, 0],
            "false_accepts": t[:, 0, 1],
            "false_rejects": t[:, 1, 0],
            "scored": t.sum(axis=(1, 2)),
            "absent": t[:, 0].sum(axis=1),
            "present": t[:, 1].sum(axis=1),
        }
        return columns[what]


def gather(evidence: Evidence) -> Lines:
    """The lines of one judge."""
    cells, k = evidence.line_cells, len(evidence.criteria)
    line: Counts = cells.unit * k + cells.criterion if evidence.per_cluster else cells.criterion
    keys, position = np.unique(line, return_inverse=True)
    slots = binned(position, cells.count, (len(keys),))
    paired = (cells.judge < 2) & (cells.reference < 2)
    code = (position[paired] * 2 + cells.reference[paired]) * 2 + cells.judge[paired]
    tables = binned(code, cells.count[paired], (len(keys), 2, 2))
    errors = tables[:, 0, 1] + tables[:, 1, 0]
    order = np.argsort(-errors, kind="stable")
    names = tuple(_name(evidence, int(keys[at])) for at in order)
    return Lines(names, keys[order], slots[order], tables[order])


def _name(evidence: Evidence, key: int) -> str:
    if not evidence.per_cluster:
        return evidence.criteria[key]
    cluster, criterion = divmod(key, len(evidence.criteria))
    return f"{evidence.cluster_names[cluster]}.{evidence.criteria[criterion]}"


def applies(evidence: Evidence) -> bool:
    """Whether there are lines to tell apart."""
    return evidence.is_binary and evidence.has_reference and (len(evidence.criteria) > 1 or evidence.per_cluster)


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Concentration of errors beside its expectation under equal lines, and each line's own rates."""
    if not applies(evidence):
        return
    lines = gather(evidence)
    yield from _concentration(evidence, lines)
    if evidence.per_cluster:
        screened = screen(lines)
        yield from _line_rates(evidence, lines, screened)
        yield from _shrunken_rates(evidence, lines, screened)


def _concentration(evidence: Evidence, lines: Lines) -> Iterator[Estimate]:
    errors, scored = lines.counts("errors"), lines.counts("scored")
    n_lines, total = int(np.count_nonzero(scored)), float(errors.sum())
    common: _Common = {
        "unit": "line",
        "describes": "judge",
        "n_used": n_lines,
        "n_excluded": len(errors) - n_lines,
        "n_clusters": evidence.counts["clusters_used"],
    }
    worst, with_errors = float(errors[:N_WORST].sum()), float(np.count_nonzero(errors))
    yield exact(
        evidence,
        "errors_in_worst_lines",
        worst,
        reason="no interval: the worst lines are chosen by the same errors that are counted on them",
        events=worst,
        trials=total,
        params={"lines": N_WORST},
        estimand=f"errors of {{judge}} on the {min(N_WORST, n_lines)} of {n_lines} lines that hold the most, of {total:.0f} in all",
        **common,
    )
    yield exact(
        evidence,
        "lines_with_errors",
        with_errors,
        reason="no interval: a count of the lines seen",
        events=with_errors,
        trials=float(n_lines),
        estimand=f"lines of {n_lines} on which {{judge}} errs at least once",
        **common,
    )
    if total and n_lines * N_DRAWS <= MOST_DRAWN:
        yield from _under_equal_lines(evidence, lines, common)


def _under_equal_lines(evidence: Evidence, lines: Lines, common: "_Common") -> Iterator[Estimate]:
    """What chance alone concentrates: independent errors at the overall rates, the same on every line."""
    absent, present = lines.counts("absent").astype(np.int64), lines.counts("present").astype(np.int64)
    rng = np.random.default_rng(evidence.plan.seed)
    drawn = np.zeros((N_DRAWS, len(absent)), dtype=np.int64)
    for trials, errors in ((absent, lines.counts("false_accepts")), (present, lines.counts("false_rejects"))):
        if trials.sum():
            drawn += rng.binomial(trials, errors.sum() / trials.sum(), drawn.shape)
    worst = np.partition(drawn, -min(N_WORST, len(absent)), axis=1)[:, -N_WORST:].sum(axis=1)
    words = "if every line had the overall false accept and false reject rates and errors were independent"
    for name, value, params, what in (
        ("expected_errors_in_worst_lines", worst.mean(), {"lines": N_WORST}, "mean number of errors on the worst lines"),
        ("expected_errors_in_worst_lines", np.quantile(worst, 0.95), {"lines": N_WORST, "quantile": 0.95},
            "95th percentile of the number of errors on the worst lines"),
        ("expected_lines_with_errors", np.count_nonzero(drawn, axis=1).mean(), {}, "mean number of lines with an error"),
    ):  # fmt: skip
        yield exact(
            evidence,
            name,
            float(value),
            reason=f"a simulation of {N_DRAWS:,} draws, not a sample",
            params=dict(params),
            estimand=f"{what} {words}",
            **common,
        )


@dataclass(frozen=True, slots=True)
class Screened:
    """Each line against equal lines: errors at the overall false accept and false reject rates, independent.

    Attributes:
        raw: (L,) chance of at least as many errors; NaN where no verdict of the line is scored.
        bh, holm: (L,) the same as a list to look at (false discovery rate) and as single claims.
        shared: the distribution that the lines' error rates are shrunk towards.
        rates: (L,) shrunken error rates.
    """

    raw: Array
    bh: Array
    holm: Array
    shared: SharedRates
    rates: Array


def screen(lines: Lines) -> Screened:
    """Exact tails of every line, and error rates that borrow from each other."""
    errors, scored = lines.counts("errors"), lines.counts("scored")
    trials = np.column_stack([lines.counts("absent"), lines.counts("present")])
    wrong = np.array([lines.counts("false_accepts").sum(), lines.counts("false_rejects").sum()])
    overall = np.where(trials.sum(axis=0) > 0, wrong / np.maximum(trials.sum(axis=0), 1), 0.0)
    raw = np.where(scored > 0, chance_of_at_least(errors, trials, overall), np.nan)
    shared = shared_rates(errors, scored)
    return Screened(raw, benjamini_hochberg(raw), holm(raw), shared, shrunken(shared, errors, scored))


def _shrunken_rates(evidence: Evidence, lines: Lines, screened: Screened) -> Iterator[Estimate]:
    """Error rates of lines that borrow from each other: of few verdicts on one line, most are chance."""
    errors, scored, shared = lines.counts("errors"), lines.counts("scored"), screened.shared
    said = (
        f"Beta({shared.alpha:.3g}, {shared.beta:.3g})"
        if np.isfinite(shared.alpha)
        else f"the one rate {shared.mean:.3g}, as lines differ no more than chance has it"
    )
    for at in range(min(len(lines.names), MOST_LINE_ESTIMATES)):
        if scored[at]:
            yield exact(
                evidence,
                "error_rate",
                float(screened.rates[at]),
                unit="response",
                describes="judge",
                reason=f"no interval: shrunk towards {said}, fitted to all lines; its raw rate has one",
                events=float(errors[at]),
                trials=float(scored[at]),
                n_used=int(scored[at]),
                n_excluded=int(lines.slots[at] - scored[at]),
                n_clusters=1,
                params={"line": lines.names[at], "rate": "shrunken"},
                estimand=f"error rate of {{judge}} on line {lines.names[at]}, shrunk towards those of all lines",
            )


def _line_rates(evidence: Evidence, lines: Lines, screened: Screened) -> Iterator[Estimate]:
    n_tested = int(np.isfinite(screened.raw).sum())
    family = (
        "errors on lines, each tested against the overall false accept and false reject rates on every line, verdicts taken "
        f"as independent; {n_tested} in all"
    )
    kept = range(min(len(lines.names), MOST_LINE_ESTIMATES))
    for name, events_of, trials_of, words in _RATES:
        events, trials = lines.counts(events_of), lines.counts(trials_of)
        low, high = clopper_pearson(events, np.maximum(trials, 1), evidence.plan.confidence_level)
        for at in kept:
            seen = trials[at] > 0
            found = exact(
                evidence,
                name,
                float(events[at] / trials[at]) if seen else None,
                unit="response",
                describes="judge",
                reason="" if seen else "no verdict of this line is in the population",
                events=float(events[at]),
                trials=float(trials[at]),
                n_used=int(trials[at]),
                n_excluded=int(lines.slots[at] - lines.counts("scored")[at]),
                n_clusters=1,
                params={"line": lines.names[at]},
                interval=Interval(
                    float(low[at]),
                    float(high[at]),
                    "clopper_pearson",
                    "over the line's own responses, which lie in one cluster",
                )
                if seen
                else None,
                estimand=f"share of the responses to line {lines.names[at]} on which {words}",
            )
            if name == "error_rate" and seen:
                p_values = {kind: float(getattr(screened, kind)[at]) for kind in ("raw", "holm", "bh")}
                found = found.model_copy(update={"p_values": p_values, "family": family})
            yield found


def table(evidence: Evidence) -> Table:
    """All lines, the most errors first."""
    lines = gather(evidence)
    names: tuple[str, ...] = ("errors", "scored", "false_accepts", "absent", "false_rejects", "present")
    columns: list[list[Cell]] = [lines.counts(name).astype(int).tolist() for name in names]
    if evidence.per_cluster:
        screened = screen(lines)
        held = lines.counts("scored") > 0
        more = {"shrunken_rate": screened.rates, "p": screened.raw, "p_bh": screened.bh, "p_holm": screened.holm}
        columns += [
            list[Cell](float(x) if seen else None for x, seen in zip(values, held, strict=True))
            for values in more.values()
        ]
        names = (*names, *more)
    rows = tuple((line, *counts) for line, *counts in zip(lines.names, *columns, strict=True))
    return Table(columns=("line", *names), rows=rows)
