import csv
import math
from dataclasses import replace
from functools import partial
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import settings
from interval_samples import ends, kappa, rate, sample
from scipy.stats import bootstrap  # noqa: TID251 - an independent implementation, in tests alone

from evenhand.stats import intervals
from evenhand.stats.agreement import (
    balanced_accuracy,
    f1,
    leniency_per_verdict,
    mean_value,
    phi,
    share,
)
from evenhand.stats.binomial import clopper_pearson, t_quantile
from evenhand.stats.delta import cr1_std_error, gradient
from evenhand.stats.intervals import METHODS, Interval, Sample, cr2_variance, jackknife_std_error
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import ATANH, IDENTITY, LOG_ONE_MINUS, LOGIT, Scale

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

Array = np.ndarray
NEEDS_RATE = ("cr2_t", "korn_graubard", "clopper_pearson", "wilson")
OF_CLUSTERS = ("default", "percentile", "bca", "jackknife_t", "jackknife_t_scaled", "bootstrap_t", "exact")


# case UNC-01 and oracle data/cluster_small.csv as (events, others) by cluster
UNC_01 = [[3, 1], [0, 2], [3, 0], [2, 3]]
CLUSTER_SMALL = [[1, 2], [2, 0], [1, 3], [3, 2]]


# --- the example bank ---


@pytest.fixture(scope="module")
def bank() -> tuple[Array, Array, Array]:
    """Reference and judge (180, 10) of the parsed responses, and the cluster (180,) as a position in sorted order."""
    with (files("evenhand.data") / "zhu_bank.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["judge_1"]]
    sides = [np.array([[int(row[f"{side}_{j}"]) for j in range(1, 11)] for row in rows]) for side in ("gold", "judge")]
    _, cluster = np.unique([int(row["cluster_id"]) for row in rows], return_inverse=True)
    return sides[0], sides[1], cluster


def by_cluster(bank, hit: Array, among: Array) -> Sample:
    """The share of hits among some verdicts (or responses) of the bank."""
    cluster = bank[2]
    each = [(int(hit[cluster == c].sum()), int((among & ~hit)[cluster == c].sum())) for c in range(cluster.max() + 1)]
    return rate(each)


def bank_rate(bank, name: str) -> Sample:
    reference, judge, _ = bank
    everything = np.ones_like(judge, dtype=bool)
    if name.startswith("acc"):
        cut = int(name.removeprefix("acc"))
        right = (reference.sum(axis=1) >= cut) == (judge.sum(axis=1) >= cut)
        return by_cluster(bank, right, everything[:, 0])
    if name == "pos1_error":
        return by_cluster(bank, (reference != judge)[:, 0], everything[:, 0])
    hits, among = {
        "error_rate": (reference != judge, everything),
        "false_accept": ((reference == 0) & (judge == 1), reference == 0),
        "false_reject": ((reference == 1) & (judge == 0), reference == 1),
    }[name]
    return by_cluster(bank, hits, among)


def bank_kappa(bank) -> Sample:
    reference, judge, cluster = bank
    tables = np.zeros((13, 2, 2))
    np.add.at(tables, (cluster[:, None], reference, judge), 1)
    return kappa(tables)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [  # oracle cluster_bootstrap.zhu: Zhu 2026's nine published intervals less the KR-20 difference
        ("error_rate", 0.02582, 0.06945),
        ("false_accept", 0.05548, 0.15491),
        ("false_reject", 0.0, 0.00307),
        ("acc4", 0.92222, 0.99444),
        ("acc5", 0.89326, 0.96154),
        ("acc6", 0.85057, 0.94505),
        ("acc7", 0.85556, 0.97253),
        ("pos1_error", 0.08242, 0.20556),
    ],
)
def test_published_percentile_ends(bank, name: str, low: float, high: float) -> None:
    found = METHODS["percentile"](bank_rate(bank, name), 0.95)
    assert ends(found) == pytest.approx((low, high), abs=6e-6)


@pytest.mark.parametrize(
    ("name", "low", "high", "method"),
    [  # statistics §9 and shared check/contract.py; false reject: floored .01346
        ("acc5", 0.8735, 0.9598, "jackknife_t_scaled"),
        ("false_accept", 0.0573, 0.1813, "jackknife_t_scaled"),
        ("false_reject", 0.0, 0.01346, "korn_graubard"),
    ],
)
def test_default_of_the_bank(bank, name: str, low: float, high: float, method: str) -> None:
    found = METHODS["default"](bank_rate(bank, name), 0.95)
    assert found.method == method
    assert ends(found) == pytest.approx((low, high), abs=6e-5 if method != "korn_graubard" else 6e-6)


def test_default_of_the_bank_kappa(bank) -> None:
    found = METHODS["default"](bank_kappa(bank), 0.95)
    assert ends(found) == pytest.approx((0.8300, 0.9454), abs=6e-5)
    assert found.df == pytest.approx(11.98, abs=0.005)
    assert (found.method, found.scale) == ("jackknife_t_scaled", "−log(1−x)")


def test_false_reject_without_the_floor(bank, monkeypatch) -> None:
    # statistics §9: 1 of 992: .65 % Korn-Graubard unfloored, .56 % Clopper-Pearson on rows
    few = bank_rate(bank, "false_reject")
    assert METHODS["clopper_pearson"](few, 0.95).high == pytest.approx(0.0056, abs=5e-5)
    assert "floored at ICC 0.02" in METHODS["default"](few, 0.95).reason
    monkeypatch.setattr(intervals, "ASSUMED_ICC", 0.0)
    assert METHODS["default"](few, 0.95).high == pytest.approx(0.00651, abs=5e-6)


def test_oracle_cr2_of_the_bank(bank) -> None:
    # oracle cr2.zhu.error_rate (clubSandwich): CR1, CR2, Satterthwaite df and its t interval
    errors = bank_rate(bank, "error_rate")
    variance, df = cr2_variance(errors.events, errors.sizes)
    assert math.sqrt(variance) == pytest.approx(0.0117517659657962, abs=1e-7)
    assert df == pytest.approx(11.9808695652174, abs=1e-7)
    assert ends(METHODS["cr2_t"](errors, 0.95)) == pytest.approx((0.0216127885515185, 0.072831655892926), abs=1e-7)
    slopes = gradient(share, errors.tallies.sum(axis=0))
    assert cr1_std_error(errors.tallies, slopes) == pytest.approx(0.0117644021675564, abs=1e-7)


# --- hand cases ---


def test_case_unc_01_three_standard_errors() -> None:
    # jackknife .166365, CR2 .167284, CR1 .169113, each right under its own name
    scores = rate(UNC_01)
    assert scores.value == pytest.approx(0.571429, abs=5e-7)
    assert scores.std_error == pytest.approx(0.166365, abs=5e-7)
    assert math.sqrt(cr2_variance(scores.events, scores.sizes)[0]) == pytest.approx(0.167284, abs=5e-7)
    assert cr1_std_error(scores.tallies, gradient(share, scores.tallies.sum(axis=0))) == pytest.approx(
        0.169113, abs=5e-7
    )


def test_jackknife_std_error_by_hand() -> None:
    # mean 2, squares 1 + 0 + 1, times 2/3
    assert jackknife_std_error(np.array([1.0, 2.0, 3.0])) == pytest.approx(math.sqrt(4 / 3), abs=1e-15)
    assert jackknife_std_error(np.array([1.0, np.nan, 3.0])) is None


def test_jackknife_of_a_mean_is_the_textbook_error() -> None:
    values = np.array([2.0, 3.0, 5.0, 11.0, 4.0])
    left_out = (values.sum() - values) / 4
    assert jackknife_std_error(left_out) == pytest.approx(values.std(ddof=1) / math.sqrt(5), rel=1e-14)


@pytest.mark.parametrize(
    ("probability", "df", "value"),  # printed tables of t; 1 df: tan(.475 π)
    [(0.975, 1, math.tan(0.475 * math.pi)), (0.975, 4, 2.776445), (0.95, 10, 1.812461), (0.995, 12, 3.054540)],
)
def test_t_quantile(probability: float, df: float, value: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(value, abs=5e-7)


def test_jackknife_t_by_hand() -> None:
    # shares .25, .5, .75 of four verdicts each: left out .625, .5, .375, SE √(2/3 · 2/64), t(.975, 2) = 4.302653
    half = 4.302652729749464 * math.sqrt(2 / 3 * 2 / 64)
    found = METHODS["jackknife_t"](rate([[1, 3], [2, 2], [3, 1]]), 0.90)
    assert found.df == pytest.approx(2)
    assert ends(found) == pytest.approx(
        (0.5 - half * 2.919985580353726 / 4.302652729749464, 0.5 + half * 2.919985580353726 / 4.302652729749464)
    )
    scaled = METHODS["jackknife_t_scaled"](rate([[1, 3], [2, 2], [3, 1]]), 0.95)
    # on the logit: ±log(5/3) and 0, SE √(2/3 · 2 log²(5/3)), around 0
    z = 4.302652729749464 * math.sqrt(4 / 3) * math.log(5 / 3)
    assert ends(scaled) == pytest.approx((1 / (1 + math.exp(z)), 1 / (1 + math.exp(-z))))


def test_effective_units_of_unequal_clusters() -> None:
    # G* = (1+1+2)²/(1+1+4) = 16/6
    assert rate([[1, 0], [0, 1], [1, 1]]).effective_units == pytest.approx(16 / 6)
    assert rate([[1, 2], [0, 3], [3, 0]]).effective_units == pytest.approx(3)


@pytest.mark.parametrize(
    ("events", "trials", "exact", "score"),
    [  # oracles binci.*: R binom.test and prop.test, Newcombe 1998
        (81, 263, (0.252736745585271, 0.367621922601351), (0.255288519878274, 0.3662095769828)),
        (15, 148, (0.0578440100834486, 0.161650490349479), (0.0623863995307363, 0.160487241723308)),
        (0, 20, (0.0, 0.168433470983085), (0.0, 0.161125158052819)),
        (1, 29, (0.000872646883579923, 0.177644295488723), (0.00611321429276266, 0.171755218793203)),
    ],
)
def test_oracle_binomial(events: int, trials: int, exact: tuple[float, float], score: tuple[float, float]) -> None:
    one_cluster = rate([[events, trials - events]])
    assert ends(METHODS["clopper_pearson"](one_cluster, 0.95)) == pytest.approx(exact, abs=1e-7)
    assert ends(METHODS["wilson"](one_cluster, 0.95)) == pytest.approx(score, abs=1e-7)


@pytest.mark.parametrize("trials", [1, 7, 300])
def test_binomial_limits_at_the_ends_by_hand(trials: int) -> None:
    # no event: 1 - (α/2)^(1/n); all events: its mirror
    none, all_ = rate([[0, trials]]), rate([[trials, 0]])
    edge = 0.025 ** (1 / trials)
    assert ends(METHODS["clopper_pearson"](none, 0.95)) == pytest.approx((0, 1 - edge), abs=1e-12)
    assert ends(METHODS["clopper_pearson"](all_, 0.95)) == pytest.approx((edge, 1), abs=1e-12)
    assert METHODS["wilson"](none, 0.95).low == 0
    assert METHODS["wilson"](all_, 0.95).high == 1


def test_korn_graubard_by_hand() -> None:
    # six clusters of ten with one event in all: jackknife variance of the share 6/5·Σ((e_g - 1/6)/60)² = 1/3600, the
    # independent one 59/216000, so that deff = 60/59 < 1 + 9·.02; n_eff = 60/1.18 · (t59/t5)²
    few = rate([[1, 9], *[[0, 10]] * 5])
    assert intervals.design_effect_of_rate(few.events, few.sizes) == pytest.approx(60 / 59)
    effective = 60 / 1.18 * (2.000995378 / 2.570581836) ** 2
    low, high = clopper_pearson(np.array(effective / 60), np.array(effective), 0.95)
    found = METHODS["default"](few, 0.95)
    assert ends(found) == pytest.approx((float(low), float(high)), rel=1e-6)
    assert found.df == pytest.approx(5)
    assert found.reason == "few events: Clopper–Pearson at 31 effective trials, design effect floored at ICC 0.02"


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(("n_with", "method"), [(4, "korn_graubard"), (5, "jackknife_t_scaled")])
def test_few_events_are_fewer_than_five_clusters_with_one(n_with: int, method: str, mirrored: bool) -> None:
    tallies = [[2, 8]] * n_with + [[0, 10]] * (9 - n_with)
    assert METHODS["default"](rate([pair[::-1] for pair in tallies] if mirrored else tallies), 0.95).method == method


def test_korn_graubard_takes_an_estimated_design_effect() -> None:
    # all events in one of six clusters: the estimate leads, and says so by leaving out the floor
    clustered = rate([[10, 0], *[[0, 10]] * 5])
    assert intervals.design_effect_of_rate(clustered.events, clustered.sizes) > 1.18
    assert "floored" not in METHODS["default"](clustered, 0.95).reason


def test_f1_takes_its_ends_from_jaccards_share() -> None:
    # F1 = 2s/(1+s) of s = TP/(TP+FP+FN); 81 of 263 as in binci.81_263
    to_f1 = lambda s: 2 * s / (1 + s)  # noqa: E731
    one = sample([[81, 182]], f1, LOGIT, events=np.array([81.0]), from_rate=to_f1)
    expected = (to_f1(0.252736745585271), to_f1(0.367621922601351))
    assert ends(METHODS["clopper_pearson"](one, 0.95)) == pytest.approx(expected, abs=1e-7)
    assert "none" in METHODS["cr2_t"](one, 0.95).reason


def test_oracle_exact_ends() -> None:
    # oracle cluster_bootstrap.exact: q025 .285714285714286, q975 .777777777777778
    found = METHODS["exact"](rate(CLUSTER_SMALL), 0.95)
    assert ends(found) == pytest.approx((0.285714285714286, 0.777777777777778), abs=1e-9)
    assert found.reason == ""


def test_exact_is_the_limit_of_the_percentile() -> None:
    many = METHODS["percentile"](rate(CLUSTER_SMALL, resamples=200_000), 0.95)
    assert ends(METHODS["exact"](rate(CLUSTER_SMALL), 0.95)) == pytest.approx(ends(many), abs=1e-9)


# --- plain implementations, cluster by cluster and row by row ---

ROWS = [  # (reference, judge) verdicts of seven clusters, drawn once: default_rng(3), error .2
    "11 11 00 01 00 11", "00 01 11 11 10", "11 00 00 00 11 01 11", "01 01 11 00", "00 11 10 11 11",
    "11 11 00 00 00 01", "00 00 11 01 11 11",
]  # fmt: skip
CLUSTERS = [[(int(pair[0]), int(pair[1])) for pair in rows.split()] for rows in ROWS]


def table(rows) -> Array:
    cells = np.zeros((2, 2))
    for r, j in rows:
        cells[r, j] += 1
    return cells


def plain_kappa(rows) -> float:
    """Kappa by its definition on rows; NaN without variation."""
    n = len(rows)
    agree = sum(r == j for r, j in rows) / n
    x, y = sum(r for r, _ in rows) / n, sum(j for _, j in rows) / n
    chance = x * y + (1 - x) * (1 - y)
    return (agree - chance) / (1 - chance) if chance < 1 else math.nan


def plain_resamples(n_clusters: int, n_resamples: int) -> list[list[int]]:
    return np.random.default_rng(0).integers(0, n_clusters, (n_resamples, n_clusters)).tolist()


def joined(drawn: list[int]) -> list[tuple[int, int]]:
    return [row for cluster in drawn for row in CLUSTERS[cluster]]


def plain_jackknife(drawn: list[int]) -> float:
    """Standard error of kappa on a list of clusters, each position left out in turn."""
    left = [plain_kappa(joined(drawn[:at] + drawn[at + 1 :])) for at in range(len(drawn))]
    n, mean = len(left), sum(left) / len(left)
    return math.sqrt((n - 1) / n * sum((value - mean) ** 2 for value in left))


def plain_percentile(values: list[float], share_below: float) -> float:
    """Linear interpolation between order statistics."""
    ordered = sorted(values)
    at = share_below * (len(ordered) - 1)
    low = math.floor(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


@pytest.fixture(scope="module")
def plain() -> tuple[float, list[list[int]], list[float]]:
    """Kappa of all rows, 500 resamples, and kappa of each."""
    drawn = plain_resamples(len(CLUSTERS), 500)
    return plain_kappa(joined(list(range(7)))), drawn, [plain_kappa(joined(one)) for one in drawn]


@pytest.fixture(scope="module")
def seven() -> Sample:
    return kappa([table(rows) for rows in CLUSTERS], resamples=500)


def test_percentile_is_the_plain_one(plain, seven: Sample) -> None:
    expected = [plain_percentile(plain[2], at) for at in (0.025, 0.975)]
    assert ends(METHODS["percentile"](seven, 0.95)) == pytest.approx(expected, abs=1e-12)


def test_bca_is_the_plain_one(plain, seven: Sample) -> None:
    from statistics import NormalDist

    value, _, replicates = plain
    normal, everyone = NormalDist(), list(range(7))
    below = sum((one < value - 1e-12) + 0.5 * (abs(one - value) <= 1e-12) for one in replicates) / len(replicates)
    left = [plain_kappa(joined([c for c in everyone if c != out])) for out in everyone]
    pull = [sum(left) / 7 - one for one in left]
    a = sum(d**3 for d in pull) / (6 * sum(d**2 for d in pull) ** 1.5)
    z0 = normal.inv_cdf(below)
    expected = []
    for alpha in (0.025, 0.975):
        z = z0 + normal.inv_cdf(alpha)
        expected.append(plain_percentile(replicates, normal.cdf(z0 + z / (1 - a * z))))
    assert ends(METHODS["bca"](seven, 0.95)) == pytest.approx(expected, abs=1e-10)


def test_bootstrap_t_is_the_plain_one(plain, seven: Sample) -> None:
    value, drawn, replicates = plain
    errors = [plain_jackknife(one) for one in drawn]
    ratios = [(v - value) / e for v, e in zip(replicates, errors, strict=True) if math.isfinite(e) and e > 1e-9]
    overall = plain_jackknife(list(range(7)))
    expected = [value - plain_percentile(ratios, at) * overall for at in (0.975, 0.025)]
    assert ends(METHODS["bootstrap_t"](seven, 0.95)) == pytest.approx(expected, abs=1e-10)


def test_jackknife_t_is_the_plain_one(plain, seven: Sample) -> None:
    sizes = [len(rows) for rows in CLUSTERS]
    df = sum(sizes) ** 2 / sum(n**2 for n in sizes) - 1
    half = t_quantile(0.975, df) * plain_jackknife(list(range(7)))
    assert ends(METHODS["jackknife_t"](seven, 0.95)) == pytest.approx((plain[0] - half, min(1, plain[0] + half)))


@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_scipy_on_a_mean(ours: str, theirs: str, level: float) -> None:
    # one value a cluster, 0..9 at frequencies one: SciPy draws from the same stream
    values = np.array([3, 9, 1, 4, 8, 0, 5, 7, 2, 6, 9, 9])
    one_hot = np.eye(10)[values]
    mean = sample(one_hot, partial(mean_value, values=np.arange(10.0)), IDENTITY, resamples=999)
    found = bootstrap(
        (values,), np.mean, n_resamples=999, confidence_level=level, method=theirs, rng=np.random.default_rng(0)
    )
    expected = (found.confidence_interval.low, found.confidence_interval.high)
    assert ends(METHODS[ours](mean, level)) == pytest.approx(expected, abs=1e-12)


# --- degenerate data ---


@pytest.mark.parametrize("method", [*OF_CLUSTERS, "cr2_t", "korn_graubard"])
def test_one_cluster_has_no_interval(method: str) -> None:
    one = rate([[3, 5]])
    found = METHODS[method](one, 0.95)
    assert (found.low, found.high) == (None, None)
    assert found.reason.startswith("one cluster")
    assert one.std_error is None


@pytest.mark.parametrize(
    "method", ["jackknife_t", "jackknife_t_scaled", "percentile", "bca", "exact", "cr2_t", "default"]
)
def test_two_clusters_have_one(method: str) -> None:
    low, high = ends(METHODS[method](rate([[4, 5], [6, 3]]), 0.95))
    assert 0 <= low < high <= 1


def test_two_clusters_are_too_few_to_studentise() -> None:
    assert METHODS["bootstrap_t"](rate([[4, 5], [6, 3]]), 0.95).low is None


@pytest.mark.parametrize("method", ["jackknife_t", "jackknife_t_scaled", "bca", "bootstrap_t", "cr2_t"])
def test_a_value_that_never_moves_has_no_interval(method: str) -> None:
    # a width of zero would read as certainty (case UNC-01)
    found = METHODS[method](rate([[3, 7]] * 6), 0.95)
    assert (found.low, found.high) == (None, None)
    assert found.reason


def test_default_of_a_constant_share_is_korn_graubard() -> None:
    found = METHODS["default"](rate([[3, 7]] * 6), 0.95)
    low, high = ends(found)
    assert low < 0.3 < high
    assert found.reason.startswith("the same share whichever cluster is left out: Clopper–Pearson at")


@pytest.mark.parametrize(
    ("measure", "scale"), [(balanced_accuracy, LOGIT), (leniency_per_verdict, IDENTITY)]
)  # fmt: skip
def test_default_of_a_faultless_judge_withholds_what_cannot_be_bounded(measure, scale: Scale) -> None:
    found = METHODS["default"](sample([[[8, 0], [0, 9]]] * 6, measure, scale), 0.95)
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("method", ["percentile", "exact"])
def test_percentiles_of_a_constant_are_withheld(method: str) -> None:
    found = METHODS[method](rate([[3, 7]] * 6), 0.95)
    assert (found.low, found.high) == (None, None)
    assert "says nothing of its error" in found.reason


@pytest.mark.parametrize("mirrored", [False, True])
def test_no_event_and_nothing_but_events(mirrored: bool) -> None:
    flip = (lambda pair: pair[::-1]) if mirrored else (lambda pair: pair)
    tallies = [flip([0, size]) for size in (10, 12, 8, 10, 10, 11)]
    low, high = ends(METHODS["default"](rate(tallies), 0.95))
    low, high = (1 - high, 1 - low) if mirrored else (low, high)
    assert low == 0
    # more than the .0587 of 61 independent trials, less than nothing known
    assert 1 - 0.025 ** (1 / 61) < high < 0.2


def test_a_coefficient_of_one_has_a_bound_from_the_disagreement_rate() -> None:
    perfect = kappa([[[8, 0], [0, 12]]] * 6)
    found = METHODS["default"](perfect, 0.95)
    limit = intervals.korn_graubard(replace(perfect, events=np.zeros(6)), 0.95).high
    assert ends(found) == pytest.approx((1 - limit / (1 - (0.4**2 + 0.6**2)), 1))
    assert found.reason.startswith("no disagreement seen: one-sided bound")


def test_a_bound_of_one_never_falls_below_minus_one() -> None:
    assert METHODS["default"](kappa([[[9, 0], [0, 1]]] * 2), 0.95).low == -1


def test_an_undefined_leave_one_out_names_the_cluster() -> None:
    # only c1 holds a verdict whose reference is positive; without it kappa is 0/0
    tables = [[[5, 0], [0, 0]], [[3, 1], [1, 4]], [[6, 0], [0, 0]]]
    for method in OF_CLUSTERS:
        found = METHODS[method](kappa(tables), 0.95)
        assert (found.low, found.high) == (None, None)
        assert found.reason == 'undefined without cluster "c1"'
    assert kappa(tables).std_error is None


def test_several_undefined_leave_one_outs_are_counted() -> None:
    always = sample([[2.0, 3.0]] * 3, lambda cells: np.where(cells[..., 0] < 6, np.nan, 1.0), LOGIT)
    assert always.obstacle() == 'undefined without cluster "c0" (and without 2 more)'


def test_undefined_replicates_are_counted_and_left_out() -> None:
    # kappa is 0/0 where c0 alone is drawn three times: about 2000/27 of the replicates
    tables = [[[5, 0], [0, 0]], [[3, 1], [1, 4]], [[6, 2], [0, 3]]]
    lost = int((draw_weights(0, 2_000, 3)[:, 0] == 3).sum())
    for method in ("percentile", "bca"):
        assert METHODS[method](kappa(tables), 0.95).reason == f"{lost} of 2000 replicates undefined and left out"
    assert METHODS["exact"](kappa(tables), 0.95).reason == "0.037 of the resamples undefined and left out"


def test_a_leave_one_out_at_the_edge_uses_the_derivative() -> None:
    # all errors in c0: kappa without it is 1, where -log(1-x) is infinite
    tables = [[[4, 3], [2, 6]], *[[[8, 0], [0, 9]]] * 5]
    one = kappa(tables)
    found = METHODS["default"](one, 0.95)
    half = t_quantile(0.975, one.effective_units - 1) * one.std_error / (1 - one.value)
    assert ends(found) == pytest.approx(tuple(1 - (1 - one.value) * math.exp(sign * half) for sign in (1, -1)))


def test_a_value_at_the_edge_uses_the_raw_scale() -> None:
    # min(1, Σ/5) of 2, 1, 1, 1/2, 1/2: exactly 1, where the logit is infinite, and below 1 without any cluster
    capped = sample([[2.0], [1.0], [1.0], [0.5], [0.5]], lambda cells: np.minimum(1, cells[..., 0] / 5), LOGIT)
    found = METHODS["jackknife_t_scaled"](capped, 0.95)
    assert (found.method, found.scale) == ("jackknife_t", "identity")
    assert found.high == 1
    assert "upper end cut at 1" in found.reason


@pytest.mark.parametrize("method", ["default", "jackknife_t"])
def test_ends_of_kappa_stay_within_one(method: str) -> None:
    # three clusters that disagree: t on 2 df reaches far beyond -1 on the log scale (case UNC-05)
    found = METHODS[method](kappa([[[8, 3], [4, 9]], [[2, 8], [9, 3]], [[5, 5], [5, 6]]]), 0.95)
    low, high = ends(found)
    assert low == -1
    assert high <= 1
    assert "lower end cut at -1" in found.reason


def test_replicates_without_a_spread_are_no_infinite_ratios() -> None:
    # c0 drawn three times has a standard error of 0 up to rounding: 3 of 27 resamples, not an end at -10^15
    found = METHODS["bootstrap_t"](kappa([[[8, 3], [4, 9]], [[2, 8], [9, 3]], [[5, 5], [5, 6]]]), 0.95)
    lost = int((draw_weights(0, 2_000, 3).max(axis=1) == 3).sum())
    assert ends(found)[0] >= -1
    assert found.reason == f"{lost} of 2000 replicates without a standard error and left out"


@pytest.mark.parametrize("method", ["default", "jackknife_t", "jackknife_t_scaled"])
def test_one_overwhelming_cluster_says_nothing(method: str) -> None:
    # G* = 1.007: the t quantile overflows
    found = METHODS[method](kappa([[[1000, 50], [40, 1000]], [[2, 1], [1, 3]]]), 0.95)
    assert (found.low, found.high) == (None, None)
    assert "1.007 effective clusters" in found.reason


def test_korn_graubard_of_one_overwhelming_cluster_is_everything() -> None:
    assert ends(METHODS["default"](rate([[1000, 50], [1, 0]]), 0.95)) == (0, 1)


def test_unbounded_ends_are_withheld() -> None:
    # G* = 1.149: t is 10^8, and a coefficient without a lower bound (KR-20) would end at minus infinity
    wild = sample([[960, 40], [60, 15]], share, LOG_ONE_MINUS)
    assert METHODS["default"](wild, 0.95).reason == "unbounded: the clusters are too few or too unequal"


def test_studentising_phi_asks_nothing_of_clusters_that_were_not_drawn() -> None:
    # totals less an undrawn cluster are negative counts, of which phi would take a root
    tables = np.random.default_rng(1).integers(0, 9, (6, 2, 2))
    low, high = ends(METHODS["bootstrap_t"](sample(tables, phi, ATANH), 0.95))
    assert low < float(phi(tables.sum(axis=0))) < high


@pytest.mark.parametrize("method", NEEDS_RATE)
def test_methods_for_shares_refuse_the_rest(method: str) -> None:
    found = METHODS[method](kappa([[[8, 3], [4, 9]]] * 3), 0.95)
    assert (found.low, found.high) == (None, None)
    assert method in found.reason


def test_exact_is_for_few_clusters() -> None:
    assert "at most 7 clusters; here are 8" in METHODS["exact"](rate([[1, 2]] * 8), 0.95).reason


def test_none_is_silent() -> None:
    assert METHODS["none"](rate([[1, 2]] * 8), 0.95) == Interval(None, None, "none")
