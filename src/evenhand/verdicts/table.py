"""The canonical verdict table: coded labels, numbered clusters, resampling units, and the checks that keep it honest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.errors import KeyClashError, ScaleError, printable, quoted
from evenhand.stats.resampling import MAX_UNITS, random_groups
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.label_texts import canonical, is_number
from evenhand.verdicts.mark_labels import MOST_MARKS
from evenhand.verdicts.order import natural
from evenhand.verdicts.reading import Reading, rows_with
from evenhand.verdicts.scale import Scale, read_scale
from evenhand.verdicts.sides import response_key
from evenhand.verdicts.statuses import check_statuses, reason, status_code

MOST_TEXTS = 5_000
"""Distinct texts of one side beyond which it is no column of labels."""
WORD = 62
"""Criteria held in one bit mask."""


@dataclass(frozen=True, slots=True)
class Units:
    """What is resampled: the clusters in natural order, or random groups of them when there are many.

    Attributes:
        names: unit names; cluster ids, or "group 1", ...
        n_clusters: number of clusters behind them.
        declared: whether the user's data have a cluster; otherwise each response is its own.
    """

    names: tuple[str, ...]
    n_clusters: int
    declared: bool

    @property
    def grouped(self) -> bool:
        """Whether units are random groups of clusters."""
        return self.n_clusters > len(self.names)


@dataclass(frozen=True)
class VerdictTable:
    """Coded verdict slots in the engine.

    Attributes:
        relation: view of (rater, response, condition, cluster_id, cluster, unit, criterion, judge, reference,
            judge_reason, reference_reason, confidence, stratum), all but the ids, the condition, the reasons, the
            confidence and the stratum integers; judge and reference are codes of ``scale``.
        rated: table of one row a (rater, response, condition): unit, cluster, n and how many of them are n_judged,
            n_referred and n_paired, and for each word of criteria the masks present, and on binary scales judged,
            judge, referred, reference.
    """

    reading: Reading
    scale: Scale
    units: Units
    relation: str
    rated: str
    n_responses: int

    @property
    def engine(self) -> Engine:
        """Where the relations live."""
        return self.reading.engine

    @property
    def n_words(self) -> int:
        """Bit masks a response needs."""
        return -(-len(self.reading.criteria) // WORD)


def build_table(reading: Reading, scale: Scale | None = None) -> VerdictTable:
    """Code the texts, number the clusters, and check the key.

    Args:
        reading: the slots.
        scale: of their texts; found out when None.

    Raises:
        ScaleError: labels outside the scale, or a column that holds no labels.
        KeyClashError: a slot filled twice, a response in two clusters (neither is looked for under ``--trust-key``), or one
            without a cluster.
    """
    scale = scale or find_scale(reading)
    units, numbers = _number_clusters(reading)
    relation = _coded(reading, scale, numbers)
    rated = _rated(reading, scale, relation)
    (n_responses,) = reading.engine.one(f"SELECT count(DISTINCT response) FROM {rated}")
    table = VerdictTable(reading, scale, units, relation, rated, n_responses)
    if not reading.spec.trust_key:
        _check_key(table)
    return table


def by_second_unit(table: VerdictTable, *, crossed: bool) -> VerdictTable:
    """The same verdicts by the second unit of resampling.

    Args:
        table: by the first unit, of a reading whose spec names a second one.
        crossed: by the intersection of both in its place.

    Raises:
        KeyClashError: a response in two levels of the second unit, or in none.
    """
    reading, column = table.reading, table.reading.spec.second_cluster or ""
    values, name = attribute(reading, column, "--cluster"), reading.engine.name("slots")
    (lost,) = reading.engine.one(f"SELECT count(*) FROM {reading.relation} ANTI JOIN {values} USING (response)")
    if lost:
        raise KeyClashError(
            f'{lost:,} verdicts have no value in "{printable(column)}", the second --cluster: fill it in, or leave it out'
        )
    both = "replace(s.cluster, '×', '××') || ' × ' || replace(a.value, '×', '××')"
    reading.engine.run(
        f"CREATE TEMP VIEW {name} AS SELECT s.* REPLACE ({both if crossed else 'a.value'} AS cluster) "
        f"FROM {reading.relation} s JOIN {values} a ON a.response = s.response"
    )
    spec = reading.spec.model_copy(update={"criteria": "shared", "cluster": reading.spec.cluster or column})
    return build_table(replace(reading, relation=name, spec=spec), table.scale)


def find_scale(reading: Reading) -> Scale:
    """The scale that is declared or that the texts show.

    Raises:
        ScaleError: labels outside the scale, or a column that holds no labels.
    """
    counts = {}
    for side in ("judge", "reference") if reading.has_reference else ("judge",):
        found = count_texts(reading, side, MOST_TEXTS)
        if len(found) > MOST_TEXTS and sum(is_number(canonical(text)) for text in found) > MOST_TEXTS // 2:
            found = count_texts(reading, side, MOST_MARKS)
        elif len(found) > MOST_TEXTS:
            raise ScaleError(
                f"the {side}'s column holds more than {MOST_TEXTS:,} different texts: it is no column of labels"
            )
        if len(found) > MOST_MARKS:
            raise ScaleError(
                f"the {side}'s column holds more than {MOST_MARKS:,} different marks: round them in the file"
            )
        counts[side] = found

    if reading.humans:
        counts["reference"] = {**count_human_texts(reading), **counts.get("reference", {})}

    def has_ties() -> bool:
        test = "lower(trim(status)) IN ('tied', 'tie')"
        return bool(reading.engine.rows(f"SELECT 1 FROM {reading.relation} WHERE {test} LIMIT 1"))

    return read_scale(reading.spec, counts["judge"], counts.get("reference", {}), reading.where, has_ties)


def count_human_texts(reading: Reading) -> dict[str, int]:
    """How often each text of the human raters beside the judges occurs."""
    found = reading.engine.rows(
        f"SELECT reference, count(*) FROM {reading.of_humans} WHERE reference IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    return {str(text): int(count) for text, count in found}


def count_texts(reading: Reading, side: str, most: int) -> dict[str, int]:
    """How often each text of a side occurs, the commonest first, up to one more than the most."""
    found = reading.engine.rows(
        f"SELECT {side}, count(*) FROM {reading.relation} WHERE {side} IS NOT NULL "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {most + 1}"
    )
    return {str(text): int(count) for text, count in found}


def _number_clusters(reading: Reading) -> tuple[Units, str]:
    """Clusters in natural order (text order where they are many) and the table that numbers them."""
    engine, declared = reading.engine, reading.spec.cluster is not None
    column = "cluster" if declared else "response"
    numbers = engine.name("clusters")
    (lost,) = engine.one(f"SELECT count(*) FROM {reading.relation} WHERE {column} IS NULL OR {column} = ''")
    if lost:
        raise KeyClashError(f"{lost:,} verdicts have no cluster: give the file that holds their rows a cluster column")
    engine.run(
        f"CREATE TEMP TABLE {numbers} AS SELECT name, row_number() OVER (ORDER BY name) - 1 AS cluster "
        f"FROM (SELECT DISTINCT {column} AS name FROM {reading.relation})"
    )
    (count,) = engine.one(f"SELECT count(*) FROM {numbers}")
    if count <= MAX_UNITS:
        names = sorted((str(name) for (name,) in engine.rows(f"SELECT name FROM {numbers}")), key=natural)
        rows = [(name, number, number) for number, name in enumerate(names)]
        ordered = engine.table("clusters", {"name": "VARCHAR", "cluster": "INTEGER", "unit": "INTEGER"}, rows)
        return Units(tuple(names), count, declared), ordered
    groups = random_groups(count, reading.spec.seed)
    grouped = engine.name("clusters")
    with engine.holding({"unit": groups.astype("int32")}) as held:
        engine.run(
            f"CREATE TEMP TABLE {grouped} AS SELECT name, cluster::INTEGER AS cluster, unit FROM {numbers} "
            f"JOIN (SELECT unit, row_number() OVER () - 1 AS cluster FROM {held}) USING (cluster)"
        )
    n_groups = int(groups.max()) + 1
    return Units(tuple(f"group {number + 1}" for number in range(n_groups)), count, declared), grouped


def _coded(reading: Reading, scale: Scale, numbers: str) -> str:
    engine, name = reading.engine, reading.engine.name("coded")
    code = "TINYINT" if len(scale.all_levels) < 128 else "INTEGER"
    judge = engine.table("labels", {"text": "VARCHAR", "code": code}, scale.judge_codes.items())
    reference = engine.table("labels", {"text": "VARCHAR", "code": code}, scale.reference_codes.items())
    missing = scale.status("missing")
    codes = {side: f"coalesce({side[0]}.code, {missing})::{code}" for side in ("judge", "reference")}
    statuses = {"judge": "s.status", "reference": "s.reference_status"}
    if reading.spec.status or reading.spec.parse:
        codes = {side: f"{status_code(scale, statuses[side], codes[side])}::{code}" for side in codes}
        check_statuses(reading)
    reasons = ", ".join(
        f"{reason(scale, codes[side], f's.{side}', status, status.replace('status', 'reason'))} AS {side}_reason"
        for side, status in statuses.items()
    )
    key = "s.cluster" if reading.spec.cluster else "s.response"
    engine.run(
        f"CREATE TEMP VIEW {name} AS SELECT s.rater, s.response, s.condition, c.name AS cluster_id, c.cluster, c.unit, s.criterion, "
        f"{codes['judge']} AS judge, {codes['reference']} AS reference, {reasons}, "
        "try_cast(trim(s.confidence) AS DOUBLE) AS confidence, s.stratum "
        f"FROM {reading.relation} s JOIN {numbers} c ON c.name = {key} "
        f"LEFT JOIN {judge} j ON j.text = s.judge LEFT JOIN {reference} r ON r.text = s.reference"
    )
    return name


def _rated(reading: Reading, scale: Scale, relation: str) -> str:
    """One row a rated response: the masks of its criteria, from which keys are checked and totals are had."""
    name, columns = reading.engine.name("rated"), []
    n_words = -(-len(reading.criteria) // WORD)
    for word in range(n_words):
        start, stop = word * WORD, (word + 1) * WORD
        here = "true" if len(reading.criteria) <= WORD else f"criterion >= {start} AND criterion < {stop}"
        bit = f"(1::BIGINT << (criterion - {start}))"
        masks = {"present": here}
        if scale.kind == "binary":
            masks |= {
                "judged": f"{here} AND judge < 2",
                "judge": f"{here} AND judge = 1",
                "referred": f"{here} AND reference < 2",
                "reference": f"{here} AND reference = 1",
            }
        columns += [
            f"coalesce(bit_or(CASE WHEN {test} THEN {bit} END), 0) AS {mask}_{word}" for mask, test in masks.items()
        ]
    by_bits = scale.kind == "binary" and not reading.spec.trust_key  # without repeats they say how many there are
    columns = columns if by_bits else [*_counts(scale), *columns]
    counted = _bit_counts(n_words) if by_bits else ""
    varying = {"rater": len(reading.raters) > 1, "response": True, "condition": bool(reading.spec.facets)}
    keys = ", ".join(key if varies else f"min({key}) AS {key}" for key, varies in varying.items())
    reading.engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT *{counted} FROM (SELECT {keys}, min(unit) AS unit, min(cluster) AS cluster, "
        f"max(cluster) AS other_cluster, count(*)::INTEGER AS n, {', '.join(columns)} FROM {relation} "
        f"GROUP BY {', '.join(key for key, varies in varying.items() if varies)})"
    )
    return name


def _counts(scale: Scale) -> list[str]:
    """SQL of how many verdicts are scored by the judge, by the reference, by both."""
    judged, referred = f"judge < {scale.size}", f"reference < {scale.size}"
    scored = {"judged": judged, "referred": referred, "paired": f"{judged} AND {referred}"}
    return [f"(count(*) FILTER ({test}))::INTEGER AS n_{what}" for what, test in scored.items()]


def _bit_counts(n_words: int) -> str:
    """The same from the masks."""
    scored = {"judged": "judged_{}", "referred": "referred_{}", "paired": "judged_{} & referred_{}"}
    sums = {
        what: " + ".join(f"bit_count({mask.replace('{}', str(word))})::INTEGER" for word in range(n_words))
        for what, mask in scored.items()
    }
    return "".join(f", {total} AS n_{what}" for what, total in sums.items())


def _check_key(table: VerdictTable) -> None:
    bits = " + ".join(f"bit_count(present_{word})::INTEGER" for word in range(table.n_words))
    engine = table.engine
    doubled, torn = engine.one(
        f"SELECT count(*) FILTER (n <> {bits}), count(*) FILTER (cluster <> other_cluster) FROM {table.rated}"
    )
    if doubled and not torn:
        raise KeyClashError(_doubled(table))
    if not torn:
        (torn,) = engine.one(
            f"SELECT count(*) FROM (SELECT response FROM {table.rated} GROUP BY 1 HAVING min(cluster) <> max(cluster))"
        )
    if torn:
        raise KeyClashError(_torn(table))


def _doubled(table: VerdictTable) -> str:
    reading = table.reading
    clashes = table.engine.rows(
        f"SELECT response, criterion, rater, condition, count(*), count(*) OVER () FROM {table.relation} "
        "GROUP BY ALL HAVING count(*) > 1 ORDER BY response, criterion, rater, condition LIMIT 5"
    )
    parts = []
    for response, criterion, rater, condition, count, _ in clashes:
        said = f'response "{printable(response)}"'
        said += f' criterion "{printable(reading.criteria[criterion])}"' if reading.criteria[criterion] else ""
        said += f' judge "{printable(reading.raters[rater])}"' if len(reading.raters) > 1 else ""
        said += f" under {printable(condition)}" if condition else ""
        parts.append(f"{said} stands {count} times{_rows_of(reading, response)}")
    total = clashes[0][-1]
    more = f"; and {total - len(clashes):,} more" if total > len(clashes) else ""
    return (
        f"one verdict slot is filled more than once: {'; '.join(parts)}{more}. Take the repeats out, or name what tells "
        f"them apart ({_telling_apart(reading, clashes[0][0])})"
        + (f". Moreover, {reading.meeting}" if reading.meeting else "")
    )


def _telling_apart(reading: Reading, response: str) -> str:
    """Columns that differ between the rows of a response, and the options they could be named with."""
    column = reading.spec.response[0]
    used = {
        *reading.spec.response,
        *reading.spec.facets,
        *(name for pairs in reading.places.values() for _, name in pairs),
    }
    differing: dict[str, None] = {}
    for source in reading.sources:
        others = [name for name in source.columns if name not in used and column in source.columns]
        if others:
            counts = ", ".join(f"count(DISTINCT {source.column(name, 'the message')})" for name in others)
            test = f"{response_key(source, [column], reading.spec)} = ?"
            found = reading.engine.one(f"SELECT {counts} FROM {source.relation} WHERE {test}", [response])
            differing |= {name: None for name, count in zip(others, found, strict=True) if count > 1}
    said = f"columns that differ there: {quoted(differing, 6)}; " if differing else ""
    labels = "; if one of the files holds the reference, give it as --labels FILE" if len(reading.sources) > 1 else ""
    return f"{said}options: --response COL,COL, --criterion, --rater, --model, --phrasing, --occasion, --arm{labels}"


def _rows_of(reading: Reading, response: str) -> str:
    """The source rows of a response, where its id is one column of the file."""
    (column, *others) = reading.spec.response
    if others:
        return ""
    found = []
    for source in reading.sources:
        if column in source.columns:
            test = f"{response_key(source, [column], reading.spec)} = ?"
            found.append(rows_with(reading.engine, source, test, [response]))
    said = "; ".join(filter(None, found))
    return f" ({said})" if said else ""


def _torn(table: VerdictTable) -> str:
    found: Sequence[tuple[str, str, str]] = table.engine.rows(
        f"SELECT response, min(cluster), max(cluster) FROM {table.reading.relation} "
        "GROUP BY 1 HAVING min(cluster) <> max(cluster) ORDER BY 1 LIMIT 5"
    )
    said = "; ".join(
        f'"{printable(response)}" lies in "{printable(a)}" and "{printable(b)}"{_rows_of(table.reading, response)}'
        for response, a, b in found
    )
    return f"a response lies in one cluster: {said}. If ids repeat across clusters, name both columns: --response CLUSTER,ID"
