"""Agreement statistics beside the packages people use: python benchmarks/agreement_peers.py --peers PYTHON --irrcac PYTHON

Every statistic on the same label arrays: ours tallies them by cluster and estimates, a peer does what its own door asks for.
A package runs in a fresh process; the clock starts after imports and after the labels are in the form it takes (arrays, NaN
for a hole, a data frame for irrCAC), the packages take turns and the least time counts. Times are of the processor, one thread
each, so that a busy machine does not decide. Exits 1 where a peer is faster, a value differs, or an interval takes a second.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVELS, CLASSES, RATERS, CLUSTERS = 11, 5, 3, 2_000
MOST_INTERVAL_SECONDS, MOST_DIFFERENCE = 1.0, 1e-8
LEAST_SECONDS = 0.0005
"""Below this, two times are the same."""
Labels = NDArray[np.int64]
Run = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Data:
    """Labels of one kind: a (reference, judge) pair or (n, R) of several raters, -1 where one is missing."""

    size: int
    cluster: Labels
    labels: Labels

    @property
    def pair(self) -> tuple[Labels, Labels]:
        return np.ascontiguousarray(self.labels[:, 0]), np.ascontiguousarray(self.labels[:, 1])

    @property
    def with_nan(self) -> NDArray[np.float64]:
        return np.where(self.labels < 0, np.nan, self.labels)


def make(rows: int) -> dict[str, Data]:
    """The same labels in every process: raters who say the truth three times out of four and else anything."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, CLUSTERS, rows)

    def drawn(size: int, raters: int, holes: float = 0.0) -> Data:
        truth = rng.binomial(size - 1, rng.choice((0.4, 0.7), rows)) if size > CLASSES else rng.integers(0, size, rows)
        other = rng.integers(0, size, (rows, raters))
        labels = np.where(rng.random((rows, raters)) < 0.75, truth[:, None], other)
        return Data(size, cluster, np.where(rng.random((rows, raters)) < holes, -1, labels))

    return {
        "two labels": drawn(2, 2),
        "marks 0 to 10": drawn(LEVELS, 2),
        "five labels": drawn(CLASSES, 2),
        "3 raters, two labels": drawn(2, RATERS),
        "3 raters, five labels": drawn(CLASSES, RATERS),
        "3 raters, five labels, holes": drawn(CLASSES, RATERS, 0.1),
        "3 raters, marks 0 to 10, holes": drawn(LEVELS, RATERS, 0.1),
    }


class Ours:
    """Statistic → tally and estimate, and the interval after the tally."""

    def __init__(self, data: Mapping[str, Data]) -> None:
        self.data = data
        self.runs: dict[str, tuple[Run, Run | None]] = {}

    def add(
        self, name: str, tally: Callable[[], Any], measure: Callable[[Any], Any], *, has_interval: bool = True
    ) -> None:
        """A statistic of (U, *cells) tallies."""
        from evenhand.stats.intervals import METHODS, Sample
        from evenhand.stats.resampling import draw_weights
        from evenhand.stats.scales import LOG_ONE_MINUS

        kept: list[Any] = []

        def estimate() -> float:
            kept[:] = [tally()]
            return float(measure(kept[0].sum(axis=0)))

        def interval() -> float:
            sizes = kept[0].reshape(len(kept[0]), -1).sum(axis=1)
            names = tuple(map(str, range(len(sizes))))
            sample = Sample(kept[0], measure, sizes, LOG_ONE_MINUS, names, lambda n: draw_weights(0, 2_000, n))
            return METHODS["default"](sample, 0.95).low or float("nan")

        self.runs[name] = (estimate, interval if has_interval else None)

    def tables(self, kind: str) -> Callable[[], Any]:
        """(U, q, q) of a pair."""
        from evenhand.stats.marks import level_tables

        one, (reference, judge) = self.data[kind], self.data[kind].pair
        return lambda: level_tables(reference, judge, one.size, one.cluster, CLUSTERS)

    def ratings(self, kind: str) -> Any:
        """Rows of several raters: distinct ones, unless hardly a row can occur twice."""
        from evenhand.tally.packing import MOST_DENSE, distinct
        from evenhand.tally.ratings import Ratings

        one, names = self.data[kind], tuple(map(str, range(RATERS)))
        if CLUSTERS * (one.size + 1) ** RATERS > min(MOST_DENSE, len(one.labels)):
            ones = np.ones(len(one.labels), dtype=np.int64)
            return Ratings(CLUSTERS, one.size, names, one.cluster, one.labels, ones)
        (unit, *labels), count = distinct([one.cluster, *one.labels.T])
        return Ratings(CLUSTERS, one.size, names, unit, np.stack(labels, axis=1), count)


def ours_of_two_labels(own: Ours) -> None:
    from evenhand.stats import agreement as a
    from evenhand.stats.weighted_agreement import mcnemar

    def summed(table: Any, *groups: tuple[int, ...]) -> Any:
        """Sums of the cells of a 2×2 table, in the order TN FP FN TP."""
        flat = table.reshape(*table.shape[:-2], 4)
        return np.stack([flat[..., list(group)].sum(axis=-1) for group in groups], axis=-1)

    two = own.tables("two labels")
    own.add("Cohen's kappa (two labels)", two, a.cohen_kappa)
    own.add("phi = MCC", two, a.phi)
    own.add("accuracy", two, a.observed_agreement)
    own.add("precision", two, lambda table: a.share(summed(table, (3,), (1,))))
    own.add("recall", two, lambda table: a.share(summed(table, (3,), (2,))))
    own.add("F1", two, lambda table: a.f1(summed(table, (3,), (1, 2))))
    own.add("balanced accuracy", two, a.balanced_accuracy)
    own.add("McNemar", two, lambda table: mcnemar(table).statistic, has_interval=False)


def ours_of_marks(own: Ours) -> None:
    from evenhand.stats import marks as m
    from evenhand.stats import weighted_agreement as w
    from evenhand.stats.weights import WeightsName, agreement_weights

    names: tuple[WeightsName, ...] = ("linear", "quadratic")
    levels, each = np.arange(LEVELS, dtype=np.float64), np.arange(LEVELS**2)
    moments = m.mark_sums(levels[each // LEVELS], levels[each % LEVELS], each, len(each))

    def of_moments(measure: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda table: measure(table.reshape(*table.shape[:-2], -1) @ moments)

    marks, linear, quadratic = own.tables("marks 0 to 10"), *(agreement_weights(name, levels) for name in names)
    own.add("linear kappa", marks, lambda table: w.weighted_kappa(table, linear))
    own.add("quadratic kappa", marks, lambda table: w.weighted_kappa(table, quadratic))
    own.add("mean absolute error", marks, of_moments(m.mae))
    own.add("Pearson r", marks, of_moments(m.pearson_r))
    own.add("Spearman rho", marks, m.spearman_rho)
    own.add("Kendall tau_b", marks, m.kendall_tau)
    own.add("AC2 of two", marks, lambda table: w.gwet_ac2(table, quadratic))


def ours_of_five_labels(own: Ours) -> None:
    from evenhand.stats import agreement as a
    from evenhand.stats.weighted_agreement import mcc_multiclass

    five = own.tables("five labels")
    own.add("Cohen's kappa (five labels)", five, a.cohen_kappa)
    own.add("MCC (five labels)", five, mcc_multiclass)
    own.add("percent agreement", five, a.observed_agreement)
    own.add("Scott's pi", five, a.scott_pi)
    own.add("AC1", five, a.gwet_ac1)
    own.add("Brennan-Prediger", five, a.brennan_prediger)


def ours_of_raters(own: Ours) -> None:
    from evenhand.stats import ensembles as e
    from evenhand.stats.hypothesis_tests import cochran_q, cochran_sums
    from evenhand.stats.weights import agreement_weights
    from evenhand.tally import rating_sums as sums_of

    levels, same = np.arange(LEVELS, dtype=np.float64), np.eye(CLASSES)
    quadratic = agreement_weights("quadratic", levels)

    def profile(kind: str) -> Callable[[], Any]:
        return lambda: sums_of.profile_sums(own.ratings(kind))

    def pairs(kind: str) -> Callable[[], Any]:
        return lambda: sums_of.coincidence_sums(own.ratings(kind))

    def conger(kind: str) -> Any:
        rated = own.ratings(kind)
        return sums_of.conger_sums(rated, sums_of.profile_sums(rated))

    votes, whole, holes, marks = list(own.data)[3:]
    own.add("Fleiss' kappa", profile(whole), lambda sums: e.fleiss_kappa(sums, same))
    own.add("Randolph's kappa", profile(whole), lambda sums: e.brennan_prediger(sums, same))
    own.add("percent agreement of three", profile(holes), lambda sums: e.percent_agreement(sums, same))
    own.add("Fleiss' kappa (holes)", profile(holes), lambda sums: e.fleiss_kappa(sums, same))
    own.add("AC1 of three", profile(holes), lambda sums: e.gwet_ac(sums, same))
    own.add("Brennan-Prediger of three", profile(holes), lambda sums: e.brennan_prediger(sums, same))
    own.add("Conger's kappa", lambda: conger(holes), lambda sums: e.conger_kappa(sums, same))
    own.add(
        "Krippendorff's alpha (nominal)", pairs(holes), lambda s: e.krippendorff_alpha(s, "nominal", range(CLASSES))
    )
    own.add("Krippendorff's alpha (ordinal)", pairs(marks), lambda s: e.krippendorff_alpha(s, "ordinal", levels))
    own.add("Krippendorff's alpha (interval)", pairs(marks), lambda s: e.krippendorff_alpha(s, "interval", levels))
    own.add("AC2 of three", profile(marks), lambda sums: e.gwet_ac(sums, quadratic))
    alone, columns = np.zeros(len(own.data[votes].labels), dtype=np.int64), own.data[votes].labels.astype(np.float64)
    own.add(
        "Cochran's Q", lambda: cochran_sums(columns, alone, 1), lambda s: cochran_q(s).statistic, has_interval=False
    )


def ours(data: Mapping[str, Data]) -> dict[str, tuple[Run, Run | None]]:
    own = Ours(data)
    for add_to in (ours_of_two_labels, ours_of_marks, ours_of_five_labels, ours_of_raters):
        add_to(own)
    return own.runs


def scikit_learn(data: Mapping[str, Data]) -> dict[str, Run]:
    from sklearn import metrics as of  # type: ignore[import-not-found,unused-ignore]

    two, marks, five = (data[kind].pair for kind in ("two labels", "marks 0 to 10", "five labels"))
    return {
        "Cohen's kappa (two labels)": lambda: of.cohen_kappa_score(*two),
        "phi = MCC": lambda: of.matthews_corrcoef(*two),
        "accuracy": lambda: of.accuracy_score(*two),
        "precision": lambda: of.precision_score(*two),
        "recall": lambda: of.recall_score(*two),
        "F1": lambda: of.f1_score(*two),
        "balanced accuracy": lambda: of.balanced_accuracy_score(*two),
        "linear kappa": lambda: of.cohen_kappa_score(*marks, weights="linear"),
        "quadratic kappa": lambda: of.cohen_kappa_score(*marks, weights="quadratic"),
        "mean absolute error": lambda: of.mean_absolute_error(*marks),
        "Cohen's kappa (five labels)": lambda: of.cohen_kappa_score(*five),
        "MCC (five labels)": lambda: of.matthews_corrcoef(*five),
        "percent agreement": lambda: of.accuracy_score(*five),
    }


def krippendorff(data: Mapping[str, Data]) -> dict[str, Run]:
    from krippendorff import alpha  # type: ignore[import-not-found,unused-ignore]

    holes, marks = (np.ascontiguousarray(data[kind].with_nan.T) for kind in list(data)[5:])
    return {
        "Krippendorff's alpha (nominal)": lambda: alpha(holes, level_of_measurement="nominal"),
        "Krippendorff's alpha (ordinal)": lambda: alpha(marks, level_of_measurement="ordinal"),
        "Krippendorff's alpha (interval)": lambda: alpha(marks, level_of_measurement="interval"),
    }


def statsmodels(data: Mapping[str, Data]) -> dict[str, Run]:
    from statsmodels.stats import contingency_tables as c  # type: ignore[import-not-found,unused-ignore]
    from statsmodels.stats import inter_rater as r  # type: ignore[import-not-found,unused-ignore]

    two, marks, five = (data[kind].labels for kind in ("two labels", "marks 0 to 10", "five labels"))
    votes, whole = data["3 raters, two labels"].labels, data["3 raters, five labels"].labels

    def kappa(labels: Labels, weights: str | None = None) -> float:
        return float(r.cohens_kappa(r.to_table(labels)[0], wt=weights).kappa)

    return {
        "Cohen's kappa (two labels)": lambda: kappa(two),
        "linear kappa": lambda: kappa(marks, "linear"),
        "quadratic kappa": lambda: kappa(marks, "quadratic"),
        "Cohen's kappa (five labels)": lambda: kappa(five),
        "McNemar": lambda: c.mcnemar(r.to_table(two)[0], exact=False, correction=False).statistic,
        "Fleiss' kappa": lambda: r.fleiss_kappa(r.aggregate_raters(whole)[0]),
        "Randolph's kappa": lambda: r.fleiss_kappa(r.aggregate_raters(whole)[0], method="randolph"),
        "Cochran's Q": lambda: c.cochrans_q(votes).statistic,
    }


def irr_cac(data: Mapping[str, Data]) -> dict[str, Run]:
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    from irrCAC.raw import CAC  # type: ignore[import-not-found,unused-ignore]
    from irrCAC.table import CAC as TABLE  # type: ignore[import-not-found,unused-ignore]

    holes, marks = (pd.DataFrame(data[kind].with_nan) for kind in list(data)[5:])
    five, pair_of_marks = (pd.DataFrame(data[kind].labels) for kind in ("five labels", "marks 0 to 10"))

    def of_rows(frame: Any, name: str, weights: str = "identity", what: str = "coefficient_value") -> float:
        return float(getattr(CAC(frame, weights=weights, digits=12), name)()["est"][what])

    def of_table(frame: Any, name: str, weights: str = "identity") -> float:
        table = TABLE(pd.crosstab(frame[0], frame[1]), weights=weights, digits=12)
        return float(getattr(table, name)()["est"]["coefficient_value"])

    return {
        "Cohen's kappa (five labels)": lambda: of_table(five, "cohen"),
        "percent agreement": lambda: of_table(five, "pa2"),
        "Scott's pi": lambda: of_table(five, "scott"),
        "AC1": lambda: of_table(five, "gwet"),
        "Brennan-Prediger": lambda: of_table(five, "bp"),
        "AC2 of two": lambda: of_table(pair_of_marks, "gwet", "quadratic"),
        "percent agreement of three": lambda: of_rows(holes, "gwet", what="pa"),
        "Fleiss' kappa (holes)": lambda: of_rows(holes, "fleiss"),
        "AC1 of three": lambda: of_rows(holes, "gwet"),
        "Brennan-Prediger of three": lambda: of_rows(holes, "bp"),
        "Conger's kappa": lambda: of_rows(holes, "conger"),
        "Krippendorff's alpha (nominal)": lambda: of_rows(holes, "krippendorff"),
        "Krippendorff's alpha (interval)": lambda: of_rows(marks, "krippendorff", "quadratic"),
        "AC2 of three": lambda: of_rows(marks, "gwet", "quadratic"),
    }


def scipy(data: Mapping[str, Data]) -> dict[str, Run]:
    from scipy import stats

    marks = data["marks 0 to 10"].pair
    return {
        "Pearson r": lambda: float(stats.pearsonr(*marks).statistic),
        "Spearman rho": lambda: float(stats.spearmanr(*marks).statistic),
        "Kendall tau_b": lambda: float(stats.kendalltau(*marks).statistic),
    }


PEERS: dict[str, Callable[[Mapping[str, Data]], dict[str, Run]]] = {
    "scikit-learn": scikit_learn,
    "krippendorff": krippendorff,
    "statsmodels": statsmodels,
    "irrCAC": irr_cac,
    "SciPy": scipy,
}
OURS = "evenhand"


def clocked(run: Run, repeats: int) -> tuple[float, float, float]:
    """Value, and the least seconds of the processor and of the wall, of at most `repeats` runs or two seconds."""
    value, began = float("nan"), time.process_time()
    processor: list[float] = []
    wall: list[float] = []
    while len(wall) < repeats and (not wall or time.process_time() - began < 2):
        cpu, clock = time.process_time(), time.perf_counter()
        value = float(run())
        processor.append(time.process_time() - cpu)
        wall.append(time.perf_counter() - clock)
    return value, min(processor), min(wall)


def measure_here(contender: str, rows: int, repeats: int) -> dict[str, dict[str, float]]:
    """Every statistic of a package, in this very process."""
    data = make(rows)
    runs: dict[str, tuple[Run, Run | None]] = (
        ours(data) if contender == OURS else {name: (run, None) for name, run in PEERS[contender](data).items()}
    )
    found = {}
    for name, (run, interval) in runs.items():
        value, processor, wall = clocked(run, repeats)
        found[name] = {"value": value, "processor": processor, "wall": wall}
        if interval is not None:
            found[name]["interval"] = clocked(interval, repeats)[1]
    return found


def measure(python: str, contender: str, rows: int, repeats: int) -> dict[str, dict[str, float]]:
    """The same in a fresh process of an interpreter; nothing where the package is not installed there."""
    command = [python, __file__, "--contender", contender, "--rows", str(rows), "--repeats", str(repeats)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads})
    if done.returncode and "ModuleNotFoundError" in done.stderr:
        return {}
    if done.returncode:
        raise SystemExit(f"{contender} ended with {done.returncode}: {done.stderr}")
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


def best(pythons: Mapping[str, str], rows: int, rounds: int, repeats: int) -> dict[str, dict[str, dict[str, float]]]:
    """Contender → statistic → value and least times, the contenders taking turns."""
    found: dict[str, dict[str, dict[str, float]]] = {contender: {} for contender in pythons}
    for _ in range(rounds):
        for contender, python in pythons.items():
            for name, one in measure(python, contender, rows, repeats).items():
                known = found[contender].setdefault(name, one)
                known |= {clock: min(known[clock], one[clock]) for clock in one if clock != "value"}
    return found


def shown(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:,.1f}"


def differs(one: float, other: float) -> bool:
    return abs(one - other) > MOST_DIFFERENCE * max(1.0, abs(one))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", metavar="PYTHON", default=sys.executable, help="has scikit-learn, krippendorff, statsmodels, SciPy")  # fmt: skip
    parser.add_argument("--irrcac", metavar="PYTHON", default=sys.executable, help="has irrCAC, which pins an old NumPy")  # fmt: skip
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes of each package")
    parser.add_argument("--repeats", type=int, default=3, help="runs of a statistic in each of them")
    parser.add_argument("--quick", action="store_true", help="few rows, once, no bounds on time")
    parser.add_argument("--contender", choices=(OURS, *PEERS), help="measure one in this very process")
    given = parser.parse_args()
    if given.contender:
        print(json.dumps(measure_here(given.contender, given.rows, given.repeats)))
        return 0
    rows, rounds, repeats = (2_000, 1, 1) if given.quick else (given.rows, given.rounds, given.repeats)
    pythons = {OURS: sys.executable, **{name: given.irrcac if name == "irrCAC" else given.peers for name in PEERS}}
    found = best(pythons, rows, rounds, repeats)
    broken = []
    print(
        f"| {rows:,} rows, milliseconds | {' | '.join(pythons)} | fastest peer / ours | by the wall | ours: interval |"
    )
    print("|---|" + "---:|" * (len(pythons) + 3))
    for name, own in found[OURS].items():
        others = [found[peer][name] for peer in PEERS if name in found[peer]]
        times = [shown(found[contender].get(name, {}).get("processor")) for contender in pythons]
        ratios = [min((one[clock] for one in others), default=0.0) / own[clock] for clock in ("processor", "wall")]
        said = [f"{ratio:,.1f}" if others else "" for ratio in ratios]
        print(f"| {name} | {' | '.join(times)} | {' | '.join(said)} | {shown(own.get('interval'))} |")
        broken += [f"{name}: {one['value']!r} is not {own['value']!r}" for one in others if differs(one["value"], own["value"])]  # fmt: skip
        if not given.quick and any(one["processor"] < own["processor"] - LEAST_SECONDS for one in others):
            broken.append(f"{name}: a peer is faster")
        if not given.quick and own.get("interval", 0.0) > MOST_INTERVAL_SECONDS:
            broken.append(f"{name}: the interval takes {own['interval']:.2f} s")
    for peer in PEERS:
        if not found[peer]:
            print(f"\n{peer}: not installed, skipped")
    for what in broken:
        print(f"BROKEN {what}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
