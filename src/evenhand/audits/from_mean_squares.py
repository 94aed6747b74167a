"""Estimates from the mean squares of a study, with intervals that know how few conditions of a facet there are.

Resampling responses says nothing about a facet that was not resampled, so components, and coefficients whose universe
holds such a facet, get a generalised interval; a jackknife over clusters stands only where the very conditions are meant.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Describes, Estimate
from evenhand.stats.anova import crossed_components
from evenhand.stats.anova_design import Design
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.component_intervals import effective_df, generalised, generalised_draws
from evenhand.stats.generalizability import DStudy, d_study
from evenhand.stats.intervals import Interval
from evenhand.stats.resampling import leave_one_out
from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS

METHOD = "generalised"
_NEGLIGIBLE = 1e-12
_CONSTANT = "mean squares of 0: that says nothing of its error"
_ONE_CLUSTER = "one cluster: no interval can be had from it"
NEGATIVE = "negative as it is estimated, 0 where it is used"


@dataclass(frozen=True)
class Study:
    """Objects crossed with facets, every object under every combination of conditions.

    Attributes:
        evidence: the interval plan and names.
        object_: what is measured, in ids: "response".
        facets: names of the facets in ids.
        shape: their numbers of conditions.
        tallies: (U, m) additive sums, the first of them the number of objects.
        measure: (..., m) → (..., T) mean squares in the order of the design's terms.
        n_excluded: objects that are not under every condition.
        n_clusters: clusters behind the objects; the units in use by default.
        params: of every id.
    """

    evidence: Evidence
    object_: str
    facets: tuple[str, ...]
    shape: tuple[int, ...]
    tallies: Array
    measure: Measure
    n_excluded: int
    n_clusters: int | None
    params: Mapping[str, Param]

    @cached_property
    def design(self) -> Design:
        """Objects crossed with the facets."""
        return Design.crossed((self.object_, *self.facets))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms in ids; the last one is what is left."""
        return (*(term.name for term in self.design.terms[:-1]), "residual")

    @property
    def n_objects(self) -> int:
        """Objects in use."""
        return int(self.tallies[:, 0].sum())

    @cached_property
    def mean_squares(self) -> Array:
        """(T,) over all objects."""
        return self.measure(self.tallies.sum(axis=0))

    def components(self, mean_squares: Array) -> Array:
        """(..., T) components from mean squares of these objects."""
        return crossed_components(mean_squares, np.asarray(float(self.n_objects)), self.shape)

    def resampled_components(self, tallies: Array) -> Array:
        """(..., T) components from sums over other objects."""
        return crossed_components(self.measure(tallies), tallies[..., 0], self.shape)

    @cached_property
    def df(self) -> Array:
        """(T,) degrees of freedom: nominal for facets; at most nominal for what responses carry, by the jackknife."""
        n = dict(zip((self.object_, *self.facets), (self.n_objects, *self.shape), strict=True))
        nominal = np.array(
            [math.prod(n[facet] - 1 for facet in term.facets) for term in self.design.terms], dtype=np.float64
        )
        active = self.tallies[self.tallies[:, 0] > 0]
        if len(active) < 2:
            return nominal
        left_out = self.measure(leave_one_out(active))
        variance = (len(active) - 1) * left_out.var(axis=0)
        carried = np.array([self.object_ in term.facets for term in self.design.terms])
        return np.where(carried & np.isfinite(variance), effective_df(self.mean_squares, variance, nominal), nominal)

    @cached_property
    def _draws(self) -> Array:
        return generalised_draws(self.mean_squares, self.df, seed=self.evidence.plan.seed)

    def component(
        self, at: int, source: str, describes: Describes, estimand: str, unit_of: str = "", undefined: str = ""
    ) -> Estimate:
        """The component of one term, raw, with its generalised interval.

        Args:
            at: position of the term.
            source: of the id.
            describes: whom it is about.
            estimand: what it is.
            unit_of: a sentence on how few conditions it rests on.
            undefined: why there is none.
        """
        value = float(self.components(self.mean_squares)[at])
        found = self._estimate(
            "variance_component", value, lambda drawn: self.components(drawn)[..., at], source, describes, estimand,
            {"facet": self.names[at]}, unit_of, undefined, df=float(self.df[at]),
        )  # fmt: skip
        if value < 0:
            return found.model_copy(update={"reason": f"{NEGATIVE}; {found.reason}".removesuffix("; ")})
        return found

    def coefficient(
        self,
        name: str,
        of: Callable[[DStudy], Array],
        conditions: Mapping[str, int],
        source: str,
        estimand: str,
        params: Mapping[str, Param],
        unit_of: str = "",
        undefined: str = "",
    ) -> Estimate:
        """A coefficient of a mean over these numbers of conditions, with its generalised interval."""

        def value(mean_squares: Array) -> Array:
            return of(d_study(self.design, self.components(mean_squares), self.object_, conditions))

        smallest = min(
            (float(df) for df, term in zip(self.df, self.design.terms, strict=True) if self.object_ not in term.facets)
        )
        return self._estimate(
            name, float(value(self.mean_squares)), value, source, "measurement system", estimand, params, unit_of, undefined, df=smallest
        )  # fmt: skip

    def _estimate(
        self,
        name: str,
        value: float,
        function: Measure,
        source: str,
        describes: Describes,
        estimand: str,
        params: Mapping[str, Param],
        unit_of: str,
        undefined: str,
        df: float,
    ) -> Estimate:
        plan, defined = self.evidence.plan, math.isfinite(value)
        n_units = int((self.tallies[:, 0] > 0).sum())
        interval = None
        if defined and plan.method != "none" and n_units > 1:
            interval = self._interval(value, function, plan.confidence_level, unit_of)
        withheld = "" if plan.method == "none" else _CONSTANT if n_units > 1 else _ONE_CLUSTER
        found = exact(
            self.evidence, name, value if defined else None, unit="response", describes=describes, estimand=estimand, source=source,
            reason=withheld if defined else undefined, n_used=self.n_objects, n_excluded=self.n_excluded,
            n_clusters=n_units if self.n_clusters is None else self.n_clusters,
            interval=interval, params={**params, **self.params},
        )  # fmt: skip
        if self.n_excluded and defined:
            left = f"{self.n_excluded:,} responses without every condition are left out"
            found = found.model_copy(update={"reason": f"{found.reason}; {left}".removeprefix("; ")})
        return found.model_copy(update={"interval_df": df}) if found.ci_low is not None else found

    def _interval(self, value: float, function: Measure, level: float, few: str) -> Interval | None:
        """Generalised limits; what cannot be negative does not begin below 0, unless the estimate itself does."""
        low, high = generalised(self._draws, function, level)
        if not (math.isfinite(low) and math.isfinite(high)) or high - low <= _NEGLIGIBLE * max(1.0, abs(high)):
            return None
        return Interval(max(low, min(0.0, value)), high, METHOD, few)

    def fixed_component(
        self,
        at: int,
        source: str,
        describes: Describes,
        estimand: str,
        params: Mapping[str, Param],
        undefined: str = "",
    ) -> Estimate:
        """The component of one term over these very conditions, with an interval over clusters of responses."""
        return assess(
            self.evidence,
            Statistic("variance_component", lambda t: self.resampled_components(t)[..., at], IDENTITY, describes, estimand, "response", counted=False),
            self.tallies, undefined=undefined, source=source, sizes=self.tallies[:, 0], n_excluded=self.n_excluded,
            n_clusters=self.n_clusters, params={"facet": self.names[at], **params, **self.params},
        )  # fmt: skip

    def fixed_coefficient(
        self,
        name: str,
        of: Callable[[DStudy], Array],
        conditions: Mapping[str, int],
        source: str,
        estimand: str,
        params: Mapping[str, Param],
        undefined: str = "",
    ) -> Estimate:
        """The same coefficient over these very conditions, with an interval over clusters of responses."""

        def value(tallies: Array) -> Array:
            return of(d_study(self.design, self.resampled_components(tallies), self.object_, conditions))

        return assess(
            self.evidence,
            Statistic(name, value, LOG_ONE_MINUS, "measurement system", estimand, "response", counted=False),
            self.tallies, undefined=undefined, source=source, sizes=self.tallies[:, 0], n_excluded=self.n_excluded,
            n_clusters=self.n_clusters, params={**params, **self.params},
        )  # fmt: skip


def degrees(n_conditions: int, words: str) -> str:
    """How little a few conditions say: "3 phrasings: 2 degrees of freedom"."""
    df = n_conditions - 1
    return f"{n_conditions} {words}: {df} degree{'' if df == 1 else 's'} of freedom"
