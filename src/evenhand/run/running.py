"""A run from a plan to its folder: ledger, verdicts, and what is left to do."""

import asyncio
import contextlib
import json
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.design.calls import Design
from evenhand.design.reading import ReplyReader
from evenhand.design.registration import Registration
from evenhand.design.request import PlannedCall
from evenhand.errors import OutputError, RequestError, printable
from evenhand.output import write_text
from evenhand.run.backend import Backend, Reply
from evenhand.run.backends import backend_of
from evenhand.run.backends.function import Answer, FunctionBackend
from evenhand.run.closing import close_ledger, read_attempts, verdict_rows, write_verdicts
from evenhand.run.ledger import Ledger
from evenhand.run.prices import prices_of
from evenhand.run.runner import Budget, Policy, Progress, Reader, Run, Tally
from evenhand.verdicts.parsing import Parsed

VERDICTS, PLAN = "verdicts.parquet", "plan.json"


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a plan's calls: every n-th, from the i-th."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """From ``2/8``.

        Raises:
            RequestError: it is no such pair.
        """
        number, _, of = text.partition("/")
        if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
            raise RequestError(f'--shard "{printable(text)}": write it as 2/8, the second of eight')
        return cls(int(number), int(of))

    @property
    def suffix(self) -> str:
        """In names of files; empty for a whole plan."""
        return "" if self.of == 1 else f"-{self.number}of{self.of}"

    def of_calls(self, design: Design) -> Iterator[PlannedCall]:
        """The calls of this part."""
        return (call for call in design.calls() if call.place % self.of == self.number - 1)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left.

    Attributes:
        tally: how it went.
        verdicts: file of verdicts, one row a call.
        unanswered: calls of the plan without a reply.
        changed_plans: plans that the folder served before this one.
    """

    tally: Tally
    verdicts: Path
    unanswered: int
    changed_plans: int


def run_design(
    design: Design,
    out: Path,
    *,
    shard: Shard | None = None,
    progress: Progress | None = None,
    in_flight: int | None = None,
    judges: Mapping[str, Answer] | None = None,
    registered: Registration | None = None,
) -> Finished:
    """Make the calls of a plan that have no reply yet, and write the verdicts of all of them.

    Args:
        design: the plan with what it names.
        out: folder of the run; an earlier run of this or an earlier version of the plan there is gone on with.
        shard: a part of the calls.
        progress: told after each attempt.
        in_flight: calls at once, in the plan's place.
        judges: functions that answer for the judges of these names.
        registered: the registration that the plan is held to; it is kept beside the plan.

    Raises:
        OutputError: the folder holds something else.
        LedgerError: the ledger is damaged or in use.
        RequestError: a judge cannot be reached as the plan says (no key, no library), or another plan is registered.
    """
    if registered is not None:
        registered.check(design.saved.hash, printable(design.saved.name))
    part = shard or Shard()
    _check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    functions = dict(judges or {})
    folder = design.saved.folder
    backends: dict[str, Backend] = {
        judge.name: FunctionBackend(functions[judge.name]) if judge.name in functions else backend_of(judge, folder)
        for judge in design.plan.judge
    }
    reader = ReplyReader(design.plan)

    def read(call: PlannedCall, reply: Reply) -> Parsed:
        return reader.parse(call, reply.text, reply.refusal, reply.finish_reason)

    closed = out / f"ledger{part.suffix}.parquet"
    with Ledger(out / f"run{part.suffix}.sqlite") as ledger:
        for earlier in sorted(out.glob("ledger*.parquet")) if part.of == 1 else [closed] * closed.exists():
            ledger.adopt(read_attempts(earlier))
        earlier_plans = _earlier_plans(out / PLAN, design)
        write_text(out / PLAN, _plan_json(design, earlier_plans, registered))
        tally = asyncio.run(_run(design, part, backends, ledger, read, progress, in_flight))
        rows = list(verdict_rows(part.of_calls(design), ledger.attempts(), design.saved.hash))
        verdicts = out / f"verdicts{part.suffix}.parquet"
        write_verdicts(rows, verdicts, reader.verdict_spec())
        close_ledger(ledger, closed)
    unanswered = sum(
        (row["status"] == "missing" and row.get("reason") == "not called") or row["status"] == "error" for row in rows
    )
    return Finished(tally, verdicts, unanswered, len(earlier_plans))


async def _run(
    design: Design,
    part: Shard,
    backends: dict[str, Backend],
    ledger: Ledger,
    read: Reader,
    progress: Progress | None,
    in_flight: int | None,
) -> Tally:
    plan = design.plan
    prices = prices_of(plan.prices, design.saved.folder)
    run = Run(
        part.of_calls(design),
        _ByJudge(backends),
        ledger,
        read,
        policy=Policy(in_flight or plan.run.in_flight, plan.run.attempts, plan.run.first_wait, plan.run.most_wait),
        budget=Budget(plan.budget.money, plan.budget.tokens, plan.budget.calls),
        prices=prices,
        progress=progress,
    )
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # no signals on this platform or thread
        loop.add_signal_handler(signal.SIGINT, _interrupt, run, loop)
    try:
        return await run()
    finally:
        for backend in backends.values():
            await backend.close()


def _interrupt(run: Run, loop: asyncio.AbstractEventLoop) -> None:
    """First Ctrl-C: wait for the calls in flight, which are paid for; a second one ends at once."""
    run.stop("interrupted")
    loop.remove_signal_handler(signal.SIGINT)


class _ByJudge:
    """The backends of a plan's judges as one."""

    name = "judges"

    def __init__(self, backends: dict[str, Backend]) -> None:
        self._backends = backends

    async def complete(self, call: PlannedCall) -> Reply:
        return await self._backends[call.labels["rater_id"]].complete(call)

    async def close(self) -> None:
        """Each is closed by itself."""


def _earlier_plans(path: Path, design: Design) -> list[str]:
    """Hashes of the plans this folder served before, as its own record says."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    hashes = [*known.get("earlier", []), known.get("hash")] if isinstance(known, dict) else []
    return [one for one in dict.fromkeys(hashes) if isinstance(one, str) and one != design.saved.hash]


def _plan_json(design: Design, earlier: list[str], registered: Registration | None) -> str:
    content: dict[str, object] = {
        "hash": design.saved.hash,
        "earlier": earlier,
        "files": design.saved.files,
        "plan": design.plan.model_dump(mode="json", exclude_defaults=True),
    }
    if registered is not None:
        content["registration"] = json.loads(registered.to_json())
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _check_folder(out: Path) -> None:
    if out.is_file():
        raise OutputError(f"{printable(str(out))}: is a file; --out names a folder")
    ours = ("run", "ledger", "verdicts", "plan", ".closing", ".verdicts", ".ledger", ".plan")
    strange = sorted(one.name for one in out.iterdir() if not one.name.startswith(ours)) if out.exists() else []
    if strange:
        raise OutputError(
            f'{printable(str(out))}: holds "{printable(strange[0])}", so it is no folder of a run; choose another --out'
        )
