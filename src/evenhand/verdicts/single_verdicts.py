"""The verdict table of single verdicts: one row a verdict of one rater, with what stood in the file and where."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from evenhand.errors import KeyClashError, ScaleError, printable
from evenhand.verdicts.attributes import length_columns
from evenhand.verdicts.engine import Engine, quote
from evenhand.verdicts.label_texts import folded
from evenhand.verdicts.layout import expand
from evenhand.verdicts.mark_labels import MOST_MARKS
from evenhand.verdicts.order import natural
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.scale import CANNOT_ASSESS, STATUSES, Scale
from evenhand.verdicts.sides import CARRIED
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import FACETS, Spec
from evenhand.verdicts.statuses import reason, status_code
from evenhand.verdicts.table import VerdictTable, count_texts

EXTRA = "extra."
"""Before the name of a column that is carried along."""
PIECE = 10_000
"""Rows of a large table that are sorted at a time."""
PLACE = ("source_file", "source_row")
_KEPT = ("confidence", "explanation")
_CORE = ("response_id", "rater_id", "rater_kind", "value", "status", "raw_value", *PLACE)
_ORDER = (
    *("response_id", "cluster_id", "criterion_id", "rater_id", "rater_kind", *FACETS),
    *("value", "status", "reason", "raw_value", *_KEPT, *PLACE),
)


def numbered(engine: Engine, source: Source, shown: str) -> Source:
    """The source with a name and the row number of each row beside it, as far as it does not hold them itself."""
    held = {column.casefold() for column in source.columns}
    shown = shown.encode("utf-8", "backslashreplace").decode()
    quoted_name = "'" + shown.replace("'", "''") + "'"
    own = {"source_file": quoted_name, "source_row": f"row_number() OVER () + {source.first_row - 1}"}
    added = {name: text for name, text in own.items() if name not in held}
    if not added:
        return source
    name = engine.name("numbered")
    listed = ", ".join(f"{text} AS {column}" for column, text in added.items())
    engine.run(f"CREATE TEMP VIEW {name} AS SELECT *, {listed} FROM {source.relation}")
    return Source(shown, name, (*source.columns, *added), source.sha256, source.first_row, unusable=source.unusable)


def texts_as_labels(reading: Reading) -> Scale:
    """Every text a label of its own, for verdicts that lie on no one scale; words of a status keep it.

    Raises:
        ScaleError: more different texts than can be kept apart.
    """
    spec = reading.spec
    words = dict.fromkeys(CANNOT_ASSESS, "abstained")
    for status, declared in (("abstained", spec.abstain), ("tied", spec.tie), ("missing", spec.na)):
        words |= {folded(word): status for word in declared}
    sides = ("judge", "reference") if reading.has_reference else ("judge",)
    texts = {side: count_texts(reading, side, MOST_MARKS) for side in sides}
    if any(len(found) > MOST_MARKS for found in texts.values()):
        raise ScaleError(f"more than {MOST_MARKS:,} different texts: this is no column of verdicts; name another one")
    labels = sorted({t for found in texts.values() for t in found if t.strip() and folded(t) not in words}, key=natural)
    known = {label: code for code, label in enumerate(labels)}

    def codes(side: str, blank: str) -> dict[str, int]:
        status = {text: blank if not text.strip() else words.get(folded(text), "") for text in texts.get(side, {})}
        return {text: known[text] if not of else len(known) + STATUSES.index(of) for text, of in status.items()}

    return Scale(
        "nominal", tuple(labels), "texts as they stand", codes("judge", spec.blank), codes("reference", "missing")
    )


class SingleVerdicts:
    """Single verdicts of a coded table whose reading carries its columns.

    Attributes:
        relation: table of response_id, rater_id, rater_kind, value, status, raw_value, source_file, source_row and those of
            cluster_id, criterion_id, the facets, reason, confidence, explanation and ``extra.*`` that hold anything.
        columns: its columns in order.
        spec: how the table is read again, to the same numbers.
        left_out: rows of labels that cannot stand in it, by reason.
    """

    def __init__(self, table: VerdictTable, *, has_scale: bool = True) -> None:
        self.has_scale = has_scale
        self.table, self.engine, self.reading = table, table.engine, table.reading
        self.spec, self.left_out = self.reading.spec, dict[str, int]()
        self.has_criteria = self.reading.criteria != ("",)
        self.reference_name = self._reference_name()
        self._carried = self._carried_columns()
        selects = [self._of_judges(), *([self._of_reference()] if self.reading.has_reference else [])]
        everything = self.engine.held("verdicts", " UNION ALL ".join(selects))
        self.columns = self._columns_in_use(everything)
        self.relation = everything
        self.spec = self._respec()

    # --- the two kinds of rows ---

    def _of_judges(self) -> str:
        names = self.engine.table("names", {"number": "INTEGER", "name": "VARCHAR"}, enumerate(self.reading.raters))
        return self._select("judge", self.reading.judged, f"JOIN {names} n ON n.number = s.rater", "n.name", {})

    def _of_reference(self) -> str:
        rows, status = self.reading.labelled, {}
        if self.reading.layout != "rated":
            status = {"status": "''", "reason": "''"}
        if self.reading.layout == "paired":
            rows = self._distinct_labels()
        text = quote(self.reference_name)[1:-1].replace('""', '"').replace("'", "''")
        return self._select("reference", rows, "", f"'{text}'", status)

    def _select(self, side: str, rows: str, join: str, rater: str, said: Mapping[str, str]) -> str:
        scale, engine = self.table.scale, self.engine
        codes = scale.judge_codes if side == "judge" else scale.reference_codes
        coded = engine.table("labels", {"text": "VARCHAR", "code": "INTEGER"}, codes.items())
        named = engine.table("levels", {"code": "INTEGER", "label": "VARCHAR"}, enumerate(scale.levels))
        states = engine.table(
            "states",
            {"code": "INTEGER", "status": "VARCHAR"},
            [(scale.size + n, one) for n, one in enumerate(STATUSES)],
        )
        criteria = engine.table("criteria", {"code": "INTEGER", "name": "VARCHAR"}, enumerate(self.reading.criteria))
        clusters = f"(SELECT response, any_value(cluster) AS known FROM {self.reading.relation} GROUP BY 1)"
        status, why = said.get("status", "s.status"), said.get("reason", "s.reason")
        code = f"coalesce(c.code, {scale.status('missing')})"
        has_status = self.reading.spec.status or (self.reading.spec.parse and side == "judge")
        code = status_code(scale, status, code) if has_status else code
        columns = {
            "response_id": "s.response",
            "cluster_id": "coalesce(s.cluster, k.known)" if self.reading.spec.cluster else "NULL::VARCHAR",
            "criterion_id": "q.name" if self.has_criteria else "NULL::VARCHAR",
            "rater_id": rater,
            "rater_kind": f"'{side}'",
            "value": "v.label",
            "status": "coalesce(t.status, 'scored')",
            "reason": reason(scale, "s.code", f"s.{side}", "s.said", "s.why"),
            "raw_value": self._raw(side),
            "source_row": f"try_cast({self._held('source_row')} AS BIGINT)",
        }
        columns |= {"source_file": self._held("source_file"), **{name: self._beside(side, name) for name in _KEPT}}
        facets = {role: getattr(self.reading.spec, role) for role in FACETS}
        columns |= {role: self._held(name) if name else "NULL::VARCHAR" for role, name in facets.items()}
        listed = ", ".join(f"{columns[name]} AS {quote(name)}" for name in _ORDER)
        extra = "".join(
            f", nullif(s.{quote(CARRIED + name)}, '') AS {quote(new)}" for name, new in self._carried.items()
        )
        inner = f"SELECT s.*, {code} AS code, {status} AS said, {why} AS why FROM {rows} s LEFT JOIN {coded} c ON c.text = s.{side}"
        test = f"WHERE s.{side} IS NOT NULL"
        if self.reading.spec.cluster:
            (lost,) = engine.one(
                f"SELECT count(*) FROM {rows} s LEFT JOIN {clusters} k USING (response) {test} AND coalesce(s.cluster, k.known) IS NULL"
            )
            if lost:
                self.left_out["reference rows that meet no judge verdict and have no cluster"] = lost
                test += " AND coalesce(s.cluster, k.known) IS NOT NULL"
        return (
            f"SELECT {listed}{extra} FROM ({inner}) s {join} LEFT JOIN {named} v ON v.code = s.code "
            f"LEFT JOIN {states} t ON t.code = s.code LEFT JOIN {criteria} q ON q.code = s.criterion "
            f"LEFT JOIN {clusters} k ON k.response = s.response {test}"
        )

    def _distinct_labels(self) -> str:
        """Labels that stand beside every verdict of a response, once; once a condition where they differ between them."""
        rows, name = self.reading.labelled, self.engine.name("labelled")
        for by in ("response, criterion", "response, criterion, condition"):
            (differing,) = self.engine.one(
                f"SELECT count(*) FROM (SELECT 1 FROM {rows} WHERE reference IS NOT NULL GROUP BY {by} HAVING count(DISTINCT reference) > 1)"
            )
            if not differing:
                facets = [CARRIED + column for column in self.reading.spec.facets] if by.count(",") == 1 else []
                blank = f" REPLACE ({', '.join(f'NULL::VARCHAR AS {quote(one)}' for one in facets)})" if facets else ""
                place = [
                    quote(CARRIED + column) for column in PLACE
                ]  # found by itself, a row's texts stay where they are
                keys = ", ".join(dict.fromkeys(["response", "criterion", "rater", "condition", *place]))
                first = (
                    f"SELECT {keys} FROM {rows} QUALIFY row_number() OVER "
                    f"(PARTITION BY {by} ORDER BY try_cast({place[1]} AS BIGINT), rater) = 1"
                )
                same = " AND ".join(f"s.{key} IS NOT DISTINCT FROM o.{key}" for key in keys.split(", "))
                self.engine.run(
                    f"CREATE TEMP VIEW {name} AS SELECT *{blank} FROM (SELECT s.* FROM {rows} s SEMI JOIN ({first}) o ON {same})"
                )
                return name
        (response, criterion) = self.engine.rows(
            f"SELECT response, criterion FROM {rows} GROUP BY response, criterion, condition HAVING count(DISTINCT reference) > 1 "
            "ORDER BY ALL LIMIT 1"
        )[0]
        said = f' criterion "{printable(self.reading.criteria[criterion])}"' if self.has_criteria else ""
        raise KeyClashError(
            f'response "{printable(response)}"{said} has different reference labels beside its raters; one row a verdict holds '
            "one reference: mend the labels, or convert each rater by itself"
        )

    # --- columns ---

    def _raw(self, side: str) -> str:
        """What stood in the file; of a parsed verdict the reply, of another one what its log says stood there."""
        own, logged = f"nullif(s.{side}_raw, '')", self._held("raw_value")
        is_parsed = self.reading.spec.parse is not None and side == "judge"
        return f"coalesce({own}, {logged})" if is_parsed else f"coalesce({logged}, {own})"

    def _beside(self, side: str, name: str) -> str:
        """The confidence or explanation of a verdict: the judge's own where it shares its row with the reference."""
        given = getattr(self.reading.spec, name)
        if given is None:
            return self._held(name)
        if side == "reference" and self.reading.layout == "paired":
            return "NULL::VARCHAR"
        return "nullif(trim(s.confidence), '')" if name == "confidence" and side == "judge" else self._held(given)

    def _held(self, name: str) -> str:
        found = next((one for one in self._all_carried if one.casefold() == name.casefold()), None)
        return f"nullif(s.{quote(CARRIED + found)}, '')" if found is not None else "NULL::VARCHAR"

    @property
    def _all_carried(self) -> Sequence[str]:
        described = self.engine.rows(f"DESCRIBE {self.reading.judged}")
        return [name.removeprefix(CARRIED) for name, *_ in described if name.startswith(CARRIED)]

    def _carried_columns(self) -> dict[str, str]:
        """Columns of no role → their names in the table."""
        spec = self.reading.spec
        roles = (
            spec.cluster,
            spec.criterion,
            spec.rater,
            spec.rater_kind,
            spec.verdict,
            spec.status,
            spec.reason,
            spec.explanation,
            *(expand(spec.confidence, self._all_carried).values() if spec.confidence else ()),
            *spec.facets,
        )
        used = {
            *spec.response,
            *filter(None, roles),
            *(column for pairs in self.reading.places.values() for _, column in pairs),
        }
        used = {name.casefold() for name in (*used, *PLACE, *_KEPT, "raw_value")}
        names: dict[str, str] = {}
        taken = {name.casefold() for name in _ORDER}
        for column in self._all_carried:
            if column.casefold() not in used:
                new = column if column.startswith(EXTRA) else EXTRA + column
                while new.casefold() in taken:
                    new += " 2"
                taken.add(new.casefold())
                names[column] = new
        return names

    def _columns_in_use(self, relation: str) -> tuple[str, ...]:
        listed = [*_ORDER, *self._carried.values()]
        counts = self.engine.one(f"SELECT {', '.join(f'count({quote(name)})' for name in listed)} FROM {relation}")
        return tuple(name for name, count in zip(listed, counts, strict=True) if count or name in _CORE)

    def _reference_name(self) -> str:
        name = (
            self.reading.spec.reference
            if self.reading.spec.reference and self.reading.layout == "rated"
            else "reference"
        )
        while name in self.reading.raters:
            name += " 2"
        return name

    def _respec(self) -> Spec:
        """The spec under which the table gives the numbers of its sources."""
        scale, spec = self.table.scale, self.reading.spec
        roles = {
            "response": ("response_id",),
            "cluster": "cluster_id" if spec.cluster else None,
            "criterion": "criterion_id" if self.has_criteria else None,
            "rater": "rater_id",
            "rater_kind": "rater_kind",
            "verdict": "value",
            "status": "status",
            "reason": "reason" if "reason" in self.columns else None,
            "confidence": "confidence" if spec.confidence and "confidence" in self.columns else None,
            "explanation": "explanation" if spec.explanation and "explanation" in self.columns else None,
            "strata": self._carried.get(spec.strata or ""),
            "weight": self._carried.get(spec.weight or ""),
            "items": None,
            "count": None,
            "reference": self.reference_name if self.reading.has_reference else None,
            "second_cluster": self._carried.get(spec.second_cluster or ""),
            "length": tuple(self._carried.get(column, column) for column in length_columns(spec)),
            "author": tuple(self._carried.get(column, column) for column in spec.author),
            "group": tuple(self._carried.get(column, column) for column in spec.group),
            **{role: role if getattr(spec, role) and role in self.columns else None for role in FACETS},
        }
        read = {
            "judge": (),
            "text": (),
            "texts": "none",
            "format": None,
            "encoding": None,
            "parse": None,
            "refusal": (),
            "sheet": None,
            "decimal": None,
        }
        words = {"abstain": (), "tie": (), "na": (), "blank": "missing", "clean": (), "fractions": False}
        is_levels = scale.kind in ("binary", "nominal", "ordinal")
        found = {"scale": scale.kind, "levels": scale.levels if is_levels else (), "positive": None}
        if scale.kind == "pairwise":
            found["positive"] = scale.positive
        if not self.has_scale:
            found = {}
        return spec.model_copy(update={**roles, **read, **words, **found})

    @property
    def ordered(self) -> str:
        """The table as a query, in the order of the files' rows."""
        return self._in_order()

    def pieces(self) -> Iterator[str]:
        """The same as consecutive queries of bounded length, for tables that cannot be sorted in memory."""
        rows, distinct = self.engine.one(f"SELECT count(*), count(DISTINCT source_row) FROM {self.relation}")
        step = max(1, PIECE * max(distinct, 1) // rows)
        for place, low, high, lacking in self.engine.rows(
            f"SELECT f.place, min(source_row), max(source_row), count(*) - count(source_row) FROM {self.relation} v "
            f"LEFT JOIN {self._files} f ON f.file = v.source_file GROUP BY 1 ORDER BY 1"
        ):
            of_file = "f.place IS NULL" if place is None else f"f.place = {place}"
            for start in range(low, high + 1, step) if low is not None else ():
                yield self._in_order(f"{of_file} AND v.source_row BETWEEN {start} AND {start + step - 1}")
            if lacking:
                yield self._in_order(f"{of_file} AND v.source_row IS NULL")

    @cached_property
    def _files(self) -> str:
        """The files' names with their places in the order given."""
        files = [part.name for source in self.reading.sources for part in (source.parts or (source,))]
        return self.engine.table(
            "files", {"file": "VARCHAR", "place": "INTEGER"}, [(name, n) for n, name in enumerate(dict.fromkeys(files))]
        )

    def _in_order(self, test: str = "true") -> str:
        listed = ", ".join(quote(name) for name in self.columns)
        position = self.engine.table(
            "criteria",
            {"name": "VARCHAR", "position": "INTEGER"},
            [(name, place) for place, name in enumerate(sorted(self.reading.criteria, key=natural))],
        )
        return (
            f"SELECT {listed} FROM {self.relation} v LEFT JOIN {position} p ON p.name = v.criterion_id "
            f"LEFT JOIN {self._files} f ON f.file = v.source_file WHERE {test} "
            "ORDER BY f.place, v.source_row, v.rater_kind, p.position, v.rater_id, v.response_id"
        )

    def counts(self) -> list[tuple[str, str, str, int]]:
        """(rater kind, status, reason, count) of all verdicts."""
        return [
            (str(kind), str(status), str(why or ""), int(count))
            for kind, status, why, count in self.engine.rows(
                f"SELECT rater_kind, status, reason, count(*) FROM {self.relation} GROUP BY ALL ORDER BY 1, 4 DESC, 2, 3"
            )
        ]
