"""One source's rows as keys: the response, cluster, criterion and condition that each row speaks about."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.errors import KeyClashError, printable
from evenhand.verdicts.cleaning import INVISIBLE, SPACES, id_text
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.reading import rows_with
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec

_JOINER = " | "
CARRIED = "carried."
"""Before the name of a column that is handed on."""


@dataclass(frozen=True, slots=True)
class Side:
    """One source with the keys of its rows as SQL.

    Attributes:
        source: whose rows they are.
        response, cluster, condition, status, reason, stratum: expressions of text.
        criterion: the same, where a column names the criterion.
        where: leaves out the rows that are blank throughout; may be empty.
        counts: rows, and rows left out, by name.
        notes: what the user should know about the ids.
        carried: columns handed on beside the keys; NULL where the source has none of that name.
    """

    source: Source
    response: str
    cluster: str
    condition: str
    status: str
    reason: str
    stratum: str
    criterion: str | None
    where: str
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()

    def select(self, columns: Mapping[str, str]) -> str:
        """A SELECT of the keys and these expressions."""
        keys = {"response": self.response, "cluster": self.cluster, "condition": self.condition}
        keys |= {"status": self.status, "reason": self.reason, "stratum": self.stratum}
        own = {column.casefold(): quote(column) for column in self.source.columns}
        carried = {
            quote(CARRIED + name): f"CAST({own.get(name.casefold(), 'NULL')} AS VARCHAR)" for name in self.carried
        }
        listed = ", ".join(f"{expression} AS {name}" for name, expression in {**keys, **columns, **carried}.items())
        return f"SELECT {listed} FROM {self.source.relation}{self.where}"


def read_side(
    engine: Engine,
    spec: Spec,
    source: Source,
    response: Sequence[str],
    used: Sequence[str],
    sources: Sequence[Source],
    rater: str | None = None,
    carried: Sequence[str] = (),
) -> Side:
    """The keys of a source's rows; rows that are blank throughout are left out, others must have their keys.

    Args:
        engine: holds the source.
        spec: names the key columns.
        source: whose rows.
        response: its columns that identify a response.
        used: its columns of verdicts.
        sources: all there are; a key column that only another one has is no key here.
        rater: its column of raters, in a long file.
        carried: columns to hand on.

    Raises:
        MappingError: a key column that no source has.
        KeyClashError: a row with verdicts but without one of its keys.
    """

    def here(name: str | None, option: str) -> str | None:
        if name is not None and name not in source.columns and not any(name in other.columns for other in sources):
            source.column(name, option)
        return name if name in source.columns else None

    cluster, criterion = here(spec.cluster, "--cluster"), here(spec.criterion, "--criterion")
    status, reason = here(spec.status, "--status"), here(spec.reason, "the reasons' option")
    stratum = here(spec.strata, "--strata")
    facets = [name for name in spec.facets if here(name, "a condition's option")]
    keys = [("response id", name) for name in response]
    keys += [(what, name) for what, name in (("cluster", cluster), ("criterion", criterion), ("rater", rater)) if name]
    where, counts = _without_blank_rows(engine, source, keys, used)
    ids = [*response, *(name for name in (cluster, criterion) if name)]
    return Side(
        source=source,
        response=response_key(source, response, spec),
        cluster=id_text(source.column(cluster, "--cluster"), spec) if cluster else "NULL::VARCHAR",
        condition=_joined(source.column(name, "a condition") for name in facets) if facets else "''",
        status=source.column(status, "--status") if status else "''",
        reason=source.column(reason, "the reasons' option") if reason else "''",
        stratum=id_text(source.column(stratum, "--strata"), spec) if stratum else "NULL::VARCHAR",
        criterion=id_text(source.column(criterion, "--criterion"), spec) if criterion else None,
        where=where,
        counts=counts,
        notes=tuple(_odd_ids(engine, spec, source, ids)),
        carried=tuple(carried),
    )


def response_key(source: Source, names: Sequence[str], spec: Spec) -> str:
    """The SQL text of a response id over one or several columns."""
    return _joined(id_text(source.column(name, "--response"), spec) for name in names)


def _odd_ids(engine: Engine, spec: Spec, source: Source, names: Sequence[str]) -> Iterator[str]:
    """Ids that look like others: in decomposed form, with outer space or with characters that cannot be seen."""
    texts = [source.column(name, "the mapping") for name in names]
    suspects = " OR ".join(f"strlen({text}) <> length({text}) OR trim({text}, '{SPACES}') <> {text}" for text in texts)
    if not engine.rows(f"SELECT 1 FROM {source.relation} WHERE {suspects} LIMIT 1"):
        return
    for name, text in zip(names, texts, strict=True):
        padded = f"trim({text}, '{SPACES}') <> {text} AND trim({text}) <> ''"
        composed, hidden, spaced = engine.one(
            f"SELECT count(*) FILTER (nfc_normalize({text}) <> {text}), "
            f"count(*) FILTER (regexp_matches({text}, '[{INVISIBLE}]')), count(*) FILTER ({padded}) FROM {source.relation}"
        )
        said = f'{printable(source.name)} column "{printable(name)}"'
        if composed:
            yield f"{said}: {composed:,} ids are written in decomposed form (NFD) and are read as NFC"
        for count, what, step in (
            (hidden, "characters that cannot be seen", "zero-width"),
            (spaced, "outer space", "trim"),
        ):
            if count:
                done = "taken out" if step in spec.clean else f"kept; --clean {step} takes it out"
                yield f"{said}: {count:,} ids hold {what}: {done}"


def _joined(texts: Iterable[str]) -> str:
    """Several texts as one that no other combination gives."""
    parts = list(texts)
    return parts[0] if len(parts) == 1 else f" || '{_JOINER}' || ".join(f"replace({part}, '|', '||')" for part in parts)


def split_condition(condition: str, n_facets: int) -> tuple[str, ...]:
    """The values of the facets that were joined to one condition."""
    if n_facets == 1:
        return (condition,)
    return tuple(part.replace("||", "|") for part in condition.split(_JOINER))


def _without_blank_rows(
    engine: Engine, source: Source, keys: Sequence[tuple[str, str]], used: Sequence[str]
) -> tuple[str, dict[str, int]]:
    """The WHERE that leaves blank rows out, and how many rows there are."""
    shown = printable(source.name)
    (total,) = engine.one(f"SELECT count(*) FROM {source.relation}")
    lacking_any = " OR ".join(_is_blank(source.column(name, "the mapping")) for _, name in keys)
    suspects = engine.rows(f"SELECT 1 FROM {source.relation} WHERE {lacking_any} LIMIT 1")
    if not suspects:  # a blank row lacks its keys, too
        return "", {f"{shown}: rows": total}
    texts = [source.column(name, "the mapping") for name in dict.fromkeys([*(name for _, name in keys), *used])]
    nothing = " AND ".join(f"trim({text}) = ''" for text in texts)
    tests = ", ".join(
        f"count(*) FILTER (trim({source.column(name, 'the mapping')}) = '' AND NOT ({nothing}))" for _, name in keys
    )
    blank, *lacking = engine.one(f"SELECT count(*) FILTER ({nothing}), {tests} FROM {source.relation}")
    for (what, name), count in zip(keys, lacking, strict=True):
        if count:
            raise KeyClashError(_keyless(engine, source, what, name, count, nothing))
    counts = {f"{shown}: rows": total} | ({f"{shown}: blank rows left out": blank} if blank else {})
    return (f" WHERE NOT ({nothing})" if blank else ""), counts


def _is_blank(text: str) -> str:
    """SQL: the text is empty or spaces alone; a comparison stands first, which skips whole pieces of a Parquet file."""
    return f"(({text} < '!' OR {text} >= '\u00a0') AND trim({text}) = '')"


def _keyless(engine: Engine, source: Source, what: str, name: str, count: int, nothing: str) -> str:
    rows = rows_with(engine, source, f"trim({source.column(name, 'the mapping')}) = '' AND NOT ({nothing})")
    return (
        f'{printable(source.name)}: {count:,} row(s) have no {what}: column "{printable(name)}", {rows}. '
        "No id is invented: fill it in, or take the rows out"
    )
