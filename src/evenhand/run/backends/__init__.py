"""Ways to have a request answered, one module each; none of their libraries is imported before it is needed."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from evenhand.design.plan import JudgePart
from evenhand.errors import RequestError, printable
from evenhand.run.backend import Backend
from evenhand.run.redacting import key_variable


def backend_of(judge: JudgePart, folder: Path, secrets: Sequence[str] = ()) -> Backend:
    """The backend a judge of a plan names.

    Args:
        judge: of the plan.
        folder: that the plan's files are relative to.
        secrets: texts that no message of it may hold, beside its own key.

    Raises:
        RequestError: a library, a key or a file that it needs is not there.
    """
    makers: dict[str, Callable[[JudgePart, Path, Sequence[str]], Backend]] = {
        "openai": _openai,
        "embedded": _embedded,
        "inspect": _inspect,
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
    return makers[judge.backend](judge, folder, secrets)


def _openai(judge: JudgePart, _folder: Path, secrets: Sequence[str]) -> Backend:
    from evenhand.run.backends.openai_chat import OpenAIBackend

    variable = key_variable(judge)
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise RequestError(
            f'judge "{printable(judge.name)}": the environment variable {variable} holds its key and is not set; '
            "set it, or name another with key = in the plan; a base_url without key = is sent none"
        )
    return OpenAIBackend(judge.base_url, key, judge.timeout, secrets)


def _inspect(judge: JudgePart, _folder: Path, secrets: Sequence[str]) -> Backend:
    from evenhand.run.backends.inspect_model import InspectBackend

    key = os.environ.get(judge.key, "").strip() if judge.key else ""  # Inspect knows each provider's own variable
    if judge.key and not key:
        raise RequestError(
            f'judge "{printable(judge.name)}": the environment variable {judge.key} holds its key and is not set'
        )
    return InspectBackend(judge, key, secrets)


def _embedded(judge: JudgePart, _folder: Path, _secrets: Sequence[str]) -> Backend:
    from evenhand.run.backends.embedded import embedded_backend

    return embedded_backend(judge)


def _replay(judge: JudgePart, folder: Path, _secrets: Sequence[str]) -> Backend:
    from evenhand.run.backends.replay import ReplayBackend
    from evenhand.run.closing import read_attempts

    if not judge.replies:
        raise RequestError(f'judge "{printable(judge.name)}": replies = "ledger.parquet" says which ledger is replayed')
    replayed = folder / judge.replies
    if not replayed.is_file():
        raise RequestError(f'judge "{printable(judge.name)}": replies: there is no {printable(str(replayed))}')
    return ReplayBackend(read_attempts(replayed))
