"""The Python face of experiments: look at a plan, run it with judges that are functions too, audit its verdicts."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.api import AuditResult, audit
from evenhand.design.calls import Design, load_design
from evenhand.design.proof import Proof, Volume, look
from evenhand.design.registration import read_registration
from evenhand.run.backends.function import Answer
from evenhand.run.budget import Tally
from evenhand.run.folder import Shard
from evenhand.run.runner import Progress
from evenhand.run.running import Finished, run_design


@dataclass(frozen=True)
class PlanResult:
    """A plan with everything it names read, and looked at: what it would ask, and that arms differ in their block alone.

    Attributes:
        hash: of the plan and its files.
        n_calls: that it makes.
        volume: calls and about how many tokens.
        proof: of the arms.
        design: lists every call with its prompt.
    """

    hash: str
    n_calls: int
    volume: Volume
    proof: Proof
    design: Design = field(repr=False)

    def run(self, out: str | Path, **options: Any) -> "RunResult":
        """Make its calls; see :func:`run`."""
        return run(self, out, **options)


@dataclass(frozen=True)
class RunResult:
    """What a run left.

    Attributes:
        verdicts: file of verdicts, one row a call.
        calls: of the plan, or of its part.
        unanswered: those without a reply.
        stopped: why no further call was made; empty where the plan was gone through.
        finished: spending, failures, batches.
    """

    verdicts: Path
    calls: int
    unanswered: int
    stopped: str
    finished: Finished = field(repr=False)

    @property
    def complete(self) -> bool:
        """Whether every call has its reply."""
        return not self.unanswered

    def audit(self, **options: Any) -> AuditResult:
        """Audit the verdicts; ``options`` as for :func:`evenhand.audit`."""
        return audit(self.verdicts, **options)


def plan(path: str | Path) -> PlanResult:
    """Read a plan and everything it names; nothing is sent.

    Args:
        path: of the TOML file.

    Raises:
        EvenhandError: it cannot be read, or cannot be carried out; the message says what, where and the way out.
    """
    design = load_design(Path(path))
    volume, proof = look(design)
    return PlanResult(design.saved.hash, design.n_calls, volume, proof, design)


def run(
    plan: str | Path | PlanResult,
    out: str | Path,
    *,
    judges: Mapping[str, Answer] | None = None,
    shard: str | None = None,
    in_flight: int | None = None,
    registered: str | Path | None = None,
    batch_results: Sequence[str | Path] = (),
    progress: Progress | None = None,
) -> RunResult:
    """Make the calls of a plan that have no reply yet, and write the verdicts.

    Args:
        plan: its TOML file, or a plan that was looked at.
        out: folder of the run; the same call goes on where an earlier one was stopped.
        judges: functions for judges of the plan, by name: the request in, the reply as a text out; plain or ``async``.
        shard: only a part of the calls, as ``"2/8"``.
        in_flight: calls at once, instead of the plan's.
        registered: a registration; any other plan is refused.
        batch_results: results of batches, beside those in the folder.
        progress: told after every attempt where the run stands.

    Returns:
        The run, also where calls are left without a reply: ``unanswered`` counts them, ``stopped`` says why.

    Raises:
        EvenhandError: the request cannot be carried out.
        KeyboardInterrupt: interrupted; the calls in flight were waited for, and what was answered is kept.
    """
    design = plan.design if isinstance(plan, PlanResult) else load_design(Path(plan))
    stopping = threading.Event()

    def told(tally: Tally) -> None:
        if stopping.is_set():
            raise _InterruptedError
        if progress is not None:
            progress(tally)

    def made() -> Finished:
        return run_design(
            design,
            Path(out),
            judges=judges,
            shard=Shard.parse(shard) if shard else None,
            registered=read_registration(Path(registered)) if registered else None,
            progress=told,
            in_flight=in_flight,
            batch_results=[Path(one) for one in batch_results],
        )

    finished = _beside(made, stopping) if _loop_is_running() else made()
    if finished.interrupted:
        raise KeyboardInterrupt
    return RunResult(finished.verdicts, finished.calls, finished.unanswered, finished.tally.stopped, finished)


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _InterruptedError(Exception):
    """The user's interruption as it reaches the run, whose calls in flight are then waited for."""


def _beside(made: Callable[[], Finished], stopping: threading.Event) -> Finished:
    """In a thread of its own, as a notebook needs, whose own loop is running; an interruption there ends the run too."""
    with ThreadPoolExecutor(1, "evenhand-run") as thread:
        made_there = thread.submit(made)
        try:
            return made_there.result()
        except KeyboardInterrupt:
            stopping.set()
            raise
