import json
import math

import jsonschema
import pytest
from pydantic import ValidationError

import evenhand
from evenhand.errors import RequestError, SourceError
from evenhand.results import SCHEMA_FILE, Audit, Estimate, Table, json_schema, schema_text

WIDE = "id,question,gold_1,gold_2,judge_1,judge_2\na,q1,1,0,1,1\nb,q1,0,0,0,0\nc,q2,1,1,1,\nd,q3,0,1,0,1\n"
FILES = {
    "binary": ("item,gold,judge\na,1,1\nb,0,1\nc,0,0\nd,1,1\n", {}),
    "constant": ("item,gold,judge\na,pass,pass\nb,pass,pass\n", {}),
    "one row": ("item,question,gold,judge\na,q,1,1\n", {}),
    "wide": (WIDE, {"cut": [1, 2]}),
    "per-cluster": (WIDE, {"cut": [1], "criteria": "per-cluster", "blank": "unparsed"}),
    "percentile": (WIDE, {"interval": "percentile", "resamples": 100}),
    "none": (WIDE, {"interval": "none"}),
    "ordinal": ("item,gold,judge\na,1,2\nb,2,2\nc,3,1\nd,3,3\n", {}),
    "judge only": ("item,judge\na,1\nb,0\n", {}),
    "raters": ("item,rater,verdict\na,human,1\na,m1,1\na,m2,0\nb,human,0\nb,m1,0\nb,m2,0\n", {}),
}


@pytest.fixture(params=FILES)
def saved(request, write, tmp_path):
    """audit.json of one kind of audit."""
    text, options = FILES[request.param]
    evenhand.audit(write("t.csv", text), out=tmp_path / "out", **options)
    return tmp_path / "out" / "audit.json"


def test_saved_audits_are_strict_json_of_the_published_schema(saved):
    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    document = json.loads(saved.read_bytes(), parse_constant=refuse)
    schema = json.loads(SCHEMA_FILE.read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)


def test_saved_audits_load_and_save_the_same(saved):
    assert Audit.load(saved).to_json().encode() == saved.read_bytes()
    assert Audit.load(saved.parent) == Audit.load(saved)


def test_every_estimate_is_honest(saved):
    audit = Audit.load(saved)
    assert len({estimate.id for estimate in audit}) == len(audit.estimates)
    for estimate in audit:
        assert (estimate.estimate is None) == (estimate.status != "ok")
        assert (estimate.ci_low is None) == (estimate.ci_high is None)
        assert estimate.reason or (estimate.status == "ok" and (estimate.ci_low is not None or estimate.statistic))
        assert estimate.describes
        assert estimate.estimand
        if estimate.ci_low is not None:
            assert estimate.interval_method != "none"
            assert estimate.ci_low <= estimate.ci_high
        if estimate.status != "ok":
            assert (estimate.ci_low, estimate.std_error) == (None, None)


def test_rows_read_are_rows_used_and_excluded(saved):
    data = Audit.load(saved).data
    assert data.rows_read == data.rows_used + sum(data.rows_excluded.values())


def test_the_schema_in_the_package_is_current():
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run python scripts/write_schema.py"
    assert json_schema()["properties"]["schema"]["const"] == "evenhand.audit/1"


ESTIMATE = {
    "id": "phi/judge",
    "statistic": "phi",
    "params": {},
    "source": "judge",
    "estimate": 0.5,
    "std_error": None,
    "std_errors": {"cr1": 0.25},
    "ci_low": None,
    "ci_high": None,
    "interval_method": "none",
    "status": "ok",
    "reason": "",
    "unit": "verdict",
    "events": None,
    "trials": None,
    "n_used": 1,
    "n_excluded": 0,
    "n_clusters": 1,
    "design_effect": None,
    "describes": "judge",
    "estimand": "words",
}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["estimate", "std_error", "ci_low", "events", "design_effect"])
def test_no_number_is_infinite_or_nan(name, number):
    with pytest.raises(ValidationError, match="finite"):
        Estimate(**{**ESTIMATE, name: number})
    with pytest.raises(ValidationError, match="finite"):
        Table(columns=("a",), rows=((number,),))


def test_estimates_are_frozen_and_closed():
    estimate = Estimate(**ESTIMATE)
    with pytest.raises(ValidationError):
        estimate.estimate = 1.0
    with pytest.raises(ValidationError):
        Estimate(**ESTIMATE, extra=1)


def test_another_standard_error():
    named = Estimate(**ESTIMATE).with_std_error("cr1")
    assert (named.id, named.std_error, named.estimate) == ("phi[se=cr1]/judge", 0.25, 0.5)
    with pytest.raises(RequestError, match='phi/judge has no standard error "cr3"; it has: cr1'):
        Estimate(**ESTIMATE).with_std_error("cr3")


def test_lookup(saved):
    audit = Audit.load(saved)
    first = audit.estimates[0]
    assert audit[first.id] is audit.get(first.id)
    assert audit.get("nothing/judge") is None
    assert audit.get("nothing[se=cr1]/judge") is None
    assert first in audit.of(first.statistic, first.source)
    with pytest.raises(RequestError, match='no estimate "n_respones/judge" in this audit; did you mean "n_responses/'):
        audit["n_respones/judge"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "evenhand.audit/2"}', '{"schema": NaN}', "\x00"])
def test_what_is_no_audit_is_refused(write, text):
    with pytest.raises(SourceError, match=r"a\.json: not an audit of schema evenhand\.audit/1"):
        Audit.load(write("a.json", text))


def test_records():
    assert Table(columns=("a", "b"), rows=((1, "x"),)).records() == [{"a": 1, "b": "x"}]
