"""Evenhand measures a language model as a judge or grader, and says what each number is about.

>>> import evenhand                                              # doctest: +SKIP
>>> a = evenhand.audit("verdicts.csv", cut=[5])                  # doctest: +SKIP
>>> a["cohen_kappa/judge"]                                       # doctest: +SKIP
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.api import AuditResult, ConvertResult, audit, convert
    from evenhand.errors import EvenhandError
    from evenhand.experimenting import PlanResult, RunResult, plan, run
    from evenhand.following import ComparisonResult, SelftestResult, compare, selftest
    from evenhand.results import Audit, Estimate
    from evenhand.verdicts.spec import Spec

_HOMES = {
    "audit": "evenhand.api",
    "AuditResult": "evenhand.api",
    "compare": "evenhand.following",
    "ComparisonResult": "evenhand.following",
    "convert": "evenhand.api",
    "ConvertResult": "evenhand.api",
    "Audit": "evenhand.results",
    "Estimate": "evenhand.results",
    "EvenhandError": "evenhand.errors",
    "plan": "evenhand.experimenting",
    "PlanResult": "evenhand.experimenting",
    "run": "evenhand.experimenting",
    "RunResult": "evenhand.experimenting",
    "selftest": "evenhand.following",
    "SelftestResult": "evenhand.following",
    "Spec": "evenhand.verdicts.spec",
}

__all__ = [
    "Audit", "AuditResult", "ComparisonResult", "ConvertResult", "Estimate", "EvenhandError", "PlanResult", "RunResult", "SelftestResult",
    "Spec", "audit", "compare", "convert", "plan", "run", "selftest",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("evenhand")
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
