"""Labels that may be something else: words for nothing, numbers written with commas, fractions, words among marks."""

import re
from collections.abc import Mapping, Sequence

from evenhand.errors import ScaleError, printable, quoted
from evenhand.verdicts.binary_labels import VOCABULARIES
from evenhand.verdicts.label_texts import Texts, is_number

ABSENCE_WORDS = frozenset({"na", "n/a", "none", "null", "nan", "nil", "-", "–", "—", "?", ".", "unknown", "missing"})
"""Words that may mean nothing or be a label."""
_COMMA_NUMBER = re.compile(r"[+-]?\d*(,\d+)+(\.\d+)?|[+-]?\d+(\.\d{3})+,\d+")
_FRACTION = re.compile(r"[+-]?\d+(\.\d+)?\s*/\s*\d+(\.\d+)?")
_FEW = 6


def refuse_unclear(labels: Mapping[str, int], texts: Texts) -> None:
    """Refuse labels of which it cannot be known what they are.

    Raises:
        ScaleError: there is one; it names its places and what to say.
    """
    commas = [label for label in labels if _COMMA_NUMBER.fullmatch(label.strip())]
    if commas:
        raise ScaleError(
            f"a number written with a comma? {texts.places(commas, 3)}. It is never guessed: say --decimal , where the comma "
            "is the decimal mark, --decimal . where it stands between thousands, or write decimals with a point and "
            "thousands without a mark"
        )
    fractions = [label for label in labels if _FRACTION.fullmatch(label.strip())]
    if fractions:
        raise ScaleError(
            f"a fraction, or a date? {texts.places(fractions, 3)}. It is never guessed: say --fractions to read 7/12 as a "
            "share, or write the mark alone"
        )
    unclear = _words_among(labels)
    if unclear:
        said = ",".join(printable(word.strip()) for word in unclear[:_FEW])
        raise ScaleError(
            f"is it a label, a missing verdict or an abstention? {texts.places(unclear)}. It is never guessed: say "
            f'--na "{said}", --abstain "{printable(unclear[0])}", or declare it among --levels'
        )


def _words_among(labels: Mapping[str, int]) -> list[str]:
    """Words among labels that are numbers, or words for nothing beside a yes and a no."""
    words = [label for label in labels if not is_number(label)]
    numbers = sum(count for label, count in labels.items() if is_number(label))
    if numbers and 2 * numbers > sum(labels.values()):
        return words
    absent = absence_words(words)
    rest = {label.casefold() for label in labels if label not in absent}
    return absent if any(rest <= set(pair) for pair in VOCABULARIES) or all(map(is_number, rest)) else []


def absence_words(labels: Sequence[str]) -> list[str]:
    """Those of the labels that may mean nothing."""
    return [label for label in labels if label.strip().casefold() in ABSENCE_WORDS]


def absence_note(labels: Sequence[str]) -> str:
    """That words for nothing were taken as labels, for the reading; empty where there are none."""
    found = absence_words(labels)
    return f"; {quoted(found)} taken as labels, for --na names what is none" if found else ""
