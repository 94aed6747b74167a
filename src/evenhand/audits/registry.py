"""The families of estimands: modules here with ``estimates``, ``estimates_of_raters`` or ``estimates_of_humans``."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator

import evenhand.audits
from evenhand.audits.evidence import Evidence
from evenhand.results import Estimate
from evenhand.tally.humans import Humans
from evenhand.tally.ratings import Ratings

Family = Callable[..., Iterable[Estimate]]


def families(function: str = "estimates") -> list[Family]:
    """The modules' functions of this name, in the order of their ``ORDER`` (default 50), then of their names."""
    found = []
    for module in pkgutil.iter_modules(evenhand.audits.__path__):
        loaded = importlib.import_module(f"evenhand.audits.{module.name}")
        family: Family | None = getattr(loaded, function, None)
        if family is not None and module.name != "registry":
            found.append((getattr(loaded, "ORDER", 50), module.name, family))
    return [family for _, _, family in sorted(found, key=lambda entry: entry[:2])]


def all_estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every estimate that one judge's evidence carries."""
    for family in families():
        yield from family(evidence)


def estimates_of_humans(evidence: Evidence, humans: Humans) -> Iterator[Estimate]:
    """Every estimate about human raters beside the judges; ``evidence`` lends names and the interval plan."""
    for family in families("estimates_of_humans"):
        yield from family(evidence, humans)


def estimates_of_raters(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    """Every estimate about several raters together; ``evidence`` lends names and the interval plan."""
    for family in families("estimates_of_raters"):
        yield from family(evidence, ratings)
