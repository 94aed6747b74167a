"""``evenhand run``: the calls of a plan, resumable, one record an attempt."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evenhand.design.calls import Design
    from evenhand.run.running import Finished


@click.command("run", short_help="Make the calls of a plan: resumable, one record an attempt, within its budget.")
@click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN.toml")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the run: ledger and verdicts.")
@click.option("--dry-run", is_flag=True, help="Show the first prompt and what the run would take; send nothing.")
@click.option(
    "--shard", metavar="I/N", help="Only every N-th call, from the I-th: parts run anywhere and merge without --shard."
)
@click.option("--in-flight", type=click.IntRange(1, 10_000), metavar="N", help="Calls at once, instead of the plan's.")
@click.option(
    "--registered",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Refuse a plan that is not the one registered there.",
)
def command(
    plan: Path, out: Path | None, dry_run: bool, shard: str | None, in_flight: int | None, registered: Path | None
) -> None:
    """Make the calls of a plan and write verdicts.parquet, which ``evenhand audit`` reads.

    A call is finished when its reply is committed: stop at any moment and run the same line again to go on. Calls are known by
    everything that is sent, so a changed rubric, model or setting makes new calls and keeps the old ones apart.

    \b
      evenhand plan study.toml                     # what it would ask, cost and detect
      evenhand run study.toml --out study
      evenhand audit study/verdicts.parquet --out report

    Exit codes: 0 every call has its reply · 3 some have none (an outage, a budget, an interruption): run it again.
    """
    from evenhand.cli.progress import RunProgress
    from evenhand.design.calls import load_design
    from evenhand.design.registration import read_registration
    from evenhand.errors import RequestError, ServiceError, printable
    from evenhand.run.running import Shard, run_design

    design = load_design(plan)
    part = Shard.parse(shard) if shard else Shard()
    holds = read_registration(registered) if registered else None
    if holds is not None:
        holds.check(design.saved.hash, printable(plan.name))
    if dry_run:
        click.echo(_dry_run(design))
        return
    if out is None:
        raise RequestError("say where the run goes: --out DIR (or --dry-run to see the prompts first)")
    n_calls = sum(1 for place in range(design.n_calls) if place % part.of == part.number - 1)
    with RunProgress(n_calls) as progress:
        finished = run_design(design, out, shard=part, progress=progress, in_flight=in_flight, registered=holds)
    click.echo(_summary(finished, n_calls))
    if finished.unanswered:
        raise ServiceError(_unfinished(finished, n_calls))


def _dry_run(design: "Design") -> str:
    from evenhand.errors import printable

    call = next(design.calls())
    lines = [f"{design.n_calls:,} calls; the first one:"]
    for message in call.request.messages:
        lines += [f"--- {message.role}", *(printable(line) for line in message.content.splitlines())]
    settings = ", ".join(f"{name} = {value}" for name, value in call.request.settings.items())
    return "\n".join([*lines, "---", f"settings sent: {settings or 'none'}; model {printable(call.request.model)}"])


def _summary(finished: "Finished", n_calls: int) -> str:
    from evenhand.errors import printable

    tally = finished.tally
    spent = f"{tally.attempts:,} attempts, {tally.tokens:,} tokens"
    if tally.money:
        spent += f", {tally.money:,.4f} in money"
    if tally.unpriced:
        spent += f", cost unknown for {tally.unpriced:,} attempts (no price for the model)"
    lines = [
        f"{n_calls - finished.unanswered:,} of {n_calls:,} calls have their reply ({tally.kept:,} from before); {spent}",
        f"verdicts: {printable(str(finished.verdicts))}; evenhand audit reads it",
    ]
    for asked in sorted({model for model, _ in tally.served}):
        served = sorted({name for model, name in tally.served if model == asked})
        if len(served) > 1 or served != [asked]:
            lines.append(
                f'note: "{printable(asked)}" was answered by {", ".join(map(printable, served))}; verdicts carry the model that served them'
            )
    if finished.changed_plans:
        lines.append(
            f"note: the plan was changed since this folder was begun ({finished.changed_plans} earlier version(s)); replies to calls it no "
            "longer makes stay in the ledger and are not in the verdicts"
        )
    return "\n".join(lines)


def _unfinished(finished: "Finished", n_calls: int) -> str:
    from evenhand.errors import printable

    tally = finished.tally
    kinds = ", ".join(f"{kind} × {count}" for kind, count in tally.failures.most_common())
    said = f"; failures: {kinds}; the first: {printable(tally.first_failure)}" if kinds else ""
    why = f" ({printable(tally.stopped)})" if tally.stopped else ""
    return f"{finished.unanswered:,} of {n_calls:,} calls have no reply{why}{said}. What was answered is kept; run the same line again to go on"
