"""Share of intervals that hold the truth, in simulated banks whose errors cluster.

Banks are those of the coverage study (``simulate.banks``): clusters of 14 responses to ten lines, at the example bank's
base rates and an intraclass correlation of .06, which gives kappa a design effect of about 5.

Monte-Carlo error: √(.95·.05/n), .0109 at 400 banks and .0049 at 2,000. The fast layer accepts the nominal .95 within its
99.9 % band (.914 to .986). The slow layer is the whole study at a fifth of its length.
"""

import math

import numpy as np
import pytest

from evenhand.simulate.banks import BaseRates, draw_verdicts, expected_tallies, tally
from evenhand.simulate.coverage import ICCS, LEVEL, RATES, Count, Design, count_block, draw_block
from evenhand.simulate.coverage_table import Cell
from evenhand.simulate.covered import covered

N_FAST, N_SLOW = 400, 2_000
CLUSTERS = pytest.mark.parametrize("n_clusters", [8, 13, 30])
STATISTICS = ("cohen_kappa/judge", "false_accept_rate/judge", "error_rate/judge")
NAMED = (
    *STATISTICS,
    "observed_agreement/judge",
    "false_reject_rate/judge",
    "accuracy[cut=5]/judge",
    "krippendorff_alpha[metric=nominal]/raters",
    "gwet_ac1/judge",
    "quadratic_weighted_kappa/judge",
    "mae/judge",
    "bias/judge",
    "kr20/judge-reference",
)


def count(design: Design, statistics: tuple[str, ...], n_banks: int, method: str = "default") -> dict[str, Count]:
    return count_block(design, 3, 0, n_banks, statistics, method)


def share(found: Count) -> float:
    return found.covered / found.intervals


def monte_carlo_error(share_: float, n_banks: int) -> float:
    return math.sqrt(share_ * (1 - share_) / n_banks)


@CLUSTERS
def test_the_default_covers(n_clusters: int) -> None:
    found = count(Design(n_clusters, "equal", "even", 0.06), STATISTICS, N_FAST)
    for name in STATISTICS:
        assert found[name].intervals == N_FAST
        assert share(found[name]) == pytest.approx(LEVEL, abs=3.29 * monte_carlo_error(LEVEL, N_FAST)), name


def test_percentile_ends_cover_less() -> None:
    # statistics §9: .86 at 8 clusters; the simulation tells a method that falls short
    found = count(Design(8, "equal", "even", 0.06), STATISTICS[:1], N_FAST, "percentile")
    assert share(found[STATISTICS[0]]) == pytest.approx(0.86, abs=3.29 * monte_carlo_error(0.86, N_FAST))


def test_few_events_are_covered_at_least() -> None:
    # two events in a thousand, most banks with events in fewer than five clusters: the floored limits err on the wide side
    rare = Design(13, "equal", "rare", 0.06)
    events = draw_block(rare, 3, 0, N_FAST).lines[..., 1, 0].sum(axis=-1)
    assert (np.count_nonzero(events, axis=1) < 5).mean() > 0.9
    found = count(rare, ("false_reject_rate/judge",), N_FAST)["false_reject_rate/judge"]
    assert found.intervals == N_FAST
    assert share(found) >= LEVEL - 3.29 * monte_carlo_error(LEVEL, N_FAST)


def test_errors_that_crowd_into_a_few_clusters_are_covered_better_than_by_their_effective_number_alone() -> None:
    crowded, name = Design(8, "equal", "even", 0.15), "false_reject_rate/judge"
    alone = count(crowded, (name,), N_FAST, "korn_graubard")[name]
    assert share(count(crowded, (name,), N_FAST)[name]) >= share(alone) + 0.01


@pytest.mark.parametrize("icc", ICCS)
@pytest.mark.parametrize("rates", list(RATES))
def test_expectations_are_those_of_the_banks(rates: str, icc: float) -> None:
    # truth of every statistic: means over 60,000 responses lie within five standard errors of a cluster's mean
    verdicts = draw_verdicts(np.random.default_rng(5), 1, 4_000, RATES[rates], icc=icc)
    drawn, expected = tally(verdicts), expected_tallies(RATES[rates], icc)
    for part in ("lines", "totals", "patterns"):
        of_clusters = getattr(drawn, part)[0] / verdicts.sizes[0].reshape(-1, *[1] * (getattr(drawn, part).ndim - 2))
        error = of_clusters.std(axis=0) / math.sqrt(4_000)
        assert np.all(np.abs(of_clusters.mean(axis=0) - getattr(expected, part)) <= 5 * error + 1e-4), part


def test_expectations_by_hand() -> None:
    # half of the labels positive, a tenth of each kind wrong: kappa 1 - .1/.5, and totals that sum to one response
    expected = expected_tallies(BaseRates(0.5, 0.1, 0.1), 0.0)
    assert covered()["cohen_kappa/judge"].value(expected) == pytest.approx(0.8, abs=1e-12)
    assert covered()["bias/judge"].value(expected) == pytest.approx(0.0, abs=1e-12)
    assert expected.totals.sum() == pytest.approx(1, abs=1e-12)
    assert expected.patterns.sum() == pytest.approx(10, abs=1e-12)


def test_the_banks_have_their_intraclass_correlation() -> None:
    # variance of the clusters' false accept rates over that of independent trials: 1 + (m - 1)·.06
    table = draw_block(Design(100, "equal", "even", 0.06), 3, 0, 60).lines.sum(axis=-3)[..., 0, :].reshape(-1, 2)
    n = table.sum(axis=1)
    kept = n > 20
    rates, m = table[kept, 1] / n[kept], 1 / np.mean(1 / n[kept])
    assert rates.var() / (0.1 * 0.9 / m) == pytest.approx(1 + (m - 1) * 0.06, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("imbalance", ["equal", "unequal"])
@CLUSTERS
def test_the_default_covers_at_length(n_clusters: int, imbalance: str) -> None:
    design = Design(n_clusters, imbalance, "even", 0.06)  # type: ignore[arg-type]
    for name, found in count(design, NAMED, N_SLOW).items():
        assert Cell(name, design, found).failing != "short", name
        assert share(found) >= 0.93 - 2.576 * monte_carlo_error(share(found), N_SLOW), name
