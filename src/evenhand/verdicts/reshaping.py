"""Tables that are not one row a verdict made so: a matrix of raters read sideways, and rows that stand for many verdicts.

What is made is another view of the same file; which side is which is stated by the user and never found out by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.errors import MappingError, RequestError, SourceError, printable, quoted
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.layout import named_columns, recognise_id, recognise_rater
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec

ITEM, VERDICT = "item", "verdict"
ROW, COPY, OUTCOME = "count.row", "count.copy", "count.verdict"
"""Columns made of a row that stands for several verdicts: its number, the verdict's number in it, and 1 or 0."""
_ALL, _MET = "count.all", "count.positive"
MOST_VERDICTS = 50_000_000
"""Verdicts that rows may stand for together."""
_PLACE = ("source_file", "source_row")


@dataclass(frozen=True, slots=True)
class Reshaped:
    """A source of one row a verdict (or one column a rater), the spec that reads it, and what was done."""

    source: Source
    spec: Spec
    notes: tuple[str, ...] = ()


def reshape(engine: Engine, spec: Spec, source: Source) -> Reshaped:
    """Apply ``--items`` and ``--count`` to a table.

    Args:
        engine: holds the source.
        spec: as the user gave it.
        source: the only table there is.

    Raises:
        MappingError: a column that does not exist, or no column left to be a rater or an item.
        SourceError: a count that is no whole number.
    """
    found = Reshaped(source, spec)
    if spec.items is not None:
        found = _raters_in_columns(spec, source) if spec.items == "rows" else _raters_in_rows(engine, spec, source)
    if spec.count is not None:
        counted = _counted(engine, found.spec, found.source)
        found = Reshaped(counted.source, counted.spec, (*found.notes, *counted.notes))
    return found


def refuse_for_two(spec: Spec) -> None:
    """Refuse what only one table can carry.

    Raises:
        RequestError: names the option.
    """
    for option, value in (("--items", spec.items), ("--count", spec.count)):
        if value is not None:
            raise RequestError(f"{option} is for one table that holds everything; leave the second file out")


def _others(spec: Spec, source: Source, ids: Sequence[str]) -> list[str]:
    """Columns of no named role."""
    used = {name.casefold() for name in (*named_columns(spec), *ids, *_PLACE) if name}
    return [column for column in source.columns if column.casefold() not in used]


def _raters_in_columns(spec: Spec, source: Source) -> Reshaped:
    """Each row an item, each further column a rater."""
    response = spec.response or (recognise_id(source.columns) or source.columns[0],)
    judges = spec.judge or tuple(_others(spec, source, response))
    if not judges:
        raise MappingError(
            f"--items rows: {printable(source.name)} has no column besides the item's {quoted(response)}: each rater is one"
        )
    said = f"--items rows: each row is an item, named by {quoted(response)}; {len(judges)} columns are raters: {quoted(judges, 12)}"
    return Reshaped(source, spec.model_copy(update={"response": response, "judge": judges}), (said,))


def _raters_in_rows(engine: Engine, spec: Spec, source: Source) -> Reshaped:
    """Each row a rater, each further column an item: turned into one row a verdict."""
    rater = spec.rater or recognise_rater(source.columns) or source.columns[0]
    source.column(rater, "--rater")
    items = _others(spec, source, [rater])
    if not items:
        raise MappingError(
            f'--items columns: {printable(source.name)} has no column besides the rater\'s "{printable(rater)}": each item is one'
        )
    kept = [quote(rater), *(quote(name) for name in _PLACE if name in source.columns)]
    name = engine.name("sideways")
    engine.run(
        f"CREATE TEMP VIEW {name} AS SELECT {', '.join(kept)}, cell[1] AS {quote(ITEM)}, cell[2] AS {quote(VERDICT)} FROM "
        f"(SELECT {', '.join(kept)}, unnest([{_lists(source, items)}]) AS cell "
        f"FROM {source.relation})"
    )
    columns = (rater, *(name for name in _PLACE if name in source.columns), ITEM, VERDICT)
    turned = Source(f"{source.name}, one row a verdict", name, columns, source.sha256, 1)
    said = f'--items columns: each row is a rater, named by "{printable(rater)}"; {len(items)} columns are items: {quoted(items, 12)}'
    update = {"response": (ITEM,), "rater": rater, "verdict": VERDICT, "judge": ()}
    return Reshaped(turned, spec.model_copy(update=update), (said,))


def _lists(source: Source, items: Sequence[str]) -> str:
    """SQL lists of an item's name and its cell."""
    return ", ".join(f"[{_text(item)}, {source.column(item, 'the mapping')}]" for item in items)


def _text(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _counted(engine: Engine, spec: Spec, source: Source) -> Reshaped:
    """Each row as the verdicts it stands for."""
    events, total = _count_columns(spec.count or "", source)
    number = _whole(source.column(total, "--count"))
    met = _whole(source.column(events, "--count")) if events else "0"
    _check_counts(engine, source, number, met, (events, total))
    response = tuple(name for name in spec.response if name not in (ROW, COPY)) or (
        recognise_id(source.columns) or ROW,
    )
    made = {ROW: f"(row_number() OVER () + {source.first_row - 1})::VARCHAR", _ALL: number, _MET: met}
    listed = ", ".join(f"{text} AS {quote(name)}" for name, text in made.items())
    name, copy, most = engine.name("counted"), quote(COPY), f"{quote(_ALL)} + 1"
    outcome = f", CASE WHEN {copy} <= {quote(_MET)} THEN '1' ELSE '0' END AS {quote(OUTCOME)}" if events else ""
    engine.run(
        f"CREATE TEMP VIEW {name} AS SELECT * EXCLUDE ({quote(_ALL)}, {quote(_MET)}){outcome} FROM "
        f"(SELECT *, unnest(range(1, {most})) AS {copy} FROM (SELECT *, {listed} FROM {source.relation}))"
    )
    columns = (*source.columns, ROW, COPY, *((OUTCOME,) if events else ()))
    many = Source(f"{source.name}, one row a verdict", name, columns, source.sha256, 1, unusable=source.unusable)
    update: dict[str, object] = {"response": (*response, COPY)}
    if events:
        update |= {"judge": (OUTCOME,), "scale": spec.scale or "binary"}
    of = f', "{printable(events)}" of them positive' if events else ""
    said = f'--count: each row stands for "{printable(total)}" verdicts{of}; each is a response of its own'
    return Reshaped(many, spec.model_copy(update=update), (said,))


def _whole(text: str) -> str:
    """A whole number as SQL; NULL for any other text, which a cast alone would round."""
    return f"CASE WHEN regexp_full_match(trim({text}), '[0-9]{{1,15}}([.]0*)?') THEN try_cast(trim({text}) AS DOUBLE)::BIGINT END"


def _count_columns(given: str, source: Source) -> tuple[str, str]:
    """Columns of the positive verdicts (or "") and of all verdicts: COL, or POSITIVE/ALL."""
    if given not in source.columns and given.count("/") == 1:
        events, total = (part.strip() for part in given.split("/"))
        source.column(events, "--count")
    else:
        events, total = "", given
    source.column(total, "--count")
    return events, total


def _check_counts(engine: Engine, source: Source, number: str, met: str, names: tuple[str, str]) -> None:
    from evenhand.verdicts.reading import rows_with

    wrong = f"{number} IS NULL OR {number} < 0 OR {met} IS NULL OR {met} < 0 OR {met} > {number}"
    if place := rows_with(engine, source, wrong, limit=1):
        shown = "/".join(printable(name) for name in names if name)
        raise SourceError(
            f"--count {shown}: {place} holds no count: a row stands for a whole number of verdicts, 0 or more"
            + (", and no more of them are positive than there are" if names[0] else "")
        )
    (total,) = engine.one(f"SELECT coalesce(sum({number}), 0) FROM {source.relation}")
    if total > MOST_VERDICTS:
        raise SourceError(
            f"--count: the rows stand for {int(total):,} verdicts; at most {MOST_VERDICTS:,} are read this way"
        )
