"""Families: p values and simultaneous ends of estimates that are looked at together."""

import math
from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from crossed_banks import estimate
from scipy import stats  # noqa: TID251 - an independent implementation, in tests alone

import evenhand
from evenhand.audits.evidence import IntervalPlan, Member
from evenhand.audits.families import MOST_TOGETHER, taken_together
from evenhand.errors import RequestError
from evenhand.stats.arrays import ratio
from evenhand.stats.intervals import Sample
from evenhand.stats.resampling import draw_weights
from evenhand.stats.scales import IDENTITY, LOG

Array = np.ndarray
BANK = files("evenhand.data") / "zhu_bank.csv"


def mean(tallies: Array) -> Array:
    return ratio(tallies[..., 0], tallies[..., 1])


def family(values: Array, *, resamples: int = 400, has_null: bool = True, seed: int = 0):
    """(U, m) cluster means as a family of m estimates; the plan that knows them, and the estimates taken together."""
    plan = IntervalPlan("default", resamples, seed, 0.95)
    made = []
    for at, column in enumerate(values.T):
        tallies = np.stack([column, np.ones_like(column)], axis=1)
        names = tuple(str(number) for number in range(len(column)))
        weights = lambda n: draw_weights(seed, resamples, n)  # noqa: E731
        one = Sample(tallies, mean, np.ones_like(column), IDENTITY if has_null else LOG, names, weights)
        made.append(estimate(one).model_copy(update={"id": f"x[at={at}]/judge", "params": {"at": str(at)}}))
        plan.members.append(Member("the m", made[-1].id, mean, tallies, IDENTITY if has_null else LOG))
    return taken_together(made, plan)


def test_p_values_of_one_family_by_hand() -> None:
    values = np.random.default_rng(1).normal([0.8, 0.3, 0.0], 1.0, (12, 3))
    found = family(values)
    raw = [stats.ttest_1samp(column, 0).pvalue for column in values.T]
    assert [one.p_values["raw"] for one in found] == pytest.approx(raw, rel=1e-9)
    first, second, third = np.argsort(raw)
    steps = np.maximum.accumulate([3 * raw[first], 2 * raw[second], raw[third]])
    assert [found[at].p_values["holm"] for at in (first, second, third)] == pytest.approx(np.minimum(steps, 1))
    assert all(one.family == "the m, tested against 0; 3 in all" for one in found)
    for one, p in zip(found, raw, strict=True):
        assert one.p_values["max_t"] >= p * 0.5
        assert one.simultaneous[0] < one.ci_low < one.ci_high < one.simultaneous[1]


def test_a_detectable_difference_is_found_in_four_of_five() -> None:
    rng, n = np.random.default_rng(3), 2_000
    draws = rng.normal(0, 1, (n, 15, 2))
    (one, _) = family(draws[0])
    factor = one.detectable / one.std_error
    shifted = draws[:, :, 0] + factor / math.sqrt(15)  # the true value is factor standard errors of σ = 1
    p = stats.ttest_1samp(shifted, 0, axis=1).pvalue
    assert (p < 0.05 / 2).mean() == pytest.approx(0.8, abs=0.03)


def test_members_that_are_one_number_have_its_own_interval() -> None:
    # three copies move together in every resample: nothing is to be paid for looking at all of them
    column = np.random.default_rng(1).normal(0.5, 1, (10, 1))
    for one in family(np.repeat(column, 3, axis=1), resamples=4_000):
        assert one.simultaneous == pytest.approx((one.ci_low, one.ci_high), abs=0.02)
        assert one.p_values["max_t"] == pytest.approx(one.p_values["raw"], abs=0.01)


def test_a_family_of_one_needs_no_correction() -> None:
    (one,) = family(np.random.default_rng(1).normal(0.5, 1, (10, 1)))
    assert one.p_values == {"raw": one.p_values["raw"], "holm": one.p_values["raw"]}
    assert one.simultaneous is None


def test_rates_have_simultaneous_ends_and_no_null() -> None:
    found = family(np.random.default_rng(1).gamma(3.0, 1.0, (10, 3)), has_null=False)
    assert all(not one.p_values and one.detectable is None and one.simultaneous for one in found)
    assert found[0].family == "the m; 3 in all"


def test_too_many_members_have_holm_alone() -> None:
    found = family(np.random.default_rng(1).normal(0.5, 1, (6, MOST_TOGETHER + 1)), resamples=100)
    assert found[0].simultaneous is None
    assert "holm" in found[0].p_values


def coverage(n_banks: int, n_clusters: int, m: int = 5) -> float:
    """Share of banks whose m simultaneous intervals all hold the truth, cluster means that share an effect."""
    rng, hits = np.random.default_rng([n_clusters, m]), 0
    for _ in range(n_banks):
        values = rng.normal(0, 1, (n_clusters, 1)) + rng.normal(0, 1, (n_clusters, m))
        hits += all(one.simultaneous[0] <= 0 <= one.simultaneous[1] for one in family(values, resamples=300))
    return hits / n_banks


def test_simultaneous_intervals_cover_together() -> None:
    found = coverage(200, 13)
    assert 0.95 - 3.29 * math.sqrt(0.95 * 0.05 / 200) <= found <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [8, 13, 30])
def test_simultaneous_intervals_cover_together_at_length(n_clusters: int) -> None:
    found = coverage(2_000, n_clusters)
    assert 0.93 <= found <= 0.97


# --- in an audit ---


@pytest.fixture(scope="module")
def bank() -> evenhand.AuditResult:
    return evenhand.audit(str(BANK), blank="unparsed")


def test_criteria_against_the_others(bank) -> None:
    rates = {
        one.params["criterion"]: one
        for one in bank.audit.of("error_rate", "judge")
        if list(one.params) == ["criterion"]
    }
    contrasts = bank.audit.of("error_rate", "judge", contrast="others")
    assert len(contrasts) == len(rates) == 10
    events, trials = (sum(getattr(one, what) for one in rates.values()) for what in ("events", "trials"))
    for one in contrasts:
        own = rates[one.params["criterion"]]
        others = (events - own.events) / (trials - own.trials)
        assert one.estimate == pytest.approx(own.estimate - others, abs=1e-12)
        assert one.p_values["raw"] <= one.p_values["holm"] <= 1
    first = bank["error_rate[contrast=others,criterion=1]/judge"]
    assert first.p_values["holm"] < 0.05 < bank["error_rate[contrast=others,criterion=10]/judge"].p_values["holm"]


def test_numbers_of_tests_by_id(bank) -> None:
    name = "error_rate[contrast=others,criterion=1"
    whole = bank[f"{name}]/judge"]
    p = bank[f"{name},p=holm]/judge"]
    assert (p.estimate, p.ci_low, p.std_error, p.status) == (whole.p_values["holm"], None, None, "ok")
    assert "10 in all" in p.reason
    together = bank[f"{name},interval=max_t]/judge"]
    assert (together.estimate, together.ci_low, together.ci_high) == (whole.estimate, *whole.simultaneous)
    assert bank[f"{name},quantity=detectable]/judge"].estimate == whole.detectable
    for wrong, says in (("p=exact", "it has: raw, holm, max_t"), ("interval=bca", "it has: max_t")):
        with pytest.raises(RequestError, match=says):
            bank[f"{name},{wrong}]/judge"]
    with pytest.raises(RequestError, match="it has: none"):
        bank["cohen_kappa[p=raw]/judge"]


def test_criteria_have_simultaneous_ends(bank) -> None:
    found = [one for one in bank.audit.of("prevalence", "judge") if list(one.params) == ["criterion"]]
    held = [one for one in found if one.simultaneous]
    assert len(held) >= 5
    for one in held:
        assert 0 < one.simultaneous[0] < one.ci_low < one.ci_high < one.simultaneous[1] < 1
    few = bank["false_reject_rate[criterion=1]/judge"]  # no event: its limits are no t interval
    assert few.simultaneous is None


def test_asymptotic_errors_by_id() -> None:
    # statistics §2: N·Var is .8064 at (40, 10, 20, 30); the null error of Fleiss, Cohen and Everitt there: p_e = .5
    rows = ["id,judge,reference"]
    for count, judge, reference in ((40, 1, 1), (10, 0, 1), (20, 1, 0), (30, 0, 0)):
        rows += [f"r{len(rows) + n},{judge},{reference}" for n in range(count)]
    frame = pl.read_csv("\n".join(rows).encode(), schema_overrides={"judge": pl.String, "reference": pl.String})
    found = evenhand.audit(frame)
    assert found["cohen_kappa[se=delta]/judge"].std_error ** 2 * 100 == pytest.approx(0.8064, abs=1e-6)
    # p_e + p_e² - Σ p_i q_i (p_i + q_i) over (1 - p_e)², margins (.5, .5) and (.4, .6): (.5 + .25 - .5)/.25/100... = .0096
    assert found["cohen_kappa[se=null]/judge"].std_error == pytest.approx(math.sqrt(0.0096), abs=1e-9)
    for kind in ("naive", "cr1", "bootstrap", "null", "delta"):
        assert found[f"cohen_kappa[se={kind}]/judge"].std_error > 0
    assert found["error_rate[se=cr2]/judge"].std_error > 0
