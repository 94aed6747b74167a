"""Batches: calls as a file of requests, which a batch service or ``vllm run-batch`` answers, and its results back into the ledger.

A line of requests is ``custom_id`` (the key of the call), ``method``, ``url`` and ``body``; a line of results holds the same
``custom_id`` with ``response`` or ``error``, in any order. Every line is accounted for.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from evenhand.design.request import PlannedCall
from evenhand.errors import OutputError, SourceError, printable
from evenhand.run.backend import CallFailedError, Reply
from evenhand.run.backends.completion import body_of, error_of, reply_of
from evenhand.run.budget import Purse
from evenhand.run.closing import drafts_of
from evenhand.run.folder import REQUESTS
from evenhand.run.ledger import Ledger
from evenhand.run.prices import Prices
from evenhand.run.redacting import redacted
from evenhand.run.runner import Reader, attempt_at, with_storable_texts

_URL = "/v1/chat/completions"
_MOST_LINES, _MOST_BYTES = 50_000, 190_000_000
"""Of one file, as batch services take them; a file holds requests to one model only."""
_LINE = "batch_line"
"""Under this name an attempt keeps the hash of its line, so that a file that is read twice counts once."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Files that wait to be sent.

    Attributes:
        files: in the folder of the run.
        calls: how many requests they hold.
        again: how many of these stood in files of requests before, and may be under way.
        held_back: why further calls were left out; empty where none was.
    """

    files: tuple[Path, ...]
    calls: int
    again: int
    held_back: str = ""


@dataclass
class Results:
    """What became of the lines of results.

    Attributes:
        replies, failed: lines that are attempts now.
        answered: calls that have their first reply by them.
        known: lines that had been read before.
        repeated: further lines of a call that has one already; they were paid for, so they are kept, and the first reply counts.
        unknown: lines whose custom_id is no call of this plan, or of this part of it.
        malformed: lines that are no result, with the first places.
        missing: calls that waited and have no line.
    """

    files: tuple[str, ...] = ()
    replies: int = 0
    failed: int = 0
    answered: int = 0
    known: int = 0
    repeated: int = 0
    unknown: int = 0
    malformed: int = 0
    missing: int = 0
    first_unknown: str = ""
    first_malformed: list[str] = field(default_factory=list)
    first_failure: str = ""


def results_in(folder: Path) -> list[Path]:
    """Files of results that were put into the folder of a run: every other batch*.jsonl than its requests."""
    return [one for one in sorted(folder.glob("batch*.jsonl")) if not one.name.startswith(REQUESTS)]


# --- requests ---


def write_requests(calls: Iterable[PlannedCall], folder: Path, suffix: str, purse: Purse) -> Requests:
    """Write the requests of calls, as many as the budget bears, in place of earlier files of requests.

    Args:
        calls: those without a reply.
        suffix: of a part of a plan, in the names of its files.
        purse: what requests may take is set aside in it.

    Raises:
        OutputError: a file cannot be written.
    """
    shape = re.compile(re.escape(REQUESTS + suffix) + r"(-[0-9]+)?\.jsonl")
    earlier = [one for one in sorted(folder.glob(f"{REQUESTS}*.jsonl")) if shape.fullmatch(one.name)]
    n_calls, again, held_back = 0, 0, ""
    try:
        written = {line.id for path in earlier for line in _lines(path)}
        prefix = drafts_of(folder / f"{REQUESTS}{suffix}.jsonl")
        with tempfile.TemporaryDirectory(dir=folder, prefix=prefix) as aside, _Drafts(Path(aside)) as drafts:
            for call in calls:
                if held_back := purse.refusal(call):
                    break
                purse.set_aside(call)
                drafts.add(call)
                n_calls += 1
                again += call.key in written
            drafts.close()
            for path in earlier:
                path.unlink()
            several = len(drafts.paths) > 1
            files = [
                draft.replace(folder / f"{REQUESTS}{suffix}{f'-{number}' if several else ''}.jsonl")
                for number, draft in enumerate(drafts.paths, 1)
            ]
    except OSError as problem:
        raise OutputError(f"{REQUESTS}: cannot be written ({problem.strerror}); make room, and run again") from None
    return Requests(tuple(files), n_calls, again, held_back)


class _Drafts(ExitStack):
    """Files of requests as they grow: one a judge, and another one where it would be longer than services take."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.paths: list[Path] = []
        self._folder = folder
        self._at: dict[str, tuple[IO[bytes], int]] = {}

    def add(self, call: PlannedCall) -> None:
        """Write one request."""
        line = {"custom_id": call.key, "method": "POST", "url": _URL, "body": body_of(call.request)}
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        judge = call.labels["rater_id"]
        stream, lines = self._at.get(judge, (None, 0))
        if stream is None or lines >= _MOST_LINES or stream.tell() + len(data) > _MOST_BYTES:
            self.paths.append(self._folder / f"{len(self.paths)}.jsonl")
            stream, lines = self.enter_context(self.paths[-1].open("wb")), 0
        stream.write(data)
        self._at[judge] = stream, lines + 1


# --- results ---


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a file, by its place."""

    path: Path
    number: int
    start: int
    id: str
    is_result: bool


def read_results(
    paths: Sequence[Path], calls: Iterable[PlannedCall], ledger: Ledger, read: Reader, prices: Prices
) -> Results:
    """Read files of results into a ledger, in the plan's order, and account for every line.

    Args:
        calls: of the judges that are asked in batches.
        read: how a reply becomes a verdict.

    Raises:
        SourceError: a file cannot be read, or holds no line of results.
    """
    found = Results(files=tuple(printable(path.name) for path in paths))
    lines: dict[str, list[_Line]] = {}
    for path in paths:
        usable = 0
        for line in _lines(path):
            if line.id and line.is_result:
                lines.setdefault(line.id, []).append(line)
                usable += 1
            else:
                found.malformed += 1
                found.first_malformed += [f"{printable(path.name)} line {line.number}"]
        if not usable:
            raise SourceError(
                f"{printable(path.name)}: no line of it is a batch's result (an object with custom_id, and response or error)"
            )
    finished = ledger.finished()
    for call in calls:
        its = lines.pop(call.key, [])
        found.missing += not its and call.key not in finished
        _take(call, its, ledger, read, prices, found)
    found.unknown = sum(map(len, lines.values()))
    found.first_unknown = printable(next(iter(lines), ""))[:80]
    return found


def _take(
    call: PlannedCall, lines: Sequence[_Line], ledger: Ledger, read: Reader, prices: Prices, found: Results
) -> None:
    """Record the lines of one call that are not recorded yet."""
    if not lines:
        return
    held = list(ledger.of_call(call.key))
    known = {one.extra.get(_LINE) for one in held}
    number = max((one.number for one in held), default=0)
    found.repeated += len(lines) - 1
    had_reply, replies = any(one.outcome == "replied" for one in held), found.replies
    for line in lines:
        data = _data(line)
        mark = hashlib.sha256(data).hexdigest()
        if mark in known:
            found.known += 1
            continue
        known.add(mark)
        number += 1
        ending = _ending(json.loads(data), call.request.model, mark)
        reply = ending if isinstance(ending, Reply) else None
        cost = prices.cost(call.request.model, ending.usage)
        ledger.record(attempt_at(call, number, ending, read(call, reply) if reply else None, cost, 0.0))
        if isinstance(ending, Reply):
            found.replies += 1
        else:
            found.failed += 1
            found.first_failure = found.first_failure or f"{ending.named}: {ending}"
    found.answered += found.replies > replies and not had_reply


def _ending(result: dict[str, Any], model: str, mark: str) -> Reply | CallFailedError:
    """The reply in a line of results, or the failure that it tells."""
    response = result.get("response")
    answer = response if isinstance(response, dict) else {}
    status = answer.get("status_code", 200)
    try:
        if result.get("error"):
            raise error_of(result, 200, redacted)
        if not isinstance(status, int) or status >= 400:
            raise error_of(answer.get("body"), status if isinstance(status, int) else 500, redacted)
        return with_storable_texts(reply_of(answer.get("body"), model, redacted), {_LINE: mark})
    except CallFailedError as failure:
        failure.raw = {_LINE: mark}
        return failure


def _lines(path: Path) -> Iterator[_Line]:
    """The lines of a file that are not blank; one that is no object, or has no custom_id, has no id."""
    try:
        with path.open("rb") as stream:
            start = 0
            for number, data in enumerate(stream, 1):
                if data.strip(b"\xef\xbb\xbf \t\r\n"):
                    told = _object(data)
                    name = told.get("custom_id")
                    yield _Line(path, number, start, name if isinstance(name, str) else "", _is_result(told))
                start += len(data)
    except OSError as problem:
        raise SourceError(f"{printable(path.name)}: cannot be read ({problem.strerror})") from None


def _is_result(told: dict[str, Any]) -> bool:
    return isinstance(told.get("response"), dict) or bool(told.get("error"))


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _data(line: _Line) -> bytes:
    with line.path.open("rb") as stream:
        stream.seek(line.start)
        return stream.readline().strip(b"\xef\xbb\xbf \t\r\n")
