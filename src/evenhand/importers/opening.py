"""Files as sources, whatever they are: logs through their importer, everything else as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import SourceError, printable
from evenhand.importers.files import read_file, spec_in
from evenhand.importers.logs import completed, read_logs
from evenhand.importers.records import LogImporter
from evenhand.importers.registry import find, recognise
from evenhand.importers.unread import refuse_unread
from evenhand.output import is_path
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec


@dataclass(frozen=True)
class Opened:
    """Sources, and what opening them showed.

    Attributes:
        sources: in the order given; the logs among them first.
        spec: the user's, completed by what the logs are known to hold.
        counts: what became of the logs' records, in words, for the account of rows.
        notes: what the user should know.
    """

    sources: tuple[Source, ...]
    spec: Spec
    counts: Mapping[str, int]
    notes: tuple[str, ...]


def open_files(engine: Engine, paths: Sequence[Path], spec: Spec) -> Opened:
    """Open files.

    Args:
        engine: where their relations are made.
        paths: logs of one tool, plain files of rows, or both.
        spec: of the user; its format may name an importer.

    Raises:
        SourceError: a file cannot be read, or logs of two tools stand together.
    """
    real = [path.resolve() for path in paths if is_path(path)]
    twice = sorted({printable(path.name) for path in paths if is_path(path) and real.count(path.resolve()) > 1})
    if twice:
        raise SourceError(f"the same file is given twice: {', '.join(twice)}; name each source once")
    importers = {path: _importer(path, spec) for path in paths}
    found = {importer.name: importer for importer in importers.values() if importer}
    if len(found) > 1:
        told = ", ".join(f"{printable(path.name)} ({one.name})" for path, one in importers.items() if one)
        raise SourceError(
            f"logs of two tools, whose ids are not the same: {told}; convert each, then audit them together"
        )
    for path, one in importers.items():
        if one is None and spec.format is None:
            refuse_unread(path)
    plain = [
        read_file(engine, path, format_=spec.format, encoding=spec.encoding, sheet=spec.sheet)
        for path, one in importers.items()
        if not one
    ]
    if not found:
        return Opened(tuple(plain), _with_carried_spec(engine, paths, spec), {}, ())
    (importer,) = found.values()
    logs = read_logs(engine, importer, [path for path, one in importers.items() if one], spec)
    counts = {f"{name}: {what}": count for name, counted in logs.counts.items() for what, count in counted.items()}
    told = f"read as {importer.name} ({importer.layout})"
    return Opened((*logs.sources, *plain), logs.spec, counts, (told, *logs.notes))


def _with_carried_spec(engine: Engine, paths: Sequence[Path], spec: Spec) -> Spec:
    """The user's spec over the one that converted files carry, where all carry the same and no role is named anew."""
    carried = [spec_in(engine, path) for path in paths]
    first = carried[0] if carried else None
    if (
        first is None
        or any(one != first for one in carried)
        or any((spec.response, spec.judge, spec.verdict, spec.rater))
    ):
        return spec
    return completed(spec, first)


def _importer(path: Path, spec: Spec) -> LogImporter | None:
    return recognise(path) if spec.format is None else find(spec.format)
