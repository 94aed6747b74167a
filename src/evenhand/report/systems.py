"""Systems behind the responses: their means or strengths by both sides, and whether both rank them alike."""

from collections.abc import Iterator

from evenhand.errors import printable
from evenhand.report import drawings
from evenhand.report.drawings import ForestRow, Panel
from evenhand.report.figures import Figure
from evenhand.report.lookups import find, ok, reference_of
from evenhand.report.numbers import NumberTable, Row, pivot
from evenhand.report.tables import NAMES, ends_text, param_text, range_text, value_text
from evenhand.results import Audit, Estimate

_LEVELS = ("", "system", "item", "within_system")
_AGREEMENT = (
    ("pearson_r", ""),
    ("spearman_rho", ""),
    ("kendall_tau", ""),
    ("pairwise_accuracy", ""),
    ("pairwise_accuracy", "class"),
    ("pairwise_accuracy", "calibrated"),
    ("soft_pairwise_accuracy", ""),
    ("winner_agreement", ""),
)
"""Statistic, and how it takes ties."""
_BY_CRITERION = ("pearson_r", "kendall_tau", "pairwise_accuracy", "soft_pairwise_accuracy")
_OF_ONE = ("system_mean", "bradley_terry")
_MOST_DRAWN = 24
_NOTE = (
    "The first column mixes what the others keep apart: whether both sides rank the systems alike, the answers of several "
    "systems to one item, and one system's answers to many items. Intervals: these systems, other items."
)


def system_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """What each system gets from both sides, and how far the two rankings agree."""
    return tuple(
        table for table in (_each(audit, judge), _agreement(audit, judge), _by_criterion(audit, judge)) if table.rows
    )


def _of_systems(audit: Audit, judge: str) -> dict[str, list[Estimate | None]]:
    """System → its number by the judge, by the reference, and the difference, the highest by the reference first."""
    sources = (judge, reference_of(judge), f"{judge}-reference")
    found: dict[str, list[Estimate | None]] = {}
    for estimate in audit.estimates:
        if estimate.statistic in _OF_ONE and "system" in estimate.params and estimate.source in sources:
            sides = found.setdefault(estimate.params["system"], [None, None, None])
            sides[sources.index(estimate.source)] = estimate

    def height(sides: list[Estimate | None]) -> float:
        known = [one.estimate for one in (sides[1], sides[0]) if one is not None and one.estimate is not None]
        return -known[0] if known else float("inf")

    return dict(sorted(found.items(), key=lambda entry: height(entry[1])))


def _each(audit: Audit, judge: str) -> NumberTable:
    found = _of_systems(audit, judge)
    sides_there = [at for at in range(3) if any(sides[at] is not None for sides in found.values())]
    columns = [("judge", "reference", "judge minus reference")[at] for at in sides_there]
    rows = tuple(
        pivot(audit, printable(name), columns, [sides[at] for at in sides_there]) for name, sides in found.items()
    )
    is_strength = any(sides[0] is not None and sides[0].statistic == "bradley_terry" for sides in found.values())
    title = (
        "Systems compared: strengths (Bradley–Terry, log odds)"
        if is_strength
        else "Systems: mean verdict on the responses of each"
    )
    return NumberTable(title, tuple(columns), rows, "system")


def _agreement(audit: Audit, judge: str) -> NumberTable:
    columns = ("all responses", *(param_text("level", level) for level in _LEVELS[1:]))
    rows: list[Row] = []
    for name, ties in _AGREEMENT:
        found = [_at(audit, judge, name, level, ties) for level in _LEVELS]
        if any(found[1:]):
            said = NAMES[name] + (f", {param_text('ties', ties)}" if ties else "")
            rows.append(pivot(audit, said, columns, found))
    return NumberTable("Whether the judge ranks systems as the reference does", columns, tuple(rows), note=_NOTE)


def _at(audit: Audit, judge: str, name: str, level: str, ties: str) -> Estimate | None:
    params = {key: value for key, value in (("level", level), ("ties", ties)) if value}
    return find(audit, name, judge, **params)


def _by_criterion(audit: Audit, judge: str) -> NumberTable:
    found = {
        (one.params["criterion"], one.statistic): one
        for one in audit.estimates
        if one.source == judge and one.params.keys() == {"criterion", "level"} and one.params["level"] == "system"
    }
    columns = tuple(NAMES[name] for name in _BY_CRITERION)
    criteria = dict.fromkeys(criterion for criterion, _ in found)
    rows = tuple(
        pivot(audit, printable(criterion), columns, [found.get((criterion, name)) for name in _BY_CRITERION])
        for criterion in criteria
    )
    return NumberTable("Agreement of the systems' means, by criterion", columns, rows, "criterion", folded=True)


def system_figures(audit: Audit, judge: str, key: str) -> tuple[Figure, ...]:
    """Every system's number by the judge, then by the reference, on axes of their own, in the reference's order."""
    found = _of_systems(audit, judge)
    if not 1 < len(found) <= _MOST_DRAWN:
        return ()
    panels = []
    for side, title in enumerate(("By the judge", "By the reference")):
        chosen = [(printable(name), sides[side]) for name, sides in found.items()]
        rows = tuple(_forest_row(name, one) for name, one in chosen if one is not None and one.estimate is not None)
        panels += [Panel(title, rows, percent=False)] if rows else []
    if not panels:
        return ()
    drawn = tuple(
        (f"{row.label}, {panel.title[0].lower()}{panel.title[1:]}", row.text, *row.ends)
        for panel in panels
        for row in panel.rows
    )
    title = "Systems, the reference's best first"
    return (Figure(drawings.forest(f"{key}-systems", panels, title), ("system", "value", "from", "to"), drawn),)


def _forest_row(name: str, one: Estimate) -> ForestRow:
    return ForestRow(name, one.estimate, one.ci_low, one.ci_high, value_text(one), ends_text(one))


def system_sentences(audit: Audit, judge: str) -> Iterator[str]:
    """One line: how far the judge ranks systems as the reference does, and which it finds best."""
    found = _of_systems(audit, judge)
    if len(found) < 2:
        absent = find(audit, "system_mean", judge)
        if absent is not None and absent.status == "not_assessed":
            yield f"systems are not compared: {printable(absent.reason)}"
        return
    said = f"{len(found)} systems"
    said += f" ({printable(audit.declarations.reading['author'])})" if "author" in audit.declarations.reading else ""
    parts = []
    if tau := ok(audit, "kendall_tau", judge, level="system"):
        parts.append(f"τ_b of their means by judge and reference {_with_range(tau)}")
    if pairs := ok(audit, "pairwise_accuracy", judge, level="system"):
        parts.append(f"share of pairs ordered alike {_with_range(pairs)}")
    elif few := find(audit, "kendall_tau", judge, level="system"):
        parts.append(printable(few.reason).removeprefix(f"{len(found)} systems: "))
    best = [_best(found, side) for side in (0, 1)]
    if best[0]:
        theirs = f", by the reference {best[1]}" if best[1] else ""
        parts.append(f"best by the judge {best[0]}{theirs}")
    yield f"{said}: {'; '.join(parts)}" if parts else said


def _with_range(one: Estimate) -> str:
    ends = range_text(one)
    return value_text(one) + (f" ({ends})" if ends else "")


def _best(found: dict[str, list[Estimate | None]], side: int) -> str:
    values = {
        name: one.estimate
        for name, sides in found.items()
        if (one := sides[side]) is not None and one.estimate is not None
    }
    top = max(values.values(), default=0.0)
    return " or ".join(printable(name) for name, value in values.items() if value == top)
