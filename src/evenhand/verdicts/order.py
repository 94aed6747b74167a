"""Natural order: digits as numbers, so that cluster 10 follows cluster 9."""

import re

_DIGITS = re.compile(r"([0-9]+)")

Key = tuple[tuple[tuple[int, int, str], ...], str]


def natural(text: str) -> Key:
    """A sort key: runs of digits compare as numbers and before letters; texts that only look equal stay apart."""
    key = []
    for position, part in enumerate(_DIGITS.split(text)):
        if position % 2:
            digits = part.lstrip("0")
            key.append((0, len(digits), digits))
        elif part:
            key.append((1, 0, part))
    return tuple(key), text
