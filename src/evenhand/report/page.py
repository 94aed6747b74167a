"""What a report says, in its order: one description that the HTML page and the Markdown text both print."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.arms import arm_figures, arm_tables
from evenhand.report.calibration import calibration_figures, calibration_tables
from evenhand.report.contrasts import contrast_tables
from evenhand.report.decision_table import DecisionRow, decision_table
from evenhand.report.facets import facet_tables
from evenhand.report.figures import Figure, comparison, figures
from evenhand.report.gaps import cannot_say
from evenhand.report.groups import group_figures, group_tables
from evenhand.report.lookups import judge_sources
from evenhand.report.numbers import (
    NumberTable,
    Row,
    count_rows,
    criteria_table,
    judges_table,
    number_tables,
    other_tables,
)
from evenhand.report.reporting_lines import bank_line, reporting_lines
from evenhand.report.sentences import first_screen
from evenhand.report.systems import system_figures, system_tables
from evenhand.report.tables import BOOTSTRAPS, count_text, interval_phrase, number_text, plural
from evenhand.report.wordings import wording_figures, wording_tables
from evenhand.report.worst import Worst, worst
from evenhand.results import Audit, Table

_MOST_ROWS, _MOST_LEVELS, _MOST_PAIRS = 60, 15, 60


@dataclass(frozen=True, slots=True)
class Confusion:
    """Reference by judge over all slots: a matrix, or pairs where there are too many labels for one."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_matrix: bool
    more: int = 0


@dataclass(frozen=True, slots=True)
class JudgePart:
    """Everything about one judge."""

    key: str
    name: str
    source: str
    bank: str
    tables: tuple[NumberTable, ...]
    criteria: NumberTable | None
    worst: Worst
    confusion: Confusion | None
    decomposition: tuple[tuple[str, ...], ...]
    figures: tuple[Figure, ...]
    counts: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A report without its looks."""

    title: str
    facts: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    cannot: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    decisions: tuple[DecisionRow, ...]
    judges: tuple[JudgePart, ...]
    side_by_side: NumberTable | None
    others: tuple[NumberTable, ...]
    comparison: Figure | None
    checklist: tuple[dict[str, str], ...]
    lines: tuple[tuple[str, str], ...]
    accounting: tuple[tuple[str, str], ...]
    source_rows: tuple[tuple[str, str], ...]
    declarations: tuple[tuple[str, str], ...]
    sources: tuple[tuple[str, str, str], ...]
    has_reference: bool
    level: str
    version: str
    schema: str

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every drawing, in the order of the page."""
        first = (self.comparison,) if self.comparison is not None else ()
        return (*first, *(figure for part in self.judges for figure in part.figures))


def page(audit: Audit) -> Page:
    """The report of a saved audit."""
    judges = judge_sources(audit)
    most = max(_MOST_ROWS // max(len(judges), 1), 10)
    return Page(
        title=" + ".join(source.name for source in audit.data.sources),
        facts=_facts(audit),
        sentences=first_screen(audit),
        cannot=cannot_say(audit),
        warnings=audit.warnings,
        decisions=decision_table(audit),
        judges=tuple(_judge_part(audit, judge, at, len(judges), most) for at, judge in enumerate(judges, start=1)),
        side_by_side=judges_table(audit, judges),
        others=other_tables(audit, judges),
        comparison=comparison(audit, judges),
        checklist=audit.checklist,
        lines=reporting_lines(audit),
        accounting=_accounting(audit),
        source_rows=tuple((fate, count_text(n)) for fate, n in audit.data.source_rows.items()),
        declarations=_declarations(audit),
        sources=tuple((source.name, count_text(source.rows), source.sha256) for source in audit.data.sources),
        has_reference=audit.data.has_reference,
        level=_level(audit),
        version=audit.evenhand_version,
        schema=audit.schema_,
    )


def _judge_part(audit: Audit, judge: str, at: int, n_judges: int, most: int) -> JudgePart:
    return JudgePart(
        key=f"judge-{at}",
        name="the judge" if n_judges == 1 else judge,
        source=judge,
        bank=bank_line(audit, judge),
        tables=(
            *number_tables(audit, judge),
            *arm_tables(audit, judge),
            *calibration_tables(audit, judge),
            *facet_tables(audit, judge),
            *contrast_tables(audit, judge),
            *group_tables(audit, judge),
            *wording_tables(audit, judge),
            *system_tables(audit, judge),
        ),
        criteria=criteria_table(audit, judge, most),
        worst=worst(audit, judge, most),
        confusion=_confusion(audit, audit.tables.get(f"levels/{judge}")),
        decomposition=_decomposition(audit.tables.get(f"decomposition/{judge}")),
        figures=_all_figures(audit, judge, f"judge-{at}"),
        counts=count_rows(audit, judge),
    )


def _all_figures(audit: Audit, judge: str, key: str) -> tuple[Figure, ...]:
    found = (figures, arm_figures, calibration_figures, wording_figures, system_figures, group_figures)
    return tuple(figure for part in found for figure in part(audit, judge, key))


def _level(audit: Audit) -> str:
    return f"{100 * audit.declarations.confidence_level:g} %"


def _facts(audit: Audit) -> tuple[tuple[str, str], ...]:
    data, said = audit.data, audit.declarations
    clusters = "each response its own" if said.cluster_unit == "response" else f"by {said.cluster_unit}"
    facts = [
        ("responses", f"{plural(data.n_responses, 'response')} × {plural(data.n_criteria, 'criterion', 'criteria')}"),
        ("clusters", f"{count_text(data.n_clusters)}, {clusters}"),
        ("verdicts used", f"{count_text(data.rows_used)} of {count_text(data.rows_read)}"),
        ("scale", said.scale_reading),
        ("intervals", _intervals(audit)),
    ]
    if len(data.judges) > 1:
        facts.insert(0, ("judges", count_text(len(data.judges))))
    return tuple(facts)


def _intervals(audit: Audit) -> str:
    said = audit.declarations
    if said.interval_method not in BOOTSTRAPS:
        return interval_phrase(audit)
    return f"{interval_phrase(audit)}, {'responses' if said.cluster_unit == 'response' else 'clusters'} resampled"


def _decomposition(table: Table | None) -> tuple[tuple[str, ...], ...]:
    """Cut, then the terms that separate two accuracies there."""
    rows = table.rows if table is not None else ()
    terms = [(f"{cut:g}", *(number_text("", float(term or 0)) for term in others)) for cut, *others in rows]
    return tuple(terms)


def _confusion(audit: Audit, table: Table | None) -> Confusion | None:
    if table is None or not table.rows:
        return None
    if not audit.data.has_reference:
        alone = sorted(((str(judge), int(n or 0)) for _, judge, n in table.rows), key=lambda item: -item[1])
        verdicts = tuple((judge, count_text(n)) for judge, n in alone if n)
        return Confusion(("judge", "verdicts"), verdicts[:_MOST_PAIRS], False, max(len(verdicts) - _MOST_PAIRS, 0))
    at = {(str(reference), str(judge)): int(n or 0) for reference, judge, n in table.rows}
    references, judges = (tuple(dict.fromkeys(pair[side] for pair in at)) for side in (0, 1))
    if max(len(references), len(judges)) > _MOST_LEVELS:
        pairs = sorted(at.items(), key=lambda item: -item[1])
        shown = tuple((reference, judge, count_text(n)) for (reference, judge), n in pairs[:_MOST_PAIRS])
        return Confusion(("reference", "judge", "verdicts"), shown, False, len(pairs) - len(shown))
    rows = tuple(
        (reference, *(count_text(at.get((reference, judge), 0)) for judge in judges)) for reference in references
    )
    return Confusion(judges, rows, True)


def _accounting(audit: Audit) -> tuple[tuple[str, str], ...]:
    data = audit.data
    excluded = [(f"excluded: {reason}", count_text(n)) for reason, n in data.rows_excluded.items()]
    return (("verdict slots read", count_text(data.rows_read)), ("used", count_text(data.rows_used)), *excluded)


def _crossed(audit: Audit) -> str:
    said = audit.declarations
    return f"; crossed with {said.second_unit}, {count_text(said.n_second_units)} levels" if said.second_unit else ""


def _recorded(audit: Audit) -> list[tuple[str, str]]:
    """The names of models, wordings and the like that the data hold."""
    table, named = audit.tables.get("conditions"), dict[str, list[str]]()
    for facet, value, rows in table.rows if table else ():
        named.setdefault(str(facet), []).append(f"{value} ({count_text(float(rows or 0))} rows)")
    return [(f"values of {facet}", ", ".join(values)) for facet, values in named.items()]


def _declarations(audit: Audit) -> tuple[tuple[str, str], ...]:
    said = audit.declarations
    rows: Sequence[tuple[str, str]] = (
        *((f"role: {role}", column) for role, column in said.reading.items()),
        ("scale", said.scale_reading),
        ("positive label", said.positive or "none"),
        ("criteria", "shared by all responses" if said.criteria == "shared" else "each cluster has its own checklist"),
        ("cuts", ", ".join(f"{cut:g}" for cut in said.cuts) or "none"),
        ("abstentions", said.abstention_mode),
        ("ties", said.tie_handling),
        ("conditions", ", ".join(f"{facet} {count_text(n)}" for facet, n in said.conditions.items()) or "none named"),
        *_recorded(audit),
        ("clusters", f"{said.cluster_unit}, {count_text(said.n_units)} units{_crossed(audit)}"),
        ("interval method", f"{said.interval_method}: {_intervals(audit)}"),
        ("confidence level", _level(audit)),
        ("resamples, seed", f"{count_text(said.resamples)}, {said.seed}"),
    )
    return tuple(rows)
