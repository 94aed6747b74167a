"""Raw replies as verdicts: every different text of a side is parsed once, the slots take its outcome.

A reply that holds no verdict gets a status and a reason, never a value. What a column of statuses says of a verdict that
is neither scored nor unparsed (an error, a refusal the harness noted) stands, and the text beside it is not read. A blank
reply is what ``--blank`` says.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.verdicts.engine import Engine
from evenhand.verdicts.parsing.forms import Form
from evenhand.verdicts.parsing.parsed import Parsed

_OPEN = ("", "scored", "ok", "success", "completed", "unparsed", "parse_error", "parse error", "unparseable")
"""Words of a status column beside which the text is read."""
_Outcome = tuple[str, str, str, bool]


@dataclass(frozen=True, slots=True)
class Replies:
    """Slots whose judge's text is what its reply was parsed as.

    Attributes:
        select: of the slots, as SQL: judge is the value or blank; status and reason are the parser's.
        scale: fields of the spec that the form and the values that occur give.
        note: what was found, for the user.
    """

    select: str
    scale: Mapping[str, Any]
    note: str


def parse_replies(engine: Engine, form: Form, slots: str, *, carry: bool) -> Replies:
    """Parse the judge's texts of slots.

    Args:
        engine: holds the sources.
        form: of the replies.
        slots: a SELECT with judge, status and reason, which are replaced.
        carry: the slots carry their columns along, so they are not held a second time.
    """
    outcomes: dict[_Outcome, int] = {}

    def coded(text: str) -> int:
        return outcomes.setdefault(_outcome(form.parser.parse(text)), len(outcomes))

    name, texts = engine.name("parse"), engine.name("replies")
    engine.connection.create_function(name, coded, ["VARCHAR"], "INTEGER")
    try:
        engine.run(
            f"CREATE TEMP TABLE {texts} AS SELECT sha256(judge) AS key, {name}(judge) AS code "
            f"FROM (SELECT DISTINCT judge FROM ({slots}) WHERE judge IS NOT NULL)"
        )
    finally:
        engine.connection.remove_function(name)
    columns = {"code": "INTEGER", "value": "VARCHAR", "status": "VARCHAR", "why": "VARCHAR"}
    known = engine.table("outcomes", columns, [(code, *found[:3]) for found, code in outcomes.items()])
    listed = ", ".join(f"'{word}'" for word in _OPEN)
    is_open = f"lower(trim(t.status)) IN ({listed})"
    select = (
        f"SELECT t.* REPLACE (CASE WHEN {is_open} THEN o.value ELSE '' END AS judge, "
        f"CASE WHEN {is_open} THEN o.status ELSE t.status END AS status, "
        f"CASE WHEN {is_open} THEN o.why ELSE t.reason END AS reason) "
        f"FROM ({slots}) t LEFT JOIN {texts} k ON k.key = sha256(t.judge) LEFT JOIN {known} o ON o.code = k.code"
    )
    if not carry:
        select = f"SELECT * FROM {engine.held('parsed', select)}"
    values = frozenset(value for value, status, _, _ in outcomes if status == "scored")
    return Replies(select, form.scale(values), _note(engine, form, texts, outcomes))


def _outcome(parsed: Parsed) -> _Outcome:
    """Value, status and reason as the slots take them, and whether the reply held other verdicts, too."""
    if parsed.reason in ("blank", "absent"):
        return "", "", "", False
    return parsed.value or "", parsed.status, parsed.reason or "", bool(parsed.notes)


def _note(engine: Engine, form: Form, texts: str, outcomes: Mapping[_Outcome, int]) -> str:
    counts = dict(engine.rows(f"SELECT code, count(*) FROM {texts} GROUP BY 1"))
    found: Counter[str] = Counter()
    noted = 0
    for (_, status, why, has_notes), code in outcomes.items():
        found[(status or "blank") + (f" ({why})" if why else "")] += counts[code]
        noted += counts[code] * has_notes
    said = ", ".join(f"{count:,} {name}" for name, count in sorted(found.items(), key=lambda one: (-one[1], one[0])))
    several = f"; {noted:,} of them hold another verdict, too, and the form says which counts" if noted else ""
    return f"{sum(counts.values()):,} different replies are parsed as {form.name}: {said}{several}"
