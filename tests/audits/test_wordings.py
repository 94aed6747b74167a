"""Agreement under each wording, through the whole audit."""

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.report.wordings import wording_sentences

OPTIONS = {"response": "id", "cluster": "topic", "judge": "judge", "reference": "reference", "phrasing": "prompt"}
WORDINGS = ("short", "long", "stern")


def bank(n=40, seed=2):
    rng, rows = np.random.default_rng(seed), []
    for item in range(n):
        truth = int(rng.random() < 0.5)
        for wording in WORDINGS:
            wrong = rng.random() < {"short": 0.1, "long": 0.3, "stern": 0.2}[wording]
            judge = 0 if wording == "stern" else truth ^ int(wrong)
            rows.append(
                {"id": f"r{item}", "topic": f"t{item % 8}", "prompt": wording, "judge": judge, "reference": truth}
            )
    return rows


@pytest.fixture(scope="module")
def rows():
    return bank()


@pytest.fixture(scope="module")
def found(rows):
    return evenhand.audit(pl.DataFrame(rows), **OPTIONS, scale="binary", positive="1")


def test_each_wording_is_an_audit_of_its_own(rows, found) -> None:
    alone_options = {name: value for name, value in OPTIONS.items() if name != "phrasing"}
    for wording in WORDINGS:
        mine = pl.DataFrame([row for row in rows if row["prompt"] == wording])
        alone = evenhand.audit(mine, **alone_options, scale="binary", positive="1")
        for name in ("observed_agreement", "cohen_kappa", "error_rate", "false_accept_rate", "false_reject_rate", "judge_positive_rate"):  # fmt: skip
            one, other = found[f"{name}[phrasing={wording}]/judge"], alone[f"{name}/judge"]
            assert one.estimate == pytest.approx(other.estimate, abs=1e-12), (wording, name)
            assert (one.ci_low, one.ci_high, one.n_used) == (other.ci_low, other.ci_high, other.n_used)


def test_a_constant_wording_is_named(found) -> None:
    assert 'under phrasing "stern" the judge says 0 of everything (40 of 40 scored verdicts)' in found.audit.warnings
    assert not [said for said in found.audit.warnings if '"short"' in said]


def test_two_constant_sides_have_no_kappa(rows) -> None:
    some = [{**row, "reference": 0 if row["prompt"] == "stern" else row["reference"]} for row in rows]
    one = evenhand.audit(pl.DataFrame(some), **OPTIONS, scale="binary", positive="1")[
        "cohen_kappa[phrasing=stern]/judge"
    ]
    assert one.status == "undefined"
    assert "the judge uses one label only: 40 of 40 are 0" in one.reason


def test_marks_by_wording(rows) -> None:
    rng = np.random.default_rng(0)
    marked = [{**row, "reference": int(rng.integers(1, 6)), "judge": int(rng.integers(1, 6))} for row in rows]
    for row in marked:  # one truth a response
        row["reference"] = 1 + (int(row["id"][1:]) * 3) % 5
    options = {"scale": "ordinal", "levels": tuple("12345")}
    found = evenhand.audit(pl.DataFrame(marked), **OPTIONS, **options)
    alone_options = {name: value for name, value in OPTIONS.items() if name != "phrasing"}
    mine = pl.DataFrame([row for row in marked if row["prompt"] == "long"])
    alone = evenhand.audit(mine, **alone_options, **options)
    for name in (
        "bias",
        "mae",
        "quadratic_weighted_kappa",
        "pearson_r",
        "observed_agreement",
        "cohen_kappa",
        "error_rate",
    ):
        one = found[f"{name}[phrasing=long]/judge"]
        wanted = (
            1 - alone["observed_agreement/judge"].estimate if name == "error_rate" else alone[f"{name}/judge"].estimate
        )
        assert one.estimate == pytest.approx(wanted, abs=1e-12), name


def test_decimal_marks_by_wording(rows) -> None:
    rng = np.random.default_rng(1)
    marked = [{**row, "reference": (int(row["id"][1:]) * 7 % 41) / 10, "judge": round(float(rng.random()) * 4, 1)} for row in rows]  # fmt: skip
    options = {"scale": "continuous", "range": (0, 4)}
    found = evenhand.audit(pl.DataFrame(marked), **OPTIONS, **options)
    alone_options = {name: value for name, value in OPTIONS.items() if name != "phrasing"}
    alone = evenhand.audit(
        pl.DataFrame([row for row in marked if row["prompt"] == "short"]), **alone_options, **options
    )
    for name in ("bias", "mae", "quadratic_weighted_kappa", "pearson_r"):
        assert found[f"{name}[phrasing=short]/judge"].estimate == pytest.approx(
            alone[f"{name}/judge"].estimate, abs=1e-12
        )


def test_without_a_reference(rows) -> None:
    options = {name: value for name, value in OPTIONS.items() if name != "reference"}
    frame = pl.DataFrame(rows).drop("reference")
    found = evenhand.audit(frame, **options, scale="binary", positive="1")
    wanted = np.mean([row["judge"] for row in rows if row["prompt"] == "long"])
    assert found["judge_positive_rate[phrasing=long]/judge"].estimate == pytest.approx(wanted)
    marks = evenhand.audit(frame, **options, scale="ordinal", levels=("0", "1"))
    assert marks["mean_total[phrasing=long]/judge"].estimate == pytest.approx(wanted)


def test_two_facets_and_an_arm(rows) -> None:
    twice = [{**row, "run": run, "arm": arm} for row in rows for run in (1, 2) for arm in ("control", "told")]
    found = evenhand.audit(pl.DataFrame(twice), **OPTIONS, occasion="run", arm="arm", scale="binary", positive="1")
    assert found["error_rate[occasion=2]/judge"].n_used == 120  # of the control alone
    assert found["error_rate[phrasing=short]/judge"].n_used == 80
    assert "error_rate[arm=told]/judge" not in {one.id for one in found.audit}


def test_one_wording_has_no_numbers_of_its_own(rows) -> None:
    one = pl.DataFrame([row for row in rows if row["prompt"] == "short"])
    found = evenhand.audit(one, **OPTIONS, scale="binary", positive="1")
    assert not [estimate for estimate in found.audit if "phrasing" in estimate.params]


def test_an_extreme_without_an_interval_says_of_how_many_verdicts_it_is(rows) -> None:
    few = [row for row in rows if row["prompt"] == "short"] + [
        {
            "id": "r0",
            "topic": "t0",
            "prompt": "rare",
            "judge": 1 - rows[0]["reference"],
            "reference": rows[0]["reference"],
        }
    ]
    found = evenhand.audit(pl.DataFrame(few), **OPTIONS, scale="binary", positive="1")
    (said,) = wording_sentences(found.audit, "judge")
    assert said.startswith("over 2 wordings: observed agreement from 0.0 % [no interval, 1 verdict] (rare) to ")
