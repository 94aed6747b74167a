"""What must never reach a terminal."""

import unicodedata


def raw_controls(text: str) -> list[str]:
    """Characters that could move a cursor, hide a name or turn a line round."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
