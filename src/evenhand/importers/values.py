"""Values of a log as they stand: texts, verdicts that are never coerced, and objects that may be something else.

A value that is no verdict keeps its raw text and says by a status what it is: unparsed, refused, abstained, error and missing
are five things.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from evenhand.errors import SourceError


class Verdict(NamedTuple):
    """A verdict as it was given.

    Attributes:
        value: the label; only where status is scored.
        status: scored, abstained, tied, unparsed, refused, error or missing.
        raw: what stood in the log.
        reason: why there is no label.
    """

    value: str | None
    status: str
    raw: str | None
    reason: str | None = None

    @classmethod
    def none(cls, status: str, raw: object, reason: str) -> "Verdict":
        """No label, for this reason."""
        return cls(None, status, text(raw), reason)


def text(value: object) -> str | None:
    """A scalar as text, structures as JSON; None where there is nothing."""
    if value is None:
        return None
    if isinstance(value, str):
        return value if value.isascii() else _storable(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    try:
        return _storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        raise SourceError("a value is nested too deeply") from None


def _storable(value: str) -> str:
    """Text without half surrogates, which no encoding holds; they are shown as escapes."""
    return value.encode("utf-8", "backslashreplace").decode()


def scalar(value: object) -> Verdict:
    """A verdict from one value: a label or number as it stands; nothing, not finite and structures are no label."""
    if value is None:
        return Verdict(None, "missing", None, "null")
    if isinstance(value, float) and not math.isfinite(value):
        return Verdict.none("unparsed", value, "not finite")
    if isinstance(value, list | dict):
        return Verdict.none("unparsed", value, "not one value")
    written = text(value) or ""
    if not written.strip():
        return Verdict(None, "missing", written, "blank")
    return Verdict(written, "scored", written)


def passed_or_failed(value: object) -> Verdict:
    """A verdict from true or false; nothing else is one."""
    if value is None:
        return Verdict(None, "missing", None, "null")
    if not isinstance(value, bool):
        return Verdict.none("unparsed", value, "neither true nor false")
    return Verdict("pass" if value else "fail", "scored", text(value))


def as_dict(value: object) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def get(record: object, path: tuple[str, ...]) -> Any:
    """What stands at a path of names; None where it leads nowhere."""
    for name in path:
        if not isinstance(record, dict):
            return None
        record = record.get(name)
    return record
