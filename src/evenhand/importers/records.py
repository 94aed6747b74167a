"""What an importer of a harness's log is: records, the columns found in them, and a verdict that is never coerced.

An importer is a frozen :class:`LogImporter`. Its ``records`` yields one mapping a verdict; its columns say by dotted path
where each canonical column lies in it; what else stands there is carried along as ``extra.*``. A value that is no verdict
keeps its ``raw_value`` and says by ``status`` what it is: unparsed, refused, abstained, error and missing are five things.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.errors import SourceError, printable
from evenhand.importers.json_stream import partial
from evenhand.importers.values import Verdict, as_dict, get, scalar, text

__all__ = ["Carried", "Column", "Head", "LogImporter", "Record", "Row", "Tally", "Verdict", "objects", "scalar", "text"]

CANONICAL = (
    "response_id", "cluster_id", "criterion_id", "rater_id", "rater_kind", "model", "setting", "phrasing", "occasion", "arm",
    "order", "value", "status", "raw_value", "confidence", "explanation", "source_file", "source_row",
)  # fmt: skip
"""The columns of every imported log."""
EXTRA = "extra."
HEAD_BYTES = 2**18
_LONGEST_EXTRA = 2_000

Record = Mapping[str, Any]
Row = dict[str, str | None]
Tally = Counter[str]
"""What became of the records of a log that are no row: name → count."""


def objects(found: Iterable[tuple[int, Any]], shown: str, what: str, tally: Tally) -> Iterator[tuple[int, Record]]:
    """Numbered elements of a log that are objects, counted under the plural of what they are called.

    Raises:
        SourceError: one that is no object.
    """
    for number, element in found:
        if not isinstance(element, dict):
            raise SourceError(f"{shown}: {what} {number} is no object")
        tally[f"{what}s"] += 1
        yield number, element


@dataclass(frozen=True, slots=True)
class Column:
    """Where a canonical column lies in a record.

    Attributes:
        name: of the column.
        path: dotted, within the record.
        otherwise: text where nothing stands there.
    """

    name: str
    path: str
    otherwise: str | None = None
    steps: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.path.split(".")) if self.path else ())

    def of(self, record: Record) -> str | None:
        """The column's text in this record."""
        if not self.steps:
            return self.otherwise
        value = record.get(self.path) if len(self.steps) == 1 else get(record, self.steps)
        return self.otherwise if value is None else text(value)


@dataclass(frozen=True, slots=True)
class Carried:
    """Fields carried along: every short scalar of the object at a path.

    Attributes:
        path: dotted; the object's place in the record.
        prefix: of the column names, after ``extra.``.
        but: fields that are columns already, or texts too long to carry.
    """

    path: str
    prefix: str = ""
    but: frozenset[str] = frozenset()
    steps: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.path.split(".")))

    def of(self, record: Record) -> Row:
        """Column name → text of each field."""
        return self.fields(get(record, self.steps))

    def fields(self, found: object) -> Row:
        """The same for the object at the path."""
        row: Row = {}
        for name, value in as_dict(found).items():
            if value is None or name in self.but or isinstance(value, list | dict):
                continue
            written = text(value)
            if written is not None and len(written) <= _LONGEST_EXTRA:
                row[EXTRA + self.prefix + (text(name) or "")] = written
        return row


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, by which its kind is told.

    Attributes:
        data: its first bytes.
        document: what these bytes hold as JSON, cut short; of a JSON lines file its first line.
    """

    data: bytes
    document: Any

    @classmethod
    def of(cls, path: Path) -> "Head":
        """Read a file's beginning.

        Raises:
            SourceError: it cannot be read.
        """
        try:
            with path.open("rb") as stream:
                data = stream.read(HEAD_BYTES)
        except OSError as problem:
            raise SourceError(f"{printable(path.name)}: cannot be read ({problem.strerror})") from None
        body = data.removeprefix(b"\xef\xbb\xbf").lstrip()
        is_lines = path.suffix.casefold() in (".jsonl", ".ndjson")
        body = body.split(b"\n", 1)[0] if is_lines else body
        document = partial(body.decode("utf-8", "ignore")) if body[:1] in (b"{", b"[") else None
        return cls(data, document)


def _no_scale(_values: frozenset[str]) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class LogImporter:
    """A door for one tool's log.

    Attributes:
        name: shown to the user, and given to ``--format``.
        endings: of file names, in lower case.
        recognises: whether a file of such an ending is one of its logs.
        records: one mapping a verdict, in file order; counts what it leaves out. Its "number" is the place of the record in
            the log, from 1, as its user would count; that of the verdict where there is none.
        columns: where canonical columns lie in a record.
        verdict: value, status, raw value and reason of a record.
        carried: what else of a record becomes ``extra.*`` columns.
        scale: labels that occur → fields of the spec, where the tool's labels have a known order.
        verified: versions of the tool whose own logs were read here; none = unverified layout.
        unverified: names of the tally under which stand records of a layout that was never met, beside verified ones.
        notes: what a user should know about every such log.
    """

    name: str
    endings: tuple[str, ...]
    recognises: Callable[[Path, Head], bool]
    records: Callable[[Path, Tally], Iterator[Record]]
    columns: tuple[Column, ...]
    verdict: Callable[[Record], Verdict]
    carried: tuple[Carried, ...] = ()
    scale: Callable[[frozenset[str]], Mapping[str, Any]] = _no_scale
    verified: tuple[str, ...] = ()
    unverified: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def rows(self, path: Path, tally: Tally | None = None) -> Iterator[Row]:
        """Canonical and extra columns, one row a verdict.

        Raises:
            SourceError: no such log, or a damaged one.
        """
        shown = text(path.name)
        columns = [(column.name, column.of) for column in self.columns]
        last: list[tuple[object, Row]] = [(None, {})] * len(self.carried)
        for position, record in enumerate(self.records(path, Counter() if tally is None else tally), 1):
            row: Row = {"source_file": shown, "source_row": text(record.get("number", position))}
            for place, carried in enumerate(self.carried):
                found = get(record, carried.steps)
                if found is not last[place][0]:  # records of one sample share its object
                    last[place] = found, carried.fields(found)
                row |= last[place][1]
            for name, column in columns:
                row[name] = column(record)
            row["value"], row["status"], row["raw_value"], reason = self.verdict(record)
            if reason is not None:
                row[EXTRA + "reason"] = text(reason)
            yield row

    @property
    def layout(self) -> str:
        """How well its layout is known."""
        return f"read from {self.name} {', '.join(self.verified)}" if self.verified else "unverified layout"
