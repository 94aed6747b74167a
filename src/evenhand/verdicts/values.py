"""Which columns hold verdicts: one a judge, or one a criterion and judge, with their partners on the reference's side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import MappingError, printable, quoted
from evenhand.verdicts.layout import CRITERION, expand, numbers_only
from evenhand.verdicts.order import natural
from evenhand.verdicts.sources import Source


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """Columns of verdicts in one source.

    Attributes:
        criteria: names in natural order; ("",) where a side is one column.
        judges: for each judge its column of each criterion.
        reference: the reference's column of each criterion; empty without one.
        idle: columns that fit a pattern but have no partner.
    """

    criteria: tuple[str, ...]
    judges: tuple[tuple[str, ...], ...]
    reference: tuple[str, ...]
    idle: tuple[str, ...]

    @property
    def of_judges(self) -> list[str]:
        """Every judge's columns."""
        return [column for columns in self.judges for column in columns]


def value_columns(source: Source, names: Sequence[str], reference: str | None, option: str = "--judge") -> ValueColumns:
    """Expand columns and patterns over the criteria that all sides have.

    Args:
        source: whose columns.
        names: a column or pattern a judge.
        reference: the reference's column or pattern.
        option: that names the judges, for messages.

    Raises:
        MappingError: a column or pattern that fits nothing, or sides without a common criterion.
    """
    sides = [_expanded(source, name, option) for name in names]
    labels = _expanded(source, reference, "--reference") if reference else {}
    everything = [*sides, labels] if reference else sides
    common = set(everything[0]).intersection(*everything[1:])
    if not common:
        raise MappingError(_nothing_in_common(source, [*names, reference or names[-1]], everything))
    kept = numbers_only(common)
    criteria = tuple(sorted(kept, key=natural))
    idle = sorted({side[criterion] for side in everything for criterion in side if criterion not in kept}, key=natural)
    return ValueColumns(
        criteria,
        tuple(tuple(side[criterion] for criterion in criteria) for side in sides),
        tuple(labels[criterion] for criterion in criteria) if reference else (),
        tuple(idle),
    )


def _expanded(source: Source, name: str, option: str) -> Mapping[str, str]:
    found = expand(name, source.columns)
    if not found:
        raise MappingError(
            f'{printable(source.name)}: no column fits the pattern "{printable(name)}" ({option}); '
            f"columns are {quoted(source.columns, 20)}"
        )
    for column in found.values():
        source.column(column, option)
    return found


def _nothing_in_common(source: Source, names: Sequence[str], everything: Sequence[Mapping[str, str]]) -> str:
    said = " against ".join(
        f'"{printable(name)}" ({"one column" if "" in side else quoted(sorted(side, key=natural), 4)})'
        for name, side in ((names[0], everything[0]), (names[-1], everything[-1]))
    )
    return (
        f"{printable(source.name)}: judge and reference have no criterion in common: {said}. Both sides are patterns "
        f"over the same criteria, such as 'judge_{CRITERION}' and 'gold_{CRITERION}', or both are plain columns"
    )
