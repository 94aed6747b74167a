"""The SQL of a reading: every layout becomes one relation of verdict slots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import JoinError, KeyClashError, MappingError, printable, quoted
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.layout import CRITERION, expand, recognise, recognise_reference, recognise_response
from evenhand.verdicts.order import natural
from evenhand.verdicts.reading import Reading, rows_with
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec

_REFERENCE_KINDS = ("reference", "gold")
_REFERENCE_RATERS = ("reference", "gold", "human", "ground_truth", "truth", "expert", "teacher")
_JOINER = " | "


@dataclass(frozen=True, slots=True)
class _Side:
    """One source with the keys of its rows as SQL."""

    source: Source
    response: str
    cluster: str
    condition: str
    where: str
    criterion: str | None

    def select(self, columns: Mapping[str, str]) -> str:
        """A SELECT of the keys and these expressions."""
        keys = {"response": self.response, "cluster": self.cluster, "condition": self.condition, **columns}
        listed = ", ".join(f"{expression} AS {name}" for name, expression in keys.items())
        return f"SELECT {listed} FROM {self.source.relation}{self.where}"


class Slots:
    """Builds one reading."""

    def __init__(self, engine: Engine, spec: Spec, sources: tuple[Source, ...]) -> None:
        self.engine, self.spec, self.sources = engine, spec, sources
        self.notes: list[str] = []
        self.source_rows: dict[str, int] = {}

    def paired(self, source: Source) -> Reading:
        """Judge and reference in the same row."""
        spec = self.spec
        names = spec.judge or ((spec.verdict,) if spec.verdict else ())
        criteria, by_judge, references = self._value_columns(source, names, spec.reference)
        used = [column for columns in by_judge for column in columns] + references
        side = self._side(source, spec.response, used)
        codes = self._criterion_codes([side])
        order = sorted(range(len(names)), key=lambda position: natural(names[position]))
        selects = [
            self._melt(side, rater, criteria, {"judge": by_judge[position], "reference": references})
            for rater, position in enumerate(order)
        ]
        places = {
            "judge": [(source, c) for c in used if c not in references],
            "reference": [(source, c) for c in references],
        }
        return self._reading(selects, tuple(names[p] for p in order), codes or criteria, bool(references), places)

    def joined(self, judge: Source, reference: Source) -> Reading:
        """Judge rows from one file, reference rows from another."""
        wanted = self.spec.reference
        spec = self.spec = recognise(self.spec.model_copy(update={"reference": None}), [judge])
        names = spec.judge or ((spec.verdict,) if spec.verdict else ())
        label = wanted or recognise_reference(reference.columns, names[0])
        if label is None:
            raise MappingError(
                f"{printable(reference.name)}: which column holds the reference labels? Say --reference COL; "
                f"columns are {quoted(reference.columns, 20)}"
            )
        self.spec = spec.model_copy(update={"reference": label})
        criteria, by_judge, _ = self._value_columns(judge, names, None)
        their_criteria, (labels,), _ = self._value_columns(reference, (label,), None)
        left = self._side(judge, spec.response, [column for columns in by_judge for column in columns])
        right = self._side(reference, recognise_response(reference.columns, spec.response), labels)
        codes = self._criterion_codes([left, right]) or self._common(criteria, their_criteria, judge, reference)
        order = sorted(range(len(names)), key=lambda position: natural(names[position]))
        judged = " UNION ALL ".join(
            self._melt(left, rater, criteria, {"judge": by_judge[position]}, codes)
            for rater, position in enumerate(order)
        )
        labelled = self._melt(right, 0, their_criteria, {"reference": labels}, codes)
        select = self._join(judged, labelled, (judge, left), (reference, right))
        places = {
            "judge": [(judge, c) for by in by_judge for c in by],
            "reference": [(reference, c) for c in labels],
        }
        return self._reading([select], tuple(names[p] for p in order), codes, True, places)

    def rated(self, source: Source) -> Reading:
        """One row a rater's verdict."""
        spec = self.spec
        if spec.rater is None or spec.verdict is None:
            raise MappingError("a long file by rater needs --rater COL and --verdict COL")
        judges, reference = self._raters(source)
        side = self._side(source, spec.response, [spec.verdict, spec.rater])
        codes = self._criterion_codes([side])
        rater = source.column(spec.rater, "--rater")
        numbers = self.engine.table(
            "raters", {"name": "VARCHAR", "rater": "INTEGER"}, zip(judges, range(len(judges)), strict=True)
        )
        rows = self._melt(side, None, ("",), {"value": [spec.verdict], "name": [spec.rater]}, codes)
        judged = f"SELECT r.rater, t.* EXCLUDE (rater, value, name), value AS judge FROM ({rows}) t JOIN {numbers} r USING (name)"
        places = {"judge": [(source, spec.verdict)], "reference": [(source, spec.verdict)]}
        names = tuple(judges)
        if reference is None:
            self._count_rows("rows", f"SELECT count(*) FROM {source.relation}")
            return self._reading(
                [f"SELECT *, NULL::VARCHAR AS reference FROM ({judged})"],
                names,
                codes or ("",),
                False,
                places,
            )
        chosen = self.engine.table("chosen", {"name": "VARCHAR"}, [[reference]])
        labelled = f"SELECT t.* EXCLUDE (value, name), value AS reference FROM ({rows}) t JOIN {chosen} USING (name)"
        del rater
        select = self._join(judged, labelled, (source, side), (source, side))
        self.spec = spec.model_copy(update={"reference": reference})
        return self._reading([select], names, codes or ("",), True, places)

    # --- parts ---

    def _side(self, source: Source, response: Sequence[str], used: Sequence[str]) -> _Side:
        """The keys of a source's rows; rows that are blank throughout are left out, others must have their keys."""
        spec = self.spec
        ids = [f"nfc_normalize({source.column(name, '--response')})" for name in response]
        key = ids[0] if len(ids) == 1 else f" || '{_JOINER}' || ".join(f"replace({part}, '|', '||')" for part in ids)
        here = spec.cluster if spec.cluster in source.columns else None
        if spec.cluster and here is None and all(spec.cluster not in other.columns for other in self.sources):
            source.column(spec.cluster, "--cluster")
        cluster = f"nfc_normalize({source.column(here, '--cluster')})" if here else "NULL::VARCHAR"
        facets = [
            source.column(name, "a facet option")
            for name in spec.facets
            if name in source.columns or len(self.sources) == 1
        ]
        condition = f" || '{_JOINER}' || ".join(facets) if facets else "''"
        criterion = None
        if spec.criterion and spec.criterion in source.columns:
            criterion = f"nfc_normalize({source.column(spec.criterion, '--criterion')})"
        elif spec.criterion and len(self.sources) == 1:
            source.column(spec.criterion, "--criterion")
        where = self._leave_blank_rows(source, response, here, [*response, *used, *([here] if here else [])])
        return _Side(source, key, cluster, condition, where, criterion)

    def _leave_blank_rows(
        self, source: Source, response: Sequence[str], cluster: str | None, used: Sequence[str]
    ) -> str:
        texts = [source.column(name, "the mapping") for name in dict.fromkeys(used)]
        nothing = " AND ".join(f"trim({text}) = ''" for text in texts)
        keys = {"response id": response[0], **({"cluster": cluster} if cluster else {})}
        tests = ", ".join(
            f"count(*) FILTER (trim({source.column(name, 'the mapping')}) = '' AND NOT ({nothing}))"
            for name in keys.values()
        )
        total, blank, *lacking = self.engine.one(
            f"SELECT count(*), count(*) FILTER ({nothing}), {tests} FROM {source.relation}"
        )
        for (what, name), count in zip(keys.items(), lacking, strict=True):
            if count:
                rows = ", ".join(map(str, rows_with(self.engine, source, {name: ""}))) or "?"
                raise KeyClashError(
                    f'{printable(source.name)}: {count:,} row(s) have no {what}: column "{printable(name)}", rows {rows}. '
                    "No id is invented: fill it in, or take the rows out"
                )
        self.source_rows[f"{printable(source.name)}: rows"] = total
        if blank:
            self.source_rows[f"{printable(source.name)}: blank rows left out"] = blank
        return f" WHERE NOT ({nothing})" if blank else ""

    def _value_columns(
        self, source: Source, names: Sequence[str], reference: str | None
    ) -> tuple[tuple[str, ...], list[list[str]], list[str]]:
        """Criteria in natural order, and for each judge and for the reference its column of each criterion."""
        sides = [expand(name, source.columns) for name in names]
        for name, side in zip(names, sides, strict=True):
            if not side:
                raise MappingError(
                    f'{printable(source.name)}: no column fits --judge "{printable(name)}"; columns are {quoted(source.columns, 20)}'
                )
        labels = expand(reference, source.columns) if reference else {}
        if reference and not labels:
            raise MappingError(
                f'{printable(source.name)}: no column fits --reference "{printable(reference)}"; columns are {quoted(source.columns, 20)}'
            )
        everything = [*sides, labels] if reference else sides
        common = set(everything[0]).intersection(*everything[1:])
        if not common:
            raise MappingError(
                f"judge and reference have no criterion in common: {quoted(sorted(everything[0]))} against "
                f"{quoted(sorted(everything[-1]))}; both sides are patterns such as 'judge_{CRITERION}', or both plain columns"
            )
        common = self._numbered_only(common, everything)
        criteria = tuple(sorted(common, key=natural))
        for side, name in zip(sides, names, strict=True):
            for criterion in criteria:
                source.column(side[criterion], f"--judge {name}")
        columns = [[side[criterion] for criterion in criteria] for side in sides]
        for criterion in criteria:
            if reference:
                source.column(labels[criterion], f"--reference {reference}")
        return criteria, columns, [labels[criterion] for criterion in criteria] if reference else []

    def _numbered_only(self, common: set[str], everything: Sequence[Mapping[str, str]]) -> set[str]:
        """Of captures such as 1, 2, …, and "xplanation", the numbers; what is dropped is said."""
        numbers = {criterion for criterion in common if criterion.isdigit()}
        kept = numbers if len(numbers) > 1 else common
        dropped = sorted({side[criterion] for side in everything for criterion in side if criterion not in kept})
        if dropped:
            self.notes.append(
                f"columns that fit a pattern but have no partner on the other side are not read: {quoted(dropped)}"
            )
        return kept

    def _criterion_codes(self, sides: Sequence[_Side]) -> tuple[str, ...]:
        """Criterion names of a criterion column, over all sides; empty where criteria are columns or there is one."""
        with_column = [side for side in sides if side.criterion]
        if not with_column:
            return ()
        if len(with_column) < len(sides):
            lacking = next(side.source.name for side in sides if not side.criterion)
            raise MappingError(
                f'{printable(lacking)}: no column "{printable(self.spec.criterion or "")}" to meet the other file\'s criteria on'
            )
        union = " UNION ".join(
            f"SELECT {side.criterion} AS c FROM {side.source.relation}{side.where}" for side in sides
        )
        found = sorted((str(name) for (name,) in self.engine.rows(union)), key=natural)
        self.codes = self.engine.table(
            "criteria",
            {"name": "VARCHAR", "code": "INTEGER"},
            [(name, code) for code, name in enumerate(found)],
        )
        return tuple(found)

    def _common(
        self, mine: tuple[str, ...], theirs: tuple[str, ...], judge: Source, reference: Source
    ) -> tuple[str, ...]:
        if set(mine) == set(theirs):
            return tuple(sorted(mine, key=natural))
        raise MappingError(
            f"{printable(judge.name)} has criteria {quoted(mine)}, {printable(reference.name)} has {quoted(theirs)}: "
            "give both sides as patterns over the same criteria, or both as plain columns"
        )

    def _melt(
        self,
        side: _Side,
        rater: int | None,
        criteria: Sequence[str],
        values: Mapping[str, Sequence[str]],
        codes: Sequence[str] = (),
    ) -> str:
        """One SELECT of a slot a row: keys, rater, criterion code, status and the values' texts."""
        spec, source = self.spec, side.source
        status = source.column(spec.status, "--status") if spec.status and spec.status in source.columns else "''"
        columns = {"rater": "NULL::INTEGER" if rater is None else str(rater), "status": status}
        if len(criteria) > 1:
            positions = [codes.index(name) if codes else position for position, name in enumerate(criteria)]
            columns["criterion"] = f"unnest({positions})"
            for name, listed in values.items():
                columns[name] = "unnest([" + ", ".join(source.column(column, "the mapping") for column in listed) + "])"
            return self._complete(side.select(columns), values)
        for name, listed in values.items():
            if listed:
                columns[name] = source.column(listed[0], "the mapping")
        if side.criterion is None:
            return self._complete(side.select({**columns, "criterion": "0"}), values)
        inner = side.select({**columns, "criterion_name": side.criterion})
        coded = f"SELECT t.* EXCLUDE (criterion_name), c.code AS criterion FROM ({inner}) t JOIN {self.codes} c ON c.name = t.criterion_name"
        return self._complete(coded, values)

    @staticmethod
    def _complete(select: str, values: Mapping[str, Sequence[str]]) -> str:
        """Add a NULL reference where the layout has none."""
        if "reference" in values and not values["reference"]:
            return f"SELECT *, NULL::VARCHAR AS reference FROM ({select})"
        return select

    def _join(self, judged: str, labelled: str, left: tuple[Source, _Side], right: tuple[Source, _Side]) -> str:
        """Judge slots with the reference text that meets them on response and criterion."""
        names = [self.engine.name("judged"), self.engine.name("labelled")]
        for name, select in zip(names, (judged, labelled), strict=True):
            self.engine.run(f"CREATE TEMP TABLE {name} AS {select}")
        mine, theirs = names
        on = "j.response = r.response AND j.criterion = r.criterion"
        alone, met = self.engine.one(
            f"SELECT count(*) FILTER (r.response IS NULL), count(r.response) FROM {mine} j LEFT JOIN {theirs} r ON {on}"
        )
        (idle,) = self.engine.one(f"SELECT count(*) FROM {theirs} r ANTI JOIN {mine} j ON {on}")
        if not met:
            raise JoinError(self._no_match(mine, theirs, left, right))
        self.source_rows["judge verdicts that meet a reference row"] = met
        self.source_rows["judge verdicts without a reference row"] = alone
        self.source_rows["reference rows that meet no judge verdict, left out"] = idle
        if idle or alone:
            self.notes.append(
                f"of {met + alone:,} judge verdicts {alone:,} meet no reference row; {idle:,} reference rows meet no judge verdict"
            )
        cluster = "coalesce(j.cluster, r.cluster)" if self.spec.cluster else "NULL::VARCHAR"
        return f"SELECT j.* EXCLUDE (cluster), {cluster} AS cluster, r.reference FROM {mine} j LEFT JOIN {theirs} r ON {on}"

    def _no_match(self, mine: str, theirs: str, left: tuple[Source, _Side], right: tuple[Source, _Side]) -> str:
        shown = [
            quoted(
                [
                    str(name)
                    for (name,) in self.engine.rows(f"SELECT DISTINCT response FROM {relation} ORDER BY 1 LIMIT 5")
                ],
                5,
            )
            for relation in (mine, theirs)
        ]
        return (
            f"no response of the judge's file is in the reference's: {printable(left[0].name)} has {shown[0]}, "
            f"{printable(right[0].name)} has {shown[1]}. Ids are compared as text: give both files the same ids, "
            "or name the columns with --response"
        )

    def _raters(self, source: Source) -> tuple[list[str], str | None]:
        """Judge raters in natural order, and the reference rater."""
        spec = self.spec
        rater = source.column(spec.rater or "", "--rater")
        kind = source.column(spec.rater_kind, "--rater-kind") if spec.rater_kind else "''"
        found = self.engine.rows(f"SELECT DISTINCT {rater}, lower({kind}) FROM {source.relation} ORDER BY 1")
        kinds = {str(name): str(of) for name, of in found}
        if spec.reference is not None and spec.reference not in kinds:
            raise MappingError(
                f'no rater is called "{printable(spec.reference)}" (--reference); raters are {quoted(sorted(kinds, key=natural), 20)}'
            )
        standards = [name for name, of in kinds.items() if of in _REFERENCE_KINDS] or [
            name for name, of in kinds.items() if of == "human"
        ]
        if not standards and not spec.rater_kind:
            standards = [name for name in kinds if name.casefold() in _REFERENCE_RATERS]
        if spec.reference is None and len(standards) > 1:
            raise MappingError(
                f"several raters could be the reference: {quoted(standards)}; choose one with --reference RATER"
            )
        reference = spec.reference or (standards[0] if standards else None)
        judges = sorted(
            (n for n, of in kinds.items() if n != reference and of not in ("human", *_REFERENCE_KINDS)),
            key=natural,
        )
        if not judges:
            raise MappingError(
                f"no judge among the raters {quoted(sorted(kinds, key=natural), 20)}: every one is a reference or a human"
            )
        return judges, reference

    def _count_rows(self, what: str, sql: str) -> None:
        self.source_rows[what] = int(self.engine.one(sql)[0])

    def _reading(
        self,
        selects: Sequence[str],
        raters: tuple[str, ...],
        criteria: tuple[str, ...],
        has_reference: bool,
        places: Mapping[str, Sequence[tuple[Source, str]]],
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
            roles=self._roles(),
            source_rows=self.source_rows,
            notes=tuple(self.notes),
            places={side: tuple(pairs) for side, pairs in places.items()},
        )

    def _roles(self) -> dict[str, str]:
        spec = self.spec
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
