"""The folder an audit writes: made beside its place and renamed, so that it is whole or not there."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    "texts",
)
"""Everything such a folder may hold (the demo puts a second audit under texts); a folder with anything else is not ours to replace."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of folder that this package writes and may replace.

    Attributes:
        what: what writes it, in a word.
        names: everything it may hold.
        document: the JSON file in it that tells the kind.
        schema: what the schema named in that file begins with.
    """

    what: str
    names: tuple[str, ...]
    document: str
    schema: str


AUDIT = Kind("audit", FILES, "audit.json", SCHEMA.split("/")[0])


@contextmanager
def new_folder(place: Path, sources: Sequence[Path] = (), kind: Kind = AUDIT) -> Iterator[Path]:
    """A folder to fill, put in its place when the block ends well and taken away when it does not.

    Args:
        place: where it will stand; an earlier folder of its kind there is replaced.
        sources: files that must not lie inside it.
        kind: what it is; an audit's by default.

    Raises:
        OutputError: the place holds something foreign, or cannot be written.
    """
    place = Path(os.path.abspath(place))
    check_place(place, sources, kind)
    made = [folder for folder in place.parents if not folder.exists()]
    draft = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}-", dir=place.parent))
        draft.chmod(0o777 & ~_umask())
        yield draft
        _swap(draft, place)
    except OSError as problem:
        raise OutputError(_unwritable(place, problem)) from None
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
        if not place.exists():
            _remove_empty(made)


def _unwritable(place: Path, problem: OSError) -> str:
    return f"{printable(str(place))}: cannot be written ({problem.strerror or type(problem).__name__}); choose another place"


def _remove_empty(folders: Sequence[Path]) -> None:
    """Take away the folders made on the way, innermost first, while nothing stands in them."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return


def check_place(place: Path, sources: Sequence[Path] = (), kind: Kind = AUDIT) -> None:
    """Refuse a place that is a file, a foreign folder, or one that holds a source.

    Raises:
        OutputError: with what stands there.
    """
    shown = printable(str(place))
    if not is_path(place):
        raise OutputError(f"{shown}: no such name can be written (NUL, or not UTF-8); choose another --out")
    real = place.resolve()
    for source in filter(is_path, sources):
        inner = source.resolve()
        if inner == real or real in inner.parents:
            raise OutputError(
                f"{shown}: the output would replace its own source {printable(source.name)}; choose another --out"
            )
    if not place.exists() and not place.is_symlink():
        _parent_must_be_folder(place)
        return
    if place.is_symlink():
        raise OutputError(f"{shown}: a symbolic link; name the folder it points to, or choose another --out")
    if not place.is_dir():
        raise OutputError(f"{shown}: exists and is not a folder; choose another --out")
    found = sorted(entry.name for entry in place.iterdir())
    foreign = [name for name in found if name not in kind.names]
    if foreign or (found and not _is_ours(place, kind)):
        raise OutputError(
            f"{shown}: the folder holds files that no {kind.what} wrote ({quoted(foreign or found, 4)}); choose another --out"
        )


def is_path(path: Path) -> bool:
    """Whether the engine can open this path: UTF-8, without NUL."""
    try:
        return b"\0" not in str(path).encode()
    except UnicodeEncodeError:
        return False


def _parent_must_be_folder(place: Path) -> None:
    standing = next(folder for folder in Path(os.path.abspath(place)).parents if folder.exists())
    if not standing.is_dir():
        raise OutputError(
            f"{printable(str(place))}: {printable(standing.name)} is a file, not a folder; choose another --out"
        )


def check_file(path: Path, is_ours: Callable[[Path], bool], sources: Sequence[Path] = ()) -> None:
    """Refuse to write a file over a source, a folder, or anything that this package did not write.

    Args:
        path: the file to be written.
        is_ours: tells whether an existing file is of the kind that will replace it.
        sources: files that must stay.

    Raises:
        OutputError: with what stands there.
    """
    shown = printable(str(path))
    if not is_path(path):
        raise OutputError(f"{shown}: no such name can be written (NUL, or not UTF-8); choose another name")
    if any(path.resolve() == source.resolve() for source in filter(is_path, sources)):
        raise OutputError(f"{shown}: would replace a source; choose another name")
    if path.is_dir():
        raise OutputError(f"{shown}: a folder; name a file in it")
    if path.exists() and path.stat().st_size and not is_ours(path):
        raise OutputError(
            f"{shown}: exists and was not written by evenhand; choose another name, or take it away first"
        )


def _is_ours(place: Path, kind: Kind) -> bool:
    try:
        document = json.loads((place / kind.document).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and str(document.get("schema", "")).startswith(kind.schema)


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


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A file to fill beside its place, renamed when the block ends well: a reader sees the old one or the new one.

    Raises:
        OutputError: it cannot be written.
    """
    draft = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
        os.close(handle)
        draft = Path(name)
        yield draft
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
    except OSError as problem:
        raise OutputError(_unwritable(path, problem)) from None
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
    with new_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def write_run(folder: Path, facts: Mapping[str, object]) -> None:
    """What may differ between two equal runs: times, places, versions."""
    text = json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / "run.json").write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
