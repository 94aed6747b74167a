"""From sources to verdict slots: one relation whose rows are (rater, response, criterion, condition) with two texts.

Three layouts end in the same relation:

* paired: judge and reference stand in one row, in one column each or in one column a criterion;
* joined: judge and reference rows come from two files and meet on response (and criterion);
* rated: each row is one rater's verdict, the reference being one of the raters.

Slots are the judge's: a reference row that meets no judge row is counted and left out. A side that has no row for a
slot holds NULL there; a blank cell holds "".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.errors import MappingError, printable, quoted
from evenhand.verdicts.cleaning import label_text
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.layout import expand, names_judge, overlooked, overlooked_weights, recognise, recognise_reference
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import FACETS, Spec

Layout = Literal["paired", "joined", "rated"]


@dataclass(frozen=True)
class Reading:
    """Verdict slots as texts, and how they were found.

    Attributes:
        engine: where the relation lives.
        spec: the roles as completed by recognition.
        sources: the files and frames read.
        relation: view of (rater, response, cluster, criterion, condition, judge, status, reason, stratum, confidence, reference,
            reference_status, reference_reason); rater and criterion are positions in the tuples below, condition and the
            rest are texts.
        layout: paired where judge and reference stand in one row, joined where they come from two files, rated where the
            reference is one of the raters.
        judged, labelled: relations of the judges' and the reference's rows before they meet, which hold the carried
            columns, too; the same one where both stand in one row.
        raters: judge names in natural order.
        criteria: criterion names in natural order; ("",) where there is only one.
        roles: role → column as read, for the reader.
        source_rows: what became of the rows of the files.
        notes: what the user should know about the reading.
        meeting: how the two sides' ids meet, for messages about them; empty where all do.
        places: side → (source, column) pairs that hold that side's texts.
        humans: raters of kind human beside the judges, in natural order.
        of_humans: table of their rows as (rater, response, criterion, condition, reference, status, ...), rater a position
            in ``humans``, reference the text; empty without humans.
        constant: facet → column of facets that take one value, and so make no conditions.
    """

    engine: Engine
    spec: Spec
    sources: tuple[Source, ...]
    relation: str
    layout: Layout
    judged: str
    labelled: str
    raters: tuple[str, ...]
    criteria: tuple[str, ...]
    has_reference: bool
    roles: Mapping[str, str]
    source_rows: Mapping[str, int]
    notes: tuple[str, ...] = ()
    meeting: str = ""
    places: Mapping[str, tuple[tuple[Source, str], ...]] = field(default_factory=dict)
    humans: tuple[str, ...] = ()
    of_humans: str = ""
    constant: Mapping[str, str] = field(default_factory=dict)

    def where(self, side: str, text: str) -> str:
        """The first place of a text on a side: file, row and column."""
        for source, column in self.places.get(side, ()):
            test = f"{label_text(source.column(column, 'the reading'), self.spec)} = ?"
            if found := rows_with(self.engine, source, test, [text], limit=1):
                return f'{found} column "{printable(column)}"'
        return f"the {side}'s column"


def rows_with(engine: Engine, source: Source, test: str, parameters: Sequence[object] = (), limit: int = 6) -> str:
    """Where rows pass a test: each file with its row numbers as the user counts them; empty when none does.

    Args:
        engine: holds the source.
        source: one file or frame, or several stacked.
        test: an SQL condition on the source's columns.
        parameters: of the test.
        limit: rows named a file; the last one is followed by an ellipsis when there are more.
    """
    said = []
    for part in source.parts or (source,):
        number = quote("the row's number")  # a name that no column of the data has
        numbered = f"SELECT row_number() OVER () + {part.first_row - 1} AS {number}, * FROM {part.relation}"
        query = f"SELECT {number} FROM ({numbered}) WHERE {test} ORDER BY 1 LIMIT {limit + 1}"
        found = engine.rows(query, list(parameters))
        if rows := [f"{at}" for (at,) in found]:
            more = ", …" if len(rows) > limit > 1 else ""
            said.append(f"{printable(part.name)} row{'s'[: len(rows[:limit]) - 1]} {', '.join(rows[:limit])}{more}")
    return "; ".join(said[:1] if limit == 1 else said[:4])


def stack(engine: Engine, sources: Sequence[Source]) -> list[Source]:
    """Sources of the same columns as one each, in the order given."""
    alike: dict[frozenset[str], list[Source]] = {}
    for source in sources:
        alike.setdefault(frozenset(source.columns), []).append(source)
    stacked = []
    for members in alike.values():
        if len(members) == 1:
            stacked.append(members[0])
            continue
        columns = ", ".join(quote(column) for column in members[0].columns)
        name = engine.name("stack")
        union = " UNION ALL ".join(f"SELECT {columns} FROM {member.relation}" for member in members)
        engine.run(f"CREATE TEMP VIEW {name} AS {union}")
        names = " + ".join(member.name for member in members)
        unusable = {column: why for member in members for column, why in member.unusable.items()}
        stacked.append(Source(names, name, members[0].columns, "", parts=tuple(members), unusable=unusable))
    return stacked


def read_slots(
    engine: Engine, spec: Spec, sources: Sequence[Source], labels: Source | None = None, *, carry: bool = False
) -> Reading:
    """Read sources as verdict slots.

    Args:
        engine: holds the sources.
        spec: the roles the user named; the others are recognised by column name.
        sources: those with the same columns are stacked; two kinds are a judge's and a reference's.
        labels: a file of reference labels.
        carry: hand every column on beside the keys, and each side's text as it stands, for a table of single verdicts.

    Raises:
        MappingError: a column that does not exist, or a layout that cannot be recognised.
        JoinError: two files of which no response meets.
        KeyClashError: rows without a response id or without a cluster.
    """
    from evenhand.verdicts.reshaping import refuse_for_two, reshape
    from evenhand.verdicts.slots import Slots

    kinds = stack(engine, sources)
    everything = (*sources, labels) if labels is not None else tuple(sources)
    if len(kinds) + (labels is not None) > 2:
        raise MappingError(
            f"{quoted([kind.name for kind in kinds])} have three or more different sets of columns; "
            "files of the same columns are stacked, and one other may hold the reference (--labels FILE)"
        )
    if labels is not None or len(kinds) == 2:
        refuse_for_two(spec)
        sides = (kinds[0], labels) if labels is not None else _sides(spec, kinds)
        slots = Slots(engine, spec, everything, carry=carry)
        slots.notes += overlooked_weights(spec, sides[1])
        return slots.joined(*sides)
    shaped = reshape(engine, spec, kinds[0])
    table, spec = shaped.source, shaped.spec
    recognised = recognise(spec, [table])
    complete = _without_constant_facets(engine, spec, recognised, table)
    facets = {role: getattr(recognised, role) for role in FACETS if getattr(recognised, role)}
    slots = Slots(engine, complete, (table,) if carry and table is not kinds[0] else everything, carry=carry)
    slots.constant = {role: column for role, column in facets.items() if getattr(complete, role) is None}
    slots.notes += (*shaped.notes, *overlooked(complete, table), *overlooked_weights(complete, table))
    return slots.rated(table) if complete.rater and complete.verdict else slots.paired(table)


def _without_constant_facets(engine: Engine, given: Spec, complete: Spec, source: Source) -> Spec:
    """Facets that were recognised, not named, and take one value only are no conditions: a file's single model.

    An empty arm is a value: nothing was told.
    """
    recognised = [role for role in FACETS if getattr(complete, role) and not getattr(given, role)]
    if not recognised:
        return complete
    columns = {role: source.column(getattr(complete, role), role) for role in recognised}
    counts = ", ".join(
        f"count(DISTINCT {text})" if role == "arm" else f"count(DISTINCT nullif({text}, ''))"
        for role, text in columns.items()
    )
    found = engine.one(f"SELECT {counts} FROM {source.relation}")
    idle = {role: None for role, count in zip(recognised, found, strict=True) if count < 2}
    return complete.model_copy(update=idle)


def _sides(spec: Spec, kinds: Sequence[Source]) -> tuple[Source, Source]:
    """Judge's file and reference's: by the columns named, else by role words, else in the order given."""
    first, second = kinds

    def holds(source: Source, names: Sequence[str]) -> bool:
        return any(column in source.columns for name in names for column in expand(name, source.columns).values())

    judge = spec.judge or ((spec.verdict,) if spec.verdict else ())
    if judge and holds(first, judge) != holds(second, judge):
        return (first, second) if holds(first, judge) else (second, first)
    if spec.reference and holds(first, [spec.reference]) != holds(second, [spec.reference]):
        return (second, first) if holds(first, [spec.reference]) else (first, second)
    first_is_judge, second_is_judge = names_judge(first.columns), names_judge(second.columns)
    if first_is_judge != second_is_judge:
        return (first, second) if first_is_judge else (second, first)
    if recognise_reference(first.columns) and not recognise_reference(second.columns):
        return second, first
    return first, second
