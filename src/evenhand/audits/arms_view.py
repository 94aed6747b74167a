"""One run of a judge over its arms: mean marks of complete responses, and how estimates of them are made.

What an arm says belongs to a learner (a label, an earlier attempt) or to a question (examples); that is the unit of
resampling, within tails of attainment where every unit lies in one.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand.audits.arms_roles import Roles, roles_of
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats.arrays import Array, Counts, Measure
from evenhand.stats.binomial import LEAST_DF, t_quantile, upper_probability
from evenhand.stats.drift import fieller, left_out_covariance, mean, mean_sums, stratified
from evenhand.stats.intervals import Interval
from evenhand.stats.scales import IDENTITY, Scale
from evenhand.tally.arms import Arms

Kept = NDArray[np.bool_]
_WITHIN = ("default", "jackknife_t", "jackknife_t_scaled")
_RESERVED = ("judge", "reference", "raters", "human")
NONE = "no response that was graded under all of its arms"
CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Units:
    """Units of resampling of one kind.

    Attributes:
        evidence: whose units they are.
        unit: (n,) unit of each response.
        word: what they are.
        in_tails: whether they are drawn within tails of attainment.
    """

    evidence: Evidence
    unit: Counts
    word: str
    in_tails: bool = True


@dataclass(frozen=True)
class View:
    """One judge's run.

    Attributes:
        evidence: of the judge.
        arms: every grading.
        roles: of the arms.
        run: its number among the runs.
        params: of ids, where there are several runs.
    """

    evidence: Evidence
    arms: Arms
    roles: Roles
    run: int
    params: Mapping[str, Param]

    @cached_property
    def gradings(self) -> tuple[Counts, Counts, Counts, Array]:
        """(m,) response, arm, occasion and mark of the gradings of this run that are scored."""
        kept = (self.arms.run == self.run) & np.isfinite(self.arms.mark)
        return self.arms.response[kept], self.arms.arm[kept], self.arms.occasion[kept], self.arms.mark[kept]

    @cached_property
    def n_gradings(self) -> Array:
        """(n, A) scored gradings of each response under each arm."""
        response, arm, _, _ = self.gradings
        return self._by_arm(response, arm, np.ones(len(response)))

    @cached_property
    def means(self) -> Array:
        """(n, A) mean mark over repeats; NaN where there is none."""
        response, arm, _, mark = self.gradings
        with np.errstate(invalid="ignore"):
            return np.where(
                self.n_gradings > 0, self._by_arm(response, arm, mark) / np.maximum(self.n_gradings, 1), np.nan
            )

    def _by_arm(self, response: Counts, arm: Counts, values: Array) -> Array:
        n_arms = len(self.arms.names)
        flat = np.bincount(response * n_arms + arm, weights=values, minlength=self.arms.n_responses * n_arms)
        return flat.astype(np.float64).reshape(self.arms.n_responses, n_arms)

    @cached_property
    def planned(self) -> Kept:
        """(n, A) arms under which a response was to be graded in this run."""
        here = self.arms.run == self.run
        return self._by_arm(self.arms.response[here], self.arms.arm[here], np.ones(int(here.sum()))) > 0

    @cached_property
    def complete(self) -> Kept:
        """(n,) responses with a mark under every arm under which they were to be graded."""
        whole = (~self.planned | (self.n_gradings > 0)).all(axis=1) & self.planned.any(axis=1)
        return np.asarray(whole)

    def kept(self, *arms: int) -> Kept:
        """(n,) complete responses that were graded under all of these arms."""
        return np.asarray(self.complete & (self.n_gradings[:, list(arms)] > 0).all(axis=1))

    def name(self, arm: int) -> str:
        """An arm as ids name it."""
        if arm == self.roles.control:
            return CONTROL
        name = self.arms.names[arm] or "empty"
        return f"arm {name}" if name in (*_RESERVED, CONTROL) else name

    def source(self, *arms: int | str) -> str:
        """An arm, or a contrast of two, of this judge."""
        said = "-".join(one if isinstance(one, str) else self.name(one) for one in arms)
        return said if self.evidence.is_sole_judge else f"{said}:{self.evidence.source}"

    @cached_property
    def _learners(self) -> Units | None:
        arms = self.arms
        if arms.learner is None or arms.learners is None:
            return None
        return Units(replace(self.evidence, units=arms.learners), arms.learner, "learners")

    @cached_property
    def _questions(self) -> Units:
        return Units(replace(self.evidence, units=self.arms.questions), self.arms.question, "clusters")

    def units(self, *arms: int) -> Units:
        """What is resampled where these arms are compared; of two units that were named, each in its turn."""
        if self.arms.is_crossed:
            return Units(replace(self.evidence, units=self.arms.clusters), self.arms.cluster, "clusters")
        if self._learners is None or any(self.roles.of_questions(arm) for arm in arms):
            return self._questions
        return self._learners

    def clusters(self) -> Units:
        """What every other number about the judge resamples: a level under one arm is a number of that kind, and no contrast."""
        return Units(replace(self.evidence, units=self.arms.clusters), self.arms.cluster, "clusters", in_tails=False)

    def tails(self) -> Iterator[tuple[int, str]]:
        """Positions and names of tails, where there are two or more."""
        if len(self.arms.tails) > 1:
            yield from enumerate(self.arms.tails)

    def strata(self, units: Units, kept: Kept) -> Counts | None:
        """(U,) tail of each unit, where there are tails and each unit lies in one of them."""
        if len(self.arms.tails) < 2 or not units.in_tails:
            return None
        n_units = len(units.evidence.units.names)
        found = np.full(n_units, -1, dtype=np.int64)
        found[units.unit[kept]] = self.arms.tail[kept]
        return found + 1 if (found[units.unit[kept]] == self.arms.tail[kept]).all() else None

    def decided(self) -> "View":
        """The same with intervals of the default method, which verdicts rest on whatever else was asked for."""
        plan = replace(self.evidence.plan, method="default")
        return replace(self, evidence=replace(self.evidence, plan=plan))

    def of_mean(
        self, name: str, source: str, values: Array, kept: Kept, arms: tuple[int, ...], words: str, params: Mapping[str, Param] | None = None, family: str = ""
    ) -> Estimate:  # fmt: skip
        """The mean of a signed value over the kept responses.

        Args:
            name: statistic.
            source: of the id.
            values: (n,) of each response.
            kept: (n,) whom it is about.
            arms: that are compared, which say what is resampled.
            words: estimand.
            params, family: as in ``assess``.
        """
        units = self.units(*arms)
        tallies = mean_sums(values[kept], units.unit[kept], len(units.evidence.units.names))
        return self.assessed(name, source, tallies, mean, kept, units, words, params=params, family=family)

    def assessed(
        self,
        name: str,
        source: str,
        tallies: Array,
        measure: Measure,
        kept: Kept,
        units: Units,
        words: str,
        *,
        scale: Scale = IDENTITY,
        params: Mapping[str, Param] | None = None,
        family: str = "",
        undefined: str = NONE,
    ) -> Estimate:
        """An estimate over the kept responses, within tails where units lie in one each; tallies are (U, *cells)."""
        sizes = np.bincount(units.unit[kept], minlength=len(tallies)).astype(np.float64)
        strata = self.strata(units, kept)
        within = ", each tail keeping its share" if strata is not None and len(np.unique(strata[sizes > 0])) > 1 else ""
        statistic = Statistic(name, measure, scale, "grader×context", words + within, unit="response", counted=False)
        one = assess(
            units.evidence, statistic, tallies, undefined=undefined, source=source, sizes=sizes, n_excluded=self.n_left(kept, params),
            params={**self.params, **(params or {})}, family=family,
        )  # fmt: skip
        if not within or strata is None or one.ci_low is None or units.evidence.plan.method not in _WITHIN:
            return one
        return self._within(one, tallies, sizes, strata, measure, scale)

    def _within(
        self, one: Estimate, tallies: Array, sizes: Array, strata: Counts, measure: Measure, scale: Scale
    ) -> Estimate:
        """Its interval by the jackknife within tails; as it stands where a tail holds one unit."""
        active = sizes > 0
        if np.bincount(strata[active])[np.unique(strata[active])].min() < 2:
            return one.model_copy(update={"reason": "a tail holds one unit: drawn over all units, not within tails"})
        found = stratified(tallies[active], sizes[active], strata[active], measure)
        error, spread = found.std_error(), found.std_error(scale)
        if not (math.isfinite(spread) and spread > 0 and found.df >= LEAST_DF):
            return one
        middle = float(scale.forward(np.asarray(found.value)))
        half = t_quantile(upper_probability(self.evidence.plan.confidence_level), found.df) * spread
        low, high = (float(scale.inverse(np.asarray(end))) for end in (middle - half, middle + half))
        return one.model_copy(
            update={
                "std_error": error, "ci_low": low, "ci_high": high, "interval_df": found.df, "interval_std_error": spread,
                "interval_scale": scale.name,
            }
        )  # fmt: skip

    def n_left(self, kept: Kept, params: Mapping[str, Param] | None = None) -> int:
        """Responses of the run, of one tail where the parameters name it, that are left out."""
        among = self.planned.any(axis=1)
        tail = (params or {}).get("tail")
        if tail is not None:
            among = among & (self.arms.tail == self.arms.tails.index(str(tail)))
        return int(among.sum()) - int(kept.sum())

    def of_ratio(
        self,
        name: str,
        source: str,
        tallies: Array,
        parts: tuple[Measure, Measure],
        kept: Kept,
        units: Units,
        words: str,
        params: Mapping[str, Param] | None = None,
    ) -> Estimate:
        """A ratio of two statistics of the same tallies, its interval Fieller's from their joint jackknife.

        Args:
            name, source, words, params: of the estimate.
            tallies: (U, *cells).
            parts: numerator and denominator, (..., *cells) → (...).
            kept: (n,) whom it is about.
            units: what is resampled.
        """
        sizes = np.bincount(units.unit[kept], minlength=len(tallies)).astype(np.float64)
        active = sizes > 0
        strata = self.strata(units, kept)
        stratum = (
            np.zeros(int(active.sum()), dtype=np.int64)
            if strata is None
            else np.unique(strata[active], return_inverse=True)[1]
        )
        found = self._ratio(tallies[active], sizes[active], stratum, parts) if active.any() else (math.nan, None, NONE)
        value, interval, reason = found
        return exact(
            units.evidence, name, value if math.isfinite(value) else None, unit="response", describes="grader×context", estimand=words,
            reason=reason, source=source, n_used=int(kept.sum()), n_excluded=self.n_left(kept), n_clusters=int(active.sum()),
            interval=interval, params={**self.params, **(params or {})},
        )  # fmt: skip

    def _ratio(
        self, tallies: Array, sizes: Array, stratum: Counts, parts: tuple[Measure, Measure]
    ) -> tuple[float, Interval | None, str]:
        top, bottom = (stratified(tallies, sizes, stratum, part) for part in parts)
        value = top.value / bottom.value if bottom.value else math.nan
        if not math.isfinite(value):
            return (
                math.nan,
                None,
                "0/0: nothing to divide by" if bottom.value == 0 else "it cannot be told apart from what is held fixed",
            )
        left_out = np.stack([top.left_out, bottom.left_out], axis=-1)
        if np.bincount(stratum).min() < 2 or not np.isfinite(left_out).all() or top.df < LEAST_DF:
            return value, None, "too few units for an interval"
        level = self.evidence.plan.confidence_level
        ends = fieller(
            top.value,
            bottom.value,
            left_out_covariance(left_out, stratum),
            t_quantile(upper_probability(level), top.df),
        )
        if not ends.is_bounded:
            return value, None, "unbounded: what it is divided by is not told apart from 0"
        return value, Interval(ends.low, ends.high, "fieller", df=top.df), ""


def views(evidence: Evidence) -> Iterator[View]:
    """The runs of one judge, those of several named by their model and setting."""
    arms = evidence.arms
    if arms is None:
        return
    roles = roles_of(arms)
    for number, run in enumerate(arms.runs):
        yield View(evidence, arms, roles, number, dict(run))
