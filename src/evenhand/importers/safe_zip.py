"""Zip archives from strangers: sizes, ratios and names are capped, and nothing is ever extracted to disk."""

import importlib
import struct
import sys
import zipfile
import zlib
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evenhand.errors import SourceError, printable

MOST_MEMBERS = 2_000_000
MOST_BYTES = 512 * 2**20
"""Largest member, unpacked."""
MOST_RATIO = 500
"""Unpacked over packed, of a member or of the archive, beyond ``FREE_BYTES``."""
FREE_BYTES = 32 * 2**20
ZSTANDARD = 93
_LOCAL = struct.Struct("<4s2B4HL2L2H")
_DEFECTS = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError, struct.error, EOFError)


class SafeZip:
    """The members of an archive by name; where a name stands twice the later one counts, as in every zip reader.

    Attributes:
        members: name → entry of the central directory, in its order.
        superseded: entries that a later one of the same name replaces.

    Raises:
        SourceError: no zip archive, or one beyond a limit.
    """

    def __init__(self, path: Path) -> None:
        self.shown = printable(path.name)
        self.members: dict[str, zipfile.ZipInfo] = {}
        try:
            self._stream = path.open("rb")
        except OSError as problem:
            raise SourceError(f"{self.shown}: cannot be read ({problem.strerror})") from None
        try:
            with zipfile.ZipFile(self._stream) as archive:
                entries = archive.infolist()
            self._check_all(entries, path.stat().st_size)
        except SourceError:
            self._stream.close()
            raise
        except _DEFECTS as problem:
            self._stream.close()
            raise SourceError(f"{self.shown}: not a whole zip archive: {printable(str(problem))[:200]}") from None
        self.members = {entry.filename: entry for entry in entries}
        self.superseded = len(entries) - len(self.members)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def read(self, name: str) -> bytes:
        """A member, unpacked and checked against its size and checksum.

        Raises:
            SourceError: no such member, a damaged one, or one beyond a limit.
        """
        entry = self.members.get(name)
        if entry is None:
            raise SourceError(f"{self.shown}: no member {printable(name)}")
        try:
            data = _unpacked(self._packed(entry), entry)
        except SourceError as problem:
            raise SourceError(f"{self.shown}: member {printable(name)}: {problem}") from None
        except (*_DEFECTS, zlib.error, MemoryError) as problem:
            raise SourceError(
                f"{self.shown}: member {printable(name)} is damaged: {printable(str(problem))[:200]}"
            ) from None
        if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
            raise SourceError(f"{self.shown}: member {printable(name)} is damaged: size or checksum differ")
        return data

    def _packed(self, entry: zipfile.ZipInfo) -> bytes:
        self._stream.seek(entry.header_offset)
        fields = _LOCAL.unpack(self._stream.read(_LOCAL.size))
        if fields[0] != b"PK\x03\x04":
            raise SourceError("its header is not where the directory says")
        self._stream.seek(fields[-2] + fields[-1], 1)
        packed = self._stream.read(entry.compress_size)
        if len(packed) != entry.compress_size:
            raise SourceError("the archive ends within it")
        return packed

    def _check_all(self, entries: list[zipfile.ZipInfo], size: int) -> None:
        if len(entries) > MOST_MEMBERS:
            raise SourceError(f"{self.shown}: {len(entries):,} members; at most {MOST_MEMBERS:,} are read")
        for entry in entries:
            _check(entry, self.shown)
        total = sum(entry.file_size for entry in entries)
        if total > FREE_BYTES and total > MOST_RATIO * size:
            raise SourceError(f"{self.shown}: {size:,} bytes that unpack to {total:,}: refused as a decompression bomb")


def _check(entry: zipfile.ZipInfo, shown: str) -> None:
    name, why = entry.orig_filename, ""
    if name.startswith(("/", "\\")) or "\\" in name or ":" in name[:2] or "\0" in name or ".." in name.split("/"):
        why = "has a name that leaves the archive: refused"
    elif entry.flag_bits & 1:
        why = "is encrypted: give an archive without a password"
    elif entry.file_size > MOST_BYTES:
        why = f"unpacks to {entry.file_size:,} bytes; at most {MOST_BYTES:,} are read"
    elif entry.file_size > FREE_BYTES and entry.file_size > MOST_RATIO * entry.compress_size:
        why = f"has {entry.compress_size:,} bytes that unpack to {entry.file_size:,}: refused as a decompression bomb"
    if why:
        raise SourceError(f"{shown}: member {printable(name)[:100]} {why}")


def _unpacked(packed: bytes, entry: zipfile.ZipInfo) -> bytes:
    """At most one byte more than the entry declares, whatever its data would give."""
    most = entry.file_size + 1
    if entry.compress_type == zipfile.ZIP_STORED:
        return packed[:most]
    if entry.compress_type == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    if entry.compress_type == ZSTANDARD:
        return _from_zstandard(packed, most)
    raise SourceError(f"compression method {entry.compress_type} is not one of stored, deflate, zstandard")


def _from_zstandard(packed: bytes, most: int) -> bytes:
    zstd = zstandard()
    parts, left = [], most
    while packed and left > 0:
        decompressor = zstd.ZstdDecompressor()
        try:
            part = decompressor.decompress(packed, left)
        except zstd.ZstdError as problem:
            raise SourceError(f"damaged ({printable(str(problem))[:120]})") from None
        parts.append(part)
        left -= len(part)
        if not decompressor.eof:
            break
        packed = decompressor.unused_data
    return b"".join(parts)


@cache
def zstandard() -> Any:
    """The zstandard module: of the standard library from Python 3.14, its backport before.

    Raises:
        SourceError: it is not installed.
    """
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return importlib.import_module(name)
    except ImportError:
        raise SourceError(f"packed with zstandard, which needs {name}: pip install backports.zstd") from None
