"""Making a run from the command line: progress on stderr, and what became of its calls in words."""

from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli.progress import RunProgress
from evenhand.design.calls import Design
from evenhand.design.registration import read_registration
from evenhand.errors import ServiceError, printable
from evenhand.run.batching import Requests, Results
from evenhand.run.folder import Shard
from evenhand.run.running import Finished, run_design

_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Asked:
    """A run as its user asked for it."""

    out: Path
    shard: str | None = None
    in_flight: int | None = None
    registered: Path | None = None
    batch_results: tuple[Path, ...] = ()


def make(design: Design, asked: Asked) -> int:
    """Make the calls, say how it went, and return the exit code: 0, or 130 where the user stopped it.

    Raises:
        ServiceError: calls are left without a reply.
        EvenhandError: the request cannot be carried out.
    """
    part = Shard.parse(asked.shard) if asked.shard else Shard()
    registration = read_registration(asked.registered) if asked.registered else None
    try:
        with RunProgress(part.size(design)) as progress:
            finished = run_design(
                design,
                asked.out,
                shard=part,
                registered=registration,
                progress=progress,
                in_flight=asked.in_flight,
                batch_results=asked.batch_results,
            )
    except KeyboardInterrupt:
        click.echo("error: interrupted; what was answered is kept: run the same line again to go on", err=True)
        return _INTERRUPTED
    click.echo(summary(finished))
    if finished.interrupted:
        click.echo(
            f"error: interrupted; {finished.unanswered:,} of {finished.calls:,} calls are left: run the same line again to go on",
            err=True,
        )
        return _INTERRUPTED
    held_back = finished.requests is not None and bool(finished.requests.held_back)
    if finished.unanswered > finished.waiting or held_back:
        raise ServiceError(_unfinished(finished))
    return 0


def dry_run_words(design: Design) -> str:
    """The first prompt of every judge as it would be sent, and what the run would take."""
    from evenhand.cli.planning import volume_lines
    from evenhand.design.proof import look

    lines: list[str] = []
    shown: set[str] = set()
    for call in design.calls():
        judge = call.labels["rater_id"]
        if judge in shown:
            continue
        shown.add(judge)
        settings = ", ".join(f"{name} = {value}" for name, value in call.request.settings.items())
        lines.append(f"first prompt to {printable(judge)} (model {printable(call.request.model)}):")
        for message in call.request.messages:
            lines += [f"--- {message.role}", *(printable(line) for line in message.content.splitlines())]
        lines += ["---", f"settings sent: {printable(settings) or 'none'}"]
        if call.request.schema is not None:
            lines.append("structured reply: a JSON schema is sent")
        if len(shown) == len(design.plan.judge):
            break
    return "\n".join([*lines, *volume_lines(design, look(design)[0]), "nothing was sent"])


def write_task(design: Design, path: Path) -> str:
    """Write the design as an Inspect task and say how it is used."""
    from evenhand.run.inspect_files import write_inspect_task

    files = write_inspect_task(design, path)
    shown = printable(str(path))
    return "\n".join(
        [
            f"wrote {shown} with {', '.join(printable(one.name) for one in files[1:])} beside it: {design.n_calls:,} samples",
            f"run it:   inspect eval {shown}",
            f"audit it: evenhand audit logs/LOG.eval --spec {printable(str(files[-1]))} --out report",
        ]
    )


def summary(finished: Finished) -> str:
    """What a run did, in a few lines."""
    tally = finished.tally
    spent = f"{tally.attempts:,} attempts, {tally.tokens:,} tokens"
    if tally.money:
        spent += f", {tally.money:,.4f} in money"
    if tally.unpriced:
        spent += f", cost unknown for {tally.unpriced:,} attempts (no price for the model)"
    lines = [
        f"{finished.calls - finished.unanswered:,} of {finished.calls:,} calls have their reply ({finished.kept:,} from before); {spent}"
    ]
    if finished.results is not None:
        lines += _results(finished.results)
    if finished.requests is not None:
        lines += _requests(finished.requests)
    lines.append(f"verdicts: {printable(str(finished.verdicts))}; evenhand audit reads it")
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


def _results(results: Results) -> list[str]:
    """The account of lines of results."""
    parts = [f"{results.replies:,} replies", f"{results.failed:,} failed"]
    for number, what in (
        (results.known, "read before"),
        (results.repeated, "further lines of a call that has one (the first reply counts)"),
        (results.unknown, f'of no call here (the first: "{results.first_unknown}")'),
        (results.malformed, f"that are no result ({', '.join(results.first_malformed[:3])})"),
    ):
        parts += [f"{number:,} {what}"] if number else []
    lines = [f"results of {', '.join(results.files)}: {'; '.join(parts)}"]
    if results.missing:
        lines.append(f"{results.missing:,} calls that waited have no line in them")
    return lines


def _requests(requests: Requests) -> list[str]:
    if not requests.calls:
        return [f"note: {printable(requests.held_back)}"] if requests.held_back else []
    files = ", ".join(printable(str(path)) for path in requests.files)
    lines = [f"batch: {requests.calls:,} requests in {files}; send it, and run the same line again with the results"]
    if requests.again:
        lines.append(
            f"note: {requests.again:,} of these stood in a file of requests before; where that one was sent, wait for its results "
            "instead of sending them twice"
        )
    if requests.held_back:
        lines.append(f"note: {printable(requests.held_back)}; further requests were left out")
    return lines


def _unfinished(finished: Finished) -> str:
    tally = finished.tally
    kinds = ", ".join(f"{kind} × {count}" for kind, count in tally.failures.most_common())
    said = f"; failures: {kinds}; the first: {printable(tally.first_failure)}" if kinds else ""
    if finished.results and finished.results.failed:
        failure = printable(finished.results.first_failure)
        said += f"; {finished.results.failed:,} lines of results are errors; the first: {failure}"
    why = f" ({printable(tally.stopped)})" if tally.stopped else ""
    return (
        f"{finished.unanswered:,} of {finished.calls:,} calls have no reply{why}{said}. What was answered is kept; run the same line "
        "again to go on"
    )
