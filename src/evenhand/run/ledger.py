"""The ledger: one row an attempt, committed before anything else happens with it.

A call is finished when its reply is committed. The file is SQLite while a run is open and held exclusively, so a second process
cannot spend the same money; a kill at any moment loses no row that was committed. Each row carries a digest of itself.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from evenhand.design.request import digest
from evenhand.errors import LedgerError, printable

VERSION = "1"
Outcome = Literal["replied", "failed"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at one call.

    Attributes:
        key: of the call.
        number: of the attempt, from 1.
        place: of the call in the plan.
        labels: what is known of the call before its reply.
        request: fingerprint of what was sent.
        model: asked for.
        settings: as sent, JSON.
        outcome: ``replied`` ends the call, whatever the reply says; ``failed`` does not.
        failure: kind and message of a failed attempt.
        value, status, raw_value, reason: the verdict as parsed.
        cost: None where the model has no known price.
        seconds: from sending to reply.
    """

    key: str
    number: int
    place: int
    labels: Mapping[str, str]
    request: str
    model: str
    settings: str
    outcome: Outcome
    served_model: str = ""
    reply: str = ""
    finish_reason: str = ""
    failure: str = ""
    message: str = ""
    http_status: int = 0
    value: str | None = None
    status: str = ""
    raw_value: str | None = None
    reason: str = ""
    explanation: str | None = None
    confidence: float | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Of everything in the row."""
        return digest({name: getattr(self, name) for name in COLUMNS})


COLUMNS = tuple(one.name for one in fields(Attempt))
_AT = {name: place for place, name in enumerate(COLUMNS)}
_MAPPINGS = ("labels", "extra")


class Ledger:
    """An open ledger; use it in a ``with`` block."""

    def __init__(self, path: Path) -> None:
        """Open or make a ledger, and hold it; a call is known by what it sends, whatever plan makes it.

        Args:
            path: of the SQLite file.

        Raises:
            LedgerError: it is damaged, or another process holds it.
        """
        self.path = path
        self._shown = printable(path.name)
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=0.2)
        except sqlite3.Error as problem:
            raise LedgerError(f"{self._shown}: cannot be opened ({problem}); choose another --out") from None
        try:
            self._prepare()
        except sqlite3.OperationalError as problem:
            self._connection.close()
            if "locked" in str(problem) or "busy" in str(problem):
                raise LedgerError(
                    f"{self._shown}: another process is running this plan here; wait for it, or give this run an --out of its own"
                ) from None
            raise LedgerError(self._damaged(str(problem))) from None
        except sqlite3.DatabaseError as problem:
            self._connection.close()
            raise LedgerError(self._damaged(str(problem))) from None
        except LedgerError:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA locking_mode=EXCLUSIVE")
        execute("PRAGMA journal_mode=WAL")
        execute("PRAGMA synchronous=NORMAL")
        execute("BEGIN EXCLUSIVE")
        execute("CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        kept = ", ".join(f"{name} {_KINDS.get(name, 'TEXT')}" for name in COLUMNS)
        execute(f"CREATE TABLE IF NOT EXISTS attempts ({kept}, digest TEXT NOT NULL, PRIMARY KEY (key, number))")
        execute("INSERT OR IGNORE INTO about VALUES ('version', ?)", (VERSION,))
        about = dict(execute("SELECT name, value FROM about"))
        execute("COMMIT")
        if about["version"] != VERSION:
            raise LedgerError(
                f"{self._shown}: a ledger of layout {printable(about['version'])}; this version reads {VERSION}"
            )
        said = [row[0] for row in execute("PRAGMA quick_check(5)")]
        if said != ["ok"]:
            raise LedgerError(self._damaged("; ".join(map(str, said))))

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """A block in which what SQLite says of the file becomes a sentence.

        Raises:
            LedgerError: it is damaged, or cannot be written.
        """
        try:
            yield
        except sqlite3.OperationalError as problem:
            raise LedgerError(
                f"{self._shown}: the ledger cannot be written ({problem}); what was committed is kept: make room, and run the same line again"
            ) from None
        except sqlite3.DatabaseError as problem:
            raise LedgerError(self._damaged(str(problem))) from None

    def _damaged(self, why: str) -> str:
        return f"{self._shown}: damaged ({printable(why)[:160]}); nothing was changed. Move it away to start over, or restore a copy"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, problem, trace
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def record(self, attempt: Attempt) -> None:
        """Commit one attempt.

        Raises:
            LedgerError: it cannot be written, as on a full disk.
        """
        with self._in_words():
            self._connection.execute(_INSERT, _row(attempt))

    def adopt(self, attempts: Iterable[Attempt]) -> int:
        """Take over attempts of other ledgers, all or none, and return how many were new.

        An attempt that it holds already stays as it is. Two ledgers may have tried the same call: both attempts were paid for, so
        the second one is kept under the next number.

        Raises:
            LedgerError: it cannot be written, or one of the others is damaged.
        """
        taken = 0
        with self._in_words():
            (rows,) = self._connection.execute("SELECT count(*) FROM attempts").fetchone()
            self._connection.execute("BEGIN")
            try:
                for attempt in attempts:
                    taken += self._adopt(attempt, list(self.of_call(attempt.key)) if rows else [])
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
        return taken

    def _adopt(self, attempt: Attempt, held: list[Attempt]) -> bool:
        if any(_same(one, attempt) for one in held):
            return False
        numbers = {one.number for one in held}
        number = attempt.number if attempt.number not in numbers else max(numbers) + 1
        self._connection.execute(_INSERT, _row(replace(attempt, number=number)))
        return True

    def finished(self) -> frozenset[str]:
        """Keys of calls that have their reply."""
        with self._in_words():
            return frozenset(
                key for (key,) in self._connection.execute("SELECT key FROM attempts WHERE outcome = 'replied'")
            )

    def tried(self) -> dict[str, int]:
        """Attempts made so far by call."""
        with self._in_words():
            return dict(self._connection.execute("SELECT key, max(number) FROM attempts GROUP BY key"))

    def spent(self) -> tuple[int, int, float, int]:
        """Attempts, tokens, known money, and attempts with tokens but without a known price."""
        with self._in_words():
            row = self._connection.execute(
                "SELECT count(*), coalesce(sum(prompt_tokens + completion_tokens), 0), coalesce(sum(cost), 0.0), "
                "count(*) FILTER (WHERE cost IS NULL AND prompt_tokens + completion_tokens > 0) FROM attempts"
            ).fetchone()
        return int(row[0]), int(row[1]), float(row[2]), int(row[3])

    def served(self) -> dict[str, frozenset[str]]:
        """Models that answered, by the model that was asked for."""
        found: dict[str, set[str]] = {}
        with self._in_words():
            asked = "SELECT DISTINCT model, served_model FROM attempts WHERE outcome = 'replied' AND served_model <> ''"
            for model, served in self._connection.execute(asked):
                found.setdefault(model, set()).add(served)
        return {model: frozenset(names) for model, names in found.items()}

    def attempts(self) -> Iterator[Attempt]:
        """All rows in the plan's order, each held against its digest.

        Raises:
            LedgerError: a row is not what was written.
        """
        return self._read("ORDER BY place, key, number")

    def of_call(self, key: str) -> Iterator[Attempt]:
        """The attempts at one call, the first one first, each held against its digest.

        Raises:
            LedgerError: a row is not what was written.
        """
        return self._read("WHERE key = ? ORDER BY number", key)

    def verify(self) -> None:
        """Hold every row against its digest.

        Raises:
            LedgerError: one is not what was written.
        """
        for _ in self.attempts():
            pass

    def _read(self, which: str, *values: str) -> Iterator[Attempt]:
        with self._in_words():
            asked = f"SELECT {', '.join(COLUMNS)}, digest FROM attempts {which}"
            for row in self._connection.execute(asked, values):
                attempt = attempt_of(row)
                if attempt is None:
                    what = f"attempt {row[_AT['number']]} of call {str(row[_AT['key']])[:12]}"
                    raise LedgerError(self._damaged(f"{what} was changed after it was written"))
                yield attempt


def _same(one: Attempt, other: Attempt) -> bool:
    """Whether both are the same attempt, under whatever number."""
    return replace(one, number=0) == replace(other, number=0)


def attempt_of(row: Sequence[object]) -> Attempt | None:
    """An attempt from its columns and its digest, the last one; None where they are not what was written."""
    values: dict[str, object] = dict(zip(COLUMNS, row[:-1], strict=True))
    try:
        values |= {name: json.loads(str(values[name])) for name in _MAPPINGS}
        attempt = Attempt(**values)  # type: ignore[arg-type]
        return attempt if attempt.digest == row[-1] else None
    except (TypeError, ValueError):  # no JSON, or nothing that JSON has
        return None


def _row(attempt: Attempt) -> list[object]:
    values = ((name, getattr(attempt, name)) for name in COLUMNS)
    cells = [
        json.dumps(dict(value), sort_keys=True, ensure_ascii=False) if name in _MAPPINGS else value
        for name, value in values
    ]
    return [*cells, attempt.digest]


_INSERT = f"INSERT INTO attempts VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"
_KINDS = {
    "number": "INTEGER NOT NULL",
    "place": "INTEGER NOT NULL",
    "key": "TEXT NOT NULL",
    "outcome": "TEXT NOT NULL",
    "http_status": "INTEGER",
    "prompt_tokens": "INTEGER",
    "cached_tokens": "INTEGER",
    "completion_tokens": "INTEGER",
    "cost": "REAL",
    "seconds": "REAL",
    "confidence": "REAL",
}
