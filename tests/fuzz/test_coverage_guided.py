"""Each target of coverage_guided.py for a while, from real logs as seeds: no traceback but ours, no hang, accounts that balance."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
SECONDS = 60
SEEDS = {
    "parsers": [],
    "json_stream": ["promptfoo/plain.json", "lm_eval/samples_colours.jsonl"],
    "zips": ["inspect/several.eval"],
    "eval_log": ["inspect/several.eval", "inspect/edited.eval", "inspect/chunked.eval"],
    "json_log": ["promptfoo/plain.json", "deepeval/test_run.json", "label_studio/project.json"],
    "jsonl_log": ["lm_eval/samples_colours.jsonl", "mt_bench/pair.jsonl", "mt_bench/single.jsonl"],
    "csv": [],
    "jsonl": [],
    "xlsx": [],
}
WRITTEN = {
    "parsers": [
        "GRADE: C",
        "Score: 7/10",
        "[[A]] or [[B]]",
        '```json\n{"score": 4}\n```',
        "Not met, he said: “yes”",
        '{"A": -0.1}',
    ],
    "csv": [
        "item,question,gold,judge\na,q,1,0\nb,q,yes,\n",
        'id;v\n"1";"2,5"\n',
        "id,rater,kind,verdict\na,m,judge,1\na,h,human,0\n",
    ],
    "jsonl": ['{"id": 1, "judge": true, "gold": null}\n{"id": "é", "judge": "1", "gold": 0}\n'],
}


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="Atheris is not installed: pip install atheris")
@pytest.mark.parametrize("target", SEEDS)
def test_no_traceback_but_ours(target: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for seed in SEEDS[target]:
        shutil.copy(FIXTURES / seed, corpus / seed.replace("/", "-"))
    for number, text in enumerate(WRITTEN.get(target, [])):
        (corpus / f"written-{number}").write_text(text)
    limits = [
        f"-max_total_time={SECONDS}",
        "-timeout=20",
        "-rss_limit_mb=3000",
        "-max_len=20000",
        "-print_final_stats=1",
    ]
    command = [sys.executable, str(HERE / "coverage_guided.py"), target, str(corpus), *limits]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=SECONDS * 10)
    assert ran.returncode == 0, ran.stderr[-4_000:]
