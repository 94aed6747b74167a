"""Logs whose fields hold values of other types: a SourceError or exact accounting, never anything else."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from log_reading import FIXTURES, balanced

from evenhand.errors import SourceError
from evenhand.importers.logs import read_logs
from evenhand.importers.registry import recognise
from evenhand.verdicts.engine import Engine

STRANGE = (
    None, True, 0, -1, 7.5, 10**30, float("nan"), float("-inf"), "", " ", "x", "nul\0here", "half \ud800", "\u202e", "N",
    [], [[]], {}, {"": None}, {"A": 1, "a": 2}, [{"value": 1}], "7" * 5000,
)  # fmt: skip
SCORE = {"id": "s", "traceId": "t", "name": "n", "source": "EVAL", "value": 1, "stringValue": "a", "metadata": {"a": 1}}
RESULT = {"from_name": "q", "type": "choices", "value": {"choices": ["a"]}}
TASK = {
    "id": 1,
    "data": {"a": "b"},
    "annotations": [{"completed_by": 1, "result": [RESULT]}],
    "predictions": [{"result": [RESULT]}],
}
PAIR = {
    "question_id": 1,
    "model_1": "a",
    "model_2": "b",
    "g1_winner": "tie",
    "g2_winner": "model_1",
    "turn": 1,
    "judge": ["g", "p"],
}
SINGLE = {"question_id": 1, "model": "a", "judge": ["g", "p"], "judgment": "[[5]]", "score": 5, "turn": 1}


def _documents() -> dict[str, Any]:
    found = {
        path: json.loads((FIXTURES / path).read_text())
        for path in ("inspect/plain.json", "promptfoo/plain.json", "deepeval/test_run.json")
    }
    lines = [json.loads(line) for line in (FIXTURES / "lm_eval/samples_colours.jsonl").read_text().splitlines()]
    return found | {
        "lm.jsonl": lines,
        "langfuse.json": [SCORE, SCORE],
        "langfuse.jsonl": [SCORE, SCORE],
        "studio.json": [TASK, TASK],
        "mt.jsonl": [PAIR, SINGLE, PAIR | {"model_a": "a", "model_b": "b", "winner": "tie"}],
    }


DOCUMENTS = _documents()


def _places(value: Any, under: int = 0) -> list[tuple[Any, Any]]:
    """Every place of a document that can be written: container and key; deep inner parts are of no interest."""
    if under > 9 or not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key], under + 1)]


def _written(path: Path, document: Any) -> None:
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(line) for line in document))
    else:
        path.write_text(json.dumps(document))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_fields_of_strange_types(tmp_path: Path, name: str) -> None:
    path = tmp_path / Path(name).name
    whole = json.dumps(DOCUMENTS[name])
    read = 0
    with Engine() as engine:
        for seed in range(40):
            draw = random.Random(f"{name} {seed}")
            document = json.loads(whole)
            for _ in range(draw.randint(1, 3)):
                places = [place for place in _places(document) if place[1] not in ("events", "messages")]
                container, key = draw.choice(places)
                if draw.random() < 0.2 and isinstance(container, dict):
                    del container[key]
                else:
                    container[key] = copy.deepcopy(draw.choice(STRANGE))
            _written(path, document)
            read += _reads(engine, path)
    assert read


def _reads(engine: Engine, path: Path) -> bool:
    said = path.name
    try:
        importer = recognise(path)
        if importer is None:
            return False
        logs = read_logs(engine, importer, [path])
    except SourceError as problem:
        said = str(problem)
        return False
    else:
        assert balanced(engine, logs)
        return True
    finally:
        assert path.name in said


def test_half_surrogates_and_nul_are_kept_readable(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps([SCORE | {"value": 1, "stringValue": None, "comment": "a\0b \ud800"}]))
    with Engine() as engine:
        importer = recognise(path)
        assert importer is not None
        (source,) = read_logs(engine, importer, [path]).sources
        assert engine.one(f"SELECT explanation FROM {source.relation}") == ("a\0b \\ud800",)
