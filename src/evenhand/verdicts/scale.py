"""Scales: which labels there are, in which order, and what each text of the data stands for."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import ScaleError, printable, quoted
from evenhand.verdicts.order import natural
from evenhand.verdicts.spec import Spec

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
VOCABULARIES = (
    ("0", "1"),
    ("false", "true"),
    ("no", "yes"),
    ("fail", "pass"),
    ("failed", "passed"),
    ("unmet", "met"),
    ("not met", "met"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("reject", "accept"),
    ("absent", "present"),
    ("f", "t"),
    ("n", "y"),
)
"""Spellings of a binary label, the negative one first."""
CANNOT_ASSESS = frozenset({"cannot_assess", "cannot assess", "can't assess"})
"""Labels that say abstention in any file."""
ABSENCE_WORDS = frozenset({"na", "n/a", "none", "null", "nan", "nil", "-", "–", "—", "?", ".", "unknown", "missing"})
"""Words that may mean nothing or be a label: never guessed, always asked about."""
MOST_LEVELS = 20
"""Distinct labels beyond which a column is not read as a scale of levels."""
MOST_DECLARED = 100
"""Labels that may be declared."""
_INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
_COMMA_NUMBER = re.compile(r"[+-]?\d+(,\d+)+(\.\d+)?")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ORDINAL = 11
_Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scale:
    """The admissible labels.

    Attributes:
        kind: binary, nominal or ordinal.
        levels: labels in order; binary: negative, positive.
        reading: how the scale was found, in words.
        codes: text of the data → code; labels first, then statuses in the order of STATUSES.
    """

    kind: str
    levels: tuple[str, ...]
    reading: str
    judge_codes: Mapping[str, int]
    reference_codes: Mapping[str, int]

    @property
    def positive(self) -> str | None:
        """The positive label of a binary scale."""
        return self.levels[1] if self.kind == "binary" else None

    @property
    def size(self) -> int:
        """Number of labels."""
        return len(self.levels)

    def status(self, name: str) -> int:
        """Code of a status."""
        return self.size + STATUSES.index(name)

    @property
    def all_levels(self) -> tuple[str, ...]:
        """Labels, then statuses: the meaning of every code."""
        return self.levels + STATUSES


def canonical(text: str) -> str:
    """A label as it is compared: a number in its shortest form, so that "1.0" is "1"; other text unchanged."""
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        return text
    value = float(stripped)
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts that occur on both sides, and where."""

    judge: _Counts
    reference: _Counts
    where: Callable[[str, str], str]
    statuses: Mapping[str, str]

    def labels(self) -> dict[str, int]:
        """How often each label occurs, in its canonical spelling; blanks and statuses are none."""
        found: dict[str, int] = {}
        for counts in (self.judge, self.reference):
            for text, count in counts.items():
                if text.strip() and _folded(text) not in self.statuses:
                    found[canonical(text)] = found.get(canonical(text), 0) + count
        return found

    def places(self, labels: Sequence[str], limit: int = 6) -> str:
        """Where labels stand: text, how often, and its first file, row and column on each side."""
        found = [
            (side, text, count)
            for side, counts in (("judge", self.judge), ("reference", self.reference))
            for text, count in counts.items()
            if canonical(text) in labels
        ]
        said = [
            f'"{printable(text)}" {_times(count)} ({self.where(side, text)})' for side, text, count in found[:limit]
        ]
        return "; ".join(said) + (f"; and {len(found) - limit} more" if len(found) > limit else "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times, first"


def read_scale(spec: Spec, judge: _Counts, reference: _Counts, where: Callable[[str, str], str]) -> Scale:
    """Find the scale from the declaration and the texts that occur.

    Args:
        spec: declared scale, levels, positive label, abstention and missing words.
        judge: how often each text occurs on the judge's side, blank as "".
        reference: the same for the reference.
        where: (side, text) → a place of that text, for messages.

    Raises:
        ScaleError: a label outside a declared scale, or labels that name no scale.
    """
    statuses = _status_words(spec, judge, reference)
    texts = _Texts(judge, reference, where, statuses)
    kind, levels, reading, members = _levels(spec, texts)

    def code(text: str, blank: str) -> int:
        if not text.strip():
            return len(levels) + STATUSES.index(blank)
        if _folded(text) in statuses:
            return len(levels) + STATUSES.index(statuses[_folded(text)])
        return members[canonical(text)]

    infinite = [word for word, status in statuses.items() if word in _INFINITE and status == "unparsed"]
    return Scale(
        kind,
        levels,
        reading + (f"; {quoted(infinite)} not finite: unparsed" if infinite else ""),
        {text: code(text, spec.blank) for text in judge},
        {text: code(text, "missing") for text in reference},
    )


def _folded(text: str) -> str:
    return canonical(text).strip().casefold()


def _status_words(spec: Spec, judge: _Counts, reference: _Counts) -> dict[str, str]:
    """Words that say a status: declared, or infinite where every other label is a number."""
    words = dict.fromkeys(CANNOT_ASSESS, "abstained")
    for status, declared in (("abstained", spec.abstain), ("tied", spec.tie), ("missing", spec.na)):
        words |= {_folded(word): status for word in declared}
    found = {_folded(text) for counts in (judge, reference) for text in counts if text.strip()} - words.keys()
    infinite, others = found & _INFINITE, found - _INFINITE
    if infinite and others and all(_NUMBER.fullmatch(text) for text in others) and not spec.levels:
        words |= dict.fromkeys(sorted(infinite), "unparsed")
    return words


_Levels = tuple[str, tuple[str, ...], str, dict[str, int]]


def _levels(spec: Spec, texts: _Texts) -> _Levels:
    if spec.scale in ("pairwise", "continuous"):
        raise ScaleError(
            f"--scale {spec.scale}: this version audits binary, nominal and ordinal labels; "
            "marks and pairs come with a later one"
        )
    labels = texts.labels()
    if not labels:
        raise ScaleError(
            "no label on either side: every verdict is blank, or declared missing (--na) or abstained (--abstain)"
        )
    if spec.levels:
        return _declared(spec, labels, texts)
    if spec.scale == "binary" or spec.scale is None:
        found = _binary(spec, labels)
        if found:
            return found
    if spec.scale == "binary":
        _refuse_strays(_vocabulary_of(labels), labels, texts, spec)
    return _open_scale(spec, labels, texts)


def _declared(spec: Spec, labels: dict[str, int], texts: _Texts) -> _Levels:
    levels = tuple(canonical(level) for level in spec.levels)
    if len(set(levels)) != len(levels) or len(levels) < 2:
        raise ScaleError(f"--levels needs two or more different labels, got {quoted(spec.levels)}")
    if len(levels) > MOST_DECLARED:
        raise ScaleError(f"--levels names {len(levels):,} labels; at most {MOST_DECLARED} are audited as levels")
    kind = spec.scale or ("binary" if len(levels) == 2 else "nominal")
    if kind == "binary" and len(levels) != 2:
        raise ScaleError(f"--scale binary has two labels, --levels names {len(levels)}: {quoted(levels)}")
    if spec.positive is not None:
        levels = _positive_last(levels, canonical(spec.positive))
    _refuse_strays(levels, labels, texts, spec)
    return kind, levels, f"declared: {', '.join(levels)}", {level: code for code, level in enumerate(levels)}


def _positive_last(levels: tuple[str, ...], positive: str) -> tuple[str, ...]:
    if positive not in levels:
        raise ScaleError(f'--positive "{printable(positive)}" is not one of the labels {quoted(levels)}')
    return (*(level for level in levels if level != positive), positive)


def _refuse_strays(known: Sequence[str], labels: dict[str, int], texts: _Texts, spec: Spec) -> None:
    strays = [label for label in labels if label not in known]
    if not strays:
        return
    example = printable(strays[0])
    raise ScaleError(
        f"not on the {spec.scale or 'declared'} scale ({quoted(known)}): {texts.places(strays)}. "
        f'Mend the file, or say what it means: --na "{example}" (missing), --abstain "{example}", '
        "or declare other --levels"
    )


def _vocabulary_of(labels: dict[str, int]) -> tuple[str, ...]:
    """The spellings that hold the most of the labels, to name in a refusal."""
    best = max(VOCABULARIES, key=lambda pair: sum(label.casefold() in pair for label in labels))
    return tuple(label for label in labels if label.casefold() in best) or best


def _binary(spec: Spec, labels: dict[str, int]) -> _Levels | None:
    """Two classes by known spellings, or by a declared positive label among two."""
    if spec.positive is not None and canonical(spec.positive) not in labels and len(labels) > 1:
        raise ScaleError(f'--positive "{printable(spec.positive)}" does not occur; labels are {quoted(labels)}')
    members = {}
    for label in labels:
        pair = next((pair for pair in VOCABULARIES if label.casefold() in pair), None)
        if pair:
            members[label] = pair.index(label.casefold())
    if len(members) == len(labels):
        negative, positive = _names_of_binary(labels, members)
        levels = (negative, positive)
        if spec.positive is not None and canonical(spec.positive) == levels[0]:
            levels, members = (levels[1], levels[0]), {label: 1 - code for label, code in members.items()}
        return "binary", levels, f"binary: {_spellings(labels, members, levels)}", members
    if len(labels) == 2 and spec.positive is not None:
        ordered = _positive_last(tuple(sorted(labels, key=natural)), canonical(spec.positive))
        members = {level: code for code, level in enumerate(ordered)}
        return "binary", ordered, f'binary: "{ordered[1]}" declared positive against "{ordered[0]}"', members
    if spec.scale == "binary" and len(labels) == 2 and not members:
        raise ScaleError(f"which of {quoted(labels)} is the positive one? Say --positive LABEL")
    return None


def _names_of_binary(labels: dict[str, int], members: dict[str, int]) -> tuple[str, str]:
    """The commonest spelling of each class; a class that does not occur takes its partner's counterpart."""
    names = ["", ""]
    for code in (0, 1):
        spelled = [label for label in labels if members[label] == code]
        names[code] = max(spelled, key=lambda label: (labels[label], label)) if spelled else ""
    seen = names[0] or names[1]
    partner = next(pair for pair in VOCABULARIES if seen.casefold() in pair)
    for code in (0, 1):
        if not names[code]:
            names[code] = partner[code].upper() if seen.isupper() and seen.isalpha() else partner[code]
    return names[0], names[1]


def _spellings(labels: dict[str, int], members: dict[str, int], levels: tuple[str, str]) -> str:
    parts = []
    for code in (1, 0):
        spelled = sorted(label for label in labels if members[label] == code)
        role = "positive" if code else "negative"
        others = [label for label in spelled if label != levels[code]]
        also = f", also spelled {quoted(others)}" if others else ("" if spelled else ", which does not occur")
        parts.append(f'"{levels[code]}" {role}{also}')
    return "; ".join(parts)


def _open_scale(spec: Spec, labels: dict[str, int], texts: _Texts) -> _Levels:
    if spec.scale is None:
        _refuse_unclear(labels, texts)
    _refuse_variants(labels)
    levels = tuple(sorted(labels, key=natural))
    numbers = all(_NUMBER.fullmatch(label) for label in labels)
    if len(levels) > MOST_LEVELS:
        raise ScaleError(
            f"{len(levels):,} different labels ({quoted(levels, 4)}): this version audits scales of levels; "
            + ("marks come with a later one" if numbers else "is this column free text? Name another one")
        )
    whole = numbers and all(float(label).is_integer() for label in labels)
    kind = spec.scale or ("ordinal" if whole and len(levels) <= _ORDINAL and len(levels) > 2 else "nominal")
    how = "declared" if spec.scale else "inferred from the labels"
    return (
        kind,
        levels,
        f"{kind}, {how}: {', '.join(levels)}",
        {level: code for code, level in enumerate(levels)},
    )


def _refuse_unclear(labels: dict[str, int], texts: _Texts) -> None:
    """Labels that may be something else: a word for nothing, a number written with commas."""
    unclear = [label for label in labels if label.casefold() in ABSENCE_WORDS]
    if unclear:
        example = printable(unclear[0])
        raise ScaleError(
            f"is it a label, a missing verdict or an abstention? {texts.places(unclear)}. It is never guessed: say "
            f'--na "{example}", --abstain "{example}", or declare it among --levels'
        )
    commas = [label for label in labels if _COMMA_NUMBER.fullmatch(label.strip())]
    if commas:
        raise ScaleError(
            f"a number written with a comma? {texts.places(commas, 3)}. It is never guessed: write decimals with a "
            "point and thousands without a mark"
        )


def _refuse_variants(labels: dict[str, int]) -> None:
    """Labels that differ only by case, space or invisible characters are one label mistyped, or must be declared."""
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(" ".join(_INVISIBLE.sub("", label).split()).casefold(), []).append(label)
    groups = [
        ", ".join(f'"{printable(label)}" ({labels[label]:,})' for label in sorted(group))
        for group in alike.values()
        if len(group) > 1
    ]
    if groups:
        raise ScaleError(
            f"labels differ only by case, space or invisible characters: {'; '.join(groups[:6])}. Make them one "
            "spelling in the file, or declare with --levels that they are different labels"
        )
