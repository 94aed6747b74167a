"""Labels of several people side by side: the columns that ``evenhand sample --read`` writes beside the reference."""

from collections.abc import Mapping, Sequence

_START = "rated ("


def heading(rater: str, criterion: str) -> str:
    """Of the column that holds what this rater says on this criterion, or on the only one."""
    return f"{_START}{rater})" + (f" {criterion}" if criterion else "")


def rated_columns(columns: Sequence[str], criteria: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Rater → columns, one a criterion, of the raters who have one of each.

    Args:
        columns: of the file.
        criteria: names, or ("",) where a row holds one label.
    """
    present = set(columns)
    ends = heading("", criteria[0])[len(_START) :]
    names = [
        column[len(_START) : -len(ends)] for column in columns if column.startswith(_START) and column.endswith(ends)
    ]
    found = {name: tuple(heading(name, criterion) for criterion in criteria) for name in names if name.strip()}
    return {name: own for name, own in found.items() if present.issuperset(own)}
