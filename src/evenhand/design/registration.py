"""A registration: the hash of a plan, the day, and its floor, written before the run; deviations are added, never made silently."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import OutputError, RequestError, SourceError, printable
from evenhand.output import check_file, write_text

SCHEMA = "evenhand-registration/1"


@dataclass(frozen=True, slots=True)
class Entry:
    """A plan as it was registered on a day, or changed since.

    Attributes:
        plan: hash.
        date: ISO day and time.
        floor: its verdict and what it rests on.
        reason: of a deviation; empty in the first entry.
    """

    plan: str
    date: str
    floor: Mapping[str, object]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Registration:
    """Entries in the order they were made; the last one holds."""

    entries: tuple[Entry, ...]

    @property
    def plan(self) -> str:
        """Hash of the plan that holds."""
        return self.entries[-1].plan

    def check(self, plan: str, shown: str) -> None:
        """Hold a plan to its registration.

        Raises:
            RequestError: it is another plan.
        """
        if plan != self.plan:
            raise RequestError(
                f"{shown}: registered is plan {self.plan[:12]} of {self.entries[-1].date[:10]}, and this is plan {plan[:12]}; go back to the "
                'registered plan, or record the change: evenhand plan PLAN.toml --register FILE --deviation "why"'
            )

    def to_json(self) -> str:
        """As it is written."""
        entries = [
            {"plan": one.plan, "date": one.date, "floor": dict(one.floor)}
            | ({"reason": one.reason} if one.reason else {})
            for one in self.entries
        ]
        return json.dumps({"schema": SCHEMA, "entries": entries}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_registration(path: Path) -> Registration:
    """A registration from its file.

    Raises:
        SourceError: it cannot be read, or is none.
    """
    shown = printable(path.name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise ValueError
        entries = tuple(
            Entry(str(one["plan"]), str(one["date"]), dict(one["floor"]), str(one.get("reason", "")))
            for one in content["entries"]
        )
    except OSError as problem:
        raise SourceError(f"{shown}: this registration cannot be read ({problem.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SourceError(f"{shown}: no registration that this version wrote ({SCHEMA})") from None
    if not entries or any(not one.reason for one in entries[1:]):
        raise SourceError(f"{shown}: a registration whose later entries have no reason is damaged")
    return Registration(entries)


def register(path: Path, plan: str, date: str, floor: Mapping[str, object], deviation: str = "") -> Registration:
    """Write a registration, or add a deviation to one; a plan that is registered already stays as it is.

    Args:
        path: of the registration.
        plan: hash.
        date: ISO day and time.
        floor: verdict of the floor and what it rests on.
        deviation: why the plan differs from the registered one.

    Raises:
        RequestError: another plan is registered and no reason is given, or a reason is given for nothing.
        SourceError: the file there is no registration.
        OutputError: it cannot be written.
    """
    check_file(path, _is_registration)
    if not path.exists() or not path.stat().st_size:
        if deviation:
            raise RequestError(
                f"--deviation: {printable(path.name)} is not there yet, so there is nothing to deviate from"
            )
        found = Registration((Entry(plan, date, floor),))
    else:
        found = read_registration(path)
        if plan == found.plan:
            if deviation:
                raise RequestError("--deviation: the plan is the registered one; leave the option out")
            return found
        if not deviation:
            found.check(plan, printable(path.name))
        found = Registration((*found.entries, Entry(plan, date, floor, deviation)))
    write_text(path, found.to_json())
    return found


def _is_registration(path: Path) -> bool:
    try:
        read_registration(path)
    except (SourceError, OutputError):
        return False
    return True
