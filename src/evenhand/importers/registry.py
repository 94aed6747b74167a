"""Importers are found, not listed: modules of this package with ``IMPORTER``, and the entry points of other packages.

A package adds one with ``[project.entry-points."evenhand.importers"]`` and ``mytool = "mypackage.door:IMPORTER"``.
"""

import importlib
import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import evenhand.importers
from evenhand.errors import SourceError, printable
from evenhand.importers.records import Head, LogImporter

GROUP = "evenhand.importers"


def recognise(path: Path) -> LogImporter | None:
    """The importer of a file, by its ending and its beginning; None for a plain file of rows.

    Raises:
        SourceError: the file cannot be read, or a third party's importer cannot be loaded.
    """
    ending = path.suffix.casefold()
    candidates = [importer for importer in all_importers() if ending in importer.endings]
    if not candidates or not path.is_file() or not path.stat().st_size:
        return None
    head = Head.of(path)
    return next((importer for importer in candidates if importer.recognises(path, head)), None)


def find(name: str) -> LogImporter | None:
    """The importer of this name."""
    return next((importer for importer in all_importers() if importer.name == name), None)


@cache
def all_importers() -> tuple[LogImporter, ...]:
    """Every importer: ours by module name, then those of other packages by entry point.

    Raises:
        SourceError: a third party's importer cannot be loaded.
    """
    modules = [
        importlib.import_module(f"{evenhand.importers.__name__}.{found.name}")
        for found in pkgutil.iter_modules(evenhand.importers.__path__)
    ]
    ours = [module.IMPORTER for module in modules if hasattr(module, "IMPORTER")]
    return (*ours, *(_loaded(point) for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)))


def _loaded(point: EntryPoint) -> LogImporter:
    told = f'importer "{printable(point.name)}" ({printable(point.value)})'
    try:
        found = point.load()
    except (ImportError, AttributeError) as problem:
        raise SourceError(f"{told} of another package cannot be loaded: {printable(str(problem))[:200]}") from None
    if not isinstance(found, LogImporter):
        raise SourceError(f"{told} of another package is no LogImporter")
    return found
