"""The forms that judges are most often asked for, declared."""

from collections.abc import Mapping

from evenhand.verdicts.parsing.labels import Labels
from evenhand.verdicts.parsing.marked import Bracketed, Labelled
from evenhand.verdicts.parsing.numbers import Numbers
from evenhand.verdicts.parsing.words import Leading, Whole

CANNOT_ASSESS = ("cannot assess", "can't assess", "cannot_assess", "cannot be assessed")


def grade(letters: tuple[str, ...] = ("C", "P", "I"), spellings: Mapping[str, str] | None = None) -> Labelled:
    """``GRADE: C`` as the last such line.

    Args:
        letters: the grades offered.
        spellings: words that stand for a grade, e.g. {"correct": "C"}; those of Inspect where the letters are its own.
    """
    pairs = grade_spellings(letters) if spellings is None else tuple(spellings.items())
    return labelled_grade(Labels(letters, pairs))


def grade_spellings(letters: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Words that stand for Inspect's letters, as far as these are offered."""
    words = {"correct": "C", "partially correct": "P", "incorrect": "I"}
    return tuple((word, letter) for word, letter in words.items() if letter in letters)


def labelled_grade(labels: Labels) -> Labelled:
    """The same over labels of the caller's own, such as ones with words of abstention."""
    return Labelled(labels, "GRADE", last_wins=True, noun="grade")


def rating(
    low: float, high: float, *, keyword: str | None = None, whole: bool = False, quoted_counts: bool = False
) -> Bracketed:
    """``[[7]]``, or ``Rating: [[7]]`` with a keyword, the last one standing."""
    return Bracketed(Numbers(low, high, whole), keyword, last_wins=True, quoted_counts=quoted_counts, noun="rating")


def pairwise(first: str = "A", second: str = "B", tie: str = "C", *, quoted_counts: bool = False) -> Bracketed:
    """``[[A]]``, ``[[B]]`` or, for a tie, ``[[C]]``, the last one standing."""
    return Bracketed(Labels((first, second), tie=(tie,)), last_wins=True, quoted_counts=quoted_counts)


def yes_no(*, leading: bool = False, loose: bool = False) -> Whole | Leading:
    """``yes`` or ``no`` as the whole reply, or as its first word."""
    labels = Labels(("no", "yes"))
    return Leading(labels, loose) if leading else Whole(labels)


def met_unmet(*, leading: bool = False) -> Whole | Leading:
    """``met``, ``unmet`` (``not met``) or ``cannot assess``, which abstains, as the whole reply or at its beginning."""
    labels = Labels(("unmet", "met"), (("not met", "unmet"),), abstain=CANNOT_ASSESS)
    return Leading(labels) if leading else Whole(labels)


def mark(low: float, high: float, *, whole: bool = False, decimal_comma: bool = False) -> Whole:
    """A number as the whole reply: 7, 7.5, and on a scale that ends at 10 also 7/10 and 7 out of 10."""
    return Whole(Numbers(low, high, whole, decimal_comma))
