"""What an audit's folder holds."""

import itertools
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.auditing import Session
from evenhand.audits import marks
from evenhand.audits.evidence import Evidence
from evenhand.output import new_folder, write_run
from evenhand.report.csv_tables import csv_files
from evenhand.report.render import to_html, to_markdown
from evenhand.results import Audit
from evenhand.tally.moments import Side, complete_responses

MOST_PAIRED_CRITERIA = 40
"""Criteria up to which every pair's joint count is saved."""


def save(session: Session, out: Path, facts: Mapping[str, object], sources: Sequence[Path] = ()) -> None:
    """Write the folder of an audit, whole or not at all.

    Args:
        session: an audit whose engine is still open.
        out: the folder; an earlier audit there is replaced.
        facts: times and places for run.json.
        sources: files that must not lie inside ``out``.

    Raises:
        OutputError: the place holds something foreign, or cannot be written.
    """
    with new_folder(out, sources) as draft:
        save_report(session.audit, draft)
        _write_arrays(session, tally_columns(session), draft / "tallies.parquet")
        if session.reading.has_reference:
            session.table.engine.connection.sql(_disagreements(session)).write_parquet(
                str(draft / "disagreements.parquet")
            )
        (draft / "spec.toml").write_text(session.saved_spec().to_toml(), encoding="utf-8")
        write_run(draft, facts)


def save_report(audit: Audit, folder: Path) -> None:
    """Write what needs the audit alone: its JSON, both reports, and the CSV tables."""
    (folder / "audit.json").write_text(audit.to_json(), encoding="utf-8", newline="\n")
    (folder / "report.md").write_text(to_markdown(audit), encoding="utf-8", newline="\n")
    (folder / "report.html").write_text(to_html(audit), encoding="utf-8", newline="\n")
    tables = folder / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    tables.mkdir()
    for name, text in csv_files(audit):
        (tables / name).write_text(text, encoding="utf-8", newline="")


def _write_arrays(session: Session, columns: Mapping[str, np.ndarray[Any, Any]], path: Path) -> None:
    engine = session.table.engine
    with engine.holding(columns) as held:
        engine.connection.sql(f"SELECT * FROM {held}").write_parquet(str(path))


def _disagreements(session: Session) -> str:
    """Every scored verdict on which a judge differs from the reference, in words."""
    table, engine = session.table, session.table.engine
    labels = engine.table("names", {"code": "INTEGER", "label": "VARCHAR"}, enumerate(table.scale.levels))
    criteria = engine.table("names", {"code": "INTEGER", "label": "VARCHAR"}, enumerate(session.reading.criteria))
    raters = engine.table("names", {"code": "INTEGER", "label": "VARCHAR"}, enumerate(session.reading.raters))
    return (
        "SELECT d.response AS response_id, d.cluster_id, c.label AS criterion_id, r.label AS rater_id, "
        "d.condition, g.label AS reference, j.label AS judge "
        f"FROM {table.relation} d JOIN {labels} j ON j.code = d.judge JOIN {labels} g ON g.code = d.reference "
        f"JOIN {criteria} c ON c.code = d.criterion JOIN {raters} r ON r.code = d.rater "
        "WHERE d.judge <> d.reference ORDER BY response_id, criterion_id, rater_id, d.condition, cluster_id, g.label, j.label"
    )


def tally_columns(session: Session) -> dict[str, np.ndarray[Any, Any]]:
    """One row a unit: its name and every non-zero cell, enough to recompute each interval."""
    units = session.table.units
    columns: dict[str, np.ndarray[Any, Any]] = {"unit": np.array(units.names, dtype=object)}
    for one in session.evidence:
        if one.scale.kind == "continuous":
            columns |= marks.tally_columns(one)
            continue
        names, cells = one.scale.all_levels, one.cells
        n_levels = len(names)
        kind = (cells.criterion * n_levels + cells.reference) * n_levels + cells.judge
        for key in np.unique(kind):
            criterion, levels = divmod(int(key), n_levels * n_levels)
            reference, judge = divmod(levels, n_levels)
            here = kind == key
            label = f"verdicts[criterion={one.criteria[criterion]},reference={names[reference]},judge={names[judge]}]/{one.source}"
            columns[label] = np.bincount(
                cells.unit[here], weights=cells.count[here], minlength=len(units.names)
            ).astype(np.int64)
        if one.patterns is not None:
            columns |= _total_columns(one) | _complete_columns(one)
    return columns


def _total_columns(one: Evidence) -> dict[str, np.ndarray[Any, Any]]:
    patterns = one.patterns
    if patterns is None:
        return {}
    size = patterns.n_criteria + 1
    state = np.where(patterns.is_judged, 0, 2) + np.where(patterns.is_referred, 0, 1)
    kinds = (state * size + patterns.reference_total) * size + patterns.judge_total
    columns = {}
    words = ("complete", "reference incomplete", "judge incomplete", "both incomplete")
    present, position = np.unique(kinds, return_inverse=True)
    by_kind = patterns.by_unit(position, len(present)).astype(np.int64).T
    for key, counts in zip(present, by_kind, strict=True):
        code, totals = divmod(int(key), size * size)
        reference, judge = divmod(totals, size)
        columns[f"responses[state={words[code]},reference={reference},judge={judge}]/{one.source}"] = counts
    return columns


def _complete_columns(one: Evidence) -> dict[str, np.ndarray[Any, Any]]:
    """Sums and pair sums of the criteria over complete responses with the commonest checklist."""
    groups = complete_responses(one.patterns, needs_reference=one.has_reference) if one.patterns is not None else []
    if not groups or groups[0].n_criteria < 2:
        return {}
    group, columns = groups[0], {}
    names = [one.criteria[position] for position in group.criteria]
    sides: tuple[Side, ...] = ("judge", "reference") if one.has_reference else ("judge",)
    for side in sides:
        sums = group.moments(side).astype(np.int64)
        for position, name in enumerate(names):
            columns[f"complete[side={side},criterion={name}]/{one.source}"] = sums[:, position + 1]
        if len(names) > MOST_PAIRED_CRITERIA:
            continue
        pairs = group.products(side).astype(np.int64)[:, 1 + len(names) :]
        for a, b in itertools.combinations(range(len(names)), 2):
            columns[f"complete[side={side},both={names[a]}&{names[b]}]/{one.source}"] = pairs[:, a * len(names) + b]
    return columns
