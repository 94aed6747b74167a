"""The names of models, wordings and the like stand in an audit, also where they make no conditions."""

import evenhand
from evenhand.verdicts.recorded import MOST_VALUES

ROWS = "id,question,reference,judge,model,phrasing\n" + "".join(
    f"r{n},q{n % 4},{n % 2},{n % 2},served-7b,{'plain' if n < 6 else 'strict'}\n" for n in range(10)
)


def test_a_single_model_is_no_condition_and_is_kept(write):
    audit = evenhand.audit(write("v.csv", ROWS.replace("strict", "plain")), cluster="question").audit
    assert audit.declarations.conditions == {}
    assert audit.tables["conditions"].rows == (("model", "served-7b", 10), ("phrasing", "plain", 10))
    met = {item["item"]: item["status"] for item in audit.checklist}
    assert met["prompt of the judge recorded, by name or fingerprint"] == "met"


def test_values_are_listed_the_commonest_first(write):
    audit = evenhand.audit(write("v.csv", ROWS), cluster="question", phrasing="phrasing", model="model").audit
    assert audit.declarations.conditions == {"phrasing": 2, "model": 1}
    listed = [row for row in audit.tables["conditions"].rows if row[0] == "phrasing"]
    assert listed == [("phrasing", "plain", 6), ("phrasing", "strict", 4)]


def test_a_column_of_no_names_is_cut_short_and_nothing_is_recorded_without(write):
    many = "id,reference,judge,setting\n" + "".join(f"r{n},1,{n % 2},t={n}\n" for n in range(80))
    audit = evenhand.audit(write("v.csv", many), setting="setting").audit
    assert len(audit.tables["conditions"].rows) == MOST_VALUES
    plain = "id,reference,judge\na,1,1\nb,0,0\nc,1,0\n"
    assert "conditions" not in evenhand.audit(write("p.csv", plain)).audit.tables
