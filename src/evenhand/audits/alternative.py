"""May the judge stand in for one of three humans or more? The alternative annotator test, over clusters."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.human import SOURCE, judge_name
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.results import Estimate
from evenhand.stats import alternative_annotator as of
from evenhand.stats.arrays import Array
from evenhand.stats.scales import IDENTITY, LOGIT
from evenhand.tally.humans import Humans
from evenhand.tally.marks import level_values

ORDER = 64
FEWEST_HUMANS = 3
COSTS = (0.1, 0.15, 0.2)
"""What a human's own wins are charged, from crowd workers to experts."""


def estimates_of_humans(evidence: Evidence, humans: Humans) -> Iterator[Estimate]:
    """The judge's advantage, its shortfall against each human, and for how many of them it may stand in.

    Args:
        evidence: of any of the judges, for names and the interval plan.
        humans: labels of the judges and of the humans.
    """
    if len(humans.names) < FEWEST_HUMANS:
        return
    is_marks = evidence.scale.kind in ("ordinal", "continuous")
    values = level_values(evidence.scale)[0] if is_marks else np.arange(evidence.scale.size, dtype=np.float64)
    rows = humans.everyone
    labels = np.where(rows.labels >= 0, values[np.maximum(rows.labels, 0)], np.nan)
    given = labels[:, humans.n_judges :]
    for judge in range(humans.n_judges):
        sums = of.win_sums(labels[:, judge], given, rows.unit, rows.n_units, rows.count, is_marks=is_marks)
        yield from _of_judge(evidence, humans, judge_name(evidence, humans, judge), sums)


def _of_judge(evidence: Evidence, humans: Humans, who: str, sums: Array) -> Iterator[Estimate]:
    source, n_all = f"{who}-{SOURCE}", int(humans.everyone.count.sum())
    sizes = sums[..., 0].max(axis=1)
    undefined = "a human shares no unit with the judge and another human"
    yield assess(
        evidence,
        Statistic("alternative_annotator", of.advantage, LOGIT, "judge",
            f"share of units on which {who} is at least as near to the remaining humans as the human left out, averaged over {len(humans.names)} of them",
            "response", counted=False),
        sums, undefined=undefined, source=source, sizes=sizes, params={"quantity": "advantage"}, n_excluded=n_all - int(sizes.sum()),
    )  # fmt: skip
    gaps = []
    for at, name in enumerate(humans.names):
        one = sums[:, at]
        gaps.append(
            assess(
                evidence,
                Statistic("alternative_annotator", _shortfall, IDENTITY, "judge",
                    f"share of units on which {name} is at least as near to the remaining humans as {who}, minus {who}'s share against {name}",
                    "response", counted=False),
                one, undefined=undefined, source=source, sizes=one[:, 0], params={"human": name, "quantity": "shortfall"},
                n_excluded=n_all - int(one[:, 0].sum()),
            )
        )  # fmt: skip
    yield from gaps
    tested = [gap for gap in gaps if gap.estimate is not None and gap.std_error is not None]
    for cost in COSTS:
        p_values = np.array([of.one_sided_p(gap.estimate, gap.std_error, cost, _df(sums[:, at, 0])) for at, gap in enumerate(gaps)
            if gap.estimate is not None and gap.std_error is not None])  # fmt: skip
        known = len(tested) == len(gaps)
        reason = "p of each human one-sided over clusters, false discoveries held at 5 %; .5 or more is what the test's authors ask for"
        yield exact(
            evidence, "alternative_annotator", of.winning_rate(p_values) if known else None, unit="response", describes="judge", source=source,
            estimand=f"share of the {len(gaps)} humans against whom {who} falls short by less than {cost:g}",
            reason=reason if known else f"{undefined}, or there is one cluster", n_used=int(sizes.sum()), n_excluded=n_all - int(sizes.sum()),
            n_clusters=int((sizes > 0).sum()), params={"cost": cost, "quantity": "winning_rate"},
        )  # fmt: skip


def _shortfall(sums: Array) -> Array:
    return of.shortfall(sums[..., None, :])[..., 0]


def _df(sizes: Array) -> float:
    """Effective clusters less one."""
    return max(1.0, float(sizes.sum() ** 2 / np.square(sizes).sum()) - 1)
