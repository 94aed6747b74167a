"""Any source as one table of single verdicts: Parquet, CSV or JSON lines, and the account of a single row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from evenhand.auditing import open_sources
from evenhand.errors import RequestError, ScaleError, SourceError, printable
from evenhand.importers.files import SPEC_KEY
from evenhand.output import check_file, new_file
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.parsing.forms import Form, declared_form
from evenhand.verdicts.reading import Reading, read_slots
from evenhand.verdicts.single_verdicts import PIECE, SingleVerdicts, numbered, texts_as_labels
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import build_table, find_scale

FORMATS = {
    ".parquet": "FORMAT parquet, COMPRESSION zstd",
    ".csv": "FORMAT csv, HEADER",
    ".jsonl": "FORMAT json",
}
"""Endings of converted files and how each is written."""


@dataclass(frozen=True)
class Conversion:
    """A table of single verdicts in an open engine, and what opening its sources showed."""

    verdicts: SingleVerdicts
    reading: Reading
    notes: tuple[str, ...]
    counts: dict[str, int]

    @property
    def n_verdicts(self) -> int:
        """Rows of the table."""
        return sum(count for *_, count in self.verdicts.counts())

    @property
    def not_scored(self) -> int:
        """Rows without a label, and rows of the sources that are not in it."""
        left_out = sum(count for fate, count in self.fates if "left out" in fate)
        return sum(count for _, status, _, count in self.verdicts.counts() if status != "scored") + left_out

    @property
    def fates(self) -> list[tuple[str, int]]:
        """What became of the rows of the files."""
        kept = {name: count for name, count in self.counts.items() if count and "that meet a" not in name}
        lost = {f"{why}, left out": count for why, count in self.verdicts.left_out.items()}
        return list({**kept, **lost}.items())

    def ledger(self) -> list[str]:
        """The account of rows: those of the files, then verdicts by side, status and reason."""
        lines = [f"{printable(fate)}: {count:,}" for fate, count in self.fates]
        for side in ("judge", "reference"):
            counts = [(status, why, count) for kind, status, why, count in self.verdicts.counts() if kind == side]
            if counts:
                parts = " + ".join(
                    f"{count:,} {status}{f' ({printable(why)})' if why else ''}" for status, why, count in counts
                )
                lines.append(f"{side}: {sum(count for *_, count in counts):,} verdicts = {parts}")
        return lines


def convert(engine: Engine, sources: Sequence[object], spec: Spec, labels: object | None = None) -> Conversion:
    """Read sources as single verdicts.

    Args:
        engine: holds them until it is closed.
        sources: paths or frames.
        spec: roles and scale, as for an audit.
        labels: a path or frame of reference labels.

    Raises:
        EvenhandError: the request or the data cannot carry it.
    """
    opened = open_sources(engine, sources, spec)
    others = open_sources(engine, [labels], Spec(encoding=spec.encoding)).sources if labels is not None else ()
    held = [numbered(engine, *pair) for pair in _told_apart([*opened.sources, *others])]
    reading = read_slots(engine, opened.spec, held[: len(opened.sources)], held[-1] if others else None, carry=True)
    notes = [*opened.notes, *reading.notes]
    if reading.layout == "joined":
        notes.append(f"judge and reference meet on the response id, {reading.roles['response']}")
    try:
        scale, has_scale = find_scale(reading), True
    except ScaleError as problem:
        if reading.spec.scale or reading.spec.levels or reading.spec.range or reading.spec.positive:
            raise
        scale, has_scale = texts_as_labels(reading), False
        notes.append(f"every text is kept as it stands and an audit will ask what it is: {problem}")
    verdicts = SingleVerdicts(build_table(reading, scale), has_scale=has_scale)
    return Conversion(verdicts, reading, tuple(notes), {**opened.counts, **reading.source_rows})


def _told_apart(sources: Sequence[Source]) -> Iterator[tuple[Source, str]]:
    """Sources with a name each that no other one has."""
    seen: Counter[str] = Counter()
    for source in sources:
        seen[source.name] += 1
        yield source, source.name + (f" ({seen[source.name]})" if seen[source.name] > 1 else "")


def must_be_whole(conversion: Conversion) -> None:
    """Hold a conversion to ``--strict``.

    Raises:
        RequestError: a row is left out or a verdict holds no label; with the account of rows.
    """
    if conversion.not_scored:
        raise RequestError(
            f"--strict: {'; '.join(conversion.ledger())}. Mend the rows that are left out or hold no label, or leave --strict "
            "out; nothing was written"
        )


def check_target(path: Path, sources: Sequence[Path]) -> None:
    """Refuse a place or an ending that cannot be written.

    Raises:
        RequestError: an ending of no known format.
        OutputError: a source stands there, or a file that is no converted one.
    """
    if path.suffix.casefold() not in FORMATS:
        raise RequestError(f"--to {printable(str(path))}: the ending says how it is written: {', '.join(FORMATS)}")
    check_file(path, is_converted, sources)


def is_converted(path: Path) -> bool:
    """Whether a file is one that :func:`write` wrote."""
    kind = path.suffix.casefold()
    if kind == ".parquet":
        return saved_spec(path) is not None
    with path.open("rb") as stream:
        start = stream.read(2**16).split(b"\n", 1)[0]
    return all(name in start for name in (b"response_id", b"rater_kind", b"raw_value", b"source_row"))


def saved_spec(path: Path) -> Spec | None:
    """The spec in a converted Parquet file."""
    from evenhand.importers.files import spec_in

    try:
        with Engine() as engine:
            return spec_in(engine, path)
    except (SourceError, duckdb.Error):
        return None


def write(conversion: Conversion, path: Path) -> None:
    """Write the table, whole or not at all; Parquet holds the spec that reads it again to the same numbers.

    Raises:
        OutputError: it cannot be written.
    """
    how = FORMATS[path.suffix.casefold()]
    if path.suffix.casefold() == ".parquet":
        said = conversion.verdicts.spec.to_toml().replace("'", "''")
        how += f", KV_METADATA {{'{SPEC_KEY}': '{said}'}}"
    with new_file(path) as draft:
        place = str(draft.absolute()).replace("'", "''")
        verdicts, engine = conversion.verdicts, conversion.verdicts.engine
        if engine.is_large:
            pieces = [engine.on_disk(piece) for piece in verdicts.pieces()]
            size = f", ROW_GROUP_SIZE {PIECE}" if path.suffix.casefold() == ".parquet" else ""
            engine.bounded(f"COPY ({' UNION ALL '.join(pieces)}) TO '{place}' ({how}{size})")
        else:
            engine.run(f"COPY ({verdicts.ordered}) TO '{place}' ({how})")


def explain_row(conversion: Conversion, row: int) -> str:
    """What became of one row of the files: its slots, what each was read as, and what it met.

    Args:
        conversion: of the files.
        row: its number, as the file's user counts it; of every file that has such a row.

    Raises:
        RequestError: no file has that row.
    """
    lines: list[str] = []
    for source in conversion.reading.sources:
        lines += _explained(conversion, source.name, source.relation, row)
    if not lines:
        ranges = []
        for source in conversion.reading.sources:
            low, high = conversion.verdicts.engine.one(
                f"SELECT min(try_cast(source_row AS BIGINT)), max(try_cast(source_row AS BIGINT)) FROM {source.relation}"
            )
            ranges.append(f"{printable(source.name)} has rows {low} to {high}")
        raise RequestError(f"--explain-row {row}: no such row: {'; '.join(ranges)}")
    return "\n".join(lines)


def _explained(conversion: Conversion, name: str, relation: str, row: int) -> Iterator[str]:
    engine, verdicts = conversion.verdicts.engine, conversion.verdicts
    cells = engine.connection.execute(
        f"SELECT * FROM {relation} WHERE try_cast(source_row AS BIGINT) = ? LIMIT 1", [row]
    )
    names = [column[0] for column in cells.description]
    found = cells.fetchone()
    if found is None:
        return
    yield f"{printable(name)} row {row}"
    for column, cell in zip(names, found, strict=True):
        if cell is not None and column not in ("source_file", "source_row"):
            text = printable(str(cell))
            yield f'  {printable(column)}: "{text[:120]}"{" …" if len(text) > 120 else ""}'
    has = {column: quote(column) if column in verdicts.columns else "NULL" for column in ("criterion_id", "reason")}
    mine = engine.rows(
        f"SELECT response_id, {has['criterion_id']}, rater_id, rater_kind, value, status, {has['reason']}, raw_value FROM {verdicts.relation} "
        "WHERE source_row = ? AND source_file = ? ORDER BY rater_kind, 2, rater_id",
        [row, name],
    )
    if not mine:
        yield "  no verdict: the row is blank throughout, its rater is none of those read, or its label stands in an earlier row"
    form = declared_form(conversion.reading.spec)
    for response, criterion, rater, kind, value, status, why, raw in mine:
        slot = f'response "{printable(response)}"' + (
            f' criterion "{printable(criterion)}"' if criterion is not None else ""
        )
        read = (
            f'scored "{printable(value)}"' if status == "scored" else status + (f" ({printable(why)})" if why else "")
        )
        if form is not None and kind == "judge" and raw:
            read += _as_parsed(form, raw)
        yield f'  → {slot}, {kind} "{printable(rater)}": {read}{_partners(conversion, response, criterion, kind, status)}'


def _as_parsed(form: Form, reply: str) -> str:
    """What a reply was parsed from, or in words why it holds no verdict; what else stood in it."""
    parsed = form.parser.parse(reply)
    place = f' from "{printable(parsed.raw_value or "")[:120]}"' if parsed.outcome.decided else f": {parsed.detail}"
    notes = f" ({'; '.join(parsed.notes)})" if parsed.notes else ""
    return f" by {form.name}{printable(place + notes)}"


def _partners(conversion: Conversion, response: str, criterion: str | None, kind: str, status: str) -> str:
    """What a verdict meets on the other side, and whether agreement uses it."""
    if not conversion.reading.has_reference:
        return "" if status == "scored" else "; not used"
    verdicts = conversion.verdicts
    test = "criterion_id = ?" if criterion is not None else "? IS NULL"
    other = "reference" if kind == "judge" else "judge"
    found = verdicts.engine.rows(
        f"SELECT rater_id, value, status, source_file, source_row FROM {verdicts.relation} WHERE response_id = ? AND rater_kind = ? AND {test} "
        "ORDER BY source_row LIMIT 4",
        [response, other, criterion],
    )
    if not found:
        return f"; meets no {other} verdict; not used"
    met = ", ".join(
        f"{printable(rater)} {one_status if one_status != 'scored' else chr(34) + printable(value) + chr(34)} ({printable(str(file))} row {row})"
        for rater, value, one_status, file, row in found
    )
    used = status == "scored" and any(one == "scored" for _, _, one, _, _ in found)
    return f"; meets {met}; {'used' if used else 'not used'}"
