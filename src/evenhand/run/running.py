"""A run from a plan to its folder: ledger, verdicts, and what is left to do."""

import asyncio
import contextlib
import json
import math
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.design.calls import Design
from evenhand.design.reading import ReplyReader
from evenhand.design.registration import Registration
from evenhand.design.request import PlannedCall
from evenhand.errors import RequestError, did_you_mean, printable
from evenhand.run.backend import Backend, Reply
from evenhand.run.backends import backend_of
from evenhand.run.backends.function import Answer, FunctionBackend
from evenhand.run.batching import Requests, Results, read_results, results_in, write_requests
from evenhand.run.budget import Budget, Purse, Tally
from evenhand.run.closing import close_ledger, verdict_rows, write_verdicts
from evenhand.run.folder import RunFolder, Shard
from evenhand.run.ledger import Ledger
from evenhand.run.prices import Prices, prices_of
from evenhand.run.redacting import LogFilter, secrets_of
from evenhand.run.runner import Policy, Progress, Reader, Run
from evenhand.verdicts.parsing import Parsed

INTERRUPTED = "interrupted"
_FREE = ("embedded", "callable", "replay")
"""Backends that no provider is paid for."""
_MOST_THREADS = 256


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left.

    Attributes:
        tally: how it went.
        verdicts: file of verdicts, one row a call.
        calls: of the plan, or of this part of it.
        unanswered: those without a reply.
        changed_plans: plans that the folder served before this one.
        waiting: unanswered calls whose requests wait in a batch, never tried so far.
        requests: the files of requests, where a judge is asked in batches and calls are left.
        results: what became of results that were read.
    """

    tally: Tally
    verdicts: Path
    calls: int
    unanswered: int
    changed_plans: int
    waiting: int = 0
    requests: Requests | None = None
    results: Results | None = None

    @property
    def kept(self) -> int:
        """Calls that had their reply before this run."""
        return self.calls - self.unanswered - self.tally.replied - (self.results.answered if self.results else 0)

    @property
    def interrupted(self) -> bool:
        """Whether its user stopped it before its end."""
        return self.tally.stopped == INTERRUPTED and self.unanswered > 0


@dataclass(frozen=True)
class _Judges:
    """Who answers: backends by the judge's name, functions among them, and the names of those that are asked in batches."""

    backends: Mapping[str, Backend]
    functions: frozenset[str]
    batched: frozenset[str]

    def calls(self, design: Design, part: Shard, *, batched: bool) -> Iterator[PlannedCall]:
        """The calls that are made one by one, or those that go into a batch."""
        for call in self.all_calls(design, part):
            if (call.labels["rater_id"] in self.batched) == batched:
                yield call

    def all_calls(self, design: Design, part: Shard) -> Iterator[PlannedCall]:
        """Every call of a part; one that a function answers is no call of the server that the plan names, and has a key of its own."""
        for call in part.of_calls(design):
            if call.labels["rater_id"] in self.functions:
                yield replace(call, request=replace(call.request, endpoint=FunctionBackend.name))
            else:
                yield call


def run_design(
    design: Design,
    out: Path,
    *,
    judges: Mapping[str, Answer] | None = None,
    shard: Shard | None = None,
    registered: Registration | None = None,
    progress: Progress | None = None,
    in_flight: int | None = None,
    batch_results: Sequence[Path] = (),
) -> Finished:
    """Make the calls of a design that have no reply yet, and write the verdicts.

    A folder keeps the replies to calls that a changed plan no longer makes; they stay out of its verdicts.

    Args:
        design: what is asked.
        out: folder of the run: a ledger, the plan, and the verdicts, for a shard with its number in their names.
        judges: functions for judges of the plan, by name.
        shard: make only this part; without one, the ledgers of shards in the folder are merged and the rest is made.
        registered: refuses any other plan than the registered one.
        progress: told after every attempt.
        in_flight: calls at once, instead of the plan's.
        batch_results: results of batches; beside them, those that lie in the folder are read.

    Raises:
        LedgerError: the ledger is damaged or in use.
        OutputError: the folder is not one of a run, or cannot be written.
        RequestError: a key, library or function is not there, a key stands in the plan, or another plan is registered.
        SourceError: a file of results cannot be read.
    """
    if registered is not None:
        registered.check(design.saved.hash, printable(design.saved.name))
    folder = RunFolder(out, shard or Shard())
    part = folder.part
    prices = prices_of(design.plan.prices, design.saved.folder)
    _check_money(design, prices, frozenset(judges or {}))
    answering = _judges(design, judges or {})
    if batch_results and not answering.batched:
        raise RequestError('--batch-results: no judge of this plan is asked in batches (backend = "batch")')
    folder.prepare()
    reader = ReplyReader(design.plan)
    read = _reader(design, reader)
    with Ledger(folder.open_ledger) as ledger:
        folder.clear_drafts()
        folder.adopt_others(ledger, lambda: answering.all_calls(design, part))
        ledger.verify()
        earlier = folder.earlier_plans(design)
        folder.record_plan(design, earlier)
        held = results_in(out) if answering.batched else []
        files = tuple({path.resolve(): path for path in (*held, *batch_results)}.values())
        results = None
        if files:
            batched = answering.calls(design, part, batched=True)
            results = read_results(files, batched, ledger, read, prices)
        budget = Budget(design.plan.budget.money, design.plan.budget.tokens, design.plan.budget.calls).part(part.of)
        run = Run(
            answering.calls(design, part, batched=False),
            _ByJudge(answering.backends),
            ledger,
            read,
            policy=_policy(design, in_flight),
            budget=budget,
            prices=prices,
            progress=progress,
        )
        with LogFilter(secrets_of(design.plan.judge)):
            tally = asyncio.run(_made(run, answering.backends))
        requests = None
        if answering.batched:
            finished = ledger.finished()
            left = (call for call in answering.calls(design, part, batched=True) if call.key not in finished)
            if not tally.stopped:
                requests = write_requests(left, out, part.suffix, Purse(budget, prices, replace(tally)))
        rows = verdict_rows(
            answering.all_calls(design, part), ledger, design.saved.hash, answering.batched if requests else frozenset()
        )
        written = write_verdicts(rows, folder.verdicts, reader.verdict_spec())
        close_ledger(ledger, folder.closed_ledger)
    return Finished(
        tally, folder.verdicts, written.calls, written.unanswered, len(earlier), written.waiting, requests, results
    )


def _judges(design: Design, functions: Mapping[str, Answer]) -> _Judges:
    plan, names = design.plan, [one.name for one in design.plan.judge]
    unknown = next((name for name in functions if name not in names), None)
    if unknown is not None:
        raise RequestError(
            f'judges: no [[judge]] of this plan is called "{printable(unknown)}"{did_you_mean(unknown, names)}'
        )
    secrets = secrets_of(plan.judge)
    backends: dict[str, Backend] = {}
    for judge in plan.judge:
        if judge.name in functions:
            backends[judge.name] = FunctionBackend(functions[judge.name])
        elif judge.backend != "batch":
            backends[judge.name] = backend_of(judge, design.saved.folder, secrets)
    batched = frozenset(name for name in names if name not in backends)
    return _Judges(backends, frozenset(functions), batched)


def _check_money(design: Design, prices: Prices, functions: frozenset[str]) -> None:
    """A budget in money holds nobody whose price is not known."""
    if math.isinf(design.plan.budget.money):
        return
    for judge in design.plan.judge:
        if judge.name not in functions and judge.backend not in _FREE and judge.model not in prices.models:
            raise RequestError(
                f'[budget] money: "{printable(judge.model)}" has no price, so money cannot be counted; add it to a table of your own '
                '(prices = "prices.toml" in the plan, see evenhand plan --help), or set tokens or calls instead'
            )


def _policy(design: Design, in_flight: int | None) -> Policy:
    pace = design.plan.run
    return Policy(in_flight or pace.in_flight, pace.attempts, pace.first_wait, pace.most_wait)


def _reader(design: Design, reader: ReplyReader) -> Reader:
    """How a reply becomes a verdict; a form that reads tokens has the probabilities that the provider reports beside the text."""
    tokens = design.plan.reply.parse.startswith("token")
    open_ended = design.plan.scale.range is not None

    def read(call: PlannedCall, reply: Reply) -> Parsed:
        text = reply.text
        if tokens and reply.tokens:
            text = json.dumps({name: math.log(value) for name, value in reply.tokens.items() if value > 0})
        found = reader.parse(call, text, reply.refusal, reply.finish_reason)
        if open_ended and reply.finish_reason == "length" and found.span and found.span[1] >= len(text.rstrip()):
            return Parsed(
                None, "unparsed", found.text, found.raw_value, "undecided", "cut within a number, perhaps", found.span
            )
        return found

    return read


async def _made(run: Run, backends: Mapping[str, Backend]) -> Tally:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(min(run.policy.in_flight, _MOST_THREADS), "evenhand-run"))
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # no signals on this platform or thread
        loop.add_signal_handler(signal.SIGINT, _interrupt, run, loop)
    try:
        return await run()
    finally:
        for backend in backends.values():
            await backend.close()


def _interrupt(run: Run, loop: asyncio.AbstractEventLoop) -> None:
    """First Ctrl-C: wait for the calls in flight, which are paid for; a second one ends at once."""
    run.stop(INTERRUPTED)
    loop.remove_signal_handler(signal.SIGINT)


class _ByJudge:
    """The backends of a plan's judges as one."""

    name = "judges"

    def __init__(self, backends: Mapping[str, Backend]) -> None:
        self._backends = backends

    async def complete(self, call: PlannedCall) -> Reply:
        return await self._backends[call.labels["rater_id"]].complete(call)

    async def close(self) -> None:
        """Each is closed by itself."""
