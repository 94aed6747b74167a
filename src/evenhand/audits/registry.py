"""The families of estimands: every module of this package that has a function ``estimates``."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator

import evenhand.audits
from evenhand.audits.evidence import Evidence
from evenhand.results import Estimate

Family = Callable[[Evidence], Iterable[Estimate]]


def families() -> list[Family]:
    """The families in the order of their modules' ``ORDER`` (default 50), then of their names."""
    found = []
    for module in pkgutil.iter_modules(evenhand.audits.__path__):
        loaded = importlib.import_module(f"evenhand.audits.{module.name}")
        family: Family | None = getattr(loaded, "estimates", None)
        if family is not None and module.name != "registry":
            found.append((getattr(loaded, "ORDER", 50), module.name, family))
    return [family for _, _, family in sorted(found, key=lambda entry: entry[:2])]


def all_estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every estimate that one judge's evidence carries."""
    for family in families():
        yield from family(evidence)
