"""``evenhand run``: the calls of a plan, resumable, one record an attempt."""

from pathlib import Path

import click


@click.command("run", short_help="Make the calls of a plan: resumable, one record an attempt, within its budget.")
@click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN.toml")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the run: ledger and verdicts.")
@click.option("--dry-run", is_flag=True, help="Show the first prompt and what the run would take; send nothing.")
@click.option(
    "--shard", metavar="I/N", help="Only every N-th call, from the I-th: parts run anywhere and merge without --shard."
)
@click.option("--in-flight", type=click.IntRange(1, 10_000), metavar="N", help="Calls at once, instead of the plan's.")
@click.option(
    "--registered", type=click.Path(path_type=Path), metavar="FILE", help="Refuse any plan but the registered one."
)
@click.option(
    "--batch-results",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Results of a batch, beside those in the folder.",
)
@click.option(
    "--as-inspect-task",
    type=click.Path(path_type=Path),
    metavar="FILE.py",
    help="Write the design as an Inspect AI task instead; send nothing.",
)
def command(
    plan: Path,
    out: Path | None,
    dry_run: bool,
    shard: str | None,
    in_flight: int | None,
    registered: Path | None,
    batch_results: tuple[Path, ...],
    as_inspect_task: Path | None,
) -> None:
    """Make the calls of a plan and write verdicts.parquet, which ``evenhand audit`` reads.

    A call is finished when its reply is committed: stop at any moment and run the same line again to go on. Calls are known by
    everything that is sent, so a changed rubric, model or setting makes new calls and keeps the old ones apart.

    \b
      evenhand plan study.toml                     # what it would ask, cost and detect
      evenhand run study.toml --out study
      evenhand audit study/verdicts.parquet --out report

    A judge with backend = "batch" is asked by a file of requests, batch-requests.jsonl, which batch services and vllm run-batch
    take; put their results into the folder as batch*.jsonl, or name them by --batch-results, and run the same line again.

    Exit codes: 0 every call has its reply, or waits in a batch · 2 the request cannot be carried out · 3 some calls have none (an
    outage, a budget): run it again · 130 interrupted.
    """
    from evenhand.cli.making import Asked, dry_run_words, make, write_task
    from evenhand.design.calls import load_design
    from evenhand.errors import RequestError

    design = load_design(plan)
    if as_inspect_task is not None:
        if out is not None or dry_run or shard or batch_results or in_flight or registered:
            raise RequestError("--as-inspect-task writes a task and makes no call; leave the other options out")
        click.echo(write_task(design, as_inspect_task))
        return
    if registered is not None:
        from evenhand.design.registration import read_registration
        from evenhand.errors import printable

        read_registration(registered).check(design.saved.hash, printable(plan.name))
    if dry_run:
        click.echo(dry_run_words(design))
        return
    if out is None:
        raise RequestError("say where the run goes: --out DIR (or --dry-run to see the prompts first)")
    code = make(design, Asked(out, shard, in_flight, registered, batch_results))
    if code:
        raise click.exceptions.Exit(code)
