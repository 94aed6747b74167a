"""Delimited text before it is parsed: its encoding, its delimiter, its column names."""

import codecs
import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.errors import SourceError, printable
from evenhand.verdicts.sources import distinct_columns

_DELIMITERS = ",;\t|"
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CHUNK = 1 << 20


class DelimitedText:
    """A file of delimited text whose header has been read.

    Attributes:
        path: the file.
        encoding: as Python calls it.
        delimiter: the one that splits the header into most names; a tab in .tsv and .tab files.
        columns: the names of the header; a nameless column is called by its position.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path
        self.shown = printable(path.name)
        self.encoding = self._declared(encoding) if encoding else self._marked()
        header, self.delimiter = self._header()
        self.columns = self._names(header)

    @property
    def is_utf8(self) -> bool:
        """Whether the file can be parsed as it is."""
        return self.encoding == "utf-8-sig"

    def _declared(self, encoding: str) -> str:
        try:
            name = codecs.lookup(encoding).name
            "text".encode(name)  # refuses codecs that are no text encodings
        except LookupError:
            raise SourceError(
                f'{self.shown}: --encoding "{printable(encoding)}" is not known; write utf-8, utf-16, cp1252, latin-1, ...'
            ) from None
        return "utf-8-sig" if name == "utf-8" else name

    def _marked(self) -> str:
        with self.path.open("rb") as stream:
            start = stream.read(4)
        return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "utf-8-sig")

    def _header(self) -> tuple[list[str], str]:
        delimiters = "\t" if self.path.suffix.casefold() in (".tsv", ".tab") else _DELIMITERS
        try:
            with self.path.open(encoding=self.encoding, newline="") as stream:
                read = []
                for delimiter in delimiters:
                    stream.seek(0)
                    read.append((next(csv.reader(stream, delimiter=delimiter), []), delimiter))
        except UnicodeError:
            raise SourceError(self._undecodable()) from None
        except csv.Error as problem:
            raise SourceError(f"{self.shown} line 1: the column names cannot be read ({problem})") from None
        return max(read, key=lambda found: (not any('"' in name for name in found[0]), len(found[0])))

    def _names(self, header: list[str]) -> tuple[str, ...]:
        if not any(name.strip() for name in header):
            raise SourceError(f"{self.shown} line 1: no column names; the first line holds them, take blank lines out")
        names = [name.strip() or f"unnamed_{position}" for position, name in enumerate(header, start=1)]
        return distinct_columns(names, self.shown)

    def must_be_valid(self) -> None:
        """Refuse bytes that the encoding does not have.

        Raises:
            SourceError: with their line.
        """
        decoder = codecs.getincrementaldecoder(self.encoding)()
        with self.path.open("rb") as stream:
            try:
                while chunk := stream.read(_CHUNK):
                    decoder.decode(chunk)
                decoder.decode(b"", final=True)
            except UnicodeError:
                raise SourceError(self._undecodable()) from None

    def _undecodable(self) -> str:
        where, byte = "", ""
        if self.is_utf8:
            with self.path.open("rb") as stream:
                for number, line in enumerate(stream, start=1):
                    try:
                        line.decode()
                    except UnicodeDecodeError as problem:
                        where, byte = f" line {number}", f" (byte 0x{line[problem.start]:02x})"
                        break
        name = "UTF-8" if self.is_utf8 else self.encoding
        return (
            f"{self.shown}{where}: not {name}{byte}; save the file as UTF-8, or name what it is: "
            "--encoding cp1252 (Excel in the West), latin-1 or utf-16"
        )

    @contextmanager
    def rewritten(self) -> Iterator[Path]:
        """The same text as UTF-8 with one kind of line end, in a file that is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
            plain = Path(folder) / "text.csv"
            try:
                with (
                    self.path.open(encoding=self.encoding, newline=None) as source,
                    plain.open("w", encoding="utf-8", newline="\n") as target,
                ):
                    while chunk := source.read(_CHUNK):
                        target.write(chunk)
            except UnicodeError:
                raise SourceError(self._undecodable()) from None
            yield plain
