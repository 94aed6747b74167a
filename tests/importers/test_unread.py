"""Files of known tools that no importer reads are told by name, not taken for tables that nobody understands."""

import json

import pytest

DOCUMENTS = {
    "per_instance_stats of HELM": (
        [{"instance_id": "a", "train_trial_index": 0, "stats": []}],
        "per_instance_stats.json of HELM",
    ),
    "stats of HELM": ([{"name": {"name": "f1"}, "count": 1, "sum_squared": 1}], "stats.json of HELM"),
    "state of HELM": ({"adapter_spec": {}, "request_states": []}, "scenario_state.json of HELM"),
    "means of lm-eval": ({"results": {}, "config": {}, "versions": {}}, "samples_*.jsonl"),
    "autorubric": ({"item_idx": 0, "report": {"criterion_reports": []}}, "file of autorubric"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_is_refused_by_name(command, write, name):
    document, said = DOCUMENTS[name]
    path = write("log.json", json.dumps(document))
    ending = command("audit", path, "--out", "out")
    assert ending.code == 2
    assert said in " ".join(ending.err.split())


def test_the_declared_format_comes_first(command, write):
    path = write("log.json", json.dumps([{"instance_id": "a", "train_trial_index": "0", "stats": "1"}]))
    ending = command("audit", path, "--format", "json", "--out", "out")
    assert "HELM" not in ending.err


def test_tables_of_similar_names_are_read(command, write):
    rows = [{"id": n, "name": "x", "count": 1, "judge": n % 2, "gold": n % 2} for n in range(4)]
    assert command("audit", write("t.json", json.dumps(rows)), "--out", "out").code == 0
