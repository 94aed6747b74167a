"""lm-evaluation-harness: samples written by it with its dummy model (fixture), and real ones (../shared)."""

from collections import Counter

from log_reading import FIXTURES, balanced, read, rows, shared

from evenhand.importers.registry import recognise
from evenhand.verdicts.engine import Engine

HERE = FIXTURES / "lm_eval"


def test_filters_are_settings_and_parts_of_a_corpus_score_are_no_verdict() -> None:
    with Engine() as engine:
        logs = read(engine, HERE / "samples_colours.jsonl")
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert logs.counts["samples_colours.jsonl"] == {"verdicts": 16, "scored": 8, "unparsed": 8, "lines": 8}
    assert logs.spec.setting == "setting"
    exact = [row for row in found if row["criterion_id"] == "exact_match"]
    assert Counter((row["setting"], row["value"]) for row in exact) == {
        ("strict", "1.0"): 2, ("strict", "0.0"): 2, ("loose", "1.0"): 2, ("loose", "0.0"): 2,
    }  # fmt: skip
    assert {row["raw_value"] for row in found if row["criterion_id"] == "bleu"} == {
        '["lol","lol"]', '["blue","lol"]', '["black","lol"]',
    }  # fmt: skip


def test_other_json_lines_are_not_recognised() -> None:
    assert recognise(HERE / "colours.jsonl") is None


def test_the_real_samples_give_the_counts_of_their_readme() -> None:
    path = shared("data", "harness_logs", "lm_eval", "samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl")
    with Engine() as engine:
        logs = read(engine, path)
        assert balanced(engine, logs)
        found = rows(engine, logs)
    assert Counter((row["criterion_id"], row["value"]) for row in found) == {("exact_match", "0.0"): 10}
    assert "setting" not in logs.sources[0].columns
