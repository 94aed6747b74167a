"""A saved audit with its tallies: the sums by cluster from which a number can be made again without any of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import EvenhandError, SourceError, did_you_mean, printable
from evenhand.results import Audit
from evenhand.stats.arrays import Array, Counts
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.scale import STATUSES
from evenhand.verdicts.spec import Spec

TALLIES = "tallies.parquet"
_VERDICTS, _RESPONSES, _MARKS = "verdicts[criterion=", "responses[state=", "marks[quantity="
_COMPLETE = "complete,reference="


@dataclass(frozen=True)
class SavedTallies:
    """One audit.

    Attributes:
        place: where it was found, as a user may read it.
        audit: the numbers.
        units: (U,) names of the units of resampling.
        columns: name as in tallies.parquet → (U,) sums.
        started: when the audit was made, as run.json has it; empty where it does not say.
        spec: how it was read; None where the folder does not hold it.
    """

    place: str
    audit: Audit
    units: tuple[str, ...]
    columns: Mapping[str, Array]
    started: str = ""
    spec: Spec | None = None
    _cells: dict[str, "VerdictCells"] = field(default_factory=dict, repr=False)

    @property
    def sources(self) -> tuple[str, ...]:
        """Judges whose tallies are saved, in the order of the audit."""
        held = {name.rpartition("]/")[2] for name in self.columns}
        return tuple(dict.fromkeys(one.source for one in self.audit if one.source in held))

    @property
    def is_weighted(self) -> bool:
        """Whether the audit's rates are of design weights, which its tallies do not hold."""
        return any(one.statistic == "design_weight" for one in self.audit)

    @property
    def is_grouped(self) -> bool:
        """Whether units are random groups of clusters, whose names say nothing."""
        return self.audit.declarations.n_units < self.audit.data.n_clusters

    def cells(self, source: str) -> "VerdictCells":
        """The verdicts of one judge.

        Raises:
            SourceError: a column names a label that the audit does not declare.
        """
        if source not in self._cells:
            self._cells[source] = _verdict_cells(self, source)
        return self._cells[source]

    def totals(self, source: str) -> tuple[Counts, Counts, Array]:
        """(T,) reference totals, (T,) judge totals and (U, T) complete responses with them, of binary verdicts."""
        found = []
        for name, column in self.columns.items():
            start, _, owner = name.rpartition("]/")
            if owner == source and start.startswith(_RESPONSES + _COMPLETE):
                reference, _, judge = start.removeprefix(_RESPONSES + _COMPLETE).partition(",judge=")
                found.append((self._whole(reference, name), self._whole(judge, name), column))
        counts = np.stack([column for *_, column in found], axis=1) if found else np.zeros((len(self.units), 0))
        totals = np.array([pair[:2] for pair in found], dtype=np.int64).reshape(-1, 2)
        return totals[:, 0], totals[:, 1], counts

    def _whole(self, text: str, column: str) -> int:
        if not (text.isascii() and text.isdigit()):
            raise SourceError(
                f"{self.place}: the column {printable(column)} of {TALLIES} was not named by evenhand audit: audit the source again"
            )
        return int(text)

    def mark_sums(self, source: str) -> tuple[Array, int] | None:
        """(U, 7) sums of continuous marks as in ``stats.marks.mark_sums``, and what the marks were multiplied by."""
        here = [name for name in self.columns if name.startswith(_MARKS) and name.rpartition("]/")[2] == source]
        if len(here) != 7:  # only a judge with a reference has all seven
            return None
        factor = self._whole(here[0].rpartition("]/")[0].rpartition(",times=")[2], here[0])
        return np.stack([self.columns[name] for name in here], axis=1), factor


@dataclass(frozen=True, slots=True)
class VerdictCells:
    """Sparse counts of one judge's verdicts.

    Attributes:
        levels: labels in order, then statuses.
        n_labels: how many of them are labels.
        criteria: names, in the order of the tallies.
        criterion, reference, judge: (C,) positions.
        counts: (U, C).
    """

    levels: tuple[str, ...]
    n_labels: int
    criteria: tuple[str, ...]
    criterion: Counts
    reference: Counts
    judge: Counts
    counts: Array

    def on_criterion(self, name: str) -> "VerdictCells":
        """Only the verdicts on one criterion.

        Raises:
            SourceError: there is no such criterion.
        """
        if name not in self.criteria:
            raise SourceError(
                f'the tallies hold no criterion "{printable(name)}"' + did_you_mean(name, list(self.criteria))
            )
        kept = self.criterion == self.criteria.index(name)
        return VerdictCells(
            self.levels,
            self.n_labels,
            self.criteria,
            self.criterion[kept],
            self.reference[kept],
            self.judge[kept],
            self.counts[:, kept],
        )

    @property
    def is_paired(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(C,) whether both sides are scored."""
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (self.reference < self.n_labels) & (
            self.judge < self.n_labels
        )
        return found

    def tables(self) -> Array:
        """(U, q, q) tables of reference by judge labels, criteria pooled."""
        q, kept = self.n_labels, self.is_paired
        tables = np.zeros((len(self.counts), q * q))
        codes = self.reference[kept] * q + self.judge[kept]
        for at, code in zip(np.flatnonzero(kept), codes, strict=True):
            tables[:, code] += self.counts[:, at]
        return tables.reshape(-1, q, q)

    def judged_as(self, code: int) -> Array:
        """(U,) slots to which the judge gives this code."""
        found: Array = self.counts[:, self.judge == code].sum(axis=1)
        return found


def load_saved(place: Path) -> SavedTallies:
    """Read an audit's folder.

    Raises:
        SourceError: no audit there, no tallies beside it, or tallies that cannot be read.
    """
    audit = Audit.load(place)
    folder, shown = place if place.is_dir() else place.parent, printable(str(place))
    if not (folder / TALLIES).is_file():
        raise SourceError(
            f"{shown}: no {TALLIES} beside the audit, so no change can be held against its error; "
            "evenhand audit SOURCE --out DIR writes it"
        )
    with Engine() as engine, engine.in_words():
        fetched = engine.connection.execute("SELECT * FROM read_parquet(?)", [str(folder / TALLIES)]).fetchnumpy()
    units, columns = _checked(fetched, shown)
    return SavedTallies(shown, audit, units, columns, _started(folder / "run.json"), _spec(folder))


def _checked(fetched: dict[str, NDArray[np.generic]], shown: str) -> tuple[tuple[str, ...], dict[str, Array]]:
    """Names of the units and the columns of sums, of a file that ``evenhand audit`` may have written."""
    units = fetched.pop("unit", None)
    if units is None:
        raise SourceError(f"{shown}: {TALLIES} has no column of units: it was not written by evenhand audit")
    names = [str(name) for name in units]
    if np.ma.is_masked(units) or len(set(names)) < len(names):
        raise SourceError(f"{shown}: {TALLIES} holds a unit twice, or one without a name: audit the source again")
    odd = [name for name, sums in fetched.items() if sums.dtype.kind not in "biuf" or np.ma.is_masked(sums)]
    odd += [
        name for name, sums in fetched.items() if name not in odd and not np.isfinite(sums.astype(np.float64)).all()
    ]
    if odd:
        raise SourceError(f"{shown}: the column {printable(odd[0])} of {TALLIES} holds no sums: audit the source again")
    return tuple(names), {name: np.asarray(sums, dtype=np.float64) for name, sums in fetched.items()}


def load_history(folder: Path, but: Path) -> list[Path]:
    """Folders of audits in a folder, by name, without one of them.

    Raises:
        SourceError: no such folder, or no audit with tallies in it.
    """
    if not folder.is_dir():
        raise SourceError(f"{printable(str(folder))}: no such folder; --history names one that holds folders of audits")
    left_out = (but if but.is_dir() else but.parent).resolve()
    found = sorted(
        one
        for one in folder.iterdir()
        if (one / "audit.json").is_file() and (one / TALLIES).is_file() and one.resolve() != left_out
    )
    if not found:
        raise SourceError(f"{printable(str(folder))}: no folder in it holds an audit with its tallies (but NEW itself)")
    return found


def in_time(audits: Sequence[SavedTallies]) -> list[SavedTallies]:
    """The audits by the time they were made where all of them say it, else as given."""
    return sorted(audits, key=lambda one: one.started) if all(one.started for one in audits) else list(audits)


def _started(path: Path) -> str:
    try:
        facts = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return ""
    return str(facts.get("started", "")) if isinstance(facts, dict) else ""


def _spec(folder: Path) -> Spec | None:
    try:
        return Spec.load(folder / "spec.toml")
    except EvenhandError:
        return None


def _verdict_cells(saved: SavedTallies, source: str) -> VerdictCells:
    labels = saved.audit.declarations.levels
    levels = (*labels, *STATUSES)
    number = {level: at for at, level in enumerate(levels)}
    criteria: dict[str, int] = {}
    found: list[tuple[int, int, int]] = []
    columns = []
    for name, column in saved.columns.items():
        start, _, owner = name.rpartition("]/")
        if owner != source or not start.startswith(_VERDICTS):
            continue
        head, _, judge = start.rpartition(",judge=")
        criterion, _, reference = head.removeprefix(_VERDICTS).rpartition(",reference=")
        if judge not in number or reference not in number:
            raise SourceError(
                f"{saved.place}: the column {printable(name)} of {TALLIES} names a label that the audit does not declare"
            )
        found.append((criteria.setdefault(criterion, len(criteria)), number[reference], number[judge]))
        columns.append(column)
    codes = np.array(found, dtype=np.int64).reshape(-1, 3)
    counts = np.stack(columns, axis=1) if columns else np.zeros((len(saved.units), 0))
    return VerdictCells(levels, len(labels), tuple(criteria), codes[:, 0], codes[:, 1], codes[:, 2], counts)
