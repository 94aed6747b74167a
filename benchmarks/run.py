"""Run all benchmarks and hold them to their bounds: python benchmarks/run.py [--quick]

Whole processes, one after the other, best of several; a ratio compares numbers of this one run. Exits 1 if a bound is
broken. ``--quick`` runs everything once on tiny data, where times mean nothing and no bound is held.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kappa_replicates

EVENHAND = [sys.executable, "-c", "from evenhand.cli.main import main; main()"]
BARE = [sys.executable, str(Path(__file__).with_name("bare.py"))]


@dataclass(frozen=True)
class Row:
    """One line of the table; bounds are the most that is allowed."""

    name: str
    seconds: float
    megabytes: float | None = None
    ratio: float | None = None
    most_seconds: float | None = None
    most_megabytes: float | None = None
    most_ratio: float | None = None
    note: str = ""

    @property
    def broken(self) -> list[str]:
        pairs = {
            "s": (self.seconds, self.most_seconds),
            "MB": (self.megabytes, self.most_megabytes),
            "x": (self.ratio, self.most_ratio),
        }
        return [
            f"{value:.3g} {unit} > {most:g} {unit}"
            for unit, (value, most) in pairs.items()
            if value is not None and most is not None and value > most
        ]

    @property
    def bounds(self) -> str:
        pairs = ((self.most_seconds, "s"), (self.most_ratio, "x"), (self.most_megabytes, "MB"))
        return ", ".join(f"{most:g} {unit}" for most, unit in pairs if most is not None)


def once(command: list[str]) -> tuple[float, float]:
    """Seconds and peak megabytes of one process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {said.decode(errors='replace')}")
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_maxrss * unit / 1e6


def best(commands: dict[str, list[str]], repeats: int) -> dict[str, tuple[float, float]]:
    """Least seconds and most megabytes of each command, the commands taking turns."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            runs[name].append(once(command))
    return {name: (min(s for s, _ in found), max(m for _, m in found)) for name, found in runs.items()}


def audits(folder: Path, responses: int, clusters: int, repeats: int) -> Iterator[Row]:
    """Whole audits beside the bare queries."""
    out = ["--out", str(folder / "out")]

    def made(responses: int = responses, clusters: int = clusters, layout: str = "long", form: str = "parquet") -> str:
        """In a process of its own: what runs later inherits the mark of our peak memory."""
        options = {"responses": responses, "clusters": clusters, "layout": layout, "format": form}
        listed = [f"--{name}={value}" for name, value in options.items()]
        command = [sys.executable, str(Path(__file__).with_name("make_data.py")), str(folder), *listed]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    long, bare = made(), "bare queries, long Parquet"
    commands = {
        bare: [*BARE, long],
        "audit, long Parquet": [*EVENHAND, "audit", long, *out],
        "audit, the same with --cut 5": [*EVENHAND, "audit", long, "--cut", "5", *out],
        "audit, wide Parquet": [*EVENHAND, "audit", made(layout="wide"), *out],
        "audit, no clusters, long Parquet": [*EVENHAND, "audit", made(clusters=0), *out],
        "audit, long CSV of a fifth the rows": [*EVENHAND, "audit", made(responses=responses // 5, form="csv"), *out],
    }
    found = best(commands, repeats)
    for name, (seconds, megabytes) in found.items():
        held = {"most_ratio": 8.0, "most_megabytes": 1000.0} if name == "audit, long Parquet" else {}
        yield Row(name, seconds, megabytes, seconds / found[bare][0], **held)  # type: ignore[arg-type]


def helps(repeats: int) -> Iterator[Row]:
    """Help pages, and an empty interpreter to know what is ours."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "evenhand --help": [*EVENHAND, "--help"],
        "evenhand audit --help": [*EVENHAND, "audit", "--help"],
    }
    for name, (seconds, megabytes) in best(commands, repeats).items():
        yield Row(name, seconds, megabytes, most_seconds=0.3 if name.startswith("evenhand") else None)


def replicates(rows: int, clusters: tuple[int, ...], repeats: int) -> Iterator[Row]:
    """Kappa's replicates, ours and the peers'; ratios are to ours."""
    for number in clusters:
        least = 0.0
        for name in kappa_replicates.CONTENDERS:
            is_ours = name == "evenhand"
            found = kappa_replicates.measure(name, rows, number, repeats if is_ours else min(repeats, 2))
            label = f"2,000 kappas, {number:,} clusters: {name}"
            if found is None:
                yield Row(label, float("nan"), note="not installed, skipped")
                continue
            least = found["seconds"] if is_ours else least
            made = int(found["replicates"])
            note = "" if made == kappa_replicates.REPLICATES else f"scaled up from {made} replicates"
            yield Row(label, found["seconds"], None, found["seconds"] / least, 0.1 if is_ours else None, note=note)


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| what | seconds | peak MB | ratio | at most | |", "|---|---:|---:|---:|---|---|"]
    for row in rows:
        seconds = "–" if row.seconds != row.seconds else f"{row.seconds:.3f}"
        megabytes = "" if row.megabytes is None else f"{row.megabytes:.0f}"
        ratio = "" if row.ratio is None else f"{row.ratio:,.2f}" if row.ratio < 100 else f"{row.ratio:,.0f}"
        lines.append(f"| {row.name} | {seconds} | {megabytes} | {ratio} | {row.bounds} | {row.note} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny data, once, no bounds")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=Path, help="folder to keep the data in (5 M verdicts are 8 MB of Parquet)")
    given = parser.parse_args()
    numbers: tuple[int, ...] = kappa_replicates.CLUSTERS
    responses, clusters, rows, repeats = 500_000, 2_000, 1_000_000, given.repeats
    if given.quick:
        responses, clusters, rows, repeats, numbers = 400, 20, 6_000, 1, (13, 3_000)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.data or Path(scratch)
        found = [*helps(repeats), *audits(folder, responses, clusters, repeats), *replicates(rows, numbers, repeats)]
    print(table(found))
    broken = [] if given.quick else [f"{row.name}: {what}" for row in found for what in row.broken]
    for what in broken:
        print(f"BROKEN {what}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
