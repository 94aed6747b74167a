"""The folder of a run: which files it holds, which ledgers in it concern a part of the plan, and its record of the plan."""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.design.calls import Design
from evenhand.design.request import PlannedCall
from evenhand.errors import OutputError, RequestError, printable
from evenhand.output import write_text
from evenhand.run.closing import drafts_of, read_attempts
from evenhand.run.ledger import Attempt, Ledger
from evenhand.run.redacting import check_plan_holds_no_key, secrets_of, url_without_secrets, without

REQUESTS = "batch-requests"
"""How the names of files of requests begin, which wait to be sent to a batch service."""
_OURS = ("run", "ledger", "verdicts", "plan", "batch", ".verdicts", ".ledger", ".plan", ".batch")
"""How the name of everything begins that such a folder may hold."""
_LEDGER = re.compile(r"(?:run|ledger)(?:-(\d+)of(\d+))?\.(?:sqlite|parquet)")


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
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise RequestError(f'--shard "{printable(text)}": write it as 2/8, the second of eight')
        return cls(int(found[1]), int(found[2]))

    @property
    def suffix(self) -> str:
        """In names of files; empty for a whole plan."""
        return "" if self.of == 1 else f"-{self.number}of{self.of}"

    def of_calls(self, design: Design) -> Iterator[PlannedCall]:
        """The calls of this part."""
        return (call for call in design.calls() if call.place % self.of == self.number - 1)

    def size(self, design: Design) -> int:
        """How many these are."""
        return len(range(self.number - 1, design.n_calls, self.of))

    def meets(self, other: "Shard") -> bool:
        """Whether both may hold the same call."""
        return self.of != other.of or self.number == other.number


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where a run, or one part of it, stands."""

    path: Path
    part: Shard = Shard()

    @property
    def open_ledger(self) -> Path:
        """The ledger while calls are made."""
        return self.path / f"run{self.part.suffix}.sqlite"

    @property
    def closed_ledger(self) -> Path:
        """The ledger between runs."""
        return self.path / f"ledger{self.part.suffix}.parquet"

    @property
    def verdicts(self) -> Path:
        """What an audit reads."""
        return self.path / f"verdicts{self.part.suffix}.parquet"

    @property
    def plan(self) -> Path:
        """The record of the plan."""
        return self.path / "plan.json"

    def prepare(self) -> None:
        """Make the folder, or see that the one that is there is of a run.

        Raises:
            OutputError: it is a file, holds something else, or cannot be made.
        """
        shown = printable(str(self.path))
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{shown}: is a file; --out names a folder")
        try:
            held = sorted(one.name for one in self.path.iterdir()) if self.path.exists() else []
            self.path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as problem:
            raise OutputError(f"{shown}: cannot be used ({printable(str(problem))}); choose another --out") from None
        strange = next((name for name in held if not name.startswith(_OURS)), None)
        if strange is not None:
            raise OutputError(
                f'{shown}: holds "{printable(strange)}", so it is no folder of a run; choose another --out'
            )

    def clear_drafts(self) -> None:
        """Take away what a killed run left half written; only while its ledger is held, for these may be another's."""
        for target in (self.closed_ledger, self.verdicts, self.path / f"{REQUESTS}{self.part.suffix}.jsonl"):
            for draft in self.path.glob(f"{drafts_of(target)}*"):
                shutil.rmtree(draft, ignore_errors=True) if draft.is_dir() else draft.unlink(missing_ok=True)

    def adopt_others(self, ledger: Ledger, calls: Callable[[], Iterable[PlannedCall]]) -> None:
        """Take over the attempts of every ledger in the folder that may hold a call of this part, closed or left open by a kill.

        Args:
            ledger: of this part.
            calls: lists the calls of this part.

        Raises:
            LedgerError: one is damaged, or at work at this moment.
        """
        wanted: frozenset[str] | None = None
        for path in sorted((*self.path.glob("ledger*.parquet"), *self.path.glob("run*.sqlite"))):
            found = _LEDGER.fullmatch(path.name)
            other = Shard(int(found[1] or 1), int(found[2] or 1)) if found else None
            if other is None or path == self.open_ledger or not self.part.meets(other):
                continue
            if self.part.of > 1 and other != self.part and wanted is None:
                wanted = frozenset(call.key for call in calls())
            ledger.adopt(one for one in _attempts(path) if wanted is None or other == self.part or one.key in wanted)

    def earlier_plans(self, design: Design) -> list[str]:
        """Hashes of the other plans this folder served before, as its own record says."""
        try:
            known = json.loads(self.plan.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        hashes = [*known.get("earlier", []), known.get("hash")] if isinstance(known, dict) else []
        return [one for one in dict.fromkeys(hashes) if isinstance(one, str) and one != design.saved.hash]

    def record_plan(self, design: Design, earlier: Sequence[str]) -> None:
        """Write the plan with the hashes of its files; its base URLs without what they may hold of a key.

        Raises:
            RequestError: a key stands elsewhere in the plan.
            OutputError: it cannot be written.
        """
        write_text(self.plan, plan_json(design, earlier))


def plan_json(design: Design, earlier: Sequence[str] = ()) -> str:
    """A plan as it is recorded.

    Raises:
        RequestError: the key of a judge stands in it.
    """
    judges = design.plan.judge
    secrets = secrets_of(judges)
    plan = design.plan.model_dump(mode="json", exclude_defaults=True)
    check_plan_holds_no_key(judges, {**plan, "judge": [{**one, "base_url": ""} for one in plan["judge"]]})
    for judge in plan["judge"]:
        if judge.get("base_url"):
            judge["base_url"] = url_without_secrets(judge["base_url"], secrets)
    content = {"hash": design.saved.hash, "earlier": list(earlier), "files": design.saved.files, "plan": plan}
    return without(json.dumps(content, indent=1, ensure_ascii=False), secrets) + "\n"


def _attempts(path: Path) -> Iterator[Attempt]:
    if path.suffix == ".parquet":
        yield from read_attempts(path)
        return
    with Ledger(path) as other:
        yield from other.attempts()
