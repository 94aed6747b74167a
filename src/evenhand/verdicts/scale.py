"""Scales: which labels there are, in which order, and what each text of the data stands for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evenhand.errors import ScaleError, quoted
from evenhand.verdicts.binary_labels import binary_levels, positive_last, vocabulary_of
from evenhand.verdicts.label_texts import (
    Levels,
    Texts,
    canonical,
    cleaner,
    cleaning_note,
    folded,
    is_number,
    refuse_strays,
    refuse_variants,
)
from evenhand.verdicts.mark_labels import mark_levels, step_levels, whole_steps
from evenhand.verdicts.order import natural
from evenhand.verdicts.pair_labels import is_pairwise, pair_levels
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.unclear_labels import absence_note, refuse_unclear

STATUSES = ("abstained", "tied", "unparsed", "refused", "error", "missing")
"""Why a verdict holds no label, in the order of their codes after the labels'."""
STATUS_WORDS = {
    "ok": "",
    "success": "",
    "completed": "",
    "parse_error": "unparsed",
    "parse error": "unparsed",
    "unparseable": "unparsed",
    "api_error": "error",
    "api error": "error",
    "timeout": "error",
    "refusal": "refused",
    "abstain": "abstained",
    "tie": "tied",
}
"""What harnesses call the same statuses in a status column; "" is scored."""
CANNOT_ASSESS = frozenset({"cannot_assess", "cannot assess", "can't assess"})
"""Labels that say abstention in any file."""
MOST_LEVELS = 20
"""Distinct labels beyond which a column is not read as a scale of levels."""
MOST_DECLARED = 100
"""Labels that may be declared."""
_INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
_ORDINAL = 11
_Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scale:
    """The admissible labels.

    Attributes:
        kind: binary, nominal, ordinal, continuous or pairwise.
        levels: labels in order; binary: negative, positive; pairwise: the side that wins are counted against, perhaps
            the tie, the side they are counted for; continuous: the different marks that occur.
        reading: how the scale was found, in words.
        judge_codes, reference_codes: text of the data → code; labels first, then statuses in the order of STATUSES.
        range: lowest and highest admissible mark, where they were declared.
    """

    kind: str
    levels: tuple[str, ...]
    reading: str
    judge_codes: Mapping[str, int]
    reference_codes: Mapping[str, int]
    range: tuple[float, float] | None = None

    @property
    def positive(self) -> str | None:
        """The positive label of a binary scale, or the side of a pair whose wins are counted."""
        return self.levels[-1] if self.kind in ("binary", "pairwise") else None

    @property
    def size(self) -> int:
        """Number of labels."""
        return len(self.levels)

    @property
    def tie(self) -> int | None:
        """Code of the tie of a pairwise scale, where it has one."""
        return 1 if self.kind == "pairwise" and self.size == 3 else None

    def status(self, name: str) -> int:
        """Code of a status; a tie between two sides is a label of its own."""
        return _status_code(self.size, self.tie, name)

    @property
    def all_levels(self) -> tuple[str, ...]:
        """Labels, then statuses: the meaning of every code."""
        return self.levels + STATUSES

    @property
    def shown_levels(self) -> tuple[str, ...]:
        """The labels, or the two ends of a scale of marks: its declared range, else the marks furthest apart."""
        if self.kind != "continuous":
            return self.levels
        return tuple(f"{end:g}" for end in self.range) if self.range else (self.levels[0], self.levels[-1])


def _status_code(size: int, tie: int | None, name: str) -> int:
    return tie if name == "tied" and tie is not None else size + STATUSES.index(name)


def read_scale(
    spec: Spec,
    judge: _Counts,
    reference: _Counts,
    where: Callable[[str, str], str],
    has_ties: Callable[[], bool] = lambda: False,
) -> Scale:
    """Find the scale from the declaration and the texts that occur.

    Args:
        spec: declared scale, levels, range, positive label, cleaning, and words of abstention, tie and missing.
        judge: how often each text occurs on the judge's side, blank as "".
        reference: the same for the reference.
        where: (side, text) → a place of that text, for messages.
        has_ties: whether a status column says tied, asked only of pairs.

    Raises:
        ScaleError: a label outside a declared scale, or labels that name no scale.
    """
    statuses = _status_words(spec, judge, reference)
    texts = Texts(judge, reference, where, statuses, cleaner(spec.clean))
    found = _levels(spec, texts, has_ties)
    size = len(found.levels)
    tie = 1 if found.kind == "pairwise" and size == 3 else None

    def code(text: str, blank: str) -> int:
        if not text.strip():
            return _status_code(size, None, blank)
        if folded(text) in statuses:
            return _status_code(size, tie, statuses[folded(text)])
        member = found.members[texts.key(text)]
        return _status_code(size, tie, member) if isinstance(member, str) else member

    infinite = [word for word, status in statuses.items() if word in _INFINITE and status == "unparsed"]
    reading = found.reading + (f"; {quoted(infinite)} not finite: unparsed" if infinite else "")
    return Scale(
        found.kind,
        found.levels,
        reading + cleaning_note(texts, spec.clean),
        {text: code(text, spec.blank) for text in judge},
        {text: code(text, "missing") for text in reference},
        found.range,
    )


def _status_words(spec: Spec, judge: _Counts, reference: _Counts) -> dict[str, str]:
    """Words that say a status: declared, or infinite where every other label is a number."""
    words = dict.fromkeys(CANNOT_ASSESS, "abstained")
    for status, declared in (("abstained", spec.abstain), ("tied", spec.tie), ("missing", spec.na)):
        words |= {folded(word): status for word in declared}
    found = {folded(text) for counts in (judge, reference) for text in counts if text.strip()} - words.keys()
    infinite, others = found & _INFINITE, found - _INFINITE
    if infinite and others and all(is_number(text) for text in others) and not spec.levels:
        words |= dict.fromkeys(sorted(infinite), "unparsed")
    return words


def _levels(spec: Spec, texts: Texts, has_ties: Callable[[], bool]) -> Levels:
    labels = texts.labels()
    if not labels:
        raise ScaleError(
            "no label on either side: every verdict is blank, or declared missing (--na) or abstained (--abstain)"
        )
    if spec.scale == "pairwise" or (spec.scale is None and is_pairwise(spec, labels)):
        return pair_levels(spec, labels, texts, has_ties=has_ties())
    if spec.scale == "continuous":
        return mark_levels(spec, labels, texts)
    if spec.levels:
        return _declared(spec, labels, texts)
    if spec.range:
        return _within_range(spec, labels, texts)
    if spec.scale in ("binary", None) and (found := binary_levels(spec, labels)):
        return found
    if spec.scale == "binary":
        refuse_strays(vocabulary_of(labels), labels, texts, "binary")
    return _open_scale(spec, labels, texts)


def _within_range(spec: Spec, labels: Mapping[str, int], texts: Texts) -> Levels:
    """A declared range: few whole marks are levels, other marks are taken by their values."""
    steps = whole_steps(spec.range) if spec.range else ()
    whole = all(not is_number(label) or float(label).is_integer() for label in labels)
    if spec.scale == "ordinal" and not steps:
        raise ScaleError("--scale ordinal with --range LO,HI has whole ends, at most 100 apart; or --levels")
    if spec.scale == "ordinal" or (whole and 2 < len(steps) <= _ORDINAL):
        return step_levels(spec, labels, texts, steps)
    return mark_levels(spec, labels, texts)


def _declared(spec: Spec, labels: Mapping[str, int], texts: Texts) -> Levels:
    levels = tuple(canonical(level) for level in spec.levels)
    if len({texts.key(level) for level in levels}) != len(levels) or len(levels) < 2:
        raise ScaleError(f"--levels needs two or more different labels, got {quoted(spec.levels)}")
    if len(levels) > MOST_DECLARED:
        raise ScaleError(f"--levels names {len(levels):,} labels; at most {MOST_DECLARED} are audited as levels")
    numbers = all(is_number(level) for level in levels)
    kind = spec.scale or ("binary" if len(levels) == 2 else "ordinal" if numbers else "nominal")
    if kind == "binary" and len(levels) != 2:
        raise ScaleError(f"--scale binary has two labels, --levels names {len(levels)}: {quoted(levels)}")
    if spec.positive is not None:
        levels = positive_last(levels, canonical(spec.positive))
    known = {texts.key(level): code for code, level in enumerate(levels)}
    refuse_strays(tuple(known), labels, texts, spec.scale or "declared")
    return Levels(kind, levels, f"declared: {', '.join(levels)}", known)


def _open_scale(spec: Spec, labels: Mapping[str, int], texts: Texts) -> Levels:
    if spec.scale is None:
        refuse_unclear(labels, texts)
    refuse_variants(labels)
    numbers = all(is_number(label) for label in labels)
    if spec.scale == "ordinal" and not numbers:
        raise ScaleError(
            f"in which order do {quoted(sorted(labels, key=natural))} stand? An order is never taken from the alphabet: "
            "say --levels LOWEST,...,HIGHEST"
        )
    levels = tuple(sorted(labels, key=float if numbers else natural))
    if len(levels) > (MOST_DECLARED if spec.scale == "ordinal" else MOST_LEVELS):
        if numbers and spec.scale is None:
            return mark_levels(spec, labels, texts)
        raise ScaleError(
            f"{len(levels):,} different labels ({quoted(levels, 4)}) are too many for levels: "
            + ("marks are read with --scale continuous" if numbers else "is this column free text? Name another one")
        )
    whole = numbers and all(float(label).is_integer() for label in labels)
    kind = spec.scale or ("ordinal" if whole and 2 < len(levels) <= _ORDINAL else "nominal")
    how = "declared" if spec.scale else "inferred from the labels"
    reading = f"{kind}, {how}: {', '.join(levels)}" + (absence_note(levels) if spec.scale is None else "")
    return Levels(kind, levels, reading, {level: code for code, level in enumerate(levels)})
