"""Responses by criteria as a study, on the example bank: values, the reference's beside them, and the nested study."""

import csv
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.stats.factor import fit_one_factor
from evenhand.stats.generalizability import dependability_coefficient, variance_components
from evenhand.stats.internal_consistency import moments

BANK = files("evenhand.data") / "zhu_bank.csv"


@pytest.fixture(scope="module")
def bank():
    return evenhand.audit(str(BANK), criteria="per-cluster", blank="unparsed", cut=(5,)).audit


def side(name):
    with BANK.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["judge_1"]]
    return np.array([[int(row[f"{name}_{at}"]) for at in range(1, 11)] for row in rows])


@pytest.mark.parametrize(
    ("text", "value", "tolerance"),
    [  # CONVENTIONS A.10; the nested ones: statistics section 7
        ("variance_component[facet=response]/judge", 0.0234547, 5e-8),
        ("variance_component[facet=criterion]/judge", 0.00001517, 5e-9),
        ("variance_component[facet=residual]/judge", 0.2173305, 5e-8),
        ("variance_component[facet=response]/reference", 0.0242465, 5e-8),
        ("variance_component[facet=criterion]/reference", -0.000669701, 5e-10),
        ("variance_component[facet=residual]/reference", 0.2240030, 5e-8),
        ("variance_component[design=nested,facet=criterion]/judge", 0.0080, 5e-5),
        ("variance_component[design=nested,facet=criterion]/reference", 0.0005, 5e-5),
        ("variance_component[design=nested,facet=criterion]/judge-reference", 0.0079787 - 0.0005313, 1e-7),
    ],
)
def test_components(bank, text, value, tolerance):
    assert bank[text].estimate == pytest.approx(value, abs=tolerance)


def test_coefficients_beside_the_reference(bank):
    # Hoyt (1941): with the table's own K the relative coefficient is alpha
    for source in ("judge", "reference", "judge-reference"):
        same = bank[f"generalizability/{source}"].estimate
        assert same == pytest.approx(bank[f"cronbach_alpha/{source}"].estimate, abs=1e-12)
    for source, name in (("judge", "judge"), ("reference", "gold")):
        raw = variance_components(moments(side(name)))
        expected = dependability_coefficient(raw.truncated(), 10)
        assert bank[f"dependability/{source}"].estimate == pytest.approx(float(expected), abs=1e-12)
        error = 10 * ((max(float(raw.criterion), 0) + float(raw.residual)) / 10) ** 0.5
        assert bank[f"sem/{source}"].estimate == pytest.approx(error, abs=1e-12)
        # the classical one: SD of totals times the root of 1 minus alpha
        classical = bank[f"sd_total/{source}"].estimate * (1 - bank[f"cronbach_alpha/{source}"].estimate) ** 0.5
        assert bank[f"sem[error=relative]/{source}"].estimate == pytest.approx(classical, abs=1e-12)


def test_intervals_know_what_was_sampled(bank):
    criterion = bank["variance_component[facet=criterion]/judge"]
    assert (criterion.interval_method, criterion.interval_df) == ("generalised", 9)
    assert criterion.reason == "10 criteria: 9 degrees of freedom; 30 responses without every condition are left out"
    response = bank["variance_component[facet=response]/judge"]
    assert 1 <= response.interval_df <= 179
    negative = bank["variance_component[facet=criterion]/reference"]
    assert negative.ci_low == negative.estimate
    assert negative.reason.startswith("negative as it is estimated")
    nested = bank["variance_component[design=nested,facet=criterion]/judge"]
    assert nested.interval_method == "jackknife_t"
    assert "these 10 criteria" in bank["dependability/judge-reference"].estimand


def test_omega_beside_the_reference(bank):
    for source, name in (("judge", "judge"), ("reference", "gold")):
        expected = fit_one_factor(np.cov(side(name).T)).omega
        assert bank[f"mcdonald_omega/{source}"].estimate == pytest.approx(float(expected), abs=1e-7)
    found = bank["mcdonald_omega/judge-reference"]
    assert found.ci_low < found.estimate < found.ci_high


def test_each_says_whom_it_is_about(bank):
    for name in ("variance_component", "dependability", "generalizability", "sem", "mcdonald_omega"):
        found = [one for one in bank if one.statistic == name]
        assert {one.source for one in found if one.source != "raters"} == {"judge", "reference", "judge-reference"}
        assert all(one.describes != "judge" for one in found)
        assert all(one.describes == "bank" for one in found if one.source == "reference")


def small(rows, **more):
    columns = {f"judge_{k}": [str(row[k]) for row in rows] for k in range(len(rows[0]))}
    frame = pl.DataFrame({"response": [f"r{n}" for n in range(len(rows))], **columns})
    return evenhand.audit(frame, response="response", judge="judge_{criterion}", scale="binary", **more).audit


def test_without_a_reference_it_says_nothing_about_the_judge():
    rng = np.random.default_rng(0)
    rows = (rng.random((40, 5)) < rng.random((40, 1))).astype(int).tolist()
    audit = small(rows)
    assert audit["dependability/judge"].estimand.endswith("it says nothing about the judge")
    assert audit.get("dependability/reference") is None


def test_verdicts_without_variation_have_no_coefficient():
    audit = small([[1, 1, 1]] * 5 + [[1, 1, 1]], levels=("0", "1"))
    found = audit["dependability/judge"]
    assert (found.status, found.estimate, found.reason) == ("undefined", None, "verdicts do not vary")
    assert audit["variance_component[facet=response]/judge"].estimate == 0
    assert audit["mcdonald_omega/judge"].status == "undefined"


def test_many_criteria_over_many_units_have_no_factor_and_say_so():
    rng = np.random.default_rng(0)
    rows = (rng.random((400, 40)) < 0.5).astype(int).tolist()
    found = small(rows)["mcdonald_omega/judge"]
    assert found.status == "not_assessed"
    assert "the factor is fitted anew without each of them" in found.reason
