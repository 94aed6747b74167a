"""Plan to ledger: the only layer that reaches a network or holds a key.

The package is also the function ``evenhand.run(plan, out, ...)``, whose name it shares; see :mod:`evenhand.experimenting`.
"""

import importlib
import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """This package, callable: importing any of its modules puts it where ``evenhand.run`` is looked up."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return importlib.import_module("evenhand.experimenting").run(*arguments, **options)


sys.modules[__name__].__class__ = _Package
