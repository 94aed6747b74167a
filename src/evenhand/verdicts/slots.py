"""The SQL of a reading: every layout becomes one relation of verdict slots."""

from collections.abc import Mapping, Sequence

from evenhand.errors import JoinError, MappingError, printable, quoted
from evenhand.verdicts.cleaning import check_decimals, check_numbers, label_text
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.layout import (
    CRITERION,
    expand,
    recognise,
    recognise_cluster,
    recognise_reference,
    recognise_response,
)
from evenhand.verdicts.meeting import Meeting
from evenhand.verdicts.order import natural
from evenhand.verdicts.parsing.forms import declared_form
from evenhand.verdicts.rated_columns import rated_columns
from evenhand.verdicts.raters import Raters, find_raters
from evenhand.verdicts.reading import Layout, Reading
from evenhand.verdicts.replies import parse_replies
from evenhand.verdicts.sides import Side, read_side
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.values import ValueColumns, value_columns

_UNSAID = "'' AS reference_status, '' AS reference_reason"
TRUSTED = "--trust-key: verdicts given twice and responses in two clusters were not looked for; a repeat counts again"
_Places = Mapping[str, Sequence[tuple[Source, str]]]


class Slots:
    """Builds one reading."""

    def __init__(self, engine: Engine, spec: Spec, sources: tuple[Source, ...], *, carry: bool = False) -> None:
        self.engine, self.spec, self.sources = engine, spec, sources
        names = {column.casefold(): column for source in reversed(sources) for column in reversed(source.columns)}
        self.carry, self.carried = carry, tuple(reversed(names.values())) if carry else ()
        self.notes: list[str] = [TRUSTED] if spec.trust_key else []
        self.meeting = ""
        self.source_rows: dict[str, int] = {}
        self.codes = ""
        self.humans: tuple[str, ...] = ()
        self.of_humans = ""
        self.form = declared_form(spec)
        self.met_on: dict[str, str] = {}
        self.constant: dict[str, str] = {}

    def paired(self, source: Source) -> Reading:
        """Judge and reference in the same row."""
        names = _judges(self.spec)
        columns = self._values(source, names, self.spec.reference)
        side = self._side(source, self.spec.response, [*columns.of_judges, *columns.reference])
        codes = self._criterion_codes([side])
        confidence = self._confidence(source, columns.criteria, len(names))
        values = {"reference": columns.reference, "confidence": confidence}
        selects = [
            self._melt(side, rater, columns.criteria, {"judge": judge, **values})
            for rater, judge in enumerate(columns.judges)
        ]
        places = {"judge": _places(source, columns.of_judges), "reference": _places(source, columns.reference)}
        rows = self._view([self._parsed(" UNION ALL ".join(selects))] if self.form else selects)
        return self._reading(
            "paired", rows, rows, rows, names, codes or columns.criteria, bool(columns.reference), places
        )

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
        their_response = recognise_response(reference, spec.response)
        right = self._side(reference, their_response, theirs.of_judges)
        self.met_on = {"response": printable(_meeting_columns(spec.response, their_response))}
        codes = self._criterion_codes([left, right]) or _common(mine.criteria, theirs.criteria, judge, reference)
        if rater and spec.verdict:
            found = find_raters(self.engine, spec, left, rater, has_labels=True)
            values = {"judge": [spec.verdict], "confidence": self._confidence(judge, ("",), 1)}
            judged, names = self._of_raters(left, found.judges, values, codes), found.judges
            self._keep_humans(left, found, codes)
        else:
            confidence = self._confidence(judge, mine.criteria, len(names))
            judged = " UNION ALL ".join(
                self._melt(left, number, mine.criteria, {"judge": columns, "confidence": confidence}, codes)
                for number, columns in enumerate(mine.judges)
            )
        labelled = self._melt(right, 0, theirs.criteria, {"reference": theirs.judges[0]}, codes)
        self._keep_rated(right, theirs.criteria, codes)
        places = {"judge": _places(judge, mine.of_judges), "reference": _places(reference, theirs.of_judges)}
        met = self._join(self._parsed(judged), labelled, left, right)
        return self._reading("joined", *met, names, codes, True, places)

    def rated(self, source: Source) -> Reading:
        """One row a rater's verdict; the reference is one of the raters, a column beside the verdict, or nowhere."""
        spec = self.spec
        if spec.rater is None or spec.verdict is None:
            raise MappingError("a long file by rater needs --rater COL and --verdict COL")
        rater = source.column(spec.rater, "--rater") and spec.rater
        source.column(spec.verdict, "--verdict")
        labels = [spec.reference] if spec.reference in source.columns else []
        side = self._side(source, spec.response, [spec.verdict, *labels], rater)
        found = find_raters(self.engine, spec, side, rater, has_labels=bool(labels))
        judges, reference = found.judges, found.reference
        codes = self._criterion_codes([side])
        confidence = self._confidence(source, ("",), 1)
        values = {"judge": [spec.verdict], "reference": labels, "confidence": confidence}
        places = {"judge": _places(source, values["judge"]), "reference": _places(source, labels or values["judge"])}
        self._count_others(side, rater, found.audited if self.carry else found.everyone)
        self._keep_humans(side, found, codes)
        if reference is None:
            rows = self._view([self._parsed(self._of_raters(side, judges, values, codes))])
            layout: Layout = "paired"
            relations = (rows, rows, rows)
        else:
            judged = self._of_raters(side, judges, {"judge": [spec.verdict], "confidence": confidence}, codes)
            labelled = self._of_raters(side, [reference], {"reference": [spec.verdict]}, codes)
            layout = "rated"
            relations = self._join(self._parsed(judged), labelled, side, side)
            self.spec = self.spec.model_copy(update={"reference": reference})
        return self._reading(
            layout, *relations, tuple(judges), codes or ("",), bool(labels or reference is not None), places
        )

    # --- parts ---

    def _parsed(self, judged: str) -> str:
        """Slots of judges with their replies read, where the spec declares a form of reply."""
        if self.form is None:
            return judged
        replies = parse_replies(self.engine, self.form, judged, carry=self.carry)
        self.notes.append(replies.note)
        if not (self.spec.scale or self.spec.levels or self.spec.range or self.spec.positive):
            self.spec = self.spec.model_copy(update=dict(replies.scale))
        return replies.select

    def _confidence(self, source: Source, criteria: Sequence[str], n_judges: int) -> list[str]:
        """The column of confidences beside each criterion's verdict; none where none is named."""
        if self.spec.confidence is None:
            return []
        if n_judges > 1:
            raise MappingError(
                f"--confidence: {n_judges} judges stand in columns of one row, and one column cannot speak of each; give a long "
                "file of one row a verdict (--rater COL --verdict COL)"
            )
        found = expand(self.spec.confidence, source.columns)
        lacking = [name for name in criteria if name not in found and "" not in found]
        if lacking or not found or (len(criteria) > 1 and "" in found):
            raise MappingError(
                f'{printable(source.name)}: --confidence "{printable(self.spec.confidence)}" names no column for '
                f"{quoted(lacking or criteria, 4)}; with a column a criterion it is a pattern, such as 'confidence_{CRITERION}'"
            )
        columns = [found.get(name, found.get("", "")) for name in criteria]
        check_numbers(self.engine, source, columns, "--confidence", self.spec)
        return columns

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
        if self.form is None:
            check_decimals(self.engine, self.spec, source, list(dict.fromkeys(used)))
        side = read_side(self.engine, self.spec, source, response, used, self.sources, rater, self.carried)
        self.source_rows |= side.counts
        self.notes += side.notes
        return side

    def _keep_humans(self, side: Side, found: Raters, codes: Sequence[str]) -> None:
        """The verdicts of the human raters, beside the judges' slots; a single one who is the reference is no panel."""
        self.notes += found.notes
        if self.carry or self.spec.verdict is None or not set(found.humans) - {found.reference}:
            return
        self.humans, self.of_humans = found.humans, self.engine.name("humans")
        rows = self._of_raters(side, found.humans, {"reference": [self.spec.verdict]}, codes)
        self.engine.run(f"CREATE TEMP TABLE {self.of_humans} AS {rows}")

    def _keep_rated(self, side: Side, criteria: Sequence[str], codes: Sequence[str]) -> None:
        """What each of several people said beside the reference, where the file is one of labels that ``evenhand sample`` wrote."""
        found = rated_columns(side.source.columns, criteria)
        if self.carry or self.humans or len(found) < 2:
            return
        names = sorted(found, key=natural)
        said = " UNION ALL ".join(
            self._melt(side, number, criteria, {"reference": found[name]}, codes) for number, name in enumerate(names)
        )
        self.humans, self.of_humans = tuple(names), self.engine.name("humans")
        self.engine.run(f"CREATE TEMP TABLE {self.of_humans} AS SELECT * FROM ({said}) WHERE trim(reference) <> ''")
        how = "is said without --weight only" if self.spec.weight else "is said, too"
        self.notes.append(
            f"{printable(side.source.name)}: labels of {len(names)} people ({quoted(names, 6)}) stand beside the reference; how far they agree, "
            f"and the judge with each of them, {how}"
        )

    def _count_others(self, side: Side, rater: str, read: Sequence[str]) -> None:
        """Rows of raters who are neither judge nor reference: humans beside a gold standard."""
        text = side.source.column(rater, "--rater")
        known = self.engine.table("raters", {"name": "VARCHAR"}, [(name,) for name in read])
        rows = f"SELECT {text} AS name FROM {side.source.relation}{side.where}"
        (others,) = self.engine.one(f"SELECT count(*) FROM ({rows}) ANTI JOIN {known} USING (name)")
        if others:
            self.source_rows["rows of raters who are neither judge nor reference, left out"] = others
            self.notes.append(f"{others:,} rows are of raters who are neither judge nor reference and are left out")

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
        if self.carry:
            raw = {f"{name}_raw": listed for name, listed in values.items() if name in ("judge", "reference")}
            values = {**values, **raw}
        for name, listed in values.items():
            texts = [side.source.column(column, "the mapping") for column in listed]
            if name in ("judge", "reference", "confidence") and not (name == "judge" and self.form):
                texts = [label_text(text, self.spec) for text in texts]
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

    def _join(self, judged: str, labelled: str, left: Side, right: Side) -> tuple[str, str, str]:
        """Judge slots with the reference text that meets them on response and criterion; and both sides by themselves."""
        mine, theirs = self.engine.held("judged", judged), self.engine.held("labelled", labelled)
        on = "j.response = r.response AND j.criterion = r.criterion"
        if left.source is right.source and self._has_reference_by_condition(theirs):
            on += " AND j.condition = r.condition"
        alone, met = self.engine.one(
            f"SELECT count(*) FILTER (r.response IS NULL), count(r.response) FROM {mine} j LEFT JOIN {theirs} r ON {on}"
        )
        (idle,) = self.engine.one(f"SELECT count(*) FROM {theirs} r ANTI JOIN {mine} j ON {on}")
        meeting = Meeting(self.engine, mine, theirs)
        if not met:
            raise JoinError(meeting.never(*self._names(left, right)))
        self.source_rows |= {
            "judge verdicts that meet a reference row": met,
            "judge verdicts without a reference row": alone,
            "reference rows that meet no judge verdict, left out": idle,
        }
        if idle or alone:
            self.meeting = meeting.partly(met, alone, idle)
            self.notes.append(self.meeting)
        cluster = "coalesce(j.cluster, r.cluster)" if self.spec.cluster else "NULL::VARCHAR"
        said = "r.status AS reference_status, r.reason AS reference_reason" if left.source is right.source else _UNSAID
        name = self.engine.name("slots")
        self.engine.run(
            f"CREATE TEMP VIEW {name} AS SELECT j.rater, j.response, {cluster} AS cluster, j.criterion, j.condition, j.judge, "
            f"j.status, j.reason, j.stratum, j.confidence, r.reference, {said} FROM {mine} j LEFT JOIN {theirs} r ON {on}"
        )
        return name, mine, theirs

    def _has_reference_by_condition(self, theirs: str) -> bool:
        """Whether the reference labels a response anew under each condition."""
        if not self.spec.facets:
            return False
        doubled, torn = self.engine.one(
            "SELECT count(*) FILTER (n > 1), count(*) FILTER (n <> kinds) FROM (SELECT count(*) AS n, "
            f"count(DISTINCT condition) AS kinds FROM {theirs} GROUP BY response, criterion)"
        )
        return bool(doubled and not torn)

    def _names(self, left: Side, right: Side) -> tuple[str, str]:
        same = left.source is right.source
        return ("the judge's rows", "the reference's") if same else (left.source.name, right.source.name)

    def _view(self, selects: Sequence[str]) -> str:
        name = self.engine.name("slots")
        union = " UNION ALL ".join(f"SELECT *, {_UNSAID} FROM ({select})" for select in selects)
        self.engine.run(f"CREATE TEMP VIEW {name} AS {union}")
        return name

    def _reading(
        self,
        layout: Layout,
        relation: str,
        judged: str,
        labelled: str,
        raters: tuple[str, ...],
        criteria: tuple[str, ...],
        has_reference: bool,
        places: _Places,
    ) -> Reading:
        return Reading(
            engine=self.engine,
            spec=self.spec,
            sources=self.sources,
            relation=relation,
            layout=layout,
            judged=judged,
            labelled=labelled,
            raters=raters,
            criteria=criteria,
            has_reference=has_reference,
            roles={**_roles(self.spec), **self.met_on},
            source_rows=self.source_rows,
            notes=tuple(dict.fromkeys(self.notes)),
            meeting=self.meeting,
            places={side: tuple(pairs) for side, pairs in places.items()},
            humans=self.humans,
            of_humans=self.of_humans,
            constant=self.constant,
        )


def _judges(spec: Spec) -> tuple[str, ...]:
    """Columns or patterns of the judges, in the order of their numbers."""
    return tuple(sorted(spec.judge or ((spec.verdict,) if spec.verdict else ()), key=natural))


def _meeting_columns(mine: Sequence[str], theirs: Sequence[str]) -> str:
    """The columns of two files on whose values responses meet."""
    one, other = ", ".join(mine), ", ".join(theirs)
    return one if one == other else f"{one} = {other}"


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
        "second cluster": spec.second_cluster,
        "length": ", ".join(spec.length),
        "author": ", ".join(spec.author),
        "group": ", ".join(spec.group),
        "criterion": spec.criterion,
        "judge": ", ".join(spec.judge),
        "verdict": spec.verdict if not spec.judge else None,
        "rater": spec.rater if spec.verdict and not spec.judge else None,
        "reference": spec.reference,
        "status": spec.status,
        "weight": spec.weight,
        "conditions": ", ".join(spec.facets),
        "learner": spec.learner if spec.arm else None,
        "tail": spec.tail if spec.arm else None,
        "told": ", ".join(filter(None, (spec.label_shown, spec.n_prior_shown, spec.shown_marks))) if spec.arm else None,
    }
    return {role: printable(column) for role, column in roles.items() if column}
