"""The folder an audit writes: made beside its place and renamed, so that it is whole or not there."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from evenhand.errors import OutputError, printable, quoted
from evenhand.results import SCHEMA

FILES = (
    "audit.json",
    "report.html",
    "report.md",
    "tallies.parquet",
    "disagreements.parquet",
    "run.json",
    "spec.toml",
    "tables",
)
"""Everything such a folder may hold; a folder with anything else is not ours to replace."""


@contextmanager
def new_folder(place: Path, sources: Sequence[Path] = ()) -> Iterator[Path]:
    """A folder to fill, put in its place when the block ends well and taken away when it does not.

    Args:
        place: where it will stand; an earlier audit there is replaced.
        sources: files that must not lie inside it.

    Raises:
        OutputError: the place holds something foreign, or cannot be written.
    """
    place = Path(os.path.abspath(place))
    check_place(place, sources)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}-", dir=place.parent))
    except OSError as problem:
        raise OutputError(f"{printable(str(place))}: cannot be written ({problem.strerror})") from None
    try:
        draft.chmod(0o777 & ~_umask())
        yield draft
        _swap(draft, place)
    except OSError as problem:
        raise OutputError(f"{printable(str(place))}: cannot be written ({problem.strerror})") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_place(place: Path, sources: Sequence[Path] = ()) -> None:
    """Refuse a place that is a file, a foreign folder, or one that holds a source.

    Raises:
        OutputError: with what stands there.
    """
    shown = printable(str(place))
    real = place.resolve()
    for source in sources:
        inner = source.resolve()
        if inner == real or real in inner.parents:
            raise OutputError(
                f"{shown}: the output would replace its own source {printable(source.name)}; choose another --out"
            )
    if not place.exists() and not place.is_symlink():
        return
    if place.is_symlink() or not place.is_dir():
        raise OutputError(f"{shown}: exists and is not a folder; choose another --out")
    found = sorted(entry.name for entry in place.iterdir())
    foreign = [name for name in found if name not in FILES]
    if foreign or (found and not _is_ours(place)):
        raise OutputError(
            f"{shown}: the folder holds files that no audit wrote ({quoted(foreign or found, 4)}); choose another --out"
        )


def _is_ours(place: Path) -> bool:
    try:
        document = json.loads((place / "audit.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and str(document.get("schema", "")).startswith(SCHEMA.split("/")[0])


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _swap(draft: Path, place: Path) -> None:
    if not place.exists():
        draft.rename(place)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}-", dir=place.parent))
    old = aside / "old"
    place.rename(old)
    try:
        draft.rename(place)
    except OSError:
        old.rename(place)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file beside its place and rename it, so that a reader sees the old one or the new one.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(path)
    except OSError as problem:
        raise OutputError(f"{printable(str(path))}: cannot be written ({problem.strerror})") from None


def write_run(folder: Path, facts: Mapping[str, object]) -> None:
    """What may differ between two equal runs: times, places, versions."""
    (folder / "run.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
