"""Provider texts without secrets: an error message may quote the key it refuses."""

import re
from collections.abc import Iterable

_LOOKS_SECRET = re.compile(
    r"(?i)\b(?:sk|pk|rk|key|api|xai|gsk|hf|AIza)[-_][A-Za-z0-9_\-*.]{8,}|\bAIza[A-Za-z0-9_\-]{10,}"
    r"|(?<=Bearer )\S+|(?<=Basic )\S+|(?<=api_key=)[^\s&\"']+|(?<=api-key: )\S+|//[^/\s:@]+:[^/\s@]+@"
)
MOST = 300
"""Characters of a provider's message that are kept."""


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """A message on one line, shortened, with every known secret and everything that looks like one replaced."""
    for secret in secrets:
        if len(secret) > 3:
            text = text.replace(secret, "[redacted]")
    text = _LOOKS_SECRET.sub("[redacted]", " ".join(text.split()))
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"
