"""Texts as they stand for labels: cleaning, canonical spelling, and refusals that name the place of what is unclear."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import ScaleError, printable, quoted

_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MOST_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Levels:
    """What a set of labels was found to be.

    Attributes:
        kind: of scale.
        levels: labels in order.
        reading: how they were found, in words.
        members: label, as it is compared, → its code; a name of a status where it holds no label.
        range: lowest and highest admissible mark, where they were declared.
    """

    kind: str
    levels: tuple[str, ...]
    reading: str
    members: Mapping[str, int | str]
    range: tuple[float, float] | None = None


def is_number(label: str) -> bool:
    """Whether a canonical label is a finite decimal number."""
    return _NUMBER.fullmatch(label) is not None


def canonical(text: str) -> str:
    """A label as it is compared: a number in its shortest form, so that "1.0" is "1"; other text unchanged."""
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        return text
    value = float(stripped)
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def cleaner(steps: Sequence[str]) -> Callable[[str], str]:
    """How a text is compared after the declared cleaning: any of "trim", "case" and "zero-width"."""

    def cleaned(text: str) -> str:
        text = _INVISIBLE.sub("", text) if "zero-width" in steps else text
        text = " ".join(text.split()) if "trim" in steps else text
        return canonical(text.casefold() if "case" in steps else text)

    return cleaned if steps else canonical


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that occur on both sides, and where.

    Attributes:
        judge, reference: text → how often it occurs.
        where: (side, text) → a place of that text.
        statuses: folded word → the status it says.
        key: a text as it is compared.
    """

    judge: Mapping[str, int]
    reference: Mapping[str, int]
    where: Callable[[str, str], str]
    statuses: Mapping[str, str]
    key: Callable[[str], str] = canonical

    def labels(self) -> dict[str, int]:
        """How often each label occurs, as it is compared; blanks and statuses are none."""
        found: dict[str, int] = {}
        for counts in (self.judge, self.reference):
            for text, count in counts.items():
                if text.strip() and folded(text) not in self.statuses:
                    key = self.key(text)
                    found[key] = found.get(key, 0) + count
        return found

    def spellings(self) -> dict[str, dict[str, int]]:
        """Label → its spellings in the data and how often each occurs, where there are several."""
        found: dict[str, dict[str, int]] = {}
        for counts in (self.judge, self.reference):
            for text, count in counts.items():
                if text.strip() and folded(text) not in self.statuses:
                    of = found.setdefault(self.key(text), {})
                    of[text] = of.get(text, 0) + count
        return {label: of for label, of in found.items() if len({canonical(text) for text in of}) > 1}

    def places(self, labels: Sequence[str], limit: int = _MOST_SHOWN) -> str:
        """Where labels stand: text, how often, and its first file, row and column on each side."""
        wanted = frozenset(labels)
        found = [
            (side, text, count)
            for side, counts in (("judge", self.judge), ("reference", self.reference))
            for text, count in counts.items()
            if self.key(text) in wanted
        ]
        said = [
            f'"{printable(text)}" {_times(count)} ({self.where(side, text)})' for side, text, count in found[:limit]
        ]
        return "; ".join(said) + (f"; and {len(found) - limit} more" if len(found) > limit else "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times, first"


def folded(text: str) -> str:
    """A text as words of statuses are compared."""
    return canonical(text).strip().casefold()


def counted(labels: Sequence[str], counts: Mapping[str, int], limit: int = _MOST_SHOWN) -> str:
    """Labels with how often each occurs."""
    said = [f'"{printable(label)}" ({counts[label]:,})' for label in labels[:limit]]
    return ", ".join(said) + (f" and {len(labels) - limit:,} more" if len(labels) > limit else "")


def cleaning_note(texts: Texts, steps: Sequence[str]) -> str:
    """What the declared cleaning made one label of, for the reading; empty where it changed nothing."""
    groups = [f'{counted(sorted(of), of)} as "{printable(label)}"' for label, of in sorted(texts.spellings().items())]
    return f"; cleaned ({', '.join(steps)}): {'; '.join(groups)}" if steps and groups else ""


def refuse_strays(known: Sequence[str], labels: Mapping[str, int], texts: Texts, scale: str) -> None:
    """Refuse labels that a declared scale does not know.

    Raises:
        ScaleError: there is one; it names its places.
    """
    admitted = frozenset(known)
    strays = [label for label in labels if label not in admitted]
    if not strays:
        return
    example = printable(strays[0])
    raise ScaleError(
        f"not on the {scale} scale ({quoted(known)}): {texts.places(strays)}. "
        f'Mend the file, or say what it means: --na "{example}" (missing), --abstain "{example}", '
        "or declare other --levels"
    )


def refuse_variants(labels: Mapping[str, int]) -> None:
    """Refuse labels that differ only by case, space or invisible characters: one mistyped, or to be declared.

    Raises:
        ScaleError: there are such labels; it names each with its count.
    """
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(" ".join(_INVISIBLE.sub("", label).split()).casefold(), []).append(label)
    groups = [counted(sorted(group), labels, len(group)) for group in alike.values() if len(group) > 1]
    if groups:
        raise ScaleError(
            f"labels differ only by case, space or invisible characters: {'; '.join(groups[:_MOST_SHOWN])}. Make them "
            "one spelling in the file, make them one here with --clean trim,case,zero-width, or declare with --levels "
            "that they are different labels"
        )
