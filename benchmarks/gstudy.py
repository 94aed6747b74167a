"""Persons by items at a million values: evenhand's G-study beside GeneralizIT's, on the same table in the same run.

    python benchmarks/gstudy.py              # 100,000 persons x 10 items, least of 3 (the peer: once)
    python benchmarks/gstudy.py --persons 1000

Both get a long table of integers and values and return three variance components and two coefficients; ours is in memory
as NumPy columns, the peer's as a pandas frame of the same columns. GeneralizIT and pandas are needed in this interpreter
(``pip install generalizit``); without them the peer is skipped. Exits 1 where ours is less than 50 times as fast.
"""

import argparse
import sys
import time

import numpy as np

from evenhand.stats.anova import analyse
from evenhand.stats.generalizability import d_study

LEAST_RATIO = 50
N_ITEMS = 10


def columns(persons: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Person, item and value of every row, with effects of persons and items."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(persons, 1)) + 0.3 * rng.normal(size=(1, N_ITEMS)) + rng.normal(size=(persons, N_ITEMS))
    person, item = np.indices(values.shape)
    return person.ravel(), item.ravel(), values.ravel()


def ours(person: np.ndarray, item: np.ndarray, value: np.ndarray) -> list[float]:
    """Components of p, i, pi, then both coefficients of a mean over the items."""
    found = analyse(value, {"p": person, "i": item}, "p x i")
    study = d_study(found.design, found.components, "p", {"i": N_ITEMS})
    return [*found.components.tolist(), float(study.generalizability), float(study.dependability)]


def main() -> int:
    """Print seconds and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=100_000)
    persons = parser.parse_args().persons
    table = columns(persons)
    seconds, numbers = [], []
    for _ in range(3):
        start = time.perf_counter()
        numbers = ours(*table)
        seconds.append(time.perf_counter() - start)
    print(
        f"evenhand     {min(seconds):8.3f} s  {persons * N_ITEMS:,} values  {' '.join(f'{one:.6f}' for one in numbers)}"
    )
    try:
        import pandas as pd
        from generalizit import GeneralizIT
    except ImportError:
        print("GeneralizIT is not installed: skipped")
        return 0
    frame = pd.DataFrame({"p": table[0], "i": table[1], "score": table[2]})
    start = time.perf_counter()
    peer = GeneralizIT(frame, "p x i", "score")
    peer.calculate_anova()
    peer.calculate_g_coefficients()
    taken = time.perf_counter() - start
    ratio = taken / min(seconds)
    print(f"GeneralizIT  {taken:8.3f} s  {ratio:,.0f} times as long")
    return 0 if ratio >= LEAST_RATIO or persons < 100_000 else 1


if __name__ == "__main__":
    sys.exit(main())
