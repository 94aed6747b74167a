"""What so many labels could show, in words, before any is collected."""

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

from evenhand.errors import printable
from evenhand.sampling.drawing import Allocation, sizes_of, std_error
from evenhand.sampling.population import Population
from evenhand.stats.arrays import Array, Counts
from evenhand.stats.binomial import design_effect_at, kept_of_few_clusters, upper_probability, wilson
from evenhand.stats.intervals import ASSUMED_ICC
from evenhand.stats.label_budget import labels_to_match
from evenhand.stats.true_rates import certifiable, labels_to_certify

NUMBERS = (50, 100, 200, 400, 800)
"""Labels that are looked at where none are named."""
AGREEMENTS = (0.9, 0.95, 0.99)
SUPPOSED = 0.9
"""Agreement at which a half-width is told while none is known."""
_WIDTH = 8
_ALLOCATIONS: tuple[Allocation, ...] = ("proportional", "equal", "neyman")


def strata_lines(people: Population) -> Iterator[str]:
    """The strata with their sizes, and what labels already there show of each."""
    for number, (name, size) in enumerate(zip(people.strata, people.sizes.tolist(), strict=True)):
        lead = "strata" if number == 0 else ""
        known = ""
        if people.known[number]:
            share = people.wrong[number] / people.known[number]
            known = (
                f"; {people.wrong[number]:,} of {people.known[number]:,} labelled verdicts wrong ({100 * share:.1f} %)"
            )
        yield f"{lead:{_WIDTH}}{printable(name or 'all responses')}: {plural(size)}{known}"


def plural(count: int) -> str:
    """So many responses."""
    return f"{count:,} response{'s' if count != 1 else ''}"


def shared(people: Population) -> str:
    """What responses share."""
    if people.n_clusters == len(people.responses):
        return "that share no cluster"
    return f"of {people.n_clusters:,} clusters"


def effect(people: Population, n: int, level: float) -> float:
    """Design effect of n labels that are spread over the clusters, at the assumed intraclass correlation; more where these are few."""
    deff, clusters = design_effect_at(ASSUMED_ICC, n / people.n_clusters), min(n, people.n_clusters)
    return deff / kept_of_few_clusters(n, clusters - 1, level) if 1 < clusters < n else deff


def budget_lines(people: Population, n: int | None, level: float) -> Iterator[str]:
    """What n labels, or a choice of numbers, can certify and pin down, one verdict a response."""
    numbers = (
        [n] if n is not None else [one for one in NUMBERS if one < len(people.responses)] or [len(people.responses)]
    )
    yield (
        f"{'budget':{_WIDTH}}labels   certify at most   half-width at {100 * SUPPOSED:.0f} % agreement   worth, if independent"
    )
    for one in numbers:
        deff = effect(people, one, level)
        low, high = wilson(SUPPOSED * one / deff, one / deff, level)
        at_best = float(certifiable(one, 0, level, deff))
        yield f"{'':{_WIDTH}}{one:>6,}   {100 * at_best:>13.1f} %   {100 * (high - low) / 2:>22.1f} points   {one / deff:>12.0f} labels"
    for agreement in AGREEMENTS:
        yield f"{'':{_WIDTH}}to certify {100 * agreement:g} % with no error among them: {_needed(people, agreement, level)}"
    taken = "responses taken as independent"
    if people.n_clusters < len(people.responses):
        taken = f"labels spread over {people.n_clusters:,} clusters, whose responses are taken to share a correlation of {ASSUMED_ICC:g}"
    yield f"{'':{_WIDTH}}level {level:g}; {taken}"


def _needed(people: Population, agreement: float, level: float) -> str:
    """Labels at their own design effect, which grows with how many a cluster holds."""
    n = labels_to_certify(agreement, 0, level)
    for _ in range(100):
        more = math.ceil(labels_to_certify(agreement, 0, level) * effect(people, n, level))
        if more <= n:
            break
        n = more
    return f"{n:,} labels" if n <= len(people.responses) else f"more than there are responses ({n:,})"


def allocation_lines(people: Population, n: int, spread: Array | None, level: float) -> Iterator[str]:
    """The three ways to divide n labels, and how well each pins down the share of wrong verdicts."""
    z = float(special.ndtri(upper_probability(level)))
    for number, how in enumerate(_ALLOCATIONS):
        lead = "divide" if number == 0 else ""
        if how == "neyman" and spread is None:
            yield f"{'':{_WIDTH}}neyman: needs labels in the file, or --expect P,P,... (the share of wrong verdicts in each stratum)"
            continue
        sizes = sizes_of(people, n, how, spread)
        said = f"{lead:{_WIDTH}}{how}: {' + '.join(f'{size:,}' for size in sizes.tolist())}"
        if spread is not None:
            said += f"; share of wrong verdicts give or take {100 * z * std_error(people, sizes, spread):.2f} points, were responses independent"
        yield said
    if spread is not None and len(people.strata) > 1 and not people.known.all() and people.known.any():
        bare = [printable(name) for name, known in zip(people.strata, people.known, strict=True) if not known]
        yield f"{'':{_WIDTH}}no label yet in {', '.join(bare)}: taken as half wrong"
    if spread is not None and len(people.strata) > 1:
        same = labels_to_match(
            std_error(people, sizes_of(people, n, "proportional", spread), spread) ** 2, spread, people.sizes
        )
        yield f"{'':{_WIDTH}}neyman pins it down as well as {n:,} in proportion with {same:,} labels"


def weight_range(people: Population, sizes: Counts) -> tuple[float, float]:
    """Smallest and largest design weight."""
    weights = people.sizes / sizes
    return float(np.min(weights)), float(np.max(weights))
