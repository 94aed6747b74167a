"""What the tests of the importers share."""

from collections import Counter
from pathlib import Path

import pytest

from evenhand.importers.logs import Logs, read_logs
from evenhand.importers.registry import recognise
from evenhand.verdicts.engine import Engine

FIXTURES = Path(__file__).parents[1] / "fixtures"
SHARED = Path(__file__).parents[2].parent / "shared"


def shared(*parts: str) -> Path:
    """A file beside the repository, with other people's texts; the test is skipped where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"../shared/{'/'.join(parts)} is not here")
    return path


def read(engine: Engine, *paths: Path) -> Logs:
    """Read logs of one kind as the command does."""
    importer = recognise(paths[0])
    assert importer is not None, f"{paths[0].name} is not recognised"
    return read_logs(engine, importer, paths)


def rows(engine: Engine, logs: Logs) -> list[dict[str, str | None]]:
    """All rows of all logs, in file order, without what is empty."""
    found = []
    for source in logs.sources:
        engine.connection.execute(f"SELECT * FROM {source.relation}")
        names = [one[0] for one in engine.connection.description]
        found += [
            {name: value for name, value in zip(names, row, strict=True) if value is not None}
            for row in engine.connection.fetchall()
        ]
    return found


def balanced(engine: Engine, logs: Logs) -> bool:
    """Whether every row has one status and all are counted."""
    statuses = ("scored", "abstained", "tied", "unparsed", "refused", "error", "missing")
    for source, counts in zip(logs.sources, logs.counts.values(), strict=True):
        found = Counter(str(status) for (status,) in engine.rows(f"SELECT status FROM {source.relation}"))
        if counts["verdicts"] != found.total() or {one: counts[one] for one in statuses if one in counts} != found:
            return False
    scored = all(("value" in row) == (row["status"] == "scored") for row in rows(engine, logs))
    return scored and all(row["status"] in statuses for row in rows(engine, logs))
