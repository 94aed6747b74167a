"""Real logs of evaluation harnesses: each converts with the counts its README gives, or is refused with the reason."""

import pytest
from log_reading import SHARED, shared

ROOT = ("data", "harness_logs")
COUNTS = {
    "deepeval/latest_test_run_JaakkoLipp.json": 1,
    "deepeval/test_run_sample_fixture.json": 2,
    "every_eval_ever_inspect/data_arc_qwen.json": 3,
    "every_eval_ever_inspect/data_arc_sonnet.json": 5,
    "every_eval_ever_inspect/data_pubmedqa_gpt4o_mini.json": 2,
    "inspect_ai/2024-11-05T13-31-45-05-00_input-task_8zXjbRzCWrL9GXiXo2vus9.json": 1,
    "inspect_ai/2025-05-12T20-28-13-04-00_popularity.json": 3,
    "inspect_ai/log_formats.eval": 1,
    "inspect_ai/log_formats.json": 1,
    "inspect_ai/log_streaming.eval": 4,
    "inspect_ai/mmlu-summary-choices.eval": 1,
    "lm_eval/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl": 10,
}
REFUSED = {
    "autorubric/checkpoint_items_fixture.json": "a file of autorubric",
    "inspect_ai/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": "10 samples and no score",
    "inspect_ai/empty.json": "which column identifies a response",
    "lm_eval/results_2026-01-21T03-44-18.458309.json": "give the samples_*.jsonl",
    "promptfoo/degenerate_promptfoo-results.json": "no verdict in this promptfoo log",
    **{
        f"helm/{run}/{name}.json": f"{'a' if name[0] != 'i' else 'an'} {name}.json of HELM"
        for run in ("hellaswag_pythia-1b", "mmlu_philosophy_gpt2")
        for name in ("per_instance_stats", "run_spec", "scenario", "scenario_state", "stats")
    },
}


@pytest.mark.parametrize("log", COUNTS)
def test_converts_with_every_row_accounted_for(command, log):
    ending = command("convert", shared(*ROOT, *log.split("/")), "--to", "v.parquet")
    assert ending.code == 0, ending.err
    assert f"judge: {COUNTS[log]} verdicts = {COUNTS[log]} scored" in ending.out
    assert f"wrote   v.parquet: {COUNTS[log]} verdicts" in ending.out


@pytest.mark.parametrize("log", REFUSED)
def test_is_refused_with_the_reason(command, tmp_path, log):
    path = shared(*ROOT, *log.split("/"))
    ending = command("convert", path, "--to", "v.parquet")
    assert ending.code == 2
    assert ending.err.startswith(f"error: {path.name}: ")
    assert REFUSED[log] in " ".join(ending.err.split())
    assert not (tmp_path / "v.parquet").exists()


def test_no_log_is_forgotten():
    shared(*ROOT)
    logs = SHARED.joinpath(*ROOT)
    found = {str(path.relative_to(logs)) for path in logs.rglob("*") if path.suffix in (".json", ".jsonl", ".eval")}
    assert found == {*COUNTS, *REFUSED}
