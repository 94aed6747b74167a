"""Several raters: missing ratings, standard errors by formula, many labels, and the identities between coefficients."""

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.stats import ensembles as of
from evenhand.stats.weights import agreement_weights
from evenhand.tally import rating_sums
from evenhand.tally.ratings import Ratings

RNG = np.random.default_rng(2)
N = 120
LATENT = RNG.integers(0, 4, N)
RATERS = {f"r{n}": np.clip(LATENT + RNG.integers(-1, 2, N), 0, 3) for n in range(3)}


def frame(raters=RATERS, holes=0.0):
    labels = {name: np.where(RNG.random(N) < holes, "", marks.astype(str)) for name, marks in raters.items()}
    return pl.DataFrame(
        {"response": [f"u{n}" for n in range(N)], "cluster": [f"q{n // 8}" for n in range(N)], **labels}
    )


@pytest.fixture(scope="module")
def complete():
    return evenhand.audit(frame(), cluster="cluster", judge=tuple(RATERS))


def test_alpha_of_complete_ratings_follows_from_fleiss(complete):
    kappa = complete["fleiss_kappa/raters"].estimate
    alpha = complete["krippendorff_alpha[metric=nominal]/raters"].estimate
    assert alpha == pytest.approx(float(of.alpha_from_fleiss(np.asarray(kappa), 3 * N)), abs=1e-12)


def test_permuted_raters_agree_as_much(complete):
    names = dict(zip(("b", "c", "a"), RATERS.values(), strict=True))
    found = evenhand.audit(frame(names), cluster="cluster", judge=tuple(names))
    for statistic in ("fleiss_kappa", "gwet_ac1", "conger_kappa", "icc", "krippendorff_alpha[metric=ordinal]"):
        one, other = found[f"{statistic}/raters"], complete[f"{statistic}/raters"]
        assert (one.estimate, one.ci_low) == pytest.approx((other.estimate, other.ci_low), abs=1e-12)


def test_standard_errors_by_formula_stand_beside_the_jackknife(complete):
    for statistic in (
        "fleiss_kappa",
        "gwet_ac1",
        "brennan_prediger",
        "conger_kappa",
        "krippendorff_alpha[metric=ordinal]",
    ):
        one = complete[f"{statistic}/raters"]
        assert one.std_errors["delta"] == pytest.approx(one.std_error, rel=0.5)
    assert set(complete["fleiss_kappa/raters"].std_errors) == {"delta", "null"}
    holes = evenhand.audit(frame(holes=0.3), cluster="cluster", judge=tuple(RATERS))
    assert set(holes["fleiss_kappa/raters"].std_errors) == {"delta"}


def test_units_rated_once_count_where_the_estimator_counts_them():
    found = evenhand.audit(frame(holes=0.6), cluster="cluster", judge=tuple(RATERS))
    once, twice = found["fleiss_kappa/raters"], found["krippendorff_alpha[metric=nominal]/raters"]
    assert N >= once.n_used > twice.n_used
    assert found["observed_agreement/raters"].n_used == twice.n_used


@pytest.mark.parametrize("q", [3, 40])
@pytest.mark.parametrize("n_raters", [2, 5])
def test_sums_by_pairs_of_raters_are_those_by_pairs_of_labels(q, n_raters):
    labels = RNG.integers(-1, q, (80, n_raters))
    unit, count = RNG.integers(0, 6, 80), RNG.integers(1, 4, 80)
    ratings = Ratings(6, q, tuple(f"r{n}" for n in range(n_raters)), unit, labels, count)
    counts = of.profiles(labels, q)
    profile = rating_sums.profile_sums(ratings)
    np.testing.assert_allclose(profile, of.profile_sums(counts, unit, 6, count), atol=1e-12)
    np.testing.assert_allclose(
        rating_sums.coincidence_sums(ratings), of.coincidence_sums(counts, unit, 6, count), atol=1e-12
    )
    np.testing.assert_allclose(
        rating_sums.conger_sums(ratings, profile), of.conger_sums(labels, q, unit, 6, count), atol=1e-12
    )
    weights = agreement_weights("identity", np.arange(q))
    assert np.isfinite(of.fleiss_kappa(profile.sum(axis=0), weights))


def test_a_rater_without_ratings_does_not_undo_conger():
    silent = frame().with_columns(r9=pl.lit(""))
    found = evenhand.audit(silent, cluster="cluster", judge=(*RATERS, "r9"))
    three = evenhand.audit(frame(), cluster="cluster", judge=tuple(RATERS))
    assert found["conger_kappa/raters"].estimate == pytest.approx(three["conger_kappa/raters"].estimate, abs=1e-12)


def test_pairs_have_no_intraclass_correlation():
    words = np.array(["A", "tie", "B"])
    data = frame().with_columns(**{name: pl.Series(words[marks % 3]) for name, marks in RATERS.items()})
    found = evenhand.audit(data, cluster="cluster", judge=tuple(RATERS), scale="pairwise")
    assert found["fleiss_kappa/raters"].status == "ok"
    assert not found.audit.of("icc", "raters")


def test_the_identity_is_stated_where_it_holds(complete):
    said = complete["krippendorff_alpha[metric=nominal]/raters"].estimand
    assert f"(1 − kappa)/{3 * N} exactly" in said
    holes = evenhand.audit(frame(holes=0.3), cluster="cluster", judge=tuple(RATERS))
    assert "exactly" not in holes["krippendorff_alpha[metric=nominal]/raters"].estimand


def test_raters_as_a_sample_have_the_wider_interval(complete):
    for statistic in ("fleiss_kappa", "krippendorff_alpha[metric=ordinal]", "icc", "icc[form=C%2C1]"):
        name, _, rest = statistic.partition("[")
        params = ",".join(sorted([*(filter(None, rest.rstrip("]").split(","))), "raters=random"]))
        one, fixed = complete[f"{name}[{params}]/raters"], complete[f"{statistic}/raters"]
        assert (one.estimate, one.interval_df) == (fixed.estimate, 2)
        assert one.std_error > fixed.std_error
        assert one.ci_low < fixed.ci_low < fixed.ci_high < one.ci_high
        assert "taken as a sample of raters" in one.estimand
    assert "these raters fixed" not in complete["icc[raters=random]/raters"].estimand
    two = evenhand.audit(frame(), cluster="cluster", judge=tuple(RATERS)[:2])
    assert not [one for one in two.audit if one.params.get("raters") == "random"]
    percentile = evenhand.audit(frame(), cluster="cluster", judge=tuple(RATERS), interval="percentile", resamples=100)
    one = percentile["fleiss_kappa[raters=random]/raters"]
    assert (one.status, one.ci_low) == ("ok", None)
    assert "jackknife interval only" in one.reason


def test_random_raters_by_hand(complete):
    """V_items + V_raters on −log(1−x), t(2), from values without each cluster and without each rater."""
    labels = np.array(list(RATERS.values())).T
    weights = agreement_weights("identity", np.arange(4))

    def kappa(marks):
        return float(of.fleiss_kappa(of.profile_sums(of.profiles(marks, 4), np.zeros(len(marks), int), 1)[0], weights))

    cluster = np.arange(N) // 8
    units = -np.log1p(-np.array([kappa(labels[cluster != at]) for at in range(N // 8)]))
    raters = -np.log1p(-np.array([kappa(np.delete(labels, at, axis=1)) for at in range(3)]))
    variance = sum((len(v) - 1) / len(v) * np.square(v - v.mean()).sum() for v in (units, raters))
    half = 4.302652729749464 * np.sqrt(variance)  # t(2) at .975
    middle = -np.log1p(-kappa(labels))
    one = complete["fleiss_kappa[raters=random]/raters"]
    assert (one.ci_low, one.ci_high) == pytest.approx((-np.expm1(half - middle), -np.expm1(-half - middle)), rel=1e-9)


def test_limits_by_formula_stand_beside_the_cluster_interval(complete):
    # McGraw and Wong's limits on the same marks; `stats.icc` holds the oracles
    one = complete["icc[interval=f]/raters"]
    assert one.estimate == pytest.approx(complete["icc/raters"].estimate, abs=1e-12)
    assert one.interval_method == "f_based"
    assert one.ci_low < one.estimate < one.ci_high
    assert one.reason == "valid if units were independent and marks normal"


def test_lines_that_raters_do_not_settle():
    data = frame().with_columns(
        criterion=pl.Series([str(n % 2) for n in range(N)]), response=pl.Series([f"u{n // 2}" for n in range(N)])
    )
    options = {"cluster": "cluster", "judge": tuple(RATERS), "levels": ("0", "1", "2", "3")}
    found = evenhand.audit(data, criterion="criterion", **options)
    whole = evenhand.audit(data.filter(pl.col("criterion") == "0").drop("criterion"), **options)
    for statistic in ("observed_agreement", "fleiss_kappa"):
        one, alone = found[f"{statistic}[criterion=0]/raters"], whole[f"{statistic}/raters"]
        assert (one.estimate, one.ci_low) == pytest.approx((alone.estimate, alone.ci_low), abs=1e-12)
        assert one.describes == "checklist"
    rows = found.audit.tables["unsettled/raters"].records()
    assert rows[0]["observed_agreement"] <= rows[1]["observed_agreement"]
    lines = evenhand.audit(data, criterion="criterion", criteria="per-cluster", **options)
    assert "q3.1" in {row["line"] for row in lines.audit.tables["unsettled/raters"].records()}
