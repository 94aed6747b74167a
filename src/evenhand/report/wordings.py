"""Agreement under each wording, model, setting and occasion: a table a facet, a drawing, and how far the values lie apart."""

from collections.abc import Iterator

from evenhand.errors import printable
from evenhand.report import drawings
from evenhand.report.drawings import ForestRow, Panel
from evenhand.report.figures import Figure
from evenhand.report.lookups import find, wording_of
from evenhand.report.numbers import NumberTable, pivot
from evenhand.report.tables import NAMES, PERCENT, ends_text, interval_text, plural, value_text
from evenhand.results import Audit, Estimate

_WORDS = {"phrasing": "wordings", "model": "models", "setting": "settings", "occasion": "occasions"}
_LEADING = (
    "observed_agreement",
    "cohen_kappa",
    "quadratic_weighted_kappa",
    "bias",
    "mae",
    "pearson_r",
    "judge_positive_rate",
    "mean_total",
)
"""The statistics in the order in which a sentence speaks of them and a drawing shows them."""
_SAID = 2
_MOST_DRAWN = 24


def wording_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """A row a value of each facet, after the numbers that pool them."""
    tables = []
    for facet, found in _by_facet(audit, judge).items():
        names = list(dict.fromkeys(name for _, name in found))
        columns = tuple(NAMES.get(name, name.replace("_", " ")) for name in names)
        values = dict.fromkeys(value for value, _ in found)
        rows = [pivot(audit, "all pooled", columns, [find(audit, name, judge) for name in names])]
        rows += [
            pivot(audit, printable(value), columns, [found.get((value, name)) for name in names]) for value in values
        ]
        note = " ".join(f"{said[0].upper()}{said[1:]}." for said in _spreads(audit, judge, facet))
        tables.append(NumberTable(f"By {facet}", columns, tuple(rows), facet, note=note))
    return tuple(tables)


def _by_facet(audit: Audit, judge: str) -> dict[str, dict[tuple[str, str], Estimate]]:
    """Facet → (value, statistic) → the estimate, in the audit's order."""
    found: dict[str, dict[tuple[str, str], Estimate]] = {}
    for one in audit.estimates:
        facet = wording_of(one)
        if one.source == judge and facet:
            found.setdefault(facet, {})[one.params[facet], one.statistic] = one
    return found


def wording_figures(audit: Audit, judge: str, key: str) -> tuple[Figure, ...]:
    """The leading numbers of each value with their intervals, a drawing a facet."""
    figures = []
    for facet, found in _by_facet(audit, judge).items():
        panels = []
        for name in [name for name in _LEADING if any(one == name for _, one in found)][:_SAID]:
            rows = tuple(
                ForestRow(printable(value), e.estimate, e.ci_low, e.ci_high, value_text(e), ends_text(e))
                for (value, one), e in found.items()
                if one == name
            )
            panels.append(Panel(NAMES.get(name, name), rows, percent=name in PERCENT))
        if panels and len(panels[0].rows) <= _MOST_DRAWN:
            drawn = tuple(
                (f"{panel.title}, {row.label}", row.text, *row.ends) for panel in panels for row in panel.rows
            )
            drawing = drawings.forest(f"{key}-{facet}", panels, f"The same judge by {facet}")
            figures.append(Figure(drawing, (facet, "value", "from", "to"), drawn))
    return tuple(figures)


def wording_sentences(audit: Audit, judge: str) -> Iterator[str]:
    """How far each leading number lies apart over the values of each facet."""
    for facet in _by_facet(audit, judge):
        yield from _spreads(audit, judge, facet)


def _spreads(audit: Audit, judge: str, facet: str) -> Iterator[str]:
    found = _by_facet(audit, judge)[facet]
    names = [name for name in _LEADING if any(one == name for _, one in found)][:_SAID]
    parts = [said for name in names if (said := _spread(found, name))]
    n = len(dict.fromkeys(value for value, _ in found))
    if parts:
        yield f"over {n} {_WORDS[facet]}: {'; '.join(parts)}"


def _spread(found: dict[tuple[str, str], Estimate], name: str) -> str:
    known = [(value, e) for (value, one), e in found.items() if one == name and e.estimate is not None]
    lost = [printable(value) for (value, one), e in found.items() if one == name and e.estimate is None]
    if not known:
        return ""
    (low, least), (high, most) = (pick(known, key=lambda pair: pair[1].estimate or 0.0) for pick in (min, max))
    said = (
        f"{NAMES.get(name, name)} from {_with_ends(least)} ({printable(low)}) to {_with_ends(most)} ({printable(high)})"
    )
    return said + (f", undefined for {', '.join(lost)}" if lost else "")


def _with_ends(one: Estimate) -> str:
    ends = interval_text(one) or f"no interval, {plural(one.n_used, 'verdict')}"
    return f"{value_text(one)} {ends if ends.startswith('[') else f'[{ends}]'}"
