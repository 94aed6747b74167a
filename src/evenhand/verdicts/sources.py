"""A source as it entered: a relation of the engine whose columns are read as text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.errors import MappingError, SourceError, did_you_mean, printable, quoted
from evenhand.verdicts.engine import quote


@dataclass(frozen=True, slots=True)
class Source:
    """One file or frame.

    Attributes:
        name: base name shown to the user.
        relation: name of the engine's view or table.
        columns: column names in file order.
        sha256: of the file's bytes; empty for a frame, whose table is hashed instead.
        first_row: number of the first data row as the user counts it (2 after a header line, else 1).
        parts: the files or frames that are stacked in this one, if it is several.
        unusable: column → why nothing may be read from it, such as a spreadsheet's cells that hold dates.
    """

    name: str
    relation: str
    columns: tuple[str, ...]
    sha256: str
    first_row: int = 1
    parts: "tuple[Source, ...]" = ()
    unusable: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str, option: str) -> str:
        """The SQL text of a column, blank where it holds nothing.

        Raises:
            MappingError: there is no such column.
            SourceError: it holds what cannot be read.
        """
        if name in self.unusable:
            raise SourceError(self.unusable[name])
        if name not in self.columns:
            raise MappingError(
                f'{printable(self.name)}: no column "{printable(name)}" (asked for by {option})'
                + (did_you_mean(name, self.columns) or f"; columns are {quoted(self.columns, 20)}")
            )
        return f"coalesce(CAST({quote(name)} AS VARCHAR), '')"


def distinct_columns(names: Sequence[str], shown: str) -> tuple[str, ...]:
    """Column names that the engine can tell apart.

    Raises:
        SourceError: two are equal but for case.
    """
    folded = Counter(name.casefold() for name in names)
    twice = sorted({name for name in names if folded[name.casefold()] > 1})
    if twice:
        raise SourceError(
            f"{shown}: column names stand twice: {quoted(twice)} (upper and lower case count as one); rename one of each"
        )
    return tuple(names)
