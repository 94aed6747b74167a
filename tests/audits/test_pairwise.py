"""Pairs: ties under three rules, agreement on three classes, and both orders of showing."""

import itertools

import polars as pl
import pytest

import evenhand

ORDERS = [  # verdict with A first, verdict with B first, reference
    ("A", "A", "A"),
    ("A", "B", "A"),
    ("A", "B", "B"),
    ("B", "B", "B"),
    ("tie", "tie", "tie"),
    ("A", "tie", "A"),
    ("B", "A", "B"),
    ("A", "A", "B"),
    ("", "A", "A"),
]


def frame(orders=ORDERS, names=("A first", "B first")):
    rows = [
        {"response": f"p{n}", "cluster": f"q{n // 2}", "order": name, "judge": verdict, "reference": reference}
        for n, (one, other, reference) in enumerate(orders)
        for name, verdict in zip(names, (one, other), strict=True)
    ]
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def pairs():
    return evenhand.audit(frame(), cluster="cluster", order="order")


def test_reading(pairs):
    assert pairs.audit.declarations.scale == "pairwise"
    assert pairs.audit.declarations.levels == ("B", "tie", "A")
    assert 'wins are counted for "A" against "B", "tie" between them' in pairs.audit.declarations.scale_reading


def test_win_rates(pairs):
    verdicts = [one for pair in ORDERS for one in pair[:2] if one]
    wins, ties = verdicts.count("A"), verdicts.count("tie")
    assert pairs["win_rate/judge"].estimate == pytest.approx((wins + ties / 2) / 17)
    assert pairs["win_rate[ties=class]/judge"].estimate == pytest.approx(wins / 17)
    assert pairs["win_rate[ties=excluded]/judge"].estimate == pytest.approx(wins / (17 - ties))
    assert pairs["n_tied/judge"].estimate == ties
    assert pairs["tie_rate/judge"].estimate == pytest.approx(ties / 18)
    assert pairs["n_scored/judge"].estimate + ties + pairs["n_missing/judge"].estimate == 18
    both = [(one, pair[2]) for pair in ORDERS for one in pair[:2] if one]
    worth = {"A": 1, "tie": 0.5, "B": 0}
    gap = sum(worth[judge] - worth[reference] for judge, reference in both) / len(both)
    assert pairs["win_rate/judge-reference"].estimate == pytest.approx(gap)


def test_agreement_on_three_classes_and_on_winners(pairs):
    both = [(one, pair[2]) for pair in ORDERS for one in pair[:2] if one]
    assert pairs["observed_agreement/judge"].estimate == pytest.approx(sum(a == b for a, b in both) / len(both))
    decided = [(a, b) for a, b in both if "tie" not in (a, b)]
    assert pairs["observed_agreement[ties=excluded]/judge"].estimate == pytest.approx(
        sum(a == b for a, b in decided) / len(decided)
    )
    assert pairs["cohen_kappa[ties=excluded]/judge"].n_used == len(decided)


def test_orders(pairs):
    assert pairs["order_consistency/judge"].estimate == pytest.approx(4 / 8)
    assert pairs["flip_rate/judge"].estimate == pytest.approx(3 / 8)
    first = pairs["first_position_share/judge"]  # shown first won: A under "A first", B under "B first"
    assert (first.events, first.trials) == (8, 13)
    assert pairs["order_consistency/judge"].n_excluded == 1


@pytest.mark.parametrize(
    "names",
    [("A", "B"), ("AB", "BA"), ("A>B", "B>A"), ("original", "swapped"), ("a_first", "b_first"), ("A shown first", "B shown first")],
)  # fmt: skip
def test_orders_that_say_who_was_first(pairs, names):
    found = evenhand.audit(frame(names=names), cluster="cluster", order="order")
    for name in ("order_consistency", "flip_rate", "first_position_share"):
        assert found[f"{name}/judge"].estimate == pytest.approx(pairs[f"{name}/judge"].estimate)


def test_orders_that_do_not():
    found = evenhand.audit(frame(names=("x", "y")), cluster="cluster", order="order")
    assert found["order_consistency/judge"].estimate == pytest.approx(0.5)
    assert found["first_position_share/judge"].status == "not_assessed"
    assert '"A first" and "B first"' in found["first_position_share/judge"].reason


def test_one_order_only_has_nothing_to_compare():
    found = evenhand.audit(frame().filter(pl.col("order") == "A first"), cluster="cluster", order="order")
    assert found["flip_rate/judge"].status == "not_assessed"
    assert "two orders are compared" in found["flip_rate/judge"].reason


def test_an_order_beside_other_conditions():
    models = pl.concat([frame().with_columns(model=pl.lit(model)) for model in ("m | 1", "m | 2")])
    found = evenhand.audit(models, cluster="cluster", order="order", model="model")
    assert found["order_consistency/judge"].estimate == pytest.approx(0.5)
    assert found["order_consistency/judge"].n_used == 16


def test_ties_of_a_status_column():
    data = frame().with_columns(
        status=pl.when(pl.col("judge") == "tie").then(pl.lit("tied")).otherwise(pl.lit("scored")),
        judge=pl.when(pl.col("judge") == "tie").then(pl.lit("")).otherwise("judge"),
    )
    found = evenhand.audit(data, cluster="cluster", order="order", status="status", scale="pairwise")
    again = evenhand.audit(frame(), cluster="cluster", order="order")
    for name in ("win_rate/judge", "n_tied/judge", "observed_agreement/judge", "flip_rate/judge"):
        assert found[name].estimate == pytest.approx(again[name].estimate)


def test_swapping_the_sides_mirrors_the_win_rate():
    found = evenhand.audit(frame(), cluster="cluster", order="order", scale="pairwise", positive="B")
    straight = evenhand.audit(frame(), cluster="cluster", order="order")
    assert found["win_rate/judge"].estimate == pytest.approx(1 - straight["win_rate/judge"].estimate)
    for name in ("order_consistency", "first_position_share", "cohen_kappa", "observed_agreement"):
        assert found[f"{name}/judge"].estimate == pytest.approx(straight[f"{name}/judge"].estimate)


def test_all_wins_have_a_bound():
    data = pl.DataFrame(
        [{"response": f"p{n}{m}", "cluster": f"q{n}", "judge": "A"} for n, m in itertools.product(range(9), range(3))]
    )
    found = evenhand.audit(data, cluster="cluster", scale="pairwise")
    one = found["win_rate/judge"]
    assert one.estimate == 1
    assert 0.5 < one.ci_low < one.ci_high == 1
