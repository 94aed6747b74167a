"""2,000 cluster-bootstrap replicates of Cohen's kappa, ours beside others: python benchmarks/kappa_replicates.py

Every contender runs in a fresh process on the same labels, and the clock starts after imports and after the data are
in the form it takes: ours and SciPy take counts by cluster, the loops take rows. Ours draws its weights within the
clock. Slow contenders make fewer replicates and are scaled up, which the table says.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.agreement import cohen_kappa
from evenhand.stats.arrays import Array, binned
from evenhand.stats.resampling import MAX_UNITS, draw_weights, random_groups, resample

REPLICATES = 2_000
CLUSTERS = (13, 2_000, 500_000)
Labels = NDArray[np.int64]


def make_labels(rows: int, clusters: int) -> tuple[Labels, Labels, Labels]:
    """Cluster (sorted), reference and judge of each row; 12 % false rejects, 8 % false accepts."""
    rng = np.random.default_rng(0)
    cluster = np.sort(rng.integers(0, clusters, rows))
    reference = rng.integers(0, 2, rows)
    judge = reference ^ (rng.random(rows) < np.where(reference == 1, 0.12, 0.08))
    return cluster, reference, judge


def tables(cluster: Labels, reference: Labels, judge: Labels, n: int) -> Array:
    code = (cluster * 2 + reference) * 2 + judge
    return binned(code, np.ones_like(code), (n, 2, 2))


def ours(cluster: Labels, reference: Labels, judge: Labels, clusters: int) -> tuple[Callable[[], object], int]:
    unit, units = cluster, clusters
    if clusters > MAX_UNITS:
        groups = random_groups(clusters, 0)
        unit, units = groups[cluster], int(groups.max()) + 1
    tally = tables(unit, reference, judge, units)
    return lambda: cohen_kappa(resample(draw_weights(0, REPLICATES, units), tally)), REPLICATES


def rows_of_draws(cluster: Labels, clusters: int, rng: np.random.Generator) -> Labels:
    """Row numbers of as many clusters as there are, drawn with replacement."""
    starts, stops = (np.searchsorted(cluster, np.arange(clusters), side) for side in ("left", "right"))
    drawn = rng.integers(0, clusters, clusters)
    sizes = (stops - starts)[drawn]
    return np.repeat(starts[drawn] - np.r_[0, sizes.cumsum()[:-1]], sizes) + np.arange(sizes.sum())


def numpy_loop(cluster: Labels, reference: Labels, judge: Labels, clusters: int) -> tuple[Callable[[], object], int]:
    def run() -> object:
        rng = np.random.default_rng(0)
        found = []
        for _ in range(20):
            at = rows_of_draws(cluster, clusters, rng)
            counts = np.bincount(reference[at] * 2 + judge[at], minlength=4).astype(float)
            found.append(cohen_kappa(counts.reshape(2, 2)))
        return found

    return run, 20


def sklearn_loop(cluster: Labels, reference: Labels, judge: Labels, clusters: int) -> tuple[Callable[[], object], int]:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-not-found,unused-ignore]

    def run() -> object:
        rng = np.random.default_rng(0)
        rows = (rows_of_draws(cluster, clusters, rng) for _ in range(3))
        return [cohen_kappa_score(reference[at], judge[at]) for at in rows]

    return run, 3


def scipy_bootstrap(
    cluster: Labels, reference: Labels, judge: Labels, clusters: int
) -> tuple[Callable[[], object], int]:
    from scipy.stats import bootstrap

    columns = tuple(tables(cluster, reference, judge, clusters).reshape(clusters, 4).T)
    replicates = REPLICATES if clusters <= MAX_UNITS else 20

    def kappa(*cells: Array, axis: int = -1) -> Array:
        totals = np.stack([cell.sum(axis=axis) for cell in cells], axis=-1)
        return cohen_kappa(totals.reshape(*totals.shape[:-1], 2, 2))

    def run() -> object:
        return bootstrap(
            columns, kappa, paired=True, vectorized=True, n_resamples=replicates, method="percentile", batch=50, rng=0
        )

    return run, replicates


CONTENDERS = {
    "evenhand": (ours, "evenhand"),
    "scipy.stats.bootstrap on clusters": (scipy_bootstrap, "scipy"),
    "NumPy index loop": (numpy_loop, "numpy"),
    "scikit-learn index loop": (sklearn_loop, "sklearn"),
}


def measure_here(name: str, rows: int, clusters: int) -> dict[str, float]:
    run, replicates = CONTENDERS[name][0](*make_labels(rows, clusters), clusters)
    started = time.perf_counter()
    run()
    seconds = time.perf_counter() - started
    return {"seconds": seconds * REPLICATES / replicates, "replicates": replicates}


def measure(name: str, rows: int, clusters: int, repeats: int) -> dict[str, float] | None:
    """Best of several fresh processes; None where its library is not installed."""
    if find_spec(CONTENDERS[name][1]) is None:
        return None
    command = [sys.executable, __file__, "--contender", name, "--rows", str(rows), "--clusters", str(clusters)]
    runs: list[dict[str, float]] = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(repeats)
    ]
    return min(runs, key=lambda one: one["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--clusters", type=int, action="append", help="repeatable; 13, 2,000 and 500,000 if left out")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--contender", choices=CONTENDERS, help="measure one in this very process")
    given = parser.parse_args()
    for clusters in given.clusters or CLUSTERS:
        if given.contender:
            print(json.dumps(measure_here(given.contender, given.rows, clusters)))
            continue
        for name in CONTENDERS:
            found = measure(name, given.rows, clusters, given.repeats)
            said = "not installed, skipped" if found is None else f"{found['seconds']:.3f} s"
            print(f"{clusters:>7,} clusters  {name:34s} {said}")


if __name__ == "__main__":
    main()
