"""Human raters beside a judge: pairs, ceilings, where they agree, and the true score they share."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.stats import agreement as of
from evenhand.stats import marks as of_marks

RNG = np.random.default_rng(11)
N = 240
TRUTH = RNG.integers(0, 2, N)
HUMANS = {name: np.where(RNG.random(N) < rate, 1 - TRUTH, TRUTH) for name, rate in (("ann", 0.1), ("bob", 0.2), ("cy", 0.15))}  # fmt: skip
JUDGE = np.where(RNG.random(N) < 0.12, 1 - TRUTH, TRUTH)


def long(labels, kinds, holes=()):
    rows = [
        {"response": f"r{n:03}", "cluster": f"q{n // 12}", "rater": name, "rater_kind": kinds[name], "verdict": str(given[n])}
        for name, given in labels.items()
        for n in range(len(given))
        if (name, n) not in holes
    ]  # fmt: skip
    return pl.DataFrame(rows)


def kinds(judges=("m",), humans=tuple(HUMANS)):
    return dict.fromkeys(judges, "judge") | dict.fromkeys(humans, "human")


def kappa(one, other):
    return float(of.cohen_kappa(np.histogram2d(one, other, bins=(2, 2), range=((0, 2), (0, 2)))[0]))


@pytest.fixture(scope="module")
def found():
    return evenhand.audit(long({"m": JUDGE, **HUMANS}, kinds()), scale="binary")


def test_every_pair_has_its_own_agreement(found):
    for a, b in combinations(HUMANS, 2):
        one = found[f"cohen_kappa/{a}-{b}"]
        assert one.estimate == pytest.approx(kappa(HUMANS[a], HUMANS[b]), abs=1e-12)
        assert one.ci_low < one.estimate < one.ci_high
        assert one.describes == "reference"
    for name, labels in HUMANS.items():
        assert found[f"cohen_kappa/judge-{name}"].estimate == pytest.approx(kappa(JUDGE, labels), abs=1e-12)
        assert found[f"observed_agreement/judge-{name}"].events == (labels == JUDGE).sum()


def test_the_ceiling_is_lowest_median_and_highest_over_pairs(found):
    pairs = [kappa(HUMANS[a], HUMANS[b]) for a, b in combinations(HUMANS, 2)]
    for quantity, function in (("min", min), ("median", np.median), ("max", max)):
        one = found[f"human_ceiling[quantity={quantity}]/human"]
        assert one.estimate == pytest.approx(function(pairs), abs=1e-12)
        assert (one.ci_low is None) == (quantity != "median")
    assert "an extreme over pairs" in found["human_ceiling[quantity=max]/human"].reason
    with_each = [kappa(JUDGE, labels) for labels in HUMANS.values()]
    assert found["cohen_kappa[quantity=max]/judge-human"].estimate == pytest.approx(max(with_each), abs=1e-12)
    difference = found["human_ceiling[quantity=difference]/judge-human"]
    assert difference.estimate == pytest.approx(np.mean(with_each) - np.mean(pairs), abs=1e-12)
    assert "above the human–human value" in difference.estimand


def test_no_sentence_says_better_than_human(found):
    assert not [one.id for one in found.audit if "better than" in one.estimand.lower() or "superhuman" in one.estimand]


def test_where_humans_agree_and_where_they_differ(found):
    given = np.array(list(HUMANS.values()))
    same = (given == given[0]).all(axis=0)
    assert found["observed_agreement[humans=unanimous]/human"].estimate == pytest.approx(same.mean(), abs=1e-12)
    agree = found["observed_agreement[humans=agree]/judge-human"]
    assert (agree.events, agree.trials) == ((given[0] == JUDGE)[same].sum(), same.sum())
    differ = found["observed_agreement[humans=differ]/judge-human"]
    assert differ.estimate == pytest.approx((given == JUDGE)[:, ~same].mean(), abs=1e-12)


def test_humans_as_an_ensemble_of_their_own(found):
    only = evenhand.audit(long(HUMANS, kinds(())), scale="binary")
    for statistic in ("fleiss_kappa", "krippendorff_alpha[metric=nominal]", "mean_pairwise_kappa"):
        one, other = found[f"{statistic}/human"], only[f"{statistic}/raters"]
        assert (one.estimate, one.ci_low) == pytest.approx((other.estimate, other.ci_low), abs=1e-12)
    assert any("the 3 humans" in words and "audited as judges are" in words for words in only.audit.warnings)
    assert not [one for one in found.audit if one.source == "raters"]


def test_no_human_is_made_the_reference_by_chance(found):
    assert not found.audit.data.has_reference
    assert any("--reference RATER names one" in words for words in found.audit.warnings)
    assert found.audit.data.judges == ("m",)
    named = evenhand.audit(long({"m": JUDGE, **HUMANS}, kinds()), scale="binary", reference="bob")
    assert named["cohen_kappa/judge"].estimate == pytest.approx(kappa(JUDGE, HUMANS["bob"]), abs=1e-12)
    assert named["human_ceiling[quantity=min]/human"].estimate == found["human_ceiling[quantity=min]/human"].estimate


def test_a_gold_standard_beside_humans_is_the_reference():
    labels = {"m": JUDGE, "gold": TRUTH, **HUMANS}
    found = evenhand.audit(long(labels, {**kinds(), "gold": "reference"}), scale="binary")
    assert found["cohen_kappa/judge"].estimate == pytest.approx(kappa(JUDGE, TRUTH), abs=1e-12)
    assert found["cohen_kappa/judge-ann"].estimate == pytest.approx(kappa(JUDGE, HUMANS["ann"]), abs=1e-12)
    about = {one.statistic for one in found.audit if one.source in ("ann", "bob", "cy")}
    assert about == {"rater_severity"}


def test_one_human_is_the_reference_and_no_panel():
    found = evenhand.audit(long({"m": JUDGE, "ann": HUMANS["ann"]}, kinds(humans=("ann",))), scale="binary")
    assert found["cohen_kappa/judge"].estimate == pytest.approx(kappa(JUDGE, HUMANS["ann"]), abs=1e-12)
    assert not [one for one in found.audit if one.statistic == "human_ceiling"]


def test_a_pair_counts_the_units_both_label():
    holes = {("ann", n) for n in range(0, N, 3)} | {("m", 1)}
    found = evenhand.audit(long({"m": JUDGE, **HUMANS}, kinds(), holes), scale="binary")
    kept = np.array([n % 3 != 0 and n != 1 for n in range(N)])
    one = found["cohen_kappa/ann-bob"]
    assert (one.n_used, one.n_excluded) == (kept.sum(), N - 1 - kept.sum())
    assert one.estimate == pytest.approx(kappa(HUMANS["ann"][kept], HUMANS["bob"][kept]), abs=1e-12)


def test_two_judges_are_told_apart():
    labels = {"m": JUDGE, "human": HUMANS["cy"], **HUMANS}
    found = evenhand.audit(long(labels, {**kinds(), "human": "judge"}), scale="binary")
    assert found["cohen_kappa/judge human-ann"].estimate == pytest.approx(kappa(HUMANS["cy"], HUMANS["ann"]), abs=1e-12)
    assert found["cohen_kappa/m-ann"].status == "ok"


def test_a_human_who_fills_a_slot_twice_is_refused():
    doubled = pl.concat([long({"m": JUDGE, **HUMANS}, kinds())] * 2).unique(maintain_order=True)
    again = doubled.filter(pl.col("rater") == "ann").head(1)
    with pytest.raises(evenhand.EvenhandError, match=r'"ann" fills one verdict slot 2 times: response "r000"'):
        evenhand.audit(pl.concat([doubled, again]), scale="binary")


def test_lines_that_humans_do_not_settle():
    data = long({"m": JUDGE, **HUMANS}, kinds()).with_columns(
        criterion=pl.col("response").str.tail(1).cast(pl.Int64) % 2,
        response=pl.col("response").str.slice(1).cast(pl.Int64) // 2,
    )
    found = evenhand.audit(data.with_columns(pl.col("criterion", "response").cast(pl.String)), scale="binary")
    rows = found.audit.tables["unsettled/human"].records()
    assert [row["observed_agreement"] for row in rows] == sorted(row["observed_agreement"] for row in rows)
    given = np.array(list(HUMANS.values()))[:, ::2]
    share = np.mean([(given[a] == given[b]).mean() for a, b in combinations(range(3), 2)])
    assert found["observed_agreement[criterion=0]/human"].estimate == pytest.approx(share, abs=1e-12)
    assert {row["line"] for row in rows} == {"0", "1"}


# --- marks ---

TRUE = RNG.normal(5, 1.5, N)
MARKS = {name: np.round(TRUE + RNG.normal(0, 0.8, N), 1) for name in ("ann", "bob", "cy")}
MACHINE = np.round(1 + 0.8 * TRUE + RNG.normal(0, 0.7, N), 1)


def test_the_true_score_that_humans_share():
    found = evenhand.audit(long({"m": MACHINE, **MARKS}, kinds()), scale="continuous")
    h = np.array(list(MARKS.values()))
    error = h.var(axis=0, ddof=1).mean()
    true = h.mean(axis=0).var(ddof=1) - error / 3
    mse = np.square(h.mean(axis=0) - MACHINE).mean() - error / 3
    for quantity, value in (("error_variance", error), ("true_variance", true), ("mse", mse)):
        assert found[f"prmse[quantity={quantity}]/judge"].estimate == pytest.approx(value, rel=1e-9), quantity
    assert found["prmse/judge"].estimate == pytest.approx(1 - mse / true, rel=1e-9)
    r = np.corrcoef([MACHINE, *h])
    corrected = r[0, 1] / np.sqrt((r[1, 2] + r[1, 3]) / 2)
    assert found["pearson_r[corrected=attenuation]/judge-ann"].estimate == pytest.approx(corrected, rel=1e-9)
    assert found["lin_ccc/ann-bob"].estimate == pytest.approx(
        2 * np.cov(h[0], h[1], ddof=0)[0, 1] / (h[0].var() + h[1].var() + (h[0].mean() - h[1].mean()) ** 2), rel=1e-9
    )


def test_no_double_marking_no_true_score():
    holes = {("ann" if n % 2 else "bob", n) for n in range(N)} | {("cy", n) for n in range(N)}
    found = evenhand.audit(long({"m": MACHINE, **MARKS}, kinds(), holes), scale="continuous")
    assert found["prmse/judge"].status == "undefined"
    assert "marked by two humans" in found["prmse/judge"].reason
    assert found["human_ceiling[quantity=median]/human"].status == "undefined"


def test_ordinal_levels_take_the_quadratic_kappa():
    levels = {name: np.clip(np.rint(marks), 1, 9).astype(int) for name, marks in {"m": MACHINE, **MARKS}.items()}
    found = evenhand.audit(long(levels, kinds()), levels=tuple("123456789"))
    sums = of_marks.mark_sums(levels["ann"], levels["bob"], np.zeros(N, dtype=int), 1)[0]
    assert found["quadratic_weighted_kappa/ann-bob"].estimate == pytest.approx(float(of_marks.lin_ccc(sums)), abs=1e-12)
    assert found["human_ceiling[quantity=median]/human"].estimand.startswith("median quadratic-weighted kappa")


# --- coverage ---


@pytest.mark.parametrize("statistic", ["prmse", "difference"])
def test_intervals_cover(statistic):
    """True mark normal with an effect a cluster; two humans with error .6, a judge with error .5 and slope .9.

    PRMSE is then 1 − (.1² + .25)/1; the concordances of pairs have their closed forms. 300 banks: the 99.9 % band of a
    nominal .95 is .91 to .99.
    """
    from evenhand.stats.intervals import METHODS, Sample
    from evenhand.stats.scales import IDENTITY, LOG_ONE_MINUS

    rng, n, g, hits = np.random.default_rng(3), 30, 12, 0
    unit = np.repeat(np.arange(g), n)
    true_prmse = 1 - (0.01 + 0.25)
    human = 2 * 1 / (2 * (1 + 0.36))
    machine = 2 * 0.9 / (1.36 + 0.81 + 0.25)
    for _ in range(300):
        t = np.sqrt(0.2) * rng.standard_normal(g)[unit] + np.sqrt(0.8) * rng.standard_normal(g * n)
        h = t[:, None] + 0.6 * rng.standard_normal((g * n, 2))
        m = 0.9 * t + 0.5 * rng.standard_normal(g * n)
        if statistic == "prmse":
            tallies, measure, scale, truth = (
                of_marks.prmse_sums(h, m, unit, g),
                of_marks.prmse,
                LOG_ONE_MINUS,
                true_prmse,
            )
        else:
            pairs = [(m, h[:, 0]), (m, h[:, 1]), (h[:, 0], h[:, 1])]
            tallies = np.stack([of_marks.mark_sums(a, b, unit, g) for a, b in pairs], axis=1)
            scale, truth = IDENTITY, machine - human

            def measure(sums):
                values = of_marks.lin_ccc(sums)
                return values[..., :2].mean(axis=-1) - values[..., 2]

        sample = Sample(
            tallies, measure, np.full(g, float(n)), scale, tuple(map(str, range(g))), lambda k: np.ones((1, k))
        )
        found = METHODS["default"](sample, 0.95)
        hits += found.low <= truth <= found.high
    assert 0.91 <= hits / 300 <= 0.99


def test_may_the_judge_stand_in_for_a_human(found):
    given = np.array(list(HUMANS.values()))
    shortfalls, advantages = {}, []
    for at, name in enumerate(HUMANS):
        others = np.delete(given, at, axis=0)
        one, other = (others == JUDGE).sum(axis=0), (others == given[at]).sum(axis=0)
        advantages.append((one >= other).mean())
        shortfalls[name] = (other >= one).mean() - (one >= other).mean()
    assert found["alternative_annotator[quantity=advantage]/judge-human"].estimate == pytest.approx(np.mean(advantages))
    for name, value in shortfalls.items():
        one = found[f"alternative_annotator[human={name},quantity=shortfall]/judge-human"]
        assert one.estimate == pytest.approx(value, abs=1e-12)
        assert one.ci_low < value < one.ci_high
    assert found["alternative_annotator[cost=0.2,quantity=winning_rate]/judge-human"].estimate == 1
    two = evenhand.audit(long({"m": JUDGE, "ann": HUMANS["ann"], "bob": HUMANS["bob"]}, kinds(humans=("ann", "bob"))), scale="binary")  # fmt: skip
    assert not [one for one in two.audit if one.statistic == "alternative_annotator"]
