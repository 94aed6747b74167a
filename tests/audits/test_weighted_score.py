"""Weighted scores against a reference, decisions at a cut, statuses by side, criterion and condition, quorum and strata refusals."""

import itertools

import numpy as np
import pytest

import evenhand
from evenhand.errors import EvenhandError

WEIGHTS = {"1": 2.0, "2": 1.0, "3": -1.0}


@pytest.fixture
def audited(tmp_path):
    def ran(content, **options):
        path = tmp_path / "v.csv"
        path.write_text(content, encoding="utf-8")
        return evenhand.audit(path, **options)

    return ran


def bank(holes=()):
    """Every pair of patterns of three criteria, eight clusters; holes are (row, criterion) the judge leaves blank."""
    rows = list(itertools.product(itertools.product((0, 1), repeat=3), repeat=2))
    head = "item_id,cluster," + ",".join(f"gold_{k},judge_{k}" for k in (1, 2, 3))
    lines = []
    for n, (gold, judge) in enumerate(rows):
        cells = [f"{g},{'' if (n, k) in holes else j}" for k, (g, j) in enumerate(zip(gold, judge, strict=True))]
        lines.append(f"r{n},c{n % 8},{','.join(cells)}")
    return "\n".join([head, *lines, ""]), rows


def score(pattern):
    return float(np.dot(pattern, list(WEIGHTS.values())))


def test_scores_of_both_sides_and_their_difference(audited):
    text, rows = bank()
    found = audited(text, cluster="cluster", criterion_weights=WEIGHTS)
    for source, side in (("reference", 0), ("judge", 1)):
        expected = np.mean([score(row[side]) for row in rows]) / 3
        one = found[f"mean_total[weights=criterion]/{source}"]
        assert one.estimate == pytest.approx(expected, abs=1e-12)
        assert "reach -0.333333 to 1" in one.estimand
        assert one.n_used == 64
    assert found["mean_total[weights=criterion]/judge-reference"].estimate == pytest.approx(0, abs=1e-12)
    assert found.audit.get("mean_total[bound=lower,weights=criterion]/judge") is None


@pytest.mark.parametrize("cut", [1.0, 2.0, 3.0])
def test_decisions_at_a_weighted_cut(audited, cut):
    text, rows = bank()
    found = audited(text, cluster="cluster", criterion_weights=WEIGHTS, cut=[cut])
    same = np.mean([(score(gold) >= cut) == (score(judge) >= cut) for gold, judge in rows])
    one = found[f"observed_agreement[aggregation=item,cut={cut:g},weights=criterion]/judge"]
    assert one.estimate == pytest.approx(same, abs=1e-12)
    assert one.n_used == 64
    assert found[f"cohen_kappa[aggregation=item,cut={cut:g},weights=criterion]/judge"].estimate == pytest.approx(
        0, abs=1e-12
    )


def test_weights_of_one_give_the_share_of_criteria(audited):
    text, rows = bank()
    found = audited(text, cluster="cluster", criterion_weights={"1": 1, "2": 1, "3": 1}, cut=[2])
    one = found["mean_total[weights=criterion]/judge"]
    assert one.estimate == pytest.approx(np.mean([sum(judge) for _, judge in rows]) / 3, abs=1e-12)
    weighted, plain = (found[f"cohen_kappa[aggregation=item,cut=2{more}]/judge"] for more in (",weights=criterion", ""))
    assert (weighted.estimate, weighted.ci_low) == (pytest.approx(plain.estimate), pytest.approx(plain.ci_low))


def test_holes_give_bounds(audited):
    text, rows = bank(holes={(5, 0), (9, 2)})
    found = audited(text, cluster="cluster", criterion_weights=WEIGHTS)
    low, high = ([score(judge) for _, judge in rows] for _ in range(2))
    for n, k in ((5, 0), (9, 2)):
        weight, given = list(WEIGHTS.values())[k], rows[n][1][k]
        low[n] += min(weight, 0) - weight * given
        high[n] += max(weight, 0) - weight * given
    for bound, values in (("lower", low), ("upper", high)):
        one = found[f"mean_total[bound={bound},weights=criterion]/judge"]
        assert one.estimate == pytest.approx(np.mean(values) / 3, abs=1e-12)
    assert "weight graded 253 of 256" in found["mean_total[weights=criterion]/judge"].estimand
    assert found["mean_total[weights=criterion]/reference"].n_excluded == 0


def test_one_criterion_has_no_weights(audited):
    with pytest.raises(EvenhandError, match="--criterion COL"):
        audited("item_id,human,judge\na,1,0\nb,0,0\n", criterion_weights={"x": 1})


STATUSES = (
    "item_id,model,phrasing,gold_1,judge_1,gold_2,judge_2\n"
    "a,m1,p|1,1,1,0,CANNOT_ASSESS\na,m2,p|1,1,CANNOT_ASSESS,0,0\na,m1,p2,1,1,0,0\n"
    "b,m1,p|1,CANNOT_ASSESS,0,1,1\nb,m2,p2,CANNOT_ASSESS,0,1,CANNOT_ASSESS\nb,m1,p2,CANNOT_ASSESS,1,1,1\n"
)


def test_statuses_by_side_criterion_and_condition(audited):
    found = audited(STATUSES, blank="unparsed")
    rates = {
        "abstention_rate/judge": (3, 12),
        "abstention_rate/reference": (3, 12),
        "abstention_rate[criterion=1]/judge": (1, 6),
        "abstention_rate[criterion=2]/judge": (2, 6),
        "abstention_rate[model=m1]/judge": (1, 8),
        "abstention_rate[model=m2]/judge": (2, 4),
        "abstention_rate[phrasing=p|1]/judge": (2, 6),
        "abstention_rate[phrasing=p2]/judge": (1, 6),
    }
    for identity, counts in rates.items():
        assert (found[identity].events, found[identity].trials) == counts, identity
    assert found.audit.get("unparsed_rate[model=m1]/judge") is None


def test_bounds_of_agreement_over_what_is_not_scored(audited):
    rows = "item_id,human,judge\na,x,x\nb,y,x\nc,z,\nd,z,z\n"
    found = audited(rows, blank="unparsed")
    assert found["observed_agreement[bound=lower]/judge"].estimate == 0.5
    assert found["observed_agreement[bound=upper]/judge"].estimate == 0.75


def test_a_cluster_lies_in_one_stratum(audited):
    rows = "item_id,cluster,task,human,judge\na,c1,t1,1,1\nb,c1,t2,1,0\nc,c2,t1,0,0\n"
    with pytest.raises(EvenhandError, match='"c1" lies in "t1" and in "t2"'):
        audited(rows, cluster="cluster", strata="task")


def test_a_stratum_of_one_cluster_has_no_error(audited):
    rows = "item_id,task,human,judge\n" + "".join(
        f"i{n},{'lone' if n == 0 else 't'},{n % 2},{n % 3 % 2}\n" for n in range(12)
    )
    one = audited(rows, strata="task")["observed_agreement[aggregation=strata]/judge"]
    assert one.std_error is None
    assert '"lone" holds one cluster' in one.reason


def test_trusted_keys_are_not_checked(audited):
    rows = "item_id,human,judge\na,1,1\na,1,1\nb,0,1\n"
    with pytest.raises(EvenhandError, match="more than once"):
        audited(rows)
    assert audited(rows, trust_key=True)["error_rate/judge"].n_used == 3


def test_one_option_for_one_table(command, write):
    write("judge.csv", "item_id,judge\na,1\n")
    write("human.csv", "item_id,human\na,1\n")
    for options in (("--items", "rows"), ("--count", "judge")):
        ending = command("audit", "judge.csv", "--labels", "human.csv", *options, "--out", "out")
        assert ending.code == 2
        assert f"{options[0]} is for one table" in ending.err
