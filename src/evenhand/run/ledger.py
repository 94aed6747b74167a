"""The ledger: one row an attempt, committed before anything else happens with it.

A call is finished when its reply is committed. The file is SQLite while a run is open and held exclusively, so a second process
cannot spend the same money; a kill at any moment loses no row that was committed. Each row carries a digest of itself.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
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
        return digest(asdict(self))


COLUMNS = tuple(one.name for one in fields(Attempt))
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
        """Commit one attempt."""
        self._connection.execute(_INSERT.format("INSERT"), _row(attempt))

    def adopt(self, attempts: Iterable[Attempt]) -> None:
        """Take over attempts of closed ledgers, all or none; those it holds already stay as they are."""
        self._connection.execute("BEGIN")
        self._connection.executemany(_INSERT.format("INSERT OR IGNORE"), map(_row, attempts))
        self._connection.execute("COMMIT")

    def finished(self) -> frozenset[str]:
        """Keys of calls that have their reply."""
        return frozenset(
            key for (key,) in self._connection.execute("SELECT key FROM attempts WHERE outcome = 'replied'")
        )

    def tried(self) -> dict[str, int]:
        """Attempts made so far by call."""
        return dict(self._connection.execute("SELECT key, max(number) FROM attempts GROUP BY key"))

    def spent(self) -> tuple[int, int, float, int]:
        """Attempts, tokens, known money, and attempts with tokens but without a known price."""
        row = self._connection.execute(
            "SELECT count(*), coalesce(sum(prompt_tokens + completion_tokens), 0), coalesce(sum(cost), 0.0), "
            "count(*) FILTER (WHERE cost IS NULL AND prompt_tokens + completion_tokens > 0) FROM attempts"
        ).fetchone()
        return int(row[0]), int(row[1]), float(row[2]), int(row[3])

    def attempts(self) -> Iterator[Attempt]:
        """All rows in the plan's order, each held against its digest.

        Raises:
            LedgerError: a row is not what was written.
        """
        order = f"SELECT {', '.join(COLUMNS)}, digest FROM attempts ORDER BY place, key, number"
        with closing(self._connection.execute(order)) as cursor:
            for row in cursor:
                attempt = attempt_of(dict(zip(COLUMNS, row[:-1], strict=True)))
                if attempt.digest != row[-1]:
                    raise LedgerError(
                        self._damaged(
                            f"attempt {attempt.number} of call {attempt.key[:12]} was changed after it was written"
                        )
                    )
                yield attempt


def attempt_of(row: Mapping[str, object]) -> Attempt:
    """An attempt from its columns."""
    values = {name: json.loads(str(value)) if name in _MAPPINGS else value for name, value in row.items()}
    return Attempt(**values)  # type: ignore[arg-type]


def _row(attempt: Attempt) -> list[object]:
    values = ((name, getattr(attempt, name)) for name in COLUMNS)
    cells = [
        json.dumps(dict(value), sort_keys=True, ensure_ascii=False) if name in _MAPPINGS else value
        for name, value in values
    ]
    return [*cells, attempt.digest]


_INSERT = f"{{}} INTO attempts VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"
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
