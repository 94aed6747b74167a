"""A sample from verdicts to a folder: plan, key, and sheets for raters."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from evenhand.auditing import read
from evenhand.errors import OutputError, RequestError, printable, quoted
from evenhand.output import check_place, new_folder
from evenhand.sampling import budget_words as words
from evenhand.sampling.dealing import deal
from evenhand.sampling.drawing import draw, sizes_of, spreads
from evenhand.sampling.form import Form
from evenhand.sampling.made import BY, Drawn, Wish, frame_text, key_text, plan_of
from evenhand.sampling.plan import FOLDER, FRAME, KEY, NOTE, PLAN, SHEETS
from evenhand.sampling.population import Population, population
from evenhand.sampling.sheets import Sheet, can_write_xlsx, instructions, sheet, to_csv, write_xlsx
from evenhand.sampling.telling import note_of, said_of
from evenhand.sampling.texts import texts_of
from evenhand.tally.arms import of_control
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec
from evenhand.verdicts.table import VerdictTable, build_table


def look(sources: Sequence[str], spec: Spec, labels: Path | None, wish: Wish) -> str:
    """What labels could show and how they are best divided; nothing is drawn.

    Raises:
        EvenhandError: the request or the data cannot carry it.
    """
    with Engine() as engine:
        _, people = _read(engine, sources, spec, labels, wish)
    spread = spreads(people, wish.expected)
    lines = [
        f"read    {words.plural(len(people.responses))} {words.shared(people)}",
        *words.strata_lines(people),
    ]
    lines += words.budget_lines(people, wish.n, spec.confidence_level)
    if wish.n is not None:
        lines += words.allocation_lines(people, wish.n, spread, spec.confidence_level)
    return "\n".join(lines)


def make(sources: Sequence[str], spec: Spec, labels: Path | None, wish: Wish, out: Path) -> str:
    """Draw a sample, write its folder, and say what was done.

    Raises:
        EvenhandError: the request or the data cannot carry it; nothing is written then.
    """
    if wish.n is None:
        raise RequestError("how many responses are to be labelled? --n N; see what N labels can show with --plan")
    paths = [Path(source) for source in sources] + ([labels] if labels else [])
    _must_be_new(out, paths)
    with Engine() as engine:
        table, people = _read(engine, sources, spec, labels, wish)
        sizes = sizes_of(people, wish.n, wish.allocation, spreads(people, wish.expected))
        chosen = draw(people, sizes, spec.seed, by_cluster="cluster" in wish.by)
        ids = [people.responses[place] for place in chosen.taken.tolist()]
        made = Drawn(
            table.reading,
            people,
            chosen,
            deal(ids, wish.raters, wish.shared, spec.seed),
            texts_of(table.reading, spec.text, ids),
            Form.of(table.scale, table.reading.criteria),
            _asked(table, ids),
            wish,
        )
        tables = {KEY: key_text(made), FRAME: frame_text(made)}
        plan = plan_of(made, spec, tables)
    has_xlsx = can_write_xlsx()
    said = list(said_of(made, plan, out, has_xlsx=has_xlsx))
    with new_folder(out, paths, FOLDER) as draft:
        (draft / SHEETS).mkdir()
        for number, one in enumerate(_sheets(made), 1):
            (draft / SHEETS / f"rater_{number}.csv").write_text(to_csv(one), encoding="utf-8", newline="")
            if has_xlsx:
                write_xlsx(one, draft / SHEETS / f"rater_{number}.xlsx")
        counts = [len(order) for order in made.dealt.sheets]
        (draft / SHEETS / "instructions.txt").write_text(
            instructions(made.form, counts), encoding="utf-8", newline="\n"
        )
        for name, text in tables.items():
            (draft / name).write_text(text, encoding="utf-8", newline="")
        (draft / NOTE).write_text(note_of(plan, said), encoding="utf-8", newline="\n")
        saved = plan.model_dump_json(by_alias=True, indent=1) + "\n"
        (draft / PLAN).write_text(saved, encoding="utf-8", newline="\n")
    return "\n".join(said)


def _must_be_new(out: Path, sources: Sequence[Path]) -> None:
    """A sample is never replaced: its sheets may have been filled in where they stand."""
    check_place(out, sources, FOLDER)
    if out.exists() and any(out.iterdir()):
        raise OutputError(
            f"{printable(str(out))}: holds a sample, whose sheets may be filled in; choose another --out, or take it away first"
        )


def _read(
    engine: Engine, sources: Sequence[str], spec: Spec, labels: Path | None, wish: Wish
) -> tuple[VerdictTable, Population]:
    strange = [one for one in wish.by if one not in BY]
    if strange or not wish.by:
        raise RequestError(f"--by {quoted(strange)}: responses are drawn by verdict, by cluster, or by verdict,cluster")
    table = of_control(build_table(read(engine, sources, spec.model_copy(update={"text": ()}), labels)))
    if "cluster" in wish.by and not table.units.declared:
        raise RequestError(
            "--by cluster: no column says which responses belong together; name one with --cluster COL, or draw with --by verdict"
        )
    return table, population(table, by_verdict="verdict" in wish.by)


def _asked(table: VerdictTable, responses: Sequence[str]) -> tuple[frozenset[str], ...]:
    """Criteria that each of these responses has a slot on."""
    engine, names = table.engine, table.reading.criteria
    wanted = engine.table("wanted", {"response": "VARCHAR"}, [(one,) for one in responses])
    has: dict[str, set[str]] = {one: set() for one in responses}
    for response, criterion in engine.rows(
        f"SELECT DISTINCT response, criterion FROM {table.relation} SEMI JOIN {wanted} USING (response)"
    ):
        has[str(response)].add(names[criterion])
    return tuple(frozenset(has[one]) for one in responses)


def _sheets(made: Drawn) -> Iterator[Sheet]:
    for order in made.dealt.sheets:
        yield sheet(
            made.form,
            made.dealt.codes,
            made.texts.of_responses,
            made.texts.of_criteria,
            made.asked,
            order.tolist(),
        )
