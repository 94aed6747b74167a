"""The form that a rater fills: which labels are allowed, and under which headings."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from evenhand.verdicts.label_texts import canonical, folded, is_number
from evenhand.verdicts.scale import Scale

CODE, COMMENT = "code", "comment"
CANNOT_ASSESS = "CANNOT_ASSESS"
"""What a rater writes who cannot tell; an audit reads it as abstained."""
NOT_ASKED = "not asked"
"""Stands where a response has no such criterion."""


class Form(BaseModel):
    """Criteria and labels of a sheet.

    Attributes:
        kind: of scale.
        levels: allowed labels; empty for marks, which are numbers.
        range: lowest and highest mark, where they are known.
        criteria: (K,) names; ("",) where there is one without a name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    levels: tuple[str, ...]
    range: tuple[float, float] | None
    criteria: tuple[str, ...]

    @classmethod
    def of(cls, scale: Scale, criteria: Sequence[str]) -> "Form":
        """The form of a scale: its labels, or numbers."""
        is_marks = scale.kind == "continuous"
        return cls(
            kind=scale.kind, levels=() if is_marks else scale.levels, range=scale.range, criteria=tuple(criteria)
        )

    def heading(self, criterion: str) -> str:
        """Of the column that holds the labels on a criterion."""
        return f"label: {criterion}" if criterion else "label"

    @property
    def allowed(self) -> str:
        """What may stand in a label's cell, in words."""
        if self.levels:
            return f"one of {', '.join((*self.levels, CANNOT_ASSESS))}"
        ends = f" from {self.range[0]:g} to {self.range[1]:g}" if self.range else ""
        return f"a number{ends}, with a decimal point, or {CANNOT_ASSESS}"

    def label(self, text: str, decimal: str = ".") -> str | None:
        """A cell as the label it says, or None where it says none that is allowed; a decimal comma only where it is declared."""
        if "_".join(folded(text).split()) == folded(CANNOT_ASSESS):
            return CANNOT_ASSESS
        key = canonical(text.strip())
        if decimal == "," and not self.levels and key.count(",") == 1 and "." not in key:
            key = canonical(key.replace(",", "."))
        if self.levels:
            exact = [level for level in self.levels if canonical(level) == key]
            loose = [level for level in self.levels if folded(level) == folded(text)]
            found = exact or loose
            return found[0] if len(found) == 1 else None
        if not is_number(key):
            return None
        low, high = self.range or (float("-inf"), float("inf"))
        return key if low <= float(key) <= high else None
