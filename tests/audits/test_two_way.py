"""Two units of resampling: the rule by hand, its identities, its coverage, and the whole way through an audit."""

import csv
import io
import math

import numpy as np
import pytest
from crossed_banks import banks, estimate, false_accepts, kappa, truth
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.audits.two_way import METHOD, WIDER, TwoUnits, combined, variance
from evenhand.errors import RequestError
from evenhand.stats.binomial import t_quantile
from evenhand.verdicts.spec import Spec

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
UNITS = TwoUnits("question", "learner", 0.95)


def made(**changes):
    base = estimate(kappa(next(banks(1, 6, 7, 3)).sum(axis=1)))
    return base.model_copy(update=changes)


def test_the_variance_is_never_less_than_either_unit_alone() -> None:
    assert variance(4.0, 9.0, 2.0) == 11.0
    assert variance(4.0, 9.0, 8.0) == 9.0  # 5 would be less than resampling the second unit alone gives
    assert variance(4.0, 1.0, 2.0) == 4.0


def test_combination_by_hand() -> None:
    # identity scale: V = .3² + .4² - .2² = .21, df the smaller of 7 and 4
    parts = {"estimate": 1.0, "interval_scale": "identity", "ci_low": 0.0, "ci_high": 2.0, "design_effect": 2.0}
    one = made(
        **parts,
        std_error=0.3,
        interval_std_error=0.3,
        interval_df=7.0,
        std_errors={"cr1": 0.3, "delta": 0.1, "cr2": 1.0},
    )
    two = made(**parts, std_error=0.4, interval_std_error=0.4, interval_df=4.0, std_errors={"cr1": 0.4, "delta": 0.1})
    both = made(**parts, std_error=0.2, interval_std_error=0.2, interval_df=30.0, std_errors={"cr1": 0.2})
    (found,) = combined(UNITS, [one], [two], [both])
    half = t_quantile(0.975, 4.0) * math.sqrt(0.21)
    assert (found.ci_low, found.ci_high) == pytest.approx((1 - half, 1 + half), abs=1e-12)
    assert (found.interval_method, found.interval_df) == (METHOD, 4.0)
    assert found.std_error == pytest.approx(math.sqrt(0.21), abs=1e-12)
    assert found.std_errors == pytest.approx(
        {"cr1": math.sqrt(0.21), "delta": 0.1}
    )  # cr2 has no value by the second unit
    assert found.design_effect == pytest.approx(2.0 * 0.21 / 0.09)


def test_one_unit_twice_is_that_unit() -> None:
    # the intersection of a unit with itself is the unit: V + V - V = V
    table = next(banks(1, 9, 5, 4)).sum(axis=1)
    one = estimate(kappa(table))
    (found,) = combined(UNITS, [one], [one], [one])
    assert (found.ci_low, found.ci_high) == pytest.approx((one.ci_low, one.ci_high), abs=1e-12)
    assert found.std_error == pytest.approx(one.std_error)


def test_few_events_take_the_wider_ends() -> None:
    one = made(
        interval_method="korn_graubard", interval_std_error=None, ci_low=0.1, ci_high=0.3, reason="few events: so"
    )
    two = made(ci_low=0.05, ci_high=0.2)
    (found,) = combined(UNITS, [one], [two], [two])
    assert (found.ci_low, found.ci_high, found.interval_method) == (0.05, 0.3, WIDER)
    assert found.reason == "few events: so; each end the wider of those by question and by learner"
    assert found.interval_std_error is None


def test_what_the_second_unit_cannot_say() -> None:
    one = made()
    withheld = made(ci_low=None, ci_high=None, reason='undefined without cluster "l1"', std_error=None)
    (lost,) = combined(UNITS, [one], [withheld], [one])
    assert (lost.ci_low, lost.std_error, lost.reason) == (None, None, 'by learner: undefined without cluster "l1"')
    (alone,) = combined(UNITS, [one], [], [])
    assert (alone.ci_low, alone.interval_method) == (one.ci_low, one.interval_method)
    assert alone.reason == "by question alone: there is no such value by learner"
    (other,) = combined(UNITS, [one], [made(estimate=0.123)], [one])
    assert other.reason == (
        "by question alone, since the number itself depends on the unit: by learner it is 0.123, and no interval holds for both"
    )
    (calibrated,) = combined(UNITS, [made(statistic="calibration")], [made(estimate=0.123)], [one])
    assert calibrated.reason == (
        "by question alone, each one's marks calibrated on all others: by learner it is 0.123, and no interval holds for both"
    )
    (undefined,) = combined(UNITS, [made(estimate=None, ci_low=None, ci_high=None)], [one], [one])
    assert undefined.ci_low is None


def test_scales_that_differ_meet_on_the_raw_one() -> None:
    one, two = made(), made(interval_scale="identity")
    (found,) = combined(UNITS, [one], [two], [one])
    assert found.interval_scale == "identity"
    assert found.ci_high <= 1.0


def test_without_the_intersection_the_variances_add() -> None:
    one, two = made(), made()
    (found,) = combined(UNITS, [one], [two], [])
    assert found.interval_std_error == pytest.approx(math.sqrt(2) * one.interval_std_error)
    assert "as if the two units never met" in found.reason


# --- coverage: statistics §9 expects .96 where one unit alone covers .73 ---


def coverage(statistic, n_banks: int, n_first: int, n_second: int, seed: int = 7) -> tuple[float, float]:
    """Share of intervals by the first unit alone, and by both, that hold the truth."""
    target, hits = statistic(truth()[None]).value, np.zeros(2)
    for table in banks(n_banks, n_first, n_second, seed):
        units = (table.sum(axis=1), table.sum(axis=0), table.reshape(-1, 2, 2))
        one, two, both = (estimate(statistic(tallies)) for tallies in units)
        (found,) = combined(UNITS, [one], [two], [both])
        hits += [e.ci_low <= target <= e.ci_high for e in (one, found)]
    return tuple((hits / n_banks).tolist())


@pytest.mark.parametrize("statistic", [kappa, false_accepts])
def test_two_units_cover_where_one_does_not(statistic) -> None:
    # 30 learners × 8 questions, by learner alone .72 to .76; Monte-Carlo band 99.9 % at 250 banks
    alone, both = coverage(statistic, 250, 30, 8)
    assert alone < 0.85
    assert 0.95 - 3.29 * math.sqrt(0.95 * 0.05 / 250) <= both <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(30, 8), (20, 30), (10, 15), (8, 8), (5, 30)])
@pytest.mark.parametrize("statistic", [kappa, false_accepts])
def test_two_units_cover_at_length(statistic, sizes: tuple[int, int]) -> None:
    _, both = coverage(statistic, 2_000, *sizes)
    margin = 2.576 * math.sqrt(both * (1 - both) / 2_000)
    assert both + margin >= 0.95
    assert both - margin <= 0.975


# --- an audit ---


def crossed_csv(n_questions: int = 8, n_learners: int = 9, seed: int = 5) -> str:
    rng, text = np.random.default_rng(seed), io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "question", "learner", "judge", "reference"])
    for q in range(n_questions):
        for learner in range(n_learners):
            reference = int(rng.random() < 0.5)
            wrong = rng.random() < 0.15 + 0.02 * (q + learner)
            writer.writerow([f"r{q}-{learner}", f"q{q}", f"l{learner}", int(reference ^ wrong), reference])
    return text.getvalue()


def test_an_audit_by_two_units(write) -> None:
    path = write("crossed.csv", crossed_csv())
    both = evenhand.audit(path, cluster=("question", "learner"))
    questions, learners = evenhand.audit(path, cluster="question"), evenhand.audit(path, cluster="learner")
    responses = evenhand.audit(path)
    found = both["cohen_kappa/judge"]
    errors = [one["cohen_kappa/judge"].interval_std_error for one in (questions, learners, responses)]
    expected = max(errors[0] ** 2 + errors[1] ** 2 - errors[2] ** 2, errors[0] ** 2, errors[1] ** 2)
    assert found.interval_std_error == pytest.approx(math.sqrt(expected), rel=1e-9)
    assert (found.interval_method, found.n_clusters) == (METHOD, 8)
    assert found.estimate == questions["cohen_kappa/judge"].estimate
    said = both.audit.declarations
    assert (said.cluster_unit, said.second_unit, said.n_second_units) == ("question", "learner", 9)
    assert all(one.interval_method != "jackknife_t_scaled" or "alone" in one.reason for one in both.audit)


def test_a_second_unit_of_few_levels_is_left_out_with_a_warning(write) -> None:
    path = write("crossed.csv", crossed_csv(8, 4))
    both = evenhand.audit(path, cluster=("question", "learner"))
    assert both["cohen_kappa/judge"] == evenhand.audit(path, cluster="question")["cohen_kappa/judge"]
    (warned,) = [said for said in both.audit.warnings if "second --cluster" in said]
    assert '"learner", has 4 levels: fewer than 5' in warned
    assert both.audit.declarations.second_unit == ""


def test_the_command_line_and_a_saved_spec(command, write) -> None:
    write("crossed.csv", crossed_csv())
    said = command(
        *(
            "audit",
            "crossed.csv",
            "--cluster",
            "question",
            "--cluster",
            "learner",
            "--out",
            "out",
            "--write-spec",
            "s.toml",
        )
    )
    assert said.code == 0
    assert "95 % two-way cluster interval, G = 8 by 9" in said.out
    again = command("audit", "crossed.csv", "--spec", "s.toml", "--out", "again")
    assert again.code == 0
    shown = command("show", "out", "cohen_kappa/judge").out
    assert shown == command("show", "again", "cohen_kappa/judge").out
    card = command("show", "out", "cohen_kappa/judge", "--card").out
    assert "two-way jackknife over both units" in card
    one = command("audit", "crossed.csv", "--spec", "s.toml", "--cluster", "learner", "--out", "one")
    assert "G = 9" in one.out
    assert "two-way" not in one.out


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("question", "learner", "id"), "two different ones whose effects cross; got question, learner, id"),
        (("question", "question"), "two different ones whose effects cross; got question, question"),
        (("question", "nowhere"), 'no column "nowhere"'),
    ],
)
def test_refused_units(refused, write, names: tuple[str, ...], says: str) -> None:
    write("crossed.csv", crossed_csv())
    clusters = [part for name in names for part in ("--cluster", name)]
    refused("audit", "crossed.csv", *clusters, "--out", "out", says=says)


def test_a_response_in_two_levels_of_the_second_unit(refused, write) -> None:
    write("long.csv", "id,question,learner,criterion,judge,reference\na,q1,l1,1,1,1\na,q1,l2,2,0,1\nb,q2,l1,1,1,0\n")
    arguments = ("--criterion", "criterion", "--cluster", "question", "--cluster", "learner", "--out", "out")
    refused(
        "audit",
        "long.csv",
        *arguments,
        says='says two things of one response: "a" has "l1" and "l2" (long.csv rows 2, 3)',
    )


def test_a_method_without_a_form_for_two_units(refused, write) -> None:
    write("crossed.csv", crossed_csv())
    arguments = ("--cluster", "question", "--cluster", "learner", "--interval", "bca", "--out", "out")
    refused("audit", "crossed.csv", *arguments, says="--interval bca has no form for two --cluster columns")


def test_the_second_unit_must_be_known_of_every_response(refused, write) -> None:
    write("crossed.csv", crossed_csv().replace("r0-0,q0,l0", "r0-0,q0,"))
    arguments = ("--cluster", "question", "--cluster", "learner", "--out", "out")
    refused("audit", "crossed.csv", *arguments, says='1 verdicts have no value in "learner", the second --cluster')


def test_a_spec_takes_a_pair_or_two_fields() -> None:
    assert Spec.of(cluster=("a", "b")) == Spec.of(cluster="a", second_cluster="b")
    assert Spec.of(cluster=("a",)).second_cluster is None
    with pytest.raises(RequestError, match="takes one column, or two different ones"):
        Spec.of(cluster=())


@given(
    st.floats(-2, 2), st.tuples(*[st.floats(0.01, 2)] * 3), st.tuples(*[st.floats(1, 60)] * 2),
)  # fmt: skip
def test_never_narrower_than_the_wider_error_alone(value: float, errors: tuple, dfs: tuple) -> None:
    parts = {"estimate": value, "interval_scale": "identity", "ci_low": -9.0, "ci_high": 9.0}
    one, two, both = (
        made(**parts, std_error=error, interval_std_error=error, interval_df=df)
        for error, df in zip(errors, (*dfs, 99.0), strict=True)
    )
    (found,) = combined(UNITS, [one], [two], [both])
    half = t_quantile(0.975, min(dfs)) * max(errors[:2])
    assert found.ci_high - value >= half - 1e-9
    assert value - found.ci_low >= half - 1e-9
    (swapped,) = combined(UNITS, [two], [one], [both])
    assert (swapped.ci_low, swapped.ci_high) == pytest.approx((found.ci_low, found.ci_high))


def test_a_converted_table_gives_the_same_numbers(command, write) -> None:
    rng = np.random.default_rng(2)
    rows = [
        line + f",{rng.integers(10, 90)},{'judge' if n % 3 else 'other'}"
        for n, line in enumerate(crossed_csv().splitlines()[1:])
    ]
    write("crossed.csv", "\n".join(["id,question,learner,judge,reference,size,maker", *rows]))
    roles = ("--cluster", "question", "--cluster", "learner", "--length", "size", "--author", "maker")
    assert command("audit", "crossed.csv", *roles, "--out", "one").code == 0
    assert command("convert", "crossed.csv", *roles, "--to", "single.parquet").code == 0
    assert command("audit", "single.parquet", "--out", "other").code == 0
    ids = ("cohen_kappa/judge", "false_accept_rate[by=length]/judge", "false_accept_rate[by=author]/judge")
    first, second = (command("show", out, *ids).out for out in ("one", "other"))
    assert first.count("\tok") == 3
    assert second == first
