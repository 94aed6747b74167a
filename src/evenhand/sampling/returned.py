"""Filled sheets read back: every row is accounted for, and what does not fit is named by file, row, column and value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import RequestError, SourceError, printable, quoted
from evenhand.importers.files import read_file
from evenhand.report.csv_tables import plain_text
from evenhand.sampling.form import CANNOT_ASSESS, CODE, COMMENT, NOT_ASKED
from evenhand.sampling.plan import KeyRow, Sample, SamplePlan
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.label_texts import folded
from evenhand.verdicts.sources import Source

_MOST_FAULTS = 8


@dataclass(frozen=True, slots=True)
class Returned:
    """One rater's labels.

    Attributes:
        rater: the sheet's name without its ending.
        labels: (code, criterion) → label.
        comments: code → comment.
        rows, blank_rows: of the sheet.
        blank: label cells without a label, in the rows that have a code.
        lacking, foreign: rows of the rater's own sheet that are not there, and rows of another rater's.
    """

    rater: str
    labels: Mapping[tuple[str, str], str]
    comments: Mapping[str, str]
    rows: int
    blank_rows: int
    blank: int
    lacking: int
    foreign: int

    @property
    def account(self) -> str:
        """What became of the sheet."""
        unsure = sum(label == CANNOT_ASSESS for label in self.labels.values())
        said = f"{self.rows:,} rows, {len(self.labels):,} labels"
        said += f" ({unsure:,} of them {CANNOT_ASSESS})" if unsure else ""
        said += f", {self.blank:,} blank label cells" if self.blank else ""
        said += f", {self.lacking:,} rows of the sheet are not there" if self.lacking else ""
        said += f", {self.foreign:,} rows are of another rater's sheet" if self.foreign else ""
        return said + (f", {self.blank_rows:,} blank rows left out" if self.blank_rows else "")


def read_sheets(
    paths: Sequence[Path],
    sample: Sample,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    decimal: str | None = None,
) -> tuple[Returned, ...]:
    """Read the sheets of several raters; encoding, sheet and the decimal mark as for any file.

    Raises:
        RequestError: two sheets of one name.
        SourceError: a sheet that cannot be read, or cells that do not fit.
    """
    names = [path.stem for path in paths]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RequestError(
            f"--read: {quoted(twice)} stands twice, and a sheet's name says whose it is: give each rater's sheet once, as CSV or as XLSX"
        )
    found = []
    for path in paths:
        with Engine() as engine:
            source = read_file(engine, path, encoding=encoding, sheet=sheet)
            found.append(_read(engine, source, path.stem, sample, decimal or "."))
    return tuple(found)


def _read(engine: Engine, source: Source, rater: str, sample: Sample, decimal: str) -> Returned:
    plan, key = sample.plan, sample.key
    headings = _headings(source, plan)
    columns = ", ".join(source.column(name, "the sheet") for name in headings.values())
    rows = [[str(cell) for cell in row] for row in engine.rows(f"SELECT {columns} FROM {source.relation}")]
    sheet = _Sheet(source, plan, key, headings, decimal)
    for number, row in enumerate(rows, source.first_row):
        sheet.take(number, dict(zip(headings, row, strict=True)))
    if sheet.faults:
        more = len(sheet.faults) - _MOST_FAULTS
        said = "; ".join(sheet.faults[:_MOST_FAULTS]) + (f"; and {more:,} more" if more > 0 else "")
        commas = sheet.has_commas and decimal != ","
        raise SourceError(said + ("; marks with a decimal comma are read with --decimal ," if commas else ""))
    seen, mine = set(sheet.seen), _dealt(key, set(sheet.seen))
    return Returned(
        rater, sheet.labels, sheet.comments, len(rows), sheet.blank_rows, sheet.blank, len(mine - seen), len(seen - mine)
    )  # fmt: skip


def _dealt(key: Mapping[str, KeyRow], seen: set[str]) -> set[str]:
    """The codes of the rater's sheet that these are most like: a file's name does not say whose it is."""
    sheets: dict[str, set[str]] = {}
    for code, row in key.items():
        for rater in row.raters.split():
            sheets.setdefault(rater, set()).add(code)
    return min(sheets.values(), key=lambda codes: len(codes ^ seen))


def _headings(source: Source, plan: SamplePlan) -> dict[str, str]:
    """Heading of the form → column of the sheet, whatever its case and outer space."""
    columns = {plain_text(column).strip().casefold(): column for column in source.columns}
    wanted = [CODE, *(plan.form.heading(criterion) for criterion in plan.form.criteria)]
    lacking = [name for name in wanted if name.strip().casefold() not in columns]
    if lacking:
        raise SourceError(
            f"{printable(source.name)}: no column {quoted(lacking)}; columns are {quoted(source.columns, 20)}. Is it a sheet of this sample, "
            "with its headings as they were?"
        )
    kept = [*wanted, *([COMMENT] if COMMENT in columns else [])]
    return {name: columns[name.strip().casefold()] for name in kept}


class _Sheet:
    """Takes rows one by one, and keeps what does not fit."""

    def __init__(
        self, source: Source, plan: SamplePlan, key: Mapping[str, KeyRow], headings: Mapping[str, str], decimal: str
    ) -> None:
        self.name, self.plan, self.key, self.headings = printable(source.name), plan, key, headings
        self.decimal, self.has_commas = decimal, False
        self.labels: dict[tuple[str, str], str] = {}
        self.comments: dict[str, str] = {}
        self.seen: dict[str, int] = {}
        self.faults: list[str] = []
        self.blank = self.blank_rows = 0

    def take(self, number: int, cells: Mapping[str, str]) -> None:
        """One row."""
        if not any(cell.strip() for cell in cells.values()):
            self.blank_rows += 1
            return
        code = cells[CODE].strip().upper()
        if code not in self.key:
            what = f'"{printable(cells[CODE])}" is no code of this sample' if code else "a row without a code"
            self.faults.append(self._at(number, CODE, what))
            return
        if code in self.seen:
            self.faults.append(self._at(number, CODE, f'"{code}" stands in row {self.seen[code]}, too: one row a code'))
            return
        self.seen[code] = number
        if comment := plain_text(cells.get(COMMENT, "")).strip():
            self.comments[code] = comment
        for criterion, text in self._asked(number, code, cells):
            if not text:
                self.blank += 1
            elif (label := self._label(text)) is None:
                said = f'"{printable(text)[:80]}" is not {self.plan.form.allowed}'
                self.has_commas |= self.plan.form.label(text, ",") is not None
                self.faults.append(self._at(number, self.plan.form.heading(criterion), said))
            else:
                self.labels[code, criterion] = label

    def _label(self, text: str) -> str | None:
        """What a cell says, with or without the apostrophe that keeps a spreadsheet from running it."""
        found = self.plan.form.label(text, self.decimal)
        return self.plan.form.label(plain_text(text), self.decimal) if found is None else found

    def _asked(self, number: int, code: str, cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        absent = self.plan.not_asked.get(code, ())
        for criterion in self.plan.form.criteria:
            text = cells[self.plan.form.heading(criterion)].strip()
            if criterion not in absent:
                yield criterion, text
            elif text and folded(text) != folded(NOT_ASKED):
                said = f'"{printable(text)[:80]}", but this response has no such criterion ("{NOT_ASKED}")'
                self.faults.append(self._at(number, self.plan.form.heading(criterion), said))

    def _at(self, number: int, heading: str, what: str) -> str:
        return f'{self.name} row {number} column "{printable(self.headings[heading])}": {what}'
