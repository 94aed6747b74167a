"""Ways to have a request answered, one module each; none of their libraries is imported before it is needed."""

import os
from collections.abc import Callable
from pathlib import Path

from evenhand.design.plan import JudgePart
from evenhand.errors import RequestError, printable
from evenhand.run.backend import Backend


def backend_of(judge: JudgePart, folder: Path) -> Backend:
    """The backend a judge of a plan names.

    Args:
        judge: of the plan.
        folder: that the plan's files are relative to.

    Raises:
        RequestError: a library, a key or a file that it needs is not there.
    """
    makers: dict[str, Callable[[JudgePart, Path], Backend]] = {
        "openai": _openai,
        "replay": _replay,
    }
    if judge.backend == "callable":
        raise RequestError(
            f'judge "{printable(judge.name)}": a plan never names code to run; in Python, '
            f'evenhand.run(plan, judges={{"{printable(judge.name)}": function}}) gives this judge its function'
        )
    if judge.backend not in makers:
        raise RequestError(
            f'judge "{printable(judge.name)}": no backend {judge.backend} in this version; there are {", ".join(makers)}'
        )
    return makers[judge.backend](judge, folder)


def _openai(judge: JudgePart, _folder: Path) -> Backend:
    from evenhand.run.backends.openai_chat import OpenAIBackend

    key = os.environ.get(judge.key, "")
    if not key and not judge.base_url:
        raise RequestError(
            f'judge "{printable(judge.name)}": the environment variable {judge.key} holds its key and is not set; '
            "set it, or name another with key = in the plan, or a base_url that needs none"
        )
    return OpenAIBackend(judge.base_url, key, judge.timeout)


def _replay(judge: JudgePart, folder: Path) -> Backend:
    from evenhand.run.backends.replay import ReplayBackend
    from evenhand.run.closing import read_attempts

    if not judge.replies:
        raise RequestError(f'judge "{printable(judge.name)}": replies = "ledger.parquet" says which ledger is replayed')
    return ReplayBackend(read_attempts(folder / judge.replies))
