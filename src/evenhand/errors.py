"""One tree of exceptions; a message says what is wrong, where, and the way out.

EvenhandError                exit code 2: the request or the data cannot carry it
├── SourceError              a file cannot be read as asked
├── MappingError             a column or a pattern does not fit the file
├── ScaleError               a label is not on the scale
├── KeyClashError            one verdict slot is filled twice, or a response lies in two clusters
├── JoinError                judge and reference do not meet
├── OutputError              the output folder cannot be written safely
├── RequestError             an unknown id, a gate that cannot be read, a value out of its range
├── LedgerError              the record of a run is damaged, in use, or belongs to another plan
├── ServiceError             exit code 3: an outside service failed
└── UnmetRequirementError    exit code 1: a gate failed
"""

import difflib
import unicodedata
from collections.abc import Iterable, Sequence


class EvenhandError(Exception):
    """Anything this package says to its user instead of a number."""

    exit_code = 2


class SourceError(EvenhandError):
    """A file that is missing, empty or not what it was said to be."""


class MappingError(EvenhandError):
    """Columns that do not exist, or a layout that cannot be recognised."""


class ScaleError(EvenhandError):
    """Labels that do not lie on the declared or inferred scale."""


class KeyClashError(EvenhandError):
    """A verdict slot filled twice, or a response in two clusters."""


class JoinError(EvenhandError):
    """Judge and reference rows that never meet."""


class OutputError(EvenhandError):
    """A place that cannot be written without touching something foreign."""


class RequestError(EvenhandError):
    """A request that names something unknown or out of range."""


class LedgerError(EvenhandError):
    """A run's ledger that is damaged, in use by another process, or of another plan."""


class ServiceError(EvenhandError):
    """A judge that could not be reached or refused to serve; what it did answer is kept."""

    exit_code = 3


class UnmetRequirementError(EvenhandError):
    """A requirement that the estimate does not meet."""

    exit_code = 1


def printable(text: str) -> str:
    """Text from data as it may stand in a terminal: control and direction characters shown as escapes."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else character
        for character in text
    )


def quoted(names: Iterable[str], limit: int = 8) -> str:
    """Names between quotes, at most ``limit`` of them, the rest counted."""
    listed = list(names)
    shown = ", ".join(f'"{printable(name)}"' for name in listed[:limit])
    return shown + (f" and {len(listed) - limit:,} more" if len(listed) > limit else "")


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A closing hint with the nearest known name, or nothing."""
    folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
    return f'; did you mean "{printable(folded[near[0]])}"?' if near else ""
