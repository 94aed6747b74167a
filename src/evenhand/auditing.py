"""The orchestrator behind both faces: sources in, an audit out."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from evenhand.audits import (
    accounting,
    arms_words,
    design_weights,
    facets,
    human,
    lines,
    loop,
    notices,
    tables,
    two_way,
    unsettled,
)
from evenhand.audits.checklist import checklist
from evenhand.audits.equivalence import within_margins
from evenhand.audits.evidence import Evidence, IntervalPlan
from evenhand.audits.families import taken_together
from evenhand.audits.gathering import with_further
from evenhand.audits.measured_coverage import with_coverage
from evenhand.audits.ranges import within_range
from evenhand.audits.registry import estimates_of_humans, estimates_of_raters
from evenhand.errors import RequestError, printable, quoted
from evenhand.importers.files import read_file
from evenhand.importers.frames import as_frame, read_frame
from evenhand.importers.opening import Opened, open_files
from evenhand.results import Audit, Data, Declarations, Estimate, SourceFile, Table
from evenhand.tally.arms import CONTROLS, of_control, tally_arms
from evenhand.tally.cells import tally_cells
from evenhand.tally.conditions import tally_conditions, tally_repeats
from evenhand.tally.errors import errors_on_lines
from evenhand.tally.humans import tally_humans
from evenhand.tally.orders import tally_orders
from evenhand.tally.patterns import tally_patterns
from evenhand.tally.quorum import find_short_votes
from evenhand.tally.ratings import pair_ratings, tally_ratings
from evenhand.tally.rows import fetch_rows
from evenhand.tally.support import tally_support
from evenhand.tally.systems import tally_systems
from evenhand.tally.traits import tally_traits
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.reading import Reading, read_slots
from evenhand.verdicts.recorded import conditions, recorded_values
from evenhand.verdicts.scale import Scale
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.statuses import reasoned_exclusions
from evenhand.verdicts.table import VerdictTable, build_table, by_second_unit
from evenhand.verdicts.texts import fetch_texts

RARE_SHARE = 0.01
"""A label used in a smaller share of verdicts is named."""
MOST_TEXTS_A_LINE = 8
"""Responses shown under one of the worst lines."""
RESERVED = ("judge", "reference", "raters", "human")
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Session:
    """An open reading: the engine holds the coded verdicts until the block ends."""

    spec: Spec
    reading: Reading
    table: VerdictTable
    audit: Audit
    evidence: tuple[Evidence, ...]

    def saved_spec(self) -> Spec:
        """The mapping as it was read, to be replayed; a binary scale that was inferred is declared in it."""
        inferred = self.spec.scale is None and not self.spec.levels and self.table.scale.kind == "binary"
        return self.spec.model_copy(update={"scale": "binary"}) if inferred else self.spec


def open_sources(engine: Engine, given: Sequence[object], spec: Spec) -> Opened:
    """Files, logs and frames as sources, in the order given, with the spec completed by what logs are known to hold."""
    paths = [Path(one) for one in given if isinstance(one, str | Path)]
    if len(paths) == len(given):
        return open_files(engine, paths, spec)
    sources: list[Source] = []
    for one in given:
        if isinstance(one, str | Path):
            sources.append(read_file(engine, Path(one), format_=spec.format, encoding=spec.encoding, sheet=spec.sheet))
        else:
            name = "frame" if len(given) == 1 else f"frame {len(sources) + 1}"
            sources.append(read_frame(engine, one, name))
    return Opened(tuple(sources), spec, {}, ())


def read(engine: Engine, given: Sequence[object], spec: Spec, labels: object | None = None) -> Reading:
    """Open the sources and read them as verdict slots."""
    opened = open_sources(engine, given, spec)
    reference = open_sources(engine, [labels], Spec(encoding=spec.encoding)).sources[0] if labels is not None else None
    reading = read_slots(engine, opened.spec, opened.sources, reference)
    notes, counts = (*opened.notes, *reading.notes), {**opened.counts, **reading.source_rows}
    return replace(reading, notes=notes, source_rows=counts)


def run_audit(
    engine: Engine, given: Sequence[object], spec: Spec, labels: object | None = None, progress: Progress | None = None
) -> Session:
    """Audit sources within an open engine.

    Args:
        engine: holds everything until it is closed.
        given: paths or frames.
        spec: roles, scale and interval plan.
        labels: a path or frame of reference labels.
        progress: told of each step.
    """
    say = progress or (lambda _words: None)
    say("reading")
    reading = read(engine, given, spec, labels)
    say("coding verdicts")
    everything = build_table(reading)
    table = of_control(everything)
    _check_cuts(table)
    plan = IntervalPlan(spec.interval, spec.resamples, spec.seed, spec.confidence_level)
    evidence: list[Evidence] = []
    estimates: list[Estimate] = []
    found: dict[str, Table] = {}
    for rater in range(len(reading.raters)):
        say(f"tallying {reading.raters[rater]}")
        one = replace(gather_evidence(table, rater, plan), arms=tally_arms(everything, rater))
        evidence.append(one)
        say(f"estimating {reading.raters[rater]}")
        estimates += list(design_weights.estimates_of(one, table, rater))
        found |= dict(tables.tables(one)) | dict(loop.tables(one))
        if spec.texts == "errors" and reading.has_reference:
            found[f"texts/{one.source}"] = worst_texts(table, rater, one)
    has_pair = len(evidence) == 1 and reading.has_reference
    ratings = pair_ratings(evidence[0].cells, evidence[0].source) if has_pair else tally_ratings(table)
    if ratings is not None:
        say("raters together")
        estimates += list(design_weights.withheld(estimates_of_raters(evidence[0], ratings), spec.weight))
        found |= dict(unsettled.tables(evidence[0], ratings))
    humans = tally_humans(table)
    if humans is not None:
        say("human raters")
        estimates += list(design_weights.withheld(estimates_of_humans(evidence[0], humans), spec.weight))
        found |= dict(human.tables(evidence[0], humans))
    second = _second_unit(everything, plan, estimates, say)
    estimates = taken_together(second.estimates if second else estimates, plan)
    estimates = arms_words.with_calls(estimates, spec.margin, spec.confidence_level)
    of_arms = list(arms_words.verdicts(estimates, spec.margin, spec.confidence_level))
    told = {one.id for one in of_arms}
    estimates += [*of_arms, *(one for one in within_margins(estimates, spec.margin) if one.id not in told)]
    audit = _assemble(everything, table, evidence, within_range(estimates, evidence[0]), found)
    audit = _with_second_unit(audit, reading.spec, second) if second else audit
    return Session(reading.spec, reading, everything, audit, tuple(evidence))


@dataclass(frozen=True, slots=True)
class _Second:
    """The second unit of resampling: how many levels it has, and the estimates over both, where those are enough."""

    n_levels: int
    estimates: list[Estimate]


def _second_unit(table: VerdictTable, plan: IntervalPlan, estimates: list[Estimate], say: Progress) -> _Second | None:
    """The estimates with intervals over the second unit, too, where the spec names one.

    Raises:
        RequestError: an interval method that has no form for two units.
    """
    spec = table.reading.spec
    if spec.cluster is None or spec.second_cluster is None:
        return None
    if spec.interval not in two_way.METHODS:
        raise RequestError(
            f"--interval {spec.interval} has no form for two --cluster columns: there are {', '.join(two_way.METHODS)}"
        )
    say(f"by {spec.second_cluster}")
    second = by_second_unit(table, crossed=False)
    n_levels = second.units.n_clusters
    if n_levels < two_way.FEWEST_LEVELS:
        return _Second(n_levels, estimates)
    say(f"by {spec.cluster} and {spec.second_cluster}")
    both = by_second_unit(table, crossed=True)
    units = two_way.TwoUnits(spec.cluster, spec.second_cluster, spec.confidence_level)
    others = [_estimates_by(one, replace(plan, _drawn={}, members=[])) for one in (second, both)]
    return _Second(n_levels, two_way.combined(units, estimates, *others))


def _estimates_by(table: VerdictTable, plan: IntervalPlan) -> list[Estimate]:
    """All estimates of a table, whose units are another table's second unit."""
    everything, table = table, of_control(table)
    evidence = [
        replace(gather_evidence(table, rater, plan), arms=tally_arms(everything, rater))
        for rater in range(len(table.reading.raters))
    ]
    found = [
        estimate for rater, one in enumerate(evidence) for estimate in design_weights.estimates_of(one, table, rater)
    ]
    has_pair = len(evidence) == 1 and table.reading.has_reference
    ratings = pair_ratings(evidence[0].cells, evidence[0].source) if has_pair else tally_ratings(table)
    found += list(estimates_of_raters(evidence[0], ratings)) if ratings is not None else []
    humans = tally_humans(table)
    return found + (list(estimates_of_humans(evidence[0], humans)) if humans is not None else [])


def _with_second_unit(audit: Audit, spec: Spec, second: _Second) -> Audit:
    """What the audit declares of its second unit, or why it is left out."""
    if second.n_levels < two_way.FEWEST_LEVELS:
        said = (
            f'the second --cluster, "{spec.second_cluster}", has {second.n_levels} levels: fewer than {two_way.FEWEST_LEVELS} '
            f'say nothing of its spread, so only "{spec.cluster}" is resampled, and intervals are as narrow as that makes them'
        )
        return audit.model_copy(update={"warnings": (*audit.warnings, said)})
    declared = {"second_unit": spec.second_cluster, "n_second_units": second.n_levels}
    return audit.model_copy(update={"declarations": audit.declarations.model_copy(update=declared)})


def _check_cuts(table: VerdictTable) -> None:
    """A cut that no response can miss, or none can reach, would pass any gate."""
    most = len(table.reading.criteria)
    absurd = [cut for cut in table.reading.spec.cut if not 0 < cut <= most]
    if absurd and table.scale.kind == "binary" and not table.reading.spec.criterion_weights:
        raise RequestError(
            f"--cut {absurd[0]:g}: a response meets 0 to {most} criteria; name a cut above 0 and up to {most}"
        )


def gather_evidence(table: VerdictTable, rater: int, plan: IntervalPlan) -> Evidence:
    """Tally one judge."""
    reading, spec = table.reading, table.reading.spec
    sole = len(reading.raters) == 1
    cells = tally_cells(table, rater)
    per_cluster = spec.criteria == "per-cluster" and table.units.declared
    by_cluster = per_cluster and table.units.grouped
    is_binary = table.scale.kind == "binary"
    found = Evidence(
        source="judge" if sole else _source_name(reading.raters[rater]),
        is_sole_judge=sole,
        scale=table.scale,
        units=table.units,
        criteria=reading.criteria if reading.criteria != ("",) else ("1",),
        cluster_names=_cluster_names(table) if by_cluster else table.units.names,
        per_cluster=per_cluster,
        has_reference=reading.has_reference,
        cuts=spec.cut,
        cells=cells,
        line_cells=tally_cells(table, rater, by="cluster") if by_cluster else cells,
        patterns=tally_patterns(table, rater) if is_binary else None,
        plan=plan,
        counts=_counts(table, rater),
        support=tally_support(table, rater) if reading.has_reference else None,
        orders=tally_orders(table, rater),
        systems=tally_systems(table, rater),
        totals_by_condition=tally_conditions(table, rater),
        repeats=tally_repeats(table, rater),
        traits=tally_traits(table, rater),
        reliability=spec.reliability,
        rows=fetch_rows(table, rater) if is_binary and reading.has_reference and len(reading.criteria) > 1 else None,
    )
    return with_further(found, table, rater)


def worst_texts(table: VerdictTable, rater: int, evidence: Evidence) -> Table:
    """The texts behind the errors on the worst lines, as far as the user named columns of text.

    Raises:
        RequestError: no column of text is named.
    """
    reading = table.reading
    if not reading.spec.text:
        raise RequestError("--texts errors: which column holds the responses' text? Say --text COL")
    worst = lines.gather(evidence)
    names = dict(zip(worst.keys.tolist(), worst.names, strict=True))
    chosen = [int(key) for key in worst.keys[: lines.N_WORST]]
    slots = errors_on_lines(table, rater, chosen, per_cluster=evidence.per_cluster, most=MOST_TEXTS_A_LINE)
    texts = fetch_texts(reading, [(slot.response, slot.criterion) for slot in slots])
    levels = table.scale.levels
    return Table(
        columns=("line", "criterion_text", "response_id", "response_text", "reference", "judge"),
        rows=tuple(
            (names[slot.line], text.criterion, slot.response, text.response, levels[slot.reference], levels[slot.judge])
            for slot, text in zip(slots, texts, strict=True)
        ),
    )


def _source_name(rater: str) -> str:
    return f"judge {rater}" if rater in RESERVED else rater


def _cluster_names(table: VerdictTable) -> tuple[str, ...]:
    found = table.engine.rows(f"SELECT DISTINCT cluster, cluster_id FROM {table.relation} ORDER BY cluster")
    return tuple(str(name) for _, name in found)


def _counts(table: VerdictTable, rater: int) -> dict[str, int]:
    """Responses and clusters in the populations that statistics share."""
    used = "n_paired" if table.reading.has_reference else "n_judged"
    tests = ("true", "n_judged > 0", f"{used} > 0", "n_referred = n", f"{used} = n")
    clusters = ", ".join(f"count(DISTINCT cluster) FILTER ({test})" for test in tests)
    slots, judged, paired, referred, complete, responses, whole = table.engine.one(
        f"SELECT {clusters}, count(*), count(*) FILTER ({used} = n) FROM {table.rated} WHERE rater = ?", [rater]
    )
    counts = {"responses": responses, "responses_used": whole, "clusters": slots, "clusters_used": paired}
    if table.units.grouped:
        counts |= {"slots": slots, "judged": judged, "paired": paired, "referred": referred, "complete": complete}
    return counts


def _assemble(
    everything: VerdictTable,
    table: VerdictTable,
    evidence: Sequence[Evidence],
    estimates: Sequence[Estimate],
    found: Mapping[str, Table],
) -> Audit:
    reading, spec, scale = table.reading, table.reading.spec, table.scale
    excluded: dict[str, int] = {}
    whole = evidence
    if everything is not table:
        whole = [replace(one, cells=tally_cells(everything, rater)) for rater, one in enumerate(evidence)]
    for rater, one in enumerate(whole):
        for reason, count in (reasoned_exclusions(everything, rater) or accounting.exclusions(one)).items():
            name = reason if one.is_sole_judge else f"{one.source}: {reason}"
            excluded[name] = excluded.get(name, 0) + count
    rows = int(sum(one.cells.count.sum() for one in whole))
    frames = [source for source in reading.sources if not source.sha256]
    digest = fingerprint(table) if frames else ""
    return Audit(
        evenhand_version=version("evenhand"),
        data=Data(
            sources=tuple(
                SourceFile(
                    name=source.name,
                    sha256=source.sha256 or digest,
                    rows=table.engine.one(f"SELECT count(*) FROM {source.relation}")[0],
                )
                for source in reading.sources
            ),
            rows_read=rows,
            rows_used=rows - sum(excluded.values()),
            rows_excluded=excluded,
            source_rows=dict(reading.source_rows),
            n_responses=table.n_responses,
            n_criteria=len(reading.criteria),
            n_clusters=table.units.n_clusters,
            judges=reading.raters,
            has_reference=reading.has_reference,
        ),
        declarations=Declarations(
            scale=scale.kind,
            levels=scale.shown_levels,
            positive=scale.positive,
            scale_reading=scale.reading,
            abstention_mode="exclude",
            tie_handling=_tie_handling(scale, spec),
            criteria=spec.criteria,
            cluster_unit=spec.cluster or "response",
            n_units=len(table.units.names),
            conditions=conditions(reading),
            cuts=spec.cut,
            reliability=spec.reliability,
            interval_method=spec.interval,
            resamples=spec.resamples,
            seed=spec.seed,
            confidence_level=spec.confidence_level,
            reading={**reading.roles, **_matrix(table)},
        ),
        estimates=tuple(estimates)
        if spec.weight
        else with_coverage(estimates, evidence, len(table.units.names), spec.interval),
        tables={**found, **_recorded(reading)},
        checklist=checklist(
            evidence, estimates, conditions={**dict.fromkeys(reading.constant, 1), **conditions(reading)}
        ),
        warnings=(
            *_of_arms(everything, table),
            *_warnings(reading, table, evidence),
            *design_weights.notices(estimates, spec.weight),
            *notices.contradictions(estimates),
        ),
    )


def _recorded(reading: Reading) -> dict[str, Table]:
    rows = [(facet, *one) for facet, values in recorded_values(reading).items() for one in values]
    return {"conditions": Table(columns=("facet", "value", "rows"), rows=tuple(rows))} if rows else {}


def _of_arms(everything: VerdictTable, table: VerdictTable) -> Iterator[str]:
    """That numbers about the judge are those of the control, where it was told something under other arms."""
    if everything is not table:
        count = "SELECT count(*) FROM {}".format
        (n_all,), (n_control,) = (everything.engine.one(count(one.relation)) for one in (everything, table))
        yield (
            "agreement and totals are those of the control, under which the judge is told nothing; the other "
            f"{n_all - n_control:,} verdicts stand in the comparisons of arms"
        )


def _matrix(table: VerdictTable) -> dict[str, str]:
    """How many items and raters a table of several raters holds: what a matrix read sideways shows at a glance."""
    n_raters, one_criterion = len(table.reading.raters), len(table.reading.criteria) == 1
    return {"matrix": f"{table.n_responses:,} items x {n_raters} raters"} if n_raters > 1 and one_criterion else {}


def _tie_handling(scale: Scale, spec: Spec) -> str:
    if scale.tie is not None:
        return "half a win in win_rate; a class of its own in win_rate[ties=class] and in agreement; left out in [ties=excluded]"
    return "ties are not labels" if spec.tie else "none declared"


def _warnings(reading: Reading, table: VerdictTable, evidence: Sequence[Evidence]) -> Iterator[str]:
    yield from reading.notes
    said = set()
    for one in evidence:
        who = "the judge" if one.is_sole_judge else one.source
        for words in (*accounting.warnings(one, who), *notices.of_judge(one)):
            if words not in said:
                said.add(words)
                yield words
    yield from notices.of_panel(find_short_votes(table))
    yield from _rare_labels(reading, table, evidence)
    if words := _one_arm(reading):
        yield words
    if table.scale.kind == "pairwise" and reading.spec.order:
        yield (
            f'labels name the answers, not the places they are shown in: "{printable(table.scale.levels[-1])}" is the same answer in both orders; '
            "map verdicts that name places back first"
        )
    n_conditions, varied = _n_conditions(table), [facet for facet, n in conditions(reading).items() if n > 1]
    if n_conditions > 1 and varied != ["order"]:
        yield (
            f"{n_conditions} conditions ({', '.join(reading.spec.facets)}) are pooled: each response counts once a condition, "
            + (
                "but in the study of conditions"
                if facets.is_studied(evidence)
                else "but in the numbers under each"
                if table.scale.kind in ("nominal", "pairwise") and any(one.wordings is not None for one in evidence)
                else "and nothing here says how far verdicts depend on the condition"
            )
        )
    if table.units.grouped:
        yield f"{table.units.n_clusters:,} clusters are resampled as {len(table.units.names):,} random groups of clusters (seed {reading.spec.seed})"


def _rare_labels(reading: Reading, table: VerdictTable, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Labels that an inferred scale holds but hardly any verdict uses: a misspelling is one of these."""
    spec, scale = reading.spec, table.scale
    if spec.scale or spec.levels or scale.kind != "nominal" or scale.size < 3:
        return
    for code, label in enumerate(scale.levels):
        cells = [one.cells for one in evidence]
        used = sum(int(one.count[(one.judge == code) | (one.reference == code)].sum()) for one in cells)
        if used < RARE_SHARE * sum(int(one.count.sum()) for one in cells):
            side = "judge" if any((one.judge == code).any() for one in cells) else "reference"
            place = reading.where(side, label)
            yield (
                f'the label "{printable(label)}" occurs in {used:,} verdict(s) only ({place}): if it is a misspelling, mend it; '
                "declare --scale or --levels to have such labels refused"
            )


def _one_arm(reading: Reading) -> str:
    """That every verdict was given under one arm that is no control."""
    column = reading.spec.arm
    source = next((one for one in reading.sources if column in one.columns), None)
    if column is None or source is None:
        return ""
    text = source.column(column, "arm")
    arms = [str(row[0] or "") for row in reading.engine.rows(f"SELECT DISTINCT {text} FROM {source.relation} LIMIT 2")]
    if len(arms) != 1 or arms[0].strip().casefold() in ("", *CONTROLS):
        return ""
    return (
        f'every verdict was given under the arm "{printable(arms[0])}": these numbers describe the judge as it was told that; there is no '
        "control to set beside them"
    )


def _n_conditions(table: VerdictTable) -> int:
    """Conditions under which verdicts were given."""
    return int(table.engine.one(f"SELECT count(DISTINCT condition) FROM {table.rated}")[0])


def fingerprint(table: VerdictTable) -> str:
    """SHA-256 of the canonical verdict table: the same for a frame in any library and any row order."""
    digest = hashlib.sha256()
    cursor = table.engine.connection.execute(
        f"SELECT rater, response, condition, cluster, criterion, judge, reference FROM {table.relation} ORDER BY ALL"
    )
    while chunk := cursor.fetchmany(100_000):
        for row in chunk:
            digest.update(repr(row).encode())
    return digest.hexdigest()


def check_sources(given: Sequence[object]) -> None:
    """Refuse an empty list of sources, and a frame among files."""
    if not given:
        raise RequestError("no source: give a file or a frame")
    frames = [one for one in given if not isinstance(one, str | Path)]
    strange = [type(one).__name__ for one in frames if as_frame(one) is None]
    if strange:
        raise RequestError(f"cannot read {quoted(strange)}: give paths, or pandas, Polars or PyArrow frames")
