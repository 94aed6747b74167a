"""Where a judge errs: its lines, the most errors first, and the responses it got wrong where their texts are kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenhand.errors import printable
from evenhand.ids import EstimateId
from evenhand.report.drawings import LineErrors
from evenhand.report.lookups import find, ok
from evenhand.report.numbers import Card, Cell, card, cell
from evenhand.report.tables import NAMES, count_text, p_text, percent_text, value_text
from evenhand.results import Audit
from evenhand.results import Cell as Value

FIRST = 10
"""Lines shown unfolded."""
MOST_TEXTS, LONGEST = 120, 4_000
_RATES = ("error_rate", "false_accept_rate", "false_reject_rate")


@dataclass(frozen=True, slots=True)
class LineRow:
    """A checklist line with its counts; a line that is a shared criterion has its cards with the criteria."""

    name: str
    errors: str
    rate: Cell | None
    accepts: str
    rejects: str
    cards: tuple[Card, ...]
    shrunken: str = ""
    holm: str = ""


@dataclass(frozen=True, slots=True)
class WrongText:
    """A response the judge differs on."""

    response: str
    reference: str
    judge: str
    kind: str
    text: str
    unseen: int


@dataclass(frozen=True, slots=True)
class LineTexts:
    """The responses of one line, to be read side by side."""

    line: str
    criterion_text: str
    texts: tuple[WrongText, ...]


@dataclass(frozen=True, slots=True)
class Worst:
    """Everything under "where it errs" of one judge."""

    first: tuple[LineRow, ...] = ()
    others: tuple[LineRow, ...] = ()
    more: int = 0
    texts: tuple[LineTexts, ...] = ()
    more_texts: int = 0
    kinds: tuple[str, ...] = ()


def number(value: Value) -> int:
    """A count of a saved table."""
    return int(value) if isinstance(value, int | float) else 0


def line_errors(audit: Audit, judge: str) -> list[LineErrors]:
    """Errors of every line, or of every criterion where lines have no table."""
    table = audit.tables.get(f"lines/{judge}")
    if table is not None:
        return [
            LineErrors(printable(str(r["line"])), number(r["false_accepts"]), number(r["false_rejects"]))
            for r in table.records()
        ]
    table = audit.tables.get(f"criteria/{judge}")
    found = [
        LineErrors(printable(str(r["criterion"])), number(r["false_accepts"]), number(r["false_rejects"]))
        for r in (table.records() if table is not None else [])
    ]
    return sorted(found, key=lambda line: -line.errors)


def concentration(audit: Audit, judge: str, lines: str = "lines") -> str:
    """Errors on the worst five lines beside what chance alone would put there; nothing where five are all."""
    held = find(audit, "errors_in_worst_lines", judge, lines=5)
    if held is None or not held.trials or held.n_used <= 5:
        return ""
    said = f"{held.events:,.0f} of {held.trials:,.0f} errors on 5 of {held.n_used:,} {lines}"
    mean = ok(audit, "expected_errors_in_worst_lines", judge, lines=5)
    high = ok(audit, "expected_errors_in_worst_lines", judge, lines=5, quantile=0.95)
    if mean is not None:
        upper = f", at most {value_text(high)} in 95 % of draws" if high is not None else ""
        said += f" ({value_text(mean)} expected if every line were alike{upper})"
    return said + (
        "; which five is not settled: the fifth and the sixth have equally many" if _is_tied(audit, judge) else ""
    )


def _is_tied(audit: Audit, judge: str) -> bool:
    """Whether the fifth and the sixth line hold equally many errors."""
    table = audit.tables.get(f"lines/{judge}")
    errors = [number(record["errors"]) for record in table.records()[4:6]] if table is not None else []
    return len(errors) == 2 and errors[0] == errors[1] > 0


def worst(audit: Audit, judge: str, most: int) -> Worst:
    """The worst lines of one judge, at most ``most`` of them."""
    table = audit.tables.get(f"lines/{judge}")
    records = table.records() if table is not None else []
    rows = [_row(audit, judge, record) for record in records[: max(most, FIRST)]]
    groups, more_texts = _texts(audit, judge, [str(record["line"]) for record in records])
    kinds = dict.fromkeys(text.kind for group in groups for text in group.texts)
    return Worst(
        tuple(rows[:FIRST]), tuple(rows[FIRST:]), len(records) - len(rows), groups, more_texts, tuple(sorted(kinds))
    )


def _row(audit: Audit, judge: str, record: dict[str, Value]) -> LineRow:
    line = str(record["line"])
    own = [(name, audit.get(str(EstimateId.of(name, judge, line=line)))) for name in _RATES]
    rate = own[0][1] or audit.get(str(EstimateId.of("error_rate", judge, criterion=line)))
    return LineRow(
        printable(line),
        _of(record, "errors", "scored"),
        cell(rate) if rate is not None else None,
        _of(record, "false_accepts", "absent"),
        _of(record, "false_rejects", "present"),
        tuple(card(audit, one, NAMES[name]) for name, one in own if one is not None),
        _shown(record, "shrunken_rate", percent_text),
        _shown(record, "p_holm", p_text),
    )


def _shown(record: dict[str, Value], name: str, as_text: Callable[[float], str]) -> str:
    value = record.get(name)
    return as_text(value) if isinstance(value, float) else ""


def _of(record: dict[str, Value], events: str, trials: str) -> str:
    return f"{count_text(number(record[events]))} of {count_text(number(record[trials]))}"


def _texts(audit: Audit, judge: str, order: Sequence[str]) -> tuple[tuple[LineTexts, ...], int]:
    """Texts by line, lines in the order of their errors, and how many are left to the table."""
    table = audit.tables.get(f"texts/{judge}")
    if table is None:
        return (), 0
    by_line: dict[str, list[dict[str, Value]]] = {}
    for record in table.records():
        by_line.setdefault(str(record["line"]), []).append(record)
    place = {line: at for at, line in enumerate(order)}
    groups, left = [], MOST_TEXTS
    for line in sorted(by_line, key=lambda name: place.get(name, len(place))):
        records = by_line[line][:left]
        if not records:
            break
        left -= len(records)
        said = str(records[0].get("criterion_text") or "")
        groups.append(LineTexts(printable(line), said, tuple(_wrong(audit, record) for record in records)))
    return tuple(groups), len(table.rows) - (MOST_TEXTS - left)


def _wrong(audit: Audit, record: dict[str, Value]) -> WrongText:
    reference, judge = str(record["reference"]), str(record["judge"])
    text = str(record["response_text"] if record["response_text"] is not None else "")
    kind = "differs"
    if audit.declarations.scale == "binary":
        kind = "false accept" if judge == audit.declarations.positive else "false reject"
    return WrongText(
        printable(str(record["response_id"])),
        printable(reference),
        printable(judge),
        kind,
        text[:LONGEST],
        max(len(text) - LONGEST, 0),
    )
