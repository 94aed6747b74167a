"""Differences that are tested together, margins, and limits under other assumptions: a table each, and a line in words."""

from collections.abc import Iterator, Sequence

from evenhand.errors import printable
from evenhand.report.lookups import find
from evenhand.report.numbers import Cell, NumberTable, Row, card, cell, pivot, row
from evenhand.report.tables import NAMES, display_name, interval_text, number_text, p_text, param_text, value_text
from evenhand.results import Audit, Estimate

_SIDES = {"length": ("shorter", "longer"), "author": ("others", "own")}
_OVERALL = ("leniency", "win_rate", "bias", "error_rate")
_LIMITS = ("none", "estimated", "assumed", "companion")
TESTED = ("difference", "at once with its family", "Holm p", "found with 80 % power from")
_NOTE = "Each compared within reference labels: what is better on one side by its reference label is no preference."


def contrast_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """What a judge does otherwise by length and author, its criteria against each other, margins, and few events."""
    found = [one for one in audit.estimates if one.source == judge]
    by = [one for one in found if "by" in one.params]
    limits = [one for one in found if "icc" in one.params]
    criteria = [one for one in found if one.params.get("contrast") == "others"]
    own = (judge, f"{judge}-reference")
    equivalent = [one for one in audit.estimates if one.statistic == "equivalence" and one.source in own]
    tables = (
        NumberTable(
            "By length and author, at a fixed reference label",
            ("shorter half, others' work", "longer half, its own model's", *TESTED),
            _by(audit, by),
            note=_NOTE,
        ),
        NumberTable("Each criterion against the others", TESTED, _tested(audit, criteria), "criterion", folded=True),
        NumberTable("Held against margins fixed beforehand", ("value",), tuple(row(audit, one) for one in equivalent)),
        NumberTable(
            "Few events: the limit by what is assumed of their clustering",
            tuple(param_text("icc", kind) for kind in _LIMITS),
            _limits(audit, limits),
            "rate",
        ),
    )
    return tuple(table for table in tables if table.rows)


def text_cell(said: str) -> Cell:
    """Words in place of a number."""
    return Cell(said, "", "", "", "", True)


def _by(audit: Audit, found: Sequence[Estimate]) -> tuple[Row, ...]:
    """A row a difference: both halves' rates where they have any, then how the difference is tested."""
    rows = []
    for one in found:
        if "group" in one.params:
            continue
        sides = [
            next(
                (
                    e
                    for e in found
                    if e.statistic == one.statistic and e.params == {"by": one.params["by"], "group": side}
                ),
                None,
            )
            for side in _SIDES.get(one.params["by"], ())
        ]
        halves = tuple(cell(side) if side is not None else None for side in sides)
        cards = tuple(card(audit, e) for e in (one, *sides) if e is not None)
        rows.append(Row(display_name(one), (*halves, *tested_cells(one)), "", cards))
    return tuple(rows)


def _tested(audit: Audit, found: Sequence[Estimate]) -> tuple[Row, ...]:
    return tuple(
        Row(printable(one.params.get("criterion", one.id)), tested_cells(one), "", (card(audit, one),)) for one in found
    )


def tested_cells(one: Estimate) -> tuple[Cell | None, ...]:
    """A difference, its ends at once with its family, Holm's p, and what would have been found."""
    together = detectable = p_value = None
    if one.simultaneous is not None:
        ends = one.model_copy(update={"ci_low": one.simultaneous[0], "ci_high": one.simultaneous[1]})
        together = text_cell(interval_text(ends))
    if one.detectable is not None:
        detectable = text_cell(number_text(one.statistic, one.detectable))
    if "holm" in one.p_values:
        p_value = text_cell(p_text(one.p_values["holm"]))
    return cell(one), together, p_value, detectable


def _limits(audit: Audit, found: Sequence[Estimate]) -> tuple[Row, ...]:
    columns = tuple(param_text("icc", kind) for kind in _LIMITS)
    rows = []
    for name, bound in dict.fromkeys((one.statistic, one.params["bound"]) for one in found):
        at = {one.params["icc"]: one for one in found if (one.statistic, one.params["bound"]) == (name, bound)}
        rows.append(pivot(audit, f"{NAMES[name]}, {bound} limit", columns, [at.get(kind) for kind in _LIMITS]))
    return tuple(rows)


def in_words(audit: Audit, judge: str) -> Iterator[str]:
    """A line for each trait: the leading difference, how it is tested, and what could have been missed."""
    for by, said in (("length", "longer minus shorter half"), ("author", "its own model's work minus others'")):
        found = (find(audit, name, judge, by=by, **_per(name)) for name in _OVERALL)
        one = next((estimate for estimate in found if estimate is not None), None)
        if one is None:
            continue
        if one.estimate is None:
            if by == "author" and any("system" in e.params and e.status == "ok" for e in audit.estimates):
                continue  # the column names systems to compare, none of them the judge's own model
            yield f"by {by}: {printable(one.reason)}"
            continue
        ends = f" ({interval_text(one)})" if one.ci_low is not None else ""
        tested = f", Holm p {p_text(one.p_values['holm'])}" if "holm" in one.p_values else ""
        least = f", would be found from {number_text(one.statistic, one.detectable)}" if one.detectable else ""
        yield f"by {by}: {_short(one)}, {said}, {value_text(one)}{ends}{tested}{least}"


def _per(name: str) -> dict[str, str]:
    return {"per": "verdict"} if name == "leniency" else {}


def _short(one: Estimate) -> str:
    return {"leniency": "positive rate at a fixed reference label"}.get(one.statistic, NAMES[one.statistic])


def few_events(audit: Audit, estimate: Estimate) -> str:
    """That events are few, with the limit at the clustering of the other direction's errors where it is known."""
    if estimate.params:
        return "(few events)"
    found = audit.of(estimate.statistic, estimate.source, icc="companion")
    return (
        f"(few events; {found[0].params['bound']} {value_text(found[0])} if clustered as the other errors)"
        if found
        else "(few events)"
    )
