"""What an audit may draw on: one judge's tallies, and how intervals are to be made."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from evenhand.stats.arrays import Array, Measure
from evenhand.stats.effective_sizes import EffectiveSizes
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import Scale as IntervalScale
from evenhand.tally.arms import Arms
from evenhand.tally.cells import Cells
from evenhand.tally.classes import Classes
from evenhand.tally.condition_states import ConditionStates
from evenhand.tally.conditions import ConditionTotals, Repeats
from evenhand.tally.confidences import Confidences
from evenhand.tally.groups import Groups
from evenhand.tally.mark_rows import MarkRows
from evenhand.tally.orders import OrderPairs
from evenhand.tally.patterns import Patterns
from evenhand.tally.rows import Rows
from evenhand.tally.strata import Strata
from evenhand.tally.support import Support
from evenhand.tally.system_sums import SystemSums
from evenhand.tally.systems import Systems
from evenhand.tally.traits import Traits
from evenhand.tally.weighted_scores import WeightedScores
from evenhand.tally.wordings import Wordings
from evenhand.verdicts.scale import Scale
from evenhand.verdicts.table import Units


@dataclass(frozen=True, slots=True)
class Member:
    """An estimate of a family, with what its replicates are made from.

    Attributes:
        family: what is taken together.
        estimate_id: the member's id.
        measure: (..., *cells) → (...).
        tallies: (U, *cells) over all units of the audit, so that members share resamples.
        scale: of its interval; on the identity, 0 means that there is nothing to find: a difference or a signed value.
    """

    family: str
    estimate_id: str
    measure: Measure
    tallies: Array
    scale: IntervalScale


@dataclass(frozen=True)
class IntervalPlan:
    """How every interval of an audit is made.

    Attributes:
        method: a name of ``stats.intervals.METHODS``.
        n_resamples, seed, confidence_level: shared by all statistics.
        members: of families, as they were assessed; they are taken together once all estimates are made.
    """

    method: str
    n_resamples: int
    seed: int
    confidence_level: float
    _drawn: dict[int, Array] = field(default_factory=dict, repr=False)
    members: list[Member] = field(default_factory=list, repr=False)

    def weights(self, n_units: int) -> Array:
        """(B, G) bootstrap counts, drawn once for each number of units."""
        if n_units not in self._drawn:
            self._drawn[n_units] = draw_weights(self.seed, self.n_resamples, n_units)
        return self._drawn[n_units]


@dataclass(frozen=True)
class Evidence:
    """One judge's tallies.

    Attributes:
        source: the judge's name in ids.
        is_sole_judge: whether ids of the reference can speak of this judge's pairs.
        line_cells: cells by cluster where criteria belong to clusters, else those by unit.
        patterns: of binary verdicts, else None.
        counts: clusters behind whole populations, where units are groups: "slots", "judged", "complete", "referred".
        support: clusters behind label pairs, where units are groups.
        rows: verdicts of complete responses, where they are few enough and there is a reference.
        orders: verdicts on pairs in both orders of showing, where a column names the order.
        systems: who beats whom, where columns name the systems behind the sides of pairs.
        system_sums: verdicts by who wrote the response, where a column names it.
        confidences, strata, conditions, classes, scores: what further columns and files hold; None without them.
        quorum: votes that a panel needs to decide.
        reliability: of the scores, where it was given.
        traits: verdicts by traits of the response that columns name: its length, its author.
        groups: verdicts by groups of people, an entry an axis that a column names.
        mark_rows: marks of a response on all criteria side by side, where there are several.
        wordings: verdicts apart by the values of each condition that a column names.
        totals_by_condition: totals of each response under several conditions of the judge, where columns name them.
        repeats: verdicts on each item over occasions, where a column names them.
        arms: every grading by what the judge was additionally told, where a column names it.
        effective: of populations, where cells, patterns and groups are sums of design weights.
    """

    source: str
    is_sole_judge: bool
    scale: Scale
    units: Units
    criteria: tuple[str, ...]
    cluster_names: tuple[str, ...]
    per_cluster: bool
    has_reference: bool
    cuts: tuple[float, ...]
    cells: Cells
    line_cells: Cells
    patterns: Patterns | None
    plan: IntervalPlan
    counts: Mapping[str, int]
    support: Support | None
    rows: Rows | None
    orders: OrderPairs | None = None
    systems: Systems | None = None
    system_sums: SystemSums | None = None
    confidences: Confidences | None = None
    strata: Strata | None = None
    conditions: ConditionStates | None = None
    classes: Classes | None = None
    scores: WeightedScores | None = None
    quorum: int = 1
    reliability: float | None = None
    traits: tuple[Traits, ...] = ()
    groups: tuple[Groups, ...] = ()
    mark_rows: MarkRows | None = None
    wordings: Wordings | None = None
    totals_by_condition: ConditionTotals | None = None
    repeats: Repeats | None = None
    arms: Arms | None = None
    effective: EffectiveSizes | None = None

    @property
    def reference_source(self) -> str:
        """Source of the reference's values on this judge's responses."""
        return "reference" if self.is_sole_judge else f"reference:{self.source}"

    @property
    def difference_source(self) -> str:
        """Source of differences, judge minus reference."""
        return f"{self.source}-reference"

    @property
    def is_binary(self) -> bool:
        """Two labels, one of them positive."""
        return self.scale.kind == "binary"

    @property
    def n_unpaired(self) -> int:
        """Slots that no agreement statistic uses."""
        return int(self.cells.count.sum() - self.cells.paired.count.sum())

    def names(self, active: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[str, ...]:
        """Names of the units in a population."""
        return self.units.names if active.all() else tuple(itertools.compress(self.units.names, active.tolist()))
