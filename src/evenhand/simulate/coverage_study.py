"""Running the coverage study into a folder: designs side by side, each kept when it is done, the tables at the end.

A study that was stopped goes on where it was: a design that is done stands in ``parts``, with the settings and the code
that made it, and is not drawn again under the same ones. The tables are put in their place whole.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from evenhand.errors import OutputError, RequestError, did_you_mean, printable, quoted
from evenhand.output import new_file, write_text
from evenhand.simulate import banks, coverage
from evenhand.simulate.coverage import BLOCK, LEVEL, RATES, Count, Design, count_block, designs
from evenhand.simulate.coverage_table import LEAST, MOST, SCHEMA, Cell, CoverageTable
from evenhand.simulate.covered import covered
from evenhand.stats.intervals import METHODS

CELLS_FILE, FACTS_FILE, PARTS = "coverage.csv", "coverage.json", "parts"
LEAST_CLUSTERS = 8
"""Clusters from which a default interval is expected to hold its level."""
_STATS = (
    "agreement",
    "arrays",
    "binomial",
    "ensembles",
    "generalizability",
    "icc",
    "internal_consistency",
    "intervals",
    "marks",
    "pairwise",
    "resampling",
    "scales",
    "weighted_agreement",
    "weights",
)
"""Modules of ``stats`` that intervals of the study are made with."""
Counts = dict[str, Count]
Told = Callable[[int, int, str], None]
"""Told of designs done, of how many, and which was the last."""


@dataclass(frozen=True, slots=True)
class Study:
    """What is to be simulated.

    Attributes:
        n_banks: in each cell.
        seed: of all draws.
        statistics: ids; all by default.
        method: a name of ``stats.intervals.METHODS``.
        only: the designs; all by default.
    """

    n_banks: int = 2_000
    seed: int = 1
    statistics: tuple[str, ...] = ()
    method: str = "default"
    only: tuple[Design, ...] = ()

    def checked(self) -> "Study":
        """The study with its defaults filled in.

        Raises:
            RequestError: a statistic or method that there is not, or no bank.
        """
        known = tuple(covered())
        strange = [name for name in self.statistics if name not in known]
        if strange:
            raise RequestError(
                f"--statistic {printable(strange[0])}: not in the study{did_you_mean(strange[0], known)}; there are {', '.join(known)}"
            )
        if self.method not in METHODS or self.method == "none":
            raise RequestError(
                f"--interval {printable(self.method)}: there are {', '.join(name for name in METHODS if name != 'none')}"
            )
        if self.n_banks < 1:
            raise RequestError(f"--banks {self.n_banks}: a study has at least one bank a cell")
        return replace(self, statistics=tuple(dict.fromkeys(self.statistics)) or known, only=self.only or designs())

    def count(self, design: Design) -> Counts:
        """Count the intervals of one design."""
        found: Counts = {}
        for block, start in enumerate(range(0, self.n_banks, BLOCK)):
            n = min(BLOCK, self.n_banks - start)
            counts = count_block(design, self.seed, block, n, self.statistics, self.method)
            found = {name: found[name] + count if found else count for name, count in counts.items()}
        return found


def run_study(study: Study, folder: Path, *, jobs: int = 1, told: Told | None = None) -> CoverageTable:
    """Simulate and write ``coverage.csv`` and ``coverage.json``.

    Args:
        study: what to simulate.
        folder: new, or of an earlier or stopped study.
        jobs: processes.
        told: of each design that is done.

    Raises:
        RequestError: the study names something unknown.
        OutputError: the folder is not ours to write into.
    """
    study = study.checked()
    check_folder(folder)
    settings = _settings(study)
    done = {design: found for design in study.only if (found := _kept(folder, design, settings)) is not None}
    say: Told = told or (lambda _done, _all, _name: None)
    say(len(done), len(study.only), "kept from before" if done else "")
    for design, counts in _counted(study, [design for design in study.only if design not in done], jobs):
        _keep(folder, design, settings, counts)
        done[design] = counts
        say(len(done), len(study.only), str(design))
    cells = tuple(
        Cell(name, design, done[design][name]) for name in study.statistics for design in sorted_designs(done)
    )
    table = CoverageTable(_facts(study, settings, cells), cells)
    write_text(folder / CELLS_FILE, table.to_csv())
    write_text(folder / FACTS_FILE, table.to_json())
    shutil.rmtree(folder / PARTS, ignore_errors=True)
    for draft in folder.glob(".coverage.*-*"):  # of a run that was killed while it wrote
        draft.unlink(missing_ok=True)
    return table


def sorted_designs(found: Mapping[Design, object]) -> list[Design]:
    """Designs by number of clusters, equal ones first, in the order of base rates."""
    return sorted(found, key=lambda design: design.entropy)


def _counted(study: Study, left: Sequence[Design], jobs: int) -> Iterator[tuple[Design, Counts]]:
    if jobs < 2 or len(left) < 2:
        for design in left:
            yield design, study.count(design)
        return
    with ProcessPoolExecutor(min(jobs, len(left)), mp_context=get_context("spawn")) as pool:
        running = {pool.submit(study.count, design): design for design in left}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds anything no study wrote.

    Raises:
        OutputError: with what stands there.
    """
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise OutputError(f"{printable(str(folder))}: exists and is not a folder; choose another --out")
    names = sorted(entry.name for entry in folder.iterdir())
    drafts = tuple(f".{name}-" for name in (CELLS_FILE, FACTS_FILE))
    foreign = [name for name in names if name not in (CELLS_FILE, FACTS_FILE, PARTS) and not name.startswith(drafts)]
    if foreign:
        raise OutputError(
            f"{printable(str(folder))}: the folder holds files that no coverage study wrote ({quoted(foreign, 4)}); choose another --out"
        )


def _settings(study: Study) -> dict[str, object]:
    """What a kept part must agree on, the code that counts among it."""
    return {
        "seed": study.seed,
        "banks": study.n_banks,
        "method": study.method,
        "statistics": list(study.statistics),
        "code_sha256": code_digest(),
    }


def code_digest() -> str:
    """SHA-256 of the modules that numbers of the study depend on."""
    here = Path(banks.__file__).parent
    sources = [here / f"{name}.py" for name in ("banks", "covered", "coverage")]
    digest = hashlib.sha256()
    for path in (*sources, *(here.parent / "stats" / f"{name}.py" for name in _STATS)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _place(folder: Path, design: Design) -> Path:
    return folder / PARTS / f"{design.clusters}-{design.imbalance}-{design.rates}-{design.icc:g}.json"


def _kept(folder: Path, design: Design, settings: Mapping[str, object]) -> Counts | None:
    """Counts of a design that an earlier run under the same settings finished."""
    try:
        part = json.loads(_place(folder, design).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(part, dict) or part.get("settings") != settings:
        return None
    return {name: Count(**count) for name, count in part["counts"].items()}


def _keep(folder: Path, design: Design, settings: Mapping[str, object], counts: Counts) -> None:
    part = {"settings": settings, "counts": {name: asdict(count) for name, count in counts.items()}}
    with new_file(_place(folder, design)) as draft:
        draft.write_text(json.dumps(part), encoding="utf-8")
        with draft.open("rb") as written:
            os.fsync(written.fileno())


def _facts(study: Study, settings: Mapping[str, object], cells: Sequence[Cell]) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "evenhand_version": version("evenhand"),
        **settings,
        "level": LEVEL,
        "allowed": [LEAST, MOST],
        "designs": len(study.only),
        "bank": {
            "responses_a_cluster": banks.N_RESPONSES,
            "lines": banks.N_LINES,
            "response_icc": banks.RESPONSE_ICC,
            "variation_of_unequal_clusters": banks.VARIATION,
            "raters": {"error_rates_times": list(banks.RATER_FACTORS), "holes": banks.HOLES},
        },
        "rates": {name: asdict(rates) for name, rates in RATES.items()},
        "block": coverage.BLOCK,
        "failing": failing(cells),
    }


def failing(cells: Sequence[Cell]) -> dict[str, dict[str, object]]:
    """By statistic, cells of LEAST_CLUSTERS clusters or more that fail, and the worst of each kind."""
    found: dict[str, dict[str, object]] = {}
    for cell in cells:
        kind = cell.failing
        if not kind or cell.design.clusters < LEAST_CLUSTERS:
            continue
        entry = found.setdefault(cell.statistic, {})
        entry[kind] = int(str(entry.get(kind, 0))) + 1
        name, better = ("lowest", min) if kind == "short" else ("highest", max)
        entry[name] = round(better(float(str(entry.get(name, cell.share))), cell.share), 4)
    return found
