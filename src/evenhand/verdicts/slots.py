"""The SQL of a reading: every layout becomes one relation of verdict slots."""

from collections.abc import Mapping, Sequence

from evenhand.errors import JoinError, MappingError, printable, quoted
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.layout import recognise, recognise_cluster, recognise_reference, recognise_response
from evenhand.verdicts.order import natural
from evenhand.verdicts.raters import find_raters
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.sides import Side, read_side
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.values import ValueColumns, value_columns

_Places = Mapping[str, Sequence[tuple[Source, str]]]


class Slots:
    """Builds one reading."""

    def __init__(self, engine: Engine, spec: Spec, sources: tuple[Source, ...]) -> None:
        self.engine, self.spec, self.sources = engine, spec, sources
        self.notes: list[str] = []
        self.source_rows: dict[str, int] = {}
        self.codes = ""

    def paired(self, source: Source) -> Reading:
        """Judge and reference in the same row."""
        names = _judges(self.spec)
        columns = self._values(source, names, self.spec.reference)
        side = self._side(source, self.spec.response, [*columns.of_judges, *columns.reference])
        codes = self._criterion_codes([side])
        selects = [
            self._melt(side, rater, columns.criteria, {"judge": judge, "reference": columns.reference})
            for rater, judge in enumerate(columns.judges)
        ]
        places = {"judge": _places(source, columns.of_judges), "reference": _places(source, columns.reference)}
        return self._reading(selects, names, codes or columns.criteria, bool(columns.reference), places)

    def joined(self, judge: Source, reference: Source) -> Reading:
        """Judge rows from one file, reference rows from another."""
        wanted = self.spec.reference
        spec = recognise(self.spec.model_copy(update={"reference": None}), [judge])
        label = wanted or recognise_reference(reference.columns, _judges(spec)[0])
        if label is None:
            raise MappingError(
                f"{printable(reference.name)}: which column holds the reference labels? Say --reference COL; "
                f"columns are {quoted(reference.columns, 20)}"
            )
        cluster = spec.cluster or recognise_cluster(reference.columns)
        spec = self.spec = spec.model_copy(update={"reference": label, "cluster": cluster})
        names = _judges(spec)
        mine, theirs = self._values(judge, names, None), self._values(reference, (label,), None, "--reference")
        rater = spec.rater if spec.verdict and not spec.judge and spec.rater in judge.columns else None
        left = self._side(judge, spec.response, mine.of_judges, rater)
        right = self._side(reference, recognise_response(reference, spec.response), theirs.of_judges)
        codes = self._criterion_codes([left, right]) or _common(mine.criteria, theirs.criteria, judge, reference)
        if rater and spec.verdict:
            raters, _ = find_raters(self.engine, spec, left, rater, has_labels=True)
            judged, names = self._of_raters(left, raters, {"judge": [spec.verdict]}, codes), tuple(raters)
        else:
            judged = " UNION ALL ".join(
                self._melt(left, number, mine.criteria, {"judge": columns}, codes)
                for number, columns in enumerate(mine.judges)
            )
        labelled = self._melt(right, 0, theirs.criteria, {"reference": theirs.judges[0]}, codes)
        places = {"judge": _places(judge, mine.of_judges), "reference": _places(reference, theirs.of_judges)}
        return self._reading([self._join(judged, labelled, left, right)], names, codes, True, places)

    def rated(self, source: Source) -> Reading:
        """One row a rater's verdict; the reference is one of the raters, a column beside the verdict, or nowhere."""
        spec = self.spec
        if spec.rater is None or spec.verdict is None:
            raise MappingError("a long file by rater needs --rater COL and --verdict COL")
        rater = source.column(spec.rater, "--rater") and spec.rater
        source.column(spec.verdict, "--verdict")
        labels = [spec.reference] if spec.reference in source.columns else []
        side = self._side(source, spec.response, [spec.verdict, *labels], rater)
        judges, reference = find_raters(self.engine, spec, side, rater, has_labels=bool(labels))
        codes = self._criterion_codes([side])
        values = {"judge": [spec.verdict], "reference": labels}
        places = {"judge": _places(source, values["judge"]), "reference": _places(source, labels or values["judge"])}
        if reference is None:
            select = self._of_raters(side, judges, values, codes)
        else:
            judged = self._of_raters(side, judges, {"judge": [spec.verdict]}, codes)
            labelled = self._of_raters(side, [reference], {"reference": [spec.verdict]}, codes)
            select = self._join(judged, labelled, side, side)
            self.spec = spec.model_copy(update={"reference": reference})
        return self._reading([select], tuple(judges), codes or ("",), bool(labels or reference is not None), places)

    # --- parts ---

    def _values(
        self, source: Source, names: Sequence[str], reference: str | None, option: str = "--judge"
    ) -> ValueColumns:
        found = value_columns(source, names, reference, option)
        if found.idle:
            self.notes.append(
                f"columns that fit a pattern but have no partner on the other side are not read: {quoted(found.idle)}"
            )
        return found

    def _side(self, source: Source, response: Sequence[str], used: Sequence[str], rater: str | None = None) -> Side:
        side = read_side(self.engine, self.spec, source, response, used, self.sources, rater)
        self.source_rows |= side.counts
        return side

    def _criterion_codes(self, sides: Sequence[Side]) -> tuple[str, ...]:
        """Criterion names of a criterion column, over all sides; empty where criteria are columns or there is one."""
        lacking = [side.source.name for side in sides if not side.criterion]
        if len(lacking) == len(sides):
            return ()
        if lacking:
            raise MappingError(
                f'{printable(lacking[0])}: no column "{printable(self.spec.criterion or "")}" to meet the other file\'s criteria on'
            )
        union = " UNION ALL ".join(
            f"SELECT {side.criterion} AS c FROM {side.source.relation}{side.where}" for side in sides
        )
        names = sorted((str(name) for (name,) in self.engine.rows(f"SELECT DISTINCT c FROM ({union})")), key=natural)
        self.codes = self.engine.table(
            "criteria", {"name": "VARCHAR", "code": "INTEGER"}, [(name, code) for code, name in enumerate(names)]
        )
        return tuple(names)

    def _of_raters(
        self, side: Side, raters: Sequence[str], values: Mapping[str, Sequence[str]], codes: Sequence[str]
    ) -> str:
        """Slots of the rows of these raters, numbered in the order given."""
        numbers = self.engine.table(
            "raters", {"name": "VARCHAR", "number": "INTEGER"}, [(name, number) for number, name in enumerate(raters)]
        )
        rows = self._melt(side, None, ("",), {**values, "name": [self.spec.rater or ""]}, codes)
        return f"SELECT t.* EXCLUDE (rater, name), n.number AS rater FROM ({rows}) t JOIN {numbers} n USING (name)"

    def _melt(
        self,
        side: Side,
        rater: int | None,
        criteria: Sequence[str],
        values: Mapping[str, Sequence[str]],
        codes: Sequence[str] = (),
    ) -> str:
        """One SELECT of a slot a row: keys, rater, criterion code, status and the values' texts."""
        columns = {"rater": "NULL::INTEGER" if rater is None else str(rater)}
        for name, listed in values.items():
            texts = [side.source.column(column, "the mapping") for column in listed]
            columns[name] = (
                "NULL::VARCHAR" if not texts else texts[0] if len(criteria) == 1 else f"unnest([{', '.join(texts)}])"
            )
        if len(criteria) > 1:
            positions = [codes.index(name) if codes else position for position, name in enumerate(criteria)]
            return side.select({**columns, "criterion": f"unnest({positions})"})
        if side.criterion is None:
            return side.select({**columns, "criterion": "0"})
        inner = side.select({**columns, "criterion_name": side.criterion})
        return (
            f"SELECT t.* EXCLUDE (criterion_name), c.code AS criterion FROM ({inner}) t "
            f"JOIN {self.codes} c ON c.name = t.criterion_name"
        )

    def _join(self, judged: str, labelled: str, left: Side, right: Side) -> str:
        """Judge slots with the reference text that meets them on response and criterion."""
        mine, theirs = self.engine.name("judged"), self.engine.name("labelled")
        self.engine.run(f"CREATE TEMP TABLE {mine} AS {judged}")
        self.engine.run(f"CREATE TEMP TABLE {theirs} AS {labelled}")
        on = "j.response = r.response AND j.criterion = r.criterion"
        alone, met = self.engine.one(
            f"SELECT count(*) FILTER (r.response IS NULL), count(r.response) FROM {mine} j LEFT JOIN {theirs} r ON {on}"
        )
        (idle,) = self.engine.one(f"SELECT count(*) FROM {theirs} r ANTI JOIN {mine} j ON {on}")
        if not met:
            raise JoinError(self._no_match(mine, theirs, left, right))
        self.source_rows |= {
            "judge verdicts that meet a reference row": met,
            "judge verdicts without a reference row": alone,
            "reference rows that meet no judge verdict, left out": idle,
        }
        if idle or alone:
            examples = self._unmet(mine, theirs, on) if alone else self._unmet(theirs, mine, on)
            self.notes.append(
                f"of {met + alone:,} judge verdicts {alone:,} meet no reference row; {idle:,} reference rows meet no "
                f"judge verdict (responses such as {examples})"
            )
        cluster = "coalesce(j.cluster, r.cluster)" if self.spec.cluster else "NULL::VARCHAR"
        return f"SELECT j.* EXCLUDE (cluster), {cluster} AS cluster, r.reference FROM {mine} j LEFT JOIN {theirs} r ON {on}"

    def _unmet(self, mine: str, theirs: str, on: str) -> str:
        found = self.engine.rows(
            f"SELECT DISTINCT j.response FROM {mine} j ANTI JOIN {theirs} r ON {on} ORDER BY 1 LIMIT 3"
        )
        return quoted(str(name) for (name,) in found)

    def _no_match(self, mine: str, theirs: str, left: Side, right: Side) -> str:
        shown = [
            quoted(str(name) for (name,) in self.engine.rows(f"SELECT DISTINCT response FROM {one} ORDER BY 1 LIMIT 5"))
            for one in (mine, theirs)
        ]
        same = left.source is right.source
        names = ("the judge's rows", "the reference's") if same else (left.source.name, right.source.name)
        return (
            f"no response of the judge is in the reference: {printable(names[0])} has {shown[0]}, "
            f"{printable(names[1])} has {shown[1]}. Ids are compared as text, so 7, 007 and 7.0 differ: give both "
            "the same ids, or name the columns with --response"
        )

    def _reading(
        self,
        selects: Sequence[str],
        raters: tuple[str, ...],
        criteria: tuple[str, ...],
        has_reference: bool,
        places: _Places,
    ) -> Reading:
        name = self.engine.name("slots")
        columns = "rater, response, cluster, criterion, condition, judge, status, reference"
        union = " UNION ALL ".join(f"SELECT {columns} FROM ({select})" for select in selects)
        self.engine.run(f"CREATE TEMP VIEW {name} AS {union}")
        return Reading(
            engine=self.engine,
            spec=self.spec,
            sources=self.sources,
            relation=name,
            raters=raters,
            criteria=criteria,
            has_reference=has_reference,
            roles=_roles(self.spec),
            source_rows=self.source_rows,
            notes=tuple(self.notes),
            places={side: tuple(pairs) for side, pairs in places.items()},
        )


def _judges(spec: Spec) -> tuple[str, ...]:
    """Columns or patterns of the judges, in the order of their numbers."""
    return tuple(sorted(spec.judge or ((spec.verdict,) if spec.verdict else ()), key=natural))


def _places(source: Source, columns: Sequence[str]) -> list[tuple[Source, str]]:
    return [(source, column) for column in columns]


def _common(mine: Sequence[str], theirs: Sequence[str], judge: Source, reference: Source) -> tuple[str, ...]:
    if set(mine) == set(theirs):
        return tuple(sorted(mine, key=natural))
    said = [
        f"{printable(source.name)} has " + ("one column of them" if "" in names else f"criteria {quoted(names)}")
        for source, names in ((judge, mine), (reference, theirs))
    ]
    raise MappingError(
        f"verdicts do not meet: {', '.join(said)}; give both sides as patterns over the same criteria, or both as plain columns"
    )


def _roles(spec: Spec) -> dict[str, str]:
    roles = {
        "response": ", ".join(spec.response),
        "cluster": spec.cluster,
        "criterion": spec.criterion,
        "judge": ", ".join(spec.judge),
        "verdict": spec.verdict if not spec.judge else None,
        "rater": spec.rater if spec.verdict and not spec.judge else None,
        "reference": spec.reference,
        "status": spec.status,
        "conditions": ", ".join(spec.facets),
    }
    return {role: printable(column) for role, column in roles.items() if column}
