import polars as pl
import pytest

import evenhand


def frame(judge, reference):
    keys = {"response": [f"r{n}" for n in range(len(judge))], "cluster": [f"q{n // 3}" for n in range(len(judge))]}
    return pl.DataFrame({**keys, "judge": list(judge), "reference": list(reference)})


JUDGE = ["1", "0", "1", "", "", "1", "0", "1", "1", "0", "", "1"]
REFERENCE = ["1", "0", "1", "0", "0", "1", "0", "1", "0", "0", "1", "1"]


def test_bounds_and_dependence():
    found = evenhand.audit(frame(JUDGE, REFERENCE), cluster="cluster", levels=("0", "1"))
    assert found["judge_positive_rate[bound=lower]/judge"].estimate == pytest.approx(6 / 12)
    assert found["judge_positive_rate[bound=upper]/judge"].estimate == pytest.approx(9 / 12)
    assert found["selective_coverage[reference=0]/judge"].estimate == pytest.approx(4 / 6)
    assert found["selective_coverage[reference=1]/judge"].estimate == pytest.approx(5 / 6)
    gap = found["selective_coverage[contrast=1-0]/judge"]
    assert gap.estimate == pytest.approx(1 / 6)
    assert gap.ci_low is not None


def test_nothing_to_say_where_all_is_scored():
    found = evenhand.audit(frame(REFERENCE, REFERENCE), cluster="cluster", levels=("0", "1"))
    assert found.audit.get("fisher_p/judge") is None


def test_the_reference_with_one_label():
    found = evenhand.audit(frame(JUDGE, ["1"] * 12), cluster="cluster", levels=("0", "1"))
    assert found["fisher_p/judge"].status == "undefined"
    assert found["selective_coverage[reference=0]/judge"].reason == "the reference is never 0"
