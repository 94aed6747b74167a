"""What moves KR-20: the published sweep beside benchprobe's, in one run: python benchmarks/sweep.py

The same 25 cells of 60 banks (210 responses, 10 criteria) by benchprobe's loop, by our published stream, which gives the
loop's numbers digit for digit, and by our own stream; then 10,000 banks in each of 30 cells by our own stream. The clock
starts after imports. benchprobe (`pip install benchprobe`) needs a newer Python than evenhand: name an interpreter that has it
with --peer; without one, a loop of the same draws written here, one bank at a time, stands in for it and the table says so.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from evenhand.simulate.sweeps import ERRORS, MEASURED_RATE, SPREADS, TWO_WAY, own_sweep, published_sweep

LEAST_FASTER, MOST_SECONDS = 5.0, 15.0
PEER = """
import sys, time
from benchprobe.trust import two_way_sweep
two_way_sweep(reps=2)
best = 1e9
for _ in range(int(sys.argv[1])):
    started = time.perf_counter()
    two_way_sweep()
    best = min(best, time.perf_counter() - started)
print(best)
"""


def bank_by_bank() -> None:
    """The published design as a plain loop: one bank of whole matrices after the other."""
    rng = np.random.default_rng(11)
    for spread in SPREADS:
        for error in ERRORS:
            values = []
            for _ in range(60):
                rate = rng.uniform(0.5 - spread / 2, 0.5 + spread / 2, 210)
                gold = rng.random((210, 10)) < rate[:, None]
                judge = (gold ^ (rng.random((210, 10)) < error)).astype(np.float64)
                p, total = judge.mean(axis=0), judge.sum(axis=1)
                values.append(10 / 9 * (1 - (p * (1 - p)).sum() / total.var(ddof=1)))
            np.mean(values), np.std(values, ddof=1)


def best(run: Callable[[], object], repeats: int) -> float:
    """Least seconds of several runs."""
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return min(found)


def peer(python: str | None, repeats: int) -> tuple[str, float]:
    """The peer's name and seconds."""
    if python is None and find_spec("benchprobe") is not None:
        python = sys.executable
    if python is None:
        return "plain loop (benchprobe not installed)", best(bank_by_bank, repeats)
    done = subprocess.run([python, "-c", PEER, str(repeats)], check=True, capture_output=True, text=True)
    return "benchprobe", float(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter that has benchprobe")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="once, few replicates, no bounds")
    given = parser.parse_args()
    repeats, many = (1, 50) if given.quick else (given.repeats, 10_000)
    name, theirs = peer(given.peer, repeats)
    published = best(lambda: published_sweep(TWO_WAY), repeats)
    own = best(lambda: own_sweep(TWO_WAY, n_replicates=60), repeats)
    large = best(lambda: own_sweep((*TWO_WAY, *MEASURED_RATE), n_replicates=many), 1)
    print("| what | seconds | faster than the peer | at least |")
    print("|---|---:|---:|---|")
    print(f"| 25 cells of 60: {name} | {theirs:.4f} | 1.0 |  |")
    print(f"| 25 cells of 60: published stream | {published:.4f} | {theirs / published:.1f} | 1 |")
    print(f"| 25 cells of 60: own stream | {own:.4f} | {theirs / own:.1f} | {LEAST_FASTER:g} |")
    print(f"| 30 cells of {many:,}: own stream | {large:.2f} |  | {MOST_SECONDS:g} s at most |")
    held = theirs >= published and theirs >= LEAST_FASTER * own and large <= MOST_SECONDS
    return 0 if held or given.quick else 1


if __name__ == "__main__":
    sys.exit(main())
