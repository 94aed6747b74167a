"""Statuses that the data name, and why a verdict is missing: blank, excused, absent and a dash are different reasons."""

from typing import TYPE_CHECKING

from evenhand.errors import ScaleError, printable
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.scale import STATUS_WORDS, STATUSES, Scale

if TYPE_CHECKING:
    from evenhand.verdicts.table import VerdictTable

REASON_WORDS = ("blank", "excused", "exempt", "absent", "dash", "not marked", "not submitted")
"""What a column of statuses may say in place of "missing"; the word is kept as the reason."""
_WORDS = {status: status for status in STATUSES} | STATUS_WORDS | dict.fromkeys(REASON_WORDS, "missing")
BLANK = "blank"


def status_code(scale: Scale, status: str, otherwise: str) -> str:
    """The code of a status that is named in a column of statuses, else another expression; as SQL."""
    cases = " ".join(f"WHEN '{word}' THEN {scale.status(name)}" for word, name in _WORDS.items() if name)
    return f"CASE lower(trim({status})) {cases} ELSE {otherwise} END"


def reason(scale: Scale, code: str, text: str, status: str, said: str) -> str:
    """Why there is no label, as SQL: what a column of reasons says, else the word that stands for it; NULL for a label.

    Args:
        scale: of the codes.
        code, text, status, said: expressions of the slot's code, text, status column and column of reasons.
    """
    listed = ", ".join(f"'{word}'" for word in REASON_WORDS)
    word = f"CASE WHEN lower(trim({status})) IN ({listed}) THEN lower(trim({status})) END"
    own = f"CASE WHEN {code} = {scale.status('missing')} AND {text} IS NOT NULL THEN coalesce({word}, nullif(trim({text}), ''), '{BLANK}') END"
    return f"CASE WHEN {code} >= {scale.size} THEN coalesce(nullif(trim({said}), ''), {own}) END"


def check_statuses(reading: Reading) -> None:
    """Refuse statuses that are none.

    Raises:
        ScaleError: names them with their counts.
    """
    known = ("scored", *STATUSES)
    listed = ", ".join(f"'{status}'" for status in ("", "scored", *_WORDS))
    union = " UNION ALL ".join(
        f"SELECT {name} AS status FROM {reading.relation}" for name in ("status", "reference_status")
    )
    found = reading.engine.rows(
        f"SELECT status, count(*) FROM ({union}) WHERE lower(trim(status)) NOT IN ({listed}) GROUP BY 1 ORDER BY 1 LIMIT 6"
    )
    if found:
        said = ", ".join(f'"{printable(str(status))}" ({count:,})' for status, count in found)
        raise ScaleError(
            f'column "{printable(reading.spec.status or "")}": unknown status {said}; write one of {", ".join(known)}, '
            "or name another column with --status"
        )


def reasoned_exclusions(table: "VerdictTable", rater: int) -> dict[str, int]:
    """Slots that no agreement statistic uses, with the reasons the data give; empty where they give none but blank.

    Args:
        table: the coded verdicts.
        rater: position of the judge.

    Returns:
        Such as {"judge missing (EX), reference missing": 3}; a slot counts once, a blank has no reason beside it.
    """
    scale, spec = table.scale, table.reading.spec
    missing = scale.status("missing")
    words = (*scale.judge_codes.items(), *scale.reference_codes.items())
    if not (spec.status or spec.reason or spec.parse) and not any(
        code == missing and text.strip() for text, code in words
    ):
        return {}
    sides = ("judge", "reference") if table.reading.has_reference else ("judge",)
    excluded = " OR ".join(f"{side} >= {scale.size}" for side in sides)
    columns = ", ".join(f"greatest({side} - {scale.size - 1}, 0), nullif({side}_reason, '{BLANK}')" for side in sides)
    found: dict[str, int] = {}
    for *said, count in table.engine.rows(
        f"SELECT {columns}, count(*) FROM {table.relation} WHERE rater = ? AND ({excluded}) GROUP BY ALL", [rater]
    ):
        parts = [
            f"{side} {STATUSES[state - 1]}" + (f" ({why})" if why else "")
            for side, state, why in zip(sides, said[::2], said[1::2], strict=True)
            if state
        ]
        name = ", ".join(parts)
        found[name] = found.get(name, 0) + count
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
